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

#endif
