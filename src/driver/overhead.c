/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overhead.c - what instrumentation of a model costs, kind by kind.
 *
 * Every round runs all ways and a bare iteration in an order drawn afresh; what
 * a way costs is the median over rounds of its iteration minus the bare one.
 */
#include "driver/overhead.h"
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "driver/profile_part.h"
#include "result/traced_iterations.h"
#include "stats/quantile.h"
#include "timing/runner.h"
#include "sleuth/observing.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	ROUNDS_WARMUP = 2,
	ROUNDS_LEAST = 8,
	ROUNDS_MOST = 8192,
	BARE = SL_N_INSTRUMENTATIONS,
	N_ARMS
};

struct student {
	struct sl__subject_model subject;
	struct sl__arena scratch;
	struct sl_profile_options how;
	struct sl__runner runner;
	struct sl__ticker ticker;
	size_t order[N_ARMS];
	struct sl__event_buffer events;
	double ns[N_ARMS]; /* of this round */
	double *bare_ns, *sorted;
	double *extra_ns[SL_N_INSTRUMENTATIONS];
	size_t n;
	struct sl_scope open; /* of a step, under SL_INSTRUMENTATION_SCOPES */
};

const char *
sl_instrumentation_text(enum sl_instrumentation instrumentation)
{
	static const char *const words[SL_N_INSTRUMENTATIONS] = {
		"scope per iteration", "scope with resources",
		"timestamps per step", "hooks per step", "scope per step"};

	return (unsigned)instrumentation < SL_N_INSTRUMENTATIONS
		       ? words[instrumentation]
		       : "none";
}

const char *
sl_fitness_text(enum sl_fitness fitness)
{
	static const char *const words[] = {"always", "development",
					    "investigation only", "unknown"};

	return (unsigned)fitness < sizeof(words) / sizeof(words[0])
		       ? words[fitness]
		       : "unknown";
}

static void
on_step(const struct sl_plan *plan, size_t step, void *ctx)
{
	(void)plan;
	(void)step;
	(void)ctx;
}

static void
open_step(const struct sl_plan *plan, size_t step, void *ctx)
{
	struct student *s = ctx;

	(void)plan;
	(void)step;
	s->open = sl_scope_begin("sleuth: step", 0);
}

static void
close_step(const struct sl_plan *plan, size_t step, void *ctx)
{
	struct student *s = ctx;

	(void)plan;
	(void)step;
	sl_scope_end(&s->open);
}

static enum sl_status
run_in_scope(struct student *s, unsigned flags, struct sl_error *err)
{
	struct sl_scope scope = sl_scope_begin("sleuth: iteration", flags);
	enum sl_status rc = sl_plan_run(s->subject.plan, err);

	sl_scope_end(&scope);
	return rc;
}

static enum sl_status
run_hooked(struct student *s, int has_scopes, struct sl_error *err)
{
	const struct sl_hooks plain = {on_step, on_step, s};
	const struct sl_hooks scoped = {open_step, close_step, s};
	enum sl_status rc;

	sl_plan_set_hooks(s->subject.plan, has_scopes ? &scoped : &plain);
	rc = sl_plan_run(s->subject.plan, err);
	if (rc && has_scopes)
		sl_scope_end(&s->open);
	sl_plan_set_hooks(s->subject.plan, NULL);
	return rc;
}

static enum sl_status
run_watched(struct student *s, size_t way, struct sl_error *err)
{
	switch (way) {
	case SL_INSTRUMENTATION_SCOPE:
		return run_in_scope(s, 0, err);
	case SL_INSTRUMENTATION_RESOURCES:
		return run_in_scope(s, SL_SCOPE_RESOURCES, err);
	case SL_INSTRUMENTATION_TIMESTAMPS:
		return sl__plan_record(s->subject.plan, &s->events, err);
	case SL_INSTRUMENTATION_HOOKS:
	case SL_INSTRUMENTATION_SCOPES:
		return run_hooked(s, way == SL_INSTRUMENTATION_SCOPES, err);
	default:
		return sl_plan_run(s->subject.plan, err);
	}
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct student *s = ctx;
	uint64_t begin = sl__ticks_read(s->ticker.clock);
	enum sl_status rc = run_watched(s, slot->arm, err);

	s->ns[slot->arm] = sl__ticker_span_ns(&s->ticker, begin,
					      sl__ticks_read(s->ticker.clock));
	return rc;
}

static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct student *s = ctx;

	(void)err;
	s->n = taken->round + 1;
	s->bare_ns[taken->round] = s->ns[BARE];
	for (int w = 0; w < SL_N_INSTRUMENTATIONS; w++)
		s->extra_ns[w][taken->round] = s->ns[w] - s->ns[BARE];
	return SL_OK;
}

static enum sl_status
take_rounds(struct student *s, struct sl_error *err)
{
	const struct sl__phase_spec warming_up = {.n_arms = N_ARMS,
						  .n_rounds = ROUNDS_WARMUP,
						  .run = run_slot,
						  .ctx = s};
	struct sl__phase_spec measuring = warming_up;
	enum sl_status rc;

	measuring.n_rounds = s->how.n_runs;
	measuring.min_rounds = ROUNDS_LEAST;
	measuring.max_rounds = ROUNDS_MOST;
	measuring.time_s = s->how.time_s;
	measuring.close = close_round;
	sl__runner_start_budget(&s->runner, s->how.seed);
	rc = sl__runner_run(&s->runner, &warming_up, err);
	if (!rc)
		rc = sl__runner_run(&s->runner, &measuring, err);
	if (!rc && !s->n)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the cost was known");
	return rc;
}

