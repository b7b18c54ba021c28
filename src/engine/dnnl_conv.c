/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_conv.c - convolutions, also transposed, as steps of oneDNN.
 *
 * What is added to the result is there before where nobody needs it any
 * more: the destination starts as the operand.  Where no kernel does an
 * ending, its rest becomes steps of its own, in place.
 */
#include "engine/dnnl_conv.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

enum { ARGS_MOST = 4 + SL__POST_OPS_MAX };

struct making {
	struct sl__planner *pl;
	struct sl__conv conv;
	struct sl__conv_choice choice;
	struct sl__dnnl_arg args[ARGS_MOST];
	uint32_t n_args;
	uint32_t over; /* the operand of the sum */
};

/* How often the node reads the value, and how often what lies in 'base'. */
static uint32_t
count_reads(const struct sl__planner *pl, const struct sl__node *node,
	    uint32_t value, uint32_t base)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < node->n_inputs; i++) {
		const struct sl__planned_value *held;

		if (node->inputs[i] == SL__NONE)
			continue;
		held = &pl->held[node->inputs[i]];
		if (base == SL__NONE)
			n += node->inputs[i] == value;
		for (uint32_t v = 0; base != SL__NONE && v < held->n_versions;
		     v++)
			n += pl->program->buffers[held->versions[v].buffer]
				     .base == base;
	}
	return n;
}

/* Whether this node is the last to need an operand: all that lies where any
 * version of it lies is read by this node alone, once. */
static int
is_last_use(const struct sl__planner *pl, const struct sl__conv *c,
	    uint32_t value)
{
	const struct sl__planned_value *held = &pl->held[value];

	if (pl->graph->values[value].tensor || held->uses_left != 1 ||
	    count_reads(pl, c->node, value, SL__NONE) != 1)
		return 0;
	for (uint32_t v = 0; v < held->n_versions; v++) {
		uint32_t buffer = held->versions[v].buffer;
		const struct sl__buffer *b = &pl->program->buffers[buffer];

		if (b->base != buffer ||
		    b->category != SL__CATEGORY_ACTIVATION ||
		    pl->buffer_uses[buffer] != 1 ||
		    count_reads(pl, c->node, value, buffer) != 1)
			return 0;
	}
	return held->n_versions > 0;
}

static void
find_sum(const struct sl__planner *pl, struct sl__conv *c)
{
	for (int i = 0; i < c->n_post_ops && c->sum < 0; i++) {
		if (c->post_ops[i].kind == SL__POST_OP_ADD &&
		    sl__conv_operand_is_same_size(pl, c, i) &&
		    is_last_use(
			    pl, c,
			    sl__plan_node_input(c->node, c->post_ops[i].input)))
			c->sum = i;
	}
}

static const_dnnl_memory_desc_t
md_of(const struct making *m, dnnl_query_t what, int index)
{
	return sl__dnnl_pd_md(m->pl, m->choice.pd, what, index);
}

static void
add_arg(struct making *m, int arg, uint32_t buffer, const_dnnl_memory_desc_t md)
{
	m->args[m->n_args].arg = arg;
	m->args[m->n_args].buffer = buffer;
	m->args[m->n_args++].md = md;
}

static void
read_as(struct making *m, int arg, uint32_t value, const_dnnl_memory_desc_t md)
{
	m->args[m->n_args++] = sl__dnnl_input_arg(m->pl, arg, value, md);
}

static void
read_weights(struct making *m)
{
	const_dnnl_memory_desc_t md = md_of(m, dnnl_query_weights_md, 0);
	const_dnnl_memory_desc_t own;

	if (!m->pl->graph->values[m->conv.w].tensor)
		read_as(m, DNNL_ARG_WEIGHTS, m->conv.w, md);
	else if (!sl__conv_weights_model_md(
			 &own, m->pl, &m->conv,
			 sl__plan_value_type(m->pl, m->conv.w)->dtype))
		sl__planner_fail_internal(m->pl, "weights of many dimensions");
	else
		add_arg(m, DNNL_ARG_WEIGHTS,
			dnnl_memory_desc_equal(own, md)
				? sl__plan_input_buffer(m->pl, m->conv.w, NULL)
				: sl__plan_packed_constant(
					  m->pl, m->conv.w,
					  sl__layout_new(m->pl, own),
					  sl__layout_new(m->pl, md)),
			md);
}

