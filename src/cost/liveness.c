/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liveness.c - which values are in memory while each node runs.
 *
 * One pass gives every storage its first and last step, a second adds up what
 * begins and ends at each.  Nothing is computed in place, and every node's
 * inputs and outputs are there together: this is what the order of the nodes
 * needs, before any planner is clever.
 */
#include "cost/liveness.h"
#include "base/status.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

struct walker {
	struct sl__liveness *out;
	const struct sl_graph *graph;
	const struct sl__shapes *shapes;
	const struct sl__costs *costs;
	uint32_t *leave; /* per node with bodies: step at which it is left */
};

static uint32_t
storage_of(const struct walker *w, uint32_t value)
{
	return value == SL__NONE ? SL__NONE : w->out->storage[value];
}

static void
begin(struct walker *w, uint32_t value, uint32_t step)
{
	struct sl__liveness *out = w->out;

	out->storage[value] = value;
	out->birth[value] = out->death[value] = step;
	if (!sl__type_bytes(&w->shapes->types[value], &out->n_bytes[value])) {
		out->n_bytes[value] = 0;
		out->n_unknown++;
	}
}

static void
begin_result(struct walker *w, uint32_t value, uint32_t step)
{
	begin(w, value, step);
	w->out->activation_bytes = sl__saturating_add(w->out->activation_bytes,
						      w->out->n_bytes[value]);
}

/* A value of an outer block that a body uses is needed until the outermost
 * body that does not contain it is left: it may turn again. */
static uint32_t
last_step(const struct walker *w, uint32_t node, uint32_t value, uint32_t step)
{
	uint32_t home = w->graph->values[value].block;
	uint32_t block = w->graph->nodes[node].block;

	while (block != home && w->graph->blocks[block].owner != SL__NONE) {
		uint32_t owner = w->graph->blocks[block].owner;

		step = w->leave[owner];
		block = w->graph->nodes[owner].block;
	}
	return step;
}

static void
use(struct walker *w, uint32_t node, uint32_t value, uint32_t step)
{
	uint32_t s = storage_of(w, value);

	if (s == SL__NONE)
		return;
	step = last_step(w, node, s, step);
	if (w->out->death[s] < step)
		w->out->death[s] = step;
}

static void
run_node(struct walker *w, uint32_t id, uint32_t step)
{
	const struct sl__node *node = &w->graph->nodes[id];
	int is_view = w->costs->per_call[id].work == SL_WORK_VIEW &&
		      node->n_inputs && node->inputs[0] != SL__NONE;

	for (uint32_t i = 0; i < node->n_inputs; i++)
		use(w, id, node->inputs[i], step);
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (value == SL__NONE || w->graph->values[value].tensor)
			continue;
		if (is_view) {
			w->out->storage[value] = storage_of(w, node->inputs[0]);
			continue;
		}
		begin_result(w, value, step);
	}
}

/* What passes into a body is the same storage; the rest begins there. */
static void
enter_body(struct walker *w, uint32_t body, uint32_t step)
{
	const struct sl__block *block = &w->graph->blocks[body];

	for (size_t i = 0; i < block->n_inputs; i++) {
		uint32_t from = sl__body_owner_input(w->graph, body, i);

		if (from == SL__NONE)
			begin(w, block->inputs[i], step);
		else
			w->out->storage[block->inputs[i]] = storage_of(w, from);
	}
}

/* Results of the body that runs become the node's. */
static void
leave_body(struct walker *w, uint32_t body, uint32_t step)
{
	const struct sl__block *block = &w->graph->blocks[body];
	uint32_t owner = block->owner;

	for (size_t k = 0; k < block->n_outputs; k++) {
		uint32_t sink = sl__body_owner_output(w->graph, body, k);
		uint32_t s = storage_of(w, block->outputs[k]);
		uint64_t n = 0;

		if (s != SL__NONE && w->out->death[s] < step)
			w->out->death[s] = step;
		if (sink == SL__NONE)
			continue;
		/* A stack of all turns' results is larger, and new. */
		if (sl__type_bytes(&w->shapes->types[sink], &n) &&
		    s != SL__NONE && n <= w->out->n_bytes[s] &&
		    sl__is_op(&w->graph->nodes[owner], SL__OP_ONNX_If)) {
			w->out->storage[sink] = s;
		} else {
			begin_result(w, sink, step);
		}
	}
}

static int
runs(const struct walker *w, uint32_t body)
{
	const struct sl__block *block = &w->graph->blocks[body];

	return block->n_nodes == 0 || w->costs->n_calls[block->nodes[0]] > 0;
}

