/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strided_copy.c - elements copied from one order into another.
 *
 * The loops are in the order of the target, joined as far as they go.  The
 * innermost one is a run: a copy where the source advances by one too, a fill
 * where it stays.  Otherwise some other loop goes along the source's memory,
 * and the two are done in square tiles, so that neither side touches more
 * cache lines than it uses.
 */
#include "compute/strided_copy.h"
#include "compute/parallel.h"

#include <string.h>

#include "base/banned.h"

enum { TILE = 32 };

/* rows x columns elements: the target advances by one along columns, the
 * source along rows; strides are those along the other. */
struct tile {
	int64_t rows, columns;
	int64_t to_row, to_column, from_row, from_column; /* in elements */
};

typedef uint32_t four_words __attribute__((vector_size(16)));

/* 4 x 4 words, transposed in registers. */
static void
turn_words(const uint32_t *from, int64_t from_column, uint32_t *to,
	   int64_t to_row)
{
	four_words a, b, c, d, p, q, r, s;

	memcpy(&a, from, sizeof(a));
	memcpy(&b, from + from_column, sizeof(b));
	memcpy(&c, from + 2 * from_column, sizeof(c));
	memcpy(&d, from + 3 * from_column, sizeof(d));
	p = __builtin_shufflevector(a, b, 0, 4, 1, 5);
	q = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	r = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	s = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	a = __builtin_shufflevector(p, q, 0, 1, 4, 5);
	b = __builtin_shufflevector(p, q, 2, 3, 6, 7);
	c = __builtin_shufflevector(r, s, 0, 1, 4, 5);
	d = __builtin_shufflevector(r, s, 2, 3, 6, 7);
	memcpy(to, &a, sizeof(a));
	memcpy(to + to_row, &b, sizeof(b));
	memcpy(to + 2 * to_row, &c, sizeof(c));
	memcpy(to + 3 * to_row, &d, sizeof(d));
}

#define TURN(name, type)                                                      \
	static void name(const struct tile *t, const void *from, void *to)    \
	{                                                                     \
		for (int64_t r = 0; r < t->rows; r++) {                       \
			const type *x = (const type *)from + r * t->from_row; \
			type *y = (type *)to + r * t->to_row;                 \
                                                                              \
			for (int64_t c = 0; c < t->columns; c++)              \
				y[c * t->to_column] = x[c * t->from_column];  \
		}                                                             \
	}

TURN(turn_1, uint8_t)
TURN(turn_2, uint16_t)
TURN(turn_4_plain, uint32_t)
TURN(turn_8, uint64_t)

static void
turn_4(const struct tile *t, const void *from, void *to)
{
	int64_t rows = t->rows & ~(int64_t)3,
		columns = t->columns & ~(int64_t)3;
	struct tile rest = *t;
	const uint32_t *x = from;
	uint32_t *y = to;

	if (t->from_row != 1 || t->to_column != 1) {
		turn_4_plain(t, from, to);
		return;
	}
	for (int64_t r = 0; r < rows; r += 4) {
		for (int64_t c = 0; c < columns; c += 4)
			turn_words(x + r + c * t->from_column, t->from_column,
				   y + r * t->to_row + c, t->to_row);
	}
	rest.rows = rows;
	rest.columns = t->columns - columns;
	turn_4_plain(&rest, x + columns * t->from_column, y + columns);
	rest.rows = t->rows - rows;
	rest.columns = t->columns;
	turn_4_plain(&rest, x + rows, y + rows * t->to_row);
}

static void
turn(const struct tile *t, size_t n_bytes, const unsigned char *from,
     unsigned char *to)
{
	if (n_bytes == 1)
		turn_1(t, from, to);
	else if (n_bytes == 2)
		turn_2(t, from, to);
	else if (n_bytes == 4)
		turn_4(t, from, to);
	else
		turn_8(t, from, to);
}

/* A whole plane, tile by tile. */
static void
turn_plane(const struct tile *plane, size_t n_bytes, const unsigned char *from,
	   unsigned char *to)
{
	int64_t size = (int64_t)n_bytes;

	for (int64_t c = 0; c < plane->columns; c += TILE) {
		for (int64_t r = 0; r < plane->rows; r += TILE) {
			struct tile t = *plane;

			t.rows = plane->rows - r < TILE ? plane->rows - r
							: TILE;
			t.columns = plane->columns - c < TILE
					    ? plane->columns - c
					    : TILE;
			turn(&t, n_bytes,
			     from + (r * plane->from_row +
				     c * plane->from_column) *
					     size,
			     to + (r * plane->to_row + c * plane->to_column) *
					     size);
		}
	}
}

static void
fill(unsigned char *to, const unsigned char *from, int64_t n, size_t n_bytes)
{
	uint64_t word = 0;

	memcpy(&word, from, n_bytes);
	if (n_bytes == 1) {
		memset(to, (int)word, (size_t)n);
	} else if (n_bytes == 2) {
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)(void *)to)[i] = (uint16_t)word;
	} else if (n_bytes == 4) {
		for (int64_t i = 0; i < n; i++)
			((uint32_t *)(void *)to)[i] = (uint32_t)word;
	} else {
		for (int64_t i = 0; i < n; i++)
			((uint64_t *)(void *)to)[i] = word;
	}
}

