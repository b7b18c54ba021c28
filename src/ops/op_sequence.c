/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_sequence.c - lists of tensors, and values that may be absent.
 *
 * A sequence's type has one element type: what all its elements share.  What
 * is "known" of a sequence is how many elements it has, and of an optional
 * whether it has one; both as one integer.  Only of splitting and joining is
 * it known what moves.
 *
 * A sequence owns its items: what goes in or comes out is copied.
 */
#include "graph/body.h"
#include "ops/cost.h"
#include "ops/evaluate.h"
#include "ops/list_input.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

/* Types are followed by recursion: no more containers inside one another. */
enum { NESTED_MOST = 64 };

/* A sequence or an optional of that element, copied. */
static enum sl_status
give_container(struct sl__rule_context *call, size_t k, enum sl__type_kind kind,
	       const struct sl__type *element)
{
	struct sl__type type = {kind, SL_DTYPE_NONE, -1, NULL, NULL};
	struct sl__type *copy;
	int depth = 1;

	for (const struct sl__type *e = element; e; e = e->element)
		depth++;
	if (depth > NESTED_MOST)
		return sl__rule_reject(call,
				       "more than %d sequences and optionals "
				       "inside one another",
				       NESTED_MOST);
	if (element) {
		copy = sl__arena_alloc(&call->shapes->arena, sizeof(*copy));
		if (!copy)
			return sl__rule_nomem(call);
		*copy = *element;
		type.element = copy;
	}
	return sl__out_set_type(call, k, &type);
}

static const struct sl__type *
element_of(struct sl__rule_context *call, size_t i)
{
	const struct sl__type *type = sl__in_type(call, i);

	return type && (type->kind == SL__TYPE_SEQUENCE ||
			type->kind == SL__TYPE_OPTIONAL)
		       ? type->element
		       : NULL;
}

/* How many elements a sequence has; -1 where that is not known. */
static int64_t
length_of(struct sl__rule_context *call, size_t i)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, i);

	if (!known || !known->ints || known->n != 1 ||
	    sl__is_symbol(known->ints[0]))
		return -1;
	return known->ints[0];
}

static enum sl_status
give_length(struct sl__rule_context *call, size_t k, int64_t length)
{
	return length < 0 && !sl__is_symbol(length)
		       ? call->failure
		       : sl__out_set_known_contents(call, k, &length, NULL, 1);
}

/* What two types share. */
static void
merge(struct sl__rule_context *call, struct sl__type *out,
      const struct sl__type *a, const struct sl__type *b)
{
	sl__rule_keep_status(
		call, sl__type_merge(call->shapes, out, a, b, call->err));
}

enum sl_status
sl__infer_sequence_construct(struct sl__rule_context *call)
{
	struct sl__type element = {.rank = -1};

	if (sl__in_type(call, 0))
		element = *sl__in_type(call, 0);
	for (size_t i = 1; !call->failure && i < call->node->n_inputs; i++) {
		if (sl__in_type(call, i))
			merge(call, &element, &element, sl__in_type(call, i));
	}
	give_container(call, 0, SL__TYPE_SEQUENCE, &element);
	return give_length(call, 0, call->node->n_inputs);
}

enum sl_status
sl__infer_sequence_empty(struct sl__rule_context *call)
{
	int64_t dtype = sl__attribute_int(call->node, "dtype", SL_DTYPE_F32);
	struct sl__type element = {SL__TYPE_TENSOR, SL_DTYPE_NONE,
				   SL__RANK_EMPTY, NULL, NULL};

	if (dtype > 0 && dtype < SL_N_DTYPES)
		element.dtype = (enum sl_dtype)dtype;
	give_container(call, 0, SL__TYPE_SEQUENCE, &element);
	return give_length(call, 0, 0);
}

enum sl_status
sl__infer_sequence_insert(struct sl__rule_context *call)
{
	const struct sl__type *old = element_of(call, 0),
			      *new = sl__in_type(call, 1);
	int64_t length = length_of(call, 0);
	struct sl__type element = {.rank = -1};

	if (new && (length == 0 || !old))
		element = *new;
	else if (old && new)
		merge(call, &element, old, new);
	give_container(call, 0, SL__TYPE_SEQUENCE, &element);
	return length < 0 ? call->failure : give_length(call, 0, length + 1);
}

