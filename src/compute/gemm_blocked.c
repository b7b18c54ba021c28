/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_blocked.c - matmuls and convolutions of any size, by blocks.
 *
 * C is cut into tiles whose sums stay in registers (gemm_tile.def).  B is
 * packed into panels as wide as a tile.  k is cut so that a part of a panel
 * stays near while all rows of a block of A, copied side by side
 * into the second cache, go by.  A is copied in lines of 16 elements along k,
 * without transposing: a tile broadcasts its elements one by one, so that their
 * order does not matter, and a convolution copies pixels as they lie.
 */
#include "compute/gemm_blocked.h"
#include "compute/targets.h"

#include <string.h>

#include "base/banned.h"

/* A tile of C: where its rows, its panel and its sums are; and where two halves
 * of a panel, to be fetched into the second cache meanwhile. */
struct tile {
	const float *a, *b, *bias, *addend;
	const float *ahead[2];
	float *c;
	int64_t c_row, n_lines;
	int is_first, is_clipped;
	float low, high;
};

struct tiles {
	const char *isa;
	int rows, columns;                              /* most of a tile */
	void (*narrow)(const struct tile *t, int rows); /* half the columns */
	void (*wide)(const struct tile *t, int rows);
};

#define CASES_6      \
	ROWS_CASE(1) \
	ROWS_CASE(2) ROWS_CASE(3) ROWS_CASE(4) ROWS_CASE(5) ROWS_CASE(6)
#define CASES_12                                                     \
	CASES_6 ROWS_CASE(7) ROWS_CASE(8) ROWS_CASE(9) ROWS_CASE(10) \
		ROWS_CASE(11) ROWS_CASE(12)

#if defined(__x86_64__)
#define TILE(name)  name##_avx512
#define TILE_NAME   "avx512"
#define TILE_TARGET __attribute__((target("avx512f,fma")))
#define TILE_LANES  16
#define TILE_ROWS   14
#define TILE_CASES  CASES_12 ROWS_CASE(13) ROWS_CASE(14)
#include "compute/gemm_tile.def"
#undef TILE
#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_ROWS
#undef TILE_CASES

#define TILE(name)  name##_avx2
#define TILE_NAME   "avx2"
#define TILE_TARGET __attribute__((target("avx2,fma")))
#define TILE_LANES  8
#define TILE_ROWS   6
#define TILE_CASES  CASES_6
#include "compute/gemm_tile.def"
#undef TILE
#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_ROWS
#undef TILE_CASES
#endif

/* What every CPU of the architecture has: 32 vector registers hold 24 sums. */
#define TILE(name) name##_plain
#define TILE_TARGET
#define TILE_LANES 4
#if defined(__aarch64__)
#define TILE_NAME  "neon"
#define TILE_ROWS  12
#define TILE_CASES CASES_12
#else
#define TILE_NAME  "plain"
#define TILE_ROWS  6
#define TILE_CASES CASES_6
#endif
#include "compute/gemm_tile.def"

static const struct tiles *
choose(void)
{
#if defined(__x86_64__)
	if (sl__isa_has(SL__ISA_AVX512))
		return &tiles_avx512;
	if (sl__isa_has(SL__ISA_AVX2))
		return &tiles_avx2;
#endif
	return &tiles_plain;
}

const char *
sl__gemm_blocked_isa(void)
{
	return choose()->isa;
}

int64_t
sl__gemm_blocked_panel(void)
{
	return choose()->columns;
}

int
sl__gemm_blocked_rows(void)
{
	return choose()->rows;
}

/*
 * The panel that follows, NULL if none does, is fetched while the first two of
 * n_groups tiles, or the only one, are computed: from memory it comes no faster
 * than they take.
 */
static void
look_ahead(struct tile *t, int columns, const float *next, int64_t group,
	   int64_t n_groups)
{
	int64_t half = t->n_lines * SL__GEMM_LINE * columns / 2;

	if (!next || group > 1) {
		t->ahead[0] = t->ahead[1] = t->b;
		return;
	}
	t->ahead[0] = next + group * half;
	t->ahead[1] = n_groups == 1 ? next + half : t->ahead[0];
}

void
sl__gemm_panel(const struct sl__gemm_panel *p)
{
	const struct tiles *tiles = choose();
	struct tile t = {.a = p->a,
			 .b = p->b,
			 .c = p->c,
			 .c_row = tiles->columns,
			 .n_lines = p->n_lines,
			 .is_first = 1};

	look_ahead(&t, tiles->columns, p->next, p->group, p->n_groups);
	tiles->wide(&t, p->n_rows);
}

