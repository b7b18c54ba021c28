/* SPDX-License-Identifier: Apache-2.0 */
/* constants.h - constants in the layouts that kernels want, made once. */
#ifndef SL_CONSTANTS_H
#define SL_CONSTANTS_H

#include "engine/planner.h"

/* A buffer for a constant that lies there already, and stays as it is.
 * 'is_stored': where the model has it. */
uint32_t sl__plan_wrap_constant_data(struct sl__planner *pl, uint64_t n_bytes,
				     const unsigned char *data, int is_stored);

/* A constant in its own layout: where the model has it, or made. */
uint32_t sl__plan_unpacked_constant(struct sl__planner *pl, uint32_t value);

/*
 * Something made of a constant's own bytes.  pack() writes n_bytes to 'to', or
 * notes a failure and returns 0.  What tells one packing from another is pack()
 * and 'how': n_how bytes, compared by is_same(), or as they are where that is
 * NULL (none of them undefined, then).
 */
enum { SL__PACKING_HOW_MOST = 1536 };
struct sl__packing {
	int (*pack)(struct sl__planner *pl, const void *how, const void *from,
		    void *to);
	int (*is_same)(const void *a, const void *b);
	const void *how;
	size_t n_how;
	uint64_t n_bytes;
};

/* A constant so packed, in the program's own pages or, where another plan or
 * node wanted the same, where that one has it. */
uint32_t sl__plan_constant_packed_by(struct sl__planner *pl, uint32_t value,
				     const struct sl__packing *packing);

#endif
