/* SPDX-License-Identifier: Apache-2.0 */
/* step_reference.c - a reference kernel as a step, its sizes known. */
#include "base/status.h"
#include "engine/lowering.h"

#include "base/banned.h"

struct reference {
	struct sl__kernel_call call;
	struct sl__runtime_value *data; /* of all inputs, then all outputs */
	const struct sl__runtime_value **inputs;
	struct sl__runtime_value **outputs;
	struct sl__runtime_value *places; /* outputs as they are planned */
	struct sl__arena scratch;
};

/* A kernel that finds other sizes than were planned, because the model says
 * what does not hold, makes storage of its own. */
static enum sl_status
check_outputs(struct reference *r, struct sl_error *err)
{
	const struct sl__node *node = r->call.node;
	struct sl__runtime_value *outputs = r->data + node->n_inputs;
	enum sl_status rc = SL_OK;

	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (!outputs[k].block)
			continue;
		sl__runtime_value_clear(&outputs[k], r->call.allocator);
		outputs[k] = r->places[k];
		rc = sl__fail(err, SL_E_DATA,
			      "output %u has another type or other sizes than "
			      "the model says",
			      k);
	}
	return rc;
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct reference *r = step->state;
	enum sl_status rc = sl__ref_run_kernel(&r->call, err);
	enum sl_status fit = check_outputs(r, rc ? NULL : err);

	sl__arena_clear(&r->scratch);
	return rc ? rc : fit;
}

static void
release(struct sl__step *step)
{
	struct reference *r = step->state;

	sl__arena_release(&r->scratch);
}

static enum sl_status
bind(struct sl__step *step, struct sl_error *err)
{
	struct reference *r = step->state;
	const struct sl__node *node = r->call.node;
	uint32_t at = 0;

	(void)err;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] == SL__NONE)
			continue;
		r->data[i].tensor.bytes = step->at[at++];
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		struct sl__runtime_value *out = &r->data[node->n_inputs + k];

		if (node->outputs[k] == SL__NONE)
			continue;
		out->bytes = step->at[at++];
		out->tensor.bytes = out->bytes;
		r->places[k] = *out;
	}
	return SL_OK;
}

static struct reference *
make_state(struct sl__planner *pl, const struct sl__node *node)
{
	struct reference *r = sl__plan_alloc_state(pl, sizeof(*r));
	size_t n = (size_t)node->n_inputs + node->n_outputs;

	if (!r)
		return NULL;
	r->data = sl__plan_alloc_state(pl, n * sizeof(*r->data));
	r->inputs = sl__plan_alloc_state(pl, n * sizeof(*r->inputs));
	r->outputs = sl__plan_alloc_state(pl, n * sizeof(*r->outputs));
	r->places = sl__plan_alloc_state(pl, n * sizeof(*r->places));
	sl__arena_init(&r->scratch, &pl->program->arena.allocator);
	r->call.node = node;
	r->call.inputs = r->inputs;
	r->call.outputs = r->outputs;
	r->call.scratch = &r->scratch;
	r->call.allocator = &pl->program->arena.allocator;
	return pl->rc ? NULL : r;
}

void
sl__plan_reference(struct sl__planner *pl, const struct sl__node *node)
{
	struct reference *r = make_state(pl, node);
	uint32_t *operands = sl__plan_alloc_state(
		pl, ((size_t)node->n_inputs + node->n_outputs + 1) *
			    sizeof(*operands));
	uint32_t n = 0;
	struct sl__step *step;

	if (pl->rc)
		return;
	if (node->op->ref == sl__ref_none) {
		pl->rc = sl__fail(pl->err, SL_E_ABSENT, "%s%s%s cannot be run",
				  node->domain, node->domain[0] ? "." : "",
				  node->type);
		return;
	}
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] == SL__NONE)
			continue;
		operands[n++] =
			sl__plan_input_buffer(pl, node->inputs[i], NULL);
		sl__plan_describe_value(pl, node->inputs[i], &r->data[i]);
		r->inputs[i] = &r->data[i];
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		struct sl__runtime_value *content =
			&r->data[node->n_inputs + k];

		if (node->outputs[k] == SL__NONE)
			continue;
		operands[n++] =
			sl__plan_output_buffer(pl, node->outputs[k], NULL);
		sl__plan_describe_value(pl, node->outputs[k], content);
		r->outputs[k] = content;
	}
	step = sl__plan_add_step(pl, operands, n, "reference", run, r);
	step->path = SL_PATH_REFERENCE;
	step->bind = bind;
	step->release = release;
}
