/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite_rounds.c - plans of many models, run in rounds of random order.
 *
 * Whatever the machine does meanwhile hits all arms alike: each round has a slot
 * of every arm, and only the coin decides who comes first.  Arms need not have
 * anything in common, so that each has its own number of iterations a slot.
 */
#include "experiment/suite_rounds.h"
#include "base/clock.h"
#include "base/status.h"

#include <math.h>

#include "base/banned.h"

enum {
	SLOT_NS = 2000000, /* long beside what begins a slot: caches that
			      others left cold, a reading of the clock */
	CALLS_MOST = 1 << 16,
	WARMUP_RUNS = 3
};

struct rounds {
	struct sl__suite_arm *arms;
	const struct sl__suite_rounds_options *how;
	struct sl__runner runner;
};

static int
is_interrupted(const struct sl__suite_rounds_options *how)
{
	return how->control.interrupt && *how->control.interrupt;
}

/* Runs an arm; a failure but for an interrupt stays with it. */
static enum sl_status
run_calls(struct sl__suite_arm *arm, size_t n_calls,
	  const struct sl__suite_rounds_options *how, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < n_calls; i++)
		rc = sl_plan_run(arm->plan, &arm->failure);
	if (rc != SL_E_INTERRUPTED || !is_interrupted(how))
		return SL_OK;
	arm->failure = (struct sl_error){0};
	return sl__fail(err, SL_E_INTERRUPTED, "interrupted");
}

static enum sl_status
warm_up(struct sl__suite_arm *arm, const struct sl__suite_rounds_options *how,
	struct sl_error *err)
{
	const struct sl_clock *clock = how->control.with.clock;
	enum sl_status rc = SL_OK;
	double least = INFINITY;

	for (int i = 0; !rc && !arm->failure.status && i < WARMUP_RUNS; i++) {
		uint64_t begin = sl__clock_now_ns(clock);

		rc = run_calls(arm, 1, how, err);
		least = fmin(least, (double)(sl__clock_now_ns(clock) - begin));
	}
	arm->n_calls = (size_t)fmin(fmax(ceil(SLOT_NS / fmax(least, 1)), 1),
				    CALLS_MOST);
	arm->joules = how->meter->absent ? (double)NAN : 0;
	return rc;
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct rounds *r = ctx;
	struct sl__suite_arm *arm = &r->arms[slot->arm];
	const struct sl_clock *clock = r->how->control.with.clock;
	double joules = sl__energy_joules(r->how->meter);
	uint64_t begin = sl__clock_now_ns(clock);
	enum sl_status rc = SL_OK;

	if (!arm->failure.status)
		rc = run_calls(arm, arm->n_calls, r->how, err);
	slot->wall_ns = (double)(sl__clock_now_ns(clock) - begin);
	arm->ns[slot->round] = arm->failure.status
				       ? (double)NAN
				       : slot->wall_ns / (double)arm->n_calls;
	arm->joules += sl__energy_joules(r->how->meter) - joules;
	arm->n_metered += arm->n_calls;
	return rc;
}

enum sl_status
sl__suite_rounds_run(struct sl__suite_arm *arms, size_t n,
		     const struct sl__suite_rounds_options *how, size_t *n_done,
		     struct sl_error *err)
{
	struct rounds r = {.arms = arms, .how = how};
	const struct sl__phase_spec phase = {
		.n_arms = n,
		.n_rounds = how->n_rounds,
		.run = run_slot,
		.ctx = &r,
	};
	enum sl_status rc = SL_OK;

	*n_done = 0;
	for (size_t i = 0; !rc && i < n; i++)
		rc = warm_up(&arms[i], how, err);
	if (rc)
		return rc == SL_E_INTERRUPTED ? SL_OK : rc;
	r.runner.control = how->control;
	r.runner.monitor = how->monitor;
	r.runner.order = how->order;
	sl__runner_start_budget(&r.runner, how->seed);
	rc = sl__runner_run(&r.runner, &phase, err);
	*n_done = r.runner.n_rounds;
	return rc;
}
