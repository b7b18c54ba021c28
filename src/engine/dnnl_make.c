/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_make.c - primitive descriptors from sizes, as oneDNN 2 has them. */
#include "dnnl_make.h"

#include <string.h>

#include "banned.h"

/* ----------------------------------------------------------------- layouts */

const char *
sl__layout_text(enum sl__layout layout)
{
	static const char *const texts[SL__N_LAYOUTS] = {
		[SL__LAYOUT_ANY] = "any",
		[SL__LAYOUT_PLAIN] = "plain",
		[SL__LAYOUT_LAST] = "last",
		[SL__LAYOUT_BLOCK_8] = "blocks8",
		[SL__LAYOUT_BLOCK_16] = "blocks16",
	};

	return layout < SL__N_LAYOUTS ? texts[layout] : "?";
}

static dnnl_format_tag_t
tag_of(enum sl__layout layout, int rank)
{
	/* By layout, for images of one to three dimensions. */
	static const dnnl_format_tag_t tags[SL__N_LAYOUTS][3] = {
		[SL__LAYOUT_ANY] = {dnnl_format_tag_any, dnnl_format_tag_any,
				    dnnl_format_tag_any},
		[SL__LAYOUT_PLAIN] = {dnnl_abc, dnnl_abcd, dnnl_abcde},
		[SL__LAYOUT_LAST] = {dnnl_acb, dnnl_acdb, dnnl_acdeb},
		[SL__LAYOUT_BLOCK_8] = {dnnl_aBc8b, dnnl_aBcd8b, dnnl_aBcde8b},
		[SL__LAYOUT_BLOCK_16] = {dnnl_aBc16b, dnnl_aBcd16b,
					 dnnl_aBcde16b},
	};

	return rank < 3 || rank > 5 || layout >= SL__N_LAYOUTS
		       ? dnnl_format_tag_undef
		       : tags[layout][rank - 3];
}

int
sl__layout_md(dnnl_memory_desc_t *out, enum sl__layout layout,
	      dnnl_data_type_t type, int rank, const int64_t *dims)
{
	dnnl_format_tag_t tag = tag_of(layout, rank);
	dnnl_dims_t sizes = {0};

	if (tag == dnnl_format_tag_undef)
		return 0;
	for (int i = 0; i < rank; i++)
		sizes[i] = dims[i];
	return dnnl_memory_desc_init_by_tag(out, rank, sizes, type, tag) ==
	       dnnl_success;
}

/* ------------------------------------------------------------ convolutions */

static dnnl_status_t
nth_implementation(dnnl_primitive_desc_t *out, const_dnnl_op_desc_t desc,
		   const_dnnl_primitive_attr_t attr, dnnl_engine_t engine,
		   int nth)
{
	dnnl_primitive_desc_iterator_t at;
	dnnl_status_t status = dnnl_primitive_desc_iterator_create(
		&at, desc, attr, engine, NULL);

	if (status)
		return status;
	for (int i = 0; !status && i < nth; i++)
		status = dnnl_primitive_desc_iterator_next(at);
	if (status)
		status = dnnl_unimplemented;
	else
		*out = dnnl_primitive_desc_iterator_fetch(at);
	dnnl_primitive_desc_iterator_destroy(at);
	return !status && !*out ? dnnl_out_of_memory : status;
}

dnnl_status_t
sl__dnnl_conv_pd(dnnl_primitive_desc_t *out, const struct sl__dnnl_conv *conv,
		 const_dnnl_primitive_attr_t attr, dnnl_engine_t engine,
		 int nth)
{
	const struct sl__dnnl_window *w = &conv->window;
	const dnnl_memory_desc_t *bias = conv->bias.ndims ? &conv->bias : NULL;
	dnnl_convolution_desc_t desc; /* of transposed ones, too */
	dnnl_status_t status;

	*out = NULL;
	if (conv->is_transposed)
		status = dnnl_dilated_deconvolution_forward_desc_init(
			&desc, dnnl_forward_inference,
			dnnl_deconvolution_direct, &conv->src, &conv->weights,
			bias, &conv->dst, w->strides, w->dilates, w->before,
			w->after);
	else
		status = dnnl_dilated_convolution_forward_desc_init(
			&desc, dnnl_forward_inference,
			conv->is_winograd ? dnnl_convolution_winograd
					  : dnnl_convolution_direct,
			&conv->src, &conv->weights, bias, &conv->dst,
			w->strides, w->dilates, w->before, w->after);
	return status ? status
		      : nth_implementation(out, &desc, attr, engine, nth);
}