/* The second operand of post-operation i, in whichever layout it is met. */
static void
read_operand(struct making *m, int i, int arg)
{
	uint32_t value =
		sl__plan_node_input(m->conv.node, m->conv.post_ops[i].input);
	const_dnnl_memory_desc_t md;

	if (!sl__conv_post_op_operand_md(&md, m->pl, &m->conv, i,
					 md_of(m, dnnl_query_dst_md, 0)))
		sl__planner_fail_internal(m->pl, "an operand of other sizes");
	else if (sl__conv_operand_is_same_size(m->pl, &m->conv, i))
		read_as(m, arg, value, md);
	else
		add_arg(m, arg, sl__plan_input_buffer(m->pl, value, NULL), md);
}

/* Operands of the primitive's ending; 'at' counts oneDNN's operations. */
static void
read_operands(struct making *m)
{
	int at = 0;

	for (int i = 0; !m->pl->rc && i < m->choice.n_within; i++) {
		const struct sl__post_op *post_op = &m->conv.post_ops[i];

		if (i == m->choice.sum) {
			read_operand(m, i, DNNL_ARG_DST);
			m->over = m->args[--m->n_args].buffer;
		} else if (post_op->kind == SL__POST_OP_ADD ||
			   post_op->kind == SL__POST_OP_MUL) {
			read_operand(m, i,
				     DNNL_ARG_ATTR_MULTIPLE_POST_OP(at) |
					     DNNL_ARG_SRC_1);
		}
		at += sl__dnnl_post_op_n_dnnl_ops(post_op);
	}
}

static void
write_result(struct making *m)
{
	const_dnnl_memory_desc_t md = md_of(m, dnnl_query_dst_md, 0);
	const struct sl__layout *layout =
		sl__layout_for_output(m->pl, m->conv.y, md);
	uint32_t buffer =
		m->choice.sum < 0
			? sl__plan_output_buffer(m->pl, m->conv.y, layout)
			: sl__plan_output_in_place(m->pl, m->conv.y, layout,
						   m->over);

	if (m->choice.sum >= 0 && buffer != m->over)
		sl__planner_fail_internal(m->pl, "an operand is needed later");
	add_arg(m, DNNL_ARG_DST, buffer, md);
}

static struct sl__dnnl_md_parts
parts_of(const struct making *m, dnnl_query_t what)
{
	return sl__dnnl_md_parts(
		dnnl_primitive_desc_query_md(m->choice.pd, what, 0));
}

/* Pairs of a place of the result and a tap of the kernel that meet a number of
 * the input, along dimension d: kernels leave out what lies in the padding. */
static uint64_t
taps_within(const struct making *m, const dnnl_dim_t *src,
	    const dnnl_dim_t *dst, int d)
{
	const struct sl__image_window *w = &m->conv.window;
	int64_t size = m->conv.is_transposed ? dst[d + 2] : src[d + 2];
	int64_t n_to = m->conv.is_transposed ? src[d + 2] : dst[d + 2];
	uint64_t n = 0;

	for (int64_t o = 0; o < n_to; o++) {
		for (int64_t k = 0; k < w->kernel[d]; k++) {
			int64_t at = o * w->strides[d] - w->before[d] +
				     k * (w->dilates[d] + 1);

			n += at >= 0 && at < size;
		}
	}
	return n;
}

/* Of channels padded to blocks, all are computed; but with groups, blocks are
 * how small groups are stored, and kernels do not multiply what fills them. */
static uint64_t
direct_work(const struct making *m)
{
	struct sl__dnnl_md_parts w = parts_of(m, dnnl_query_weights_md);
	struct sl__dnnl_md_parts src = parts_of(m, dnnl_query_src_md);
	struct sl__dnnl_md_parts dst = parts_of(m, dnnl_query_dst_md);
	uint64_t n = 2 * (uint64_t)dst.dims[0];
	int has_groups = w.n_dims > dst.n_dims;
	int n_channels = w.n_dims - (dst.n_dims - 2);

	for (int d = 0; d < n_channels; d++)
		n *= (uint64_t)(has_groups ? w.dims[d] : w.padded_dims[d]);
	for (int d = 0; d < dst.n_dims - 2; d++)
		n *= taps_within(m, src.dims, dst.dims, d);
	return n;
}

