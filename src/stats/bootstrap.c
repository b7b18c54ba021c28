/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap.c - intervals by resampling, and Student's beside them.
 *
 * The bootstrap puts the sample in place of the population and watches how
 * the statistic varies.  BCa corrects the percentiles of what it sees for
 * bias and skew; the block bootstrap draws stretches instead of single
 * values, so that what hangs together in time stays together, and widens its
 * percentiles for the number of stretches there are.
 */
#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/special.h"
#include "stats/summary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/*
 * Least n for the block bootstrap.  For independent normal values it covers
 * 93 % there instead of 95 %; no block can be told from chance below.
 */
enum { MIN_N = 10 };

double
sl__statistic_mean(double *x, size_t n, void *ctx)
{
	(void)ctx;
	return sl__mean(x, n);
}

/* An estimate without its interval, refused until n reaches needs_n. */
static struct sl_estimate
without_interval(double value, size_t n, size_t needs_n, enum sl_method method)
{
	const double absent = (double)NAN;
	struct sl_estimate e = {value, absent, absent, n, needs_n, method};

	return e;
}

struct sl_estimate
sl__student_mean(const double *x, size_t n, double alpha)
{
	struct sl_estimate e =
		without_interval(sl__mean(x, n), n, 2, SL_METHOD_STUDENT);
	double count = (double)n;
	double half;

	assert(alpha > 0 && alpha < 1);
	if (n < 2)
		return e;
	half = -sl__student_quantile(alpha / 2, count - 1) *
	       sqrt(sl__variance(x, n, e.value) / count);
	e.lo = e.value - half;
	e.hi = e.value + half;
	e.needs_n = 0;
	return e;
}

/*
 * The statistic of a copy, since it may reorder what it is given; NaN for
 * n == 0.
 */
static double
statistic_of(const double *x, size_t n, sl__statistic *statistic, void *ctx,
	     double *scratch)
{
	if (n == 0)
		return (double)NAN;
	memcpy(scratch, x, n * sizeof(*x));
	return statistic(scratch, n, ctx);
}

/*
 * z0: the normal quantile of the share of (sorted) replicates below the
 * estimate, equal ones counting one half, which matters for the median.
 * A share of 0 or 1 only says that 1 / R is too coarse to see it.
 */
static double
bias_correction(const double *replicates, size_t n, double estimate)
{
	double count = (double)n;
	double share = 0;

	for (size_t i = 0; i < n; i++) {
		if (replicates[i] < estimate)
			share += 1 / count;
		else if (replicates[i] <= estimate)
			share += 0.5 / count;
	}
	share = fmin(fmax(share, 0.5 / count), 1 - 0.5 / count);
	return sl__normal_quantile(share);
}

/*
 * The acceleration sum(d^3) / (6 sum(d^2)^1.5), d the distance of the mean
 * of the leave-one-out values from each of them.  Above MAX_GROUPS values
 * neighbours are left out together: sums of independent influences have the
 * same second and third moments, and the noise of the result, about
 * 0.4 / MAX_GROUPS, is far below what moves an interval.
 */
static double
acceleration(const double *x, size_t n, sl__statistic *statistic, void *ctx,
	     double *scratch)
{
	enum { MAX_GROUPS = 1000 };
	size_t n_groups = n < MAX_GROUPS ? n : MAX_GROUPS;
	double values[MAX_GROUPS];
	double mean, squares = 0, cubes = 0;

	assert(n > 0);
	for (size_t i = 0; i < n_groups; i++) {
		size_t from = i * n / n_groups;
		size_t to = (i + 1) * n / n_groups;

		memcpy(scratch, x, from * sizeof(*x));
		memcpy(scratch + from, x + to, (n - to) * sizeof(*x));
		values[i] = statistic(scratch, n - (to - from), ctx);
	}
	mean = sl__mean(values, n_groups);
	for (size_t i = 0; i < n_groups; i++) {
		double d = mean - values[i];

		squares += d * d;
		cubes += d * d * d;
	}
	return squares > 0 ? cubes / (6 * squares * sqrt(squares)) : 0;
}

/* Efron (1987), formula 2.3: where the z-percentile has moved to. */
static double
corrected_level(double z, double z0, double a)
{
	double shrink = 1 - a * (z0 + z);

	if (shrink <= 0)
		return z0 + z > 0 ? 1 : 0;
	return sl__normal_cdf(z0 + (z0 + z) / shrink);
}

struct sl_estimate
sl__bca(const double *x, size_t n, sl__statistic *statistic, void *ctx,
	const struct sl__bootstrap_options *how)
{
	struct sl_estimate e = without_interval(
		statistic_of(x, n, statistic, ctx, how->resample), n, 3,
		SL_METHOD_BCA);
	double z = sl__normal_quantile(how->alpha / 2);
	double z0, a;

	assert(how->n_resamples > 0);
	if (n < 3)
		return e;
	for (size_t r = 0; r < how->n_resamples; r++) {
		for (size_t i = 0; i < n; i++)
			how->resample[i] = x[sl__rng_below(how->rng, n)];
		how->replicates[r] = statistic(how->resample, n, ctx);
	}
	sl__sort(how->replicates, how->n_resamples);
	z0 = bias_correction(how->replicates, how->n_resamples, e.value);
	a = acceleration(x, n, statistic, ctx, how->resample);
	e.lo = sl__quantile_sorted(how->replicates, how->n_resamples,
				   corrected_level(z, z0, a));
	e.hi = sl__quantile_sorted(how->replicates, how->n_resamples,
				   corrected_level(-z, z0, a));
	e.needs_n = 0;
	return e;
}

