/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_order.c - elements in order: TopK, Unique, ArgMax, running sums and
 * products.
 *
 * One order for all types: numbers by size with NaN, equal to itself, after
 * all others; strings by their bytes.  What is sorted is places, and among
 * equals the earlier stays first.
 */
#include "ops/cost.h"
#include "ops/list_input.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

/* The axis without its places, or with one. */
enum sl_status
sl__infer_arg_reduce(struct sl__rule_context *call)
{
	int rank = sl__in_rank(call, 0), axis;
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, SL_DTYPE_I64);
	axis = sl__axis_require(call, sl__attribute_int(call->node, "axis", 0),
				rank);
	dims = sl__sizes_copy_from_input(call, 0);
	if (call->failure)
		return call->failure;
	dims[axis] = 1;
	if (!sl__attribute_int(call->node, "keepdims", 1))
		memmove(dims + axis, dims + axis + 1,
			(size_t)(--rank - axis) * sizeof(*dims));
	return sl__out_set_shape(call, 0, SL_DTYPE_I64, rank, dims);
}

/* How many are kept: an attribute before version 10, then an input. */
static int64_t
find_k(struct sl__rule_context *call)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, 1);
	int64_t k = sl__attribute_int(call->node, "k", -1);

	if (call->node->version >= 10 && sl__has_in(call, 1))
		return known && known->ints && known->n == 1
			       ? known->ints[0]
			       : sl__size_new_unknown(call->shapes);
	if (k < 0)
		sl__rule_reject(call, "k is %lld", (long long)k);
	return k;
}

enum sl_status
sl__infer_topk(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int axis, rank = sl__in_rank(call, 0);
	int64_t k = find_k(call), *dims = NULL;

	if (rank >= 0) {
		axis = sl__axis_require(
			call, sl__attribute_int(call->node, "axis", -1), rank);
		dims = sl__sizes_copy_from_input(call, 0);
		if (call->failure)
			return call->failure;
		if (!sl__is_symbol(k) && !sl__is_symbol(in->dims[axis]) &&
		    (k < 0 || k > in->dims[axis]))
			return sl__rule_reject(
				call, "the %lld largest of %lld elements",
				(long long)k, (long long)in->dims[axis]);
		dims[axis] = k;
	}
	sl__out_set_shape(call, 0, sl__in_dtype(call, 0), rank, dims);
	return sl__out_set_shape(call, 1, SL_DTYPE_I64, rank, dims);
}

enum sl_status
sl__infer_unique(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0), axis = 0;
	int has_axis = sl__attribute_find(call->node, "axis") != NULL;
	const struct sl__known_contents *known = sl__in_known_contents(call, 0);
	struct sl__runtime_value **outputs;
	struct sl__arena scratch;
	int64_t *dims, n, n_all;

	if (has_axis && rank >= 0)
		axis = sl__axis_require(
			call, sl__attribute_int(call->node, "axis", 0), rank);
	dims = has_axis && rank > 0 ? sl__sizes_copy_from_input(call, 0)
				    : sl__sizes_alloc(call, 1);
	if (call->failure)
		return call->failure;
	sl__arena_init(&scratch, &call->shapes->arena.allocator);
	/* Of nothing there may be slices without end. */
	outputs = known && (known->n || !has_axis)
			  ? sl__fold_known_by_kernel(call, &scratch, 0)
			  : NULL;
	n = outputs && outputs[0] ? outputs[0]->tensor.dims[axis]
				  : sl__size_new_unknown(call->shapes);
	sl__arena_release(&scratch);
	n_all = rank < 0   ? sl__size_new_unknown(call->shapes)
		: has_axis ? in->dims[axis]
			   : sl__size_product(call->shapes, in->dims, rank);
	dims[axis] = n;
	sl__out_set_shape(call, 0, sl__in_dtype(call, 0), has_axis ? rank : 1,
			  dims);
	sl__out_set_shape(call, 1, SL_DTYPE_I64, 1, &n);
	sl__out_set_shape(call, 2, SL_DTYPE_I64, 1, &n_all);
	return sl__out_set_shape(call, 3, SL_DTYPE_I64, 1, &n);
}

