/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twin_plan.c - another plan of a model, its steps paired with the first's.
 *
 * What a step is asked under another condition that a plan fixes when it is
 * made (threads, batch) is asked of a second plan: of that step which does the
 * same node.
 */
#include "experiment/twin_plan.h"
#include "base/status.h"
#include "engine/dnnl_choice.h"

#include <string.h>

#include "base/banned.h"

/* Bytes of weights, and of activations, that a plan beside another may have. */
static const uint64_t BYTES_MOST = 2000000000;

/* The step of the twin that does what step i of the other does: the same node,
 * and as many of that name before it. */
static size_t
counterpart(const struct sl__program *all, const struct sl__program *twin,
	    size_t i)
{
	const struct sl__step *s = &all->steps[i];
	size_t nth = 0;

	for (size_t k = 0; k < i; k++)
		nth += all->steps[k].node == s->node &&
		       !strcmp(all->steps[k].name, s->name);
	for (size_t k = 0; k < twin->n_steps; k++) {
		const struct sl__step *t = &twin->steps[k];

		if (t->node == s->node && !strcmp(t->name, s->name) && !nth--)
			return k;
	}
	return SIZE_MAX;
}

/* Lists with nothing in them. */
static enum sl_status
make_lists(struct sl__twin *t, size_t n, struct sl__arena *arena,
	   struct sl_error *err)
{
	size_t n_steps = t->plan ? t->plan->current->n_steps : 0;

	t->steps = sl__arena_array(arena, n + 1, sizeof(*t->steps));
	t->is_same = sl__arena_array(arena, n + 1, sizeof(*t->is_same));
	t->slot_of = sl__arena_array(arena, n_steps + 1, 1);
	if (!t->steps || !t->is_same || !t->slot_of)
		return sl__fail_nomem(err);
	memset(t->slot_of, SL__TWIN_NONE, n_steps + 1);
	for (size_t i = 0; i < n; i++)
		t->steps[i] = SIZE_MAX;
	return SL_OK;
}

/* Steps of which the twin has one; where it does another amount of work for
 * the same samples it is another step. */
static void
pair(struct sl__twin *t, const struct sl__twin_options *how, int is_scaled)
{
	const struct sl__program *all = how->of->plan->current;
	const struct sl__program *twin = t->plan->current;

	for (size_t i = 0; i < how->n; i++) {
		const struct sl__step *a = &all->steps[how->steps[i]], *b;
		size_t k = counterpart(all, twin, how->steps[i]);

		if (k == SIZE_MAX)
			continue;
		b = &twin->steps[k];
		if (!is_scaled && a->nominal_flops != b->nominal_flops)
			continue;
		t->steps[i] = k;
		t->slot_of[k] = (unsigned char)i;
		t->is_same[i] =
			!strcmp(a->kernel, b->kernel) &&
			(is_scaled || a->executed_flops == b->executed_flops);
	}
}

static uint64_t
weight_bytes(const struct sl_plan *plan)
{
	struct sl_plan_memory memory;

	sl_plan_memory(plan, &memory);
	return memory.weight_bytes + memory.mapped_bytes;
}

enum sl_status
sl__twin_single(struct sl__twin *out, const struct sl__twin_options *how,
		struct sl__arena *arena, struct sl_error *err)
{
	struct sl__subject_options subject = how->of->options;
	struct sl_plan_options plan = how->of->how;
	enum sl_status rc = SL_OK;

	memset(out, 0, sizeof(*out));
	if (sl_plan_n_threads(how->of->plan) == 1) {
		out->plan = how->of->plan;
	} else if (weight_bytes(how->of->plan) > BYTES_MOST) {
		out->absent = "a second plan of so large a model would take "
			      "too much memory";
	} else {
		plan.sizes = subject.plan ? subject.plan->sizes : NULL;
		plan.n_threads = 1;
		subject.plan = &plan;
		rc = sl__subject_open(&out->subject, how->of->graph, &subject,
				      err);
		out->plan = out->subject.plan;
	}
	if (!rc)
		rc = make_lists(out, how->n, arena, err);
	if (!rc && out->plan)
		pair(out, how, 0);
	return rc;
}

