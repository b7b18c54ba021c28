/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - graphs: putting them together. */
#include "base/status.h"
#include "graph/graph_construction.h"
#include "graph/op_rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__graph_new(struct sl_graph **out, const struct sl_allocator *allocator,
	      struct sl_error *err)
{
	struct sl_graph *graph = sl__allocator_alloc(allocator, sizeof(*graph));
	enum sl_status rc;
	uint32_t block;

	*out = NULL;
	if (!graph)
		return sl__fail_nomem(err);
	memset(graph, 0, sizeof(*graph));
	sl__arena_init(&graph->arena, allocator);
	sl__map_init(&graph->symbol_ids, &graph->arena);
	sl__map_init(&graph->place_ids, &graph->arena);
	graph->name = graph->source = graph->producer = "";
	rc = sl__graph_add_block(graph, &block, "", err);
	if (rc) {
		sl_graph_free(graph);
		return rc;
	}
	*out = graph;
	return SL_OK;
}

void
sl_graph_free(struct sl_graph *graph)
{
	struct sl_allocator allocator;

	if (!graph)
		return;
	for (size_t i = 0; i < graph->n_mappings; i++)
		sl__file_mapping_close(&graph->mappings[i]);
	allocator = graph->arena.allocator;
	sl__arena_release(&graph->arena);
	sl__allocator_free(&allocator, graph);
}

static enum sl_status
grow(struct sl_graph *graph, void *array, size_t n, size_t *cap, size_t n_bytes,
     struct sl_error *err)
{
	assert(!graph->is_frozen);
	return sl__arena_grow(&graph->arena, array, n, cap, n_bytes)
		       ? SL_OK
		       : sl__fail_nomem(err);
}

static enum sl_status
copy_ids(struct sl_graph *graph, uint32_t **out, const uint32_t *ids, size_t n,
	 struct sl_error *err)
{
	assert(!graph->is_frozen);
	*out = sl__arena_array(&graph->arena, n, sizeof(**out));
	if (!*out)
		return sl__fail_nomem(err);
	if (n)
		memcpy(*out, ids, n * sizeof(*ids));
	return SL_OK;
}

enum sl_status
sl__graph_add_value(struct sl_graph *graph, uint32_t *out, const char *name,
		    uint32_t block, struct sl_error *err)
{
	enum sl_status rc = grow(graph, &graph->values, graph->n_values,
				 &graph->cap_values, sizeof(*graph->values),
				 err);
	struct sl__value *value;

	if (rc)
		return rc;
	value = &graph->values[graph->n_values];
	memset(value, 0, sizeof(*value));
	value->name = sl__arena_string(&graph->arena, name);
	if (!value->name)
		return sl__fail_nomem(err);
	value->producer = value->old_state = SL__NONE;
	value->block = block;
	*out = (uint32_t)graph->n_values++;
	return SL_OK;
}

enum sl_status
sl__graph_add_block(struct sl_graph *graph, uint32_t *out, const char *name,
		    struct sl_error *err)
{
	enum sl_status rc = grow(graph, &graph->blocks, graph->n_blocks,
				 &graph->cap_blocks, sizeof(*graph->blocks),
				 err);
	struct sl__block *block;

	if (rc)
		return rc;
	block = &graph->blocks[graph->n_blocks];
	memset(block, 0, sizeof(*block));
	block->owner = SL__NONE;
	block->name = sl__arena_string(&graph->arena, name);
	if (!block->name)
		return sl__fail_nomem(err);
	*out = (uint32_t)graph->n_blocks++;
	return SL_OK;
}

enum sl_status
sl__graph_set_inputs(struct sl_graph *graph, uint32_t block,
		     const uint32_t *values, size_t n, struct sl_error *err)
{
	graph->blocks[block].n_inputs = n;
	return copy_ids(graph, &graph->blocks[block].inputs, values, n, err);
}

enum sl_status
sl__graph_set_outputs(struct sl_graph *graph, uint32_t block,
		      const uint32_t *values, size_t n, struct sl_error *err)
{
	graph->blocks[block].n_outputs = n;
	return copy_ids(graph, &graph->blocks[block].outputs, values, n, err);
}

