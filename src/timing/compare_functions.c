/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_functions.c - sl_compare(): functions against each other, in
 * random-order rounds.
 *
 * A round is one slot of every candidate, in an order drawn afresh.  A slot is
 * a few sub-slots of about 50 us, and its value is their median, so that an
 * interrupt spoils a sub-slot and not the round.  All candidates are called
 * equally often, a number found once from the slowest.  Because only the coin
 * decides who comes first, drift, bursts and other load fall on both sides
 * alike; stats/arm_set.c turns the rounds into verdicts that may be looked at
 * after each of them.
 */
#include "timing/compare_functions.h"
#include "base/arena.h"
#include "base/reading.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "stats/arm_set.h"
#include "stats/summary.h"
#include "timing/runner.h"
#include "timing/timer.h"

#include <math.h>

#include "base/banned.h"

enum {
	MAX_CANDIDATES = 64,
	MAX_ROUNDS = 1 << 18,
	SUB_SLOT_NS = 50000,
	SLOT_NS = 550000,
	MAX_SUB_SLOTS = 11, /* odd, so that the median is one of them */
	ROUNDS_PER_PROBE = 32
};

struct comparison {
	const struct sl_compare_options *how;
	const struct sl_candidate *candidates;
	size_t n; /* candidates */
	struct sl__timer timer;
	struct sl__monitor monitor;
	struct sl__runner runner;
	struct sl__rng coin; /* apart, so that ties do not change orders */

	size_t n_calls;                     /* per sub-slot */
	size_t n_sub_slots;                 /* per slot */
	double sub_slots_ns[MAX_SUB_SLOTS]; /* of this slot */
	size_t order[MAX_CANDIDATES];
	double wall_ns[MAX_CANDIDATES]; /* of this round: sub-slots' median */
	double cpu_ns[MAX_CANDIDATES];  /* and the CPU time of the slot */
	struct sl__arm_set arms;
	size_t cap_rounds;
};

static enum sl_status
check_options(const struct sl_compare_options *how, size_t n,
	      struct sl_error *err)
{
	if (n < 2 || n > MAX_CANDIDATES)
		return sl__fail(err, SL_E_USAGE,
				"%zu candidates: must be 2 to %d", n,
				MAX_CANDIDATES);
	if (!(how->time_s > 0) || how->time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				how->time_s);
	return SL_OK;
}

/* Every candidate once, cold, and then timed: the extremes of a call. */
static enum sl_status
time_calls(struct comparison *d, double *fastest_ns, double *slowest_ns,
	   struct sl_error *err)
{
	*fastest_ns = (double)INFINITY;
	*slowest_ns = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct sl_candidate *who = &d->candidates[i];
		double call_ns = 0;
		size_t n_calls;
		int failed = who->fn(who->ctx);

		if (!failed)
			failed = sl__timer_choose_n_calls(&d->timer, who,
							  SUB_SLOT_NS, &n_calls,
							  &call_ns);
		if (failed)
			return sl__timer_set_error(who, failed, err);
		*fastest_ns = fmin(*fastest_ns, call_ns);
		*slowest_ns = fmax(*slowest_ns, call_ns);
	}
	return SL_OK;
}

/*
 * The shape of a slot: sub-slots of 50 us of the slowest candidate, and as
 * many as half a millisecond holds.  More calls where the fastest would be
 * too short for the clock, unless a round then takes a tenth of the budget.
 */
