/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - a graph is checked, put in order and frozen.
 *
 * Nodes are sorted by counting what each still waits for (Kahn, 1962), which
 * keeps the order of the file wherever that is possible and finds cycles: what
 * is never free lies on one or behind one.  A body's uses count as its
 * owner's, so that a branch runs after what it captures.
 */
#include "base/status.h"
#include "graph/graph_construction.h"
#include "graph/op_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	NESTING_MOST = 64,    /* blocks within blocks; real ones have 3 */
	STATE_PAIRS = 1000000 /* of inputs and outputs that are compared */
};

static enum sl_status
fail_node(struct sl_error *err, const struct sl__node *node, const char *what)
{
	return sl__fail(err, SL_E_DATA, "node '%.200s' (%.60s): %s", node->name,
			node->type, what);
}

/* Inputs that may be left out although later ones are required; bit i is
 * input i.  Of Scan that is the sequence lengths of its first version. */
static const struct {
	enum sl__op_id id;
	unsigned inputs;
} holes[] = {
	{SL__OP_ONNX_Scan, 1u << 0},
	{SL__OP_MS_EmbedLayerNormalization, 1u << 1 | 1u << 4},
	{SL__OP_MS_GroupQueryAttention, 15u << 1},
	{SL__OP_MS_QLinearAdd, 1u << 2 | 1u << 5},
	{SL__OP_MS_QLinearAveragePool, 1u << 2},
	{SL__OP_MS_QLinearGlobalAveragePool, 1u << 2},
	{SL__OP_MS_QLinearLeakyRelu, 1u << 2},
	{SL__OP_MS_QLinearMul, 1u << 2 | 1u << 5},
	{SL__OP_MS_QLinearSigmoid, 1u << 2},
	{SL__OP_MS_QLinearSoftmax, 1u << 2},
};

/* The first inputs are required ones, and all of ONNX's lists of any length
 * but for those of Loop and Scan. */
static int
is_required_in(const struct sl__node *node, uint32_t i)
{
	const struct sl__op *op = node->op;

	if (i >= (uint32_t)op->min_inputs)
		return op->max_inputs < 0 && !sl__op_is_control_flow(op) &&
		       !*op->domain;
	for (size_t k = 0; k < sizeof(holes) / sizeof(holes[0]); k++) {
		if (sl__is_op(node, holes[k].id) && holes[k].inputs >> i & 1)
			return sl__is_op(node, SL__OP_ONNX_Scan) &&
			       node->version >= 9;
	}
	return 1;
}

/* Says how many inputs the operator would take. */
static enum sl_status
fail_inputs(const struct sl__node *node, uint32_t n, struct sl_error *err)
{
	const struct sl__op *op = node->op;
	char takes[64];

	if (op->max_inputs < 0)
		snprintf(takes, sizeof(takes), "at least %d", op->min_inputs);
	else if (op->max_inputs == op->min_inputs)
		snprintf(takes, sizeof(takes), "%d", op->min_inputs);
	else
		snprintf(takes, sizeof(takes), "%d to %d", op->min_inputs,
			 op->max_inputs);
	return sl__fail(err, SL_E_DATA,
			"node '%.200s' (%s): has %u input%s, %s takes %s",
			node->name, node->type, n, n == 1 ? "" : "s",
			node->type, takes);
}

static enum sl_status
check_outputs_of(const struct sl__node *node, struct sl_error *err)
{
	const struct sl__op *op = node->op;
	uint32_t n = node->n_outputs;
	int is_few = n < (uint32_t)op->min_outputs;

	while (n && node->outputs[n - 1] == SL__NONE)
		n--;
	if (!is_few && (op->max_outputs < 0 || n <= (uint32_t)op->max_outputs))
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"node '%.200s' (%s): has %u output%s, %s gives at %s "
			"%d",
			node->name, node->type, n, n == 1 ? "" : "s",
			node->type, is_few ? "least" : "most",
			is_few ? op->min_outputs : op->max_outputs);
}

static enum sl_status
check_arity(const struct sl__node *node, struct sl_error *err)
{
	const struct sl__op *op = node->op;
	uint32_t n = node->n_inputs;

	if (!op)
		return SL_OK;
	while (n && node->inputs[n - 1] == SL__NONE)
		n--;
	if (n < (uint32_t)op->min_inputs ||
	    (op->max_inputs >= 0 && n > (uint32_t)op->max_inputs))
		return fail_inputs(node, n, err);
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] == SL__NONE && is_required_in(node, i))
			return sl__fail(err, SL_E_DATA,
					"node '%.200s' (%s): its input %u is "
					"left out",
					node->name, node->type, i);
	}
	return check_outputs_of(node, err);
}

