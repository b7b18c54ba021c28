/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duet.c - sl_compare(): functions against each other, in random-order rounds.
 *
 * A round is one slot of every candidate, in an order drawn afresh.  A slot
 * is a few sub-slots of about 50 us, and its value is their median, so that
 * an interrupt spoils a sub-slot and not the round.  All candidates are
 * called equally often, a number found once from candidate 0.  Because only
 * the coin decides who comes first, drift, bursts and other load fall on
 * both sides alike; stats/duel.c turns the rounds into verdicts that may be
 * looked at after each of them.
 */
#include "sleuth.h"
#include "arena.h"
#include "covariates.h"
#include "status.h"
#include "summary.h"
#include "timer.h"
#include "verdict.h"

#include <math.h>

#include "banned.h"

enum {
	MAX_CANDIDATES = 64,
	MAX_ROUNDS = 1 << 18,
	SUB_SLOT_NS = 50000,
	SLOT_NS = 500000,
	MAX_SUB_SLOTS = 11, /* odd, so that the median is one of them */
	ROUNDS_PER_PROBE = 32
};

/* One candidate's slot in the round that is running. */
struct slot {
	double wall_ns; /* median of the sub-slots */
	double cpu_ns;  /* of the whole slot */
};

struct duet {
	const struct sl_compare_options *how;
	const struct sl_candidate *candidates;
	size_t n; /* candidates */
	struct sl__timer timer;
	struct sl__watch watch;
	struct sl__rng order_rng; /* apart, so that ties do not change orders */
	struct sl__rng coin;
	uint64_t start_ns, deadline_ns;

	size_t n_calls;     /* per sub-slot */
	size_t n_sub_slots; /* per slot */
	size_t cap_rounds, n_rounds, n_disturbed;
	size_t order[MAX_CANDIDATES];
	struct slot slots[MAX_CANDIDATES];
	struct sl__duel wall[MAX_CANDIDATES]; /* [i]: i against 0; [0] unused */
	struct sl__duel cpu[MAX_CANDIDATES];
	double decided_s[MAX_CANDIDATES];
	double *scratch; /* [cap_rounds] */
	enum sl_stop stopped_by;
};

static enum sl_status
check_options(const struct sl_compare_options *how, size_t n,
	      struct sl_error *err)
{
	if (how->struct_size != sizeof(*how))
		return sl__fail(err, SL_E_USAGE,
				"sl_compare_options: struct_size is wrong");
	if (n < 2 || n > MAX_CANDIDATES)
		return sl__fail(err, SL_E_USAGE,
				"%zu candidates: must be 2 to %d", n,
				MAX_CANDIDATES);
	if (!(how->time_s > 0) || how->time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				how->time_s);
	if (!(how->margin < 1))
		return sl__fail(err, SL_E_USAGE,
				"margin of %g: must be below 1", how->margin);
	if (!(how->alpha > 0) || how->alpha >= 0.5)
		return sl__fail(err, SL_E_USAGE,
				"alpha of %g: must be between 0 and 0.5",
				how->alpha);
	return SL_OK;
}

static enum sl_status
fail_call(const struct sl_candidate *who, int failed, struct sl_error *err)
{
	return sl__fail(err, SL_E_MEASURE, "%s failed: it returned %d",
			who->name, failed);
}

/* Every candidate once, cold; then the shape of a slot. */
static enum sl_status
calibrate(struct duet *d, struct sl_error *err)
{
	double call_ns, sub_slot_ns;

	for (size_t i = 0; i < d->n; i++) {
		int failed = d->candidates[i].fn(d->candidates[i].ctx);

		if (failed)
			return fail_call(&d->candidates[i], failed, err);
	}
	int failed = sl__timer_calibrate(&d->timer, &d->candidates[0],
					 SUB_SLOT_NS, &d->n_calls, &call_ns);

	if (failed)
		return fail_call(&d->candidates[0], failed, err);
	/* Doubling overshoots up to twofold; both sides use the same. */
	d->n_calls = (size_t)fmax(1, ceil(SUB_SLOT_NS / fmax(call_ns, 1e-3)));
	sub_slot_ns = call_ns * (double)d->n_calls;
	d->n_sub_slots = (size_t)fmax(
		1, fmin(MAX_SUB_SLOTS, floor(SLOT_NS / sub_slot_ns)));
	d->n_sub_slots -= 1 - d->n_sub_slots % 2;
	d->cap_rounds = (size_t)fmin(
		MAX_ROUNDS, 100 + 4e9 * d->how->time_s /
					    (sub_slot_ns *
					     (double)(d->n_sub_slots * d->n)));
	return SL_OK;
}

