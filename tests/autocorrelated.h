/* SPDX-License-Identifier: Apache-2.0 */
/* autocorrelated.h - series of which each value depends on the one before, and
 * a statistic of them that is no mean. */
#ifndef SL_TEST_AUTOCORRELATED_H
#define SL_TEST_AUTOCORRELATED_H

#include "base/rng.h"
#include "stats/summary.h"

#include <math.h>
#include <stddef.h>

/* A stationary AR(1) series with that mean and variance 1. */
static inline void
fill_autocorrelated(double *x, size_t n, double mean, double rho,
		    struct sl__rng *rng)
{
	double y = sl__rng_normal(rng);

	for (size_t i = 0; i < n; i++) {
		x[i] = mean + y;
		y = rho * y + sqrt(1 - rho * rho) * sl__rng_normal(rng);
	}
}

static inline double
statistic_median(double *x, size_t n, void *ctx)
{
	(void)ctx;
	return sl__median_select(x, n);
}

#endif
