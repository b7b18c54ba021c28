/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_elementwise.c - operators that treat each element alone.
 *
 * One input, or several broadcast together.  The cost is the number of output
 * elements times what one element takes, from a table.  What such operators
 * hold is op_elementwise_fold.c's.
 */
#include "base/dtype.h"
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

/* Numbers, that is: not strings. */
static void
check_numbers(struct sl__call *call)
{
	for (size_t i = 0; i < call->node->n_inputs; i++) {
		if (sl__in_dtype(call, i) == SL_DTYPE_STRING)
			sl__refuse(call, "strings are nothing to compute with");
	}
}

/* All inputs from 'first' on are of one type of number, as far as known. */
static void
check_alike(struct sl__call *call, size_t first)
{
	enum sl_dtype one = SL_DTYPE_NONE;

	for (size_t i = first; i < call->node->n_inputs; i++) {
		enum sl_dtype other = sl__in_dtype(call, i);

		if (one == SL_DTYPE_NONE)
			one = other;
		if (other != SL_DTYPE_NONE && other != one)
			sl__refuse(call,
				   "its inputs are of different types, %s and "
				   "%s",
				   sl_dtype_text(one), sl_dtype_text(other));
	}
}

enum sl_status
sl__infer_unary(struct sl__call *call)
{
	check_numbers(call);
	return sl__out_like(call, 0, 0, SL_DTYPE_NONE);
}

/* IsNaN, IsInf. */
enum sl_status
sl__infer_unary_test(struct sl__call *call)
{
	return sl__out_like(call, 0, 0, SL_DTYPE_BOOL);
}

/* Output 0 is the given inputs broadcast together. */
static enum sl_status
out_broadcast(struct sl__call *call, const size_t *inputs, size_t n,
	      enum sl_dtype dtype)
{
	int64_t *dims;
	int rank;

	sl__broadcast(call, inputs, n, &rank, &dims);
	return sl__out(call, 0, dtype, rank, dims);
}

/* The first type of number that is known. */
static enum sl_dtype
first_dtype(struct sl__call *call, const size_t *inputs, size_t n)
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
infer_all(struct sl__call *call, enum sl_dtype dtype)
{
	int is_onnx = call->node->domain[0] == '\0';
	size_t n = 0, *inputs;

	/* Two strings may be equal; an exponent has a type of its own. */
	if (!sl__is_op(call->node, SL__OP_ONNX_Equal))
		check_numbers(call);
	if (is_onnx && !sl__is_op(call->node, SL__OP_ONNX_Pow))
		check_alike(call, 0);
	if (is_onnx && call->node->version < 7)
		return sl__out_like(call, 0, 0, dtype);
	inputs = sl__arena_array(&call->shapes->arena, call->node->n_inputs,
				 sizeof(*inputs));
	if (!inputs)
		return sl__call_nomem(call);
	for (size_t i = 0; i < call->node->n_inputs; i++) {
		if (sl__has_in(call, i))
			inputs[n++] = i;
	}
	if (dtype == SL_DTYPE_NONE)
		dtype = first_dtype(call, inputs, n);
	return out_broadcast(call, inputs, n, dtype);
}

enum sl_status
sl__infer_broadcast(struct sl__call *call)
{
	return infer_all(call, SL_DTYPE_NONE);
}

enum sl_status
sl__infer_compare(struct sl__call *call)
{
	return infer_all(call, SL_DTYPE_BOOL);
}

enum sl_status
sl__infer_where(struct sl__call *call)
{
	static const size_t inputs[] = {1, 2, 0};
	enum sl_dtype condition = sl__in_dtype(call, 0);

	check_alike(call, 1);
	if (condition != SL_DTYPE_NONE && condition != SL_DTYPE_BOOL)
		sl__refuse(call, "its condition is of type %s, not bool",
			   sl_dtype_text(condition));
	return out_broadcast(call, inputs, 3, first_dtype(call, inputs, 2));
}

/* Two quantized inputs, each with its scale and zero point. */
enum sl_status
sl__infer_qlinear_binary(struct sl__call *call)
{
	static const size_t inputs[] = {0, 3};

	return out_broadcast(call, inputs, 2, first_dtype(call, inputs, 2));
}

/* Version 1 writes the type in words, and such files no longer occur. */
enum sl_status
sl__infer_cast(struct sl__call *call)
{
	int64_t to = sl__int(call->node, "to", SL_DTYPE_NONE);
	int rank = sl__in_rank(call, 0);

	if (to < 0 || to > SL__DTYPE_LAST)
		return sl__refuse(call, "there is no type of number %lld",
				  (long long)to);
	/* Types that are newer than the table have no size here. */
	if (to >= SL_N_DTYPES)
		to = SL_DTYPE_NONE;
	return sl__out(call, 0, (enum sl_dtype)to, rank,
		       rank > 0 ? sl__in(call, 0)->dims : NULL);
}

