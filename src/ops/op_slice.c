/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_slice.c - pieces of tensors: Slice, Split, Concat, Pad and their kin.
 *
 * Where a size is a symbol, a piece is described by where it starts and ends:
 * at an offset from the beginning, from the end, or at a symbol.  A piece of
 * one element, or one that ends at a symbol, is taken to lie within.
 */
#include "base/dtype.h"
#include "ops/cost.h"
#include "ops/list_input.h"
#include "ops/ref_move.h"
#include "ops/ref_rules.h"

#include <string.h>

#include "base/banned.h"

/* What is taken of one dimension. */
struct cut {
	int64_t start, end, step; /* step 0: all of it */
	int is_open;              /* depends on data */
};

/* Positions that stand for "to the end": exporters write 2^31 - 1 too. */
static int
is_far(int64_t at)
{
	return !sl__is_symbol(at) && at >= INT32_MAX;
}

static int
is_far_back(int64_t at)
{
	return !sl__is_symbol(at) && at <= INT32_MIN;
}

static int
is_plain_cut(const struct cut *cut, int64_t size)
{
	return !cut->is_open && !sl__is_symbol(cut->start) &&
	       !sl__is_symbol(cut->end) && !sl__is_symbol(cut->step) &&
	       !sl__is_symbol(size);
}

static int64_t
between(int64_t at, int64_t low, int64_t high)
{
	return at < low ? low : at > high ? high : at;
}

/* Elements taken of a dimension of known size; *first is where from. */
static int64_t
plain_cut(const struct cut *cut, int64_t size, int64_t *first)
{
	int64_t start = cut->start < 0 ? cut->start + size : cut->start;
	int64_t end = cut->end < 0 ? cut->end + size : cut->end;

	if (cut->step > 0) {
		start = between(start, 0, size);
		end = between(end, 0, size);
		*first = start;
		return start < end ? (end - start - 1) / cut->step + 1 : 0;
	}
	if (size == 0) {
		*first = 0;
		return 0;
	}
	start = between(start, 0, size - 1);
	end = between(end, -1, size - 1);
	*first = start;
	return start > end ? (start - end - 1) / -cut->step + 1 : 0;
}

/* A place in a dimension: an offset from its beginning, its end, or a
 * symbol. */
struct place {
	int64_t base; /* 0, the size itself, or a symbol */
	int64_t offset;
};

static struct place
place_of(int64_t at, int64_t size)
{
	struct place place = {0, 0};

	if (is_far(at))
		place.base = size;
	else if (sl__is_symbol(at))
		place.base = at;
	else if (at < 0 && !is_far_back(at)) {
		place.base = size;
		place.offset = at;
	} else if (at > 0) {
		place.offset = at;
	}
	return place;
}

static int64_t
symbolic_cut(struct sl__shapes *shapes, const struct cut *cut, int64_t size)
{
	struct place from = place_of(cut->start, size);
	struct place to = place_of(cut->end, size);
	int is_all = from.base == 0 && from.offset == 0 && to.base == size &&
		     to.offset == 0;

	if (cut->step == -1 && is_far_back(cut->end) &&
	    (cut->start == -1 || is_far(cut->start)))
		return size;
	if (cut->step > 1 && is_all)
		return sl__size_div(shapes,
				    sl__size_add(shapes, size, cut->step - 1),
				    cut->step);
	if (cut->step != 1)
		return sl__size_new_unknown(shapes);
	if (from.base == to.base)
		return to.offset - from.offset == 1
			       ? 1
			       : sl__size_new_unknown(shapes);
	/* A number beside a size that has none: the less of the two. */
	if (to.base == 0 || (from.base != 0 && from.offset != 0))
		return sl__size_new_unknown(shapes);
	return sl__size_sub_cancelling(
		shapes, sl__size_add(shapes, to.base, to.offset),
		sl__size_add(shapes, from.base, from.offset));
}

struct slice_lists {
	struct sl__integer_list starts, ends, axes, steps;
};

