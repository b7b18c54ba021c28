/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_reduce.c - operators that join the elements along some axes.
 *
 * Joining n elements into one takes n - 1 operations, so a reduction of n_in
 * elements to n_out takes n_in - n_out.
 *
 * Computed, the input is walked once, in its order, and each element is joined
 * into the element of the output that it belongs to.  What an element becomes
 * before, how two are joined, what the result becomes after and what nothing
 * at all comes to is a row of 'reductions'; sums, products and extremes of
 * integers stay integers.
 */
#include "base/dtype.h"
#include "ops/cost.h"
#include "ops/element.h"
#include "ops/list_input.h"
#include "ops/op_row.h"
#include "ops/ref_move.h"
#include "ops/ref_rules.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum joining { SUM, PRODUCT, MOST, LEAST };
enum before { AS_IS, ABSOLUTE, SQUARE };
enum after { NOTHING, ROOT, LOGARITHM, MEAN };

/* And what it costs: per element that goes in, per joining of two, per element
 * that comes out. */
static const struct reduction {
	enum sl__op_id id;
	enum before before;
	enum joining joining;
	enum after after;
	struct sl__operations_each per_in, per_join, per_out;
} reductions[] = {
	{SL__OP_ONNX_ReduceSum, AS_IS, SUM, NOTHING, .per_join = {.add = 1}},
	{SL__OP_ONNX_ReduceMean, AS_IS, SUM, MEAN, .per_join = {.add = 1},
	 .per_out = {.div = 1}},
	{SL__OP_ONNX_ReduceProd, AS_IS, PRODUCT, NOTHING,
	 .per_join = {.mul = 1}},
	{SL__OP_ONNX_ReduceMax, AS_IS, MOST, NOTHING, .per_join = {.cmp = 1}},
	{SL__OP_ONNX_ReduceMin, AS_IS, LEAST, NOTHING, .per_join = {.cmp = 1}},
	{SL__OP_ONNX_ReduceL1, ABSOLUTE, SUM, NOTHING, .per_in = {.cmp = 1},
	 .per_join = {.add = 1}},
	{SL__OP_ONNX_ReduceL2, SQUARE, SUM, ROOT, .per_in = {.mul = 1},
	 .per_join = {.add = 1}, .per_out = {.exp = 1}},
	{SL__OP_ONNX_ReduceLogSum, AS_IS, SUM, LOGARITHM,
	 .per_join = {.add = 1}, .per_out = {.exp = 1}},
	/* m + log(sum(exp(x - m))), where m is the largest */
	{SL__OP_ONNX_ReduceLogSumExp, AS_IS, SUM, LOGARITHM,
	 .per_in = {.add = 1, .exp = 1}, .per_join = {.add = 1, .cmp = 1},
	 .per_out = {.add = 1, .exp = 1}},
	{SL__OP_ONNX_ReduceSumSquare, SQUARE, SUM, NOTHING,
	 .per_in = {.mul = 1}, .per_join = {.add = 1}},
};

/* What a reduction reduces, as far as it is known. */
struct axes {
	int is_known;
	int is_given; /* an empty list counts as none */
	const int64_t *values;
	size_t n; /* where known */
};

/* An attribute in old versions, an input in new ones.  Of an input without
 * elements all is known. */
static struct axes
find_axes(struct sl__rule_context *call)
{
	struct axes axes = {.is_known = 1};
	uint64_t n = 1;

	if (sl__attribute_find(call->node, "axes"))
		axes.n = sl__attribute_ints(call->node, "axes", &axes.values);
	else if (sl__has_in(call, 1) &&
		 sl__type_elements(sl__in_type(call, 1), &n) && n == 0)
		return axes;
	else if (sl__has_in(call, 1))
		axes.is_known = sl__in_integers(call, 1, &axes.values, &axes.n);
	axes.is_given = !axes.is_known || axes.n > 0;
	return axes;
}

