/* SPDX-License-Identifier: Apache-2.0 */
/* distribution.h - everything said about one column of times. */
#ifndef SL_DISTRIBUTION_H
#define SL_DISTRIBUTION_H

#include "arena.h"
#include "rng.h"

struct sl__distribution_options {
	double alpha;            /* 0.05 */
	size_t samples_per_slot; /* >= 1: for slot medians in warm-up detection */
	size_t n_warmup;         /* fixed number of warm-up samples ... */
	int warmup_is_fixed;     /* ... when this is set; detected otherwise */
	struct sl__rng *rng;
};

/*
 * Fills 'out' from x[0..n-1], times in the order they were taken, n >= 1.
 * first_ns is left alone (the caller knows it).  Warm-up samples are left out of all figures
 * but counted.  Where the steady samples are autocorrelated (lag-1 beyond
 * 2 / sqrt(n), or Ljung-Box at 1 % over ten lags), intervals come from the block
 * bootstrap and say so.  A percentile p with a refused order-statistic
 * interval stays refused.
 */
enum sl_status sl__distribution_of(struct sl_latency *out, const double *x,
				   size_t n,
				   const struct sl__distribution_options *how,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/*
 * The relative difference between two medians of n samples each that a
 * two-sided test at 5 % finds with 80 % power: (1.96 + 0.84) * sqrt(2) * se
 * / median, se taken from the interval of the median.
 */
double sl__minimum_detectable(const struct sl_estimate *median);

#endif
