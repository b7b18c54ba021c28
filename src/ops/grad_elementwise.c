/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_elementwise.c - gradients of operators that treat each element alone.
 *
 * A function of one number has one node: UnaryGrad(dy, x) is dy times the
 * slope at x.  Where that follows from the result y, the node takes y instead,
 * which is mostly kept anyway.  The rest is put together from operators that
 * there are.
 */
#include "ops/activation.h"
#include "ops/cost.h"
#include "ops/gradient.h"
#include "ops/op_row.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Slopes at x, or by the result y. */
#define SLOPE(name, formula)                                     \
	static double slope_##name(double x, double a, double b) \
	{                                                        \
		(void)a;                                         \
		(void)b;                                         \
		return formula;                                  \
	}

static double
gelu_slope(double x)
{
	double density = exp(-x * x / 2) / sqrt(2 * acos(-1));

	return (1 + erf(x / sqrt(2))) / 2 + x * density;
}

/* Of x / 2 (1 + tanh(c (x + d x^3))). */
static double
gelu_tanh_slope(double x)
{
	double c = sqrt(2 / acos(-1)), d = 0.044715;
	double t = tanh(c * (x + d * x * x * x));

	return (1 + t) / 2 + x / 2 * (1 - t * t) * c * (1 + 3 * d * x * x);
}

static double
hard_swish_slope(double x, double a, double b)
{
	double gate = a * x + b;

	return gate <= 0 ? 0 : gate >= 1 ? 1 : gate + a * x;
}

static double
mish_slope(double x)
{
	double t = tanh(sl__act_softplus(x, 0, 0));

	return t + x * (1 - t * t) * sl__act_sigmoid(x, 0, 0);
}

static double
swish_slope(double x, double a)
{
	double s = sl__act_sigmoid(a * x, 0, 0);

	return s + a * x * s * (1 - s);
}

SLOPE(abs, (double)((x > 0) - (x < 0)))
SLOPE(acos, -1 / sqrt(1 - x * x))
SLOPE(acosh, 1 / sqrt(x * x - 1))
SLOPE(asin, 1 / sqrt(1 - x * x))
SLOPE(asinh, 1 / sqrt(1 + x * x))
SLOPE(atan, 1 / (1 + x * x))
SLOPE(atanh, 1 / (1 - x * x))
SLOPE(celu, x < 0 ? exp(x / a) : 1)
SLOPE(clip, x >= a && x <= b)
SLOPE(cos, -sin(x))
SLOPE(cosh, sinh(x))
SLOPE(elu, x < 0 ? a * exp(x) : 1)
SLOPE(erf, 2 / sqrt(acos(-1)) * exp(-x * x))
SLOPE(exp, x) /* by y */
SLOPE(gelu, gelu_slope(x))
SLOPE(gelu_tanh, gelu_tanh_slope(x))
SLOPE(hard_sigmoid, a *x + b > 0 && a * x + b < 1 ? a : 0)
SLOPE(hard_swish, hard_swish_slope(x, a, b))
SLOPE(leaky_relu, x < 0 ? a : 1)
SLOPE(log, 1 / x)
SLOPE(mish, mish_slope(x))
SLOPE(reciprocal, -x *x) /* by y */
SLOPE(relu, x > 0)       /* by y */
SLOPE(selu, b *(x > 0 ? 1 : a * exp(x)))
SLOPE(shrink, fabs(x) > b)
SLOPE(sigmoid, x *(1 - x)) /* by y */
SLOPE(sin, cos(x))
SLOPE(sinh, cosh(x))
SLOPE(softplus, sl__act_sigmoid(x, 0, 0))
SLOPE(softsign, 1 / ((1 + fabs(x)) * (1 + fabs(x))))
SLOPE(sqrt, 1 / (2 * x)) /* by y */
SLOPE(swish, swish_slope(x, a))
SLOPE(tan, 1 + x * x)  /* by y */
SLOPE(tanh, 1 - x * x) /* by y */
SLOPE(thresholded_relu, x > a)

/* What 'function' of a UnaryGrad names, and operations of an element, the
 * multiplication by dy included. */
