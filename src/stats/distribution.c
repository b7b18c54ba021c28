/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distribution.c - everything said about one column of times.
 *
 * Finds where the steady state begins, whether its samples depend on each
 * other, and takes the interval of each figure from the method that holds
 * then.  No sample is removed for being far out.  A resample of the block
 * bootstrap is a resample of ranks: counting them gives any quantile without
 * sorting.
 */
#include "stats/distribution.h"
#include "base/status.h"
#include "stats/bootstrap.h"
#include "stats/outlier.h"
#include "stats/quantile.h"
#include "stats/summary.h"
#include "stats/warmup.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	MOST_SLOTS = 1024,     /* 0.1 % of a run: finer than anyone reads */
	N_RESAMPLES = 1000,    /* Monte Carlo error of a bound: 14 % of the
				   2.5 % in its tail */
	MOST_RESAMPLED = 5000, /* which takes 0.1 s */
	FEWEST_BCA = 30,
	MOST_BCA = 2000,
	N_LAGS = 10
};

/* The steady samples and what the estimates need. */
struct column {
	const double *x; /* in the order they were taken */
	size_t n;
	double alpha;
	double *sorted;
	double *clipped; /* x drawn in to the outlier fences */
	int is_autocorrelated;
	double block;     /* mean block length; 0 when not needed */
	double *ranks;    /* of x among sorted, when resampling; else scratch */
	uint32_t *counts; /* scratch of as many */
	struct sl__bootstrap_options bootstrap;
};

/* Medians of 'n_slots' stretches of 'per_slot' samples. */
static double *
slot_medians(const double *x, size_t n_slots, size_t per_slot,
	     struct sl__arena *arena)
{
	double *medians = sl__arena_array(arena, n_slots, sizeof(*medians));
	double *slot = sl__arena_array(arena, per_slot, sizeof(*slot));

	if (!medians || !slot)
		return NULL;
	for (size_t i = 0; i < n_slots; i++) {
		memcpy(slot, x + i * per_slot, per_slot * sizeof(*slot));
		medians[i] = sl__median_in_place(slot, per_slot);
	}
	return medians;
}

/* Sets out->warmup and out->n_warmup. */
static enum sl_status
find_warmup(struct sl_latency *out, const double *x, size_t n,
	    const struct sl__distribution_options *how, struct sl__arena *arena,
	    struct sl_error *err)
{
	size_t per_slot = (n + MOST_SLOTS - 1) / MOST_SLOTS;
	struct sl__warmup warmup;
	double *medians;
	enum sl_status rc;

	if (per_slot < how->samples_per_slot)
		per_slot = how->samples_per_slot;
	medians = slot_medians(x, n / per_slot, per_slot, arena);
	if (!medians)
		return sl__fail_nomem(err);
	rc = sl__warmup_classify(&warmup, medians, n / per_slot, arena, err);
	if (rc)
		return rc;
	out->warmup = warmup.class_;
	out->n_warmup = warmup.steady_from * per_slot;
	if (how->warmup_is_fixed)
		out->n_warmup = how->n_warmup;
	if (out->n_warmup >= n)
		return sl__fail(err, SL_E_USAGE, "all %zu samples are warm-up",
				n);
	return SL_OK;
}

static enum sl_status
column_init(struct column *c, struct sl__arena *arena, struct sl_error *err)
{
	struct sl__bootstrap_options *b = &c->bootstrap;
	size_t n = c->n;

	c->sorted = sl__arena_array(arena, n, sizeof(*c->sorted));
	c->clipped = sl__arena_array(arena, n, sizeof(*c->clipped));
	c->ranks = sl__arena_array(arena, n, sizeof(*c->ranks));
	c->counts = sl__arena_array(arena, n, sizeof(*c->counts));
	b->resample = sl__arena_array(arena, n, sizeof(*b->resample));
	b->replicates =
		sl__arena_array(arena, N_RESAMPLES, sizeof(*b->replicates));
	b->n_resamples = N_RESAMPLES;
	b->alpha = c->alpha;
	if (!c->sorted || !c->clipped || !c->ranks || !c->counts ||
	    !b->resample || !b->replicates)
		return sl__fail_nomem(err);
	return SL_OK;
}