enum sl_status
sl__infer_sequence_erase(struct sl__rule_context *call)
{
	int64_t length = length_of(call, 0);

	sl__out_set_type(call, 0, sl__in_type(call, 0));
	return length < 1 ? call->failure : give_length(call, 0, length - 1);
}

enum sl_status
sl__infer_sequence_at(struct sl__rule_context *call)
{
	const struct sl__type *type = element_of(call, 0);
	struct sl__type element = {.rank = -1};

	if (type)
		element = *type;
	if (element.rank == SL__RANK_EMPTY)
		element.rank = -1;
	return sl__out_set_type(call, 0, &element);
}

enum sl_status
sl__fold_sequence_length(struct sl__rule_context *call)
{
	return give_length(call, 0, length_of(call, 0));
}

/* How a SplitToSequence cuts its axis: size of every part, their number. */
static void
sequence_parts(struct sl__rule_context *call, int64_t whole, int64_t *size,
	       int64_t *n)
{
	struct sl__integer_list split = sl__integer_list_read(call, 1, NULL);

	*size = sl__size_new_unknown(call->shapes);
	*n = -1;
	if (!split.is_given) {
		*size = 1;
		*n = whole;
	} else if (sl__in_rank(call, 1) == 1) {
		*n = split.n;
		for (int64_t i = 0; split.values && i < split.n; i++) {
			if (split.values[i] != split.values[0])
				return;
		}
		if (split.values && split.n)
			*size = split.values[0];
	} else if (sl__integer_list_is_known(&split) && split.values[0] > 0 &&
		   !sl__is_symbol(whole)) {
		*n = whole / split.values[0] + (whole % split.values[0] != 0);
		if (whole % split.values[0] == 0)
			*size = split.values[0];
	}
}

enum sl_status
sl__infer_split_to_sequence(struct sl__rule_context *call)
{
	struct sl__type element = {SL__TYPE_TENSOR, sl__in_dtype(call, 0), -1,
				   NULL, NULL};
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0), axis, n_dims = 0;
	int64_t size, n;
	int64_t *dims;

	if (rank < 0)
		return give_container(call, 0, SL__TYPE_SEQUENCE, &element);
	axis = sl__axis_require(call, sl__attribute_int(call->node, "axis", 0),
				rank);
	dims = sl__sizes_alloc(call, (size_t)rank);
	if (call->failure)
		return call->failure;
	sequence_parts(call, in->dims[axis], &size, &n);
	for (int i = 0; i < rank; i++) {
		if (i != axis)
			dims[n_dims++] = in->dims[i];
		else if (sl__has_in(call, 1) ||
			 sl__attribute_int(call->node, "keepdims", 1))
			dims[n_dims++] = size;
	}
	element.rank = n_dims;
	element.dims = dims;
	give_container(call, 0, SL__TYPE_SEQUENCE, &element);
	return give_length(call, 0, n);
}

enum sl_status
sl__infer_concat_from_sequence(struct sl__rule_context *call)
{
	const struct sl__type *element = element_of(call, 0);
	int is_new = sl__attribute_int(call->node, "new_axis", 0) != 0;
	int64_t length = length_of(call, 0);
	int rank, axis, at = 0;
	int64_t *dims;

	if (!element || element->kind != SL__TYPE_TENSOR || element->rank < 0)
		return sl__out_set_shape(
			call, 0, element ? element->dtype : SL_DTYPE_NONE, -1,
			NULL);
	rank = element->rank + is_new;
	axis = sl__axis_require(call, sl__attribute_int(call->node, "axis", 0),
				rank);
	dims = sl__sizes_alloc(call, (size_t)rank);
	if (call->failure)
		return call->failure;
	for (int i = 0; i < rank; i++)
		dims[i] = is_new && i == axis ? 1 : element->dims[at++];
	/* Elements of different sizes share none: a symbol. */
	if (length < 0 || sl__is_symbol(dims[axis]))
		dims[axis] = sl__size_new_unknown(call->shapes);
	else
		dims[axis] = sl__size_mul(call->shapes, dims[axis], length);
	return sl__out_set_shape(call, 0, element->dtype, rank, dims);
}

