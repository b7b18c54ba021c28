/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_own_trial.c - one node on an own kernel, as a program to be timed. */
#include "engine/dnnl_own_trial.h"
#include "base/status.h"
#include "engine/compile.h"
#include "engine/dnnl_context.h"

#include <string.h>

#include "base/banned.h"

/* 0.0115 as f32: sums stay in range, nothing is 0. */
enum { SMALL_NUMBER = 0x3c };

enum sl_status
sl__own_trial_begin(struct sl__own_trial *t, const struct sl__planner *of,
		    struct sl_error *err)
{
	const struct sl_allocator *allocator = of->options->allocator;
	struct sl__program *p = sl__allocator_alloc(allocator, sizeof(*p));
	enum sl_status rc;

	memset(t, 0, sizeof(*t));
	if (!p)
		return sl__fail_nomem(err);
	memset(p, 0, sizeof(*p));
	sl__arena_init(&p->arena, allocator);
	p->graph = of->graph;
	p->covers = of->program->covers;
	p->shapes = of->shapes;
	p->evaluator = of->program->evaluator;
	p->n_threads = of->program->n_threads;
	t->options = *of->options;
	t->options.flags |= SL__PLAN_DRY;
	t->planner = (struct sl__planner){.program = p,
					  .graph = of->graph,
					  .shapes = of->shapes,
					  .options = &t->options,
					  .dtype = of->dtype,
					  .costs = of->costs,
					  .n_coverers = of->n_coverers,
					  .err = err};
	t->planner.held = sl__arena_array(&p->arena, of->graph->n_values,
					  sizeof(*t->planner.held));
	if (!t->planner.held)
		return sl__fail_nomem(err);
	rc = sl__plan_weights_new(&p->weights, of->program->weights->graph,
				  allocator, err);
	if (rc)
		return rc;
	sl__plan_weights_isolate(p->weights);
	return sl__dnnl_context_new(&p->dnnl, &p->arena, err);
}

void
sl__own_trial_add_input(struct sl__own_trial *t, uint32_t value,
			const struct sl__layout *layout, int is_last)
{
	struct sl__planned_value *held = &t->planner.held[value];

	if (held->n_versions || t->planner.graph->values[value].tensor)
		return;
	held->uses_left = is_last ? 1 : 2;
	(void)sl__plan_output_buffer(&t->planner, value, layout);
}

/* Memory that nothing was written to may be one page, many times. */
static void
fill(struct sl__program *p)
{
	memset(p->block, SMALL_NUMBER, (size_t)p->block_bytes);
	for (size_t i = 0; i < p->n_buffers; i++) {
		struct sl__buffer *b = &p->buffers[i];

		if (b->category == SL__CATEGORY_CONSTANT && b->base == i &&
		    !b->is_stored)
			memset(b->data, SMALL_NUMBER, (size_t)b->n_bytes);
	}
}

int
sl__own_trial_finish(struct sl__own_trial *t, const struct sl__node *node,
		     sl__kernel_plan_function *make,
		     const struct sl__layout *layout)
{
	struct sl__planner *pl = &t->planner;

	pl->node = (uint32_t)(node - pl->graph->nodes);
	pl->held[node->outputs[0]].uses_left = 1;
	if (!make(pl, node) || pl->rc)
		return 0;
	(void)sl__plan_input_buffer(pl, node->outputs[0], layout);
	if (pl->rc || !sl__planner_keep_status(
			      pl, sl__program_settle(pl->program, pl->err)))
		return 0;
	fill(pl->program);
	return 1;
}

void
sl__own_trial_release(struct sl__own_trial *t)
{
	struct sl__program *p = t->planner.program;

	if (!p)
		return;
	p->graph = NULL;
	p->shapes = NULL;
	p->evaluator = NULL;
	sl__program_free(p);
	t->planner.program = NULL;
}
