/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_gates.h - activations that are x times a gate from 0 to 1.
 *
 * A gate that is 0 gives 0, also where x is infinite: the limit, which the
 * product does not give.
 */
#ifndef SL_VECTOR_GATES_H
#define SL_VECTOR_GATES_H

#include "compute/vector_math.h"

SL__INLINE float
sl__multiply_by_gate(float x, float gate)
{
	return gate == 0 ? 0 : x * gate;
}

/* A NaN passes; where bounds cross, the upper one wins. */
SL__INLINE float
sl__clip(float x, float low, float high)
{
	float y = x < low ? low : x;

	return y > high ? high : y;
}

SL__INLINE float
sl__gelu(float x)
{
	return sl__multiply_by_gate(x, 0.5F * (1 + sl__erf(x * 0.707106781F)));
}

/* The approximation: 0.044715 is from the paper (Hendrycks, Gimpel 2016),
 * the factor is sqrt(2 / pi). */
SL__INLINE float
sl__tanh_gelu(float x)
{
	float inner = 0.797884561F * (x + 0.044715F * x * x * x);

	return sl__multiply_by_gate(x, 0.5F * (1 + sl__tanh(inner)));
}

SL__INLINE float
sl__hard_swish(float x)
{
	return sl__multiply_by_gate(x, sl__clip(x * (1 / 6.0F) + 0.5F, 0, 1));
}

SL__INLINE float
sl__swish(float x, float alpha)
{
	return sl__multiply_by_gate(x, sl__sigmoid(alpha * x));
}

#endif