static struct cut
cut_of(const struct slice_lists *l, int64_t i)
{
	struct cut cut = {0, 0, 1, 0};

	if (!l->starts.values || !l->ends.values || i >= l->starts.n ||
	    i >= l->ends.n ||
	    (l->steps.is_given && (!l->steps.values || i >= l->steps.n))) {
		cut.is_open = 1;
		return cut;
	}
	cut.start = l->starts.values[i];
	cut.end = l->ends.values[i];
	if (l->steps.is_given)
		cut.step = l->steps.values[i];
	return cut;
}

/* Fills cuts[rank], all zero before. */
static enum sl_status
slice_cuts(struct sl__rule_context *call, int rank, struct cut *cuts)
{
	struct slice_lists l = {sl__integer_list_read(call, 1, "starts"),
				sl__integer_list_read(call, 2, "ends"),
				sl__integer_list_read(call, 3, "axes"),
				sl__integer_list_read(call, 4, "steps")};
	int64_t n = l.starts.n >= 0 ? l.starts.n : l.ends.n;

	if (l.axes.is_given && sl__integer_list_is_known(&l.axes))
		n = l.axes.n;
	else if (l.axes.is_given || n < 0) {
		for (int i = 0; i < rank; i++)
			cuts[i].is_open = 1;
		return SL_OK;
	}
	for (int64_t i = 0; i < n; i++) {
		int axis = sl__axis_require(
			call, l.axes.is_given ? l.axes.values[i] : i, rank);

		if (axis < 0)
			return call->failure;
		cuts[axis] = cut_of(&l, i);
		if (!cuts[axis].is_open && cuts[axis].step == 0)
			return sl__rule_reject(call, "a step of 0");
	}
	return SL_OK;
}

enum sl_status
sl__infer_slice(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	struct cut *cuts;
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), -1,
					 NULL);
	dims = sl__sizes_alloc(call, (size_t)rank);
	cuts = sl__arena_array(&call->shapes->arena, (size_t)rank,
			       sizeof(*cuts));
	if (!cuts)
		sl__rule_nomem(call);
	if (call->failure || slice_cuts(call, rank, cuts))
		return call->failure;
	for (int i = 0; i < rank; i++) {
		int64_t first;

		if (cuts[i].is_open)
			dims[i] = sl__size_new_unknown(call->shapes);
		else if (cuts[i].step == 0)
			dims[i] = in->dims[i];
		else if (is_plain_cut(&cuts[i], in->dims[i]))
			dims[i] = plain_cut(&cuts[i], in->dims[i], &first);
		else
			dims[i] = symbolic_cut(call->shapes, &cuts[i],
					       in->dims[i]);
	}
	return sl__out_set_shape(call, 0, in->dtype, rank, dims);
}

