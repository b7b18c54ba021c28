/* SPDX-License-Identifier: Apache-2.0 */
/* data_movement.h - steps that copy elements from one layout into another. */
#ifndef SL_DATA_MOVEMENT_H
#define SL_DATA_MOVEMENT_H

#include "engine/strided_layout.h"

/*
 * A region of elements and where it goes: for every position of 'space', whose
 * operand 0 is the target and 1 the source, an element is copied.  Operand
 * numbers are the step's; offsets are in elements.
 */
struct sl__copy_region {
	struct sl__iteration_space space;
	uint32_t to, from;
	int64_t to_offset, from_offset;
};

/*
 * A step that moves boxes, which are joined and ordered here; 'regions' must
 * live as long as the program.  n_bytes: of an element, 1, 2, 4 or 8.
 */
struct sl__data_movement {
	struct sl__copy_region *regions;
	uint32_t n;
	size_t n_bytes;
};
void sl__plan_data_movement(struct sl__planner *pl,
			    const struct sl__data_movement *movement,
			    const uint32_t *operands, uint32_t n_operands,
			    const char *kernel);

/* Whether a type's elements are whole bytes that can be moved. */
int sl__dtype_is_movable(enum sl_dtype dtype);

#endif
