/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.h - the shape of a column of times in a few lines of text. */
#ifndef SL_HISTOGRAM_H
#define SL_HISTOGRAM_H

#include "doc.h"

enum { SL__HISTOGRAM_MAX_BINS = 48, SL__HISTOGRAM_MAX_ROWS = 6 };

/*
 * Invariants: n_below + n_above + the counts = n; bin i covers
 * [lo + i w, lo + (i + 1) w) with w = (hi - lo) / n_bins, and the last one
 * its upper end too.
 */
struct sl__histogram {
	size_t n, n_bins;
	double lo, hi;
	double min, max;
	size_t n_below, n_above; /* far out, in no bin */
	size_t counts[SL__HISTOGRAM_MAX_BINS];
};

/*
 * Counts sorted[0..n-1].  Bins are of Freedman's and Diaconis's width, at
 * most max_bins of them, between Tukey's outer fences.  Returns 0, and leaves
 * nothing to draw, for fewer than 10 times or when all are equal.
 */
int sl__histogram_fill(struct sl__histogram *h, const double *sorted, size_t n,
		       size_t max_bins);

/*
 * Draws n_rows (1 to 6) lines of bars and one of labels.  'width' is that of
 * the page; 'unit' as for sl__time_in().
 */
void sl__histogram_draw(struct sl__doc *doc, const struct sl__histogram *h,
			size_t n_rows, size_t width, const char *unit);

#endif