/* Whether a value exists without any node. */
static int
is_given(const struct sl_graph *graph, uint32_t id)
{
	const struct sl__value *value = &graph->values[id];

	return value->tensor || value->kind == SL_VALUE_INPUT ||
	       value->kind == SL_VALUE_STATE;
}

/* Whether 'block' is 'around' or lies inside it. */
static int
is_inside(const struct sl_graph *graph, uint32_t block, uint32_t around)
{
	for (int depth = 0; depth <= NESTING_MOST; depth++) {
		if (block == around)
			return 1;
		if (graph->blocks[block].owner == SL__NONE)
			return 0;
		block = graph->nodes[graph->blocks[block].owner].block;
	}
	return 0;
}

static enum sl_status
check_use(const struct sl_graph *graph, const struct sl__node *node,
	  uint32_t value, struct sl_error *err)
{
	const struct sl__value *v = &graph->values[value];

	if (v->producer == SL__NONE && !is_given(graph, value))
		return sl__fail(err, SL_E_DATA,
				"node '%.200s' (%s): nothing makes its input "
				"'%.150s'",
				node->name, node->type, v->name);
	if (!is_inside(graph, node->block, v->block))
		return sl__fail(
			err, SL_E_DATA,
			"node '%.200s' (%s): its input '%.150s' belongs "
			"to another subgraph",
			node->name, node->type, v->name);
	return SL_OK;
}

static enum sl_status
check_nesting(const struct sl_graph *graph, struct sl_error *err)
{
	for (uint32_t b = 1; b < graph->n_blocks; b++) {
		uint32_t owner = graph->blocks[b].owner;

		/* An unused function body has no owner and does not run. */
		if (owner != SL__NONE && !is_inside(graph, b, 0))
			return fail_node(err, &graph->nodes[owner],
					 "subgraphs are nested too deep or "
					 "contain themselves");
	}
	return SL_OK;
}

static enum sl_status
check_outputs(const struct sl_graph *graph, struct sl_error *err)
{
	for (size_t b = 0; b < graph->n_blocks; b++) {
		const struct sl__block *block = &graph->blocks[b];

		for (size_t i = 0; i < block->n_outputs; i++) {
			uint32_t id = block->outputs[i];

			if (graph->values[id].producer == SL__NONE &&
			    !is_given(graph, id))
				return sl__fail(err, SL_E_DATA,
						"nothing makes the output "
						"'%.300s'",
						graph->values[id].name);
		}
	}
	return SL_OK;
}

static enum sl_status
check_nodes(const struct sl_graph *graph, struct sl_error *err)
{
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];
		enum sl_status rc = check_arity(node, err);

		if (!rc)
			rc = sl__op_check_attributes(node, err);
		for (uint32_t k = 0; !rc && k < node->n_inputs; k++) {
			if (node->inputs[k] != SL__NONE)
				rc = check_use(graph, node, node->inputs[k],
					       err);
		}
		if (rc)
			return rc;
	}
	return SL_OK;
}

/* Required outputs without a name are made all the same: rules and kernels
 * count on them. */
static enum sl_status
add_outputs(struct sl_graph *graph, uint32_t id, struct sl_error *err)
{
	struct sl__node *node = &graph->nodes[id];
	uint32_t n = node->n_outputs;
	uint32_t *outputs = sl__arena_array(&graph->arena, n, sizeof(*outputs));
	enum sl_status rc = SL_OK;

	if (!outputs)
		return sl__fail_nomem(err);
	memcpy(outputs, node->outputs, n * sizeof(*outputs));
	for (int k = 0; !rc && k < node->op->min_outputs; k++) {
		if (outputs[k] != SL__NONE)
			continue;
		rc = sl__graph_add_value(graph, &outputs[k], "", node->block,
					 err);
		if (!rc)
			graph->values[outputs[k]].producer = id;
	}
	node->outputs = outputs;
	return rc;
}

/* Lists become as long as the table has them: what is left out beyond is as
 * good as not there. */
static enum sl_status
complete_nodes(struct sl_graph *graph, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (uint32_t i = 0; !rc && i < graph->n_nodes; i++) {
		struct sl__node *node = &graph->nodes[i];
		const struct sl__op *op = node->op;
		int is_open = 0;

		if (!op)
			continue;
		if (op->max_inputs >= 0 &&
		    node->n_inputs > (uint32_t)op->max_inputs)
			node->n_inputs = (uint32_t)op->max_inputs;
		if (op->max_outputs >= 0 &&
		    node->n_outputs > (uint32_t)op->max_outputs)
			node->n_outputs = (uint32_t)op->max_outputs;
		for (int k = 0; k < op->min_outputs; k++)
			is_open |= node->outputs[k] == SL__NONE;
		if (is_open)
			rc = add_outputs(graph, i, err);
	}
	return rc;
}