static enum sl_status
reserve(struct duet *d, struct sl__arena *arena, struct sl_error *err)
{
	double alpha = d->how->alpha / (double)(d->n - 1);

	d->scratch = sl__arena_array(arena, d->cap_rounds, sizeof(double));
	for (size_t i = 1; i < d->n; i++) {
		double *wall =
			sl__arena_array(arena, d->cap_rounds, sizeof(*wall));
		double *cpu =
			sl__arena_array(arena, d->cap_rounds, sizeof(*cpu));

		if (!wall || !cpu)
			return sl__fail_nomem(err);
		sl__duel_init(&d->wall[i], wall, d->cap_rounds, d->how->margin,
			      alpha, &d->coin);
		sl__duel_init(&d->cpu[i], cpu, d->cap_rounds, d->how->margin,
			      alpha, &d->coin);
	}
	return d->scratch ? SL_OK : sl__fail_nomem(err);
}

/* One candidate's slot; *disturbed is set when something got in its way. */
static int
take_slot(struct duet *d, size_t which, int *disturbed)
{
	const struct sl_candidate *who = &d->candidates[which];
	struct sl__covariates before, after;
	double sub_slots_ns[MAX_SUB_SLOTS];
	double slot_ns = 0;

	sl__watch_read(&d->watch, &before);
	for (size_t i = 0; i < d->n_sub_slots; i++) {
		int failed = sl__timer_stretch(&d->timer, who->fn, who->ctx,
					       d->n_calls, &sub_slots_ns[i]);

		if (failed)
			return failed;
		slot_ns += sub_slots_ns[i];
	}
	sl__watch_read(&d->watch, &after);
	*disturbed |= sl__watch_slot(&d->watch, &before, &after, slot_ns);
	d->slots[which].wall_ns =
		sl__median_in_place(sub_slots_ns, d->n_sub_slots);
	d->slots[which].cpu_ns = (double)(after.cpu_ns - before.cpu_ns);
	return 0;
}

static double
elapsed_s(const struct duet *d)
{
	return (double)(sl__clock_now_ns(d->timer.clock) - d->start_ns) / 1e9;
}

/*
 * Hands the round to the duels.  A disturbed round is left out whole, a rule
 * that does not see which side was hit, so that the coin stays fair; on a
 * machine where most rounds are disturbed it is kept, or nothing would be
 * left.
 */
static void
judge_round(struct duet *d, int disturbed)
{
	d->n_rounds++;
	d->n_disturbed += (size_t)disturbed;
	if (disturbed && 2 * d->n_disturbed < d->n_rounds)
		return;
	for (size_t i = 1; i < d->n; i++) {
		sl__duel_add(&d->wall[i], fmax(d->slots[0].wall_ns, 1e-3),
			     fmax(d->slots[i].wall_ns, 1e-3));
		sl__duel_add(&d->cpu[i], fmax(d->slots[0].cpu_ns, 1e-3),
			     fmax(d->slots[i].cpu_ns, 1e-3));
		if (d->wall[i].verdict && isnan(d->decided_s[i]))
			d->decided_s[i] = elapsed_s(d);
	}
}

/* An early verdict overshoots; go on until the ratio is worth printing. */
static int
settled(struct duet *d)
{
	for (size_t i = 1; i < d->n; i++) {
		struct sl__duel *duel = &d->wall[i];

		if (!duel->verdict)
			return 0;
		if (duel->n >= d->how->min_rounds)
			continue;
		struct sl_estimate ratio = sl__duel_ratio(duel, d->scratch);

		if (ratio.needs_n ||
		    (ratio.hi - ratio.lo) / 2 > d->how->margin / 2)
			return 0;
	}
	return 1;
}

static int
finished(struct duet *d)
{
	if (d->how->interrupt && *d->how->interrupt) {
		d->stopped_by = SL_STOP_INTERRUPT;
		return 1;
	}
	if (settled(d)) {
		d->stopped_by = SL_STOP_VERDICT;
		return 1;
	}
	if (sl__clock_now_ns(d->timer.clock) >= d->deadline_ns ||
	    d->n_rounds == d->cap_rounds) {
		d->stopped_by = SL_STOP_TIME;
		return 1;
	}
	return 0;
}

