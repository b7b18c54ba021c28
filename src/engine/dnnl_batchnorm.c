/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_batchnorm.c - norms over channels as steps of oneDNN: those of batches
 * that no convolution took in, and LRN.
 */
#include "base/status.h"
#include "engine/dnnl_isa.h"
#include "engine/dnnl_layout.h"
#include "engine/dnnl_primitive_desc.h"
#include "graph/infer.h"

#include "base/banned.h"

/* What a norm reads and writes: the data, and vectors beside it. */
struct norm {
	const struct sl__node *node;
	uint32_t x, y;
	uint32_t n_vectors;
	const int *vector_args; /* of inputs 1 .. n_vectors */
};

static int
is_type_fit(const struct sl__planner *pl, const struct norm *n)
{
	const struct sl__type *x;

	if (n->x == SL__NONE || n->y == SL__NONE)
		return 0;
	x = sl__plan_value_type(pl, n->x);
	return x->dtype == SL_DTYPE_F32 && x->rank >= 2 && x->rank <= 5 &&
	       sl__plan_value_n_elements(pl, n->x);
}

/* Takes the descriptor over; 0 where there is none.  Data may be written over
 * in place. */
static int
add_step(struct sl__planner *pl, const struct norm *n, dnnl_primitive_desc_t pd)
{
	const struct sl__layout *layout = sl__plan_value_layout(pl, n->x);
	struct sl__dnnl_arg args[6] = {{.arg = DNNL_ARG_SRC},
				       {.arg = DNNL_ARG_DST}};

	if (!pd)
		return 0;
	args[0].md = sl__dnnl_pd_md(pl, pd, dnnl_query_src_md, 0);
	args[1].md = sl__dnnl_pd_md(pl, pd, dnnl_query_dst_md, 0);
	args[0].buffer = sl__plan_input_buffer(pl, n->x, layout);
	for (uint32_t i = 0; i < n->n_vectors; i++) {
		struct sl__dnnl_arg *arg = &args[2 + i];

		arg->arg = n->vector_args[i];
		if (!sl__layout_md(pl, n->node->inputs[1 + i], NULL, &arg->md))
			sl__planner_fail_internal(pl, "not a vector");
		arg->buffer =
			sl__plan_input_buffer(pl, n->node->inputs[1 + i], NULL);
	}
	args[1].buffer = n->n_vectors
				 ? sl__plan_output_in_place(pl, n->y, layout,
							    args[0].buffer)
				 : sl__plan_output_buffer(pl, n->y, layout);
	sl__plan_dnnl_primitive(pl, pd, args, 2 + n->n_vectors);
	return 1;
}

static const int batch_args[4] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN,
				  DNNL_ARG_VARIANCE};

/* As a trained model runs it, with one number a channel. */
static int
is_inference(const struct sl__planner *pl, const struct norm *n)
{
	if (sl__attribute_int(n->node, "training_mode", 0) ||
	    !sl__attribute_int(n->node, "spatial", 1) ||
	    sl__plan_node_output(n->node, 1) != SL__NONE)
		return 0;
	for (uint32_t i = 1; i <= 4; i++) {
		uint32_t value = sl__plan_node_input(n->node, i);
		const struct sl__type *type;

		if (value == SL__NONE)
			return 0;
		type = sl__plan_value_type(pl, value);
		if (type->dtype != SL_DTYPE_F32 || type->rank != 1 ||
		    type->dims[0] != sl__plan_value_type(pl, n->x)->dims[1])
			return 0;
	}
	return 1;
}

int
sl__make_channel_norm(struct sl__planner *pl, const struct sl__node *node)
{
	struct norm n = {node, sl__plan_node_input(node, 0),
			 sl__plan_node_output(node, 0), 4, batch_args};
	float epsilon = (float)sl__attribute_float(node, "epsilon", 1e-5);
	const_dnnl_memory_desc_t md;

	return sl__dnnl_is_allowed() && is_type_fit(pl, &n) &&
	       is_inference(pl, &n) &&
	       sl__layout_md(pl, n.x, sl__plan_value_layout(pl, n.x), &md) &&
	       add_step(pl, &n, sl__dnnl_batch_norm_pd(pl, md, epsilon));
}

int
sl__make_lrn(struct sl__planner *pl, const struct sl__node *node)
{
	struct norm n = {node, sl__plan_node_input(node, 0),
			 sl__plan_node_output(node, 0), 0, NULL};
	struct sl__dnnl_lrn lrn = {
		.size = sl__attribute_int(node, "size", 1),
		.alpha = (float)sl__attribute_float(node, "alpha", 1e-4),
		.beta = (float)sl__attribute_float(node, "beta", .75),
		.bias = (float)sl__attribute_float(node, "bias", 1)};

	/* Windows of an even size are not in the middle; oneDNN's are. */
	return sl__dnnl_is_allowed() && is_type_fit(pl, &n) && lrn.size >= 1 &&
	       lrn.size % 2 &&
	       sl__layout_md(pl, n.x, sl__plan_value_layout(pl, n.x),
			     &lrn.data) &&
	       add_step(pl, &n, sl__dnnl_lrn_pd(pl, &lrn));
}
