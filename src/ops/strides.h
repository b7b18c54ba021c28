/* SPDX-License-Identifier: Apache-2.0 */
/* strides.h - walking through the elements of tensors in step. */
#ifndef SL_STRIDES_H
#define SL_STRIDES_H

#include "graph/shapes.h"

/* Product of dims[first] to dims[last - 1]; it wraps around where the tensor
 * has no elements and its other sizes are beyond all bounds. */
int64_t sl__dims_product(const int64_t *dims, size_t first, size_t last);

/* Strides, in elements, of row-major dims; returns their product.  Both wrap
 * around where sizes are beyond all bounds, which they can be beside a 0. */
int64_t sl__row_major_strides(int64_t *strides, size_t rank,
			      const int64_t *dims);

/*
 * Strides with which an operand of 'dims' is walked in step with a result of
 * out_rank dimensions, by numpy's rule of broadcasting: 0 where it is
 * repeated.  strides has room for out_rank.
 */
void sl__broadcast_strides(int64_t *strides, size_t out_rank, size_t rank,
			   const int64_t *dims);

/*
 * Steps through all positions of dims in row-major order: at[] (room for
 * rank, zeroed to start with) is the position, and each of n offsets follows
 * it by its strides.  Returns 0 after the last.
 */
int sl__strided_position_next(int64_t *at, size_t rank, const int64_t *dims,
			      int64_t *offsets, const int64_t *const *strides,
			      size_t n);

enum { SL__OPERANDS_MOST = 3 };

/* The same as an object: dims in row-major order, and the offsets of n operands
 * that follow.  The caller adds those by their strides, 0 at first. */
struct sl__strided_iterator {
	size_t rank, n;
	const int64_t *dims;
	int64_t at[SL__RANK_MOST];
	int64_t strides[SL__OPERANDS_MOST][SL__RANK_MOST];
	int64_t offsets[SL__OPERANDS_MOST];
};

/* rank is at most SL__RANK_MOST. */
void sl__strided_iterator_begin(struct sl__strided_iterator *w, size_t rank,
				const int64_t *dims);
int sl__strided_iterator_next(
	struct sl__strided_iterator *w); /* 0 after the last */

#endif