static void
set_shapeless(struct sl_cost *cost)
{
	cost->basis = SL_BASIS_UNKNOWN;
	cost->why = "a shape depends on data";
}

/* Some runtimes keep references, others copy; how large each element is would
 * have to be followed to say more. */
void
sl__cost_sequence(struct sl__rule_context *call, struct sl_cost *cost)
{
	sl__cost_view(call, cost);
	cost->basis = SL_BASIS_UNKNOWN;
	cost->why = "the contents of a sequence are not followed";
}

/* All of the tensor is copied, whatever the pieces. */
void
sl__cost_split_to_sequence(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t bytes;

	cost->work = SL_WORK_MOVEMENT;
	if (sl__type_bytes(sl__in_type(call, 0), &bytes))
		cost->written_bytes = bytes;
	else
		set_shapeless(cost);
}

void
sl__cost_concat_from_sequence(struct sl__rule_context *call,
			      struct sl_cost *cost)
{
	const struct sl__type *out = sl__out_type_or_null(call, 0);
	uint64_t bytes;

	cost->work = SL_WORK_MOVEMENT;
	if (out && sl__type_bytes(out, &bytes))
		cost->read_bytes = bytes;
	else
		set_shapeless(cost);
}

enum sl_status
sl__infer_sequence_map(struct sl__rule_context *call)
{
	struct sl__shapes *shapes = call->shapes;
	struct sl__loop_carried_values none = {
		.block = sl__node_body_by_name(call->node, "body")};
	int64_t length = length_of(call, 0);
	const struct sl__block *block;

	if (none.block == SL__NONE)
		return sl__rule_reject(call, "it has no body");
	block = &shapes->graph->blocks[none.block];
	if (block->n_inputs != call->node->n_inputs ||
	    block->n_outputs != call->node->n_outputs)
		return sl__rule_reject(
			call,
			"its body takes %zu values and gives %zu, "
			"the node %u and %u",
			block->n_inputs, block->n_outputs, call->node->n_inputs,
			call->node->n_outputs);
	for (size_t i = 0; i < block->n_inputs; i++) {
		const struct sl__type *type = sl__in_type(call, i);

		if (type && type->kind == SL__TYPE_SEQUENCE)
			type = type->element;
		memset(&shapes->types[block->inputs[i]], 0,
		       sizeof(shapes->types[0]));
		shapes->types[block->inputs[i]].rank = -1;
		if (type)
			shapes->types[block->inputs[i]] = *type;
		shapes->known[block->inputs[i]] = NULL;
	}
	sl__rule_keep_status(call, sl__body_infer(shapes, &none, call->err));
	sl__body_multiply_calls(shapes, none.block,
				length < 0 ? UINT64_MAX : (uint64_t)length);
	sl__body_multiply_calls(shapes, none.block,
				shapes->block_calls[call->node->block]);
	for (size_t k = 0; k < block->n_outputs; k++) {
		give_container(call, k, SL__TYPE_SEQUENCE,
			       &shapes->types[block->outputs[k]]);
		give_length(call, k, length);
	}
	return call->failure;
}

enum sl_status
sl__infer_optional(struct sl__rule_context *call)
{
	const struct sl__attribute *a = sl__attribute_find(call->node, "type");
	const struct sl__type *element = sl__in_type(call, 0);
	struct sl__type named = {.rank = -1};

	if (!element && a && a->kind == SL__ATTRIBUTE_TYPE) {
		sl__rule_keep_status(
			call, sl__shapes_substitute_bound(call->shapes, &named,
							  a->type, call->err));
		element = &named;
	}
	give_container(call, 0, SL__TYPE_OPTIONAL, element);
	return give_length(call, 0, sl__has_in(call, 0));
}

/* From version 18 on what is no optional is its own element. */
enum sl_status
sl__infer_optional_get(struct sl__rule_context *call)
{
	const struct sl__type *type = sl__in_type(call, 0);

	if (type && type->kind == SL__TYPE_OPTIONAL)
		type = type->element;
	return sl__out_set_type(call, 0, type);
}

enum sl_status
sl__infer_optional_has(struct sl__rule_context *call)
{
	return sl__out_set_shape(call, 0, SL_DTYPE_BOOL, 0, NULL);
}

