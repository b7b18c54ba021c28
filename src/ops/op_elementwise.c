/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_elementwise.c - operators that treat each element alone.
 *
 * One input, or several broadcast together.  The cost is the number of output
 * elements times what one element takes, from a table.  What such operators
 * hold is op_elementwise_fold.c's.
 *
 * 'forms' has a row for each operator: what it does to a real number and,
 * where its integers are not just cut reals, to an integer.  Two numbers may
 * come with it, which are attributes.
 */
#include "base/dtype.h"
#include "ops/activation.h"
#include "ops/cost.h"
#include "ops/ref.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Numbers, that is: not strings. */
static void
check_numbers(struct sl__rule_context *call)
{
	for (size_t i = 0; i < call->node->n_inputs; i++) {
		if (sl__in_dtype(call, i) == SL_DTYPE_STRING)
			sl__rule_reject(call,
					"strings are nothing to compute with");
	}
}

/* All inputs from 'first' on are of one type of number, as far as known. */
static void
check_alike(struct sl__rule_context *call, size_t first)
{
	enum sl_dtype one = SL_DTYPE_NONE;

	for (size_t i = first; i < call->node->n_inputs; i++) {
		enum sl_dtype other = sl__in_dtype(call, i);

		if (one == SL_DTYPE_NONE)
			one = other;
		if (other != SL_DTYPE_NONE && other != one)
			sl__rule_reject(
				call,
				"its inputs are of different types, %s and "
				"%s",
				sl_dtype_text(one), sl_dtype_text(other));
	}
}

enum sl_status
sl__infer_unary(struct sl__rule_context *call)
{
	check_numbers(call);
	return sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
}

/* IsNaN, IsInf. */
enum sl_status
sl__infer_unary_test(struct sl__rule_context *call)
{
	return sl__out_set_like_input(call, 0, 0, SL_DTYPE_BOOL);
}

/* Output 0 is the given inputs broadcast together. */
static enum sl_status
out_broadcast(struct sl__rule_context *call, const size_t *inputs, size_t n,
	      enum sl_dtype dtype)
{
	int64_t *dims;
	int rank;

	sl__broadcast_inputs(call, inputs, n, &rank, &dims);
	return sl__out_set_shape(call, 0, dtype, rank, dims);
}

/* The first type of number that is known. */
static enum sl_dtype
first_dtype(struct sl__rule_context *call, const size_t *inputs, size_t n)
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
infer_all(struct sl__rule_context *call, enum sl_dtype dtype)
{
	int is_onnx = call->node->domain[0] == '\0';
	size_t n = 0, *inputs;

	/* Two strings may be equal; an exponent has a type of its own. */
	if (!sl__is_op(call->node, SL__OP_ONNX_Equal))
		check_numbers(call);
	if (is_onnx && !sl__is_op(call->node, SL__OP_ONNX_Pow))
		check_alike(call, 0);
	if (is_onnx && call->node->version < 7)
		return sl__out_set_like_input(call, 0, 0, dtype);
	inputs = sl__arena_array(&call->shapes->arena, call->node->n_inputs,
				 sizeof(*inputs));
	if (!inputs)
		return sl__rule_nomem(call);
	for (size_t i = 0; i < call->node->n_inputs; i++) {
		if (sl__has_in(call, i))
			inputs[n++] = i;
	}
	if (dtype == SL_DTYPE_NONE)
		dtype = first_dtype(call, inputs, n);
	return out_broadcast(call, inputs, n, dtype);
}

enum sl_status
sl__infer_broadcast(struct sl__rule_context *call)
{
	return infer_all(call, SL_DTYPE_NONE);
}

enum sl_status
sl__infer_compare(struct sl__rule_context *call)
{
	return infer_all(call, SL_DTYPE_BOOL);
}

enum sl_status
sl__infer_where(struct sl__rule_context *call)
{
	static const size_t inputs[] = {1, 2, 0};
	enum sl_dtype condition = sl__in_dtype(call, 0);

	check_alike(call, 1);
	if (condition != SL_DTYPE_NONE && condition != SL_DTYPE_BOOL)
		sl__rule_reject(call, "its condition is of type %s, not bool",
				sl_dtype_text(condition));
	return out_broadcast(call, inputs, 3, first_dtype(call, inputs, 2));
}

