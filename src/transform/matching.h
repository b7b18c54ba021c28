/* SPDX-License-Identifier: Apache-2.0 */
/* matching.h - what passes ask of nodes and values before they change them. */
#ifndef SL_MATCHING_H
#define SL_MATCHING_H

#include "transform/rewrite.h"

/* Whether a value is a tensor of a known type and known sizes. */
int sl__has_known_shape(const struct sl__rewrite *rw, uint32_t value);

/* Whether two values are, with the same type of number and the same sizes. */
int sl__have_same_dtype_and_dims(const struct sl__rewrite *rw, uint32_t a,
				 uint32_t b);

/* Whether a value is sized, of f32, and has elements. */
int sl__is_nonempty_f32(const struct sl__rewrite *rw, uint32_t value);

/* The operand of a node of two inputs that is not 'value'; SL__NONE where
 * neither or both are. */
uint32_t sl__other_operand(const struct sl__rewrite *rw, uint32_t node,
			   uint32_t value);

/* Whether every element of a constant is x. */
int sl__is_constant_filled_with(const struct sl__rewrite *rw, uint32_t value,
				double x);

/* The integers of a small constant into out[0 .. most - 1]: how many, or -1
 * where it is none or has more. */
int sl__constant_integers(const struct sl__rewrite *rw, uint32_t value,
			  int64_t *out, int most);

/* Whether a node gives the same elements in the same order with other sizes:
 * Reshape, Flatten, Squeeze, Unsqueeze. */
int sl__is_reshape(const struct sl__rewrite *rw, uint32_t node);

/* Whether a node of two operands follows the rule of broadcasting that they
 * have since version 7. */
int sl__has_numpy_broadcasting(const struct sl__node *node);

/* Whether a node exchanges the last two dimensions and no others. */
int sl__is_last_two_dims_transpose(const struct sl__rewrite *rw, uint32_t node);

/* Whether a node is a Dropout whose first result is its operand. */
int sl__is_noop_dropout(const struct sl__rewrite *rw, uint32_t node);

/* The bounds of a Clip of f32, which are the type's own where the node has
 * none; 0 for what is no Clip, has bounds that are not known or none that
 * anything is between. */
int sl__clip_read_bounds(const struct sl__rewrite *rw, uint32_t node,
			 double *low, double *high);

/* Whether two numbers are the same but for how constants were rounded. */
int sl__is_close(double a, double b);

/* Whether a number is one of f32 but for rounding: neither beyond it nor so
 * small that digits are lost. */
int sl__fits_f32(double x);

/* Whether a node is one of n operators. */
int sl__rewrite_node_is_any_op(const struct sl__rewrite *rw, uint32_t node,
			       const enum sl__op_id *ops, size_t n);

/* Whether a value has these sizes. */
int sl__has_sizes(const struct sl__rewrite *rw, uint32_t value, int rank,
		  const int64_t *dims);

/* Hands the nodes of the model that are one of n operators to a function, in
 * the order of sl__rewrite_node_order() or backwards; not those that have gone
 * when it is their turn. */
typedef void sl__node_function(struct sl__rewrite *rw, uint32_t node);
void sl__rewrite_each_node(struct sl__rewrite *rw, const enum sl__op_id *ops,
			   size_t n, int is_backwards, sl__node_function *fn);

#endif
