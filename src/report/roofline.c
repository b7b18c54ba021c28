/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roofline.c - the bounds of a machine over arithmetic intensity, and their
 * drawing in characters.
 *
 * Both axes are logarithmic, so that a bandwidth is a slope of 1 and all
 * levels of memory are parallel.
 */
#include "report/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	N_ROWS = 16,
	MAX_COLUMNS = 160,
	MARGIN_COLUMNS = 11, /* the indent of a page and "    f32 |" */
	MIN_COLUMNS = 30
};

static void
add_line(struct sl__roof_line *lines, size_t *n, const char *name, double value)
{
	size_t at = *n;

	for (; at > 0 && lines[at - 1].value < value; at--)
		lines[at] = lines[at - 1];
	lines[at] = (struct sl__roof_line){name, value};
	(*n)++;
}

/* A window one octave wider than the ridges on both sides. */
static void
set_window(struct sl__roofline *r)
{
	double fastest = r->slopes[0].value;
	double slowest = r->slopes[r->n_slopes - 1].value;
	double highest = r->peaks[0].value;
	double lowest = r->peaks[r->n_peaks - 1].value;

	r->x_lo = floor(log2(lowest / fastest)) - 2;
	r->x_hi = ceil(log2(highest / slowest)) + 2;
	r->y_lo = log2(slowest) + r->x_lo;
	r->y_hi = log2(highest) + 0.5;
}

/* Whether there is something to draw. */
static int
finish(struct sl__roofline *r)
{
	if (!r->n_peaks || !r->n_slopes)
		return 0;
	set_window(r);
	return 1;
}

int
sl__roofline_of_machine(struct sl__roofline *out, const struct sl_machine *m,
			size_t n_threads)
{
	static const enum sl_dtype dtypes[] = {SL_DTYPE_F32, SL_DTYPE_F64,
					       SL_DTYPE_BF16, SL_DTYPE_I8};

	memset(out, 0, sizeof(*out));
	out->n_threads = n_threads;
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		double value =
			sl_machine_peak_flops_per_s(m, dtypes[i], n_threads);

		if (value > 0)
			add_line(out->peaks, &out->n_peaks,
				 sl_dtype_text(dtypes[i]), value);
	}
	for (int i = SL_LEVEL_L1; i <= SL_LEVEL_DRAM; i++) {
		const struct sl_memory_level *l = sl_machine_find_bandwidth(
			m, (enum sl_level)i, n_threads);

		if (l)
			add_line(out->slopes, &out->n_slopes,
				 sl_level_text(l->level), l->value.value);
	}
	return finish(out);
}

int
sl__roofline_of_ceilings(struct sl__roofline *out, const struct sl_ceilings *c)
{
	memset(out, 0, sizeof(*out));
	out->n_threads = c->n_threads;
	for (size_t i = 0; i < c->n_peaks; i++) {
		if (c->peaks[i].flops_per_s.value > 0)
			add_line(out->peaks, &out->n_peaks,
				 sl_dtype_text(c->peaks[i].dtype),
				 c->peaks[i].flops_per_s.value);
	}
	for (size_t i = 0; i < c->n_levels; i++) {
		if (c->levels[i].bytes_per_s.value > 0)
			add_line(out->slopes, &out->n_slopes,
				 sl_level_text(c->levels[i].level),
				 c->levels[i].bytes_per_s.value);
	}
	return finish(out);
}

const struct sl__roof_line *
sl__roofline_lowest_slope(const struct sl__roofline *r)
{
	return &r->slopes[r->n_slopes - 1];
}

/* Cells hold an index into the marks below; 0 is empty. */
struct canvas {
	unsigned char cells[N_ROWS][MAX_COLUMNS];
	size_t n_columns;
};

enum mark { EMPTY, FAINT, SLOPE, FLAT };

static const char *const marks[] = {" ", "·", "╱", "─"};

static double
x_at(const struct sl__roofline *r, const struct canvas *c, size_t column)
{
	return r->x_lo + (r->x_hi - r->x_lo) * ((double)column + 0.5) /
				 (double)c->n_columns;
}

/* The row of a height, the top one 0; negative or too large off the page. */
static long
row_of(const struct sl__roofline *r, double y)
{
	return lround((r->y_hi - y) / (r->y_hi - r->y_lo) * (N_ROWS - 1));
}