/* The symbol that 'ids' has for a name, made where there is none. */
static enum sl_status
take_symbol(struct sl_graph *graph, struct sl__map *ids, int64_t *size,
	    const char *name, struct sl_error *err)
{
	const size_t *known = sl__map_find(ids, name);
	size_t i = known ? *known : graph->n_symbols;
	enum sl_status rc;

	*size = SL__SYMBOL_BASE + (int64_t)i;
	if (known)
		return SL_OK;
	rc = grow(graph, &graph->symbols, i, &graph->cap_symbols,
		  sizeof(*graph->symbols), err);
	if (rc)
		return rc;
	graph->symbols[i].usual = 0;
	graph->symbols[i].is_unnamed = ids == &graph->place_ids;
	graph->symbols[i].name = sl__arena_string(&graph->arena, name);
	if (!graph->symbols[i].name)
		return sl__fail_nomem(err);
	rc = sl__map_put(ids, name, i, err);
	if (rc)
		return rc;
	graph->n_symbols++;
	return SL_OK;
}

enum sl_status
sl__graph_intern_symbol(struct sl_graph *graph, int64_t *size, const char *name,
			struct sl_error *err)
{
	return take_symbol(graph, &graph->symbol_ids, size, name, err);
}

enum sl_status
sl__graph_intern_unnamed_symbol(struct sl_graph *graph, int64_t *size,
				const char *place, struct sl_error *err)
{
	return take_symbol(graph, &graph->place_ids, size, place, err);
}

size_t
sl__graph_find_symbol(const struct sl_graph *graph, const char *name)
{
	const size_t *found = sl__map_find(&graph->symbol_ids, name);

	if (!found)
		found = sl__map_find(&graph->place_ids, name);
	return found ? *found : graph->n_symbols;
}

int
sl__graph_symbol_owns_name(const struct sl_graph *graph, size_t i)
{
	return sl__graph_find_symbol(graph, graph->symbols[i].name) == i;
}

enum sl_status
sl__graph_copy_symbols(struct sl_graph *graph, const struct sl_graph *from,
		       struct sl_error *err)
{
	for (size_t i = 0; i < from->n_symbols; i++) {
		const struct sl__symbol *symbol = &from->symbols[i];
		const size_t *named =
			sl__map_find(&from->symbol_ids, symbol->name);
		int is_named = named && *named == i;
		int64_t size;
		enum sl_status rc = take_symbol(graph,
						is_named ? &graph->symbol_ids
							 : &graph->place_ids,
						&size, symbol->name, err);

		if (rc)
			return rc;
		graph->symbols[i].usual = symbol->usual;
		graph->symbols[i].is_unnamed = symbol->is_unnamed;
	}
	return SL_OK;
}

enum sl_status
sl__graph_add_mapping(struct sl_graph *graph,
		      const struct sl__file_mapping *mapping,
		      struct sl_error *err)
{
	enum sl_status rc = grow(graph, &graph->mappings, graph->n_mappings,
				 &graph->cap_mappings, sizeof(*graph->mappings),
				 err);

	if (rc)
		return rc;
	graph->mappings[graph->n_mappings++] = *mapping;
	return SL_OK;
}

static const char usual_key[] = "sleuth.usual.";

enum sl_status
sl__graph_store_default_sizes(struct sl_graph *graph, struct sl_error *err)
{
	size_t n = graph->n_metadata;
	struct sl__metadata *all = sl__arena_array(
		&graph->arena, n + graph->n_symbols, sizeof(*all));

	assert(!graph->is_frozen);
	if (!all)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		all[i] = graph->metadata[i];
	for (size_t i = 0; i < graph->n_symbols; i++) {
		const struct sl__symbol *symbol = &graph->symbols[i];

		if (!symbol->usual)
			continue;
		all[n].key = sl__arena_format(&graph->arena, "%s%s", usual_key,
					      symbol->name);
		all[n].value = sl__arena_format(&graph->arena, "%lld",
						(long long)symbol->usual);
		if (!all[n].key || !all[n].value)
			return sl__fail_nomem(err);
		n++;
	}
	graph->metadata = all;
	graph->n_metadata = n;
	return SL_OK;
}

