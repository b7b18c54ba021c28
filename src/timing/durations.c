/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durations.c - statistics of any number of durations in fixed memory.
 *
 * Moments follow Welford (1962), which does not cancel when a cold first
 * call is a million times longer than the rest.  Quantiles come from a
 * log-linear histogram: each power of two is cut into 32 equal buckets, so
 * that finding a bucket is a shift and its relative width is known.  An
 * interval includes the width of its buckets.
 */
#include "timing/durations.h"
#include "stats/quantile.h"

#include <math.h>

#include "base/banned.h"

enum {
	SUB_BITS = SL__DURATIONS_SUB_BITS,
	N_SUB = 1 << SUB_BITS,
	N_BUCKETS = SL__DURATIONS_N_BUCKETS
};

size_t
sl__durations_bucket(uint64_t duration)
{
	unsigned octave;
	size_t bucket;

	if (duration < N_SUB)
		return (size_t)duration;
	octave = 63u - (unsigned)__builtin_clzll(duration) - SUB_BITS;
	bucket = ((size_t)(octave + 1) << SUB_BITS) +
		 (size_t)((duration >> octave) & (N_SUB - 1));
	return bucket < N_BUCKETS ? bucket : N_BUCKETS - 1;
}

uint64_t
sl__durations_bucket_low(size_t bucket)
{
	unsigned octave = (unsigned)(bucket >> SUB_BITS);
	uint64_t sub = bucket & (N_SUB - 1);

	return octave ? (N_SUB + sub) << (octave - 1) : sub;
}

uint64_t
sl__durations_bucket_high(size_t bucket)
{
	if (bucket + 1 >= N_BUCKETS)
		return UINT64_MAX;
	return sl__durations_bucket_low(bucket + 1) - 1;
}

void
sl__durations_add(struct sl__durations *d, uint64_t duration)
{
	double x = (double)duration;
	double distance = x - d->mean;

	if (!d->n || duration < d->min)
		d->min = duration;
	if (duration > d->max)
		d->max = duration;
	d->n++;
	d->mean += distance / (double)d->n;
	d->squares += distance * (x - d->mean);
	d->counts[sl__durations_bucket(duration)]++;
}

/* Chan, Golub and LeVeque (1979), formula 2.1. */
void
sl__durations_merge(struct sl__durations *into,
		    const struct sl__durations *from)
{
	double distance = from->mean - into->mean;
	double n = (double)(into->n + from->n);
	double weight = (double)from->n / n;

	if (!from->n)
		return;
	if (!into->n || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->squares +=
		from->squares + distance * distance * weight * (double)into->n;
	into->mean += distance * weight;
	into->n += from->n;
	for (size_t i = 0; i < N_BUCKETS; i++)
		into->counts[i] += from->counts[i];
}

double
sl__durations_mean(const struct sl__durations *d)
{
	return d->n ? d->mean : (double)NAN;
}

double
sl__durations_std(const struct sl__durations *d)
{
	return d->n < 2 ? (double)NAN : sqrt(d->squares / (double)(d->n - 1));
}

/* The bucket of the rank-th smallest (from 1) and how many lie before it. */
static size_t
bucket_of_rank(const struct sl__durations *d, uint64_t rank, uint64_t *n_before)
{
	uint64_t n = 0;
	size_t bucket = 0;

	while (bucket + 1 < N_BUCKETS && n + d->counts[bucket] < rank)
		n += d->counts[bucket++];
	*n_before = n;
	return bucket;
}

/* A bucket's edges, no wider than what was seen. */
static double
low_edge(const struct sl__durations *d, size_t bucket)
{
	return fmax((double)sl__durations_bucket_low(bucket), (double)d->min);
}

static double
high_edge(const struct sl__durations *d, size_t bucket)
{
	return fmin((double)sl__durations_bucket_high(bucket), (double)d->max);
}

/* The rank-th smallest, as if a bucket's contents were evenly spread. */
static double
value_of_rank(const struct sl__durations *d, uint64_t rank)
{
	uint64_t n_before;
	size_t bucket = bucket_of_rank(d, rank, &n_before);
	double low = low_edge(d, bucket);
	double place =
		((double)(rank - n_before) - 0.5) / (double)d->counts[bucket];

	return low + place * (high_edge(d, bucket) - low);
}

struct sl_estimate
sl__durations_quantile(const struct sl__durations *d, double q, double alpha)
{
	struct sl_estimate e = {(double)NAN,  (double)NAN, (double)NAN,
				(size_t)d->n, 0,           SL_METHOD_ORDER};
	uint64_t unused;
	size_t l, h;

	if (d->n) {
		/* Type 1 of Hyndman and Fan: the inverse of the steps. */
		double rank = ceil(q * (double)d->n);

		e.value = value_of_rank(d, rank < 1 ? 1 : (uint64_t)rank);
	}
	if (!sl__quantile_ranks((size_t)d->n, q, alpha, &l, &h)) {
		e.needs_n = sl__quantile_needs_n(q, alpha);
		return e;
	}
	e.lo = low_edge(d, bucket_of_rank(d, l, &unused));
	e.hi = high_edge(d, bucket_of_rank(d, h, &unused));
	return e;
}
