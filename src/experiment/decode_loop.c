/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_loop.c - the passes of a decoding loop, each planned and timed.
 *
 * Every pass of the loop has sizes of its own, and a plan is made for sizes.
 * One plan is alive at a time; its weights stay for the next, which costs
 * little then.  The first visit, and a second plan of it, tell how many passes
 * can be measured: all of a short loop, some of a long one.
 */
#include "experiment/decode_loop.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/status.h"
#include "machine/platform.h"
#include "stats/quantile.h"
#include "stats/summary.h"
#include "timing/covariates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	WARMUP = 2,
	SAMPLES_LEAST = 6, /* fewer have no interval of the median */
	SAMPLES_MOST = 32,
	SAMPLE_NS = 1000000,  /* passes that are shorter are timed together */
	VISIT_NS = 150000000, /* for samples beyond the least */
	POINTS_LEAST = 4,
	POINTS_FIXED = 16 /* where rounds are fixed and positions not said */
};

struct measurer {
	struct sl__loop *loops;
	size_t n_loops;
	const struct sl__loop_options *how;
	struct sl__loop_outcome *out;
	struct sl__watch watch;
	struct sl__rng rng;
	uint64_t start_ns;
	size_t n_done, n_expected;
	int is_stopped;
	size_t *order; /* [all points] */
};

static int64_t
context_of(const struct sl__loop_point *p)
{
	return p->n_past + p->n_new;
}

static struct sl__loop_point *
add_point(struct sl__loop *loop, int64_t n_past, int64_t n_new, int64_t nth)
{
	struct sl__loop_point *p = &loop->raw.points[loop->raw.n_points++];

	memset(p, 0, sizeof(*p));
	p->n_past = n_past;
	p->n_new = n_new;
	p->nth = nth;
	return p;
}

/* What goes before the first token where there is a cache: one pass, or the
 * first, middle and last of many. */
