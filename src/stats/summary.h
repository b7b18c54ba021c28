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

/* Arithmetic mean of x[0..n-1]; NaN for n == 0. */
double sl__mean(const double *x, size_t n);

/* Variance around 'mean' with n - 1 in the denominator; NaN for n < 2. */
double sl__variance(const double *x, size_t n, double mean);

/*
 * Sorts upwards in place (O(n log n) in the worst case, no allocation).  No
 * function of order below or above has a place for NaN.
 */
void sl__sort(double *x, size_t n);

/*
 * The k-th smallest of x[0..n-1], k < n counting from 0, in O(n) on average:
 * reorders x so that it stands at x[k], nothing above it before it and
 * nothing below it after it.
 */
double sl__select_kth_smallest(double *x, size_t n, size_t k);

/* Median of sorted[0..n-1], n >= 1: mean of the middle two for even n. */
double sl__median_sorted(const double *sorted, size_t n);

/* Like sl__median_sorted(), but sorts x first. */
double sl__median_in_place(double *x, size_t n);

/* Like sl__median_in_place(), but faster, and leaves x in some order. */
double sl__median_select(double *x, size_t n);

/*
 * Lag-k autocorrelation of x in its given order, around the mean of all of
 * it; 0 for lag >= n and for a constant x.
 */
double sl__autocorrelation(const double *x, size_t n, size_t lag);

#endif
