/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_elementwise.c - operators that treat each element alone.
 *
 * One input, or several broadcast together.  The cost is the number of output
 * elements times what one element takes, from a table.  What such operators
 * hold is op_elementwise_fold.c's.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

/* Numbers, that is: not strings. */
static enum sl_status
check_numbers(const struct sl__call *call, struct sl_error *err)
{
	for (size_t i = 0; i < call->node->n_inputs; i++) {
		if (sl__in_dtype(call, i) == SL_DTYPE_STRING)
			return sl__refuse(err, "strings are nothing to "
					       "compute with");
	}
	return SL_OK;
}

/* All inputs from 'first' on are of one type of number, as far as known. */
static enum sl_status
check_alike(const struct sl__call *call, size_t first, struct sl_error *err)
{
	enum sl_dtype one = SL_DTYPE_NONE;

	for (size_t i = first; i < call->node->n_inputs; i++) {
		enum sl_dtype other = sl__in_dtype(call, i);

		if (one == SL_DTYPE_NONE)
			one = other;
		if (other != SL_DTYPE_NONE && other != one)
			return sl__refuse(err,
					  "its inputs are of different types, "
					  "%s and %s",
					  sl_dtype_text(one),
					  sl_dtype_text(other));
	}
	return SL_OK;
}

enum sl_status
sl__infer_unary(const struct sl__call *call, struct sl_error *err)
{
	enum sl_status rc = check_numbers(call, err);

	if (rc)
		return rc;
	return sl__out_like(call, 0, 0, SL_DTYPE_NONE, err);
}

/* IsNaN, IsInf. */
enum sl_status
sl__infer_unary_test(const struct sl__call *call, struct sl_error *err)
{
	return sl__out_like(call, 0, 0, SL_DTYPE_BOOL, err);
}

/* Output 0 is the given inputs broadcast together. */
static enum sl_status
out_broadcast(const struct sl__call *call, const size_t *inputs, size_t n,
	      enum sl_dtype dtype, struct sl_error *err)
{
	int64_t *dims;
	int rank;
	enum sl_status rc = sl__broadcast(call, inputs, n, &rank, &dims, err);

	return rc ? rc : sl__out(call, 0, dtype, rank, dims, err);
}

/* The first type of number that is known. */
static enum sl_dtype
first_dtype(const struct sl__call *call, const size_t *inputs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sl__in_dtype(call, inputs[i]) != SL_DTYPE_NONE)
			return sl__in_dtype(call, inputs[i]);
	}
	return SL_DTYPE_NONE;
}

/*
 * All inputs.  Before version 7 (8 where there may be many) nothing is
 * broadcast unless the attribute "broadcast" asks for it, and then to the
 * shape of the first input.
 */
static enum sl_status
infer_all(const struct sl__call *call, enum sl_dtype dtype,
	  struct sl_error *err)
{
	size_t n = call->node->n_inputs, *inputs;
	enum sl_status rc = SL_OK;

	/* Two strings may be equal; an exponent has a type of its own. */
	if (!sl__is_op(call->node, SL__OP_ONNX_Equal))
		rc = check_numbers(call, err);
	if (!rc && call->node->domain[0] == '\0' &&
	    !sl__is_op(call->node, SL__OP_ONNX_Pow))
		rc = check_alike(call, 0, err);
	if (rc)
		return rc;
	if (call->node->version < 7 && call->node->domain[0] == '\0')
		return sl__out_like(call, 0, 0, dtype, err);
	inputs = sl__arena_array(&call->shapes->arena, n, sizeof(*inputs));
	if (!inputs)
		return sl__fail_nomem(err);
	n = 0;
	for (size_t i = 0; i < call->node->n_inputs; i++) {
		if (sl__has_in(call, i))
			inputs[n++] = i;
	}
	if (dtype == SL_DTYPE_NONE)
		dtype = first_dtype(call, inputs, n);
	return out_broadcast(call, inputs, n, dtype, err);
}

enum sl_status
sl__infer_broadcast(const struct sl__call *call, struct sl_error *err)
{
	return infer_all(call, SL_DTYPE_NONE, err);
}

enum sl_status
sl__infer_compare(const struct sl__call *call, struct sl_error *err)
{
	return infer_all(call, SL_DTYPE_BOOL, err);
}

