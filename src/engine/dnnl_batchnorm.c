/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_batchnorm.c - norms over channels as steps of oneDNN: those of batches
 * that no convolution took in, and LRN.
 */
#include "base/status.h"
#include "engine/channel_norm.h"
#include "engine/dnnl_layout.h"
#include "engine/dnnl_primitive_desc.h"

#include "base/banned.h"

static const int batch_args[4] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN,
				  DNNL_ARG_VARIANCE};

/* Takes the descriptor over; 0 where there is none.  Data may be written over
 * in place. */
static int
add_step(struct sl__planner *pl, const struct sl__channel_norm *n,
	 uint32_t n_vectors, dnnl_primitive_desc_t pd)
{
	const struct sl__layout *layout = sl__plan_value_layout(pl, n->x);
	struct sl__dnnl_arg args[6] = {{.arg = DNNL_ARG_SRC},
				       {.arg = DNNL_ARG_DST}};

	if (!pd)
		return 0;
	args[0].md = sl__dnnl_pd_md(pl, pd, dnnl_query_src_md, 0);
	args[1].md = sl__dnnl_pd_md(pl, pd, dnnl_query_dst_md, 0);
	args[0].buffer = sl__plan_input_buffer(pl, n->x, layout);
	for (uint32_t i = 0; i < n_vectors; i++) {
		struct sl__dnnl_arg *arg = &args[2 + i];

		arg->arg = batch_args[i];
		if (!sl__layout_md(pl, n->node->inputs[1 + i], NULL, &arg->md))
			sl__planner_fail_internal(pl, "not a vector");
		arg->buffer =
			sl__plan_input_buffer(pl, n->node->inputs[1 + i], NULL);
	}
	args[1].buffer = n_vectors ? sl__plan_output_in_place(pl, n->y, layout,
							      args[0].buffer)
				   : sl__plan_output_buffer(pl, n->y, layout);
	sl__plan_dnnl_primitive(pl, pd, args, 2 + n_vectors);
	return 1;
}

int
sl__make_channel_norm(struct sl__planner *pl, const struct sl__node *node)
{
	struct sl__channel_norm n;
	const_dnnl_memory_desc_t md;

	return sl__batch_norm_read(&n, pl, node) &&
	       sl__layout_md(pl, n.x, sl__plan_value_layout(pl, n.x), &md) &&
	       add_step(pl, &n, 4, sl__dnnl_batch_norm_pd(pl, md, n.epsilon));
}

int
sl__make_lrn(struct sl__planner *pl, const struct sl__node *node)
{
	struct sl__dnnl_lrn lrn;
	struct sl__channel_norm n;

	if (!sl__lrn_read(&n, pl, node))
		return 0;
	lrn = (struct sl__dnnl_lrn){.size = n.lrn.size,
				    .alpha = n.lrn.alpha,
				    .beta = n.lrn.beta,
				    .bias = n.lrn.bias};
	return sl__layout_md(pl, n.x, sl__plan_value_layout(pl, n.x),
			     &lrn.data) &&
	       add_step(pl, &n, 0, sl__dnnl_lrn_pd(pl, &lrn));
}