static int64_t
round_up(int64_t n, int64_t step)
{
	return (n + step - 1) / step * step;
}

int64_t
sl__gemm_blocked_packed_floats(int64_t k, int64_t n)
{
	return round_up(n, choose()->columns) * sl__gemm_lines(k) *
	       SL__GEMM_LINE;
}

/* Sixteen rows at a time, so that lines of a transposed matrix are used up
 * while they are near. */
void
sl__gemm_blocked_pack(float *to, const struct sl__gemm_matrix *b, int64_t k,
		      int64_t n)
{
	int64_t width = choose()->columns;

	for (int64_t j0 = 0; j0 < n; j0 += width) {
		int64_t columns = n - j0 < width ? n - j0 : width;
		const float *from = b->at + j0 * b->column;

		for (int64_t p0 = 0; p0 < k; p0 += SL__GEMM_LINE) {
			int64_t rows = k - p0 < SL__GEMM_LINE ? k - p0
							      : SL__GEMM_LINE;

			if (columns < width || rows < SL__GEMM_LINE)
				memset(to, 0,
				       (size_t)(SL__GEMM_LINE * width) *
					       sizeof(*to));
			for (int64_t j = 0; j < columns; j++) {
				const float *x = from + j * b->column;

				for (int64_t p = 0; p < rows; p++)
					to[p * width + j] = x[p * b->row];
			}
			from += SL__GEMM_LINE * b->row;
			to += SL__GEMM_LINE * width;
		}
	}
}

void
sl__gemm_strided_rows(const void *ctx, const struct sl__gemm_part *part,
		      float *to)
{
	const struct sl__gemm_strided_rows *s = ctx;
	const float *a = s->a.at + part->row * s->a.row;
	int64_t k = part->line * SL__GEMM_LINE;

	for (int64_t l = 0; l < part->n_lines; l++, k += SL__GEMM_LINE) {
		int64_t n = s->k - k < SL__GEMM_LINE ? s->k - k : SL__GEMM_LINE;

		for (int i = 0; i < part->n_rows; i++, to += SL__GEMM_LINE) {
			const float *from = a + i * s->a.row + k * s->a.column;

			if (n == SL__GEMM_LINE && s->a.column == 1) {
				memcpy(to, from, SL__GEMM_LINE * sizeof(*to));
				continue;
			}
			for (int64_t p = 0; p < SL__GEMM_LINE; p++)
				to[p] = p < n ? from[p * s->a.column] : 0;
		}
	}
}

/*
 * On one thread tiles have all columns and as many rows as keep a block of A
 * in half of a second cache of 512 KiB.  On several there are at least four for
 * each, so that one that is held up by others leaves its work to the rest.
 */
void
sl__gemm_blocked_cut(struct sl__gemm_cut *out, int64_t m, int64_t n, int64_t k,
		     int n_threads)
{
	enum { BLOCK_ROWS = 112, TILES_PER_THREAD = 4, COLUMNS_LEAST = 128 };
	const struct tiles *tiles = choose();
	int64_t wanted = n_threads > 1 ? n_threads * TILES_PER_THREAD : 1;
	int64_t lines = sl__gemm_lines(k), n_blocks;

	out->rows = round_up(m < BLOCK_ROWS ? m : BLOCK_ROWS, tiles->rows);
	out->columns = round_up(n, tiles->columns);
	for (;;) {
		n_blocks = (m + out->rows - 1) / out->rows;
		out->n_column_blocks = (n + out->columns - 1) / out->columns;
		out->n_tiles = n_blocks * out->n_column_blocks;
		if (out->n_tiles >= wanted)
			break;
		if (out->rows > 4 * tiles->rows)
			out->rows = round_up(out->rows / 2, tiles->rows);
		else if (out->columns > COLUMNS_LEAST)
			out->columns =
				round_up(out->columns / 2, tiles->columns);
		else
			break;
	}
	lines = lines < SL__GEMM_LINES_MOST ? lines : SL__GEMM_LINES_MOST;
	out->scratch_bytes =
		(uint64_t)(out->rows * lines * SL__GEMM_LINE) * sizeof(float);
}

struct sl__gemm_range
sl__gemm_tile_range(const struct sl__gemm_blocked *g,
		    const struct sl__gemm_cut *cut, int64_t tile)
{
	int64_t row = tile / cut->n_column_blocks * cut->rows;
	int64_t column = tile % cut->n_column_blocks * cut->columns;

	return (struct sl__gemm_range){
		row, g->m - row < cut->rows ? g->m - row : cut->rows, column,
		g->n - column < cut->columns ? g->n - column : cut->columns};
}

