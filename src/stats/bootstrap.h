/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.h - intervals by resampling, and Student's beside them. */
#ifndef SL_BOOTSTRAP_H
#define SL_BOOTSTRAP_H

#include "base/rng.h"
#include "sleuth/basics.h"

/* Any statistic of x[0..n-1]; may reorder x, which is a resample. */
typedef double sl__statistic(double *x, size_t n, void *ctx);

/* The mean as a statistic; ctx is not used. */
double sl__statistic_mean(double *x, size_t n, void *ctx);

/* What a bootstrap needs besides the data. */
struct sl__bootstrap_options {
	double alpha;       /* 1 - confidence */
	size_t n_resamples; /* above 0; limits have an error of 2.7 / sqrt(it)
			       standard errors, 6 % at 2000 */
	struct sl__rng *rng;
	double *resample;   /* scratch, n doubles */
	double *replicates; /* scratch, n_resamples doubles */
};

/*
 * All intervals below are refused for small n: lo and hi are NaN and needs_n
 * is set.  The value is the statistic of x, NaN for n == 0.  A sample whose
 * values are all equal gives an interval of no width.
 */

/* Student's t interval of the mean; refused for n < 2. */
struct sl_estimate sl__student_mean(const double *x, size_t n, double alpha);

/*
 * Bias-corrected and accelerated bootstrap (Efron 1987) of 'statistic':
 * z0 from the share of replicates below the estimate (ties count half),
 * acceleration by jackknife, of groups from n = 1000 on.  Assumes independent
 * samples.  Evaluates the statistic n_resamples + min(n, 1000) times.
 * Refused for n < 3.
 */
struct sl_estimate sl__bca(const double *x, size_t n, sl__statistic *statistic,
			   void *ctx, const struct sl__bootstrap_options *how);

/*
 * Stationary block bootstrap (Politis and Romano 1994) with geometric block
 * lengths of mean 'block' (0: chosen by sl__block_length(); kept from 1 to
 * n / 3), for samples in the order they were taken.  The interval is made of
 * percentiles, moved outwards for the number of blocks.  Nominal 95 % covers
 * 93 to 96 % for mean and median of a normal AR(1) series with rho <= .5 and
 * n >= 500 (92 % for the mean of a lognormal one), but only 80 to 87 % at
 * rho = .5 and n = 10.  Refused for n < 10.
 */
struct sl_estimate sl__block_bootstrap(const double *x, size_t n,
				       sl__statistic *statistic, void *ctx,
				       double block,
				       const struct sl__bootstrap_options *how);

/*
 * The mean block length that minimises the mean squared error of the
 * variance of the mean (Politis and White 2004, corrected by Patton,
 * Politis and White 2009); near 1 for white noise, from 1 to
 * min(n / 3, 3 sqrt n).  Takes n times the range of correlation steps, at
 * most 2 n^1.5.
 */
double sl__block_length(const double *x, size_t n);

#endif
