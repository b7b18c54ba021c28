/* SPDX-License-Identifier: Apache-2.0 */
/* ref_move.h - elements moved between tensors, whatever their type. */
#ifndef SL_REF_MOVE_H
#define SL_REF_MOVE_H

#include "ops/ref.h"

/*
 * From where to where elements of one type go; places are counted in
 * elements.  Types of less than a byte are moved too.  Of strings the
 * pointers are moved; sl__move_own_strings() gives them storage of their own.
 */
struct sl__element_mover {
	const unsigned char *from;
	unsigned char *to;
	unsigned n_bits; /* of an element */
	int is_text;
};

/*
 * SL_E_DATA where the types differ, or where 'to' is no tensor with storage
 * (inference could not tell its sizes), or has too many dimensions.
 */
enum sl_status sl__move_begin(struct sl__kernel_call *ev,
			      struct sl__element_mover *m,
			      const struct sl__runtime_value *to,
			      const struct sl__tensor *from);

/* Input i to output k, which is not left out. */
enum sl_status sl__move_begin_input_to_output(struct sl__element_mover *m,
					      struct sl__kernel_call *ev,
					      size_t i, size_t k);

/* Output k owns its strings from here on. */
enum sl_status sl__move_own_strings(struct sl__kernel_call *ev, size_t k);

/* n elements in a row. */
void sl__move_elements(const struct sl__element_mover *m, int64_t to,
		       int64_t from, int64_t n);

/* Begins with a tensor whose first element all of output 0 becomes. */
enum sl_status sl__move_fill_output(struct sl__kernel_call *ev,
				    struct sl__element_mover *m,
				    const struct sl__tensor *with);

/* The first n elements of the target become zero, or empty strings. */
void sl__move_zero_fill(const struct sl__element_mover *m, int64_t n);

enum { SL__PATH_RANK_MOST = 2 * SL__RANK_MOST };

/* Two ways through elements in step: (i0, i1, ...) is at to_at + i0 to[0] +
 * ... and at from_at + i0 from[0] + ... */
struct sl__strided_path {
	size_t rank;
	int64_t dims[SL__PATH_RANK_MOST];
	int64_t to[SL__PATH_RANK_MOST], from[SL__PATH_RANK_MOST]; /* strides */
	int64_t to_at, from_at;
};

/* A path through a target of these sizes, row-major; 'from' is all 0.  rank
 * is at most SL__RANK_MOST. */
void sl__strided_path_init(struct sl__strided_path *path, size_t rank,
			   const int64_t *dims);
void sl__move_strided_path(const struct sl__element_mover *m,
			   const struct sl__strided_path *path);

/* All of output 0, row-major, from elements by their strides; and what
 * sl__move_own_strings() does. */
enum sl_status sl__move_output_strided(struct sl__kernel_call *ev,
				       const struct sl__element_mover *m,
				       int64_t from, const int64_t *strides);

/* A tensor seen as [outer][size][inner] around an axis. */
struct sl__axis_split {
	int64_t outer, size, inner;
};

/* SL_E_DATA where the axis lies outside.  *axis becomes 0 or more; NULL for
 * none.  Where the tensor has no elements the parts may wrap around. */
enum sl_status sl__axis_split_tensor(struct sl__kernel_call *ev,
				     struct sl__axis_split *out,
				     const struct sl__tensor *t, int64_t *axis);

/* 'to' becomes n places of a tensor along an axis, from 'first' on, or one
 * place without that axis. */
struct sl__axis_slice {
	int64_t axis, first, n;
	int is_dropped; /* the axis; n is 1 */
};
enum sl_status sl__move_axis_slice(struct sl__kernel_call *ev,
				   struct sl__runtime_value *to,
				   const struct sl__tensor *from,
				   const struct sl__axis_slice *cut);

/* Input i, which must be a tensor that paths can go through. */
const struct sl__tensor *sl__ref_require_tensor(struct sl__kernel_call *ev,
						size_t i);

/* A walk over output 0; and one more operand, input i, broadcast to it: its
 * sizes are those from dimension 'first' on, SIZE_MAX for the last ones.
 * SL_E_DATA where it does not fit. */
enum sl_status sl__strided_iterator_over_output(struct sl__kernel_call *ev,
						struct sl__strided_iterator *w);
enum sl_status sl__strided_iterator_add_input(struct sl__kernel_call *ev,
					      struct sl__strided_iterator *w,
					      size_t i, size_t first);

/* An index counted from either end; SL_E_DATA where it lies outside. */
enum sl_status sl__ref_index_normalize(struct sl__kernel_call *ev,
				       int64_t *index, int64_t size);

#endif
