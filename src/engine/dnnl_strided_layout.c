/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_strided_layout.c - oneDNN's orders of elements as strides, and back. */
#include "engine/dnnl_layout.h"
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

static int
is_compact(const dnnl_memory_desc_t *md)
{
	uint64_t n = 1;

	for (int d = 0; d < md->ndims; d++)
		n *= (uint64_t)md->padded_dims[d];
	return dnnl_memory_desc_get_size(md) ==
	       n *
		       sl_dtype_bits(sl__layout_dtype(
			       &(const struct sl__layout){.md = *md})) /
		       8;
}

int
sl__strided_layout_of(const struct sl__planner *pl, uint32_t value,
		      const struct sl__layout *layout,
		      struct sl__strided_layout *out)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	const dnnl_memory_desc_t *md;
	const dnnl_blocking_desc_t *b;

	memset(out, 0, sizeof(*out));
	out->axis = -1;
	out->block = 1;
	if (!layout)
		return plain_strides(type, out);
	md = &layout->md;
	b = &md->format_desc.blocking;
	if (md->format_kind != dnnl_blocked || b->inner_nblks > 1 ||
	    md->offset0 || md->ndims != (type->rank ? type->rank : 1) ||
	    !is_compact(md))
		return 0;
	out->dtype = sl__layout_dtype(layout);
	for (int d = 0; d < type->rank; d++) {
		out->strides[d] = b->strides[d];
		out->is_padded |= md->padded_dims[d] != md->dims[d];
	}
	if (b->inner_nblks) {
		out->axis = (int)b->inner_idxs[0];
		out->block = b->inner_blks[0];
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
	dnnl_memory_desc_t md;
	dnnl_blocking_desc_t *b = &md.format_desc.blocking;

	if (!like || type->rank != like->md.ndims ||
	    !sl__strided_layout_of(pl, value, like, &strided) ||
	    !sl__dnnl_row_major_md(&md, strided.dtype, type->rank, type->dims))
		return NULL;
	order_like(&strided, type->rank, type->dims, b->strides);
	if (strided.axis >= 0) {
		int64_t *size = &md.padded_dims[strided.axis];

		b->inner_nblks = 1;
		b->inner_blks[0] = strided.block;
		b->inner_idxs[0] = strided.axis;
		*size = (*size + strided.block - 1) / strided.block *
			strided.block;
	}
	return sl__layout_from_md(pl, value, &md);
}