enum sl_status
sl__infer_where(const struct sl__call *call, struct sl_error *err)
{
	static const size_t inputs[] = {1, 2, 0};
	enum sl_status rc = check_alike(call, 1, err);

	if (!rc && sl__in_dtype(call, 0) != SL_DTYPE_NONE &&
	    sl__in_dtype(call, 0) != SL_DTYPE_BOOL)
		rc = sl__refuse(err, "its condition is of type %s, not bool",
				sl_dtype_text(sl__in_dtype(call, 0)));
	if (rc)
		return rc;
	return out_broadcast(call, inputs, 3, first_dtype(call, inputs, 2),
			     err);
}

/* Two quantized inputs, each with its scale and zero point. */
enum sl_status
sl__infer_qlinear_binary(const struct sl__call *call, struct sl_error *err)
{
	static const size_t inputs[] = {0, 3};

	return out_broadcast(call, inputs, 2, first_dtype(call, inputs, 2),
			     err);
}

/* Version 1 writes the type in words, and such files no longer occur. */
enum sl_status
sl__infer_cast(const struct sl__call *call, struct sl_error *err)
{
	int64_t to = sl__int(call->node, "to", SL_DTYPE_NONE);
	int rank = sl__in_rank(call, 0);

	if (to < 0 || to > SL__DTYPE_LAST)
		return sl__refuse(err, "there is no type of number %lld",
				  (long long)to);
	/* Types that are newer than the table have no size here. */
	if (to >= SL_N_DTYPES)
		to = SL_DTYPE_NONE;
	return sl__out(call, 0, (enum sl_dtype)to, rank,
		       rank > 0 ? sl__in(call, 0)->dims : NULL, err);
}

enum sl_status
sl__infer_cast_like(const struct sl__call *call, struct sl_error *err)
{
	int rank = sl__in_rank(call, 0);

	return sl__out(call, 0, sl__in_dtype(call, 1), rank,
		       rank > 0 ? sl__in(call, 0)->dims : NULL, err);
}

/* The mask is of the input's type before version 10, then boolean. */
enum sl_status
sl__infer_dropout(const struct sl__call *call, struct sl_error *err)
{
	enum sl_dtype mask = call->node->version < 10 ? SL_DTYPE_NONE
						      : SL_DTYPE_BOOL;
	enum sl_status rc = sl__out_like(call, 0, 0, SL_DTYPE_NONE, err);

	return rc ? rc : sl__out_like(call, 1, 0, mask, err);
}

/* Operations on one element of the output. */
struct per_element {
	enum sl_work work;
	uint8_t mul, add, div, exp, cmp;
};

/*
 * By the formula that defines the operator, with constants worked out
 * beforehand.  One call of any transcendental function, of sqrt and of pow is
 * one 'exp'; rounding, sign bits, logic and choosing count as comparisons.
 * Quantized forms take their inputs to real numbers (subtract, multiply) and
 * the result back (multiply, add, two limits), as they are defined; libraries
 * look up tables instead.
 */
