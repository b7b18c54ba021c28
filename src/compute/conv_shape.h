/* SPDX-License-Identifier: Apache-2.0 */
/* conv_shape.h - windows over images whose channels run fastest. */
#ifndef SL_CONV_SHAPE_H
#define SL_CONV_SHAPE_H

#include "compute/image_window.h"

/*
 * Images [batch][depth][height][width][channels]: sizes of fewer dimensions
 * are 1.  The window at position o takes pixel o * strides - before + tap *
 * dilations; that of a transposed convolution, where it is a whole number,
 * (o + before - tap * dilations) / strides.
 */
struct sl__conv_shape {
	int64_t batch, channels;
	int64_t in[3], out[3], kernel[3], strides[3], dilations[3], before[3];
	int64_t is_transposed;
};

/* From sizes in the order of ONNX, [batch][channels][..], of the image and of
 * the result: 'rank' of each, 3 to 5. */
void sl__conv_shape_set(struct sl__conv_shape *out, int rank,
			const int64_t *image, const int64_t *result,
			const struct sl__image_window *window);

static inline int64_t
sl__conv_shape_n_taps(const struct sl__conv_shape *s)
{
	return s->kernel[0] * s->kernel[1] * s->kernel[2];
}

/* A pixel of the result, and where its window begins: the pixel of its first
 * tap. */
struct sl__conv_position {
	int64_t image, out[3], at[3];
};

/* That of output pixel 'index', all images counted through; and the next. */
struct sl__conv_position sl__conv_position(const struct sl__conv_shape *s,
					   int64_t index);
void sl__conv_position_advance(const struct sl__conv_shape *s,
			       struct sl__conv_position *p);

/* The pixel that a tap reads, all images counted through; -1: padding. */
static inline int64_t
sl__conv_pixel(const struct sl__conv_shape *s,
	       const struct sl__conv_position *p, const int64_t *tap)
{
	int64_t pixel = p->image;

	for (int d = 0; d < 3; d++) {
		int64_t step = tap[d] * s->dilations[d];
		int64_t at = s->is_transposed ? p->at[d] - step
					      : p->at[d] + step;

		if (s->is_transposed && at >= 0) {
			if (at % s->strides[d])
				return -1;
			at /= s->strides[d];
		}
		if (at < 0 || at >= s->in[d])
			return -1;
		pixel = pixel * s->in[d] + at;
	}
	return pixel;
}

#endif
