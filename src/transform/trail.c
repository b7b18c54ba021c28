/* SPDX-License-Identifier: Apache-2.0 */
/* trail.c - the nodes that a pattern has been found in. */
#include "transform/trail.h"
#include "transform/matching.h"

#include "base/banned.h"

void
sl__trail_add(struct sl__trail *trail, uint32_t node)
{
	for (size_t i = 0; i < trail->n; i++) {
		if (trail->nodes[i] == node)
			return;
	}
	if (trail->n < SL__MAKING_COVERS)
		trail->nodes[trail->n++] = node;
}

static int
is_made_by(const struct sl__making *m, uint32_t value)
{
	for (uint32_t k = 0; k < m->node.n_outputs; k++) {
		if (m->outputs[k] == value)
			return 1;
	}
	return 0;
}

/* Whether the new node reads a value. */
static int
is_read_by(const struct sl__making *m, uint32_t value)
{
	for (uint32_t i = 0; i < m->node.n_inputs; i++) {
		if (m->inputs[i] == value)
			return 1;
	}
	return 0;
}

static int
is_kept(const struct sl__trail *t, const unsigned char *is_out, uint32_t node)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->nodes[i] == node)
			return is_out[i];
	}
	return 1;
}

/* Whether somebody who stays uses what the node makes. */
static int
is_needed(const struct sl__trail *t, const unsigned char *is_out,
	  const struct sl__making *m, uint32_t node)
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
sl__trail_give(const struct sl__trail *trail, struct sl__making *m)
{
	unsigned char is_out[SL__MAKING_COVERS] = {0};
	int has_changed = 1;

	while (has_changed) {
		has_changed = 0;
		for (size_t i = 0; i < trail->n; i++) {
			if (is_out[i] ||
			    !is_needed(trail, is_out, m, trail->nodes[i]))
				continue;
			is_out[i] = 1;
			has_changed = 1;
		}
	}
	for (size_t i = 0; i < trail->n; i++) {
		if (!is_out[i])
			sl__make_cover(m, trail->nodes[i]);
	}
}

/* Whether a node hands its first input on as it is. */
static int
is_idle(const struct sl__rewrite *rw, uint32_t node)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);

	if (!n || n->block || n->n_inputs < 1 || n->inputs[0] == SL__NONE)
		return 0;
	if (!sl__is_op(n, SL__OP_ONNX_Identity) &&
	    !sl__is_op(n, SL__OP_ONNX_Cast) && !sl__drops_nothing(rw, node))
		return 0;
	return sl__are_alike(rw, n->inputs[0], n->outputs[0]);
}

uint32_t
sl__trail_source(struct sl__trail *trail, uint32_t value)
{
	uint32_t maker = sl__rewrite_producer(trail->rw, value);

	while (is_idle(trail->rw, maker) &&
	       sl__rewrite_output(trail->rw, maker) == value) {
		sl__trail_add(trail, maker);
		value = sl__rewrite_input(trail->rw, maker, 0);
		maker = sl__rewrite_producer(trail->rw, value);
	}
	return value;
}

uint32_t
sl__trail_input(struct sl__trail *trail, uint32_t node, size_t i)
{
	return sl__trail_source(trail, sl__rewrite_input(trail->rw, node, i));
}

uint32_t
sl__trail_maker(struct sl__trail *trail, uint32_t value, enum sl__op_id op)
{
	uint32_t maker = sl__rewrite_producer(trail->rw, value);

	if (!sl__rewrite_is(trail->rw, maker, op))
		return SL__NONE;
	sl__trail_add(trail, maker);
	return maker;
}
