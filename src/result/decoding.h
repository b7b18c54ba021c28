/* SPDX-License-Identifier: Apache-2.0 */
/* decoding.h - the steps of a decoding loop, as they were timed. */
#ifndef SL_DECODING_H
#define SL_DECODING_H

#include "sleuth/running.h"

/* From here on a visit counts as disturbed. */
#define SL__LOOP_DISTURBED 0.15

enum {
	SL__LOOP_ROUNDS_MOST = 12,
	SL__LOOP_POINTS_MOST = 256, /* tokens at which it is measured */
	SL__LOOP_PROMPT_MOST = 3    /* steps over the prompt, beside them */
};

/* One step: n_new tokens after n_past, 'nth' of those that are generated. */
struct sl__loop_point {
	int64_t n_past, n_new, nth;
	size_t n_visits, n_iterations;
	struct sl_estimate visits[SL__LOOP_ROUNDS_MOST]; /* medians, ns */
	double disturbance[SL__LOOP_ROUNDS_MOST]; /* of CPU time, taken by
						     others in each visit */
	double plan_ns;                           /* longest; 0 */
};

/*
 * Invariants: points ascend by n_past + n_new.  Of the steps that yield the
 * second token and on, n_further are among them out of n_tokens - 1.
 */
struct sl__decode_timings {
	struct sl__loop_point *points; /* [POINTS_MOST + PROMPT_MOST] */
	size_t n_points, n_further;
	double all_plans_ns;
	struct sl_plan_memory memory; /* with the longest context */
	int n_threads;
	enum sl_dtype dtype;
	int has_cache;
	int takes_many; /* the tokens of a prompt can go in together */
	int64_t batch;
	double state_bytes; /* of the growing states, before the last step that
			       was timed */
};

#endif
