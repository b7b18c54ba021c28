/* SPDX-License-Identifier: Apache-2.0 */
/* activation.c - the functions of one number that networks are bent by. */
#include "ops/activation.h"

#include <math.h>

#include "base/banned.h"

/* x as far as the gate is open; shut, it stops infinities too. */
static double
gated(double x, double gate)
{
	return gate == 0 ? 0 : x * gate;
}

/* 0.044715 is from the paper (Hendrycks, Gimpel 2016). */
static double
inner_gelu(double x)
{
	return sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);
}

#define FUNCTION(name, formula)                             \
	double sl__act_##name(double x, double a, double b) \
	{                                                   \
		(void)a;                                    \
		(void)b;                                    \
		return formula;                             \
	}

FUNCTION(affine, b + a * x)
FUNCTION(celu, x < 0 ? a * expm1(x / a) : x)
FUNCTION(clip, (x < a ? a : x) > b ? b : x < a ? a : x)
FUNCTION(elu, x < 0 ? a * expm1(x) : x)
FUNCTION(gelu, gated(x, (1 + erf(x / sqrt(2))) / 2))
FUNCTION(gelu_tanh, gated(x, (1 + tanh(inner_gelu(x))) / 2))
FUNCTION(hard_sigmoid, sl__act_clip(b + a * x, 0, 1))
FUNCTION(hard_swish, gated(x, sl__act_hard_sigmoid(x, a, b)))
FUNCTION(leaky_relu, x < 0 ? a * x : x)
FUNCTION(mish, gated(x, tanh(sl__act_softplus(x, a, b))))
FUNCTION(relu, x < 0 ? 0 : x)
FUNCTION(scaled_tanh, tanh((b * x)) * a)
FUNCTION(selu, (x > 0 ? x : a * expm1(x)) * b)
/* Each side by the exponential that does not overflow. */
FUNCTION(sigmoid, x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)))
/* log(1 + exp(x)), which is near x where that is large. */
FUNCTION(softplus, x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)))
FUNCTION(softsign, isinf(x) ? copysign(1, x) : x / (1 + fabs(x)))
FUNCTION(swish, gated(x, sl__act_sigmoid((a * x), 0, 0)))
FUNCTION(tanh, tanh(x))
FUNCTION(thresholded_relu, x <= a ? 0 : x)