enum sl_status
sl__fold_optional_has(struct sl__rule_context *call)
{
	const struct sl__type *type = sl__in_type(call, 0);
	int64_t has = 1;

	if (!type)
		has = 0;
	else if (type->kind == SL__TYPE_OPTIONAL)
		has = length_of(call, 0);
	else if (type->kind == SL__TYPE_UNKNOWN)
		has = -1;
	return give_length(call, 0, has);
}

/* Input 0, of which at least so many items are needed. */
static const struct sl__runtime_value *
need_sequence(struct sl__kernel_call *ev, size_t n_least)
{
	const struct sl__runtime_value *in = sl__ref_input(ev, 0);

	if (!in || in->kind != SL__TYPE_SEQUENCE)
		sl__ref_reject(ev, "input 0 is no sequence");
	else if (in->n_items < n_least)
		sl__ref_reject(ev, "the sequence is empty");
	return ev->failure ? NULL : in;
}

/* The type of number of a sequence into which the value goes. */
static enum sl_dtype
dtype_of(const struct sl__runtime_value *content)
{
	return content->kind == SL__TYPE_TENSOR ? content->tensor.dtype
						: content->dtype;
}

enum sl_status
sl__ref_sequence_empty(struct sl__kernel_call *ev)
{
	int64_t dtype = sl__attribute_int(ev->node, "dtype", SL_DTYPE_F32);

	if (dtype <= 0 || dtype >= SL_N_DTYPES)
		return sl__ref_reject(ev, "there is no type of number %lld",
				      (long long)dtype);
	return sl__ref_value_set_sequence(ev, sl__ref_output(ev, 0),
					  (enum sl_dtype)dtype, 0);
}

enum sl_status
sl__ref_sequence_construct(struct sl__kernel_call *ev)
{
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	size_t n = ev->node->n_inputs;

	for (size_t i = 0; i < n; i++) {
		if (!ev->inputs[i] ||
		    dtype_of(ev->inputs[i]) != dtype_of(ev->inputs[0]))
			return sl__ref_reject(ev,
					      "its inputs are not of one type");
	}
	sl__ref_value_set_sequence(
		ev, out, n ? dtype_of(ev->inputs[0]) : SL_DTYPE_NONE, n);
	for (size_t i = 0; !ev->failure && i < n; i++)
		sl__ref_value_copy(ev, &out->items[i], ev->inputs[i]);
	return ev->failure;
}

/* A place from -n to n - 1, or n itself where 'end' is 1; 'otherwise' where
 * the node names none. */
static int64_t
place_of(struct sl__kernel_call *ev, size_t i, int64_t n, int end,
	 int64_t otherwise)
{
	size_t n_given;
	const int64_t *given = sl__ref_integer_list(ev, i, NULL, &n_given);
	int64_t place = n_given ? given[0] : otherwise;

	if (n_given && !(end && place == n))
		sl__ref_index_normalize(ev, &place, n);
	return place;
}

enum sl_status
sl__ref_sequence_insert(struct sl__kernel_call *ev)
{
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	const struct sl__runtime_value *in = need_sequence(ev, 0);
	const struct sl__runtime_value *new = sl__ref_input(ev, 1);
	struct sl__runtime_value *own = sl__evaluator_last_use(ev, 0);
	int64_t n = in ? (int64_t)in->n_items : 0;
	size_t at = (size_t)place_of(ev, 2, n, 1, n);

	if (!new || new->kind != SL__TYPE_TENSOR)
		return sl__ref_reject(ev, "no tensor is to be put in");
	if (ev->failure)
		return ev->failure;
	if (n && dtype_of(new) != in->dtype)
		return sl__ref_reject(ev, "%s into a sequence of %s",
				      sl_dtype_text(dtype_of(new)),
				      sl_dtype_text(in->dtype));
	if (n && out && own && own->kind == SL__TYPE_SEQUENCE) {
		sl__runtime_value_clear(out, ev->allocator);
		*out = *own;
		memset(own, 0, sizeof(*own));
		if (!sl__ref_keep_status(
			    ev, sl__runtime_value_insert(out, at, ev->allocator,
							 ev->err)))
			sl__ref_value_copy(ev, &out->items[at], new);
		return ev->failure;
	}
	sl__ref_value_set_sequence(ev, out, dtype_of(new), in->n_items + 1);
	for (size_t k = 0; !ev->failure && k < out->n_items; k++)
		sl__ref_value_copy(ev, &out->items[k],
				   k == at ? new
					   : &in->items[k < at ? k : k - 1]);
	return ev->failure;
}

