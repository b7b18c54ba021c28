/* SPDX-License-Identifier: Apache-2.0 */
/* boxes.h - elements moved from one order into another. */
#ifndef SL_BOXES_H
#define SL_BOXES_H

#include "engine/loops.h"

/*
 * A box of elements and where it goes: for every position of 'loops', whose
 * operand 0 is the target and 1 the source, an element is copied.  Operand
 * numbers are the step's; offsets are in elements.
 */
struct sl__box {
	struct sl__loops loops;
	uint32_t to, from;
	int64_t to_offset, from_offset;
};

/*
 * A step that moves boxes, which are joined and ordered here; 'boxes' must
 * live as long as the program.  n_bytes: of an element, 1, 2, 4 or 8.
 */
struct sl__moving {
	struct sl__box *boxes;
	uint32_t n;
	size_t n_bytes;
};
void sl__moving_step(struct sl__planner *pl, const struct sl__moving *moving,
		     const uint32_t *operands, uint32_t n_operands,
		     const char *kernel);

/* Whether a type's elements are whole bytes that can be moved. */
int sl__is_movable(enum sl_dtype dtype);

#endif
