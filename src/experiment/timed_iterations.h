/* SPDX-License-Identifier: Apache-2.0 */
/* timed_iterations.h - a plan run over and over, bare and recorded in turn. */
#ifndef SL_TIMED_ITERATIONS_H
#define SL_TIMED_ITERATIONS_H

#include "result/iteration_times.h"
#include "sleuth/running.h"
#include "timing/runner.h"

/*
 * The median time, with its interval, of waking n_threads of the engine for
 * nothing: no step that uses them all takes less.  Takes a few milliseconds.
 */
struct sl_estimate sl__thread_wake_ns(int n_threads);

/* Makes the inputs of the next iteration, which is part of its time. */
typedef enum sl_status sl__feed_function(void *ctx, struct sl_error *err);

struct sl__timed_iterations_options {
	double time_s;           /* budget; above 0 */
	double precision;        /* of the median of bare iterations */
	size_t n_warmup, n_runs; /* fixed numbers of rounds; 0: detected */
	size_t n_slowest; /* timelines kept, at most SL__ITERATIONS_SLOW */
	uint64_t seed;    /* of the order in a round */
	sl__feed_function *feed; /* NULL: every iteration has the same inputs */
	void *feed_ctx;
	struct sl__runner_hooks control;
};

/*
 * Runs the plan, whose inputs are set, first once cold and then in rounds until
 * the median of bare iterations is known well enough or the time is spent; at
 * least two rounds.  Where these are few and leave open what recording costs,
 * up to twice the time.  Where iterations are fed, that is one more step after
 * those of the plan, and n_steps counts it.  Storage is from 'arena', reserved before the first
 * round and of a size that does not depend on how many there are.
 * SL_E_INTERRUPTED before the first round.
 */
enum sl_status
sl__timed_iterations_run(struct sl__timed_iterations *out, struct sl_plan *plan,
			 const struct sl__timed_iterations_options *options,
			 struct sl__arena *arena,
			 struct sl_error *err) SL_CHECKED;

/*
 * Iterations that somebody else makes, watched: most are bare, one in a few
 * recorded, so that a run of any length leaves the same times.  For each:
 * begin(), inputs, fed(), a run that records into events() where that is not
 * NULL, end().
 */
struct sl__step_watch;

/* Of a run of n_iterations, which has inputs of its own each time; a clock of
 * NULL is the CPU's.  Storage is from 'arena'. */
enum sl_status
sl__step_watch_new(struct sl__step_watch **out, const struct sl_plan *plan,
		   uint64_t n_iterations, const struct sl_clock *clock,
		   struct sl__arena *arena, struct sl_error *err) SL_CHECKED;
void sl__step_watch_begin(struct sl__step_watch *watch);
void sl__step_watch_fed(struct sl__step_watch *watch);
struct sl__event_buffer *sl__step_watch_events(struct sl__step_watch *watch);
void sl__step_watch_end(struct sl__step_watch *watch);

/* After the last; n_recorded is 0 where there were too few. */
const struct sl__timed_iterations *
sl__step_watch_finish(struct sl__step_watch *watch);

#endif
