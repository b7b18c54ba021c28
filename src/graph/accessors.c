/* SPDX-License-Identifier: Apache-2.0 */
/* accessors.c - what the public header asks of a graph. */
#include "graph/graph.h"

#include <string.h>

#include "base/banned.h"

const char *
sl_graph_name(const struct sl_graph *graph)
{
	return graph->name;
}

size_t
sl_graph_n_nodes(const struct sl_graph *graph)
{
	return graph->n_nodes;
}

size_t
sl_graph_n_values(const struct sl_graph *graph)
{
	return graph->n_values;
}

const char *
sl_graph_node_name(const struct sl_graph *graph, size_t node_id)
{
	return node_id < graph->n_nodes ? graph->nodes[node_id].name : NULL;
}

const char *
sl_graph_node_type(const struct sl_graph *graph, size_t node_id)
{
	return node_id < graph->n_nodes ? graph->nodes[node_id].type : NULL;
}

const char *
sl_graph_value_name(const struct sl_graph *graph, size_t value_id)
{
	return value_id < graph->n_values ? graph->values[value_id].name : NULL;
}

enum sl_value_kind
sl_graph_value_kind(const struct sl_graph *graph, size_t value_id)
{
	return value_id < graph->n_values ? graph->values[value_id].kind
					  : SL_VALUE_ACTIVATION;
}

const char *
sl_graph_node_domain(const struct sl_graph *graph, size_t node_id)
{
	return node_id < graph->n_nodes ? graph->nodes[node_id].domain : NULL;
}

enum sl_dtype
sl_graph_value_dtype(const struct sl_graph *graph, size_t value_id)
{
	const struct sl__value *value;

	if (value_id >= graph->n_values)
		return SL_DTYPE_NONE;
	value = &graph->values[value_id];
	return value->tensor ? value->tensor->dtype : value->declared.dtype;
}

size_t
sl_graph_n_inputs(const struct sl_graph *graph)
{
	return graph->blocks[0].n_inputs;
}

size_t
sl_graph_input(const struct sl_graph *graph, size_t i)
{
	const struct sl__block *main = &graph->blocks[0];

	return i < main->n_inputs ? main->inputs[i] : SL_NO_VALUE;
}

size_t
sl_graph_n_outputs(const struct sl_graph *graph)
{
	return graph->blocks[0].n_outputs;
}

size_t
sl_graph_output(const struct sl_graph *graph, size_t i)
{
	const struct sl__block *main = &graph->blocks[0];

	return i < main->n_outputs ? main->outputs[i] : SL_NO_VALUE;
}

static size_t
find(const struct sl_graph *graph, const uint32_t *values, size_t n,
     const char *name)
{
	for (size_t k = 0; k < n; k++) {
		if (!strcmp(graph->values[values[k]].name, name))
			return values[k];
	}
	return SL_NO_VALUE;
}

size_t
sl_graph_find_input(const struct sl_graph *graph, const char *name)
{
	const struct sl__block *main = &graph->blocks[0];

	return find(graph, main->inputs, main->n_inputs, name);
}

size_t
sl_graph_find_output(const struct sl_graph *graph, const char *name)
{
	const struct sl__block *main = &graph->blocks[0];

	return find(graph, main->outputs, main->n_outputs, name);
}

static size_t
public_id(uint32_t value)
{
	return value == SL__NONE ? SL_NO_VALUE : value;
}

size_t
sl_graph_node_n_inputs(const struct sl_graph *graph, size_t node_id)
{
	return node_id < graph->n_nodes ? graph->nodes[node_id].n_inputs : 0;
}

size_t
sl_graph_node_input(const struct sl_graph *graph, size_t node_id, size_t i)
{
	return i < sl_graph_node_n_inputs(graph, node_id)
		       ? public_id(graph->nodes[node_id].inputs[i])
		       : SL_NO_VALUE;
}

size_t
sl_graph_node_n_outputs(const struct sl_graph *graph, size_t node_id)
{
	return node_id < graph->n_nodes ? graph->nodes[node_id].n_outputs : 0;
}

size_t
sl_graph_node_output(const struct sl_graph *graph, size_t node_id, size_t k)
{
	return k < sl_graph_node_n_outputs(graph, node_id)
		       ? public_id(graph->nodes[node_id].outputs[k])
		       : SL_NO_VALUE;
}