/* Edges "user waits for producer" between nodes of one block, as lists of
 * users per producer. */
struct order {
	const struct sl_graph *graph;
	uint32_t *n_waits; /* per node */
	uint32_t *first;   /* per node: start of its users; n_nodes + 1 */
	uint32_t *users;
	size_t n_edges;
};

/* The node of the value's own block that must run before 'value' can be used
 * there: its producer.  And the node of that block that the user is, or is
 * inside of. */
static uint32_t
lift(const struct sl_graph *graph, uint32_t node, uint32_t block)
{
	while (graph->nodes[node].block != block)
		node = graph->blocks[graph->nodes[node].block].owner;
	return node;
}

typedef void edge_function(struct order *order, uint32_t from, uint32_t to);

static void
count_edge(struct order *order, uint32_t from, uint32_t to)
{
	order->n_waits[to]++;
	order->first[from + 1]++;
	order->n_edges++;
}

static void
store_edge(struct order *order, uint32_t from, uint32_t to)
{
	order->users[order->first[from]++] = to;
}

static void
visit_edge(struct order *order, uint32_t user, uint32_t value,
	   edge_function *visit)
{
	const struct sl_graph *graph = order->graph;
	uint32_t producer = graph->values[value].producer;

	if (producer != SL__NONE)
		visit(order, producer,
		      lift(graph, user, graph->nodes[producer].block));
}

/* Every edge once: inputs of nodes, and outputs of bodies. */
static void
visit_edges(struct order *order, edge_function *visit)
{
	const struct sl_graph *graph = order->graph;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		for (uint32_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] != SL__NONE)
				visit_edge(order, i, node->inputs[k], visit);
		}
	}
	for (uint32_t b = 1; b < graph->n_blocks; b++) {
		const struct sl__block *block = &graph->blocks[b];

		for (size_t k = 0; k < block->n_outputs; k++) {
			const struct sl__value *v =
				&graph->values[block->outputs[k]];

			if (block->owner != SL__NONE && v->block != b)
				visit_edge(order, block->owner,
					   block->outputs[k], visit);
		}
	}
}

static enum sl_status
find_edges(struct order *order, struct sl__arena *scratch, struct sl_error *err)
{
	size_t n = order->graph->n_nodes;

	order->n_waits = sl__arena_array(scratch, n, sizeof(uint32_t));
	order->first = sl__arena_array(scratch, n + 2, sizeof(uint32_t));
	if (!order->n_waits || !order->first)
		return sl__fail_nomem(err);
	visit_edges(order, count_edge);
	for (size_t i = 0; i < n; i++)
		order->first[i + 1] += order->first[i];
	order->users =
		sl__arena_array(scratch, order->n_edges, sizeof(uint32_t));
	if (!order->users)
		return sl__fail_nomem(err);
	visit_edges(order, store_edge);
	/* Storing moved each start to its end. */
	memmove(order->first + 1, order->first, n * sizeof(uint32_t));
	order->first[0] = 0;
	return SL_OK;
}

/* Whether the nodes of a block stand in an order in which they can run. */
static int
is_sorted(const struct order *order, const struct sl__block *block,
	  uint32_t *position)
{
	for (size_t i = 0; i < block->n_nodes; i++)
		position[block->nodes[i]] = (uint32_t)i;
	for (size_t i = 0; i < block->n_nodes; i++) {
		uint32_t from = block->nodes[i];

		for (uint32_t e = order->first[from];
		     e < order->first[from + 1]; e++) {
			if (position[order->users[e]] <= i)
				return 0;
		}
	}
	return 1;
}

/* First come, first served, among those that wait for nothing. */
static enum sl_status
sort_block(const struct order *order, struct sl__block *block, uint32_t *queue,
	   struct sl_error *err)
{
	size_t n_queued = 0;

