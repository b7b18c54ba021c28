/* SPDX-License-Identifier: Apache-2.0 */
/* channel_norm_read.c - what a node norms over channels. */
#include "engine/channel_norm.h"
#include "graph/infer.h"

#include "base/banned.h"

static int
read_data(struct sl__channel_norm *n, const struct sl__planner *pl,
	  const struct sl__node *node)
{
	const struct sl__type *x;

	*n = (struct sl__channel_norm){.node = node,
				       .x = sl__plan_node_input(node, 0),
				       .y = sl__plan_node_output(node, 0)};
	if (n->x == SL__NONE || n->y == SL__NONE)
		return 0;
	x = sl__plan_value_type(pl, n->x);
	return x->dtype == SL_DTYPE_F32 && x->rank >= 2 && x->rank <= 5 &&
	       sl__plan_value_n_elements(pl, n->x);
}

int
sl__batch_norm_read(struct sl__channel_norm *n, const struct sl__planner *pl,
		    const struct sl__node *node)
{
	if (!read_data(n, pl, node) ||
	    sl__attribute_int(node, "training_mode", 0) ||
	    !sl__attribute_int(node, "spatial", 1) ||
	    sl__plan_node_output(node, 1) != SL__NONE)
		return 0;
	for (uint32_t i = 1; i <= 4; i++) {
		uint32_t value = sl__plan_node_input(node, i);
		const struct sl__type *type;

		if (value == SL__NONE)
			return 0;
		type = sl__plan_value_type(pl, value);
		if (type->dtype != SL_DTYPE_F32 || type->rank != 1 ||
		    type->dims[0] != sl__plan_value_type(pl, n->x)->dims[1])
			return 0;
	}
	n->epsilon = (float)sl__attribute_float(node, "epsilon", 1e-5);
	return 1;
}

int
sl__lrn_read(struct sl__channel_norm *n, const struct sl__planner *pl,
	     const struct sl__node *node)
{
	if (!read_data(n, pl, node))
		return 0;
	n->lrn = (struct sl__lrn){
		.size = sl__attribute_int(node, "size", 1),
		.alpha = (float)sl__attribute_float(node, "alpha", 1e-4),
		.beta = (float)sl__attribute_float(node, "beta", .75),
		.bias = (float)sl__attribute_float(node, "bias", 1)};
	/* Windows of an even size are not in the middle. */
	return n->lrn.size >= 1 && n->lrn.size % 2;
}
