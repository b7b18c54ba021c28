/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_index.c - elements picked or placed by index: Gather, Scatter and theirs.
 *
 * How many elements are picked by a mask depends on data; the rank does not,
 * so such a size is a symbol and what follows can still be inferred.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/moving.h"

#include <string.h>

#include "base/banned.h"

static enum sl_status
axis_of(const struct sl__call *call, int64_t otherwise, int rank, int *axis,
	struct sl_error *err)
{
	int64_t named = sl__int(call->node, "axis", otherwise);

	*axis = sl__axis(named, rank);
	if (*axis < 0)
		return sl__refuse(err,
				  "axis %lld lies outside of %d dimensions",
				  (long long)named, rank);
	return SL_OK;
}

/* Output 0 is like input 0: Scatter, Trilu, ReverseSequence. */
enum sl_status
sl__infer_like_first(const struct sl__call *call, struct sl_error *err)
{
	return sl__out_like(call, 0, 0, SL_DTYPE_NONE, err);
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
index_ends(const struct sl__call *call, int64_t *least, int64_t *greatest)
{
	const struct sl__known *at = sl__in_known(call, 1);
	struct sl__call range = {call->shapes, NULL};
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
static enum sl_status
check_indices(const struct sl__call *call, int axis, struct sl_error *err)
{
	int64_t size = sl__in(call, 0)->dims[axis], least, greatest;
	const char *name;

	if (sl__is_symbol(size) || call->node->block != 0 ||
	    !index_ends(call, &least, &greatest) ||
	    (least >= -size && greatest < size))
		return SL_OK;
	name = call->shapes->graph->values[call->node->inputs[0]].name;
	return sl__refuse(err, "index %lld lies beyond the %lld %s of '%.200s'",
			  (long long)(greatest >= size ? greatest : least),
			  (long long)size, axis == 0 ? "rows" : "places", name);
}

/* Input 1 of Gather and its kin holds indices. */
static enum sl_status
check_index_type(const struct sl__call *call, struct sl_error *err)
{
	enum sl_dtype dtype = sl__in_dtype(call, 1);

	if (dtype == SL_DTYPE_NONE || dtype == SL_DTYPE_I32 ||
	    dtype == SL_DTYPE_I64)
		return SL_OK;
	return sl__refuse(err, "its indices are %s, not int32 or int64",
			  sl_dtype_text(dtype));
}

enum sl_status
sl__infer_gather(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *data = sl__in(call, 0), *at = sl__in(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1);
	int axis, n = 0;
	enum sl_status rc = check_index_type(call, err);
	int64_t *dims;

	if (rc)
		return rc;
	if (rank < 0 || n_at < 0)
		return sl__out(call, 0, sl__in_dtype(call, 0), -1, NULL, err);
	rc = axis_of(call, 0, rank, &axis, err);
	if (!rc)
		rc = check_indices(call, axis, err);
	if (rc)
		return rc;
	dims = sl__new_sizes(call, (size_t)rank + (size_t)n_at);
	if (!dims)
		return sl__fail_nomem(err);
	for (int i = 0; i < axis; i++)
		dims[n++] = data->dims[i];
	for (int i = 0; i < n_at; i++)
		dims[n++] = at->dims[i];
	for (int i = axis + 1; i < rank; i++)
		dims[n++] = data->dims[i];
	return sl__out(call, 0, data->dtype, n, dims, err);
}

/* Where the elements that a Gather takes lie; 0 where an index is not known
 * or lies outside. */
static int
gather_sources(const struct sl__walk *data, int axis,
	       const struct sl__known *at, size_t *source, size_t *n)
{
	size_t size = (size_t)data->dims[axis];
	size_t inner = (size_t)data->strides[axis], outer = 1, each;

	*n = 0;
	/* A dimension of 0 elsewhere may hide products of any size. */
	for (int d = 0; d < axis; d++) {
		if (__builtin_mul_overflow(outer, (size_t)data->dims[d],
					   &outer))
			return 0;
	}
	if (outer == 0 || inner == 0 || at->n == 0)
		return 1;
	if (__builtin_mul_overflow(outer, inner, &each) ||
	    at->n > SL__KNOWN_MOST / each)
		return 0;
	for (size_t o = 0; o < outer; o++) {
		for (size_t i = 0; i < at->n; i++) {
			int64_t k = at->ints[i];

			k += k < 0 && !sl__is_symbol(k) ? (int64_t)size : 0;
			if (k < 0 || k >= (int64_t)size)
				return 0;
			for (size_t e = 0; e < inner; e++)
				source[(*n)++] =
					(o * size + (size_t)k) * inner + e;
		}
	}
	return 1;
}

/* An index outside that was not refused is left to whoever runs the model. */
enum sl_status
sl__fold_gather(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__known *known = sl__in_known(call, 0);
	const struct sl__known *at = sl__in_known(call, 1);
	size_t source[SL__KNOWN_MOST], n;
	struct sl__walk data;
	int axis;

	if (!known || !at || !at->ints || !sl__walk_of(&data, sl__in(call, 0)))
		return SL_OK;
	axis = sl__axis(sl__int(call->node, "axis", 0), data.rank);
	if (axis < 0 || !gather_sources(&data, axis, at, source, &n))
		return SL_OK;
	return sl__out_taken(call, 0, known, source, n, err);
}

/* Rows of a parameter taken by number are an embedding. */
void
sl__cost_gather(const struct sl__call *call, struct sl_cost *cost)
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
check_element_sizes(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *data = sl__in(call, 0), *at = sl__in(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1), axis;
	enum sl_status rc;

	if (rank < 0 || n_at < 0)
		return SL_OK;
	if (rank != n_at)
		return sl__refuse(err, "indices of %d dimensions for %d", n_at,
				  rank);
	rc = axis_of(call, 0, rank, &axis, err);
	for (int d = 0; !rc && d < rank; d++) {
		if (d != axis && !sl__is_symbol(data->dims[d]) &&
		    !sl__is_symbol(at->dims[d]) && at->dims[d] > data->dims[d])
			rc = sl__refuse(err,
					"%lld indices for %lld places of "
					"dimension %d",
					(long long)at->dims[d],
					(long long)data->dims[d], d);
	}
	return rc;
}

enum sl_status
sl__infer_gather_elements(const struct sl__call *call, struct sl_error *err)
{
	enum sl_status rc = check_index_type(call, err);

	if (!rc)
		rc = check_element_sizes(call, err);
	return rc ? rc : sl__out_like(call, 0, 1, sl__in_dtype(call, 0), err);
}

enum sl_status
sl__infer_gather_nd(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *data = sl__in(call, 0), *at = sl__in(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1);
	int64_t batch = sl__int(call->node, "batch_dims", 0);
	int64_t first;
	enum sl_status rc = check_index_type(call, err);
	int64_t *dims;
	int n = 0;

	if (rc)
		return rc;
	if (rank < 0 || n_at < 0)
		return sl__out(call, 0, sl__in_dtype(call, 0), -1, NULL, err);
	if (n_at < 1 || batch < 0 || batch >= n_at || batch > rank)
		return sl__refuse(err, "%lld shared dimensions of %d and %d",
				  (long long)batch, rank, n_at);
	if (sl__is_symbol(at->dims[n_at - 1]))
		return sl__out_unknown(call, 0, data->dtype,
				       "the size of an index depends on data",
				       err);
	if (at->dims[n_at - 1] > rank - batch)
		return sl__refuse(err,
				  "an index of %lld numbers into %d "
				  "dimensions",
				  (long long)at->dims[n_at - 1], rank);
	first = batch + at->dims[n_at - 1];
	dims = sl__new_sizes(call, (size_t)rank + (size_t)n_at);
	if (!dims)
		return sl__fail_nomem(err);
	for (int i = 0; i < n_at - 1; i++)
		dims[n++] = at->dims[i];
	for (int i = (int)first; i < rank; i++)
		dims[n++] = data->dims[i];
	return sl__out(call, 0, data->dtype, n, dims, err);
}

static int
holds_symbols(const struct sl__known *known)
{
	for (size_t i = 0; known->ints && i < known->n; i++) {
		if (sl__is_symbol(known->ints[i]))
			return 1;
	}
	return 0;
}

/* Elements that are not zero among the first 'most'. */
static int64_t
count_set(const struct sl__known *known, size_t most)
{
	int64_t n = 0;

	for (size_t i = 0; i < known->n && i < most; i++)
		n += known->ints ? known->ints[i] != 0 : known->floats[i] != 0;
	return n;
}

/* The axis that is compressed; -1: all dimensions become one first. */
static int
compress_axis(const struct sl__call *call, int rank)
{
	if (!sl__attribute(call->node, "axis"))
		return -1;
	return sl__axis(sl__int(call->node, "axis", 0), rank);
}

enum sl_status
sl__infer_compress(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__known *mask = sl__in_known(call, 1);
	const struct sl__type *in = sl__in(call, 0);
	int rank = sl__in_rank(call, 0), axis;
	int64_t taken = mask && !holds_symbols(mask)
				? count_set(mask, mask->n)
				: sl__size_unknown(call->shapes);
	int64_t *dims;

	if (!sl__attribute(call->node, "axis"))
		return sl__out(call, 0, sl__in_dtype(call, 0), 1, &taken, err);
	if (rank < 0)
		return sl__out(call, 0, sl__in_dtype(call, 0), -1, NULL, err);
	axis = compress_axis(call, rank);
	if (axis < 0)
		return sl__refuse(err, "its axis lies outside of %d dimensions",
				  rank);
	dims = sl__new_sizes(call, (size_t)rank);
	if (!dims)
		return sl__fail_nomem(err);
	memcpy(dims, in->dims, (size_t)rank * sizeof(*dims));
	dims[axis] = taken;
	return sl__out(call, 0, in->dtype, rank, dims, err);
}

enum sl_status
sl__fold_compress(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__known *known = sl__in_known(call, 0);
	const struct sl__known *mask = sl__in_known(call, 1);
	size_t source[SL__KNOWN_MOST], n = 0;

	if (!known || !mask || !mask->ints ||
	    (sl__attribute(call->node, "axis") && sl__in_rank(call, 0) != 1))
		return SL_OK;
	for (size_t i = 0; i < mask->n && i < known->n; i++) {
		if (sl__is_symbol(mask->ints[i]))
			return SL_OK;
		if (mask->ints[i])
			source[n++] = i;
	}
	return sl__out_taken(call, 0, known, source, n, err);
}

enum sl_status
sl__infer_non_zero(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__known *known = sl__in_known(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t dims[2];

	/* A scalar counts as one element of one dimension. */
	dims[0] = rank < 0 ? sl__size_unknown(call->shapes) : rank ? rank : 1;
	dims[1] = known && !holds_symbols(known)
			  ? count_set(known, known->n)
			  : sl__size_unknown(call->shapes);
	return sl__out(call, 0, SL_DTYPE_I64, 2, dims, err);
}

enum sl_status
sl__fold_non_zero(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__known *known = sl__in_known(call, 0);
	int64_t places[SL__KNOWN_MOST];
	struct sl__walk walk;
	int64_t n, k = 0;
	int rank;

	if (!known || holds_symbols(known) ||
	    !sl__walk_of(&walk, sl__in(call, 0)))
		return SL_OK;
	n = count_set(known, known->n);
	rank = walk.rank ? walk.rank : 1;
	if (n * rank > SL__KNOWN_MOST)
		return SL_OK;
	for (size_t i = 0; i < known->n; i++) {
		int64_t rest = (int64_t)i;

		if (known->ints ? known->ints[i] == 0 : known->floats[i] == 0)
			continue;
		for (int d = 0; d < rank; d++) {
			int64_t stride = walk.rank ? walk.strides[d] : 1;

			places[d * n + k] = rest / stride;
			rest %= stride;
		}
		k++;
	}
	return sl__out_known(call, 0, places, NULL, (size_t)(n * rank), err);
}

/* Elements from here on take long to compare in pairs. */
enum { DISTINCT_MOST = 256 };

/* Slices of a tensor along an axis; single elements where it is -1. */
struct slices {
	const struct sl__known *known;
	size_t n, inner, stride; /* stride: between places of a slice's rows */
	size_t n_rows;
};

/* 0 where the contents are not known, or too many to compare. */
static int
slices_of(const struct sl__call *call, struct slices *s)
{
	const struct sl__known *known = sl__in_known(call, 0);
	struct sl__walk walk;
	int axis;

	if (!known || known->n > DISTINCT_MOST || holds_symbols(known))
		return 0;
	s->known = known;
	s->n = known->n;
	s->inner = s->n_rows = 1;
	s->stride = 0;
	if (!sl__attribute(call->node, "axis"))
		return 1;
	if (!sl__walk_of(&walk, sl__in(call, 0)))
		return 0;
	axis = sl__axis(sl__int(call->node, "axis", 0), walk.rank);
	if (axis < 0 || known->n == 0)
		return 0;
	s->n = (size_t)walk.dims[axis];
	s->inner = (size_t)walk.strides[axis];
	s->stride = s->n * s->inner;
	s->n_rows = known->n / s->stride;
	return 1;
}

static int
is_same_slice(const struct slices *s, size_t a, size_t b)
{
	const struct sl__known *known = s->known;

	for (size_t row = 0; row < s->n_rows; row++) {
		for (size_t i = 0; i < s->inner; i++) {
			size_t at = row * s->stride + i;
			size_t x = at + a * s->inner, y = at + b * s->inner;

			if (known->ints ? known->ints[x] != known->ints[y]
					: known->floats[x] != known->floats[y])
				return 0;
		}
	}
	return 1;
}

/* Distinct slices, each where it comes up first. */
static size_t
find_distinct(const struct slices *s, size_t *first)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t k = 0;

		while (k < n && !is_same_slice(s, first[k], i))
			k++;
		if (k == n)
			first[n++] = i;
	}
	return n;
}

enum sl_status
sl__infer_unique(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *in = sl__in(call, 0);
	int rank = sl__in_rank(call, 0), axis = 0;
	int has_axis = sl__attribute(call->node, "axis") != NULL;
	size_t first[DISTINCT_MOST];
	enum sl_status rc = SL_OK;
	struct slices slices;
	int64_t *dims, n, n_all;

	if (has_axis && rank >= 0)
		rc = axis_of(call, 0, rank, &axis, err);
	if (rc)
		return rc;
	dims = sl__new_sizes(call, (size_t)(rank > 0 ? rank : 1));
	if (!dims)
		return sl__fail_nomem(err);
	n = slices_of(call, &slices) ? (int64_t)find_distinct(&slices, first)
				     : sl__size_unknown(call->shapes);
	n_all = rank < 0   ? sl__size_unknown(call->shapes)
		: has_axis ? in->dims[axis]
			   : sl__size_product(call->shapes, in->dims, rank);
	if (has_axis && rank > 0)
		memcpy(dims, in->dims, (size_t)rank * sizeof(*dims));
	dims[axis] = n;
	rc = sl__out(call, 0, sl__in_dtype(call, 0), has_axis ? rank : 1, dims,
		     err);
	if (!rc)
		rc = sl__out(call, 1, SL_DTYPE_I64, 1, &n, err);
	if (!rc)
		rc = sl__out(call, 2, SL_DTYPE_I64, 1, &n_all, err);
	return rc ? rc : sl__out(call, 3, SL_DTYPE_I64, 1, &n, err);
}

static int
is_before(const struct sl__known *known, size_t a, size_t b)
{
	return known->ints ? known->ints[a] < known->ints[b]
			   : known->floats[a] < known->floats[b];
}

enum sl_status
sl__fold_unique(const struct sl__call *call, struct sl_error *err)
{
	size_t first[DISTINCT_MOST] = {0}, n;
	struct slices s;

	/* Only the elements themselves are followed. */
	if (!slices_of(call, &s) || s.n != s.known->n)
		return SL_OK;
	n = find_distinct(&s, first);
	for (size_t i = 1; i < n && sl__int(call->node, "sorted", 1); i++) {
		size_t k = i, moved = first[i];

		for (; k > 0 && is_before(s.known, moved, first[k - 1]); k--)
			first[k] = first[k - 1];
		first[k] = moved;
	}
	return sl__out_taken(call, 0, s.known, first, n, err);
}

/* Sorting or hashing: how many comparisons depends on both. */
void
sl__cost_unique(const struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = sl__in_elements(call, 0), deep = 0;

	while (n >> deep > 1)
		deep++;
	cost->cmp = sl__times(n, deep);
	cost->basis = SL_BASIS_ESTIMATED;
	cost->why = "as if sorted: n log n comparisons";
}

enum sl_status
sl__infer_one_hot(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__known *known = sl__in_known(call, 1);
	const struct sl__type *in = sl__in(call, 0);
	int rank = sl__in_rank(call, 0), axis;
	enum sl_status rc;
	int64_t *dims;

	if (rank < 0)
		return sl__out(call, 0, sl__in_dtype(call, 2), -1, NULL, err);
	rc = axis_of(call, -1, rank + 1, &axis, err);
	if (rc)
		return rc;
	dims = sl__new_sizes(call, (size_t)rank + 1);
	if (!dims)
		return sl__fail_nomem(err);
	for (int i = 0; i <= rank; i++)
		dims[i] = i == axis ? 0 : in->dims[i < axis ? i : i - 1];
	if (known && known->n == 1 && known->ints)
		dims[axis] = known->ints[0];
	else if (known && known->n == 1 && known->floats[0] >= 0 &&
		 known->floats[0] < 9e15)
		dims[axis] = (int64_t)known->floats[0];
	else
		dims[axis] = sl__size_unknown(call->shapes);
	return sl__out(call, 0, sl__in_dtype(call, 2), rank + 1, dims, err);
}

/*
 * A copy of the data, and the updates written into it: the updates are read
 * once and written once, beyond what any node reads and writes.
 */
void
sl__cost_scatter(const struct sl__call *call, struct sl_cost *cost)
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
