/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_conv_read.c - what a node convolves, in oneDNN's terms. */
#include "base/status.h"
#include "engine/dnnl_conv.h"
#include "graph/infer.h"
#include "graph/op_rules.h"
#include "ops/window.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* MS FusedConv: a fourth input is added, then an activation follows. */
static int
read_fused_end(struct sl__conv *c)
{
	static const struct {
		const char *name;
		enum sl__post_op_kind kind;
		double alpha, beta;
	} rows[] = {
		{"Relu", SL__POST_OP_RELU, 0, 0},
		{"LeakyRelu", SL__POST_OP_LEAKY_RELU, .01, 0},
		{"Tanh", SL__POST_OP_TANH, 0, 0},
		{"Sigmoid", SL__POST_OP_SIGMOID, 0, 0},
		{"Clip", SL__POST_OP_CLIP, -HUGE_VAL, HUGE_VAL},
		{"HardSigmoid", SL__POST_OP_HARD_SIGMOID, .2, .5},
	};
	const struct sl__node *node = c->node;
	const char *word = sl__attribute_string(node, "activation", "");
	const struct sl__attribute *list =
		sl__attribute_find(node, "activation_params");
	struct sl__post_op *post_op;

	if (sl__plan_node_input(node, 3) != SL__NONE) {
		c->post_ops[0].kind = SL__POST_OP_ADD;
		c->post_ops[0].input = 3;
		c->n_post_ops = 1;
	}
	if (!*word || !strcmp(word, "none"))
		return 1;
	post_op = &c->post_ops[c->n_post_ops];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(word, rows[i].name))
			continue;
		post_op->kind = rows[i].kind;
		post_op->alpha = (float)sl__attribute_float(
			node, "activation_alpha", rows[i].alpha);
		post_op->beta = (float)sl__attribute_float(
			node, "activation_beta", rows[i].beta);
		if (list && list->kind == SL__ATTRIBUTE_FLOATS && list->n > 0)
			post_op->alpha = list->floats[0];
		if (list && list->kind == SL__ATTRIBUTE_FLOATS && list->n > 1)
			post_op->beta = list->floats[1];
		c->n_post_ops++;
		return 1;
	}
	return 0;
}

static int
read_end(struct sl__conv *c)
{
	if (sl__is_op(c->node, SL__OP_MS_FusedConv))
		return read_fused_end(c);
	if (sl__is_op(c->node, SL__OP_SLEUTH_Conv))
		c->n_post_ops = sl__post_ops_read(c->node, c->post_ops);
	return c->n_post_ops >= 0;
}

/* Second operands that are broadcast to the result, as oneDNN does it. */
static int
are_operands_fit(const struct sl__conv *c, const struct sl__planner *pl)
{
	const_dnnl_memory_desc_t y, md;

	if (!sl__dnnl_row_major_md(&y, pl->program->dnnl, c->dtype, c->rank,
				   sl__plan_value_type(pl, c->y)->dims))
		return 0;
	for (int i = 0; i < c->n_post_ops; i++) {
		if (c->post_ops[i].kind != SL__POST_OP_ADD &&
		    c->post_ops[i].kind != SL__POST_OP_MUL)
			continue;
		if (sl__plan_node_input(c->node, c->post_ops[i].input) ==
			    SL__NONE ||
		    !sl__conv_post_op_operand_md(&md, pl, c, i, y))
			return 0;
	}
	return 1;
}

/* Numbers that oneDNN computes with, one type for all but the bias. */
static int
read_types(struct sl__conv *c, const struct sl__planner *pl)
{
	const struct sl__type *x = sl__plan_value_type(pl, c->x);
	const struct sl__type *w = sl__plan_value_type(pl, c->w);

	c->rank = x->rank;
	c->dtype = x->dtype == SL_DTYPE_F32 ? pl->dtype : x->dtype;
	return (x->dtype == SL_DTYPE_F32 || x->dtype == SL_DTYPE_BF16) &&
	       w->dtype == x->dtype && x->rank == w->rank && x->rank >= 3 &&
	       x->rank <= 5 && sl__plan_value_n_elements(pl, c->y) &&
	       sl__plan_value_n_elements(pl, c->x) &&
	       sl__plan_value_n_elements(pl, c->w);
}

/*
 * The pads that follow from all sizes: given ones may leave a rest that no
 * window reaches, and output_padding and output_shape move the end.
 */
static void
pad_transposed(struct sl__conv *c, struct sl__window *w, const int64_t *in,
	       const int64_t *out)
{
	const int64_t *more, *shape;
	size_t n_more = sl__attribute_ints(c->node, "output_padding", &more);
	int is_shared = sl__attribute_ints(c->node, "output_shape", &shape) ||
			w->padding == SL__PADDING_SAME;

	for (int d = 0; d < w->n; d++) {
		int64_t reach = (in[d] - 1) * w->strides[d] +
				sl__window_extent(w, d) - out[d];

		if (is_shared)
			sl__window_split_pads(
				w, d,
				reach + (n_more == (size_t)w->n ? more[d] : 0));
		c->window.after[d] = reach - w->pads_before[d];
	}
}

