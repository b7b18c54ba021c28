/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_rounds.c - models against the first, iteration by iteration in random
 * order.
 *
 * A round is one slot of every model, in an order drawn afresh.  A slot is one
 * recorded iteration, or several where iterations are shorter than a
 * millisecond: then each figure is a median over sub-slots.  What the events
 * hold is added up after the slot, off the clock.  Only the coin decides who
 * comes first, so that disturbances hit all alike.
 *
 * Longer iterations are hit by something in most rounds.  So a few rounds are
 * one group, and a group one figure: the sums of the medians of all steps, B's
 * to A's.  To exchange A and B in all its rounds changes the sign of that
 * figure and nothing else, and coins are as likely to fall one way as the
 * other: the sign is a fair coin too where A and B are the same.
 * stats/ensemble.c turns groups into verdicts.
 */
#include "experiment/model_rounds.h"
#include "base/clock.h"
#include "base/status.h"
#include "result/traced_iterations.h"
#include "stats/sign_test.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

enum {
	MAX_ROUNDS = 1 << 18,
	SLOT_NS = 1000000, /* a longer iteration is a slot by itself */
	SUB_SLOT_NS = 50000,
	MAX_SUB_SLOTS = 11, /* odd, so that the median is one of them */
	MAX_CALLS = 64,     /* iterations of a sub-slot */
	WARMUP_NS = 20000000,
	MIN_WARMUP = 2,
	MAX_WARMUP = 200,
	READINGS = 100,       /* what is shorter than so many is not timed */
	PLACEMENTS_LEAST = 4, /* with fewer nothing is proved of placements */
	PLACEMENTS_GOOD = 32, /* prove the same where they vary by 1 % */
	GROUPS = 24,       /* wanted: of 18 that agree the sign test is sure */
	GROUP_MOST = 15,   /* rounds; more make a median little better */
	RECENT_MOST = 256, /* rounds of a placement that are kept */
	ROUNDS_PER_PROBE = 16
};

/* Of the time, to make plans anew. */
static const double RENEWING_SHARE = 0.4;

/* The share of an iteration that layers on both sides make at least, for their
 * median to have a say. */
static const double MIN_COMMON = 0.5;

struct director {
	struct sl__model_rounds *out;
	const struct sl__model_rounds_options *how;
	struct sl__arena *arena;
	struct sl__monitor monitor;
	struct sl__runner runner;
	struct sl__ticker ticker;
	struct sl__model_arm *warming_up; /* who is */
	uint64_t cpu_ns; /* of the process when the slot began, then in it */
	int threads_differ;
	int is_settled;
	size_t next_renewal, n_renewals;
	size_t placed_at;   /* rounds that counted when plans came to lie where
			       they do */
	size_t n_open;      /* rounds of the group under way */
	double renewing_ns; /* spent on making plans anew */
};

static uint64_t
ticks_now(void *ctx)
{
	(void)ctx;
	return sl__ticks();
}

/* A reading costs what it does as a rule, not at the least: slots are short. */
static void
calibrate_clock(struct director *d)
{
	const struct sl_clock ticks = {ticks_now, NULL};
	const struct sl_clock *clock = d->how->control.with.clock;
	struct sl__clock_cost cost;

	sl__ticker_init(&d->ticker, clock);
	sl__clock_calibrate(&cost, clock ? clock : &ticks);
	d->ticker.reading_ns = cost.reading_ns / d->ticker.per_ns;
}

static uint64_t
process_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Where models have different numbers of threads, those that have nothing to
 * do now may still spin for a while, on the CPU of those that have: waits
 * until they sleep, 20 ms at most.
 */
static void
let_threads_sleep(struct sl__slot *slot, void *ctx)
{
	const struct director *d = ctx;
	const struct timespec pause = {0, 200000};
	uint64_t before;

	(void)slot;
	for (int i = 0; d->threads_differ && i < 100; i++) {
		before = process_cpu_ns();
		nanosleep(&pause, NULL);
		if (process_cpu_ns() - before < 100000)
			break;
	}
}

static size_t
iterations_per_slot(const struct sl__model_rounds *out)
{
	return out->n_calls * out->n_sub_slots;
}

