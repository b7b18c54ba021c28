/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve_fit.c - laws fitted to points.
 *
 * A power law as a line of logarithms, by the textbook formulas on centred
 * sums, and a power law above a fixed cost as a search over its
 * exponent: for a given exponent the rest is linear, so that one dimension
 * is left and no starting value has to be guessed.
 */
#include "stats/curve_fit.h"
#include "base/status.h"
#include "stats/special.h"

#include <math.h>

#include "base/banned.h"

/* Pairs, read through the logarithm. */
struct points {
	const double *x, *y;
	size_t n;
	double mean_x, mean_y; /* of what is read */
};

static int
all_positive(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0 && isfinite(x[i])))
			return 0;
	}
	return 1;
}

static void
find_means(struct points *p)
{
	double sum_x = 0, sum_y = 0;

	for (size_t i = 0; i < p->n; i++) {
		sum_x += log(p->x[i]);
		sum_y += log(p->y[i]);
	}
	p->mean_x = sum_x / (double)p->n;
	p->mean_y = sum_y / (double)p->n;
}

/* 'value' with the interval that its standard error gives. */
static struct sl_estimate
student_estimate(double value, double error, size_t n, size_t n_parameters,
		 double alpha)
{
	struct sl_estimate e = {.value = value,
				.lo = (double)NAN,
				.hi = (double)NAN,
				.n = n,
				.method = SL_METHOD_STUDENT};
	double reach;

	if (n <= n_parameters) {
		e.needs_n = n_parameters + 1;
		return e;
	}
	reach = error *
		sl__student_quantile(1 - alpha / 2, (double)(n - n_parameters));
	e.lo = value - reach;
	e.hi = value + reach;
	return e;
}

/* Of the line through the means with this slope. */
static double
squared_residuals(const struct points *p, double slope)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		double dx = log(p->x[i]) - p->mean_x;
		double dy = log(p->y[i]) - p->mean_y;

		sum += (dy - slope * dx) * (dy - slope * dx);
	}
	return sum;
}

static enum sl_status
fit_points(struct sl__line_fit *out, struct points *p, double alpha,
	   struct sl_error *err)
{
	double sxx = 0, sxy = 0, syy = 0, rss, slope, n = (double)p->n;

	if (p->n < 2)
		return sl__fail(err, SL_E_USAGE, "a line needs 2 points");
	find_means(p);
	for (size_t i = 0; i < p->n; i++) {
		double dx = log(p->x[i]) - p->mean_x;
		double dy = log(p->y[i]) - p->mean_y;

		sxx += dx * dx;
		sxy += dx * dy;
		syy += dy * dy;
	}
	if (!(sxx > 0))
		return sl__fail(err, SL_E_USAGE,
				"a line needs points at 2 different places");
	slope = sxy / sxx;
	rss = squared_residuals(p, slope);
	out->n = p->n;
	out->r_squared = out->residual_std = (double)NAN;
	if (syy > 0)
		out->r_squared = 1 - rss / syy;
	if (p->n > 2)
		out->residual_std = sqrt(rss / (n - 2));
	out->slope = student_estimate(slope, out->residual_std / sqrt(sxx),
				      p->n, 2, alpha);
	out->intercept = student_estimate(
		p->mean_y - slope * p->mean_x,
		out->residual_std * sqrt(1 / n + p->mean_x * p->mean_x / sxx),
		p->n, 2, alpha);
	return SL_OK;
}

enum sl_status
sl__fit_power(struct sl__line_fit *out, const double *x, const double *y,
	      size_t n, double alpha, struct sl_error *err)
{
	struct points points = {.x = x, .y = y, .n = n};

	if (!all_positive(x, n) || !all_positive(y, n))
		return sl__fail(err, SL_E_USAGE,
				"a power law needs values above zero");
	return fit_points(out, &points, alpha, err);
}

/* The exponents tried first; a local search ends between two of them. */
static const double FIRST_EXPONENT = -6, EXPONENT_STEP = 0.05;
enum { N_EXPONENTS = 241 };

/* With x in units of its geometric mean, so that no power overflows early. */
struct law {
	double offset, scale;
	double rss; /* of relative errors */
};

static double
power_at(const struct points *p, size_t i, double exponent)
{
	return exp(exponent * (log(p->x[i]) - p->mean_x));
}

static double
relative_residuals(const struct points *p, double exponent,
		   const struct law *law)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		double fit =
			law->offset + law->scale * power_at(p, i, exponent);
		double error = 1 - fit / p->y[i];

		sum += error * error;
	}
	return sum;
}

/*
 * The best law with this exponent.  Divided by y it reads
 * 1 = offset / y + scale * power / y + relative error: two columns, whose
 * coefficients must not be negative.  All sums are positive, so that at most
 * one comes out negative, and the best law then has it at zero.
 */
