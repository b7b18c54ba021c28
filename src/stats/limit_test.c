/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_test.c - whether a share of latencies exceeds what a limit allows.
 *
 * A sequential binomial test in both directions.  LoadGen looks again after
 * more queries with a test that is good for one look, and lets a system that is
 * exactly at its limit through five to twelve times as often as it says.
 */
#define _DEFAULT_SOURCE /* lgamma_r: lgamma writes a global */
#include "stats/limit_test.h"
#include "stats/distribution.h"
#include "stats/special.h"
#include "stats/summary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

static double
log_beta(double a, double b)
{
	int sign;

	return lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign);
}

/* Of the mixture over s < q; an evidence too small for a double is -inf. */
double
sl__limit_log_e_holds(double n, double k, double q)
{
	double a = k + 0.5, b = n - k + 0.5;

	assert(q > 0 && q < 1 && k >= 0 && k <= n);
	return log_beta(a, b) + log(sl__beta_cdf(q, a, b)) -
	       log_beta(0.5, 0.5) - log(sl__beta_cdf(q, 0.5, 0.5)) -
	       k * log(q) - (n - k) * log1p(-q);
}

double
sl__limit_log_e_fails(double n, double k, double q)
{
	return sl__limit_log_e_holds(n, n - k, 1 - q);
}

/*
 * How many queries are worth one independent one, by "above 'level'", as a
 * series of zeros and ones: the variance of its sums over busy periods, around
 * what their lengths make expected, or of its batches.
 */
static double
per_independent(const struct sl__latency_series *s, double level,
		double *scratch)
{
	double n = (double)s->n, k = 0, share, above = 0, length = 0, sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		scratch[i] = s->x[i] > level;
		k += scratch[i];
	}
	share = k / n;
	if (!(k > 0 && k < n))
		return 1;
	for (size_t i = 0; i < s->n; i++) {
		above += scratch[i];
		length++;
		if (i + 1 < s->n && !s->begins[i + 1])
			continue;
		sum += pow(above - share * length, 2);
		above = length = 0;
	}
	return fmax(sum / (n * share * (1 - share)),
		    sl__samples_per_independent(scratch, s->n, scratch + s->n));
}

void
sl__limit_evidence_of(struct sl__limit_evidence *out,
		      const struct sl__latency_series *s, double limit,
		      double q, double *scratch)
{
	static const double levels[] = {0.5, 0.75, 0.9, 0.95};
	double n = (double)s->n, worth = 1, share, n_worth;

	memset(out, 0, sizeof(*out));
	out->log_e_holds = -(double)INFINITY;
	if (!s->n)
		return;
	for (size_t i = 0; i < s->n; i++) {
		out->n_late += s->x[i] > limit;
		out->n_periods += s->begins[i] != 0;
	}
	share = (double)out->n_late / n;
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		double level;

		memcpy(scratch, s->x, s->n * sizeof(*s->x));
		level = sl__select_kth_smallest(scratch, s->n,
						(size_t)(levels[i] * n));
		worth = fmax(worth, per_independent(s, level, scratch));
	}
	worth = fmax(worth, per_independent(s, limit, scratch));
	n_worth = n / worth;
	out->log_e_fails = sl__limit_log_e_fails(n_worth, n_worth * share, q);
	n_worth = fmin(n_worth, (double)out->n_periods);
	out->n_independent = n_worth;
	if (n_worth >= SL__LIMIT_INDEPENDENT_LEAST)
		out->log_e_holds =
			sl__limit_log_e_holds(n_worth, n_worth * share, q);
}

double
sl__limit_needs_n(double q, double share)
{
	double low = SL__LIMIT_INDEPENDENT_LEAST, high = low;

	while (sl__limit_log_e_holds(high, 0, q) < log(20))
		high *= 2;
	while (high - low > 1) {
		double middle = floor((low + high) / 2);

		if (sl__limit_log_e_holds(middle, 0, q) < log(20))
			low = middle;
		else
			high = middle;
	}
	return ceil(high / share);
}

size_t
sl__early_stopping_in_time(size_t t, double p)
{
	size_t low = 0, high = 1; /* low is not enough, high is */

	while (sl__binomial_cdf((double)t, high + t, 1 - p) > 0.01) {
		low = high;
		high *= 2;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (sl__binomial_cdf((double)t, middle + t, 1 - p) > 0.01)
			low = middle;
		else
			high = middle;
	}
	return high;
}
