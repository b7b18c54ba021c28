/* SPDX-License-Identifier: Apache-2.0 */
/* quantile.h - quantiles with order-statistic intervals. */
#ifndef SL_QUANTILE_H
#define SL_QUANTILE_H

#include "sleuth/basics.h"

/* Type 7 of Hyndman and Fan (1996): R's and NumPy's default. */
double sl__quantile_sorted(const double *sorted, size_t n, double q);

/*
 * The q-quantile of sorted[0..n-1] with its order-statistic (binomial)
 * interval of confidence 1 - alpha: the l-th and h-th smallest, l the largest
 * with P(Bin(n, q) < l) <= alpha / 2, h the smallest with P(Bin(n, q) >= h)
 * <= alpha / 2.  Exact for independent samples of any continuous
 * distribution (at least nominal with ties).  When no such l and h exist the
 * interval is refused: lo and hi NaN, needs_n set.
 */
struct sl_estimate sl__quantile_estimate(const double *sorted, size_t n,
					 double q, double alpha);

/* The median of x[0..n-1], which it sorts, with its interval of 95 %. */
struct sl_estimate sl__median_estimate(double *x, size_t n);

/* Six stretches, whose t is hardly wider than that of more, of five samples,
 * the fewest whose median leaves out two spikes. */
enum { SL__SERIES_LEAST = 6 * 5 };

/*
 * The median of x[0..n-1], which were taken one after the other, so that
 * neighbours may be alike and a machine may drift: with 30 or more the interval
 * of 95 % is from the medians of stretches, six to twelve of five samples or
 * more (batch means, Student's t with a degree of freedom less; it assumes that
 * a stretch is longer than what makes neighbours alike), with fewer that of
 * sl__median_estimate().  scratch is [n].
 */
struct sl_estimate sl__series_median(const double *x, size_t n,
				     double *scratch);

/* Of nothing: all of it NaN, n is 0. */
struct sl_estimate sl__no_estimate(void);

/* What is done in a second, of an amount that takes so many ns.  A time whose
 * interval reaches 0 leaves the rate without an upper bound. */
struct sl_estimate sl__rate_estimate(double amount,
				     const struct sl_estimate *ns);

/* Ranks l and h (1-based) as above; returns 0 when they do not exist. */
int sl__quantile_ranks(size_t n, double q, double alpha, size_t *l, size_t *h);

/* The smallest n for which sl__quantile_ranks() succeeds. */
size_t sl__quantile_needs_n(double q, double alpha);

#endif
