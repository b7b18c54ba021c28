/* SPDX-License-Identifier: Apache-2.0 */
/* step_copy.c - a value's elements copied, as they are, to another buffer. */
#include "base/status.h"
#include "engine/lowering.h"

#include <string.h>

#include "base/banned.h"

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const uint64_t *n_bytes = step->state;

	(void)err;
	memcpy(step->at[1], step->at[0], (size_t)*n_bytes);
	return SL_OK;
}

void
sl__plan_copy(struct sl__planner *pl, uint32_t from, uint32_t to,
	      uint64_t n_bytes)
{
	const uint32_t operands[2] = {from, to};
	uint64_t *state = sl__plan_alloc_state(pl, sizeof(*state));

	if (!state || !n_bytes)
		return;
	*state = n_bytes;
	sl__plan_add_step(pl, operands, 2, "copy", run, state);
}