static void
add_prompt(struct sl__loop *loop, int64_t prompt)
{
	const int64_t past[SL__LOOP_PROMPT_MOST] = {0, (prompt - 1) / 2,
						    prompt - 1};

	if (sl__decoder_takes_many(&loop->decoder)) {
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
add_tokens(struct sl__loop *loop, int64_t prompt, int64_t first, int64_t last,
	   size_t n)
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
sl__loop_lay_out(struct sl__loop *loop, int64_t prompt, int64_t n_tokens,
		 size_t n_positions)
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

static double
seconds_since(uint64_t start_ns)
{
	return (double)(sl__clock_now_ns(NULL) - start_ns) / 1e9;
}

/* Some passes in a row; the mean of one. */
static enum sl_status
time_sample(struct measurer *m, struct sl_plan *plan, size_t n_calls,
	    double *ns, struct sl_error *err)
{
	struct sl__covariates before, after;
	enum sl_status rc = SL_OK;
	uint64_t begin, end;

	sl__watch_before(&m->watch, &before);
	begin = sl__clock_now_ns(NULL);
	for (size_t i = 0; !rc && i < n_calls; i++)
		rc = sl_plan_run(plan, err);
	end = sl__clock_now_ns(NULL);
	sl__watch_after(&m->watch, &after);
	if (!rc)
		sl__watch_slot(&m->watch, &before, &after,
			       (double)(end - begin));
	*ns = (double)(end - begin) / (double)n_calls;
	return rc;
}

/* Warms up, and finds how many passes make a sample: so many that being off
 * the CPU for a moment does not decide a visit. */
static enum sl_status
warm_up(struct sl_plan *plan, size_t *n_calls, struct sl_error *err)
{
	uint64_t begin = 0;
	enum sl_status rc = SL_OK;

	for (int i = 0; !rc && i < WARMUP; i++) {
		begin = sl__clock_now_ns(NULL);
		rc = sl_plan_run(plan, err);
	}
	*n_calls = 1 + (size_t)(SAMPLE_NS /
				fmax((double)(sl__clock_now_ns(NULL) - begin),
				     100));
	return rc;
}

static enum sl_status
time_passes(struct measurer *m, struct sl_plan *plan, struct sl__loop_point *p,
	    struct sl_estimate *median, struct sl_error *err)
{
	double ns[SAMPLES_MOST], spent = 0;
	size_t n = 0, n_calls;
	enum sl_status rc = warm_up(plan, &n_calls, err);

	while (!rc && n < SAMPLES_MOST &&
	       (n < SAMPLES_LEAST || spent < VISIT_NS)) {
		rc = time_sample(m, plan, n_calls, &ns[n], err);
		spent += ns[n++] * (double)n_calls;
	}
	if (rc)
		return rc;
	sl__watch_probe(&m->watch);
	sl__sort(ns, n);
	*median = sl__quantile_estimate(ns, n, 0.5, 0.05);
	p->n_passes += n * n_calls;
	return SL_OK;
}

static void
note_plan(struct sl__loop *loop, const struct sl__loop_point *p,
	  const struct sl_plan *plan)
{
	loop->raw.n_threads = sl_plan_n_threads(plan);
	loop->raw.dtype = plan->options.dtype;
	if (p == &loop->raw.points[loop->raw.n_points - 1])
		sl_plan_memory(plan, &loop->raw.memory);
}

/* The share of the CPUs that others took. */
static double
disturbance_of(struct sl__watch *watch)
{
	struct sl_noise noise;
	double most = 0;

	sl__watch_close(watch, &noise);
	if (!noise.steal_share.absent)
		most = fmax(most, noise.steal_share.value);
	if (!noise.neighbour_share.absent)
		most = fmax(most, noise.neighbour_share.value);
	return most;
}

/* A plan for the sizes of a point. */
static enum sl_status
plan_point(struct measurer *m, struct sl__loop *loop, struct sl__loop_point *p,
	   struct sl_plan **plan, struct sl_error *err)
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
	begin = sl__clock_now_ns(NULL);
	rc = sl_plan_new(plan, loop->decoder.graph, &how, err);
	ns = (double)(sl__clock_now_ns(NULL) - begin);
	if (rc)
		return rc;
	p->plan_ns = fmax(p->plan_ns, ns);
	loop->raw.all_plans_ns += ns;
	note_plan(loop, p, *plan);
	return SL_OK;
}

static enum sl_status
run_point(struct measurer *m, struct sl__loop *loop, struct sl__loop_point *p,
	  struct sl_estimate *median, struct sl_error *err)
{
	struct sl_plan *plan;
	enum sl_status rc = plan_point(m, loop, p, &plan, err);

	if (rc)
		return rc;
	rc = sl__decoder_fill(&loop->decoder, plan, p->n_past, err);
	if (!rc)
		rc = time_passes(m, plan, p, median, err);
	if (!rc && loop->decoder.has_cache)
		rc = sl__decoder_keep(&loop->decoder, plan, context_of(p), err);
	sl_plan_free(plan);
	return rc;
}

/* Visit number 'nth' of a point: a new one, or one that is made again, of
 * which the quieter is kept. */
static enum sl_status
visit(struct measurer *m, struct sl__loop *loop, struct sl__loop_point *p,
      size_t nth, struct sl_error *err)
{
	struct sl__watch watch;
	struct sl_estimate median;
	double disturbance;
	char where[64];
	enum sl_status rc;

	sl__watch_open(&watch, NULL);
	rc = run_point(m, loop, p, &median, err);
	disturbance = disturbance_of(&watch);
	m->n_done++;
	(void)snprintf(where, sizeof(where), "with %lld tokens",
		       (long long)context_of(p));
	if (rc)
		return sl__within(err, rc, where);
	if (nth < p->n_visits && disturbance >= p->disturbance[nth])
		return SL_OK;
	p->visits[nth] = median;
	p->disturbance[nth] = disturbance;
	p->n_visits += nth == p->n_visits;
	return SL_OK;
}

static void
tell_progress(const struct measurer *m)
{
	struct sl_progress now = {.what = "decoding",
				  .n_done = m->n_done,
				  .median_ns = (double)NAN};
	double spent = seconds_since(m->start_ns);
	double by_time = m->how->n_rounds ? 0 : spent / m->how->time_s;

	if (!m->how->progress)
		return;
	now.share = m->n_expected ? (double)m->n_done / (double)m->n_expected
				  : 0;
	/* Rounds go on while there is time, and the first is made whole. */
	if (!m->how->n_rounds && now.share > by_time)
		now.share = by_time;
	now.share = fmin(now.share, 1);
	now.remaining_s = now.share > 0 ? spent / now.share - spent
					: m->how->time_s;
	m->how->progress(&now, m->how->progress_ctx);
}

static int
is_interrupted(struct measurer *m)
{
	if (m->how->interrupt && *m->how->interrupt) {
		m->is_stopped = 1;
		m->out->stopped_by = SL_STOP_INTERRUPT;
	}
	return m->is_stopped;
}

/* What a visit takes whose plan finds the weights that the first, of visit_s,
 * has made. */
static enum sl_status
cost_of_next(struct measurer *m, struct sl__loop *loop, double visit_s,
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
check_room(struct sl__loop *loop)
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

/* The longest pass, to see what a visit takes, and then how many there are
 * to be. */
static enum sl_status
begin_loop(struct measurer *m, struct sl__loop *loop, struct sl_error *err)
{
	const struct sl__loop_options *how = m->how;
	struct sl__loop_point first;
	uint64_t begin = sl__clock_now_ns(NULL);
	size_t n = how->n_positions;
	enum sl_status rc;
	double cost_s;

	sl__loop_lay_out(loop, how->prompt, how->n_tokens, 1);
	rc = visit(m, loop, &loop->raw.points[loop->raw.n_points - 1], 0, err);
	if (rc)
		return rc;
	check_room(loop);
	if (!n && how->n_rounds)
		n = POINTS_FIXED;
	if (!n) {
		rc = cost_of_next(m, loop, seconds_since(begin), &cost_s, err);
		if (rc)
			return rc;
		n = positions_for(m, cost_s);
	}
	first = loop->raw.points[loop->raw.n_points - 1];
	sl__loop_lay_out(loop, how->prompt, how->n_tokens, n);
	loop->raw.points[loop->raw.n_points - 1] = first;
	m->n_expected += loop->raw.n_points;
	return SL_OK;
}

static int
is_whole(const struct measurer *m)
{
	for (size_t i = 0; i < m->n_loops; i++) {
		const struct sl__loop *loop = &m->loops[i];

		if (loop->raw.n_further + 1 < (size_t)m->how->n_tokens)
			return 0;
	}
	return 1;
}

/* Whether another visit of a later round is beyond the time. */
static int
is_late(struct measurer *m, size_t round, double visit_s)
{
	if (m->how->n_rounds || !round)
		return 0;
	if (seconds_since(m->start_ns) + visit_s < m->how->time_s)
		return 0;
	m->is_stopped = 1;
	m->out->stopped_by = SL_STOP_TIME;
	return 1;
}

static struct sl__loop *
loop_of(struct measurer *m, size_t *at)
{
	struct sl__loop *loop = m->loops;

	while (*at >= loop->raw.n_points) {
		*at -= loop->raw.n_points;
		loop++;
	}
	return loop;
}

static enum sl_status
take_round(struct measurer *m, size_t round, size_t n, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	sl__rng_permutation(&m->rng, m->order, n);
	for (size_t i = 0; !round && is_whole(m) && i < n; i++)
		m->order[i] = i;
	m->out->n_rounds = round + 1;
	for (size_t i = 0; !rc && i < n; i++) {
		size_t at = m->order[i];
		struct sl__loop *loop = loop_of(m, &at);
		struct sl__loop_point *p = &loop->raw.points[at];
		double visit_s = seconds_since(m->start_ns) / (double)m->n_done;

		tell_progress(m);
		if (is_interrupted(m) || is_late(m, round, visit_s))
			break;
		/* The first visit of all told how many there are to be. */
		if (p->n_visits == round)
			rc = visit(m, loop, p, round, err);
	}
	return rc;
}

static enum sl_status
repeat_point(struct measurer *m, struct sl__loop *loop,
	     struct sl__loop_point *p, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < p->n_visits; k++) {
		if (p->disturbance[k] <= SL__LOOP_DISTURBED)
			continue;
		if (is_interrupted(m) ||
		    seconds_since(m->start_ns) > 1.5 * m->how->time_s)
			return SL_OK;
		tell_progress(m);
		rc = visit(m, loop, p, k, err);
	}
	return rc;
}

static enum sl_status
repeat_disturbed(struct measurer *m, size_t n, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	sl__rng_permutation(&m->rng, m->order, n);
	for (size_t i = 0; !rc && i < n; i++) {
		size_t at = m->order[i];
		struct sl__loop *loop = loop_of(m, &at);

		rc = repeat_point(m, loop, &loop->raw.points[at], err);
	}
	return rc;
}

static enum sl_status
take_rounds(struct measurer *m, struct sl__arena *arena, struct sl_error *err)
{
	size_t n_rounds = m->how->n_rounds ? m->how->n_rounds
					   : SL__LOOP_ROUNDS_MOST;
	enum sl_status rc = SL_OK;
	size_t n = 0;

	for (size_t i = 0; i < m->n_loops; i++)
		n += m->loops[i].raw.n_points;
	m->order = sl__arena_array(arena, n, sizeof(*m->order));
	if (!m->order)
		return sl__fail_nomem(err);
	m->n_expected = n * (m->how->n_rounds ? n_rounds : 1);
	m->out->stopped_by = SL_STOP_RUNS;
	for (size_t r = 0; !rc && r < n_rounds && !m->is_stopped; r++)
		rc = take_round(m, r, n, err);
	if (!rc && !m->how->n_rounds)
		rc = repeat_disturbed(m, n, err);
	return rc;
}

static enum sl_status
begin_loops(struct measurer *m, struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < m->n_loops; i++) {
		struct sl__loop *loop = &m->loops[i];

		loop->raw.points = sl__arena_array(
			arena, SL__LOOP_POINTS_MOST + SL__LOOP_PROMPT_MOST,
			sizeof(*loop->raw.points));
		if (!loop->raw.points)
			return sl__fail_nomem(err);
		if (is_interrupted(m))
			return sl__fail(err, SL_E_INTERRUPTED,
					"interrupted before the first pass of "
					"each loop");
		tell_progress(m);
		rc = sl__weight_pin_new(&loop->pin, loop->decoder.graph,
					m->how->plan.allocator, err);
		if (!rc)
			rc = begin_loop(m, loop, err);
	}
	return rc;
}

