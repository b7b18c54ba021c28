/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_index.c - elements picked or placed by index: Gather, Scatter and theirs.
 *
 * How many elements are picked by a mask depends on data; the rank does not,
 * so such a size is a symbol and what follows can still be inferred.
 */
#include "base/dtype.h"
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/moving.h"

#include <string.h>

#include "base/banned.h"

/* The axis that the node names; -1 where it is refused. */
static int
axis_of(struct sl__call *call, int64_t otherwise, int rank)
{
	return sl__need_axis(call, sl__int(call->node, "axis", otherwise),
			     rank);
}

/* Output 0 is like input 0: Scatter, Trilu, ReverseSequence. */
enum sl_status
sl__infer_like_first(struct sl__call *call)
{
	return sl__out_like(call, 0, 0, SL_DTYPE_NONE);
}

/* The Range that a value is, seen through what keeps its numbers; NULL: it is
 * none. */
static const struct sl__node *
range_behind(const struct sl_graph *graph, uint32_t value)
{
	static const enum sl__op_id keeping[] = {
		SL__OP_ONNX_Unsqueeze, SL__OP_ONNX_Squeeze,
		SL__OP_ONNX_Reshape,   SL__OP_ONNX_Cast,
		SL__OP_ONNX_Identity,  SL__OP_ONNX_Expand};

	while (value != SL__NONE && graph->values[value].producer != SL__NONE) {
		const struct sl__node *node =
			&graph->nodes[graph->values[value].producer];
		size_t k = 0;

		if (sl__is_op(node, SL__OP_ONNX_Range))
			return node;
		while (k < sizeof(keeping) / sizeof(keeping[0]) &&
		       !sl__is_op(node, keeping[k]))
			k++;
		if (k == sizeof(keeping) / sizeof(keeping[0]) ||
		    !node->n_inputs)
			return NULL;
		value = node->inputs[0];
	}
	return NULL;
}

/* The least and the greatest index, as far as they are known; 0: they are
 * not, or there is none.  A Range too long to be followed counts up from its
 * first number to the one before its limit. */
static int
index_ends(struct sl__call *call, int64_t *least, int64_t *greatest)
{
	const struct sl__known *at = sl__in_known(call, 1);
	struct sl__call range = {.shapes = call->shapes};
	const int64_t *ends[3];
	size_t n;

	*least = INT64_MAX;
	*greatest = INT64_MIN;
	for (size_t i = 0; at && at->ints && i < at->n; i++) {
		if (sl__is_symbol(at->ints[i]))
			continue;
		*least = at->ints[i] < *least ? at->ints[i] : *least;
		*greatest = at->ints[i] > *greatest ? at->ints[i] : *greatest;
	}
	if (at)
		return *least <= *greatest;
	range.node = range_behind(call->shapes->graph, call->node->inputs[1]);
	for (size_t i = 0; range.node && i < 3; i++) {
		if (!sl__in_integers(&range, i, &ends[i], &n) || n != 1)
			return 0;
	}
	if (!range.node || *ends[2] != 1 || *ends[0] >= *ends[1])
		return 0;
	*least = *ends[0];
	*greatest = *ends[1] - 1;
	return 1;
}

/* An index outside of the table is refused where the node is sure to run:
 * bodies may stand in a branch that is not taken. */
static void
check_indices(struct sl__call *call, int axis)
{
	int64_t size = sl__in(call, 0)->dims[axis], least, greatest;
	const char *name;

	if (sl__is_symbol(size) || call->node->block != 0 ||
	    !index_ends(call, &least, &greatest) ||
	    (least >= -size && greatest < size))
		return;
	name = call->shapes->graph->values[call->node->inputs[0]].name;
	sl__refuse(call, "index %lld lies beyond the %lld %s of '%.200s'",
		   (long long)(greatest >= size ? greatest : least),
		   (long long)size, axis == 0 ? "rows" : "places", name);
}

