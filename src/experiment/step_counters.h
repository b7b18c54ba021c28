/* SPDX-License-Identifier: Apache-2.0 */
/* step_counters.h - steps of a plan with the CPU's counters read around them.
 */
#ifndef SL_STEP_COUNTERS_H
#define SL_STEP_COUNTERS_H

#include "experiment/subject.h"
#include "result/plan_counter_values.h"
#include "timing/counter_set.h"
#include "timing/runner.h"

struct sl__step_counters_options {
	const size_t *steps; /* of the plan, each once */
	size_t n_steps;
	size_t n_iterations; /* at most; 0: 3 */
	double time_s;       /* for them; one is made in any case; 0: 0.3 */
	double iteration_ns; /* what an iteration takes, about */
	const struct sl__counter_backend *source; /* NULL: the kernel */
	struct sl__runner_hooks control;
};

/*
 * Runs the subject's plan and reads the counters of all its threads before and
 * after each of the steps.  Counts are sums over threads, those of a thread
 * that waits for others included; where the kernel let counters take turns they
 * are scaled up.  Where no counter can be opened no iteration is made.  Fails
 * as an iteration does, and where a counter that was open cannot be read.  The
 * result is from 'arena'.
 */
enum sl_status sl__step_counters_measure(
	struct sl__plan_counter_values *out, struct sl__subject_model *subject,
	const struct sl__step_counters_options *options,
	struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

/* All events absent for one reason, which lasts as long as the program. */
void sl__step_counters_set_absent(struct sl__plan_counter_values *out,
				  const char *why);

#endif
