/* SPDX-License-Identifier: Apache-2.0 */
/* flush.c - bytes pushed out of all caches. */
#include "machine/flush.h"

#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "base/banned.h"

#if defined(__x86_64__)

enum { LINE = 64, HAS_FLUSH_ANY_ORDER = 1 << 23 /* leaf 7, ebx */ };

/* Lines leave in any order, many at a time. */
__attribute__((target("clflushopt"))) static void
flush_any_order(const unsigned char *at, const unsigned char *end)
{
	for (; at < end; at += LINE)
		_mm_clflushopt((void *)(uintptr_t)at);
}

static void
flush_in_order(const unsigned char *at, const unsigned char *end)
{
	for (; at < end; at += LINE)
		_mm_clflush(at);
}

int
sl__flush_cache_lines(const void *bytes, size_t n_bytes)
{
	uintptr_t first = (uintptr_t)bytes & ~(uintptr_t)(LINE - 1);
	const unsigned char *at = (const unsigned char *)first;
	const unsigned char *end = (const unsigned char *)bytes + n_bytes;
	unsigned a, b = 0, c, d;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && b & HAS_FLUSH_ANY_ORDER)
		flush_any_order(at, end);
	else
		flush_in_order(at, end);
	_mm_mfence();
	return 1;
}

#else

int
sl__flush_cache_lines(const void *bytes, size_t n_bytes)
{
	(void)bytes;
	(void)n_bytes;
	return 0;
}

#endif

int
sl__flush_is_possible(void)
{
	unsigned char byte = 0;

	return sl__flush_cache_lines(&byte, 1);
}
