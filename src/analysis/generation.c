/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation.c - what the steps of a decoding loop come to.
 *
 * Where every step was measured, times of the loop are their sums.  Where only
 * some were, a line in the context goes through all visits, and a sum over
 * steps is their number times the line at their mean context, with the
 * interval that the line has there.
 */
#include "analysis/generation.h"
#include "analysis/growth_fit.h"
#include "analysis/roofline_place.h"
#include "base/reading.h"
#include "base/status.h"
#include "result/step_evidence.h"
#include "stats/quantile.h"
#include "stats/special.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/banned.h"

static const struct sl_estimate not_known = {
	.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};

/* Arithmetic that a decoder without cache does again. */

/* Counts are whole numbers below 2^53, and so are their differences: nothing
 * is rounded but by the last two divisions. */
int
sl__work_law_fit(struct sl__work_law *out, const double flops[4], int64_t first)
{
	double a = flops[1] - flops[0], b = flops[2] - flops[1],
	       c = flops[3] - flops[2];
	double n = (double)first;

	if (b - a != c - b)
		return 0;
	out->quadratic = (b - a) / 2;
	out->linear = a - out->quadratic * (2 * n + 1);
	out->constant = flops[0] - n * (out->linear + out->quadratic * n);
	return 1;
}

double
sl__work_pass(const struct sl__work_law *law, int64_t n)
{
	double x = (double)n;

	return law->constant + x * (law->linear + law->quadratic * x);
}

/* Sums of n^0, n^1 and n^2 from 'first' to 'last'. */
static void
power_sums(double sums[3], int64_t first, int64_t last)
{
	double below = (double)first - 1, top = (double)last;

	sums[0] = top - below;
	sums[1] = top * (top + 1) / 2 - below * (below + 1) / 2;
	sums[2] = top * (top + 1) * (2 * top + 1) / 6 -
		  below * (below + 1) * (2 * below + 1) / 6;
}

double
sl__work_passes(const struct sl__work_law *law, int64_t first, int64_t last)
{
	double sums[3];

	if (last < first)
		return 0;
	power_sums(sums, first, last);
	return law->constant * sums[0] + law->linear * sums[1] +
	       law->quadratic * sums[2];
}

double
sl__flops_of_new_tokens(const struct sl__work_law *law, int64_t first,
			int64_t last)
{
	double sums[3];

	if (last < first)
		return 0;
	power_sums(sums, first, last);
	return (law->constant + law->linear) * sums[0] +
	       law->quadratic * sums[1];
}

/*
 * What a cache of keys and values does for a decoder, or
 * would do.
 *
 * A gain is bounded, never promised.  Arithmetic alone allows what the FLOPs
 * say.  But a step of one token still reads every weight and all keys and
 * values once, which takes this machine at least so long; and what the loop
 * takes without a cache was measured.
 */

/* Iterations of first to last tokens with a cache, one new token each. */
static double
newest_flops(const struct sl__kv_cache_effect_sources *s, int64_t first,
	     int64_t last)
{
	if (s->work_with && !s->work_with->absent)
		return sl__work_passes(&s->work_with->law, first, last);
	return sl__flops_of_new_tokens(&s->work_without->law, first, last);
}

static void
count(struct sl_cache_effect *out, const struct sl__kv_cache_effect_sources *s)
{
	const struct sl__work_law *law = &s->work_without->law;
	int64_t last = s->prompt + s->n_tokens - 1;
	double prompt = sl__work_pass(law, s->prompt);
	double further = sl__work_passes(law, s->prompt + 1, last);
	double newest = newest_flops(s, s->prompt + 1, last);

	out->is_counted = s->work_with && !s->work_with->absent;
	out->flops_without = prompt + further;
	out->flops_with = prompt + newest;
	if (out->is_counted && s->with && !s->with->flops.absent)
		out->flops_with = s->with->flops.value;
	out->repeated_share = (further - newest) / out->flops_without;
	if (s->n_tokens > 1)
		out->most_arithmetic = further / newest;
}

/* The step in the middle of the loop stands for all further ones: bytes and
 * FLOPs of a step with cache are linear in the context. */
static void
bound(struct sl_cache_effect *out, const struct sl__kv_cache_effect_sources *s)
{
	int64_t last = s->prompt + s->n_tokens - 1;
	double n = (double)(s->n_tokens - 1);
	double context = (double)s->prompt + (double)s->n_tokens / 2;
	double peak = sl__roofline_ceiling_upper(
		sl__ceiling_peak(s->ceilings, s->dtype));
	double flops = newest_flops(s, s->prompt + 1, last) / n;
	double least_s;

	out->step_bytes = s->once_bytes.value +
			  context * s->bytes_per_token.value * (double)s->batch;
	out->bytes_per_s =
		sl__roofline_bandwidth_at_size(s->ceilings, out->step_bytes);
	least_s = fmax(flops / peak, out->step_bytes / out->bytes_per_s);
	out->most_roofline = s->without->further_ns.value / 1e9 / least_s;
}

