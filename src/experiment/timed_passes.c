/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_passes.c - a plan run over and over, bare and recorded in turn.
 *
 * Bare passes say how long the model takes, recorded ones where the time
 * goes, and the difference within a round what recording costs.  What a
 * recorded pass left on its tape is added up between passes, off the clock.
 */
#include "timed_passes.h"
#include "clock.h"
#include "covariates.h"
#include "quantile.h"
#include "rng.h"
#include "status.h"
#include "summary.h"

#include <math.h>
#include <string.h>

#include "banned.h"

enum {
	MIN_ROUNDS = 2,
	STRETCH_NS = 62500, /* of passes that are short: what is noted beside
			       them takes some 4 us */
	CALLS_MOST = 1 << 16,
	ROUNDS_PER_PROBE = 16
};

/* ------------------------------------------------------------------ columns */

int
sl__thinned_init(struct sl__thinned *t, size_t cap, struct sl__arena *arena)
{
	memset(t, 0, sizeof(*t));
	t->x = sl__arena_array(arena, cap, sizeof(double));
	t->cap = cap;
	t->stride = 1;
	t->min = (double)INFINITY;
	t->max = -(double)INFINITY;
	return !t->x;
}

void
sl__thinned_add(struct sl__thinned *t, double x)
{
	t->min = fmin(t->min, x);
	t->max = fmax(t->max, x);
	t->sum += x;
	if (t->n_seen++ % t->stride)
		return;
	if (t->n == t->cap) {
		for (size_t i = 0; i < t->cap / 2; i++)
			t->x[i] = t->x[2 * i];
		t->n = t->cap / 2;
		t->stride *= 2;
	}
	t->x[t->n++] = x;
}

/* ------------------------------------------------------------------- passes */

struct taker {
	struct sl__passes *out;
	struct sl_plan *plan;
	const struct sl__passes_options *how;
	struct sl__rng rng;
	struct sl__watch watch;
	struct sl__tape tape; /* of the pass under way */
	double *sorted;       /* [SL__PASSES_KEPT] scratch */
	uint64_t start_ns, deadline_ns;
	size_t next_check;
	int is_warm;                /* recorded passes count */
	size_t n_warm, n_disturbed; /* rounds that count; of these */
	double median_ns;           /* of bare passes so far; 0: not known */
};

static double
span_ns(const struct taker *t, uint64_t from, uint64_t to)
{
	double ns = (double)(to - from) / t->out->ticks_per_ns;

	return fmax(ns - t->out->reading_ns, 0);
}

/* What a reading of ticks costs: the shortest of many runs of readings. */
static double
reading_cost(double ticks_per_ns)
{
	enum { READINGS = 64, TRIES = 64 };
	uint64_t least = UINT64_MAX;

	for (int k = 0; k < TRIES; k++) {
		uint64_t begin = sl__ticks(), end = begin;

		for (int i = 0; i < READINGS; i++)
			end = sl__ticks();
		if (end - begin < least)
			least = end - begin;
	}
	return (double)least / READINGS / ticks_per_ns;
}

static enum sl_status
run_bare(struct taker *t, double *pass_ns, struct sl_error *err)
{
	size_t n = t->out->calls_per_sample;
	uint64_t begin = sl__ticks(), end;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < n; i++)
		rc = sl_plan_run(t->plan, err);
	end = sl__ticks();
	*pass_ns = span_ns(t, begin, end) / (double)n;
	return rc;
}

/* ---------------------------------------------------------------- recording */

static void
keep(struct sl__kept_pass *kept, const struct taker *t, uint64_t begin,
     uint64_t end)
{
	kept->begin = begin;
	kept->end = end;
	kept->nth = t->out->n_recorded;
	kept->tape.n_marks = t->tape.n_marks;
	memcpy(kept->tape.marks, t->tape.marks,
	       t->tape.n_marks * sizeof(*t->tape.marks));
}

