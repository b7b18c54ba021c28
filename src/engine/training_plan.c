/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_plan.c - training steps of a model, planned and run.
 *
 * Updates write states where they lie (native_update.c).  What else a step
 * renews is copied from outputs to inputs after it: counts, statistics, and
 * all of it where the reference kernels run.
 */
#include "engine/training_plan.h"
#include "base/status.h"
#include "engine/compile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__training_plan_state(struct sl__training_plan *p, size_t i,
			struct sl_array *out, void **data, struct sl_error *err)
{
	const struct sl__training_graph *t = p->training;

	return sl_plan_input(p->plan, t->graph->values[t->states[i].old].name,
			     out, data, err);
}

/* An input as it starts: from a tensor, or zeros. */
static enum sl_status
set_initial(struct sl__training_plan *p, size_t i, struct sl_error *err)
{
	const struct sl__training_state *state = &p->training->states[i];
	struct sl_array array;
	const void *from;
	void *data;
	enum sl_status rc = sl__training_plan_state(p, i, &array, &data, err);

	if (rc)
		return rc;
	if (!state->initial) {
		memset(data, 0, (size_t)array.n_bytes);
		return SL_OK;
	}
	from = sl__tensor_byte_range(state->initial, 0, (size_t)array.n_bytes,
				     data);
	if (!from)
		return sl__fail(err, SL_E_DATA,
				"the numbers of '%.200s' cannot be had",
				p->training->graph->values[state->old].name);
	if (from != data)
		memcpy(data, from, (size_t)array.n_bytes);
	return SL_OK;
}

static enum sl_status
make_graph(struct sl__training_plan *p, const struct sl_graph *model,
	   const struct sl_sizes *sizes,
	   const struct sl__training_options *training, struct sl_error *err)
{
	struct sl__shapes_options options = {.sizes = sizes};
	struct sl__shapes *shapes;
	enum sl_status rc = sl__shapes_new(&shapes, model, &options, err);

	if (rc)
		return rc;
	rc = sl__training_graph_new(&p->training, model, shapes, training, err);
	sl__shapes_free(shapes);
	return rc;
}

enum sl_status
sl__training_plan_new(struct sl__training_plan **out,
		      const struct sl_graph *model,
		      const struct sl_sizes *sizes,
		      const struct sl__training_options *training,
		      const struct sl_plan_options *options,
		      struct sl_error *err)
{
	struct sl__training_plan *p = sl__allocator_alloc(NULL, sizeof(*p));
	struct sl_plan_options how = *options;
	enum sl_status rc;

	how.flags |= SL__PLAN_TRAINS;
	*out = NULL;
	if (!p)
		return sl__fail_nomem(err);
	memset(p, 0, sizeof(*p));
	rc = make_graph(p, model, sizes, training, err);
	if (!rc)
		rc = sl_plan_new(&p->plan, p->training->graph, &how, err);
	for (size_t i = 0;
	     !rc && i < p->training->n_states && !(how.flags & SL__PLAN_DRY);
	     i++)
		rc = set_initial(p, i, err);
	if (rc) {
		sl__training_plan_free(p);
		return rc;
	}
	*out = p;
	return SL_OK;
}

void
sl__training_plan_free(struct sl__training_plan *p)
{
	if (!p)
		return;
	sl_plan_free(p->plan);
	sl__training_graph_free(p->training);
	sl__allocator_free(NULL, p);
}

enum sl_status
sl__training_plan_value(struct sl__training_plan *p, uint32_t value,
			struct sl__tensor *out, struct sl_error *err)
{
	const struct sl__block *main = &p->training->graph->blocks[0];
	struct sl__runtime_value found;
	enum sl_status rc;

	for (size_t k = 0; k < main->n_outputs; k++) {
		if (main->outputs[k] != value)
			continue;
		rc = sl__plan_output_value(p->plan, k, &found, err);
		if (!rc)
			*out = found.tensor;
		return rc;
	}
	return sl__fail(err, SL_E_USAGE, "'%.200s' is not kept",
			p->training->graph->values[value].name);
}

static enum sl_status
renew(struct sl__training_plan *p, size_t i, struct sl_error *err)
{
	const struct sl__training_state *state = &p->training->states[i];
	struct sl__tensor from;
	struct sl_array array;
	void *data;
	enum sl_status rc;

	if (state->renewed == SL__NONE)
		return SL_OK;
	rc = sl__training_plan_value(p, state->renewed, &from, err);
	if (!rc)
		rc = sl__training_plan_state(p, i, &array, &data, err);
	if (!rc && data != from.bytes)
		memcpy(data, from.bytes, (size_t)array.n_bytes);
	return rc;
}

enum sl_status
sl__training_plan_set_rate(struct sl__training_plan *p, double rate,
			   struct sl_error *err)
{
	struct sl_array array;
	void *data;
	enum sl_status rc;

	if (p->training->rate == SL__NONE)
		return SL_OK;
	rc = sl_plan_input(p->plan,
			   p->training->graph->values[p->training->rate].name,
			   &array, &data, err);
	if (!rc)
		sl__store_doubles(data, array.dtype, 0, 1, &rate);
	return rc;
}

static enum sl_status
fail_nan(struct sl__training_plan *p, struct sl_error *err)
{
	char step[32];

	snprintf(step, sizeof(step), "step %llu",
		 (unsigned long long)p->n_steps + 1);
	return sl__error_prefix(err, sl__training_plan_fail_nan(p, err), step);
}

enum sl_status
sl__training_plan_step(struct sl__training_plan *p, double rate, double *loss,
		       struct sl__event_buffer *events, struct sl_error *err)
{
	struct sl__tensor found;
	double value = 0;
	enum sl_status rc = sl__training_plan_set_rate(p, rate, err);

	if (!rc)
		rc = events ? sl__plan_record(p->plan, events, err)
			    : sl_plan_run(p->plan, err);
	if (!rc)
		rc = sl__training_plan_value(p, p->training->loss, &found, err);
	if (rc)
		return rc;
	if (!sl__tensor_doubles(&found, 0, 1, &value) || isnan(value))
		return fail_nan(p, err);
	for (size_t i = 0; !rc && i < p->training->n_states; i++)
		rc = renew(p, i, err);
	p->n_steps += !rc;
	if (loss)
		*loss = value;
	return rc;
}
