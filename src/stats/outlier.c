/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outlier.c - labels for values far from the rest.
 *
 * Each side of the median has its own scale, since times have a short left
 * tail and a long right one.  Values are labelled and counted; removing them
 * would be lying about what was measured.
 */
#include "stats/outlier.h"
#include "stats/summary.h"

#include <assert.h>
#include <math.h>

#include "base/banned.h"

/* Phi^-1(3/4): the MAD of a normal sample is 0.6745 standard deviations. */
#define MAD_PER_SIGMA 0.6745
/* sqrt(pi / 2): a standard deviation is 1.2533 mean absolute deviations. */
#define SIGMA_PER_MEAN_AD 1.253314
/* The cut-off that Iglewicz and Hoaglin (1993) found by simulation. */
#define LIMIT 3.5

/*
 * How far from the median a value may lie, given the sorted values on one
 * side of it, those equal to it included.
 */
static double
reach(const double *side, size_t n, double median)
{
	double mad = fabs(median - sl__median_sorted(side, n));

	if (mad > 0)
		return LIMIT * mad / MAD_PER_SIGMA;
	/* All lie on one side, so the mean of |x - median| is that of x. */
	return LIMIT * SIGMA_PER_MEAN_AD * fabs(sl__mean(side, n) - median);
}

void
sl__outliers_count(struct sl__outliers *out, const double *sorted, size_t n)
{
	double median = sl__median_sorted(sorted, n);
	size_t n_left = n, first_right = 0;

	assert(n > 0);
	while (sorted[n_left - 1] > median)
		n_left--;
	while (sorted[first_right] < median)
		first_right++;
	out->low_fence = median - reach(sorted, n_left, median);
	out->high_fence =
		median + reach(sorted + first_right, n - first_right, median);
	out->n_low = 0;
	out->n_high = 0;
	while (sorted[out->n_low] < out->low_fence)
		out->n_low++;
	while (sorted[n - 1 - out->n_high] > out->high_fence)
		out->n_high++;
}
