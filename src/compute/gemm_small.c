/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_small.c - matmuls of matrices that fit into a core's cache.
 *
 * C is cut into tiles whose sums stay in registers while k runs: with AVX-512
 * six rows of four registers, which leaves one multiply-add a cycle waiting
 * for nothing but the arithmetic (24 of them for 4 loads and 6 broadcasts).
 * k is cut so that a panel of B stays near for all rows of A.
 */
#include "compute/gemm_small.h"
#include "machine/isa.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

/* Rows of B that are used for all of A before the next ones. */
enum { DEPTH = 256 };

/* A tile of C: k steps from a and b on, their strides, where it goes. */
struct tile {
	int64_t k, a_row, a_column, b_row, c_row;
	const float *a, *b;
	float *c;
	float alpha;
	int is_added;
};

typedef void tile_function(const struct tile *t, int rows, int columns);

enum { ROWS = 6 };

static void
write_row(const struct tile *t, int row, int columns, const float *sums)
{
	float *c = t->c + row * t->c_row;

	for (int j = 0; j < columns; j++) {
		float x = t->alpha * sums[j];

		c[j] = t->is_added ? c[j] + x : x;
	}
}

/* Up to 16 columns at a time keep their sums in registers. */
static void
tile_generic(const struct tile *t, int rows, int columns)
{
	enum { WIDTH = 16 };

	for (int j0 = 0; j0 < columns; j0 += WIDTH) {
		int n = columns - j0 < WIDTH ? columns - j0 : WIDTH;
		struct tile part = *t;

		part.c += j0;
		for (int i = 0; i < rows; i++) {
			const float *a = t->a + i * t->a_row;
			const float *b = t->b + j0;
			float sums[WIDTH] = {0};

			for (int64_t p = 0; p < t->k; p++) {
				float x = a[p * t->a_column];

				for (int j = 0; j < n; j++)
					sums[j] += x * b[j];
				b += t->b_row;
			}
			write_row(&part, i, n, sums);
		}
	}
}

#if defined(__x86_64__)

#define AVX512 __attribute__((target("avx512f")))
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

enum { LANES = 16, VECTORS = 4 };

AVX512 INLINE void
write_tile(const struct tile *t, int rows, int vectors, __mmask16 last,
	   __m512 sums[ROWS][VECTORS])
{
	__m512 alpha = _mm512_set1_ps(t->alpha);

	UNROLL
	for (int i = 0; i < rows; i++) {
		UNROLL
		for (int j = 0; j < vectors; j++) {
			float *c = t->c + i * t->c_row + j * LANES;
			__mmask16 m = j == vectors - 1 ? last : 0xffff;
			__m512 old = t->is_added ? _mm512_maskz_loadu_ps(m, c)
						 : _mm512_setzero_ps();

			_mm512_mask_storeu_ps(
				c, m, _mm512_fmadd_ps(alpha, sums[i][j], old));
		}
	}
}

/* 'rows' and 'vectors' are constants wherever this is inlined. */
AVX512 INLINE void
tile_512(const struct tile *t, int rows, int vectors, __mmask16 last)
{
	__m512 sums[ROWS][VECTORS], b[VECTORS];
	const float *at_a = t->a, *at_b = t->b;

	UNROLL
	for (int i = 0; i < rows; i++) {
		UNROLL
		for (int j = 0; j < vectors; j++)
			sums[i][j] = _mm512_setzero_ps();
	}
	for (int64_t p = 0; p < t->k; p++) {
		UNROLL
		for (int j = 0; j < vectors; j++)
			b[j] = _mm512_maskz_loadu_ps(j == vectors - 1 ? last
								      : 0xffff,
						     at_b + j * LANES);
		UNROLL
		for (int i = 0; i < rows; i++) {
			__m512 a = _mm512_set1_ps(at_a[i * t->a_row]);

			UNROLL
			for (int j = 0; j < vectors; j++)
				sums[i][j] =
					_mm512_fmadd_ps(a, b[j], sums[i][j]);
		}
		at_a += t->a_column;
		at_b += t->b_row;
	}
	write_tile(t, rows, vectors, last, sums);
}

#define DEFINE_ROWS(vectors)                                              \
	AVX512 static void rows_##vectors(const struct tile *t, int rows, \
					  __mmask16 last)                 \
	{                                                                 \
		switch (rows) {                                           \
		case 1:                                                   \
			tile_512(t, 1, vectors, last);                    \
			break;                                            \
		case 2:                                                   \
			tile_512(t, 2, vectors, last);                    \
			break;                                            \
		case 3:                                                   \
			tile_512(t, 3, vectors, last);                    \
			break;                                            \
		case 4:                                                   \
			tile_512(t, 4, vectors, last);                    \
			break;                                            \
		case 5:                                                   \
			tile_512(t, 5, vectors, last);                    \
			break;                                            \
		default:                                                  \
			tile_512(t, 6, vectors, last);                    \
			break;                                            \
		}                                                         \
	}
