/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_names.c - counters by the names that libpfm4 gives them.
 *
 * The kernel has names of its own for few counters, and none for lines that
 * miss the second cache.  libpfm4 has the tables of the makers of CPUs, and
 * finds out which one is at hand.  It keeps them in globals: one thread uses
 * it at a time, from its beginning to its end.
 */
#define _DEFAULT_SOURCE /* syscall(), for libpfm4's header */
#include "timing/counter_names.h"

#include <string.h>

#ifdef SL_WITH_PFM
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#endif

#include "base/banned.h"

#ifdef SL_WITH_PFM

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

int
sl__counter_has_libpfm(void)
{
	return 1;
}

static int
encode(struct sl__counter_code *out, const char *name)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	arg.attr = &attr;
	arg.size = sizeof(arg);
	if (pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT,
				      &arg) != PFM_SUCCESS)
		return 0;
	*out = (struct sl__counter_code){name, attr.type, attr.config,
					 attr.config1, attr.config2};
	return 1;
}

size_t
sl__counter_encode(struct sl__counter_code *out, const char *const *names,
		   size_t n)
{
	size_t n_known = 0;

	pthread_mutex_lock(&one_at_a_time);
	if (pfm_initialize() == PFM_SUCCESS) {
		for (size_t i = 0; i < n; i++)
			n_known += (size_t)encode(&out[n_known], names[i]);
		pfm_terminate();
	}
	pthread_mutex_unlock(&one_at_a_time);
	return n_known;
}

#else

int
sl__counter_has_libpfm(void)
{
	return 0;
}

size_t
sl__counter_encode(struct sl__counter_code *out, const char *const *names,
		   size_t n)
{
	(void)out;
	(void)names;
	(void)n;
	return 0;
}

#endif
