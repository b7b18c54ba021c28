/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_findings.c - what stands out in a training step.
 *
 * The phase that takes longest is always named.  The others are named where
 * they are out of the common run: gradients of inputs and of weights are about
 * as much work as the forward pass each, so that a backward pass of more than
 * thrice the forward pass is slow; an update reads and writes each parameter
 * once, which is little beside what is computed with it.
 */
#include "analysis/training_phases.h"
#include "base/status.h"
#include "result/fact_list.h"
#include "result/step_evidence.h"

#include <math.h>

#include "base/banned.h"

/* Times the forward pass, beyond which a backward pass is slow; and of a step,
 * what it takes beyond that. */
static const double usual_ratio = 3, excess_least = 0.1;

/* What one activation holds: of all that is kept for the backward pass, and of
 * the memory of the step. */
static const double held_least = 0.5, memory_least = 0.1;

static int
is_held(const struct sl_training_profile *t, double n_bytes)
{
	double all_bytes =
		(double)(t->parameters_bytes + t->kept_bytes +
			 t->gradients_bytes + t->optimizer_bytes[t->optimizer]);

	return n_bytes > held_least * (double)t->kept_bytes &&
	       n_bytes > memory_least * all_bytes;
}

static double
backward_ns(const struct sl_training_layer *l)
{
	return l->backward_input_ns + l->backward_weight_ns;
}

static void
find_slow_backward(struct sl__facts *out, const struct sl_training_profile *t,
		   double all_ns)
{
	const struct sl_training_layer *worst = NULL;
	double most = excess_least * all_ns;

	for (size_t i = 0; i < t->n_layers; i++) {
		const struct sl_training_layer *l = &t->layers[i];
		double excess = backward_ns(l) - usual_ratio * l->forward_ns;

		if (l->forward_ns > 0 && excess > most) {
			worst = l;
			most = excess;
		}
	}
	if (worst)
		sl__facts_add(
			out,
			(struct sl_fact){
				SL_FACT_SLOW_BACKWARD,
				{worst->backward_to_forward,
				 worst->forward_flops
					 ? (double)worst->backward_flops /
						   (double)worst->forward_flops
					 : (double)NAN,
				 backward_ns(worst) / all_ns},
				{worst->name, worst->type}});
}

static void
find_phase(struct sl__facts *out, const struct sl_training_profile *t)
{
	const struct sl_training_phase *most = &t->phases[0];

	for (size_t k = 1; k < t->n_phases; k++) {
		if (t->phases[k].share > most->share)
			most = &t->phases[k];
	}
	sl__facts_add(out, (struct sl_fact){SL_FACT_PHASE_SHARE,
					    {most->share, most->phase},
					    {NULL}});
	if (most->phase == SL_PHASE_UPDATE)
		sl__facts_add(
			out, (struct sl_fact){
				     SL_FACT_OPTIMIZER_SHARE,
				     {most->share,
				      (double)t->optimizer_bytes[t->optimizer]},
				     {sl_optimizer_text(t->optimizer)}});
}

enum sl_status
sl__training_find(struct sl_profile *profile,
		  const struct sl__kept_activation *largest,
		  struct sl__arena *arena, struct sl_error *err)
{
	struct sl_training_profile *t =
		(struct sl_training_profile *)(uintptr_t)profile->training;
	struct sl__facts found;
	double all_ns = 0;

	if (!t->n_phases)
		return SL_OK;
	sl__facts_init(&found, arena, NULL, 0);
	for (size_t i = 0; i < profile->n_operations; i++)
		all_ns += profile->operations[i].self_ns;
	/* What others take of the CPUs hits some operations more than others. */
	if (!sl__profile_is_disturbed(profile)) {
		find_phase(&found, t);
		find_slow_backward(&found, t, all_ns);
	}
	if (largest->operation < profile->n_operations &&
	    is_held(t, (double)largest->n_bytes))
		sl__facts_add(&found,
			      (struct sl_fact){
				      SL_FACT_ACTIVATION_HELD,
				      {(double)largest->n_bytes,
				       (double)largest->n_bytes /
					       (double)t->kept_bytes},
				      {profile->operations[largest->operation]
					       .name}});
	t->findings = found.list;
	t->n_findings = found.n;
	return found.has_failed ? sl__fail_nomem(err) : SL_OK;
}
