/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execution_order.c - the nodes of all blocks in the order they run.
 *
 * Blocks are laid out one inside the other, so that what follows values
 * through a model is one loop over one list, forwards or backwards.
 */
#include "graph/execution_order.h"
#include "base/status.h"
#include "graph/op_rules.h"

#include "base/banned.h"

uint32_t
sl__node_body_by_index(const struct sl_graph *graph, uint32_t node, size_t i)
{
	const struct sl__attribute *attribute =
		&graph->nodes[node].attributes[i];

	if (attribute->kind != SL__ATTRIBUTE_BLOCK ||
	    graph->blocks[attribute->block].owner != node)
		return SL__NONE;
	return attribute->block;
}

static void
add_step(struct sl__execution_order *s, uint32_t node,
	 enum sl__node_visit_kind kind)
{
	s->rows[s->n].node = node;
	s->rows[s->n++].kind = kind;
}

static void
add_block(struct sl__execution_order *s, uint32_t block_id)
{
	const struct sl_graph *graph = s->graph;
	const struct sl__block *block = &graph->blocks[block_id];

	for (size_t i = 0; i < block->n_nodes; i++) {
		uint32_t id = block->nodes[i];
		int has_body = 0;

		for (size_t a = 0; a < graph->nodes[id].n_attributes; a++) {
			uint32_t body = sl__node_body_by_index(graph, id, a);

			if (body == SL__NONE)
				continue;
			if (!has_body)
				add_step(s, id, SL__NODE_VISIT_ENTER);
			has_body = 1;
			add_block(s, body);
		}
		add_step(s, id,
			 has_body ? SL__NODE_VISIT_LEAVE : SL__NODE_VISIT_RUN);
	}
}

enum sl_status
sl__execution_order_find(struct sl__execution_order *out,
			 const struct sl_graph *graph, struct sl__arena *arena,
			 struct sl_error *err)
{
	out->graph = graph;
	out->n = 0;
	/* A node owns each of its bodies alone, so no node comes up twice. */
	out->rows = sl__arena_array(arena, graph->n_nodes + graph->n_blocks,
				    sizeof(*out->rows));
	if (!out->rows)
		return sl__fail_nomem(err);
	add_block(out, 0);
	return SL_OK;
}

static uint32_t
at(const uint32_t *values, size_t n, size_t i)
{
	return i < n ? values[i] : SL__NONE;
}

static const struct sl__node *
owner_of(const struct sl_graph *graph, uint32_t block)
{
	return &graph->nodes[graph->blocks[block].owner];
}

uint32_t
sl__body_owner_input(const struct sl_graph *graph, uint32_t block, size_t i)
{
	const struct sl__node *owner = owner_of(graph, block);

	if (sl__is_op(owner, SL__OP_ONNX_Loop) && i == 0)
		return SL__NONE; /* the turn's number */
	/* Before version 9 a length of each sequence stood first. */
	if (sl__is_op(owner, SL__OP_ONNX_Scan) && owner->version < 9)
		i++;
	return at(owner->inputs, owner->n_inputs, i);
}

uint32_t
sl__body_owner_output(const struct sl_graph *graph, uint32_t block, size_t k)
{
	const struct sl__node *owner = owner_of(graph, block);

	if (sl__is_op(owner, SL__OP_ONNX_Loop)) {
		if (k == 0)
			return SL__NONE; /* whether to go on */
		k--;
	}
	return at(owner->outputs, owner->n_outputs, k);
}

uint32_t
sl__body_feedback_input(const struct sl_graph *graph, uint32_t block, size_t k)
{
	const struct sl__node *owner = owner_of(graph, block);
	const struct sl__block *body = &graph->blocks[block];
	int64_t n_scanned = sl__attribute_int(owner, "num_scan_inputs", 0);

	if (sl__is_op(owner, SL__OP_ONNX_Loop))
		return at(body->inputs, body->n_inputs, k + 1);
	if (sl__is_op(owner, SL__OP_ONNX_Scan) && n_scanned >= 0 &&
	    (uint64_t)n_scanned + k < body->n_inputs)
		return body->inputs[k];
	return SL__NONE;
}

enum sl_status
sl__value_users_find(struct sl__value_users *out, const struct sl_graph *graph,
		     struct sl__arena *arena, struct sl_error *err)
{
	size_t n_uses = 0, n = graph->n_values;

	out->first = sl__arena_array(arena, n + 2, sizeof(*out->first));
	if (!out->first)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		for (uint32_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] == SL__NONE)
				continue;
			out->first[node->inputs[k] + 2]++;
			n_uses++;
		}
	}
	for (size_t v = 0; v < n; v++)
		out->first[v + 2] += out->first[v + 1];
	out->nodes = sl__arena_array(arena, n_uses, sizeof(*out->nodes));
	if (!out->nodes)
		return sl__fail_nomem(err);
	/* first[v + 1] runs from the start of v's users to their end. */
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		for (uint32_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] != SL__NONE)
				out->nodes[out->first[node->inputs[k] + 1]++] =
					(uint32_t)i;
		}
	}
	return SL_OK;
}
