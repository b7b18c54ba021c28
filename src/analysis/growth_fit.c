/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth_fit.c - laws of growth, knees and sweet spots of measured points.
 *
 * Observations are single visits, not points: they were made in random order,
 * so that their scatter around a law is what is not known about it.
 */
#include "analysis/growth_fit.h"
#include "stats/curve_fit.h"
#include "stats/quantile.h"
#include "stats/special.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static const double ALPHA = 0.05;

enum { VISITS_MOST = 64 };

static double
middle_of(const struct sl_estimate *visits, size_t n)
{
	double values[VISITS_MOST];

	for (size_t i = 0; i < n; i++)
		values[i] = visits[i].value;
	sl__sort(values, n);
	return n % 2 ? values[n / 2] : sqrt(values[n / 2 - 1] * values[n / 2]);
}

/* From the least lower to the largest upper bound; NaN where one has none. */
static struct sl_estimate
span_of(const struct sl_estimate *visits, size_t n)
{
	struct sl_estimate e = visits[0];

	for (size_t i = 1; i < n; i++) {
		e.needs_n = e.needs_n > visits[i].needs_n ? e.needs_n
							  : visits[i].needs_n;
		e.lo = fmin(e.lo, visits[i].lo);
		e.hi = fmax(e.hi, visits[i].hi);
	}
	if (e.needs_n)
		e.lo = e.hi = (double)NAN;
	e.value = middle_of(visits, n);
	e.n = n;
	return e;
}

/*
 * What the visits' own intervals leave for their mean, as a log.  Visits that
 * have none are taken to be as sure as the others are; NaN where none has one.
 */
static double
own_reach(const struct sl_estimate *visits, size_t n)
{
	size_t n_bounded = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double reach = log(visits[i].hi / visits[i].lo) / 2;

		if (visits[i].needs_n || !isfinite(reach))
			continue;
		sum += reach;
		n_bounded++;
	}
	return n_bounded ? sum / (double)n_bounded / sqrt((double)n)
			 : (double)NAN;
}

struct sl_estimate
sl__visits_pool_estimates(const struct sl_estimate *visits, size_t n)
{
	struct sl_estimate e = sl__no_estimate();
	double mean = 0, squares = 0, reach, count;

	if (!n)
		return e;
	if (n > VISITS_MOST)
		n = VISITS_MOST;
	if (n < 3)
		return span_of(visits, n);
	count = (double)n;
	for (size_t i = 0; i < n; i++)
		mean += log(visits[i].value) / count;
	for (size_t i = 0; i < n; i++) {
		double d = log(visits[i].value) - mean;

		squares += d * d;
	}
	reach = sl__student_quantile(1 - ALPHA / 2, count - 1) *
		sqrt(squares / (count - 1) / count);
	/* fmax() iterations NaN over: then it is Student's alone. */
	reach = fmax(reach, own_reach(visits, n));
	e.value = middle_of(visits, n);
	e.lo = fmin(exp(mean - reach), e.value);
	e.hi = fmax(exp(mean + reach), e.value);
	e.n = n;
	e.method = SL_METHOD_STUDENT;
	return e;
}

static size_t
places_of(const double *x, size_t n)
{
	size_t n_places = n > 0;

	for (size_t i = 1; i < n; i++)
		n_places += x[i] > x[i - 1];
	return n_places;
}

static double
law_at(const struct sl_sweep_exponent *law, double x)
{
	return law->offset + law->scale * pow(x, law->exponent.value);
}

/* How far the middle of the observations at one place is off the law. */
static double
deviation_of(const struct sl_sweep_exponent *law, const double *x,
	     const double *y, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n;) {
		double sum = 0;
		size_t from = i;

		for (; i < n && !(x[i] > x[from]); i++)
			sum += log(y[i]);
		sum = exp(sum / (double)(i - from));
		most = fmax(most, fabs(sum / law_at(law, x[from]) - 1));
	}
	return most;
}

/*
 * Whether the law with a fixed part fits so much better that chance does not
 * explain it.  The residuals of logarithms are relative errors.
 */
static int
needs_offset(const struct sl__line_fit *power,
	     const struct sl__affine_power_fit *affine)
{
	double df = (double)affine->n - 3;
	double without = power->residual_std * power->residual_std * (df + 1);
	double with = affine->residual_std * affine->residual_std * df;
	double t = sl__student_quantile(1 - ALPHA / 2, df);

	return affine->offset > 0 && power->residual_std > 1e-9 &&
	       (without - with) * df > t * t * with;
}

/* The law from the first place on at which the fixed part is small. */
static void
find_tail(struct sl_sweep_exponent *out, const double *x, const double *y,
	  size_t n)
{
	struct sl__line_fit fit;
	size_t from = 0;

	if (!(out->offset > 0) || !(out->exponent.value > 0))
		return;
	while (from < n && out->offset > SL__FIXED_SHARE * law_at(out, x[from]))
		from++;
	if (!from || n - from < 3 || places_of(x + from, n - from) < 2 ||
	    sl__fit_power(&fit, x + from, y + from, n - from, ALPHA, NULL))
		return;
	out->tail_from = (int64_t)x[from];
	out->tail = fit.slope;
}

