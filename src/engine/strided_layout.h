/* SPDX-License-Identifier: Apache-2.0 */
/* strided_layout.h - a value's layout as strides. */
#ifndef SL_STRIDED_LAYOUT_H
#define SL_STRIDED_LAYOUT_H

#include "compute/iteration_space.h"
#include "engine/planner.h"

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
