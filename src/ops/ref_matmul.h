/* SPDX-License-Identifier: Apache-2.0 */
/* ref_matmul.h - products of stacks of matrices, however they lie. */
#ifndef SL_REF_MATMUL_H
#define SL_REF_MATMUL_H

#include "ops/ref.h"

/* [batch][rows][columns]; strides in elements.  A vector is a matrix of one
 * row on the left, of one column on the right. */
struct sl__matmul_operand {
	int64_t rows, columns, row_stride, column_stride, n_matrices;
};

/* The product of two stacks: 'w' walks over the batch dimensions of the result
 * with both operands, of which one may be repeated. */
struct sl__matmul {
	struct sl__matmul_operand a, b;
	int64_t batch[SL__RANK_MOST];
	struct sl__strided_iterator w;
	int64_t n; /* elements of the result */
};

/* Of the node's operands, transposed as it says; 'p' stays where it is. */
enum sl_status sl__matmul_read(struct sl__matmul *p,
			       struct sl__kernel_call *ev);

/* The result, new, from the operands' elements as the inputs have them.
 * Integers wrap. */
double *sl__matmul_doubles(struct sl__kernel_call *ev, struct sl__matmul *p,
			   const double *left, const double *right);
int64_t *sl__matmul_integers(struct sl__kernel_call *ev, struct sl__matmul *p,
			     const int64_t *left, const int64_t *right);

#endif