/* slow[] is sorted, slowest first; the last one's storage is used again. */
static void
keep_slow(struct taker *t, uint64_t begin, uint64_t end)
{
	struct sl__passes *out = t->out;
	struct sl__kept_pass here;
	size_t at = out->n_slow;

	if (!t->how->n_slowest)
		return;
	if (at == t->how->n_slowest) {
		if (end - begin <=
		    out->slow[at - 1].end - out->slow[at - 1].begin)
			return;
		at--;
	} else {
		out->n_slow++;
	}
	here = out->slow[at];
	keep(&here, t, begin, end);
	for (; at > 0 &&
	       end - begin > out->slow[at - 1].end - out->slow[at - 1].begin;
	     at--)
		out->slow[at] = out->slow[at - 1];
	out->slow[at] = here;
}

/* The recorded pass nearest to the median of bare ones so far. */
static void
keep_median(struct taker *t, uint64_t begin, uint64_t end)
{
	struct sl__kept_pass *kept = &t->out->median;
	double ns = span_ns(t, begin, end);

	if (kept->tape.n_marks &&
	    fabs(ns - t->median_ns) >=
		    fabs(span_ns(t, kept->begin, kept->end) - t->median_ns))
		return;
	keep(kept, t, begin, end);
}

static float *
next_row(struct sl__passes *out)
{
	size_t n = out->n_steps;

	if (out->n_recorded % out->row_stride)
		return NULL;
	if (out->n_rows == SL__PASSES_ROWS) {
		for (size_t r = 1; r < SL__PASSES_ROWS / 2; r++)
			memcpy(out->rows + r * n, out->rows + 2 * r * n,
			       n * sizeof(float));
		out->n_rows = SL__PASSES_ROWS / 2;
		out->row_stride *= 2;
		if (out->n_recorded % out->row_stride)
			return NULL;
	}
	return out->rows + out->n_rows++ * n;
}

static void
add_steps(struct taker *t)
{
	struct sl__passes *out = t->out;
	float *row = next_row(out);

	for (size_t s = 0; row && s < out->n_steps; s++)
		row[s] = NAN;
	for (size_t i = 0; i + 1 < t->tape.n_marks; i++) {
		const struct sl__tape_mark *m = &t->tape.marks[i];
		double ns = span_ns(t, m[0].ticks, m[1].ticks);

		out->step_ns[m->step] += ns;
		out->n_calls[m->step]++;
		out->step_min_ns[m->step] = fmin(out->step_min_ns[m->step], ns);
		out->step_max_ns[m->step] = fmax(out->step_max_ns[m->step], ns);
		if (row)
			row[m->step] = (float)ns;
	}
}

static void
add_pass(struct taker *t, uint64_t begin, uint64_t end)
{
	struct sl__passes *out = t->out;
	const struct sl__tape_mark *marks = t->tape.marks;

	if (!out->n_recorded) {
		out->origin = begin;
		keep(&out->first, t, begin, end);
	}
	keep_median(t, begin, end);
	keep_slow(t, begin, end);
	add_steps(t);
	out->wall_ns += span_ns(t, begin, end);
	out->gaps_ns += span_ns(t, begin, marks[0].ticks) +
			span_ns(t, marks[t->tape.n_marks - 1].ticks, end);
	out->n_recorded++;
}

static enum sl_status
run_recorded(struct taker *t, double *pass_ns, struct sl_error *err)
{
	size_t n = t->out->calls_per_sample;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t begin = sl__ticks(), end;
		enum sl_status rc = sl__plan_record(t->plan, &t->tape, err);

		end = sl__ticks();
		if (rc)
			return rc;
		sum += span_ns(t, begin, end);
		if (t->is_warm)
			add_pass(t, begin, end);
	}
	*pass_ns = sum / (double)n;
	return SL_OK;
}

/* ------------------------------------------------------------------- rounds */

static enum sl_status
take_bare(struct taker *t, double *pass_ns, int *is_disturbed,
	  struct sl_error *err)
{
	struct sl__covariates before, after;
	enum sl_status rc;
	double n = (double)t->out->calls_per_sample;

	sl__watch_before(&t->watch, &before);
	rc = run_bare(t, pass_ns, err);
	sl__watch_after(&t->watch, &after);
	if (rc)
		return rc;
	*is_disturbed |=
		sl__watch_slot(&t->watch, &before, &after, *pass_ns * n);
	sl__thinned_add(&t->out->cpu,
			sl__watch_cpu_ns(&t->watch, &before, &after, 1,
					 t->out->reading_ns) /
				n);
	return SL_OK;
}

