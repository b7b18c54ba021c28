/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterations_scene.h - iterations of a model by a script.
 *
 * Steps take scripted time and readings of the clock 100 ns.  So a bare
 * iteration takes what its steps do, a recorded one a reading more for each
 * mark, and all sums are known.
 */
#ifndef SL_TEST_ITERATIONS_SCENE_H
#define SL_TEST_ITERATIONS_SCENE_H

#include "scripted_plan.h"
#include "experiment/timed_iterations.h"

enum { READING_NS = 100, STEP_NS = 1000000 };

/* An allocator that adds up what is asked of it. */
struct adding {
	uint64_t n_bytes;
	size_t n_requests;
};

static inline void *
adding_alloc(size_t n_bytes, void *ctx)
{
	struct adding *a = ctx;

	a->n_bytes += n_bytes;
	a->n_requests++;
	return malloc(n_bytes);
}

static inline void
adding_release(void *block, void *ctx)
{
	(void)ctx;
	free(block);
}

/* A model ready to run, its script, and iterations of it. */
struct taken {
	struct adding adding;
	struct sl_allocator allocator;
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct scripted_instruments script;
	struct scripted_plan steps;
	struct sl__arena arena;
	struct sl__timed_iterations_options how;
	struct sl__timed_iterations iterations;
	struct sl_progress told[32];
	size_t n_told, interrupt_when_told;
	size_t n_readings; /* when covariates were last read */
};

static inline void
tell(const struct sl_progress *now, void *ctx)
{
	struct taken *t = ctx;

	if (t->n_told < 32)
		t->told[t->n_told] = *now;
	if (++t->n_told == t->interrupt_when_told)
		t->script.time.interrupted = 1;
}

/* Steps of 1 ms, as many rounds as are asked for. */
static inline void
open_model(struct taken *t, size_t n_runs)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE,
				      .allocator = &t->allocator};
	struct sl_error err;

	memset(t, 0, sizeof(*t));
	t->allocator =
		(struct sl_allocator){adding_alloc, adding_release, &t->adding};
	if (sl_graph_open(&t->graph, "mlp:8-6-5-4", NULL, &err) ||
	    sl_plan_new(&t->plan, t->graph, &how, &err) ||
	    sl_plan_fill_inputs(t->plan, 1, &err))
		fail_msg("%s", err.text);
	sl__arena_init(&t->arena, &t->allocator);
	script_instruments(&t->script, READING_NS);
	script_plan(&t->steps, t->plan, &t->script.time, STEP_NS);
	t->steps.is_idle = 1;
	t->how = (struct sl__timed_iterations_options){
		.time_s = 60,
		.precision = 0.01,
		.n_runs = n_runs,
		.seed = 3,
		.control = scripted_control(&t->script, tell, t)};
}

static inline void
close_model(struct taken *t)
{
	drop_script(&t->steps);
	sl__arena_release(&t->arena);
	sl_plan_free(t->plan);
	sl_graph_free(t->graph);
}

static inline const struct sl__timed_iterations *
take(struct taken *t)
{
	struct sl_error err;

	if (sl__timed_iterations_run(&t->iterations, t->plan, &t->how,
				     &t->arena, &err))
		fail_msg("%s", err.text);
	return &t->iterations;
}

static inline uint64_t
ticks_of(const struct sl__traced_iteration *kept)
{
	return kept->end - kept->begin;
}

static inline size_t
n_taken(const struct sl__timed_iterations *p)
{
	return p->n_recorded + p->n_left_out;
}

/* All marks lie within the iteration, in order, and name every step once. */
static inline void
check_kept(const struct sl__timed_iterations *p,
	   const struct sl__traced_iteration *kept)
{
	uint64_t before = kept->begin;

	assert_int_equal(kept->events.n_stamps, p->n_steps + 1);
	assert_true(kept->nth < n_taken(p));
	assert_true(kept->begin >= p->origin);
	for (size_t i = 0; i <= p->n_steps; i++) {
		const struct sl__timestamp *m = &kept->events.stamps[i];

		assert_int_equal(m->step, i < p->n_steps ? i : SL__NONE);
		assert_true(m->ticks >= before);
		before = m->ticks;
	}
	assert_true(kept->end >= before);
}

#endif
