/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selfcheck.c - sl_selfcheck(): what the instrument's verdicts are worth here.
 *
 * The work is a chain of dependent multiplications, whose length is known
 * exactly, so that "1 % slower" is 1 % more iterations and nothing else.
 * A against A and every planted change take turns, so that a busy hour of
 * the machine falls on all of them.  Each verdict is one sl_compare() with
 * margin 0 that ends when decided.
 */
#include "driver/selfcheck.h"
#include "base/arena.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "stats/proportion.h"
#include "stats/quantile.h"
#include "timing/dependency_chain.h"
#include "timing/compare_functions.h"
#include "timing/runner.h"
#include "timing/timer.h"

#include <math.h>

#include "base/banned.h"

static const double PLANTED[] = {0, 0.01, 0.02, 0.05};

enum { N_ROWS = sizeof(PLANTED) / sizeof(PLANTED[0]) };

struct selfcheck {
	const struct sl_selfcheck_options *how;
	struct sl__selfcheck_test_hooks script; /* 'work' is set in any case */
	struct sl__steps_work base, changed[N_ROWS];
	struct sl_selfcheck_row rows[N_ROWS];
	double *seconds[N_ROWS]; /* [cap] of the verdicts reached */
	size_t n_seconds[N_ROWS];
	size_t cap;
	struct sl__monitor monitor;
	struct sl__runner runner;
	uint64_t n_verdicts;
};

/* A chain of exactly n_steps (timing/dependency_chain.h). */
static int
do_work(void *ctx)
{
	struct sl__steps_work *work = ctx;

	work->sink = sl__dependency_chain(work->sink, work->n_steps);
	return 0;
}

static enum sl_status
check_options(const struct sl_selfcheck_options *how, struct sl_error *err)
{
	if (!(how->time_s > 0 && how->time_s <= 1e6) ||
	    !(how->budget_s > 0 && how->budget_s <= how->time_s))
		return sl__fail(err, SL_E_USAGE,
				"time of %g s with %g s a verdict: both must "
				"be above 0, and the second the smaller",
				how->time_s, how->budget_s);
	if (!(how->function_ns >= 1000 && how->function_ns <= 1e9))
		return sl__fail(err, SL_E_USAGE,
				"work of %g ns: must be 1 us to 1 s",
				how->function_ns);
	/* Seven rounds of two, and as much again for the calibration. */
	if (how->budget_s * 1e9 < 30 * how->function_ns)
		return sl__fail(err, SL_E_USAGE,
				"%g s a verdict: too little for work of %g s; "
				"must be 30 times as long",
				how->budget_s, how->function_ns / 1e9);
	return SL_OK;
}

/* Finds how many steps take function_ns, and plants the changes. */
static void
plant(struct selfcheck *s)
{
	struct sl__steps_work pilot = {.n_steps = 1000};
	struct sl_candidate what = {"pilot", s->script.work, &pilot};
	struct sl__timer timer;
	size_t n_calls;
	double call_ns = 0;

	sl__timer_init(&timer, s->script.with.clock);
	/* The work never fails, and neither does its calibration. */
	(void)sl__timer_choose_n_calls(&timer, &what, 1e6, &n_calls, &call_ns);
	s->base.n_steps =
		(uint64_t)fmax(200, s->how->function_ns * 1000 / call_ns);
	for (size_t i = 0; i < N_ROWS; i++) {
		uint64_t more =
			(uint64_t)llround(PLANTED[i] * (double)s->base.n_steps);

		s->changed[i].n_steps = s->base.n_steps + more;
		s->rows[i].planted = PLANTED[i];
		s->rows[i].planted_real =
			(double)more / (double)s->base.n_steps;
	}
}

static void
count_verdict(struct selfcheck *s, size_t row, const struct sl_comparison *c)
{
	struct sl_selfcheck_row *r = &s->rows[row];

	r->n_verdicts++;
	if (c->verdict == SL_VERDICT_UNDECIDED)
		return;
	r->n_different++;
	r->n_right += c->verdict == SL_VERDICT_SLOWER;
	if (s->n_seconds[row] < s->cap)
		s->seconds[row][s->n_seconds[row]++] = c->decided_after_s;
}

/* A verdict cut short by the user says nothing about the rates. */
static enum sl_status
take_verdict(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct selfcheck *s = ctx;
	struct sl_candidate pair[2] = {
		{"A", s->script.work, &s->base},
		{"B", s->script.work, &s->changed[slot->arm]},
	};
	struct sl_compare_options how = {
		.struct_size = sizeof(how),
		.time_s = s->how->budget_s,
		.margin = -1,
		.min_rounds = 1,
		.seed = s->how->seed + ++s->n_verdicts,
		.clock = s->script.with.clock,
		.interrupt = s->how->interrupt,
		.allocator = s->how->allocator,
	};
	struct sl_comparisons *c;
	enum sl_status rc = sl__compare_functions(&c, pair, 2, &how,
						  s->script.with.monitor, err);

	if (rc)
		return rc == SL_E_INTERRUPTED ? SL_OK : rc;
	if (c->stopped_by != SL_STOP_INTERRUPT)
		count_verdict(s, slot->arm, &c->rows[0]);
	sl__monitor_add_nested(&s->monitor, &c->noise, c->elapsed_s);
	sl_comparisons_free(c);
	return SL_OK;
}

