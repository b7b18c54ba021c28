/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_reduce.c - operators that join the elements along some axes: reductions,
 * the place of the largest, running sums, the k largest.
 *
 * Joining n elements into one takes n - 1 operations, so a reduction of n_in
 * elements to n_out takes n_in - n_out.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/element.h"

#include <string.h>

#include "base/banned.h"

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
find_axes(const struct sl__call *call)
{
	struct axes axes = {.is_known = 1};
	uint64_t n = 1;

	if (sl__attribute(call->node, "axes"))
		axes.n = sl__ints(call->node, "axes", &axes.values);
	else if (sl__has_in(call, 1) &&
		 sl__type_elements(sl__in(call, 1), &n) && n == 0)
		return axes;
	else if (sl__has_in(call, 1))
		axes.is_known = sl__in_integers(call, 1, &axes.values, &axes.n);
	axes.is_given = !axes.is_known || axes.n > 0;
	return axes;
}

/*
 * Sets marks[d] to 1 for each axis that is reduced.  No axes means all of
 * them, or none with noop_with_empty_axes.
 */
static enum sl_status
mark_axes(const struct sl__call *call, const struct axes *axes, int rank,
	  int64_t *marks, struct sl_error *err)
{
	int is_noop = sl__int(call->node, "noop_with_empty_axes", 0) != 0;

	for (int d = 0; d < rank; d++)
		marks[d] = !axes->is_given && !is_noop;
	for (size_t i = 0; i < axes->n; i++) {
		int axis = sl__axis(axes->values[i], rank);

		if (axis < 0)
			return sl__refuse(err,
					  "axis %lld is not one of %d "
					  "dimensions",
					  (long long)axes->values[i], rank);
		marks[axis] = 1;
	}
	return SL_OK;
}

/* Input 0 without the marked axes, or with 1 in their place. */
static enum sl_status
out_reduced(const struct sl__call *call, enum sl_dtype dtype,
	    const int64_t *marks, struct sl_error *err)
{
	const struct sl__type *in = sl__in(call, 0);
	int keeps = sl__int(call->node, "keepdims", 1) != 0;
	int64_t *dims = sl__new_sizes(call, (size_t)in->rank);
	int rank = 0;

	if (!dims)
		return sl__fail_nomem(err);
	for (int d = 0; d < in->rank; d++) {
		if (!marks[d] || keeps)
			dims[rank++] = marks[d] ? 1 : in->dims[d];
	}
	return sl__out(call, 0, dtype, rank, dims, err);
}

/* Which axes is not known, but perhaps how many remain; and a dimension of 1
 * that is kept stays 1. */
static enum sl_status
out_some_axes(const struct sl__call *call, enum sl_dtype dtype,
	      struct sl_error *err)
{
	const struct sl__type *in = sl__in(call, 0), *axes = sl__in(call, 1);
	int keeps = sl__int(call->node, "keepdims", 1) != 0;
	int64_t rank = in->rank;
	int64_t *dims;

	if (!keeps) {
		if (!axes || axes->rank != 1 || axes->dims[0] <= 0 ||
		    axes->dims[0] > rank)
			return sl__out_unknown(call, 0, dtype,
					       "depends on the axes", err);
		rank -= axes->dims[0];
	}
	dims = sl__new_sizes(call, (size_t)rank);
	if (!dims)
		return sl__fail_nomem(err);
	for (int64_t d = 0; d < rank; d++) {
		dims[d] = 1;
		if (!keeps || in->dims[d] != 1)
			dims[d] = sl__size_unknown(call->shapes);
		if (dims[d] == -1)
			return sl__fail_nomem(err);
	}
	return sl__out(call, 0, dtype, (int)rank, dims, err);
}

enum sl_status
sl__infer_reduce(const struct sl__call *call, struct sl_error *err)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct axes axes = find_axes(call);
	int rank = sl__in_rank(call, 0);
	enum sl_status rc;
	int64_t *marks;

	if (rank < 0)
		return sl__out(call, 0, dtype, -1, NULL, err);
	if (!axes.is_known)
		return out_some_axes(call, dtype, err);
	marks = sl__new_sizes(call, (size_t)rank);
	if (!marks)
		return sl__fail_nomem(err);
	rc = mark_axes(call, &axes, rank, marks, err);
	return rc ? rc : out_reduced(call, dtype, marks, err);
}

