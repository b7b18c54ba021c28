/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_counters.c - steps of a plan with the CPU's counters read around them.
 *
 * The kernel lets counters take turns where the CPU has too few, a few
 * milliseconds each, which may be longer than a step.  So what each thread
 * counted in a step, and for how long it did, is added up over all iterations
 * before it is scaled.
 */
#include "experiment/step_counters.h"
#include "base/clock.h"
#include "base/status.h"
#include "compute/parallel.h"
#include "engine/observer.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* What a thread reads, and what comes of it. */
struct reader {
	struct sl__counter_reading before[SL_N_EVENTS], now[SL_N_EVENTS];
	enum sl_status status;
	struct sl_error err;
};

struct counter {
	const struct sl__step_counters_options *how;
	struct sl__plan_counter_values *out;
	struct sl_plan *plan;
	struct sl__runner runner;
	struct sl__counter_set *set;
	struct reader *readers; /* [n_threads] */
	int n_threads;
	size_t *slot_of; /* by step of the plan; n_steps: not counted */
	struct sl__counter_tally *tallies; /* [n_steps][n_threads][events] */
	size_t *n_calls;                   /* [n_steps] */
};

static struct sl__counter_tally *
tallies_of(const struct counter *c, size_t slot, int rank)
{
	size_t i = slot * (size_t)c->n_threads + (size_t)rank;

	return c->tallies + i * SL_N_EVENTS;
}

static void
join(int rank, int n, void *ctx)
{
	struct counter *c = ctx;

	(void)n;
	sl__counter_set_join(c->set, (size_t)rank);
}

static void
read_now(int rank, int n, void *ctx)
{
	struct counter *c = ctx;
	struct reader *r = &c->readers[rank];

	(void)n;
	r->status = sl__counter_set_read(c->set, (size_t)rank, r->now, &r->err);
}

static enum sl_status
read_all(struct counter *c, struct sl_error *err)
{
	sl__parallel_run(c->n_threads, read_now, c);
	for (int rank = 0; rank < c->n_threads; rank++) {
		const struct reader *r = &c->readers[rank];

		if (r->status)
			return sl__fail(err, r->status, "%s", r->err.text);
	}
	return SL_OK;
}

static enum sl_status
add_up(struct counter *c, size_t slot, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (int rank = 0; rank < c->n_threads; rank++) {
		const struct reader *r = &c->readers[rank];
		struct sl__counter_tally *tallies = tallies_of(c, slot, rank);

		for (int e = 0; !rc && e < SL_N_EVENTS; e++)
			rc = sl__counter_tally_add(&tallies[e], &r->before[e],
						   &r->now[e], err);
	}
	c->n_calls[slot]++;
	return rc;
}

static enum sl_status
around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct counter *c = ctx;
	size_t slot = c->slot_of[i];
	enum sl_status rc;

	if (slot == c->how->n_steps)
		return sl__run_step(p, i, err);
	rc = read_all(c, err);
	if (rc)
		return rc;
	for (int rank = 0; rank < c->n_threads; rank++)
		memcpy(c->readers[rank].before, c->readers[rank].now,
		       sizeof(c->readers[rank].now));
	rc = sl__run_step(p, i, err);
	if (!rc)
		rc = read_all(c, err);
	return rc ? rc : add_up(c, slot, err);
}

static enum sl_status
warm_up(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct counter *c = ctx;

	(void)slot;
	return sl_plan_run(c->plan, err);
}

static enum sl_status
run_iteration(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct counter *c = ctx;
	const struct sl__interceptor interceptor = {around, c};

	(void)slot;
	return sl__plan_intercept(c->plan, &interceptor, err);
}

static enum sl_status
run_iterations(struct counter *c, struct sl_error *err)
{
	const struct sl__step_counters_options *how = c->how;
	const struct sl__phase_spec counting = {
		.n_arms = 1,
		.is_in_order = 1,
		.min_rounds = 1,
		.max_rounds = how->n_iterations ? how->n_iterations : 3,
		.time_s = how->time_s > 0 ? how->time_s : 0.3,
		.run = run_iteration,
		.ctx = c,
	};
	struct sl__phase_spec warming_up = counting;
	enum sl_status rc = SL_OK;

	warming_up.n_rounds = 1;
	warming_up.run = warm_up;
	c->runner.ahead_ns = (uint64_t)how->iteration_ns;
	sl__runner_restart_budget(&c->runner);
	/* Experiments leave caches as no iteration does. */
	if (2 * how->iteration_ns < counting.time_s * 1e9)
		rc = sl__runner_run(&c->runner, &warming_up, err);
	if (!rc)
		rc = sl__runner_run(&c->runner, &counting, err);
	c->out->n_iterations = c->runner.n_rounds;
	return rc;
}

/* The mean of a call, all threads together; NaN where one of them never
 * counted. */
static double
count_of(const struct counter *c, size_t slot, int e)
{
	double sum = 0;

	for (int rank = 0; rank < c->n_threads; rank++)
		sum += sl__counter_tally_scaled(&tallies_of(c, slot, rank)[e]);
	return sum / (double)c->n_calls[slot];
}