static void
pass_bodies(struct walker *w, const struct sl__node_visit *step, uint32_t at)
{
	const struct sl__node *node = &w->graph->nodes[step->node];
	int is_set = 0;

	for (uint32_t i = 0;
	     step->kind == SL__NODE_VISIT_LEAVE && i < node->n_inputs; i++)
		use(w, step->node, node->inputs[i], at);
	for (size_t a = 0; a < node->n_attributes; a++) {
		uint32_t body = sl__node_body_by_index(w->graph, step->node, a);

		if (body == SL__NONE || !runs(w, body))
			continue;
		if (step->kind == SL__NODE_VISIT_ENTER)
			enter_body(w, body, at);
		else if (!is_set)
			leave_body(w, body, at);
		is_set = 1;
	}
	/* A loop of unknown length has results all the same. */
	for (uint32_t k = 0; step->kind == SL__NODE_VISIT_LEAVE && !is_set &&
			     k < node->n_outputs;
	     k++) {
		if (node->outputs[k] != SL__NONE)
			begin_result(w, node->outputs[k], at);
	}
}

/* Sequences hold what is put into them: it lives as long as they do. */
static void
hold_elements(struct walker *w)
{
	const struct sl__execution_order *steps = w->out->steps;

	for (size_t s = steps->n; s > 0; s--) {
		const struct sl__node *node =
			&w->graph->nodes[steps->rows[s - 1].node];
		uint32_t to;

		if ((!sl__is_op(node, SL__OP_ONNX_SequenceConstruct) &&
		     !sl__is_op(node, SL__OP_ONNX_SequenceInsert)) ||
		    !node->n_outputs)
			continue;
		to = storage_of(w, node->outputs[0]);
		for (uint32_t i = 0; to != SL__NONE && i < node->n_inputs;
		     i++) {
			uint32_t from = storage_of(w, node->inputs[i]);

			if (from != SL__NONE &&
			    w->out->death[from] < w->out->death[to])
				w->out->death[from] = w->out->death[to];
		}
	}
}

static void
walk(struct walker *w)
{
	const struct sl__execution_order *steps = w->out->steps;
	const struct sl__block *main = &w->graph->blocks[0];

	for (size_t i = 0; i < main->n_inputs; i++) {
		if (!w->graph->values[main->inputs[i]].tensor)
			begin(w, main->inputs[i], 0);
	}
	for (uint32_t s = 0; s < steps->n; s++) {
		if (steps->rows[s].kind == SL__NODE_VISIT_LEAVE)
			w->leave[steps->rows[s].node] = s;
	}
	for (uint32_t s = 0; s < steps->n; s++) {
		const struct sl__node_visit *step = &steps->rows[s];

		if (w->costs->n_calls[step->node] == 0)
			continue;
		if (step->kind == SL__NODE_VISIT_RUN)
			run_node(w, step->node, s);
		else
			pass_bodies(w, step, s);
	}
	for (size_t k = 0; steps->n && k < main->n_outputs; k++) {
		uint32_t s = storage_of(w, main->outputs[k]);

		if (s != SL__NONE)
			w->out->death[s] = (uint32_t)steps->n - 1;
	}
	hold_elements(w);
}

uint64_t
sl__running_sum_peak(const int64_t *change, size_t n, size_t *at)
{
	int64_t sum = 0, peak = 0;

	*at = 0;
	for (size_t i = 0; i < n; i++) {
		sum += change[i];
		if (sum > peak) {
			peak = sum;
			*at = i;
		}
	}
	return (uint64_t)peak;
}

/* Sums of bytes stay far below 2^63; one beyond that stands for all. */
static enum sl_status
find_peak(struct sl__liveness *out, size_t n_values, struct sl__arena *scratch,
	  struct sl_error *err)
{
	size_t n = out->steps->n;
	int64_t *change = sl__arena_array(scratch, n + 2, sizeof(*change));
	uint64_t all = 0;

	if (!change)
		return sl__fail_nomem(err);
	for (size_t v = 0; v < n_values; v++) {
		if (out->storage[v] != v || out->birth[v] == SL__NONE)
			continue;
		all = sl__saturating_add(all, out->n_bytes[v]);
		if (all > INT64_MAX) {
			out->peak_bytes = INT64_MAX;
			return SL_OK;
		}
		change[out->birth[v]] += (int64_t)out->n_bytes[v];
		change[out->death[v] + 1] -= (int64_t)out->n_bytes[v];
	}
	out->peak_bytes =
		sl__running_sum_peak(change, n ? n : 1, &out->peak_step);
	return SL_OK;
}