enum sl_status
sl__loops_measure(struct sl__loop *loops, size_t n_loops,
		  const struct sl__loop_options *how, struct sl__arena *arena,
		  struct sl__loop_outcome *out, struct sl_error *err)
{
	struct measurer m = {
		.loops = loops, .n_loops = n_loops, .how = how, .out = out};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__rng_init(&m.rng, how->seed);
	sl__watch_open(&m.watch, NULL);
	m.start_ns = sl__clock_now_ns(NULL);
	for (size_t i = 0; i < n_loops; i++)
		loops[i].pin = NULL;
	rc = begin_loops(&m, arena, err);
	if (!rc)
		rc = take_rounds(&m, arena, err);
	/* The visit that was cut short does not count. */
	if (rc == SL_E_INTERRUPTED && m.order) {
		out->stopped_by = SL_STOP_INTERRUPT;
		rc = SL_OK;
	}
	for (size_t i = 0; i < n_loops; i++)
		sl__weight_pin_free(loops[i].pin);
	sl__watch_close(&m.watch, &out->noise);
	return rc;
}

const struct sl__decode_figures *
sl__loop_figures(struct sl__loop *loop)
{
	struct sl__decode_figures *raw = &loop->raw;
	int64_t longest = 0;

	for (size_t i = 0; i < raw->n_points; i++) {
		if (raw->points[i].n_visits)
			longest = raw->points[i].n_past;
	}
	raw->has_cache = loop->decoder.has_cache;
	raw->takes_many = sl__decoder_takes_many(&loop->decoder);
	raw->batch = loop->decoder.batch;
	raw->state_bytes = sl__decoder_state_bytes(&loop->decoder, longest);
	return raw;
}
