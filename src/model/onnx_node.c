/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_node.c - a node of an ONNX file: its operator, inputs and outputs. */
#include "base/status.h"
#include "model/onnx_parts.h"

#include <string.h>

#include "base/banned.h"

static enum sl_status
read_head(struct sl__onnx_reader *r, struct sl__wire wire,
	  struct sl__onnx_head *head)
{
	struct sl__field f;
	enum sl_status rc;

	memset(head, 0, sizeof(*head));
	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		switch (f.number) {
		case SL__NODE_INPUT:
			head->n_inputs++;
			break;
		case SL__NODE_OUTPUT:
			head->n_outputs++;
			break;
		case SL__NODE_ATTRIBUTE:
			head->n_attributes++;
			break;
		case SL__NODE_NAME:
			head->name = f;
			break;
		case SL__NODE_OP_TYPE:
			head->type = f;
			break;
		case SL__NODE_DOMAIN:
			head->domain = f;
			break;
		case SL__NODE_OVERLOAD:
			head->overload = f;
			break;
		default:
			continue;
		}
		rc = sl__wire_expect(&wire, &f, SL__WIRE_BYTES, r->err);
		if (rc)
			return rc;
	}
}

/* Name, operator and version. */
static enum sl_status
name_node(struct sl__onnx_reader *r, const struct sl__wire *wire,
	  const struct sl__onnx_head *head, const struct sl__onnx_scope *scope,
	  struct sl__node *node)
{
	struct sl__onnx_call *call = scope->call;
	const size_t *version = NULL;

	node->type = sl__onnx_text(r, wire, &head->type, "");
	if (!node->type)
		return r->err->status;
	node->domain = "";
	if (head->domain.n_bytes) {
		node->domain = sl__onnx_text(r, wire, &head->domain, "");
		if (!node->domain)
			return r->err->status;
		if (!strcmp(node->domain, "ai.onnx"))
			node->domain = "";
	}
	if (call)
		version = sl__map_find(&call->function->opsets, node->domain);
	if (!version)
		version = sl__map_find(&r->opsets, node->domain);
	node->version = version ? (int)*version : 1;
	if (head->name.n_bytes) {
		node->name = sl__onnx_text(r, wire, &head->name, scope->prefix);
		return node->name ? SL_OK : r->err->status;
	}
	node->name = "";
	if (!call)
		return SL_OK;
	node->name = sl__arena_format(r->arena, "%s%s_%u", scope->prefix,
				      node->type, (unsigned)call->n_unnamed++);
	return node->name ? sl__onnx_charge(r, strlen(node->name) + 1)
			  : sl__fail_nomem(r->err);
}

static enum sl_status
read_attributes(struct sl__onnx_reader *r, struct sl__wire wire,
		size_t n_attributes, struct sl__onnx_scope *scope,
		struct sl__node *node)
{
	struct sl__attribute *list =
		sl__onnx_array(r, n_attributes, sizeof(*list));
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;
	size_t n = 0;

	if (!list)
		return r->err->status;
	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc)
			return rc;
		if (!f.number)
			break;
		if (f.number != SL__NODE_ATTRIBUTE)
			continue;
		rc = sl__wire_enter(&inner, &wire, &f, "attribute", r->err);
		if (!rc)
			rc = sl__onnx_attribute(r, inner, scope, &list[n]);
		if (rc)
			return rc;
		if (list[n].name)
			n++;
	}
	node->attributes = list;
	node->n_attributes = n;
	return SL_OK;
}

/* The value that an input or output of a node names. */
static enum sl_status
resolve(struct sl__onnx_reader *r, const struct sl__wire *wire,
	const struct sl__field *f, const struct sl__onnx_scope *scope,
	uint32_t *out)
{
	const size_t *id;
	const char *key;

	*out = SL__NONE;
	if (!f->n_bytes)
		return SL_OK;
	key = sl__onnx_key(r, wire, f);
	if (!key)
		return r->err->status;
	id = f->number == SL__NODE_OUTPUT ? sl__map_find(&scope->values, key)
					  : sl__onnx_find(scope, key);
	if (!id)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a node uses '%.200s', which nothing "
				"makes",
				f->at, key);
	*out = (uint32_t)*id;
	return SL_OK;
}