static const struct slope {
	const char *name;
	sl__activation_function *apply;
	int is_by_output;
	struct sl__operations_each each;
} slopes[] = {
	{"Abs", slope_abs, 0, {.mul = 1, .cmp = 2}},
	{"Acos", slope_acos, 0, {.fma = 1, .div = 1, .exp = 1}},
	{"Acosh", slope_acosh, 0, {.fma = 1, .div = 1, .exp = 1}},
	{"Asin", slope_asin, 0, {.fma = 1, .div = 1, .exp = 1}},
	{"Asinh", slope_asinh, 0, {.fma = 1, .div = 1, .exp = 1}},
	{"Atan", slope_atan, 0, {.fma = 1, .div = 1}},
	{"Atanh", slope_atanh, 0, {.fma = 1, .div = 1}},
	{"Celu", slope_celu, 0, {.mul = 1, .div = 1, .exp = 1, .cmp = 1}},
	{"Clip", slope_clip, 0, {.cmp = 2}},
	{"Cos", slope_cos, 0, {.mul = 1, .exp = 1}},
	{"Cosh", slope_cosh, 0, {.mul = 1, .exp = 1}},
	{"Elu", slope_elu, 0, {.mul = 2, .exp = 1, .cmp = 1}},
	{"Erf", slope_erf, 0, {.mul = 3, .exp = 1}},
	{"Exp", slope_exp, 1, {.mul = 1}},
	{"Gelu", slope_gelu, 0, {.mul = 4, .fma = 2, .exp = 2}},
	{"GeluTanh", slope_gelu_tanh, 0, {.mul = 6, .fma = 5, .exp = 1}},
	{"HardSigmoid", slope_hard_sigmoid, 0, {.mul = 1, .fma = 1, .cmp = 2}},
	{"HardSwish", slope_hard_swish, 0, {.mul = 1, .fma = 2, .cmp = 2}},
	{"LeakyRelu", slope_leaky_relu, 0, {.mul = 1, .cmp = 1}},
	{"Log", slope_log, 0, {.div = 1}},
	{"Mish",
	 slope_mish,
	 0,
	 {.mul = 2, .add = 2, .fma = 2, .div = 1, .exp = 4}},
	{"Reciprocal", slope_reciprocal, 1, {.mul = 2}},
	{"Relu", slope_relu, 1, {.cmp = 1}},
	{"Selu", slope_selu, 0, {.mul = 2, .exp = 1, .cmp = 1}},
	{"Shrink", slope_shrink, 0, {.cmp = 2}},
	{"Sigmoid", slope_sigmoid, 1, {.mul = 2, .add = 1}},
	{"Sin", slope_sin, 0, {.mul = 1, .exp = 1}},
	{"Sinh", slope_sinh, 0, {.mul = 1, .exp = 1}},
	{"Softplus",
	 slope_softplus,
	 0,
	 {.mul = 1, .add = 1, .div = 1, .exp = 1}},
	{"Softsign", slope_softsign, 0, {.mul = 1, .add = 1, .div = 1}},
	{"Sqrt", slope_sqrt, 1, {.mul = 1, .div = 1}},
	{"Swish",
	 slope_swish,
	 0,
	 {.mul = 3, .add = 1, .fma = 1, .div = 1, .exp = 1}},
	{"Tan", slope_tan, 1, {.mul = 1, .fma = 1}},
	{"Tanh", slope_tanh, 1, {.mul = 1, .fma = 1}},
	{"ThresholdedRelu", slope_thresholded_relu, 0, {.cmp = 1}},
};

/* The first where there is none of that name, which inference refuses. */
static const struct slope *
find_slope(const char *name)
{
	for (size_t i = 1; i < sizeof(slopes) / sizeof(slopes[0]); i++) {
		if (!strcmp(slopes[i].name, name))
			return &slopes[i];
	}
	return &slopes[0];
}

static const struct slope *
slope_of(const struct sl__node *node)
{
	return find_slope(sl__attribute_string(node, "function", ""));
}

