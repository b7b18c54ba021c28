/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_reduce.c - reductions along some axes computed.
 *
 * The input is walked once, in its order, and each element is joined into the
 * element of the output that it belongs to.  What an element becomes before,
 * how two are joined, what the result becomes after and what nothing at all
 * comes to is a row of 'reductions'; sums, products and extremes of integers
 * stay integers.
 */
#include "base/dtype.h"
#include "ops/op_row.h"
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { RANK_MOST = SL__RANK_MOST };

enum joining { SUM, PRODUCT, MOST, LEAST };
enum before { AS_IS, ABSOLUTE, SQUARE };
enum after { NOTHING, ROOT, LOGARITHM, MEAN };

/* SUMs of exponentials stand apart: they want the largest first. */
static const struct reduction {
	enum sl__op_id id;
	enum before before;
	enum joining joining;
	enum after after;
} reductions[] = {
	{SL__OP_ONNX_ReduceSum, AS_IS, SUM, NOTHING},
	{SL__OP_ONNX_ReduceMean, AS_IS, SUM, MEAN},
	{SL__OP_ONNX_ReduceProd, AS_IS, PRODUCT, NOTHING},
	{SL__OP_ONNX_ReduceMax, AS_IS, MOST, NOTHING},
	{SL__OP_ONNX_ReduceMin, AS_IS, LEAST, NOTHING},
	{SL__OP_ONNX_ReduceL1, ABSOLUTE, SUM, NOTHING},
	{SL__OP_ONNX_ReduceL2, SQUARE, SUM, ROOT},
	{SL__OP_ONNX_ReduceLogSum, AS_IS, SUM, LOGARITHM},
	{SL__OP_ONNX_ReduceSumSquare, SQUARE, SUM, NOTHING},
};

/* One reduction: n_in elements into n_out, per_out into each. */
struct job {
	const struct reduction *r;
	size_t rank;
	int64_t n_in, n_out, per_out;
	const int64_t *dims;
	int64_t steps[RANK_MOST]; /* through the output; 0 where reduced */
};

/* No axes means all, or none with noop_with_empty_axes. */
static enum sl_status
mark_axes(unsigned char *marks, struct sl__eval *ev, size_t rank)
{
	size_t n;
	const int64_t *axes = sl__ref_list(ev, 1, "axes", &n);

	memset(marks, !n && !sl__int(ev->node, "noop_with_empty_axes", 0),
	       rank);
	for (size_t i = 0; i < n; i++) {
		int axis = sl__axis(axes[i], (int)rank);

		if (axis < 0)
			return sl__ref_refuse(
				ev, "axis %lld is not one of %zu dimensions",
				(long long)axes[i], rank);
		marks[axis] = 1;
	}
	return ev->failure;
}