/* The innermost loop at one position of the others. */
static void
move_run(const struct sl__iteration_space *space, size_t n_bytes,
	 const unsigned char *from, unsigned char *to)
{
	int last = space->rank - 1;
	int64_t n = space->dims[last];
	int64_t step = space->strides[1][last];
	struct tile t = {1, n, 0, space->strides[0][last], 0, step};

	if (t.to_column == 1 && step == 1)
		memcpy(to, from, (size_t)n * n_bytes);
	else if (t.to_column == 1 && step == 0)
		fill(to, from, n, n_bytes);
	else
		turn(&t, n_bytes, from, to);
}

/* Loops that are walked one by one: all but the last, or the last two where
 * those make a plane. */
static int
is_plane(const struct sl__iteration_space *l)
{
	return l->rank > 1 && l->strides[1][l->rank - 2] == 1 &&
	       l->strides[1][l->rank - 1] != 1 &&
	       l->strides[1][l->rank - 1] != 0;
}

/* Rows of the outermost loop of a plane, first .. end - 1 of all rows of all
 * planes. */
static void
move_planes(const struct sl__strided_copy *m, int64_t first, int64_t end)
{
	const struct sl__iteration_space *l = m->space;
	int n = l->rank - 2;
	int64_t size = (int64_t)m->n_bytes, rows = l->dims[n];
	struct tile t = {0,
			 l->dims[n + 1],
			 l->strides[0][n],
			 l->strides[0][n + 1],
			 l->strides[1][n],
			 l->strides[1][n + 1]};

	while (first < end) {
		struct sl__space_position p;
		int64_t row = first % rows;

		t.rows = rows - row < end - first ? rows - row : end - first;
		sl__space_seek(l, n, first / rows, &p);
		turn_plane(&t, m->n_bytes,
			   m->from + (p.offsets[1] + row * t.from_row) * size,
			   m->to + (p.offsets[0] + row * t.to_row) * size);
		first += t.rows;
	}
}

static void
move_runs(const struct sl__strided_copy *m, int64_t first, int64_t end)
{
	const struct sl__iteration_space *l = m->space;
	int64_t size = (int64_t)m->n_bytes;
	struct sl__space_position p;

	if (first == end)
		return;
	sl__space_seek(l, l->rank - 1, first, &p);
	for (; first < end; first++) {
		move_run(m->space, m->n_bytes, m->from + p.offsets[1] * size,
			 m->to + p.offsets[0] * size);
		sl__space_next(l, l->rank - 1, &p);
	}
}

/* Part of a box that is one run. */
static void
move_stretch(const struct sl__strided_copy *m, int64_t first, int64_t end)
{
	struct sl__iteration_space part = *m->space;
	int64_t size = (int64_t)m->n_bytes;

	part.dims[0] = end - first;
	if (first < end)
		move_run(&part, m->n_bytes,
			 m->from + first * part.strides[1][0] * size,
			 m->to + first * part.strides[0][0] * size);
}

static void
move_part(int rank, int n_ranks, void *ctx)
{
	const struct sl__strided_copy *m = ctx;
	const struct sl__iteration_space *l = m->space;
	int64_t first, end;

	if (l->rank == 1) {
		sl__parallel_range(l->dims[0], rank, n_ranks, &first, &end);
		move_stretch(m, first, end);
		return;
	}
	sl__parallel_range(sl__space_n_positions(l, l->rank - 1), rank, n_ranks,
			   &first, &end);
	if (is_plane(l))
		move_planes(m, first, end);
	else
		move_runs(m, first, end);
}

void
sl__strided_copy(const struct sl__strided_copy *copy, int n_threads)
{
	struct sl__strided_copy all = *copy;

	sl__parallel_run(n_threads, move_part, &all);
}

static void
move_loop(struct sl__iteration_space *l, int from, int to)
{
	struct sl__iteration_space was = *l;

	for (int d = from; d < to; d++) {
		l->dims[d] = was.dims[d + 1];
		for (int i = 0; i < l->n; i++)
			l->strides[i][d] = was.strides[i][d + 1];
	}
	l->dims[to] = was.dims[from];
	for (int i = 0; i < l->n; i++)
		l->strides[i][to] = was.strides[i][from];
}

/* Brings the loop that goes along the source's memory next to the last. */
static void
find_plane(struct sl__iteration_space *l)
{
	int last = l->rank - 1;

	if (l->strides[1][last] == 1 || l->strides[1][last] == 0)
		return;
	for (int d = 0; d < last; d++) {
		if (l->strides[1][d] == 1) {
			move_loop(l, d, last - 1);
			return;
		}
	}
}

void
sl__strided_copy_order(struct sl__iteration_space *space)
{
	space->n = 2;
	sl__space_sort_loops(space);
	sl__space_merge_loops(space);
	find_plane(space);
}
