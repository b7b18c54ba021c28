/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_index.c - elements picked or placed by index: Gather, Scatter and theirs.
 *
 * How many elements are picked by a mask depends on data; the rank does not,
 * so such a size is a symbol and what follows can still be inferred.
 */
#include "base/dtype.h"
#include "ops/cost.h"
#include "ops/list_input.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

/* The axis that the node names; -1 where it is refused. */
static int
axis_of(struct sl__rule_context *call, int64_t otherwise, int rank)
{
	return sl__axis_require(
		call, sl__attribute_int(call->node, "axis", otherwise), rank);
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
index_ends(struct sl__rule_context *call, int64_t *least, int64_t *greatest)
{
	const struct sl__known_contents *at = sl__in_known_contents(call, 1);
	struct sl__rule_context range = {.shapes = call->shapes};
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
check_indices(struct sl__rule_context *call, int axis)
{
	int64_t size = sl__in_type(call, 0)->dims[axis], least, greatest;
	const char *name;

	if (sl__is_symbol(size) || call->node->block != 0 ||
	    !index_ends(call, &least, &greatest) ||
	    (least >= -size && greatest < size))
		return;
	name = call->shapes->graph->values[call->node->inputs[0]].name;
	sl__rule_reject(call, "index %lld lies beyond the %lld %s of '%.200s'",
			(long long)(greatest >= size ? greatest : least),
			(long long)size, axis == 0 ? "rows" : "places", name);
}

/* Input 1 of Gather and its kin holds indices. */
static enum sl_status
check_index_type(struct sl__rule_context *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 1);

	if (dtype != SL_DTYPE_NONE && dtype != SL_DTYPE_I32 &&
	    dtype != SL_DTYPE_I64)
		sl__rule_reject(call, "its indices are %s, not int32 or int64",
				sl_dtype_text(dtype));
	return call->failure;
}

enum sl_status
sl__infer_gather(struct sl__rule_context *call)
{
	const struct sl__type *data = sl__in_type(call, 0),
			      *at = sl__in_type(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1);
	int axis, n = 0;
	int64_t *dims;

	if (check_index_type(call) || rank < 0 || n_at < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	axis = axis_of(call, 0, rank);
	if (axis >= 0)
		check_indices(call, axis);
	dims = sl__sizes_alloc(call, (size_t)rank + (size_t)n_at);
	if (call->failure)
		return call->failure;
	for (int i = 0; i < axis; i++)
		dims[n++] = data->dims[i];
	for (int i = 0; i < n_at; i++)
		dims[n++] = at->dims[i];
	for (int i = axis + 1; i < rank; i++)
		dims[n++] = data->dims[i];
	return sl__out_set_shape(call, 0, data->dtype, n, dims);
}

/* Also ArrayFeatureExtractor, along the last axis. */
enum sl_status
sl__ref_gather(struct sl__kernel_call *ev)
{
	int64_t axis = sl__attribute_int(ev->node, "axis", 0), n;
	const int64_t *indices = sl__ref_input_integers(ev, 1);
	struct sl__axis_split a;
	struct sl__element_mover m;

	if (sl__is_op(ev->node, SL__OP_ML_ArrayFeatureExtractor))
		axis = -1;
	if (!indices || sl__move_begin_input_to_output(&m, ev, 0, 0) ||
	    sl__axis_split_tensor(ev, &a, sl__ref_input_tensor(ev, 0), &axis))
		return ev->failure;
	n = (int64_t)sl__ref_input_tensor(ev, 1)->n_elements;
	for (int64_t i = 0; i < n; i++) {
		int64_t at = indices[i];

		if (sl__ref_index_normalize(ev, &at, a.size))
			return ev->failure;
		for (int64_t o = 0; o < a.outer; o++)
			sl__move_elements(&m, (o * n + i) * a.inner,
					  (o * a.size + at) * a.inner, a.inner);
	}
	return sl__move_own_strings(ev, 0);
}

/* Rows of a parameter taken by number are an embedding. */
void
sl__cost_gather(struct sl__rule_context *call, struct sl_cost *cost)
{
	int is_embedding =
		sl__in_is_parameter(call, 0) && sl__in_rank(call, 0) == 2 &&
		sl__axis_normalize(sl__attribute_int(call->node, "axis", 0),
				   2) == 0 &&
		sl__dtype_family(sl__in_dtype(call, 1)) == SL__DTYPE_INTEGER;

	cost->work = is_embedding ? SL_WORK_EMBEDDING : SL_WORK_MOVEMENT;
	sl__cost_limit_bytes_read(call, cost, 0);
}

/* Along all dimensions but the axis an index stands for the place it has. */
static enum sl_status
check_element_sizes(struct sl__rule_context *call)
{
	const struct sl__type *data = sl__in_type(call, 0),
			      *at = sl__in_type(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1), axis;

	if (rank < 0 || n_at < 0)
		return SL_OK;
	if (rank != n_at)
		return sl__rule_reject(call, "indices of %d dimensions for %d",
				       n_at, rank);
	axis = axis_of(call, 0, rank);
	for (int d = 0; !call->failure && d < rank; d++) {
		if (d != axis && !sl__is_symbol(data->dims[d]) &&
		    !sl__is_symbol(at->dims[d]) && at->dims[d] > data->dims[d])
			sl__rule_reject(
				call,
				"%lld indices for %lld places of dimension "
				"%d",
				(long long)at->dims[d],
				(long long)data->dims[d], d);
	}
	return call->failure;
}

enum sl_status
sl__infer_gather_elements(struct sl__rule_context *call)
{
	if (check_index_type(call) || check_element_sizes(call))
		return call->failure;
	return sl__out_set_like_input(call, 0, 1, sl__in_dtype(call, 0));
}

enum sl_status
sl__infer_gather_nd(struct sl__rule_context *call)
{
	const struct sl__type *data = sl__in_type(call, 0),
			      *at = sl__in_type(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1);
	int64_t batch = sl__attribute_int(call->node, "batch_dims", 0);
	int64_t first, *dims;
	int n = 0;

	if (check_index_type(call) || rank < 0 || n_at < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	if (n_at < 1 || batch < 0 || batch >= n_at || batch > rank)
		return sl__rule_reject(call,
				       "%lld shared dimensions of %d and %d",
				       (long long)batch, rank, n_at);
	if (sl__is_symbol(at->dims[n_at - 1]))
		return sl__out_set_unknown_shape(
			call, 0, data->dtype,
			"the size of an index depends on data");
	if (at->dims[n_at - 1] > rank - batch)
		return sl__rule_reject(call,
				       "an index of %lld numbers into %d "
				       "dimensions",
				       (long long)at->dims[n_at - 1], rank);
	first = batch + at->dims[n_at - 1];
	dims = sl__sizes_alloc(call, (size_t)rank + (size_t)n_at);
	for (int i = 0; dims && i < n_at - 1; i++)
		dims[n++] = at->dims[i];
	for (int i = (int)first; dims && i < rank; i++)
		dims[n++] = data->dims[i];
	return sl__out_set_shape(call, 0, data->dtype, n, dims);
}

/* Elements that are not zero. */
static int64_t
count_set(const struct sl__known_contents *known)
{
	int64_t n = 0;

	for (size_t i = 0; i < known->n; i++)
		n += known->ints ? known->ints[i] != 0 : known->floats[i] != 0;
	return n;
}

enum sl_status
sl__infer_compress(struct sl__rule_context *call)
{
	const struct sl__known_contents *mask = sl__in_known_contents(call, 1);
	int rank = sl__in_rank(call, 0), axis;
	int64_t taken = mask && sl__known_has_no_symbols(mask)
				? count_set(mask)
				: sl__size_new_unknown(call->shapes);
	int64_t *dims;

	if (!sl__attribute_find(call->node, "axis"))
		return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), 1,
					 &taken);
	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	axis = axis_of(call, 0, rank);
	dims = sl__sizes_copy_from_input(call, 0);
	if (!call->failure)
		dims[axis] = taken;
	return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), rank, dims);
}

