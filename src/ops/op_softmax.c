/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_softmax.c - Softmax, LogSoftmax and Hardmax: lines that are weighed
 * against their largest element.
 *
 * Lines run along one axis; before version 13 they are the rows of a matrix
 * that the axis cuts the tensor into, so that they span all axes from it on.
 */
#include "ops/cost.h"
#include "ops/gradient.h"
#include "ops/ref.h"
#include "ops/ref_softmax.h"

#include <math.h>

#include "base/banned.h"

static int64_t
given_axis(const struct sl__node *node)
{
	int is_old = node->version < 13 && node->domain[0] == '\0';

	return sl__attribute_int(node, "axis", is_old ? 1 : -1);
}

enum sl_status
sl__infer_softmax(struct sl__rule_context *call)
{
	int64_t axis = given_axis(call->node);
	int rank = sl__in_rank(call, 0);

	/* Before version 13 rows may be empty of axes: of one element each. */
	if (rank > 0 && !(axis == rank && call->node->version < 13))
		sl__axis_require(call, axis, rank);
	return sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
}

/* The tensor as [outer][length][inner]; a line runs along 'length'. */
struct lines {
	int64_t outer, length, inner;
};

static struct lines
lines_of(const struct sl__node *node, int rank, const int64_t *dims)
{
	int is_old = node->version < 13 && !node->domain[0];
	int axis = sl__axis_normalize(given_axis(node), rank);
	size_t first = (size_t)(axis < 0 ? rank : axis);
	size_t end = is_old || axis < 0 ? (size_t)rank : first + 1;

	return (struct lines){sl__dims_product(dims, 0, first),
			      sl__dims_product(dims, first, end),
			      sl__dims_product(dims, end, (size_t)rank)};
}

/* Elements of one line; at least 1. */
static uint64_t
line_length(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int64_t length = lines_of(call->node, in->rank, in->dims).length;

	return length ? (uint64_t)length : 1;
}

/* exp(x - m) / sum(exp(x - m)), where m is the largest of the line: to each
 * element belongs one comparison, one subtraction, one step of the sum. */
void
sl__cost_softmax(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_SOFTMAX;
	sl__cost_add_operations(
		cost, cost->in_elements,
		SL__OPERATIONS_EACH(.cmp = 1, .exp = 1, .div = 1, .add = 2));
}

/* x - m - log(sum(exp(x - m))): no division, one logarithm a line. */
void
sl__cost_log_softmax(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements;

	cost->work = SL_WORK_SOFTMAX;
	sl__cost_add_operations(
		cost, n, SL__OPERATIONS_EACH(.cmp = 1, .exp = 1, .add = 3));
	sl__cost_add_operations(cost, n / line_length(call),
				SL__OPERATIONS_EACH(.exp = 1));
}

/* To real numbers first (subtract, multiply), and back at the end (multiply,
 * add, two limits). */
void
sl__cost_qlinear_softmax(struct sl__rule_context *call, struct sl_cost *cost)
{
	sl__cost_softmax(call, cost);
	sl__cost_add_operations(
		cost, cost->in_elements,
		SL__OPERATIONS_EACH(.mul = 2, .add = 2, .cmp = 2));
}

/* The first of the largest becomes 1, the others 0. */
void
sl__cost_hardmax(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements;

	cost->work = SL_WORK_REDUCTION;
	cost->cmp = n - n / line_length(call);
}

static double
largest(const double *x, int64_t n, int64_t step)
{
	double most = -HUGE_VAL;

	for (int64_t i = 0; i < n; i++) {
		/* Something that is not a number is kept. */
		if (!(x[i * step] <= most))
			most = isnan(most) ? most : x[i * step];
	}
	return most;
}

void
sl__softmax_line(const double *x, double *y, int64_t n, int64_t step)
{
	double most = largest(x, n, step), sum = 0;

	for (int64_t i = 0; i < n; i++) {
		y[i * step] = exp(x[i * step] - most);
		sum += y[i * step];
	}
	for (int64_t i = 0; i < n; i++)
		y[i * step] /= sum;
}

void
sl__log_softmax_line(const double *x, double *y, int64_t n, int64_t step)
{
	double most = largest(x, n, step), sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += exp(x[i * step] - most);
	for (int64_t i = 0; i < n; i++)
		y[i * step] = x[i * step] - most - log(sum);
}

