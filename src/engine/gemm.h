/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h - a matmul as its kernels see it: one GEMM over stacks. */
#ifndef SL_GEMM_H
#define SL_GEMM_H

#include "engine/planner.h"
#include "ops/post_op.h"

enum { SL__GEMM_RANK = 10, SL__EPILOGUE_MAX = SL__POST_OPS_MAX + 4 };

/*
 * One operation on the result: a factor, a bias and the node's chain, in
 * order.  The operand's strides go with the matmul's dims and columns, 0
 * where it is repeated.
 */
struct sl__epilogue_op {
	struct sl__post_op post_op;
	uint32_t value; /* of ADD and MUL, else SL__NONE */
	const struct sl__layout
		*layout; /* in which it is read; NULL: row-major */
	int64_t strides[SL__GEMM_RANK];
	int64_t column;
};

/*
 * y[.., i, j] = sum over p of a[.., i, p] b[.., p, j], then the epilogue.
 *
 * dims[] are those of the result before its columns: stacks of matrices, and
 * last the rows.  Neighbours that all operands walk alike are one dimension,
 * so a matmul of a stack with a single right matrix has one dimension, all
 * rows.  Strides are in elements of row-major values; a transposed operand is
 * one of other strides.  Sizes of 1 have gone, but for the rows.
 */
struct sl__gemm {
	uint32_t a, b, y; /* values */
	int rank;         /* at least 1 */
	int64_t dims[SL__GEMM_RANK];
	int64_t a_strides[SL__GEMM_RANK], b_strides[SL__GEMM_RANK];
	int64_t n, k;          /* columns of the result; what is summed */
	int64_t a_k, b_k, b_n; /* strides along these */
	int n_epilogue;
	struct sl__epilogue_op epilogue[SL__EPILOGUE_MAX];
	enum sl_dtype dtype; /* that the kernel multiplies: F32 or BF16 */
};

/*
 * Reads MatMul, Gemm, their fused kin and "sleuth" MatMul; 0 where the node
 * is not for these kernels: other types of number, nothing to multiply, too
 * many dimensions, an activation that is no post-operation.
 */
int sl__gemm_read(struct sl__gemm *out, const struct sl__planner *pl,
		  const struct sl__node *node);

/* Rows of all stacks together. */
int64_t sl__gemm_n_rows(const struct sl__gemm *p);

/* Whether an end adds one number per column: a bias. */
int sl__epilogue_is_bias(const struct sl__gemm *p, int i);

/* Whether an end adds a value of the result's own sizes. */
int sl__epilogue_is_residual(const struct sl__gemm *p, int i);

/* The layout of a value's elements in that type, row-major; NULL for its own.
 * And the right matrix, a constant, as [n][k] in the matmul's type
 * (dnnl_matmul.c, native_layout.c). */
const struct sl__layout *sl__gemm_row_major_layout(struct sl__planner *pl,
						   uint32_t value,
						   enum sl_dtype dtype);
uint32_t sl__gemm_pack_weights(struct sl__planner *pl,
			       const struct sl__gemm *p);

#endif
