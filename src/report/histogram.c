/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.c - the shape of a column of times in one line of text.
 *
 * Eighth blocks (or marks of growing weight in ASCII) for the counts, linear
 * in the count.  A bin that holds anything shows: one slow run among
 * thousands stays visible.  Nothing here sorts or allocates.
 */
#include "report/histogram.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { MIN_BINS = 8, LEVELS = 8 };

/*
 * Times further from the median than this many mean absolute deviations are
 * left to n_beyond; 4.8 standard deviations of a normal distribution.
 */
static const double FAR_OUT = 6;

/* 2 n^(1/3), the Rice rule. */
static size_t
choose_bins(size_t n, size_t max_bins)
{
	size_t n_bins = (size_t)ceil(2 * cbrt((double)n));

	if (n_bins < MIN_BINS)
		n_bins = MIN_BINS;
	if (n_bins > max_bins)
		n_bins = max_bins;
	if (n_bins > SL__HISTOGRAM_MAX_BINS)
		n_bins = SL__HISTOGRAM_MAX_BINS;
	return n_bins ? n_bins : 1;
}

static void
choose_range(struct sl__histogram *h, const double *x, size_t n, double median)
{
	double min = x[0], max = x[0], deviation = 0;

	for (size_t i = 0; i < n; i++) {
		min = fmin(min, x[i]);
		max = fmax(max, x[i]);
		deviation += fabs(x[i] - median) / (double)n;
	}
	h->lo = fmax(min, median - FAR_OUT * deviation);
	h->hi = fmin(max, median + FAR_OUT * deviation);
}

void
sl__histogram_of(struct sl__histogram *h, const double *x, size_t n,
		 double median, size_t max_bins)
{
	double width;

	memset(h, 0, sizeof(*h));
	choose_range(h, x, n, median);
	h->n_bins = choose_bins(n, max_bins);
	width = (h->hi - h->lo) / (double)h->n_bins;
	for (size_t i = 0; i < n; i++) {
		double at = width > 0 ? (x[i] - h->lo) / width : 0;

		if (x[i] < h->lo || x[i] > h->hi)
			h->n_beyond++;
		else if (at < (double)h->n_bins)
			h->counts[(size_t)at]++;
		else
			h->counts[h->n_bins - 1]++;
	}
}

const char *
sl__histogram_line(char *line, const struct sl__histogram *h, int ascii)
{
	static const char *const blocks[LEVELS + 1] = {" ", "▁", "▂", "▃", "▄",
						       "▅", "▆", "▇", "█"};
	static const char *const marks[LEVELS + 1] = {" ", ".", ":", "-", "=",
						      "+", "*", "#", "@"};
	size_t most = 1, at = 0;

	for (size_t i = 0; i < h->n_bins; i++)
		most = h->counts[i] > most ? h->counts[i] : most;
	for (size_t i = 0; i < h->n_bins; i++) {
		size_t level = (h->counts[i] * LEVELS + most - 1) / most;
		const char *mark = (ascii ? marks : blocks)[level];

		memcpy(line + at, mark, strlen(mark));
		at += strlen(mark);
	}
	line[at] = '\0';
	return line;
}