/* --------------------------------------------------------- pools and norms */

dnnl_status_t
sl__dnnl_pool_pd(dnnl_primitive_desc_t *out, const struct sl__dnnl_pool *pool,
		 const_dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
	const struct sl__dnnl_window *w = &pool->window;
	dnnl_pooling_v2_desc_t desc;
	dnnl_status_t status = dnnl_pooling_v2_forward_desc_init(
		&desc, dnnl_forward_inference, pool->kind, &pool->src,
		&pool->dst, w->strides, w->kernel, w->dilates, w->before,
		w->after);

	*out = NULL;
	return status ? status
		      : dnnl_primitive_desc_create(out, &desc, attr, engine,
						   NULL);
}

dnnl_status_t
sl__dnnl_batch_norm_pd(dnnl_primitive_desc_t *out,
		       const dnnl_memory_desc_t *data, float epsilon,
		       const_dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
	dnnl_batch_normalization_desc_t desc;
	dnnl_status_t status = dnnl_batch_normalization_forward_desc_init(
		&desc, dnnl_forward_inference, data, epsilon,
		dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift);

	*out = NULL;
	return status ? status
		      : dnnl_primitive_desc_create(out, &desc, attr, engine,
						   NULL);
}

dnnl_status_t
sl__dnnl_lrn_pd(dnnl_primitive_desc_t *out, const struct sl__dnnl_lrn *lrn,
		const_dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
	dnnl_lrn_desc_t desc;
	dnnl_status_t status = dnnl_lrn_forward_desc_init(
		&desc, dnnl_forward_inference, dnnl_lrn_across_channels,
		&lrn->data, lrn->size, lrn->alpha, lrn->beta, lrn->bias);

	*out = NULL;
	return status ? status
		      : dnnl_primitive_desc_create(out, &desc, attr, engine,
						   NULL);
}

/* ------------------------------------------------------------ element-wise */

dnnl_status_t
sl__dnnl_change_pd(dnnl_primitive_desc_t *out, const dnnl_memory_desc_t *data,
		   dnnl_alg_kind_t kind, const float *params,
		   const_dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
	dnnl_eltwise_desc_t desc;
	dnnl_status_t status = dnnl_eltwise_forward_desc_init(
		&desc, dnnl_forward_inference, kind, data, params[0],
		params[1]);

	*out = NULL;
	return status ? status
		      : dnnl_primitive_desc_create(out, &desc, attr, engine,
						   NULL);
}

dnnl_status_t
sl__dnnl_join_pd(dnnl_primitive_desc_t *out, const dnnl_memory_desc_t *data,
		 const dnnl_memory_desc_t *operand, dnnl_alg_kind_t kind,
		 const_dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
	dnnl_binary_desc_t desc;
	dnnl_status_t status =
		dnnl_binary_desc_init(&desc, kind, data, operand, data);

	*out = NULL;
	return status ? status
		      : dnnl_primitive_desc_create(out, &desc, attr, engine,
						   NULL);
}

dnnl_status_t
sl__dnnl_reorder_pd(dnnl_primitive_desc_t *out, const dnnl_memory_desc_t *from,
		    const dnnl_memory_desc_t *to,
		    const_dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
	*out = NULL;
	return dnnl_reorder_primitive_desc_create(out, from, engine, to, engine,
						  attr);
}

/* ------------------------------------------------------------------- names */

const char *
sl__dnnl_name(const_dnnl_primitive_desc_t pd)
{
	const char *name = NULL;

	dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
	return name ? name : "oneDNN";
}

int
sl__dnnl_is_plain_loop(const_dnnl_primitive_desc_t pd)
{
	const char *name = sl__dnnl_name(pd);

	return strstr(name, "ref") != NULL || !strncmp(name, "simple", 6);
}