static void
describe(struct sl_latency *out, struct column *c)
{
	struct sl__summary summary;
	struct sl__outliers outliers;

	sl__summary_of(&summary, c->x, c->n, c->sorted);
	out->n = c->n;
	out->min_ns = summary.min;
	out->max_ns = summary.max;
	out->std_ns = summary.std;
	out->mad_ns = summary.mad;
	out->skewness = summary.skewness;
	sl__outliers_count(&outliers, c->sorted, c->n);
	out->n_outliers_low = outliers.n_low;
	out->n_outliers_high = outliers.n_high;
	for (size_t i = 0; i < c->n; i++)
		c->clipped[i] = fmin(fmax(c->x[i], outliers.low_fence),
				     outliers.high_fence);
}

/*
 * Tests for dependence on the clipped samples: one spike of a thousand times
 * the spread would make any series look independent.
 */
static void
find_autocorrelation(struct sl_latency *out, struct column *c)
{
	const double chi_squared = 23.209251158954356; /* 99 % point, 10 df */
	double n = (double)c->n, q = 0;

	out->autocorrelation = sl__autocorrelation(c->clipped, c->n, 1);
	for (size_t lag = 1; lag <= N_LAGS && lag < c->n; lag++) {
		double r = sl__autocorrelation(c->clipped, c->n, lag);

		q += r * r / (n - (double)lag);
	}
	q *= n * (n + 2);
	/* With fewer than ten there is nothing to cut into blocks. */
	c->is_autocorrelated =
		c->n >= 10 &&
		(fabs(out->autocorrelation) > 2 / sqrt(n) || q > chi_squared);
}

/* The first place of 'value' in sorted[0..n-1], which holds it. */
static size_t
place_of(const double *sorted, size_t n, double value)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
prepare_resampling(struct column *c)
{
	if (!c->is_autocorrelated || c->n > MOST_RESAMPLED)
		return;
	c->block = sl__block_length(c->clipped, c->n);
	for (size_t i = 0; i < c->n; i++)
		c->ranks[i] = (double)place_of(c->sorted, c->n, c->x[i]);
}

struct rank_quantile {
	const struct column *column;
	double q;
};

/* The q-quantile (as sl__quantile_sorted()) of samples given as ranks. */
static double
statistic_quantile(double *ranks, size_t n, void *ctx)
{
	const struct rank_quantile *want = ctx;
	const double *sorted = want->column->sorted;
	uint32_t *counts = want->column->counts;
	double position = (double)(n - 1) * want->q;
	size_t below = (size_t)position, n_seen = 0, rank = 0, next;
	double share = position - (double)below;

	memset(counts, 0, want->column->n * sizeof(*counts));
	for (size_t i = 0; i < n; i++)
		counts[(size_t)ranks[i]]++;
	while (n_seen + counts[rank] <= below)
		n_seen += counts[rank++];
	next = rank;
	n_seen += counts[rank];
	while (n_seen <= below + 1 && n_seen < n)
		n_seen += counts[++next];
	return sorted[rank] + share * (sorted[next] - sorted[rank]);
}

/* Means of batches of sqrt(n) samples (Glynn and Whitt 1991); how many. */
static size_t
batch_means(double *means, const double *x, size_t n)
{
	size_t length = (size_t)sqrt((double)n), n_batches = n / length;

	for (size_t i = 0; i < n_batches; i++)
		means[i] = sl__mean(x + i * length, length);
	return n_batches;
}

double
sl__samples_per_independent(const double *x, size_t n, double *scratch)
{
	size_t n_batches = batch_means(scratch, x, n);
	double between =
		sl__variance(scratch, n_batches, sl__mean(scratch, n_batches));
	double within = sl__variance(x, n, sl__mean(x, n));
	size_t length = n / n_batches; /* whole: the rest is left out */

	return within > 0 ? fmax(1, (double)length * between / within) : 1;
}