/* Sorting or hashing: how many comparisons depends on both. */
void
sl__cost_unique(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = sl__in_elements(call, 0), deep = 0;

	while (n >> deep > 1)
		deep++;
	cost->cmp = sl__saturating_mul(n, deep);
	sl__cost_mark_estimated(cost, "as if sorted: n log n comparisons");
}

void
sl__cost_arg_reduce(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_REDUCTION;
	cost->cmp = cost->in_elements > cost->out_elements
			    ? cost->in_elements - cost->out_elements
			    : 0;
}

/* Elements less the first of each line along the axis.  Where that is not
 * known, one line is the most that it can be. */
void
sl__cost_running(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements, length = n;
	const int64_t *given;
	size_t n_axes;
	int axis = -1;

	cost->work = SL_WORK_REDUCTION;
	if (sl__in_integers(call, 1, &given, &n_axes) && n_axes == 1)
		axis = sl__axis_normalize(*given, sl__in_rank(call, 0));
	else
		sl__cost_mark_estimated(cost, "the axis depends on data");
	if (axis >= 0)
		length = sl__in_dim(call, 0, axis);
	n = length ? n - n / length : 0;
	if (sl__is_op(call->node, SL__OP_ONNX_CumProd))
		cost->mul = n;
	else
		cost->add = n;
}

/* A heap of the k best so far: each element is compared with its root and
 * may sink to its foot, ceil(log2 k) levels below. */
void
sl__cost_topk(struct sl__rule_context *call, struct sl_cost *cost)
{
	int axis = sl__axis_normalize(sl__attribute_int(call->node, "axis", -1),
				      sl__in_rank(call, 0));
	uint64_t k = axis < 0 ? 1 : sl__out_dim(call, 0, axis);
	uint64_t n_levels = 0;

	while (n_levels < 63 && UINT64_C(1) << n_levels < k)
		n_levels++;
	cost->cmp = sl__saturating_mul(cost->in_elements, 1 + n_levels);
	sl__cost_mark_estimated(cost,
				"comparisons depend on data: a heap of k at "
				"its worst");
}

/* Elements of one tensor; one of the three is set. */
struct elements {
	const int64_t *whole;
	const double *real;
	const char *const *texts;
	int is_u64;
};

static enum sl_status
elements_of(struct sl__kernel_call *ev, size_t i, struct elements *out)
{
	const struct sl__tensor *t = sl__ref_require_tensor(ev, i);

	memset(out, 0, sizeof(*out));
	if (!t)
		return ev->failure;
	out->is_u64 = t->dtype == SL_DTYPE_U64;
	if (t->dtype == SL_DTYPE_STRING)
		out->texts = t->strings;
	else if (sl__ref_dtype_is_integer(t->dtype))
		out->whole = sl__ref_input_integers(ev, i);
	else
		out->real = sl__ref_input_doubles(ev, i);
	return ev->failure;
}

/* Below 0, 0 or above. */
static int
order_of(const struct elements *e, int64_t a, int64_t b)
{
	if (e->texts)
		return strcmp(e->texts[a], e->texts[b]);
	if (e->whole) {
		uint64_t flip = e->is_u64 ? (uint64_t)1 << 63 : 0;
		int64_t x = (int64_t)((uint64_t)e->whole[a] ^ flip);
		int64_t y = (int64_t)((uint64_t)e->whole[b] ^ flip);

		return (x > y) - (x < y);
	}
	if (e->real[a] != e->real[a] || e->real[b] != e->real[b])
		return (e->real[a] != e->real[a]) - (e->real[b] != e->real[b]);
	return (e->real[a] > e->real[b]) - (e->real[a] < e->real[b]);
}

/* What is sorted: runs of elements, compared one after the other.  Run p
 * begins at start + p * step, its element j lies at (j / inner) * outer + j %
 * inner from there. */
struct runs {
	struct elements e;
	int64_t start, step;
	int64_t n, inner, outer; /* elements of a run, and where they are */
	int is_falling;
};

static int
order_of_runs(const struct runs *r, int64_t a, int64_t b)
{
	int order = 0;

	for (int64_t j = 0; !order && j < r->n; j++) {
		int64_t at = r->start + j / r->inner * r->outer + j % r->inner;

		order = order_of(&r->e, at + a * r->step, at + b * r->step);
	}
	return r->is_falling ? -order : order;
}