enum sl_status
sl__infer_cast_like(struct sl__call *call)
{
	int rank = sl__in_rank(call, 0);

	return sl__out(call, 0, sl__in_dtype(call, 1), rank,
		       rank > 0 ? sl__in(call, 0)->dims : NULL);
}

/* The mask is of the input's type before version 10, then boolean. */
enum sl_status
sl__infer_dropout(struct sl__call *call)
{
	enum sl_dtype mask = call->node->version < 10 ? SL_DTYPE_NONE
						      : SL_DTYPE_BOOL;

	sl__out_like(call, 0, 0, SL_DTYPE_NONE);
	return sl__out_like(call, 1, 0, mask);
}

/* Operations on one element of the output. */
struct per_element {
	enum sl_work work;
	struct sl__per each;
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
	[SL__OP_ONNX_Add] = {SL_WORK_OTHER, {.add = 1}},
	/* max(0, x) + min(0, a (exp(x / a) - 1)) */
	[SL__OP_ONNX_Celu] =
		{SL_WORK_ACTIVATION,
		 {.mul = 1, .add = 2, .div = 1, .exp = 1, .cmp = 2}},
	[SL__OP_ONNX_Div] = {SL_WORK_OTHER, {.div = 1}},
	/* x < 0 ? a (exp(x) - 1) : x */
	[SL__OP_ONNX_Elu] = {SL_WORK_ACTIVATION,
			     {.mul = 1, .add = 1, .exp = 1, .cmp = 1}},
	/* x / 2 (1 + erf(x / sqrt(2))) */
	[SL__OP_ONNX_Gelu] = {SL_WORK_ACTIVATION,
			      {.mul = 3, .add = 1, .exp = 1}},
	/* max(0, min(1, a x + b)) */
	[SL__OP_ONNX_HardSigmoid] = {SL_WORK_ACTIVATION,
				     {.mul = 1, .add = 1, .cmp = 2}},
	/* x max(0, min(1, x / 6 + 1 / 2)) */
	[SL__OP_ONNX_HardSwish] = {SL_WORK_ACTIVATION,
				   {.mul = 2, .add = 1, .cmp = 2}},
	[SL__OP_ONNX_LeakyRelu] = {SL_WORK_ACTIVATION, {.mul = 1, .cmp = 1}},
	/* x tanh(log(1 + exp(x))) */
	[SL__OP_ONNX_Mish] = {SL_WORK_ACTIVATION,
			      {.mul = 1, .add = 1, .exp = 3}},
	/* a - b floor(a / b) */
	[SL__OP_ONNX_Mod] = {SL_WORK_OTHER,
			     {.mul = 1, .add = 1, .div = 1, .cmp = 1}},
	[SL__OP_ONNX_Mul] = {SL_WORK_OTHER, {.mul = 1}},
	[SL__OP_ONNX_Neg] = {SL_WORK_OTHER, {.add = 1}},
	[SL__OP_ONNX_PRelu] = {SL_WORK_ACTIVATION, {.mul = 1, .cmp = 1}},
	[SL__OP_ONNX_Reciprocal] = {SL_WORK_OTHER, {.div = 1}},
	[SL__OP_ONNX_Relu] = {SL_WORK_ACTIVATION, {.cmp = 1}},
	/* g (x > 0 ? x : a (exp(x) - 1)) */
	[SL__OP_ONNX_Selu] = {SL_WORK_ACTIVATION,
			      {.mul = 2, .add = 1, .exp = 1, .cmp = 1}},
	/* x < -l ? x + b : x > l ? x - b : 0 */
	[SL__OP_ONNX_Shrink] = {SL_WORK_ACTIVATION, {.add = 1, .cmp = 2}},
	/* 1 / (1 + exp(-x)) */
	[SL__OP_ONNX_Sigmoid] = {SL_WORK_ACTIVATION,
				 {.add = 1, .div = 1, .exp = 1}},
	[SL__OP_ONNX_Sign] = {SL_WORK_OTHER, {.cmp = 2}},
	/* log(1 + exp(x)) */
	[SL__OP_ONNX_Softplus] = {SL_WORK_ACTIVATION, {.add = 1, .exp = 2}},
	/* x / (1 + |x|) */
	[SL__OP_ONNX_Softsign] = {SL_WORK_ACTIVATION,
				  {.add = 1, .div = 1, .cmp = 1}},
	[SL__OP_ONNX_Sub] = {SL_WORK_OTHER, {.add = 1}},
	/* b swish(a) */
	[SL__OP_ONNX_SwiGLU] = {SL_WORK_ACTIVATION,
				{.mul = 3, .add = 1, .div = 1, .exp = 1}},
	/* x / (1 + exp(-a x)) */
	[SL__OP_ONNX_Swish] = {SL_WORK_ACTIVATION,
			       {.mul = 2, .add = 1, .div = 1, .exp = 1}},
	[SL__OP_ONNX_Tanh] = {SL_WORK_ACTIVATION, {.exp = 1}},
	[SL__OP_ONNX_ThresholdedRelu] = {SL_WORK_ACTIVATION, {.cmp = 1}},
	/* Gelu of x + b */
	[SL__OP_MS_BiasGelu] = {SL_WORK_ACTIVATION,
				{.mul = 3, .add = 2, .exp = 1}},
	/* x / 2 (1 + tanh(c x (1 + d x x))) */
	[SL__OP_MS_FastGelu] = {SL_WORK_ACTIVATION,
				{.mul = 6, .add = 2, .exp = 1}},
	[SL__OP_MS_Gelu] = {SL_WORK_ACTIVATION, {.mul = 3, .add = 1, .exp = 1}},
	[SL__OP_MS_QLinearAdd] = {SL_WORK_OTHER,
				  {.mul = 3, .add = 4, .cmp = 2}},
	[SL__OP_MS_QLinearLeakyRelu] = {SL_WORK_ACTIVATION,
					{.mul = 3, .add = 2, .cmp = 3}},
	[SL__OP_MS_QLinearMul] = {SL_WORK_OTHER,
				  {.mul = 4, .add = 3, .cmp = 2}},
	[SL__OP_MS_QLinearSigmoid] =
		{SL_WORK_ACTIVATION,
		 {.mul = 2, .add = 3, .div = 1, .exp = 1, .cmp = 2}},
	[SL__OP_MS_QuickGelu] = {SL_WORK_ACTIVATION,
				 {.mul = 2, .add = 1, .div = 1, .exp = 1}},
};

