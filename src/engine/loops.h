/* SPDX-License-Identifier: Apache-2.0 */
/* loops.h - nested loops over the elements of several tensors in step. */
#ifndef SL_LOOPS_H
#define SL_LOOPS_H

#include "engine/strided_layout.h"
#include "engine/parallel.h"

enum { SL__LOOPS_OPERANDS = 4 };

/*
 * Invariants: operand i's element at position p lies at the sum of
 * p[d] * strides[i][d] from where it begins, in elements; 0 repeats it,
 * negative strides walk backwards.  Operand 0 is the result.
 */
struct sl__loops {
	int rank;
	int n; /* operands */
	int64_t dims[SL__LOOPS_MOST];
	int64_t strides[SL__LOOPS_OPERANDS][SL__LOOPS_MOST];
};

/* Loops over 'dims' with no operand yet. */
void sl__loops_start(struct sl__loops *loops, int rank, const int64_t *dims);

/*
 * Cuts dimension 'axis' into blocks: it becomes a loop over blocks, and the
 * last loop goes through one.  Before operands are added.
 */
void sl__loops_cut(struct sl__loops *loops, int axis, int64_t block);

/*
 * Another operand: a tensor of 'dims' that lies as 'strided' says and is
 * broadcast, its dimensions being those from number 'first' on.  'cut' and
 * 'block' are what the loops were cut by, -1 where they were not.  Returns 0
 * where its order does not go with the loops.
 */
struct sl__operand {
	int first, rank;
	const int64_t *dims;
	const struct sl__strided_layout *strided;
};
int sl__loops_add(struct sl__loops *loops, const struct sl__operand *operand,
		  int cut, int64_t block);

/* Orders loops by the result's strides, the least innermost, and joins those
 * that are one loop for every operand.  At least one loop is left. */
void sl__loops_sort(struct sl__loops *loops);
void sl__loops_join(struct sl__loops *loops);

/* Product of the first n sizes. */
int64_t sl__loops_count(const struct sl__loops *loops, int n);

/* A position of the first n loops, with the operands' offsets there. */
struct sl__position {
	int64_t at[SL__LOOPS_MOST];
	int64_t offsets[SL__LOOPS_OPERANDS];
};
void sl__loops_seek(const struct sl__loops *loops, int n, int64_t index,
		    struct sl__position *position);
void sl__loops_next(const struct sl__loops *loops, int n,
		    struct sl__position *position);

#endif