static enum sl_status
take_recorded(struct taker *t, double *pass_ns, int *is_disturbed,
	      struct sl_error *err)
{
	struct sl__covariates before, after;
	enum sl_status rc;
	double n = (double)t->out->calls_per_sample;

	sl__watch_before(&t->watch, &before);
	rc = run_recorded(t, pass_ns, err);
	sl__watch_after(&t->watch, &after);
	if (rc)
		return rc;
	*is_disturbed |=
		sl__watch_slot(&t->watch, &before, &after, *pass_ns * n);
	return SL_OK;
}

/*
 * A disturbed round says nothing of what recording costs, unless most are
 * disturbed; the rule cannot see which of the two passes was hit.
 */
static void
add_extra(struct taker *t, double extra_ns, int is_disturbed)
{
	if (!t->is_warm)
		return;
	t->n_disturbed += (size_t)is_disturbed;
	t->n_warm++;
	if (is_disturbed && t->out->extra.n && 2 * t->n_disturbed < t->n_warm)
		return;
	sl__thinned_add(&t->out->extra, extra_ns);
}

static enum sl_status
take_round(struct taker *t, struct sl_error *err)
{
	int bare_first = sl__rng_coin(&t->rng), is_disturbed = 0;
	double bare = 0, recorded = 0;
	enum sl_status rc = SL_OK;

	for (int k = 0; !rc && k < 2; k++) {
		if ((k == 0) == bare_first)
			rc = take_bare(t, &bare, &is_disturbed, err);
		else
			rc = take_recorded(t, &recorded, &is_disturbed, err);
	}
	if (rc)
		return rc;
	sl__thinned_add(&t->out->bare, bare);
	add_extra(t, recorded - bare, is_disturbed);
	if (t->out->n_rounds++ % ROUNDS_PER_PROBE == 0)
		sl__watch_probe(&t->watch);
	return SL_OK;
}

/*
 * The median of the later half and whether it is known to the precision asked
 * for.  Looks whenever the number of rounds has grown by an eighth.
 */
static int
precise_enough(struct taker *t)
{
	const struct sl__thinned *bare = &t->out->bare;
	struct sl_estimate median;
	size_t n = bare->n - bare->n / 2;

	if (t->out->n_rounds < t->next_check)
		return 0;
	t->next_check = t->out->n_rounds + t->out->n_rounds / 8 + 1;
	memcpy(t->sorted, bare->x + bare->n - n, n * sizeof(double));
	sl__sort(t->sorted, n);
	median = sl__quantile_estimate(t->sorted, n, 0.5, 0.05);
	t->median_ns = median.value;
	return !median.needs_n &&
	       (median.hi - median.lo) / 2 <= t->how->precision * median.value;
}

static void
tell_progress(const struct taker *t, uint64_t now_ns)
{
	struct sl_progress now = {.what = "timing passes"};
	double spent = (double)(now_ns - t->start_ns) / 1e9;

	if (!t->how->progress)
		return;
	now.n_done = t->out->n_rounds;
	now.share = t->how->n_runs ? (double)t->out->n_rounds /
					     (double)(t->how->n_runs +
						      t->how->n_warmup)
				   : fmin(spent / t->how->time_s, 1);
	now.remaining_s = now.share > 0 ? spent / now.share - spent
					: t->how->time_s;
	now.median_ns = t->median_ns > 0 ? t->median_ns : (double)NAN;
	t->how->progress(&now, t->how->progress_ctx);
}

static int
stop(struct taker *t, enum sl_stop why)
{
	t->out->stopped_by = why;
	return 1;
}

static int
finished(struct taker *t)
{
	uint64_t now_ns = sl__clock_now_ns(NULL);
	int is_precise = precise_enough(t);

	tell_progress(t, now_ns);
	if (t->how->interrupt && *t->how->interrupt)
		return stop(t, SL_STOP_INTERRUPT);
	if (t->how->n_runs)
		return t->out->n_rounds >= t->how->n_runs + t->how->n_warmup &&
		       stop(t, SL_STOP_RUNS);
	if (t->out->n_rounds < t->how->n_warmup + MIN_ROUNDS)
		return 0;
	if (now_ns >= t->deadline_ns)
		return stop(t, SL_STOP_TIME);
	/* A third of the budget at least: less would not see any drift, and
	 * the books need rounds more than the median does. */
	return is_precise && t->out->n_rounds >= t->how->n_warmup + 8 &&
	       (now_ns - t->start_ns) * 3 >= t->deadline_ns - t->start_ns &&
	       stop(t, SL_STOP_PRECISION);
}