/* All iterations of a slot, one events each. */
static enum sl_status
run_slot(const struct director *d, struct sl__model_arm *who,
	 struct sl_error *err)
{
	size_t n_calls = d->out->n_calls;

	for (size_t i = 0; i < d->out->n_sub_slots; i++) {
		struct sl__event_buffer *events = who->events + i * n_calls;
		uint64_t paused = 0;

		who->bounds[2 * i] = sl__ticks_read(d->ticker.clock);
		for (size_t k = 0; k < n_calls; k++) {
			enum sl_status rc =
				sl__plan_record(who->plan, &events[k], err);

			if (rc)
				return rc;
			paused += events[k].paused_ticks;
		}
		who->bounds[2 * i + 1] =
			sl__ticks_read(d->ticker.clock) - paused;
	}
	return SL_OK;
}

static double
span_ns(const struct director *d, uint64_t from, uint64_t to, size_t n_readings)
{
	double ns = sl__ticker_span_ns(&d->ticker, from, to);

	return fmax(0, ns - d->ticker.reading_ns * (double)n_readings);
}

/* Times of steps in a sub-slot, and how many readings were made in it. */
static size_t
add_steps(const struct director *d, const struct sl__model_arm *who,
	  size_t sub_slot)
{
	double *sums = who->sums + sub_slot * who->n_steps;
	size_t n_readings = 1;

	memset(sums, 0, who->n_steps * sizeof(*sums));
	for (size_t k = 0; k < d->out->n_calls; k++) {
		const struct sl__event_buffer *events =
			&who->events[sub_slot * d->out->n_calls + k];

		for (size_t i = 0; i + 1 < events->n_stamps; i++) {
			const struct sl__timestamp *m = &events->stamps[i];

			sums[m->step] +=
				span_ns(d, m[0].ticks, m[1].ticks, m->n_calls);
		}
		n_readings += events->n_readings;
	}
	return n_readings;
}

/* What the slot's events say: medians over sub-slots, of one iteration. */
static void
read_events(const struct director *d, struct sl__model_arm *who)
{
	size_t n = d->out->n_sub_slots;
	double calls = (double)d->out->n_calls, x[MAX_SUB_SLOTS];

	for (size_t i = 0; i < n; i++) {
		size_t n_readings = add_steps(d, who, i);

		x[i] = span_ns(d, who->bounds[2 * i], who->bounds[2 * i + 1],
			       n_readings) /
		       calls;
	}
	who->last.wall_ns = fmax(sl__median_in_place(x, n), 1e-3);
	for (size_t s = 0; s < who->n_steps; s++) {
		for (size_t i = 0; i < n; i++)
			x[i] = who->sums[i * who->n_steps + s] / calls;
		who->last.step_ns[s] = sl__median_in_place(x, n);
	}
}

static enum sl_status
take_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct director *d = ctx;
	struct sl__model_arm *who = &d->out->arms[slot->arm];
	enum sl_status rc;

	d->cpu_ns = process_cpu_ns();
	rc = run_slot(d, who, err);
	d->cpu_ns = process_cpu_ns() - d->cpu_ns;
	for (size_t i = 0; !rc && i < d->out->n_sub_slots; i++)
		slot->wall_ns += span_ns(d, who->bounds[2 * i],
					 who->bounds[2 * i + 1], 1);
	return rc;
}

/* CPU time of a model: of its one thread, or of all there are, which work for
 * nobody else. */
static void
finish_slot(struct sl__slot *slot, void *ctx)
{
	struct director *d = ctx;
	struct sl__model_arm *who = &d->out->arms[slot->arm];
	uint64_t cpu_ns = who->n_threads == 1
				  ? slot->after.cpu_ns - slot->before.cpu_ns
				  : d->cpu_ns;

	read_events(d, who);
	who->last.cpu_ns = fmax(
		1e-3, (double)cpu_ns / (double)iterations_per_slot(d->out));
}

static void
keep_row(struct sl__model_arm *who, size_t row)
{
	float *to = who->rows + row * who->n_steps;

	for (size_t s = 0; s < who->n_steps; s++)
		to[s] = (float)who->last.step_ns[s];
}