static enum sl_fitness
fitness_of(const struct sl_estimate *extra, double bare_ns)
{
	if (extra->needs_n)
		return SL_FITNESS_UNKNOWN;
	if (extra->hi <= 0.01 * bare_ns)
		return SL_FITNESS_ALWAYS;
	if (extra->hi <= 0.05 * bare_ns)
		return SL_FITNESS_DEVELOPMENT;
	return extra->lo > 0.05 * bare_ns ? SL_FITNESS_INVESTIGATION
					  : SL_FITNESS_UNKNOWN;
}

static size_t
events_of(enum sl_instrumentation instrumentation, size_t n_steps)
{
	switch (instrumentation) {
	case SL_INSTRUMENTATION_SCOPE:
	case SL_INSTRUMENTATION_RESOURCES:
		return 1;
	case SL_INSTRUMENTATION_TIMESTAMPS:
		return n_steps + 1;
	case SL_INSTRUMENTATION_HOOKS:
	case SL_INSTRUMENTATION_SCOPES:
		break;
	}
	return 2 * n_steps;
}

static struct sl_estimate
median_of(const struct student *s, const double *x)
{
	memcpy(s->sorted, x, s->n * sizeof(double));
	return sl__median_estimate(s->sorted, s->n);
}

static void
conclude(const struct student *s, struct sl_overhead_study *out)
{
	out->n_steps = sl_plan_n_steps(s->subject.plan);
	out->n_threads = sl_plan_n_threads(s->subject.plan);
	out->n_rounds = s->n;
	out->stopped_by = s->runner.stopped_by;
	out->bare_ns = median_of(s, s->bare_ns);
	for (int w = 0; w < SL_N_INSTRUMENTATIONS; w++) {
		struct sl_overhead_row *row = &out->rows[w];

		row->instrumentation = (enum sl_instrumentation)w;
		row->extra_ns = median_of(s, s->extra_ns[w]);
		row->n_events = events_of(row->instrumentation, out->n_steps);
		row->event_ns = row->n_events ? row->extra_ns.value /
							(double)row->n_events
					      : (double)NAN;
		row->share = row->extra_ns.value / out->bare_ns.value;
		row->fitness = fitness_of(&row->extra_ns, out->bare_ns.value);
	}
}

static enum sl_status
reserve(struct student *s, struct sl_error *err)
{
	int failed = sl__event_buffer_reserve(
		&s->events, sl_plan_n_steps(s->subject.plan), &s->scratch);

	s->events.clock = s->ticker.clock;
	s->bare_ns = sl__arena_array(&s->scratch, ROUNDS_MOST, sizeof(double));
	s->sorted = sl__arena_array(&s->scratch, ROUNDS_MOST, sizeof(double));
	for (int w = 0; w < SL_N_INSTRUMENTATIONS; w++) {
		s->extra_ns[w] = sl__arena_array(&s->scratch, ROUNDS_MOST,
						 sizeof(double));
		failed |= !s->extra_ns[w];
	}
	if (failed || !s->bare_ns || !s->sorted)
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
study(struct student *s, const struct sl_graph *graph,
      struct sl_overhead_study *out, struct sl_error *err)
{
	struct sl__subject_model_options how =
		sl__profile_subject_options(&s->how);
	uint64_t start_ns = sl__clock_now_ns(s->runner.control.with.clock);
	enum sl_status rc =
		sl__subject_model_open(&s->subject, graph, &how, err);

	if (!rc)
		rc = reserve(s, err);
	if (!rc)
		rc = take_rounds(s, err);
	if (!rc)
		conclude(s, out);
	out->elapsed_s =
		(double)(sl__clock_now_ns(s->runner.control.with.clock) -
			 start_ns) /
		1e9;
	sl__subject_model_close(&s->subject);
	return rc;
}

enum sl_status
sl__study_overhead(struct sl_overhead_study **out, const struct sl_graph *graph,
		   const struct sl_profile_options *options,
		   const struct sl_clock *clock, struct sl_error *err)
{
	struct student s = {.runner.control.with.clock = clock};
	struct sl_overhead_study *made;
	struct sl__plan_options_storage plan;
	struct sl__arena *arena;
	enum sl_status rc = sl__options_copy(&s.how, sizeof(s.how), options,
					     "sl_profile_options", err);

	*out = NULL;
	if (!rc)
		rc = sl__plan_options_copy(&plan, &s.how.plan, err);
	if (rc)
		return rc;
	s.how.time_s = s.how.time_s > 0 ? s.how.time_s : 3;
	s.how.seed = s.how.seed ? s.how.seed : 1;
	s.runner.control.interrupt = s.how.interrupt;
	s.runner.order = s.order;
	sl__ticker_init(&s.ticker, clock);
	made = sl__arena_object_new(&arena, s.how.allocator, sizeof(*made));
	if (!made)
		return sl__fail_nomem(err);
	made->name = sl__arena_string(arena, graph->name);
	made->seed = s.how.seed;
	sl__arena_init(&s.scratch, s.how.allocator);
	rc = made->name ? study(&s, graph, made, err) : sl__fail_nomem(err);
	sl__arena_release(&s.scratch);
	*out = sl__arena_object_free_on_error(made, rc);
	return rc;
}

enum sl_status
sl_study_overhead(struct sl_overhead_study **out, const struct sl_graph *graph,
		  const struct sl_profile_options *options,
		  struct sl_error *err)
{
	return sl__study_overhead(out, graph, options, NULL, err);
}

void
sl_overhead_study_free(struct sl_overhead_study *study)
{
	sl__arena_object_free(study);
}
