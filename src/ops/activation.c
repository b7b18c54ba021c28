/* SPDX-License-Identifier: Apache-2.0 */
/* activation.c - the functions of one number that networks are bent by. */
#include "ops/activation.h"

#include <math.h>

#include "base/banned.h"

double
sl__act_affine(double x, double a, double b)
{
	return a * x + b;
}

double
sl__act_celu(double x, double a, double b)
{
	(void)b;
	return x < 0 ? a * expm1(x / a) : x;
}

double
sl__act_clip(double x, double a, double b)
{
	double y = x < a ? a : x;

	return y > b ? b : y;
}

double
sl__act_elu(double x, double a, double b)
{
	(void)b;
	return x < 0 ? a * expm1(x) : x;
}

/* x as far as the gate is open; shut, it stops infinities too. */
static double
gated(double x, double gate)
{
	return gate == 0 ? 0 : x * gate;
}

double
sl__act_gelu(double x, double a, double b)
{
	(void)a;
	(void)b;
	return gated(x, (1 + erf(x / sqrt(2))) / 2);
}

/* 0.044715 is from the paper (Hendrycks, Gimpel 2016). */
double
sl__act_gelu_tanh(double x, double a, double b)
{
	double inner = sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);

	(void)a;
	(void)b;
	return gated(x, (1 + tanh(inner)) / 2);
}

double
sl__act_hard_sigmoid(double x, double a, double b)
{
	return sl__act_clip(a * x + b, 0, 1);
}

double
sl__act_hard_swish(double x, double a, double b)
{
	return gated(x, sl__act_hard_sigmoid(x, a, b));
}

double
sl__act_leaky_relu(double x, double a, double b)
{
	(void)b;
	return x < 0 ? a * x : x;
}

double
sl__act_mish(double x, double a, double b)
{
	return gated(x, tanh(sl__act_softplus(x, a, b)));
}

double
sl__act_relu(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x < 0 ? 0 : x;
}

double
sl__act_scaled_tanh(double x, double a, double b)
{
	return a * tanh(b * x);
}

double
sl__act_selu(double x, double a, double b)
{
	return b * (x > 0 ? x : a * expm1(x));
}

/* Each side by the exponential that does not overflow. */
double
sl__act_sigmoid(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

/* log(1 + exp(x)), which is near x where that is large. */
double
sl__act_softplus(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double
sl__act_softsign(double x, double a, double b)
{
	(void)a;
	(void)b;
	return isinf(x) ? copysign(1, x) : x / (1 + fabs(x));
}

double
sl__act_swish(double x, double a, double b)
{
	return gated(x, sl__act_sigmoid(a * x, 0, b));
}

double
sl__act_tanh(double x, double a, double b)
{
	(void)a;
	(void)b;
	return tanh(x);
}

double
sl__act_thresholded_relu(double x, double a, double b)
{
	(void)b;
	return x <= a ? 0 : x;
}
