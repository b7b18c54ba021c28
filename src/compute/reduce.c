/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - reductions along some axes.
 *
 * Where the innermost loop is reduced, rows become numbers that are joined;
 * where it is kept, rows are joined element by element, a band at a time.  Sums
 * of many numbers go through double every PIECE of them, so that f32 does not
 * run out of digits.
 */
#include "compute/reduce.h"
#include "compute/vector_rows.h"

#include <math.h>

#include "base/banned.h"

enum { PIECE = 4096, BAND = 1024, ROWS = 256 };

/* row: a row into one number; band: a row joined into others. */
#define REDUCTION(name, start, element, joined)                                \
	SL__ROW(name##_all, start, element, joined)                            \
	SL__INLINE void name##_row_body(const float *x, int64_t n, float *y)   \
	{                                                                      \
		*y = name##_all(x, n, 0);                                      \
	}                                                                      \
	SL__VECTOR_TARGETS(name##_row, name##_row_body,                        \
			   (const float *x, int64_t n, float *y), (x, n, y))   \
	SL__INLINE void name##_band_body(const float *xs, int64_t n, float *y) \
	{                                                                      \
		for (int64_t i = 0; i < n; i++) {                              \
			float x = xs[i], a = y[i], b = (element);              \
                                                                               \
			y[i] = (joined);                                       \
		}                                                              \
	}                                                                      \
	SL__VECTOR_TARGETS(name##_band, name##_band_body,                      \
			   (const float *xs, int64_t n, float *y), (xs, n, y))

REDUCTION(sum, 0, x, a + b)
REDUCTION(sum_abs, 0, sl__abs(x), a + b)
REDUCTION(sum_square, 0, x *x, a + b)
REDUCTION(product, 1, x, a *b)
REDUCTION(most, -INFINITY, x, sl__max_or_nan(a, b))
REDUCTION(least, INFINITY, x, sl__min_or_nan(a, b))

struct sl__reduction
sl__reduction_for(enum sl__reduction_kind kind)
{
	switch (kind) {
	case SL__REDUCTION_SUM:
		break;
	case SL__REDUCTION_SUM_ABS:
		return (struct sl__reduction){sum_abs_row_for(),
					      sum_abs_band_for(), SL__JOIN_SUM};
	case SL__REDUCTION_SUM_SQUARE:
		return (struct sl__reduction){sum_square_row_for(),
					      sum_square_band_for(),
					      SL__JOIN_SUM};
	case SL__REDUCTION_PRODUCT:
		return (struct sl__reduction){product_row_for(),
					      product_band_for(),
					      SL__JOIN_PRODUCT};
	case SL__REDUCTION_MOST:
		return (struct sl__reduction){most_row_for(), most_band_for(),
					      SL__JOIN_MOST};
	case SL__REDUCTION_LEAST:
		return (struct sl__reduction){least_row_for(), least_band_for(),
					      SL__JOIN_LEAST};
	}
	return (struct sl__reduction){sum_row_for(), sum_band_for(),
				      SL__JOIN_SUM};
}

static double
nothing(enum sl__joining joining)
{
	return joining == SL__JOIN_SUM       ? 0
	       : joining == SL__JOIN_PRODUCT ? 1
	       : joining == SL__JOIN_MOST    ? -(double)INFINITY
					     : (double)INFINITY;
}

static double
join(enum sl__joining joining, double a, double b)
{
	if (joining == SL__JOIN_SUM)
		return a + b;
	if (joining == SL__JOIN_PRODUCT)
		return a * b;
	if (joining == SL__JOIN_MOST)
		return isnan(a) || a > b ? a : b;
	return isnan(a) || a < b ? a : b;
}

static float
finish(const struct sl__reduce *r, double x)
{
	if (r->after == SL__REDUCE_ROOT)
		return (float)sqrt(x);
	if (r->after == SL__REDUCE_LOGARITHM)
		return (float)log(x);
	return (float)(r->after == SL__REDUCE_MEAN ? x / (double)r->n_joined
						   : x);
}

/* Everything below one element of the result, rows in one piece. */
static float
reduce_rows(const struct sl__reduce *r, const float *x)
{
	const struct sl__iteration_space *l = &r->inside;
	int last = l->rank - 1;
	int64_t n = sl__space_n_positions(l, last), length = l->dims[last];
	double total = nothing(r->how.joining);
	struct sl__space_position p;

	sl__space_seek(l, last, 0, &p);
	for (int64_t i = 0; i < n; i++) {
		for (int64_t k = 0; k < length; k += PIECE) {
			float part;

			r->how.row(x + p.offsets[0] + k,
				   length - k < PIECE ? length - k : PIECE,
				   &part);
			total = join(r->how.joining, total, (double)part);
		}
		sl__space_next(l, last, &p);
	}
	return finish(r, total);
}

/* A band of neighbours in the result; x is the band's first element. */
static void
reduce_band(const struct sl__reduce *r, const float *x, int64_t width, float *y)
{
	const struct sl__iteration_space *l = &r->inside;
	int64_t n = sl__space_n_positions(l, l->rank);
	double totals[BAND];
	float part[BAND];
	struct sl__space_position p;

	for (int64_t k = 0; k < width; k++)
		totals[k] = nothing(r->how.joining);
	sl__space_seek(l, l->rank, 0, &p);
	for (int64_t i = 0; i < n;) {
		int64_t end = n - i < ROWS ? n : i + ROWS;

		for (int64_t k = 0; k < width; k++)
			part[k] = (float)nothing(r->how.joining);
		for (; i < end; i++) {
			r->how.band(x + p.offsets[0], width, part);
			sl__space_next(l, l->rank, &p);
		}
		for (int64_t k = 0; k < width; k++)
			totals[k] = join(r->how.joining, totals[k],
					 (double)part[k]);
	}
	for (int64_t k = 0; k < width; k++)
		y[k] = finish(r, totals[k]);
}

int64_t
sl__reduce_n_pieces(const struct sl__reduce *r)
{
	return sl__space_n_positions(&r->kept, r->kept.rank) *
	       (r->inner ? (r->inner + BAND - 1) / BAND : 1);
}

void
sl__reduce(const struct sl__reduce *r, const float *x, float *y, int64_t first,
	   int64_t end)
{
	const struct sl__iteration_space *l = &r->kept;
	int64_t bands = r->inner ? (r->inner + BAND - 1) / BAND : 1;

	for (int64_t i = first; i < end; i++) {
		int64_t column = i % bands * BAND, width = r->inner - column;
		struct sl__space_position p;

		sl__space_seek(l, l->rank, i / bands, &p);
		if (r->inner)
			reduce_band(r, x + p.offsets[1] + column,
				    width < BAND ? width : BAND,
				    y + p.offsets[0] + column);
		else
			y[p.offsets[0]] = reduce_rows(r, x + p.offsets[1]);
	}
}

/* What is not a number is both the largest and the least. */
static int
is_same(float a, float b)
{
	return (a >= b && a <= b) || (isnan(a) && isnan(b));
}

/* A line in one piece: the extreme itself is found first, by vectors. */
static int64_t
find_in_row(const struct sl__places *p, const float *x)
{
	int64_t at = p->is_last ? p->length - 1 : 0;
	float extreme;

	p->row(x, p->length, &extreme);
	if (isnan(extreme)) {
		while (!isnan(x[at]))
			at += p->is_last ? -1 : 1;
	} else {
		while (x[at] < extreme || x[at] > extreme)
			at += p->is_last ? -1 : 1;
	}
	return at;
}

static int64_t
find_place(const struct sl__places *p, const float *x)
{
	int64_t found = 0;

	for (int64_t i = 1; i < p->length; i++) {
		float a = x[i * p->inner], b = x[found * p->inner];
		int is_better = p->is_least ? a < b : a > b;

		if (isnan(a))
			is_better = !isnan(b);
		if (is_better || (p->is_last && is_same(a, b)))
			found = i;
	}
	return found;
}

int64_t
sl__places_find(const struct sl__places *p, const float *x)
{
	return p->inner == 1 ? find_in_row(p, x) : find_place(p, x);
}
