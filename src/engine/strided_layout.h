/* SPDX-License-Identifier: Apache-2.0 */
/* strided_layout.h - the order of a value's elements as strides. */
#ifndef SL_STRIDED_LAYOUT_H
#define SL_STRIDED_LAYOUT_H

#include "engine/planner.h"

enum {
	SL__SPACE_RANK_MAX = 16
}; /* of what own kernels take, blocks included */

/*
 * Invariants: element p lies at the sum of p[d] * strides[d], in elements,
 * where 'axis' is -1.  Otherwise that dimension is cut into blocks: it counts
 * with p[axis] / block, and p[axis] % block is added.  is_padded: the last
 * block is not full, and what follows in it is zero.
 */
struct sl__strided_layout {
	int64_t strides[SL__SPACE_RANK_MAX];
	int axis;
	int64_t block;
	int is_padded;
	enum sl_dtype dtype; /* in which elements are stored */
};

/* How the value lies in that layout; 0 where strides cannot say it. */
int sl__strided_layout_of(const struct sl__planner *pl, uint32_t value,
			  const struct sl__layout *layout,
			  struct sl__strided_layout *out);

/* A layout of 'value' in the order and type of 'like', a layout of another
 * value of as many dimensions; NULL where there is none. */
const struct sl__layout *sl__layout_like(struct sl__planner *pl, uint32_t value,
					 const struct sl__layout *like);

/* The layout of an image [batch][channels][..], 3 to 5 dimensions of f32 or
 * bytes, in which channels run fastest: the one in which own kernels convolve.  NULL
 * where that is row-major anyway. */
const struct sl__layout *sl__layout_channels_last(struct sl__planner *pl,
						  uint32_t value);

#endif
