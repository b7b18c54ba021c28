/* SPDX-License-Identifier: Apache-2.0 */
/* node_copies.h - nodes of a graph under construction, a second time. */
#ifndef SL_NODE_COPIES_H
#define SL_NODE_COPIES_H

#include "ops/node_writer.h"

/*
 * Invariants: copy_of[v] is what copies use in place of value v, SL__NONE: v
 * itself.  It has room for the values that there were when the copying began;
 * values that came later are used as they are.
 */
struct sl__node_copies {
	struct sl__node_writer *w;
	uint32_t *copy_of;
	size_t n_values;
	size_t n_model_nodes; /* the first nodes are the model's */
};

/* Nothing is copied yet; storage is from 'arena'.  A failure is the writer's. */
void sl__node_copies_begin(struct sl__node_copies *c, struct sl__node_writer *w,
			   size_t n_model_nodes, struct sl__arena *arena);

/* What a copy uses in place of a value. */
uint32_t sl__node_copies_value(const struct sl__node_copies *c, uint32_t value);

/*
 * Appends a copy of a node of block 0, with new outputs, of the writer's phase
 * and of the model's node that the other belongs to, and returns its number.  A
 * copy draws the random numbers of the other node where 'name' is that node's.
 * SL_E_ABSENT names a node that has a body.
 */
uint32_t sl__node_copies_add(struct sl__node_copies *c, uint32_t node,
			     const char *name);

/* Whether a node draws random numbers: from its seed, or its name where it has
 * none.  And whether it has a body. */
int sl__node_draws(const struct sl__node *node);
int sl__node_has_body(const struct sl__node *node);

#endif