/* As the first plan has it; 0: the model's sizes leave none open. */
static int64_t
batch_of(const struct sl__subject *s)
{
	uint32_t input;

	if (!sl__shapes_batch_symbol(s->graph))
		return 0;
	input = s->graph->blocks[0].inputs[0];
	return s->plan->current->shapes->types[input].dims[0];
}

/* Whether the user said the sizes of the first input otherwise. */
static int
says_shape(const struct sl__subject *s)
{
	const struct sl_sizes *sizes = s->options.plan ? s->options.plan->sizes
						       : NULL;
	uint32_t input = s->graph->blocks[0].inputs[0];

	for (size_t i = 0; sizes && i < sizes->n_shapes; i++) {
		if (!strcmp(sizes->shapes[i].input,
			    s->graph->values[input].name))
			return 1;
	}
	return 0;
}

static const char *
why_not(const struct sl__twin_options *how, int64_t batch, double plan_ns)
{
	struct sl_plan_memory memory;

	sl_plan_memory(how->of->plan, &memory);
	if (batch < 1)
		return "the model's batch is fixed";
	if (says_shape(how->of))
		return "the batch is said as a shape";
	if (how->of->options.n_inputs)
		return "inputs come from files of their own";
	if (weight_bytes(how->of->plan) > BYTES_MOST ||
	    memory.planned_bytes > BYTES_MOST / 2)
		return "a plan of so large a model for twice the batch would "
		       "take too much memory";
	if (plan_ns > how->plan_s * 1e9)
		return "planning it again would take longer than the "
		       "experiments";
	return NULL;
}

/* What cannot be planned is not there, and the plan's failure says why. */
static enum sl_status
open_doubled(struct sl__twin *out, const struct sl__twin_options *how,
	     int64_t batch, struct sl__arena *arena, struct sl_error *err)
{
	struct sl__subject_options subject = how->of->options;
	struct sl_plan_options plan = how->of->how;
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_error why;
	enum sl_status rc;

	if (subject.plan && subject.plan->sizes)
		sizes = *subject.plan->sizes;
	sizes.batch = 2 * batch;
	plan.sizes = &sizes;
	plan.flags |= SL__PLAN_AS_HALF;
	plan.log = NULL;
	subject.plan = &plan;
	rc = sl__subject_open(&out->subject, how->of->graph, &subject, &why);
	if (rc == SL_E_NOMEM)
		return sl__fail_nomem(err);
	out->plan = out->subject.plan;
	if (!rc)
		return SL_OK;
	out->absent =
		sl__arena_format(arena, "it cannot be planned: %s", why.text);
	return out->absent ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__twin_doubled(struct sl__twin *out, const struct sl__twin_options *how,
		 double plan_ns, struct sl__arena *arena, struct sl_error *err)
{
	int64_t batch = batch_of(how->of);
	enum sl_status rc = SL_OK;

	memset(out, 0, sizeof(*out));
	out->absent = why_not(how, batch, plan_ns);
	if (!out->absent)
		rc = open_doubled(out, how, batch, arena, err);
	if (!rc)
		rc = make_lists(out, how->n, arena, err);
	if (!rc && out->plan)
		pair(out, how, 1);
	return rc;
}

enum sl_status
sl__twin_warm_up(struct sl__twin *twin, int runs, struct sl_error *err)
{
	enum { PAGE = 4096 };
	struct sl_plan *plan = twin->subject.plan;
	volatile unsigned char *block;

	if (!plan)
		return SL_OK;
	if (runs)
		return sl_plan_run(plan, err);
	block = plan->current->block;
	for (uint64_t i = 0; i < plan->current->block_bytes; i += PAGE)
		block[i] = block[i];
	return SL_OK;
}

void
sl__twin_close(struct sl__twin *twin)
{
	sl__subject_close(&twin->subject);
	memset(twin, 0, sizeof(*twin));
}
