/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.h - the shape of a column of times in one line of text. */
#ifndef SL_HISTOGRAM_H
#define SL_HISTOGRAM_H

#include <stddef.h>

enum { SL__HISTOGRAM_MAX_BINS = 64 };

/*
 * Invariants: the counts and n_beyond add up to the number of times; bin i
 * covers [lo + i w, lo + (i + 1) w) with w = (hi - lo) / n_bins, and the last
 * one its upper end too.
 */
struct sl__histogram {
	double lo, hi;
	size_t n_bins;
	size_t n_beyond; /* outside lo and hi, in no bin */
	size_t counts[SL__HISTOGRAM_MAX_BINS];
};

/*
 * Counts x[0..n-1], n >= 1, whose median is given, in at most max_bins bins.
 * Times so far out that they would press all others into one bin are counted
 * in n_beyond alone.
 */
void sl__histogram_of(struct sl__histogram *h, const double *x, size_t n,
		      double median, size_t max_bins);

/*
 * Writes one character a bin into 'line', which has room for 3 n_bins + 1
 * bytes, and returns it.  An empty bin is a space; one with anything in it
 * shows at least the lowest mark.
 */
const char *sl__histogram_line(char *line, const struct sl__histogram *h,
			       int ascii);

#endif
