/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo_list.c - the built-in models with their parameters and FLOPs.
 *
 * Every model is opened and counted each time: that takes milliseconds, since
 * weights are not made, and a table kept beside the builders could be wrong.
 * One that cannot be counted is a defect and fails the whole.
 */
#include "base/arena.h"
#include "base/status.h"
#include "sleuth/inspecting.h"

#include "base/banned.h"

static enum sl_status
count(struct sl_zoo_row *row, struct sl_error *err)
{
	struct sl_graph *graph;
	struct sl_counts counts;
	enum sl_status rc;

	rc = sl_graph_open(&graph, row->example, NULL, err);
	if (rc)
		return rc;
	rc = sl_count_parameters(&row->parameters, graph, err);
	if (!rc)
		rc = sl_count_flops(&counts, graph, NULL, err);
	if (!rc)
		row->flops = counts.flops;
	sl_graph_free(graph);
	return rc;
}

enum sl_status
sl_zoo_count(struct sl_zoo_list **out, struct sl_error *err)
{
	const struct sl_zoo_entry *all = sl_zoo();
	struct sl__arena *arena;
	struct sl_zoo_list *list;
	struct sl_zoo_row *rows;
	enum sl_status rc = SL_OK;

	*out = NULL;
	list = sl__arena_object_new(&arena, NULL, sizeof(*list));
	if (!list)
		return sl__fail_nomem(err);
	while (all[list->n].name)
		list->n++;
	list->rows = rows = sl__arena_array(arena, list->n, sizeof(*rows));
	if (!rows)
		rc = sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < list->n; i++) {
		rows[i].name = all[i].name;
		rows[i].example = all[i].example;
		rows[i].about = all[i].about;
		rc = sl__error_prefix(err, count(&rows[i], err),
				      all[i].example);
	}
	*out = sl__arena_object_free_on_error(list, rc);
	return rc;
}

void
sl_zoo_list_free(struct sl_zoo_list *list)
{
	sl__arena_object_free(list);
}