static enum sl_status
calibrate(struct comparison *d, struct sl_error *err)
{
	double fastest_ns, slowest_ns, sub_slot_ns, longest_ns;
	enum sl_status rc = time_calls(d, &fastest_ns, &slowest_ns, err);

	if (rc)
		return rc;
	/* A call below a picosecond was optimised away. */
	fastest_ns = fmax(fastest_ns, 1e-3);
	slowest_ns = fmax(slowest_ns, 1e-3);
	longest_ns = d->how->time_s * 1e9 / 10 / (double)d->n;
	sub_slot_ns = fmax(SUB_SLOT_NS, sl__timer_shortest_ns(&d->timer) *
						slowest_ns / fastest_ns);
	sub_slot_ns = fmin(sub_slot_ns, fmax(longest_ns, SUB_SLOT_NS));
	d->n_calls = (size_t)fmax(1, ceil(sub_slot_ns / slowest_ns));
	sub_slot_ns = slowest_ns * (double)d->n_calls;
	d->n_sub_slots = (size_t)fmax(
		1, fmin(MAX_SUB_SLOTS, floor(SLOT_NS / sub_slot_ns)));
	d->n_sub_slots -= 1 - d->n_sub_slots % 2;
	d->cap_rounds = (size_t)fmin(
		MAX_ROUNDS, 100 + 4e9 * d->how->time_s /
					    (fastest_ns * (double)d->n_calls *
					     (double)(d->n_sub_slots * d->n)));
	return SL_OK;
}

static enum sl_status
reserve(struct comparison *d, struct sl__arena *arena, struct sl_error *err)
{
	if (sl__arm_set_init(&d->arms, d->n, d->how->margin, d->how->alpha,
			     &d->coin, arena) ||
	    sl__arm_set_reserve(&d->arms, d->cap_rounds, arena))
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct comparison *d = ctx;
	const struct sl_candidate *who = &d->candidates[slot->arm];

	for (size_t i = 0; i < d->n_sub_slots; i++) {
		int failed = sl__timer_time_calls(&d->timer, who->fn, who->ctx,
						  d->n_calls,
						  &d->sub_slots_ns[i]);

		if (failed)
			return sl__timer_set_error(who, failed, err);
		slot->wall_ns += d->sub_slots_ns[i];
	}
	return SL_OK;
}

static void
finish_slot(struct sl__slot *slot, void *ctx)
{
	struct comparison *d = ctx;

	d->wall_ns[slot->arm] = fmax(
		sl__median_in_place(d->sub_slots_ns, d->n_sub_slots), 1e-3);
	d->cpu_ns[slot->arm] =
		fmax(sl__monitor_slot_cpu_ns(&d->monitor, &slot->before,
					     &slot->after, d->n_sub_slots,
					     d->timer.cost.reading_ns),
		     1e-3);
}

static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct comparison *d = ctx;
	struct sl__round round = {.wall = d->wall_ns,
				  .cpu = d->cpu_ns,
				  .is_disturbed = taken->is_disturbed,
				  .is_left_out = taken->is_left_out,
				  .now_s = sl__runner_elapsed_s(&d->runner)};

	(void)err;
	sl__arm_set_add(&d->arms, &round);
	return SL_OK;
}

static int
is_settled(void *ctx)
{
	const struct comparison *d = ctx;

	return sl__arm_set_is_settled(&d->arms, d->how->min_rounds);
}

/* The first round is always played to its end. */
static enum sl_status
play(struct comparison *d, struct sl_error *err)
{
	const struct sl__phase_spec comparing = {
		.n_arms = d->n,
		.cuts_rounds = 1,
		.min_rounds = 1,
		.max_rounds = d->cap_rounds,
		.time_s = d->how->time_s,
		.rounds_per_probe = ROUNDS_PER_PROBE,
		.enough = SL_STOP_VERDICT,
		.run = run_slot,
		.finish = finish_slot,
		.close = close_round,
		.is_enough = is_settled,
		.ctx = d,
	};
	enum sl_status rc = sl__runner_run(&d->runner, &comparing, err);

	if (!rc && !d->arms.n_taken)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first round");
	return rc;
}

static enum sl_status
conclude(struct comparison *d, struct sl_comparisons *c,
	 struct sl__arena *arena, struct sl_error *err)
{
	struct sl_comparison *rows =
		sl__arena_array(arena, d->n - 1, sizeof(*rows));

