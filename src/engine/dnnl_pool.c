/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_pool.c - pools as steps of oneDNN.
 *
 * They take images as they lie and leave the result in the same order.
 */
#include "base/status.h"
#include "engine/dnnl_conv.h"
#include "engine/pool.h"

#include "base/banned.h"

static dnnl_primitive_desc_t
make_pd(struct sl__planner *pl, const struct sl__pool *p)
{
	struct sl__dnnl_pool desc = {.window = p->window};
	const struct sl__type *y = sl__plan_value_type(pl, p->y);

	desc.kind = p->is_max        ? dnnl_pooling_max
		    : p->counts_pads ? dnnl_pooling_avg_include_padding
				     : dnnl_pooling_avg_exclude_padding;
	return sl__layout_md(pl, p->x, sl__plan_value_layout(pl, p->x),
			     &desc.src) &&
			       sl__image_layout_md(
				       &desc.dst, pl->program->dnnl,
				       SL__IMAGE_LAYOUT_ANY,
				       sl__dnnl_md_parts(desc.src).type,
				       y->rank, y->dims)
		       ? sl__dnnl_pool_pd(pl, &desc)
		       : NULL;
}

int
sl__make_pool(struct sl__planner *pl, const struct sl__node *node)
{
	struct sl__dnnl_arg args[2] = {{.arg = DNNL_ARG_SRC}};
	dnnl_primitive_desc_t pd;
	struct sl__pool p;

	if (!sl__pool_read(&p, pl, node))
		return 0;
	pd = make_pd(pl, &p);
	if (!pd)
		return 0;
	args[0].md = sl__dnnl_pd_md(pl, pd, dnnl_query_src_md, 0);
	args[0].buffer =
		sl__plan_input_buffer(pl, p.x, sl__plan_value_layout(pl, p.x));
	args[1] = sl__dnnl_output_arg(pl, pd, p.y);
	sl__plan_dnnl_primitive(pl, pd, args, 2);
	return 1;
}
