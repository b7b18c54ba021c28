/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_graph.c - a quantized model as an engine runs it.
 *
 * Which nodes become one is decided by the pass that the engine uses, so that
 * what is counted here is what it plans.  Other fusion, which every engine
 * does in its own way, is not looked at.
 */
#include "analysis/fused_graph.h"
#include "base/status.h"
#include "transform/optimize.h"

#include <string.h>

#include "base/banned.h"

static int
is_quantize(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_QuantizeLinear);
}

static int
is_dequantize(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_DequantizeLinear);
}

static int
quantizes(const struct sl__node *node)
{
	return is_quantize(node) || is_dequantize(node);
}

static size_t
count(const struct sl_graph *graph, int is(const struct sl__node *node))
{
	size_t n = 0;

	for (size_t i = 0; i < graph->n_nodes; i++)
		n += is(&graph->nodes[i]) != 0;
	return n;
}

/* Whether an operator took in a node of either kind: weights that are
 * quantized once and for all fuse nothing. */
static int
has_islands(const struct sl__fused *f, const struct sl_graph *model)
{
	for (size_t i = 0; i < f->graph->n_nodes; i++) {
		for (size_t k = 0; k < f->covers[i].n; k++) {
			if (!quantizes(&f->graph->nodes[i]) &&
			    quantizes(&model->nodes[f->covers[i].nodes[k]]))
				return 1;
		}
	}
	return 0;
}

/* The shapes of inputs whose contents are known, without these: what follows
 * from them is no constant. */
static enum sl_status
forget_contents(struct sl__shapes **out, const struct sl_graph *graph,
		const struct sl__shapes_options *options,
		struct sl__arena *arena, struct sl_error *err)
{
	size_t n = graph->blocks[0].n_inputs;
	struct sl__shapes_options blind = *options;
	struct sl__tensor *copies = sl__arena_array(arena, n, sizeof(*copies));
	const struct sl__tensor **contents =
		sl__arena_array(arena, n, sizeof(*contents));

	if (!copies || !contents)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		if (!options->contents[i])
			continue;
		copies[i] = *options->contents[i];
		copies[i].bytes = NULL;
		copies[i].generator = NULL;
		copies[i].strings = NULL;
		copies[i].absent = "the next run has others";
		contents[i] = &copies[i];
	}
	blind.contents = contents;
	return sl__shapes_new(out, graph, &blind, err);
}

static enum sl_status
rewrite(struct sl__fused *f, const struct sl__forward *model,
	const struct sl__shapes_options *options, struct sl__arena *arena,
	struct sl_error *err)
{
	const struct sl_graph *from = model->shapes->graph;
	struct sl__shapes *shapes = NULL;
	enum sl_status rc = SL_OK;

	if (options->contents)
		rc = forget_contents(&shapes, from, options, arena, err);
	if (!rc)
		rc = sl__quantize_only(&f->graph, &f->covers, from,
				       shapes ? shapes : model->shapes, err);
	sl__shapes_free(shapes);
	return rc;
}

static enum sl_status
fill(struct sl__fused *f, const struct sl__forward *model,
     const struct sl__shapes_options *options, struct sl__arena *arena,
     struct sl_error *err)
{
	const struct sl_graph *from = model->shapes->graph;
	size_t n_q, n_dq;
	enum sl_status rc;

	rc = sl__shapes_new(&f->shapes, f->graph, options, err);
	if (!rc)
		rc = sl__steps_of(&f->steps, f->graph, arena, err);
	if (!rc)
		rc = sl__costs_of(&f->costs, f->shapes, err);
	if (rc)
		return rc;
	f->forward.shapes = f->shapes;
	f->forward.costs = &f->costs;
	f->forward.steps = &f->steps;
	n_q = count(f->graph, is_quantize);
	n_dq = count(f->graph, is_dequantize);
	f->n_quantize = count(from, is_quantize) - n_q;
	f->n_dequantize = count(from, is_dequantize) - n_dq;
	f->n_apart = n_q + n_dq;
	return sl__liveness_of(&f->liveness, &f->forward, arena, err);
}