/* Input 1 of Gather and its kin holds indices. */
static enum sl_status
check_index_type(struct sl__call *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 1);

	if (dtype != SL_DTYPE_NONE && dtype != SL_DTYPE_I32 &&
	    dtype != SL_DTYPE_I64)
		sl__refuse(call, "its indices are %s, not int32 or int64",
			   sl_dtype_text(dtype));
	return call->failure;
}

enum sl_status
sl__infer_gather(struct sl__call *call)
{
	const struct sl__type *data = sl__in(call, 0), *at = sl__in(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1);
	int axis, n = 0;
	int64_t *dims;

	if (check_index_type(call) || rank < 0 || n_at < 0)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0));
	axis = axis_of(call, 0, rank);
	if (axis >= 0)
		check_indices(call, axis);
	dims = sl__new_sizes(call, (size_t)rank + (size_t)n_at);
	if (call->failure)
		return call->failure;
	for (int i = 0; i < axis; i++)
		dims[n++] = data->dims[i];
	for (int i = 0; i < n_at; i++)
		dims[n++] = at->dims[i];
	for (int i = axis + 1; i < rank; i++)
		dims[n++] = data->dims[i];
	return sl__out(call, 0, data->dtype, n, dims);
}

/* Rows of a parameter taken by number are an embedding. */
void
sl__cost_gather(struct sl__call *call, struct sl_cost *cost)
{
	int is_embedding =
		sl__in_is_parameter(call, 0) && sl__in_rank(call, 0) == 2 &&
		sl__axis(sl__int(call->node, "axis", 0), 2) == 0 &&
		sl__dtype_family(sl__in_dtype(call, 1)) == SL__DTYPE_INTEGER;

	cost->work = is_embedding ? SL_WORK_EMBEDDING : SL_WORK_MOVEMENT;
	sl__cost_part_of(call, cost, 0);
}

/* Along all dimensions but the axis an index stands for the place it has. */
static enum sl_status
check_element_sizes(struct sl__call *call)
{
	const struct sl__type *data = sl__in(call, 0), *at = sl__in(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1), axis;

	if (rank < 0 || n_at < 0)
		return SL_OK;
	if (rank != n_at)
		return sl__refuse(call, "indices of %d dimensions for %d", n_at,
				  rank);
	axis = axis_of(call, 0, rank);
	for (int d = 0; !call->failure && d < rank; d++) {
		if (d != axis && !sl__is_symbol(data->dims[d]) &&
		    !sl__is_symbol(at->dims[d]) && at->dims[d] > data->dims[d])
			sl__refuse(call,
				   "%lld indices for %lld places of dimension "
				   "%d",
				   (long long)at->dims[d],
				   (long long)data->dims[d], d);
	}
	return call->failure;
}

enum sl_status
sl__infer_gather_elements(struct sl__call *call)
{
	if (check_index_type(call) || check_element_sizes(call))
		return call->failure;
	return sl__out_like(call, 0, 1, sl__in_dtype(call, 0));
}

enum sl_status
sl__infer_gather_nd(struct sl__call *call)
{
	const struct sl__type *data = sl__in(call, 0), *at = sl__in(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1);
	int64_t batch = sl__int(call->node, "batch_dims", 0);
	int64_t first, *dims;
	int n = 0;

	if (check_index_type(call) || rank < 0 || n_at < 0)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0));
	if (n_at < 1 || batch < 0 || batch >= n_at || batch > rank)
		return sl__refuse(call, "%lld shared dimensions of %d and %d",
				  (long long)batch, rank, n_at);
	if (sl__is_symbol(at->dims[n_at - 1]))
		return sl__out_unknown(call, 0, data->dtype,
				       "the size of an index depends on data");
	if (at->dims[n_at - 1] > rank - batch)
		return sl__refuse(call,
				  "an index of %lld numbers into %d "
				  "dimensions",
				  (long long)at->dims[n_at - 1], rank);
	first = batch + at->dims[n_at - 1];
	dims = sl__new_sizes(call, (size_t)rank + (size_t)n_at);
	for (int i = 0; dims && i < n_at - 1; i++)
		dims[n++] = at->dims[i];
	for (int i = (int)first; dims && i < rank; i++)
		dims[n++] = data->dims[i];
	return sl__out(call, 0, data->dtype, n, dims);
}

