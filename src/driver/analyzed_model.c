/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyzed_model.c - what every question about a model starts with.
 *
 * This is the one place of the analysis that reads files: those of the inputs,
 * where the sizes name a folder.  Everything after it is arithmetic.
 */
#include "driver/analyzed_model.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

/*
 * Fills out->sizes, out->inputs and out->how, which says what shapes are to be
 * found under; the rest is left alone.  out->inputs is to be closed once the
 * shapes are there.
 */
static enum sl_status
study_options(struct sl__analyzed_model *out, const struct sl_graph *graph,
	      const struct sl_sizes *sizes,
	      const struct sl_allocator *allocator, struct sl_error *err)
{
	enum sl_status rc = sl__sizes_copy(&out->sizes, &sizes, err);

	memset(&out->how, 0, sizeof(out->how));
	out->inputs = NULL;
	out->how.sizes = sizes;
	out->how.allocator = allocator;
	if (rc || !out->sizes.inputs_folder)
		return rc;
	rc = sl__input_files_open(&out->inputs, graph, out->sizes.inputs_folder,
				  allocator, err);
	if (!rc)
		out->how.contents = out->inputs->contents;
	return rc;
}

/* The first half of that: arena, order, roles; no sizes, no survey. */
static enum sl_status
study_begin(struct sl__analyzed_model *out, const struct sl_graph *graph,
	    const struct sl_allocator *allocator, struct sl_error *err)
{
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__arena_init(&out->arena, allocator);
	rc = sl__execution_order_find(&out->steps, graph, &out->arena, err);
	return rc ? rc
		  : sl__roles_classify(&out->roles, &out->steps, &out->arena,
				       err);
}

enum sl_status
sl__analyzed_model_open(struct sl__analyzed_model *out,
			const struct sl_graph *graph,
			const struct sl_sizes *sizes,
			const struct sl_allocator *allocator,
			struct sl_error *err)
{
	enum sl_status rc = study_begin(out, graph, allocator, err);

	if (!rc)
		rc = study_options(out, graph, sizes, allocator, err);
	return rc ? rc
		  : sl__static_analysis_new(&out->survey, &out->steps,
					    &out->roles, &out->how, err);
}

void
sl__analyzed_model_close(struct sl__analyzed_model *study)
{
	sl__static_analysis_free(study->survey);
	sl__input_files_close(study->inputs);
	sl__arena_release(&study->arena);
}

/*
 * Shapes of values and costs of nodes, for the public header.
 *
 * Inside, a size that depends on data is a symbol; outside it is -1, so the
 * dimensions are copied once.
 */

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
		rc = sl__costs_of_graph(&s->costs, s->shapes, err);
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
	struct sl__analyzed_model study;
	struct sl__arena *arena;
	struct sl_sized *s;
	enum sl_status rc;

	*out = NULL;
	s = sl__arena_object_new(&arena, allocator, sizeof(*s));
	if (!s)
		return sl__fail_nomem(err);
	rc = study_options(&study, graph, sizes, allocator, err);
	if (!rc)
		rc = fill(s, graph, &study.how, arena, err);
	sl__input_files_close(study.inputs);
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
	sl__arena_object_free(sized);
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

/* Parameters and FLOPs of a model, and nothing else. */

static void
sum_weights(struct sl_counts *out, const struct sl_graph *graph,
	    const struct sl__roles *roles)
{
	for (size_t v = 0; v < graph->n_values; v++) {
		const struct sl__tensor *t = graph->values[v].tensor;

		if (!t || roles->role[v] != SL_ROLE_WEIGHT)
			continue;
		out->parameters = sl__saturating_add(
			out->parameters,
			sl__parameter_n_elements(roles, graph, v));
		out->parameter_bytes = sl__saturating_add(
			out->parameter_bytes, sl__tensor_stored_bytes(t));
	}
}

enum sl_status
sl_count_parameters(uint64_t *out, const struct sl_graph *graph,
		    struct sl_error *err)
{
	struct sl_counts counts = {0};
	struct sl__analyzed_model study;
	enum sl_status rc =
		study_begin(&study, graph, &graph->arena.allocator, err);

