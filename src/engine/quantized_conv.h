/* SPDX-License-Identifier: Apache-2.0 */
/* quantized_conv.h - a convolution of bytes as its kernels see it. */
#ifndef SL_QUANTIZED_CONV_H
#define SL_QUANTIZED_CONV_H

#include "engine/conv.h"

/*
 * Channel c of a result is the sum of its taps' (x - x_zero) w plus bias[c].
 * ConvInteger leaves that sum; otherwise it is multiplied by factors[c], rounded
 * to the nearest integer (even where two are as near), y_zero is added, and
 * what is beyond the result's type becomes its bound.  w are int8: those of
 * uint8 less 128.  Lists live as long as the program.
 */
struct sl__quantized_conv {
	struct sl__conv conv; /* what it has in common with those of reals */
	int is_integer;       /* ConvInteger */
	size_t n_out, length; /* channels, and weights of each */
	int is_padded;
	int32_t x_zero, y_zero;
	float *factors; /* 1 for ConvInteger */
	int32_t *bias;  /* 0 where the node has none */
	int32_t *sums;  /* of the weights */
};

/* QLinearConv or ConvInteger, into a zeroed struct.  0: not for these kernels
 * (weights that are not constant or not centred, sizes), or a failure that the
 * planner notes. */
int sl__quantized_conv_read(struct sl__quantized_conv *out,
			    struct sl__planner *pl,
			    const struct sl__node *node);

#endif
