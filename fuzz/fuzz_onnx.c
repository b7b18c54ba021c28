/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_onnx.c - any bytes, read as a model and as a tensor.
 *
 * With SL_FUZZ this is a libFuzzer target; without, a program that runs the
 * files and folders it is given through the same function, so that whatever
 * was found once is tested by every compiler.  A model that can be read goes
 * on to have its shapes inferred, its costs counted and its small tensors
 * converted.
 */
#include "model/onnx_read.h"
#include "ops/cost.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ELEMENTS = 4096, /* of a tensor that is converted */
	MOST_TENSORS = 64     /* that are, in a model */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* The invariants of tensor.h, and that every byte can be read. */
static void
look_at_tensor(const struct sl__tensor *tensor)
{
	static double doubles[MOST_ELEMENTS];
	static int64_t integers[MOST_ELEMENTS];
	volatile unsigned char sum = 0;
	size_t n = tensor->n_elements < MOST_ELEMENTS
			   ? (size_t)tensor->n_elements
			   : MOST_ELEMENTS;

	assert((tensor->bytes != NULL) + (tensor->strings != NULL) +
		       (tensor->generator != NULL) <=
	       1);
	if (tensor->bytes) {
		for (uint64_t i = 0; i < tensor->n_bytes; i++)
			sum = (unsigned char)(sum + tensor->bytes[i]);
	}
	for (size_t i = 0; tensor->strings && i < n; i++)
		sum = (unsigned char)(sum + strlen(tensor->strings[i]));
	(void)sl__tensor_doubles(tensor, 0, n, doubles);
	(void)sl__tensor_integers(tensor, 0, n, integers);
}

static void
look_at_values(const struct sl_graph *graph)
{
	size_t n_tensors = 0;

	for (size_t i = 0; i < graph->n_values; i++) {
		const struct sl__value *value = &graph->values[i];

		assert(value->name);
		assert(value->block < graph->n_blocks);
		assert(value->producer == SL__NONE ||
		       value->producer < graph->n_nodes);
		if (value->tensor && n_tensors++ < MOST_TENSORS)
			look_at_tensor(value->tensor);
	}
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		assert(node->name && *node->name && node->type);
		for (uint32_t k = 0; k < node->n_inputs; k++)
			assert(node->inputs[k] == SL__NONE ||
			       node->inputs[k] < graph->n_values);
	}
}

static void
count_costs(const struct sl_graph *graph)
{
	struct sl__shapes_options options = {.free_sizes = SL__UNBOUND_KEEP};
	struct sl_error err = {.status = SL_OK};
	struct sl__shapes *shapes;
	struct sl__costs costs;

	if (sl__shapes_new(&shapes, graph, &options, &err)) {
		assert(err.text[0]);
		return;
	}
	if (sl__costs_of_graph(&costs, shapes, &err))
		assert(err.text[0]);
	sl__shapes_free(shapes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct sl_error err = {.status = SL_OK};
	struct sl__tensor tensor;
	struct sl__arena arena;
	struct sl_graph *graph;
	enum sl_status rc;

	rc = sl__onnx_read(&graph, data, n_bytes, NULL, NULL, &err);
	assert((rc == SL_OK) == (graph != NULL));
	if (rc) {
		assert(rc == SL_E_DATA && err.status == rc && err.text[0]);
	} else {
		look_at_values(graph);
		count_costs(graph);
	}
	sl_graph_free(graph);

	sl__arena_init(&arena, NULL);
	rc = sl__onnx_read_tensor(&tensor, &arena, data, n_bytes, &err);
	if (rc)
		assert(rc == SL_E_DATA && err.status == rc && err.text[0]);
	else
		look_at_tensor(&tensor);
	sl__arena_release(&arena);
	return 0;
}

#include "replay.h"
