/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantile.c - quantiles with order-statistic intervals.
 *
 * How many of n independent samples lie below the q-quantile is Bin(n, q)
 * whatever their distribution, so two sorted samples bracket it with a
 * probability that can be computed.  Does nothing about samples that depend
 * on each other: there the bracket is too narrow.
 */
#include "stats/quantile.h"
#include "stats/special.h"
#include "stats/summary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Batch means: few enough that a stretch outlasts what makes neighbours alike,
 * and enough for an interval that is hardly wider than a normal one. */
enum { STRETCH_LEAST = 5, STRETCHES_MOST = 12 };

double
sl__quantile_sorted(const double *sorted, size_t n, double q)
{
	double position, below;
	size_t at;

	assert(n > 0 && q >= 0 && q <= 1);
	position = (double)(n - 1) * q;
	below = floor(position);
	at = (size_t)below;
	if (at + 1 >= n)
		return sorted[n - 1];
	return sorted[at] + (position - below) * (sorted[at + 1] - sorted[at]);
}

/*
 * P(Bin(n, p) < l) <= share, forgiving the rounding error of the left side,
 * without which (1/2)^5 <= 1/32 is false.
 */
static int
is_rare(size_t l, size_t n, double p, double share)
{
	return sl__binomial_cdf((double)l - 1, n, p) <= share * (1 + 1e-12);
}

/* The largest l <= n with P(Bin(n, p) < l) <= share, by bisection. */
static size_t
lower_rank(size_t n, double p, double share)
{
	size_t good = 0, bad = n + 1;

	while (bad - good > 1) {
		size_t l = good + (bad - good) / 2;

		if (is_rare(l, n, p, share))
			good = l;
		else
			bad = l;
	}
	return good;
}

int
sl__quantile_ranks(size_t n, double q, double alpha, size_t *l, size_t *h)
{
	assert(q > 0 && q < 1 && alpha > 0 && alpha < 1);
	/* P(Bin(n, q) >= h) = P(Bin(n, 1 - q) < n + 1 - h). */
	*l = lower_rank(n, q, alpha / 2);
	*h = n + 1 - lower_rank(n, 1 - q, alpha / 2);
	return *l >= 1 && *h <= n;
}

size_t
sl__quantile_needs_n(double q, double alpha)
{
	double rarer = q < 0.5 ? q : 1 - q;
	size_t n;

	assert(rarer > 0 && alpha > 0 && alpha < 1);
	/* All n on one side has probability (1 - rarer)^n. */
	n = (size_t)ceil(log(alpha / 2) / log1p(-rarer));
	/* Where that is a whole number, rounding may have missed it. */
	while (n > 1 && is_rare(1, n - 1, rarer, alpha / 2))
		n--;
	while (!is_rare(1, n, rarer, alpha / 2))
		n++;
	return n;
}

struct sl_estimate
sl__quantile_estimate(const double *sorted, size_t n, double q, double alpha)
{
	const double absent = (double)NAN;
	struct sl_estimate e = {absent, absent, absent, n, 0, SL_METHOD_ORDER};
	size_t l, h;

	if (n > 0)
		e.value = sl__quantile_sorted(sorted, n, q);
	if (sl__quantile_ranks(n, q, alpha, &l, &h)) {
		e.lo = sorted[l - 1];
		e.hi = sorted[h - 1];
	} else {
		e.needs_n = sl__quantile_needs_n(q, alpha);
	}
	return e;
}

struct sl_estimate
sl__median_estimate(double *x, size_t n)
{
	sl__sort(x, n);
	return sl__quantile_estimate(x, n, 0.5, 0.05);
}

/* Of the medians of equal stretches, the first of which are one longer where
 * they do not divide n. */
static double
stretches_half_width(const double *x, size_t n, double *scratch)
{
	double medians[STRETCHES_MOST], sum = 0, squares = 0, mean;
	size_t n_stretches = n / STRETCH_LEAST < STRETCHES_MOST
				     ? n / STRETCH_LEAST
				     : STRETCHES_MOST;
	double k = (double)n_stretches;

	for (size_t b = 0, first = 0; b < n_stretches; b++) {
		size_t m = n / n_stretches + (b < n % n_stretches);

		memcpy(scratch, x + first, m * sizeof(*x));
		sl__sort(scratch, m);
		medians[b] = sl__quantile_sorted(scratch, m, 0.5);
		sum += medians[b];
		first += m;
	}
	mean = sum / k;
	for (size_t b = 0; b < n_stretches; b++)
		squares += (medians[b] - mean) * (medians[b] - mean);
	return sl__student_quantile(0.975, k - 1) * sqrt(squares / (k - 1) / k);
}

struct sl_estimate
sl__series_median(const double *x, size_t n, double *scratch)
{
	double half_width = 0;
	struct sl_estimate e;

	if (n >= SL__SERIES_LEAST)
		half_width = stretches_half_width(x, n, scratch);
	memcpy(scratch, x, n * sizeof(*x));
	e = sl__median_estimate(scratch, n);
	if (n >= SL__SERIES_LEAST) {
		e.lo = e.value - half_width;
		e.hi = e.value + half_width;
	}
	return e;
}

struct sl_estimate
sl__no_estimate(void)
{
	return (struct sl_estimate){
		.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
}

struct sl_estimate
sl__rate_estimate(double amount, const struct sl_estimate *ns)
{
	struct sl_estimate e = *ns;

	e.value = amount / ns->value * 1e9;
	e.lo = amount / ns->hi * 1e9;
	e.hi = ns->lo <= 0 ? (double)INFINITY : amount / ns->lo * 1e9;
	return e;
}
