/* SPDX-License-Identifier: Apache-2.0 */
/* changepoint.h - where a series changes its level. */
#ifndef SL_CHANGEPOINT_H
#define SL_CHANGEPOINT_H

#include "base/arena.h"

struct sl__pelt_options {
	double penalty;     /* per change; <= 0: 15 ln n */
	size_t min_segment; /* points in the shortest segment; 0: 1 */
};

/* starts[0] = 0; segment k is starts[k] up to starts[k + 1], the last to n. */
struct sl__segments {
	size_t *starts; /* from the arena */
	size_t n;
};

/*
 * The optimal partition of x[0..n-1], n >= 1, into levels: the exact minimum
 * of the sum of squared deviations from the mean of each segment, in units of
 * the squared noise scale, plus the penalty per change.  It is the problem of
 * PELT (Killick, Fearnhead and Eckley 2012); candidates are pruned by their
 * range of levels (FPOP: Maidstone, Hocking, Rigaill and Fearnhead 2017),
 * because PELT's own rule prunes nothing in a series without changes.  Values
 * are finite; one further than 1e6 noise scales from the median counts as
 * that far.  'how' may be NULL.  Time about n log n, storage O(n) from the
 * arena.
 */
enum sl_status sl__pelt(struct sl__segments *out, const double *x, size_t n,
			const struct sl__pelt_options *how,
			struct sl__arena *arena,
			struct sl_error *err) SL_CHECKED;

/*
 * The standard deviation of the noise around whatever level x has:
 * 1.4826 * MAD of the first differences / sqrt 2, and where that is 0 (half
 * of the steps equal) 1.2533 * mean |difference| / sqrt 2; both estimate the
 * same for normal noise.  0 only for a constant series.  'scratch' holds n
 * doubles.
 */
double sl__noise_scale(const double *x, size_t n, double *scratch);

#endif
