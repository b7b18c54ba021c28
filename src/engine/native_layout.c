/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_layout.c - layouts where there is no oneDNN: a type of number and
 * strides.
 */
#include "engine/strided_layout.h"

#ifdef SL_WITHOUT_DNNL
#include "base/status.h"
#include "engine/compile.h"
#include "engine/constants.h"
#include "engine/gemm.h"
#include "engine/quantized.h"
#include "engine/reorder.h"

#include <string.h>
#endif

#include "base/banned.h"

#ifdef SL_WITHOUT_DNNL

/* Elements fill the layout; strides of dimensions of one element are those
 * that row-major ones have. */
struct sl__layout {
	int64_t dims[SL__SPACE_RANK_MAX], strides[SL__SPACE_RANK_MAX];
	int64_t rank, dtype;
};

static int
set_row_major(struct sl__layout *l, enum sl_dtype dtype, int rank,
	      const int64_t *dims)
{
	memset(l, 0, sizeof(*l));
	if (rank < 0 || rank > SL__SPACE_RANK_MAX)
		return 0;
	l->rank = rank;
	l->dtype = dtype;
	if (rank)
		memcpy(l->dims, dims, (size_t)rank * sizeof(*dims));
	sl__row_major_strides(l->strides, (size_t)rank, l->dims);
	return 1;
}

static int
set_own(struct sl__layout *l, const struct sl__planner *pl, uint32_t value)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);

	return set_row_major(l, type->dtype, type->rank, type->dims);
}

/* NULL where it is the value's own. */
static const struct sl__layout *
keep(struct sl__planner *pl, uint32_t value, const struct sl__layout *l)
{
	struct sl__layout own, *copy;

	if (set_own(&own, pl, value) && sl__layout_equal(&own, l))
		return NULL;
	copy = sl__plan_alloc_state(pl, sizeof(*copy));
	if (copy)
		*copy = *l;
	return copy;
}

uint64_t
sl__layout_bytes(const struct sl__layout *l)
{
	uint64_t n = 1;

	for (int64_t d = 0; d < l->rank; d++)
		n *= (uint64_t)l->dims[d];
	return n * sl_dtype_bits(sl__layout_dtype(l)) / 8;
}

enum sl_dtype
sl__layout_dtype(const struct sl__layout *l)
{
	return (enum sl_dtype)l->dtype;
}

int
sl__layout_equal(const struct sl__layout *a, const struct sl__layout *b)
{
	return a == b || (a && b && !memcmp(a, b, sizeof(*a)));
}

int
sl__layout_is_dense(const struct sl__layout *l)
{
	struct sl__layout plain;

	return !l || (set_row_major(&plain, sl__layout_dtype(l), (int)l->rank,
				    l->dims) &&
		      sl__layout_equal(l, &plain));
}

int
sl__strided_layout_of(const struct sl__planner *pl, uint32_t value,
		      const struct sl__layout *layout,
		      struct sl__strided_layout *out)
{
	struct sl__layout own;

	memset(out, 0, sizeof(*out));
	out->axis = -1;
	out->block = 1;
	if (!layout && !set_own(&own, pl, value))
		return 0;
	layout = layout ? layout : &own;
	out->dtype = sl__layout_dtype(layout);
	memcpy(out->strides, layout->strides, sizeof(out->strides));
	return layout->rank == sl__plan_value_type(pl, value)->rank;
}

/* Dimensions of l in that order, the first one innermost. */
static void
set_order(struct sl__layout *l, const int *order)
{
	struct sl__layout plain;
	int64_t step = 1;

	(void)set_row_major(&plain, sl__layout_dtype(l), (int)l->rank, l->dims);
	for (int64_t i = 0; i < l->rank; i++) {
		int d = order[i];

		l->strides[d] = l->dims[d] == 1 ? plain.strides[d] : step;
		step *= l->dims[d];
	}
}

