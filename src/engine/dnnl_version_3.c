/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_version_3.c - what is oneDNN 3's own: descriptors of primitives are made
 * at once, and descriptions of memory are handles. */
#include "engine/dnnl_primitive_desc.h"

#include "base/banned.h"

#if DNNL_VERSION_MAJOR >= 3

static const dnnl_dim_t *
list_of(const_dnnl_memory_desc_t md, dnnl_query_t what)
{
	const dnnl_dims_t *list = NULL;

	dnnl_memory_desc_query(md, what, (void *)&list);
	return list ? *list : NULL;
}

struct sl__dnnl_md_parts
sl__dnnl_md_parts(const_dnnl_memory_desc_t md)
{
	struct sl__dnnl_md_parts p = {0};
	dnnl_format_kind_t kind = dnnl_format_kind_undef;
	dnnl_dim_t offset = 0;

	dnnl_memory_desc_query(md, dnnl_query_data_type, &p.type);
	dnnl_memory_desc_query(md, dnnl_query_ndims_s32, &p.n_dims);
	dnnl_memory_desc_query(md, dnnl_query_format_kind, &kind);
	dnnl_memory_desc_query(md, dnnl_query_submemory_offset_s64, &offset);
	p.dims = list_of(md, dnnl_query_dims);
	p.padded_dims = list_of(md, dnnl_query_padded_dims);
	p.is_strided = kind == dnnl_blocked && !offset;
	if (!p.is_strided)
		return p;
	dnnl_memory_desc_query(md, dnnl_query_inner_nblks_s32, &p.n_blocks);
	p.strides = list_of(md, dnnl_query_strides);
	p.blocks = list_of(md, dnnl_query_inner_blks);
	p.block_axes = list_of(md, dnnl_query_inner_idxs);
	return p;
}

/* The order in which images are cut into blocks of channels. */
static dnnl_format_tag_t
tag_of_blocks(const struct sl__dnnl_strides *s)
{
	static const dnnl_format_tag_t tags[3][2] = {
		{dnnl_aBc8b, dnnl_aBc16b},
		{dnnl_aBcd8b, dnnl_aBcd16b},
		{dnnl_aBcde8b, dnnl_aBcde16b}};

	return s->axis != 1 || s->n_dims < 3 || s->n_dims > 5 ||
			       (s->block != 8 && s->block != 16)
		       ? dnnl_format_tag_undef
		       : tags[s->n_dims - 3][s->block == 16];
}

/* Where it counts: one element may have any stride, and so may one block. */
static int
has_strides(const_dnnl_memory_desc_t md, const struct sl__dnnl_strides *s)
{
	const dnnl_dim_t *own = list_of(md, dnnl_query_strides);

	for (int d = 0; d < s->n_dims; d++) {
		if (s->dims[d] > (d == s->axis ? s->block : 1) &&
		    own[d] != s->strides[d])
			return 0;
	}
	return 1;
}

dnnl_status_t
sl__dnnl_md_new_strided(const_dnnl_memory_desc_t *out,
			const struct sl__dnnl_strides *s,
			const struct sl_allocator *allocator)
{
	dnnl_format_tag_t tag = tag_of_blocks(s);
	dnnl_memory_desc_t md = NULL;
	dnnl_status_t status;

	(void)allocator;
	if (s->axis < 0)
		status = dnnl_memory_desc_create_with_strides(
			&md, s->n_dims, s->dims, s->type, s->strides);
	else if (tag == dnnl_format_tag_undef)
		status = dnnl_unimplemented;
	else
		status = dnnl_memory_desc_create_with_tag(
			&md, s->n_dims, s->dims, s->type, tag);
	if (!status && s->axis >= 0 && !has_strides(md, s)) {
		dnnl_memory_desc_destroy(md);
		status = dnnl_unimplemented;
	}
	*out = status ? NULL : md;
	return status;
}

dnnl_status_t
sl__dnnl_md_new_tagged(const_dnnl_memory_desc_t *out,
		       const struct sl__dnnl_strides *sizes,
		       dnnl_format_tag_t tag,
		       const struct sl_allocator *allocator)
{
	dnnl_memory_desc_t md = NULL;
	dnnl_status_t status = dnnl_memory_desc_create_with_tag(
		&md, sizes->n_dims, sizes->dims, sizes->type, tag);

	(void)allocator;
	*out = status ? NULL : md;
	return status;
}

dnnl_status_t
sl__dnnl_md_clone(const_dnnl_memory_desc_t *out, const_dnnl_memory_desc_t md,
		  const struct sl_allocator *allocator)
{
	dnnl_memory_desc_t copy = NULL;
	dnnl_status_t status = dnnl_memory_desc_clone(&copy, md);

	(void)allocator;
	*out = status ? NULL : copy;
	return status;
}

void
sl__dnnl_md_free(const_dnnl_memory_desc_t md,
		 const struct sl_allocator *allocator)
{
	(void)allocator;
	dnnl_memory_desc_destroy((dnnl_memory_desc_t)(uintptr_t)md);
}

dnnl_status_t
sl__dnnl_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha,
			float beta)
{
	return dnnl_post_ops_append_eltwise(ops, kind, alpha, beta);
}

dnnl_status_t
sl__dnnl_append_sum(dnnl_post_ops_t ops)
{
	return dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
}

dnnl_status_t
sl__dnnl_set_zero_point(dnnl_primitive_attr_t attr, int arg, int32_t zero)
{
	(void)zero;
	return dnnl_primitive_attr_set_zero_points_mask(attr, arg, 0);
}