/* Two quantized inputs, each with its scale and zero point. */
enum sl_status
sl__infer_qlinear_binary(struct sl__rule_context *call)
{
	static const size_t inputs[] = {0, 3};

	return out_broadcast(call, inputs, 2, first_dtype(call, inputs, 2));
}

/* Version 1 writes the type in words, and such files no longer occur. */
enum sl_status
sl__infer_cast(struct sl__rule_context *call)
{
	int64_t to = sl__attribute_int(call->node, "to", SL_DTYPE_NONE);
	int rank = sl__in_rank(call, 0);

	if (to < 0 || to > SL__DTYPE_LAST)
		return sl__rule_reject(call, "there is no type of number %lld",
				       (long long)to);
	/* Types that are newer than the table have no size here. */
	if (to >= SL_N_DTYPES)
		to = SL_DTYPE_NONE;
	return sl__out_set_shape(call, 0, (enum sl_dtype)to, rank,
				 rank > 0 ? sl__in_type(call, 0)->dims : NULL);
}

enum sl_status
sl__infer_cast_like(struct sl__rule_context *call)
{
	int rank = sl__in_rank(call, 0);

	return sl__out_set_shape(call, 0, sl__in_dtype(call, 1), rank,
				 rank > 0 ? sl__in_type(call, 0)->dims : NULL);
}

/* The mask is of the input's type before version 10, then boolean. */
enum sl_status
sl__infer_dropout(struct sl__rule_context *call)
{
	enum sl_dtype mask = call->node->version < 10 ? SL_DTYPE_NONE
						      : SL_DTYPE_BOOL;

	sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
	return sl__out_set_like_input(call, 1, 0, mask);
}

/* Operations on one element of the output. */
struct per_element {
	enum sl_work work;
	struct sl__operations_each each;
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
	sl__cost_add_operations(cost, cost->out_elements, per->each);
}

void
sl__cost_elementwise(struct sl__rule_context *call, struct sl_cost *cost)
{
	set_costs(cost, &costs[call->node->op - sl__ops]);
}

/* Most operators are one call of a function, or one comparison. */
void
sl__cost_function_call(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->exp = cost->out_elements;
}

void
sl__cost_comparison(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->cmp = cost->out_elements;
}

/* Gelu has two formulas, and FastGelu an input that is added first. */
void
sl__cost_gelu(struct sl__rule_context *call, struct sl_cost *cost)
{
	int is_tanh =
		!strcmp(sl__attribute_string(call->node, "approximate", "none"),
			"tanh");

	set_costs(cost, &costs[is_tanh ? SL__OP_MS_FastGelu
				       : call->node->op - sl__ops]);
	if (sl__is_op(call->node, SL__OP_MS_FastGelu) && sl__has_in(call, 1))
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.add = 1));
}

