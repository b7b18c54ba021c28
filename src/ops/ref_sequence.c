/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_sequence.c - reference kernels of lists of tensors, and of values that
 * may be absent.
 *
 * A sequence owns its items: what goes in or comes out is copied.
 */
#include "base/status.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

static enum sl_status
need_sequence(const struct sl__eval *ev, const struct sl__datum **out,
	      struct sl_error *err)
{
	*out = sl__ref_in(ev, 0);
	if (!*out || (*out)->kind != SL__TYPE_SEQUENCE)
		return sl__fail(err, SL_E_DATA, "input 0 is no sequence");
	return SL_OK;
}

/* The type of number of a sequence into which the datum goes. */
static enum sl_dtype
dtype_of(const struct sl__datum *datum)
{
	return datum->kind == SL__TYPE_TENSOR ? datum->tensor.dtype
					      : datum->dtype;
}

enum sl_status
sl__ref_sequence_empty(struct sl__eval *ev, struct sl_error *err)
{
	int64_t dtype = sl__int(ev->node, "dtype", SL_DTYPE_F32);
	struct sl__datum *out = sl__ref_result(ev, 0);

	if (dtype <= 0 || dtype >= SL_N_DTYPES)
		return sl__fail(err, SL_E_DATA,
				"there is no type of number %lld",
				(long long)dtype);
	if (!out)
		return SL_OK;
	return sl__datum_list(out, SL__TYPE_SEQUENCE, (enum sl_dtype)dtype, 0,
			      ev->allocator, err);
}

enum sl_status
sl__ref_sequence_construct(struct sl__eval *ev, struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	size_t n = ev->node->n_inputs;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < n; i++) {
		if (!ev->inputs[i] ||
		    dtype_of(ev->inputs[i]) != dtype_of(ev->inputs[0]))
			return sl__fail(err, SL_E_DATA,
					"its inputs are not of one type");
	}
	if (!out)
		return SL_OK;
	rc = sl__datum_list(out, SL__TYPE_SEQUENCE,
			    n ? dtype_of(ev->inputs[0]) : SL_DTYPE_NONE, n,
			    ev->allocator, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = sl__datum_copy(&out->items[i], ev->inputs[i],
				    ev->allocator, err);
	return rc;
}

/* A place from -n to n - 1, or n itself where 'end' is 1; *place is left alone
 * where the node names none. */
static enum sl_status
place_of(struct sl__eval *ev, size_t i, int64_t n, int end, int64_t *place,
	 struct sl_error *err)
{
	const int64_t *given;
	size_t n_given;
	enum sl_status rc = sl__ref_list(ev, i, NULL, &given, &n_given, err);

	if (rc || n_given == 0)
		return rc;
	*place = given[0];
	if (end && *place == n)
		return SL_OK;
	return sl__ref_place(place, n, err);
}

enum sl_status
sl__ref_sequence_insert(struct sl__eval *ev, struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	const struct sl__datum *in, *new = sl__ref_in(ev, 1);
	int64_t place = 0;
	enum sl_status rc = need_sequence(ev, &in, err);

	if (!rc && (!new || new->kind != SL__TYPE_TENSOR))
		rc = sl__fail(err, SL_E_DATA, "no tensor is to be put in");
	if (rc)
		return rc;
	place = (int64_t)in->n_items;
	rc = place_of(ev, 2, place, 1, &place, err);
	if (!rc && in->n_items && dtype_of(new) != in->dtype)
		rc = sl__fail(err, SL_E_DATA, "%s into a sequence of %s",
			      sl_dtype_text(dtype_of(new)),
			      sl_dtype_text(in->dtype));
	if (rc || !out)
		return rc;
	rc = sl__datum_list(out, SL__TYPE_SEQUENCE, dtype_of(new),
			    in->n_items + 1, ev->allocator, err);
	for (size_t k = 0; !rc && k < out->n_items; k++) {
		size_t at = (size_t)place;

		rc = sl__datum_copy(&out->items[k],
				    k == at ? new
					    : &in->items[k < at ? k : k - 1],
				    ev->allocator, err);
	}
	return rc;
}

enum sl_status
sl__ref_sequence_erase(struct sl__eval *ev, struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	const struct sl__datum *in;
	int64_t place = -1;
	enum sl_status rc = need_sequence(ev, &in, err);

	if (rc)
		return rc;
	place = (int64_t)in->n_items - 1;
	rc = place_of(ev, 1, (int64_t)in->n_items, 0, &place, err);
	if (!rc && place < 0)
		rc = sl__fail(err, SL_E_DATA, "the sequence is empty");
	if (rc || !out)
		return rc;
	rc = sl__datum_list(out, SL__TYPE_SEQUENCE, in->dtype, in->n_items - 1,
			    ev->allocator, err);
	for (size_t k = 0; !rc && k < out->n_items; k++)
		rc = sl__datum_copy(&out->items[k],
				    &in->items[k < (size_t)place ? k : k + 1],
				    ev->allocator, err);
	return rc;
}