/* When all room is taken, every other row goes. */
static void
keep_rows(struct sl__model_rounds *out)
{
	if (out->n_counted % out->row_stride)
		return;
	if (out->n_rows == SL__MODEL_ROUNDS_ROWS) {
		out->n_rows /= 2;
		out->row_stride *= 2;
		for (size_t i = 0; i < out->n; i++) {
			struct sl__model_arm *who = &out->arms[i];
			size_t n = who->n_steps;

			for (size_t r = 1; r < out->n_rows; r++)
				memcpy(who->rows + r * n, who->rows + 2 * r * n,
				       n * sizeof(float));
		}
		if (out->n_counted % out->row_stride)
			return;
	}
	for (size_t i = 0; i < out->n; i++)
		keep_row(&out->arms[i], out->n_rows);
	out->n_rows++;
}

/* Typical times of all arms over their last n rounds. */
static void
find_typical(struct sl__model_rounds *out, size_t n)
{
	for (size_t i = 0; i < out->n; i++)
		sl__recent_rounds_typical(&out->arms[i].recent, n,
					  &out->arms[i].typical);
}

/* ln of the samples of A's iteration over those of an arm's. */
static double
log_per_sample(const struct director *d, size_t which)
{
	return log((double)d->out->arms[0].n_samples /
		   (double)d->out->arms[which].n_samples);
}

/* ln(B / A) of typical times, by all figures. */
static void
compare_typical(struct director *d, size_t which, double *log_ratios)
{
	sl__arm_test_compare(&d->out->tests[which], &d->out->arms[0].typical,
			     &d->out->arms[which].typical,
			     log_per_sample(d, which), log_ratios);
}

/* Each layer's round. */
static void
count_layers(struct director *d, size_t which)
{
	sl__arm_test_count_layers(&d->out->tests[which], &d->out->arms[0].last,
				  &d->out->arms[which].last,
				  log_per_sample(d, which), d->how->margin,
				  &d->out->coin);
}

static void
note_verdict(struct sl__arm_test *c, double now_s)
{
	if (!c->ensemble.verdict)
		c->decided_s = (double)NAN;
	else if (isnan(c->decided_s))
		c->decided_s = now_s;
}

/* The rounds since the last group are one, if there are any. */
static void
close_group(struct director *d)
{
	struct sl__model_rounds *out = d->out;
	double log_ratios[SL_N_COMPARISON_BASES];

	if (!d->n_open)
		return;
	find_typical(out, d->n_open);
	d->n_open = 0;
	for (size_t i = 1; i < out->n; i++) {
		compare_typical(d, i, log_ratios);
		sl__ensemble_add(&out->tests[i].ensemble, log_ratios);
		note_verdict(&out->tests[i], sl__runner_elapsed_s(&d->runner));
	}
}

static void
count_round(struct director *d, const struct sl__finished_round *taken)
{
	struct sl__model_rounds *out = d->out;

	out->n_taken = d->runner.n_rounds;
	out->n_disturbed = d->runner.n_disturbed;
	if (taken->is_left_out) {
		out->n_left_out++;
		return;
	}
	for (size_t i = 0; i < out->n; i++) {
		struct sl__model_arm *who = &out->arms[i];

		who->walls[out->n_counted] = who->last.wall_ns;
		who->cpus[out->n_counted] = who->last.cpu_ns;
		sl__recent_rounds_add(&who->recent, &who->last);
		if (i)
			count_layers(d, i);
	}
	keep_rows(out);
	out->n_counted++;
	if (++d->n_open >= out->n_grouped)
		close_group(d);
}

/* What models and layers did where the memory lay until now, if a round
 * counted there. */
static void
close_placement(struct director *d)
{
	struct sl__model_rounds *out = d->out;
	double log_ratios[SL_N_COMPARISON_BASES];

	if (out->n_counted == d->placed_at)
		return;
	close_group(d);
	out->n_placements++;
	d->placed_at = out->n_counted;
	find_typical(out, RECENT_MOST);
	for (size_t i = 1; i < out->n; i++) {
		struct sl__arm_test *c = &out->tests[i];

		compare_typical(d, i, log_ratios);
		sl__ensemble_add_placement(&c->ensemble, log_ratios);
		note_verdict(c, sl__runner_elapsed_s(&d->runner));
		sl__arm_test_close_placement(c);
	}
	for (size_t i = 0; i < out->n; i++)
		sl__recent_rounds_clear(&out->arms[i].recent);
}

