/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - a program's last steps before it runs, its run, its end. */
#include "engine/program.h"
#include "base/clock.h"
#include "base/status.h"
#include "engine/dnnl_context.h"
#include "engine/parallel.h"
#include "engine/observer.h"

#include "base/banned.h"

/* Puts the step's name before a failure; the evaluator names its node
 * itself. */
static enum sl_status
within_step(const struct sl__program *p, const struct sl__step *step,
	    enum sl_status rc, struct sl_error *err)
{
	if (step->path == SL_PATH_STEPWISE)
		return rc;
	if (step->node == SL__NONE)
		return sl__error_prefix(err, rc, step->name);
	return sl__error_prefix_node_name(err, rc,
					  &p->graph->nodes[step->node]);
}

/* The work of the steps before the next one to run, which a jump may leave
 * out. */
static size_t
next_step(struct sl__program *p, const struct sl__step *step, size_t i)
{
	if (!step->jumps)
		return i + 1;
	for (size_t k = i + 1; k < step->target; k++) {
		p->work_flops -= (double)p->steps[k].executed_flops;
		p->work_bytes -= (double)p->steps[k].n_bytes;
	}
	return step->target;
}

/* One loop, recorded or not, so that recording changes nothing but the marks:
 * where on the stack kernels run is felt in their time. */
static enum sl_status
run_steps(struct sl__program *p, struct sl__event_buffer *events,
	  struct sl_error *err)
{
	struct sl__timestamp *mark = events ? events->stamps : NULL;
	size_t left_out =
		events && events->is_sparse ? SL__TIMESTAMPS_SPARSE - 1 : 0;
	size_t i = 0;

	while (i < p->n_steps) {
		struct sl__step *step = &p->steps[i];
		enum sl_status rc = sl__check_interrupt(p->interrupt, err);

		if (rc)
			return rc;
		if (mark && !(i & left_out)) {
			mark->step = (uint32_t)i;
			mark++->ticks = sl__ticks_read(events->clock);
		}
		rc = step->run(step, err);
		if (rc)
			return within_step(p, step, rc, err);
		i = next_step(p, step, i);
	}
	if (mark) {
		mark->step = SL__NONE;
		mark++->ticks = sl__ticks_read(events->clock);
		events->n_stamps = (size_t)(mark - events->stamps);
	}
	return SL_OK;
}

enum sl_status
sl__run_step(struct sl__program *p, size_t i, struct sl_error *err)
{
	struct sl__step *step = &p->steps[i];
	enum sl_status rc = step->run(step, err);

	return rc ? within_step(p, step, rc, err) : SL_OK;
}

static enum sl_status
intercept_steps(struct sl__program *p,
		const struct sl__interceptor *interceptor, struct sl_error *err)
{
	size_t i = 0;

	while (i < p->n_steps) {
		const struct sl__step *step = &p->steps[i];
		enum sl_status rc = sl__check_interrupt(p->interrupt, err);

		if (!rc)
			rc = interceptor->around(p, i, interceptor->ctx, err);
		if (rc)
			return rc;
		i = next_step(p, step, i);
	}
	return SL_OK;
}

enum sl_status
sl__program_run(struct sl__program *p, const struct sl__observer *observer,
		struct sl_error *err)
{
	/* Whoever calls, kernels find the stack at the same place in its page:
	 * how it lies to their data is felt in their time. */
	_Alignas(4096) volatile unsigned char anchor = 0;
	int before = sl__parallel_set_threads(p->n_threads);
	enum sl_status rc;

	(void)anchor;
	p->work_flops = p->all_flops;
	p->work_bytes = p->all_bytes;
	if (observer->interceptor)
		rc = intercept_steps(p, observer->interceptor, err);
	else
		rc = run_steps(p, observer->events, err);
	sl__parallel_set_threads(before);
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
	sl__dnnl_context_free(p->dnnl);
	sl__evaluator_free(p->evaluator);
	sl__shapes_free(p->shapes);
	sl_graph_free((struct sl_graph *)(uintptr_t)p->graph);
	if (p->block)
		sl__pages_free_last(p->weights->pages, p->block);
	sl__plan_weights_free(p->weights);
	allocator = p->arena.allocator;
	sl__arena_release(&p->arena);
	sl__allocator_free(&allocator, p);
}
