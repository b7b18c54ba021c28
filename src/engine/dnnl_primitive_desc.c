/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_primitive_desc.c - primitive descriptors from sizes, as oneDNN 2 has
 * them. */
#include "engine/dnnl_primitive_desc.h"

#include <string.h>

#include "base/banned.h"

const char *
sl__image_layout_text(enum sl__image_layout order)
{
	static const char *const texts[SL__N_IMAGE_LAYOUTS] = {
		[SL__IMAGE_LAYOUT_ANY] = "any",
		[SL__IMAGE_LAYOUT_ROW_MAJOR] = "plain",
		[SL__IMAGE_LAYOUT_CHANNELS_LAST] = "last",
		[SL__IMAGE_LAYOUT_BLOCK_8] = "blocks8",
		[SL__IMAGE_LAYOUT_BLOCK_16] = "blocks16",
	};

	return order < SL__N_IMAGE_LAYOUTS ? texts[order] : "?";
}

static dnnl_format_tag_t
tag_of(enum sl__image_layout order, int rank)
{
	/* By order, for images of one to three dimensions. */
	static const dnnl_format_tag_t tags[SL__N_IMAGE_LAYOUTS][3] = {
		[SL__IMAGE_LAYOUT_ANY] = {dnnl_format_tag_any,
					  dnnl_format_tag_any,
					  dnnl_format_tag_any},
		[SL__IMAGE_LAYOUT_ROW_MAJOR] = {dnnl_abc, dnnl_abcd,
						dnnl_abcde},
		[SL__IMAGE_LAYOUT_CHANNELS_LAST] = {dnnl_acb, dnnl_acdb,
						    dnnl_acdeb},
		[SL__IMAGE_LAYOUT_BLOCK_8] = {dnnl_aBc8b, dnnl_aBcd8b,
					      dnnl_aBcde8b},
		[SL__IMAGE_LAYOUT_BLOCK_16] = {dnnl_aBc16b, dnnl_aBcd16b,
					       dnnl_aBcde16b},
	};

	return rank < 3 || rank > 5 || order >= SL__N_IMAGE_LAYOUTS
		       ? dnnl_format_tag_undef
		       : tags[order][rank - 3];
}

int
sl__image_layout_md(dnnl_memory_desc_t *out, enum sl__image_layout order,
		    dnnl_data_type_t type, int rank, const int64_t *dims)
{
	dnnl_format_tag_t tag = tag_of(order, rank);
	dnnl_dims_t sizes = {0};

	if (tag == dnnl_format_tag_undef)
		return 0;
	for (int i = 0; i < rank; i++)
		sizes[i] = dims[i];
	return dnnl_memory_desc_init_by_tag(out, rank, sizes, type, tag) ==
	       dnnl_success;
}

dnnl_status_t
sl__dnnl_conv_iterator_begin(struct sl__dnnl_conv_iterator *each,
			     const struct sl__dnnl_conv *conv,
			     const_dnnl_primitive_attr_t attr,
			     dnnl_engine_t engine)
{
	const struct sl__dnnl_window *w = &conv->window;
	const dnnl_memory_desc_t *bias = conv->bias.ndims ? &conv->bias : NULL;
	dnnl_status_t status;

	each->at = NULL;
	if (conv->is_transposed)
		status = dnnl_dilated_deconvolution_forward_desc_init(
			&each->desc, dnnl_forward_inference,
			dnnl_deconvolution_direct, &conv->src, &conv->weights,
			bias, &conv->dst, w->strides, w->dilates, w->before,
			w->after);
	else
		status = dnnl_dilated_convolution_forward_desc_init(
			&each->desc, dnnl_forward_inference,
			conv->is_winograd ? dnnl_convolution_winograd
					  : dnnl_convolution_direct,
			&conv->src, &conv->weights, bias, &conv->dst,
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

/* NULL, and a failure where memory ran out. */
static dnnl_primitive_desc_t
made(struct sl__planner *pl, dnnl_status_t status, dnnl_primitive_desc_t pd)
{
	if (status == dnnl_out_of_memory)
		sl__planner_keep_dnnl_status(pl, status, "a descriptor");
	return status ? NULL : pd;
}

dnnl_primitive_desc_t
sl__dnnl_pd_new(struct sl__planner *pl, dnnl_status_t status,
		const_dnnl_op_desc_t desc, const_dnnl_primitive_attr_t attr)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;

	if (!status)
		status = dnnl_primitive_desc_create(&pd, desc,
						    attr ? attr : dnnl->attr,
						    dnnl->engine, NULL);
	return made(pl, status, pd);
}

dnnl_primitive_desc_t
sl__dnnl_pool_pd(struct sl__planner *pl, const struct sl__dnnl_pool *pool)
{
	const struct sl__dnnl_window *w = &pool->window;
	dnnl_pooling_v2_desc_t desc;
	dnnl_status_t status = dnnl_pooling_v2_forward_desc_init(
		&desc, dnnl_forward_inference, pool->kind, &pool->src,
		&pool->dst, w->strides, w->kernel, w->dilates, w->before,
		w->after);

	return sl__dnnl_pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_batch_norm_pd(struct sl__planner *pl, const dnnl_memory_desc_t *data,
		       float epsilon)
{
	dnnl_batch_normalization_desc_t desc;
	dnnl_status_t status = dnnl_batch_normalization_forward_desc_init(
		&desc, dnnl_forward_inference, data, epsilon,
		dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift);

	return sl__dnnl_pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_lrn_pd(struct sl__planner *pl, const struct sl__dnnl_lrn *lrn)
{
	dnnl_lrn_desc_t desc;
	dnnl_status_t status = dnnl_lrn_forward_desc_init(
		&desc, dnnl_forward_inference, dnnl_lrn_across_channels,
		&lrn->data, lrn->size, lrn->alpha, lrn->beta, lrn->bias);

	return sl__dnnl_pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_eltwise_pd(struct sl__planner *pl, const dnnl_memory_desc_t *data,
		    const struct sl__dnnl_eltwise *change)
{
	dnnl_eltwise_desc_t desc;
	dnnl_status_t status = dnnl_eltwise_forward_desc_init(
		&desc, dnnl_forward_inference, change->kind, data,
		change->alpha, change->beta);

	return sl__dnnl_pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_binary_pd(struct sl__planner *pl, const dnnl_memory_desc_t *data,
		   const dnnl_memory_desc_t *operand, dnnl_alg_kind_t kind)
{
	dnnl_binary_desc_t desc;
	dnnl_status_t status =
		dnnl_binary_desc_init(&desc, kind, data, operand, data);

	return sl__dnnl_pd_new(pl, status, &desc, NULL);
}

dnnl_primitive_desc_t
sl__dnnl_reorder_pd(struct sl__planner *pl, const dnnl_memory_desc_t *from,
		    const dnnl_memory_desc_t *to)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dnnl_reorder_primitive_desc_create(
		&pd, from, dnnl->engine, to, dnnl->engine, dnnl->attr);

	return made(pl, status, pd);
}

const char *
sl__dnnl_implementation_name(const_dnnl_primitive_desc_t pd)
{
	const char *name = NULL;

	dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
	return name ? name : "oneDNN";
}

int
sl__dnnl_is_plain_loop(const_dnnl_primitive_desc_t pd)
{
	const char *name = sl__dnnl_implementation_name(pd);

	return strstr(name, "ref") != NULL || !strncmp(name, "simple", 6);
}
