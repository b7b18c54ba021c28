/* SPDX-License-Identifier: Apache-2.0 */
/* element_conversion.c - elements of short types as those that are computed
 * with. */
#include "compute/element_conversion.h"
#include "compute/vector.h"

#include "base/banned.h"

enum sl__number_class
sl__number_class_of(enum sl_dtype dtype)
{
	if (dtype == SL_DTYPE_F32 || dtype == SL_DTYPE_BF16 ||
	    dtype == SL_DTYPE_F16)
		return SL__NUMBER_CLASS_REAL;
	if (dtype == SL_DTYPE_BOOL || dtype == SL_DTYPE_I8 ||
	    dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I16 ||
	    dtype == SL_DTYPE_U16 || dtype == SL_DTYPE_I32 ||
	    dtype == SL_DTYPE_U32 || dtype == SL_DTYPE_I64)
		return SL__NUMBER_CLASS_WHOLE;
	return SL__NUMBER_CLASS_NONE;
}

/* A real as a whole number: cut, beyond the range the nearest, NaN 0. */
SL__INLINE int64_t
cut(float x)
{
	int64_t low = x != x ? 0 : INT64_MIN;
	float inside = x >= -0x1p63F && x < 0x1p63F ? x : 0;
	int64_t y = (int64_t)inside;

	y = x >= 0x1p63F ? INT64_MAX : y;
	return x < -0x1p63F || x != x ? low : y;
}

/* As through a double, which holds more whole numbers. */
SL__INLINE float
real(int64_t x)
{
	return (float)(double)x;
}

SL__INLINE float
same(float x)
{
	return x;
}

SL__INLINE int64_t
whole(int64_t x)
{
	return x;
}

SL__INLINE int64_t
truth(int64_t x)
{
	return x != 0;
}

/* A NaN is true. */
SL__INLINE uint8_t
real_truth(float x)
{
	return x != 0;
}

/*
 * name(from, n, to): to[i] = (cast)f(from[i]), for each instruction set.
 */
#define CONVERT(name, source, target, f)                                   \
	SL__INLINE void name##_body(const void *from, int64_t n, void *to) \
	{                                                                  \
		const source *x = from;                                    \
		target *y = to;                                            \
                                                                           \
		SL__EACH_ALONE                                             \
		for (int64_t i = 0; i < n; i++)                            \
			y[i] = (target)f(x[i]);                            \
	}                                                                  \
	SL__VECTOR_TARGETS(name, name##_body,                              \
			   (const void *from, int64_t n, void *to),        \
			   (from, n, to))

CONVERT(f32_f32, float, float, same)
CONVERT(bf16_f32, uint16_t, float, sl__from_bf16)
CONVERT(f16_f32, uint16_t, float, sl__from_f16)
CONVERT(f32_bf16, float, uint16_t, sl__to_bf16)
CONVERT(f32_f16, float, uint16_t, sl__to_f16)
CONVERT(bool_f32, uint8_t, float, truth)
CONVERT(i8_f32, int8_t, float, real)
CONVERT(u8_f32, uint8_t, float, real)
CONVERT(i16_f32, int16_t, float, real)
CONVERT(u16_f32, uint16_t, float, real)
CONVERT(i32_f32, int32_t, float, real)
CONVERT(u32_f32, uint32_t, float, real)
CONVERT(i64_f32, int64_t, float, real)
CONVERT(f32_bool, float, uint8_t, real_truth)
CONVERT(f32_i8, float, int8_t, cut)
CONVERT(f32_i16, float, int16_t, cut)
CONVERT(f32_i32, float, int32_t, cut)
CONVERT(f32_i64, float, int64_t, cut)
CONVERT(bool_i64, uint8_t, int64_t, truth)
CONVERT(i8_i64, int8_t, int64_t, whole)
CONVERT(u8_i64, uint8_t, int64_t, whole)
CONVERT(i16_i64, int16_t, int64_t, whole)
CONVERT(u16_i64, uint16_t, int64_t, whole)
CONVERT(i32_i64, int32_t, int64_t, whole)
CONVERT(u32_i64, uint32_t, int64_t, whole)
CONVERT(i64_i64, int64_t, int64_t, whole)
CONVERT(i64_bool, int64_t, uint8_t, truth)
CONVERT(i64_i8, int64_t, int8_t, whole)
CONVERT(i64_i16, int64_t, int16_t, whole)
CONVERT(i64_i32, int64_t, int32_t, whole)