/* At first; later ones last longer. */
static size_t
rounds_per_placement(const struct director *d)
{
	size_t n = d->how->min_rounds / (2 * SL__PLACEMENTS_ENOUGH) + 1;

	return n > d->out->n_grouped ? n : d->out->n_grouped;
}

/* What making plans anew will take: what it took, on average, or what is
 * expected of it and of the iterations that warm them up. */
static double
next_renewal_ns(const struct director *d)
{
	double iteration_ns = 0;

	if (d->n_renewals)
		return d->renewing_ns / (double)d->n_renewals;
	for (size_t i = 0; i < d->out->n; i++)
		iteration_ns += d->out->arms[i].last.wall_ns;
	return d->how->renew_ns +
	       MIN_WARMUP * iteration_ns * (double)iterations_per_slot(d->out);
}

/* Between groups, when renewing has had no more than its share until then: so
 * placements have about as many rounds each. */
static int
is_time_to_renew(const struct director *d)
{
	double next_ns = next_renewal_ns(d);
	double until_ns = 1e9 * sl__runner_elapsed_s(&d->runner) + next_ns;

	return d->how->renew && !d->out->renewal.status && !d->n_open &&
	       d->out->n_counted >= d->next_renewal &&
	       d->renewing_ns + next_ns <= RENEWING_SHARE * until_ns &&
	       until_ns < 1e9 * d->out->time_s;
}

/* Whether there is time for so many placements that they can decide. */
static int
can_be_placed(const struct director *d)
{
	return d->how->renew && (PLACEMENTS_LEAST - 1) * next_renewal_ns(d) <=
					RENEWING_SHARE * 1e9 * d->out->time_s;
}

/* Where plans stay where they are, rounds have to do. */
static void
give_up_placements(struct sl__model_rounds *out)
{
	out->is_placed = 0;
	for (size_t i = 1; i < out->n; i++)
		out->tests[i].ensemble.how.is_placed = 0;
}

/*
 * Plans made anew, every few rounds at first and then more seldom, as long as
 * there is time.  Where it fails, plans stay and rounds go on.
 */
static enum sl_status
renew_plans(struct director *d, struct sl_error *err)
{
	uint64_t start = sl__clock_now_ns(d->how->control.with.clock);
	struct sl__model_rounds *out = d->out;
	size_t n_renewed = 0;
	enum sl_status rc = SL_OK;

	if (!is_time_to_renew(d))
		return SL_OK;
	out->renewal.status = d->how->renew(out->arms, out->n, &n_renewed,
					    d->how->renew_ctx, &out->renewal);
	if (n_renewed)
		close_placement(d);
	if (out->renewal.status)
		give_up_placements(out);
	for (size_t i = 0; n_renewed && !rc && i < out->n; i++) {
		for (int k = 0; !rc && k < MIN_WARMUP; k++)
			rc = run_slot(d, &out->arms[i], err);
	}
	d->n_renewals++;
	d->renewing_ns +=
		(double)(sl__clock_now_ns(d->how->control.with.clock) - start);
	d->next_renewal =
		out->n_counted + out->n_counted / 16 + rounds_per_placement(d);
	return rc;
}

/* A verdict, and a ratio worth printing: an early verdict overshoots. */
static int
is_settled(const struct director *d)
{
	for (size_t i = 1; i < d->out->n; i++) {
		const struct sl__ensemble *e = &d->out->tests[i].ensemble;
		struct sl_estimate ratio;

		if (!e->verdict)
			return 0;
		if (d->out->n_counted >= d->how->min_rounds)
			continue;
		ratio = sl__ensemble_ratio(e, 0, d->out->scratch);
		if (ratio.needs_n ||
		    ratio.hi - ratio.lo > d->how->margin * ratio.value)
			return 0;
	}
	return 1;
}

static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct director *d = ctx;

	count_round(d, taken);
	d->is_settled = is_settled(d);
	if (d->is_settled || sl__runner_is_interrupted(&d->runner))
		return SL_OK;
	return renew_plans(d, err);
}

static int
is_enough(void *ctx)
{
	const struct director *d = ctx;

	return d->is_settled;
}

