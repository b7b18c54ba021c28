/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise.h - convolutions of each channel by itself, f32. */
#ifndef SL_DEPTHWISE_H
#define SL_DEPTHWISE_H

#include "compute/conv_shape.h"
#include "compute/gemm_blocked.h"

enum { SL__DEPTHWISE_TAPS_MOST = 128 };

/* A tap of a row of the result that is in the image: the pixel that it reads
 * for the row's first result, that pixel's column, and its weights. */
struct sl__depthwise_tap {
	int64_t pixel, column;
	const float *w;
};

/* What is summed: where things are.  Rows of g are pixels of the result, whose
 * epilogue is that of g; weights are [tap][channel]. */
struct sl__depthwise {
	const struct sl__conv_shape *shape;
	const struct sl__gemm_blocked *g;
	const float *x, *w, *zeros; /* the last: a pixel of padding */
	struct sl__depthwise_tap taps[SL__DEPTHWISE_TAPS_MOST];
	int n_taps; /* of this row; sl__depthwise_row() finds them */
};
typedef void sl__depthwise_function(const struct sl__depthwise *all,
				    int64_t first);

sl__depthwise_function *sl__depthwise_for(const struct sl__conv_shape *s,
					  int has_addend);

/* A row of the result, whose first pixel is 'first'. */
void sl__depthwise_row(sl__depthwise_function *sum, struct sl__depthwise *all,
		       int64_t first);

#endif
