/* SPDX-License-Identifier: Apache-2.0 */
/* training_plan.h - training steps of a model, planned and run. */
#ifndef SL_TRAINING_PLAN_H
#define SL_TRAINING_PLAN_H

#include "engine/observer.h"
#include "transform/training.h"

/*
 * The graph of a step and its plan.  A step of the plan covers nodes of that
 * graph, which say their phase and the node of the model they belong to.
 * Inputs and the target are set by name through 'plan'; the states are the
 * object's own.
 */
struct sl__training_plan {
	struct sl__training_graph *training;
	struct sl_plan *plan;
	uint64_t n_steps; /* that were made */
};

/* The model outlives it; sizes are all bound by 'sizes'.  A dry plan has no
 * states and is not run. */
enum sl_status sl__training_plan_new(
	struct sl__training_plan **out, const struct sl_graph *model,
	const struct sl_sizes *sizes,
	const struct sl__training_options *training,
	const struct sl_plan_options *options, struct sl_error *err) SL_CHECKED;
void sl__training_plan_free(struct sl__training_plan *p); /* NULL is fine */

/* The learning rate, of runs of the plan alone too. */
enum sl_status sl__training_plan_set_rate(struct sl__training_plan *p,
					  double rate,
					  struct sl_error *err) SL_CHECKED;

/*
 * One step: runs the plan and renews the states.  SL_E_DATA where the loss is
 * not a number: the states then stay as they were.  'loss' and 'events', which
 * the step is recorded in, may be NULL.
 */
enum sl_status sl__training_plan_step(struct sl__training_plan *p, double rate,
				      double *loss,
				      struct sl__event_buffer *events,
				      struct sl_error *err) SL_CHECKED;

/* Where state i lies, and all that it holds: what a checkpoint keeps. */
enum sl_status sl__training_plan_state(struct sl__training_plan *p, size_t i,
				       struct sl_array *out, void **data,
				       struct sl_error *err) SL_CHECKED;

/* first_nan.c: after a run whose loss is not a number, SL_E_DATA that says which
 * input, weight or node of the model the first NaN comes from. */
enum sl_status sl__training_plan_fail_nan(struct sl__training_plan *p,
					  struct sl_error *err) SL_CHECKED;

/* What an output of the graph holds after a step: the loss, gradients where
 * they are kept ("NAME.grad"), states renewed ("NAME.new"); the plan's. */
enum sl_status sl__training_plan_value(struct sl__training_plan *p,
				       uint32_t value, struct sl__tensor *out,
				       struct sl_error *err) SL_CHECKED;

#endif
