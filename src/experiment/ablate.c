/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ablate.c - how fast a model is without some of its steps.
 *
 * Full and ablated iterations both go through the interceptor.  In an ablated
 * iteration the outputs of a step that is left out are put back between two
 * readings of the clock, and the time between these is taken off the iteration.
 *  A full iteration runs every step and puts nothing back: the step itself
 * leaves its outputs in the caches, and the copy does the same in its place, on
 * as many threads as took part in the step: what the next one finds in another
 * CPU's cache costs more than many a step takes.  What it would have read is
 * read, too: a hundred megabytes of weights push everything else out of the
 * caches, and what is left would seem to gain.
 *  Full iterations in which the steps are timed take part in the rounds: they
 * say what leaving a step out should gain at this moment, on this machine.
 *  Before an iteration counts, one like it has run, so that it finds what it
 * would find if it always ran so.
 */
#include "experiment/ablate.h"
#include "base/clock.h"
#include "base/status.h"
#include "experiment/stand_in_outputs.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	SAMPLE_NS = 200000,
	CALLS_MOST = 1 << 12,
	/* What the iteration before has left in the caches is worth a millisecond
	 * at most: nothing to an iteration that takes longer than this. */
	SETTLING_NS = 20000000
};

/* The first arms of a round; those of the targets follow. */
enum { FULL = 0, RECORDED, N_FULL };

static const uint64_t STORE_BYTES = (uint64_t)1 << 30;

/* A step in the recorded iterations of a sample. */
struct step_time {
	uint64_t ticks; /* a reading for each call included */
	uint64_t n_calls;
};

struct ablater {
	struct sl__ablation *targets;
	size_t n_targets;
	struct sl_plan *plan;
	const struct sl__ablate_options *how;
	struct sl__arena *arena; /* of reasons */
	struct sl__stand_in_outputs stored;
	struct sl__runner runner;
	struct sl__ticker ticker;
	size_t calls; /* iterations in a sample */
	int settles;  /* as many before it, off the clock */
	int records;  /* there is time for iterations with marks */

	/* Columns of SL__ABLATE_ROUNDS_MOST, by arm; and of each target the
	 * time of its steps in recorded iterations. */
	double *samples;
	double *parts;
	double *column, *ratios; /* scratch: two columns, and one */

	/* The iteration under way. */
	unsigned char *is_out; /* by step: left out; of the target below */
	uint64_t off_ticks;
	size_t n_readings;
	int is_recorded;
	struct step_time *times; /* by step */
	size_t open;             /* the step under way; SIZE_MAX: none */
	uint64_t opened;
};

static uint64_t
now(const struct ablater *a)
{
	return sl__ticks_read(a->ticker.clock);
}

/* Ends the step under way and begins another: one reading at a boundary, as
 * two would give threads more time to be ready for the next step. */
static void
mark(struct ablater *a, size_t step)
{
	uint64_t at = now(a);

	if (a->open != SIZE_MAX) {
		a->times[a->open].ticks += at - a->opened;
		a->times[a->open].n_calls++;
	}
	a->open = step;
	a->opened = at;
	a->n_readings++;
}

static enum sl_status
around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct ablater *a = ctx;
	uint64_t begin;

	if (a->is_recorded)
		mark(a, i);
	if (!a->is_out[i])
		return sl__run_step(p, i, err);
	begin = now(a);
	(void)sl__stand_in_outputs_read_operands(&a->stored, i);
	sl__stand_in_outputs_restore(&a->stored, i);
	a->off_ticks += now(a) - begin;
	a->n_readings++;
	return SL_OK;
}

/* The mean time of some iterations, copies and marks left out; a copy has two
 * readings, of which one lies between the two. */
