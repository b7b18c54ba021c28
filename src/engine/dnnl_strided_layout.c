/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_strided_layout.c - oneDNN's orders of elements as strides, and back. */
#include "engine/dnnl_conv.h"
#include "engine/quantized.h"
#include "engine/strided_layout.h"

#include <string.h>

#include "base/banned.h"

static int
plain_strides(const struct sl__type *type, struct sl__strided_layout *out)
{
	if (type->rank > SL__SPACE_RANK_MAX)
		return 0;
	out->dtype = type->dtype;
	sl__row_major_strides(out->strides, (size_t)type->rank, type->dims);
	return 1;
}

int
sl__strided_layout_of(const struct sl__planner *pl, uint32_t value,
		      const struct sl__layout *layout,
		      struct sl__strided_layout *out)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	struct sl__dnnl_md_parts p;

	memset(out, 0, sizeof(*out));
	out->axis = -1;
	out->block = 1;
	if (!layout)
		return plain_strides(type, out);
	p = sl__dnnl_md_parts(layout->md);
	if (!p.is_strided || p.n_blocks > 1 ||
	    p.n_dims != (type->rank ? type->rank : 1) ||
	    !sl__dnnl_md_is_compact(layout->md))
		return 0;
	out->dtype = sl__layout_dtype(layout);
	for (int d = 0; d < type->rank; d++) {
		out->strides[d] = p.strides[d];
		out->is_padded |= p.padded_dims[d] != p.dims[d];
	}
	if (p.n_blocks) {
		out->axis = (int)p.block_axes[0];
		out->block = p.blocks[0];
	}
	return 1;
}

/* Strides of 'dims' in the order of another layout; the cut dimension counts
 * in blocks, which are rounded up. */
static void
order_like(const struct sl__strided_layout *like, int rank, const int64_t *dims,
	   int64_t *strides)
{
	int64_t stride = like->block;
	int is_done[SL__SPACE_RANK_MAX] = {0};

	for (int i = 0; i < rank; i++) {
		int least = -1;

		for (int d = rank - 1; d >= 0; d--) {
			if (!is_done[d] &&
			    (least < 0 ||
			     like->strides[d] < like->strides[least]))
				least = d;
		}
		is_done[least] = 1;
		strides[least] = stride;
		stride *= least == like->axis ? (dims[least] + like->block -
						 1) / like->block
					      : dims[least];
	}
}

const struct sl__layout *
sl__layout_like(struct sl__planner *pl, uint32_t value,
		const struct sl__layout *like)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	struct sl__strided_layout strided;
	const_dnnl_memory_desc_t md;
	dnnl_dims_t strides;
	struct sl__dnnl_strides s = {
		.n_dims = type->rank, .dims = type->dims, .strides = strides};

	if (!like || type->rank != sl__dnnl_md_parts(like->md).n_dims ||
	    !sl__strided_layout_of(pl, value, like, &strided))
		return NULL;
	order_like(&strided, type->rank, type->dims, strides);
	s.type = sl__dnnl_data_type(strided.dtype);
	s.axis = strided.axis;
	s.block = strided.block;
	return sl__dnnl_strided_md(&md, pl->program->dnnl, &s)
		       ? sl__layout_from_md(pl, value, md)
		       : NULL;
}

const struct sl__layout *
sl__layout_retyped(struct sl__planner *pl, const struct sl__layout *layout,
		   enum sl_dtype dtype)
{
	struct sl__dnnl_md_parts p;
	struct sl__dnnl_strides s = {.type = sl__dnnl_data_type(dtype),
				     .axis = -1};
	const_dnnl_memory_desc_t md;

	if (!layout)
		return NULL;
	p = sl__dnnl_md_parts(layout->md);
	s.n_dims = p.n_dims;
	s.dims = p.dims;
	s.strides = p.strides;
	if (p.n_blocks) {
		s.axis = (int)p.block_axes[0];
		s.block = p.blocks[0];
	}
	return p.is_strided && p.n_blocks <= 1 &&
			       sl__dnnl_strided_md(&md, pl->program->dnnl, &s)
		       ? sl__layout_new(pl, md)
		       : NULL;
}

const struct sl__layout *
sl__layout_channels_last(struct sl__planner *pl, uint32_t value)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	enum sl_dtype dtype = sl__is_8bit_integer(type->dtype) ? type->dtype
							       : SL_DTYPE_F32;
	const_dnnl_memory_desc_t md;

	if (sl__image_layout_md(
		    &md, pl->program->dnnl, SL__IMAGE_LAYOUT_CHANNELS_LAST,
		    sl__dnnl_data_type(dtype), type->rank, type->dims))
		return sl__layout_for_output(pl, value, md);
	sl__planner_fail_internal(pl, "an image has no description");
	return NULL;
}