/* 1, 2, ... with P(L > k) = (1 - 1 / block)^k, at most n. */
static size_t
draw_length(struct sl__rng *rng, double block, size_t n)
{
	double length;

	if (block <= 1)
		return 1;
	length = 1 + floor(sl__rng_exponential(rng) / -log1p(-1 / block));
	return length < (double)n ? (size_t)length : n;
}

/* Fills out[0..n-1] with stretches of x, whose end joins its beginning. */
static void
draw_blocks(double *out, const double *x, size_t n, double block,
	    struct sl__rng *rng)
{
	for (size_t done = 0; done < n;) {
		size_t from = (size_t)sl__rng_below(rng, n);
		size_t length = draw_length(rng, block, n - done);
		size_t straight = length < n - from ? length : n - from;

		memcpy(out + done, x + from, straight * sizeof(*x));
		memcpy(out + done + straight, x,
		       (length - straight) * sizeof(*x));
		done += length;
	}
}

/*
 * Which percentiles to take for confidence 1 - alpha from k = n / block
 * blocks.  Plain ones are too narrow in three ways, each undone by a factor
 * on z: t with k - 1 degrees of freedom instead of the normal; the variance
 * of k blocks taken around their own mean, (k - 1) / k (both are Hesterberg's
 * 2015 expanded percentile interval); and the correlation lost where blocks
 * join.  With G = sum |k| R(k) and g = sum R(k) over all lags, the variance
 * loses G / (b g) of itself and has an error of sqrt(2 b / n) of itself; at
 * the b with the least sum of squares the loss is sqrt(b / n) = 1 / sqrt(k).
 */
static double
expanded_level(double alpha, double k)
{
	double t = sl__student_quantile(alpha / 2, k - 1);

	return sl__normal_cdf(t * sqrt(k / (k - 1) / (1 - 1 / sqrt(k))));
}

struct sl_estimate
sl__block_bootstrap(const double *x, size_t n, sl__statistic *statistic,
		    void *ctx, double block,
		    const struct sl__bootstrap_options *how)
{
	struct sl_estimate e = without_interval(
		statistic_of(x, n, statistic, ctx, how->resample), n, MIN_N,
		SL_METHOD_BLOCK);
	double level;

	assert(how->n_resamples > 0);
	if (n < MIN_N)
		return e;
	if (block <= 0)
		block = sl__block_length(x, n);
	block = fmin(fmax(block, 1), (double)n / 3);
	for (size_t r = 0; r < how->n_resamples; r++) {
		draw_blocks(how->resample, x, n, block, how->rng);
		how->replicates[r] = statistic(how->resample, n, ctx);
	}
	sl__sort(how->replicates, how->n_resamples);
	level = expanded_level(how->alpha, (double)n / block);
	e.lo = sl__quantile_sorted(how->replicates, how->n_resamples, level);
	e.hi = sl__quantile_sorted(how->replicates, how->n_resamples,
				   1 - level);
	e.needs_n = 0;
	return e;
}

/* The mean of (x[i] - mean) (x[i - lag] - mean), over n whatever the lag. */
static double
autocovariance(const double *x, size_t n, double mean, size_t lag)
{
	double sum = 0;

	for (size_t i = lag; i < n; i++)
		sum += (x[i] - mean) * (x[i - lag] - mean);
	return sum / (double)n;
}

/*
 * The first lag of a run of insignificant autocorrelations, or max_lag when
 * there is none: Politis and White's (2004) rule with their constants, a run
 * of max(5, log10 n) below 2 sqrt(log10(n) / n).
 */
static size_t
first_quiet_lag(const double *x, size_t n, double mean, size_t max_lag,
		size_t run)
{
	double count = (double)n;
	double limit =
		2 * sqrt(log10(count) / count) * autocovariance(x, n, mean, 0);
	size_t n_quiet = 0;

	for (size_t lag = 1; lag <= max_lag; lag++) {
		if (fabs(autocovariance(x, n, mean, lag)) < limit)
			n_quiet++;
		else
			n_quiet = 0;
		if (n_quiet == run)
			return lag + 1 - run;
	}
	return max_lag;
}

double
sl__block_length(const double *x, size_t n)
{
	double count = (double)n;
	double mean = sl__mean(x, n);
	size_t run, max_lag, bandwidth;
	double spectrum, slope = 0;

	if (n < 3)
		return 1;
	run = (size_t)fmax(5, log10(count));
	max_lag = (size_t)ceil(sqrt(count)) + run;
	max_lag = max_lag < n - 1 ? max_lag : n - 1;
	bandwidth = 2 * first_quiet_lag(x, n, mean, max_lag, run);
	bandwidth = bandwidth < max_lag ? bandwidth : max_lag;
	spectrum = autocovariance(x, n, mean, 0);
	for (size_t lag = 1; lag <= bandwidth; lag++) {
		double t = (double)lag / (double)bandwidth;
		/* The flat-top window of Politis and Romano (1995). */
		double weight = t <= 0.5 ? 2 : 4 * (1 - t);
		double r = weight * autocovariance(x, n, mean, lag);

		spectrum += r;
		slope += r * (double)lag;
	}
	if (!(fabs(spectrum) > 0))
		return 1;
	/* (G^2 / g^2 n)^(1/3) is where that sum of squares is least. */
	return fmax(1, fmin(cbrt(slope / spectrum * (slope / spectrum) * count),
			    fmin(3 * sqrt(count), count / 3)));
}
