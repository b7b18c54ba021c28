/* SPDX-License-Identifier: Apache-2.0 */
/* observer.h - runs of a plan that somebody watches. */
#ifndef SL_OBSERVER_H
#define SL_OBSERVER_H

#include "engine/plan.h"

enum {
	SL__TIMESTAMPS_SPARSE = 4, /* a power of two */
	SL__STAMPS_PER_STEP = 4    /* while loops are added up */
};

/* When a step began, and how often it ran until the next one did. */
struct sl__timestamp {
	uint64_t ticks;
	uint32_t step; /* SL__NONE: the end of the last step */
	uint32_t n_calls;
};

/*
 * What a recorded run leaves: stamps[] in the order in which steps ran, the
 * last being the end.  One reading of the clock per boundary: the time of a
 * step is from its mark to the next, one reading per call included.  A step of
 * a loop's body has one stamp for all its runs; adding them up takes
 * 'paused_ticks', which the stamps leave out.
 */
struct sl__event_buffer {
	struct sl__timestamp *stamps; /* [cap] */
	size_t n_stamps, cap; /* cap: SL__STAMPS_PER_STEP of each step, and 1,
				 at least; what there is no room for is not
				 marked, in loops four deep */
	uint64_t n_readings, paused_ticks;
	int is_sparse; /* every SL__TIMESTAMPS_SPARSE-th step is marked: what a run
			  takes longer with all marks is what they cost where
			  they are made */
	const struct sl_clock *clock; /* in place of ticks; NULL: none */
};

/* Like sl_plan_run(), but leaves its marks on the events. */
enum sl_status sl__plan_record(struct sl_plan *plan,
			       struct sl__event_buffer *events,
			       struct sl_error *err) SL_CHECKED;

/*
 * Runs step i of a program, or not: sl__run_step() is what an unwatched run
 * does.  Whoever does not run a step leaves its operands as they would be
 * after it.
 */
typedef enum sl_status sl__intercept_function(struct sl__program *program,
					      size_t i, void *ctx,
					      struct sl_error *err);
struct sl__interceptor {
	sl__intercept_function *around;
	void *ctx;
};
enum sl_status sl__run_step(struct sl__program *program, size_t i,
			    struct sl_error *err) SL_CHECKED;

/* Like sl_plan_run(), but every step goes through the interceptor's hands. */
enum sl_status sl__plan_intercept(struct sl_plan *plan,
				  const struct sl__interceptor *interceptor,
				  struct sl_error *err) SL_CHECKED;

#endif
