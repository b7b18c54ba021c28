/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_elementwise.c - operators of one input that treat each element alone.
 *
 * 'forms' has a row for each operator: what it does to a real number and,
 * where its integers are not just cut reals, to an integer.  Two numbers may
 * come with it, which are attributes with their defaults.
 */
#include "dtype.h"
#include "ref.h"
#include "status.h"

#include <math.h>
#include <string.h>

#include "banned.h"

/* Two attributes of an operator, or what stands for them. */
struct knobs {
	double a, b;
	int is_unsigned; /* integers without sign: the 64 bits of uint64 */
};

typedef double real_function(double x, const struct knobs *k);
typedef int64_t whole_function(int64_t x, const struct knobs *k);

/* -------------------------------------------------- one-to-one with libm */

#define LIBM(name, function)                                \
	static double name(double x, const struct knobs *k) \
	{                                                   \
		(void)k;                                    \
		return function(x);                         \
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
LIBM(real_tanh, tanh)

static double
real_neg(double x, const struct knobs *k)
{
	(void)k;
	return -x;
}

static double
real_reciprocal(double x, const struct knobs *k)
{
	(void)k;
	return 1 / x;
}

/* ------------------------------------------------------------ activations */

static double
sigmoid(double x)
{
	return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

/* log(1 + exp(x)), which is near x where that is large. */
static double
softplus(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* A NaN stays one: every comparison with it is false. */
static double
real_relu(double x, const struct knobs *k)
{
	(void)k;
	return x < 0 ? 0 : x;
}

static double
real_sign(double x, const struct knobs *k)
{
	(void)k;
	return isnan(x) ? x : (double)((x > 0) - (x < 0));
}

static double
real_sigmoid(double x, const struct knobs *k)
{
	(void)k;
	return isnan(x) ? x : sigmoid(x);
}

static double
real_softplus(double x, const struct knobs *k)
{
	(void)k;
	return softplus(x);
}

static double
real_softsign(double x, const struct knobs *k)
{
	(void)k;
	return isinf(x) ? copysign(1, x) : x / (1 + fabs(x));
}

static double
real_mish(double x, const struct knobs *k)
{
	(void)k;
	return x == -(double)INFINITY ? 0 : x * tanh(softplus(x));
}

static double
real_gelu(double x, const struct knobs *k)
{
	(void)k;
	return x == -(double)INFINITY ? 0 : x / 2 * (1 + erf(x / sqrt(2)));
}

/* The approximation: 0.044715 is from the paper (Hendrycks, Gimpel 2016). */
static double
real_tanh_gelu(double x, const struct knobs *k)
{
	double inner = sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);

	(void)k;
	return x == -(double)INFINITY ? 0 : x / 2 * (1 + tanh(inner));
}

/* Swish and QuickGelu. */
static double
real_swish(double x, const struct knobs *k)
{
	double gate = sigmoid(k->a * x);

	return gate == 0 ? 0 : x * gate;
}

static double
real_celu(double x, const struct knobs *k)
{
	return x < 0 ? k->a * expm1(x / k->a) : x;
}

static double
real_elu(double x, const struct knobs *k)
{
	return x < 0 ? k->a * expm1(x) : x;
}

static double
real_selu(double x, const struct knobs *k)
{
	return k->b * (x > 0 ? x : k->a * expm1(x));
}

static double
real_leaky_relu(double x, const struct knobs *k)
{
	return x < 0 ? k->a * x : x;
}

static double
real_thresholded_relu(double x, const struct knobs *k)
{
	return x <= k->a ? 0 : x;
}

static double
real_hard_sigmoid(double x, const struct knobs *k)
{
	double y = k->a * x + k->b;

	return y < 0 ? 0 : y > 1 ? 1 : y;
}

static double
real_hard_swish(double x, const struct knobs *k)
{
	double gate = real_hard_sigmoid(x, k);

	return gate == 0 ? 0 : x * gate;
}

static double
real_shrink(double x, const struct knobs *k)
{
	if (x < -k->b)
		return x + k->a;
	return x > k->b ? x - k->a : isnan(x) ? x : 0;
}

/* --------------------------------------------------------------- integers */

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

/* -------------------------------------------------------------- the table */

struct form {
	real_function *real;
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
	[SL__OP_ONNX_Celu] = {real_celu, 0, "alpha", 0, 1, 0},
	[SL__OP_ONNX_Cos] = {real_cos, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Cosh] = {real_cosh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Elu] = {real_elu, 0, "alpha", 0, 1, 0},
	[SL__OP_ONNX_Erf] = {real_erf, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Exp] = {real_exp, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Floor] = {real_floor, whole_same, 0, 0, 0, 0},
	[SL__OP_ONNX_Gelu] = {real_gelu, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_HardSigmoid] = {real_hard_sigmoid, 0, "alpha", "beta",
				     0.2F, 0.5F},
	[SL__OP_ONNX_HardSwish] = {real_hard_swish, 0, 0, 0, 1 / 6.0F, 0.5F},
	[SL__OP_ONNX_LeakyRelu] = {real_leaky_relu, 0, "alpha", 0, 0.01F, 0},
	[SL__OP_ONNX_Log] = {real_log, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Mish] = {real_mish, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Neg] = {real_neg, whole_neg, 0, 0, 0, 0},
	[SL__OP_ONNX_Not] = {0, whole_not, 0, 0, 0, 0},
	[SL__OP_ONNX_Reciprocal] = {real_reciprocal, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Relu] = {real_relu, whole_relu, 0, 0, 0, 0},
	[SL__OP_ONNX_Round] = {real_round, whole_same, 0, 0, 0, 0},
	[SL__OP_ONNX_Selu] = {real_selu, 0, "alpha", "gamma",
			      1.67326319217681884765625F,
			      1.05070102214813232421875F},
	[SL__OP_ONNX_Shrink] = {real_shrink, 0, "bias", "lambd", 0, 0.5F},
	[SL__OP_ONNX_Sigmoid] = {real_sigmoid, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Sign] = {real_sign, whole_sign, 0, 0, 0, 0},
	[SL__OP_ONNX_Sin] = {real_sin, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Sinh] = {real_sinh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Softplus] = {real_softplus, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Softsign] = {real_softsign, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Sqrt] = {real_sqrt, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Swish] = {real_swish, 0, "alpha", 0, 1, 0},
	[SL__OP_ONNX_Tan] = {real_tan, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_Tanh] = {real_tanh, 0, 0, 0, 0, 0},
	[SL__OP_ONNX_ThresholdedRelu] = {real_thresholded_relu, 0, "alpha", 0,
					 1, 0},
	[SL__OP_MS_BiasGelu] = {real_gelu, 0, 0, 0, 0, 0},
	[SL__OP_MS_FastGelu] = {real_tanh_gelu, 0, 0, 0, 0, 0},
	[SL__OP_MS_Gelu] = {real_gelu, 0, 0, 0, 0, 0},
	[SL__OP_MS_QuickGelu] = {real_swish, 0, "alpha", 0, 1.702F, 0},
};

static struct form
form_of(const struct sl__node *node)
{
	struct form form = forms[node->op - sl__ops];

	if (sl__is_op(node, SL__OP_ONNX_Gelu) &&
	    !strcmp(sl__word(node, "approximate", "none"), "tanh"))
		form.real = real_tanh_gelu;
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

/* ---------------------------------------------------------------- kernels */

/* What a conversion of an input said. */
static enum sl_status
failed(const struct sl_error *err)
{
	return err ? err->status : SL_E_NOMEM;
}

static enum sl_status
on_integers(struct sl__eval *ev, const struct form *form, struct sl_error *err)
{
	struct knobs k = knobs_of(ev, form);
	const int64_t *x = sl__ref_integers(ev, 0, err);
	int64_t *y = sl__ref_new(ev, n_elements(ev), sizeof(*y));

	if (!x || !y)
		return x ? sl__fail_nomem(err) : failed(err);
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
		return x ? sl__fail_nomem(err) : failed(err);
	for (size_t i = 0; i < n_elements(ev); i++)
		y[i] = form->real(bias ? x[i] + bias[i % n_bias] : x[i], &k);
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
		return failed(err);
	return on_reals(ev, &form, values, (size_t)bias->n_elements, err);
}

/* b swish(a) */
enum sl_status
sl__ref_swiglu(struct sl__eval *ev, struct sl_error *err)
{
	struct knobs k = {sl__float(ev->node, "alpha", 1), 0, 0};
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
		return failed(err);
	y = sl__ref_new(ev, n_elements(ev), sizeof(*y));
	if (!y)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n_elements(ev); i++)
		y[i] = real_swish(a[i], &k) * b[i];
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
		return x ? sl__fail_nomem(err) : failed(err);
	for (size_t i = 0; i < n_elements(ev); i++)
		y[i] = is_nan ? isnan(x[i])
			      : isinf(x[i]) && (x[i] > 0 ? above : below);
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

/* ------------------------------------------------------------------- Clip */

static int
is_below(int64_t a, int64_t b, int is_unsigned)
{
	return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
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
		return x ? sl__fail_nomem(err) : failed(err);
	for (size_t i = 0; i < n_elements(ev); i++) {
		y[i] = x[i];
		if (has_low && is_below(y[i], low, is_unsigned))
			y[i] = low;
		if (has_high && is_below(high, y[i], is_unsigned))
			y[i] = high;
	}
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

/* Bounds are attributes before version 11, then inputs.  A bound that is not
 * there bounds nothing, not even infinities. */
enum sl_status
sl__ref_clip(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__node *node = ev->node;
	double low, high;
	const double *x;
	double *y;

	if (sl__ref_is_whole(sl__ref_dtype(ev, 0)))
		return clip_integers(ev, err);
	low = sl__ref_number(ev, 1, sl__float(node, "min", -(double)INFINITY));
	high = sl__ref_number(ev, 2, sl__float(node, "max", (double)INFINITY));
	x = sl__ref_doubles(ev, 0, err);
	y = sl__ref_new(ev, n_elements(ev), sizeof(*y));
	if (!x || !y)
		return x ? sl__fail_nomem(err) : failed(err);
	for (size_t i = 0; i < n_elements(ev); i++) {
		y[i] = x[i] < low ? low : x[i];
		y[i] = y[i] > high ? high : y[i];
	}
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}