enum sl_status
sl__infer_non_zero(struct sl__rule_context *call)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t dims[2];

	/* A scalar counts as one element of one dimension. */
	dims[0] = rank < 0 ? sl__size_new_unknown(call->shapes)
		  : rank   ? rank
			   : 1;
	dims[1] = known && sl__known_has_no_symbols(known)
			  ? count_set(known)
			  : sl__size_new_unknown(call->shapes);
	return sl__out_set_shape(call, 0, SL_DTYPE_I64, 2, dims);
}

enum sl_status
sl__infer_one_hot(struct sl__rule_context *call)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, 1);
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0), axis;
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_shape(call, 0, sl__in_dtype(call, 2), -1,
					 NULL);
	axis = axis_of(call, -1, rank + 1);
	dims = sl__sizes_alloc(call, (size_t)rank + 1);
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
		dims[axis] = sl__size_new_unknown(call->shapes);
	return sl__out_set_shape(call, 0, sl__in_dtype(call, 2), rank + 1,
				 dims);
}

/*
 * A copy of the data, and the updates written into it: the updates are read
 * once and written once, beyond what any node reads and writes.
 */
void
sl__cost_scatter(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__type *updates = sl__in_type(call, 2);
	const char *how = sl__attribute_string(call->node, "reduction", "none");
	uint64_t bytes, n;

	if (sl__is_op(call->node, SL__OP_ONNX_TensorScatter))
		updates = sl__in_type(call, 1);
	cost->work = SL_WORK_MOVEMENT;
	if (!updates || !sl__type_bytes(updates, &bytes) ||
	    !sl__type_elements(updates, &n))
		return;
	cost->written_bytes = sl__saturating_add(cost->written_bytes, bytes);
	if (!strcmp(how, "add"))
		cost->add = n;
	else if (!strcmp(how, "mul"))
		cost->mul = n;
	else if (!strcmp(how, "max") || !strcmp(how, "min"))
		cost->cmp = n;
}

