/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_sequence.c - reference kernels of lists of tensors, and of values that
 * may be absent.
 *
 * A sequence owns its items: what goes in or comes out is copied.
 */
#include "ops/ref_move.h"

#include "base/banned.h"

/* Input 0, of which at least so many items are needed. */
static const struct sl__datum *
need_sequence(struct sl__eval *ev, size_t n_least)
{
	const struct sl__datum *in = sl__ref_in(ev, 0);

	if (!in || in->kind != SL__TYPE_SEQUENCE)
		sl__ref_refuse(ev, "input 0 is no sequence");
	else if (in->n_items < n_least)
		sl__ref_refuse(ev, "the sequence is empty");
	return ev->failure ? NULL : in;
}

/* The type of number of a sequence into which the datum goes. */
static enum sl_dtype
dtype_of(const struct sl__datum *datum)
{
	return datum->kind == SL__TYPE_TENSOR ? datum->tensor.dtype
					      : datum->dtype;
}

enum sl_status
sl__ref_sequence_empty(struct sl__eval *ev)
{
	int64_t dtype = sl__int(ev->node, "dtype", SL_DTYPE_F32);

	if (dtype <= 0 || dtype >= SL_N_DTYPES)
		return sl__ref_refuse(ev, "there is no type of number %lld",
				      (long long)dtype);
	return sl__ref_sequence(ev, sl__ref_result(ev, 0), (enum sl_dtype)dtype,
				0);
}

enum sl_status
sl__ref_sequence_construct(struct sl__eval *ev)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	size_t n = ev->node->n_inputs;

	for (size_t i = 0; i < n; i++) {
		if (!ev->inputs[i] ||
		    dtype_of(ev->inputs[i]) != dtype_of(ev->inputs[0]))
			return sl__ref_refuse(ev,
					      "its inputs are not of one type");
	}
	sl__ref_sequence(ev, out, n ? dtype_of(ev->inputs[0]) : SL_DTYPE_NONE,
			 n);
	for (size_t i = 0; !ev->failure && i < n; i++)
		sl__ref_copy(ev, &out->items[i], ev->inputs[i]);
	return ev->failure;
}

/* A place from -n to n - 1, or n itself where 'end' is 1; 'otherwise' where
 * the node names none. */
static int64_t
place_of(struct sl__eval *ev, size_t i, int64_t n, int end, int64_t otherwise)
{
	size_t n_given;
	const int64_t *given = sl__ref_list(ev, i, NULL, &n_given);
	int64_t place = n_given ? given[0] : otherwise;

	if (n_given && !(end && place == n))
		sl__ref_place(ev, &place, n);
	return place;
}

enum sl_status
sl__ref_sequence_insert(struct sl__eval *ev)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	const struct sl__datum *in = need_sequence(ev, 0);
	const struct sl__datum *new = sl__ref_in(ev, 1);
	int64_t n = in ? (int64_t)in->n_items : 0;
	size_t at = (size_t)place_of(ev, 2, n, 1, n);

	if (!new || new->kind != SL__TYPE_TENSOR)
		return sl__ref_refuse(ev, "no tensor is to be put in");
	if (ev->failure)
		return ev->failure;
	if (n && dtype_of(new) != in->dtype)
		return sl__ref_refuse(ev, "%s into a sequence of %s",
				      sl_dtype_text(dtype_of(new)),
				      sl_dtype_text(in->dtype));
	sl__ref_sequence(ev, out, dtype_of(new), in->n_items + 1);
	for (size_t k = 0; !ev->failure && k < out->n_items; k++)
		sl__ref_copy(ev, &out->items[k],
			     k == at ? new : &in->items[k < at ? k : k - 1]);
	return ev->failure;
}

enum sl_status
sl__ref_sequence_erase(struct sl__eval *ev)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	const struct sl__datum *in = need_sequence(ev, 1);
	int64_t n = in ? (int64_t)in->n_items : 0;
	size_t at = (size_t)place_of(ev, 1, n, 0, n - 1);

	if (!ev->failure)
		sl__ref_sequence(ev, out, in->dtype, in->n_items - 1);
	for (size_t k = 0; !ev->failure && k < out->n_items; k++)
		sl__ref_copy(ev, &out->items[k],
			     &in->items[k < at ? k : k + 1]);
	return ev->failure;
}

enum sl_status
sl__ref_sequence_at(struct sl__eval *ev)
{
	const struct sl__datum *in = need_sequence(ev, 1);
	int64_t place = place_of(ev, 1, in ? (int64_t)in->n_items : 0, 0, 0);

	return ev->failure ? ev->failure
			   : sl__ref_out_copy(ev, 0, &in->items[place]);
}

/* A scalar of one number. */
static enum sl_status
give_one(struct sl__eval *ev, enum sl_dtype dtype, int64_t number)
{
	if (sl__ref_out(ev, 0, dtype, 0, NULL))
		return ev->failure;
	return sl__ref_store_integers(ev, 0, &number);
}

enum sl_status
sl__ref_sequence_length(struct sl__eval *ev)
{
	const struct sl__datum *in = need_sequence(ev, 0);

	return in ? give_one(ev, SL_DTYPE_I64, (int64_t)in->n_items)
		  : ev->failure;
}

/* The sizes of all items side by side along the axis, or one behind the other
 * in a new one. */
static enum sl_status
joined_dims(struct sl__eval *ev, const struct sl__datum *in, int64_t axis,
	    int is_new, int64_t *dims)
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
			return sl__ref_refuse(
				ev, "item %zu does not go beside the first", i);
	}
	for (int64_t d = 0; d < (int64_t)first->rank + is_new; d++)
		dims[d] = d == axis
				  ? sum
				  : first->dims[is_new && d > axis ? d - 1 : d];
	return SL_OK;
}

