/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recompute_norms.c - layer normalizations that run again for the backward
 * pass.
 *
 * The gradient of a layer normalization uses what went into it, and the layer
 * behind it uses what came out: two activations of one size, of which the
 * second follows from the first by one pass over it.  Only the first is kept.
 * The copy reads the same numbers and runs the same kernel, so that bits stay
 * the same.
 */
#include "base/status.h"
#include "graph/execution_order.h"
#include "transform/node_copies.h"
#include "transform/training.h"

#include <string.h>

#include "base/banned.h"

struct renewal {
	struct sl__node_writer *w;
	struct sl__node_copies copies;
	unsigned char *saved;    /* by value: the backward pass uses it */
	uint32_t *copy;          /* by value: the node that makes it again */
	unsigned char *is_there; /* by node: stands in its place */
};

static int
is_saved(const struct renewal *r, uint32_t v)
{
	return v != SL__NONE && v < r->copies.n_values && r->saved[v];
}

/* Both ends of the node are used, the first of them is kept, and nobody outside
 * takes its result. */
static int
is_renewable(const struct renewal *r, const struct sl__training_graph *t,
	     const struct sl__node *node)
{
	return node->phase == SL_PHASE_FORWARD &&
	       sl__is_op(node, SL__OP_ONNX_LayerNormalization) &&
	       is_saved(r, node->inputs[0]) && is_saved(r, node->outputs[0]) &&
	       r->copy[node->inputs[0]] == SL__NONE &&
	       node->outputs[0] != t->output;
}

/* Appended; insert_copies() moves it.  Statistics are small, and stay.  Neither
 * result may be fused with its fewer uses: it would be rounded in another
 * way. */
static void
add_copy(struct renewal *r, uint32_t id)
{
	struct sl_graph *graph = r->w->graph;
	const struct sl__node node = graph->nodes[id];
	const char *name =
		sl__arena_format(&graph->arena, "%s.again", node.name);
	uint32_t v = node.outputs[0], made;

	if (!name && !r->w->rc)
		r->w->rc = sl__fail_nomem(r->w->err);
	made = sl__node_copies_add(&r->copies, id, name);
	if (r->w->rc)
		return;
	r->copy[v] = made;
	graph->values[v].is_apart = 1;
	graph->values[graph->nodes[made].outputs[0]].is_apart = 1;
	for (uint32_t k = 1; k < node.n_outputs; k++) {
		if (node.outputs[k] != SL__NONE)
			r->copies.copy_of[node.outputs[k]] = SL__NONE;
	}
}

/* A node of the backward pass takes what is made again; those that are not
 * there yet go before it. */
static size_t
use_copies(struct renewal *r, uint32_t id, uint32_t *nodes, size_t n)
{
	struct sl_graph *graph = r->w->graph;
	struct sl__node *node = &graph->nodes[id];
	uint32_t *inputs =
		sl__arena_array(&graph->arena, node->n_inputs, sizeof(*inputs));

	if (!inputs) {
		r->w->rc = sl__fail_nomem(r->w->err);
		return n;
	}
	for (uint32_t k = 0; k < node->n_inputs; k++) {
		uint32_t v = node->inputs[k];

		inputs[k] = v;
		if (!is_saved(r, v) || r->copy[v] == SL__NONE)
			continue;
		inputs[k] = sl__node_copies_value(&r->copies, v);
		if (!r->is_there[r->copy[v]])
			nodes[n++] = r->copy[v];
		r->is_there[r->copy[v]] = 1;
	}
	node->inputs = inputs;
	return n;
}

static void
insert_copies(struct renewal *r, const uint32_t *old, size_t n_before)
{
	struct sl_graph *graph = r->w->graph;
	struct sl__block *main = &graph->blocks[0];
	size_t n = 0;

	for (size_t i = 0; !r->w->rc && i < n_before; i++) {
		if (graph->nodes[old[i]].phase == SL_PHASE_BACKWARD)
			n = use_copies(r, old[i], main->nodes, n);
		main->nodes[n++] = old[i];
	}
}

static void
find_saved(struct renewal *r)
{
	const struct sl_graph *graph = r->w->graph;
	const struct sl__block *main = &graph->blocks[0];

	for (size_t i = 0; i < main->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[main->nodes[i]];

		if (node->phase != SL_PHASE_BACKWARD)
			continue;
		for (uint32_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] != SL__NONE)
				r->saved[node->inputs[k]] = 1;
		}
	}
}

void
sl__training_recompute_norms(struct sl__training_graph *t,
			     struct sl__differentiation *d,
			     struct sl__arena *arena)
{
	struct renewal r = {.w = &d->w};
	struct sl_graph *graph = d->w.graph;
	size_t n_values = graph->n_values, n_before = graph->blocks[0].n_nodes;
	uint32_t *old = sl__arena_array(arena, n_before, sizeof(*old));

	r.saved = sl__arena_array(arena, n_values, 1);
	r.copy = sl__arena_array(arena, n_values, sizeof(*r.copy));
	/* Each node has one copy at most. */
	r.is_there = sl__arena_array(arena, 2 * (size_t)graph->n_nodes, 1);
	if (!old || !r.saved || !r.copy || !r.is_there) {
		d->w.rc = sl__fail_nomem(d->w.err);
		return;
	}
	sl__node_copies_begin(&r.copies, r.w, t->n_model_nodes, arena);
	if (d->w.rc)
		return;
	memset(r.copy, 0xff, n_values * sizeof(*r.copy)); /* SL__NONE */
	memcpy(old, graph->blocks[0].nodes, n_before * sizeof(*old));
	find_saved(&r);
	d->w.phase = SL_PHASE_RECOMPUTE;
	for (size_t i = 0; !d->w.rc && i < n_before; i++) {
		if (is_renewable(&r, t, &graph->nodes[old[i]]))
			add_copy(&r, old[i]);
	}
	d->w.phase = SL_PHASE_BACKWARD;
	if (!d->w.rc && graph->blocks[0].n_nodes > n_before)
		insert_copies(&r, old, n_before);
}
