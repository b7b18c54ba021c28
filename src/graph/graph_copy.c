/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_copy.c - a graph as the beginning of another.
 *
 * Values, nodes and blocks keep their numbers.  Nodes take theirs from the
 * order in which they are added; the order in which they run is copied.
 */
#include "base/status.h"
#include "graph/graph_construction.h"

#include <string.h>

#include "base/banned.h"

static enum sl_status
copy_nodes(struct sl_graph *to, const struct sl_graph *from,
	   struct sl_error *err)
{
	enum sl_status rc = SL_OK;
	uint32_t id;

	for (size_t i = 0; !rc && i < from->n_nodes; i++)
		rc = sl__graph_add_node(to, &id, &from->nodes[i], err);
	for (uint32_t b = 0; !rc && b < from->n_blocks; b++) {
		const struct sl__block *block = &from->blocks[b];

		rc = sl__graph_set_inputs(to, b, block->inputs, block->n_inputs,
					  err);
		if (!rc)
			rc = sl__graph_set_outputs(to, b, block->outputs,
						   block->n_outputs, err);
		if (!rc && block->n_nodes)
			memcpy(to->blocks[b].nodes, block->nodes,
			       block->n_nodes * sizeof(*block->nodes));
	}
	return rc;
}

enum sl_status
sl__graph_copy(struct sl_graph *to, const struct sl_graph *from,
	       struct sl_error *err)
{
	enum sl_status rc = sl__graph_copy_symbols(to, from, err);
	uint32_t id;

	for (size_t i = 1; !rc && i < from->n_blocks; i++)
		rc = sl__graph_add_block(to, &id, from->blocks[i].name, err);
	for (size_t i = 0; !rc && i < from->n_values; i++)
		rc = sl__graph_add_value(to, &id, from->values[i].name,
					 from->values[i].block, err);
	if (!rc)
		rc = copy_nodes(to, from, err);
	for (size_t i = 0; !rc && i < from->n_values; i++) {
		to->values[i].kind = from->values[i].kind;
		to->values[i].declared = from->values[i].declared;
		to->values[i].tensor = from->values[i].tensor;
		to->values[i].old_state = from->values[i].old_state;
		to->values[i].is_apart = from->values[i].is_apart;
	}
	to->name = from->name;
	to->source = from->source;
	to->producer = from->producer;
	to->is_builtin = from->is_builtin;
	to->ir_version = from->ir_version;
	to->seed = from->seed;
	to->opsets = from->opsets;
	to->n_opsets = from->n_opsets;
	to->metadata = from->metadata;
	to->n_metadata = from->n_metadata;
	return rc;
}

enum sl_status
sl__graph_set_tensor(struct sl_graph *graph, uint32_t value,
		     const struct sl__tensor *tensor, struct sl_error *err)
{
	struct sl__value *v = &graph->values[value];
	struct sl__attribute *a;

	v->tensor = tensor;
	if (v->producer == SL__NONE)
		return SL_OK;
	a = sl__arena_alloc(&graph->arena, sizeof(*a));
	if (!a)
		return sl__fail_nomem(err);
	a->name = "value";
	a->kind = SL__ATTRIBUTE_TENSOR;
	a->tensor = tensor;
	graph->nodes[v->producer].attributes = a;
	graph->nodes[v->producer].n_attributes = 1;
	return SL_OK;
}
