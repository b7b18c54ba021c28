/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_loop.c - the steps of a decoding loop, each planned and timed.
 *
 * Every step of the loop has sizes of its own, and a plan is made for sizes.
 * One plan is alive at a time; its weights stay for the next, which costs
 * little then.  The first visit, and a second plan of it, tell how many steps
 * can be measured: all of a short loop, some of a long one.
 */
#include "experiment/decode_loop.h"
#include "base/clock.h"
#include "base/status.h"
#include "machine/platform.h"
#include "stats/quantile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	WARMUP = 2,
	SAMPLES_LEAST = 6, /* fewer have no interval of the median */
	SAMPLES_MOST = 32,
	SAMPLE_NS = 1000000,  /* steps that are shorter are timed together */
	VISIT_NS = 150000000, /* for samples beyond the least */
	POINTS_LEAST = 4,
	POINTS_FIXED = 16 /* where rounds are fixed and positions not said */
};

struct measurer {
	struct sl__decode_loop *loops;
	size_t n_loops;
	const struct sl__decode_loop_options *how;
	struct sl__decode_loop_outcome *out;
	struct sl__monitor monitor;
	struct sl__runner runner; /* of visits */
	size_t n_points;          /* of all loops */
	size_t n_done;            /* visits */
};

/* Samples of one visit. */
struct sampling {
	struct sl_plan *plan;
	const struct sl_clock *clock;
	size_t n_calls; /* steps of a sample */
	double ns[SAMPLES_MOST], spent_ns;
	size_t n;
};

static int64_t
context_of(const struct sl__loop_point *p)
{
	return p->n_past + p->n_new;
}

static struct sl__loop_point *
add_point(struct sl__decode_loop *loop, int64_t n_past, int64_t n_new,
	  int64_t nth)
{
	struct sl__loop_point *p = &loop->raw.points[loop->raw.n_points++];

	memset(p, 0, sizeof(*p));
	p->n_past = n_past;
	p->n_new = n_new;
	p->nth = nth;
	return p;
}

/* What goes before the first token where there is a cache: one step, or the
 * first, middle and last of many. */
static void
add_prompt(struct sl__decode_loop *loop, int64_t prompt)
{
	const int64_t past[SL__LOOP_PROMPT_MOST] = {0, (prompt - 1) / 2,
						    prompt - 1};

	if (sl__decoder_takes_whole_prompt(&loop->decoder)) {
		add_point(loop, 0, prompt, 1);
		return;
	}
	for (int i = 0; i < SL__LOOP_PROMPT_MOST; i++) {
		if (!i || past[i] > past[i - 1])
			add_point(loop, past[i], 1, past[i] == prompt - 1);
	}
}

/* Evenly from first to last, both included; one alone is the last. */
static void
add_tokens(struct sl__decode_loop *loop, int64_t prompt, int64_t first,
	   int64_t last, size_t n)
{
	size_t n_all = (size_t)(last - first + 1);

	if (n > n_all)
		n = n_all;
	for (size_t i = 0; i < n; i++) {
		double share = n > 1 ? (double)i / (double)(n - 1) : 1;
		int64_t nth = first + llround(share * (double)(n_all - 1));
		int64_t context = prompt + nth - 1;

		if (loop->decoder.has_cache)
			add_point(loop, context - 1, 1, nth);
		else
			add_point(loop, 0, context, nth);
		loop->raw.n_further += nth > 1;
	}
}

void
sl__decode_loop_choose_points(struct sl__decode_loop *loop, int64_t prompt,
			      int64_t n_tokens, size_t n_positions)
{
	loop->raw.n_points = loop->raw.n_further = 0;
	if (n_positions > SL__LOOP_POINTS_MOST)
		n_positions = SL__LOOP_POINTS_MOST;
	if (!loop->decoder.has_cache) {
		add_tokens(loop, prompt, 1, n_tokens, n_positions);
		return;
	}
	add_prompt(loop, prompt);
	if (n_tokens > 1)
		add_tokens(loop, prompt, 2, n_tokens,
			   n_positions > 2 ? n_positions - 1 : 1);
}

static uint64_t
now_ns(const struct measurer *m)
{
	return sl__clock_now_ns(m->how->control.with.clock);
}

/* Some steps in a row. */
static enum sl_status
take_sample(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct sampling *s = ctx;
	uint64_t begin = sl__clock_now_ns(s->clock);
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < s->n_calls; i++)
		rc = sl_plan_run(s->plan, err);
	slot->wall_ns = (double)(sl__clock_now_ns(s->clock) - begin);
	s->spent_ns += slot->wall_ns;
	s->ns[s->n++] = slot->wall_ns / (double)s->n_calls;
	return rc;
}

static int
has_samples(void *ctx)
{
	const struct sampling *s = ctx;

	return s->n >= SAMPLES_LEAST && s->spent_ns >= VISIT_NS;
}

