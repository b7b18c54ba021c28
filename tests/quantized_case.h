/* SPDX-License-Identifier: Apache-2.0 */
/* quantized_case.h - quantized operators against their reference kernels. */
#ifndef SL_TEST_QUANTIZED_CASE_H
#define SL_TEST_QUANTIZED_CASE_H

#include "engine_case.h"

/* Numbers for an input that becomes a constant: bytes of the whole range,
 * int32 around 0, scales that differ by a factor of 5. */
static inline double
quantized_number(enum sl_dtype dtype, uint64_t draw)
{
	double share = (double)(draw >> 33) / 2147483648.0;

	if (dtype == SL_DTYPE_U8)
		return floor(256 * share);
	if (dtype == SL_DTYPE_I8)
		return floor(256 * share) - 128;
	if (dtype == SL_DTYPE_I32)
		return floor(20000 * share) - 10000;
	return 0.002 + 0.008 * share;
}

static inline void
quantized_fix(struct node_text *r, struct sl__value *value, uint64_t state)
{
	struct sl__tensor *t =
		sl__arena_alloc(&r->graph->arena, sizeof(struct sl__tensor));
	unsigned char *bytes;

	assert_non_null(t);
	t->dtype = value->declared.dtype;
	t->rank = (size_t)value->declared.rank;
	t->dims = value->declared.dims;
	assert_true(sl__tensor_compute_size(t));
	bytes = sl__arena_alloc(&r->graph->arena, (size_t)t->n_bytes + 8);
	assert_non_null(bytes);
	for (uint64_t i = 0; i < t->n_elements; i++) {
		double x;

		state = state * 6364136223846793005u + 1442695040888963407u;
		x = quantized_number(t->dtype, state);
		sl__store_doubles(bytes, t->dtype, i, 1, &x);
	}
	t->bytes = bytes;
	value->kind = SL_VALUE_PARAMETER;
	value->tensor = t;
}

/* The graph of a line, whose inputs after the first n_given are constants. */
static inline struct sl_graph *
quantized_graph(const char *text, uint32_t n_given)
{
	struct node_text r = {.at = text};
	uint32_t given[NODE_TEXT_MOST], n = 0, id;
	struct sl_error err = {0};

	assert_int_equal(sl__graph_new(&r.graph, NULL, &err), SL_OK);
	node_text_read(&r);
	for (uint32_t i = 0; i < r.node.n_inputs; i++) {
		if (r.inputs[i] == SL__NONE ||
		    r.graph->values[r.inputs[i]].tensor)
			continue;
		if (n < n_given)
			given[n++] = r.inputs[i];
		else
			quantized_fix(&r, &r.graph->values[r.inputs[i]], i);
	}
	assert_int_equal(sl__graph_set_inputs(r.graph, 0, given, n, &err),
			 SL_OK);
	assert_int_equal(sl__graph_add_node(r.graph, &id, &r.node, &err),
			 SL_OK);
	assert_int_equal(sl__graph_set_outputs(r.graph, 0, r.outputs,
					       r.node.n_outputs, &err),
			 SL_OK);
	assert_int_equal(sl__graph_freeze(r.graph, &err), SL_OK);
	return r.graph;
}

/*
 * The engine's result is the reference kernel's, to the last bit where it is
 * of integers; the first n_given inputs are filled when it runs.  is_slow: it
 * is left to the reference kernel.
 */
static inline void
check_quantized(const char *text, uint32_t n_given, int is_slow)
{
	struct sl_graph *graph = quantized_graph(text, n_given);
	enum sl_dtype dtype =
		graph->values[graph->blocks[0].inputs[0]].declared.dtype;
	struct engine_case c = {.text = text, .is_reference = is_slow};

	c.low = dtype == SL_DTYPE_U8 ? 0 : dtype == SL_DTYPE_I8 ? -128 : -3;
	c.high = dtype == SL_DTYPE_U8 ? 256 : dtype == SL_DTYPE_I8 ? 128 : 3;
	check_graph(graph, &c);
	sl_graph_free(graph);
}

#endif