const struct sl__layout *
sl__layout_like(struct sl__planner *pl, uint32_t value,
		const struct sl__layout *like)
{
	struct sl__layout l;
	int order[SL__SPACE_RANK_MAX], n = 0;

	if (!like || !set_own(&l, pl, value) || l.rank != like->rank)
		return NULL;
	l.dtype = like->dtype;
	/* By insertion; of equal strides the later dimension comes first. */
	for (int d = (int)l.rank; d-- > 0;) {
		int at = n++;

		for (; at && like->strides[order[at - 1]] > like->strides[d];
		     at--)
			order[at] = order[at - 1];
		order[at] = d;
	}
	set_order(&l, order);
	return keep(pl, value, &l);
}

const struct sl__layout *
sl__layout_channels_last(struct sl__planner *pl, uint32_t value)
{
	struct sl__layout l;
	int order[SL__SPACE_RANK_MAX] = {1}, n = 1;

	if (!set_own(&l, pl, value))
		return NULL;
	for (int d = (int)l.rank; d-- > 0;) {
		if (d != 1)
			order[n++] = d;
	}
	set_order(&l, order);
	/* Bytes that lie row-major anyway are the value's own. */
	return keep(pl, value, &l);
}

const struct sl__layout *
sl__layout_retyped(struct sl__planner *pl, const struct sl__layout *layout,
		   enum sl_dtype dtype)
{
	struct sl__layout *l = layout ? sl__plan_alloc_state(pl, sizeof(*l))
				      : NULL;

	if (!l)
		return NULL;
	*l = *layout;
	l->dtype = dtype;
	return l;
}

const struct sl__layout *
sl__gemm_row_major_layout(struct sl__planner *pl, uint32_t value,
			  enum sl_dtype dtype)
{
	struct sl__layout l;

	if (!set_own(&l, pl, value)) {
		sl__planner_fail_internal(pl, "a value has no description");
		return NULL;
	}
	l.dtype = dtype;
	return keep(pl, value, &l);
}

/* Both of the same sizes. */
static void
set_reordering(struct sl__reordering *r, const struct sl__layout *from,
	       const struct sl__layout *to)
{
	*r = (struct sl__reordering){.rank = to->rank ? to->rank : 1,
				     .dims = {1},
				     .from_dtype = from->dtype,
				     .to_dtype = to->dtype};
	for (int64_t d = 0; d < to->rank; d++) {
		r->dims[d] = to->dims[d];
		r->from[d] = from->strides[d];
		r->to[d] = to->strides[d];
	}
}

static int
pack_reordered(struct sl__planner *pl, const void *how, const void *from,
	       void *to)
{
	if (!(pl->options->flags & SL__PLAN_DRY))
		sl__reorder_now(how, from, to);
	return 1;
}

uint32_t
sl__plan_packed_constant(struct sl__planner *pl, uint32_t value,
			 const struct sl__layout *as,
			 const struct sl__layout *layout)
{
	struct sl__layout own;
	struct sl__reordering r;
	struct sl__packing packing = {pack_reordered, NULL, &r, sizeof(r), 0};

	if (pl->rc || (!as && !set_own(&own, pl, value))) {
		sl__planner_fail_internal(pl, "a constant cannot be packed");
		return SL__NONE;
	}
	set_reordering(&r, as ? as : &own, layout);
	packing.n_bytes = sl__layout_bytes(layout);
	return sl__plan_constant_packed_by(pl, value, &packing);
}

uint32_t
sl__gemm_pack_weights(struct sl__planner *pl, const struct sl__gemm *p)
{
	struct sl__layout as, to;
	int64_t dims[2] = {p->n, p->k};

	(void)set_row_major(&to, p->dtype, 2, dims);
	as = to;
	as.dtype = sl__plan_value_type(pl, p->b)->dtype;
	as.strides[0] = p->b_n;
	as.strides[1] = p->b_k;
	return sl__plan_packed_constant(pl, p->b, &as, &to);
}

void
sl__plan_reorder(struct sl__planner *pl, uint32_t value,
		 const struct sl__value_version *from,
		 const struct sl__value_version *to)
{
	const uint32_t operands[2] = {from->buffer, to->buffer};
	struct sl__layout own;
	struct sl__reordering r;

	if (!set_own(&own, pl, value)) {
		sl__planner_fail_internal(pl,
					  "a value cannot change its layout");
		return;
	}
	set_reordering(&r, from->layout ? from->layout : &own,
		       to->layout ? to->layout : &own);
	sl__plan_native_reorder(pl, value, &r, operands);
}

#endif
