/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_elementwise.c - operators of one input that treat each element alone.
 *
 * 'forms' has a row for each operator: what it does to a real number and,
 * where its integers are not just cut reals, to an integer.  Two numbers may
 * come with it, which are attributes with their defaults.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "ops/activation.h"
#include "ops/ref.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Two attributes of an operator, or what stands for them. */
struct knobs {
	double a, b;
	int is_unsigned; /* integers without sign: the 64 bits of uint64 */
};

typedef int64_t whole_function(int64_t x, const struct knobs *k);

#define LIBM(name, function)                             \
	static double name(double x, double a, double b) \
	{                                                \
		(void)a;                                 \
		(void)b;                                 \
		return function(x);                      \
	}

LIBM(real_abs, fabs)
LIBM(real_acos, acos)
LIBM(real_acosh, acosh)
LIBM(real_asin, asin)
LIBM(real_asinh, asinh)
LIBM(real_atan, atan)
LIBM(real_atanh, atanh)
LIBM(real_ceil, ceil)
LIBM(real_cos, cos)
LIBM(real_cosh, cosh)
LIBM(real_erf, erf)
LIBM(real_exp, exp)
LIBM(real_floor, floor)
LIBM(real_log, log)
LIBM(real_round, nearbyint) /* ties to even */
LIBM(real_sin, sin)
LIBM(real_sinh, sinh)
LIBM(real_sqrt, sqrt)
LIBM(real_tan, tan)

static double
real_neg(double x, double a, double b)
{
	(void)a;
	(void)b;
	return -x;
}

static double
real_reciprocal(double x, double a, double b)
{
	(void)a;
	(void)b;
	return 1 / x;
}

static double
real_sign(double x, double a, double b)
{
	(void)a;
	(void)b;
	return isnan(x) ? x : (double)((x > 0) - (x < 0));
}

static double
real_shrink(double x, double bias, double limit)
{
	if (x < -limit)
		return x + bias;
	return x > limit ? x - bias : isnan(x) ? x : 0;
}

static int64_t
whole_abs(int64_t x, const struct knobs *k)
{
	return x < 0 && !k->is_unsigned ? (int64_t)(0 - (uint64_t)x) : x;
}

static int64_t
whole_neg(int64_t x, const struct knobs *k)
{
	(void)k;
	return (int64_t)(0 - (uint64_t)x);
}

static int64_t
whole_sign(int64_t x, const struct knobs *k)
{
	return x < 0 && !k->is_unsigned ? -1 : x != 0;
}

static int64_t
whole_relu(int64_t x, const struct knobs *k)
{
	return x < 0 && !k->is_unsigned ? 0 : x;
}

static int64_t
whole_same(int64_t x, const struct knobs *k)
{
	(void)k;
	return x;
}

static int64_t
whole_bit_not(int64_t x, const struct knobs *k)
{
	(void)k;
	return ~x;
}

static int64_t
whole_not(int64_t x, const struct knobs *k)
{
	(void)k;
	return !x;
}

struct form {
	sl__activation_function *real;
	whole_function *whole; /* NULL: like reals, cut */
	const char *a, *b;     /* names of attributes */
	float a_usual, b_usual;
};

