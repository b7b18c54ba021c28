/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - the order of a value's elements as strides. */
#ifndef SL_LAYOUT_H
#define SL_LAYOUT_H

#include "engine/planner.h"

enum { SL__LOOPS_MOST = 16 }; /* of what own kernels take, blocks included */

/*
 * Invariants: element p lies at the sum of p[d] * strides[d], in elements,
 * where 'axis' is -1.  Otherwise that dimension is cut into blocks: it counts
 * with p[axis] / block, and p[axis] % block is added.  is_padded: the last
 * block is not full, and what follows in it is zero.
 */
struct sl__layout {
	int64_t strides[SL__LOOPS_MOST];
	int axis;
	int64_t block;
	int is_padded;
	enum sl_dtype dtype; /* in which elements are stored */
};

/* How the value lies in that form; 0 where strides cannot say it. */
int sl__layout_of(const struct sl__planner *pl, uint32_t value,
		  const struct sl__form *form, struct sl__layout *out);

/* A form of 'value' in the order and type of 'like', a form of another value
 * of as many dimensions; NULL where there is none. */
const struct sl__form *sl__layout_form(struct sl__planner *pl, uint32_t value,
				       const struct sl__form *like);

#endif