enum sl_status
sl__fused_new(struct sl__fused **out, const struct sl__forward *model,
	      const struct sl__shapes_options *options, struct sl__arena *arena,
	      struct sl_error *err)
{
	const struct sl_graph *from = model->shapes->graph;
	struct sl__fused *f;
	enum sl_status rc;

	*out = NULL;
	if (!count(from, is_quantize) || !count(from, is_dequantize))
		return SL_OK;
	f = sl__arena_alloc(arena, sizeof(*f));
	if (!f)
		return sl__fail_nomem(err);
	memset(f, 0, sizeof(*f));
	rc = rewrite(f, model, options, arena, err);
	if (!rc && has_islands(f, from)) {
		rc = fill(f, model, options, arena, err);
		if (!rc) {
			*out = f;
			return SL_OK;
		}
	}
	sl__fused_free(f);
	return rc;
}

void
sl__fused_free(struct sl__fused *f)
{
	if (!f)
		return;
	sl__shapes_free(f->shapes);
	sl_graph_free(f->graph);
}

static int
works_more(const struct sl_cost *a, const struct sl_cost *b)
{
	int is_apart[2] = {a->work != SL_WORK_QUANTIZE,
			   b->work != SL_WORK_QUANTIZE};

	if (is_apart[0] != is_apart[1])
		return is_apart[0];
	if (a->macs != b->macs)
		return a->macs > b->macs;
	return sl_cost_operations(a) > sl_cost_operations(b);
}

/* The node that does the work of an operator: one that does not quantize, of
 * most multiply-adds, or else most operations. */
static uint32_t
worker_of(const struct sl__covers *covers, const struct sl__costs *costs)
{
	uint32_t best = covers->nodes[0];

	for (size_t i = 1; i < covers->n; i++) {
		if (works_more(&costs->per_call[covers->nodes[i]],
			       &costs->per_call[best]))
			best = covers->nodes[i];
	}
	return best;
}

/* The node of the model that a node counts for; one that covers nothing,
 * counts for the reader of its result.  SL__NONE where that is none either. */
static uint32_t
home_of(const struct sl__fused *f, const struct sl__users *users, uint32_t id,
	const struct sl__costs *costs)
{
	const struct sl__node *node = &f->graph->nodes[id];
	uint32_t y, reader;

	if (f->covers[id].n)
		return worker_of(&f->covers[id], costs);
	if (!node->n_outputs || node->outputs[0] == SL__NONE)
		return SL__NONE;
	y = node->outputs[0];
	if (users->first[y] == users->first[y + 1])
		return SL__NONE;
	reader = users->nodes[users->first[y]];
	return f->covers[reader].n ? worker_of(&f->covers[reader], costs)
				   : SL__NONE;
}

static void
clear_bytes(struct sl_cost *cost)
{
	cost->weight_bytes = cost->read_bytes = cost->written_bytes = 0;
}

static void
add_bytes(struct sl_cost *to, const struct sl_cost *from)
{
	to->weight_bytes = sl__plus(to->weight_bytes, from->weight_bytes);
	to->read_bytes = sl__plus(to->read_bytes, from->read_bytes);
	to->written_bytes = sl__plus(to->written_bytes, from->written_bytes);
}

enum sl_status
sl__fused_move_traffic(const struct sl__fused *f, const struct sl_graph *model,
		       struct sl__costs *costs, struct sl_error *err)
{
	struct sl__arena scratch;
	struct sl__users users;
	enum sl_status rc;

	sl__arena_init(&scratch, &f->shapes->arena.allocator);
	rc = sl__users_of(&users, f->graph, &scratch, err);
	for (size_t i = 0; !rc && i < model->n_nodes; i++)
		clear_bytes(&costs->per_call[i]);
	for (uint32_t i = 0; !rc && i < f->graph->n_nodes; i++) {
		uint32_t home = home_of(f, &users, i, costs);

		if (home != SL__NONE)
			add_bytes(&costs->per_call[home],
				  &f->costs.per_call[i]);
	}
	sl__arena_release(&scratch);
	return rc;
}
