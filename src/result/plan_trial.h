/* SPDX-License-Identifier: Apache-2.0 */
/* plan_trial.h - one change to how a model is run, and what it gained. */
#ifndef SL_PLAN_TRIAL_H
#define SL_PLAN_TRIAL_H

#include "sleuth/profiling.h"

struct sl__plan_trial {
	struct sl_trial trial;
	struct sl_estimate gain;  /* time of an iteration now / with the change;
				    n 0: not tried */
	struct sl_estimate again; /* where another run would find it */
	const char *absent;       /* why not; NULL: tried */
};

#endif