static void
describe(struct sl_progress *now, void *ctx)
{
	const struct director *d = ctx;

	now->n_done = d->out->n_counted;
	now->median_ns = d->out->arms[0].last.wall_ns;
}

static enum sl_status
fail_interrupted(struct sl_error *err)
{
	return sl__fail(err, SL_E_INTERRUPTED,
			"interrupted before the first round");
}

/* The first round is played to its end unless it is interrupted. */
static enum sl_status
play(struct director *d, struct sl_error *err)
{
	const struct sl__phase_spec comparing = {
		.name = "comparing",
		.n_arms = d->out->n,
		.cuts_rounds = 1,
		.min_rounds = 1,
		.max_rounds = d->out->cap_rounds,
		.time_s = d->out->time_s,
		.rounds_per_probe = ROUNDS_PER_PROBE,
		.enough = SL_STOP_VERDICT,
		.prepare = let_threads_sleep,
		.run = take_slot,
		.finish = finish_slot,
		.close = close_round,
		.is_enough = is_enough,
		.describe = describe,
		.ctx = d,
	};
	enum sl_status rc;

	d->next_renewal = rounds_per_placement(d);
	d->runner.monitor = &d->monitor;
	sl__runner_restart_budget(&d->runner);
	rc = sl__runner_run(&d->runner, &comparing, err);
	d->out->elapsed_s = sl__runner_elapsed_s(&d->runner);
	d->out->stopped_by = d->runner.stopped_by;
	if (rc)
		return rc;
	close_placement(d);
	return d->out->n_counted ? SL_OK : fail_interrupted(err);
}

static int
reserve_events(const struct director *d, struct sl__model_arm *who, size_t n)
{
	who->events = sl__arena_array(d->arena, n, sizeof(*who->events));
	for (size_t i = 0; who->events && i < n; i++) {
		if (sl__event_buffer_reserve(&who->events[i], who->n_steps,
					     d->arena))
			return 1;
		who->events[i].clock = d->ticker.clock;
	}
	return !who->events;
}

static enum sl_status
warm_up_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct director *d = ctx;

	(void)slot;
	return run_slot(d, d->warming_up, err);
}

/* The first iterations, as slots of one iteration each; the last one's times
 * stay. */
static enum sl_status
warm_up(struct director *d, struct sl__model_arm *who, struct sl_error *err)
{
	const struct sl__phase_spec warming_up = {
		.n_arms = 1,
		.is_in_order = 1,
		.min_rounds = MIN_WARMUP,
		.max_rounds = MAX_WARMUP,
		.time_s = WARMUP_NS / 1e9,
		.run = warm_up_slot,
		.ctx = d,
	};
	size_t n = who->n_steps;
	enum sl_status rc;

	who->bounds = sl__arena_array(d->arena, 2 * MAX_SUB_SLOTS,
				      sizeof(*who->bounds));
	who->sums = sl__arena_array(d->arena, n, sizeof(*who->sums));
	who->last.step_ns = sl__arena_array(d->arena, n, sizeof(double));
	if (reserve_events(d, who, 1) || !who->bounds || !who->sums ||
	    !who->last.step_ns)
		return sl__fail_nomem(err);
	d->warming_up = who;
	sl__runner_restart_budget(&d->runner);
	rc = sl__runner_run(&d->runner, &warming_up, err);
	if (rc)
		return rc;
	if (d->runner.stopped_by == SL_STOP_INTERRUPT)
		return fail_interrupted(err);
	read_events(d, who);
	return SL_OK;
}

struct sl__slot_repeats
sl__slot_repeats_choose(double fastest_ns, double slowest_ns, double reading_ns)
{
	double n_calls = fmax(SUB_SLOT_NS / slowest_ns,
			      READINGS * reading_ns / fastest_ns);
	double n_sub_slots;
	struct sl__slot_repeats out;

	n_calls = slowest_ns >= SLOT_NS ? 1 : fmin(ceil(n_calls), MAX_CALLS);
	n_sub_slots = floor(SLOT_NS / (n_calls * slowest_ns));
	out.n_calls = (size_t)n_calls;
	out.n_sub_slots = (size_t)fmax(1, fmin(MAX_SUB_SLOTS, n_sub_slots));
	out.n_sub_slots -= 1 - out.n_sub_slots % 2;
	return out;
}

