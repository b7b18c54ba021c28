/* SPDX-License-Identifier: Apache-2.0 */
/* training_phases.h - the time and memory of a training step, by phase and by
 * layer of the model. */
#ifndef SL_TRAINING_PHASES_H
#define SL_TRAINING_PHASES_H

#include "engine/training_plan.h"
#include "result/iteration_times.h"
#include "sleuth/profiling.h"

struct sl__training_sources {
	const struct sl__training_plan *plan;
	const struct sl__timed_iterations *iterations;
};

/*
 * Gives each operation of the profile its phase, and operations of the backward
 * pass and the update the part of the layer they belong to; fills 'training'
 * but for its memory.  A reorder belongs to the phase of the operation after
 * it, and to no layer.  Storage is from 'arena'.
 */
enum sl_status sl__training_attribute_time(
	struct sl_profile *profile, const struct sl__training_sources *from,
	struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

/* The largest activation that the backward pass needs; 0 bytes: none. */
struct sl__kept_activation {
	uint64_t n_bytes;
	size_t operation; /* that makes it */
};

/* Memory by category, of the plan; by phase, of what was tracked. */
struct sl__kept_activation
sl__training_attribute_memory(struct sl_profile *profile,
			      const struct sl__training_plan *plan);

/* training_findings.c: fills the findings of a step whose time and memory are
 * attributed. */
enum sl_status sl__training_find(struct sl_profile *profile,
				 const struct sl__kept_activation *largest,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

#endif
