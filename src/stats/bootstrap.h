/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.h - intervals by resampling, and Student's beside them. */
#ifndef SL_BOOTSTRAP_H
#define SL_BOOTSTRAP_H

#include "rng.h"
#include "sleuth.h"

/* Any statistic of x[0..n-1]; may reorder x, which is a resample. */
typedef double sl__statistic(double *x, size_t n, void *ctx);

/* The mean and the median as statistics; ctx is not used. */
double sl__statistic_mean(double *x, size_t n, void *ctx);
double sl__statistic_median(double *x, size_t n, void *ctx);

/* What a bootstrap needs besides the data. */
struct sl__bootstrap {
	double alpha;       /* 1 - confidence */
	size_t n_resamples; /* e.g. 2000 */
	struct sl__rng *rng;
	double *resample;   /* scratch, n doubles */
	double *replicates; /* scratch, n_resamples doubles */
};

/* Student's t interval of the mean; refused (needs_n 2) for n < 2. */
struct sl_estimate sl__student_mean(const double *x, size_t n, double alpha);

/*
 * Bias-corrected and accelerated bootstrap (Efron 1987) of 'statistic':
 * z0 from the share of replicates below the estimate, acceleration by
 * jackknife.  Assumes independent samples.  Refused for n < 3; a degenerate
 * sample (all equal) gives a zero-width interval.
 */
struct sl_estimate sl__bca(const double *x, size_t n, sl__statistic *statistic,
			   void *ctx, const struct sl__bootstrap *how);

/*
 * Stationary block bootstrap (Politis and Romano 1994) with geometric block
 * lengths of mean 'block' (0: chosen by sl__block_length()), percentile or
 * better interval, for samples in the order they were taken.
 */
struct sl_estimate sl__block_bootstrap(const double *x, size_t n,
				       sl__statistic *statistic, void *ctx,
				       double block,
				       const struct sl__bootstrap *how);

/*
 * The mean block length that minimises the mean squared error of the
 * variance of the mean (Politis and White 2004, corrected by Patton,
 * Politis and White 2009); 1 for white noise, at most n / 3.
 */
double sl__block_length(const double *x, size_t n);

#endif
