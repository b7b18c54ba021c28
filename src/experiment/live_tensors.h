/* SPDX-License-Identifier: Apache-2.0 */
/* live_tensors.h - which tensors are in memory while a plan runs. */
#ifndef SL_LIVE_TENSORS_H
#define SL_LIVE_TENSORS_H

#include "engine/observer.h"
#include "result/tensor_lifetime.h"

struct sl__live_tensors_options {
	const volatile sig_atomic_t *interrupt; /* NULL: none */
	uint64_t deadline_ns; /* of the clock of clock.h; 0: none */
};

/*
 * Runs the plan, whose inputs are set, once, and each of its steps some more to
 * see what it reads and writes.  Its outputs are those of the run.  What the
 * evaluator holds is out of sight, so that a plan with such steps is 'absent',
 * as is one that is not done by the deadline, which is looked at before each
 * step.  Storage is from 'arena', of which copies of the largest step's
 * operands are part.
 */
enum sl_status
sl__live_tensors_track(struct sl__tensor_lifetimes *out, struct sl_plan *plan,
		       const struct sl__live_tensors_options *how,
		       struct sl__arena *arena,
		       struct sl_error *err) SL_CHECKED;

/* Likewise, but what was interrupted, or has no memory for copies, is absent
 * and no failure. */
enum sl_status sl__live_tensors_track_or_absent(
	struct sl__tensor_lifetimes *out, struct sl_plan *plan,
	const struct sl__live_tensors_options *how, struct sl__arena *arena,
	struct sl_error *err) SL_CHECKED;

#endif