/* The axis that the node names, in *axis; -1 where the rank is not known. */
static enum sl_status
one_axis(const struct sl__call *call, int64_t otherwise, int *axis,
	 struct sl_error *err)
{
	int64_t given = sl__int(call->node, "axis", otherwise);
	int rank = sl__in_rank(call, 0);

	*axis = rank < 0 ? -1 : sl__axis(given, rank);
	if (rank >= 0 && *axis < 0)
		return sl__refuse(err, "axis %lld is not one of %d dimensions",
				  (long long)given, rank);
	return SL_OK;
}

enum sl_status
sl__infer_arg_reduce(const struct sl__call *call, struct sl_error *err)
{
	int64_t *marks;
	int axis;
	enum sl_status rc = one_axis(call, 0, &axis, err);

	if (rc)
		return rc;
	if (axis < 0)
		return sl__out(call, 0, SL_DTYPE_I64, -1, NULL, err);
	marks = sl__new_sizes(call, (size_t)sl__in_rank(call, 0));
	if (!marks)
		return sl__fail_nomem(err);
	marks[axis] = 1;
	return out_reduced(call, SL_DTYPE_I64, marks, err);
}

/* How many are kept: an attribute before version 10, then an input. */
static enum sl_status
find_k(const struct sl__call *call, int64_t *k, struct sl_error *err)
{
	const struct sl__known *known = sl__in_known(call, 1);

	*k = sl__int(call->node, "k", -1);
	if (call->node->version < 10 || !sl__has_in(call, 1))
		return *k < 0 ? sl__refuse(err, "k is %lld", (long long)*k)
			      : SL_OK;
	if (known && known->ints && known->n == 1) {
		*k = known->ints[0];
		return SL_OK;
	}
	*k = sl__size_unknown(call->shapes);
	return *k == -1 ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__infer_topk(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *in = sl__in(call, 0);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int64_t k, *dims = NULL;
	int axis, rank = sl__in_rank(call, 0);
	enum sl_status rc = one_axis(call, -1, &axis, err);

	if (!rc)
		rc = find_k(call, &k, err);
	if (rc)
		return rc;
	if (axis >= 0) {
		if (!sl__is_symbol(k) && !sl__is_symbol(in->dims[axis]) &&
		    (k < 0 || k > in->dims[axis]))
			return sl__refuse(
				err, "the %lld largest of %lld elements",
				(long long)k, (long long)in->dims[axis]);
		dims = sl__new_sizes(call, (size_t)rank);
		if (!dims)
			return sl__fail_nomem(err);
		memcpy(dims, in->dims, (size_t)rank * sizeof(*dims));
		dims[axis] = k;
	}
	rc = sl__out(call, 0, dtype, rank, dims, err);
	return rc ? rc : sl__out(call, 1, SL_DTYPE_I64, rank, dims, err);
}

struct joining {
	sl__element_function *join;
	int is_possible; /* of no elements at all: 'none' */
	int64_t none;
};

static struct joining
joining_of(const struct sl__node *node)
{
	struct joining j = {0};

	if (sl__is_op(node, SL__OP_ONNX_ReduceSum))
		j = (struct joining){sl__element_add, 1, 0};
	else if (sl__is_op(node, SL__OP_ONNX_ReduceProd))
		j = (struct joining){sl__element_mul, 1, 1};
	else if (sl__is_op(node, SL__OP_ONNX_ReduceMax))
		j = (struct joining){sl__element_max, 0, 0};
	else if (sl__is_op(node, SL__OP_ONNX_ReduceMin))
		j = (struct joining){sl__element_min, 0, 0};
	return j;
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
static enum sl__follows
join_all(const struct sl__call *call, const struct sl__known *known,
	 const int64_t *marks, const struct joining *j,
	 struct sl__element *sums)
{
	const struct sl__type *in = sl__in(call, 0);
	enum sl__follows follows = SL__FOLLOWS;

	for (size_t i = 0; follows == SL__FOLLOWS && i < known->n; i++) {
		struct sl__element *sum = &sums[target_of(in, marks, i)];
		struct sl__element so_far = *sum;
		struct sl__element e = sl__element_at(known, i);

		*sum = e;
		if (so_far.kind)
			follows = j->join(call->shapes, &so_far, &e, sum);
	}
	return follows;
}

static enum sl_status
fold_sums(const struct sl__call *call, const struct sl__known *known,
	  const struct joining *j, size_t n_out, struct sl_error *err)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct axes axes = find_axes(call);
	int rank = sl__in_rank(call, 0);
	int64_t *marks = sl__new_sizes(call, (size_t)rank);
	int64_t *ints = sl__new_sizes(call, n_out);
	struct sl__element *sums =
		sl__arena_array(&call->shapes->arena, n_out, sizeof(*sums));
	enum sl__follows follows;
	enum sl_status rc;

	if (!marks || !ints || !sums)
		return sl__fail_nomem(err);
	rc = mark_axes(call, &axes, rank, marks, err);
	if (rc)
		return rc;
	follows = join_all(call, known, marks, j, sums);
	for (size_t i = 0; follows == SL__FOLLOWS && i < n_out; i++) {
		if (!sums[i].kind && !j->is_possible)
			return SL_OK;
		if (!sums[i].kind)
			sums[i] = sl__element_whole(j->none);
		follows = sl__element_convert(call->shapes, &sums[i], dtype);
		ints[i] = sums[i].whole;
	}
	if (follows == SL__FOLLOWS_NO_MEMORY)
		return sl__fail_nomem(err);
	return follows == SL__FOLLOWS
		       ? sl__out_known(call, 0, ints, NULL, n_out, err)
		       : SL_OK;
}

/* Sums, products and extremes of integers: the number of elements. */
enum sl_status
sl__fold_reduce(const struct sl__call *call, struct sl_error *err)
{
	struct joining j = joining_of(call->node);
	const struct sl__known *known;
	uint64_t n_in, n_out;

	if (!j.join || call->node->n_outputs == 0 ||
	    call->node->outputs[0] == SL__NONE ||
	    sl__dtype_family(sl__in_dtype(call, 0)) != SL__DTYPE_INTEGER ||
	    !find_axes(call).is_known)
		return SL_OK;
	known = sl__in_known(call, 0);
	if (!known || !known->ints ||
	    !sl__type_elements(sl__in(call, 0), &n_in) || n_in != known->n ||
	    !sl__type_elements(&call->shapes->types[call->node->outputs[0]],
			       &n_out) ||
	    n_out > SL__KNOWN_MOST)
		return SL_OK;
	return fold_sums(call, known, &j, (size_t)n_out, err);
}

/* Per element that goes in, per joining of two, per element that comes out. */
static const struct per_reduction {
	struct {
		uint8_t mul, add, exp, cmp;
	} in;
	struct {
		uint8_t mul, add, cmp;
	} join;
	struct {
		uint8_t add, div, exp;
	} out;
} reductions[SL__N_OPS] = {
	[SL__OP_ONNX_ReduceL1] = {.in = {.cmp = 1}, .join = {.add = 1}},
	[SL__OP_ONNX_ReduceL2] = {.in = {.mul = 1},
				  .join = {.add = 1},
				  .out = {.exp = 1}},
	[SL__OP_ONNX_ReduceLogSum] = {.join = {.add = 1}, .out = {.exp = 1}},
	/* m + log(sum(exp(x - m))), where m is the largest */
	[SL__OP_ONNX_ReduceLogSumExp] = {.in = {.add = 1, .exp = 1},
					 .join = {.add = 1, .cmp = 1},
					 .out = {.add = 1, .exp = 1}},
	[SL__OP_ONNX_ReduceMax] = {.join = {.cmp = 1}},
	[SL__OP_ONNX_ReduceMean] = {.join = {.add = 1}, .out = {.div = 1}},
	[SL__OP_ONNX_ReduceMin] = {.join = {.cmp = 1}},
	[SL__OP_ONNX_ReduceProd] = {.join = {.mul = 1}},
	[SL__OP_ONNX_ReduceSum] = {.join = {.add = 1}},
	[SL__OP_ONNX_ReduceSumSquare] = {.in = {.mul = 1}, .join = {.add = 1}},
};

/* Exporters write average pooling to size 1 as a mean over both axes of an
 * image. */
static int
is_pool(const struct sl__call *call)
{
	struct axes axes = find_axes(call);
	int64_t marks[4];

	return sl__is_op(call->node, SL__OP_ONNX_ReduceMean) &&
	       sl__in_rank(call, 0) == 4 &&
	       !mark_axes(call, &axes, 4, marks, NULL) && !marks[0] &&
	       !marks[1] && marks[2] && marks[3];
}

void
sl__cost_reduce(const struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n_in = cost->in_elements, n_out = cost->out_elements;
	uint64_t n_joins = n_in > n_out ? n_in - n_out : 0;
	const struct per_reduction *r = &reductions[call->node->op - sl__ops];

	cost->work = is_pool(call) ? SL_WORK_ADAPTIVE_POOL : SL_WORK_REDUCTION;
	cost->mul = sl__plus(sl__times(n_in, r->in.mul),
			     sl__times(n_joins, r->join.mul));
	cost->add = sl__plus(sl__plus(sl__times(n_in, r->in.add),
				      sl__times(n_joins, r->join.add)),
			     sl__times(n_out, r->out.add));
	cost->div = sl__times(n_out, r->out.div);
	cost->exp = sl__plus(sl__times(n_in, r->in.exp),
			     sl__times(n_out, r->out.exp));
	cost->cmp = sl__plus(sl__times(n_in, r->in.cmp),
			     sl__times(n_joins, r->join.cmp));
}

void
sl__cost_arg_reduce(const struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_REDUCTION;
	cost->cmp = cost->in_elements > cost->out_elements
			    ? cost->in_elements - cost->out_elements
			    : 0;
}

/* Elements less the first of each line along 'axis'. */
static uint64_t
joins_along(const struct sl__call *call, int axis)
{
	uint64_t n = sl__in_elements(call, 0);
	uint64_t length = axis < 0 ? n : sl__in_dim(call, 0, axis);

	return length ? n - n / length : 0;
}

/* Where the axis is not known, one line is the most that it can be. */
void
sl__cost_running(const struct sl__call *call, struct sl_cost *cost)
{
	const int64_t *axis;
	size_t n_axes;
	uint64_t n = joins_along(call, -1);

	cost->work = SL_WORK_REDUCTION;
	if (sl__in_integers(call, 1, &axis, &n_axes) && n_axes == 1) {
		n = joins_along(call, sl__axis(*axis, sl__in_rank(call, 0)));
	} else {
		cost->basis = SL_BASIS_ESTIMATED;
		cost->why = "the axis depends on data";
	}
	if (sl__is_op(call->node, SL__OP_ONNX_CumProd))
		cost->mul = n;
	else
		cost->add = n;
}

/* A heap of the k best so far: each element is compared with its root and
 * may sink to its foot, ceil(log2 k) levels below. */
void
sl__cost_topk(const struct sl__call *call, struct sl_cost *cost)
{
	int axis =
		sl__axis(sl__int(call->node, "axis", -1), sl__in_rank(call, 0));
	uint64_t k = axis < 0 ? 1 : sl__out_dim(call, 0, axis);
	uint64_t n_levels = 0;

	while (n_levels < 63 && UINT64_C(1) << n_levels < k)
		n_levels++;
	cost->cmp = sl__times(cost->in_elements, 1 + n_levels);
	cost->basis = SL_BASIS_ESTIMATED;
	cost->why = "comparisons depend on data: a heap of k at its worst";
}