/*
 * GatherElements and ScatterElements walk through the indices; in the data,
 * the index takes the place of the axis.
 */
struct element_walk {
	const int64_t *indices;
	struct sl__strided_iterator
		w;     /* them, and the data, which stays along the axis */
	int64_t along; /* its stride there */
	int64_t size;  /* and its size */
};

static enum sl_status
element_walk_of(struct sl__kernel_call *ev, struct element_walk *w)
{
	const struct sl__tensor *data = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *at = sl__ref_input_tensor(ev, 1);
	int64_t *strides = w->w.strides[0];
	int axis;

	w->indices = sl__ref_input_integers(ev, 1);
	if (!w->indices)
		return ev->failure;
	axis = sl__axis_normalize(sl__attribute_int(ev->node, "axis", 0),
				  (int)data->rank);
	if (axis < 0 || at->rank != data->rank)
		return sl__ref_reject(
			ev,
			"%zu dimensions of indices into %zu, or an "
			"axis outside",
			at->rank, data->rank);
	for (size_t d = 0; d < data->rank; d++) {
		if ((int)d != axis && at->dims[d] > data->dims[d])
			return sl__ref_reject(ev,
					      "%lld indices for %lld places of "
					      "dimension %zu",
					      (long long)at->dims[d],
					      (long long)data->dims[d], d);
	}
	sl__strided_iterator_begin(&w->w, at->rank, at->dims);
	w->w.n = 1;
	(void)sl__row_major_strides(strides, data->rank, data->dims);
	w->along = strides[axis];
	w->size = data->dims[axis];
	strides[axis] = 0;
	return SL_OK;
}

/* Where in the data element k of the indices points; 0 where it fails. */
static int64_t
element_place(struct sl__kernel_call *ev, const struct element_walk *w,
	      int64_t k)
{
	int64_t index = w->indices[k];

	if (sl__ref_index_normalize(ev, &index, w->size))
		return 0;
	return w->w.offsets[0] + index * w->along;
}

