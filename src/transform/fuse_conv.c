/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_conv.c - convolutions and what is done to their results.
 *
 * Every convolution of f32 becomes a Conv of the domain "sleuth", with the
 * element-wise nodes after it (fuse_post_op.h).  The last ones go first: of two
 * whose sum is taken, the later one takes it, when the other is there.
 */
#include "transform/fuse_post_op.h"
#include "transform/matching.h"
#include "transform/optimize.h"

#include "base/banned.h"

static int
is_fusable(const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;

	return sl__is_nonempty_f32(rw, node->inputs[0]) &&
	       sl__is_nonempty_f32(rw, node->inputs[1]) &&
	       sl__is_nonempty_f32(rw, node->outputs[0]);
}

static void
fuse(struct sl__rewrite *rw, uint32_t id)
{
	struct sl__post_op_chain chain;
	struct sl__node_builder m;

	if (!is_fusable(rw, id))
		return;
	sl__post_op_chain_begin(&chain, rw, sl__rewrite_output(rw, id));
	sl__post_op_chain_extend(&chain);
	sl__node_builder_begin(&m, rw, "sleuth", "Conv", 1);
	sl__node_builder_copy_attributes(&m, id);
	for (size_t i = 0; i < SL__POST_OP_FIRST_INPUT; i++)
		sl__node_builder_add_input(&m, sl__rewrite_input(rw, id, i));
	sl__node_builder_add_covered(&m, id);
	sl__post_op_chain_attach(&chain, &m);
	sl__node_builder_finish(&m);
}

void
sl__pass_fuse_conv(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {SL__OP_ONNX_Conv};

	sl__rewrite_each_node(rw, ops, 1, 1, fuse);
}