static enum sl_status
play(struct duet *d, struct sl_error *err)
{
	do {
		int disturbed = 0;

		sl__rng_permutation(&d->order_rng, d->order, d->n);
		for (size_t i = 0; i < d->n; i++) {
			int failed = take_slot(d, d->order[i], &disturbed);

			if (failed)
				return fail_call(&d->candidates[d->order[i]],
						 failed, err);
		}
		judge_round(d, disturbed);
		if (d->n_rounds % ROUNDS_PER_PROBE == 1)
			sl__watch_probe(&d->watch);
	} while (!finished(d));
	return SL_OK;
}

static enum sl_status
conclude(struct duet *d, struct sl_comparisons *c, struct sl__arena *arena,
	 struct sl_error *err)
{
	struct sl_comparison *rows =
		sl__arena_array(arena, d->n - 1, sizeof(*rows));

	if (!rows)
		return sl__fail_nomem(err);
	for (size_t i = 1; i < d->n; i++) {
		struct sl_comparison *row = &rows[i - 1];

		row->a = sl__arena_string(arena, d->candidates[0].name);
		row->b = sl__arena_string(arena, d->candidates[i].name);
		if (!row->a || !row->b)
			return sl__fail_nomem(err);
		sl__duel_conclude(&d->wall[i], row, d->scratch);
		row->cpu_ratio = sl__duel_ratio(&d->cpu[i], d->scratch);
		row->memory_ratio.value = (double)NAN;
		row->memory_ratio.absent = "functions share one process";
		row->n_disturbed = d->n_disturbed;
		row->decided_after_s = d->decided_s[i];
	}
	c->n = d->n - 1;
	c->rows = rows;
	c->elapsed_s = elapsed_s(d);
	c->stopped_by = d->stopped_by;
	c->seed = d->how->seed;
	return SL_OK;
}

static struct sl_compare_options
with_defaults(const struct sl_compare_options *options)
{
	struct sl_compare_options how = {.struct_size = sizeof(how)};

	if (options)
		how = *options;
	if (how.time_s == 0)
		how.time_s = 3;
	if (how.margin == 0)
		how.margin = 0.01;
	if (how.margin < 0)
		how.margin = 0;
	if (how.alpha == 0)
		how.alpha = 0.05;
	if (how.min_rounds == 0)
		how.min_rounds = 50;
	if (how.seed == 0)
		how.seed = 1;
	return how;
}

enum sl_status
sl_compare(struct sl_comparisons **out, const struct sl_candidate *candidates,
	   size_t n, const struct sl_compare_options *options,
	   struct sl_error *err)
{
	struct sl_compare_options how = with_defaults(options);
	struct sl_comparisons *c;
	struct sl__arena *arena;
	struct duet *d;
	enum sl_status rc;

	*out = NULL;
	rc = check_options(&how, n, err);
	if (rc)
		return rc;
	c = sl__boxed_new(&arena, how.allocator, sizeof(*c));
	if (!c)
		return sl__fail_nomem(err);
	d = sl__arena_alloc(arena, sizeof(*d));
	if (!d) {
		sl_comparisons_free(c);
		return sl__fail_nomem(err);
	}
	d->how = &how;
	d->candidates = candidates;
	d->n = n;
	for (size_t i = 0; i < n; i++)
		d->decided_s[i] = (double)NAN;
	sl__rng_init(&d->order_rng, how.seed);
	sl__rng_init(&d->coin, ~how.seed);
	sl__timer_init(&d->timer, how.clock);
	sl__watch_open(&d->watch);
	d->start_ns = sl__clock_now_ns(d->timer.clock);
	d->deadline_ns = d->start_ns + (uint64_t)(how.time_s * 1e9);

	rc = calibrate(d, err);
	if (!rc)
		rc = reserve(d, arena, err);
	if (!rc)
		rc = play(d, err);
	sl__watch_close(&d->watch, &c->noise);
	if (!rc)
		rc = conclude(d, c, arena, err);
	if (rc) {
		sl_comparisons_free(c);
		return rc;
	}
	*out = c;
	return SL_OK;
}

void
sl_comparisons_free(struct sl_comparisons *c)
{
	sl__boxed_free(c);
}
