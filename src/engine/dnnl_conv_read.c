/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_conv_read.c - a convolution in oneDNN's terms. */
#include "base/status.h"
#include "engine/dnnl_conv.h"
#include "ops/window.h"

#include "base/banned.h"

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

/* Whether nobody after the node at place 'at' needs a value, which it reads
 * once. */
static int
is_read_last(const struct sl__planner *pl, size_t at, uint32_t value)
{
	const struct sl__block *block = &pl->graph->blocks[0];
	uint32_t n = 0;

	for (size_t k = at; k < block->n_nodes; k++) {
		const struct sl__node *node =
			&pl->graph->nodes[block->nodes[k]];

		for (uint32_t i = 0; i < node->n_inputs; i++)
			n += node->inputs[i] == value;
	}
	for (size_t k = 0; k < block->n_outputs; k++)
		n += block->outputs[k] == value;
	return n == 1 && pl->graph->values[value].producer != SL__NONE;
}

void
sl__conv_assume_sum(struct sl__conv *c, const struct sl__planner *pl, size_t at)
{
	for (int i = 0; i < c->n_post_ops && c->sum < 0; i++) {
		uint32_t operand =
			sl__plan_node_input(c->node, c->post_ops[i].input);

		if (c->post_ops[i].kind == SL__POST_OP_ADD &&
		    sl__conv_operand_is_same_size(pl, c, i) &&
		    is_read_last(pl, at, operand))
			c->sum = i;
	}
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