int
sl__conv_read_window(struct sl__conv *c, const struct sl__planner *pl)
{
	const int64_t *in = sl__plan_value_type(pl, c->x)->dims + 2;
	const int64_t *out = sl__plan_value_type(pl, c->y)->dims + 2;
	struct sl__window w;

	if (sl__window_read_from_node(&w, c->node, c->rank - 2,
				      sl__plan_value_type(pl, c->w)->dims + 2,
				      NULL))
		return 0;
	if (!c->is_transposed)
		sl__window_fill_same_pads(&w, in, out);
	for (int d = 0; d < w.n; d++)
		c->window.after[d] = w.pads_after[d];
	if (c->is_transposed)
		pad_transposed(c, &w, in, out);
	for (int d = 0; d < w.n; d++) {
		c->window.kernel[d] = w.kernel[d];
		c->window.strides[d] = w.strides[d];
		c->window.dilates[d] = w.dilations[d] - 1;
		c->window.before[d] = w.pads_before[d];
		if (w.kernel[d] > INT16_MAX || w.strides[d] > INT16_MAX ||
		    w.dilations[d] > INT16_MAX)
			return 0;
	}
	return 1;
}

int
sl__conv_read(struct sl__conv *c, struct sl__planner *pl,
	      const struct sl__node *node)
{
	memset(c, 0, sizeof(*c));
	c->node = node;
	c->x = sl__plan_node_input(node, 0);
	c->w = sl__plan_node_input(node, 1);
	c->b = sl__plan_node_input(node, 2);
	c->y = sl__plan_node_output(node, 0);
	c->sum = -1;
	c->is_transposed = sl__is_op(node, SL__OP_ONNX_ConvTranspose);
	c->n_groups = sl__attribute_int(node, "group", 1);
	if (c->x == SL__NONE || c->w == SL__NONE || c->y == SL__NONE ||
	    c->n_groups < 1 || !read_types(c, pl))
		return 0;
	/* Weights that are made on the way cannot be seen in groups. */
	if (!pl->graph->values[c->w].tensor &&
	    (c->n_groups > 1 || c->is_transposed))
		return 0;
	return sl__plan_value_type(pl, c->w)->dims[0] % c->n_groups == 0 &&
	       read_end(c) && are_operands_fit(c, pl) &&
	       sl__conv_read_window(c, pl);
}

/*
 * oneDNN's [groups][out][in][taps] with the strides that the model's array
 * has: [out of all groups][in][taps], transposed [in of all][out][taps].
 * Without groups there is one dimension less.
 */
static int
weight_dims(const struct sl__planner *pl, const struct sl__conv *c,
	    dnnl_dims_t dims, dnnl_dims_t strides)
{
	const int64_t *own = sl__plan_value_type(pl, c->w)->dims;
	int grouped = c->n_groups > 1, n = c->rank - 2;
	int64_t stride = 1, first = own[0] / c->n_groups;
	int out = grouped, in = grouped + 1;

	for (int d = n; d-- > 0;) {
		dims[in + 1 + d] = own[2 + d];
		strides[in + 1 + d] = stride;
		stride *= own[2 + d];
	}
	dims[c->is_transposed ? in : out] = first;
	strides[c->is_transposed ? in : out] = stride * own[1];
	dims[c->is_transposed ? out : in] = own[1];
	strides[c->is_transposed ? out : in] = stride;
	if (grouped) {
		dims[0] = c->n_groups;
		strides[0] = stride * own[1] * first;
	}
	return in + 1 + n;
}

int
sl__conv_weights_any_md(const_dnnl_memory_desc_t *out,
			const struct sl__planner *pl,
			const struct sl__conv *conv, enum sl_dtype dtype)
{
	dnnl_dims_t dims = {0}, strides = {0};
	int n = weight_dims(pl, conv, dims, strides);

	return sl__dnnl_any_layout_md(out, pl->program->dnnl, dtype, n, dims);
}

int
sl__conv_weights_model_md(const_dnnl_memory_desc_t *out,
			  const struct sl__planner *pl,
			  const struct sl__conv *conv, enum sl_dtype dtype)
{
	dnnl_dims_t dims = {0}, strides = {0};
	struct sl__dnnl_strides s = {.type = sl__dnnl_data_type(dtype),
				     .dims = dims,
				     .strides = strides,
				     .axis = -1};

	s.n_dims = weight_dims(pl, conv, dims, strides);
	return sl__dnnl_strided_md(out, pl->program->dnnl, &s);
}

int
sl__conv_operand_is_same_size(const struct sl__planner *pl,
			      const struct sl__conv *conv, int post_op)
{
	const struct sl__type *y = sl__plan_value_type(pl, conv->y);
	const struct sl__type *z = sl__plan_value_type(
		pl,
		sl__plan_node_input(conv->node, conv->post_ops[post_op].input));

	return z->dtype == y->dtype && z->rank == y->rank &&
	       !memcmp(z->dims, y->dims, (size_t)y->rank * sizeof(*y->dims));
}