int
sl__dnnl_zero_point_is_argument(void)
{
	return 1;
}

dnnl_status_t
sl__dnnl_conv_iterator_begin(struct sl__dnnl_conv_iterator *each,
			     const struct sl__dnnl_conv *conv,
			     const_dnnl_primitive_attr_t attr,
			     dnnl_engine_t engine)
{
	const struct sl__image_window *w = &conv->window;

	each->at = NULL;
	if (conv->is_transposed)
		return dnnl_deconvolution_forward_primitive_desc_create(
			&each->at, engine, dnnl_forward_inference,
			dnnl_deconvolution_direct, conv->src, conv->weights,
			conv->bias, conv->dst, w->strides, w->dilates,
			w->before, w->after, attr);
	return dnnl_convolution_forward_primitive_desc_create(
		&each->at, engine, dnnl_forward_inference,
		conv->is_winograd ? dnnl_convolution_winograd
				  : dnnl_convolution_direct,
		conv->src, conv->weights, conv->bias, conv->dst, w->strides,
		w->dilates, w->before, w->after, attr);
}

dnnl_status_t
sl__dnnl_conv_iterator_next(struct sl__dnnl_conv_iterator *each)
{
	return dnnl_primitive_desc_next_impl(each->at);
}

dnnl_primitive_desc_t
sl__dnnl_conv_iterator_pd(const struct sl__dnnl_conv_iterator *each)
{
	dnnl_primitive_desc_t pd = NULL;

	return dnnl_primitive_desc_clone(&pd, each->at) ? NULL : pd;
}

void
sl__dnnl_conv_iterator_end(struct sl__dnnl_conv_iterator *each)
{
	dnnl_primitive_desc_destroy(each->at);
}

dnnl_primitive_desc_t
sl__dnnl_conv_grad_pd(struct sl__planner *pl, const struct sl__dnnl_conv *conv,
		      int is_weights)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	const struct sl__image_window *w = &conv->window;
	dnnl_primitive_desc_t hint = NULL, pd = NULL;
	dnnl_status_t status = dnnl_convolution_forward_primitive_desc_create(
		&hint, dnnl->engine, dnnl_forward_training,
		dnnl_convolution_direct, conv->src, conv->weights, conv->bias,
		conv->dst, w->strides, w->dilates, w->before, w->after,
		dnnl->attr);

	if (status)
		return sl__dnnl_pd_result(pl, status, NULL);
	if (is_weights)
		status =
			dnnl_convolution_backward_weights_primitive_desc_create(
				&pd, dnnl->engine, dnnl_convolution_direct,
				conv->src, conv->weights, conv->bias, conv->dst,
				w->strides, w->dilates, w->before, w->after,
				hint, dnnl->attr);
	else
		status = dnnl_convolution_backward_data_primitive_desc_create(
			&pd, dnnl->engine, dnnl_convolution_direct, conv->src,
			conv->weights, conv->dst, w->strides, w->dilates,
			w->before, w->after, hint, dnnl->attr);
	dnnl_primitive_desc_destroy(hint);
	return sl__dnnl_pd_result(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_matmul_pd(struct sl__planner *pl, const struct sl__dnnl_matmul *matmul,
		   const_dnnl_primitive_attr_t attr)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dnnl_matmul_primitive_desc_create(
		&pd, dnnl->engine, matmul->src, matmul->weights, matmul->bias,
		matmul->dst, attr ? attr : dnnl->attr);

	return sl__dnnl_pd_result(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_pool_pd(struct sl__planner *pl, const struct sl__dnnl_pool *pool)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	const struct sl__image_window *w = &pool->window;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dnnl_pooling_forward_primitive_desc_create(
		&pd, dnnl->engine, dnnl_forward_inference, pool->kind,
		pool->src, pool->dst, w->strides, w->kernel, w->dilates,
		w->before, w->after, dnnl->attr);

	return sl__dnnl_pd_result(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_batch_norm_pd(struct sl__planner *pl, const_dnnl_memory_desc_t data,
		       float epsilon)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status =
		dnnl_batch_normalization_forward_primitive_desc_create(
			&pd, dnnl->engine, dnnl_forward_inference, data, data,
			epsilon,
			dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift,
			dnnl->attr);

	return sl__dnnl_pd_result(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_lrn_pd(struct sl__planner *pl, const struct sl__dnnl_lrn *lrn)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dnnl_lrn_forward_primitive_desc_create(
		&pd, dnnl->engine, dnnl_forward_inference,
		dnnl_lrn_across_channels, lrn->data, lrn->data, lrn->size,
		lrn->alpha, lrn->beta, lrn->bias, dnnl->attr);

	return sl__dnnl_pd_result(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_eltwise_pd(struct sl__planner *pl, const_dnnl_memory_desc_t data,
		    const struct sl__dnnl_eltwise *change)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dnnl_eltwise_forward_primitive_desc_create(
		&pd, dnnl->engine, dnnl_forward_inference, change->kind, data,
		data, change->alpha, change->beta, dnnl->attr);

	return sl__dnnl_pd_result(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_binary_pd(struct sl__planner *pl, const_dnnl_memory_desc_t data,
		   const_dnnl_memory_desc_t operand, dnnl_alg_kind_t kind)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dnnl_binary_primitive_desc_create(
		&pd, dnnl->engine, kind, data, operand, data, dnnl->attr);

	return sl__dnnl_pd_result(pl, status, pd);
}

#endif
