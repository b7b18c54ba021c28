/* SPDX-License-Identifier: Apache-2.0 */
/* quantized.h - what kernels of quantized operators ask of their nodes. */
#ifndef SL_QUANTIZED_H
#define SL_QUANTIZED_H

#include "engine/planner.h"

/* One scale and zero point that are known; a zero point may be left out. */
struct sl__quantization_params {
	float by;
	int32_t at;
};
int sl__quantization_params_read(struct sl__quantization_params *out,
				 struct sl__planner *pl, uint32_t scale,
				 uint32_t zero);

/* The factors of n channels from a constant of 1 or n, and whether they
 * could be had. */
int sl__channel_scales_read(float *out, struct sl__planner *pl, uint32_t value,
			    size_t n);

/* Zero points likewise, 0 where left out; those of a constant of uint8 are
 * counted from 128, as its elements are once they are int8. */
int sl__zero_points_read(int32_t *out, struct sl__planner *pl, uint32_t value,
			 size_t n);

/* Whether a type is uint8 or int8. */
int sl__is_8bit_integer(enum sl_dtype dtype);

/*
 * The elements of a constant of uint8 or int8 as int8: where they are, or a
 * copy from which 128 is taken off, in *copy, to be released with the
 * program's allocator.  NULL: a failure.
 */
const int8_t *sl__int8_weights(struct sl__planner *pl, uint32_t value,
			       int8_t **copy);

/* Sums of the elements of n rows of 'length'. */
void sl__int8_row_sums(const int8_t *w, size_t n, size_t length, int32_t *sums);

/* A layout of the same order with another type of number; NULL for NULL, and
 * where there is none. */
const struct sl__layout *sl__layout_retyped(struct sl__planner *pl,
					    const struct sl__layout *layout,
					    enum sl_dtype dtype);

/* The layout of a value whose elements fill it, in their own type: as it was
 * made, or row-major where that is another kind. */
const struct sl__layout *
sl__plan_find_unpadded_layout(const struct sl__planner *pl, uint32_t value);

/*
 * A step's run function; its state is a struct sl__dynamic_quantize.  Operands:
 * n numbers; they quantized; the scale and the zero point that spread them, and
 * 0, over uint8.
 */
struct sl__dynamic_quantize {
	int64_t n;
};
sl__run_function sl__run_dynamic_quantize;

/*
 * Whether oneDNN multiplies bytes exactly on this machine: older instructions
 * saturate pairs of products at 16 bits.  With AVX-VNNI and no AVX-512 its
 * convolutions in groups leave the last channels out where blocks are not full
 * (2.6.3), and version 2 has no products of matrices.
 */
int sl__dnnl_int8_is_exact(void);
int sl__dnnl_int8_groups_are_exact(void);
int sl__dnnl_int8_products_are_exact(void);

#endif
