/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sized.c - shapes of values and costs of nodes, for the public header.
 *
 * Inside, a size that depends on data is a symbol; outside it is -1, so the
 * dimensions are copied once.
 */
#include "base/status.h"
#include "driver/study.h"

#include "base/banned.h"

struct sl_sized {
	struct sl__shapes *shapes;
	struct sl__costs costs;
	struct sl_value_shape *values; /* per value of the graph */
};

static enum sl_status
copy_shape(struct sl_value_shape *out, const struct sl__type *type,
	   struct sl__arena *arena, struct sl_error *err)
{
	int64_t *dims;

	out->rank = -1;
	if (type->kind != SL__TYPE_TENSOR && type->kind != SL__TYPE_SPARSE)
		return SL_OK;
	out->dtype = type->dtype;
	if (type->rank < 0)
		return SL_OK;
	dims = sl__arena_array(arena, (size_t)type->rank, sizeof(*dims));
	if (!dims)
		return sl__fail_nomem(err);
	for (int d = 0; d < type->rank; d++)
		dims[d] = sl__is_symbol(type->dims[d]) ? -1 : type->dims[d];
	out->rank = type->rank;
	out->dims = dims;
	out->is_known = sl__type_elements(type, &out->n_elements) &&
			(type->dtype == SL_DTYPE_STRING ||
			 sl__type_bytes(type, &out->n_bytes));
	return SL_OK;
}

static enum sl_status
fill(struct sl_sized *s, const struct sl_graph *graph,
     const struct sl__shapes_options *how, struct sl__arena *arena,
     struct sl_error *err)
{
	enum sl_status rc = sl__shapes_new(&s->shapes, graph, how, err);

	if (!rc)
		rc = sl__costs_of(&s->costs, s->shapes, err);
	if (rc)
		return rc;
	s->values = sl__arena_array(arena, graph->n_values, sizeof(*s->values));
	if (!s->values)
		return sl__fail_nomem(err);
	for (size_t v = 0; !rc && v < graph->n_values; v++)
		rc = copy_shape(&s->values[v], &s->shapes->types[v], arena,
				err);
	return rc;
}

enum sl_status
sl_sized_new(struct sl_sized **out, const struct sl_graph *graph,
	     const struct sl_sizes *sizes, const struct sl_allocator *allocator,
	     struct sl_error *err)
{
	struct sl__shapes_options how;
	struct sl__inputs *inputs;
	struct sl__arena *arena;
	struct sl_sized *s;
	enum sl_status rc;

	*out = NULL;
	s = sl__boxed_new(&arena, allocator, sizeof(*s));
	if (!s)
		return sl__fail_nomem(err);
	rc = sl__study_options(&how, &inputs, graph, sizes, allocator, err);
	if (!rc)
		rc = fill(s, graph, &how, arena, err);
	sl__inputs_close(inputs);
	if (rc) {
		sl_sized_free(s);
		return rc;
	}
	*out = s;
	return SL_OK;
}

void
sl_sized_free(struct sl_sized *sized)
{
	if (!sized)
		return;
	sl__shapes_free(sized->shapes);
	sl__boxed_free(sized);
}

int
sl_sized_value(const struct sl_sized *sized, size_t value_id,
	       struct sl_value_shape *out)
{
	if (value_id >= sized->shapes->graph->n_values)
		return 0;
	*out = sized->values[value_id];
	return 1;
}

int
sl_sized_node_cost(const struct sl_sized *sized, size_t node_id,
		   struct sl_cost *out, uint64_t *n_calls)
{
	const struct sl__costs *costs = &sized->costs;

	if (node_id >= sized->shapes->graph->n_nodes)
		return 0;
	*out = costs->per_call[node_id];
	out->basis = costs->basis[node_id];
	out->why = out->basis == SL_BASIS_COUNTED ? NULL : costs->why[node_id];
	if (n_calls)
		*n_calls = costs->n_calls[node_id];
	return 1;
}