enum sl_status
sl__onnx_resolve(struct sl__onnx_reader *r, struct sl__wire wire,
		 const struct sl__onnx_scope *scope, uint32_t *inputs,
		 uint32_t *outputs)
{
	struct sl__field f;
	enum sl_status rc;

	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number == SL__NODE_INPUT)
			rc = resolve(r, &wire, &f, scope, inputs++);
		else if (f.number == SL__NODE_OUTPUT)
			rc = resolve(r, &wire, &f, scope, outputs++);
		if (rc)
			return rc;
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
static enum sl_status
replace_constant(struct sl__onnx_reader *r, uint32_t value)
{
	struct sl_graph *graph = r->graph;
	uint32_t producer = graph->values[value].producer;
	uint32_t *unused = sl__onnx_array(r, 1, sizeof(*unused));
	enum sl_status rc;

	if (!unused)
		return r->err->status;
	rc = sl__onnx_charge(r, 2 * sizeof(struct sl__value) +
					strlen(graph->values[value].name));
	if (!rc)
		rc = sl__graph_add_value(graph, unused,
					 graph->values[value].name,
					 graph->values[value].block, r->err);
	if (rc)
		return rc;
	graph->values[*unused] = graph->values[value];
	graph->nodes[producer].outputs = unused;
	graph->values[value].producer = SL__NONE;
	graph->values[value].tensor = NULL;
	graph->values[value].kind = SL_VALUE_ACTIVATION;
	r->n_replaced++;
	return SL_OK;
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

static enum sl_status
add_node(struct sl__onnx_reader *r, struct sl__wire wire,
	 const struct sl__onnx_head *head, const struct sl__onnx_scope *scope,
	 struct sl__node *node)
{
	size_t n = head->n_inputs + head->n_outputs;
	enum sl_status rc;
	uint32_t id;

	if (n >= UINT32_MAX)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a node with %zu inputs and outputs",
				wire.at, n);
	/* The node and its place in the block, as their tables double. */
	rc = sl__onnx_charge(r, 2 * sizeof(*node) + 16 + n * sizeof(id));
	if (!rc)
		rc = sl__onnx_reserve_ids(r, n);
	if (!rc)
		rc = sl__onnx_resolve(r, wire, scope, r->ids,
				      r->ids + head->n_inputs);
	if (rc)
		return rc;
	node->block = scope->block;
	node->n_inputs = (uint32_t)head->n_inputs;
	node->n_outputs = (uint32_t)head->n_outputs;
	node->inputs = r->ids;
	node->outputs = r->ids + head->n_inputs;
	if (is_again(r->graph, node)) {
		rc = replace_constant(r, node->outputs[0]);
		if (rc)
			return rc;
	}
	return sl__graph_add_node(r->graph, &id, node, r->err);
}

enum sl_status
sl__onnx_node(struct sl__onnx_reader *r, struct sl__wire wire,
	      struct sl__onnx_scope *scope)
{
	struct sl__onnx_function *function;
	struct sl__node node = {0};
	struct sl__onnx_head head;
	enum sl_status rc = read_head(r, wire, &head);

	if (rc)
		return rc;
	if (!head.type.n_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a node without an operator",
				wire.at);
	rc = sl__onnx_callee(r, &head, &function);
	if (rc)
		return rc;
	if (function)
		return sl__onnx_inline(r, function, wire, &head, scope);
	if (scope->call)
		rc = sl__onnx_count_inlined(r, wire.at,
					    scope->call->function->name);
	if (!rc)
		rc = name_node(r, &wire, &head, scope, &node);
	if (!rc && !strcmp(node.domain, "sleuth"))
		rc = sl__fail(r->err, SL_E_DATA,
			      "node '%.200s' (%.60s): the domain 'sleuth' is "
			      "for what Sleuth fuses, not for files",
			      node.name, node.type);
	if (!rc)
		rc = read_attributes(r, wire, head.n_attributes, scope, &node);
	return rc ? rc : add_node(r, wire, &head, scope, &node);
}
