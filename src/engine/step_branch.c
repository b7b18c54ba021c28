/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_branch.c - If, its condition known only when it runs.
 *
 * Both branches become steps of the program, one after the other, with jumps
 * around them; each ends by handing its outputs over: it copies them to where
 * the If's are or, where the branches' sizes differ, lends them to the
 * evaluator, which runs whatever follows.  What a branch brings into another
 * layout is forgotten at its end: the other path does not have it.
 */
#include "base/status.h"
#include "engine/lowering.h"
#include "graph/body.h"

#include <string.h>

#include "base/banned.h"

int
sl__plan_can_branch(const struct sl__planner *pl, const struct sl__node *node)
{
	static const char *const names[] = {"then_branch", "else_branch"};

	if (!sl__is_op(node, SL__OP_ONNX_If) ||
	    !sl__plan_is_static(pl, node->inputs[0]) ||
	    sl__plan_value_n_elements(pl, node->inputs[0]) != 1)
		return 0;
	for (int i = 0; i < 2; i++) {
		uint32_t block = sl__node_body_by_name(node, names[i]);

		if (block == SL__NONE ||
		    pl->graph->blocks[block].n_outputs != node->n_outputs)
			return 0;
	}
	return 1;
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

/* An output of a branch on its way to the If's. */
struct handover {
	struct sl__evaluator *evaluator;
	uint32_t from, to;               /* values */
	struct sl__runtime_value source; /* of a tensor that is planned, whose
					    operand comes first */
	struct sl__runtime_value target; /* likewise, the last operand */
};

static enum sl_status
run_handover(struct sl__step *step, struct sl_error *err)
{
	struct handover *h = step->state;
	struct sl__evaluator *ev = h->evaluator;
	const struct sl__runtime_value *made = &h->source;
	const struct sl__tensor *want = &h->target.tensor;
	enum sl_status rc = SL_OK;

	if (made->kind == SL__TYPE_UNKNOWN)
		rc = sl__evaluator_value(ev, h->from, &made, err);
	if (rc)
		return rc;
	if (h->target.kind == SL__TYPE_UNKNOWN && made == &h->source) {
		sl__evaluator_set_tensor(ev, h->to, &made->tensor);
		return SL_OK;
	}
	if (h->target.kind == SL__TYPE_UNKNOWN)
		return sl__runtime_value_copy(&ev->values[h->to], made,
					      &ev->allocator, err);
	if (made->kind != SL__TYPE_TENSOR ||
	    !sl__tensor_has_type_of(&made->tensor, want))
		return sl__fail(err, SL_E_DATA,
				"output '%.200s' has another type or other "
				"sizes than the model says",
				ev->graph->values[h->to].name);
	if (want->n_bytes)
		memcpy(h->target.bytes, made->tensor.bytes,
		       (size_t)want->n_bytes);
	return SL_OK;
}

static enum sl_status
bind_handover(struct sl__step *step, struct sl_error *err)
{
	struct handover *h = step->state;

	(void)err;
	if (h->source.kind != SL__TYPE_UNKNOWN)
		h->source.tensor.bytes = step->at[0];
	if (h->target.kind != SL__TYPE_UNKNOWN)
		h->target.bytes = step->at[step->n_operands - 1];
	return SL_OK;
}

/* Where a tensor lies that the evaluator uses until the run ends, and the
 * caller after it: not where it would be written over. */
static uint32_t
lasting_buffer(struct sl__planner *pl, uint32_t value)
{
	struct sl__buffer *buffers;
	uint32_t from = sl__plan_input_buffer(pl, value, NULL), to = from;

	if (pl->rc)
		return from;
	buffers = pl->program->buffers;
	if (buffers[buffers[from].base].category == SL__CATEGORY_INPUT) {
		to = sl__plan_output_buffer(pl, value, NULL);
		sl__plan_copy(pl, from, to, sl__plan_value_bytes(pl, value));
	}
	buffers = pl->program->buffers;
	if (!pl->rc &&
	    buffers[buffers[to].base].category == SL__CATEGORY_ACTIVATION)
		buffers[buffers[to].base].category = SL__CATEGORY_OUTPUT;
	return to;
}

/* 'to' is the buffer of the If's output; SL__NONE: the evaluator's. */
static void
hand_over(struct sl__planner *pl, uint32_t value, uint32_t output, uint32_t to)
{
	struct handover *h = sl__plan_alloc_state(pl, sizeof(*h));
	uint32_t operands[2], n = 0;
	struct sl__step *step;

	if (!h)
		return;
	h->evaluator = pl->program->evaluator;
	h->from = value;
	h->to = output;
	if (sl__plan_is_static(pl, value)) {
		sl__plan_describe_value(pl, value, &h->source);
		operands[n++] =
			to == SL__NONE ? lasting_buffer(pl, value)
				       : sl__plan_input_buffer(pl, value, NULL);
	}
	if (to != SL__NONE) {
		sl__plan_describe_value(pl, output, &h->target);
		operands[n++] = to;
	}
	if (n == 2 &&
	    sl__tensor_has_type_of(&h->source.tensor, &h->target.tensor)) {
		sl__plan_copy(pl, operands[0], to, h->target.tensor.n_bytes);
		return;
	}
	pl->program->is_stepwise = 1;
	step = sl__plan_add_step(pl, operands, n, "hand over", run_handover, h);
	step->bind = bind_handover;
}

static void
add_body(struct sl__planner *pl, const struct sl__node *node, const char *name,
	 const uint32_t *outputs)
{
	uint32_t block = sl__node_body_by_name(node, name);
	const struct sl__block *b = &pl->graph->blocks[block];
	uint32_t owner = pl->node;
	int is_counted = pl->is_counted;
	int is_stepwise = pl->program->is_stepwise;
	int is_misfit = !pl->shapes->block_calls[block];
	size_t noted = pl->n_journal;

	pl->n_branches++;
	/* A branch that does not fit the sizes of what it uses: the evaluator
	 * says so where it is taken all the same. */
	if (is_misfit)
		sl__plan_dynamic_block(pl, block);
	else
		sl__lower_block(pl, block);
	pl->node = owner;
	pl->is_counted = is_counted;
	for (uint32_t k = 0; !pl->rc && k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			hand_over(pl, b->outputs[k], node->outputs[k],
				  outputs[k]);
	}
	pl->n_branches--;
	if (is_misfit)
		pl->program->is_stepwise = is_stepwise;
	sl__plan_forget_versions(pl, noted);
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
		uint32_t value = node->outputs[k];

		outputs[k] = SL__NONE;
		if (value == SL__NONE)
			continue;
		if (sl__plan_is_static(pl, value))
			outputs[k] = sl__plan_output_buffer(pl, value, NULL);
		else
			pl->held[value].is_dynamic = 1;
	}
	add_body(pl, node, "then_branch", outputs);
	jump = add_jump(pl, run_jump, NULL);
	if (pl->rc)
		return;
	p->steps[branch].target = p->n_steps;
	add_body(pl, node, "else_branch", outputs);
	p->steps[jump].target = p->n_steps;
}
