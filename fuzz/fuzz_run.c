/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_run.c - any bytes, read as a model, planned and run.
 *
 * Like fuzz_onnx.c, a libFuzzer target or a program.  Models that would take
 * long are left out: many nodes, loops, much arithmetic; memory is given up
 * to a limit, beyond which requests fail.  The engine's answer is not looked
 * at, only that it is one, or a line that says why there is none.
 */
#include "engine/plan.h"
#include "model/onnx_read.h"
#include "ops/cost.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 60, MEMORY_MOST = 16 << 20, OPERATIONS_MOST = 20000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Blocks know their size, so that what is out can be counted. */
struct limited {
	size_t n_bytes_out;
};

static void *
limited_alloc(size_t n_bytes, void *ctx)
{
	struct limited *l = ctx;
	size_t *block;

	if (n_bytes > MEMORY_MOST || l->n_bytes_out > MEMORY_MOST - n_bytes)
		return NULL;
	block = malloc(n_bytes + 16);
	if (!block)
		return NULL;
	block[0] = n_bytes;
	l->n_bytes_out += n_bytes;
	return block + 2;
}

static void
limited_release(void *block, void *ctx)
{
	struct limited *l = ctx;
	size_t *start = (size_t *)block - 2;

	l->n_bytes_out -= start[0];
	free(start);
}

/* Whether a run ends soon, as far as can be told before. */
static int
is_short(const struct sl_graph *graph)
{
	struct sl__shapes_options options = {0};
	struct sl__shapes *shapes;
	struct sl__costs costs;
	uint64_t sum = 0;
	int is_counted;

	if (graph->n_nodes > NODES_MOST)
		return 0;
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const char *type = graph->nodes[i].type;

		if (!strcmp(type, "Loop") || !strcmp(type, "Scan"))
			return 0;
	}
	if (sl__shapes_new(&shapes, graph, &options, NULL))
		return 1; /* it will be refused */
	is_counted = !sl__costs_of_graph(&costs, shapes, NULL);
	for (size_t i = 0; is_counted && i < graph->n_nodes; i++)
		sum = sl__saturating_add(sum,
			       sl__saturating_add(sl_cost_operations(&costs.per_call[i]),
					sl_cost_bytes(&costs.per_call[i])));
	sl__shapes_free(shapes);
	return is_counted && sum < OPERATIONS_MOST;
}

/* Inputs as nobody would give them: -1, NaN, 0, numbers beyond every size; but
 * no sizes that can be had and take long. */
static void
spoil_inputs(struct sl_plan *plan, const struct sl_graph *graph, size_t seed)
{
	static const unsigned char bytes[] = {0xff, 0x00, 0x80, 0x01};

	for (size_t i = 0; i < graph->blocks[0].n_inputs; i++) {
		uint32_t buffer = plan->current->inputs[i];
		const struct sl__buffer *b = plan->current->buffers;

		if (buffer != SL__NONE && b[buffer].n_bytes)
			memset(b[buffer].data,
			       bytes[(seed + i) % sizeof(bytes)],
			       (size_t)b[buffer].n_bytes);
	}
}

static void
run(const struct sl_graph *graph, size_t seed)
{
	struct limited limited = {0};
	struct sl_allocator allocator = {limited_alloc, limited_release,
					 &limited};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE,
				      .allocator = &allocator};
	struct sl_error err = {.status = SL_OK};
	struct sl_plan *plan;
	enum sl_status rc;

	rc = sl_plan_new(&plan, graph, &how, &err);
	if (!rc)
		rc = sl_plan_fill_inputs(plan, 1, &err);
	for (int i = 0; !rc && i < 2; i++) {
		if (i)
			spoil_inputs(plan, graph, seed);
		rc = sl_plan_run(plan, &err);
	}
	for (size_t k = 0; !rc && k < graph->blocks[0].n_outputs; k++) {
		struct sl__runtime_value out;

		rc = sl__plan_output_value(plan, k, &out, &err);
	}
	assert(!rc || (err.status == rc && err.text[0]));
	assert(rc != SL_E_BUG);
	sl_plan_free(plan);
	assert(limited.n_bytes_out == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct sl_graph *graph;

	if (sl__onnx_read(&graph, data, n_bytes, NULL, NULL, NULL))
		return 0;
	if (is_short(graph))
		run(graph, n_bytes);
	sl_graph_free(graph);
	return 0;
}

#include "replay.h"
