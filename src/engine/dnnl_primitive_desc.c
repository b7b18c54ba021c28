/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_primitive_desc.c - primitive descriptors: images, reorders, names. */
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
sl__image_layout_md(const_dnnl_memory_desc_t *out,
		    struct sl__dnnl_context *dnnl, enum sl__image_layout order,
		    dnnl_data_type_t type, int rank, const int64_t *dims)
{
	dnnl_format_tag_t tag = tag_of(order, rank);
	const struct sl__dnnl_strides sizes = {
		.type = type, .n_dims = rank, .dims = dims};

	return tag != dnnl_format_tag_undef &&
	       sl__dnnl_tagged_md(out, dnnl, &sizes, tag);
}

dnnl_primitive_desc_t
sl__dnnl_pd_result(struct sl__planner *pl, dnnl_status_t status,
		   dnnl_primitive_desc_t pd)
{
	if (status == dnnl_out_of_memory)
		sl__planner_keep_dnnl_status(pl, status, "a descriptor");
	return status ? NULL : pd;
}

dnnl_primitive_desc_t
sl__dnnl_reorder_pd(struct sl__planner *pl, const_dnnl_memory_desc_t from,
		    const_dnnl_memory_desc_t to)
{
	const struct sl__dnnl_context *dnnl = pl->program->dnnl;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = dnnl_reorder_primitive_desc_create(
		&pd, from, dnnl->engine, to, dnnl->engine, dnnl->attr);

	return sl__dnnl_pd_result(pl, status, pd);
}

const_dnnl_memory_desc_t
sl__dnnl_pd_md(struct sl__planner *pl, const_dnnl_primitive_desc_t pd,
	       dnnl_query_t what, int index)
{
	const_dnnl_memory_desc_t own =
		dnnl_primitive_desc_query_md(pd, what, index);
	const_dnnl_memory_desc_t md;

	if (sl__dnnl_copy_md(&md, pl->program->dnnl, own))
		return md;
	/* Good enough for what does nothing after a failure. */
	sl__planner_keep_dnnl_status(pl, dnnl_out_of_memory, "a description");
	return own;
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
