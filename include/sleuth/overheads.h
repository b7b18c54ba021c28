/* SPDX-License-Identifier: Apache-2.0 */
/* overheads.h - what it costs to instrument a model. */
#ifndef SLEUTH_OVERHEADS_H
#define SLEUTH_OVERHEADS_H

#include "sleuth/profiling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Instrumentation of a run, each with more detail than the one before. */
enum sl_instrumentation {
	SL_INSTRUMENTATION_SCOPE = 0, /* a scope around each iteration */
	SL_INSTRUMENTATION_RESOURCES, /* one with CPU time, faults and memory */
	SL_INSTRUMENTATION_TIMESTAMPS, /* one reading of the clock between steps */
	SL_INSTRUMENTATION_HOOKS,      /* the user's hooks, around each step */
	SL_INSTRUMENTATION_SCOPES      /* hooks that open a scope per step */
};
enum { SL_N_INSTRUMENTATIONS = SL_INSTRUMENTATION_SCOPES + 1 };

/* "scope per iteration", ...; never NULL. */
SL_API const char *
sl_instrumentation_text(enum sl_instrumentation instrumentation);

/* What instrumentation is suitable for, by the upper bound of its cost. */
enum sl_fitness {
	SL_FITNESS_ALWAYS = 0,    /* at most 1 % */
	SL_FITNESS_DEVELOPMENT,   /* at most 5 % */
	SL_FITNESS_INVESTIGATION, /* more than that */
	SL_FITNESS_UNKNOWN        /* the interval is too wide to tell */
};

/* "always", "development", "investigation only", "unknown". */
SL_API const char *sl_fitness_text(enum sl_fitness fitness);

struct sl_overhead_row {
	enum sl_instrumentation instrumentation;
	size_t n_events; /* an iteration: readings, calls of hooks */
	struct sl_estimate
		extra_ns; /* an iteration, instrumented minus bare, median of
					rounds; may be below 0 by noise */
	double event_ns;  /* extra / events */
	double share;     /* of the bare iteration */
	enum sl_fitness fitness;
};

struct sl_overhead_study {
	const char *name;
	size_t n_steps, n_rounds;
	int n_threads;
	struct sl_estimate bare_ns; /* median of an iteration */
	struct sl_overhead_row rows[SL_N_INSTRUMENTATIONS];
	double elapsed_s;
	enum sl_stop stopped_by;
	uint64_t seed;
};

/*
 * Runs the model bare and under each kind of instrumentation, all of them in
 * every round, in random order.  Of 'options' plan, inputs, seed, time_s
 * (default 3), n_runs (rounds), interrupt and allocator count.  Fails as
 * sl_profile_forward() does; when interrupted after the first round the result
 * stands.
 */
SL_API enum sl_status
sl_study_overhead(struct sl_overhead_study **out, const struct sl_graph *graph,
		  const struct sl_profile_options *options,
		  struct sl_error *err) SL_CHECKED;
SL_API void sl_overhead_study_free(struct sl_overhead_study *study);

/* TEXT, MARKDOWN, CSV or JSON. */
SL_API enum sl_status
sl_overhead_study_render(const struct sl_overhead_study *study,
			 const struct sl_render_options *how,
			 struct sl_buf *out, struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