static const struct form forms[SL__N_OPS] = {
	[SL__OP_ONNX_Abs] = {real_abs, whole_abs, 0, 0, 0, 0},
	[SL__OP_ONNX_Acos] = {real_acos, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Acosh] = {real_acosh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Asin] = {real_asin, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Asinh] = {real_asinh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Atan] = {real_atan, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Atanh] = {real_atanh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_BitwiseNot] = {0, whole_bit_not, 0, 0, 0, 0},
	[SL__OP_ONNX_Ceil] = {real_ceil, whole_same, 0, 0, 0, 0},
	[SL__OP_ONNX_Celu] = {sl__act_celu, 0, "alpha", 0, 1, 0},
	[SL__OP_ONNX_Cos] = {real_cos, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Cosh] = {real_cosh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Elu] = {sl__act_elu, 0, "alpha", 0, 1, 0},
	[SL__OP_ONNX_Erf] = {real_erf, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Exp] = {real_exp, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Floor] = {real_floor, whole_same, 0, 0, 0, 0},
	[SL__OP_ONNX_Gelu] = {sl__act_gelu, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_HardSigmoid] = {sl__act_hard_sigmoid, 0, "alpha", "beta",
				     0.2F, 0.5F},
	[SL__OP_ONNX_HardSwish] = {sl__act_hard_swish, 0, 0, 0, 1 / 6.0F, 0.5F},
	[SL__OP_ONNX_LeakyRelu] = {sl__act_leaky_relu, 0, "alpha", 0, 0.01F, 0},
	[SL__OP_ONNX_Log] = {real_log, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Mish] = {sl__act_mish, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Neg] = {real_neg, whole_neg, 0, 0, 0, 0},
	[SL__OP_ONNX_Not] = {0, whole_not, 0, 0, 0, 0},
	[SL__OP_ONNX_Reciprocal] = {real_reciprocal, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Relu] = {sl__act_relu, whole_relu, 0, 0, 0, 0},
	[SL__OP_ONNX_Round] = {real_round, whole_same, 0, 0, 0, 0},
	[SL__OP_ONNX_Selu] = {sl__act_selu, 0, "alpha", "gamma",
			      1.67326319217681884765625F,
			      1.05070102214813232421875F},
	[SL__OP_ONNX_Shrink] = {real_shrink, 0, "bias", "lambd", 0, 0.5F},
	[SL__OP_ONNX_Sigmoid] = {sl__act_sigmoid, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Sign] = {real_sign, whole_sign, 0, 0, 0, 0},
	[SL__OP_ONNX_Sin] = {real_sin, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Sinh] = {real_sinh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Softplus] = {sl__act_softplus, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Softsign] = {sl__act_softsign, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Sqrt] = {real_sqrt, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Swish] = {sl__act_swish, 0, "alpha", 0, 1, 0},
	[SL__OP_ONNX_Tan] = {real_tan, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Tanh] = {sl__act_tanh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_ThresholdedRelu] = {sl__act_thresholded_relu, 0, "alpha",
					 0, 1, 0},
	[SL__OP_MS_BiasGelu] = {sl__act_gelu, 0, 0, 0, 0, 0},
	[SL__OP_MS_FastGelu] = {sl__act_gelu_tanh, 0, 0, 0, 0, 0},
	[SL__OP_MS_Gelu] = {sl__act_gelu, 0, 0, 0, 0, 0},
	[SL__OP_MS_QuickGelu] = {sl__act_swish, 0, "alpha", 0, 1.702F, 0},
};

static struct form
form_of(const struct sl__node *node)
{
	struct form form = forms[node->op - sl__ops];

	if (sl__is_op(node, SL__OP_ONNX_Gelu) &&
	    !strcmp(sl__word(node, "approximate", "none"), "tanh"))
		form.real = sl__act_gelu_tanh;
	/* Before version 6 the defaults have fewer digits. */
	if (sl__is_op(node, SL__OP_ONNX_Selu) && node->version < 6) {
		form.a_usual = 1.6732F;
		form.b_usual = 1.0507F;
	}
	return form;
}

static struct knobs
knobs_of(const struct sl__eval *ev, const struct form *form)
{
	enum sl_dtype dtype = sl__ref_dtype(ev, 0);
	struct knobs k = {(double)form->a_usual, (double)form->b_usual,
			  !sl__dtype_is_signed(dtype)};

	if (form->a)
		k.a = sl__float(ev->node, form->a, k.a);
	if (form->b)
		k.b = sl__float(ev->node, form->b, k.b);
	return k;
}

static size_t
n_elements(const struct sl__eval *ev)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, 0);

	return t ? (size_t)t->n_elements : 0;
}

static enum sl_status
on_integers(struct sl__eval *ev, const struct form *form, struct sl_error *err)
{
	struct knobs k = knobs_of(ev, form);
	const int64_t *x = sl__ref_integers(ev, 0, err);
	int64_t *y = sl__ref_new(ev, n_elements(ev), sizeof(*y));

	if (!x || !y)
		return x ? sl__fail_nomem(err) : sl__ref_failure(ev);
	for (size_t i = 0; i < n_elements(ev); i++)
		y[i] = form->whole(x[i], &k);
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

/* 'bias' is repeated along the input; NULL: none. */
static enum sl_status
on_reals(struct sl__eval *ev, const struct form *form, const double *bias,
	 size_t n_bias, struct sl_error *err)
{
	struct knobs k = knobs_of(ev, form);
	const double *x = sl__ref_doubles(ev, 0, err);
	double *y = sl__ref_new(ev, n_elements(ev), sizeof(*y));

	if (!x || !y)
		return x ? sl__fail_nomem(err) : sl__ref_failure(ev);
	for (size_t i = 0; i < n_elements(ev); i++)
		y[i] = form->real(bias ? x[i] + bias[i % n_bias] : x[i], k.a,
				  k.b);
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}

enum sl_status
sl__ref_unary(struct sl__eval *ev, struct sl_error *err)
{
	struct form form = form_of(ev->node);

	if (form.whole &&
	    (!form.real || sl__ref_is_whole(sl__ref_dtype(ev, 0))))
		return on_integers(ev, &form, err);
	return on_reals(ev, &form, NULL, 1, err);
}

/* Gelu of x + bias, where the bias goes along the last dimension. */
enum sl_status
sl__ref_bias_gelu(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *bias = sl__ref_tensor(ev, 1);
	struct form form = form_of(ev->node);
	const double *values;

	if (!bias)
		return on_reals(ev, &form, NULL, 1, err);
	if (bias->n_elements == 0 ||
	    (n_elements(ev) &&
	     (int64_t)bias->n_elements != sl__ref_dim(ev, 0, -1)))
		return sl__fail(err, SL_E_DATA,
				"a bias of %llu for a last dimension of %lld",
				(unsigned long long)bias->n_elements,
				(long long)sl__ref_dim(ev, 0, -1));
	values = sl__ref_doubles(ev, 1, err);
	if (!values)
		return sl__ref_failure(ev);
	return on_reals(ev, &form, values, (size_t)bias->n_elements, err);
}

/* b swish(a) */
enum sl_status
sl__ref_swiglu(struct sl__eval *ev, struct sl_error *err)
{
	double alpha = sl__float(ev->node, "alpha", 1);
	const struct sl__tensor *gate = sl__ref_tensor(ev, 0);
	const struct sl__tensor *linear = sl__ref_tensor(ev, 1);
	const double *a, *b;
	double *y;

	if (!gate || !linear || gate->n_elements != linear->n_elements)
		return sl__fail(err, SL_E_DATA,
				"its inputs are not of the same sizes");
	a = sl__ref_doubles(ev, 0, err);
	b = a ? sl__ref_doubles(ev, 1, err) : NULL;
	if (!b)
		return sl__ref_failure(ev);
	y = sl__ref_new(ev, n_elements(ev), sizeof(*y));
	if (!y)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n_elements(ev); i++)
		y[i] = sl__act_swish(a[i], alpha, 0) * b[i];
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}

