/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.h - steps of a plan timed under changed conditions. */
#ifndef SL_DIAGNOSE_H
#define SL_DIAGNOSE_H

#include "experiment/subject.h"
#include "machine/ceiling_probes.h"
#include "result/step_responses.h"
#include "timing/runner.h"

/* Of a step that has no counterpart among the paired ones. */
enum { SL__VARIANT_NONE = 255 };

/*
 * Invariants: plan is the subject's of its own, or the first plan itself where
 * that would be the same; NULL where there is none, and 'absent' says why.
 * All lists are in the arena it was opened with.
 */
struct sl__variant_plan {
	struct sl__subject_model subject; /* plan NULL: none of its own */
	struct sl_plan *plan;
	const char *absent;     /* NULL: there is one */
	size_t *steps;          /* [n] its step that does the same; SIZE_MAX */
	int *is_same;           /* [n] with the same kernel (and, on one
				   thread, as much work) */
	unsigned char *slot_of; /* by its steps: which of the n; NONE */
};

/* The subject it varies, and the steps to pair, 254 at most. */
struct sl__variant_options {
	struct sl__subject_model *of;
	const size_t *steps;
	size_t n;
	double plan_s; /* longest time that planning may take */
};

/* On one thread: the plan itself where that has one. */
enum sl_status sl__variant_open_one_thread(
	struct sl__variant_plan *out, const struct sl__variant_options *how,
	struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

/* For twice the batch, on as many threads.  Algorithms that were measured for
 * the batch are taken over; none is measured for it.  'plan_ns' is what the
 * last plan of the model took. */
enum sl_status
sl__variant_open_double_batch(struct sl__variant_plan *out,
			      const struct sl__variant_options *how,
			      double plan_ns, struct sl__arena *arena,
			      struct sl_error *err) SL_CHECKED;

/* Runs a plan of its own once, or has the system give it its memory only,
 * which is what a first run spends most on that is long. */
enum sl_status sl__variant_warm_up(struct sl__variant_plan *variant, int runs,
				   struct sl_error *err) SL_CHECKED;

void sl__variant_close(struct sl__variant_plan *variant);

struct sl__diagnose_options {
	const size_t *steps; /* of the plan, each once */
	size_t n_steps;
	struct sl__ceiling_probes *probes; /* NULL: neither cold nor hogged */
	uint64_t cache_bytes;              /* of the last level; 0: not known */
	double hot_share; /* of the time, wanted; 0: not said */
	double time_s;    /* budget; three rounds at least, two where
				      three take twice as long */
	uint64_t seed;    /* of the order of iterations in a round */
	struct sl__runner_hooks control;
};

/*
 * Runs the subject's plan, another one of a single thread and one for twice the
 * batch, in rounds of iterations of which each puts one condition to all the
 * steps.  Steps on reference paths are run but not timed.  Everything the plan
 * holds is as after any run when it returns, unless an interrupt ended it
 * early; what was measured then stands.  Fails as an iteration does, and with
 * SL_E_INTERRUPTED before there are plans.  The result is from 'arena'.
 */
enum sl_status sl__diagnose(struct sl__step_responses *out,
			    struct sl__subject_model *subject,
			    const struct sl__diagnose_options *options,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

#endif