static double
running_share(const struct counter *c, int e)
{
	double enabled_ns = 0, running_ns = 0;

	for (size_t slot = 0; slot < c->how->n_steps; slot++) {
		for (int rank = 0; rank < c->n_threads; rank++) {
			const struct sl__counter_tally *t =
				&tallies_of(c, slot, rank)[e];

			enabled_ns += t->enabled_ns;
			running_ns += t->running_ns;
		}
	}
	return enabled_ns > 0 ? fmin(running_ns / enabled_ns, 1) : (double)NAN;
}

/* Where none is left, the first one's reason stands for all. */
static void
take_uses(struct counter *c)
{
	size_t n_used = 0;

	for (int e = 0; e < SL_N_EVENTS; e++) {
		struct sl_counter_use *use = &c->out->uses[e];

		use->counter = sl__counter_set_name(c->set, (enum sl_event)e,
						    &use->absent);
		use->running_share = use->absent ? (double)NAN
						 : running_share(c, e);
		n_used += use->running_share > 0;
		if (use->absent || use->running_share > 0)
			continue;
		use->counter = NULL;
		use->running_share = (double)NAN;
		use->absent = "the kernel never gave it a turn";
	}
	if (!n_used)
		c->out->absent = c->out->uses[0].absent;
}

static void
take_counts(struct counter *c, struct sl_operation_counts *counts)
{
	for (size_t i = 0; i < c->how->n_steps; i++) {
		counts[i].n_calls = c->n_calls[i];
		for (int e = 0; e < SL_N_EVENTS; e++) {
			const char *absent = c->out->uses[e].absent;

			if (!absent && !c->n_calls[i])
				absent = "its counter had no turn";
			counts[i].absent[e] = absent;
			counts[i].of[e] = absent ? (double)NAN
						 : count_of(c, i, e);
		}
	}
	c->out->counts = counts;
	c->out->n = c->how->n_steps;
}

void
sl__step_counters_set_absent(struct sl__plan_counter_values *out,
			     const char *why)
{
	memset(out, 0, sizeof(*out));
	out->absent = why;
	for (int e = 0; e < SL_N_EVENTS; e++)
		out->uses[e] = (struct sl_counter_use){
			.running_share = (double)NAN, .absent = why};
}

static enum sl_status
prepare(struct counter *c, const struct sl__program *p,
	struct sl__arena *scratch, struct sl_error *err)
{
	size_t n = c->how->n_steps, n_threads = (size_t)c->n_threads;

	c->readers = sl__arena_array(scratch, n_threads, sizeof(*c->readers));
	c->slot_of = sl__arena_array(scratch, p->n_steps, sizeof(*c->slot_of));
	c->n_calls = sl__arena_array(scratch, n, sizeof(*c->n_calls));
	c->tallies = sl__arena_array(scratch, n * n_threads,
				     SL_N_EVENTS * sizeof(*c->tallies));
	if (!c->readers || !c->slot_of || !c->n_calls || !c->tallies)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < p->n_steps; i++)
		c->slot_of[i] = n;
	for (size_t i = 0; i < n; i++)
		c->slot_of[c->how->steps[i]] = i;
	sl__parallel_run(c->n_threads, join, c);
	return sl__counter_set_drop_unopened(c->set, err);
}

/* With a set that may count something. */
static enum sl_status
count(struct counter *c, struct sl__arena *arena, struct sl__arena *scratch,
      struct sl_error *err)
{
	struct sl_operation_counts *counts =
		sl__arena_array(arena, c->how->n_steps, sizeof(*counts));
	enum sl_status rc;

	if (!counts)
		return sl__fail_nomem(err);
	rc = prepare(c, c->plan->current, scratch, err);
	if (!rc && sl__counter_set_n_events(c->set))
		rc = run_iterations(c, err);
	if (rc)
		return rc;
	if (sl__counter_set_n_events(c->set) && !c->out->n_iterations) {
		sl__step_counters_set_absent(c->out, "interrupted");
		return SL_OK;
	}
	take_uses(c);
	if (!c->out->absent)
		take_counts(c, counts);
	return SL_OK;
}

enum sl_status
sl__step_counters_measure(struct sl__plan_counter_values *out,
			  struct sl__subject_model *subject,
			  const struct sl__step_counters_options *how,
			  struct sl__arena *arena, struct sl_error *err)
{
	struct counter c = {.how = how,
			    .out = out,
			    .plan = subject->plan,
			    .runner.control = how->control};
	const struct sl_clock *clock = how->control.with.clock;
	uint64_t start_ns = sl__clock_now_ns(clock);
	struct sl__arena scratch;
	enum sl_status rc;

	sl__step_counters_set_absent(out, NULL);
	c.n_threads = sl_plan_n_threads(subject->plan);
	/* Names and reasons are kept. */
	rc = sl__counter_set_open(&c.set, how->source, (size_t)c.n_threads,
				  arena, err);
	sl__arena_init(&scratch, subject->how.allocator);
	if (!rc && !sl__counter_set_n_events(c.set))
		take_uses(&c);
	else if (!rc)
		rc = count(&c, arena, &scratch, err);
	sl__counter_set_close(c.set);
	sl__arena_release(&scratch);
	out->elapsed_s = (double)(sl__clock_now_ns(clock) - start_ns) / 1e9;
	return rc;
}