void
sl__graph_load_default_sizes(struct sl_graph *graph)
{
	assert(!graph->is_frozen);
	for (size_t i = 0; i < graph->n_metadata; i++) {
		const struct sl__metadata *m = &graph->metadata[i];
		const size_t *symbol;
		long long size;

		if (strncmp(m->key, usual_key, strlen(usual_key)) != 0)
			continue;
		symbol = sl__map_find(&graph->symbol_ids,
				      m->key + strlen(usual_key));
		size = strtoll(m->value, NULL, 10);
		if (symbol && size > 0 && size < INT32_MAX)
			graph->symbols[*symbol].usual = size;
	}
}

/* Makes the node the one producer of each of its outputs. */
static enum sl_status
claim_outputs(struct sl_graph *graph, const struct sl__node *node, uint32_t id,
	      struct sl_error *err)
{
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		struct sl__value *value;

		if (node->outputs[k] == SL__NONE)
			continue;
		value = &graph->values[node->outputs[k]];
		if (value->producer != SL__NONE || value->tensor ||
		    value->kind == SL_VALUE_INPUT)
			return sl__fail(err, SL_E_DATA,
					"node '%s' (%s): its output '%s' is "
					"defined elsewhere too",
					node->name, node->type, value->name);
		value->producer = id;
	}
	return SL_OK;
}

/* A Constant node plays the part of an initializer. */
static enum sl_status
adopt_constant(struct sl_graph *graph, const struct sl__node *node,
	       struct sl_error *err)
{
	const struct sl__tensor *tensor;
	enum sl_status rc;

	if (!node->n_outputs || node->outputs[0] == SL__NONE)
		return SL_OK;
	rc = sl__constant_tensor(&tensor, node, &graph->arena, err);
	if (rc || !tensor)
		return rc;
	graph->values[node->outputs[0]].tensor = tensor;
	graph->values[node->outputs[0]].kind = SL_VALUE_PARAMETER;
	return SL_OK;
}

/* Adds the node to its block's list. */
static enum sl_status
list_node(struct sl_graph *graph, uint32_t block_id, uint32_t node,
	  struct sl_error *err)
{
	struct sl__block *block = &graph->blocks[block_id];
	enum sl_status rc = grow(graph, &block->nodes, block->n_nodes,
				 &block->cap_nodes, sizeof(*block->nodes), err);

	if (rc)
		return rc;
	block->nodes[block->n_nodes++] = node;
	return SL_OK;
}

enum sl_status
sl__graph_add_node(struct sl_graph *graph, uint32_t *out,
		   const struct sl__node *node, struct sl_error *err)
{
	uint32_t id = (uint32_t)graph->n_nodes;
	uint32_t *inputs, *outputs;
	struct sl__node *mine;
	enum sl_status rc;

	rc = grow(graph, &graph->nodes, id, &graph->cap_nodes,
		  sizeof(*graph->nodes), err);
	if (!rc)
		rc = copy_ids(graph, &inputs, node->inputs, node->n_inputs,
			      err);
	if (!rc)
		rc = copy_ids(graph, &outputs, node->outputs, node->n_outputs,
			      err);
	if (rc)
		return rc;
	mine = &graph->nodes[id];
	*mine = *node;
	mine->inputs = inputs;
	mine->outputs = outputs;
	mine->op = sl__op_find(node->domain, node->type);
	if (!node->name || !*node->name)
		mine->name = sl__arena_format(&graph->arena, "%s_%u",
					      node->type, id);
	if (!mine->name)
		return sl__fail_nomem(err);
	rc = claim_outputs(graph, mine, id, err);
	if (!rc && sl__is_op(mine, SL__OP_ONNX_Constant))
		rc = adopt_constant(graph, mine, err);
	if (!rc)
		rc = list_node(graph, node->block, id, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < mine->n_attributes; i++) {
		if (mine->attributes[i].kind == SL__ATTRIBUTE_BLOCK)
			graph->blocks[mine->attributes[i].block].owner = id;
	}
	graph->n_nodes++;
	*out = id;
	return SL_OK;
}
