/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c - parameters and FLOPs of a model, and nothing else. */
#include "inputs.h"
#include "status.h"
#include "survey.h"

#include <string.h>

#include "banned.h"

static enum sl_status
find_roles(struct sl__steps *steps, struct sl__roles *roles,
	   const struct sl_graph *graph, struct sl__arena *arena,
	   struct sl_error *err)
{
	enum sl_status rc = sl__steps_of(steps, graph, arena, err);

	return rc ? rc : sl__roles_of(roles, steps, arena, err);
}

static void
sum_weights(struct sl_counts *out, const struct sl_graph *graph,
	    const struct sl__roles *roles)
{
	for (size_t v = 0; v < graph->n_values; v++) {
		const struct sl__tensor *t = graph->values[v].tensor;

		if (!t || roles->role[v] != SL_ROLE_WEIGHT)
			continue;
		out->parameters = sl__plus(out->parameters, t->n_elements);
		out->parameter_bytes =
			sl__plus(out->parameter_bytes, t->n_bytes);
	}
}

enum sl_status
sl_count_parameters(uint64_t *out, const struct sl_graph *graph,
		    struct sl_error *err)
{
	struct sl_counts counts = {0};
	struct sl__arena arena;
	struct sl__steps steps;
	struct sl__roles roles;
	enum sl_status rc;

	sl__arena_init(&arena, &graph->arena.allocator);
	rc = find_roles(&steps, &roles, graph, &arena, err);
	if (!rc) {
		sum_weights(&counts, graph, &roles);
		*out = counts.parameters;
	}
	sl__arena_release(&arena);
	return rc;
}

static enum sl_status
sum_costs(struct sl_counts *out, const struct sl__survey *s,
	  struct sl_error *err)
{
	for (size_t i = 0; i < s->graph->n_nodes; i++) {
		const struct sl__node *node = &s->graph->nodes[i];
		const struct sl_cost *cost = &s->costs.per_call[i];

		if (s->costs.basis[i] == SL_BASIS_UNKNOWN)
			return sl__fail(err, SL_E_DATA,
					"the cost of node '%.200s' (%.60s) is "
					"not known: %.150s",
					node->name, node->type,
					s->costs.why[i]);
		if (cost->work == SL_WORK_CONVOLUTION ||
		    cost->work == SL_WORK_LINEAR)
			out->bias_flops = sl__plus(
				out->bias_flops,
				sl__times(cost->add, s->costs.n_calls[i]));
	}
	out->batch = s->batch;
	out->macs = s->tally.macs;
	out->flops = sl__times(out->macs, 2);
	out->macs_per_sample = out->macs / (uint64_t)out->batch;
	out->flops_per_sample = out->flops / (uint64_t)out->batch;
	return SL_OK;
}

enum sl_status
sl_count_flops(struct sl_counts *out, const struct sl_graph *graph,
	       const struct sl_sizes *sizes, struct sl_error *err)
{
	struct sl__shapes_options how = {.sizes = sizes,
					 .allocator = &graph->arena.allocator};
	struct sl__inputs *inputs = NULL;
	struct sl__survey *survey = NULL;
	struct sl__arena arena;
	struct sl__steps steps;
	struct sl__roles roles;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__arena_init(&arena, how.allocator);
	rc = find_roles(&steps, &roles, graph, &arena, err);
	if (!rc && sizes && sizes->inputs_folder)
		rc = sl__inputs_open(&inputs, graph, sizes->inputs_folder,
				     how.allocator, err);
	if (rc)
		goto out;
	how.contents = inputs ? inputs->contents : NULL;
	rc = sl__survey_new(&survey, &steps, &roles, &how, err);
	if (rc)
		goto out;
	sum_weights(out, graph, &roles);
	rc = sum_costs(out, survey, err);
out:
	sl__survey_free(survey);
	sl__inputs_close(inputs);
	sl__arena_release(&arena);
	return rc;
}
