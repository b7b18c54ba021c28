/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_post_op.h - the element-wise nodes that a fused one ends in. */
#ifndef SL_FUSE_POST_OP_H
#define SL_FUSE_POST_OP_H

#include "ops/post_op.h"
#include "transform/rewrite.h"

/*
 * What follows a value, as long as nobody else needs what lies in between:
 * 'value' is the last result so far, posts[] what is done on the way to it
 * and operands[] the second operands of those that have one.
 */
struct sl__post_op_chain {
	struct sl__rewrite *rw;
	uint32_t value;
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	uint32_t operands[SL__POST_OPS_MAX];
	int n, n_operands;
	uint32_t covers[SL__NODE_BUILDER_COVERS];
	size_t n_covers;
};

void sl__post_op_chain_begin(struct sl__post_op_chain *chain,
			     struct sl__rewrite *rw, uint32_t value);

/* Whether a few more nodes can be covered, and the one that is fused. */
int sl__post_op_chain_has_room(const struct sl__post_op_chain *chain);

/* Takes everything that can be taken. */
void sl__post_op_chain_extend(struct sl__post_op_chain *chain);

/* Gives the attributes, the operands, the output and what is covered to the
 * node, which has its first SL__POST_OP_FIRST_INPUT inputs. */
void sl__post_op_chain_attach(const struct sl__post_op_chain *chain,
			      struct sl__node_builder *m);

#endif
