/* SPDX-License-Identifier: Apache-2.0 */
/* vector.h - bits, short types and selections of f32, for loops. */
#ifndef SL_VECTOR_H
#define SL_VECTOR_H

#include "compute/targets.h"

#include <stdint.h>
#include <string.h>

SL__INLINE uint32_t
sl__bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

SL__INLINE float
sl__from_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

SL__INLINE float
sl__from_bf16(uint16_t x)
{
	return sl__from_bits((uint32_t)x << 16);
}

/* To nearest even; a NaN stays one. */
SL__INLINE uint16_t
sl__to_bf16(float x)
{
	uint32_t bits = sl__bits(x);
	uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;

	return (uint16_t)(x != x ? (bits >> 16) | 0x40 : rounded);
}

/* The fields move to their places in an f32, whose exponents are 112 larger;
 * the product puts that right, subnormal numbers included. */
SL__INLINE float
sl__from_f16(uint16_t x)
{
	uint32_t size = (uint32_t)(x & 0x7fff) << 13;
	uint32_t bits = sl__bits(sl__from_bits(size) * 0x1p112F);

	bits |= size >= 0x0f800000 ? 0x7f800000 : 0;
	return sl__from_bits(bits | (uint32_t)(x & 0x8000) << 16);
}

/* To nearest even.  Below 2^-14 adding 1/2 leaves a whole number of the
 * smallest subnormal f16 in the low bits. */
SL__INLINE uint16_t
sl__to_f16(float x)
{
	uint32_t size = sl__bits(x) & 0x7fffffff;
	uint32_t small = sl__bits(sl__from_bits(size) + 0.5F) - 0x3f000000;
	uint32_t usual = (size + 0xfff + ((size >> 13) & 1) - 0x38000000) >> 13;
	uint32_t large = size > 0x7f800000 ? 0x7e00 : 0x7c00;
	uint32_t y = size < 0x38800000 ? small : usual;

	y = size >= 0x47800000 ? large : y;
	return (uint16_t)(y | ((sl__bits(x) >> 16) & 0x8000));
}

SL__INLINE float
sl__max(float a, float b)
{
	return a > b ? a : b;
}

SL__INLINE float
sl__min(float a, float b)
{
	return a < b ? a : b;
}

/* A NaN among them wins. */
SL__INLINE float
sl__max_or_nan(float a, float b)
{
	return a >= b || a != a ? a : b;
}

SL__INLINE float
sl__min_or_nan(float a, float b)
{
	return a <= b || a != a ? a : b;
}

SL__INLINE float
sl__abs(float x)
{
	return sl__from_bits(sl__bits(x) & 0x7fffffff);
}

/* y with the sign of x. */
SL__INLINE float
sl__copysign(float y, float x)
{
	return sl__from_bits((sl__bits(y) & 0x7fffffff) |
			     (sl__bits(x) & 0x80000000));
}

#endif