enum sl_status
sl__infer_unary_grad(struct sl__rule_context *call)
{
	const char *name = sl__attribute_string(call->node, "function", "");

	if (strcmp(find_slope(name)->name, name) != 0)
		return sl__rule_reject(call, "its function is not known");
	return sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
}

void
sl__cost_unary_grad(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_ACTIVATION;
	sl__cost_add_operations(cost, cost->out_elements,
				slope_of(call->node)->each);
}

enum sl_status
sl__ref_unary_grad(struct sl__kernel_call *ev)
{
	const struct slope *slope = slope_of(ev->node);
	double a = sl__attribute_float(ev->node, "alpha", 0);
	double b = sl__attribute_float(ev->node, "beta", 0);
	const double *dy = sl__ref_input_doubles(ev, 0);
	const double *x = sl__ref_input_doubles(ev, 1);
	double *dx = sl__ref_scratch_output(ev, 0);

	for (uint64_t i = 0;
	     !ev->failure && i < sl__ref_input_tensor(ev, 0)->n_elements; i++)
		dx[i] = dy[i] * slope->apply(x[i], a, b);
	return sl__ref_output_store_doubles(ev, 0, dx);
}

/* The node, of a function at x with two numbers; y is its result. */
static uint32_t
add_unary(struct sl__gradient *g, const char *name, const double *ab,
	  uint32_t x)
{
	int is_by_output = find_slope(name)->is_by_output;

	sl__node_writer_set_string(g->w, "function", name);
	sl__node_writer_set_float(g->w, "alpha", ab[0]);
	sl__node_writer_set_float(g->w, "beta", ab[1]);
	return SL__ADD_NODE(g->w, SLEUTH_UnaryGrad, g->dy[0],
			    is_by_output ? g->node.outputs[0] : x);
}

void
sl__grad_unary(struct sl__gradient *g)
{
	const struct sl__node *node = &g->node;
	const char *name = node->type;
	double ab[2];

	sl__unary_numbers(node, &ab[0], &ab[1]);
	if (sl__is_op(node, SL__OP_ONNX_Gelu) &&
	    !strcmp(sl__attribute_string(node, "approximate", "none"), "tanh"))
		name = "GeluTanh";
	else if (sl__is_op(node, SL__OP_MS_QuickGelu))
		name = "Swish";
	g->dx[0] = add_unary(g, name, ab, node->inputs[0]);
}

/* Of x + bias, where there is one. */
void
sl__grad_bias_gelu(struct sl__gradient *g)
{
	static const double none[2];
	const char *name = sl__is_op(&g->node, SL__OP_MS_FastGelu) ? "GeluTanh"
								   : "Gelu";
	uint32_t x = g->node.inputs[0], bias = sl__gradient_input(g, 1), d;

	if (bias != SL__NONE)
		x = SL__ADD_NODE(g->w, ONNX_Add, x, bias);
	d = add_unary(g, name, none, x);
	g->dx[0] = d;
	if (sl__gradient_wants(g, 1))
		sl__gradient_set_summed(g, 1, d);
}

/* A number that is known, of an attribute or of input i. */
static double
known_number(struct sl__gradient *g, const char *name, uint32_t i,
	     double otherwise)
{
	const struct sl__known_contents *known;
	uint32_t value = sl__gradient_input(g, i);

	if (value == SL__NONE)
		return sl__attribute_float(&g->node, name, otherwise);
	known = sl__shapes_known_contents(g->w->shapes, value);
	if (known && known->n == 1 && known->floats)
		return known->floats[0];
	sl__gradient_reject(g, "it has no gradient where its numbers depend on "
			       "data");
	return otherwise;
}

void
sl__grad_clip(struct sl__gradient *g)
{
	const double ab[2] = {known_number(g, "min", 1, -(double)INFINITY),
			      known_number(g, "max", 2, (double)INFINITY)};

	g->dx[0] = add_unary(g, "Clip", ab, g->node.inputs[0]);
}

void
sl__grad_identity(struct sl__gradient *g)
{
	g->dx[0] = g->dy[0];
}

void
sl__grad_neg(struct sl__gradient *g)
{
	g->dx[0] = SL__ADD_NODE(g->w, ONNX_Neg, g->dy[0]);
}

