/* SPDX-License-Identifier: Apache-2.0 */
/* distribution.h - everything said about one column of times. */
#ifndef SL_DISTRIBUTION_H
#define SL_DISTRIBUTION_H

#include "base/arena.h"
#include "base/rng.h"

struct sl__distribution_options {
	double alpha;            /* 0.05 */
	size_t samples_per_slot; /* >= 1: for slot medians in warm-up
				    detection, which uses at most 1024 slots
				    and makes them longer where needed */
	size_t n_warmup;         /* fixed number of warm-up samples ... */
	int warmup_is_fixed;     /* ... when this is set; detected otherwise */
	struct sl__rng *rng;
};

/*
 * Fills 'out' from x[0..n-1], times in the order they were taken, n >= 1.
 * first_ns is left alone (the caller knows it).  Warm-up samples are left out
 * of all figures but counted; the class is what detection says, whether or
 * not their number is fixed.  SL_E_USAGE when nothing but warm-up is left.
 *
 * Samples count as autocorrelated when lag 1 is beyond 2 / sqrt(n), or
 * Ljung-Box (1978) rejects at 1 % over ten lags, outliers drawn in to their
 * fences.  The intervals then are
 *   quantiles  block bootstrap, never narrower than by order statistics
 *   mean       block bootstrap
 * and for n > 5000, where resampling takes too long,
 *   quantiles  order statistics of n / t independent samples (BATCH)
 *   mean       Student's t of batch means (BATCH)
 * with t the long-run variance of "below the quantile" over its variance,
 * from batches of sqrt(n) samples.  For independent samples they are
 *   quantiles  order statistics
 *   mean       BCa for n from 30 to 2000, else Student's t: below, BCa is
 *              too narrow; above, the two agree and t costs nothing.
 * A percentile with a refused order-statistic interval stays refused.
 */
enum sl_status
sl__distribution_summarize(struct sl_latency *out, const double *x, size_t n,
			   const struct sl__distribution_options *how,
			   struct sl__arena *arena,
			   struct sl_error *err) SL_CHECKED;

/*
 * How many samples of x[0..n-1], in order, are worth one independent one: the
 * long-run variance over the variance, from batches of sqrt(n) samples; at
 * least 1, and 1 of a constant x.  'scratch' holds 2 sqrt(n) + 2.
 */
double sl__samples_per_independent(const double *x, size_t n, double *scratch);

/*
 * The relative difference between two medians of n samples each that a
 * two-sided test at 5 % finds with 80 % power: (1.96 + 0.84) * sqrt(2) * se
 * / median, se = (hi - lo) / (2 * 1.96) taken from the 95 % interval of the
 * median.  NaN when that was refused.
 */
double sl__minimum_detectable(const struct sl_estimate *median);

#endif
