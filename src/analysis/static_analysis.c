/* SPDX-License-Identifier: Apache-2.0 */
/* static_analysis.c - shapes, costs, attention and lifetimes, one after the
 * other. */
#include "analysis/static_analysis.h"
#include "base/status.h"
#include "graph/op_rules.h"
#include "transform/optimize.h"

#include <string.h>

#include "base/banned.h"

/*
 * A quantized model as an engine runs it.
 *
 * Which nodes become one is decided by the pass that the engine uses, so that
 * what is counted here is what it plans.  Other fusion, which every engine
 * does in its own way, is not looked at.
 */

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
has_islands(const struct sl__qdq_fused_model *f, const struct sl_graph *model)
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
rewrite(struct sl__qdq_fused_model *f,
	const struct sl__cost_analysis_inputs *model,
	const struct sl__shapes_options *options, struct sl__arena *arena,
	struct sl_error *err)
{
	const struct sl_graph *from = model->shapes->graph;
	struct sl__shapes *shapes = NULL;
	enum sl_status rc = SL_OK;

	if (options->contents)
		rc = forget_contents(&shapes, from, options, arena, err);
	if (!rc)
		rc = sl__fuse_quantized_for_cost(
			&f->graph, &f->covers, from,
			shapes ? shapes : model->shapes, err);
	sl__shapes_free(shapes);
	return rc;
}

static enum sl_status
fill_fused(struct sl__qdq_fused_model *f,
	   const struct sl__cost_analysis_inputs *model,
	   const struct sl__shapes_options *options, struct sl__arena *arena,
	   struct sl_error *err)
{
	const struct sl_graph *from = model->shapes->graph;
	size_t n_q, n_dq;
	enum sl_status rc;

	rc = sl__shapes_new(&f->shapes, f->graph, options, err);
	if (!rc)
		rc = sl__execution_order_find(&f->steps, f->graph, arena, err);
	if (!rc)
		rc = sl__costs_of_graph(&f->costs, f->shapes, err);
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

static void
fused_free(struct sl__qdq_fused_model *f)
{
	if (!f)
		return;
	sl__shapes_free(f->shapes);
	sl_graph_free(f->graph);
}

/*
 * *out is NULL where the model has no such operator.  'model' and what
 * 'options' points to outlive it, and so does 'arena'.
 */
static enum sl_status
fused_new(struct sl__qdq_fused_model **out,
	  const struct sl__cost_analysis_inputs *model,
	  const struct sl__shapes_options *options, struct sl__arena *arena,
	  struct sl_error *err)
{
	const struct sl_graph *from = model->shapes->graph;
	struct sl__qdq_fused_model *f;
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
		rc = fill_fused(f, model, options, arena, err);
		if (!rc) {
			*out = f;
			return SL_OK;
		}
	}
	fused_free(f);
	return rc;
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
worker_of(const struct sl__covered_nodes *covers, const struct sl__costs *costs)
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
home_of(const struct sl__qdq_fused_model *f,
	const struct sl__value_users *users, uint32_t id,
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
	to->weight_bytes =
		sl__saturating_add(to->weight_bytes, from->weight_bytes);
	to->read_bytes = sl__saturating_add(to->read_bytes, from->read_bytes);
	to->written_bytes =
		sl__saturating_add(to->written_bytes, from->written_bytes);
}

/*
 * The bytes that nodes of the model move: what a fused operator does counts
 * for the one of its nodes that does the most work; the others move nothing,
 * nor do those that are computed beforehand or change nothing.  Operations
 * stay as they are.
 */
static enum sl_status
fused_move_traffic(const struct sl__qdq_fused_model *f,
		   const struct sl_graph *model, struct sl__costs *costs,
		   struct sl_error *err)
{
	struct sl__arena scratch;
	struct sl__value_users users;
	enum sl_status rc;

