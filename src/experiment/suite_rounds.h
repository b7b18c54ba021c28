/* SPDX-License-Identifier: Apache-2.0 */
/* suite_rounds.h - plans of many models, run in rounds of random order. */
#ifndef SL_SUITE_ROUNDS_H
#define SL_SUITE_ROUNDS_H

#include "engine/plan.h"
#include "machine/energy_meter.h"
#include "timing/runner.h"

/* A plan with its inputs set, and what was found of it. */
struct sl__suite_arm {
	struct sl_plan *plan;
	double *ns;              /* [n_rounds] of an iteration; the caller's */
	size_t n_calls;          /* iterations of a slot */
	double joules;           /* of all slots; NaN: no meter */
	size_t n_metered;        /* iterations in them */
	struct sl_error failure; /* its status is set once an iteration
				    failed: it is run no more */
};

struct sl__suite_rounds_options {
	size_t n_rounds;
	uint64_t seed; /* of the orders */
	size_t *order; /* [n] */
	struct sl__monitor *monitor;
	struct sl__energy_meter *meter;
	struct sl__runner_hooks control;
};

/*
 * Warms all arms up, then runs rounds of one slot each, in an order drawn
 * afresh.  A slot is as many iterations as take 2 ms, or one; its figure is the
 * mean of an iteration.  *n_done is the number of whole rounds: fewer than asked
 * for once it was interrupted.  An arm that fails does not end it.
 */
enum sl_status sl__suite_rounds_run(struct sl__suite_arm *arms, size_t n,
				    const struct sl__suite_rounds_options *how,
				    size_t *n_done,
				    struct sl_error *err) SL_CHECKED;

#endif
