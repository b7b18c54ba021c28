/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c - parameters and FLOPs of a model, and nothing else. */
#include "base/status.h"
#include "driver/study.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

static void
sum_weights(struct sl_counts *out, const struct sl_graph *graph,
	    const struct sl__roles *roles)
{
	for (size_t v = 0; v < graph->n_values; v++) {
		const struct sl__tensor *t = graph->values[v].tensor;

		if (!t || roles->role[v] != SL_ROLE_WEIGHT)
			continue;
		out->parameters = sl__plus(out->parameters,
					   sl__roles_numbers(roles, graph, v));
		out->parameter_bytes = sl__plus(out->parameter_bytes,
						sl__tensor_stored_bytes(t));
	}
}

enum sl_status
sl_count_parameters(uint64_t *out, const struct sl_graph *graph,
		    struct sl_error *err)
{
	struct sl_counts counts = {0};
	struct sl__study study;
	enum sl_status rc =
		sl__study_begin(&study, graph, &graph->arena.allocator, err);

	if (!rc) {
		sum_weights(&counts, graph, &study.roles);
		*out = counts.parameters;
	}
	sl__study_close(&study);
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
is_bias(const struct sl__survey *s, uint32_t value)
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
awaits_bias(const struct sl__survey *s, const struct sl__users *users,
	    uint32_t value)
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
bias_of(const struct sl__survey *s, const struct sl__users *users,
	uint32_t node_id)
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
sum_costs(struct sl_counts *out, const struct sl__survey *s,
	  const struct sl__users *users, struct sl_error *err)
{
	for (uint32_t i = 0; i < s->graph->n_nodes; i++) {
		const struct sl__node *node = &s->graph->nodes[i];

		if (s->costs.basis[i] == SL_BASIS_UNKNOWN)
			return sl__fail(err, SL_E_DATA,
					"the cost of node '%.200s' (%.60s) is "
					"not known: %.150s",
					node->name, node->type,
					s->costs.why[i]);
		out->bias_flops = sl__plus(
			out->bias_flops,
			sl__times(bias_of(s, users, i), s->costs.n_calls[i]));
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
	struct sl__study study;
	struct sl__users users;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = sl__study_open(&study, graph, sizes, &graph->arena.allocator, err);
	if (!rc)
		rc = sl__users_of(&users, graph, &study.arena, err);
	if (!rc) {
		sum_weights(out, graph, &study.roles);
		rc = sum_costs(out, study.survey, &users, err);
	}
	sl__study_close(&study);
	return rc;
}