/* A sample has so many steps that being off the CPU for a moment does not
 * decide a visit: as the last step of the warm-up says. */
static enum sl_status
time_iterations(struct measurer *m, struct sl_plan *plan,
		struct sl__loop_point *p, struct sl_estimate *median,
		struct sl_error *err)
{
	struct sl__runner runner = {.control.with = m->how->control.with};
	struct sampling s = {
		.plan = plan, .clock = runner.control.with.clock, .n_calls = 1};
	struct sl__phase_spec sampling = {.n_arms = 1,
					  .is_in_order = 1,
					  .n_rounds = WARMUP,
					  .max_rounds = SAMPLES_MOST,
					  .run = take_sample,
					  .is_enough = has_samples,
					  .ctx = &s};
	enum sl_status rc = sl__runner_run(&runner, &sampling, err);

	if (rc)
		return rc;
	s.n_calls = 1 + (size_t)(SAMPLE_NS / fmax(s.ns[WARMUP - 1], 100));
	s.spent_ns = 0;
	s.n = 0;
	sampling.n_rounds = 0;
	runner.monitor = &m->monitor;
	rc = sl__runner_run(&runner, &sampling, err);
	if (rc)
		return rc;
	sl__monitor_probe_frequency(&m->monitor);
	*median = sl__median_estimate(s.ns, s.n);
	p->n_iterations += s.n * s.n_calls;
	return SL_OK;
}

static void
note_plan(struct sl__decode_loop *loop, const struct sl__loop_point *p,
	  const struct sl_plan *plan)
{
	loop->raw.n_threads = sl_plan_n_threads(plan);
	loop->raw.dtype = plan->options.dtype;
	if (p == &loop->raw.points[loop->raw.n_points - 1])
		sl_plan_memory(plan, &loop->raw.memory);
}

/* The share of the CPUs that others took. */
static double
disturbance_of(struct sl__monitor *monitor)
{
	struct sl_noise noise;
	double most = 0;

	sl__monitor_close(monitor, &noise);
	if (!noise.steal_share.absent)
		most = fmax(most, noise.steal_share.value);
	if (!noise.neighbour_share.absent)
		most = fmax(most, noise.neighbour_share.value);
	return most;
}

/* A plan for the sizes of a point. */
static enum sl_status
plan_point(struct measurer *m, struct sl__decode_loop *loop,
	   struct sl__loop_point *p, struct sl_plan **plan,
	   struct sl_error *err)
{
	struct sl_plan_options how = m->how->plan;
	struct sl_sizes sizes;
	uint64_t begin;
	enum sl_status rc;
	double ns;

	rc = sl__decoder_sizes(&loop->decoder, p->n_past, p->n_new, &sizes,
			       err);
	if (rc)
		return rc;
	how.sizes = &sizes;
	begin = now_ns(m);
	rc = sl_plan_new(plan, loop->decoder.graph, &how, err);
	ns = (double)(now_ns(m) - begin);
	if (rc)
		return rc;
	p->plan_ns = fmax(p->plan_ns, ns);
	loop->raw.all_plans_ns += ns;
	note_plan(loop, p, *plan);
	return SL_OK;
}

static enum sl_status
run_point(struct measurer *m, struct sl__decode_loop *loop,
	  struct sl__loop_point *p, struct sl_estimate *median,
	  struct sl_error *err)
{
	struct sl_plan *plan;
	enum sl_status rc = plan_point(m, loop, p, &plan, err);

	if (rc)
		return rc;
	rc = sl__decoder_set_inputs(&loop->decoder, plan, p->n_past, err);
	if (!rc)
		rc = time_iterations(m, plan, p, median, err);
	if (!rc && loop->decoder.has_cache)
		rc = sl__decoder_keep_state(&loop->decoder, plan, context_of(p),
					    err);
	sl_plan_free(plan);
	return rc;
}

/* Visit number 'nth' of a point: a new one, or one that is made again, of
 * which the quieter is kept. */
static enum sl_status
visit(struct measurer *m, struct sl__decode_loop *loop,
      struct sl__loop_point *p, size_t nth, struct sl_error *err)
{
	struct sl__monitor monitor;
	struct sl_estimate median;
	double disturbance;
	char where[64];
	enum sl_status rc;

	sl__monitor_open(&monitor, &m->how->control.with);
	rc = run_point(m, loop, p, &median, err);
	disturbance = disturbance_of(&monitor);
	m->n_done++;
	m->runner.ahead_ns = (now_ns(m) - m->runner.start_ns) / m->n_done;
	(void)snprintf(where, sizeof(where), "with %lld tokens",
		       (long long)context_of(p));
	if (rc)
		return sl__error_prefix(err, rc, where);
	if (nth < p->n_visits && disturbance >= p->disturbance[nth])
		return SL_OK;
	p->visits[nth] = median;
	p->disturbance[nth] = disturbance;
	p->n_visits += nth == p->n_visits;
	return SL_OK;
}