size_t
sl__rounds_grouped(double time_s, double round_ns, size_t iterations_per_slot)
{
	double n = floor(1e9 * time_s / round_ns / GROUPS);

	return iterations_per_slot > 1 ? 1
				       : (size_t)fmax(1, fmin(GROUP_MOST, n));
}

/* Where the time holds too few groups or placements, and may be longer. */
static void
stretch_time(struct director *d, double round_ns)
{
	double wanted_ns = GROUPS * GROUP_MOST * round_ns;

	d->out->time_s = d->how->time_s;
	if (iterations_per_slot(d->out) > 1)
		return;
	if (d->how->renew)
		wanted_ns = fmax(wanted_ns / (1 - RENEWING_SHARE),
				 PLACEMENTS_GOOD * next_renewal_ns(d) /
					 RENEWING_SHARE);
	d->out->time_s = fmax(d->out->time_s,
			      fmin(wanted_ns / 1e9, d->how->most_time_s));
}

static void
shape_slots(struct director *d)
{
	struct sl__model_rounds *out = d->out;
	double fastest = (double)INFINITY, slowest = 0, round_ns = 0;
	struct sl__slot_repeats shape;

	for (size_t i = 0; i < out->n; i++) {
		fastest = fmin(fastest, out->arms[i].last.wall_ns);
		slowest = fmax(slowest, out->arms[i].last.wall_ns);
		round_ns += out->arms[i].last.wall_ns;
	}
	shape = sl__slot_repeats_choose(fastest, slowest, d->ticker.reading_ns);
	out->n_calls = shape.n_calls;
	out->n_sub_slots = shape.n_sub_slots;
	stretch_time(d, round_ns);
	out->is_placed = can_be_placed(d);
	out->n_grouped = sl__rounds_grouped(
		(out->is_placed ? 1 - RENEWING_SHARE : 1) * out->time_s,
		round_ns, iterations_per_slot(out));
	out->cap_rounds = (size_t)fmin(
		MAX_ROUNDS,
		100 + 4e9 * out->time_s /
				(fastest *
				 (double)(iterations_per_slot(out) * out->n)));
}

/* Which layers are long enough to be timed, and what those that both sides
 * have make of an iteration, at least. */
static double
choose_layers(const struct director *d, struct sl__arm_test *c, size_t which)
{
	const struct sl__model_arm *a = &d->out->arms[0];
	const struct sl__model_arm *b = &d->out->arms[which];
	double shortest =
		READINGS * d->ticker.reading_ns / (double)d->out->n_calls;
	double common_a = 0, common_b = 0;

	sl__arm_test_time_pairs(c, &a->last, &b->last);
	for (size_t i = 0; i < c->pairing.n; i++) {
		const struct sl__step_pair *p = &c->pairing.pairs[i];

		if (!p->n_a || !p->n_b)
			continue;
		common_a += c->a_ns[i];
		common_b += c->b_ns[i];
		c->is_tested[i] = c->a_ns[i] >= shortest &&
				  c->b_ns[i] >= shortest;
	}
	return fmin(common_a / a->last.wall_ns, common_b / b->last.wall_ns);
}