/* Max, Min, Sum and Mean of n inputs join them n - 1 times. */
void
sl__cost_variadic(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	uint64_t n = sl__saturating_mul(
		cost->out_elements, node->n_inputs ? node->n_inputs - 1 : 0);

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
sl__cost_clip(struct sl__rule_context *call, struct sl_cost *cost)
{
	int has_low = sl__attribute_find(call->node, "min") ||
		      sl__has_in(call, 1);
	int has_high = sl__attribute_find(call->node, "max") ||
		       sl__has_in(call, 2);

	cost->work = SL_WORK_ACTIVATION;
	cost->cmp = sl__saturating_mul(cost->out_elements,
				       (uint64_t)has_low + (uint64_t)has_high);
}

/* What an input says by its type alone is not read. */
static void
leave_unread(struct sl__rule_context *call, struct sl_cost *cost, size_t i)
{
	uint64_t n = 0;

	if (!sl__has_in(call, i) ||
	    call->node->inputs[i] == call->node->inputs[0])
		return;
	if (!sl__type_bytes(sl__in_type(call, i), &n))
		return;
	if (call->shapes->graph->values[call->node->inputs[i]].tensor)
		cost->weight_bytes -= n;
	else
		cost->read_bytes -= n;
}

void
sl__cost_cast(struct sl__rule_context *call, struct sl_cost *cost)
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
sl__cost_dropout(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__known_contents *training =
		sl__in_known_contents(call, 2);

	if (sl__has_in(call, 2) && (!training || !training->ints ||
				    !training->n || training->ints[0])) {
		cost->mul = cost->cmp = cost->out_elements;
		sl__cost_mark_estimated(
			cost, "drawing random numbers is not counted");
	} else if (call->node->n_outputs > 1 &&
		   call->node->outputs[1] != SL__NONE) {
		cost->work = SL_WORK_MOVEMENT;
	} else {
		sl__cost_view(call, cost);
	}
}

/* What operators do to a real number, where activation.h does not say; a and b
 * are attributes, or what stands for them. */
#define REAL(name, formula)                                     \
	static double real_##name(double x, double a, double b) \
	{                                                       \
		(void)a;                                        \
		(void)b;                                        \
		return formula;                                 \
	}

REAL(abs, fabs(x))
REAL(acos, acos(x))
REAL(acosh, acosh(x))
REAL(asin, asin(x))
REAL(asinh, asinh(x))
REAL(atan, atan(x))
REAL(atanh, atanh(x))
REAL(ceil, ceil(x))
REAL(cos, cos(x))
REAL(cosh, cosh(x))
REAL(erf, erf(x))
REAL(exp, exp(x))
REAL(floor, floor(x))
REAL(is_inf, isinf(x) && (x > 0 ? a : b) > 0)
REAL(is_nan, isnan(x))
REAL(log, log(x))
REAL(neg, -x)
REAL(reciprocal, 1 / x)
REAL(round, nearbyint(x)) /* ties to even */
REAL(shrink, -x > b ? x + a : x > b ? x - a : isnan(x) ? x : 0)
REAL(sign, isnan(x) ? x : (double)((x > 0) - (x < 0)))
REAL(sin, sin(x))
REAL(sinh, sinh(x))
REAL(sqrt, sqrt(x))
REAL(tan, tan(x))

/* And to an integer; the 64 bits of uint64 have no sign. */
typedef int64_t whole_function(int64_t x, int is_below);

#define WHOLE(name, formula)                                 \
	static int64_t whole_##name(int64_t x, int is_below) \
	{                                                    \
		(void)is_below;                              \
		return formula;                              \
	}

WHOLE(abs, is_below ? (int64_t)(0 - (uint64_t)x) : x)
WHOLE(bit_not, ~x)
WHOLE(neg, (int64_t)(0 - (uint64_t)x))
WHOLE(not, !x)
WHOLE(relu, is_below ? 0 : x)
WHOLE(same, x)
WHOLE(sign, is_below ? -1 : x != 0)

#define NO_NUMBERS NULL, 0, NULL, 0

static const struct form {
	sl__activation_function *real;
	whole_function *whole; /* NULL: like reals, cut */
	const char *a;         /* attributes, and what they are usually */
	double a_usual;
	const char *b;
	double b_usual;
} forms[SL__N_OPS] = {
	[SL__OP_ONNX_Abs] = {real_abs, whole_abs, NO_NUMBERS},
	[SL__OP_ONNX_Acos] = {real_acos, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Acosh] = {real_acosh, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Asin] = {real_asin, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Asinh] = {real_asinh, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Atan] = {real_atan, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Atanh] = {real_atanh, NULL, NO_NUMBERS},
	[SL__OP_ONNX_BitwiseNot] = {NULL, whole_bit_not, NO_NUMBERS},
	[SL__OP_ONNX_Ceil] = {real_ceil, whole_same, NO_NUMBERS},
	[SL__OP_ONNX_Celu] = {sl__act_celu, NULL, "alpha", 1, NULL, 0},
	[SL__OP_ONNX_Cos] = {real_cos, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Cosh] = {real_cosh, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Elu] = {sl__act_elu, NULL, "alpha", 1, NULL, 0},
	[SL__OP_ONNX_Erf] = {real_erf, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Exp] = {real_exp, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Floor] = {real_floor, whole_same, NO_NUMBERS},
	[SL__OP_ONNX_Gelu] = {sl__act_gelu, NULL, NO_NUMBERS},
	[SL__OP_ONNX_HardSigmoid] = {sl__act_hard_sigmoid, NULL, "alpha", 0.2F,
				     "beta", 0.5F},
	[SL__OP_ONNX_HardSwish] = {sl__act_hard_swish, NULL, NULL, 1 / 6.0F,
				   NULL, 0.5F},
	[SL__OP_ONNX_IsInf] = {real_is_inf, NULL, NO_NUMBERS},
	[SL__OP_ONNX_IsNaN] = {real_is_nan, NULL, NO_NUMBERS},
	[SL__OP_ONNX_LeakyRelu] = {sl__act_leaky_relu, NULL, "alpha", 0.01F,
				   NULL, 0},
	[SL__OP_ONNX_Log] = {real_log, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Mish] = {sl__act_mish, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Neg] = {real_neg, whole_neg, NO_NUMBERS},
	[SL__OP_ONNX_Not] = {NULL, whole_not, NO_NUMBERS},
	[SL__OP_ONNX_Reciprocal] = {real_reciprocal, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Relu] = {sl__act_relu, whole_relu, NO_NUMBERS},
	[SL__OP_ONNX_Round] = {real_round, whole_same, NO_NUMBERS},
	[SL__OP_ONNX_Selu] = {sl__act_selu, NULL, "alpha",
			      1.67326319217681884765625F, "gamma",
			      1.05070102214813232421875F},
	[SL__OP_ONNX_Shrink] = {real_shrink, NULL, "bias", 0, "lambd", 0.5F},
	[SL__OP_ONNX_Sigmoid] = {sl__act_sigmoid, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Sign] = {real_sign, whole_sign, NO_NUMBERS},
	[SL__OP_ONNX_Sin] = {real_sin, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Sinh] = {real_sinh, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Softplus] = {sl__act_softplus, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Softsign] = {sl__act_softsign, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Sqrt] = {real_sqrt, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Swish] = {sl__act_swish, NULL, "alpha", 1, NULL, 0},
	[SL__OP_ONNX_Tan] = {real_tan, NULL, NO_NUMBERS},
	[SL__OP_ONNX_Tanh] = {sl__act_tanh, NULL, NO_NUMBERS},
	[SL__OP_ONNX_ThresholdedRelu] = {sl__act_thresholded_relu, NULL,
					 "alpha", 1, NULL, 0},
	[SL__OP_MS_BiasGelu] = {sl__act_gelu, NULL, NO_NUMBERS},
	[SL__OP_MS_FastGelu] = {sl__act_gelu_tanh, NULL, NO_NUMBERS},
	[SL__OP_MS_Gelu] = {sl__act_gelu, NULL, NO_NUMBERS},
	[SL__OP_MS_QuickGelu] = {sl__act_swish, NULL, "alpha", 1.702F, NULL, 0},
};

/* With a_usual and b_usual as the node has them. */
static struct form
form_of(const struct sl__node *node)
{
	struct form form = forms[node->op - sl__ops];

	if (sl__is_op(node, SL__OP_ONNX_Gelu) &&
	    !strcmp(sl__attribute_string(node, "approximate", "none"), "tanh"))
		form.real = sl__act_gelu_tanh;
	/* Before version 6 the defaults have fewer digits. */
	if (sl__is_op(node, SL__OP_ONNX_Selu) && node->version < 6) {
		form.a_usual = (double)1.6732F;
		form.b_usual = (double)1.0507F;
	}
	if (form.a)
		form.a_usual = sl__attribute_float(node, form.a, form.a_usual);
	if (form.b)
		form.b_usual = sl__attribute_float(node, form.b, form.b_usual);
	if (sl__is_op(node, SL__OP_ONNX_IsInf)) {
		form.a_usual = sl__attribute_int(node, "detect_positive", 1) !=
			       0;
		form.b_usual = sl__attribute_int(node, "detect_negative", 1) !=
			       0;
	}
	return form;
}

void
sl__unary_numbers(const struct sl__node *node, double *a, double *b)
{
	struct form form = form_of(node);

	*a = form.a_usual;
	*b = form.b_usual;
}

static int64_t
n_elements(const struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);

	return t ? (int64_t)t->n_elements : 0;
}