/* A tile of fewer columns than its vectors have, by way of a copy. */
static void
multiply_edge(const struct tiles *tiles, const struct tile *t, int rows,
	      int columns)
{
	enum { MOST = 14 * 32 };
	float copy[MOST];
	int width = columns > tiles->columns / 2 ? tiles->columns
						 : tiles->columns / 2;
	struct tile part = *t;

	for (int i = 0; i < rows; i++) {
		for (int j = 0; j < width; j++) {
			int64_t at = i * t->c_row + j;
			float x = 0;

			if (j < columns && !t->is_first)
				x = t->c[at];
			else if (j < columns)
				x = (t->bias ? t->bias[j] : 0) +
				    (t->addend ? t->addend[at] : 0);
			copy[i * width + j] = x;
		}
	}
	part.is_first = 0;
	part.c = copy;
	part.c_row = width;
	(width == tiles->columns ? tiles->wide : tiles->narrow)(&part, rows);
	for (int i = 0; i < rows; i++)
		memcpy(t->c + i * t->c_row, copy + i * width,
		       (size_t)columns * sizeof(*copy));
}

static void
multiply(const struct tiles *tiles, const struct tile *t, int rows, int columns)
{
	if (columns == tiles->columns)
		tiles->wide(t, rows);
	else if (columns == tiles->columns / 2)
		tiles->narrow(t, rows);
	else
		multiply_edge(tiles, t, rows, columns);
}

/* All panels of the range for the rows in 'a', which are copied in groups as
 * large as a tile. */
static void
multiply_block(const struct sl__gemm_blocked *g,
	       const struct sl__gemm_range *range, struct tile t,
	       int64_t first_line, const float *a)
{
	const struct tiles *tiles = choose();
	int64_t panel = sl__gemm_lines(g->k) * SL__GEMM_LINE;
	int64_t end = range->column + range->n_columns;
	int64_t n_groups = (range->n_rows + tiles->rows - 1) / tiles->rows;

	for (int64_t j = range->column; j < end; j += tiles->columns) {
		int columns = (int)(end - j < tiles->columns ? end - j
							     : tiles->columns);
		const float *next = NULL;

		t.b = g->b + j * panel +
		      first_line * SL__GEMM_LINE * tiles->columns;
		if (j + tiles->columns < end)
			next = t.b + tiles->columns * panel;
		t.bias = g->bias ? g->bias + j : NULL;
		t.a = a;
		for (int64_t i = 0; i < range->n_rows; i += tiles->rows) {
			int64_t left = range->n_rows - i;
			int64_t at = (range->row + i) * g->c_row + j;
			int rows = left < tiles->rows ? (int)left : tiles->rows;

			t.c = g->c + at;
			t.addend = g->addend ? g->addend + at : NULL;
			look_ahead(&t, tiles->columns, next, i / tiles->rows,
				   n_groups);
			multiply(tiles, &t, rows, columns);
			t.a += rows * t.n_lines * SL__GEMM_LINE;
		}
	}
}

static void
copy_rows(const struct sl__gemm_blocked *g, const struct sl__gemm_range *range,
	  int64_t line, int64_t n_lines, float *to)
{
	int most = choose()->rows;

	for (int64_t i = 0; i < range->n_rows; i += most) {
		struct sl__gemm_part part = {range->row + i, line, n_lines,
					     (int)(range->n_rows - i)};

		part.n_rows = part.n_rows < most ? part.n_rows : most;
		g->rows(g->ctx, &part, to);
		to += part.n_rows * n_lines * SL__GEMM_LINE;
	}
}

void
sl__gemm_blocked_tile(const struct sl__gemm_blocked *g,
		      const struct sl__gemm_range *range, float *scratch)
{
	int64_t lines = sl__gemm_lines(g->k);
	struct tile t = {.c_row = g->c_row, .low = g->low, .high = g->high};

	for (int64_t l = 0; l < lines; l += SL__GEMM_LINES_MOST) {
		t.n_lines = lines - l < SL__GEMM_LINES_MOST
				    ? lines - l
				    : SL__GEMM_LINES_MOST;
		t.is_first = l == 0;
		t.is_clipped = g->is_clipped && l + t.n_lines == lines;
		copy_rows(g, range, l, t.n_lines, scratch);
		multiply_block(g, range, t, l, scratch);
	}
}