static void
set_costs(struct sl_cost *cost, const struct per_element *per)
{
	cost->work = per->work;
	sl__count(cost, cost->out_elements, per->each);
}

void
sl__cost_elementwise(struct sl__call *call, struct sl_cost *cost)
{
	set_costs(cost, &costs[call->node->op - sl__ops]);
}

/* Most operators are one call of a function, or one comparison. */
void
sl__cost_function_call(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->exp = cost->out_elements;
}

void
sl__cost_comparison(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->cmp = cost->out_elements;
}

/* Gelu has two formulas, and FastGelu an input that is added first. */
void
sl__cost_gelu(struct sl__call *call, struct sl_cost *cost)
{
	int is_tanh =
		!strcmp(sl__word(call->node, "approximate", "none"), "tanh");

	set_costs(cost, &costs[is_tanh ? SL__OP_MS_FastGelu
				       : call->node->op - sl__ops]);
	if (sl__is_op(call->node, SL__OP_MS_FastGelu) && sl__has_in(call, 1))
		sl__count(cost, cost->out_elements, SL__PER(.add = 1));
}

/* Max, Min, Sum and Mean of n inputs join them n - 1 times. */
void
sl__cost_variadic(struct sl__call *call, struct sl_cost *cost)
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
sl__cost_clip(struct sl__call *call, struct sl_cost *cost)
{
	int has_low = sl__attribute(call->node, "min") || sl__has_in(call, 1);
	int has_high = sl__attribute(call->node, "max") || sl__has_in(call, 2);

	cost->work = SL_WORK_ACTIVATION;
	cost->cmp = sl__times(cost->out_elements,
			      (uint64_t)has_low + (uint64_t)has_high);
}

/* What an input says by its type alone is not read. */
static void
leave_unread(struct sl__call *call, struct sl_cost *cost, size_t i)
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
sl__cost_cast(struct sl__call *call, struct sl_cost *cost)
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
sl__cost_dropout(struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__known *training = sl__in_known(call, 2);

	if (sl__has_in(call, 2) && (!training || !training->ints ||
				    !training->n || training->ints[0])) {
		cost->mul = cost->cmp = cost->out_elements;
		sl__cost_estimate(cost,
				  "drawing random numbers is not counted");
	} else if (call->node->n_outputs > 1 &&
		   call->node->outputs[1] != SL__NONE) {
		cost->work = SL_WORK_MOVEMENT;
	} else {
		sl__cost_view(call, cost);
	}
}
