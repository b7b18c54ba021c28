/* SPDX-License-Identifier: Apache-2.0 */
/* plan_counter_values.h - what the CPU counted around steps of a plan. */
#ifndef SL_PLAN_COUNTER_VALUES_H
#define SL_PLAN_COUNTER_VALUES_H

#include "sleuth/profiling.h"

struct sl__plan_counter_values {
	const struct sl_operation_counts *counts; /* as steps[] were given */
	size_t n;            /* 0 where nothing could be counted */
	size_t n_iterations; /* with counters */
	struct sl_counter_use uses[SL_N_EVENTS];
	const char *absent; /* why nothing was counted; NULL */
	double elapsed_s;
};

#endif