/* Merges places[first .. middle) and [middle .. end) through 'room'. */
static void
merge(const struct runs *r, int64_t *places, int64_t *room, int64_t n_left,
      int64_t n)
{
	int64_t a = 0, b = n_left;

	for (int64_t k = 0; k < n; k++) {
		int is_left = b == n ||
			      (a < n_left &&
			       order_of_runs(r, places[a], places[b]) <= 0);

		room[k] = is_left ? places[a++] : places[b++];
	}
	memcpy(places, room, (size_t)n * sizeof(*places));
}

/* Sorts n places from the bottom up; equal ones keep their order. */
static void
sort(const struct runs *r, int64_t *places, int64_t *room, int64_t n)
{
	for (int64_t width = 1; width < n; width *= 2) {
		for (int64_t i = 0; i < n - width; i += 2 * width) {
			int64_t both = n - i < 2 * width ? n - i : 2 * width;

			merge(r, places + i, room, width, both);
		}
	}
}

/* Both outputs, [outer][k][inner]. */
static enum sl_status
give_top(struct sl__kernel_call *ev, const struct sl__axis_split *a,
	 struct runs *r, int64_t k)
{
	int64_t *places = sl__ref_scratch_integers(ev, a->size);
	int64_t *room = sl__ref_scratch_integers(ev, a->size);
	int64_t *chosen = sl__ref_scratch_integers(ev, a->outer * k * a->inner);
	int has_values = sl__ref_output(ev, 0) != NULL;
	struct sl__element_mover m;

	if (ev->failure ||
	    (has_values && sl__move_begin_input_to_output(&m, ev, 0, 0)))
		return ev->failure;
	for (int64_t o = 0; o < a->outer * a->inner; o++) {
		int64_t row = o / a->inner, column = o % a->inner;

		r->start = row * a->size * a->inner + column;
		for (int64_t i = 0; i < a->size; i++)
			places[i] = i;
		sort(r, places, room, a->size);
		for (int64_t i = 0; i < k; i++) {
			int64_t to = (row * k + i) * a->inner + column;

			chosen[to] = places[i];
			if (has_values)
				sl__move_elements(
					&m, to, r->start + places[i] * a->inner,
					1);
		}
	}
	sl__ref_output_store_integers(ev, 1, chosen);
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__ref_topk(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	int64_t axis = sl__attribute_int(ev->node, "axis", -1), k;
	struct runs r = {.n = 1, .inner = 1};
	int64_t dims[SL__RANK_MOST];
	struct sl__axis_split a;
	size_t n;
	const int64_t *given = sl__ref_integer_list(ev, 1, NULL, &n);

	if (ev->failure || sl__axis_split_tensor(ev, &a, in, &axis) ||
	    elements_of(ev, 0, &r.e))
		return ev->failure;
	k = n ? given[0] : sl__attribute_int(ev->node, "k", -1);
	if (k < 0 || k > a.size)
		return sl__ref_reject(ev, "the first %lld of %lld",
				      (long long)k, (long long)a.size);
	r.step = a.inner;
	r.is_falling = sl__attribute_int(ev->node, "largest", 1) != 0;
	memcpy(dims, in->dims, in->rank * sizeof(*dims));
	dims[axis] = k;
	if (sl__ref_output_alloc(ev, 0, in->dtype, in->rank, dims) ||
	    sl__ref_output_alloc(ev, 1, SL_DTYPE_I64, in->rank, dims) ||
	    k == 0 || in->n_elements == 0)
		return ev->failure;
	return give_top(ev, &a, &r, k);
}

/* Distinct slices in the order in which they are given. */
struct distinct {
	int64_t n_all, n;
	int64_t *first;   /* [n] where each comes up first */
	int64_t *counts;  /* [n] */
	int64_t *inverse; /* [n_all] which of them a slice is */
};

/* Groups are numbered by their order; 'places' has equal slices side by
 * side. */
static void
number_groups(const struct runs *r, const int64_t *places, struct distinct *d)
{
	for (int64_t i = 0; i < d->n_all; i++) {
		if (i == 0 || order_of_runs(r, places[i - 1], places[i]) != 0) {
			d->first[d->n] = places[i];
			d->counts[d->n++] = 0;
		}
		d->counts[d->n - 1]++;
		d->inverse[places[i]] = d->n - 1;
	}
}

/* Groups in the order in which they come up, instead; 'room' holds 3 n. */
static void
number_by_place(struct distinct *d, int64_t *room)
{
	int64_t *new_of = room, *first = room + d->n, *counts = first + d->n;
	int64_t n = 0;

	memset(room, 0xff, (size_t)d->n * sizeof(*room));
	for (int64_t i = 0; i < d->n_all; i++) {
		int64_t group = d->inverse[i];

		if (new_of[group] < 0) {
			new_of[group] = n;
			first[n] = i;
			counts[n++] = d->counts[group];
		}
		d->inverse[i] = new_of[group];
	}
	memcpy(d->first, first, (size_t)n * sizeof(*first));
	memcpy(d->counts, counts, (size_t)n * sizeof(*counts));
}

static enum sl_status
find_distinct(struct sl__kernel_call *ev, const struct runs *r,
	      struct distinct *d)
{
	int64_t *places = sl__ref_scratch_integers(ev, d->n_all);
	int64_t *room =
		sl__ref_scratch(ev, (size_t)d->n_all, 3 * sizeof(*room));

