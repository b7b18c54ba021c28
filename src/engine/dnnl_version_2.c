/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_version_2.c - what is oneDNN 2's own: descriptions of operations from
 * which descriptors are made, and of memory by value. */
#include "base/arena.h"
#include "engine/dnnl_primitive_desc.h"

#include <string.h>

#include "base/banned.h"

#if DNNL_VERSION_MAJOR < 3

struct sl__dnnl_md_parts
sl__dnnl_md_parts(const_dnnl_memory_desc_t md)
{
	const dnnl_blocking_desc_t *b = &md->format_desc.blocking;
	int is_strided = md->format_kind == dnnl_blocked && !md->offset0 &&
			 !md->extra.flags;

	return (struct sl__dnnl_md_parts){
		.type = md->data_type,
		.n_dims = md->ndims,
		.dims = md->dims,
		.padded_dims = md->padded_dims,
		.is_strided = is_strided,
		.strides = b->strides,
		.n_blocks = is_strided ? b->inner_nblks : 0,
		.blocks = b->inner_blks,
		.block_axes = b->inner_idxs,
		.rest = is_strided ? NULL : md,
		.n_rest = is_strided ? 0 : sizeof(*md)};
}

static dnnl_status_t
keep(const_dnnl_memory_desc_t *out, dnnl_status_t status,
     const dnnl_memory_desc_t *md, const struct sl_allocator *allocator)
{
	dnnl_memory_desc_t *copy = NULL;

	if (!status) {
		copy = sl__allocator_alloc(allocator, sizeof(*copy));
		if (copy)
			*copy = *md;
		else
			status = dnnl_out_of_memory;
	}
	*out = copy;
	return status;
}

dnnl_status_t
sl__dnnl_md_new_strided(const_dnnl_memory_desc_t *out,
			const struct sl__dnnl_strides *s,
			const struct sl_allocator *allocator)
{
	dnnl_memory_desc_t md;
	dnnl_blocking_desc_t *b = &md.format_desc.blocking;
	dnnl_dims_t dense = {0};
	dnnl_status_t status;

	/* Strides that count blocks are no strides to oneDNN. */
	for (int d = s->n_dims; d-- > 0;)
		dense[d] =
			d == s->n_dims - 1
				? 1
				: dense[d + 1] *
					  (s->dims[d + 1] ? s->dims[d + 1] : 1);
	status = dnnl_memory_desc_init_by_strides(
		&md, s->n_dims, s->dims, s->type,
		s->axis < 0 ? s->strides : dense);
	if (!status && s->axis >= 0) {
		int64_t *size = &md.padded_dims[s->axis];

		memcpy(b->strides, s->strides,
		       (size_t)s->n_dims * sizeof(*b->strides));
		b->inner_nblks = 1;
		b->inner_blks[0] = s->block;
		b->inner_idxs[0] = s->axis;
		*size = (*size + s->block - 1) / s->block * s->block;
	}
	return keep(out, status, &md, allocator);
}

dnnl_status_t
sl__dnnl_md_new_tagged(const_dnnl_memory_desc_t *out,
		       const struct sl__dnnl_strides *sizes,
		       dnnl_format_tag_t tag,
		       const struct sl_allocator *allocator)
{
	dnnl_memory_desc_t md;
	dnnl_status_t status = dnnl_memory_desc_init_by_tag(
		&md, sizes->n_dims, sizes->dims, sizes->type, tag);

	return keep(out, status, &md, allocator);
}

dnnl_status_t
sl__dnnl_md_clone(const_dnnl_memory_desc_t *out, const_dnnl_memory_desc_t md,
		  const struct sl_allocator *allocator)
{
	return keep(out, dnnl_success, md, allocator);
}

void
sl__dnnl_md_free(const_dnnl_memory_desc_t md,
		 const struct sl_allocator *allocator)
{
	sl__allocator_free(allocator, (void *)(uintptr_t)md);
}

dnnl_status_t
sl__dnnl_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha,
			float beta)
{
	return dnnl_post_ops_append_eltwise(ops, 1, kind, alpha, beta);
}

dnnl_status_t
sl__dnnl_append_sum(dnnl_post_ops_t ops)
{
	return dnnl_post_ops_append_sum(ops, 1);
}

dnnl_status_t
sl__dnnl_set_zero_point(dnnl_primitive_attr_t attr, int arg, int32_t zero)
{
	return dnnl_primitive_attr_set_zero_points(attr, arg, 1, 0, &zero);
}

int
sl__dnnl_zero_point_is_argument(void)
{
	return 0;
}

dnnl_status_t
sl__dnnl_conv_iterator_begin(struct sl__dnnl_conv_iterator *each,
			     const struct sl__dnnl_conv *conv,
			     const_dnnl_primitive_attr_t attr,
			     dnnl_engine_t engine)
{
	const struct sl__image_window *w = &conv->window;
	dnnl_status_t status;

	each->at = NULL;
	if (conv->is_transposed)
		status = dnnl_dilated_deconvolution_forward_desc_init(
			&each->desc, dnnl_forward_inference,
			dnnl_deconvolution_direct, conv->src, conv->weights,
			conv->bias, conv->dst, w->strides, w->dilates,
			w->before, w->after);
	else
		status = dnnl_dilated_convolution_forward_desc_init(
			&each->desc, dnnl_forward_inference,
			conv->is_winograd ? dnnl_convolution_winograd
					  : dnnl_convolution_direct,
			conv->src, conv->weights, conv->bias, conv->dst,
			w->strides, w->dilates, w->before, w->after);
	if (status)
		return status;
	status = dnnl_primitive_desc_iterator_create(&each->at, &each->desc,
						     attr, engine, NULL);
	if (status)
		each->at = NULL;
	return status;
}

