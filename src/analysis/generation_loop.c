/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation_loop.c - what the passes of a decoding loop come to.
 *
 * Where every pass was measured, times of the loop are their sums.  Where only
 * some were, a line in the context goes through all visits, and a sum over
 * passes is their number times the line at their mean context, with the
 * interval that the line has there.
 */
#include "analysis/generation.h"
#include "analysis/growth_fit.h"
#include "base/reading.h"
#include "base/status.h"
#include "stats/special.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	STEPS_MOST = SL__LOOP_POINTS_MOST + SL__LOOP_PROMPT_MOST,
	VISITS_MOST = STEPS_MOST * SL__LOOP_ROUNDS_MOST
};

/* Visits of passes of one kind. */
struct visits {
	double x[VISITS_MOST], ns[VISITS_MOST];
	size_t n;
	size_t n_contexts;
};

static const struct sl_estimate not_known = {
	.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};

/* With a cache, the pass over a whole prompt is of another kind. */
static int
is_of_loop(const struct sl__decode_figures *loop,
	   const struct sl__loop_point *p)
{
	return !loop->has_cache || p->n_new == 1;
}

static void
gather(struct visits *out, const struct sl__decode_figures *loop)
{
	out->n = out->n_contexts = 0;
	for (size_t i = 0; i < loop->n_points; i++) {
		const struct sl__loop_point *p = &loop->points[i];

		if (!is_of_loop(loop, p))
			continue;
		out->n_contexts += p->n_visits > 0;
		for (size_t k = 0; k < p->n_visits; k++) {
			out->x[out->n] = (double)(p->n_past + p->n_new);
			out->ns[out->n++] = p->visits[k].value;
		}
	}
}

/* Weighted sums of a line through visits, contexts counted from one. */
struct line_sums {
	double w, wx, wxx, wy, wxy;
};

/* Errors of times are shares of them, and what disturbs a visit makes it
 * longer by any factor: weights are 1 / time^2. */
static double
weight_of(double ns)
{
	return 1 / fmax(ns * ns, 1);
}

static struct line_sums
sums_of(const struct visits *v, double context)
{
	struct line_sums s = {0};

	for (size_t i = 0; i < v->n; i++) {
		double x = v->x[i] - context, w = weight_of(v->ns[i]);

		s.w += w;
		s.wx += w * x;
		s.wxx += w * x * x;
		s.wy += w * v->ns[i];
		s.wxy += w * x * v->ns[i];
	}
	return s;
}

static struct sl_estimate
bounded(double value, double reach, size_t n)
{
	return (struct sl_estimate){value, value - reach,    value + reach, n,
				    0,     SL_METHOD_STUDENT};
}

/*
 * The line at a context, bounded by 0 below as times are, and its slope, by
 * weighted least squares.  0 where fewer than three visits or two contexts are
 * there, and where the line says that a pass takes no time.
 */
static int
line_at(const struct visits *v, double context, struct sl_estimate *value,
	struct sl_estimate *slope)
{
	struct line_sums s = sums_of(v, context);
	double det = s.w * s.wxx - s.wx * s.wx;
	double at, by, squares = 0, reach;

	if (v->n_contexts < 2 || v->n < 3 || !(det > 0))
		return 0;
	at = (s.wxx * s.wy - s.wx * s.wxy) / det;
	by = (s.w * s.wxy - s.wx * s.wy) / det;
	for (size_t i = 0; i < v->n; i++) {
		double off = v->ns[i] - at - by * (v->x[i] - context);

		squares += weight_of(v->ns[i]) * off * off;
	}
	reach = sl__student_quantile(0.975, (double)(v->n - 2)) *
		sqrt(squares / (double)(v->n - 2) / det);
	*value = bounded(at, reach * sqrt(s.wxx), v->n);
	*slope = bounded(by, reach * sqrt(s.w), v->n);
	value->lo = fmax(value->lo, 0);
	return at > 0;
}

static struct sl_estimate
times(struct sl_estimate e, double factor)
{
	e.value *= factor;
	e.lo *= factor;
	e.hi *= factor;
	return e;
}

/* Bounds are added: wider than need be, where errors are independent. */
static struct sl_estimate
plus(const struct sl_estimate *a, const struct sl_estimate *b)
{
	struct sl_estimate e = *a;

	if (!a->n || !b->n)
		return not_known;
	e.value += b->value;
	e.lo += b->lo;
	e.hi += b->hi;
	e.n = a->n < b->n ? a->n : b->n;
	e.needs_n = a->needs_n > b->needs_n ? a->needs_n : b->needs_n;
	return e;
}

/* Passes that yield tokens from 'first' to 'last', all measured. */
static struct sl_estimate
sum_of(const struct sl_decoding *d, int64_t first, int64_t last)
{
	struct sl_estimate sum = not_known;

	for (size_t i = 0; i < d->n_steps; i++) {
		const struct sl_decode_step *s = &d->steps[i];

		if (s->nth < first || s->nth > last)
			continue;
		sum = sum.n ? plus(&sum, &s->time_ns) : s->time_ns;
	}
	return sum;
}

/* A time whose interval reaches 0 leaves the rate without an upper bound. */
static struct sl_estimate
rate_of(const struct sl_estimate *ns, double n_tokens)
{
	struct sl_estimate e = *ns;

	e.value = n_tokens / ns->value * 1e9;
	e.lo = n_tokens / ns->hi * 1e9;
	e.hi = ns->lo <= 0 ? (double)INFINITY : n_tokens / ns->lo * 1e9;
	return e;
}

