/* SPDX-License-Identifier: Apache-2.0 */
/* two_sample.h - classical two-sample tests, for recorded samples only. */
#ifndef SL_TWO_SAMPLE_H
#define SL_TWO_SAMPLE_H

#include "base/arena.h"

/*
 * Every one of these assumes independent samples, which times taken in
 * sequence are not: A...A then B...B on a drifting machine is called
 * different one time in five.  Reports say so beside the figure.
 */
struct sl__two_sample {
	double statistic; /* t, or U of the first sample */
	double df;        /* NaN for Mann-Whitney */
	double p;         /* two-sided */
};

/*
 * Equal variances assumed.  All NaN when a sample has fewer than two values
 * or neither varies, here and in sl__welch_t().
 */
void sl__pooled_t(struct sl__two_sample *out, const double *a, size_t n_a,
		  const double *b, size_t n_b);

/* Like sl__pooled_t() for unequal variances; df after Satterthwaite. */
void sl__welch_t(struct sl__two_sample *out, const double *a, size_t n_a,
		 const double *b, size_t n_b);

/*
 * Exact distribution for n_a, n_b <= 50 without ties, otherwise the normal
 * approximation with tie correction and continuity correction.  SL_E_USAGE
 * for an empty sample.  Scratch comes from 'arena'.
 */
enum sl_status sl__mann_whitney(struct sl__two_sample *out, const double *a,
				size_t n_a, const double *b, size_t n_b,
				struct sl__arena *arena) SL_CHECKED;

#endif