static const struct per_element costs[SL__N_OPS] = {
	[SL__OP_ONNX_Abs] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_Acos] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Acosh] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Add] = {SL_WORK_OTHER, .add = 1},
	[SL__OP_ONNX_And] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_Asin] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Asinh] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Atan] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Atanh] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_BitShift] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_BitwiseAnd] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_BitwiseNot] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_BitwiseOr] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_BitwiseXor] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_Ceil] = {SL_WORK_OTHER, .cmp = 1},
	/* max(0, x) + min(0, a (exp(x / a) - 1)) */
	[SL__OP_ONNX_Celu] = {SL_WORK_ACTIVATION, .mul = 1, .add = 2, .div = 1,
			      .exp = 1, .cmp = 2},
	[SL__OP_ONNX_Cos] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Cosh] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Div] = {SL_WORK_OTHER, .div = 1},
	/* x < 0 ? a (exp(x) - 1) : x */
	[SL__OP_ONNX_Elu] = {SL_WORK_ACTIVATION, .mul = 1, .add = 1, .exp = 1,
			     .cmp = 1},
	[SL__OP_ONNX_Equal] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_Erf] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Exp] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Floor] = {SL_WORK_OTHER, .cmp = 1},
	/* x / 2 (1 + erf(x / sqrt(2))) */
	[SL__OP_ONNX_Gelu] = {SL_WORK_ACTIVATION, .mul = 3, .add = 1, .exp = 1},
	[SL__OP_ONNX_Greater] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_GreaterOrEqual] = {SL_WORK_OTHER, .cmp = 1},
	/* max(0, min(1, a x + b)) */
	[SL__OP_ONNX_HardSigmoid] = {SL_WORK_ACTIVATION, .mul = 1, .add = 1,
				     .cmp = 2},
	/* x max(0, min(1, x / 6 + 1 / 2)) */
	[SL__OP_ONNX_HardSwish] = {SL_WORK_ACTIVATION, .mul = 2, .add = 1,
				   .cmp = 2},
	[SL__OP_ONNX_IsInf] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_IsNaN] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_LeakyRelu] = {SL_WORK_ACTIVATION, .mul = 1, .cmp = 1},
	[SL__OP_ONNX_Less] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_LessOrEqual] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_Log] = {SL_WORK_OTHER, .exp = 1},
	/* x tanh(log(1 + exp(x))) */
	[SL__OP_ONNX_Mish] = {SL_WORK_ACTIVATION, .mul = 1, .add = 1, .exp = 3},
	/* a - b floor(a / b) */
	[SL__OP_ONNX_Mod] = {SL_WORK_OTHER, .mul = 1, .add = 1, .div = 1,
			     .cmp = 1},
	[SL__OP_ONNX_Mul] = {SL_WORK_OTHER, .mul = 1},
	[SL__OP_ONNX_Neg] = {SL_WORK_OTHER, .add = 1},
	[SL__OP_ONNX_Not] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_Or] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_PRelu] = {SL_WORK_ACTIVATION, .mul = 1, .cmp = 1},
	[SL__OP_ONNX_Pow] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Reciprocal] = {SL_WORK_OTHER, .div = 1},
	[SL__OP_ONNX_Relu] = {SL_WORK_ACTIVATION, .cmp = 1},
	[SL__OP_ONNX_Round] = {SL_WORK_OTHER, .cmp = 1},
	/* g (x > 0 ? x : a (exp(x) - 1)) */
	[SL__OP_ONNX_Selu] = {SL_WORK_ACTIVATION, .mul = 2, .add = 1, .exp = 1,
			      .cmp = 1},
	/* x < -l ? x + b : x > l ? x - b : 0 */
	[SL__OP_ONNX_Shrink] = {SL_WORK_ACTIVATION, .add = 1, .cmp = 2},
	/* 1 / (1 + exp(-x)) */
	[SL__OP_ONNX_Sigmoid] = {SL_WORK_ACTIVATION, .add = 1, .div = 1,
				 .exp = 1},
	[SL__OP_ONNX_Sign] = {SL_WORK_OTHER, .cmp = 2},
	[SL__OP_ONNX_Sin] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Sinh] = {SL_WORK_OTHER, .exp = 1},
	/* log(1 + exp(x)) */
	[SL__OP_ONNX_Softplus] = {SL_WORK_ACTIVATION, .add = 1, .exp = 2},
	/* x / (1 + |x|) */
	[SL__OP_ONNX_Softsign] = {SL_WORK_ACTIVATION, .add = 1, .div = 1,
				  .cmp = 1},
	[SL__OP_ONNX_Sqrt] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Sub] = {SL_WORK_OTHER, .add = 1},
	/* b swish(a) */
	[SL__OP_ONNX_SwiGLU] = {SL_WORK_ACTIVATION, .mul = 3, .add = 1,
				.div = 1, .exp = 1},
	/* x / (1 + exp(-a x)) */
	[SL__OP_ONNX_Swish] = {SL_WORK_ACTIVATION, .mul = 2, .add = 1, .div = 1,
			       .exp = 1},
	[SL__OP_ONNX_Tan] = {SL_WORK_OTHER, .exp = 1},
	[SL__OP_ONNX_Tanh] = {SL_WORK_ACTIVATION, .exp = 1},
	[SL__OP_ONNX_ThresholdedRelu] = {SL_WORK_ACTIVATION, .cmp = 1},
	[SL__OP_ONNX_Where] = {SL_WORK_OTHER, .cmp = 1},
	[SL__OP_ONNX_Xor] = {SL_WORK_OTHER, .cmp = 1},
	/* Gelu of x + b */
	[SL__OP_MS_BiasGelu] = {SL_WORK_ACTIVATION, .mul = 3, .add = 2,
				.exp = 1},
	/* x / 2 (1 + tanh(c x (1 + d x x))) */
	[SL__OP_MS_FastGelu] = {SL_WORK_ACTIVATION, .mul = 6, .add = 2,
				.exp = 1},
	[SL__OP_MS_Gelu] = {SL_WORK_ACTIVATION, .mul = 3, .add = 1, .exp = 1},
	[SL__OP_MS_QLinearAdd] = {SL_WORK_OTHER, .mul = 3, .add = 4, .cmp = 2},
	[SL__OP_MS_QLinearLeakyRelu] = {SL_WORK_ACTIVATION, .mul = 3, .add = 2,
					.cmp = 3},
	[SL__OP_MS_QLinearMul] = {SL_WORK_OTHER, .mul = 4, .add = 3, .cmp = 2},
	[SL__OP_MS_QLinearSigmoid] = {SL_WORK_ACTIVATION, .mul = 2, .add = 3,
				      .div = 1, .exp = 1, .cmp = 2},
	[SL__OP_MS_QuickGelu] = {SL_WORK_ACTIVATION, .mul = 2, .add = 1,
				 .div = 1, .exp = 1},
};

