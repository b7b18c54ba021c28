/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_generic.c - moving memory in plain C, and what all streams share.
 *
 * Portable C has no non-temporal store, so those are absent here.
 */
#include "machine/stream.h"

#include <string.h>

#include "base/banned.h"

static const double SCALE = 3; /* the constant of a triad; any will do */

/* Keeps the compiler from dropping stores or turning a loop into memset. */
#define CLOBBER_MEMORY() __asm__ volatile("" : : : "memory")

static uint64_t
generic_load(const struct sl__stream_arrays *arrays)
{
	uint64_t bits[4] = {0};

	for (size_t at = 0; at < arrays->n_bytes; at += sizeof(bits)) {
		uint64_t word[4];

		memcpy(word, (const char *)arrays->a + at, sizeof(word));
		for (int i = 0; i < 4; i++)
			bits[i] |= word[i];
	}
	return bits[0] | bits[1] | bits[2] | bits[3];
}

static uint64_t
generic_store(const struct sl__stream_arrays *arrays)
{
	size_t n = arrays->n_bytes / sizeof(double);
	double *a = arrays->a;

	for (size_t i = 0; i < n; i += 8) {
		for (size_t k = 0; k < 8; k++)
			a[i + k] = SCALE;
		CLOBBER_MEMORY();
	}
	return 0;
}

static uint64_t
generic_copy(const struct sl__stream_arrays *arrays)
{
	size_t n = arrays->n_bytes / sizeof(double);
	const double *restrict b = arrays->b;
	double *restrict a = arrays->a;

	for (size_t i = 0; i < n; i += 8) {
		for (size_t k = 0; k < 8; k++)
			a[i + k] = b[i + k];
		CLOBBER_MEMORY();
	}
	return 0;
}

static uint64_t
generic_triad(const struct sl__stream_arrays *arrays)
{
	size_t n = arrays->n_bytes / sizeof(double);
	const double *restrict b = arrays->b, *restrict c = arrays->c;
	double *restrict a = arrays->a;

	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + SCALE * c[i];
	CLOBBER_MEMORY();
	return 0;
}

const struct sl__stream_kernels *
sl__stream_kernels_generic(void)
{
	static const struct sl__stream_kernels generic = {
		"plain C",
		64,
		{
			[SL_ACCESS_LOAD] = generic_load,
			[SL_ACCESS_STORE] = generic_store,
			[SL_ACCESS_COPY] = generic_copy,
			[SL_ACCESS_TRIAD] = generic_triad,
		}};

	return &generic;
}

const struct sl__stream_kernels *
sl__stream_kernels_widest(void)
{
	const struct sl__stream_kernels *x86 = sl__stream_kernels_x86();

	return x86 ? x86 : sl__stream_kernels_generic();
}

size_t
sl__stream_n_arrays(enum sl_access access)
{
	if (access == SL_ACCESS_TRIAD || access == SL_ACCESS_TRIAD_NT)
		return 3;
	return access == SL_ACCESS_COPY || access == SL_ACCESS_COPY_NT ? 2 : 1;
}

double
sl__stream_traffic_ratio(enum sl_access access)
{
	double n_arrays = (double)sl__stream_n_arrays(access);

	if (access == SL_ACCESS_STORE || access == SL_ACCESS_COPY ||
	    access == SL_ACCESS_TRIAD)
		return (n_arrays + 1) / n_arrays;
	return 1;
}
