/* SPDX-License-Identifier: Apache-2.0 */
/* element_conversion.h - elements of short types as those that are computed
 * with. */
#ifndef SL_ELEMENT_CONVERSION_H
#define SL_ELEMENT_CONVERSION_H

#include "sleuth/basics.h"

/*
 * Own kernels compute in f32, or in int64 for whole types; others are brought
 * into one of these piece by piece.
 */
enum sl__number_class {
	SL__NUMBER_CLASS_NONE = 0, /* not computed with here */
	SL__NUMBER_CLASS_REAL,     /* f32, bf16, f16 */
	SL__NUMBER_CLASS_WHOLE /* bool and integers of up to 64 bits, but for
				 uint64 */
};
enum sl__number_class sl__number_class_of(enum sl_dtype dtype);

/*
 * n elements, converted as sl__tensor_doubles() and sl__store_doubles() and
 * their kin for integers do: reals rounded to nearest even, cut and then
 * wrapped for whole types; booleans are 0 or 1.  The types are none that
 * sl__number_class_of() refuses.  Source and target may be the same place where
 * elements do not grow.
 */
void sl__numbers_to_f32(enum sl_dtype dtype, const void *from, int64_t n,
			float *to);
void sl__numbers_from_f32(enum sl_dtype dtype, const float *from, int64_t n,
			  void *to);
void sl__numbers_to_i64(enum sl_dtype dtype, const void *from, int64_t n,
			int64_t *to);
void sl__numbers_from_i64(enum sl_dtype dtype, const int64_t *from, int64_t n,
			  void *to);

/* Elements that are converted at a time, real or whole. */
enum { SL__CONVERSION_BLOCK = 512 };
union sl__conversion_block {
	float reals[SL__CONVERSION_BLOCK];
	int64_t wholes[SL__CONVERSION_BLOCK];
};
void sl__conversion_block_load(union sl__conversion_block *piece, int is_real,
			       enum sl_dtype dtype, const void *from,
			       int64_t n);
void sl__conversion_block_store(const union sl__conversion_block *piece,
				int is_real, enum sl_dtype dtype, void *to,
				int64_t n);

#endif
