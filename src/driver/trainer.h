/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.h - a model that is trained. */
#ifndef SL_TRAINER_H
#define SL_TRAINER_H

#include "engine/training_plan.h"
#include "sleuth/training_steps.h"

enum {
	/* Of sl_training_options: what the model gives is kept of every
	 * micro-batch, not of the last alone. */
	SL__TRAINING_KEEP_OUTPUTS = 1u << 16
};

/* Invariants: a target that is set has only classes that the output has. */
struct sl_trainer {
	struct sl__training_plan *plan;
	struct sl_training_options options; /* defaults filled in */
	int has_synthetic_target;
};

/* What AdamW learns with unless somebody says otherwise: chosen on a validation
 * split of the digits, over three models and eight seeds. */
#define SL__TRAINER_USUAL_RATE  0.004
#define SL__TRAINER_USUAL_DECAY 0.1

/* 'model', which the trainer was opened with, with the parameters as they are;
 * the caller's. */
enum sl_status sl__trainer_model(struct sl_trainer *trainer,
				 struct sl_graph **out,
				 const struct sl_graph *model,
				 const struct sl_allocator *allocator,
				 struct sl_error *err) SL_CHECKED;

/* Fills what was not set: the plan can be run then. */
enum sl_status sl__trainer_fill_inputs(struct sl_trainer *trainer,
				       struct sl_error *err) SL_CHECKED;

#endif
