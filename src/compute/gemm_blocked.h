/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_blocked.h - matmuls and convolutions of any size, by blocks. */
#ifndef SL_GEMM_BLOCKED_H
#define SL_GEMM_BLOCKED_H

#include <stddef.h>
#include <stdint.h>

/* Elements along k that are copied together, and how many times that at most:
 * 512 elements by 32 columns of B are 64 KiB, which stay in the second cache. */
enum { SL__GEMM_LINE = 16, SL__GEMM_LINES_MOST = 32 };

/* n elements of k in whole lines. */
static inline int64_t
sl__gemm_lines(int64_t n)
{
	return (n + SL__GEMM_LINE - 1) / SL__GEMM_LINE;
}

/*
 * Copies rows 'row' to row + n_rows - 1 of A, lines 'line' to line + n_lines -
 * 1 of each, to [n_lines][n_rows][SL__GEMM_LINE]; beyond k they are zero.  What
 * a row is made of is its own affair: a row of a matrix, or the pixels under a
 * window.
 */
struct sl__gemm_part {
	int64_t row, line, n_lines;
	int n_rows;
};
typedef void sl__gemm_rows_function(const void *ctx,
				    const struct sl__gemm_part *part,
				    float *to);

/*
 * C = clip(A B + bias + addend), all f32.  A is [m][k] as 'rows' copies it; B
 * [k][n], packed by sl__gemm_blocked_pack(); C [m][n] with c_row elements from
 * a row to the next; bias [n] or NULL; addend as C lies, or NULL; it may be C.
 * Sums run over k in blocks whose size does not depend on the tiles, so that
 * the result does not either.
 */
struct sl__gemm_blocked {
	int64_t m, n, k;
	sl__gemm_rows_function *rows;
	const void *ctx;
	const float *b, *bias, *addend;
	float *c;
	int64_t c_row;
	int is_clipped;
	float low, high;
};

/*
 * How C is cut into tiles that threads take one after the other: row blocks,
 * each in column blocks.  A thread needs scratch_bytes of its own, aligned to
 * 64.
 */
struct sl__gemm_cut {
	int64_t rows, columns; /* of a tile */
	int64_t n_column_blocks, n_tiles;
	uint64_t scratch_bytes;
};
void sl__gemm_blocked_cut(struct sl__gemm_cut *out, int64_t m, int64_t n,
			  int64_t k, int n_threads);
/* Rows and columns of a tile, in elements of C. */
struct sl__gemm_range {
	int64_t row, n_rows, column, n_columns;
};
struct sl__gemm_range sl__gemm_tile_range(const struct sl__gemm_blocked *g,
					  const struct sl__gemm_cut *cut,
					  int64_t tile);
void sl__gemm_blocked_tile(const struct sl__gemm_blocked *g,
			   const struct sl__gemm_range *range, float *scratch);

/* One panel for rows that are copied already: C = A B, with A as
 * sl__gemm_part says and C [n_rows][panel].  At most sl__gemm_blocked_rows()
 * rows.  They are one of n_groups for this panel; meanwhile the next panel of as
 * many lines is fetched, or none where that is NULL. */
struct sl__gemm_panel {
	const float *a, *b;
	float *c;
	int64_t n_lines;
	int n_rows;
	const float *next;
	int64_t group, n_groups;
};
void sl__gemm_panel(const struct sl__gemm_panel *p);
int sl__gemm_blocked_rows(void);

/* Columns of a panel of B, and floats of all panels: [n / panel][k][panel],
 * k in whole lines; filled up with zeros.  b(p, j) is at b[p * b_row +
 * j * b_column]. */
int64_t sl__gemm_blocked_panel(void);
int64_t sl__gemm_blocked_packed_floats(int64_t k, int64_t n);
struct sl__gemm_matrix {
	const float *at;
	int64_t row, column; /* strides */
};
void sl__gemm_blocked_pack(float *to, const struct sl__gemm_matrix *b,
			   int64_t k, int64_t n);

/* Rows of a matrix: a sl__gemm_rows_function whose ctx is one with k. */
struct sl__gemm_strided_rows {
	struct sl__gemm_matrix a;
	int64_t k;
};
sl__gemm_rows_function sl__gemm_strided_rows;

/* The instruction set, for names of kernels: "avx512", "avx2",
 * "neon", "plain". */
const char *sl__gemm_blocked_isa(void);

#endif
