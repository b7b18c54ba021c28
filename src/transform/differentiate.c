/* SPDX-License-Identifier: Apache-2.0 */
/*
 * differentiate.c - a model's graph, and nodes that compute gradients.
 *
 * Reverse mode: nodes are taken from the last to the first.  When a node's turn
 * comes, all uses of its outputs have added their parts; the parts are summed
 * and the operator's rule (ops/gradient.h) adds the nodes that carry them on to
 * the inputs.  Only what leads from a wanted value to an output is followed.
 */
#include "transform/differentiate.h"
#include "base/dtype.h"
#include "base/status.h"
#include "ops/gradient.h"

#include <string.h>

#include "base/banned.h"

static int
is_done(struct sl__differentiation *d, enum sl_status rc)
{
	if (!d->w.rc)
		d->w.rc = rc;
	return !d->w.rc;
}

/* Inputs are of the sizes that gradients are made for. */
static void
fix_sizes(struct sl__differentiation *d, const struct sl__shapes *shapes)
{
	const struct sl__block *main = &d->w.graph->blocks[0];

	for (size_t i = 0; !d->w.rc && i < main->n_inputs; i++) {
		struct sl__type *type =
			&d->w.graph->values[main->inputs[i]].declared;
		const struct sl__type *is = &shapes->types[main->inputs[i]];
		size_t rank = is->rank > 0 ? (size_t)is->rank : 0;

		if (is->kind != SL__TYPE_TENSOR || is->rank < 0)
			continue;
		*type = *is;
		type->dims = sl__arena_realloc_array(&d->w.graph->arena,
						     is->dims, rank, rank,
						     sizeof(*type->dims));
		if (!type->dims)
			d->w.rc = sl__fail_nomem(d->w.err);
	}
}

enum sl_status
sl__differentiation_new(struct sl__differentiation **out,
			const struct sl_graph *model,
			const struct sl__shapes *shapes, struct sl_error *err)
{
	const struct sl_allocator *allocator = &shapes->arena.allocator;
	struct sl__differentiation *d =
		sl__allocator_alloc(allocator, sizeof(*d));
	enum sl_status rc;

	*out = NULL;
	if (!d)
		return sl__fail_nomem(err);
	memset(d, 0, sizeof(*d));
	sl__arena_init(&d->scratch, allocator);
	d->model = model;
	d->w.err = err;
	d->w.name = "";
	d->w.forward = SL__NONE;
	d->w.rc = sl__graph_new(&d->w.graph, allocator, err);
	if (!d->w.rc)
		d->w.rc = sl__graph_copy(d->w.graph, model, err);
	if (!d->w.rc)
		fix_sizes(d, shapes);
	if (!d->w.rc)
		is_done(d, sl__shapes_overlay(&d->w.shapes, shapes, err));
	if (d->w.rc) {
		rc = d->w.rc;
		sl__differentiation_free(d);
		return rc;
	}
	d->w.shapes->graph = d->w.graph;
	*out = d;
	return SL_OK;
}

void
sl__differentiation_free(struct sl__differentiation *d)
{
	struct sl_allocator allocator;

	if (!d)
		return;
	allocator = d->scratch.allocator;
	sl__shapes_free(d->w.shapes);
	sl_graph_free(d->w.graph);
	sl__arena_release(&d->scratch);
	sl__allocator_free(&allocator, d);
}

/* Lets a value be an input of the model. */
static void
add_main_input(struct sl__differentiation *d, uint32_t value,
	       const struct sl__type *type)
{
	struct sl_graph *graph = d->w.graph;
	struct sl__block *main = &graph->blocks[0];
	uint32_t *inputs = sl__arena_realloc_array(
		&graph->arena, main->inputs, main->n_inputs, main->n_inputs + 1,
		sizeof(*inputs));

	if (!inputs) {
		is_done(d, sl__fail_nomem(d->w.err));
		return;
	}
	inputs[main->n_inputs++] = value;
	main->inputs = inputs;
	graph->values[value].declared = *type;
	graph->values[value].kind = SL_VALUE_STATE;
}

/* A weight that a Constant node holds becomes a copy of the state: the node
 * stays, so that numbers do. */
uint32_t
sl__differentiation_make_state(struct sl__differentiation *d, uint32_t value)
{
	struct sl_graph *graph = d->w.graph;
	struct sl__type type = d->w.shapes->types[value];
	uint32_t maker = graph->values[value].producer, state;
	uint32_t *inputs;

	if (d->w.rc)
		return 0;
	type.dims = graph->values[value].tensor->dims;
	graph->values[value].tensor = NULL;
	if (maker == SL__NONE) {
		add_main_input(d, value, &type);
		return value;
	}
	state = sl__node_writer_add_input(&d->w, graph->values[value].name,
					  &type, SL_VALUE_STATE);
	inputs = sl__arena_array(&graph->arena, 1, sizeof(*inputs));
	if (d->w.rc || !inputs) {
		is_done(d, sl__fail_nomem(d->w.err));
		return 0;
	}
	*inputs = state;
	graph->values[value].kind = SL_VALUE_ACTIVATION;
	graph->nodes[maker].type = "Identity";
	graph->nodes[maker].op = &sl__ops[SL__OP_ONNX_Identity];
	graph->nodes[maker].inputs = inputs;
	graph->nodes[maker].n_inputs = 1;
	graph->nodes[maker].n_attributes = 0;
	return state;
}

/* Room for what is known of each value; 0: a failure. */
static int
begin(struct sl__differentiation *d)
{
	size_t n = d->w.graph->n_values;

	d->n_parts = n;
	d->needs = sl__arena_array(&d->scratch, n, 1);
	d->parts = sl__arena_array(&d->scratch, n, sizeof(*d->parts));
	if (!d->needs || !d->parts)
		is_done(d, sl__fail_nomem(d->w.err));
	return !d->w.rc;
}

