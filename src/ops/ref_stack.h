/* SPDX-License-Identifier: Apache-2.0 */
/* ref_stack.h - tensors of one shape that come one by one and become one. */
#ifndef SL_REF_STACK_H
#define SL_REF_STACK_H

#include "ops/ref_move.h"

/*
 * Invariants: n pieces so far, each of type dtype and sizes dims[rank], lie
 * packed one behind the other in 'bytes'; strings lie there as text, each
 * with its NUL.  As long as there is no shape nothing is there, but n counts.
 * All zero is an empty one; 'bytes' belongs to the stack.
 */
struct sl__stack {
	int has_shape;
	enum sl_dtype dtype;
	size_t rank;
	int64_t dims[SL__RANK_MOST];
	int64_t n, n_piece; /* elements of a piece */
	unsigned char *bytes;
	size_t n_bytes, cap_bytes;
};

/* SL_E_DATA where the piece is unlike those before it. */
enum sl_status sl__stack_push(struct sl__stack *s, struct sl__eval *ev,
			      const struct sl__datum *piece);

/* n pieces of zeros. */
enum sl_status sl__stack_skip(struct sl__stack *s, struct sl__eval *ev,
			      int64_t n);

/* Pieces have this declared type, where none has come yet; sizes that it
 * does not know are 0. */
enum sl_status sl__stack_declare(struct sl__stack *s, struct sl__eval *ev,
				 const struct sl__type *type);

/* How the pieces lie in a tensor. */
struct sl__stacking {
	int64_t axis;   /* the new dimension; counted from either end */
	int is_reverse; /* the last piece comes first */
	int64_t n_rows; /* not 0: [n_rows][n / n_rows][piece] instead */
};

/* Output k becomes all pieces; the stack has a shape. */
enum sl_status sl__stack_give(struct sl__stack *s, struct sl__eval *ev,
			      size_t k, const struct sl__stacking *how);

void sl__stack_release(struct sl__stack *s, struct sl__eval *ev);

#endif
