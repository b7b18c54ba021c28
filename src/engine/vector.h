/* SPDX-License-Identifier: Apache-2.0 */
/* vector.h - loops for several instruction sets, and short types of number. */
#ifndef SL_VECTOR_H
#define SL_VECTOR_H

#include <stdint.h>
#include <string.h>

#define SL__INLINE static inline __attribute__((always_inline))

/*
 * Defines void name(args) for the best instruction set there is: 'body' is a
 * SL__INLINE function of the same arguments, compiled three times, and
 * name_for() gives the one that this machine runs.  'params' and 'args' are
 * lists in parentheses.
 */
#if defined(__x86_64__)
#define SL__VECTOR_TARGETS(name, body, params, args)                           \
	__attribute__((                                                        \
		target("avx512f,avx512bw,avx512vl,avx512dq,fma"))) static void \
		name##_avx512 params                                           \
	{                                                                      \
		body args;                                                     \
	}                                                                      \
	__attribute__((target("avx2,fma"))) static void name##_avx2 params     \
	{                                                                      \
		body args;                                                     \
	}                                                                      \
	static void name##_plain params                                        \
	{                                                                      \
		body args;                                                     \
	}                                                                      \
	static void(*name##_for(void)) params                                  \
	{                                                                      \
		if (__builtin_cpu_supports("avx512bw") &&                      \
		    __builtin_cpu_supports("avx512vl") &&                      \
		    __builtin_cpu_supports("avx512dq"))                        \
			return name##_avx512;                                  \
		return __builtin_cpu_supports("avx2") &&                       \
				       __builtin_cpu_supports("fma")           \
			       ? name##_avx2                                   \
			       : name##_plain;                                 \
	}
#else
#define SL__VECTOR_TARGETS(name, body, params, args) \
	static void name##_plain params              \
	{                                            \
		body args;                           \
	}                                            \
	static void(*name##_for(void)) params        \
	{                                            \
		return name##_plain;                 \
	}
#endif

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

/* ------------------------------------------------------------- conversions */

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

#endif