int
sl__conv_post_op_operand_md(const_dnnl_memory_desc_t *out,
			    const struct sl__planner *pl,
			    const struct sl__conv *conv, int post_op,
			    const_dnnl_memory_desc_t dst)
{
	const struct sl__type *z = sl__plan_value_type(
		pl,
		sl__plan_node_input(conv->node, conv->post_ops[post_op].input));
	const dnnl_dim_t *dst_dims = sl__dnnl_md_parts(dst).dims;
	int64_t dims[SL__WINDOW_MOST + 2];

	if (sl__conv_operand_is_same_size(pl, conv, post_op)) {
		*out = dst;
		return 1;
	}
	if (z->rank > conv->rank ||
	    (z->dtype != SL_DTYPE_F32 && z->dtype != SL_DTYPE_BF16))
		return 0;
	for (int d = 0; d < conv->rank; d++) {
		int own = d - (conv->rank - z->rank);

		dims[d] = own < 0 ? 1 : z->dims[own];
		if (dims[d] != 1 && dims[d] != dst_dims[d])
			return 0;
	}
	return sl__dnnl_row_major_md(out, pl->program->dnnl, z->dtype,
				     conv->rank, dims);
}

static dnnl_status_t
append(dnnl_post_ops_t ops, const struct sl__planner *pl,
       const struct sl__conv *c, int i, const_dnnl_memory_desc_t dst)
{
	const struct sl__post_op *post_op = &c->post_ops[i];
	const_dnnl_memory_desc_t md = NULL;
	int has_operand = (post_op->kind == SL__POST_OP_ADD && i != c->sum) ||
			  post_op->kind == SL__POST_OP_MUL;

	if (has_operand && !sl__conv_post_op_operand_md(&md, pl, c, i, dst))
		return dnnl_unimplemented;
	return sl__dnnl_post_op_append(ops, post_op, has_operand ? md : NULL);
}

dnnl_primitive_attr_t
sl__conv_attr(struct sl__planner *pl, const struct sl__conv *conv,
	      const_dnnl_memory_desc_t dst, int n_within)
{
	dnnl_post_ops_t ops = NULL;
	dnnl_primitive_attr_t attr = NULL;
	dnnl_status_t status =
		dnnl_primitive_attr_clone(&attr, pl->program->dnnl->attr);

	if (!status)
		status = dnnl_post_ops_create(&ops);
	for (int i = 0; !status && i < n_within; i++)
		status = append(ops, pl, conv, i, dst);
	if (!status)
		status = dnnl_primitive_attr_set_post_ops(attr, ops);
	dnnl_post_ops_destroy(ops);
	if (!status)
		return attr;
	if (status == dnnl_out_of_memory)
		sl__planner_keep_dnnl_status(pl, status, "post-operations");
	dnnl_primitive_attr_destroy(attr);
	return NULL;
}

/* Whether the elements lie one after the other in the order of their
 * indices: dimensions of one element may have any stride. */
static int
is_row_major(const_dnnl_memory_desc_t md)
{
	struct sl__dnnl_md_parts p = sl__dnnl_md_parts(md);
	int64_t stride = 1;

	if (!p.is_strided || p.n_blocks > 1 || !sl__dnnl_md_is_compact(md))
		return 0;
	for (int d = p.n_dims; d-- > 0;) {
		int64_t own = p.strides[d];

		if (p.dims[d] != p.padded_dims[d])
			return 0;
		if (p.dims[d] == 1)
			continue;
		if (p.n_blocks && p.block_axes[0] == d)
			own /= p.blocks[0];
		if (own != stride)
			return 0;
		stride *= p.dims[d];
	}
	return 1;
}

const struct sl__layout *
sl__layout_for_output(struct sl__planner *pl, uint32_t value,
		      const_dnnl_memory_desc_t md)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	dnnl_data_type_t own = sl__dnnl_md_parts(md).type;
	const_dnnl_memory_desc_t plain;

	if (!is_row_major(md))
		return sl__layout_from_md(pl, value, md);
	if (own == sl__dnnl_data_type(type->dtype))
		return NULL;
	if (own != dnnl_bf16 ||
	    !sl__dnnl_row_major_md(&plain, pl->program->dnnl, SL_DTYPE_BF16,
				   type->rank, type->dims))
		plain = md;
	return sl__layout_from_md(pl, value, plain);
}

struct sl__dnnl_arg
sl__dnnl_input_arg(struct sl__planner *pl, int arg, uint32_t value,
		   const_dnnl_memory_desc_t md)
{
	const struct sl__layout *layout = sl__layout_for_output(pl, value, md);

	return (struct sl__dnnl_arg){
		arg, sl__plan_input_buffer(pl, value, layout), md};
}

struct sl__dnnl_arg
sl__dnnl_output_arg(struct sl__planner *pl, const_dnnl_primitive_desc_t pd,
		    uint32_t value)
{
	const_dnnl_memory_desc_t md =
		sl__dnnl_pd_md(pl, pd, dnnl_query_dst_md, 0);
	const struct sl__layout *layout = sl__layout_for_output(pl, value, md);

	return (struct sl__dnnl_arg){
		DNNL_ARG_DST, sl__plan_output_buffer(pl, value, layout), md};
}
