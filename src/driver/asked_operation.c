/* SPDX-License-Identifier: Apache-2.0 */
/* asked_operation.c - the operation that a profile is asked about. */
#include "driver/asked_operation.h"
#include "base/status.h"
#include "graph/graph.h"
#include "transform/extract.h"

#include <string.h>

#include "base/banned.h"

enum sl_status
sl__asked_nodes(unsigned char **out, const struct sl_graph *graph,
		const char *name, struct sl__arena *arena, struct sl_error *err)
{
	*out = sl__arena_alloc(arena, graph->n_nodes + 1);
	if (!*out)
		return sl__fail_nomem(err);
	memset(*out, 0, graph->n_nodes + 1);
	return sl__extract_find_nodes(graph, name, *out, arena, err);
}

static int
is_asked_step(const struct sl_plan *plan, size_t i,
	      const unsigned char *is_asked)
{
	struct sl_step step;
	int is_found = 0;

	(void)sl_plan_step(plan, i, &step);
	for (size_t k = 0; k < step.n_covers; k++)
		is_found |= is_asked[step.covers[k]];
	return is_found;
}

size_t
sl__asked_operation(struct sl_profile *profile, const struct sl_plan *plan,
		    const unsigned char *is_asked)
{
	for (size_t i = 0; is_asked && i < profile->n_operations; i++) {
		const struct sl_operation *op =
			&profile->operations[profile->by_time[i]];

		if (!is_asked_step(plan, op->step, is_asked))
			continue;
		profile->why = op->name;
		return i;
	}
	return SIZE_MAX;
}