enum sl_status
sl__ref_slice(struct sl__kernel_call *ev)
{
	int64_t dims[SL__RANK_MOST], strides[SL__RANK_MOST];
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	struct cut cuts[SL__RANK_MOST] = {{0, 0, 0, 0}};
	struct sl__ref_rule_view v;
	struct sl__element_mover m;
	int64_t from = 0;

	if (!in || sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	slice_cuts(&v.call, (int)in->rank, cuts);
	if (sl__ref_rule_view_end(&v, ev))
		return ev->failure;
	(void)sl__row_major_strides(strides, in->rank, in->dims);
	for (size_t d = 0; d < in->rank; d++) {
		int64_t first = 0;

		if (cuts[d].is_open)
			return sl__ref_reject(ev, "its starts, ends, axes and "
						  "steps are not as many");
		dims[d] = cuts[d].step
				  ? plain_cut(&cuts[d], in->dims[d], &first)
				  : in->dims[d];
		from += strides[d] * first;
		/* A step that is never taken may be of any size. */
		strides[d] *= cuts[d].step && dims[d] > 1 ? cuts[d].step : 1;
	}
	if (sl__ref_output_alloc(ev, 0, in->dtype, in->rank, dims) ||
	    sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	return sl__move_output_strided(ev, &m, from, strides);
}

/* Reads what it takes. */
void
sl__cost_slice(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_MOVEMENT;
	sl__cost_limit_bytes_read(call, cost, 0);
}

/* Size of part k of n where no sizes are given. */
static int64_t
even_part(struct sl__rule_context *call, int64_t size, int64_t n, int64_t k)
{
	int64_t part, left;

	if (sl__is_symbol(size)) {
		if (n == 1)
			return size;
		return call->node->version < 18
			       ? sl__size_div(call->shapes, size, n)
			       : sl__size_new_unknown(call->shapes);
	}
	/* From version 18 on the last part may be smaller. */
	part = size / n + (size % n != 0);
	left = part > 0 && k > size / part ? 0 : size - k * part;
	return left < part ? left : part;
}

static void
check_parts(struct sl__rule_context *call, const struct sl__integer_list *split,
	    int64_t size, int64_t n)
{
	int64_t sum = 0;

	if (split->n >= 0 && split->n != n)
		sl__rule_reject(call, "%lld sizes for %lld parts",
				(long long)split->n, (long long)n);
	if (!sl__integer_list_is_known(split) || sl__is_symbol(size))
		return;
	for (int64_t i = 0; i < split->n; i++) {
		if (split->values[i] < 0 ||
		    __builtin_add_overflow(sum, split->values[i], &sum))
			sl__rule_reject(call, "a part of size %lld",
					(long long)split->values[i]);
	}
	if (sum != size)
		sl__rule_reject(
			call,
			"the parts add up to %lld, the dimension has %lld",
			(long long)sum, (long long)size);
}

/* Size of part k along the axis. */
static int64_t
part_size(struct sl__rule_context *call, const struct sl__integer_list *split,
	  int64_t size, uint32_t k)
{
	if (split->values)
		return split->values[k];
	if (split->is_given)
		return sl__size_new_unknown(call->shapes);
	return even_part(call, size, call->node->n_outputs, k);
}

enum sl_status
sl__infer_split(struct sl__rule_context *call)
{
	struct sl__integer_list split = sl__integer_list_read(call, 1, "split");
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0), axis;
	uint32_t n = call->node->n_outputs;
	int64_t *dims;

	for (uint32_t k = 0; rank < 0 && k < n; k++)
		sl__out_set_dtype_only(call, k, sl__in_dtype(call, 0));
	if (rank < 0)
		return call->failure;
	axis = sl__axis_require(call, sl__attribute_int(call->node, "axis", 0),
				rank);
	if (sl__attribute_int(call->node, "num_outputs", n) != n)
		sl__rule_reject(
			call, "num_outputs is not %u, as many as it gives", n);
	dims = sl__sizes_copy_from_input(call, 0);
	if (call->failure)
		return call->failure;
	if (split.is_given)
		check_parts(call, &split, in->dims[axis], n);
	else if (call->node->version < 18 && !sl__is_symbol(in->dims[axis]) &&
		 n && in->dims[axis] % n)
		sl__rule_reject(call, "%lld does not divide into %u parts",
				(long long)in->dims[axis], n);
	for (uint32_t k = 0; !call->failure && k < n; k++) {
		dims[axis] = part_size(call, &split, in->dims[axis], k);
		sl__out_set_shape(call, k, in->dtype, rank, dims);
	}
	return call->failure;
}

enum sl_status
sl__ref_split(struct sl__kernel_call *ev)
{
	struct sl__axis_slice cut = {
		.axis = sl__attribute_int(ev->node, "axis", 0)};
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	uint32_t n_parts = ev->node->n_outputs;
	struct sl__axis_split a;
	struct sl__integer_list split;
	struct sl__ref_rule_view v;

	if (!in || sl__axis_split_tensor(ev, &a, in, &cut.axis) ||
	    sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	split = sl__integer_list_read(&v.call, 1, "split");
	if (split.is_given)
		check_parts(&v.call, &split, a.size, n_parts);
	sl__ref_rule_view_end(&v, ev);
	for (uint32_t k = 0; !ev->failure && k < n_parts; k++) {
		cut.n = part_size(&v.call, &split, a.size, k);
		if (sl__ref_output(ev, k))
			sl__move_axis_slice(ev, sl__ref_output(ev, k), in,
					    &cut);
		cut.first += cut.n;
	}
	return ev->failure;
}

/* The rank that the inputs share, -1 where none is known, -2 where they
 * differ. */
static int
shared_rank(struct sl__rule_context *call)
{
	int rank = -1;

	for (uint32_t i = 0; i < call->node->n_inputs; i++) {
		int r = sl__in_rank(call, i);

		if (r >= 0 && rank >= 0 && r != rank)
			return -2;
		if (r >= 0)
			rank = r;
	}
	return rank;
}

/* Takes input i into the sizes so far. */
static enum sl_status
concat_one(struct sl__rule_context *call, uint32_t i, int axis, int64_t *dims)
{
	const struct sl__type *in = sl__in_type(call, i);
	int rank = sl__in_rank(call, i);

	if (sl__in_dtype(call, i) != SL_DTYPE_NONE &&
	    sl__in_dtype(call, 0) != SL_DTYPE_NONE &&
	    sl__in_dtype(call, i) != sl__in_dtype(call, 0))
		return sl__rule_reject(call,
				       "input %u is %s, not %s as the first", i,
				       sl_dtype_text(sl__in_dtype(call, i)),
				       sl_dtype_text(sl__in_dtype(call, 0)));
	if (rank < 0) {
		dims[axis] = sl__size_new_unknown(call->shapes);
		return SL_OK;
	}
	for (int d = 0; d < rank; d++) {
		int64_t size;

		if (d == axis) {
			dims[d] = sl__size_add(call->shapes, dims[d],
					       in->dims[d]);
			if (dims[d] == -1)
				return sl__rule_reject(call,
						       "its output has more "
						       "than 2^63 elements");
			continue;
		}
		size = dims[d] == -1 ? in->dims[d]
				     : sl__size_unify(dims[d], in->dims[d]);
		if (size == -1)
			return sl__rule_reject(
				call,
				"input %u is %s: its dimension %d is "
				"not %lld as before",
				i, sl__in_shape_text(call, i), d,
				(long long)dims[d]);
		dims[d] = size;
	}
	return SL_OK;
}

enum sl_status
sl__infer_concat(struct sl__rule_context *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int rank = shared_rank(call), axis;
	int64_t *dims;

	if (rank == -2)
		return sl__rule_reject(call,
				       "its inputs have different numbers of "
				       "dimensions");
	if (rank < 0)
		return sl__out_set_shape(call, 0, dtype, -1, NULL);
	/* The first version has a default, later ones demand the axis. */
	axis = sl__axis_require(call, sl__attribute_int(call->node, "axis", 1),
				rank);
	dims = sl__sizes_alloc(call, (size_t)rank);
	for (int d = 0; !call->failure && d < rank; d++)
		dims[d] = d == axis ? 0 : -1;
	for (uint32_t i = 0; !call->failure && i < call->node->n_inputs; i++)
		concat_one(call, i, axis, dims);
	return sl__out_set_shape(call, 0, dtype, rank, dims);
}

enum sl_status
sl__ref_concat(struct sl__kernel_call *ev)
{
	int64_t axis = sl__attribute_int(ev->node, "axis", 1), at = 0;
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	struct sl__axis_split whole, part;
	struct sl__element_mover m;

	for (size_t i = 0; i < ev->node->n_inputs; i++) {
		if (sl__move_begin_input_to_output(&m, ev, i, 0) ||
		    sl__axis_split_tensor(ev, &whole, &out->tensor, &axis) ||
		    sl__axis_split_tensor(ev, &part,
					  sl__ref_input_tensor(ev, i), &axis))
			return ev->failure;
		if (sl__ref_input_tensor(ev, i)->n_elements == 0)
			continue;
		if (part.outer != whole.outer || part.inner != whole.inner ||
		    part.size > whole.size - at)
			return sl__ref_reject(
				ev, "input %zu does not go beside the others",
				i);
		for (int64_t o = 0; o < part.outer; o++)
			sl__move_elements(&m,
					  (o * whole.size + at) * whole.inner,
					  o * part.size * part.inner,
					  part.size * part.inner);
		at += part.size;
	}
	return sl__move_own_strings(ev, 0);
}

/* Elements added before and after each dimension; "?" where that depends on
 * data.  Both arrays are zeroed by the caller. */
static enum sl_status
pad_amounts(struct sl__rule_context *call, int rank, int64_t *before,
	    int64_t *after)
{
	const char *name = call->node->version < 2 ? "paddings" : "pads";
	struct sl__integer_list pads = sl__integer_list_read(call, 1, name);
	struct sl__integer_list axes = sl__integer_list_read(call, 3, NULL);
	int64_t n = axes.is_given ? axes.n : rank;
	int is_open = axes.is_given && !sl__integer_list_is_known(&axes);

	if (pads.n >= 0 && n >= 0 && pads.n != 2 * n)
		return sl__rule_reject(
			call,
			"%lld pads for %lld dimensions: two each "
			"are needed",
			(long long)pads.n, (long long)n);
	for (int i = 0; is_open && i < rank; i++)
		after[i] = sl__size_new_unknown(call->shapes);
	for (int64_t i = 0; !is_open && i < n; i++) {
		int axis =
			axes.is_given
				? sl__axis_require(call, axes.values[i], rank)
				: (int)i;

		if (axis < 0)
			return call->failure;
		before[axis] = pads.values ? pads.values[i] : 0;
		after[axis] = pads.values ? pads.values[n + i]
					  : sl__size_new_unknown(call->shapes);
	}
	return SL_OK;
}

/* What padding makes of a dimension; -1, which no output takes, where that is
 * no size. */
static int64_t
padded(struct sl__rule_context *call, int64_t size, int64_t before,
       int64_t after)
{
	int64_t all;

	if (sl__is_symbol(size) || sl__is_symbol(before) ||
	    sl__is_symbol(after))
		return sl__size_add(call->shapes,
				    sl__size_add(call->shapes, size, before),
				    after);
	if (__builtin_add_overflow(size, before, &all) ||
	    __builtin_add_overflow(all, after, &all) || all < 0)
		return -1;
	return all;
}

enum sl_status
sl__infer_pad(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t *dims, *before, *after;

	if (rank < 0)
		return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), -1,
					 NULL);
	dims = sl__sizes_alloc(call, (size_t)rank);
	before = sl__sizes_alloc(call, (size_t)rank);
	after = sl__sizes_alloc(call, (size_t)rank);
	if (call->failure || pad_amounts(call, rank, before, after))
		return call->failure;
	for (int i = 0; i < rank; i++)
		dims[i] = padded(call, in->dims[i], before[i], after[i]);
	return sl__out_set_shape(call, 0, in->dtype, rank, dims);
}

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP };

