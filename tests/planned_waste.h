/* SPDX-License-Identifier: Apache-2.0 */
/* planned_waste.h - a plan's block is not much larger than what lives at once.
 */
#ifndef SL_TEST_PLANNED_WASTE_H
#define SL_TEST_PLANNED_WASTE_H

#include "harness.h"
#include "sleuth.h"

static inline void
check_planned_waste(const char *name)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 2,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE};
	struct sl_plan_memory memory;
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct sl_error err;

	if (sl_graph_open(&graph, name, NULL, &err))
		fail_msg("%s: %s", name, err.text);
	if (sl_plan_new(&plan, graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	sl_plan_memory(plan, &memory);
	assert_true(memory.live_bytes > 0);
	assert_true(memory.planned_bytes >= memory.live_bytes);
	if ((double)memory.planned_bytes > 1.15 * (double)memory.live_bytes)
		fail_msg("%s: planned %llu bytes, %llu are needed", name,
			 (unsigned long long)memory.planned_bytes,
			 (unsigned long long)memory.live_bytes);
	sl_plan_free(plan);
	sl_graph_free(graph);
}

#endif
