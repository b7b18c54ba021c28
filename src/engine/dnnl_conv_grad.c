/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_conv_grad.c - gradients of convolutions as steps of oneDNN.
 *
 * Weights are as the model has them outside, so that updates find them so:
 * where the primitive wants another layout, a step before or behind it
 * reorders.
 */
#include "base/status.h"
#include "engine/dnnl_conv.h"
#include "engine/node_steps.h"

#include <string.h>

#include "base/banned.h"

struct grad {
	struct sl__planner *pl;
	const struct sl__node *node;
	struct sl__conv conv; /* x, w, b and y are the node's, or gradients */
	int is_weights;
	dnnl_primitive_desc_t pd;
	struct sl__dnnl_arg args[4];
	uint32_t n_args;
};

static int
is_f32(const struct sl__planner *pl, uint32_t value)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);

	return type->dtype == SL_DTYPE_F32 && type->rank >= 3 &&
	       type->rank <= 5 && sl__plan_value_n_elements(pl, value);
}

/* ConvGradInput(y, w) gives x, ConvGradWeight(x, y) gives w and b. */
static int
read_node(struct grad *g)
{
	const struct sl__node *node = g->node;
	struct sl__conv *c = &g->conv;
	uint32_t out = sl__plan_node_output(node, 0);

	g->is_weights = sl__is_op(node, SL__OP_SLEUTH_ConvGradWeight);
	c->node = node;
	c->x = g->is_weights ? node->inputs[0] : out;
	c->y = g->is_weights ? node->inputs[1] : node->inputs[0];
	c->w = g->is_weights ? out : node->inputs[1];
	c->b = sl__plan_node_output(node, 1);
	c->n_groups = sl__attribute_int(node, "group", 1);
	if (out == SL__NONE || !is_f32(g->pl, c->x) || !is_f32(g->pl, c->y) ||
	    !is_f32(g->pl, c->w))
		return 0;
	c->rank = sl__plan_value_type(g->pl, c->x)->rank;
	return sl__conv_read_window(c, g->pl);
}

/* Images in any layout. */
static int
image_md(const struct grad *g, uint32_t value, const_dnnl_memory_desc_t *out)
{
	const struct sl__type *type = sl__plan_value_type(g->pl, value);

	return sl__image_layout_md(out, g->pl->program->dnnl,
				   SL__IMAGE_LAYOUT_ANY, dnnl_f32, type->rank,
				   type->dims);
}

static int
make_pd(struct grad *g)
{
	struct sl__dnnl_conv desc = {.window = g->conv.window};
	int64_t n_results = sl__plan_value_type(g->pl, g->conv.w)->dims[0];

	if (!image_md(g, g->conv.x, &desc.src) ||
	    !image_md(g, g->conv.y, &desc.dst) ||
	    !sl__conv_weights_any_md(&desc.weights, g->pl, &g->conv,
				     SL_DTYPE_F32) ||
	    (g->conv.b != SL__NONE &&
	     !sl__dnnl_row_major_md(&desc.bias, g->pl->program->dnnl,
				    SL_DTYPE_F32, 1, &n_results)))
		return 0;
	g->pd = sl__dnnl_conv_grad_pd(g->pl, &desc, g->is_weights);
	return g->pd != NULL;
}

static const_dnnl_memory_desc_t
md_of(const struct grad *g, dnnl_query_t what, int index)
{
	return sl__dnnl_pd_md(g->pl, g->pd, what, index);
}

static void
add_arg(struct grad *g, int arg, uint32_t buffer, const_dnnl_memory_desc_t md)
{
	g->args[g->n_args++] = (struct sl__dnnl_arg){arg, buffer, md};
}