enum sl_status
sl__ref_gather_elements(struct sl__kernel_call *ev)
{
	struct element_walk w;
	struct sl__element_mover m;
	int64_t k = 0;

	if (sl__move_begin_input_to_output(&m, ev, 0, 0) ||
	    element_walk_of(ev, &w))
		return ev->failure;
	do {
		int64_t from = element_place(ev, &w, k);

		if (ev->failure)
			return ev->failure;
		sl__move_elements(&m, k++, from, 1);
	} while (sl__strided_iterator_next(&w.w));
	return sl__move_own_strings(ev, 0);
}

/*
 * GatherND and ScatterND: tuples of n_index numbers each name a slice of
 * n_slice elements, below 'n_batch' shared places of the first dimensions.
 */
struct tuples {
	const int64_t *indices;
	const int64_t *dims;            /* that the numbers index */
	int64_t strides[SL__RANK_MOST]; /* of them */
	int64_t n_index, n_slice, n_batch;
	int64_t per_batch; /* tuples */
	int64_t batch;     /* elements of the data */
};

static enum sl_status
tuples_of(struct sl__kernel_call *ev, int64_t batch_dims, struct tuples *t)
{
	const struct sl__tensor *data = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *at = sl__ref_input_tensor(ev, 1);
	int64_t rank = (int64_t)data->rank, n_tuples;
	size_t shared = (size_t)batch_dims;

	t->indices = sl__ref_input_integers(ev, 1);
	if (!t->indices)
		return ev->failure;
	if (at->rank < 1 || batch_dims < 0 || batch_dims > rank ||
	    batch_dims >= (int64_t)at->rank)
		return sl__ref_reject(
			ev, "%lld shared dimensions of %zu and %zu",
			(long long)batch_dims, data->rank, at->rank);
	t->n_index = at->dims[at->rank - 1];
	if (t->n_index > rank - batch_dims)
		return sl__ref_reject(
			ev, "an index of %lld numbers into %zu dimensions",
			(long long)t->n_index, data->rank);
	(void)sl__row_major_strides(t->strides, data->rank, data->dims);
	memmove(t->strides, t->strides + batch_dims,
		(data->rank - (size_t)batch_dims) * sizeof(*t->strides));
	t->dims = data->dims + batch_dims;
	for (size_t d = 0; d < shared; d++) {
		if (at->dims[d] != data->dims[d])
			return sl__ref_reject(
				ev, "shared dimension %zu differs", d);
	}
	t->n_batch = sl__dims_product(data->dims, 0, shared);
	t->n_slice = sl__dims_product(data->dims, shared + (size_t)t->n_index,
				      data->rank);
	n_tuples = sl__dims_product(at->dims, 0, at->rank - 1);
	t->per_batch = t->n_batch ? n_tuples / t->n_batch : 0;
	t->batch = t->n_batch ? (int64_t)data->n_elements / t->n_batch : 0;
	return SL_OK;
}

/* Where the slice of tuple i of a batch begins. */
static enum sl_status
tuple_place(struct sl__kernel_call *ev, const struct tuples *t, int64_t b,
	    int64_t i, int64_t *place)
{
	const int64_t *numbers =
		t->indices + (b * t->per_batch + i) * t->n_index;

	*place = b * t->batch;
	for (int64_t k = 0; k < t->n_index; k++) {
		int64_t at = numbers[k];

		if (sl__ref_index_normalize(ev, &at, t->dims[k]))
			return ev->failure;
		*place += at * t->strides[k];
	}
	return SL_OK;
}

