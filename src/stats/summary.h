/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - moments and order of a column of numbers. */
#ifndef SL_SUMMARY_H
#define SL_SUMMARY_H

#include <stddef.h>

struct sl__summary {
	size_t n;
	double mean;
	double std; /* n - 1 in the denominator; NaN for n < 2 */
	double min, max;
	double median;
	double mad;      /* median |x - median|, unscaled */
	double skewness; /* adjusted Fisher-Pearson G1; NaN for n < 3 or std 0 */
};

/*
 * Summarises x[0..n-1], n >= 1.  'scratch' holds n doubles and is
 * overwritten: afterwards scratch[] is x sorted upwards.
 */
void sl__summary_of(struct sl__summary *out, const double *x, size_t n,
		    double *scratch);

/* Sorts upwards in place (O(n log n) in the worst case, no allocation). */
void sl__sort(double *x, size_t n);

/* Median of sorted[0..n-1], n >= 1: mean of the middle two for even n. */
double sl__median_sorted(const double *sorted, size_t n);

/* Like sl__median_sorted(), but sorts x first. */
double sl__median_in_place(double *x, size_t n);

/* Lag-k autocorrelation of x in its given order; 0 when it cannot be had. */
double sl__autocorrelation(const double *x, size_t n, size_t lag);

#endif
