/* SPDX-License-Identifier: Apache-2.0 */
/* operations.h - the steps of a plan as a profile lists them. */
#ifndef SL_OPERATIONS_H
#define SL_OPERATIONS_H

#include "engine/plan.h"
#include "result/step_responses.h"
#include "result/iteration_times.h"

/* What rows are made from; all borrowed. */
struct sl__operation_sources {
	const struct sl_graph *graph;
	const struct sl_plan *plan;
	const struct sl_inspection *model;
	const struct sl__timed_iterations *iterations;
};

/*
 * Fills operations, by_time and n_for_80: names, work and times.  Roofs,
 * parts and judgements are left to others.  Storage is from 'arena'.
 */
enum sl_status sl__operations_of(struct sl_profile *out,
				 const struct sl__operation_sources *sources,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

/* The first operations of by_time that make 'share' of the time of all, at
 * most SL__HOT_MOST. */
size_t sl__hot_count(const struct sl_profile *profile, double share);

#endif
