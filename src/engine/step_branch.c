/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_branch.c - If, its condition known only when it runs, sizes before.
 *
 * Both branches become steps of the program, one after the other, with jumps
 * around them; each ends by copying its outputs to where the If's are.  What
 * a branch brings into another layout is forgotten at its end: the other path
 * does not have it.
 */
#include "base/status.h"
#include "engine/lowering.h"

#include <string.h>

#include "base/banned.h"

/* A node that cannot be run is no failure in a branch that is not taken. */
static int
is_node_planned(const struct sl__planner *pl, const struct sl__node *node)
{
	return sl__plan_can_branch(pl, node) ||
	       (sl__plan_node_is_static(pl, node) &&
		node->op->ref != sl__ref_none);
}

static int
is_block_planned(const struct sl__planner *pl, uint32_t block)
{
	const struct sl__block *b = &pl->graph->blocks[block];

	for (size_t i = 0; i < b->n_nodes; i++) {
		if (!is_node_planned(pl, &pl->graph->nodes[b->nodes[i]]))
			return 0;
	}
	for (size_t k = 0; k < b->n_outputs; k++) {
		if (!sl__plan_is_static(pl, b->outputs[k]))
			return 0;
	}
	return 1;
}

/* The bodies of an If; SL__NONE where it has none. */
static uint32_t
branch_of(const struct sl__node *node, const char *name)
{
	const struct sl__attribute *a = sl__attribute_find(node, name);

	return a && a->kind == SL__ATTRIBUTE_BLOCK ? a->block : SL__NONE;
}

/* Whether a branch's outputs have the very sizes of the If's. */
static int
fits(const struct sl__planner *pl, const struct sl__node *node, uint32_t block)
{
	const struct sl__block *b = &pl->graph->blocks[block];

	if (b->n_outputs < node->n_outputs)
		return 0;
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		const struct sl__type *a, *o;

		if (node->outputs[k] == SL__NONE)
			continue;
		a = sl__plan_value_type(pl, b->outputs[k]);
		o = sl__plan_value_type(pl, node->outputs[k]);
		if (a->dtype != o->dtype || a->rank != o->rank ||
		    (a->rank && memcmp(a->dims, o->dims,
				       (size_t)a->rank * sizeof(*a->dims))))
			return 0;
	}
	return 1;
}

int
sl__plan_can_branch(const struct sl__planner *pl, const struct sl__node *node)
{
	uint32_t then_block, else_block;

	if (!sl__is_op(node, SL__OP_ONNX_If) ||
	    !sl__plan_is_static(pl, node->inputs[0]) ||
	    sl__plan_value_n_elements(pl, node->inputs[0]) != 1)
		return 0;
	then_block = branch_of(node, "then_branch");
	else_block = branch_of(node, "else_branch");
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE &&
		    !sl__plan_is_static(pl, node->outputs[k]))
			return 0;
	}
	return then_block != SL__NONE && else_block != SL__NONE &&
	       is_block_planned(pl, then_block) && fits(pl, node, then_block) &&
	       is_block_planned(pl, else_block) && fits(pl, node, else_block);
}

static enum sl_status
run_branch(struct sl__step *step, struct sl_error *err)
{
	(void)err;
	step->jumps = !step->at[0][0];
	return SL_OK;
}

static enum sl_status
run_jump(struct sl__step *step, struct sl_error *err)
{
	(void)err;
	step->jumps = 1;
	return SL_OK;
}

/* The number of the step that was added. */
static size_t
add_jump(struct sl__planner *pl, sl__run_function *run, const uint32_t *operand)
{
	sl__plan_add_step(pl, operand, operand ? 1 : 0,
			  operand ? "branch" : "jump", run, NULL);
	return pl->program->n_steps - 1;
}

/* The versions that every value has at this point, and back to them. */
static uint32_t *
note_versions(struct sl__planner *pl)
{
	uint32_t *n =
		sl__plan_alloc_state(pl, pl->graph->n_values * sizeof(*n));

	for (size_t i = 0; n && i < pl->graph->n_values; i++)
		n[i] = pl->held[i].n_versions;
	return n;
}

static void
forget_versions(struct sl__planner *pl, const uint32_t *noted)
{
	for (size_t i = 0; i < pl->graph->n_values; i++) {
		/* Constants are packed when planning: both paths have them. */
		if (!pl->graph->values[i].tensor)
			pl->held[i].n_versions = noted[i];
	}
}

static void
add_body(struct sl__planner *pl, const struct sl__node *node, const char *name,
	 const uint32_t *outputs)
{
	uint32_t block = branch_of(node, name);
	const struct sl__block *b = &pl->graph->blocks[block];
	uint32_t *noted = note_versions(pl);
	uint32_t owner = pl->node;
	int is_counted = pl->is_counted;

	if (!noted)
		return;
	sl__lower_block(pl, block);
	pl->node = owner;
	pl->is_counted = is_counted;
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint32_t from;

		if (node->outputs[k] == SL__NONE)
			continue;
		from = sl__plan_input_buffer(pl, b->outputs[k], NULL);
		sl__plan_copy(pl, from, outputs[k],
			      sl__plan_value_bytes(pl, b->outputs[k]));
	}
	forget_versions(pl, noted);
}

void
sl__plan_branch(struct sl__planner *pl, const struct sl__node *node)
{
	struct sl__program *p = pl->program;
	uint32_t condition = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	uint32_t *outputs =
		sl__plan_alloc_state(pl, node->n_outputs * sizeof(*outputs));
	size_t branch = add_jump(pl, run_branch, &condition), jump;

	for (uint32_t k = 0; !pl->rc && k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			outputs[k] = sl__plan_output_buffer(
				pl, node->outputs[k], NULL);
	}
	add_body(pl, node, "then_branch", outputs);
	jump = add_jump(pl, run_jump, NULL);
	if (pl->rc)
		return;
	p->steps[branch].target = p->n_steps;
	add_body(pl, node, "else_branch", outputs);
	p->steps[jump].target = p->n_steps;
}
