/* SPDX-License-Identifier: Apache-2.0 */
/* try_plans.h - changes to how a model is run, tried at once. */
#ifndef SL_TRY_PLANS_H
#define SL_TRY_PLANS_H

#include "experiment/subject.h"
#include "result/plan_trial.h"
#include "timing/runner.h"

enum { SL__TRIALS_MOST = 4 };

struct sl__try_plans_options {
	double time_s;       /* planning included */
	double iteration_ns; /* of the model as it is run now */
	uint64_t seed;
	struct sl__runner_hooks control;
};

/*
 * Plans the subject's model once more for each trial, of THREADS, DTYPE or
 * ALGORITHMS, and runs all plans in rounds of random order: the gain is the
 * median over rounds.  Fills gain and absent of trials[0..n-1], n at most
 * SL__TRIALS_MOST.  What cannot be planned, or for which there is no time, is
 * absent.  Texts are from 'arena'.
 */
enum sl_status sl__try_plans(struct sl__plan_trial *trials, size_t n,
			     const struct sl__subject_model *subject,
			     const struct sl__try_plans_options *how,
			     struct sl__arena *arena,
			     struct sl_error *err) SL_CHECKED;

#endif