static void
set_first(struct sl_decoding *d, const struct visits *v, int64_t prompt)
{
	struct sl_estimate at, slope;

	d->first_ns = not_known;
	if (!d->is_by_token) {
		d->first_ns = sum_of(d, 1, 1);
		return;
	}
	if (prompt <= SL__LOOP_PROMPT_MOST && !d->n_missed) {
		d->first_ns = sum_of(d, 0, 1);
		return;
	}
	d->first_is_fitted = 1;
	if (line_at(v, (double)(prompt + 1) / 2, &at, &slope))
		d->first_ns = times(at, (double)prompt);
}

static void
set_further(struct sl_decoding *d, const struct visits *v, int64_t prompt,
	    int64_t n_tokens)
{
	double n = (double)(n_tokens - 1);
	struct sl_estimate slope;

	d->further_ns = not_known;
	d->total_is_fitted = d->first_is_fitted || !d->is_complete;
	if (n_tokens < 2)
		return;
	if (d->is_complete)
		d->further_ns = times(sum_of(d, 2, n_tokens), 1 / n);
	else if (!line_at(v, (double)prompt + (double)n_tokens / 2,
			  &d->further_ns, &slope))
		d->further_ns = not_known;
}

static void
set_growth(struct sl_decoding *d, const struct visits *v, int64_t prompt,
	   int64_t n_tokens)
{
	struct sl_estimate at;

	d->growth_ns = not_known;
	d->growth_at_ns = (double)NAN;
	d->growth_absent = "fewer than three contexts were measured";
	if (v->n_contexts >= 3)
		d->growth_absent = "no line in the context fits the passes";
	if (v->n_contexts < 3 ||
	    !line_at(v, (double)prompt + (double)n_tokens / 2, &at,
		     &d->growth_ns))
		return;
	d->growth_at_ns = at.value;
	d->growth_absent = NULL;
}

static void
set_rates(struct sl_decoding *d, double batch, int64_t n_tokens)
{
	double n = (double)n_tokens;
	struct sl_estimate further = times(d->further_ns, n - 1);

	d->total_ns = n_tokens > 1 ? plus(&d->first_ns, &further) : d->first_ns;
	d->tokens_per_s = rate_of(&d->total_ns, batch * n);
	d->steady_per_s = rate_of(&d->further_ns, batch);
}

static void
set_step(struct sl_decode_step *out, const struct sl__loop_point *p)
{
	out->nth = p->nth;
	out->context = p->n_past + p->n_new;
	out->n_new = p->n_new;
	out->n_visits = p->n_visits;
	out->n_passes = p->n_passes;
	for (size_t k = 0; k < p->n_visits; k++)
		out->n_disturbed += p->disturbance[k] > SL__LOOP_DISTURBED;
	out->time_ns = sl__growth_pool(p->visits, p->n_visits);
	out->plan_ns = p->n_visits ? p->plan_ns : (double)NAN;
	out->flops = sl__absent("not counted");
}

enum sl_status
sl__loop_settle(struct sl_decoding *out, const struct sl__decode_figures *loop,
		int64_t prompt, int64_t n_tokens, struct sl__arena *arena,
		struct sl_error *err)
{
	struct sl_decode_step *steps =
		sl__arena_array(arena, loop->n_points, sizeof(*steps));
	struct visits *v = sl__arena_alloc(arena, sizeof(*v));

	if (!steps || !v)
		return sl__fail_nomem(err);
	out->has_cache = loop->has_cache;
	out->is_by_token = out->has_cache && !loop->takes_many;
	out->steps = steps;
	out->n_steps = loop->n_points;
	for (size_t i = 0; i < loop->n_points; i++) {
		set_step(&steps[i], &loop->points[i]);
		out->n_missed += !steps[i].n_visits;
	}
	out->is_complete = !out->n_missed &&
			   loop->n_further + 1 == (size_t)n_tokens;
	out->memory_bytes = loop->memory.planned_bytes +
			    loop->memory.weight_bytes +
			    loop->memory.mapped_bytes;
	out->cache_bytes = loop->state_bytes;
	out->plan_ns = loop->all_plans_ns;
	gather(v, loop);
	set_first(out, v, prompt);
	set_further(out, v, prompt, n_tokens);
	set_growth(out, v, prompt, n_tokens);
	set_rates(out, (double)loop->batch, n_tokens);
	return SL_OK;
}

void
sl__loop_count(struct sl_decoding *d, const struct sl__loop_work *work,
	       int64_t prompt, int64_t n_tokens)
{
	const struct sl__work_law *law = &work->law;
	int64_t last = prompt + n_tokens - 1;
	struct sl_decode_step *steps = d->steps;

	if (work->absent) {
		d->flops = sl__absent(work->absent);
		for (size_t i = 0; i < d->n_steps; i++)
			steps[i].flops = sl__absent(work->absent);
		return;
	}
	for (size_t i = 0; i < d->n_steps; i++)
		steps[i].flops = sl__present(
			d->has_cache && !d->is_by_token && steps[i].nth == 1
				? work->prompt
				: sl__work_pass(law, steps[i].context));
	d->flops = sl__present(
		!d->has_cache ? sl__work_passes(law, prompt, last)
		: d->is_by_token
			? sl__work_passes(law, 1, last)
			: work->prompt +
				  sl__work_passes(law, prompt + 1, last));
}
