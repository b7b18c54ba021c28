/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower.c - from a rewritten graph to steps.
 *
 * Nodes are taken in order; each goes to the first kernel that takes it, to
 * its reference kernel where none does, and to the evaluator where types or
 * sizes are not known before the model runs.
 */
#include "base/status.h"
#include "engine/lowering.h"

#include "base/banned.h"

struct kernel {
	enum sl__op_id op;
	sl__make_function *make;
};

static const struct kernel kernels[] = {
#define KERNEL(domain, type, name) {SL__OP_##domain##_##type, sl__make_##name},
#include "engine/kernels.def"
#undef KERNEL
};

static void
count_uses(struct sl__planner *pl)
{
	const struct sl_graph *graph = pl->graph;

	for (size_t n = 0; n < graph->n_nodes; n++) {
		for (uint32_t i = 0; i < graph->nodes[n].n_inputs; i++) {
			if (graph->nodes[n].inputs[i] != SL__NONE)
				pl->held[graph->nodes[n].inputs[i]].uses_left++;
		}
	}
	for (size_t b = 0; b < graph->n_blocks; b++) {
		for (size_t i = 0; i < graph->blocks[b].n_outputs; i++)
			pl->held[graph->blocks[b].outputs[i]].uses_left++;
	}
}

static enum sl_status
take_inputs(struct sl__planner *pl, struct sl_error *err)
{
	const struct sl__block *block = &pl->graph->blocks[0];
	enum sl_status rc = SL_OK;
	uint32_t buffer;

	for (size_t i = 0; !rc && i < block->n_inputs; i++) {
		uint32_t value = block->inputs[i];

		pl->program->inputs[i] = SL__NONE;
		if (!sl__plan_is_static(pl, value)) {
			pl->held[value].is_dynamic = 1;
			pl->program->is_stepwise = 1;
			continue;
		}
		rc = sl__plan_write(pl, value, NULL, &buffer, err);
		if (rc)
			break;
		pl->program->buffers[buffer].room = SL__ROOM_INPUT;
		pl->program->inputs[i] = buffer;
	}
	return rc;
}

/*
 * Where an output lies.  One that is an input, or a view of one, is copied:
 * an input may be set again while the output of the last run is in use.
 */
static enum sl_status
give_output(struct sl__planner *pl, uint32_t value, uint32_t *out,
	    struct sl_error *err)
{
	struct sl__program *p = pl->program;
	uint64_t n_bytes = sl__plan_bytes(pl, value);
	const char *name;
	uint32_t from;
	enum sl_status rc = sl__plan_read(pl, value, NULL, &from, err);

	*out = from;
	if (rc || !n_bytes ||
	    p->buffers[p->buffers[from].base].room != SL__ROOM_INPUT)
		return rc;
	rc = sl__plan_write(pl, value, NULL, out, err);
	if (!rc)
		rc = sl__plan_copy(pl, from, *out, n_bytes, err);
	if (rc)
		return rc;
	name = sl__arena_format(&p->arena, "copy %s",
				pl->graph->values[value].name);
	p->steps[p->n_steps - 1].name = name;
	return name ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
give_outputs(struct sl__planner *pl, struct sl_error *err)
{
	const struct sl__block *block = &pl->graph->blocks[0];
	enum sl_status rc = SL_OK;

	pl->node = SL__NONE; /* what is done now is no node's work */
	for (size_t k = 0; !rc && k < block->n_outputs; k++) {
		uint32_t value = block->outputs[k];
		uint32_t *out = &pl->program->outputs[k];

		*out = SL__NONE;
		if (sl__plan_is_static(pl, value))
			rc = give_output(pl, value, out, err);
	}
	return rc;
}

/* The node's inputs have been used once more. */
static void
consume(struct sl__planner *pl, const struct sl__node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		struct sl__held *held;

		if (node->inputs[i] == SL__NONE)
			continue;
		held = &pl->held[node->inputs[i]];
		held->uses_left--;
		for (uint32_t v = 0; v < held->n_versions; v++) {
			uint32_t b = held->versions[v].buffer;

			pl->buffer_uses[pl->program->buffers[b].base]--;
		}
	}
}

int
sl__plan_is_known(const struct sl__planner *pl, const struct sl__node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE &&
		    !sl__plan_is_static(pl, node->inputs[i]))
			return 0;
	}
	/* Kernels count on sizes that follow from the inputs'. */
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE &&
		    (!sl__plan_is_static(pl, node->outputs[k]) ||
		     pl->shapes->is_told[node->outputs[k]]))
			return 0;
	}
	return node->op && !sl__is_control(node->op);
}

static enum sl_status
make_static(struct sl__planner *pl, const struct sl__node *node,
	    struct sl_error *err)
{
	int only_reference = (pl->options->flags & SL_PLAN_REFERENCE) != 0;
	int is_made = 0;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (node->op != &sl__ops[kernels[i].op] ||
		    (only_reference && node->op->cost != sl__cost_view))
			continue;
		rc = kernels[i].make(pl, node, &is_made, err);
		if (rc || is_made)
			return rc;
	}
	return sl__plan_reference(pl, node, err);
}

static enum sl_status
make_node(struct sl__planner *pl, uint32_t id, struct sl_error *err)
{
	const struct sl__node *node = &pl->graph->nodes[id];
	enum sl_status rc;

	pl->node = id;
	pl->is_counted = 0;
	if (sl__is_op(node, SL__OP_ONNX_Constant) &&
	    pl->graph->values[node->outputs[0]].tensor)
		return SL_OK;
	if (!node->op)
		rc = sl__fail(err, SL_E_ABSENT,
			      "the operator %.60s%s%.60s is not known",
			      node->domain, node->domain[0] ? "." : "",
			      node->type);
	else if (sl__plan_is_known(pl, node))
		rc = make_static(pl, node, err);
	else if (sl__plan_is_branch(pl, node))
		rc = sl__plan_branch(pl, node, err);
	else
		rc = sl__plan_dynamic(pl, id, err);
	consume(pl, node);
	return sl__within_node(err, rc, node);
}

enum sl_status
sl__lower_block(struct sl__planner *pl, uint32_t block, struct sl_error *err)
{
	const struct sl__block *b = &pl->graph->blocks[block];
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < b->n_nodes; i++)
		rc = make_node(pl, b->nodes[i], err);
	return rc;
}

enum sl_status
sl__lower(struct sl__planner *pl, struct sl_error *err)
{
	enum sl_status rc;

	count_uses(pl);
	rc = take_inputs(pl, err);
	if (!rc)
		rc = sl__lower_block(pl, 0, err);
	return rc ? rc : give_outputs(pl, err);
}