static enum sl_status
on_integers(struct sl__kernel_call *ev, whole_function *function)
{
	int is_signed = sl__dtype_is_signed(sl__ref_input_dtype(ev, 0));
	const int64_t *x = sl__ref_input_integers(ev, 0);
	int64_t *y = sl__ref_scratch_integers(ev, n_elements(ev));

	for (int64_t i = 0; !ev->failure && i < n_elements(ev); i++)
		y[i] = function(x[i], x[i] < 0 && is_signed);
	return sl__ref_output_store_integers(ev, 0, y);
}

/* 'bias' is repeated along the input; NULL: none. */
static enum sl_status
on_reals(struct sl__kernel_call *ev, const struct form *form,
	 const double *bias, int64_t n_bias)
{
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_doubles(ev, n_elements(ev));

	for (int64_t i = 0; !ev->failure && i < n_elements(ev); i++)
		y[i] = form->real(bias ? x[i] + bias[i % n_bias] : x[i],
				  form->a_usual, form->b_usual);
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* Also IsNaN and IsInf, whose numbers are truth values. */
enum sl_status
sl__ref_unary(struct sl__kernel_call *ev)
{
	struct form form = form_of(ev->node);

	if (form.whole && (!form.real || sl__ref_dtype_is_integer(
						 sl__ref_input_dtype(ev, 0))))
		return on_integers(ev, form.whole);
	return on_reals(ev, &form, NULL, 1);
}

/* Gelu of x + bias, where the bias goes along the last dimension. */
enum sl_status
sl__ref_bias_gelu(struct sl__kernel_call *ev)
{
	const struct sl__tensor *bias = sl__ref_input_tensor(ev, 1);
	const double *values = sl__ref_optional_doubles(ev, 1);
	int64_t n = bias ? (int64_t)bias->n_elements : 1;
	struct form form = form_of(ev->node);

	if (bias &&
	    (n == 0 || (n_elements(ev) && n != sl__ref_input_dim(ev, 0, -1))))
		return sl__ref_reject(
			ev, "a bias of %lld for a last dimension of %lld",
			(long long)n, (long long)sl__ref_input_dim(ev, 0, -1));
	return on_reals(ev, &form, values, n);
}

/* b swish(a) */
enum sl_status
sl__ref_swiglu(struct sl__kernel_call *ev)
{
	double alpha = sl__attribute_float(ev->node, "alpha", 1);
	const double *a = sl__ref_input_doubles(ev, 0),
		     *b = sl__ref_input_doubles(ev, 1);
	double *y = sl__ref_scratch_doubles(ev, n_elements(ev));

	if (!ev->failure && sl__ref_input_tensor(ev, 0)->n_elements !=
				    sl__ref_input_tensor(ev, 1)->n_elements)
		return sl__ref_reject(ev,
				      "its inputs are not of the same sizes");
	for (int64_t i = 0; !ev->failure && i < n_elements(ev); i++)
		y[i] = sl__act_swish(a[i], alpha, 0) * b[i];
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* One bound as an integer: 0 where there is none. */
static int
whole_bound(struct sl__kernel_call *ev, size_t i, int64_t *bound)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	return t && t->n_elements && sl__tensor_integer_bits(t, 0, 1, bound);
}

static enum sl_status
clip_integers(struct sl__kernel_call *ev)
{
	int is_unsigned = !sl__dtype_is_signed(sl__ref_input_dtype(ev, 0));
	int64_t low = 0, high = 0;
	int has_low = whole_bound(ev, 1, &low);
	int has_high = whole_bound(ev, 2, &high);
	const int64_t *x = sl__ref_input_integers(ev, 0);
	int64_t *y = sl__ref_scratch_integers(ev, n_elements(ev));

	for (int64_t i = 0; !ev->failure && i < n_elements(ev); i++) {
		y[i] = x[i];
		if (has_low && sl__ref_integer_is_less(y[i], low, is_unsigned))
			y[i] = low;
		if (has_high &&
		    sl__ref_integer_is_less(high, y[i], is_unsigned))
			y[i] = high;
	}
	return sl__ref_output_store_integers(ev, 0, y);
}

/* The largest finite number of a type. */
static double
largest_of(enum sl_dtype dtype)
{
	return dtype == SL_DTYPE_F64    ? DBL_MAX
	       : dtype == SL_DTYPE_F16  ? 65504
	       : dtype == SL_DTYPE_BF16 ? 0x1.fep127
					: (double)FLT_MAX;
}

/* Bounds are attributes before version 11, f32 whatever the elements are, then
 * inputs.  One that is not there is the largest or the lowest number, so that
 * infinities become finite. */
enum sl_status
sl__ref_clip(struct sl__kernel_call *ev)
{
	const struct sl__node *node = ev->node;
	double most = largest_of(
		node->version < 11 ? SL_DTYPE_F32 : sl__ref_input_dtype(ev, 0));
	struct form form = {
		.real = sl__act_clip,
		.a_usual = sl__ref_input_scalar(
			ev, 1, sl__attribute_float(node, "min", -most)),
		.b_usual = sl__ref_input_scalar(
			ev, 2, sl__attribute_float(node, "max", most))};

	return sl__ref_dtype_is_integer(sl__ref_input_dtype(ev, 0))
		       ? clip_integers(ev)
		       : on_reals(ev, &form, NULL, 1);
}
