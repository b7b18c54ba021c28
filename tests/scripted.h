/* SPDX-License-Identifier: Apache-2.0 */
/* scripted.h - a clock, work for it and what disturbs it: time as data. */
#ifndef SL_TEST_SCRIPTED_H
#define SL_TEST_SCRIPTED_H

#include "base/rng.h"
#include "sleuth.h"
#include "timing/runner.h"

#include <string.h>

/* What a disturbance takes: longer than anything else here. */
enum { SLOW_NS = 500000000 };

/* Time that passes only when it is read or when scripted work is done. */
struct scripted_time {
	uint64_t now_ns;
	uint64_t reading_ns; /* what one reading takes */
	size_t n_readings;
	size_t interrupt_at; /* this reading, from 1, sets 'interrupted'; 0:
				none does */
	size_t slow_at;      /* this one takes SLOW_NS more; 0: none does */
	volatile sig_atomic_t interrupted;
	struct sl__rng rng;
	uint64_t diary; /* a hash of who worked, in order, at first */
	size_t n_worked;
};

static inline uint64_t
scripted_now(void *ctx)
{
	struct scripted_time *time = ctx;

	time->now_ns += time->reading_ns;
	if (++time->n_readings == time->interrupt_at)
		time->interrupted = 1;
	if (time->n_readings == time->slow_at)
		time->now_ns += SLOW_NS;
	return time->now_ns;
}

/*
 * Instruments that read scripted time.  Slots are counted by what is read
 * around them: those whose bit is set in 'disturbed' (the first is bit 0, and
 * what is beyond the last bit is calm) find the thread preempted once.  The
 * machine's times grow by 1000 ticks from one reading of them to the next, of
 * which 200 are stolen where the latter's bit is set in 'stolen'.
 */
struct scripted_instruments {
	struct scripted_time time;
	struct sl_clock clock;
	struct sl__monitor_source source;
	struct sl__measurement_sources with;
	uint64_t disturbed, stolen;
	size_t n_reads, n_system_reads;
	struct sl__covariates now;
	struct sl__system_times system;
};

static inline void
scripted_covariates(struct sl__covariates *now, void *ctx)
{
	struct scripted_instruments *s = ctx;
	size_t slot = s->n_reads / 2;

	s->now.cpu_ns = s->time.now_ns;
	if (s->n_reads++ % 2)
		s->now.n_involuntary += slot < 64 && (s->disturbed >> slot) & 1;
	*now = s->now;
}

static inline int
scripted_system(struct sl__system_times *now, void *ctx)
{
	struct scripted_instruments *s = ctx;
	size_t nth = s->n_system_reads++;
	uint64_t stolen = nth < 64 && (s->stolen >> nth) & 1 ? 200 : 0;

	s->system.total += 1000;
	s->system.steal += stolen;
	s->system.idle += 1000 - stolen;
	*now = s->system;
	return 1;
}

static inline void
script_instruments(struct scripted_instruments *s, uint64_t reading_ns)
{
	memset(s, 0, sizeof(*s));
	s->time.reading_ns = reading_ns;
	sl__rng_init(&s->time.rng, 1);
	s->clock = (struct sl_clock){scripted_now, &s->time};
	s->source.read = scripted_covariates;
	s->source.read_system = scripted_system;
	s->source.ctx = s;
	s->with.clock = &s->clock;
	s->with.monitor = &s->source;
}

/* These, an interrupt that the scripted time may set, and who is told. */
static inline struct sl__runner_hooks
scripted_control(struct scripted_instruments *s,
		 void (*progress)(const struct sl_progress *now, void *ctx),
		 void *ctx)
{
	return (struct sl__runner_hooks){.interrupt = &s->time.interrupted,
					 .progress = progress,
					 .progress_ctx = ctx,
					 .with = s->with};
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