static int
is_real(const struct sl__differentiation *d, uint32_t value)
{
	return sl__dtype_family(d->w.shapes->types[value].dtype) ==
	       SL__DTYPE_FLOAT;
}

/* needs[] of what depends on a wanted value. */
static void
find_needs(struct sl__differentiation *d, const unsigned char *is_wanted,
	   const uint32_t *order, size_t n)
{
	memcpy(d->needs, is_wanted, d->n_parts);
	for (size_t i = 0; i < n; i++) {
		const struct sl__node *node = &d->w.graph->nodes[order[i]];
		int needs = 0;

		if (node->op && node->op->grad == sl__grad_zero)
			continue;
		for (uint32_t k = 0; k < node->n_inputs; k++)
			needs |= node->inputs[k] != SL__NONE &&
				 d->needs[node->inputs[k]];
		for (uint32_t k = 0; needs && k < node->n_outputs; k++) {
			if (node->outputs[k] != SL__NONE &&
			    is_real(d, node->outputs[k]))
				d->needs[node->outputs[k]] = 1;
		}
	}
}

/* One more part of a value's gradient. */
static void
add_part(struct sl__differentiation *d, uint32_t value, uint32_t part)
{
	struct sl__gradient_parts *p = &d->parts[value];

	if (d->w.rc || part == SL__NONE)
		return;
	if (!sl__arena_grow(&d->scratch, &p->values, p->n, &p->cap,
			    sizeof(*p->values)))
		is_done(d, sl__fail_nomem(d->w.err));
	else
		p->values[p->n++] = part;
}

uint32_t
sl__differentiation_gradient(struct sl__differentiation *d, uint32_t value)
{
	struct sl__gradient_parts *p = &d->parts[value];

	if (value >= d->n_parts || p->n == 0)
		return SL__NONE;
	if (p->n > 1) {
		p->values[0] = sl__node_writer_add(&d->w, SL__OP_ONNX_Sum,
						   p->values, p->n);
		p->n = 1;
	}
	return p->values[0];
}

/* What belongs to a node from here on. */
static void
set_forward(struct sl__differentiation *d, uint32_t node)
{
	const struct sl__node *from = &d->w.graph->nodes[node];
	int is_model = node < d->model->n_nodes;

	d->w.phase = SL_PHASE_BACKWARD;
	d->w.forward = is_model ? node : SL__NONE;
	d->w.name = from->name;
}

/* Gradients of one node's inputs, where they are needed and its outputs have
 * any. */
static void
differentiate_node(struct sl__differentiation *d, uint32_t id)
{
	struct sl__node node = d->w.graph->nodes[id];
	struct sl__arena_mark mark = sl__arena_mark(&d->scratch);
	size_t n = node.n_inputs + (size_t)node.n_outputs;
	uint32_t *dy = sl__arena_array(&d->scratch, n, sizeof(*dy));
	unsigned char *is_wanted = sl__arena_array(&d->scratch, n, 1);
	struct sl__gradient g = {.w = &d->w, .id = id, .node = node, .dy = dy};
	int is_asked = 0, is_given = 0;

	if (!dy || !is_wanted) {
		is_done(d, sl__fail_nomem(d->w.err));
		return;
	}
	g.dx = dy + node.n_outputs;
	g.is_wanted = is_wanted;
	for (uint32_t i = 0; i < node.n_inputs; i++) {
		g.dx[i] = SL__NONE;
		is_wanted[i] = node.inputs[i] != SL__NONE &&
			       d->needs[node.inputs[i]];
		is_asked |= is_wanted[i];
	}
	set_forward(d, id);
	for (uint32_t k = 0; is_asked && k < node.n_outputs; k++) {
		dy[k] = node.outputs[k] == SL__NONE
				? SL__NONE
				: sl__differentiation_gradient(d,
							       node.outputs[k]);
		is_given |= dy[k] != SL__NONE;
	}
	if (!is_given) {
		sl__arena_rewind(&d->scratch, mark);
		return;
	}
	if (node.op)
		node.op->grad(&g);
	else
		sl__grad_none(&g);
	for (uint32_t i = 0; !d->w.rc && i < node.n_inputs; i++) {
		if (is_wanted[i])
			add_part(d, node.inputs[i], g.dx[i]);
	}
}

enum sl_status
sl__differentiate(struct sl__differentiation *d, const unsigned char *is_wanted,
		  const uint32_t *outputs, const uint32_t *seeds, size_t n)
{
	const struct sl__block *main = &d->w.graph->blocks[0];
	size_t n_nodes = main->n_nodes;
	uint32_t *order;

	if (d->w.rc || !begin(d))
		return d->w.rc;
	order = sl__arena_realloc_array(&d->scratch, main->nodes, n_nodes,
					n_nodes, sizeof(*order));
	if (!order)
		return sl__fail_nomem(d->w.err);
	find_needs(d, is_wanted, order, n_nodes);
	for (size_t i = 0; i < n; i++)
		add_part(d, outputs[i], seeds[i]);
	for (size_t i = n_nodes; !d->w.rc && i-- > 0;)
		differentiate_node(d, order[i]);
	return d->w.rc;
}

enum sl_status
sl__differentiation_finish(struct sl__differentiation *d, struct sl_graph **out)
{
	if (d->w.rc || !is_done(d, sl__graph_freeze(d->w.graph, d->w.err)))
		return d->w.rc;
	*out = d->w.graph;
	d->w.graph = NULL;
	return SL_OK;
}
