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
#include "sleuth.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "stats/proportion.h"
#include "stats/quantile.h"
#include "stats/summary.h"
#include "timing/chain.h"
#include "timing/covariates.h"
#include "timing/timer.h"

#include <math.h>

#include "base/banned.h"

static const double PLANTED[] = {0, 0.01, 0.02, 0.05};

enum { N_ROWS = sizeof(PLANTED) / sizeof(PLANTED[0]) };

/* A chain of exactly n_steps (timing/chain.h). */
struct work {
	uint64_t n_steps;
	volatile uint64_t sink;
};

struct selfcheck {
	const struct sl_selfcheck_options *how;
	struct work base, changed[N_ROWS];
	struct sl_selfcheck_row rows[N_ROWS];
	double *seconds[N_ROWS]; /* [cap] of the verdicts reached */
	size_t n_seconds[N_ROWS];
	size_t cap;
	struct sl__watch watch;
	uint64_t start_ns, deadline_ns, n_verdicts;
	enum sl_stop stopped_by;
};

static int
do_work(void *ctx)
{
	struct work *work = ctx;

	work->sink = sl__chain(work->sink, work->n_steps);
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
	struct work pilot = {.n_steps = 1000};
	struct sl_candidate what = {"pilot", do_work, &pilot};
	struct sl__timer timer;
	size_t n_calls;
	double call_ns = 0;

	sl__timer_init(&timer, NULL);
	/* do_work() never fails, and neither does its calibration. */
	(void)sl__timer_calibrate(&timer, &what, 1e6, &n_calls, &call_ns);
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

static enum sl_status
take_verdict(struct selfcheck *s, size_t row, struct sl_error *err)
{
	struct sl_candidate pair[2] = {
		{"A", do_work, &s->base},
		{"B", do_work, &s->changed[row]},
	};
	struct sl_compare_options how = {
		.struct_size = sizeof(how),
		.time_s = s->how->budget_s,
		.margin = -1,
		.min_rounds = 1,
		.seed = s->how->seed + ++s->n_verdicts,
		.interrupt = s->how->interrupt,
		.allocator = s->how->allocator,
	};
	struct sl_comparisons *c;
	enum sl_status rc = sl_compare(&c, pair, 2, &how, err);

	if (rc)
		return rc;
	/* A verdict cut short by the user says nothing about the rates. */
	if (c->stopped_by != SL_STOP_INTERRUPT)
		count_verdict(s, row, &c->rows[0]);
	sl__watch_add(&s->watch, &c->noise, c->elapsed_s);
	sl_comparisons_free(c);
	return SL_OK;
}

static void
report_progress(const struct selfcheck *s)
{
	struct sl_progress p = {.what = "checking",
				.n_done = s->n_verdicts,
				.median_ns = (double)NAN};
	uint64_t now_ns = sl__clock_now_ns(NULL);

	if (!s->how->progress)
		return;
	p.share = fmin(1, (double)(now_ns - s->start_ns) /
				  (double)(s->deadline_ns - s->start_ns));
	p.remaining_s = (1 - p.share) * s->how->time_s;
	s->how->progress(&p, s->how->progress_ctx);
}

static int
finished(struct selfcheck *s)
{
	if (s->how->interrupt && *s->how->interrupt) {
		s->stopped_by = SL_STOP_INTERRUPT;
		return 1;
	}
	s->stopped_by = SL_STOP_TIME;
	return s->rows[0].n_verdicts > 0 &&
	       sl__clock_now_ns(NULL) >= s->deadline_ns;
}

static enum sl_status
play(struct selfcheck *s, struct sl_error *err)
{
	while (!finished(s)) {
		for (size_t row = 0; row < N_ROWS; row++) {
			enum sl_status rc = take_verdict(s, row, err);

			if (rc)
				return rc;
		}
		sl__watch_probe(&s->watch);
		report_progress(s);
	}
	if (!s->rows[0].n_verdicts)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first verdict");
	return SL_OK;
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
		sl__sort(s->seconds[i], s->n_seconds[i]);
		r->seconds = sl__quantile_estimate(s->seconds[i],
						   s->n_seconds[i], 0.5, 0.05);
		rows[i] = *r;
	}
	out->rows = rows;
	out->n_rows = N_ROWS;
	out->budget_s = s->how->budget_s;
	out->function_ns = s->how->function_ns;
	out->elapsed_s = (double)(sl__clock_now_ns(NULL) - s->start_ns) / 1e9;
	out->stopped_by = s->stopped_by;
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

static struct sl_selfcheck_options
with_defaults(const struct sl_selfcheck_options *options)
{
	struct sl_selfcheck_options how = {.struct_size = sizeof(how)};

	if (options)
		how = *options;
	if (how.time_s == 0)
		how.time_s = 60;
	if (how.budget_s == 0)
		how.budget_s = 0.1;
	if (how.function_ns == 0)
		how.function_ns = 50000;
	if (how.seed == 0)
		how.seed = 1;
	return how;
}

enum sl_status
sl_selfcheck(struct sl_selfcheck **out,
	     const struct sl_selfcheck_options *options, struct sl_error *err)
{
	struct sl_selfcheck_options how;
	struct selfcheck s = {.how = &how};
	struct sl_selfcheck *result;
	struct sl__arena *arena;
	enum sl_status rc;

	*out = NULL;
	if (options && options->struct_size != sizeof(*options))
		return sl__fail(err, SL_E_USAGE,
				"sl_selfcheck_options: struct_size is wrong");
	how = with_defaults(options);
	rc = check_options(&how, err);
	if (rc)
		return rc;
	result = sl__boxed_new(&arena, how.allocator, sizeof(*result));
	if (!result)
		return sl__fail_nomem(err);
	rc = reserve(&s, arena, err);
	plant(&s);
	sl__watch_open(&s.watch, NULL);
	s.start_ns = sl__clock_now_ns(NULL);
	s.deadline_ns = s.start_ns + (uint64_t)(how.time_s * 1e9);
	if (!rc)
		rc = play(&s, err);
	sl__watch_close(&s.watch, &result->noise);
	if (!rc)
		rc = conclude(&s, result, arena, err);
	if (rc) {
		sl_selfcheck_free(result);
		return rc;
	}
	*out = result;
	return SL_OK;
}

void
sl_selfcheck_free(struct sl_selfcheck *s)
{
	sl__boxed_free(s);
}