/* 'e', the order-statistic estimate, with ranks as of fewer samples. */
static struct sl_estimate
batch_quantile(struct column *c, struct sl_estimate e, double q)
{
	double *below = c->ranks, n = (double)c->n, worth;
	size_t l, h;

	for (size_t i = 0; i < c->n; i++)
		below[i] = c->x[i] <= e.value;
	worth = sl__samples_per_independent(below, c->n, c->bootstrap.resample);
	e.method = SL_METHOD_BATCH;
	if (!sl__quantile_ranks((size_t)(n / worth), q, c->alpha, &l, &h)) {
		e.lo = e.hi = (double)NAN;
		e.needs_n = (size_t)ceil(
			worth * (double)sl__quantile_needs_n(q, c->alpha));
		return e;
	}
	/* Rank l of m samples stands at (l - 1/2) / m of the distribution. */
	e.lo = c->sorted[(size_t)floor(((double)l - 0.5) * worth - 0.5)];
	e.hi = c->sorted[(size_t)ceil(((double)h - 0.5) * worth - 0.5)];
	return e;
}

static struct sl_estimate
quantile_of(struct column *c, double q)
{
	struct rank_quantile want = {c, q};
	struct sl_estimate e, block;

	e = sl__quantile_estimate(c->sorted, c->n, q, c->alpha);
	if (!c->is_autocorrelated || e.needs_n)
		return e;
	if (c->n > MOST_RESAMPLED)
		return batch_quantile(c, e, q);
	block = sl__block_bootstrap(c->ranks, c->n, statistic_quantile, &want,
				    c->block, &c->bootstrap);
	e.method = SL_METHOD_BLOCK;
	e.lo = fmin(e.lo, block.lo);
	e.hi = fmax(e.hi, block.hi);
	return e;
}

static struct sl_estimate
batch_mean(struct column *c)
{
	double *means = c->bootstrap.resample;
	struct sl_estimate e = sl__student_mean(
		means, batch_means(means, c->x, c->n), c->alpha);

	e.value = sl__mean(c->x, c->n);
	e.n = c->n;
	e.method = SL_METHOD_BATCH;
	return e;
}

static struct sl_estimate
mean_of(struct column *c)
{
	if (c->is_autocorrelated && c->n > MOST_RESAMPLED)
		return batch_mean(c);
	if (c->is_autocorrelated)
		return sl__block_bootstrap(c->x, c->n, sl__statistic_mean, NULL,
					   c->block, &c->bootstrap);
	if (c->n < FEWEST_BCA || c->n > MOST_BCA)
		return sl__student_mean(c->x, c->n, c->alpha);
	return sl__bca(c->x, c->n, sl__statistic_mean, NULL, &c->bootstrap);
}

double
sl__minimum_detectable(const struct sl_estimate *median)
{
	/* Normal quantiles of 0.975 and 0.8. */
	const double z_test = 1.959963984540054, z_power = 0.8416212335729143;
	double error = (median->hi - median->lo) / (2 * z_test);

	return (z_test + z_power) * sqrt(2) * error / median->value;
}

enum sl_status
sl__distribution_summarize(struct sl_latency *out, const double *x, size_t n,
			   const struct sl__distribution_options *how,
			   struct sl__arena *arena, struct sl_error *err)
{
	struct column c = {.alpha = how->alpha, .bootstrap.rng = how->rng};
	enum sl_status rc;

	rc = find_warmup(out, x, n, how, arena, err);
	if (rc)
		return rc;
	c.x = x + out->n_warmup;
	c.n = n - out->n_warmup;
	rc = column_init(&c, arena, err);
	if (rc)
		return rc;
	describe(out, &c);
	find_autocorrelation(out, &c);
	prepare_resampling(&c);
	out->mean = mean_of(&c);
	if (out->mean.lo < 0)
		out->mean.lo = 0; /* a time is not negative */
	out->median = quantile_of(&c, 0.5);
	out->p90 = quantile_of(&c, 0.9);
	out->p95 = quantile_of(&c, 0.95);
	out->p99 = quantile_of(&c, 0.99);
	out->minimum_detectable = sl__minimum_detectable(&out->median);
	return SL_OK;
}

const char *
sl_method_text(enum sl_method method)
{
	static const char *const texts[] = {
		"none",           "order statistics", "block bootstrap",
		"Student's t",    "BCa bootstrap",    "sign e-process",
		"exact binomial", "batch means"};

	return (unsigned)method <= SL_METHOD_BATCH ? texts[method] : "none";
}

const char *
sl_warmup_text(enum sl_warmup_class c)
{
	static const char *const texts[] = {"unknown", "flat", "warming",
					    "slowing", "none"};

	return (unsigned)c <= SL_WARMUP_NONE ? texts[c] : "unknown";
}