static const char *
no_roofline(const struct sl__kv_cache_effect_sources *s)
{
	if (s->n_tokens < 2)
		return "no token after the first was asked for";
	if (!s->without->further_ns.n)
		return "the time of a decode step is not known";
	if (s->once_bytes.absent)
		return s->once_bytes.absent;
	if (s->bytes_per_token.absent)
		return s->bytes_per_token.absent;
	if (!s->ceilings->n_levels || !sl__ceiling_peak(s->ceilings, s->dtype))
		return s->ceilings->absent ? s->ceilings->absent
					   : "no ceilings were measured";
	return NULL;
}

/* Without / with; bounds of both at their worst. */
static struct sl_estimate
ratio_of(const struct sl_estimate *without, const struct sl_estimate *with)
{
	struct sl_estimate e = not_known;

	if (!without->n || !with->n)
		return e;
	e.n = without->n < with->n ? without->n : with->n;
	e.needs_n = without->needs_n > with->needs_n ? without->needs_n
						     : with->needs_n;
	e.method = with->method;
	e.value = without->value / with->value;
	if (e.needs_n)
		return e;
	e.lo = without->lo / with->hi;
	e.hi = without->hi / fmax(with->lo, 0);
	return e;
}

static void
measure(struct sl_cache_effect *out,
	const struct sl__kv_cache_effect_sources *s)
{
	out->measured_absent = "the model was not run with a cache";
	if (!s->with)
		return;
	out->measured = ratio_of(&s->without->further_ns, &s->with->further_ns);
	out->measured_total =
		ratio_of(&s->without->total_ns, &s->with->total_ns);
	out->measured_absent =
		out->measured.n   ? NULL
		: s->n_tokens < 2 ? "no token after the first was asked for"
				  : "the time of a decode step is not known";
}

void
sl__kv_cache_effect_of(struct sl_cache_effect *out,
		       const struct sl__kv_cache_effect_sources *s)
{
	const double none = (double)NAN;

	*out = (struct sl_cache_effect){
		.repeated_share = none,
		.flops_without = none,
		.flops_with = none,
		.most_arithmetic = none,
		.most_roofline = none,
		.most = none,
		.step_bytes = none,
		.bytes_per_s = none,
		.measured = not_known,
		.measured_total = not_known,
		.measured_absent = "nothing was run without a cache",
		.roofline_absent = "nothing was run without a cache",
		.bytes_per_token = s->bytes_per_token,
	};
	if (!s->without) {
		out->absent = "nothing was run without a cache";
		return;
	}
	measure(out, s);
	out->absent = s->work_without->absent;
	out->roofline_absent = out->absent ? out->absent : no_roofline(s);
	if (out->absent)
		return;
	count(out, s);
	if (!out->roofline_absent)
		bound(out, s);
	out->most = fmin(out->most_arithmetic, out->most_roofline);
}

enum {
	STEPS_MOST = SL__LOOP_POINTS_MOST + SL__LOOP_PROMPT_MOST,
	VISITS_MOST = STEPS_MOST * SL__LOOP_ROUNDS_MOST
};

/* Visits of steps of one kind. */
struct visits {
	double x[VISITS_MOST], ns[VISITS_MOST];
	size_t n;
	size_t n_contexts;
};

/* With a cache, the step over a whole prompt is of another kind. */
static int
is_of_loop(const struct sl__decode_timings *loop,
	   const struct sl__loop_point *p)
{
	return !loop->has_cache || p->n_new == 1;
}

static void
gather(struct visits *out, const struct sl__decode_timings *loop)
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
 * there, and where the line says that a step takes no time.
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

/* Iterations that yield tokens from 'first' to 'last', all measured. */
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
		d->growth_absent = "no line over the context fits the steps";
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
	d->tokens_per_s = sl__rate_estimate(batch * n, &d->total_ns);
	d->steady_per_s = sl__rate_estimate(batch, &d->further_ns);
}

static void
set_step(struct sl_decode_step *out, const struct sl__loop_point *p)
{
	out->nth = p->nth;
	out->context = p->n_past + p->n_new;
	out->n_new = p->n_new;
	out->n_visits = p->n_visits;
	out->n_iterations = p->n_iterations;
	for (size_t k = 0; k < p->n_visits; k++)
		out->n_disturbed += p->disturbance[k] > SL__LOOP_DISTURBED;
	out->time_ns = sl__visits_pool_estimates(p->visits, p->n_visits);
	out->plan_ns = p->n_visits ? p->plan_ns : (double)NAN;
	out->flops = sl__absent("not counted");
}

enum sl_status
sl__decoding_summarize(struct sl_decoding *out,
		       const struct sl__decode_timings *loop, int64_t prompt,
		       int64_t n_tokens, struct sl__arena *arena,
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
sl__decoding_count_flops(struct sl_decoding *d,
			 const struct sl__decode_flops_growth *work,
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
