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
static enum sl_status
check_axis(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *in = sl__in(call, 0), *scale = sl__in(call, 1);
	int64_t named = sl__int(call->node, "axis", 1);
	int axis;

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 1 ||
	    (scale->rank == 1 && scale->dims[0] == 1))
		return SL_OK;
	axis = sl__axis(named, in->rank);
	if (axis < 0)
		return sl__refuse(err,
				  "axis %lld lies outside of %d dimensions",
				  (long long)named, in->rank);
	if (scale->rank == 1 &&
	    sl__sizes_differ(scale->dims[0], in->dims[axis]))
		return sl__refuse(err, "%s scales for dimension %d of %s",
				  sl__type_text(call->shapes, scale), axis,
				  sl__type_text(call->shapes, in));
	return SL_OK;
}

/* Output 0 is like input 0, of the type that the attribute names, or else of
 * the one that is given. */
static enum sl_status
out_as(const struct sl__call *call, enum sl_dtype otherwise,
       struct sl_error *err)
{
	int64_t named = sl__int(call->node, "output_dtype", 0);
	int rank = sl__in_rank(call, 0);
	enum sl_dtype dtype = otherwise;
	enum sl_status rc = check_axis(call, err);

	if (rc)
		return rc;
	if (named > 0)
		dtype = named < SL_N_DTYPES ? (enum sl_dtype)named
					    : SL_DTYPE_NONE;
	return sl__out(call, 0, dtype, rank,
		       rank > 0 ? sl__in(call, 0)->dims : NULL, err);
}

enum sl_status
sl__infer_quantize(const struct sl__call *call, struct sl_error *err)
{
	return out_as(call,
		      sl__has_in(call, 2) ? sl__in_dtype(call, 2) : SL_DTYPE_U8,
		      err);
}

enum sl_status
sl__infer_dequantize(const struct sl__call *call, struct sl_error *err)
{
	return out_as(call, sl__in_dtype(call, 1), err);
}

enum sl_status
sl__infer_dynamic_quantize(const struct sl__call *call, struct sl_error *err)
{
	enum sl_status rc = sl__out_like(call, 0, 0, SL_DTYPE_U8, err);

	if (!rc)
		rc = sl__out(call, 1, SL_DTYPE_F32, 0, NULL, err);
	if (!rc)
		rc = sl__out(call, 2, SL_DTYPE_U8, 0, NULL, err);
	return rc;
}

void
sl__cost_quantize(const struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = cost->out_elements;

	cost->work = SL_WORK_QUANTIZE;
	cost->mul = n;
	cost->add = sl__has_in(call, 2) ? n : 0;
	cost->cmp = sl__times(n, 2);
}

void
sl__cost_dequantize(const struct sl__call *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_QUANTIZE;
	cost->mul = cost->out_elements;
	cost->add = sl__has_in(call, 2) ? cost->out_elements : 0;
}

/* The smallest and the largest element are looked for first: two comparisons
 * each.  Scale and zero point then take two divisions. */
void
sl__cost_dynamic_quantize(const struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_QUANTIZE;
	cost->mul = cost->add = cost->in_elements;
	cost->cmp = sl__times(cost->in_elements, 4);
	cost->div = 2;
}
