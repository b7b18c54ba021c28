/* SPDX-License-Identifier: Apache-2.0 */
/* cost_analysis_inputs.h - what is known of one pass through a model. */
#ifndef SL_COST_ANALYSIS_INPUTS_H
#define SL_COST_ANALYSIS_INPUTS_H

#include "cost/parameters.h"
#include "ops/cost.h"

/* All of the same graph, and all borrowed. */
struct sl__cost_analysis_inputs {
	struct sl__shapes *shapes;
	const struct sl__costs *costs;
	const struct sl__execution_order *steps;
	const struct sl__roles *roles;
};

#endif
