/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_blocks.c - bodies of a graph that is being rewritten. */
#include "transform/rewrite_blocks.h"
#include "graph/body.h"
#include "graph/execution_order.h"

#include "base/banned.h"

/* 1, 0, or -1 where a condition depends on data. */
static int
truth_of(const struct sl__rewrite *rw, uint32_t value)
{
	const struct sl__known_contents *known = rw->shapes->known[value];
	const struct sl__tensor *t = rw->from->values[value].tensor;
	int64_t word;

	if (known && known->ints && known->n == 1)
		return sl__is_symbol(known->ints[0]) ? -1 : known->ints[0] != 0;
	if (t && t->n_elements == 1 && !t->absent && !t->is_sparse &&
	    sl__tensor_integers(t, 0, 1, &word))
		return word != 0;
	return -1;
}

uint32_t
sl__rewrite_taken_branch(const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->from->nodes[id];
	uint32_t taken;
	int truth;

	if (!sl__is_op(node, SL__OP_ONNX_If))
		return SL__NONE;
	truth = truth_of(rw, node->inputs[0]);
	taken = truth < 0 ? SL__NONE
			  : sl__node_body_by_name(node, truth ? "then_branch"
							      : "else_branch");
	return taken != SL__NONE && rw->from->blocks[taken].n_outputs ==
					    node->n_outputs
		       ? taken
		       : SL__NONE;
}

void
sl__rewrite_find_homes(struct sl__rewrite *rw)
{
	const struct sl_graph *from = rw->from;
	uint32_t *homes = sl__rewrite_alloc(rw, from->n_blocks, sizeof(*homes));

	rw->homes = homes;
	for (uint32_t b = 0; homes && b < from->n_blocks; b++) {
		uint32_t at = b;

		/* Out of every branch that is taken, until one is not. */
		homes[b] = b;
		while (from->blocks[at].owner != SL__NONE) {
			uint32_t owner = from->blocks[at].owner;
			uint32_t taken = sl__rewrite_taken_branch(rw, owner);
			uint32_t around = from->nodes[owner].block;

			if (taken != SL__NONE && taken != at) {
				homes[b] = SL__NONE;
				break;
			}
			if (taken == at && homes[b] == at)
				homes[b] = around;
			at = around;
		}
	}
}

uint32_t *
sl__rewrite_number_nodes(struct sl__rewrite *rw)
{
	uint32_t *places =
		sl__rewrite_alloc(rw, rw->from->n_nodes, sizeof(*places));
	struct sl__execution_order order;

	if (rw->rc)
		return NULL;
	rw->rc = sl__execution_order_find(&order, rw->from, &rw->to->arena,
					  rw->err);
	/* A node with bodies stands where it is left. */
	for (size_t i = 0; !rw->rc && i < order.n; i++)
		places[order.rows[i].node] = (uint32_t)i;
	return places;
}

/* How many blocks lie around this one. */
static int
depth_of(const struct sl__rewrite *rw, uint32_t block)
{
	int depth = 0;

	for (; rw->from->blocks[block].owner != SL__NONE; depth++)
		block = rw->from->nodes[rw->from->blocks[block].owner].block;
	return depth;
}

uint32_t
sl__rewrite_innermost_block(const struct sl__rewrite *rw,
			    const struct sl__node *node)
{
	uint32_t block = 0;

	for (uint32_t i = 0; i < node->n_inputs; i++) {
		uint32_t at;

		if (node->inputs[i] == SL__NONE)
			continue;
		at = rw->to->values[node->inputs[i]].block;
		if (depth_of(rw, at) > depth_of(rw, block))
			block = at;
	}
	return block;
}

const unsigned char *
sl__rewrite_find_run_blocks(struct sl__rewrite *rw)
{
	unsigned char *is_run = sl__rewrite_alloc(rw, rw->from->n_blocks, 1);
	int has_changed = is_run != NULL;

	if (is_run)
		is_run[0] = 1;
	while (has_changed) {
		has_changed = 0;
		for (size_t b = 1; b < rw->from->n_blocks; b++) {
			uint32_t owner = rw->from->blocks[b].owner;

			if (is_run[b] || owner == SL__NONE ||
			    rw->nodes[owner].is_gone ||
			    !is_run[rw->nodes[owner].node.block])
				continue;
			is_run[b] = 1;
			has_changed = 1;
		}
	}
	return is_run;
}