	sl__arena_init(&scratch, &f->shapes->arena.allocator);
	rc = sl__value_users_find(&users, f->graph, &scratch, err);
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

/* Whether a value goes straight into a recurrent operator whose rows are
 * [steps][batch][width]. */
static int
is_steps_first(const struct sl_graph *graph, uint32_t value)
{
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		if ((sl__is_op(node, SL__OP_ONNX_RNN) ||
		     sl__is_op(node, SL__OP_ONNX_LSTM) ||
		     sl__is_op(node, SL__OP_ONNX_GRU)) &&
		    node->inputs[0] == value)
			return sl__attribute_int(node, "layout", 0) == 0;
	}
	return 0;
}

/* A fixed vector is one sample; of anything larger the first dimension is
 * the batch, the second where time comes first. */
static int64_t
batch_of(const struct sl__shapes *shapes)
{
	const struct sl__block *main = &shapes->graph->blocks[0];
	const struct sl__type *type;

	if (!main->n_inputs)
		return 1;
	type = &shapes->types[main->inputs[0]];
	if (type->kind != SL__TYPE_TENSOR || type->rank < 1 ||
	    type->dims[0] < 1)
		return 1;
	if (type->rank == 1 && !sl__shapes_batch_symbol(shapes->graph))
		return 1;
	/* A dimension without a size is what --batch means, wherever it is. */
	if (type->rank == 3 && !sl__shapes_batch_symbol(shapes->graph) &&
	    is_steps_first(shapes->graph, main->inputs[0]))
		return type->dims[1] < 1 ? 1 : type->dims[1];
	return type->dims[0];
}

static void
take_tally(struct sl__static_analysis *s)
{
	for (size_t i = 0; i < s->graph->n_nodes; i++) {
		if (s->costs.n_calls[i])
			sl__tally_add_node(&s->tally, &s->graph->nodes[i],
					   &s->costs.per_call[i],
					   s->costs.n_calls[i]);
	}
	sl__tally_add_attentions(&s->tally, &s->attentions, s->costs.n_calls,
				 s->graph->n_nodes);
}

static enum sl_status
fill(struct sl__static_analysis *s, const struct sl__execution_order *steps,
     const struct sl__roles *roles, const struct sl__shapes_options *options,
     struct sl_error *err)
{
	enum sl_status rc;

	rc = sl__shapes_new(&s->shapes, s->graph, options, err);
	if (!rc)
		rc = sl__costs_of_graph(&s->costs, s->shapes, err);
	if (rc)
		return rc;
	s->forward.shapes = s->shapes;
	s->forward.costs = &s->costs;
	s->forward.steps = steps;
	s->forward.roles = roles;
	s->batch = batch_of(s->shapes);
	rc = sl__attentions_find(&s->attentions, &s->forward, &s->arena, err);
	if (!rc)
		rc = sl__liveness_of(&s->liveness, &s->forward, &s->arena, err);
	/* By each node's own bytes: stored numbers are read, whoever reads. */
	if (!rc)
		rc = sl__compulsory_bytes(&s->once_bytes, &s->forward,
					  &s->liveness, &s->arena, err);
	if (!rc)
		rc = fused_new(&s->fused, &s->forward, options, &s->arena, err);
	if (!rc && s->fused)
		rc = fused_move_traffic(s->fused, s->graph, &s->costs, err);
	if (rc)
		return rc;
	take_tally(s);
	sl__kv_of(&s->kv, s->shapes, &s->attentions, s->batch);
	return SL_OK;
}

enum sl_status
sl__static_analysis_new(struct sl__static_analysis **out,
			const struct sl__execution_order *steps,
			const struct sl__roles *roles,
			const struct sl__shapes_options *options,
			struct sl_error *err)
{
	struct sl__static_analysis *s =
		sl__allocator_alloc(options->allocator, sizeof(*s));
	enum sl_status rc;

	*out = NULL;
	if (!s)
		return sl__fail_nomem(err);
	memset(s, 0, sizeof(*s));
	sl__arena_init(&s->arena, options->allocator);
	s->graph = steps->graph;
	rc = fill(s, steps, roles, options, err);
	if (rc) {
		sl__static_analysis_free(s);
		return rc;
	}
	*out = s;
	return SL_OK;
}

const struct sl__liveness *
sl__static_analysis_liveness(const struct sl__static_analysis *s)
{
	return s->fused ? &s->fused->liveness : &s->liveness;
}

void
sl__static_analysis_free(struct sl__static_analysis *s)
{
	struct sl_allocator allocator;

	if (!s)
		return;
	allocator = s->arena.allocator;
	fused_free(s->fused);
	sl__shapes_free(s->shapes);
	sl__arena_release(&s->arena);
	sl__allocator_free(&allocator, s);
}
