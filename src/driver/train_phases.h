/* SPDX-License-Identifier: Apache-2.0 */
/* train_phases.h - where the time of training steps goes, by a sample of
 * them. */
#ifndef SL_TRAIN_PHASES_H
#define SL_TRAIN_PHASES_H

#include "base/arena.h"
#include "base/clock.h"
#include "engine/training_plan.h"
#include "sleuth/training_runs.h"

enum { SL__TRAIN_SAMPLES = 256 };

/* One step in 'stride' is recorded, so that a run of any length has
 * SL__TRAIN_SAMPLES of them at most. */
struct sl__train_phases {
	const struct sl__training_plan *plan;
	struct sl__event_buffer events;
	struct sl__ticker ticker;
	uint64_t stride, next; /* the step that is recorded next */
	double *ns[SL_TRAIN_PHASES];
	size_t n;
};

enum sl_status sl__train_phases_init(struct sl__train_phases *out,
				     const struct sl__training_plan *plan,
				     uint64_t first, uint64_t n_steps,
				     struct sl__arena *arena,
				     struct sl_error *err) SL_CHECKED;

/* Where the step is to be recorded; NULL: nowhere. */
struct sl__event_buffer *sl__train_phases_begin(struct sl__train_phases *p,
						uint64_t step);

/* After a step that was recorded, there or elsewhere. */
void sl__train_phases_end(struct sl__train_phases *p,
			  const struct sl__event_buffer *events,
			  double wait_ns);

void sl__train_phases_summarize(struct sl__train_phases *p,
				struct sl_train_phase *out);

#endif