/* Rounds go on while there is time, and the first is made whole. */
static void
describe(struct sl_progress *now, void *ctx)
{
	const struct measurer *m = ctx;
	double spent_s = (double)(m->runner.now_ns - m->runner.start_ns) / 1e9;

	size_t n_rounds = m->how->n_rounds;
	double n_all = (double)(m->n_points * (n_rounds ? n_rounds : 1));

	now->n_done = m->n_done;
	now->share = n_all > 0 ? fmin((double)m->n_done / n_all, 1) : 0;
	if (!n_rounds)
		now->share = fmin(now->share, spent_s / m->how->time_s);
	now->remaining_s = now->share > 0 ? spent_s / now->share - spent_s
					  : m->how->time_s;
}

/* What a visit takes whose plan finds the weights that the first, of visit_s,
 * has made. */
static enum sl_status
cost_of_next(struct measurer *m, struct sl__decode_loop *loop, double visit_s,
	     double *out, struct sl_error *err)
{
	struct sl__loop_point *p = &loop->raw.points[loop->raw.n_points - 1];
	double first_ns = loop->raw.all_plans_ns;
	struct sl_plan *plan;
	enum sl_status rc = plan_point(m, loop, p, &plan, err);

	if (rc)
		return rc;
	sl_plan_free(plan);
	*out = fmax(visit_s + (loop->raw.all_plans_ns - 2 * first_ns) / 1e9,
		    1e-9);
	return SL_OK;
}

/* Weights stay between visits where there is memory for those of another
 * plan too. */
static void
check_room(struct sl__decode_loop *loop)
{
	uint64_t room = sl__platform_free_bytes("");

	if (!room || room > 2 * loop->raw.memory.weight_bytes)
		return;
	sl__weight_pin_free(loop->pin);
	loop->pin = NULL;
}

static size_t
positions_for(const struct measurer *m, double visit_s)
{
	double n = m->how->time_s / (double)m->n_loops / visit_s;

	return (size_t)fmin(fmax(n, POINTS_LEAST), SL__LOOP_POINTS_MOST);
}

/* The longest step, to see what a visit takes, and then how many there are
 * to be. */
static enum sl_status
begin_loop(struct measurer *m, struct sl__decode_loop *loop,
	   struct sl_error *err)
{
	const struct sl__decode_loop_options *how = m->how;
	struct sl__loop_point first;
	uint64_t begin = now_ns(m);
	size_t n = how->n_positions;
	enum sl_status rc;
	double cost_s;

	sl__decode_loop_choose_points(loop, how->prompt, how->n_tokens, 1);
	rc = visit(m, loop, &loop->raw.points[loop->raw.n_points - 1], 0, err);
	if (rc)
		return rc;
	check_room(loop);
	if (!n && how->n_rounds)
		n = POINTS_FIXED;
	if (!n) {
		rc = cost_of_next(m, loop, (double)(now_ns(m) - begin) / 1e9,
				  &cost_s, err);
		if (rc)
			return rc;
		n = positions_for(m, cost_s);
	}
	first = loop->raw.points[loop->raw.n_points - 1];
	sl__decode_loop_choose_points(loop, how->prompt, how->n_tokens, n);
	loop->raw.points[loop->raw.n_points - 1] = first;
	m->n_points += loop->raw.n_points;
	return SL_OK;
}

static int
is_whole(const struct measurer *m)
{
	for (size_t i = 0; i < m->n_loops; i++) {
		const struct sl__decode_loop *loop = &m->loops[i];

		if (loop->raw.n_further + 1 < (size_t)m->how->n_tokens)
			return 0;
	}
	return 1;
}

static struct sl__decode_loop *
loop_of(struct measurer *m, size_t *at)
{
	struct sl__decode_loop *loop = m->loops;

	while (*at >= loop->raw.n_points) {
		*at -= loop->raw.n_points;
		loop++;
	}
	return loop;
}

/* The longest step of each loop was visited before all others, in place of its
 * visit in the first round. */
static enum sl_status
visit_new(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	int is_in_order = !slot->round && is_whole(ctx);
	size_t at = is_in_order ? slot->nth : slot->arm;
	struct sl__decode_loop *loop = loop_of(ctx, &at);
	struct sl__loop_point *p = &loop->raw.points[at];

	return p->n_visits > slot->round
		       ? SL_OK
		       : visit(ctx, loop, p, slot->round, err);
}