/* And makes the output. */
static enum sl_status
read_job(struct job *job, struct sl__eval *ev)
{
	const struct sl__tensor *x = sl__ref_tensor(ev, 0);
	int keeps = sl__int(ev->node, "keepdims", 1) != 0;
	uint64_t n_out = 1, per_out = 1; /* may wrap around beside a 0 */
	unsigned char marks[RANK_MOST];
	int64_t dims[RANK_MOST];
	size_t rank = 0;

	memset(job, 0, sizeof(*job));
	if (!x)
		return sl__ref_refuse(ev, "it lacks its input");
	if (x->rank > RANK_MOST)
		return sl__ref_refuse(ev, "more than %d dimensions", RANK_MOST);
	job->r = SL__ROW_OF(ev->node, reductions);
	job->rank = x->rank;
	job->dims = x->dims;
	job->n_in = (int64_t)x->n_elements;
	if (mark_axes(marks, ev, x->rank))
		return ev->failure;
	for (size_t d = x->rank; d-- > 0;) {
		job->steps[d] = marks[d] ? 0 : (int64_t)n_out;
		*(marks[d] ? &per_out : &n_out) *= (uint64_t)x->dims[d];
	}
	job->n_out = (int64_t)n_out;
	job->per_out = (int64_t)per_out;
	for (size_t d = 0; d < x->rank; d++) {
		if (!marks[d] || keeps)
			dims[rank++] = marks[d] ? 1 : x->dims[d];
	}
	return sl__ref_out(ev, 0, x->dtype, rank, dims);
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
join_all(const struct job *job, const double *x, double *y)
{
	const int64_t *const steps[1] = {job->steps};
	int64_t at[RANK_MOST] = {0}, to = 0;

	for (int64_t i = 0; i < job->n_out; i++)
		y[i] = nothing(job->r->joining);
	for (int64_t i = 0; i < job->n_in; i++) {
		y[to] = join(job->r->joining, y[to],
			     prepare(job->r->before, x[i]));
		sl__ref_next(at, job->rank, job->dims, &to, steps, 1);
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
		return sl__ref_is_less(a, b, !is_signed) ? b : a;
	case LEAST:
		return sl__ref_is_less(b, a, !is_signed) ? b : a;
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
reduce_whole(struct sl__eval *ev, const struct job *job)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, 0);
	const int64_t *const steps[1] = {job->steps};
	int64_t at[RANK_MOST] = {0}, to = 0;
	int is_signed = sl__dtype_is_signed(t->dtype);
	const int64_t *x = sl__ref_integers(ev, 0);
	int64_t *y = sl__ref_new_integers(ev, job->n_out);

	if (ev->failure)
		return ev->failure;
	for (int64_t i = 0; i < job->n_out; i++)
		y[i] = job->r->joining == MOST || job->r->joining == LEAST
			       ? extreme(t, job->r->joining == MOST)
			       : job->r->joining == PRODUCT;
	for (int64_t i = 0; i < job->n_in; i++) {
		y[to] = join_whole(job->r, y[to], x[i], is_signed);
		sl__ref_next(at, job->rank, job->dims, &to, steps, 1);
	}
	for (int64_t i = 0; job->r->after == MEAN && i < job->n_out; i++)
		y[i] = divide(y[i], job->per_out, is_signed);
	return sl__ref_store_integers(ev, 0, y);
}

enum sl_status
sl__ref_reduce(struct sl__eval *ev)
{
	struct job job;
	const double *x;
	double *y;

	if (read_job(&job, ev))
		return ev->failure;
	if (sl__ref_is_whole(sl__ref_dtype(ev, 0)) &&
	    (job.r->after == NOTHING || job.r->after == MEAN))
		return reduce_whole(ev, &job);
	x = sl__ref_doubles(ev, 0);
	y = sl__ref_new_doubles(ev, job.n_out);
	if (!ev->failure)
		join_all(&job, x, y);
	return sl__ref_store_doubles(ev, 0, y);
}

/* m + log(sum(exp(x - m))), where m is the largest; an m without end is not
 * subtracted. */
enum sl_status
sl__ref_reduce_log_sum_exp(struct sl__eval *ev)
{
	static const struct reduction largest = {0, AS_IS, MOST, NOTHING};
	int64_t at[RANK_MOST] = {0}, to = 0;
	struct job job;
	const int64_t *const steps[1] = {job.steps};
	const double *x = sl__ref_doubles(ev, 0);
	double *most, *y;

	if (!x || read_job(&job, ev))
		return ev->failure;
	most = sl__ref_new_doubles(ev, job.n_out);
	y = sl__ref_new_doubles(ev, job.n_out);
	if (ev->failure)
		return ev->failure;
	job.r = &largest;
	join_all(&job, x, most);
	for (int64_t i = 0; i < job.n_out; i++)
		most[i] = isfinite(most[i]) ? most[i] : 0;
	for (int64_t i = 0; i < job.n_in; i++) {
		y[to] += exp(x[i] - most[to]);
		sl__ref_next(at, job.rank, job.dims, &to, steps, 1);
	}
	for (int64_t i = 0; i < job.n_out; i++)
		y[i] = most[i] + log(y[i]);
	return sl__ref_store_doubles(ev, 0, y);
}
