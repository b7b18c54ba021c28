/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_softmax.c - Softmax, LogSoftmax and Hardmax computed.
 *
 * The tensor is [outer][length][inner], and a line runs along 'length'.
 * Before version 13 a line spans all axes from the given one on.
 */
#include "ops/ref_softmax.h"
#include "ops/ref.h"

#include <math.h>

#include "base/banned.h"

struct lines {
	int64_t outer, length, inner;
};

static enum sl_status
read_lines(struct lines *l, struct sl__eval *ev)
{
	const struct sl__tensor *x = sl__ref_tensor(ev, 0);
	int is_old = ev->node->version < 13;
	int64_t given = sl__int(ev->node, "axis", is_old ? 1 : -1);
	size_t axis, end;

	*l = (struct lines){1, 1, 1};
	if (x->rank == 0)
		return SL_OK;
	axis = is_old && given == (int64_t)x->rank
		       ? x->rank
		       : (size_t)sl__axis(given, (int)x->rank);
	if (axis > x->rank)
		return sl__ref_refuse(ev, "no axis %lld", (long long)given);
	end = is_old || axis == x->rank ? x->rank : axis + 1;
	l->outer = sl__ref_product(x->dims, 0, axis);
	l->length = sl__ref_product(x->dims, axis, end);
	l->inner = sl__ref_product(x->dims, end, x->rank);
	return SL_OK;
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
sl__ref_softmax(struct sl__eval *ev)
{
	sl__line_function *line = sl__is_op(ev->node, SL__OP_ONNX_LogSoftmax)
					  ? sl__log_softmax_line
				  : sl__is_op(ev->node, SL__OP_ONNX_Hardmax)
					  ? hardmax_line
					  : sl__softmax_line;
	const double *x = sl__ref_doubles(ev, 0);
	double *y = sl__ref_new_output(ev, 0);
	struct lines l;

	if (ev->failure || read_lines(&l, ev))
		return ev->failure;
	for (int64_t i = 0; i < l.outer * l.inner; i++) {
		int64_t at = i / l.inner * l.length * l.inner + i % l.inner;

		line(x + at, y + at, l.length, l.inner);
	}
	return sl__ref_store_doubles(ev, 0, y);
}
