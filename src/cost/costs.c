/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs.c - how often each node runs, and how sure that is.
 *
 * Blocks are walked from the inside out: of an If whose condition is not
 * known, both branches are added up, the dearer stays, the other is said not
 * to run.
 */
#include "base/status.h"
#include "graph/body.h"
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

struct walker {
	struct sl__shapes *shapes;
	struct sl__costs *costs;
	struct sl_error *err;
};

/* The basis becomes worse, never better; the first reason stays. */
static void
worsen(const struct walker *w, uint32_t node, enum sl_basis basis,
       const char *why)
{
	if (w->costs->basis[node] >= basis)
		return;
	w->costs->basis[node] = basis;
	w->costs->why[node] = why;
}

typedef void node_function(const struct walker *w, uint32_t node,
			   const char *why);

/* Every node of a block and of those inside it. */
static void
each_node(const struct walker *w, uint32_t id, node_function *visit,
	  const char *why)
{
	const struct sl_graph *graph = w->shapes->graph;
	const struct sl__block *block = &graph->blocks[id];

	for (size_t i = 0; i < block->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[block->nodes[i]];

		visit(w, block->nodes[i], why);
		for (size_t k = 0; k < node->n_attributes; k++) {
			if (node->attributes[k].kind == SL__ATTRIBUTE_BLOCK)
				each_node(w, node->attributes[k].block, visit,
					  why);
		}
	}
}

static void
set_estimated(const struct walker *w, uint32_t node, const char *why)
{
	if (w->costs->n_calls[node])
		worsen(w, node, SL_BASIS_ESTIMATED, why);
}

static void
set_unknown(const struct walker *w, uint32_t node, const char *why)
{
	w->costs->n_calls[node] = 0;
	w->costs->basis[node] = SL_BASIS_UNKNOWN;
	w->costs->why[node] = why;
}

/* It is known that the node does not run, so nothing is unknown about it. */
static void
set_idle(const struct walker *w, uint32_t node, const char *why)
{
	(void)why;
	w->costs->n_calls[node] = 0;
	w->costs->basis[node] = SL_BASIS_COUNTED;
	w->costs->why[node] = NULL;
}

/* The same, but what is not known of a branch that may run stays unknown: a
 * sum without it would be too small. */
static void
set_left_out(const struct walker *w, uint32_t node, const char *why)
{
	if (w->costs->basis[node] == SL_BASIS_UNKNOWN)
		set_unknown(w, node, why);
	else
		set_idle(w, node, NULL);
}

static int
is_dearer(const struct sl_cost *a, const struct sl_cost *b)
{
	uint64_t ops_a = sl_cost_operations(a), ops_b = sl_cost_operations(b);

	if (ops_a != ops_b)
		return ops_a > ops_b;
	return sl_cost_bytes(a) > sl_cost_bytes(b);
}

static enum sl_status settle_block(const struct walker *w, uint32_t block,
				   struct sl_cost *total);

/* Both branches may run: one is taken into the total, the other dropped. */
static enum sl_status
settle_branches(const struct walker *w, const struct sl__node *node,
		const uint32_t *branches, struct sl_cost *total)
{
	struct sl_cost costs[2];
	enum sl_status rc = SL_OK;
	const char *why, *why_left;
	int dearer;

	memset(costs, 0, sizeof(costs));
	for (int i = 0; !rc && i < 2; i++)
		rc = settle_block(w, branches[i], &costs[i]);
	if (rc)
		return rc;
	why = sl__arena_format(&w->shapes->arena,
			       "one branch of '%.200s': the dearer is taken, "
			       "its condition depends on data",
			       node->name);
	why_left = sl__arena_format(
		&w->shapes->arena, "one branch of '%.200s' has an unknown cost",
		node->name);
	if (!why || !why_left)
		return sl__fail_nomem(w->err);
	dearer = is_dearer(&costs[1], &costs[0]);
	each_node(w, branches[dearer], set_estimated, why);
	/* Where the If itself runs an unknown number of times, that is told
	 * of the branch that is taken. */
	each_node(w, branches[!dearer],
		  w->shapes->block_calls[node->block] < SL__CALLS_OVERFLOW
			  ? set_left_out
			  : set_idle,
		  why_left);
	sl__cost_add_multiple(total, &costs[dearer], 1);
	return SL_OK;
}

/* The branches of an If that may both run. */
static int
has_open_branches(const struct walker *w, const struct sl__node *node,
		  uint32_t *branches)
{
	if (!sl__is_op(node, SL__OP_ONNX_If))
		return 0;
	branches[0] = sl__node_body_by_name(node, "then_branch");
	branches[1] = sl__node_body_by_name(node, "else_branch");
	return branches[0] != SL__NONE && branches[1] != SL__NONE &&
	       w->shapes->block_calls[branches[0]] &&
	       w->shapes->block_calls[branches[1]];
}

