/* SPDX-License-Identifier: Apache-2.0 */
/* matched_nodes.c - the nodes that a pattern has been found in. */
#include "transform/matched_nodes.h"
#include "transform/matching.h"

#include "base/banned.h"

void
sl__matched_add(struct sl__matched_nodes *matched, uint32_t node)
{
	for (size_t i = 0; i < matched->n; i++) {
		if (matched->nodes[i] == node)
			return;
	}
	if (matched->n < SL__NODE_BUILDER_COVERS)
		matched->nodes[matched->n++] = node;
}

static int
is_made_by(const struct sl__node_builder *m, uint32_t value)
{
	for (uint32_t k = 0; k < m->node.n_outputs; k++) {
		if (m->outputs[k] == value)
			return 1;
	}
	return 0;
}

/* Whether the new node reads a value. */
static int
is_read_by(const struct sl__node_builder *m, uint32_t value)
{
	for (uint32_t i = 0; i < m->node.n_inputs; i++) {
		if (m->inputs[i] == value)
			return 1;
	}
	return 0;
}

static int
is_kept(const struct sl__matched_nodes *t, const unsigned char *is_out,
	uint32_t node)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->nodes[i] == node)
			return is_out[i];
	}
	return 1;
}

/* Whether somebody who stays uses what the node makes. */
static int
is_needed(const struct sl__matched_nodes *t, const unsigned char *is_out,
	  const struct sl__node_builder *m, uint32_t node)
{
	const struct sl__node *n = &t->rw->nodes[node].node;

	for (uint32_t k = 0; k < n->n_outputs; k++) {
		uint32_t value = n->outputs[k];

		if (value == SL__NONE || is_made_by(m, value))
			continue;
		if (t->rw->is_pinned[value] || is_read_by(m, value))
			return 1;
		for (uint32_t u = 0; u < t->rw->uses[value].n; u++) {
			if (is_kept(t, is_out, t->rw->uses[value].nodes[u]))
				return 1;
		}
	}
	return 0;
}

void
sl__matched_cover_unused(const struct sl__matched_nodes *matched,
			 struct sl__node_builder *m)
{
	unsigned char is_out[SL__NODE_BUILDER_COVERS] = {0};
	int has_changed = 1;

	while (has_changed) {
		has_changed = 0;
		for (size_t i = 0; i < matched->n; i++) {
			if (is_out[i] ||
			    !is_needed(matched, is_out, m, matched->nodes[i]))
				continue;
			is_out[i] = 1;
			has_changed = 1;
		}
	}
	for (size_t i = 0; i < matched->n; i++) {
		if (!is_out[i])
			sl__node_builder_add_covered(m, matched->nodes[i]);
	}
}

/* Whether a node hands its first input on as it is. */
static int
is_idle(const struct sl__rewrite *rw, uint32_t node)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);

	if (!n || n->n_inputs < 1 || n->inputs[0] == SL__NONE)
		return 0;
	if (!sl__is_op(n, SL__OP_ONNX_Identity) &&
	    !sl__is_op(n, SL__OP_ONNX_Cast) && !sl__is_noop_dropout(rw, node))
		return 0;
	return sl__have_same_dtype_and_dims(rw, n->inputs[0], n->outputs[0]);
}

uint32_t
sl__matched_skip_identities(struct sl__matched_nodes *matched, uint32_t value)
{
	uint32_t maker = sl__rewrite_producer(matched->rw, value);

	while (is_idle(matched->rw, maker) &&
	       sl__rewrite_output(matched->rw, maker) == value) {
		sl__matched_add(matched, maker);
		value = sl__rewrite_input(matched->rw, maker, 0);
		maker = sl__rewrite_producer(matched->rw, value);
	}
	return value;
}

uint32_t
sl__matched_input_value(struct sl__matched_nodes *matched, uint32_t node,
			size_t i)
{
	return sl__matched_skip_identities(
		matched, sl__rewrite_input(matched->rw, node, i));
}

uint32_t
sl__matched_producer(struct sl__matched_nodes *matched, uint32_t value,
		     enum sl__op_id op)
{
	uint32_t maker = sl__rewrite_producer(matched->rw, value);

	if (!sl__rewrite_node_is_op(matched->rw, maker, op))
		return SL__NONE;
	sl__matched_add(matched, maker);
	return maker;
}