static enum sl_status
join_items(struct sl__eval *ev, const struct sl__datum *in, int64_t axis,
	   int is_new)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	struct sl__around whole;
	struct sl__mover m;
	int64_t at = 0;

	sl__around_axis(ev, &whole, &out->tensor, &axis);
	for (size_t i = 0; !ev->failure && i < in->n_items; i++) {
		const struct sl__tensor *t = &in->items[i].tensor;
		int64_t n = is_new ? 1 : t->dims[axis];

		if (sl__move_begin(ev, &m, out, t))
			return ev->failure;
		for (int64_t o = 0; t->n_elements && o < whole.outer; o++)
			sl__move(&m, (o * whole.size + at) * whole.inner,
				 o * n * whole.inner, n * whole.inner);
		at += n;
	}
	return sl__move_end(ev, 0);
}

enum sl_status
sl__ref_concat_from_sequence(struct sl__eval *ev)
{
	int is_new = sl__int(ev->node, "new_axis", 0) != 0;
	const struct sl__datum *in = need_sequence(ev, 1);
	const struct sl__tensor *first;
	int64_t dims[SL__RANK_MOST + 1];
	size_t rank;
	int axis;

	if (!in)
		return ev->failure;
	first = &in->items[0].tensor;
	rank = first->rank + (size_t)is_new;
	axis = sl__axis(sl__int(ev->node, "axis", 0), (int)rank);
	if (axis < 0 || rank > SL__RANK_MOST)
		return sl__ref_refuse(
			ev, "its axis lies outside of %zu dimensions", rank);
	if (joined_dims(ev, in, axis, is_new, dims) ||
	    sl__ref_out(ev, 0, first->dtype, rank, dims))
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
parts_of(struct sl__eval *ev, int64_t size, struct parts *p)
{
	size_t n_given;
	const int64_t *given = sl__ref_list(ev, 1, NULL, &n_given);
	int64_t left = size;

	if (ev->failure)
		return ev->failure;
	if (given && sl__ref_rank(ev, 1) == 1) {
		*p = (struct parts){given, n_given, 0};
		for (size_t i = 0; left >= 0 && i < n_given; i++)
			left = given[i] < 0 || given[i] > left
				       ? -1
				       : left - given[i];
		return left ? sl__ref_refuse(ev,
					     "the parts do not add up to %lld",
					     (long long)size)
			    : SL_OK;
	}
	*p = (struct parts){.each = n_given == 1 ? given[0] : 1};
	if (p->each < 1 || (given && n_given != 1))
		return sl__ref_refuse(ev, "parts of %lld", (long long)p->each);
	p->n = (size_t)(size / p->each + (size % p->each != 0));
	return SL_OK;
}

enum sl_status
sl__ref_split_to_sequence(struct sl__eval *ev)
{
	struct sl__cut cut = {.axis = sl__int(ev->node, "axis", 0)};
	const struct sl__tensor *in = sl__ref_need(ev, 0);
	struct sl__datum *out = sl__ref_result(ev, 0);
	struct sl__around a;
	struct parts p;

	if (!in || sl__around_axis(ev, &a, in, &cut.axis) ||
	    parts_of(ev, a.size, &p))
		return ev->failure;
	cut.is_dropped = !sl__ref_in(ev, 1) &&
			 !sl__int(ev->node, "keepdims", 1);
	sl__ref_sequence(ev, out, in->dtype, p.n);
	for (size_t k = 0; !ev->failure && k < p.n; k++) {
		int64_t left = a.size - cut.first;

		cut.n = p.sizes ? p.sizes[k] : left < p.each ? left : p.each;
		sl__move_cut(ev, &out->items[k], in, &cut);
		cut.first += cut.n;
	}
	return ev->failure;
}

enum sl_status
sl__ref_optional(struct sl__eval *ev)
{
	const struct sl__attribute *type = sl__attribute(ev->node, "type");
	struct sl__datum *out = sl__ref_result(ev, 0);
	const struct sl__datum *in = sl__ref_in(ev, 0);
	enum sl_dtype dtype = SL_DTYPE_NONE;

	if (in && in->kind == SL__TYPE_OPTIONAL)
		return sl__ref_refuse(ev, "an optional of an optional");
	if (in)
		dtype = dtype_of(in);
	else if (type && type->kind == SL__ATTRIBUTE_TYPE)
		dtype = type->type->dtype;
	if (sl__ref_keep(ev,
			 sl__datum_list(out, SL__TYPE_OPTIONAL, dtype,
					in ? 1 : 0, ev->allocator, ev->err)) ||
	    !in)
		return ev->failure;
	return sl__ref_copy(ev, &out->items[0], in);
}

/* What is no optional is its own element. */
enum sl_status
sl__ref_optional_get(struct sl__eval *ev)
{
	const struct sl__datum *in = sl__ref_in(ev, 0);

	if (in && in->kind == SL__TYPE_OPTIONAL)
		in = in->n_items ? &in->items[0] : NULL;
	if (!in)
		return sl__ref_refuse(ev, "the optional holds nothing");
	return sl__ref_out_copy(ev, 0, in);
}

enum sl_status
sl__ref_optional_has(struct sl__eval *ev)
{
	const struct sl__datum *in = sl__ref_in(ev, 0);
	int has = in && (in->kind != SL__TYPE_OPTIONAL || in->n_items);

	return give_one(ev, SL_DTYPE_BOOL, has);
}