static struct law
solve(const struct points *p, double exponent)
{
	double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0, determinant;
	struct law law = {0, 0, 0};

	for (size_t i = 0; i < p->n; i++) {
		double u = 1 / p->y[i], v = power_at(p, i, exponent) * u;

		uu += u * u;
		uv += u * v;
		vv += v * v;
		u1 += u;
		v1 += v;
	}
	determinant = uu * vv - uv * uv;
	/* Near exponent 0 the two columns are one: any split is as good. */
	if (determinant > 1e-12 * uu * vv) {
		law.offset = (u1 * vv - v1 * uv) / determinant;
		law.scale = (v1 * uu - u1 * uv) / determinant;
	}
	if (law.scale <= 0 || law.offset <= 0) {
		int flat = law.scale < 0;

		law.offset = flat ? u1 / uu : 0;
		law.scale = flat ? 0 : v1 / vv;
	}
	law.rss = relative_residuals(p, exponent, &law);
	return law;
}

static double
exponent_at(int i)
{
	return FIRST_EXPONENT + EXPONENT_STEP * i;
}

/* Golden-section search around the best exponent of the grid. */
static double
best_exponent(const struct points *p)
{
	const double golden = 0.6180339887498949; /* (sqrt 5 - 1) / 2 */
	double lo, hi, best_rss = (double)INFINITY, best = 0;

	for (int i = 0; i < N_EXPONENTS; i++) {
		double rss = solve(p, exponent_at(i)).rss;

		if (rss < best_rss) {
			best_rss = rss;
			best = exponent_at(i);
		}
	}
	lo = best - EXPONENT_STEP;
	hi = best + EXPONENT_STEP;
	/* 40 steps leave 4e-10 of the bracket: beyond that rss is rounding. */
	for (int i = 0; i < 40; i++) {
		double left = hi - golden * (hi - lo);
		double right = lo + golden * (hi - lo);

		if (solve(p, left).rss <= solve(p, right).rss)
			hi = right;
		else
			lo = left;
	}
	return lo + (hi - lo) / 2;
}

/*
 * The outermost exponent below ('side' -1) or above (+1) 'best' with
 * residuals within 'limit': found from the end of the grid inwards, so that
 * a second dip of the profile is not left out.
 */
static double
profile_bound(const struct points *p, double best, int side, double limit)
{
	int last = side < 0 ? 0 : N_EXPONENTS - 1, i = last;
	double outside, inside = best;

	while ((best - exponent_at(i)) * side < 0 &&
	       solve(p, exponent_at(i)).rss > limit)
		i -= side;
	if (i == last)
		return side < 0 ? -(double)INFINITY : (double)INFINITY;
	outside = exponent_at(i + side);
	if ((best - exponent_at(i)) * side < 0)
		inside = exponent_at(i);
	for (int step = 0; step < 50; step++) { /* to the last bit */
		double middle = outside + (inside - outside) / 2;

		if (solve(p, middle).rss > limit)
			outside = middle;
		else
			inside = middle;
	}
	return inside;
}

static int
has_three_places(const double *x, size_t n)
{
	double lo = x[0], hi = x[0];

	for (size_t i = 1; i < n; i++) {
		lo = fmin(lo, x[i]);
		hi = fmax(hi, x[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (x[i] > lo && x[i] < hi)
			return 1;
	}
	return 0;
}

enum sl_status
sl__fit_affine_power(struct sl__affine_power_fit *out, const double *x,
		     const double *y, size_t n, double alpha,
		     struct sl_error *err)
{
	struct points p = {.x = x, .y = y, .n = n};
	double k, t, limit, df = (double)n - 3;
	struct law law;

	if (n < 4)
		return sl__fail(err, SL_E_USAGE,
				"a power law with a fixed cost needs 4 points");
	if (!all_positive(x, n) || !all_positive(y, n))
		return sl__fail(err, SL_E_USAGE,
				"a power law needs values above zero");
	if (!has_three_places(x, n))
		return sl__fail(err, SL_E_USAGE,
				"a power law with a fixed cost needs points "
				"at 3 different places");
	find_means(&p);
	k = best_exponent(&p);
	law = solve(&p, k);
	t = sl__student_quantile(1 - alpha / 2, df);
	limit = law.rss * (1 + t * t / df);
	out->n = n;
	out->offset = law.offset;
	out->scale = law.scale * exp(-k * p.mean_x);
	out->residual_std = sqrt(law.rss / df);
	out->exponent =
		(struct sl_estimate){.value = k,
				     .lo = profile_bound(&p, k, -1, limit),
				     .hi = profile_bound(&p, k, 1, limit),
				     .n = n,
				     .method = SL_METHOD_STUDENT};
	return SL_OK;
}