enum sl_status
sl__ref_gather_nd(struct sl__kernel_call *ev)
{
	struct sl__element_mover m;
	struct tuples t;
	int64_t place;

	if (sl__move_begin_input_to_output(&m, ev, 0, 0) ||
	    tuples_of(ev, sl__attribute_int(ev->node, "batch_dims", 0), &t))
		return ev->failure;
	for (int64_t b = 0; b < t.n_batch; b++) {
		for (int64_t i = 0; i < t.per_batch; i++) {
			if (tuple_place(ev, &t, b, i, &place))
				return ev->failure;
			sl__move_elements(&m, (b * t.per_batch + i) * t.n_slice,
					  place, t.n_slice);
		}
	}
	return sl__move_own_strings(ev, 0);
}

enum reduction { REDUCE_NONE, REDUCE_ADD, REDUCE_MUL, REDUCE_MAX, REDUCE_MIN };

static enum sl_status
reduction_of(struct sl__kernel_call *ev, enum reduction *out)
{
	static const char *const names[] = {"none", "add", "mul", "max", "min"};
	const char *word = sl__attribute_string(ev->node, "reduction", "none");
	enum sl_dtype dtype = sl__ref_input_dtype(ev, 0);

	for (int i = 0; i < 5; i++) {
		*out = (enum reduction)i;
		if (strcmp(word, names[i]) != 0)
			continue;
		if (i && sl__dtype_family(dtype) == SL__DTYPE_OTHER)
			break;
		return SL_OK;
	}
	return sl__ref_reject(ev, "%s cannot be reduced by '%.40s'",
			      sl_dtype_text(dtype), word);
}

static double
joined(double a, double b, enum reduction how)
{
	switch (how) {
	case REDUCE_ADD:
		return a + b;
	case REDUCE_MUL:
		return a * b;
	case REDUCE_MAX:
		return a != a || a > b ? a : b;
	case REDUCE_MIN:
		return a != a || a < b ? a : b;
	case REDUCE_NONE:
	default:
		return b;
	}
}

static int64_t
joined_whole(int64_t a, int64_t b, enum reduction how, enum sl_dtype dtype)
{
	int is_unsigned = !sl__dtype_is_signed(dtype);

	switch (how) {
	case REDUCE_ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case REDUCE_MUL:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case REDUCE_MAX:
		return sl__ref_integer_is_less(b, a, is_unsigned) ? a : b;
	case REDUCE_MIN:
		return sl__ref_integer_is_less(a, b, is_unsigned) ? a : b;
	case REDUCE_NONE:
	default:
		return b;
	}
}

/* Updates on their way into a copy of the data. */
struct scatter {
	struct sl__element_mover m;
	enum reduction how;
	const struct sl__tensor *updates;
	struct sl__runtime_value *out;
};

/* Element 'from' of the updates goes to place 'to', or joins what is there. */
static void
update_one(const struct scatter *s, int64_t to, int64_t from)
{
	enum sl_dtype dtype = s->updates->dtype;
	struct sl__tensor *t = &s->out->tensor;

	if (s->how == REDUCE_NONE) {
		sl__move_elements(&s->m, to, from, 1);
	} else if (sl__ref_dtype_is_integer(dtype)) {
		int64_t a = 0, b = 0;

		(void)sl__tensor_integer_bits(t, (uint64_t)to, 1, &a);
		(void)sl__tensor_integer_bits(s->updates, (uint64_t)from, 1,
					      &b);
		a = joined_whole(a, b, s->how, dtype);
		sl__store_integers(s->out->bytes, dtype, (uint64_t)to, 1, &a);
	} else {
		double a = 0, b = 0;

		(void)sl__tensor_doubles(t, (uint64_t)to, 1, &a);
		(void)sl__tensor_doubles(s->updates, (uint64_t)from, 1, &b);
		a = joined(a, b, s->how);
		sl__store_doubles(s->out->bytes, dtype, (uint64_t)to, 1, &a);
	}
}

