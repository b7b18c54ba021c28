/* SPDX-License-Identifier: Apache-2.0 */
/* data_movement.c - steps of compute/strided_copy.h, one for each region. */
#include "engine/data_movement.h"
#include "compute/strided_copy.h"

#include "base/banned.h"

int
sl__dtype_is_movable(enum sl_dtype dtype)
{
	unsigned bits = sl_dtype_bits(dtype);

	return dtype != SL_DTYPE_STRING &&
	       (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct sl__data_movement *m = step->state;
	int64_t size = (int64_t)m->n_bytes;

	(void)err;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct sl__copy_region *region = &m->regions[i];
		struct sl__strided_copy copy = {
			&region->space, m->n_bytes,
			step->at[region->to] + region->to_offset * size,
			step->at[region->from] + region->from_offset * size};
		int64_t n = sl__space_n_positions(&region->space,
						  region->space.rank);

		sl__strided_copy(
			&copy, sl__threads_for_bytes(step->n_threads,
						     2 * (uint64_t)(n * size)));
	}
	return SL_OK;
}

void
sl__plan_data_movement(struct sl__planner *pl,
		       const struct sl__data_movement *movement,
		       const uint32_t *operands, uint32_t n_operands,
		       const char *kernel)
{
	struct sl__data_movement *m = sl__plan_alloc_state(pl, sizeof(*m));

	if (!m)
		return;
	for (uint32_t i = 0; i < movement->n; i++)
		sl__strided_copy_order(&movement->regions[i].space);
	*m = *movement;
	sl__plan_add_step(pl, operands, n_operands, kernel, run, m);
}