void
sl__grad_cast(struct sl__gradient *g)
{
	sl__node_writer_set_int(
		g->w, "to",
		sl__node_writer_type(g->w, g->node.inputs[0]).dtype);
	g->dx[0] = SL__ADD_NODE(g->w, ONNX_Cast, g->dy[0]);
}

/* What was kept is scaled; the mask is an output of the forward node. */
void
sl__grad_dropout(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	uint32_t x = g->node.inputs[0], mode = sl__gradient_input(g, 2);
	const struct sl__known_contents *is_on =
		mode == SL__NONE ? NULL
				 : sl__shapes_known_contents(w->shapes, mode);
	double ratio;

	g->dx[0] = g->dy[0];
	if (mode == SL__NONE ||
	    (is_on && is_on->n && is_on->ints && !is_on->ints[0]))
		return;
	ratio = known_number(g, "ratio", 1, 0.5);
	if (!is_on)
		sl__gradient_reject(g, "whether it drops depends on data");
	g->dx[0] = SL__ADD_NODE(
		w, ONNX_Where, sl__node_writer_output(w, g->id, 1),
		sl__node_writer_scale(w, g->dy[0], 1 / (1 - ratio)),
		sl__node_writer_scalar(w, sl__node_writer_type(w, x).dtype, 0));
}

/* Old versions align the second operand with an axis of the first. */
static int
is_numpy_broadcast(struct sl__gradient *g)
{
	int is_old = !g->node.domain[0] && g->node.version < 7 &&
		     sl__attribute_int(&g->node, "broadcast", 0) &&
		     sl__attribute_find(&g->node, "axis");

	if (is_old)
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "before version 7, with an axis");
	return !is_old;
}

/* Add, Sub, Sum and Mean. */
void
sl__grad_sum(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	uint32_t dy = g->dy[0];

	if (!is_numpy_broadcast(g))
		return;
	if (sl__is_op(&g->node, SL__OP_ONNX_Mean))
		dy = sl__node_writer_scale(w, dy, 1.0 / g->node.n_inputs);
	for (uint32_t i = 0; i < g->node.n_inputs; i++) {
		if (!g->is_wanted[i])
			continue;
		sl__gradient_set_summed(g, i, dy);
		if (i == 1 && sl__is_op(&g->node, SL__OP_ONNX_Sub))
			g->dx[i] = SL__ADD_NODE(w, ONNX_Neg, g->dx[i]);
	}
}

void
sl__grad_mul(struct sl__gradient *g)
{
	if (!is_numpy_broadcast(g))
		return;
	for (uint32_t i = 0; i < 2; i++) {
		if (g->is_wanted[i])
			sl__gradient_set_summed(
				g, i,
				SL__ADD_NODE(g->w, ONNX_Mul, g->dy[0],
					     g->node.inputs[1 - i]));
	}
}

/* y = a / b: da = dy / b, db = -da y. */
void
sl__grad_div(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	uint32_t da;

	if (!is_numpy_broadcast(g))
		return;
	da = SL__ADD_NODE(w, ONNX_Div, g->dy[0], g->node.inputs[1]);
	if (g->is_wanted[0])
		sl__gradient_set_summed(g, 0, da);
	if (!g->is_wanted[1])
		return;
	da = SL__ADD_NODE(w, ONNX_Mul, da, g->node.outputs[0]);
	sl__gradient_set_summed(g, 1, SL__ADD_NODE(w, ONNX_Neg, da));
}

/* y = a^b: da = dy b a^(b - 1), db = dy y log(a). */
void
sl__grad_pow(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	uint32_t a = g->node.inputs[0], b = g->node.inputs[1];
	enum sl_dtype dtype = sl__node_writer_type(w, a).dtype;

	if (sl__node_writer_type(w, b).dtype != dtype) {
		sl__node_writer_set_int(w, "to", dtype);
		b = SL__ADD_NODE(w, ONNX_Cast, b);
	}
	if (g->is_wanted[0]) {
		uint32_t one = sl__node_writer_scalar(w, dtype, 1);
		uint32_t less = SL__ADD_NODE(w, ONNX_Sub, b, one);
		uint32_t slope = SL__ADD_NODE(
			w, ONNX_Mul, b, SL__ADD_NODE(w, ONNX_Pow, a, less));

		sl__gradient_set_summed(
			g, 0, SL__ADD_NODE(w, ONNX_Mul, g->dy[0], slope));
	}
	if (g->is_wanted[1]) {
		uint32_t slope = SL__ADD_NODE(w, ONNX_Mul, g->node.outputs[0],
					      SL__ADD_NODE(w, ONNX_Log, a));

		sl__gradient_set_summed(
			g, 1, SL__ADD_NODE(w, ONNX_Mul, g->dy[0], slope));
	}
}

