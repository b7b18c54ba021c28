/* SPDX-License-Identifier: Apache-2.0 */
/* conv_graph.h - a convolution with weights, and what follows it. */
#ifndef SL_TEST_CONV_GRAPH_H
#define SL_TEST_CONV_GRAPH_H

#include "engine_case.h"

/*
 * The first node is the line that node_text.h describes; its inputs from
 * number 1 on are parameters of seeded numbers, up to number 'n_parameters'.
 * 'ending' has words for nodes that follow one another, each on the result so
 * far: "Relu", "Clip" (0 to 1.5), "Sigmoid", "HardSigmoid", "HardSwish",
 * "Add" and "Mul" (an input of the result's size), "AddX" (the convolution's
 * own source), "MulC" (a parameter [channels][1][1]).
 */
struct conv_graph {
	struct node_text r;
	uint32_t given[NODE_TEXT_MOST], n_given;
	uint32_t result;
	int n_nodes;
};

static inline void
conv_graph_parameter(struct conv_graph *g, uint32_t value)
{
	struct sl__value *v = &g->r.graph->values[value];
	struct sl__tensor_generator generator = {
		.kind = SL__TENSOR_GENERATOR_UNIFORM,
		.seed = 7 + value,
		.scale = 1};
	struct sl__tensor tensor = {.dtype = v->declared.dtype,
				    .rank = (size_t)v->declared.rank,
				    .dims = v->declared.dims};

	tensor.generator = node_text_copy(&g->r, &generator, sizeof(generator));
	assert_true(sl__tensor_compute_size(&tensor));
	v->kind = SL_VALUE_PARAMETER;
	v->tensor = node_text_copy(&g->r, &tensor, sizeof(tensor));
}

static inline uint32_t
conv_graph_value(struct conv_graph *g, const char *name, int rank,
		 const int64_t *dims)
{
	struct sl_error err = {0};
	struct sl__value *v;
	uint32_t id;

	assert_int_equal(sl__graph_add_value(g->r.graph, &id, name, 0, &err),
			 SL_OK);
	v = &g->r.graph->values[id];
	v->declared.kind = SL__TYPE_TENSOR;
	v->declared.dtype = SL_DTYPE_F32;
	v->declared.rank = rank;
	v->declared.dims =
		node_text_copy(&g->r, dims, (size_t)rank * sizeof(*dims));
	return id;
}

static inline uint32_t
conv_graph_scalar(struct conv_graph *g, float number)
{
	uint32_t id = conv_graph_value(g, "limit", 0, NULL);
	struct sl__value *v = &g->r.graph->values[id];
	struct sl__tensor tensor = {.dtype = SL_DTYPE_F32};

	tensor.bytes = node_text_copy(&g->r, &number, sizeof(number));
	assert_true(sl__tensor_compute_size(&tensor));
	v->kind = SL_VALUE_PARAMETER;
	v->tensor = node_text_copy(&g->r, &tensor, sizeof(tensor));
	return id;
}

/* Sizes of the result, 'dims', belong to operands that are made for it. */
static inline void
conv_graph_follow(struct conv_graph *g, const char *word, int rank,
		  const int64_t *dims)
{
	uint32_t inputs[3] = {g->result, SL__NONE, SL__NONE}, output, id;
	struct sl__node node = {.domain = "", .version = 14, .n_outputs = 1};
	struct sl_error err = {0};
	char name[32];

	node.type = word;
	node.n_inputs = 1;
	if (!strcmp(word, "Clip")) {
		inputs[1] = conv_graph_scalar(g, 0);
		inputs[2] = conv_graph_scalar(g, 1.5f);
		node.n_inputs = 3;
	} else if (!strncmp(word, "Add", 3) || !strncmp(word, "Mul", 3)) {
		int64_t small[3] = {dims[1], 1, 1};

		node.type = word[0] == 'A' ? "Add" : "Mul";
		node.n_inputs = 2;
		snprintf(name, sizeof(name), "operand%d", g->n_nodes);
		if (word[3] == 'X') {
			inputs[1] = g->r.inputs[0];
		} else if (word[3] == 'C') {
			inputs[1] = conv_graph_value(g, name, 3, small);
			conv_graph_parameter(g, inputs[1]);
		} else {
			inputs[1] = conv_graph_value(g, name, rank, dims);
			g->r.graph->values[inputs[1]].kind = SL_VALUE_INPUT;
			g->given[g->n_given++] = inputs[1];
		}
	}
	snprintf(name, sizeof(name), "result%d", g->n_nodes);
	node.name = node_text_copy(&g->r, name, sizeof(name));
	assert_int_equal(
		sl__graph_add_value(g->r.graph, &output, name, 0, &err), SL_OK);
	node.inputs = inputs;
	node.outputs = &output;
	assert_int_equal(sl__graph_add_node(g->r.graph, &id, &node, &err),
			 SL_OK);
	g->result = output;
	g->n_nodes++;
}

/* 'dims' are the result's sizes, where the ending needs them. */
static inline struct sl_graph *
conv_graph(const char *text, uint32_t n_parameters, const char *const *ending,
	   int rank, const int64_t *dims)
{
	struct conv_graph g = {.r.at = text};
	struct sl_error err = {0};
	uint32_t id;

	assert_int_equal(sl__graph_new(&g.r.graph, NULL, &err), SL_OK);
	node_text_read(&g.r);
	for (uint32_t i = 0; i < g.r.node.n_inputs; i++) {
		if (g.r.inputs[i] == SL__NONE)
			continue;
		if (i >= 1 && i <= n_parameters)
			conv_graph_parameter(&g, g.r.inputs[i]);
		else
			g.given[g.n_given++] = g.r.inputs[i];
	}
	assert_int_equal(sl__graph_add_node(g.r.graph, &id, &g.r.node, &err),
			 SL_OK);
	g.result = g.r.outputs[0];
	for (size_t i = 0; ending && ending[i]; i++)
		conv_graph_follow(&g, ending[i], rank, dims);
	assert_int_equal(
		sl__graph_set_inputs(g.r.graph, 0, g.given, g.n_given, &err),
		SL_OK);
	assert_int_equal(
		sl__graph_set_outputs(g.r.graph, 0, &g.result, 1, &err), SL_OK);
	assert_int_equal(sl__graph_freeze(g.r.graph, &err), SL_OK);
	return g.r.graph;
}

#endif