/* Output 0 is a copy of input 0 with input 'i' about to go into it. */
static enum sl_status
begin_scatter(struct sl__kernel_call *ev, size_t i, struct scatter *s)
{
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);

	s->out = sl__ref_output(ev, 0);
	s->updates = sl__ref_require_tensor(ev, i);
	if (ev->failure || reduction_of(ev, &s->how) ||
	    sl__ref_output_alloc(ev, 0, in->dtype, in->rank, in->dims) ||
	    sl__move_begin(ev, &s->m, s->out, in))
		return ev->failure;
	sl__move_elements(&s->m, 0, 0, (int64_t)in->n_elements);
	return sl__move_begin(ev, &s->m, s->out, s->updates);
}

enum sl_status
sl__ref_scatter_elements(struct sl__kernel_call *ev)
{
	struct element_walk w;
	struct scatter s;
	int64_t n;

	if (begin_scatter(ev, 2, &s) || element_walk_of(ev, &w))
		return ev->failure;
	n = (int64_t)sl__ref_input_tensor(ev, 1)->n_elements;
	if ((int64_t)s.updates->n_elements != n)
		return sl__ref_reject(ev, "%llu updates for %lld indices",
				      (unsigned long long)s.updates->n_elements,
				      (long long)n);
	for (int64_t k = 0; k < n; k++) {
		int64_t to = element_place(ev, &w, k);

		if (ev->failure)
			return ev->failure;
		update_one(&s, to, k);
		sl__strided_iterator_next(&w.w);
	}
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__ref_scatter_nd(struct sl__kernel_call *ev)
{
	struct scatter s;
	struct tuples t;
	int64_t place;

	if (begin_scatter(ev, 2, &s) || tuples_of(ev, 0, &t))
		return ev->failure;
	if ((int64_t)s.updates->n_elements != t.per_batch * t.n_slice)
		return sl__ref_reject(
			ev, "%llu updates for %lld slices of %lld",
			(unsigned long long)s.updates->n_elements,
			(long long)t.per_batch, (long long)t.n_slice);
	for (int64_t i = 0; i < t.per_batch; i++) {
		if (tuple_place(ev, &t, 0, i, &place))
			return ev->failure;
		for (int64_t e = 0; e < t.n_slice; e++)
			update_one(&s, place + e, i * t.n_slice + e);
	}
	return sl__move_own_strings(ev, 0);
}

/* Where update s of a batch goes along the axis; -1: outside. */
static int64_t
cache_place(int64_t first, int64_t s, int64_t size, int is_circular)
{
	int64_t at;

	if (first < 0 || size == 0 || __builtin_add_overflow(first, s, &at))
		return -1;
	if (is_circular)
		return at % size;
	return at < size ? at : -1;
}

enum sl_status
sl__ref_tensor_scatter(struct sl__kernel_call *ev)
{
	int is_circular = !strcmp(
		sl__attribute_string(ev->node, "mode", "linear"), "circular");
	int64_t axis = sl__attribute_int(ev->node, "axis", -2), per_batch;
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	struct sl__axis_split to, from;
	struct scatter s;
	size_t n;
	const int64_t *firsts = sl__ref_integer_list(ev, 2, NULL, &n);

	if (begin_scatter(ev, 1, &s) ||
	    sl__axis_split_tensor(ev, &to, in, &axis) ||
	    sl__axis_split_tensor(ev, &from, s.updates, &axis))
		return ev->failure;
	if (axis == 0 || from.outer != to.outer || from.inner != to.inner ||
	    from.size > to.size || (firsts && (int64_t)n != in->dims[0]))
		return sl__ref_reject(
			ev, "the update does not go into what there is");
	per_batch = to.outer / in->dims[0];
	for (int64_t o = 0; o < to.outer; o++) {
		int64_t first = firsts ? firsts[o / per_batch] : 0;

		for (int64_t k = 0; k < from.size; k++) {
			int64_t at =
				cache_place(first, k, to.size, is_circular);

			if (at < 0)
				return sl__ref_reject(
					ev,
					"an update at %lld goes beyond "
					"%lld places",
					(long long)first, (long long)to.size);
			sl__move_elements(&s.m, (o * to.size + at) * to.inner,
					  (o * from.size + k) * to.inner,
					  to.inner);
		}
	}
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__ref_non_zero(struct sl__kernel_call *ev)
{
	int64_t strides[SL__RANK_MOST] = {1}, dims[2], n = 0, *places, *made;
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	int is_whole = sl__ref_dtype_is_integer(sl__ref_input_dtype(ev, 0));
	const int64_t *whole = is_whole ? sl__ref_input_integers(ev, 0) : NULL;
	const double *real = is_whole ? NULL : sl__ref_input_doubles(ev, 0);

	if (ev->failure)
		return ev->failure;
	places = sl__ref_scratch_integers(ev, (int64_t)in->n_elements);
	for (uint64_t i = 0; places && i < in->n_elements; i++) {
		if (whole ? whole[i] != 0 : real[i] != 0)
			places[n++] = (int64_t)i;
	}
	/* A scalar counts as a vector of one, as ONNX Runtime has it. */
	dims[0] = in->rank ? (int64_t)in->rank : 1;
	dims[1] = n;
	made = sl__ref_scratch_integers(ev, dims[0] * n);
	if (sl__ref_output_alloc(ev, 0, SL_DTYPE_I64, 2, dims) || ev->failure)
		return ev->failure;
	(void)sl__row_major_strides(strides, in->rank, in->dims);
	for (int64_t i = 0; i < n; i++) {
		int64_t rest = places[i];

		for (int64_t d = 0; d < dims[0]; d++) {
			made[d * n + i] = rest / strides[d];
			rest %= strides[d];
		}
	}
	return sl__ref_output_store_integers(ev, 0, made);
}

/* Indices count from either end; one outside sets nothing. */
enum sl_status
sl__ref_one_hot(struct sl__kernel_call *ev)
{
	const struct sl__tensor *values = sl__ref_input_tensor(ev, 2);
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	const int64_t *indices = sl__ref_input_integers(ev, 0);
	int64_t axis = sl__attribute_int(ev->node, "axis", -1);
	struct sl__axis_split a;
	struct sl__element_mover m;

	if (!indices)
		return ev->failure;
	if (!values || values->n_elements != 2)
		return sl__ref_reject(ev, "values are not two");
	if (sl__move_fill_output(ev, &m, values) ||
	    sl__axis_split_tensor(ev, &a, &out->tensor, &axis))
		return ev->failure;
	for (int64_t k = 0; k < a.outer * a.inner; k++) {
		int64_t at = indices[k] + (indices[k] < 0 ? a.size : 0);

		if (at >= 0 && at < a.size)
			sl__move_elements(&m,
					  (k / a.inner * a.size + at) *
							  a.inner +
						  k % a.inner,
					  1, 1);
	}
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__ref_trilu(struct sl__kernel_call *ev)
{
	int is_upper = sl__attribute_int(ev->node, "upper", 1) != 0;
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	int64_t rows, columns, shift;
	struct sl__element_mover m;
	size_t n;
	const int64_t *shifts = sl__ref_integer_list(ev, 1, NULL, &n);

	if (ev->failure || sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	if (in->rank < 2)
		return sl__ref_reject(ev, "its input is no matrix");
	rows = in->dims[in->rank - 2];
	columns = in->dims[in->rank - 1];
	/* Beyond these nothing changes any more. */
	shift = n ? shifts[0] : 0;
	shift = shift < -rows ? -rows : shift > columns ? columns : shift;
	sl__move_zero_fill(&m, (int64_t)in->n_elements);
	for (int64_t i = 0; i < (int64_t)in->n_elements / columns; i++) {
		int64_t middle = i % rows + shift + (is_upper ? 0 : 1);
		int64_t first, end;

		middle = middle < 0 ? 0 : middle > columns ? columns : middle;
		first = is_upper ? middle : 0;
		end = is_upper ? columns : middle;
		sl__move_elements(&m, i * columns + first, i * columns + first,
				  end - first);
	}
	return sl__move_own_strings(ev, 0);
}