static void
set_costs(struct sl_cost *cost, const struct per_element *per)
{
	uint64_t n = cost->out_elements;

	cost->work = per->work;
	cost->mul = sl__times(n, per->mul);
	cost->add = sl__times(n, per->add);
	cost->div = sl__times(n, per->div);
	cost->exp = sl__times(n, per->exp);
	cost->cmp = sl__times(n, per->cmp);
}

void
sl__cost_elementwise(const struct sl__call *call, struct sl_cost *cost)
{
	set_costs(cost, &costs[call->node->op - sl__ops]);
}

/* Gelu has two formulas, and FastGelu an input that is added first. */
void
sl__cost_gelu(const struct sl__call *call, struct sl_cost *cost)
{
	int is_tanh =
		!strcmp(sl__word(call->node, "approximate", "none"), "tanh");

	set_costs(cost, &costs[is_tanh ? SL__OP_MS_FastGelu
				       : call->node->op - sl__ops]);
	if (sl__is_op(call->node, SL__OP_MS_FastGelu) && sl__has_in(call, 1))
		cost->add = sl__plus(cost->add, cost->out_elements);
}

/* Max, Min, Sum and Mean of n inputs join them n - 1 times. */
void
sl__cost_variadic(const struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	uint64_t n = sl__times(cost->out_elements,
			       node->n_inputs ? node->n_inputs - 1 : 0);

	if (sl__is_op(node, SL__OP_ONNX_Max) ||
	    sl__is_op(node, SL__OP_ONNX_Min))
		cost->cmp = n;
	else
		cost->add = n;
	if (sl__is_op(node, SL__OP_ONNX_Mean))
		cost->div = cost->out_elements;
}

/* One comparison for each bound that there is. */
void
sl__cost_clip(const struct sl__call *call, struct sl_cost *cost)
{
	int has_low = sl__attribute(call->node, "min") || sl__has_in(call, 1);
	int has_high = sl__attribute(call->node, "max") || sl__has_in(call, 2);

	cost->work = SL_WORK_ACTIVATION;
	cost->cmp = sl__times(cost->out_elements,
			      (uint64_t)has_low + (uint64_t)has_high);
}

/* What an input says by its type alone is not read. */
static void
leave_unread(const struct sl__call *call, struct sl_cost *cost, size_t i)
{
	uint64_t n = 0;

	if (!sl__has_in(call, i) ||
	    call->node->inputs[i] == call->node->inputs[0])
		return;
	if (!sl__type_bytes(sl__in(call, i), &n))
		return;
	if (call->shapes->graph->values[call->node->inputs[i]].tensor)
		cost->weight_bytes -= n;
	else
		cost->read_bytes -= n;
}

void
sl__cost_cast(const struct sl__call *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_MOVEMENT;
	leave_unread(call, cost, 1);
}

/*
 * Nothing but a name in inference.  A mask that is asked for is written; a
 * training node draws a number, compares it with the ratio and scales what it
 * keeps.
 */
void
sl__cost_dropout(const struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__known *training = sl__in_known(call, 2);

	if (sl__has_in(call, 2) && (!training || !training->ints ||
				    !training->n || training->ints[0])) {
		cost->mul = cost->cmp = cost->out_elements;
		cost->basis = SL_BASIS_ESTIMATED;
		cost->why = "drawing random numbers is not counted";
	} else if (call->node->n_outputs > 1 &&
		   call->node->outputs[1] != SL__NONE) {
		cost->work = SL_WORK_MOVEMENT;
	} else {
		sl__cost_view(call, cost);
	}
}