/* IsNaN, IsInf. */
enum sl_status
sl__ref_unary_test(struct sl__eval *ev, struct sl_error *err)
{
	int is_nan = sl__is_op(ev->node, SL__OP_ONNX_IsNaN);
	int above = sl__int(ev->node, "detect_positive", 1) != 0;
	int below = sl__int(ev->node, "detect_negative", 1) != 0;
	const double *x = sl__ref_doubles(ev, 0, err);
	int64_t *y = sl__ref_new(ev, n_elements(ev), sizeof(*y));

	if (!x || !y)
		return x ? sl__fail_nomem(err) : sl__ref_failure(ev);
	for (size_t i = 0; i < n_elements(ev); i++)
		y[i] = is_nan ? isnan(x[i])
			      : isinf(x[i]) && (x[i] > 0 ? above : below);
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

/* One bound as an integer: 0 where there is none. */
static int
whole_bound(struct sl__eval *ev, size_t i, int64_t *bound)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	return t && t->n_elements && sl__tensor_words(t, 0, 1, bound);
}

static enum sl_status
clip_integers(struct sl__eval *ev, struct sl_error *err)
{
	int is_unsigned = !sl__dtype_is_signed(sl__ref_dtype(ev, 0));
	int64_t low = 0, high = 0;
	int has_low = whole_bound(ev, 1, &low);
	int has_high = whole_bound(ev, 2, &high);
	const int64_t *x = sl__ref_integers(ev, 0, err);
	int64_t *y = sl__ref_new(ev, n_elements(ev), sizeof(*y));

	if (!x || !y)
		return x ? sl__fail_nomem(err) : sl__ref_failure(ev);
	for (size_t i = 0; i < n_elements(ev); i++) {
		y[i] = x[i];
		if (has_low && sl__ref_is_less(y[i], low, is_unsigned))
			y[i] = low;
		if (has_high && sl__ref_is_less(high, y[i], is_unsigned))
			y[i] = high;
	}
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

/* The largest finite number of a type. */
static double
largest_of(enum sl_dtype dtype)
{
	switch ((int)dtype) {
	case SL_DTYPE_F64:
		return DBL_MAX;
	case SL_DTYPE_F16:
		return 65504;
	case SL_DTYPE_BF16:
		return 0x1.fep127;
	default:
		return (double)FLT_MAX;
	}
}

/* Bounds are attributes before version 11, f32 whatever the elements are, then
 * inputs.  One that is not there is the largest or the lowest number, so that
 * infinities become finite. */
enum sl_status
sl__ref_clip(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__node *node = ev->node;
	double most = largest_of(node->version < 11 ? SL_DTYPE_F32
						    : sl__ref_dtype(ev, 0));
	double low, high;
	const double *x;
	double *y;

	if (sl__ref_is_whole(sl__ref_dtype(ev, 0)))
		return clip_integers(ev, err);
	low = sl__ref_number(ev, 1, sl__float(node, "min", -most));
	high = sl__ref_number(ev, 2, sl__float(node, "max", most));
	x = sl__ref_doubles(ev, 0, err);
	y = sl__ref_new(ev, n_elements(ev), sizeof(*y));
	if (!x || !y)
		return x ? sl__fail_nomem(err) : sl__ref_failure(ev);
	for (size_t i = 0; i < n_elements(ev); i++)
		y[i] = sl__act_clip(x[i], low, high);
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}