static enum sl_status
run_sample(struct ablater *a, double *iteration_ns, struct sl_error *err)
{
	struct sl__interceptor interceptor = {around, a};
	enum sl_status rc = SL_OK;
	uint64_t begin, end;
	double ns;

	a->off_ticks = 0;
	a->n_readings = 0;
	a->open = SIZE_MAX;
	if (a->is_recorded)
		memset(a->times, 0, a->stored.n_steps * sizeof(*a->times));
	begin = now(a);
	for (size_t i = 0; !rc && i < a->calls; i++) {
		rc = sl__plan_intercept(a->plan, &interceptor, err);
		if (a->is_recorded)
			mark(a, SIZE_MAX);
	}
	end = now(a);
	ns = sl__ticker_span_ns(&a->ticker, begin, end - a->off_ticks) -
	     (double)(a->n_readings + 1) * a->ticker.reading_ns;
	*iteration_ns = fmax(ns, a->ticker.reading_ns) / (double)a->calls;
	return rc;
}

static void
set_out(struct ablater *a, const struct sl__ablation *t, int is_out)
{
	for (size_t i = 0; i < t->n_steps; i++) {
		if (a->stored.steps[t->steps[i]].has_run)
			a->is_out[t->steps[i]] = (unsigned char)is_out;
	}
}

/* What recorded iterations of this round took of each target. */
static void
take_parts(struct ablater *a, size_t round)
{
	for (size_t k = 0; k < a->n_targets; k++) {
		const struct sl__ablation *t = &a->targets[k];
		double ns = 0;

		for (size_t i = 0; i < t->n_steps; i++) {
			const struct step_time *s = &a->times[t->steps[i]];

			ns += sl__ticker_span_ns(&a->ticker, 0, s->ticks) -
			      (double)s->n_calls * a->ticker.reading_ns;
		}
		a->parts[k * SL__ABLATE_ROUNDS_MOST + round] =
			fmax(ns, 0) / (double)a->calls;
	}
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct ablater *a = ctx;
	double *to =
		a->samples + slot->arm * SL__ABLATE_ROUNDS_MOST + slot->round;
	struct sl__ablation *t =
		slot->arm >= N_FULL ? &a->targets[slot->arm - N_FULL] : NULL;
	enum sl_status rc;

	if ((t && t->absent) || (slot->arm == RECORDED && !a->records))
		return SL_OK;
	if (t)
		set_out(a, t, 1);
	a->is_recorded = slot->arm == RECORDED;
	a->stored.is_swapped = (int)(slot->round % 2);
	rc = run_sample(a, to, err);
	if (!rc && a->settles)
		rc = run_sample(a, to, err);
	if (t)
		set_out(a, t, 0);
	if (!rc && a->is_recorded)
		take_parts(a, slot->round);
	a->is_recorded = 0;
	return rc;
}

/* Copies take time too: it may run out before the rounds are done. */
static int
wants_more(void *ctx)
{
	const struct ablater *a = ctx;

	return a->runner.n_rounds < SL__ABLATE_ROUNDS_FEW;
}

static enum sl_status
take_rounds(struct ablater *a, struct sl_error *err)
{
	const struct sl__phase_spec ablating = {
		.name = "leaving operations out",
		.n_arms = a->n_targets + N_FULL,
		.n_rounds = a->how->n_rounds,
		.max_rounds = SL__ABLATE_ROUNDS_MOST,
		.time_s = a->how->time_s,
		.more_s = 2 * a->how->time_s,
		.run = run_slot,
		.wants_more = wants_more,
		.ctx = a,
	};

	return sl__runner_run(&a->runner, &ablating, err);
}

static double
median_of(struct ablater *a, const double *x)
{
	memcpy(a->column, x, a->runner.n_rounds * sizeof(double));
	sl__sort(a->column, a->runner.n_rounds);
	return sl__quantile_sorted(a->column, a->runner.n_rounds, 0.5);
}

/* Whether it matters which thread puts back what. */
static int
is_shared(const struct ablater *a, const struct sl__ablation *t)
{
	for (size_t i = 0; i < t->n_steps; i++) {
		if (a->stored.steps[t->steps[i]].n_threads != 1)
			return 1;
	}
	return 0;
}

