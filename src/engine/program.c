/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - a program's last steps before it runs, its run, its end. */
#include "program.h"
#include "dnnl_form.h"
#include "pages.h"
#include "parallel.h"
#include "status.h"

#include "banned.h"

/* Puts the step's name before a failure; the evaluator names its node
 * itself. */
static enum sl_status
within_step(const struct sl__program *p, const struct sl__step *step,
	    enum sl_status rc, struct sl_error *err)
{
	if (step->path == SL_PATH_STEPWISE)
		return rc;
	if (step->node == SL__NONE)
		return sl__within(err, rc, step->name);
	return sl__within_node(err, rc, &p->graph->nodes[step->node]);
}

static enum sl_status
run_steps(struct sl__program *p, struct sl_error *err)
{
	size_t i = 0;

	while (i < p->n_steps) {
		struct sl__step *step = &p->steps[i];
		enum sl_status rc = step->run(step, err);

		if (rc)
			return within_step(p, step, rc, err);
		i = step->jumps ? step->target : i + 1;
	}
	return SL_OK;
}

enum sl_status
sl__program_run(struct sl__program *p, struct sl_error *err)
{
	int before = sl__parallel_set(p->n_threads);
	enum sl_status rc = run_steps(p, err);

	sl__parallel_set(before);
	return rc;
}

void
sl__program_free(struct sl__program *p)
{
	struct sl_allocator allocator;

	if (!p)
		return;
	for (size_t i = 0; i < p->n_steps; i++) {
		if (p->steps[i].release)
			p->steps[i].release(&p->steps[i]);
	}
	sl__dnnl_free(p->dnnl);
	sl__evaluator_free(p->evaluator);
	sl__shapes_free(p->shapes);
	sl_graph_free((struct sl_graph *)(uintptr_t)p->graph);
	sl__pages_free(p->pages);
	allocator = p->arena.allocator;
	sl__arena_release(&p->arena);
	sl__release(&allocator, p);
}