/* Small enough to be added up. */
static int
is_amount(int64_t pad)
{
	return pad > INT64_MIN / 4 && pad < INT64_MAX / 4;
}

static int64_t
wrapped(int64_t i, int64_t n)
{
	return i % n < 0 ? i % n + n : i % n;
}

/* There and back again, without either end twice. */
static int64_t
reflected(int64_t i, int64_t n)
{
	int64_t there = n - 1;

	if (there == 0)
		return 0;
	i = wrapped(i, 2 * there);
	return i > there ? 2 * there - i : i;
}

/*
 * Where each of n_out places of a dimension comes from; -1: a new element.
 * What negative amounts take away is gone before anything is repeated.
 */
static enum sl_status
pad_sources(int64_t *sources, int64_t n_out, int64_t n_in,
	    const int64_t amounts[2], enum pad_mode mode)
{
	int64_t low = amounts[0] < 0 ? -amounts[0] : 0;
	int64_t n = n_in - low - (amounts[1] < 0 ? -amounts[1] : 0);
	int64_t ahead = amounts[0] > 0 ? amounts[0] : 0;

	if (n <= 0 && mode != PAD_CONSTANT)
		return n_out ? SL_E_DATA : SL_OK;
	for (int64_t k = 0; k < n_out; k++) {
		int64_t i = k - ahead;

		if (i >= 0 && i < n)
			sources[k] = low + i;
		else if (mode == PAD_CONSTANT)
			sources[k] = -1;
		else if (mode == PAD_EDGE)
			sources[k] = low + between(i, 0, n - 1);
		else if (mode == PAD_WRAP)
			sources[k] = low + wrapped(i, n);
		else
			sources[k] = low + reflected(i, n);
	}
	return SL_OK;
}