/* Winograd's F(tile, 3): (tile + 2)^2 products for tile^2 results, of which
 * those beyond the image's end are computed too. */
static uint64_t
winograd_work(const struct making *m, int64_t tile)
{
	struct sl__dnnl_md_parts src = parts_of(m, dnnl_query_src_md);
	struct sl__dnnl_md_parts dst = parts_of(m, dnnl_query_dst_md);
	uint64_t n = 2 * (uint64_t)dst.dims[0];

	for (int d = 2; d < dst.n_dims; d++)
		n *= (uint64_t)((dst.dims[d] + tile - 1) / tile * (tile + 2));
	return n * (uint64_t)src.padded_dims[1] * (uint64_t)dst.padded_dims[1];
}

static uint64_t
executed_work(const struct making *m)
{
	const char *name = sl__dnnl_implementation_name(m->choice.pd);
	uint64_t ending = (uint64_t)m->choice.n_within + 1;

	ending = (m->conv.b == SL__NONE ? ending - 1 : ending) *
		 sl__plan_value_n_elements(m->pl, m->conv.y);
	if (strstr(name, "wino_4x3"))
		return winograd_work(m, 4) + ending;
	if (strstr(name, "wino"))
		return winograd_work(m, 2) + ending;
	return direct_work(m) + ending;
}

static void
add_change(struct making *m, const struct sl__dnnl_arg *result,
	   const struct sl__dnnl_eltwise *change)
{
	struct sl__dnnl_arg args[2] = {*result, *result};

	args[0].arg = DNNL_ARG_SRC;
	sl__plan_dnnl_primitive(
		m->pl, sl__dnnl_eltwise_pd(m->pl, result->md, change), args, 2);
}

/* Its operand is the last argument. */
static void
add_join(struct making *m, const struct sl__dnnl_arg *result, int i)
{
	struct sl__dnnl_arg args[3] = {*result, m->args[--m->n_args], *result};

	args[0].arg = DNNL_ARG_SRC_0;
	sl__plan_dnnl_primitive(
		m->pl,
		sl__dnnl_binary_pd(m->pl, result->md, args[1].md,
				   sl__dnnl_binary_kind(&m->conv.post_ops[i])),
		args, 3);
}

/* Operands must have been read before the result is written. */
static void
add_ending(struct making *m)
{
	struct sl__dnnl_arg result = m->args[m->n_args - 1];

	for (int i = m->choice.n_within; !m->pl->rc && i < m->conv.n_post_ops;
	     i++) {
		struct sl__dnnl_eltwise changes[SL__ELTWISE_CHAIN_MAX];
		int n = sl__dnnl_eltwise_chain(changes, &m->conv.post_ops[i]);

		for (int k = 0; k < n; k++)
			add_change(m, &result, &changes[k]);
		if (n)
			continue;
		read_operand(m, i, DNNL_ARG_SRC_1);
		add_join(m, &result, i);
	}
}

static int
make_own(const struct making *m, const struct sl__node *node)
{
	struct sl__program *p = m->pl->program;

	if (!m->choice.own(m->pl, node))
		return 0;
	if (!m->pl->rc)
		p->steps[p->n_steps - 1].evidence = m->choice.evidence;
	return 1;
}

int
sl__make_conv(struct sl__planner *pl, const struct sl__node *node)
{
	struct making m = {.pl = pl};
	struct sl__step *step;
	uint64_t work;

	if (!sl__conv_read(&m.conv, pl, node))
		return 0;
	find_sum(pl, &m.conv);
	sl__conv_choose(&m.choice, pl, &m.conv);
	if (!m.choice.pd)
		return m.choice.own && make_own(&m, node);
	work = executed_work(&m);
	read_as(&m, DNNL_ARG_SRC, m.conv.x, md_of(&m, dnnl_query_src_md, 0));
	read_weights(&m);
	if (m.conv.b != SL__NONE)
		add_arg(&m, DNNL_ARG_BIAS,
			sl__plan_input_buffer(pl, m.conv.b, NULL),
			md_of(&m, dnnl_query_weights_md, 1));
	read_operands(&m);
	write_result(&m);
	step = sl__plan_dnnl_primitive(pl, m.choice.pd, m.args, m.n_args);
	step->executed_flops = work;
	step->evidence = m.choice.evidence;
	add_ending(&m);
	return 1;
}
