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

struct sl__timed_iterations_options {
	double time_s;           /* budget; above 0 */
	double precision;        /* of the median of bare iterations */
	size_t n_warmup, n_runs; /* fixed numbers of rounds; 0: detected */
	size_t n_slowest; /* timelines kept, at most SL__ITERATIONS_SLOW */
	uint64_t seed;    /* of the order in a round */
	struct sl__runner_hooks control;
};

/*
 * Runs the plan, whose inputs are set, first once cold and then in rounds until
 * the median of bare iterations is known well enough or the time is spent; at
 * least two rounds.  Where these are few and leave open what recording costs,
 * up to twice the time.  Storage is from 'arena', reserved before the first
 * round and of a size that does not depend on how many there are.
 * SL_E_INTERRUPTED before the first round.
 */
enum sl_status
sl__timed_iterations_run(struct sl__timed_iterations *out, struct sl_plan *plan,
			 const struct sl__timed_iterations_options *options,
			 struct sl__arena *arena,
			 struct sl_error *err) SL_CHECKED;

#endif
