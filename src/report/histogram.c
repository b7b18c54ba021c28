/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.c - the shape of a column of times in a few lines of text.
 *
 * Bars are drawn with the eighth blocks, so that three lines show 24 levels;
 * text.c spells them as dots and hashes where only ASCII is allowed.  A bin
 * that holds anything shows at least the lowest block: one slow run among
 * thousands stays visible.
 */
#include "histogram.h"
#include "quantile.h"
#include "unit.h"
#include "utf8.h"

#include <math.h>
#include <string.h>

#include "banned.h"

enum {
	MIN_SAMPLES = 10, /* fewer are better read as numbers */
	MIN_BINS = 6,
	MIN_COLUMNS = 24, /* room for both labels under the bars */
	LEVELS = 8        /* of one character */
};

/* U+2581 to U+2588 behind a space: the level of a character. */
static const char *const blocks[LEVELS + 1] = {" ", "▁", "▂", "▃", "▄",
					       "▅", "▆", "▇", "█"};

/*
 * The width 2 IQR n^(-1/3) (Freedman and Diaconis, 1981) minimises the
 * integrated squared error for smooth densities and does not follow
 * outliers.  With an IQR of 0 there is no such width.
 */
static size_t
choose_bins(double range, double iqr, size_t n, size_t max_bins)
{
	double n_bins = range * cbrt((double)n) / (2 * iqr);

	if (!(n_bins < (double)max_bins))
		return max_bins;
	return n_bins < MIN_BINS ? MIN_BINS : (size_t)ceil(n_bins);
}

int
sl__histogram_fill(struct sl__histogram *h, const double *sorted, size_t n,
		   size_t max_bins)
{
	double q1, q3, iqr;

	memset(h, 0, sizeof(*h));
	if (n < MIN_SAMPLES || !(sorted[n - 1] > sorted[0]))
		return 0;
	if (max_bins > SL__HISTOGRAM_MAX_BINS)
		max_bins = SL__HISTOGRAM_MAX_BINS;
	q1 = sl__quantile_sorted(sorted, n, 0.25);
	q3 = sl__quantile_sorted(sorted, n, 0.75);
	iqr = q3 - q1;
	h->n = n;
	h->min = sorted[0];
	h->max = sorted[n - 1];
	/* Beyond 3 IQR from the quartiles is "far out" (Tukey, 1977). */
	h->lo = iqr > 0 ? fmax(h->min, q1 - 3 * iqr) : h->min;
	h->hi = iqr > 0 ? fmin(h->max, q3 + 3 * iqr) : h->max;
	h->n_bins = choose_bins(h->hi - h->lo, iqr, n, max_bins);
	for (size_t i = 0; i < n; i++) {
		double at = (sorted[i] - h->lo) / (h->hi - h->lo) *
			    (double)h->n_bins;

		if (sorted[i] < h->lo)
			h->n_below++;
		else if (sorted[i] > h->hi)
			h->n_above++;
		else
			h->counts[at < (double)h->n_bins ? (size_t)at
							 : h->n_bins - 1]++;
	}
	return 1;
}

/* The level of a bar in the given row, counted from the bottom. */
static size_t
level_in_row(size_t count, size_t most, size_t row, size_t n_rows)
{
	size_t levels = LEVELS * n_rows;
	size_t height = (count * levels + most - 1) / most;

	if (height <= row * LEVELS)
		return 0;
	height -= row * LEVELS;
	return height > LEVELS ? LEVELS : height;
}

static void
draw_row(struct sl__doc *doc, const struct sl__histogram *h, size_t row,
	 size_t n_rows, size_t columns_per_bin)
{
	/* A character has at most 3 bytes, and a bin at most 4 columns. */
	char line[3 * 4 * SL__HISTOGRAM_MAX_BINS + 1];
	size_t most = 1, n = 0;

	for (size_t i = 0; i < h->n_bins; i++)
		most = h->counts[i] > most ? h->counts[i] : most;
	for (size_t i = 0; i < h->n_bins * columns_per_bin; i++) {
		size_t count = h->counts[i / columns_per_bin];
		const char *block =
			blocks[level_in_row(count, most, row, n_rows)];

		memcpy(line + n, block, strlen(block));
		n += strlen(block);
	}
	while (n && line[n - 1] == ' ')
		n--;
	line[n] = '\0';
	sl__doc_drawing(doc, SL__STYLE_PLAIN, "%s", line);
}

void
sl__histogram_draw(struct sl__doc *doc, const struct sl__histogram *h,
		   size_t n_rows, size_t width, const char *unit)
{
	struct sl__text lo, hi, far;
	size_t per_bin, n_columns, n_labels, room;

	if (h->n_bins == 0)
		return;
	if (n_rows < 1 || n_rows > SL__HISTOGRAM_MAX_ROWS)
		n_rows = n_rows < 1 ? 1 : SL__HISTOGRAM_MAX_ROWS;
	per_bin = (MIN_COLUMNS + h->n_bins - 1) / h->n_bins;
	if (per_bin > 1 && per_bin * h->n_bins > width)
		per_bin = 1;
	n_columns = per_bin * h->n_bins;
	for (size_t row = n_rows; row-- > 0;)
		draw_row(doc, h, row, n_rows, per_bin);
	sl__time_in(&lo, h->lo, unit);
	sl__time_in(&hi, h->hi, unit);
	n_labels = sl__utf8_width(lo.s) + sl__utf8_width(hi.s);
	room = n_columns > n_labels ? n_columns - n_labels : 1;
	sl__doc_drawing(doc, SL__STYLE_DIM, "%s%*s%s", lo.s, (int)room, "",
			hi.s);
	if (h->n_below)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "and %zu below, the fastest %s", h->n_below,
			     sl__time_in(&far, h->min, unit));
	if (h->n_above)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "and %zu above, the slowest %s", h->n_above,
			     sl__time_in(&far, h->max, unit));
}