	if (!rc) {
		sum_weights(&counts, graph, &study.roles);
		*out = counts.parameters;
	}
	sl__analyzed_model_close(&study);
	return rc;
}

static int
takes_bias(const struct sl_cost *cost)
{
	return cost->work == SL_WORK_CONVOLUTION ||
	       cost->work == SL_WORK_LINEAR;
}

/* Whether a value is a vector of weights, whatever dimensions of 1 it has. */
static int
is_bias(const struct sl__static_analysis *s, uint32_t value)
{
	const struct sl__tensor *t =
		value == SL__NONE ? NULL : s->graph->values[value].tensor;
	size_t n_long = 0;

	for (size_t d = 0; t && d < t->rank; d++)
		n_long += t->dims[d] != 1;
	return t && n_long <= 1 &&
	       s->forward.roles->role[value] == SL_ROLE_WEIGHT;
}

/* Whether a value is the result of a product without a bias of its own, and
 * for one node alone. */
static int
awaits_bias(const struct sl__static_analysis *s,
	    const struct sl__value_users *users, uint32_t value)
{
	uint32_t producer =
		value == SL__NONE ? SL__NONE : s->graph->values[value].producer;
	const struct sl__block *main = &s->graph->blocks[0];

	if (producer == SL__NONE || !takes_bias(&s->costs.per_call[producer]) ||
	    s->costs.per_call[producer].add ||
	    users->first[value + 1] - users->first[value] != 1)
		return 0;
	for (size_t k = 0; k < main->n_outputs; k++) {
		if (main->outputs[k] == value)
			return 0;
	}
	return 1;
}

/* Additions of a bias that a node does, in one call: part of a product, or
 * an Add that follows it. */
static uint64_t
bias_of(const struct sl__static_analysis *s,
	const struct sl__value_users *users, uint32_t node_id)
{
	const struct sl__node *node = &s->graph->nodes[node_id];
	const struct sl_cost *cost = &s->costs.per_call[node_id];

	if (takes_bias(cost))
		return cost->add;
	if (!sl__is_op(node, SL__OP_ONNX_Add) || node->n_inputs != 2)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (is_bias(s, node->inputs[i]) &&
		    awaits_bias(s, users, node->inputs[!i]))
			return cost->add;
	}
	return 0;
}

static enum sl_status
sum_costs(struct sl_counts *out, const struct sl__static_analysis *s,
	  const struct sl__value_users *users, struct sl_error *err)
{
	for (uint32_t i = 0; i < s->graph->n_nodes; i++) {
		const struct sl__node *node = &s->graph->nodes[i];

		if (s->costs.basis[i] == SL_BASIS_UNKNOWN)
			return sl__fail(err, SL_E_DATA,
					"the cost of node '%.200s' (%.60s) is "
					"not known: %.150s",
					node->name, node->type,
					s->costs.why[i]);
		out->bias_flops = sl__saturating_add(
			out->bias_flops,
			sl__saturating_mul(bias_of(s, users, i),
					   s->costs.n_calls[i]));
	}
	out->batch = s->batch;
	out->macs = s->tally.macs;
	out->flops = sl__saturating_mul(out->macs, 2);
	out->all_flops = sl__convention_count(&s->tally, SL_CONVENTION_ALL);
	out->macs_per_sample = out->macs / (uint64_t)out->batch;
	out->flops_per_sample = out->flops / (uint64_t)out->batch;
	return SL_OK;
}

enum sl_status
sl_count_flops(struct sl_counts *out, const struct sl_graph *graph,
	       const struct sl_sizes *sizes, struct sl_error *err)
{
	struct sl__analyzed_model study;
	struct sl__value_users users;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = sl__analyzed_model_open(&study, graph, sizes,
				     &graph->arena.allocator, err);
	if (!rc)
		rc = sl__value_users_find(&users, graph, &study.arena, err);
	if (!rc) {
		sum_weights(out, graph, &study.roles);
		rc = sum_costs(out, study.survey, &users, err);
	}
	sl__analyzed_model_close(&study);
	return rc;
}
