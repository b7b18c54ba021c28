/* SPDX-License-Identifier: Apache-2.0 */
/* unary_functions.c - functions of one element, over a run of them. */
#include "compute/unary_functions.h"
#include "compute/vector_gates.h"

#include <math.h>

#include "base/banned.h"

SL__INLINE int
is_infinite(float x)
{
	return sl__abs(x) > 3.40282347e38F && x == x;
}

SL__INLINE float
shrink(float x, float bias, float most)
{
	float y = x < -most ? x + bias : x - bias;

	return x >= -most && x <= most ? 0 : y;
}

SL__INLINE float
softplus(float x)
{
	return sl__max(x, 0) + sl__log1p(sl__exp(-sl__abs(x)));
}

#define REAL(name, expression)                                         \
	SL__INLINE void real_##name##_body(const float *xs, int64_t n, \
					   const struct sl__knobs *k,  \
					   float *ys)                  \
	{                                                              \
		float a = k->a, b = k->b;                              \
                                                                       \
		(void)a;                                               \
		(void)b;                                               \
		SL__EACH_ALONE                                         \
		for (int64_t i = 0; i < n; i++) {                      \
			float x = xs[i];                               \
                                                                       \
			ys[i] = (expression);                          \
		}                                                      \
	}                                                              \
	SL__VECTOR_TARGETS(real_##name, real_##name##_body,            \
			   (const float *xs, int64_t n,                \
			    const struct sl__knobs *k, float *ys),     \
			   (xs, n, k, ys))                             \
	sl__real_function *sl__real_##name##_for(void)                 \
	{                                                              \
		return real_##name##_for();                            \
	}

REAL(abs, sl__abs(x))
REAL(ceil, ceilf(x))
REAL(celu, x < 0 ? a * sl__expm1(x / a) : x)
REAL(clip, sl__clip(x, a, b))
REAL(elu, x < 0 ? a * sl__expm1(x) : x)
REAL(erf, sl__erf(x))
REAL(exp, sl__exp(x))
REAL(floor, floorf(x))
REAL(gelu, sl__gelu(x))
REAL(tanh_gelu, sl__tanh_gelu(x))
REAL(hard_sigmoid, sl__clip(a *x + b, 0, 1))
REAL(hard_swish, sl__hard_swish(x))
REAL(is_inf, is_infinite(x) ? (x < 0 ? b : a) : 0)
REAL(is_nan, x != x ? 1 : 0)
REAL(leaky_relu, x < 0 ? a * x : x)
REAL(log, sl__log(x))
REAL(mish, sl__multiply_by_gate(x, sl__tanh(softplus(x))))
REAL(neg, -x)
REAL(reciprocal, 1 / x)
REAL(relu, x < 0 ? 0 : x)
REAL(round, nearbyintf(x))
REAL(selu, b *(x > 0 ? x : a * sl__expm1(x)))
REAL(shrink, shrink(x, a, b))
REAL(sigmoid, sl__sigmoid(x))
REAL(sign, x == 0 || x != x ? x + 0 : sl__copysign(1, x))
REAL(softplus, softplus(x))
REAL(softsign, is_infinite(x) ? sl__copysign(1, x) : x / (1 + sl__abs(x)))
REAL(sqrt, sqrtf(x))
REAL(swish, sl__swish(x, a))
REAL(tanh, sl__tanh(x))
REAL(thresholded_relu, x <= a ? 0 : x)

/* One-to-one with libm, a call for each element: nobody has many. */
#define LIBM(name)                                                   \
	static void real_##name(const float *x, int64_t n,           \
				const struct sl__knobs *k, float *y) \
	{                                                            \
		(void)k;                                             \
		for (int64_t i = 0; i < n; i++)                      \
			y[i] = name##f(x[i]);                        \
	}                                                            \
	sl__real_function *sl__real_##name##_for(void)               \
	{                                                            \
		return real_##name;                                  \
	}

LIBM(acos)
LIBM(acosh)
LIBM(asin)
LIBM(asinh)
LIBM(atan)
LIBM(atanh)
LIBM(cos)
LIBM(cosh)
LIBM(sin)
LIBM(sinh)
LIBM(tan)

static int64_t
whole_clip_one(int64_t x, const struct sl__knobs *k)
{
	int64_t y = x < k->low ? k->low : x;

	return y > k->high ? k->high : y;
}

#define WHOLE(name, expression)                                       \
	void sl__whole_##name(const int64_t *xs, int64_t n,           \
			      const struct sl__knobs *k, int64_t *ys) \
	{                                                             \
		(void)k;                                              \
		for (int64_t i = 0; i < n; i++) {                     \
			int64_t x = xs[i];                            \
                                                                      \
			ys[i] = (expression);                         \
		}                                                     \
	}

WHOLE(abs, x < 0 ? (int64_t)(0 - (uint64_t)x) : x)
WHOLE(bit_not, ~x)
WHOLE(clip, whole_clip_one(x, k))
WHOLE(neg, (int64_t)(0 - (uint64_t)x))
WHOLE(not, !x)
WHOLE(relu, x < 0 ? 0 : x)
WHOLE(same, x)
WHOLE(sign, (x > 0) - (x < 0))
