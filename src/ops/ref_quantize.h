/* SPDX-License-Identifier: Apache-2.0 */
/* ref_quantize.h - how reference kernels read and write quantized numbers. */
#ifndef SL_REF_QUANTIZE_H
#define SL_REF_QUANTIZE_H

#include "ops/ref.h"

/* The real number as one of that type has it. */
double sl__ref_round_to_dtype(enum sl_dtype dtype, double value);

/*
 * Like sl__ref_output_store_doubles(), but where the node's attribute
 * "saturate" is 0, what is beyond a float of 8 bits becomes infinity or NaN.
 */
enum sl_status sl__ref_store_cast(struct sl__kernel_call *ev, size_t k,
				  const double *from);

/*
 * Quantizes x / scale: rounded to nearest even in f32, as runtimes do it, the
 * zero point added, kept within the limits of 'dtype'.  NaN gives the zero
 * point.
 */
int64_t sl__ref_quantize_value(enum sl_dtype dtype, double x, double scale,
			       int64_t zero);

/* The same of what is rounded already: its zero point and limits. */
int64_t sl__ref_saturate_value(enum sl_dtype dtype, double rounded,
			       int64_t zero);

/* Fails unless input i is left out or of integers of at most 16 bits: sums of
 * their products then fit 64 bits. */
enum sl_status sl__ref_check_narrow_integers(struct sl__kernel_call *ev,
					     size_t i);

/*
 * Scale and zero point of a whole tensor, from inputs i and i + 1; the second
 * may be left out.  It fails where there is not one of each.
 */
struct sl__ref_scale_zero_point {
	double scale;
	int64_t zero;
};
struct sl__ref_scale_zero_point
sl__ref_scale_zero_point(struct sl__kernel_call *ev, size_t i);

/* What DynamicQuantizeLinear finds for n numbers, as uint8. */
struct sl__ref_scale_zero_point sl__ref_dynamic_scale(const double *x,
						      size_t n);

/*
 * One for each of n channels, or one for all: n elements either way.  Another
 * number of them fails.  Where input i is left out
 * sl__ref_channel_integers() gives zeros, sl__ref_channel_scales() fails.
 */
const double *sl__ref_channel_scales(struct sl__kernel_call *ev, size_t i,
				     int64_t n);
const int64_t *sl__ref_channel_integers(struct sl__kernel_call *ev, size_t i,
					int64_t n);

#endif
