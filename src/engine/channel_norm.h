/* SPDX-License-Identifier: Apache-2.0 */
/* channel_norm.h - norms over channels as their kernels see them. */
#ifndef SL_CHANNEL_NORM_H
#define SL_CHANNEL_NORM_H

#include "engine/planner.h"

/* x / (bias + alpha / size * sum of the squares of 'size' channels) ^ beta. */
struct sl__lrn {
	int64_t size; /* odd: the channel is in the middle */
	float alpha, beta, bias;
};

struct sl__channel_norm {
	const struct sl__node *node;
	uint32_t x, y;
	float epsilon;      /* of a batch norm */
	struct sl__lrn lrn; /* of an LRN */
};

/*
 * Data of f32, 2 to 5 dimensions; 0: not for these kernels.  A batch norm is
 * as a trained model runs it, with one number a channel in inputs 1 to 4:
 * scale, shift, mean, variance.
 */
int sl__batch_norm_read(struct sl__channel_norm *out,
			const struct sl__planner *pl,
			const struct sl__node *node);
int sl__lrn_read(struct sl__channel_norm *out, const struct sl__planner *pl,
		 const struct sl__node *node);

#endif