/* Max and Min: to those that are the result, in equal parts. */
void
sl__grad_max(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	uint32_t y = g->node.outputs[0], n = 0, part;
	uint32_t is_it[64]; /* by input, 1 where it is the result */
	enum sl_dtype dtype = sl__node_writer_type(w, y).dtype;

	if (g->node.n_inputs > 64) {
		sl__gradient_reject(g, "more inputs than there is room for");
		return;
	}
	for (uint32_t i = 0; i < g->node.n_inputs; i++) {
		uint32_t same =
			SL__ADD_NODE(w, ONNX_Equal, g->node.inputs[i], y);

		sl__node_writer_set_int(w, "to", dtype);
		is_it[n++] = SL__ADD_NODE(w, ONNX_Cast, same);
	}
	part = SL__ADD_NODE(w, ONNX_Div, g->dy[0],
			    sl__node_writer_add(w, SL__OP_ONNX_Sum, is_it, n));
	for (uint32_t i = 0; i < n; i++) {
		if (g->is_wanted[i])
			sl__gradient_set_summed(
				g, i,
				SL__ADD_NODE(w, ONNX_Mul, part, is_it[i]));
	}
}

void
sl__grad_where(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	enum sl_dtype dtype = sl__node_writer_type(w, g->dy[0]).dtype;
	uint32_t zero = sl__node_writer_scalar(w, dtype, 0);
	uint32_t c = g->node.inputs[0], dy = g->dy[0];

	if (g->is_wanted[1])
		sl__gradient_set_summed(
			g, 1, SL__ADD_NODE(w, ONNX_Where, c, dy, zero));
	if (g->is_wanted[2])
		sl__gradient_set_summed(
			g, 2, SL__ADD_NODE(w, ONNX_Where, c, zero, dy));
}

void
sl__grad_prelu(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	uint32_t x = g->node.inputs[0], slope = g->node.inputs[1];
	uint32_t dy = g->dy[0], zero, is_below;

	zero = sl__node_writer_scalar(w, sl__node_writer_type(w, x).dtype, 0);
	is_below = SL__ADD_NODE(w, ONNX_Less, x, zero);
	if (g->is_wanted[0])
		g->dx[0] = SL__ADD_NODE(w, ONNX_Where, is_below,
					SL__ADD_NODE(w, ONNX_Mul, dy, slope),
					dy);
	if (g->is_wanted[1])
		sl__gradient_set_summed(
			g, 1,
			SL__ADD_NODE(w, ONNX_Where, is_below,
				     SL__ADD_NODE(w, ONNX_Mul, dy, x), zero));
}

/* b swish(a) */
void
sl__grad_swiglu(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	double alpha = sl__attribute_float(&g->node, "alpha", 1);
	uint32_t a = g->node.inputs[0], b = g->node.inputs[1];

	if (g->is_wanted[0]) {
		uint32_t db = SL__ADD_NODE(w, ONNX_Mul, g->dy[0], b);

		sl__node_writer_set_string(w, "function", "Swish");
		sl__node_writer_set_float(w, "alpha", alpha);
		g->dx[0] = SL__ADD_NODE(w, SLEUTH_UnaryGrad, db, a);
	}
	if (g->is_wanted[1]) {
		sl__node_writer_set_float(w, "alpha", alpha);
		g->dx[1] = SL__ADD_NODE(w, ONNX_Mul, g->dy[0],
					SL__ADD_NODE(w, ONNX_Swish, a));
	}
}