dnnl_status_t
sl__dnnl_conv_iterator_next(struct sl__dnnl_conv_iterator *each)
{
	return dnnl_primitive_desc_iterator_next(each->at);
}

dnnl_primitive_desc_t
sl__dnnl_conv_iterator_pd(const struct sl__dnnl_conv_iterator *each)
{
	return dnnl_primitive_desc_iterator_fetch(each->at);
}

void
sl__dnnl_conv_iterator_end(struct sl__dnnl_conv_iterator *each)
{
	if (each->at)
		dnnl_primitive_desc_iterator_destroy(each->at);
}

/* Of the operation that was described, unless that gave a status; the attribute
 * may be NULL. */
static dnnl_primitive_desc_t
pd_new(struct sl__planner *pl, dnnl_status_t status, const_dnnl_op_desc_t desc,
       const_dnnl_primitive_attr_t attr)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;

	if (!status)
		status = dnnl_primitive_desc_create(&pd, desc,
						    attr ? attr : dnnl->attr,
						    dnnl->engine, NULL);
	return sl__dnnl_pd_result(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_conv_grad_pd(struct sl__planner *pl, const struct sl__dnnl_conv *conv,
		      int is_weights)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	const struct sl__image_window *w = &conv->window;
	dnnl_convolution_desc_t forward, backward;
	dnnl_primitive_desc_t hint = NULL, pd = NULL;
	dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(
		&forward, dnnl_forward_training, dnnl_convolution_direct,
		conv->src, conv->weights, conv->bias, conv->dst, w->strides,
		w->dilates, w->before, w->after);

	hint = pd_new(pl, status, &forward, NULL);
	if (!hint)
		return NULL;
	status = is_weights
			 ? dnnl_dilated_convolution_backward_weights_desc_init(
				   &backward, dnnl_convolution_direct,
				   conv->src, conv->weights, conv->bias,
				   conv->dst, w->strides, w->dilates, w->before,
				   w->after)
			 : dnnl_dilated_convolution_backward_data_desc_init(
				   &backward, dnnl_convolution_direct,
				   conv->src, conv->weights, conv->dst,
				   w->strides, w->dilates, w->before, w->after);
	if (!status)
		status = dnnl_primitive_desc_create(&pd, &backward, dnnl->attr,
						    dnnl->engine, hint);
	dnnl_primitive_desc_destroy(hint);
	return sl__dnnl_pd_result(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_matmul_pd(struct sl__planner *pl, const struct sl__dnnl_matmul *matmul,
		   const_dnnl_primitive_attr_t attr)
{
	dnnl_matmul_desc_t desc;
	dnnl_status_t status = dnnl_matmul_desc_init(
		&desc, matmul->src, matmul->weights, matmul->bias, matmul->dst);

	return pd_new(pl, status, &desc, attr);
}

dnnl_primitive_desc_t
sl__dnnl_pool_pd(struct sl__planner *pl, const struct sl__dnnl_pool *pool)
{
	const struct sl__image_window *w = &pool->window;
	dnnl_pooling_v2_desc_t desc;
	dnnl_status_t status = dnnl_pooling_v2_forward_desc_init(
		&desc, dnnl_forward_inference, pool->kind, pool->src, pool->dst,
		w->strides, w->kernel, w->dilates, w->before, w->after);

	return pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_batch_norm_pd(struct sl__planner *pl, const_dnnl_memory_desc_t data,
		       float epsilon)
{
	dnnl_batch_normalization_desc_t desc;
	dnnl_status_t status = dnnl_batch_normalization_forward_desc_init(
		&desc, dnnl_forward_inference, data, epsilon,
		dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift);

	return pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_lrn_pd(struct sl__planner *pl, const struct sl__dnnl_lrn *lrn)
{
	dnnl_lrn_desc_t desc;
	dnnl_status_t status = dnnl_lrn_forward_desc_init(
		&desc, dnnl_forward_inference, dnnl_lrn_across_channels,
		lrn->data, lrn->size, lrn->alpha, lrn->beta, lrn->bias);

	return pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_eltwise_pd(struct sl__planner *pl, const_dnnl_memory_desc_t data,
		    const struct sl__dnnl_eltwise *change)
{
	dnnl_eltwise_desc_t desc;
	dnnl_status_t status = dnnl_eltwise_forward_desc_init(
		&desc, dnnl_forward_inference, change->kind, data,
		change->alpha, change->beta);

	return pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_binary_pd(struct sl__planner *pl, const_dnnl_memory_desc_t data,
		   const_dnnl_memory_desc_t operand, dnnl_alg_kind_t kind)
{
	dnnl_binary_desc_t desc;
	dnnl_status_t status =
		dnnl_binary_desc_init(&desc, kind, data, operand, data);

	return pd_new(pl, status, &desc, NULL);
}

#endif
