/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_rounds.c - iterations of one plan, fed in several ways, in rounds.
 *
 * What works ahead of iterations has finished a few inputs while other arms
 * ran.  A slot uses those up before its clock starts, so that it times what a
 * run of any length would see.
 */
#include "experiment/feed_rounds.h"
#include "base/clock.h"
#include "base/status.h"
#include "stats/quantile.h"

#include <math.h>

#include "base/banned.h"

enum {
	ROUNDS_LEAST = 6, /* for an interval of 95 % */
	ROUNDS_MOST = 512,
	STRETCH_NS = 500000,
	CALLS_MOST = 4096
};

struct feeder {
	const struct sl__feed_arm *arms;
	const struct sl__feed_rounds_options *how;
	double *ns[SL__FEED_ARMS_MOST]; /* [ROUNDS_MOST] of an iteration */
	size_t order[SL__FEED_ARMS_MOST];
	struct sl__runner runner;
};

static enum sl_status
iterate(struct feeder *f, const struct sl__feed_arm *arm, size_t n,
	struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		if (arm->feed)
			rc = arm->feed(arm->ctx, err);
		if (!rc)
			rc = sl_plan_run(arm->plan ? arm->plan : f->how->plan,
					 err);
	}
	return rc;
}

static size_t
calls_of(const struct feeder *f, const struct sl__feed_arm *arm)
{
	double n = STRETCH_NS / fmax(f->how->iteration_ns, 1);

	n = fmin(fmax(n, 1), CALLS_MOST);
	return n < (double)arm->n_least ? arm->n_least : (size_t)n;
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct feeder *f = ctx;
	const struct sl_clock *clock = f->how->control.with.clock;
	const struct sl__feed_arm *arm = &f->arms[slot->arm];
	size_t n = calls_of(f, arm);
	enum sl_status rc = iterate(f, arm, arm->n_drained, err);
	uint64_t begin = sl__clock_now_ns(clock);

	if (!rc)
		rc = iterate(f, arm, n, err);
	f->ns[slot->arm][slot->round] =
		(double)(sl__clock_now_ns(clock) - begin) / (double)n;
	if (arm->settle)
		arm->settle(arm->ctx);
	return rc;
}

static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct feeder *f = ctx;

	(void)err;
	f->runner.ahead_ns = taken->took_ns;
	return SL_OK;
}

enum sl_status
sl__feed_rounds_run(struct sl_estimate *ratios, const struct sl__feed_arm *arms,
		    size_t n, const struct sl__feed_rounds_options *how,
		    struct sl__arena *scratch, struct sl_error *err)
{
	struct feeder f = {.arms = arms, .how = how};
	const struct sl__phase_spec feeding = {
		.name = "feeding steps in other ways",
		.n_arms = n,
		.max_rounds = ROUNDS_MOST,
		.time_s = fmax(how->time_s, 1e-3),
		.run = run_slot,
		.close = close_round,
		.ctx = &f,
	};
	enum sl_status rc;

	for (size_t k = 0; k < n; k++) {
		ratios[k] = sl__no_estimate();
		f.ns[k] = sl__arena_array(scratch, ROUNDS_MOST, sizeof(double));
		if (!f.ns[k])
			return sl__fail_nomem(err);
	}
	f.runner.control = how->control;
	f.runner.order = f.order;
	sl__runner_start_budget(&f.runner, how->seed);
	rc = sl__runner_run(&f.runner, &feeding, err);
	for (size_t k = 1; k < n && f.runner.n_rounds >= ROUNDS_LEAST; k++) {
		for (size_t i = 0; i < f.runner.n_rounds; i++)
			f.ns[k][i] /= f.ns[0][i];
		ratios[k] = sl__median_estimate(f.ns[k], f.runner.n_rounds);
	}
	return rc;
}