	d->first = sl__ref_scratch_integers(ev, d->n_all);
	d->counts = sl__ref_scratch_integers(ev, d->n_all);
	d->inverse = sl__ref_scratch_integers(ev, d->n_all);
	if (ev->failure)
		return ev->failure;
	for (int64_t i = 0; i < d->n_all; i++)
		places[i] = i;
	sort(r, places, room, d->n_all);
	number_groups(r, places, d);
	if (!sl__attribute_int(ev->node, "sorted", 1))
		number_by_place(d, room);
	return SL_OK;
}

/* Output 0: the slices themselves. */
static enum sl_status
give_distinct(struct sl__kernel_call *ev, const struct sl__axis_split *a,
	      const struct distinct *d)
{
	struct sl__element_mover m;

	if (sl__ref_output_is_empty(ev) ||
	    sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	for (int64_t o = 0; o < a->outer; o++) {
		for (int64_t i = 0; i < d->n; i++)
			sl__move_elements(&m, (o * d->n + i) * a->inner,
					  (o * a->size + d->first[i]) *
						  a->inner,
					  a->inner);
	}
	return sl__move_own_strings(ev, 0);
}

static enum sl_status
give_list(struct sl__kernel_call *ev, size_t k, int64_t n, const int64_t *list)
{
	if (sl__ref_output_alloc(ev, k, SL_DTYPE_I64, 1, &n))
		return ev->failure;
	return sl__ref_output_store_integers(ev, k, list);
}

enum sl_status
sl__ref_unique(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	int has_axis = sl__attribute_find(ev->node, "axis") != NULL;
	int64_t axis = sl__attribute_int(ev->node, "axis", 0),
		dims[SL__RANK_MOST];
	struct sl__axis_split a = {1, 0, 1};
	struct runs r = {0};
	struct distinct d = {0};

	if (!in || elements_of(ev, 0, &r.e))
		return ev->failure;
	a.size = (int64_t)in->n_elements;
	if (has_axis && sl__axis_split_tensor(ev, &a, in, &axis))
		return ev->failure;
	r.step = r.inner = a.inner;
	r.n = (int64_t)((uint64_t)a.outer * (uint64_t)a.inner);
	r.outer = (int64_t)((uint64_t)a.size * (uint64_t)a.inner);
	d.n_all = a.size;
	if (find_distinct(ev, &r, &d))
		return ev->failure;
	if (in->rank)
		memcpy(dims, in->dims, in->rank * sizeof(*dims));
	dims[has_axis ? axis : 0] = d.n;
	if (sl__ref_output_alloc(ev, 0, in->dtype, has_axis ? in->rank : 1,
				 dims) ||
	    give_distinct(ev, &a, &d) || give_list(ev, 1, d.n, d.first) ||
	    give_list(ev, 2, d.n_all, d.inverse))
		return ev->failure;
	return give_list(ev, 3, d.n, d.counts);
}

/* Above 0 where a is more of an extreme than b; NaN counts as both the
 * greatest and the least. */
static int
order_of_extremes(const struct elements *e, int64_t a, int64_t b, int is_min)
{
	int order = order_of(e, a, b);

	if (is_min && !(e->real &&
			(e->real[a] != e->real[a] || e->real[b] != e->real[b])))
		order = -order;
	return order;
}

enum sl_status
sl__ref_arg_reduce(struct sl__kernel_call *ev)
{
	int is_min = sl__is_op(ev->node, SL__OP_ONNX_ArgMin);
	int takes_last = sl__attribute_int(ev->node, "select_last_index", 0) !=
			 0;
	int64_t axis = sl__attribute_int(ev->node, "axis", 0), *chosen;
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	struct sl__axis_split a;
	struct elements e;

	if (!in || sl__axis_split_tensor(ev, &a, in, &axis) ||
	    elements_of(ev, 0, &e))
		return ev->failure;
	if (a.size == 0)
		return sl__ref_reject(ev, "none of 0 is the greatest");
	chosen = sl__ref_scratch_integers(ev, a.outer * a.inner);
	if (!chosen)
		return ev->failure;
	for (int64_t o = 0; o < a.outer * a.inner; o++) {
		int64_t start = o / a.inner * a.size * a.inner + o % a.inner;

		for (int64_t i = 1; i < a.size; i++) {
			int order = order_of_extremes(
				&e, start + i * a.inner,
				start + chosen[o] * a.inner, is_min);

			if (order > 0 || (order == 0 && takes_last))
				chosen[o] = i;
		}
	}
	return sl__ref_output_store_integers(ev, 0, chosen);
}

/* How running values are taken: of which elements, where to, in which order. */
struct running {
	struct elements from;
	double *real; /* one of the two is set */
	int64_t *whole;
	int is_matmul, is_exclusive, is_reverse;
};

/* One line of n elements, 'step' apart. */
static void
run_line(const struct running *r, int64_t start, int64_t n, int64_t step)
{
	double real = r->is_matmul ? 1 : 0;
	uint64_t whole = r->is_matmul ? 1 : 0;

	for (int64_t i = 0; i < n; i++) {
		int64_t at = start + (r->is_reverse ? n - 1 - i : i) * step;

		if (r->whole) {
			uint64_t x = (uint64_t)r->from.whole[at],
				 before = whole;

			whole = r->is_matmul ? whole * x : whole + x;
			r->whole[at] =
				(int64_t)(r->is_exclusive ? before : whole);
		} else {
			double x = r->from.real[at], before = real;

			real = r->is_matmul ? real * x : real + x;
			r->real[at] = r->is_exclusive ? before : real;
		}
	}
}

enum sl_status
sl__ref_running(struct sl__kernel_call *ev)
{
	struct running r = {
		.is_matmul = sl__is_op(ev->node, SL__OP_ONNX_CumProd),
		.is_exclusive = sl__attribute_int(ev->node, "exclusive", 0) !=
				0,
		.is_reverse = sl__attribute_int(ev->node, "reverse", 0) != 0,
	};
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	struct sl__axis_split a;
	int64_t axis;
	size_t n;
	const int64_t *given = sl__ref_integer_list(ev, 1, NULL, &n);

	if (ev->failure)
		return ev->failure;
	if (n != 1)
		return sl__ref_reject(ev, "its axis is not one number");
	axis = given[0];
	if (sl__axis_split_tensor(ev, &a, in, &axis) ||
	    sl__ref_output_alloc(ev, 0, in->dtype, in->rank, in->dims) ||
	    in->n_elements == 0 || elements_of(ev, 0, &r.from))
		return ev->failure;
	if (r.from.texts)
		return sl__ref_reject(ev, "strings cannot be added up");
	if (r.from.whole)
		r.whole = sl__ref_scratch_integers(ev, (int64_t)in->n_elements);
	else
		r.real = sl__ref_scratch_doubles(ev, (int64_t)in->n_elements);
	for (int64_t o = 0; !ev->failure && o < a.outer * a.inner; o++)
		run_line(&r, o / a.inner * a.size * a.inner + o % a.inner,
			 a.size, a.inner);
	return r.whole ? sl__ref_output_store_integers(ev, 0, r.whole)
		       : sl__ref_output_store_doubles(ev, 0, r.real);
}