enum sl_status
sl__ref_sequence_at(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *in;
	int64_t place = 0;
	enum sl_status rc = need_sequence(ev, &in, err);

	if (!rc && in->n_items == 0)
		rc = sl__fail(err, SL_E_DATA, "the sequence is empty");
	if (!rc)
		rc = place_of(ev, 1, (int64_t)in->n_items, 0, &place, err);
	return rc ? rc : sl__ref_out_copy(ev, 0, &in->items[place], err);
}

/* A scalar of one number. */
static enum sl_status
give_one(struct sl__eval *ev, enum sl_dtype dtype, int64_t number,
	 struct sl_error *err)
{
	enum sl_status rc = sl__ref_out(ev, 0, dtype, 0, NULL, err);

	if (!rc)
		sl__ref_store_integers(ev, 0, &number);
	return rc;
}

enum sl_status
sl__ref_sequence_length(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *in;
	enum sl_status rc = need_sequence(ev, &in, err);

	return rc ? rc : give_one(ev, SL_DTYPE_I64, (int64_t)in->n_items, err);
}

/* The sizes of all items side by side along the axis, or one behind the other
 * in a new one. */
static enum sl_status
joined_dims(const struct sl__datum *in, int64_t axis, int is_new, int64_t *dims,
	    struct sl_error *err)
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
			return sl__fail(err, SL_E_DATA,
					"item %zu does not go beside the first",
					i);
	}
	for (size_t d = 0, at = 0; d < first->rank + (size_t)is_new; d++) {
		if ((int64_t)d == axis)
			dims[d] = sum;
		else
			dims[d] = first->dims[is_new ? at : d];
		at += (int64_t)d != axis;
	}
	return SL_OK;
}

static enum sl_status
join_items(struct sl__eval *ev, const struct sl__datum *in, int64_t axis,
	   int is_new, struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	struct sl__around whole;
	struct sl__mover m;
	int64_t at = 0;
	enum sl_status rc = sl__around_axis(&whole, &out->tensor, &axis, err);

	for (size_t i = 0; !rc && i < in->n_items; i++) {
		const struct sl__tensor *t = &in->items[i].tensor;
		int64_t n = is_new ? 1 : t->dims[axis];

		rc = sl__move_begin(&m, out, t, err);
		for (int64_t o = 0; !rc && t->n_elements && o < whole.outer;
		     o++)
			sl__move(&m, (o * whole.size + at) * whole.inner,
				 o * n * whole.inner, n * whole.inner);
		at += n;
	}
	return rc ? rc : sl__move_end(ev, 0, err);
}

enum sl_status
sl__ref_concat_from_sequence(struct sl__eval *ev, struct sl_error *err)
{
	int is_new = sl__int(ev->node, "new_axis", 0) != 0;
	const struct sl__tensor *first;
	int64_t dims[SL__RANK_MOST + 1];
	const struct sl__datum *in;
	int axis;
	enum sl_status rc = need_sequence(ev, &in, err);

	if (!rc && in->n_items == 0)
		rc = sl__fail(err, SL_E_DATA, "the sequence is empty");
	if (rc || !sl__ref_result(ev, 0))
		return rc;
	first = &in->items[0].tensor;
	axis = sl__axis(sl__int(ev->node, "axis", 0),
			(int)first->rank + is_new);
	if (axis < 0 || first->rank + (size_t)is_new > SL__RANK_MOST)
		return sl__fail(err, SL_E_DATA,
				"its axis lies outside of %zu dimensions",
				first->rank + (size_t)is_new);
	rc = joined_dims(in, axis, is_new, dims, err);
	if (!rc)
		rc = sl__ref_out(ev, 0, first->dtype,
				 first->rank + (size_t)is_new, dims, err);
	return rc ? rc : join_items(ev, in, axis, is_new, err);
}

/* How SplitToSequence cuts: sizes one by one, or one for all. */
struct parts {
	const int64_t *sizes;
	size_t n;
	int64_t each; /* where there are no sizes; the last may be less */
};

static enum sl_status
parts_of(struct sl__eval *ev, int64_t size, struct parts *p,
	 struct sl_error *err)
{
	const int64_t *given;
	size_t n_given;
	int64_t left = size;
	enum sl_status rc = sl__ref_list(ev, 1, NULL, &given, &n_given, err);