void
sl__growth_fit_power_law(struct sl_sweep_exponent *out, const double *x,
			 const double *y, size_t n, int may_be_fixed)
{
	struct sl__affine_power_fit affine;
	struct sl__line_fit power;

	out->exponent = out->tail = sl__no_estimate();
	out->offset = out->scale = out->deviation = (double)NAN;
	out->tail_from = 0;
	if (places_of(x, n) < 2) {
		out->absent = "measured at fewer than two sizes";
		return;
	}
	if (sl__fit_power(&power, x, y, n, ALPHA, NULL)) {
		out->absent = "some of it takes no time";
		return;
	}
	out->exponent = power.slope;
	out->offset = 0;
	out->scale = exp(power.intercept.value);
	if (may_be_fixed && places_of(x, n) >= 4 &&
	    !sl__fit_affine_power(&affine, x, y, n, ALPHA, NULL) &&
	    needs_offset(&power, &affine)) {
		out->exponent = affine.exponent;
		out->offset = affine.offset;
		out->scale = affine.scale;
	}
	out->deviation = deviation_of(out, x, y, n);
	find_tail(out, x, y, n);
}

struct sl_estimate
sl__growth_gain_per_doubling(const struct sl_estimate *a,
			     const struct sl_estimate *b, double times)
{
	double power = log(2) / log(times);
	struct sl_estimate e = sl__no_estimate();

	e.value = pow(b->value / a->value, power) - 1;
	e.lo = pow(b->lo / a->hi, power) - 1;
	e.hi = pow(b->hi / a->lo, power) - 1;
	e.n = a->n < b->n ? a->n : b->n;
	e.needs_n = a->needs_n > b->needs_n ? a->needs_n : b->needs_n;
	e.method = a->method;
	return e;
}

void
sl__growth_knee(struct sl_sweep_knee *out, const double *x,
		const struct sl_estimate *rates, size_t n)
{
	struct sl_estimate gain = sl__no_estimate();
	size_t knee = 0;

	memset(out, 0, sizeof(*out));
	out->gain = gain;
	if (n < 2) {
		out->absent = "measured at fewer than two sizes";
		return;
	}
	out->is_proved = 1;
	for (size_t i = 0; i + 1 < n; i++) {
		gain = sl__growth_gain_per_doubling(&rates[i], &rates[i + 1],
						    x[i + 1] / x[i]);
		if (gain.value > SL__KNEE_GAIN) {
			knee = i + 1;
			out->is_proved = gain.lo > SL__KNEE_GAIN;
			out->gain = gain;
		} else {
			out->is_proved &= gain.hi <= SL__KNEE_GAIN;
			if (i == knee)
				out->gain = gain;
		}
	}
	if (knee < n - 1)
		out->at = (int64_t)x[knee];
}

static int
is_within(struct sl_sweep_best *out, const struct sl_sweep_point *p,
	  double memory_bytes, double latency_s)
{
	int is_small =
		!(memory_bytes > 0) ||
		(p->memory_bytes && (double)p->memory_bytes <= memory_bytes);
	int is_quick = !(latency_s > 0) || p->latency_ns.hi <= latency_s * 1e9;

	out->n_over_memory += !is_small;
	out->n_over_latency += !is_quick;
	return is_small && is_quick;
}

void
sl__sweep_best_point(struct sl_sweep_best *out,
		     const struct sl_sweep_point *points, size_t n,
		     double memory_bytes, double latency_s)
{
	const struct sl_sweep_point *best = NULL;
	size_t n_measured = 0, n_visits = 0, n_disturbed = 0;
	/* Which points are within is asked twice and counted once. */
	struct sl_sweep_best uncounted = {0};

	memset(out, 0, sizeof(*out));
	out->point = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		n_measured += !points[i].absent;
		n_visits += points[i].absent ? 0 : points[i].n_visits;
		n_disturbed += points[i].absent ? 0 : points[i].n_disturbed;
		if (points[i].absent ||
		    !is_within(out, &points[i], memory_bytes, latency_s))
			continue;
		if (!best ||
		    points[i].rate_per_s.value > best->rate_per_s.value) {
			best = &points[i];
			out->point = i;
		}
	}
	if (!best) {
		out->absent = n_measured ? "no point is within the limits"
					 : "nothing was measured";
		return;
	}
	if (2 * n_disturbed > n_visits) {
		out->absent = "others disturbed most visits";
		out->point = SIZE_MAX;
		out->is_disturbed = 1;
		return;
	}
	out->at = out->as_good = best->value;
	for (size_t i = out->point; i-- > 0;) {
		if (!points[i].absent &&
		    points[i].rate_per_s.hi >= best->rate_per_s.lo &&
		    is_within(&uncounted, &points[i], memory_bytes, latency_s))
			out->as_good = points[i].value;
	}
}
