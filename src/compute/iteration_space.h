/* SPDX-License-Identifier: Apache-2.0 */
/* iteration_space.h - the loops over the elements of several tensors in step.
 */
#ifndef SL_ITERATION_SPACE_H
#define SL_ITERATION_SPACE_H

#include "sleuth/basics.h"

#include <stdint.h>

enum { SL__SPACE_RANK_MAX = 16 }; /* loops, those over blocks included */

/*
 * Invariants: element p lies at the sum of p[d] * strides[d], in elements,
 * where 'axis' is -1.  Otherwise that dimension is cut into blocks: it counts
 * with p[axis] / block, and p[axis] % block is added.  is_padded: the last
 * block is not full, and what follows in it is zero.
 */
struct sl__strided_layout {
	int64_t strides[SL__SPACE_RANK_MAX];
	int axis;
	int64_t block;
	int is_padded;
	enum sl_dtype dtype; /* in which elements are stored */
};

enum { SL__SPACE_OPERANDS = 4 };

/*
 * Invariants: operand i's element at position p lies at the sum of
 * p[d] * strides[i][d] from where it begins, in elements; 0 repeats it,
 * negative strides walk backwards.  Operand 0 is the result.
 */
struct sl__iteration_space {
	int rank;
	int n; /* operands */
	int64_t dims[SL__SPACE_RANK_MAX];
	int64_t strides[SL__SPACE_OPERANDS][SL__SPACE_RANK_MAX];
};

/* Loops over 'dims' with no operand yet. */
void sl__space_init(struct sl__iteration_space *space, int rank,
		    const int64_t *dims);

/*
 * Cuts dimension 'axis' into blocks: it becomes a loop over blocks, and the
 * last loop goes through one.  Before operands are added.
 */
void sl__space_block_axis(struct sl__iteration_space *space, int axis,
			  int64_t block);

/*
 * Another operand: a tensor of 'dims' that lies as 'strided' says and is
 * broadcast, its dimensions being those from number 'first' on.  'cut' and
 * 'block' are what the loops were cut by, -1 where they were not.  Returns 0
 * where its order does not go with the loops.
 */
struct sl__space_operand {
	int first, rank;
	const int64_t *dims;
	const struct sl__strided_layout *strided;
};
int sl__space_add_operand(struct sl__iteration_space *space,
			  const struct sl__space_operand *operand, int cut,
			  int64_t block);

/* Orders loops by the result's strides, the least innermost, and joins those
 * that are one loop for every operand.  At least one loop is left. */
void sl__space_sort_loops(struct sl__iteration_space *space);
void sl__space_merge_loops(struct sl__iteration_space *space);

/* Product of the first n sizes. */
int64_t sl__space_n_positions(const struct sl__iteration_space *space, int n);

/* A position of the first n loops, with the operands' offsets there. */
struct sl__space_position {
	int64_t at[SL__SPACE_RANK_MAX];
	int64_t offsets[SL__SPACE_OPERANDS];
};
void sl__space_seek(const struct sl__iteration_space *space, int n,
		    int64_t index, struct sl__space_position *position);
void sl__space_next(const struct sl__iteration_space *space, int n,
		    struct sl__space_position *position);

#endif
