/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower.c - from a rewritten graph to steps.
 *
 * Nodes are taken in order; each goes to the first kernel that takes it, to
 * its reference kernel where none does, and to the evaluator where types or
 * sizes are not known before the model runs.
 */
#include "base/status.h"
#include "engine/compile.h"
#include "engine/dnnl_context.h"
#include "engine/lowering.h"
#include "machine/platform.h"

#include "base/banned.h"

enum { LARGE_BITS = 28 }; /* of bytes that are held against all memory */

struct kernel {
	enum sl__op_id op;
	sl__kernel_plan_function *make;
	int is_dnnl;
};

static const struct kernel kernels[] = {
#define ROW(domain, type, name, is_dnnl) \
	{SL__OP_##domain##_##type, sl__make_##name, is_dnnl},
#define KERNEL(domain, type, name) ROW(domain, type, name, 0)
#ifdef SL_WITHOUT_DNNL
#define DNNL_KERNEL(domain, type, name)
#else
#define DNNL_KERNEL(domain, type, name) ROW(domain, type, name, 1)
#endif
#include "engine/kernels.def"
#undef DNNL_KERNEL
#undef KERNEL
};

int
sl__has_kernel(const struct sl__node *node)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (node->op == &sl__ops[kernels[i].op])
			return node->op->cost != sl__cost_view;
	}
	return 0;
}

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
	for (size_t i = 0; i < graph->blocks[0].n_outputs; i++)
		pl->held[graph->blocks[0].outputs[i]].is_output = 1;
}

static void
take_inputs(struct sl__planner *pl)
{
	const struct sl__block *block = &pl->graph->blocks[0];

	for (size_t i = 0; !pl->rc && i < block->n_inputs; i++) {
		uint32_t value = block->inputs[i];
		uint32_t *buffer = &pl->program->inputs[i];

		*buffer = SL__NONE;
		if (sl__plan_is_static(pl, value)) {
			*buffer = sl__plan_output_buffer(pl, value, NULL);
			if (*buffer != SL__NONE)
				pl->program->buffers[*buffer].category =
					SL__CATEGORY_INPUT;
		} else {
			pl->held[value].is_dynamic = 1;
			pl->program->is_stepwise = 1;
		}
	}
}

/*
 * Where an output lies.  One that is an input, or a view of one, is copied:
 * an input may be set again while the output of the last run is in use.  States
 * that a training step renews stay where they are.
 */
static uint32_t
give_output(struct sl__planner *pl, uint32_t value)
{
	struct sl__program *p = pl->program;
	uint64_t n_bytes = sl__plan_value_bytes(pl, value);
	const char *name;
	uint32_t from = sl__plan_input_buffer(pl, value, NULL), to;

	if (pl->rc || !n_bytes || pl->options->flags & SL__PLAN_TRAINS ||
	    p->buffers[p->buffers[from].base].category != SL__CATEGORY_INPUT)
		return from;
	to = sl__plan_output_buffer(pl, value, NULL);
	sl__plan_copy(pl, from, to, n_bytes);
	name = sl__arena_format(&p->arena, "copy %s",
				pl->graph->values[value].name);
	if (!name)
		sl__planner_keep_status(pl, sl__fail_nomem(pl->err));
	if (!pl->rc)
		p->steps[p->n_steps - 1].name = name;
	return to;
}

static void
give_outputs(struct sl__planner *pl)
{
	const struct sl__block *block = &pl->graph->blocks[0];

	pl->node = SL__NONE; /* what is done now is no node's work */
	for (size_t k = 0; !pl->rc && k < block->n_outputs; k++)
		pl->program->outputs[k] =
			sl__plan_is_static(pl, block->outputs[k])
				? give_output(pl, block->outputs[k])
				: SL__NONE;
}

/* The node's inputs have been used once more. */
static void
consume(struct sl__planner *pl, const struct sl__node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		struct sl__planned_value *held;

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
sl__plan_node_is_static(const struct sl__planner *pl,
			const struct sl__node *node)
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
	return node->op && !sl__op_is_control_flow(node->op);
}

