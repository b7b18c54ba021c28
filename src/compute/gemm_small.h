/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_small.h - matmuls of matrices that fit into a core's cache. */
#ifndef SL_GEMM_SMALL_H
#define SL_GEMM_SMALL_H

#include <stdint.h>

/*
 * C = alpha A B, or C += alpha A B where 'is_added' is set; A is [m][k], B
 * [k][n], C [m][n], all f32.  Strides are in elements.  Neighbours in a row
 * of C lie side by side; A may have any strides (a transposed one exchanges
 * them); B lies by rows (its neighbours in a row side by side) or is packed
 * by sl__gemm_small_pack(), then is_packed is 1 and b_row does not count.
 *
 * Runs on the calling thread and uses no memory but these; C overlaps neither
 * A nor B.  No size needs to be a multiple of anything and no pointer to be
 * aligned beyond its elements; m, n or k may be 0 (a sum of nothing is 0).
 * Best where n is a multiple of 64 and m at least 6; memory beyond the
 * elements is never touched.
 */
struct sl__gemm_small {
	int64_t m, n, k;
	const float *a;
	int64_t a_row, a_column;
	const float *b;
	int64_t b_row;
	float *c;
	int64_t c_row;
	float alpha;
	int is_packed, is_added;
};

void sl__gemm_small(const struct sl__gemm_small *g);

/*
 * B packed into panels of SL__PANEL columns, [n / SL__PANEL][k][SL__PANEL],
 * the last one filled up with zeros: for a B of which columns, not rows, lie
 * side by side (the keys of attention), or that is far from memory's order
 * and used for many rows of A.  'to' holds sl__gemm_small_packed_floats(k, n)
 * numbers.
 */
enum { SL__PANEL = 64 };

static inline int64_t
sl__gemm_small_packed_floats(int64_t k, int64_t n)
{
	return (n + SL__PANEL - 1) / SL__PANEL * SL__PANEL * k;
}

/* b(i, j) is at b[i * b_row + j * b_column]; one of the two should be 1. */
void sl__gemm_small_pack(float *to, const float *b, int64_t b_row,
			 int64_t b_column, int64_t k, int64_t n);

#endif