/* Elements that are not zero. */
static int64_t
count_set(const struct sl__known *known)
{
	int64_t n = 0;

	for (size_t i = 0; i < known->n; i++)
		n += known->ints ? known->ints[i] != 0 : known->floats[i] != 0;
	return n;
}

enum sl_status
sl__infer_compress(struct sl__call *call)
{
	const struct sl__known *mask = sl__in_known(call, 1);
	int rank = sl__in_rank(call, 0), axis;
	int64_t taken = mask && sl__known_is_plain(mask)
				? count_set(mask)
				: sl__size_unknown(call->shapes);
	int64_t *dims;

	if (!sl__attribute(call->node, "axis"))
		return sl__out(call, 0, sl__in_dtype(call, 0), 1, &taken);
	if (rank < 0)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0));
	axis = axis_of(call, 0, rank);
	dims = sl__copy_sizes(call, 0);
	if (!call->failure)
		dims[axis] = taken;
	return sl__out(call, 0, sl__in_dtype(call, 0), rank, dims);
}

enum sl_status
sl__infer_non_zero(struct sl__call *call)
{
	const struct sl__known *known = sl__in_known(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t dims[2];

	/* A scalar counts as one element of one dimension. */
	dims[0] = rank < 0 ? sl__size_unknown(call->shapes) : rank ? rank : 1;
	dims[1] = known && sl__known_is_plain(known)
			  ? count_set(known)
			  : sl__size_unknown(call->shapes);
	return sl__out(call, 0, SL_DTYPE_I64, 2, dims);
}

enum sl_status
sl__infer_one_hot(struct sl__call *call)
{
	const struct sl__known *known = sl__in_known(call, 1);
	const struct sl__type *in = sl__in(call, 0);
	int rank = sl__in_rank(call, 0), axis;
	int64_t *dims;

	if (rank < 0)
		return sl__out(call, 0, sl__in_dtype(call, 2), -1, NULL);
	axis = axis_of(call, -1, rank + 1);
	dims = sl__new_sizes(call, (size_t)rank + 1);
	if (call->failure)
		return call->failure;
	for (int i = 0; i <= rank; i++)
		dims[i] = i == axis ? 0 : in->dims[i < axis ? i : i - 1];
	if (known && known->n == 1 && known->ints)
		dims[axis] = known->ints[0];
	else if (known && known->n == 1 && known->floats[0] >= 0 &&
		 known->floats[0] < 9e15)
		dims[axis] = (int64_t)known->floats[0];
	else
		dims[axis] = sl__size_unknown(call->shapes);
	return sl__out(call, 0, sl__in_dtype(call, 2), rank + 1, dims);
}

/*
 * A copy of the data, and the updates written into it: the updates are read
 * once and written once, beyond what any node reads and writes.
 */
void
sl__cost_scatter(struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__type *updates = sl__in(call, 2);
	const char *how = sl__word(call->node, "reduction", "none");
	uint64_t bytes, n;

	if (sl__is_op(call->node, SL__OP_ONNX_TensorScatter))
		updates = sl__in(call, 1);
	cost->work = SL_WORK_MOVEMENT;
	if (!updates || !sl__type_bytes(updates, &bytes) ||
	    !sl__type_elements(updates, &n))
		return;
	cost->written_bytes = sl__plus(cost->written_bytes, bytes);
	if (!strcmp(how, "add"))
		cost->add = n;
	else if (!strcmp(how, "mul"))
		cost->mul = n;
	else if (!strcmp(how, "max") || !strcmp(how, "min"))
		cost->cmp = n;
}
