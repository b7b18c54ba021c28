/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_node.c - a node of an ONNX file: its operator, inputs and outputs. */
#include "model/onnx_parse.h"

#include <stddef.h>
#include <string.h>

#include "base/banned.h"

static const struct sl__wire_store_rule head_rows[] = {
	{SL__NODE_INPUT, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD_COUNT,
	 offsetof(struct sl__onnx_node_header, n_inputs)},
	{SL__NODE_OUTPUT, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD_COUNT,
	 offsetof(struct sl__onnx_node_header, n_outputs)},
	{SL__NODE_ATTRIBUTE, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD_COUNT,
	 offsetof(struct sl__onnx_node_header, n_attributes)},
	{SL__NODE_NAME, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
	 offsetof(struct sl__onnx_node_header, name)},
	{SL__NODE_OP_TYPE, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
	 offsetof(struct sl__onnx_node_header, type)},
	{SL__NODE_DOMAIN, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
	 offsetof(struct sl__onnx_node_header, domain)},
	{SL__NODE_OVERLOAD, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
	 offsetof(struct sl__onnx_node_header, overload)},
	{0},
};

/* Name, operator and version. */
static void
name_node(struct sl__onnx_reader *r, const struct sl__onnx_node_header *head,
	  const struct sl__onnx_scope *scope, struct sl__node *node)
{
	struct sl__onnx_call *call = scope->call;
	const size_t *version = NULL;

	node->type = sl__onnx_text(r, &head->type, "");
	node->domain = sl__onnx_text(r, &head->domain, "");
	if (!strcmp(node->domain, "ai.onnx"))
		node->domain = "";
	if (call)
		version = sl__map_find(&call->function->opsets, node->domain);
	if (!version)
		version = sl__map_find(&r->opsets, node->domain);
	node->version = version ? (int)*version : 1;
	node->name = "";
	if (head->name.n_bytes) {
		node->name = sl__onnx_text(r, &head->name, scope->prefix);
	} else if (call) {
		node->name = sl__onnx_text_or_nomem(
			r, sl__arena_format(r->arena, "%s%s_%u", scope->prefix,
					    node->type,
					    (unsigned)call->n_unnamed++));
		sl__onnx_charge(r, strlen(node->name) + 1);
	}
}

static void
read_attributes(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		size_t n_attributes, struct sl__onnx_scope *scope,
		struct sl__node *node)
{
	struct sl__attribute *list =
		sl__onnx_alloc_in_graph(r, n_attributes, sizeof(*list));
	struct sl__wire_reader inner;
	size_t n = 0;

	while (sl__wire_find_message(&wire, SL__NODE_ATTRIBUTE, "attribute",
				     &inner)) {
		sl__onnx_parse_attribute(r, inner, scope, &list[n]);
		if (list[n].name)
			n++;
	}
	node->attributes = list;
	node->n_attributes = n;
}

/* The value that an input or output of a node names. */
static uint32_t
resolve(struct sl__onnx_reader *r, const struct sl__field *f,
	const struct sl__onnx_scope *scope)
{
	const char *key = f->n_bytes ? sl__onnx_name_scratch(r, f) : "";
	const size_t *id;

	if (!f->n_bytes)
		return SL__NONE;
	id = f->number == SL__NODE_OUTPUT ? sl__map_find(&scope->values, key)
					  : sl__onnx_find(scope, key);
	if (!id)
		sl__wire_fail(&r->file,
			      "byte %zu: a node uses '%.200s', which nothing "
			      "makes",
			      f->at, key);
	return id ? (uint32_t)*id : SL__NONE;
}

void
sl__onnx_resolve(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		 const struct sl__onnx_scope *scope, uint32_t *inputs,
		 uint32_t *outputs)
{
	struct sl__field f;

	while (sl__wire_next(&wire, &f)) {
		if (f.number == SL__NODE_INPUT)
			*inputs++ = resolve(r, &f, scope);
		else if (f.number == SL__NODE_OUTPUT)
			*outputs++ = resolve(r, &f, scope);
	}
}

