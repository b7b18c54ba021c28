/* SPDX-License-Identifier: Apache-2.0 */
/* level_shift.h - lasting changes of level in a noisy history. */
#ifndef SL_LEVEL_SHIFT_H
#define SL_LEVEL_SHIFT_H

#include "base/arena.h"

enum { SL__LEVEL_SHIFT_LEAST = 4 }; /* points on each side of a change */

/* The level changes between at - 1 and at. */
struct sl__level_shift {
	size_t at;
	double before, after; /* medians up to the neighbouring changes */
	double p;             /* of its test */
};

struct sl__level_shifts {
	struct sl__level_shift *list; /* by place; from the arena */
	size_t n;
};

/*
 * Finds the changes of level of x[0..n-1], finite values in the order they
 * were taken.  A series of up to some hundred points without changes, whose
 * noise is an AR(1) process with rho up to 0.5 and a few spikes, shows one with
 * a probability of at most 5 %.  Fewer than 8 points show none.  The same
 * values give the same answer.
 *
 * Binary segmentation: the split with the largest weighted difference of means
 * is a change if permutations say so.  Values are winsorised at the median of
 * five neighbours +- 3 noise scales, so that a spike is no change; what is
 * permuted is the series less rho times the value before, with rho from the
 * residuals around the levels of the optimal partition (changepoint.h), because exchanging values that are
 * correlated would destroy what makes a long excursion likely.
 */
enum sl_status sl__level_shifts_find(struct sl__level_shifts *out,
				     const double *x, size_t n,
				     struct sl__arena *arena,
				     struct sl_error *err) SL_CHECKED;

#endif
