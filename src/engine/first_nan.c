/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_nan.c - where the first number came from that is none.
 *
 * Inputs and states are looked at first; if these are numbers, the training
 * step is run again, which changes no state, and after each step of the plan
 * the values that it has written are.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "engine/observer.h"
#include "engine/training_plan.h"

#include <math.h>

#include "base/banned.h"

struct search {
	size_t step; /* SIZE_MAX: none yet */
};

static int
has_nan(const void *bytes, uint64_t n_bytes)
{
	const float *x = bytes;

	for (uint64_t i = 0; i < n_bytes / sizeof(*x); i++) {
		if (isnan(x[i]))
			return 1;
	}
	return 0;
}

static enum sl_status
look(struct sl__program *program, size_t i, void *ctx, struct sl_error *err)
{
	struct search *search = ctx;
	enum sl_status rc = sl__run_step(program, i, err);

	if (rc || search->step != SIZE_MAX)
		return rc;
	for (const struct sl__buffer_label *l = program->labels; l;
	     l = l->next) {
		const struct sl__buffer *buffer = &program->buffers[l->buffer];

		if (l->step == i && buffer->data &&
		    program->shapes->types[l->value].dtype == SL_DTYPE_F32 &&
		    has_nan(buffer->data, buffer->n_bytes))
			search->step = i;
	}
	return SL_OK;
}

/* What the step starts from; SL__NONE: all of it is numbers. */
static uint32_t
find_input(struct sl__training_plan *p)
{
	const struct sl_graph *graph = p->training->graph;
	const struct sl__block *main = &graph->blocks[0];
	struct sl_array array;

	for (size_t i = 0; i < main->n_inputs; i++) {
		const char *name = graph->values[main->inputs[i]].name;

		if (!sl_plan_input(p->plan, name, &array, NULL, NULL) &&
		    array.dtype == SL_DTYPE_F32 &&
		    has_nan(array.data, array.n_bytes))
			return main->inputs[i];
	}
	return SL__NONE;
}

enum sl_status
sl__training_plan_fail_nan(struct sl__training_plan *p, struct sl_error *err)
{
	const struct sl_graph *graph = p->training->graph;
	struct search search = {SIZE_MAX};
	const struct sl__interceptor interceptor = {look, &search};
	uint32_t input = find_input(p);
	const struct sl__node *node;
	struct sl_step step;
	enum sl_status rc;

	if (input != SL__NONE)
		return sl__fail(
			err, SL_E_DATA,
			"the loss is not a number: %s '%.200s' holds NaN",
			graph->values[input].kind == SL_VALUE_STATE
				? "after the update before it,"
				: "input",
			graph->values[input].name);
	rc = sl__plan_intercept(p->plan, &interceptor, err);
	if (rc)
		return rc;
	if (search.step == SIZE_MAX ||
	    !sl_plan_step(p->plan, search.step, &step) || !step.n_covers)
		return sl__fail(err, SL_E_DATA, "the loss is not a number");
	node = &graph->nodes[step.covers[0]];
	return sl__fail(err, SL_E_DATA,
			"the loss is not a number: the first NaN comes from "
			"%.60s '%.200s' of the %s phase",
			node->type, node->name, sl_phase_text(node->phase));
}
