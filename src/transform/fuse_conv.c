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

	return sl__is_single(rw, node->inputs[0]) &&
	       sl__is_single(rw, node->inputs[1]) &&
	       sl__is_single(rw, node->outputs[0]);
}

static void
fuse(struct sl__rewrite *rw, uint32_t id)
{
	struct sl__chain chain;
	struct sl__making m;

	if (!is_fusable(rw, id))
		return;
	sl__chain_begin(&chain, rw, sl__rewrite_output(rw, id));
	sl__chain_follow(&chain);
	sl__make_begin(&m, rw, "sleuth", "Conv", 1);
	sl__make_attributes_of(&m, id);
	for (size_t i = 0; i < SL__POST_OP_FIRST_INPUT; i++)
		sl__make_input(&m, sl__rewrite_input(rw, id, i));
	sl__make_cover(&m, id);
	sl__chain_give(&chain, &m);
	sl__make_end(&m);
}

void
sl__pass_fuse_conv(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {SL__OP_ONNX_Conv};

	sl__each_node(rw, ops, 1, 1, fuse);
}
