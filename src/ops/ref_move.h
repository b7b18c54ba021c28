/* SPDX-License-Identifier: Apache-2.0 */
/* ref_move.h - elements moved between tensors, whatever their type. */
#ifndef SL_REF_MOVE_H
#define SL_REF_MOVE_H

#include "ops/ref.h"

/*
 * From where to where elements of one type go; places are counted in
 * elements.  Types of less than a byte are moved too.  Of strings the
 * pointers are moved; sl__move_end() gives them storage of their own.
 */
struct sl__mover {
	const unsigned char *from;
	unsigned char *to;
	unsigned n_bits; /* of an element */
	int is_text;
};

/*
 * SL_E_DATA where the types differ, or where 'to' is no tensor with storage
 * (inference could not tell its sizes), or has too many dimensions.
 */
enum sl_status sl__move_begin(struct sl__eval *ev, struct sl__mover *m,
			      const struct sl__runtime_value *to,
			      const struct sl__tensor *from);

/* Input i to output k, which is not left out. */
enum sl_status sl__move_between(struct sl__mover *m, struct sl__eval *ev,
				size_t i, size_t k);

/* Output k owns its strings from here on. */
enum sl_status sl__move_end(struct sl__eval *ev, size_t k);

/* n elements in a row. */
void sl__move(const struct sl__mover *m, int64_t to, int64_t from, int64_t n);

/* Begins with a tensor whose first element all of output 0 becomes. */
enum sl_status sl__move_fill(struct sl__eval *ev, struct sl__mover *m,
			     const struct sl__tensor *with);

/* The first n elements of the target become zero, or empty strings. */
void sl__move_blank(const struct sl__mover *m, int64_t n);

enum { SL__PATH_RANK_MOST = 2 * SL__RANK_MOST };

/* Two ways through elements in step: (i0, i1, ...) is at to_at + i0 to[0] +
 * ... and at from_at + i0 from[0] + ... */
struct sl__path {
	size_t rank;
	int64_t dims[SL__PATH_RANK_MOST];
	int64_t to[SL__PATH_RANK_MOST], from[SL__PATH_RANK_MOST]; /* strides */
	int64_t to_at, from_at;
};

/* A path through a target of these sizes, row-major; 'from' is all 0.  rank
 * is at most SL__RANK_MOST. */
void sl__path_init(struct sl__path *path, size_t rank, const int64_t *dims);
void sl__move_path(const struct sl__mover *m, const struct sl__path *path);

/* All of output 0, row-major, from elements by their strides; and what
 * sl__move_end() does. */
enum sl_status sl__move_strided(struct sl__eval *ev, const struct sl__mover *m,
				int64_t from, const int64_t *strides);

/* A tensor seen as [outer][size][inner] around an axis. */
struct sl__around {
	int64_t outer, size, inner;
};

/* SL_E_DATA where the axis lies outside.  *axis becomes 0 or more; NULL for
 * none.  Where the tensor has no elements the parts may wrap around. */
enum sl_status sl__around_axis(struct sl__eval *ev, struct sl__around *out,
			       const struct sl__tensor *t, int64_t *axis);

/* 'to' becomes n places of a tensor along an axis, from 'first' on, or one
 * place without that axis. */
struct sl__cut {
	int64_t axis, first, n;
	int is_dropped; /* the axis; n is 1 */
};
enum sl_status sl__move_cut(struct sl__eval *ev, struct sl__runtime_value *to,
			    const struct sl__tensor *from,
			    const struct sl__cut *cut);

/* Input i, which must be a tensor that paths can go through. */
const struct sl__tensor *sl__ref_need(struct sl__eval *ev, size_t i);

/* A walk over output 0; and one more operand, input i, broadcast to it: its
 * sizes are those from dimension 'first' on, SIZE_MAX for the last ones.
 * SL_E_DATA where it does not fit. */
enum sl_status sl__walk_result(struct sl__eval *ev, struct sl__walk *w);
enum sl_status sl__walk_input(struct sl__eval *ev, struct sl__walk *w, size_t i,
			      size_t first);

/* An index counted from either end; SL_E_DATA where it lies outside. */
enum sl_status sl__ref_place(struct sl__eval *ev, int64_t *index, int64_t size);

#endif