static int
is_constant(const struct sl__node *node)
{
	return !strcmp(node->type, "Constant") && !*node->domain;
}

/*
 * A constant under the name of an earlier one takes its value over; the
 * earlier node gets a value that nobody uses.
 */
static void
replace_constant(struct sl__onnx_reader *r, uint32_t value)
{
	struct sl_graph *graph = r->graph;
	uint32_t producer = graph->values[value].producer;
	uint32_t *unused = sl__onnx_alloc_in_graph(r, 1, sizeof(*unused));

	if (!sl__onnx_charge(r, 2 * sizeof(struct sl__value) +
					strlen(graph->values[value].name)) ||
	    !sl__wire_keep_status(
		    &r->file, sl__graph_add_value(
				      graph, unused, graph->values[value].name,
				      graph->values[value].block, r->file.err)))
		return;
	graph->values[*unused] = graph->values[value];
	graph->nodes[producer].outputs = unused;
	graph->values[value].producer = SL__NONE;
	graph->values[value].tensor = NULL;
	graph->values[value].kind = SL_VALUE_ACTIVATION;
	r->n_replaced++;
}

/* Whether the output of a constant is that of an earlier constant. */
static int
is_again(const struct sl_graph *graph, const struct sl__node *node)
{
	const struct sl__value *value;

	if (!is_constant(node) || node->n_outputs != 1 ||
	    node->outputs[0] == SL__NONE)
		return 0;
	value = &graph->values[node->outputs[0]];
	return value->producer != SL__NONE &&
	       is_constant(&graph->nodes[value->producer]) &&
	       graph->nodes[value->producer].n_outputs == 1;
}

static void
add_node(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	 const struct sl__onnx_node_header *head,
	 const struct sl__onnx_scope *scope, struct sl__node *node)
{
	size_t n = head->n_inputs + head->n_outputs;
	uint32_t id;

	if (n >= UINT32_MAX)
		sl__wire_fail(&r->file,
			      "byte %zu: a node with %zu inputs and outputs",
			      wire.at, n);
	/* The node and its place in the block, as their tables double. */
	if (!sl__onnx_charge(r, 2 * sizeof(*node) + 16 + n * sizeof(id)) ||
	    !sl__onnx_reserve_id_scratch(r, n))
		return;
	sl__onnx_resolve(r, wire, scope, r->ids, r->ids + head->n_inputs);
	node->block = scope->block;
	node->n_inputs = (uint32_t)head->n_inputs;
	node->n_outputs = (uint32_t)head->n_outputs;
	node->inputs = r->ids;
	node->outputs = r->ids + head->n_inputs;
	if (!r->file.status && is_again(r->graph, node))
		replace_constant(r, node->outputs[0]);
	if (!r->file.status)
		sl__wire_keep_status(
			&r->file,
			sl__graph_add_node(r->graph, &id, node, r->file.err));
}

void
sl__onnx_parse_node(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		    struct sl__onnx_scope *scope)
{
	struct sl__onnx_function *function;
	struct sl__onnx_node_header head = {0};
	struct sl__node node = {0};

	sl__wire_store_fields(wire, head_rows, &head);
	if (!head.type.n_bytes)
		sl__wire_fail(&r->file, "byte %zu: a node without an operator",
			      wire.at);
	function = sl__onnx_callee(r, &head);
	if (function) {
		sl__onnx_inline_function(r, function, wire, &head, scope);
		return;
	}
	if (scope->call)
		sl__onnx_count_inlined(r, wire.at, scope->call->function->name);
	name_node(r, &head, scope, &node);
	if (!strcmp(node.domain, "sleuth"))
		sl__wire_fail(&r->file,
			      "node '%.200s' (%.60s): the domain 'sleuth' is "
			      "for what Sleuth fuses, not for files",
			      node.name, node.type);
	read_attributes(r, wire, head.n_attributes, scope, &node);
	add_node(r, wire, &head, scope, &node);
}