static void
add_reorder(struct grad *g, const struct sl__dnnl_arg *from,
	    const struct sl__dnnl_arg *to)
{
	struct sl__dnnl_arg args[2] = {*from, *to};
	int is_counted = g->pl->is_counted;
	struct sl__step *step;

	args[0].arg = DNNL_ARG_FROM;
	args[1].arg = DNNL_ARG_TO;
	step = sl__plan_dnnl_primitive(
		g->pl, sl__dnnl_reorder_pd(g->pl, from->md, to->md), args, 2);
	step->core_flops = step->nominal_flops = step->executed_flops = 0;
	g->pl->is_counted = is_counted;
}

/* Weights as the model has them, in their own buffer. */
static struct sl__dnnl_arg
model_weights(struct grad *g)
{
	struct sl__dnnl_arg own = {0};

	if (!sl__conv_weights_model_md(&own.md, g->pl, &g->conv, SL_DTYPE_F32))
		sl__planner_fail_internal(g->pl, "weights of many dimensions");
	own.buffer = g->is_weights
			     ? sl__plan_output_buffer(g->pl, g->conv.w, NULL)
			     : sl__plan_input_buffer(g->pl, g->conv.w, NULL);
	return own;
}

/* As the primitive wants them: the model's, or a workspace. */
static struct sl__dnnl_arg
primitive_weights(struct grad *g, const struct sl__dnnl_arg *own)
{
	struct sl__dnnl_arg wanted = {
		.arg = g->is_weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS,
		.buffer = own->buffer,
		.md = md_of(g,
			    g->is_weights ? dnnl_query_diff_weights_md
					  : dnnl_query_weights_md,
			    0)};

	if (!g->pl->rc && !dnnl_memory_desc_equal(own->md, wanted.md))
		wanted.buffer = sl__plan_workspace(
			g->pl, dnnl_memory_desc_get_size(wanted.md));
	return wanted;
}

static void
add_weight_step(struct grad *g)
{
	struct sl__dnnl_arg own, wanted;

	g->args[g->n_args++] = sl__dnnl_input_arg(
		g->pl, DNNL_ARG_SRC, g->conv.x, md_of(g, dnnl_query_src_md, 0));
	g->args[g->n_args++] =
		sl__dnnl_input_arg(g->pl, DNNL_ARG_DIFF_DST, g->conv.y,
				   md_of(g, dnnl_query_diff_dst_md, 0));
	own = model_weights(g);
	wanted = primitive_weights(g, &own);
	g->args[g->n_args++] = wanted;
	if (g->conv.b != SL__NONE)
		add_arg(g, DNNL_ARG_DIFF_BIAS,
			sl__plan_output_buffer(g->pl, g->conv.b, NULL),
			md_of(g, dnnl_query_diff_weights_md, 1));
	sl__plan_dnnl_primitive(g->pl, g->pd, g->args, g->n_args);
	if (wanted.buffer != own.buffer)
		add_reorder(g, &wanted, &own);
}

static void
add_input_step(struct grad *g)
{
	const_dnnl_memory_desc_t dx = md_of(g, dnnl_query_diff_src_md, 0);
	struct sl__dnnl_arg own = model_weights(g);
	struct sl__dnnl_arg wanted = primitive_weights(g, &own);

	if (wanted.buffer != own.buffer)
		add_reorder(g, &own, &wanted);
	g->args[g->n_args++] = wanted;
	g->args[g->n_args++] =
		sl__dnnl_input_arg(g->pl, DNNL_ARG_DIFF_DST, g->conv.y,
				   md_of(g, dnnl_query_diff_dst_md, 0));
	add_arg(g, DNNL_ARG_DIFF_SRC,
		sl__plan_output_buffer(
			g->pl, g->conv.x,
			sl__layout_for_output(g->pl, g->conv.x, dx)),
		dx);
	sl__plan_dnnl_primitive(g->pl, g->pd, g->args, g->n_args);
}

int
sl__make_conv_grad(struct sl__planner *pl, const struct sl__node *node)
{
	struct grad g = {.pl = pl, .node = node};

	if (!read_node(&g) || !make_pd(&g))
		return 0;
	if (g.is_weights)
		add_weight_step(&g);
	else
		add_input_step(&g);
	return 1;
}