	if (rc)
		return rc;
	p->sizes = NULL;
	p->n = 0;
	p->each = n_given == 1 ? given[0] : 1;
	if (given && sl__ref_rank(ev, 1) == 1) {
		p->sizes = given;
		p->n = n_given;
		for (size_t i = 0; left >= 0 && i < n_given; i++)
			left = given[i] < 0 || given[i] > left
				       ? -1
				       : left - given[i];
		return left == 0 ? SL_OK
				 : sl__fail(err, SL_E_DATA,
					    "the parts do not add up to %lld",
					    (long long)size);
	}
	if (p->each < 1 || (given && n_given != 1))
		return sl__fail(err, SL_E_DATA, "parts of %lld",
				(long long)p->each);
	p->n = (size_t)(size / p->each + (size % p->each != 0));
	return SL_OK;
}

/* Item k: n places of the axis from 'first' on. */
static enum sl_status
cut_item(struct sl__eval *ev, struct sl__datum *item, int64_t axis,
	 int64_t first, int64_t n, struct sl_error *err)
{
	int keeps = sl__ref_in(ev, 1) || sl__int(ev->node, "keepdims", 1);
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	int64_t dims[SL__RANK_MOST];
	size_t rank = 0;
	struct sl__around a;
	struct sl__mover m;
	enum sl_status rc = sl__around_axis(&a, in, &axis, err);

	for (size_t d = 0; d < in->rank; d++) {
		if ((int64_t)d != axis || keeps)
			dims[rank++] = (int64_t)d == axis ? n : in->dims[d];
	}
	if (!rc)
		rc = sl__datum_tensor(item, in->dtype, rank, dims,
				      ev->allocator, err);
	if (!rc)
		rc = sl__move_begin(&m, item, in, err);
	if (rc || item->tensor.n_elements == 0)
		return rc;
	for (int64_t o = 0; o < a.outer; o++)
		sl__move(&m, o * n * a.inner, (o * a.size + first) * a.inner,
			 n * a.inner);
	if (in->dtype != SL_DTYPE_STRING)
		return SL_OK;
	return sl__datum_strings(item, item->tensor.rank, item->tensor.dims,
				 item->tensor.strings, ev->allocator, err);
}

enum sl_status
sl__ref_split_to_sequence(struct sl__eval *ev, struct sl_error *err)
{
	int64_t axis = sl__int(ev->node, "axis", 0), first = 0;
	struct sl__datum *out = sl__ref_result(ev, 0);
	const struct sl__tensor *in;
	struct sl__around a;
	struct parts p;
	enum sl_status rc = sl__ref_need(ev, 0, &in, err);

	if (!rc)
		rc = sl__around_axis(&a, in, &axis, err);
	if (!rc)
		rc = parts_of(ev, a.size, &p, err);
	if (rc || !out)
		return rc;
	rc = sl__datum_list(out, SL__TYPE_SEQUENCE, in->dtype, p.n,
			    ev->allocator, err);
	for (size_t k = 0; !rc && k < p.n; k++) {
		int64_t left = a.size - first;
		int64_t n = p.sizes         ? p.sizes[k]
			    : left < p.each ? left
					    : p.each;

		rc = cut_item(ev, &out->items[k], axis, first, n, err);
		first += n;
	}
	return rc;
}

enum sl_status
sl__ref_optional(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__attribute *type = sl__attribute(ev->node, "type");
	struct sl__datum *out = sl__ref_result(ev, 0);
	const struct sl__datum *in = sl__ref_in(ev, 0);
	enum sl_dtype dtype = SL_DTYPE_NONE;
	enum sl_status rc;

	if (!out)
		return SL_OK;
	if (in && in->kind == SL__TYPE_OPTIONAL)
		return sl__fail(err, SL_E_DATA, "an optional of an optional");
	if (in)
		dtype = dtype_of(in);
	else if (type && type->kind == SL__ATTRIBUTE_TYPE)
		dtype = type->type->dtype;
	rc = sl__datum_list(out, SL__TYPE_OPTIONAL, dtype, in ? 1 : 0,
			    ev->allocator, err);
	if (!rc && in)
		rc = sl__datum_copy(&out->items[0], in, ev->allocator, err);
	return rc;
}

/* What is no optional is its own element. */
enum sl_status
sl__ref_optional_get(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *in = sl__ref_in(ev, 0);

	if (in && in->kind == SL__TYPE_OPTIONAL)
		in = in->n_items ? &in->items[0] : NULL;
	if (!in)
		return sl__fail(err, SL_E_DATA, "the optional holds nothing");
	return sl__ref_out_copy(ev, 0, in, err);
}

enum sl_status
sl__ref_optional_has(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *in = sl__ref_in(ev, 0);
	int has = in && (in->kind != SL__TYPE_OPTIONAL || in->n_items);

	return give_one(ev, SL_DTYPE_BOOL, has, err);
}