/*
 * marks[d] is 1 for each axis that is reduced; NULL where one is refused.  No
 * axes means all of them, or none with noop_with_empty_axes.
 */
static int64_t *
mark_axes(struct sl__rule_context *call, const struct axes *axes)
{
	int is_noop =
		sl__attribute_int(call->node, "noop_with_empty_axes", 0) != 0;
	int rank = sl__in_rank(call, 0);
	int64_t *marks = sl__sizes_alloc(call, (size_t)rank);

	for (int d = 0; marks && d < rank; d++)
		marks[d] = !axes->is_given && !is_noop;
	for (size_t i = 0; !call->failure && i < axes->n; i++) {
		int axis = sl__axis_require(call, axes->values[i], rank);

		if (axis >= 0)
			marks[axis] = 1;
	}
	return call->failure ? NULL : marks;
}

/* Input 0 without the marked axes, or with 1 in their place. */
static enum sl_status
out_reduced(struct sl__rule_context *call, enum sl_dtype dtype,
	    const int64_t *marks)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int keeps = sl__attribute_int(call->node, "keepdims", 1) != 0;
	int64_t *dims = sl__sizes_alloc(call, (size_t)in->rank);
	int rank = 0;

	for (int d = 0; !call->failure && d < in->rank; d++) {
		if (!marks[d] || keeps)
			dims[rank++] = marks[d] ? 1 : in->dims[d];
	}
	return sl__out_set_shape(call, 0, dtype, rank, dims);
}

/* Which axes is not known, but perhaps how many remain; and a dimension of 1
 * that is kept stays 1. */
static enum sl_status
out_some_axes(struct sl__rule_context *call, enum sl_dtype dtype)
{
	const struct sl__type *in = sl__in_type(call, 0),
			      *axes = sl__in_type(call, 1);
	int keeps = sl__attribute_int(call->node, "keepdims", 1) != 0;
	int64_t rank = in->rank;
	int64_t *dims;

	if (!keeps) {
		if (!axes || axes->rank != 1 || axes->dims[0] <= 0 ||
		    axes->dims[0] > rank)
			return sl__out_set_unknown_shape(call, 0, dtype,
							 "depends on the axes");
		rank -= axes->dims[0];
	}
	dims = sl__sizes_alloc(call, (size_t)rank);
	for (int64_t d = 0; dims && d < rank; d++)
		dims[d] = keeps && in->dims[d] == 1
				  ? 1
				  : sl__size_new_unknown(call->shapes);
	return sl__out_set_shape(call, 0, dtype, (int)rank, dims);
}

