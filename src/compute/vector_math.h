/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_math.h - functions of one f32, written for loops.
 *
 * Each is a straight line of arithmetic and selections, without branches,
 * tables or calls, so that a compiler makes vectors of a loop over it, of
 * whatever width the function around has been given by SL__VECTOR_TARGETS().
 * Relative errors are below 2e-7, NaN and infinities give what libm gives;
 * sl__sigmoid() is 0 where it should be subnormal.  Polynomials are minimax
 * fits of the stated function over the stated range.
 */
#ifndef SL_VECTOR_MATH_H
#define SL_VECTOR_MATH_H

#include "compute/vector.h"

/* exp(r) - 1 for |r| <= ln(2) / 2. */
SL__INLINE float
sl__expm1_reduced(float r)
{
	float p;

	p = 1.39508350e-3F * r + 8.36908817e-3F;
	p = p * r + 4.16662022e-2F;
	p = p * r + 1.66665167e-1F;
	p = p * r + 0.5F;
	return p * (r * r) + r;
}

/*
 * x = n ln 2 + r with |r| <= ln(2) / 2, exp(x) = 2^n exp(r).  Adding
 * 3 * 2^22 rounds to a whole number and leaves it in the low bits.  The power
 * of two is applied in halves, so that results near the ends of the range,
 * subnormal ones too, come out; beyond -104 and 89 they are 0 and infinite.
 */
SL__INLINE float
sl__exp(float x)
{
	float inside = x < -104 ? -104 : x > 89 ? 89 : x;
	float shifted = inside * 1.44269504F + 12582912.0F;
	float n = shifted - 12582912.0F;
	/* ln 2 in two parts, of which the first has 9 bits. */
	float r = (inside - n * 0.693359375F) - n * -2.12194440e-4F;
	int32_t whole = (int32_t)(sl__bits(shifted) - 0x4b400000);
	int32_t half = whole >> 1;
	float p = sl__expm1_reduced(r) + 1;

	p *= sl__from_bits((uint32_t)(half + 127) << 23);
	return p * sl__from_bits((uint32_t)(whole - half + 127) << 23);
}

/* exp(x) - 1: near 0 without the 1, which would swallow digits. */
SL__INLINE float
sl__expm1(float x)
{
	return sl__abs(x) < 0.34F ? sl__expm1_reduced(x) : sl__exp(x) - 1;
}

SL__INLINE float
sl__sigmoid(float x)
{
	return 1 / (1 + sl__exp(-x));
}

/* x + x^3 P(x^2) below 5/8, where 1 - 2 / (exp(2 x) + 1) loses digits. */
SL__INLINE float
sl__tanh(float x)
{
	float size = sl__abs(x), t = x * x;
	float far = 1 - 2 / (sl__exp(2 * size) + 1);
	float p;

	p = -5.71704470e-3F * t + 2.06505861e-2F;
	p = p * t + -5.37434965e-2F;
	p = p * t + 1.33314908e-1F;
	p = p * t + -3.33332837e-1F;
	p = p * t * x + x;
	return size < 0.625F ? p : sl__copysign(far, x);
}

/* x P(x^2) below 1; above, 1 - exp(Q(x)), where Q is the logarithm of the
 * complement and 4 is as good as infinite. */
SL__INLINE float
sl__erf(float x)
{
	float size = sl__abs(x), t = x * x;
	float inside = size > 4 ? 4 : size;
	float p, q;

	p = 7.88912294e-5F * t + -8.02084222e-4F;
	p = p * t + 5.18953567e-3F;
	p = p * t + -2.68544443e-2F;
	p = p * t + 1.12836003e-1F;
	p = p * t + -3.76126260e-1F;
	p = p * t + 1.12837911F;
	q = -2.09094669e-5F * inside + 4.32302040e-4F;
	q = q * inside + -4.16052248e-3F;
	q = q * inside + 2.50914861e-2F;
	q = q * inside + -1.08236603e-1F;
	q = q * inside + -6.33386672e-1F;
	q = q * inside + -1.12949514F;
	q = q * inside + 1.70550833e-4F;
	return size < 1 ? p * x : sl__copysign(1 - sl__exp(q), x);
}

/* x = 2^n m with m from sqrt(1/2) to sqrt(2): n ln 2 + log(m), the latter as
 * f - f^2 P(f) with f = m - 1. */
SL__INLINE float
sl__log(float x)
{
	int is_small = x < 0x1p-126F;
	uint32_t bits = sl__bits(is_small ? x * 0x1p23F : x);
	/* The exponent changes at sqrt(1/2), whose bits are taken off. */
	int32_t n = (int32_t)(bits - 0x3f3504f3) >> 23;
	float f = sl__from_bits(bits - ((uint32_t)n << 23)) - 1;
	float e = (float)(is_small ? n - 23 : n);
	float p, y;

	p = -7.82469735e-2F * f + 1.30067378e-1F;
	p = p * f + -1.32091850e-1F;
	p = p * f + 1.41632080e-1F;
	p = p * f + -1.66110799e-1F;
	p = p * f + 2.00030267e-1F;
	p = p * f + -2.50015259e-1F;
	p = p * f + 3.33333075e-1F;
	p = p * f + -4.99999881e-1F;
	y = e * 0.693359375F + (f + (p * (f * f) + e * -2.12194440e-4F));
	y = x > 3.40282347e38F ? x : y;
	y = x == 0 ? -__builtin_inff() : y;
	return x < 0 || x != x ? __builtin_nanf("") : y;
}

/* log(1 + x) for x >= 0: what rounding 1 + x lost is made good by the
 * slope. */
SL__INLINE float
sl__log1p(float x)
{
	float y = 1 + x;

	return y == 1 ? x : sl__log(y) * (x / (y - 1));
}

#endif