static void
set_cell(struct canvas *c, long row, size_t column, enum mark mark)
{
	if (row >= 0 && row < N_ROWS && c->cells[row][column] < mark)
		c->cells[row][column] = (unsigned char)mark;
}

/* One slope up to one peak: min(peak, slope * intensity). */
static void
draw_roof(struct canvas *c, const struct sl__roofline *r, double peak,
	  double slope, int strong)
{
	for (size_t column = 0; column < c->n_columns; column++) {
		double rising = log2(slope) + x_at(r, c, column);

		if (rising < log2(peak))
			set_cell(c, row_of(r, rising), column,
				 strong ? SLOPE : FAINT);
		else
			set_cell(c, row_of(r, log2(peak)), column,
				 strong ? FLAT : FAINT);
	}
}

static const struct sl__roof_line *
peak_in_row(const struct sl__roofline *r, long row)
{
	for (size_t i = 0; i < r->n_peaks; i++) {
		if (row_of(r, log2(r->peaks[i].value)) == row)
			return &r->peaks[i];
	}
	return NULL;
}

static void
write_row(struct sl__doc *doc, const struct sl__roofline *r,
	  const struct canvas *c, long row)
{
	/* A mark takes up to 3 bytes. */
	char line[3 * MAX_COLUMNS + 1];
	const struct sl__roof_line *peak = peak_in_row(r, row);
	size_t at = 0;

	for (size_t i = 0; i < c->n_columns; i++) {
		const char *mark = marks[c->cells[row][i]];

		memcpy(line + at, mark, strlen(mark));
		at += strlen(mark);
	}
	line[at] = '\0';
	sl__doc_drawing(doc, SL__STYLE_PLAIN, "%*s │%s", MARGIN_COLUMNS - 4,
			peak ? peak->name : "", line);
}

/* Powers of four under the axis, each below its column. */
static void
write_axis(struct sl__doc *doc, const struct sl__roofline *r,
	   const struct canvas *c)
{
	char labels[MAX_COLUMNS + 16], text[16], line[3 * MAX_COLUMNS + 1];
	size_t next = 0, at = 0;

	memset(labels, ' ', sizeof(labels));
	for (double x = ceil(r->x_lo / 2) * 2; x <= r->x_hi; x += 2) {
		size_t column = (size_t)((x - r->x_lo) / (r->x_hi - r->x_lo) *
					 (double)c->n_columns);
		int n = x < 0 ? snprintf(text, sizeof(text), "1/%.0f", exp2(-x))
			      : snprintf(text, sizeof(text), "%.0f", exp2(x));

		if (n < 0 || column < next || column + (size_t)n > c->n_columns)
			continue;
		memcpy(labels + column, text, (size_t)n);
		next = column + (size_t)n + 1;
	}
	labels[c->n_columns] = '\0';
	for (size_t i = 0; i < c->n_columns; i++, at += strlen("─"))
		memcpy(line + at, "─", strlen("─"));
	line[at] = '\0';
	sl__doc_drawing(doc, SL__STYLE_DIM, "%*s └%s", MARGIN_COLUMNS - 4, "",
			line);
	sl__doc_drawing(doc, SL__STYLE_DIM, "%*s  %s", MARGIN_COLUMNS - 4, "",
			labels);
}

void
sl__roofline_draw(struct sl__doc *doc, const struct sl__roofline *r,
		  size_t n_columns)
{
	struct canvas c = {.n_columns = MIN_COLUMNS};

	if (n_columns > MIN_COLUMNS + MARGIN_COLUMNS)
		c.n_columns = n_columns - MARGIN_COLUMNS;
	if (c.n_columns > MAX_COLUMNS)
		c.n_columns = MAX_COLUMNS;
	for (size_t i = 0; i < r->n_slopes; i++)
		draw_roof(&c, r, r->peaks[0].value, r->slopes[i].value,
			  i + 1 == r->n_slopes);
	for (size_t i = 0; i < r->n_peaks; i++)
		draw_roof(&c, r, r->peaks[i].value, r->slopes[0].value, 0);
	for (size_t i = 0; i < r->n_peaks; i++)
		draw_roof(&c, r, r->peaks[i].value,
			  sl__roofline_lowest_slope(r)->value, 1);
	for (long row = 0; row < N_ROWS; row++)
		write_row(doc, r, &c, row);
	write_axis(doc, r, &c);
}