static enum sl_status
settle_bodies(const struct walker *w, const struct sl__node *node,
	      struct sl_cost *total)
{
	enum sl_status rc = SL_OK;
	uint32_t branches[2];

	if (has_open_branches(w, node, branches))
		return settle_branches(w, node, branches, total);
	for (size_t k = 0; !rc && k < node->n_attributes; k++) {
		if (node->attributes[k].kind != SL__ATTRIBUTE_BLOCK)
			continue;
		if (node->op)
			rc = settle_block(w, node->attributes[k].block, total);
		else
			each_node(w, node->attributes[k].block, set_unknown,
				  "inside an operator that is not known");
	}
	return rc;
}

static enum sl_status
settle_block(const struct walker *w, uint32_t id, struct sl_cost *total)
{
	const struct sl_graph *graph = w->shapes->graph;
	const struct sl__block *block = &graph->blocks[id];
	uint64_t n_calls = w->shapes->block_calls[id];
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < block->n_nodes; i++) {
		uint32_t node = block->nodes[i];

		w->costs->n_calls[node] = n_calls;
		if (n_calls == 0)
			set_idle(w, node, NULL);
		else if (n_calls == SL__CALLS_OVERFLOW)
			set_unknown(w, node, sl__cost_overflow_reason);
		else if (n_calls == UINT64_MAX)
			set_unknown(w, node, "a loop of unknown length");
		/* To compare two branches one run of each will do. */
		sl__cost_add_multiple(total, &w->costs->per_call[node],
				      n_calls >= SL__CALLS_OVERFLOW ? 1
								    : n_calls);
		rc = settle_bodies(w, &graph->nodes[node], total);
	}
	return rc;
}

/* A node that runs and whose own figures are beyond all counting. */
static enum sl_status
check_nodes(const struct walker *w)
{
	const struct sl_graph *graph = w->shapes->graph;

	for (size_t i = 0; i < graph->n_nodes; i++) {
		if (w->costs->n_calls[i] &&
		    w->costs->per_call[i].why == sl__cost_overflow_reason)
			return sl__fail(w->err, SL_E_DATA,
					"node '%.200s' (%.60s): the FLOPs or "
					"bytes of these sizes are beyond 64 "
					"bits",
					graph->nodes[i].name,
					graph->nodes[i].type);
	}
	return SL_OK;
}

/* Bytes of all values, each once. */
static uint64_t
sum_values(const struct sl__shapes *shapes)
{
	uint64_t sum = 0, n;

	for (size_t v = 0; v < shapes->graph->n_values; v++) {
		if (sl__type_bytes(&shapes->types[v], &n))
			sum = sl__saturating_add(sum, n);
	}
	return sum;
}

/*
 * Training takes three times the MACs, of two FLOPs each.  With gradients and
 * two moments of 4 bytes a value of 1 byte takes 10, which leaves room to 16;
 * traffic is only ever added up.
 */
static enum sl_status
check_sums(const struct walker *w, const struct sl_cost *total)
{
	const uint64_t most = UINT64_C(1) << 63;

	if (sl_cost_operations(total) > most ||
	    sl__saturating_mul(total->macs, 6) == UINT64_MAX)
		return sl__fail(w->err, SL_E_DATA,
				"the FLOPs of these sizes are beyond 64 bits");
	if (sl_cost_bytes(total) > most || sum_values(w->shapes) > most / 16)
		return sl__fail(w->err, SL_E_DATA,
				"the bytes of these sizes are beyond 64 bits");
	return SL_OK;
}

enum sl_status
sl__costs_of_graph(struct sl__costs *out, struct sl__shapes *shapes,
		   struct sl_error *err)
{
	struct sl__arena *arena = &shapes->arena;
	size_t n = shapes->graph->n_nodes;
	struct walker w = {shapes, out, err};
	struct sl_cost total;
	enum sl_status rc;

	out->per_call = sl__arena_array(arena, n, sizeof(*out->per_call));
	out->n_calls = sl__arena_array(arena, n, sizeof(*out->n_calls));
	out->basis = sl__arena_array(arena, n, sizeof(*out->basis));
	out->why = sl__arena_array(arena, n, sizeof(*out->why));
	if (!out->per_call || !out->n_calls || !out->basis || !out->why)
		return sl__fail_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		sl__cost_node(shapes, i, &out->per_call[i]);
		out->basis[i] = out->per_call[i].basis;
		out->why[i] = out->per_call[i].why;
	}
	if (shapes->is_short)
		return sl__fail_nomem(err);
	memset(&total, 0, sizeof(total));
	rc = settle_block(&w, 0, &total);
	if (!rc)
		rc = check_nodes(&w);
	return rc ? rc : check_sums(&w, &total);
}