/*
 * Of ratios[0..n-1].  In whose caches a step of several threads leaves what it
 * writes is not known.  Rounds of either kind put it back in equal shares and
 * with these swapped, as near to its readers and as far from them as can be:
 * the interval is that of both.  Few rounds are of long iterations, to which it
 * is nothing, or of a short time, in which it cannot be told.
 */
static struct sl_estimate
limit_of(struct ablater *a, const struct sl__ablation *t, size_t n)
{
	struct sl_estimate all = sl__series_median(a->ratios, n, a->column);
	double *kind = a->column + SL__ABLATE_ROUNDS_MOST;

	if (n < 2 * SL__SERIES_LEAST || !is_shared(a, t))
		return all;
	for (size_t swapped = 0; swapped < 2; swapped++) {
		struct sl_estimate one;
		size_t m = 0;

		for (size_t r = swapped; r < n; r += 2)
			kind[m++] = a->ratios[r];
		one = sl__series_median(kind, m, a->column);
		all.lo = fmin(all.lo, one.lo);
		all.hi = fmax(all.hi, one.hi);
	}
	return all;
}

/* What the iterations with marks say of target k. */
static void
conclude_recorded(struct ablater *a, size_t k)
{
	const double *full = a->samples + FULL * SL__ABLATE_ROUNDS_MOST;
	const double *recorded = a->samples + RECORDED * SL__ABLATE_ROUNDS_MOST;
	const double *part = a->parts + k * SL__ABLATE_ROUNDS_MOST;
	struct sl__ablation *t = &a->targets[k];
	size_t n = a->runner.n_rounds;

	for (size_t r = 0; r < n; r++)
		a->ratios[r] = part[r] / recorded[r];
	t->recorded_share = sl__series_median(a->ratios, n, a->column);
	for (size_t r = 0; r < n; r++)
		a->ratios[r] = (recorded[r] - full[r]) / full[r];
	t->recorded_more = sl__series_median(a->ratios, n, a->column);
}

static void
conclude(struct ablater *a, size_t k)
{
	const double *full = a->samples + FULL * SL__ABLATE_ROUNDS_MOST;
	const double *without =
		a->samples + (k + N_FULL) * SL__ABLATE_ROUNDS_MOST;
	struct sl__ablation *t = &a->targets[k];
	size_t n = a->runner.n_rounds;

	if (t->absent)
		return;
	if (!n) {
		t->absent =
			sl__runner_is_interrupted(&a->runner)
				? "interrupted before an iteration without it"
				: "no time was left for an iteration without "
				  "it";
		return;
	}
	t->full_ns = median_of(a, full);
	t->ablated_ns = median_of(a, without);
	for (size_t r = 0; r < n; r++)
		a->ratios[r] = log(full[r] / without[r]);
	t->limit = limit_of(a, t, n);
	if (a->records)
		conclude_recorded(a, k);
	t->limit.value = exp(t->limit.value);
	t->limit.lo = exp(t->limit.lo);
	t->limit.hi = exp(t->limit.hi);
}

/* A target any of whose steps cannot be left out has its reason from the first
 * of them; one none of whose steps runs has that as its reason. */
static void
check_steps(struct ablater *a, struct sl__ablation *t)
{
	int has_run = 0;

	for (size_t i = 0; i < t->n_steps && !t->absent; i++) {
		const struct sl__stored_step_outputs *s =
			&a->stored.steps[t->steps[i]];

		t->absent = s->absent;
		has_run |= s->has_run;
	}
	if (!t->absent && !has_run)
		t->absent = "it does not run with these inputs";
}

/* Whether what a target writes fits into the room that is left; if so its
 * steps are wanted.  What targets share is stored once. */
