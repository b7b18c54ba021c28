/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_usage.c - what the kernel says a thread and its process use.
 *
 * Three system calls: the thread's CPU clock, getrusage() for faults and the
 * high-water mark, and one pread() of statm.  statm stays open, because
 * opening it costs more than all the rest; the descriptor names the process
 * that opened it, so a forked child opens its own.
 */
#define _GNU_SOURCE
#include "memory/resource_usage.h"
#include "base/clock.h"
#include "sleuth/observing.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/banned.h"

static pthread_once_t statm_once = PTHREAD_ONCE_INIT;
static _Atomic int statm_fd = -1;
static uint64_t page_bytes;

static void
reopen_statm(void)
{
	int old = atomic_exchange(
		&statm_fd, open("/proc/self/statm", O_RDONLY | O_CLOEXEC));

	if (old >= 0)
		close(old);
}

static void
open_statm(void)
{
	page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	reopen_statm();
	/* Without the handler a child would read its parent: worse than
	 * nothing, so nothing is read at all. */
	if (pthread_atfork(NULL, NULL, reopen_statm))
		close(atomic_exchange(&statm_fd, -1));
}

int
sl__statm_resident_pages(uint64_t *out, const char *statm)
{
	uint64_t pages = 0;
	const char *at = statm;

	while (*at >= '0' && *at <= '9')
		at++;
	if (at == statm || *at++ != ' ' || *at < '0' || *at > '9')
		return 0;
	for (; *at >= '0' && *at <= '9'; at++)
		pages = 10 * pages + (uint64_t)(*at - '0');
	*out = pages;
	return 1;
}

uint64_t
sl__resident_bytes(void)
{
	char text[128]; /* seven numbers of at most 16 digits */
	uint64_t pages;
	ssize_t n;

	pthread_once(&statm_once, open_statm);
	n = pread(statm_fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sl__statm_resident_pages(&pages, text) ? pages * page_bytes : 0;
}

void
sl__resource_usage_read(struct sl__resource_usage *now, unsigned flags)
{
	*now = (struct sl__resource_usage){0};
	if (flags & (SL_SCOPE_FAULTS | SL_SCOPE_MEMORY)) {
		struct rusage usage = {0};

		/* The high-water mark is the process's for a thread too. */
		getrusage(RUSAGE_THREAD, &usage);
		now->n_minor = (uint64_t)usage.ru_minflt;
		now->n_major = (uint64_t)usage.ru_majflt;
		now->resident_peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
	}
	if (flags & SL_SCOPE_MEMORY)
		now->resident_bytes = sl__resident_bytes();
	if (flags & SL_SCOPE_CPU)
		now->cpu_ns = sl__clock_thread_cpu_ns();
}

uint64_t
sl__resident_peak_between(const struct sl__resource_usage *before,
			  const struct sl__resource_usage *after)
{
	uint64_t peak = before->resident_bytes;

	if (after->resident_bytes > peak)
		peak = after->resident_bytes;
	if (after->resident_peak_bytes > before->resident_peak_bytes &&
	    after->resident_peak_bytes > peak)
		peak = after->resident_peak_bytes;
	return peak;
}