/* How many passes make a stretch that is long enough: for the clock, and for
 * what is noted beside each. */
static void
calibrate(struct taker *t, double pass_ns)
{
	double n = STRETCH_NS / fmax(pass_ns, 1);

	t->out->calls_per_sample = n >= 4 ? (size_t)fmin(CALLS_MOST, n) : 1;
}

static enum sl_status
take_rounds(struct taker *t, struct sl_error *err)
{
	enum sl_status rc;
	double again = 0;

	t->out->calls_per_sample = 1;
	rc = run_bare(t, &t->out->first_ns, err);
	if (!rc)
		rc = run_bare(t, &again, err);
	if (rc)
		return rc;
	calibrate(t, again);
	while (!rc && !finished(t)) {
		t->is_warm = t->out->n_rounds >= t->how->n_warmup;
		rc = take_round(t, err);
	}
	if (!rc && !t->out->n_recorded)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first pass");
	return rc;
}

/* ------------------------------------------------------------------ storage */

static int
reserve_tape(struct sl__tape *tape, size_t n_steps, struct sl__arena *arena)
{
	tape->cap = n_steps + 1;
	tape->marks = sl__arena_array(arena, tape->cap, sizeof(*tape->marks));
	return !tape->marks;
}

static enum sl_status
reserve(struct taker *t, struct sl__arena *arena, struct sl_error *err)
{
	struct sl__passes *out = t->out;
	size_t n = out->n_steps;
	int failed = reserve_tape(&t->tape, n, arena) |
		     reserve_tape(&out->first.tape, n, arena) |
		     reserve_tape(&out->median.tape, n, arena) |
		     sl__thinned_init(&out->bare, SL__PASSES_KEPT, arena) |
		     sl__thinned_init(&out->extra, SL__PASSES_KEPT, arena) |
		     sl__thinned_init(&out->cpu, SL__PASSES_KEPT, arena);

	for (size_t i = 0; i < t->how->n_slowest; i++)
		failed |= reserve_tape(&out->slow[i].tape, n, arena);
	out->step_ns = sl__arena_array(arena, n, sizeof(double));
	out->step_min_ns = sl__arena_array(arena, n, sizeof(double));
	out->step_max_ns = sl__arena_array(arena, n, sizeof(double));
	out->n_calls = sl__arena_array(arena, n, sizeof(uint64_t));
	out->rows = sl__arena_array(arena, n, SL__PASSES_ROWS * sizeof(float));
	t->sorted = sl__arena_array(arena, SL__PASSES_KEPT, sizeof(double));
	if (failed || !out->step_ns || !out->step_min_ns || !out->step_max_ns ||
	    !out->n_calls || !out->rows || !t->sorted)
		return sl__fail_nomem(err);
	for (size_t s = 0; s < n; s++)
		out->step_min_ns[s] = (double)INFINITY;
	out->row_stride = 1;
	return SL_OK;
}

enum sl_status
sl__passes_take(struct sl__passes *out, struct sl_plan *plan,
		const struct sl__passes_options *how, struct sl__arena *arena,
		struct sl_error *err)
{
	struct taker t = {.out = out, .plan = plan, .how = how};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	out->ticks_per_ns = sl__ticks_per_ns();
	out->reading_ns = reading_cost(out->ticks_per_ns);
	out->n_steps = sl_plan_n_steps(plan);
	rc = reserve(&t, arena, err);
	if (rc)
		return rc;
	sl__rng_init(&t.rng, how->seed);
	sl__watch_open(&t.watch);
	t.start_ns = sl__clock_now_ns(NULL);
	t.deadline_ns = t.start_ns + (uint64_t)(how->time_s * 1e9);
	t.next_check = 1;
	rc = take_rounds(&t, err);
	sl__watch_close(&t.watch, &out->noise);
	out->elapsed_s = (double)(sl__clock_now_ns(NULL) - t.start_ns) / 1e9;
	return rc;
}
