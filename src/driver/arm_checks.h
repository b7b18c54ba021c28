/* SPDX-License-Identifier: Apache-2.0 */
/* arm_checks.h - whether models that are compared can be, are as right, and may be
 * judged. */
#ifndef SL_ARM_CHECKS_H
#define SL_ARM_CHECKS_H

#include "engine/plan.h"
#include "sleuth/comparing.h"

/*
 * SL_E_DATA where inputs of b, which are those of the same name or else place,
 * have other sizes than a's, the batch aside.  Decoders of which one has a
 * cache do the same with other inputs.
 */
enum sl_status sl__arm_inputs_check(struct sl_plan *a, struct sl_plan *b,
				    int64_t batch_a, int64_t batch_b,
				    struct sl_error *err) SL_CHECKED;

/* Accuracy of all sides on how->data, and its difference in pairs. */
enum sl_status sl__arms_evaluate(struct sl_model_arm_result *sides,
				 struct sl_arm_comparison *pairs,
				 const struct sl_model_arm *arms, size_t n,
				 const struct sl_model_comparison_options *how,
				 struct sl_error *err) SL_CHECKED;

/*
 * What may be said of a pair on a machine that others use.  Nothing passes: that
 * there is no difference is not said.  One that was found stands where both arms
 * have as many threads, since rounds are paired and others slow both alike.
 * They do not where one arm has a thread for every CPU and the other has one:
 * nothing is decided.
 */
void sl__arm_withdraw_verdicts(struct sl_arm_comparison *pair,
			       int has_same_threads);

/*
 * Layers that are the same ran other algorithms, because the time to measure
 * them did not suffice or somebody else changed what is remembered.  What they
 * differ by is of the choice and not of the models: a difference is withdrawn
 * unless what is left without them is one in the same direction, by intervals;
 * the gate's "regressed", unless that exceeds the margin.  Nothing changes
 * where there are none of these layers.  'baseline_ns' is A's time, per sample
 * where the comparison is.
 */
void sl__arm_withdraw_choices(struct sl_arm_comparison *pair,
			      double baseline_ns);

#endif
