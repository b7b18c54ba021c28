/* SPDX-License-Identifier: Apache-2.0 */
/* growth_fit.h - laws of growth, knees and sweet spots of measured points. */
#ifndef SL_GROWTH_FIT_H
#define SL_GROWTH_FIT_H

#include "sleuth/sweeping.h"

/* A doubling that raises a rate by no more than this is past the knee. */
#define SL__KNEE_GAIN 0.10

/* From where a fixed part is below this share, growth is looked at alone. */
#define SL__FIXED_SHARE 0.10

/*
 * One figure from several visits: the median of their values, with Student's
 * interval over visits on logarithms, or what the visits' own intervals leave
 * for the mean when that is wider.  Visits without an interval are taken to be
 * as sure as those that have one; where none has, Student's stands alone.  One
 * or two visits: the span of their intervals.  n 0 gives n 0 and NaN.
 */
struct sl_estimate sl__visits_pool_estimates(const struct sl_estimate *visits,
					     size_t n);

/*
 * Fills exponent, offset, scale, deviation, tail and absent of 'out' from
 * observations (x[i], y[i]), x ascending, several of which may share an x.
 * The law is a power; where 'may_be_fixed', with a fixed part when there are
 * four places and the F test says that it is needed (5 %).
 */
void sl__growth_fit_power_law(struct sl_sweep_exponent *out, const double *x,
			      const double *y, size_t n, int may_be_fixed);

/* How much a rate grows from a to b as if their sizes were one doubling. */
struct sl_estimate sl__growth_gain_per_doubling(const struct sl_estimate *a,
						const struct sl_estimate *b,
						double times);

/* The knee of rates at sizes x, ascending. */
void sl__growth_knee(struct sl_sweep_knee *out, const double *x,
		     const struct sl_estimate *rates, size_t n);

/*
 * The best of the measured points under limits (0: none): memory_bytes,
 * where known, at most the one, the upper bound of the latency at most the
 * other.  None is named where others disturbed most visits.
 */
void sl__sweep_best_point(struct sl_sweep_best *out,
			  const struct sl_sweep_point *points, size_t n,
			  double memory_bytes, double latency_s);

#endif