enum sl_status
sl__ref_sequence_erase(struct sl__kernel_call *ev)
{
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	const struct sl__runtime_value *in = need_sequence(ev, 1);
	int64_t n = in ? (int64_t)in->n_items : 0;
	size_t at = (size_t)place_of(ev, 1, n, 0, n - 1);

	if (!ev->failure)
		sl__ref_value_set_sequence(ev, out, in->dtype, in->n_items - 1);
	for (size_t k = 0; !ev->failure && k < out->n_items; k++)
		sl__ref_value_copy(ev, &out->items[k],
				   &in->items[k < at ? k : k + 1]);
	return ev->failure;
}

enum sl_status
sl__ref_sequence_at(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *in = need_sequence(ev, 1);
	int64_t place = place_of(ev, 1, in ? (int64_t)in->n_items : 0, 0, 0);

	return ev->failure ? ev->failure
			   : sl__ref_output_copy(ev, 0, &in->items[place]);
}

/* A scalar of one number. */
static enum sl_status
give_one(struct sl__kernel_call *ev, enum sl_dtype dtype, int64_t number)
{
	if (sl__ref_output_alloc(ev, 0, dtype, 0, NULL))
		return ev->failure;
	return sl__ref_output_store_integers(ev, 0, &number);
}

enum sl_status
sl__ref_sequence_length(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *in = need_sequence(ev, 0);

	return in ? give_one(ev, SL_DTYPE_I64, (int64_t)in->n_items)
		  : ev->failure;
}

/* The sizes of all items side by side along the axis, or one behind the other
 * in a new one. */
static enum sl_status
joined_dims(struct sl__kernel_call *ev, const struct sl__runtime_value *in,
	    int64_t axis, int is_new, int64_t *dims)
{
	const struct sl__tensor *first = &in->items[0].tensor;
	int64_t sum = 0;

	for (size_t i = 0; i < in->n_items; i++) {
		const struct sl__tensor *t = &in->items[i].tensor;
		int fits = in->items[i].kind == SL__TYPE_TENSOR &&
			   t->rank == first->rank && t->dtype == first->dtype;

		for (size_t d = 0; fits && d < t->rank; d++)
			fits = t->dims[d] == first->dims[d] ||
			       (!is_new && (int64_t)d == axis);
		if (!fits || __builtin_add_overflow(
				     sum, is_new ? 1 : t->dims[axis], &sum))
			return sl__ref_reject(
				ev, "item %zu does not go beside the first", i);
	}
	for (int64_t d = 0; d < (int64_t)first->rank + is_new; d++)
		dims[d] = d == axis
				  ? sum
				  : first->dims[is_new && d > axis ? d - 1 : d];
	return SL_OK;
}

