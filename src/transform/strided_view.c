/* SPDX-License-Identifier: Apache-2.0 */
/* strided_view.c - one value seen as another: the same elements in other
 * places. */
#include "transform/strided_view.h"
#include "ops/ref.h"
#include "transform/matching.h"

#include <string.h>

#include "base/banned.h"

int
sl__view_row_major(struct sl__strided_view *view, const struct sl__rewrite *rw,
		   uint32_t value)
{
	const struct sl__type *type;

	if (!sl__has_known_shape(rw, value))
		return 0;
	type = &rw->types[value];
	if (type->rank > SL__VIEW_RANK)
		return 0;
	memset(view, 0, sizeof(*view));
	view->rank = type->rank;
	for (int d = 0; d < type->rank; d++)
		view->dims[d] = type->dims[d];
	sl__row_major_strides(view->strides, (size_t)view->rank, view->dims);
	return 1;
}

int
sl__is_view_node(const struct sl__rewrite *rw, uint32_t node)
{
	return sl__is_reshape(rw, node) ||
	       sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Transpose) ||
	       sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Identity);
}

/* Without dimensions of one element. */
static void
squeeze(struct sl__strided_view *to, const struct sl__strided_view *view)
{
	memset(to, 0, sizeof(*to));
	for (int d = 0; d < view->rank; d++) {
		if (view->dims[d] == 1)
			continue;
		to->dims[to->rank] = view->dims[d];
		to->strides[to->rank++] = view->strides[d];
	}
}

/* Old dimensions first .. end - 1 are one, in steps of the last. */
static int
is_one(const struct sl__strided_view *view, int first, int end)
{
	for (int d = end - 1; d > first; d--) {
		if (view->strides[d - 1] != view->strides[d] * view->dims[d])
			return 0;
	}
	return 1;
}

/* Groups of old and new dimensions with as many elements go together; what
 * is a group on the old side must be one. */
int
sl__view_reshape(struct sl__strided_view *view, int rank, const int64_t *dims)
{
	struct sl__strided_view old;
	int o = 0, n = 0;

	if (rank > SL__VIEW_RANK)
		return 0;
	squeeze(&old, view);
	view->rank = rank;
	while (n < rank) {
		int first = o, begin = n;
		int64_t had = 1, has = dims[n++], step;

		while (had != has) {
			if (had < has && o < old.rank)
				had *= old.dims[o++];
			else if (has < had && n < rank)
				has *= dims[n++];
			else
				return 0;
		}
		if (!is_one(&old, first, o))
			return 0;
		step = o > first ? old.strides[o - 1] : 0;
		for (int d = n; d-- > begin;) {
			view->dims[d] = dims[d];
			view->strides[d] = step;
			step *= dims[d];
		}
	}
	return o == old.rank;
}

static int
transpose(struct sl__strided_view *view, const struct sl__node *node)
{
	struct sl__strided_view old = *view;
	const int64_t *perm;
	size_t n = sl__attribute_ints(node, "perm", &perm);

	if (n && n != (size_t)old.rank)
		return 0;
	for (int d = 0; d < old.rank; d++) {
		int64_t from = n ? perm[d] : old.rank - 1 - d;

		if (from < 0 || from >= old.rank)
			return 0;
		view->dims[d] = old.dims[from];
		view->strides[d] = old.strides[from];
	}
	return 1;
}

int
sl__view_through_node(struct sl__strided_view *view,
		      const struct sl__rewrite *rw, uint32_t node)
{
	const struct sl__node *n = &rw->nodes[node].node;
	const struct sl__type *type = &rw->types[n->outputs[0]];

	if (!sl__has_known_shape(rw, n->outputs[0]))
		return 0;
	if (sl__is_op(n, SL__OP_ONNX_Transpose))
		return transpose(view, n);
	return sl__view_reshape(view, type->rank, type->dims);
}

void
sl__view_swap_dims(struct sl__strided_view *view, int a, int b)
{
	int64_t dim = view->dims[a], stride = view->strides[a];

	view->dims[a] = view->dims[b];
	view->strides[a] = view->strides[b];
	view->dims[b] = dim;
	view->strides[b] = stride;
}

int
sl__view_has_strides(const struct sl__strided_view *view,
		     const int64_t *strides)
{
	for (int d = 0; d < view->rank; d++) {
		if (view->dims[d] != 1 && view->strides[d] != strides[d])
			return 0;
	}
	return 1;
}

int
sl__view_is_row_major(const struct sl__strided_view *view)
{
	int64_t strides[SL__VIEW_RANK];

	sl__row_major_strides(strides, (size_t)view->rank, view->dims);
	return sl__view_has_strides(view, strides);
}