	for (size_t i = 0; i < block->n_nodes; i++) {
		if (order->n_waits[block->nodes[i]] == 0)
			queue[n_queued++] = block->nodes[i];
	}
	for (size_t i = 0; i < n_queued; i++) {
		uint32_t from = queue[i];

		for (uint32_t e = order->first[from];
		     e < order->first[from + 1]; e++) {
			if (--order->n_waits[order->users[e]] == 0)
				queue[n_queued++] = order->users[e];
		}
	}
	for (size_t i = 0; n_queued < block->n_nodes; i++) {
		if (order->n_waits[block->nodes[i]])
			return fail_node(err,
					 &order->graph->nodes[block->nodes[i]],
					 "uses its own result: it lies on a "
					 "cycle or behind one");
	}
	memcpy(block->nodes, queue, n_queued * sizeof(*queue));
	return SL_OK;
}

static enum sl_status
sort_nodes(struct sl_graph *graph, struct sl__arena *scratch,
	   struct sl_error *err)
{
	struct order order = {.graph = graph};
	enum sl_status rc = find_edges(&order, scratch, err);
	uint32_t *queue;

	if (rc)
		return rc;
	queue = sl__arena_array(scratch, graph->n_nodes, sizeof(*queue));
	if (!queue)
		return sl__fail_nomem(err);
	for (size_t b = 0; !rc && b < graph->n_blocks; b++) {
		if (!is_sorted(&order, &graph->blocks[b], queue))
			rc = sort_block(&order, &graph->blocks[b], queue, err);
	}
	return rc;
}

/* "past_3", "past_key_values.3.key" -> "present_3", "present.3.key", and
 * "h" -> "hn", "h0" -> "hn", "state" -> "stateN", "new_state": how exporters
 * pair them. */
static int
is_renewed_name(const char *old, const char *new)
{
	static const struct {
		const char *old, *new;
	} pairs[] = {{"past_key_values", "present"},
		     {"past_key_values", "present_key_values"},
		     {"past", "present"},
		     {"h0", "hn"},
		     {"c0", "cn"}};
	size_t n = strlen(old);

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		size_t a = strlen(pairs[i].old), b = strlen(pairs[i].new);

		if (!strncmp(old, pairs[i].old, a) &&
		    !strncmp(new, pairs[i].new, b) && !strcmp(old + a, new + b))
			return 1;
	}
	if (!strncmp(new, "new_", 4) && !strcmp(new + 4, old))
		return 1;
	return !strncmp(new, old, n) &&
	       (!strcmp(new + n, "N") || !strcmp(new + n, "n") ||
		!strcmp(new + n, "_out") || !strcmp(new + n, ".1"));
}

/* Whether a value may become another from run to run: of the same type of
 * number and rank, and of the same sizes but for one that may grow, as far as
 * those are declared. */
static int
may_renew(const struct sl__type *old, const struct sl__type *new)
{
	int n_grown = 0;

	if (old->dtype != new->dtype || old->rank != new->rank)
		return 0;
	for (int d = 0; d < old->rank; d++) {
		if (sl__is_symbol(old->dims[d]) || sl__is_symbol(new->dims[d]))
			continue;
		if (new->dims[d] < old->dims[d])
			return 0;
		n_grown += new->dims[d] > old->dims[d];
	}
	return n_grown <= 1;
}

/* An input is a state when an output is its renewal by name and type. */
static void
find_states(struct sl_graph *graph)
{
	const struct sl__block *main = &graph->blocks[0];

	/* A file made to hurt; models with caches have some hundred each. */
	if (main->n_outputs && main->n_inputs > STATE_PAIRS / main->n_outputs)
		return;
	for (size_t i = 0; i < main->n_inputs; i++) {
		struct sl__value *in = &graph->values[main->inputs[i]];

		for (size_t k = 0; k < main->n_outputs; k++) {
			struct sl__value *out =
				&graph->values[main->outputs[k]];

			if (out->old_state == SL__NONE &&
			    in->kind == SL_VALUE_INPUT &&
			    may_renew(&in->declared, &out->declared) &&
			    is_renewed_name(in->name, out->name)) {
				in->kind = SL_VALUE_STATE;
				out->old_state = main->inputs[i];
			}
		}
	}
}

enum sl_status
sl__graph_freeze(struct sl_graph *graph, struct sl_error *err)
{
	struct sl__arena scratch;
	enum sl_status rc;

	sl__arena_init(&scratch, &graph->arena.allocator);
	rc = check_nesting(graph, err);
	if (!rc)
		rc = check_nodes(graph, err);
	if (!rc)
		rc = check_outputs(graph, err);
	if (!rc)
		rc = complete_nodes(graph, err);
	if (!rc)
		rc = sort_nodes(graph, &scratch, err);
	sl__arena_release(&scratch);
	if (rc)
		return rc;
	find_states(graph);
	graph->is_frozen = 1;
	return SL_OK;
}
