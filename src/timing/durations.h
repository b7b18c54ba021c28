/* SPDX-License-Identifier: Apache-2.0 */
/* durations.h - statistics of any number of durations in fixed memory. */
#ifndef SL_DURATIONS_H
#define SL_DURATIONS_H

#include "sleuth/basics.h"

enum {
	/* 32 buckets an octave: none is wider than 1/32 of its lower edge. */
	SL__DURATIONS_SUB_BITS = 5,
	/* Up to 2^47 ticks, 13 hours at 3 GHz; longer ones share the last. */
	SL__DURATIONS_N_BUCKETS = (47 - SL__DURATIONS_SUB_BITS + 1)
				  << SL__DURATIONS_SUB_BITS
};

/*
 * Invariants: all zeros is the empty set; the counts add up to n.  Durations
 * are whole ticks of whatever clock the owner uses.
 */
struct sl__durations {
	uint64_t n;
	uint64_t min, max;
	double mean;
	double squares; /* sum of squared distances from the mean */
	uint64_t counts[SL__DURATIONS_N_BUCKETS];
};

void sl__durations_add(struct sl__durations *d, uint64_t duration);

/* Adds everything in 'from' to 'into'. */
void sl__durations_merge(struct sl__durations *into,
			 const struct sl__durations *from);

/* NaN for n = 0; the deviation, with n - 1 below, is NaN for n < 2. */
double sl__durations_mean(const struct sl__durations *d);
double sl__durations_std(const struct sl__durations *d);

/*
 * The q-quantile with its order-statistic interval of confidence 1 - alpha,
 * each end moved outwards to the edge of its bucket; refused (needs_n) like
 * sl__quantile_estimate().  The value lies within its bucket.
 */
struct sl_estimate sl__durations_quantile(const struct sl__durations *d,
					  double q, double alpha);

/* Where a duration is counted, and what a bucket covers: [low, high]. */
size_t sl__durations_bucket(uint64_t duration);
uint64_t sl__durations_bucket_low(size_t bucket);
uint64_t sl__durations_bucket_high(size_t bucket);

#endif
