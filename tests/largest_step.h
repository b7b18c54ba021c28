/* SPDX-License-Identifier: Apache-2.0 */
/* largest_step.h - the step of a program that has most in its hands. */
#ifndef SL_LARGEST_STEP_H
#define SL_LARGEST_STEP_H

#include "engine/plan.h"
#include "engine/program.h"

/* Bytes of the workspace, in whole lines, of the step whose buffers, constants
 * apart, are the largest; 0 where it has none. */
static inline uint64_t
workspace_of_largest_step(const struct sl__program *program)
{
	uint64_t most = 0, found = 0;

	for (size_t i = 0; i < program->n_steps; i++) {
		const struct sl__step *step = &program->steps[i];
		uint64_t all = 0, scratch = 0;

		for (uint32_t k = 0; k < step->n_operands; k++) {
			const struct sl__buffer *b =
				&program->buffers[step->operands[k]];

			all += b->is_stored ? 0 : b->n_bytes;
			if (k >= step->n_operands - step->n_scratch)
				scratch += (b->n_bytes + 63) / 64 * 64;
		}
		if (all > most) {
			most = all;
			found = scratch;
		}
	}
	return found;
}

/* What it reads and writes, in whole lines; 0 where nothing is reordered. */
static inline uint64_t
bytes_of_largest_reorder(const struct sl__program *program)
{
	uint64_t most = 0;

	for (size_t i = 0; i < program->n_steps; i++) {
		const struct sl__step *step = &program->steps[i];
		uint64_t all = 0;

		for (uint32_t k = 0; k < step->n_operands; k++) {
			const struct sl__buffer *b =
				&program->buffers[step->operands[k]];

			all += (b->n_bytes + 63) / 64 * 64;
		}
		if (step->node == SL__NONE && all > most)
			most = all;
	}
	return most;
}

#endif
