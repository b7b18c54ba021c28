/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sign_test.c - the sign e-process: evidence that may be looked at any time.
 *
 * Everything is in logarithms, because E runs over a thousand powers of ten
 * within a few thousand rounds.  Nothing is carried from round to round: E
 * depends on the past through n and W alone.
 */
#define _DEFAULT_SOURCE /* lgamma_r: lgamma writes a global */
#include "stats/sign_test.h"
#include "stats/special.h"

#include <assert.h>
#include <math.h>

#include "base/banned.h"

static const double LN_2 = 0.69314718055994531;
static const double LN_PI = 1.1447298858494002;

static double
log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double
sl__sign_log_e(size_t n, size_t wins)
{
	double w = (double)wins, losses = (double)(n - wins);

	assert(wins <= n);
	return (double)n * LN_2 + log_gamma(w + 0.5) + log_gamma(losses + 0.5) -
	       log_gamma((double)n + 1) - LN_PI;
}

double
sl__sign_log_e_above(size_t n, size_t wins)
{
	double w = (double)wins, losses = (double)(n - wins);
	double mass = sl__beta_cdf(0.5, losses + 0.5, w + 0.5);

	/*
	 * The mass underflows only far below one half, where the mixture is
	 * an exponential decay away from p = 1/2 with rate 2 (losses - w):
	 * Laplace's method gives E = 2 / (pi (losses - w)), and is off by
	 * less than n / (losses - w)^2 < 1 / 1000 there.
	 */
	if (mass < 1e-300)
		return LN_2 - LN_PI - log(losses - w);
	return sl__sign_log_e(n, wins) + LN_2 + log(mass);
}

size_t
sl__sign_wins_needed(size_t n, double alpha)
{
	double bound = -log(alpha);
	size_t low = (n + 1) / 2, high = n + 1;

	/* E grows with the wins from one half upwards. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sl__sign_log_e(n, middle) >= bound)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

size_t
sl__sign_interval_rank(size_t n, double alpha)
{
	return n + 1 - sl__sign_wins_needed(n, alpha);
}

/* Sorts order[] so that the e-values fall; n is a number of parts. */
static void
sort_falling(size_t *order, const double *log_e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		for (; at > 0 && log_e[order[at - 1]] < log_e[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

size_t
sl__e_benjamini_hochberg(unsigned char *rejected, const double *log_e, size_t n,
			 double alpha, size_t *order)
{
	size_t n_rejected = 0;

	sort_falling(order, log_e, n);
	for (size_t k = 1; k <= n; k++) {
		double bound = log((double)n / ((double)k * alpha));

		if (log_e[order[k - 1]] >= bound)
			n_rejected = k;
	}
	for (size_t k = 0; k < n; k++)
		rejected[order[k]] = k < n_rejected;
	return n_rejected;
}

double
sl__e_values_log_mean(const double *log_e, size_t n)
{
	double largest = log_e[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		largest = fmax(largest, log_e[i]);
	if (!isfinite(largest))
		return largest;
	for (size_t i = 0; i < n; i++)
		sum += exp(log_e[i] - largest);
	return largest + log(sum / (double)n);
}
