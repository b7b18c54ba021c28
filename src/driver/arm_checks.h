/* SPDX-License-Identifier: Apache-2.0 */
/* arm_checks.h - whether models that are compared can be, and are as right. */
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

#endif
