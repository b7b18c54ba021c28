/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_counters.h - counters that count what a test tells them.
 *
 * Which event a code stands for is told from its name, so that the script
 * holds on any CPU.  Every reading of a counter is a fixed step further than
 * the one before; so a stretch between two readings counts one step.
 */
#ifndef SL_TEST_SCRIPTED_COUNTERS_H
#define SL_TEST_SCRIPTED_COUNTERS_H

#include "harness.h"
#include "timing/counter_set.h"

#include <errno.h>
#include <pthread.h>

enum { SCRIPTED_HANDLES = 256 };

struct scripted_counters {
	int open_errors[SL_N_EVENTS];    /* 0: opens */
	size_t refused_from;             /* handles from this on: EMFILE; 0 */
	uint64_t step[SL_N_EVENTS];      /* a reading is so much further */
	uint64_t enabled_ns, running_ns; /* of such a step */
	uint64_t starved[SL_N_EVENTS];   /* never run, if set */
	size_t fail_read_at;             /* the n-th read gives EIO; 0: none */

	pthread_mutex_t lock;
	size_t n_open, n_opened, n_reads;
	struct {
		int event, is_open;
		uint64_t n_reads;
	} handles[SCRIPTED_HANDLES];
};

static inline int
scripted_event(const struct sl__counter_code *code)
{
	const char *name = code->name;
	int is_fill = strstr(name, "ANY_DATA_CACHE_FILLS") != NULL;

	if (!strcmp(name, "cycles"))
		return SL_EVENT_CYCLES;
	if (!strcmp(name, "instructions"))
		return SL_EVENT_INSTRUCTIONS;
	if (strstr(name, "NO_RETIRE") || strstr(name, "CYCLE_ACTIVITY") ||
	    strstr(name, "stalled"))
		return SL_EVENT_STALLS;
	if (strstr(name, "LCL_L2") || strstr(name, "L1D") ||
	    strstr(name, "L1-dcache"))
		return SL_EVENT_L1_MISSES;
	if (strstr(name, "L2") || (is_fill && (strstr(name, "LOCAL_CCX") ||
					       strstr(name, "INT_CACHE"))))
		return SL_EVENT_L2_MISSES;
	return SL_EVENT_L3_MISSES;
}

static inline int
scripted_open(const struct sl__counter_code *code, void *ctx)
{
	struct scripted_counters *s = ctx;
	int event = scripted_event(code);
	int handle;

	if (s->open_errors[event])
		return -s->open_errors[event];
	pthread_mutex_lock(&s->lock);
	handle = (int)s->n_opened++;
	if (handle >= SCRIPTED_HANDLES ||
	    (s->refused_from && (size_t)handle >= s->refused_from)) {
		handle = -EMFILE;
	} else {
		s->handles[handle].event = event;
		s->handles[handle].is_open = 1;
		s->n_open++;
	}
	pthread_mutex_unlock(&s->lock);
	return handle;
}

static inline int
scripted_read(int handle, struct sl__counter_reading *out, void *ctx)
{
	struct scripted_counters *s = ctx;
	int event = s->handles[handle].event;
	uint64_t n = ++s->handles[handle].n_reads;
	int fails;

	pthread_mutex_lock(&s->lock);
	fails = ++s->n_reads == s->fail_read_at;
	pthread_mutex_unlock(&s->lock);
	if (!s->handles[handle].is_open)
		return -EBADF;
	if (fails)
		return -EIO;
	out->value = s->starved[event] ? 0 : n * s->step[event];
	out->enabled_ns = n * s->enabled_ns;
	out->running_ns = s->starved[event] ? 0 : n * s->running_ns;
	return 0;
}

static inline void
scripted_close(int handle, void *ctx)
{
	struct scripted_counters *s = ctx;

	pthread_mutex_lock(&s->lock);
	s->n_open -= (size_t)s->handles[handle].is_open;
	s->handles[handle].is_open = 0;
	pthread_mutex_unlock(&s->lock);
}

/* Every event opens; a stretch counts 1000 of each in 100 ns. */
static inline struct sl__counter_backend
script_counters(struct scripted_counters *s)
{
	struct sl__counter_backend source = {.open = scripted_open,
					     .read = scripted_read,
					     .close = scripted_close,
					     .ctx = s,
					     .paranoid = 2};

	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	for (int e = 0; e < SL_N_EVENTS; e++)
		s->step[e] = 1000;
	s->enabled_ns = s->running_ns = 100;
	return source;
}

#endif