/* The first of the largest is 1. */
static void
hardmax_line(const double *x, double *y, int64_t n, int64_t step)
{
	int64_t at = 0;

	for (int64_t i = 0; i < n; i++) {
		y[i * step] = 0;
		if (x[i * step] > x[at * step])
			at = i;
	}
	y[at * step] = 1;
}

/* Softmax, LogSoftmax, Hardmax. */
enum sl_status
sl__ref_softmax(struct sl__kernel_call *ev)
{
	sl__softmax_line_function *line =
		sl__is_op(ev->node, SL__OP_ONNX_LogSoftmax)
			? sl__log_softmax_line
		: sl__is_op(ev->node, SL__OP_ONNX_Hardmax) ? hardmax_line
							   : sl__softmax_line;
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	struct lines l;

	if (ev->failure)
		return ev->failure;
	l = lines_of(ev->node, (int)t->rank, t->dims);
	for (int64_t i = 0; i < l.outer * l.inner; i++) {
		int64_t at = i / l.inner * l.length * l.inner + i % l.inner;

		line(x + at, y + at, l.length, l.inner);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* SoftmaxGrad(dy, y) and its like for logarithms, along one axis; lines of old
 * versions become rows first. */
void
sl__grad_softmax(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	uint32_t y = g->node.outputs[0], dy = g->dy[0], dx;
	struct sl__type type = sl__node_writer_type(w, y);
	struct lines l = lines_of(&g->node, type.rank, type.dims);
	const int64_t dims[] = {l.outer, l.length, l.inner};
	int64_t axis = given_axis(&g->node);

	if (g->node.version < 13 && !g->node.domain[0]) {
		y = sl__node_writer_reshape(w, y, dims, 3);
		dy = sl__node_writer_reshape(w, dy, dims, 3);
		axis = 1;
	}
	sl__node_writer_set_int(w, "axis", axis);
	dx = sl__is_op(&g->node, SL__OP_ONNX_LogSoftmax)
		     ? SL__ADD_NODE(w, SLEUTH_LogSoftmaxGrad, dy, y)
		     : SL__ADD_NODE(w, SLEUTH_SoftmaxGrad, dy, y);
	g->dx[0] = sl__node_writer_reshape_like(w, dx, g->node.inputs[0]);
}

void
sl__cost_softmax_grad(struct sl__rule_context *call, struct sl_cost *cost)
{
	int is_log = sl__is_op(call->node, SL__OP_SLEUTH_LogSoftmaxGrad);

	cost->work = SL_WORK_SOFTMAX;
	sl__cost_add_operations(
		cost, cost->out_elements,
		is_log ? SL__OPERATIONS_EACH(.exp = 1, .add = 1, .fma = 1)
		       : SL__OPERATIONS_EACH(.mul = 1, .add = 1, .fma = 1));
}

/* dx = y (dy - sum(dy y)), or dy - exp(y) sum(dy) by logarithms. */
static void
softmax_grad_line(double *dx, const double *dy, const double *y,
		  const struct lines *l, int is_log)
{
	double sum = 0;

	for (int64_t i = 0; i < l->length * l->inner; i += l->inner)
		sum += dy[i] * (is_log ? 1 : y[i]);
	for (int64_t i = 0; i < l->length * l->inner; i += l->inner)
		dx[i] = is_log ? dy[i] - exp(y[i]) * sum : y[i] * (dy[i] - sum);
}

enum sl_status
sl__ref_softmax_grad(struct sl__kernel_call *ev)
{
	int is_log = sl__is_op(ev->node, SL__OP_SLEUTH_LogSoftmaxGrad);
	const double *dy = sl__ref_input_doubles(ev, 0);
	const double *y = sl__ref_input_doubles(ev, 1);
	double *dx = sl__ref_scratch_output(ev, 0);
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	struct lines l;

	if (ev->failure)
		return ev->failure;
	l = lines_of(ev->node, (int)t->rank, t->dims);
	for (int64_t i = 0; i < l.outer * l.inner; i++) {
		int64_t at = i / l.inner * l.length * l.inner + i % l.inner;

		softmax_grad_line(dx + at, dy + at, y + at, &l, is_log);
	}
	return sl__ref_output_store_doubles(ev, 0, dx);
}
