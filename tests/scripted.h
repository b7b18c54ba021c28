/* SPDX-License-Identifier: Apache-2.0 */
/* scripted.h - a clock and work for it: time as data. */
#ifndef SL_TEST_SCRIPTED_H
#define SL_TEST_SCRIPTED_H

#include "base/rng.h"
#include "sleuth.h"

/* Time that passes only when it is read or when scripted work is done. */
struct scripted_time {
	uint64_t now_ns;
	uint64_t reading_ns; /* what one reading takes */
	struct sl__rng rng;
	uint64_t diary; /* a hash of who worked, in order, at first */
	size_t n_worked;
};

static inline uint64_t
scripted_now(void *ctx)
{
	struct scripted_time *time = ctx;

	time->now_ns += time->reading_ns;
	return time->now_ns;
}

/*
 * A function whose n-th call takes base_ns, times 'early_factor' for the
 * first n_early calls, first_ns for the very first, and up to 'noise' more.
 */
struct scripted_work {
	struct scripted_time *time;
	uint64_t name; /* for the diary */
	double base_ns, first_ns, early_factor, noise;
	size_t n_early;
	size_t n_calls;
	size_t fail_at; /* this call fails, counted from 1; 0: none does */
	volatile sig_atomic_t interrupted;
	size_t interrupt_at; /* sets 'interrupted' in this call; 0: none */
};

static inline int
scripted_call(void *ctx)
{
	struct scripted_work *work = ctx;
	double ns = work->base_ns;

	work->n_calls++;
	if (work->time->n_worked++ < 500)
		work->time->diary = work->time->diary * 31 + work->name;
	if (work->n_calls == work->fail_at)
		return 7;
	if (work->n_calls == work->interrupt_at)
		work->interrupted = 1;
	if (work->n_calls == 1 && work->first_ns > 0)
		ns = work->first_ns;
	else if (work->n_calls <= work->n_early)
		ns *= work->early_factor;
	ns *= 1 + work->noise * sl__rng_uniform(&work->time->rng);
	work->time->now_ns += (uint64_t)ns;
	return 0;
}

#endif
