/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - a program's last steps before it runs, its run, its end. */
#include "engine/program.h"
#include "base/clock.h"
#include "base/poison.h"
#include "base/status.h"
#include "compute/parallel.h"
#include "engine/dnnl_context.h"
#include "engine/observer.h"
#include "engine/sized_nodes.h"

#include <string.h>

#include "base/banned.h"

/* Puts the step's name before a failure; the evaluator names its node itself,
 * and the body of a loop has done so. */
static enum sl_status
within_step(const struct sl__program *p, const struct sl__step *step,
	    enum sl_status rc, struct sl_error *err)
{
	if (step->path == SL_PATH_STEPWISE || step->target)
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

static void
add_stamp(struct sl__event_buffer *events, uint32_t step)
{
	uint64_t ticks = sl__ticks_read(events->clock);

	events->n_readings++;
	if (events->n_stamps == events->cap)
		return;
	events->stamps[events->n_stamps++] =
		(struct sl__timestamp){ticks - events->paused_ticks, step, 1};
}

/* Runs a step.  Under AddressSanitizer the step may touch no buffers but those
 * that it names, each up to its end: all lie in one block. */
#ifdef SL_ASAN
/* Where the evaluator takes part it may hold what lasts, from a step before. */
static int
is_held(const struct sl__program *p, const struct sl__buffer *b)
{
	return p->is_stepwise && (b->category == SL__CATEGORY_INPUT ||
				  b->category == SL__CATEGORY_OUTPUT);
}

static void
open_buffer(const struct sl__program *p, const struct sl__buffer *b)
{
	const struct sl__buffer *base = &p->buffers[b->base];

	if (base->category != SL__CATEGORY_CONSTANT)
		SL__UNPOISON(base->data, base->n_bytes);
}

static enum sl_status
run_step(const struct sl__program *p, struct sl__step *step,
	 struct sl_error *err)
{
	enum sl_status rc;

	SL__POISON(p->block, p->block_bytes);
	for (uint32_t k = 0; k < step->n_operands; k++)
		open_buffer(p, &p->buffers[step->operands[k]]);
	for (size_t i = 0; i < p->n_buffers; i++) {
		if (is_held(p, &p->buffers[i]))
			open_buffer(p, &p->buffers[i]);
	}
	rc = step->run(step, err);
	SL__UNPOISON(p->block, p->block_bytes);
	return rc;
}
#else
#define run_step(p, step, err) (step)->run(step, err)
#endif

/* One loop, recorded or not, so that recording changes nothing but the marks:
 * where on the stack kernels run is felt in their time. */
static enum sl_status
run_range(struct sl__program *p, size_t i, size_t end, struct sl_error *err)
{
	struct sl__event_buffer *events = p->events;
	size_t left_out =
		events && events->is_sparse ? SL__TIMESTAMPS_SPARSE - 1 : 0;

	while (i < end) {
		struct sl__step *step = &p->steps[i];
		enum sl_status rc = sl__check_interrupt(p->interrupt, err);

		if (rc)
			return rc;
		if (events && !(i & left_out))
			add_stamp(events, (uint32_t)i);
		rc = run_step(p, step, err);
		if (rc)
			return within_step(p, step, rc, err);
		i = next_step(p, step, i);
	}
	return SL_OK;
}

static enum sl_status
run_steps(struct sl__program *p, struct sl__event_buffer *events,
	  struct sl_error *err)
{
	enum sl_status rc;

	if (events)
		events->n_stamps = events->n_readings = events->paused_ticks =
			0;
	p->events = events;
	rc = run_range(p, 0, p->n_steps, err);
	p->events = NULL;
	if (!rc && events)
		add_stamp(events, SL__NONE);
	return rc;
}

void
sl__program_enter_body(const struct sl__program *p, struct sl__body_run *body,
		       size_t first, size_t end)
{
	body->first = first;
	body->end = end;
	body->n_stamps = p->events ? p->events->n_stamps : 0;
}

/* Starts of n steps, the last of which ends at 'end', into times, or back. */
static void
make_spans(struct sl__timestamp *stamps, size_t n, uint64_t end)
{
	for (size_t i = 0; i < n; i++)
		stamps[i].ticks = (i + 1 < n ? stamps[i + 1].ticks : end) -
				  stamps[i].ticks;
}

static void
make_starts(struct sl__timestamp *stamps, size_t n, uint64_t start)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t span = stamps[i].ticks;

		stamps[i].ticks = start;
		start += span;
	}
}

/* Adds the spans of the stamps from number 'n' on to those before it, both in
 * the order of steps; of a step that is new there the stamp moves there. */
static size_t
merge_spans(struct sl__timestamp *stamps, size_t n, size_t n_all)
{
	size_t at = 0;

	for (size_t i = n; i < n_all; i++) {
		struct sl__timestamp new = stamps[i];

		while (at < n && stamps[at].step < new.step)
			at++;
		if (at < n && stamps[at].step == new.step) {
			stamps[at].ticks += new.ticks;
			stamps[at].n_calls += new.n_calls;
			continue;
		}
		memmove(stamps + at + 1, stamps + at,
			(n - at) * sizeof(*stamps));
		stamps[at] = new;
		n++;
	}
	return n;
}

/* The run that began with stamp number 'begin' into those before it.  The next
 * stamp is a reading too many: what one takes is left out with the rest. */
static void
add_up(struct sl__event_buffer *events, size_t first, size_t begin)
{
	struct sl__timestamp *stamps = events->stamps + first;
	size_t n = begin - first, n_all = events->n_stamps - first;
	uint64_t ticks = sl__ticks_read(events->clock);
	uint64_t start = stamps[0].ticks, done, after;

	make_spans(stamps, n_all, ticks - events->paused_ticks);
	n = merge_spans(stamps, n, n_all);
	make_starts(stamps, n, start);
	events->n_stamps = first + n;
	done = sl__ticks_read(events->clock);
	after = sl__ticks_read(events->clock);
	events->paused_ticks += after - ticks + (after - done);
}

enum sl_status
sl__program_run_body(struct sl__program *p, const struct sl__body_run *body,
		     struct sl_error *err)
{
	struct sl__event_buffer *events = p->events;
	size_t begin = events ? events->n_stamps : 0;
	enum sl_status rc = run_range(p, body->first, body->end, err);

	if (!rc && events && begin > body->n_stamps && events->n_stamps > begin)
		add_up(events, body->n_stamps, begin);
	return rc;
}

enum sl_status
sl__run_step(struct sl__program *p, size_t i, struct sl_error *err)
{
	struct sl__step *step = &p->steps[i];
	enum sl_status rc = run_step(p, step, err);

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
	sl__sized_nodes_free(p->sized);
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