enum sl_status
sl__infer_reduce(struct sl__rule_context *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct axes axes = find_axes(call);

	if (sl__in_rank(call, 0) < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (!axes.is_known)
		return out_some_axes(call, dtype);
	return out_reduced(call, dtype, mark_axes(call, &axes));
}

/* The element of the output that element i of the input goes into. */
static size_t
target_of(const struct sl__type *in, const int64_t *marks, size_t i)
{
	size_t at = 0, stride = 1;

	for (int d = in->rank - 1; d >= 0; d--) {
		size_t size = (size_t)in->dims[d];

		if (!marks[d]) {
			at += i % size * stride;
			stride *= size;
		}
		i /= size;
	}
	return at;
}

/* Joins all of 'known' into sums[], whose elements are absent at first. */
static enum sl__fold_outcome
fold_all(struct sl__rule_context *call, const struct sl__known_contents *known,
	 const int64_t *marks, sl__element_function *join_two,
	 struct sl__known_element *sums)
{
	const struct sl__type *in = sl__in_type(call, 0);
	enum sl__fold_outcome follows = SL__FOLD_OUTCOME_KNOWN;

	for (size_t i = 0; follows == SL__FOLD_OUTCOME_KNOWN && i < known->n;
	     i++) {
		struct sl__known_element *sum = &sums[target_of(in, marks, i)];
		struct sl__known_element so_far = *sum;
		struct sl__known_element e = sl__known_element_at(known, i);

		*sum = e;
		if (so_far.kind)
			follows = join_two(call->shapes, &so_far, &e, sum);
	}
	return follows;
}

static enum sl_status
fold_sums(struct sl__rule_context *call, const struct sl__known_contents *known,
	  enum joining joining, size_t n_out)
{
	static sl__element_function *const functions[] = {
		[SUM] = sl__element_add,
		[PRODUCT] = sl__element_mul,
		[MOST] = sl__element_max,
		[LEAST] = sl__element_min};
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct axes axes = find_axes(call);
	int64_t *marks = mark_axes(call, &axes);
	int64_t *ints = sl__sizes_alloc(call, n_out);
	struct sl__known_element *sums =
		sl__arena_array(&call->shapes->arena, n_out, sizeof(*sums));
	enum sl__fold_outcome follows;

	if (!sums)
		sl__rule_nomem(call);
	if (call->failure)
		return call->failure;
	follows = fold_all(call, known, marks, functions[joining], sums);
	for (size_t i = 0; follows == SL__FOLD_OUTCOME_KNOWN && i < n_out;
	     i++) {
		/* Of no elements there is a sum and a product. */
		if (!sums[i].kind && joining != SUM && joining != PRODUCT)
			return SL_OK;
		if (!sums[i].kind)
			sums[i] = sl__element_from_integer(joining == PRODUCT);
		follows = sl__element_convert(call->shapes, &sums[i], dtype);
		ints[i] = sums[i].whole;
	}
	if (follows == SL__FOLD_OUTCOME_NO_MEMORY)
		return sl__rule_nomem(call);
	return follows == SL__FOLD_OUTCOME_KNOWN
		       ? sl__out_set_known_contents(call, 0, ints, NULL, n_out)
		       : SL_OK;
}

/* Sums, products and extremes of integers: the number of elements. */
enum sl_status
sl__fold_reduce(struct sl__rule_context *call)
{
	const struct reduction *r = SL__OP_ROW_OF(call->node, reductions);
	const struct sl__known_contents *known = sl__in_known_contents(call, 0);
	const struct sl__type *out = sl__out_type_or_null(call, 0);
	uint64_t n_in, n_out;

	if (r->before != AS_IS || r->after != NOTHING || !known ||
	    !known->ints || !out || !find_axes(call).is_known ||
	    sl__dtype_family(sl__in_dtype(call, 0)) != SL__DTYPE_INTEGER ||
	    !sl__type_elements(sl__in_type(call, 0), &n_in) ||
	    n_in != known->n || !sl__type_elements(out, &n_out) ||
	    n_out > SL__KNOWN_MOST)
		return SL_OK;
	return fold_sums(call, known, r->joining, (size_t)n_out);
}

/* Exporters write average pooling to size 1 as a mean over both axes of an
 * image. */
static int
is_pool(struct sl__rule_context *call)
{
	struct axes axes = find_axes(call);
	int64_t *marks;

	if (!sl__is_op(call->node, SL__OP_ONNX_ReduceMean) ||
	    sl__in_rank(call, 0) != 4)
		return 0;
	marks = mark_axes(call, &axes);
	return marks && !marks[0] && !marks[1] && marks[2] && marks[3];
}

void
sl__cost_reduce(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n_in = cost->in_elements, n_out = cost->out_elements;
	const struct reduction *r = SL__OP_ROW_OF(call->node, reductions);

	cost->work = is_pool(call) ? SL_WORK_ADAPTIVE_POOL : SL_WORK_REDUCTION;
	sl__cost_add_operations(cost, n_in, r->per_in);
	sl__cost_add_operations(cost, n_in > n_out ? n_in - n_out : 0,
				r->per_join);
	sl__cost_add_operations(cost, n_out, r->per_out);
}

/* One reduction: n_in elements into n_out, per_out into each. */
struct job {
	const struct reduction *r;
	int64_t n_in, n_out, per_out;
	struct sl__strided_iterator
		w; /* the input; it steps through the output */
};

/* And makes the output. */
static enum sl_status
read_job(struct job *job, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_require_tensor(ev, 0);
	int keeps = sl__attribute_int(ev->node, "keepdims", 1) != 0;
	uint64_t n_out = 1, per_out = 1; /* may wrap around beside a 0 */
	int64_t dims[SL__RANK_MOST];
	const int64_t *marks;
	struct sl__ref_rule_view v;
	struct axes axes;
	size_t rank = 0;

	if (!x)
		return ev->failure;
	job->r = SL__OP_ROW_OF(ev->node, reductions);
	sl__strided_iterator_begin(&job->w, x->rank, x->dims);
	job->w.n = 1;
	job->n_in = (int64_t)x->n_elements;
	if (sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	axes = find_axes(&v.call);
	if (!axes.is_known)
		sl__rule_reject(&v.call, "its axes are no list of numbers");
	marks = mark_axes(&v.call, &axes);
	if (sl__ref_rule_view_end(&v, ev))
		return ev->failure;
	for (size_t d = x->rank; d-- > 0;) {
		job->w.strides[0][d] = marks[d] ? 0 : (int64_t)n_out;
		*(marks[d] ? &per_out : &n_out) *= (uint64_t)x->dims[d];
	}
	job->n_out = (int64_t)n_out;
	job->per_out = (int64_t)per_out;
	for (size_t d = 0; d < x->rank; d++) {
		if (!marks[d] || keeps)
			dims[rank++] = marks[d] ? 1 : x->dims[d];
	}
	return sl__ref_output_alloc(ev, 0, x->dtype, rank, dims);
}

static double
nothing(enum joining joining)
{
	switch (joining) {
	case PRODUCT:
		return 1;
	case MOST:
		return -HUGE_VAL;
	case LEAST:
		return HUGE_VAL;
	case SUM:
		break;
	}
	return 0;
}

static double
prepare(enum before before, double x)
{
	switch (before) {
	case ABSOLUTE:
		return fabs(x);
	case SQUARE:
		return x * x;
	case AS_IS:
		break;
	}
	return x;
}

/* What is not a number stays so. */
static double
join(enum joining joining, double a, double b)
{
	switch (joining) {
	case PRODUCT:
		return a * b;
	case MOST:
		return isnan(a) || a > b ? a : b;
	case LEAST:
		return isnan(a) || a < b ? a : b;
	case SUM:
		break;
	}
	return a + b;
}

static double
finish(enum after after, double x, int64_t n)
{
	switch (after) {
	case ROOT:
		return sqrt(x);
	case LOGARITHM:
		return log(x);
	case MEAN:
		return x / (double)n;
	case NOTHING:
		break;
	}
	return x;
}

static void
join_all(struct job *job, const double *x, double *y)
{
	for (int64_t i = 0; i < job->n_out; i++)
		y[i] = nothing(job->r->joining);
	for (int64_t i = 0; i < job->n_in; i++) {
		double *to = &y[job->w.offsets[0]];

		*to = join(job->r->joining, *to, prepare(job->r->before, x[i]));
		sl__strided_iterator_next(&job->w);
	}
	for (int64_t i = 0; i < job->n_out; i++)
		y[i] = finish(job->r->after, y[i], job->per_out);
}

/* The extremes of a type, as the words that its numbers are. */
static int64_t
extreme(const struct sl__tensor *t, int is_least)
{
	unsigned bits = 8;
	uint64_t n_bytes;

	if (t->dtype == SL_DTYPE_BOOL)
		return !is_least;
	if (sl__dtype_bytes(&n_bytes, t->dtype, 8) && n_bytes <= 64)
		bits = (unsigned)n_bytes; /* 8 elements: bits of one */
	if (!sl__dtype_is_signed(t->dtype))
		return is_least     ? 0
		       : bits == 64 ? -1
				    : (int64_t)((UINT64_C(1) << bits) - 1);
	return is_least ? -(int64_t)(UINT64_C(1) << (bits - 2)) * 2
			: (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
}

static int64_t
join_whole(const struct reduction *r, int64_t a, int64_t b, int is_signed)
{
	uint64_t x = (uint64_t)b;

	if (r->before == SQUARE)
		x *= x;
	if (r->before == ABSOLUTE && is_signed && b < 0)
		x = 0 - x;
	switch (r->joining) {
	case PRODUCT:
		return (int64_t)((uint64_t)a * x);
	case MOST:
		return sl__ref_integer_is_less(a, b, !is_signed) ? b : a;
	case LEAST:
		return sl__ref_integer_is_less(b, a, !is_signed) ? b : a;
	case SUM:
		break;
	}
	return (int64_t)((uint64_t)a + x);
}

/* A mean is cut towards 0. */
static int64_t
divide(int64_t sum, int64_t n, int is_signed)
{
	if (n == 0)
		return 0;
	return is_signed ? sum / n : (int64_t)((uint64_t)sum / (uint64_t)n);
}

static enum sl_status
reduce_whole(struct sl__kernel_call *ev, struct job *job)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	int is_signed = sl__dtype_is_signed(t->dtype);
	const int64_t *x = sl__ref_input_integers(ev, 0);
	int64_t *y = sl__ref_scratch_integers(ev, job->n_out);

	if (ev->failure)
		return ev->failure;
	for (int64_t i = 0; i < job->n_out; i++)
		y[i] = job->r->joining == MOST || job->r->joining == LEAST
			       ? extreme(t, job->r->joining == MOST)
			       : job->r->joining == PRODUCT;
	for (int64_t i = 0; i < job->n_in; i++) {
		int64_t *to = &y[job->w.offsets[0]];

		*to = join_whole(job->r, *to, x[i], is_signed);
		sl__strided_iterator_next(&job->w);
	}
	for (int64_t i = 0; job->r->after == MEAN && i < job->n_out; i++)
		y[i] = divide(y[i], job->per_out, is_signed);
	return sl__ref_output_store_integers(ev, 0, y);
}

enum sl_status
sl__ref_reduce(struct sl__kernel_call *ev)
{
	struct job job;
	const double *x;
	double *y;

	if (read_job(&job, ev))
		return ev->failure;
	if (sl__ref_dtype_is_integer(sl__ref_input_dtype(ev, 0)) &&
	    (job.r->after == NOTHING || job.r->after == MEAN))
		return reduce_whole(ev, &job);
	x = sl__ref_input_doubles(ev, 0);
	y = sl__ref_scratch_doubles(ev, job.n_out);
	if (!ev->failure)
		join_all(&job, x, y);
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* m + log(sum(exp(x - m))), where m is the largest; an m without end is not
 * subtracted. */
enum sl_status
sl__ref_reduce_log_sum_exp(struct sl__kernel_call *ev)
{
	static const struct reduction largest = {.joining = MOST};
	struct job job;
	const double *x = sl__ref_input_doubles(ev, 0);
	double *most, *y;

	if (!x || read_job(&job, ev))
		return ev->failure;
	most = sl__ref_scratch_doubles(ev, job.n_out);
	y = sl__ref_scratch_doubles(ev, job.n_out);
	if (ev->failure)
		return ev->failure;
	job.r = &largest;
	join_all(&job, x, most);
	for (int64_t i = 0; i < job.n_out; i++)
		most[i] = isfinite(most[i]) ? most[i] : 0;
	for (int64_t i = 0; i < job.n_in; i++) {
		int64_t to = job.w.offsets[0];

		y[to] += exp(x[i] - most[to]);
		sl__strided_iterator_next(&job.w);
	}
	for (int64_t i = 0; i < job.n_out; i++)
		y[i] = most[i] + log(y[i]);
	return sl__ref_output_store_doubles(ev, 0, y);
}
