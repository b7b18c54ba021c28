/* SPDX-License-Identifier: Apache-2.0 */
/* survey.c - shapes, costs, attention and lifetimes, one after the other. */
#include "analysis/survey.h"
#include "base/status.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

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
			return sl__int(node, "layout", 0) == 0;
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
take_tally(struct sl__survey *s)
{
	for (size_t i = 0; i < s->graph->n_nodes; i++) {
		if (s->costs.n_calls[i])
			sl__tally_add(&s->tally, &s->graph->nodes[i],
				      &s->costs.per_call[i],
				      s->costs.n_calls[i]);
	}
	sl__tally_attention(&s->tally, &s->attentions, s->costs.n_calls,
			    s->graph->n_nodes);
}

static enum sl_status
fill(struct sl__survey *s, const struct sl__steps *steps,
     const struct sl__roles *roles, const struct sl__shapes_options *options,
     struct sl_error *err)
{
	enum sl_status rc;

	rc = sl__shapes_new(&s->shapes, s->graph, options, err);
	if (!rc)
		rc = sl__costs_of(&s->costs, s->shapes, err);
	if (rc)
		return rc;
	s->forward.shapes = s->shapes;
	s->forward.costs = &s->costs;
	s->forward.steps = steps;
	s->forward.roles = roles;
	s->batch = batch_of(s->shapes);
	rc = sl__attentions_of(&s->attentions, &s->forward, &s->arena, err);
	if (!rc)
		rc = sl__liveness_of(&s->liveness, &s->forward, &s->arena, err);
	/* By each node's own bytes: stored numbers are read, whoever reads. */
	if (!rc)
		rc = sl__once_bytes(&s->once_bytes, &s->forward, &s->liveness,
				    &s->arena, err);
	if (!rc)
		rc = sl__fused_new(&s->fused, &s->forward, options, &s->arena,
				   err);
	if (!rc && s->fused)
		rc = sl__fused_move_traffic(s->fused, s->graph, &s->costs, err);
	if (rc)
		return rc;
	take_tally(s);
	sl__kv_of(&s->kv, s->shapes, &s->attentions, s->batch);
	return SL_OK;
}

enum sl_status
sl__survey_new(struct sl__survey **out, const struct sl__steps *steps,
	       const struct sl__roles *roles,
	       const struct sl__shapes_options *options, struct sl_error *err)
{
	struct sl__survey *s = sl__alloc(options->allocator, sizeof(*s));
	enum sl_status rc;

	*out = NULL;
	if (!s)
		return sl__fail_nomem(err);
	memset(s, 0, sizeof(*s));
	sl__arena_init(&s->arena, options->allocator);
	s->graph = steps->graph;
	rc = fill(s, steps, roles, options, err);
	if (rc) {
		sl__survey_free(s);
		return rc;
	}
	*out = s;
	return SL_OK;
}

const struct sl__liveness *
sl__survey_live(const struct sl__survey *s)
{
	return s->fused ? &s->fused->liveness : &s->liveness;
}

void
sl__survey_free(struct sl__survey *s)
{
	struct sl_allocator allocator;

	if (!s)
		return;
	allocator = s->arena.allocator;
	sl__fused_free(s->fused);
	sl__shapes_free(s->shapes);
	sl__arena_release(&s->arena);
	sl__release(&allocator, s);
}