static enum sl_status
open_test(struct director *d, size_t which, struct sl_error *err)
{
	const struct sl__model_arm *all = d->out->arms;
	struct sl__arm_test *c = &d->out->tests[which];
	size_t cap = d->out->cap_rounds, n;
	struct sl__ensemble_options how = {.n_members = SL_N_COMPARISON_BASES,
					   .margin = d->how->margin,
					   .alpha = d->how->alpha /
						    (double)(d->out->n - 1),
					   .coin = &d->out->coin,
					   .is_placed = d->out->is_placed};
	double *storage = sl__arena_array(d->arena, SL_N_COMPARISON_BASES * cap,
					  sizeof(*storage));
	enum sl_status rc = sl__step_pairing_match(
		&c->pairing, &all[0].side, &all[which].side, d->arena, err);

	if (rc)
		return rc;
	n = c->pairing.n;
	c->is_tested = sl__arena_alloc(d->arena, n);
	c->counts = sl__arena_array(d->arena, n, sizeof(*c->counts));
	c->here = sl__arena_array(d->arena, n, sizeof(*c->here));
	c->n_slower = sl__arena_array(d->arena, n, 2 * sizeof(*c->n_slower));
	c->a_ns = sl__arena_array(d->arena, n, 3 * sizeof(*c->a_ns));
	if (!storage || !c->is_tested || !c->counts || !c->here ||
	    !c->n_slower || !c->a_ns)
		return sl__fail_nomem(err);
	c->n_faster = c->n_slower + n;
	c->b_ns = c->a_ns + n;
	c->logs = c->a_ns + 2 * n;
	c->decided_s = (double)NAN;
	if (all[0].n_threads != all[which].n_threads)
		c->absent[SL_COMPARISON_BASIS_CPU] =
			"not tested: the thread counts differ";
	if (choose_layers(d, c, which) < MIN_COMMON)
		c->absent[SL_COMPARISON_BASIS_LAYERS] =
			"layers in common make less than half of an iteration";
	for (size_t i = 0; i < SL_N_COMPARISON_BASES; i++)
		how.is_silent |= (c->absent[i] != NULL) * (1u << i);
	sl__ensemble_init(&c->ensemble, &how, storage, cap);
	return SL_OK;
}

static enum sl_status
reserve(struct director *d, struct sl__model_arm *who, struct sl_error *err)
{
	size_t cap = d->out->cap_rounds, n = who->n_steps;

	who->sums = sl__arena_array(d->arena, d->out->n_sub_slots * n,
				    sizeof(*who->sums));
	who->walls = sl__arena_array(d->arena, cap, sizeof(*who->walls));
	who->cpus = sl__arena_array(d->arena, cap, sizeof(*who->cpus));
	who->rows = sl__arena_array(d->arena, SL__MODEL_ROUNDS_ROWS * n,
				    sizeof(*who->rows));
	who->typical.step_ns = sl__arena_array(d->arena, n, sizeof(double));
	if (!who->sums || !who->walls || !who->cpus || !who->rows ||
	    !who->typical.step_ns ||
	    sl__recent_rounds_reserve(&who->recent, n, RECENT_MOST, d->arena) ||
	    reserve_events(d, who, iterations_per_slot(d->out)))
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
prepare(struct director *d, struct sl_error *err)
{
	struct sl__model_rounds *out = d->out;
	enum sl_status rc = SL_OK;

	out->n_calls = out->n_sub_slots = out->row_stride = 1;
	for (size_t i = 0; !rc && i < out->n; i++) {
		struct sl__model_arm *who = &out->arms[i];

		who->n_steps = sl_plan_n_steps(who->plan);
		who->n_threads = sl_plan_n_threads(who->plan);
		d->threads_differ |= who->n_threads != out->arms[0].n_threads;
		rc = warm_up(d, who, err);
	}
	if (rc)
		return rc;
	shape_slots(d);
	d->runner.order = sl__arena_array(d->arena, out->n, sizeof(size_t));
	out->tests = sl__arena_array(d->arena, out->n, sizeof(*out->tests));
	out->scratch =
		sl__arena_array(d->arena, out->cap_rounds, sizeof(double));
	if (!d->runner.order || !out->tests || !out->scratch)
		return sl__fail_nomem(err);
	for (size_t i = 1; !rc && i < out->n; i++)
		rc = open_test(d, i, err);
	for (size_t i = 0; !rc && i < out->n; i++)
		rc = reserve(d, &out->arms[i], err);
	return rc;
}

enum sl_status
sl__model_rounds(struct sl__model_rounds *out, struct sl__model_arm *arms,
		 size_t n, const struct sl__model_rounds_options *options,
		 struct sl__arena *arena, struct sl_error *err)
{
	struct director d = {.out = out, .how = options, .arena = arena};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	out->arms = arms;
	out->n = n;
	d.runner.control = options->control;
	calibrate_clock(&d);
	sl__runner_start_budget(&d.runner, options->seed);
	sl__rng_init(&out->coin, ~options->seed);
	rc = prepare(&d, err);
	if (rc)
		return rc;
	sl__monitor_open(&d.monitor, &options->control.with);
	rc = play(&d, err);
	sl__monitor_close(&d.monitor, &out->noise);
	return rc;
}