void
sl__numbers_to_f32(enum sl_dtype dtype, const void *from, int64_t n, float *to)
{
	switch ((int)dtype) {
	case SL_DTYPE_BF16:
		bf16_f32_for()(from, n, to);
		break;
	case SL_DTYPE_F16:
		f16_f32_for()(from, n, to);
		break;
	case SL_DTYPE_BOOL:
		bool_f32_for()(from, n, to);
		break;
	case SL_DTYPE_I8:
		i8_f32_for()(from, n, to);
		break;
	case SL_DTYPE_U8:
		u8_f32_for()(from, n, to);
		break;
	case SL_DTYPE_I16:
		i16_f32_for()(from, n, to);
		break;
	case SL_DTYPE_U16:
		u16_f32_for()(from, n, to);
		break;
	case SL_DTYPE_I32:
		i32_f32_for()(from, n, to);
		break;
	case SL_DTYPE_U32:
		u32_f32_for()(from, n, to);
		break;
	case SL_DTYPE_I64:
		i64_f32_for()(from, n, to);
		break;
	default:
		f32_f32_for()(from, n, to);
		break;
	}
}

/* Without and with sign the bits of what is wrapped are the same. */
void
sl__numbers_from_f32(enum sl_dtype dtype, const float *from, int64_t n,
		     void *to)
{
	switch ((int)dtype) {
	case SL_DTYPE_BF16:
		f32_bf16_for()(from, n, to);
		break;
	case SL_DTYPE_F16:
		f32_f16_for()(from, n, to);
		break;
	case SL_DTYPE_BOOL:
		f32_bool_for()(from, n, to);
		break;
	case SL_DTYPE_I8:
	case SL_DTYPE_U8:
		f32_i8_for()(from, n, to);
		break;
	case SL_DTYPE_I16:
	case SL_DTYPE_U16:
		f32_i16_for()(from, n, to);
		break;
	case SL_DTYPE_I32:
	case SL_DTYPE_U32:
		f32_i32_for()(from, n, to);
		break;
	case SL_DTYPE_I64:
		f32_i64_for()(from, n, to);
		break;
	default:
		f32_f32_for()(from, n, to);
		break;
	}
}

void
sl__numbers_to_i64(enum sl_dtype dtype, const void *from, int64_t n,
		   int64_t *to)
{
	switch ((int)dtype) {
	case SL_DTYPE_BOOL:
		bool_i64_for()(from, n, to);
		break;
	case SL_DTYPE_I8:
		i8_i64_for()(from, n, to);
		break;
	case SL_DTYPE_U8:
		u8_i64_for()(from, n, to);
		break;
	case SL_DTYPE_I16:
		i16_i64_for()(from, n, to);
		break;
	case SL_DTYPE_U16:
		u16_i64_for()(from, n, to);
		break;
	case SL_DTYPE_I32:
		i32_i64_for()(from, n, to);
		break;
	case SL_DTYPE_U32:
		u32_i64_for()(from, n, to);
		break;
	default:
		i64_i64_for()(from, n, to);
		break;
	}
}

void
sl__numbers_from_i64(enum sl_dtype dtype, const int64_t *from, int64_t n,
		     void *to)
{
	switch ((int)dtype) {
	case SL_DTYPE_BOOL:
		i64_bool_for()(from, n, to);
		break;
	case SL_DTYPE_I8:
	case SL_DTYPE_U8:
		i64_i8_for()(from, n, to);
		break;
	case SL_DTYPE_I16:
	case SL_DTYPE_U16:
		i64_i16_for()(from, n, to);
		break;
	case SL_DTYPE_I32:
	case SL_DTYPE_U32:
		i64_i32_for()(from, n, to);
		break;
	default:
		i64_i64_for()(from, n, to);
		break;
	}
}

void
sl__conversion_block_load(union sl__conversion_block *piece, int is_real,
			  enum sl_dtype dtype, const void *from, int64_t n)
{
	if (is_real)
		sl__numbers_to_f32(dtype, from, n, piece->reals);
	else
		sl__numbers_to_i64(dtype, from, n, piece->wholes);
}

void
sl__conversion_block_store(const union sl__conversion_block *piece, int is_real,
			   enum sl_dtype dtype, void *to, int64_t n)
{
	if (is_real)
		sl__numbers_from_f32(dtype, piece->reals, n, to);
	else
		sl__numbers_from_i64(dtype, piece->wholes, n, to);
}