enum sl_status
sl__liveness_of(struct sl__liveness *out,
		const struct sl__cost_analysis_inputs *forward,
		struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_graph *graph = forward->shapes->graph;
	struct walker w = {.out = out,
			   .graph = graph,
			   .shapes = forward->shapes,
			   .costs = forward->costs};
	size_t n = graph->n_values;
	struct sl__arena scratch;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__arena_init(&scratch, &arena->allocator);
	out->steps = forward->steps;
	out->storage = sl__arena_array(arena, n, sizeof(*out->storage));
	out->birth = sl__arena_array(arena, n, sizeof(*out->birth));
	out->death = sl__arena_array(arena, n, sizeof(*out->death));
	out->n_bytes = sl__arena_array(arena, n, sizeof(*out->n_bytes));
	w.leave = sl__arena_array(&scratch, graph->n_nodes, sizeof(*w.leave));
	if (!out->storage || !out->birth || !out->death || !out->n_bytes ||
	    !w.leave) {
		rc = sl__fail_nomem(err);
		goto out;
	}
	for (size_t v = 0; v < n; v++)
		out->storage[v] = out->birth[v] = SL__NONE;
	walk(&w);
	rc = find_peak(out, n, &scratch, err);
out:
	sl__arena_release(&scratch);
	return rc;
}

struct mover {
	const struct sl__cost_analysis_inputs *forward;
	const struct sl__liveness *live;
	uint64_t *moved; /* per value: a parameter, or a storage */
};

static uint64_t
size_of(const struct mover *m, uint32_t value)
{
	uint64_t n;

	return sl__type_bytes(&m->forward->shapes->types[value], &n) ? n : 0;
}

/* What of 'all' bytes is left for this one when the others take theirs. */
static void
move(struct mover *m, uint32_t id, uint64_t n_bytes, uint64_t all,
     uint64_t others)
{
	uint64_t least = all > others ? all - others : 0;

	if (least > n_bytes)
		least = n_bytes;
	if (m->moved[id] < least)
		m->moved[id] = least;
}

static void
read_operands(struct mover *m, const struct sl__node *node,
	      const struct sl_cost *cost)
{
	struct sl__rule_context call = {.shapes = m->forward->shapes,
					.node = node};
	uint64_t sums[2] = {0, 0}; /* of activations, of parameters */

	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE)
			sums[sl__in_is_parameter(&call, i)] +=
				size_of(m, node->inputs[i]);
	}
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		uint32_t value = node->inputs[i];
		int is_parameter = value != SL__NONE &&
				   sl__in_is_parameter(&call, i);
		uint64_t n = value == SL__NONE ? 0 : size_of(m, value);

		if (value == SL__NONE)
			continue;
		if (m->forward->shapes->graph->values[value].tensor)
			move(m, value, n,
			     is_parameter ? cost->weight_bytes
					  : cost->read_bytes,
			     sums[is_parameter] - n);
		else if (!is_parameter && m->live->storage[value] != SL__NONE)
			move(m, m->live->storage[value], n, cost->read_bytes,
			     sums[0] - n);
	}
}

static void
write_results(struct mover *m, const struct sl__node *node,
	      const struct sl_cost *cost)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			sum += size_of(m, node->outputs[k]);
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (value == SL__NONE || m->live->storage[value] == SL__NONE)
			continue;
		move(m, m->live->storage[value], size_of(m, value),
		     cost->written_bytes, sum - size_of(m, value));
	}
}

/* Storages of these values, each once: what was added is emptied. */
static uint64_t
take_moved(struct mover *m, const uint32_t *values, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t s = m->live->storage[values[i]];

		if (s == SL__NONE)
			continue;
		sum = sl__saturating_add(sum, m->moved[s]);
		m->moved[s] = 0;
	}
	return sum;
}

/* Values of inner blocks count nothing of their own, and what is read by one
 * pass of 'pass' is not written by it. */
enum sl_status
sl__compulsory_bytes(uint64_t *out,
		     const struct sl__cost_analysis_inputs *forward,
		     const struct sl__liveness *live, struct sl__arena *arena,
		     struct sl_error *err)
{
	const struct sl_graph *graph = forward->shapes->graph;
	const struct sl__block *main = &graph->blocks[0];
	struct mover m = {.forward = forward, .live = live};
	struct sl__arena scratch;

	*out = 0;
	sl__arena_init(&scratch, &arena->allocator);
	for (int pass = 0; pass < 2; pass++) {
		m.moved = sl__arena_array(&scratch, graph->n_values,
					  sizeof(*m.moved));
		if (!m.moved) {
			sl__arena_release(&scratch);
			return sl__fail_nomem(err);
		}
		for (uint32_t i = 0; i < graph->n_nodes; i++) {
			if (forward->costs->n_calls[i])
				(pass ? write_results : read_operands)(
					&m, &graph->nodes[i],
					&forward->costs->per_call[i]);
		}
		*out = sl__saturating_add(
			*out,
			pass ? take_moved(&m, main->outputs, main->n_outputs)
			     : take_moved(&m, main->inputs, main->n_inputs));
		for (size_t v = 0; !pass && v < graph->n_values; v++) {
			if (graph->values[v].tensor)
				*out = sl__saturating_add(*out, m.moved[v]);
		}
	}
	sl__arena_release(&scratch);
	return SL_OK;
}