	if (!rows)
		return sl__fail_nomem(err);
	for (size_t i = 1; i < d->n; i++) {
		struct sl_comparison *row = &rows[i - 1];

		sl__arm_set_comparison(&d->arms, i, row);
		row->a = d->candidates[0].name;
		row->b = d->candidates[i].name;
		row->memory_ratio = sl__absent("functions share one process");
	}
	c->n = d->n - 1;
	c->rows = rows;
	c->elapsed_s = sl__runner_elapsed_s(&d->runner);
	c->stopped_by = d->runner.stopped_by;
	c->seed = d->how->seed;
	return SL_OK;
}

static void
set_defaults(struct sl_compare_options *how)
{
	if (how->time_s == 0)
		how->time_s = 3;
	if (how->min_rounds == 0)
		how->min_rounds = 50;
	if (how->seed == 0)
		how->seed = 1;
}

/* Copies the candidates, with names for those that have none. */
static enum sl_status
copy_candidates(struct comparison *d, const struct sl_candidate *candidates,
		struct sl__arena *arena, struct sl_error *err)
{
	struct sl_candidate *copies =
		sl__arena_array(arena, d->n, sizeof(*copies));

	if (!copies)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < d->n; i++) {
		copies[i] = candidates[i];
		if (!copies[i].fn)
			return sl__fail(err, SL_E_USAGE,
					"candidate %zu has no function", i + 1);
		if (copies[i].name)
			copies[i].name =
				sl__arena_string(arena, copies[i].name);
		else if (i < 26)
			copies[i].name = sl__arena_format(arena, "%c",
							  "ABCDEFGHIJKLMNOPQRS"
							  "TUVWXYZ"[i]);
		else
			copies[i].name = sl__arena_format(arena, "%zu", i + 1);
		if (!copies[i].name)
			return sl__fail_nomem(err);
	}
	d->candidates = copies;
	return SL_OK;
}

static enum sl_status
run_rounds(struct comparison *d, struct sl_comparisons *c,
	   struct sl__arena *arena, const struct sl__monitor_source *monitor,
	   struct sl_error *err)
{
	enum sl_status rc;

	sl__rng_init(&d->coin, ~d->how->seed);
	sl__timer_init(&d->timer, d->how->clock);
	d->runner.control.interrupt = d->how->interrupt;
	d->runner.control.with =
		(struct sl__measurement_sources){d->how->clock, monitor};
	sl__monitor_open(&d->monitor, &d->runner.control.with);
	d->runner.monitor = &d->monitor;
	d->runner.order = d->order;
	sl__runner_start_budget(&d->runner, d->how->seed);
	rc = calibrate(d, err);
	if (!rc)
		rc = reserve(d, arena, err);
	if (!rc)
		rc = play(d, err);
	sl__monitor_close(&d->monitor, &c->noise);
	return rc ? rc : conclude(d, c, arena, err);
}

enum sl_status
sl__compare_functions(struct sl_comparisons **out,
		      const struct sl_candidate *candidates, size_t n,
		      const struct sl_compare_options *options,
		      const struct sl__monitor_source *monitor,
		      struct sl_error *err)
{
	struct sl_compare_options how;
	struct sl_comparisons *c;
	struct sl__arena *arena;
	struct comparison d = {.how = &how, .n = n};
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_compare_options", err);

	*out = NULL;
	set_defaults(&how);
	if (!rc)
		rc = check_options(&how, n, err);
	if (!rc)
		rc = sl__arm_set_defaults(&how.margin, &how.alpha, err);
	if (rc)
		return rc;
	c = sl__arena_object_new(&arena, how.allocator, sizeof(*c));
	if (!c)
		return sl__fail_nomem(err);
	rc = copy_candidates(&d, candidates, arena, err);
	if (!rc)
		rc = run_rounds(&d, c, arena, monitor, err);
	*out = sl__arena_object_free_on_error(c, rc);
	return rc;
}

enum sl_status
sl_compare(struct sl_comparisons **out, const struct sl_candidate *candidates,
	   size_t n, const struct sl_compare_options *options,
	   struct sl_error *err)
{
	return sl__compare_functions(out, candidates, n, options, NULL, err);
}

void
sl_comparisons_free(struct sl_comparisons *c)
{
	sl__arena_object_free(c);
}
