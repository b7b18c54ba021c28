/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trained_model.c - a model with the parameters that training found.
 *
 * A state that begins as a tensor of the model is what becomes of it.
 */
#include "transform/trained_model.h"
#include "base/dtype.h"
#include "base/status.h"
#include "cost/parameters.h"
#include "cost/tensor_patterns.h"
#include "graph/graph_construction.h"

#include <string.h>

#include "base/banned.h"

/* A tensor like another, with storage of its own; NULL: out of memory. */
static struct sl__tensor *
new_tensor(struct sl_graph *graph, const struct sl__tensor *like,
	   unsigned char **bytes)
{
	struct sl__tensor *t = sl__arena_alloc(&graph->arena, sizeof(*t));

	*bytes = sl__arena_alloc(&graph->arena, (size_t)like->n_bytes);
	if (!t || !*bytes)
		return NULL;
	t->dtype = like->dtype;
	t->rank = like->rank;
	t->dims = like->dims;
	t->n_elements = t->n_stored = like->n_elements;
	t->n_bytes = like->n_bytes;
	t->bytes = *bytes;
	return t;
}

static enum sl_status
set_states(struct sl_graph *graph, const struct sl__training_graph *training,
	   const void *const *states, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < training->n_states; i++) {
		const struct sl__tensor *initial = training->states[i].initial;
		struct sl__tensor *now;
		unsigned char *bytes;

		if (!initial)
			continue;
		now = new_tensor(graph, initial, &bytes);
		if (!now)
			return sl__fail_nomem(err);
		memcpy(bytes, states[i], (size_t)now->n_bytes);
		for (size_t v = 0; !rc && v < graph->n_values; v++) {
			if (graph->values[v].tensor == initial)
				rc = sl__graph_set_tensor(graph, (uint32_t)v,
							  now, err);
		}
		if (rc)
			return rc;
	}
	return SL_OK;
}

/* The elements of a matrix [rows][columns] by columns. */
static void
transpose(unsigned char *to, const struct sl__tensor *from)
{
	size_t rows = (size_t)from->dims[0], columns = (size_t)from->dims[1];
	size_t n = (size_t)(from->n_bytes / from->n_elements);

	for (size_t r = 0; r < rows; r++) {
		for (size_t c = 0; c < columns; c++)
			memcpy(to + (c * rows + r) * n,
			       from->bytes + (r * columns + c) * n, n);
	}
}

/* What an exporter wrote a second time follows the first. */
static enum sl_status
set_copies(struct sl_graph *graph, const struct sl_graph *model,
	   const struct sl__roles *roles, struct sl_error *err)
{
	for (size_t v = 0; v < model->n_values; v++) {
		const struct sl__tensor *was = model->values[v].tensor, *now;
		struct sl__tensor *copy;
		unsigned char *bytes;
		enum sl_status rc;

		if (!was || roles->role[v] != SL_ROLE_TIED)
			continue;
		now = graph->values[roles->tied_to[v]].tensor;
		if (now == model->values[roles->tied_to[v]].tensor)
			continue; /* it was not trained */
		copy = new_tensor(graph, was, &bytes);
		if (!copy)
			return sl__fail_nomem(err);
		if (sl__tensor_compare(model->values[roles->tied_to[v]].tensor,
				       was) == SL__TENSOR_MATCH_TRANSPOSED)
			transpose(bytes, now);
		else
			memcpy(bytes, now->bytes, (size_t)now->n_bytes);
		rc = sl__graph_set_tensor(graph, (uint32_t)v, copy, err);
		if (rc)
			return rc;
	}
	return SL_OK;
}

static enum sl_status
set_parameters(struct sl_graph *graph, const struct sl_graph *model,
	       const struct sl__training_graph *training,
	       const void *const *states, struct sl_error *err)
{
	struct sl__execution_order order;
	struct sl__roles roles;
	struct sl__arena scratch;
	enum sl_status rc;

	sl__arena_init(&scratch, &graph->arena.allocator);
	rc = sl__execution_order_find(&order, model, &scratch, err);
	if (!rc)
		rc = sl__roles_classify(&roles, &order, &scratch, err);
	if (!rc)
		rc = set_states(graph, training, states, err);
	if (!rc)
		rc = set_copies(graph, model, &roles, err);
	sl__arena_release(&scratch);
	return rc;
}

enum sl_status
sl__trained_model_new(struct sl_graph **out, const struct sl_graph *model,
		      const struct sl__training_graph *training,
		      const void *const *states, struct sl_error *err)
{
	struct sl_graph *graph;
	enum sl_status rc = sl__graph_new(&graph, &model->arena.allocator, err);

	*out = NULL;
	if (rc)
		return rc;
	rc = sl__graph_copy(graph, model, err);
	if (!rc)
		rc = set_parameters(graph, model, training, states, err);
	if (!rc) {
		graph->is_builtin = 0;
		graph->seed = 0;
		rc = sl__graph_freeze(graph, err);
	}
	if (rc) {
		sl_graph_free(graph);
		return rc;
	}
	*out = graph;
	return SL_OK;
}
