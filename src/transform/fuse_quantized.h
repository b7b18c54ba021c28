/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_quantized.h - what the passes about quantized models ask of nodes. */
#ifndef SL_FUSE_QUANTIZED_H
#define SL_FUSE_QUANTIZED_H

#include "transform/rewrite.h"

/* One scale and zero point for a whole tensor, from constants. */
struct sl__quantization {
	uint32_t scale, zero; /* values; zero SL__NONE: left out, it is 0 */
	double by;
	int64_t at;
	enum sl_dtype dtype; /* U8 or I8: of the integers */
};

/* An operand that a DequantizeLinear makes of 'x'. */
struct sl__dequantized_operand {
	uint32_t node, x;
	struct sl__quantization q;
};

/* 0 where a QuantizeLinear or DequantizeLinear is another kind: scales that
 * are not known or not one for all, other integers, other reals than f32. */
int sl__quantization_read(struct sl__quantization *out,
			  const struct sl__rewrite *rw, uint32_t node);
int sl__dequantized_operand_read(struct sl__dequantized_operand *out,
				 const struct sl__rewrite *rw, uint32_t value);
int sl__quantization_equal(const struct sl__quantization *a,
			   const struct sl__quantization *b);

/* The code of a real number: rounded to nearest even, saturated. */
int64_t sl__quantization_code_of(const struct sl__quantization *q, double real);

/* The zero point as a value: the one there is, or a new constant. */
uint32_t sl__quantization_zero_point(struct sl__rewrite *rw,
				     const struct sl__quantization *q);

/* A constant of one integer of that type. */
uint32_t sl__rewrite_add_integer_scalar(struct sl__rewrite *rw,
					enum sl_dtype dtype, int64_t number);

/* Constant integers with one scale or one for each of n places along an
 * axis; the zero points are left out, one, or as many. */
struct sl__quantized_weights {
	uint32_t node, w, scale, zero;
	size_t n_scales;
};
int sl__quantized_weights_read(struct sl__quantized_weights *out,
			       const struct sl__rewrite *rw, uint32_t value,
			       int axis);

/* Whether integer convolutions take them: as int8 their zero points are 0,
 * from the start or once 128 is taken off uint8. */
int sl__quantized_weights_symmetric(const struct sl__quantized_weights *w,
				    const struct sl__rewrite *rw);

/*
 * A bias of n numbers, times beta, as int32 of the scale x_scale * w_scale *
 * alpha; *out is SL__NONE where the model has none.  0 where it is no constant,
 * has another size, is beyond 32 bits, or changes by a good part of y's scale
 * when it is rounded.
 */
struct sl__quantized_bias {
	uint32_t value;
	size_t n;
	const struct sl__quantization *x;
	const struct sl__quantized_weights *w;
	const struct sl__quantization *y;
	double alpha, beta;
};
int sl__quantized_bias_add_constant(struct sl__rewrite *rw,
				    const struct sl__quantized_bias *bias,
				    uint32_t *out);

/* The node that adds a constant of one number per column to what a product
 * gives, and nothing else takes; SL__NONE. */
uint32_t sl__added_bias_find(const struct sl__rewrite *rw, uint32_t product,
			     uint32_t *bias);

/* Whether nodes other than this one need a value. */
int sl__has_other_users(const struct sl__rewrite *rw, uint32_t value,
			uint32_t node);

/* Whether a node only moves elements of its first input, or chooses among
 * them by size: what is done to each may be done before or after. */
int sl__commutes_with_quantize(const struct sl__rewrite *rw, uint32_t node);

#endif