/* One element for what comes in, in storage of up to 16 bytes. */
static enum sl_status
pad_value(struct sl__kernel_call *ev, struct sl__element_mover *m,
	  unsigned char *storage)
{
	static const char *const nothing = "";
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *value = sl__ref_input_tensor(ev, 2);
	double number = sl__attribute_float(ev->node, "value", 0);

	if (value && value->n_elements)
		return sl__move_begin(ev, m, sl__ref_output(ev, 0), value);
	memset(storage, 0, 16);
	if (sl__dtype_family(in->dtype) != SL__DTYPE_OTHER)
		sl__store_doubles(storage, in->dtype, 0, 1, &number);
	m->from = storage;
	if (m->is_text)
		m->from = (const unsigned char *)(const void *)&nothing;
	return SL_OK;
}

/* Where the elements of each dimension come from, and how to walk there. */
struct padding {
	const int64_t *sources[SL__RANK_MOST];
	int64_t strides[SL__RANK_MOST]; /* of the input */
};

static enum sl_status
find_sources(struct sl__kernel_call *ev, struct padding *p)
{
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	int64_t before[SL__RANK_MOST] = {0}, after[SL__RANK_MOST] = {0};
	enum pad_mode mode = (enum pad_mode)sl__ref_attribute_choice(
		ev, "mode",
		(const char *const[]){"constant", "reflect", "edge", "wrap",
				      NULL});
	struct sl__ref_rule_view v;

	if (sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	pad_amounts(&v.call, (int)in->rank, before, after);
	if (sl__ref_rule_view_end(&v, ev))
		return ev->failure;
	if (in->rank != out->rank)
		return sl__ref_reject(ev, "its output has another number of "
					  "dimensions");
	for (size_t d = 0; d < in->rank; d++) {
		const int64_t amounts[2] = {before[d], after[d]};
		int64_t *made = sl__ref_scratch_integers(ev, out->dims[d]);

		if (!is_amount(before[d]) || !is_amount(after[d]))
			return sl__ref_reject(ev, "a pad beyond all sizes");
		p->sources[d] = made;
		if (made &&
		    pad_sources(made, out->dims[d], in->dims[d], amounts, mode))
			return sl__ref_reject(ev,
					      "nothing is left of dimension "
					      "%zu that could be repeated",
					      d);
	}
	(void)sl__row_major_strides(p->strides, in->rank, in->dims);
	return ev->failure;
}

/* Row-major over the output; *from is -1 where a new element goes. */
static void
pad_elements(const struct sl__element_mover *m,
	     const struct sl__element_mover *value, const struct padding *p,
	     const struct sl__tensor *out)
{
	int64_t at[SL__RANK_MOST] = {0};
	int64_t k = 0;

	do {
		int64_t from = 0;

		for (size_t d = 0; from >= 0 && d < out->rank; d++) {
			int64_t source = p->sources[d][at[d]];

			from = source < 0 ? -1 : from + source * p->strides[d];
		}
		if (from < 0)
			sl__move_elements(value, k, 0, 1);
		else
			sl__move_elements(m, k, from, 1);
		k++;
	} while (sl__strided_position_next(at, out->rank, out->dims, NULL, NULL,
					   0));
}

enum sl_status
sl__ref_pad(struct sl__kernel_call *ev)
{
	struct sl__element_mover m, value;
	unsigned char storage[16];
	struct padding padding;

	if (sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	value = m;
	if (pad_value(ev, &value, storage) || find_sources(ev, &padding))
		return ev->failure;
	pad_elements(&m, &value, &padding, &sl__ref_output(ev, 0)->tensor);
	return sl__move_own_strings(ev, 0);
}

/* Each dimension loses or gains half of the difference at either end. */
enum sl_status
sl__ref_center_crop_pad(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0), *out;
	int64_t strides[SL__RANK_MOST];
	struct sl__element_mover m;
	struct sl__strided_path path;

	if (sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	out = &sl__ref_output(ev, 0)->tensor;
	if (in->rank != out->rank)
		return sl__ref_reject(ev, "its output has another number "
					  "of dimensions");
	sl__move_zero_fill(&m, (int64_t)out->n_elements);
	sl__strided_path_init(&path, out->rank, out->dims);
	(void)sl__row_major_strides(strides, in->rank, in->dims);
	for (size_t d = 0; d < in->rank; d++) {
		int64_t more = out->dims[d] - in->dims[d];

		path.from[d] = strides[d];
		if (more > 0) {
			path.dims[d] = in->dims[d];
			path.to_at += more / 2 * path.to[d];
		} else {
			path.from_at += -more / 2 * strides[d];
		}
	}
	sl__move_strided_path(&m, &path);
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__ref_reverse_sequence(struct sl__kernel_call *ev)
{
	int64_t batch_axis = sl__attribute_int(ev->node, "batch_axis", 1);
	int64_t time_axis = sl__attribute_int(ev->node, "time_axis", 0);
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	int64_t strides[SL__RANK_MOST], n_batch, n_time;
	struct sl__element_mover m;
	size_t n;
	const int64_t *lengths = sl__ref_integer_list(ev, 1, NULL, &n);

	if (ev->failure || sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	if (in->rank < 2 || (batch_axis != 0 && batch_axis != 1) ||
	    time_axis != 1 - batch_axis)
		return sl__ref_reject(ev,
				      "batch and time are not its first two "
				      "dimensions");
	n_batch = in->dims[batch_axis];
	n_time = in->dims[time_axis];
	if ((int64_t)n != n_batch)
		return sl__ref_reject(ev, "%zu lengths for %lld sequences", n,
				      (long long)n_batch);
	(void)sl__row_major_strides(strides, in->rank, in->dims);
	for (int64_t b = 0; b < n_batch; b++) {
		if (lengths[b] < 0 || lengths[b] > n_time)
			return sl__ref_reject(
				ev, "a sequence of %lld elements, in %lld",
				(long long)lengths[b], (long long)n_time);
		for (int64_t t = 0; t < n_time; t++) {
			int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
			int64_t start = b * strides[batch_axis];

			sl__move_elements(&m, start + t * strides[time_axis],
					  start + from * strides[time_axis],
					  strides[1]);
		}
	}
	return sl__move_own_strings(ev, 0);
}

/* The tensor around the axis; as one dimension where the node names none. */
static enum sl_status
compress_around(struct sl__kernel_call *ev, const struct sl__tensor *in,
		struct sl__axis_split *a, int64_t *axis)
{
	*axis = -1;
	a->outer = a->inner = 1;
	a->size = (int64_t)in->n_elements;
	if (!sl__attribute_find(ev->node, "axis"))
		return SL_OK;
	*axis = sl__attribute_int(ev->node, "axis", 0);
	return sl__axis_split_tensor(ev, a, in, axis);
}

/* places[] that the mask sets, of which there are 'size'. */
static int64_t *
find_set(struct sl__kernel_call *ev, int64_t size, int64_t *n)
{
	const int64_t *mask = sl__ref_input_integers(ev, 1);
	int64_t n_mask = mask ? (int64_t)sl__ref_input_tensor(ev, 1)->n_elements
			      : 0;
	int64_t *places = sl__ref_scratch_integers(ev, n_mask);

	*n = 0;
	for (int64_t i = 0; !ev->failure && i < n_mask; i++) {
		if (mask[i] && i >= size)
			sl__ref_reject(ev, "place %lld is asked for, of %lld",
				       (long long)i, (long long)size);
		else if (mask[i])
			places[(*n)++] = i;
	}
	return ev->failure ? NULL : places;
}

enum sl_status
sl__ref_compress(struct sl__kernel_call *ev)
{
	int64_t dims[SL__RANK_MOST], axis, n, *places;
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	struct sl__axis_split a;
	struct sl__element_mover m;

	if (!in || compress_around(ev, in, &a, &axis))
		return ev->failure;
	places = find_set(ev, a.size, &n);
	if (in->rank)
		memcpy(dims, in->dims, in->rank * sizeof(*dims));
	dims[axis < 0 ? 0 : axis] = n;
	if (!places ||
	    sl__ref_output_alloc(ev, 0, in->dtype, axis < 0 ? 1 : in->rank,
				 dims) ||
	    sl__move_begin_input_to_output(&m, ev, 0, 0) ||
	    sl__ref_output_is_empty(ev))
		return ev->failure;
	for (int64_t o = 0; o < a.outer; o++) {
		for (int64_t i = 0; i < n; i++)
			sl__move_elements(&m, (o * n + i) * a.inner,
					  (o * a.size + places[i]) * a.inner,
					  a.inner);
	}
	return sl__move_own_strings(ev, 0);
}