static void
make_static(struct sl__planner *pl, const struct sl__node *node)
{
	int only_reference = (pl->options->flags & SL_PLAN_REFERENCE) != 0;
	int no_dnnl = !sl__dnnl_is_allowed() ||
		      (pl->options->flags & SL__PLAN_NO_DNNL) != 0;

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (node->op != &sl__ops[kernels[i].op] ||
		    (only_reference && node->op->cost != sl__cost_view) ||
		    (no_dnnl && kernels[i].is_dnnl))
			continue;
		if (kernels[i].make(pl, node) || pl->rc)
			return;
	}
	sl__plan_reference(pl, node);
}

/* What oneDNN described for a node is not needed any more.  Where that failed
 * for want of memory, so did whatever failed after it. */
static void
rewind_to(struct sl__planner *pl, size_t mark)
{
	enum sl_status rc =
		sl__dnnl_context_rewind(pl->program->dnnl, mark, pl->err);

	if (rc)
		pl->rc = rc;
}

/* Refuses a value that alone exceeds all memory before a kernel makes its
 * tables for it.  A dry plan takes none. */
static void
check_outputs(struct sl__planner *pl, const struct sl__node *node)
{
	for (uint32_t k = 0; !pl->rc && k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];
		uint64_t n_bytes, all;

		if (value == SL__NONE || !sl__plan_is_static(pl, value) ||
		    pl->options->flags & SL__PLAN_DRY)
			continue;
		n_bytes = sl__plan_value_bytes(pl, value);
		all = n_bytes >> LARGE_BITS ? sl__platform_total_bytes("") : 0;
		if (all && n_bytes > all)
			pl->rc = sl__fail(
				pl->err, SL_E_NOMEM,
				"out of memory: its output '%.200s' takes %.4g "
				"GB, and there are %.1f GB in all",
				pl->graph->values[value].name,
				(double)n_bytes / 1e9, (double)all / 1e9);
	}
}

static void
make_node(struct sl__planner *pl, uint32_t id)
{
	const struct sl__node *node = &pl->graph->nodes[id];
	size_t mark = sl__dnnl_context_mark(pl->program->dnnl);

	pl->node = id;
	pl->is_counted = 0;
	if (sl__is_op(node, SL__OP_ONNX_Constant) &&
	    pl->graph->values[node->outputs[0]].tensor)
		return;
	check_outputs(pl, node);
	if (pl->rc) {
		(void)sl__error_prefix_node_name(pl->err, pl->rc, node);
		return;
	}
	/* A node that cannot be run is no failure where it is not reached. */
	if (pl->n_branches && (!node->op || node->op->ref == sl__ref_none))
		sl__plan_dynamic(pl, id);
	else if (!node->op)
		pl->rc = sl__fail(pl->err, SL_E_ABSENT,
				  "the operator %.60s%s%.60s is not known",
				  node->domain, node->domain[0] ? "." : "",
				  node->type);
	else if (sl__plan_node_is_static(pl, node))
		make_static(pl, node);
	else if (sl__plan_can_branch(pl, node))
		sl__plan_branch(pl, node);
	else if (sl__plan_can_loop(pl, node))
		sl__plan_loop(pl, node);
	else
		sl__plan_dynamic(pl, id);
	consume(pl, node);
	rewind_to(pl, mark);
	(void)sl__error_prefix_node_name(pl->err, pl->rc, node);
}

void
sl__lower_block(struct sl__planner *pl, uint32_t block)
{
	const struct sl__block *b = &pl->graph->blocks[block];

	for (size_t i = 0; !pl->rc && i < b->n_nodes; i++) {
		if (sl__planner_keep_status(
			    pl, sl__check_interrupt(pl->options->interrupt,
						    pl->err)))
			make_node(pl, b->nodes[i]);
	}
}

void
sl__lower(struct sl__planner *pl)
{
	count_uses(pl);
	take_inputs(pl);
	sl__lower_block(pl, 0);
	give_outputs(pl);
	rewind_to(pl, 0);
}
