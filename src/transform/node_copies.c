/* SPDX-License-Identifier: Apache-2.0 */
/* node_copies.c - nodes of a graph under construction, a second time. */
#include "transform/node_copies.h"
#include "base/status.h"

#include "base/banned.h"

void
sl__node_copies_begin(struct sl__node_copies *c, struct sl__node_writer *w,
		      size_t n_model_nodes, struct sl__arena *arena)
{
	size_t n = w->graph->n_values;

	*c = (struct sl__node_copies){
		.w = w,
		.copy_of = sl__arena_array(arena, n + 1, sizeof(*c->copy_of)),
		.n_values = n,
		.n_model_nodes = n_model_nodes};
	if (!c->copy_of) {
		if (!w->rc)
			w->rc = sl__fail_nomem(w->err);
		c->n_values = 0;
		return;
	}
	for (size_t v = 0; v < n; v++)
		c->copy_of[v] = SL__NONE;
}

uint32_t
sl__node_copies_value(const struct sl__node_copies *c, uint32_t value)
{
	return value < c->n_values && c->copy_of[value] != SL__NONE
		       ? c->copy_of[value]
		       : value;
}

int
sl__node_draws(const struct sl__node *node)
{
	static const enum sl__op_id ops[] = {
		SL__OP_ONNX_Dropout,           SL__OP_ONNX_RandomNormal,
		SL__OP_ONNX_RandomNormalLike,  SL__OP_ONNX_RandomUniform,
		SL__OP_ONNX_RandomUniformLike, SL__OP_ONNX_Bernoulli,
		SL__OP_ONNX_Multinomial};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (sl__is_op(node, ops[i]))
			return 1;
	}
	return 0;
}

int
sl__node_has_body(const struct sl__node *node)
{
	for (size_t i = 0; i < node->n_attributes; i++) {
		if (node->attributes[i].kind == SL__ATTRIBUTE_BLOCK)
			return 1;
	}
	return 0;
}

/* The operands of the copy, of which the results are new values. */
static uint32_t *
make_operands(struct sl__node_copies *c, const struct sl__node *from)
{
	struct sl__node_writer *w = c->w;
	uint32_t *all = sl__arena_array(
		&w->graph->arena, from->n_inputs + (size_t)from->n_outputs,
		sizeof(*all));

	if (!all) {
		w->rc = sl__fail_nomem(w->err);
		return NULL;
	}
	for (uint32_t i = 0; i < from->n_inputs; i++)
		all[i] = sl__node_copies_value(c, from->inputs[i]);
	for (uint32_t k = 0; !w->rc && k < from->n_outputs; k++) {
		uint32_t *to = &all[from->n_inputs + k];

		*to = SL__NONE;
		if (from->outputs[k] != SL__NONE)
			w->rc = sl__graph_add_value(w->graph, to, "", 0,
						    w->err);
	}
	return w->rc ? NULL : all;
}

uint32_t
sl__node_copies_add(struct sl__node_copies *c, uint32_t id, const char *name)
{
	struct sl__node_writer *w = c->w;
	struct sl__node from, node;
	uint32_t *all, made = 0;

	if (w->rc)
		return 0;
	node = from = w->graph->nodes[id];
	if (sl__node_has_body(&from)) {
		w->rc = sl__fail(w->err, SL_E_ABSENT,
				 "%.60s '%.200s' has a body: it cannot run "
				 "more than once in a training step",
				 from.type, from.name);
		return 0;
	}
	all = make_operands(c, &from);
	if (!all)
		return 0;
	node.name = name;
	node.phase = w->phase;
	if (id < c->n_model_nodes)
		node.forward = id;
	node.inputs = all;
	node.outputs = all + from.n_inputs;
	w->rc = sl__graph_add_node(w->graph, &made, &node, w->err);
	if (!w->rc)
		w->rc = sl__shapes_extend(w->shapes, w->err);
	if (!w->rc)
		w->rc = sl__infer_node(w->shapes, made, w->err);
	for (uint32_t k = 0; k < from.n_outputs; k++) {
		uint32_t v = from.outputs[k];

		if (v >= c->n_values)
			continue;
		c->copy_of[v] = node.outputs[k];
		w->graph->values[node.outputs[k]].is_apart =
			w->graph->values[v].is_apart;
	}
	return made;
}
