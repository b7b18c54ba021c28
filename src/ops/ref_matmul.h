/* SPDX-License-Identifier: Apache-2.0 */
/* ref_matmul.h - products of stacks of matrices, however they lie. */
#ifndef SL_REF_MATMUL_H
#define SL_REF_MATMUL_H

#include "ops/ref.h"

/* [batch][rows][columns]; strides in elements.  A vector is a matrix of one
 * row on the left, of one column on the right. */
struct sl__matmul_operand {
	int64_t rows, columns, row_stride, column_stride;
	size_t n_batch;
	int64_t batch[SL__RANK_MOST], strides[SL__RANK_MOST];
};

/* The product of two stacks: the batch dimensions of the result, and each
 * operand's strides along them, 0 where it is repeated. */
struct sl__matmul {
	struct sl__matmul_operand a, b;
	size_t n_batch;
	int64_t batch[SL__RANK_MOST];
	int64_t steps[2][SL__RANK_MOST];
	int64_t n; /* elements of the result */
};

/* Of inputs a and b, transposed as the node says. */
enum sl_status sl__matmul_read(struct sl__matmul *p, struct sl__eval *ev,
			       size_t a, size_t b);

/* The result, new, from the operands' elements as the inputs have them.
 * Integers wrap. */
double *sl__matmul_reals(struct sl__eval *ev, const struct sl__matmul *p,
			 const double *left, const double *right);
int64_t *sl__matmul_integers(struct sl__eval *ev, const struct sl__matmul *p,
			     const int64_t *left, const int64_t *right);

#endif
