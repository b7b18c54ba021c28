/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_quantize.c - real numbers to small integers and back.
 *
 * Quantizing is round(x / scale) + zero point within the type's limits: one
 * multiplication by what the scale divides into, an addition where there is a
 * zero point, two comparisons.  Going back is a subtraction and a
 * multiplication.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include "base/banned.h"

/* A vector of scales has one for each place along the axis, and blocks of
 * scales lie along it; one scale for all needs no axis. */
static void
check_axis(struct sl__call *call)
{
	const struct sl__type *in = sl__in(call, 0), *scale = sl__in(call, 1);
	int axis;

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 1 ||
	    (scale->rank == 1 && scale->dims[0] == 1))
		return;
	axis = sl__need_axis(call, sl__int(call->node, "axis", 1), in->rank);
	if (axis >= 0 && scale->rank == 1 &&
	    sl__sizes_differ(scale->dims[0], in->dims[axis]))
		sl__refuse(call, "%s scales for dimension %d of %s",
			   sl__in_text(call, 1), axis, sl__in_text(call, 0));
}

/* Output 0 is like input 0, of the type that the attribute names, or else of
 * the one that is given. */
static enum sl_status
out_as(struct sl__call *call, enum sl_dtype otherwise)
{
	int64_t named = sl__int(call->node, "output_dtype", 0);
	int rank = sl__in_rank(call, 0);
	enum sl_dtype dtype = otherwise;

	check_axis(call);
	if (named > 0)
		dtype = named < SL_N_DTYPES ? (enum sl_dtype)named
					    : SL_DTYPE_NONE;
	return sl__out(call, 0, dtype, rank,
		       rank > 0 ? sl__in(call, 0)->dims : NULL);
}

enum sl_status
sl__infer_quantize(struct sl__call *call)
{
	return out_as(call, sl__has_in(call, 2) ? sl__in_dtype(call, 2)
						: SL_DTYPE_U8);
}

enum sl_status
sl__infer_dequantize(struct sl__call *call)
{
	return out_as(call, sl__in_dtype(call, 1));
}

enum sl_status
sl__infer_dynamic_quantize(struct sl__call *call)
{
	sl__out_like(call, 0, 0, SL_DTYPE_U8);
	sl__out(call, 1, SL_DTYPE_F32, 0, NULL);
	return sl__out(call, 2, SL_DTYPE_U8, 0, NULL);
}

void
sl__cost_quantize(struct sl__call *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_QUANTIZE;
	sl__count(cost, cost->out_elements,
		  SL__PER(.mul = 1, .add = sl__has_in(call, 2) ? 1 : 0,
			  .cmp = 2));
}

void
sl__cost_dequantize(struct sl__call *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_QUANTIZE;
	sl__count(cost, cost->out_elements,
		  SL__PER(.mul = 1, .add = sl__has_in(call, 2) ? 1 : 0));
}

/* The smallest and the largest element are looked for first: two comparisons
 * each.  Scale and zero point then take two divisions. */
void
sl__cost_dynamic_quantize(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_QUANTIZE;
	sl__count(cost, cost->in_elements,
		  SL__PER(.mul = 1, .add = 1, .cmp = 4));
	cost->div = 2;
}