/* One of all visits, made again where others disturbed it. */
static enum sl_status
visit_again(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	size_t at = slot->arm / SL__LOOP_ROUNDS_MOST;
	size_t nth = slot->arm % SL__LOOP_ROUNDS_MOST;
	struct sl__decode_loop *loop = loop_of(ctx, &at);
	struct sl__loop_point *p = &loop->raw.points[at];

	if (nth >= p->n_visits || p->disturbance[nth] <= SL__LOOP_DISTURBED)
		return SL_OK;
	return visit(ctx, loop, p, nth, err);
}

/* Visits are long: progress is told, and the time looked at, before each. */
static enum sl_status
run_phase(struct measurer *m, struct sl__phase_spec phase, struct sl_error *err)
{
	phase.name = "decoding";
	phase.cuts_rounds = phase.tells_slots = 1;
	phase.describe = describe;
	phase.ctx = m;
	return sl__runner_run(&m->runner, &phase, err);
}

static enum sl_status
take_rounds(struct measurer *m, struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__phase_spec rounds = {.n_arms = m->n_points,
					      .n_rounds = m->how->n_rounds,
					      .min_rounds = 1,
					      .max_rounds =
						      SL__LOOP_ROUNDS_MOST,
					      .time_s = m->how->time_s,
					      .run = visit_new};
	const struct sl__phase_spec again = {.n_arms = m->n_points *
						       SL__LOOP_ROUNDS_MOST,
					     .max_rounds = 1,
					     .time_s = 1.5 * m->how->time_s,
					     .run = visit_again};
	enum sl_status rc;

	m->runner.order = sl__arena_array(arena, again.n_arms, sizeof(size_t));
	if (!m->runner.order)
		return sl__fail_nomem(err);
	rc = run_phase(m, rounds, err);
	m->out->n_rounds = m->runner.n_begun;
	m->out->stopped_by = m->runner.n_rounds == rounds.max_rounds
				     ? SL_STOP_RUNS
				     : m->runner.stopped_by;
	m->runner.ahead_ns = 0;
	if (!rc && !rounds.n_rounds)
		rc = run_phase(m, again, err);
	if (m->runner.stopped_by == SL_STOP_INTERRUPT)
		m->out->stopped_by = SL_STOP_INTERRUPT;
	return rc;
}

static enum sl_status
begin_one(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct measurer *m = ctx;
	struct sl__decode_loop *loop = &m->loops[slot->arm];
	enum sl_status rc = sl__weight_pin_new(&loop->pin, loop->decoder.graph,
					       m->how->plan.allocator, err);

	return rc ? rc : begin_loop(m, loop, err);
}

static enum sl_status
begin_loops(struct measurer *m, struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__phase_spec begin = {.n_arms = m->n_loops,
					     .is_in_order = 1,
					     .n_rounds = 1,
					     .run = begin_one};
	int failed = 0;
	enum sl_status rc;

	for (size_t i = 0; i < m->n_loops; i++) {
		struct sl__decode_loop *loop = &m->loops[i];

		loop->pin = NULL;
		loop->raw.points = sl__arena_array(
			arena, SL__LOOP_POINTS_MOST + SL__LOOP_PROMPT_MOST,
			sizeof(*loop->raw.points));
		failed |= !loop->raw.points;
	}
	rc = failed ? sl__fail_nomem(err) : run_phase(m, begin, err);
	if (!rc && !m->runner.n_rounds)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first pass of each "
				"loop");
	return rc;
}

enum sl_status
sl__decode_loops_measure(struct sl__decode_loop *loops, size_t n_loops,
			 const struct sl__decode_loop_options *how,
			 struct sl__arena *arena,
			 struct sl__decode_loop_outcome *out,
			 struct sl_error *err)
{
	struct measurer m = {
		.loops = loops, .n_loops = n_loops, .how = how, .out = out};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	m.runner.control = how->control;
	sl__monitor_open(&m.monitor, &how->control.with);
	sl__runner_start_budget(&m.runner, how->seed);
	rc = begin_loops(&m, arena, err);
	if (!rc)
		rc = take_rounds(&m, arena, err);
	for (size_t i = 0; i < n_loops; i++)
		sl__weight_pin_free(loops[i].pin);
	sl__monitor_close(&m.monitor, &out->noise);
	return rc;
}

const struct sl__decode_timings *
sl__decode_loop_measurements(struct sl__decode_loop *loop)
{
	struct sl__decode_timings *raw = &loop->raw;
	int64_t longest = 0;

	for (size_t i = 0; i < raw->n_points; i++) {
		if (raw->points[i].n_visits)
			longest = raw->points[i].n_past;
	}
	raw->has_cache = loop->decoder.has_cache;
	raw->takes_many = sl__decoder_takes_whole_prompt(&loop->decoder);
	raw->batch = loop->decoder.batch;
	raw->state_bytes = sl__decoder_state_bytes(&loop->decoder, longest);
	return raw;
}