DEFINE_ROWS(1)
DEFINE_ROWS(2)
DEFINE_ROWS(3)
DEFINE_ROWS(4)

static void
tile_avx512(const struct tile *t, int rows, int columns)
{
	static void (*const by_width[])(const struct tile *, int, __mmask16) = {
		rows_1, rows_2, rows_3, rows_4};
	int vectors = (columns + LANES - 1) / LANES;
	int rest = columns - (vectors - 1) * LANES;

	by_width[vectors - 1](t, rows, (__mmask16)((1u << rest) - 1));
}

static tile_function *
choose(void)
{
	return sl__isa_has(SL__ISA_AVX512) ? tile_avx512 : tile_generic;
}

#else

static tile_function *
choose(void)
{
	return tile_generic;
}

#endif

static void
clear(const struct sl__gemm_small *g)
{
	for (int64_t i = 0; i < g->m && !g->is_added; i++)
		memset(g->c + i * g->c_row, 0, (size_t)g->n * sizeof(*g->c));
}

/* One panel of B, of t->k rows, for all rows of A. */
static void
multiply_panel(const struct sl__gemm_small *g, struct tile *t, int columns,
	       tile_function *multiply)
{
	for (int64_t i = 0; i < g->m; i += ROWS) {
		multiply(t, g->m - i < ROWS ? (int)(g->m - i) : ROWS, columns);
		t->a += ROWS * g->a_row;
		t->c += ROWS * g->c_row;
	}
}

void
sl__gemm_small(const struct sl__gemm_small *g)
{
	tile_function *multiply = choose();
	struct tile t = {.a_row = g->a_row,
			 .a_column = g->a_column,
			 .b_row = g->is_packed ? SL__PANEL : g->b_row,
			 .c_row = g->c_row,
			 .alpha = g->alpha};

	if (g->k == 0)
		clear(g);
	for (int64_t p = 0; p < g->k; p += DEPTH) {
		t.k = g->k - p < DEPTH ? g->k - p : DEPTH;
		t.is_added = g->is_added || p > 0;
		for (int64_t j = 0; j < g->n; j += SL__PANEL) {
			int64_t left = g->n - j;

			t.a = g->a + p * g->a_column;
			t.b = g->b + (g->is_packed ? j * g->k + p * SL__PANEL
						   : p * g->b_row + j);
			t.c = g->c + j;
			multiply_panel(g, &t,
				       left < SL__PANEL ? (int)left : SL__PANEL,
				       multiply);
		}
	}
}

/* Blocks of rows, so that a line that is read is used up while it is near. */
static void
pack_panel(float *to, const float *b, const int64_t strides[2], int64_t k,
	   int64_t columns)
{
	enum { BLOCK = 16 };

	for (int64_t p0 = 0; p0 < k; p0 += BLOCK) {
		int64_t end = k - p0 < BLOCK ? k : p0 + BLOCK;

		for (int64_t j = 0; j < columns; j++) {
			const float *from = b + j * strides[1];

			for (int64_t p = p0; p < end; p++)
				to[p * SL__PANEL + j] = from[p * strides[0]];
		}
		for (int64_t p = p0; p < end && columns < SL__PANEL; p++)
			memset(to + p * SL__PANEL + columns, 0,
			       (size_t)(SL__PANEL - columns) * sizeof(*to));
	}
}

static void
copy_panel(float *to, const float *b, int64_t b_row, int64_t k, int64_t columns)
{
	for (int64_t p = 0; p < k; p++) {
		memcpy(to + p * SL__PANEL, b + p * b_row,
		       (size_t)columns * sizeof(*to));
		memset(to + p * SL__PANEL + columns, 0,
		       (size_t)(SL__PANEL - columns) * sizeof(*to));
	}
}

void
sl__gemm_small_pack(float *to, const float *b, int64_t b_row, int64_t b_column,
		    int64_t k, int64_t n)
{
	const int64_t strides[2] = {b_row, b_column};

	for (int64_t j = 0; j < n; j += SL__PANEL) {
		int64_t columns = n - j < SL__PANEL ? n - j : SL__PANEL;

		if (b_column == 1)
			copy_panel(to, b + j, b_row, k, columns);
		else
			pack_panel(to, b + j * b_column, strides, k, columns);
		to += SL__PANEL * k;
	}
}
