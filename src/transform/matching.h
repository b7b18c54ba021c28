/* SPDX-License-Identifier: Apache-2.0 */
/* matching.h - what passes ask of nodes and values before they change them. */
#ifndef SL_MATCHING_H
#define SL_MATCHING_H

#include "rewrite.h"

/* Whether a value is a tensor of a known type and known sizes. */
int sl__is_sized(const struct sl__rewrite *rw, uint32_t value);

/* Whether two values are, with the same type of number and the same sizes. */
int sl__are_alike(const struct sl__rewrite *rw, uint32_t a, uint32_t b);

/* Whether a value is sized, of f32, and has elements. */
int sl__is_single(const struct sl__rewrite *rw, uint32_t value);

/* The operand of a node of two inputs that is not 'value'; SL__NONE where
 * neither or both are. */
uint32_t sl__other_operand(const struct sl__rewrite *rw, uint32_t node,
			   uint32_t value);

/* Whether every element of a constant is x. */
int sl__is_filled(const struct sl__rewrite *rw, uint32_t value, double x);

/* The integers of a small constant into out[0 .. most - 1]: how many, or -1
 * where it is none or has more. */
int sl__constant_integers(const struct sl__rewrite *rw, uint32_t value,
			  int64_t *out, int most);

/* Whether a node of two operands follows the rule of broadcasting that they
 * have since version 7. */
int sl__broadcasts(const struct sl__node *node);

/*
 * The nodes of the model that are one of n_ops operators, in an order in
 * which they can run; in to's arena.  Added ones stand where the last of what
 * they cover stood.
 */
enum sl_status sl__list_nodes(struct sl__rewrite *rw, const enum sl__op_id *ops,
			      size_t n_ops, uint32_t **out, size_t *n,
			      struct sl_error *err) SL_CHECKED;

#endif
