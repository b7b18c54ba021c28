/* SPDX-License-Identifier: Apache-2.0 */
/* twin_plan.h - another plan of a model, its steps paired with the first's. */
#ifndef SL_TWIN_PLAN_H
#define SL_TWIN_PLAN_H

#include "experiment/subject.h"

/* Of a step that has no counterpart among the paired ones. */
enum { SL__TWIN_NONE = 255 };

/*
 * Invariants: plan is the subject's of its own, or the first plan itself where
 * that would be the same; NULL where there is none, and 'absent' says why.
 * All lists are in the arena it was opened with.
 */
struct sl__twin {
	struct sl__subject subject; /* plan NULL: none of its own */
	struct sl_plan *plan;
	const char *absent;     /* NULL: there is one */
	size_t *steps;          /* [n] its step that does the same; SIZE_MAX */
	int *is_same;           /* [n] with the same kernel (and, on one
				   thread, as much work) */
	unsigned char *slot_of; /* by its steps: which of the n; NONE */
};

/* What it is a twin of, and the steps to pair, 254 at most. */
struct sl__twin_options {
	struct sl__subject *of;
	const size_t *steps;
	size_t n;
	double plan_s; /* longest time that planning may take */
};

/* On one thread: the plan itself where that has one. */
enum sl_status sl__twin_single(struct sl__twin *out,
			       const struct sl__twin_options *how,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

/* For twice the batch, on as many threads.  Algorithms that were measured for
 * the batch are taken over; none is measured for it.  'plan_ns' is what the
 * last plan of the model took. */
enum sl_status sl__twin_doubled(struct sl__twin *out,
				const struct sl__twin_options *how,
				double plan_ns, struct sl__arena *arena,
				struct sl_error *err) SL_CHECKED;

/* Runs a plan of its own once, or has the system give it its memory only,
 * which is what a first run spends most on that is long. */
enum sl_status sl__twin_warm_up(struct sl__twin *twin, int runs,
				struct sl_error *err) SL_CHECKED;

void sl__twin_close(struct sl__twin *twin);

#endif
