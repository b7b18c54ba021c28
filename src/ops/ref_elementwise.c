/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_elementwise.c - operators of one input that treat each element alone.
 *
 * 'forms' has a row for each operator: what it does to a real number and,
 * where its integers are not just cut reals, to an integer.  Two numbers may
 * come with it, which are attributes.
 */
#include "base/dtype.h"
#include "ops/activation.h"
#include "ops/ref.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

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
form_of(const struct sl__eval *ev)
{
	const struct sl__node *node = ev->node;
	struct form form = forms[node->op - sl__ops];

	if (sl__is_op(node, SL__OP_ONNX_Gelu) &&
	    !strcmp(sl__word(node, "approximate", "none"), "tanh"))
		form.real = sl__act_gelu_tanh;
	/* Before version 6 the defaults have fewer digits. */
	if (sl__is_op(node, SL__OP_ONNX_Selu) && node->version < 6) {
		form.a_usual = (double)1.6732F;
		form.b_usual = (double)1.0507F;
	}
	if (form.a)
		form.a_usual = sl__float(node, form.a, form.a_usual);
	if (form.b)
		form.b_usual = sl__float(node, form.b, form.b_usual);
	if (sl__is_op(node, SL__OP_ONNX_IsInf)) {
		form.a_usual = sl__int(node, "detect_positive", 1) != 0;
		form.b_usual = sl__int(node, "detect_negative", 1) != 0;
	}
	return form;
}

static int64_t
n_elements(const struct sl__eval *ev)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, 0);

	return t ? (int64_t)t->n_elements : 0;
}

static enum sl_status
on_integers(struct sl__eval *ev, whole_function *function)
{
	int is_signed = sl__dtype_is_signed(sl__ref_dtype(ev, 0));
	const int64_t *x = sl__ref_integers(ev, 0);
	int64_t *y = sl__ref_new_integers(ev, n_elements(ev));

	for (int64_t i = 0; !ev->failure && i < n_elements(ev); i++)
		y[i] = function(x[i], x[i] < 0 && is_signed);
	return sl__ref_store_integers(ev, 0, y);
}

/* 'bias' is repeated along the input; NULL: none. */
static enum sl_status
on_reals(struct sl__eval *ev, const struct form *form, const double *bias,
	 int64_t n_bias)
{
	const double *x = sl__ref_doubles(ev, 0);
	double *y = sl__ref_new_doubles(ev, n_elements(ev));

	for (int64_t i = 0; !ev->failure && i < n_elements(ev); i++)
		y[i] = form->real(bias ? x[i] + bias[i % n_bias] : x[i],
				  form->a_usual, form->b_usual);
	return sl__ref_store_doubles(ev, 0, y);
}

/* Also IsNaN and IsInf, whose numbers are truth values. */
enum sl_status
sl__ref_unary(struct sl__eval *ev)
{
	struct form form = form_of(ev);

	if (form.whole &&
	    (!form.real || sl__ref_is_whole(sl__ref_dtype(ev, 0))))
		return on_integers(ev, form.whole);
	return on_reals(ev, &form, NULL, 1);
}

/* Gelu of x + bias, where the bias goes along the last dimension. */
enum sl_status
sl__ref_bias_gelu(struct sl__eval *ev)
{
	const struct sl__tensor *bias = sl__ref_tensor(ev, 1);
	const double *values = sl__ref_given_doubles(ev, 1);
	int64_t n = bias ? (int64_t)bias->n_elements : 1;
	struct form form = form_of(ev);

	if (bias && (n == 0 || (n_elements(ev) && n != sl__ref_dim(ev, 0, -1))))
		return sl__ref_refuse(
			ev, "a bias of %lld for a last dimension of %lld",
			(long long)n, (long long)sl__ref_dim(ev, 0, -1));
	return on_reals(ev, &form, values, n);
}

/* b swish(a) */
enum sl_status
sl__ref_swiglu(struct sl__eval *ev)
{
	double alpha = sl__float(ev->node, "alpha", 1);
	const double *a = sl__ref_doubles(ev, 0), *b = sl__ref_doubles(ev, 1);
	double *y = sl__ref_new_doubles(ev, n_elements(ev));

	if (!ev->failure && sl__ref_tensor(ev, 0)->n_elements !=
				    sl__ref_tensor(ev, 1)->n_elements)
		return sl__ref_refuse(ev,
				      "its inputs are not of the same sizes");
	for (int64_t i = 0; !ev->failure && i < n_elements(ev); i++)
		y[i] = sl__act_swish(a[i], alpha, 0) * b[i];
	return sl__ref_store_doubles(ev, 0, y);
}

/* One bound as an integer: 0 where there is none. */
static int
whole_bound(struct sl__eval *ev, size_t i, int64_t *bound)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	return t && t->n_elements && sl__tensor_words(t, 0, 1, bound);
}

static enum sl_status
clip_integers(struct sl__eval *ev)
{
	int is_unsigned = !sl__dtype_is_signed(sl__ref_dtype(ev, 0));
	int64_t low = 0, high = 0;
	int has_low = whole_bound(ev, 1, &low);
	int has_high = whole_bound(ev, 2, &high);
	const int64_t *x = sl__ref_integers(ev, 0);
	int64_t *y = sl__ref_new_integers(ev, n_elements(ev));

	for (int64_t i = 0; !ev->failure && i < n_elements(ev); i++) {
		y[i] = x[i];
		if (has_low && sl__ref_is_less(y[i], low, is_unsigned))
			y[i] = low;
		if (has_high && sl__ref_is_less(high, y[i], is_unsigned))
			y[i] = high;
	}
	return sl__ref_store_integers(ev, 0, y);
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
sl__ref_clip(struct sl__eval *ev)
{
	const struct sl__node *node = ev->node;
	double most = largest_of(node->version < 11 ? SL_DTYPE_F32
						    : sl__ref_dtype(ev, 0));
	struct form form = {
		.real = sl__act_clip,
		.a_usual = sl__ref_number(ev, 1, sl__float(node, "min", -most)),
		.b_usual = sl__ref_number(ev, 2, sl__float(node, "max", most))};

	return sl__ref_is_whole(sl__ref_dtype(ev, 0))
		       ? clip_integers(ev)
		       : on_reals(ev, &form, NULL, 1);
}