static enum sl_status
join_items(struct sl__kernel_call *ev, const struct sl__runtime_value *in,
	   int64_t axis, int is_new)
{
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	struct sl__axis_split whole;
	struct sl__element_mover m;
	int64_t at = 0;

	sl__axis_split_tensor(ev, &whole, &out->tensor, &axis);
	for (size_t i = 0; !ev->failure && i < in->n_items; i++) {
		const struct sl__tensor *t = &in->items[i].tensor;
		int64_t n = is_new ? 1 : t->dims[axis];

		if (sl__move_begin(ev, &m, out, t))
			return ev->failure;
		for (int64_t o = 0; t->n_elements && o < whole.outer; o++)
			sl__move_elements(&m,
					  (o * whole.size + at) * whole.inner,
					  o * n * whole.inner, n * whole.inner);
		at += n;
	}
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__ref_concat_from_sequence(struct sl__kernel_call *ev)
{
	int is_new = sl__attribute_int(ev->node, "new_axis", 0) != 0;
	const struct sl__runtime_value *in = need_sequence(ev, 1);
	const struct sl__tensor *first;
	int64_t dims[SL__RANK_MOST + 1];
	size_t rank;
	int axis;

	if (!in)
		return ev->failure;
	first = &in->items[0].tensor;
	rank = first->rank + (size_t)is_new;
	axis = sl__axis_normalize(sl__attribute_int(ev->node, "axis", 0),
				  (int)rank);
	if (axis < 0 || rank > SL__RANK_MOST)
		return sl__ref_reject(
			ev, "its axis lies outside of %zu dimensions", rank);
	if (joined_dims(ev, in, axis, is_new, dims) ||
	    sl__ref_output_alloc(ev, 0, first->dtype, rank, dims))
		return ev->failure;
	return join_items(ev, in, axis, is_new);
}

/* How SplitToSequence cuts: sizes one by one, or one for all. */
struct parts {
	const int64_t *sizes;
	size_t n;
	int64_t each; /* where there are no sizes; the last may be less */
};

static enum sl_status
parts_of(struct sl__kernel_call *ev, int64_t size, struct parts *p)
{
	size_t n_given;
	const int64_t *given = sl__ref_integer_list(ev, 1, NULL, &n_given);
	int64_t left = size;

	if (ev->failure)
		return ev->failure;
	if (given && sl__ref_input_rank(ev, 1) == 1) {
		*p = (struct parts){given, n_given, 0};
		for (size_t i = 0; left >= 0 && i < n_given; i++)
			left = given[i] < 0 || given[i] > left
				       ? -1
				       : left - given[i];
		return left ? sl__ref_reject(ev,
					     "the parts do not add up to %lld",
					     (long long)size)
			    : SL_OK;
	}
	*p = (struct parts){.each = n_given == 1 ? given[0] : 1};
	if (p->each < 1 || (given && n_given != 1))
		return sl__ref_reject(ev, "parts of %lld", (long long)p->each);
	p->n = (size_t)(size / p->each + (size % p->each != 0));
	return SL_OK;
}

enum sl_status
sl__ref_split_to_sequence(struct sl__kernel_call *ev)
{
	struct sl__axis_slice cut = {
		.axis = sl__attribute_int(ev->node, "axis", 0)};
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	struct sl__axis_split a;
	struct parts p;

	if (!in || sl__axis_split_tensor(ev, &a, in, &cut.axis) ||
	    parts_of(ev, a.size, &p))
		return ev->failure;
	cut.is_dropped = !sl__ref_input(ev, 1) &&
			 !sl__attribute_int(ev->node, "keepdims", 1);
	sl__ref_value_set_sequence(ev, out, in->dtype, p.n);
	for (size_t k = 0; !ev->failure && k < p.n; k++) {
		int64_t left = a.size - cut.first;

		cut.n = p.sizes ? p.sizes[k] : left < p.each ? left : p.each;
		sl__move_axis_slice(ev, &out->items[k], in, &cut);
		cut.first += cut.n;
	}
	return ev->failure;
}

enum sl_status
sl__ref_optional(struct sl__kernel_call *ev)
{
	const struct sl__attribute *type = sl__attribute_find(ev->node, "type");
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	const struct sl__runtime_value *in = sl__ref_input(ev, 0);
	enum sl_dtype dtype = SL_DTYPE_NONE;

	if (in && in->kind == SL__TYPE_OPTIONAL)
		return sl__ref_reject(ev, "an optional of an optional");
	if (in)
		dtype = dtype_of(in);
	else if (type && type->kind == SL__ATTRIBUTE_TYPE)
		dtype = type->type->dtype;
	if (sl__ref_keep_status(
		    ev, sl__runtime_value_alloc_list(out, SL__TYPE_OPTIONAL,
						     dtype, in ? 1 : 0,
						     ev->allocator, ev->err)) ||
	    !in)
		return ev->failure;
	return sl__ref_value_copy(ev, &out->items[0], in);
}

/* What is no optional is its own element. */
enum sl_status
sl__ref_optional_get(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *in = sl__ref_input(ev, 0);

	if (in && in->kind == SL__TYPE_OPTIONAL)
		in = in->n_items ? &in->items[0] : NULL;
	if (!in)
		return sl__ref_reject(ev, "the optional holds nothing");
	return sl__ref_output_copy(ev, 0, in);
}

enum sl_status
sl__ref_optional_has(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *in = sl__ref_input(ev, 0);
	int has = in && (in->kind != SL__TYPE_OPTIONAL || in->n_items);

	return give_one(ev, SL_DTYPE_BOOL, has);
}