static enum sl_status
take_room(struct ablater *a, struct sl__ablation *t, uint64_t *left,
	  struct sl_error *err)
{
	struct sl__stored_step_outputs *steps = a->stored.steps;
	uint64_t more = 0;

	for (size_t i = 0; i < t->n_steps; i++) {
		const struct sl__stored_step_outputs *s = &steps[t->steps[i]];

		t->n_bytes += s->n_bytes;
		more += s->is_wanted ? 0 : s->n_bytes;
	}
	if (more > *left) {
		t->absent = sl__arena_format(
			a->arena,
			"its outputs, %.2f GB, are more than is stored",
			(double)t->n_bytes / 1e9);
		return t->absent ? SL_OK : sl__fail_nomem(err);
	}
	*left -= more;
	for (size_t i = 0; i < t->n_steps; i++)
		steps[t->steps[i]].is_wanted = 1;
	return SL_OK;
}

static enum sl_status
store(struct ablater *a, struct sl_error *err)
{
	uint64_t left = a->how->store_bytes ? a->how->store_bytes : STORE_BYTES;
	struct sl__stored_step_outputs *steps = a->stored.steps;
	enum sl_status rc;

	for (size_t k = 0; k < a->n_targets; k++) {
		const struct sl__ablation *t = &a->targets[k];

		for (size_t i = 0; !t->absent && i < t->n_steps; i++)
			steps[t->steps[i]].is_wanted = 1;
	}
	rc = sl__stand_in_outputs_find(&a->stored, err);
	for (size_t i = 0; i < a->stored.n_steps; i++)
		steps[i].is_wanted = 0;
	for (size_t k = 0; !rc && k < a->n_targets; k++) {
		check_steps(a, &a->targets[k]);
		if (!a->targets[k].absent)
			rc = take_room(a, &a->targets[k], &left, err);
	}
	if (rc || sl__runner_is_interrupted(&a->runner))
		return rc;
	rc = sl__stand_in_outputs_copy(&a->stored, err);
	for (size_t k = 0; !rc && k < a->n_targets; k++)
		check_steps(a, &a->targets[k]);
	return rc;
}

/* A time in the unit that fits, divided by *unit_ns. */
static const char *
unit_of(double ns, double *unit_ns)
{
	*unit_ns = ns < 1e3 ? 1 : ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9;
	return ns < 1e3 ? "ns" : ns < 1e6 ? "µs" : ns < 1e9 ? "ms" : "s";
}

/* Leaves out the targets for which there is no time; two iterations find and
 * store what steps write.  Returns how many are left. */
static enum sl_status
take_time(struct ablater *a, size_t *n_left, struct sl_error *err)
{
	double iteration_ns = a->how->iteration_ns * (a->settles ? 2 : 1);
	double iterations = a->how->time_s * 1e9 / iteration_ns - 2;
	double round = 1, unit_ns;
	const char *unit = unit_of(a->how->iteration_ns, &unit_ns);

	*n_left = 0;
	for (size_t k = 0; k < a->n_targets; k++) {
		struct sl__ablation *t = &a->targets[k];
		double rounds = *n_left ? SL__ABLATE_ROUNDS
					: SL__ABLATE_ROUNDS_FEW;

		round += 1 - t->share;
		if (a->how->n_rounds || round * rounds <= iterations) {
			++*n_left;
			continue;
		}
		round -= 1 - t->share;
		t->absent = sl__arena_format(
			a->arena, "no time for %.0f iterations of %.1f %s",
			rounds, a->how->iteration_ns / unit_ns, unit);
		if (!t->absent)
			return sl__fail_nomem(err);
	}
	/* Where there is not, the iterations of the profile itself have to do
	 * for a prediction. */
	a->records = a->how->n_rounds ||
		     (round + 1) * SL__ABLATE_ROUNDS <= iterations;
	return SL_OK;
}