static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct selfcheck *s = ctx;

	(void)taken;
	(void)err;
	sl__monitor_probe_frequency(&s->monitor);
	return SL_OK;
}

static void
describe(struct sl_progress *now, void *ctx)
{
	const struct selfcheck *s = ctx;

	now->n_done = s->n_verdicts;
}

static enum sl_status
play(struct selfcheck *s, struct sl_error *err)
{
	const struct sl__phase_spec checking = {
		.name = "checking",
		.n_arms = N_ROWS,
		.is_in_order = 1,
		.min_rounds = 1,
		.time_s = s->how->time_s,
		.run = take_verdict,
		.close = close_round,
		.describe = describe,
		.ctx = s,
	};
	enum sl_status rc = sl__runner_run(&s->runner, &checking, err);

	if (!rc && !s->rows[N_ROWS - 1].n_verdicts)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first verdict on each");
	return rc;
}

static enum sl_status
conclude(struct selfcheck *s, struct sl_selfcheck *out, struct sl__arena *arena,
	 struct sl_error *err)
{
	struct sl_selfcheck_row *rows =
		sl__arena_array(arena, N_ROWS, sizeof(*rows));

	if (!rows)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < N_ROWS; i++) {
		struct sl_selfcheck_row *r = &s->rows[i];

		r->rate = sl__proportion(i ? r->n_right : r->n_different,
					 r->n_verdicts, 0.05);
		r->seconds =
			sl__median_estimate(s->seconds[i], s->n_seconds[i]);
		rows[i] = *r;
	}
	out->rows = rows;
	out->n_rows = N_ROWS;
	out->budget_s = s->how->budget_s;
	out->function_ns = s->how->function_ns;
	out->elapsed_s = sl__runner_elapsed_s(&s->runner);
	out->stopped_by = s->runner.stopped_by;
	out->seed = s->how->seed;
	return SL_OK;
}

static enum sl_status
reserve(struct selfcheck *s, struct sl__arena *arena, struct sl_error *err)
{
	s->cap = 16 + (size_t)(2 * s->how->time_s / s->how->budget_s);
	for (size_t i = 0; i < N_ROWS; i++) {
		s->seconds[i] = sl__arena_array(arena, s->cap, sizeof(double));
		if (!s->seconds[i])
			return sl__fail_nomem(err);
	}
	return SL_OK;
}

static void
set_defaults(struct sl_selfcheck_options *how)
{
	if (how->time_s == 0)
		how->time_s = 60;
	if (how->budget_s == 0)
		how->budget_s = 0.1;
	if (how->function_ns == 0)
		how->function_ns = 50000;
	if (how->seed == 0)
		how->seed = 1;
}

static enum sl_status
check(struct selfcheck *s, struct sl_selfcheck *out, struct sl__arena *arena,
      struct sl_error *err)
{
	enum sl_status rc = reserve(s, arena, err);

	if (rc)
		return rc;
	plant(s);
	sl__monitor_open(&s->monitor, &s->script.with);
	s->runner.control =
		(struct sl__runner_hooks){s->how->interrupt, s->how->progress,
					  s->how->progress_ctx, s->script.with};
	sl__runner_start_budget(&s->runner, s->how->seed);
	rc = play(s, err);
	sl__monitor_close(&s->monitor, &out->noise);
	return rc ? rc : conclude(s, out, arena, err);
}

enum sl_status
sl__selfcheck(struct sl_selfcheck **out,
	      const struct sl_selfcheck_options *options,
	      const struct sl__selfcheck_test_hooks *script,
	      struct sl_error *err)
{
	struct sl_selfcheck_options how;
	struct selfcheck s = {.how = &how, .script.work = do_work};
	struct sl_selfcheck *result;
	struct sl__arena *arena;
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_selfcheck_options", err);

	*out = NULL;
	set_defaults(&how);
	if (script)
		s.script = *script;
	if (!rc)
		rc = check_options(&how, err);
	if (rc)
		return rc;
	result = sl__arena_object_new(&arena, how.allocator, sizeof(*result));
	if (!result)
		return sl__fail_nomem(err);
	rc = check(&s, result, arena, err);
	*out = sl__arena_object_free_on_error(result, rc);
	return rc;
}

enum sl_status
sl_selfcheck(struct sl_selfcheck **out,
	     const struct sl_selfcheck_options *options, struct sl_error *err)
{
	return sl__selfcheck(out, options, NULL, err);
}

void
sl_selfcheck_free(struct sl_selfcheck *s)
{
	sl__arena_object_free(s);
}
