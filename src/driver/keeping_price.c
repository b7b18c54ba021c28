/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeping_price.c - training steps that compute activations again, beside steps
 * that keep them.
 *
 * The second plan has the same inputs; both run in rounds of random order.
 */
#include "base/status.h"
#include "driver/training_subject.h"

#include <string.h>

#include "base/banned.h"

/* The inputs of one plan into another of the same model; states are as they
 * begin. */
static enum sl_status
copy_inputs(struct sl_trainer *to, const struct sl_trainer *from,
	    struct sl_error *err)
{
	const struct sl_graph *graph = from->plan->training->graph;
	const struct sl__block *main = &graph->blocks[0];
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < main->n_inputs; i++) {
		const struct sl__value *v = &graph->values[main->inputs[i]];
		struct sl_array a, b;
		void *source, *data;

		if (v->kind != SL_VALUE_INPUT)
			continue;
		rc = sl_plan_input(from->plan->plan, v->name, &a, &source, err);
		if (!rc)
			rc = sl_plan_input(to->plan->plan, v->name, &b, &data,
					   err);
		if (!rc)
			memcpy(data, source, (size_t)a.n_bytes);
	}
	return rc;
}

enum sl_status
sl__training_subject_compare_keeping(struct sl__training_subject *s,
				     const struct sl__subject_model *subject,
				     struct sl_profile *out,
				     const struct sl__feed_rounds_options *how,
				     struct sl__arena *arena,
				     struct sl_error *err)
{
	struct sl_training_profile *t =
		(struct sl_training_profile *)(uintptr_t)out->training;
	struct sl_training_options training = s->trainer->options;
	struct sl_plan_options plan = subject->plan->options;
	struct sl_estimate ratios[2];
	struct sl__feed_arm arms[2] = {{.plan = subject->plan}};
	struct sl_trainer *keeping;
	enum sl_status rc;

	if (t->n_segments < 2)
		return SL_OK;
	training.struct_size = sizeof(training);
	training.n_segments = 0;
	plan.struct_size = sizeof(plan);
	plan.sizes = &subject->sizes;
	rc = sl_trainer_open(&keeping, subject->graph, &training, &plan, err);
	if (rc)
		return rc;
	t->keeping_live_bytes = keeping->plan->plan->current->bound_bytes;
	rc = copy_inputs(keeping, s->trainer, err);
	arms[1].plan = keeping->plan->plan;
	if (!rc && how->time_s > 0)
		rc = sl__feed_rounds_run(ratios, arms, 2, how, arena, err);
	if (!rc && how->time_s > 0)
		t->keeping_ratio = ratios[1];
	sl_trainer_close(keeping);
	return rc;
}
