/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_softmax.c - Softmax, LogSoftmax and Hardmax: lines that are weighed
 * against their largest element.
 *
 * Lines run along one axis; before version 13 they are the rows of a matrix
 * that the axis cuts the tensor into, so that they span all axes from it on.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include "base/banned.h"

static int64_t
given_axis(const struct sl__node *node)
{
	int is_old = node->version < 13 && node->domain[0] == '\0';

	return sl__int(node, "axis", is_old ? 1 : -1);
}

enum sl_status
sl__infer_softmax(struct sl__call *call)
{
	int64_t axis = given_axis(call->node);
	int rank = sl__in_rank(call, 0);

	/* Before version 13 rows may be empty of axes: of one element each. */
	if (rank > 0 && !(axis == rank && call->node->version < 13))
		sl__need_axis(call, axis, rank);
	return sl__out_like(call, 0, 0, SL_DTYPE_NONE);
}

/* Elements of one line; at least 1. */
static uint64_t
line_length(struct sl__call *call)
{
	int is_old = call->node->version < 13 && !call->node->domain[0];
	int rank = sl__in_rank(call, 0);
	int axis = sl__axis(given_axis(call->node), rank);
	int end = is_old ? rank : axis + 1;
	uint64_t length = 1;

	for (int d = axis < 0 ? end : axis; d < end; d++)
		length = sl__times(length, sl__in_dim(call, 0, d));
	return length ? length : 1;
}

/* exp(x - m) / sum(exp(x - m)), where m is the largest of the line: to each
 * element belongs one comparison, one subtraction, one step of the sum. */
void
sl__cost_softmax(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_SOFTMAX;
	sl__count(cost, cost->in_elements,
		  SL__PER(.cmp = 1, .exp = 1, .div = 1, .add = 2));
}

/* x - m - log(sum(exp(x - m))): no division, one logarithm a line. */
void
sl__cost_log_softmax(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements;

	cost->work = SL_WORK_SOFTMAX;
	sl__count(cost, n, SL__PER(.cmp = 1, .exp = 1, .add = 3));
	sl__count(cost, n / line_length(call), SL__PER(.exp = 1));
}

/* To real numbers first (subtract, multiply), and back at the end (multiply,
 * add, two limits). */
void
sl__cost_qlinear_softmax(struct sl__call *call, struct sl_cost *cost)
{
	sl__cost_softmax(call, cost);
	sl__count(cost, cost->in_elements,
		  SL__PER(.mul = 2, .add = 2, .cmp = 2));
}

/* The first of the largest becomes 1, the others 0. */
void
sl__cost_hardmax(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements;

	cost->work = SL_WORK_REDUCTION;
	cost->cmp = n - n / line_length(call);
}