static enum sl_status
reserve(struct ablater *a, struct sl__arena *arena, struct sl_error *err)
{
	size_t n = a->n_targets + N_FULL;

	a->samples = sl__arena_array(
		arena, n, SL__ABLATE_ROUNDS_MOST * sizeof(*a->samples));
	a->parts = sl__arena_array(arena, a->n_targets,
				   SL__ABLATE_ROUNDS_MOST * sizeof(*a->parts));
	a->column = sl__arena_array(arena, 2 * SL__ABLATE_ROUNDS_MOST,
				    sizeof(*a->column));
	a->ratios = sl__arena_array(arena, SL__ABLATE_ROUNDS_MOST,
				    sizeof(*a->ratios));
	a->times = sl__arena_array(arena, a->stored.n_steps, sizeof(*a->times));
	a->runner.order = sl__arena_array(arena, n, sizeof(size_t));
	a->is_out = sl__arena_alloc(arena, a->stored.n_steps);
	return a->samples && a->parts && a->column && a->ratios && a->times &&
			       a->runner.order && a->is_out
		       ? SL_OK
		       : sl__fail_nomem(err);
}

/* Where memory runs out nothing is measured, which is no failure: what was
 * found before stands. */
static enum sl_status
prepare(struct ablater *a, struct sl__arena *scratch, struct sl_error *err)
{
	enum sl_status rc =
		sl__stand_in_outputs_open(&a->stored, a->plan, scratch, err);

	if (!rc)
		rc = reserve(a, scratch, err);
	if (!rc)
		rc = store(a, err);
	if (rc != SL_E_NOMEM)
		return rc;
	for (size_t k = 0; k < a->n_targets; k++) {
		if (!a->targets[k].absent)
			a->targets[k].absent =
				"no memory for iterations without "
				"it";
	}
	return SL_OK;
}

static int
has_target(const struct ablater *a)
{
	for (size_t k = 0; k < a->n_targets; k++) {
		if (!a->targets[k].absent)
			return 1;
	}
	return 0;
}

static enum sl_status
ablate(struct ablater *a, struct sl__arena *scratch, struct sl_error *err)
{
	size_t n_left;
	enum sl_status rc = take_time(a, &n_left, err);

	if (rc || !n_left)
		return rc;
	if (!sl__runner_is_interrupted(&a->runner)) {
		rc = prepare(a, scratch, err);
		if (!rc && has_target(a))
			rc = take_rounds(a, err);
	}
	if (rc == SL_E_INTERRUPTED)
		rc = SL_OK;
	for (size_t k = 0; !rc && k < a->n_targets; k++)
		conclude(a, k);
	return rc;
}

enum sl_status
sl__ablate(struct sl__ablation *targets, size_t n, struct sl_plan *plan,
	   const struct sl__ablate_options *how, struct sl__arena *arena,
	   struct sl_error *err)
{
	struct ablater a = {.targets = targets,
			    .n_targets = n,
			    .plan = plan,
			    .how = how,
			    .arena = arena};
	struct sl__arena scratch;
	enum sl_status rc;

	for (size_t k = 0; k < n; k++) {
		struct sl__ablation *t = &targets[k];

		t->full_ns = t->ablated_ns = (double)NAN;
		t->limit = (struct sl_estimate){.value = (double)NAN,
						.lo = (double)NAN,
						.hi = (double)NAN};
		t->recorded_share = t->recorded_more = sl__no_estimate();
		t->absent = NULL;
		t->n_bytes = 0;
	}
	sl__ticker_init(&a.ticker, how->control.with.clock);
	a.ticker.reading_ns = how->reading_ns;
	a.runner.control = how->control;
	sl__runner_start_budget(&a.runner, how->seed);
	a.calls = (size_t)fmax(1,
			       fmin(CALLS_MOST, SAMPLE_NS / how->iteration_ns));
	a.settles = how->iteration_ns < SETTLING_NS;
	sl__arena_init(&scratch, &arena->allocator);
	rc = ablate(&a, &scratch, err);
	sl__arena_release(&scratch);
	return rc;
}
