/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try_plans.c - changes to how a model is run, tried at once.
 *
 * Arm 0 is the model as it is run now; every other arm a plan with one thing
 * changed.  A slot is as many iterations as make a stretch that the clock reads
 * well, the same number for all arms.
 */
#include "experiment/try_plans.h"

#include "base/clock.h"
#include "base/status.h"
#include "engine/dnnl_choice.h"
#include "stats/another_run.h"
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	ARMS_MOST = SL__TRIALS_MOST + 1,
	ROUNDS_LEAST = 6, /* for an interval of 95 % */
	ROUNDS_MOST = 256,
	STRETCH_NS = 500000,
	CALLS_MOST = 4096
};

/* Of the weights, in all plans: more would not be a cheap trial. */
#define BYTES_MOST 2e9

struct arm {
	struct sl__subject_model subject; /* of a trial */
	struct sl_plan *plan;             /* NULL: not tried */
	double *ns;                       /* [ROUNDS_MOST] of a slot */
};

struct trier {
	const struct sl__try_plans_options *how;
	struct sl__plan_trial *trials;
	size_t n_trials;
	struct arm arms[ARMS_MOST];
	size_t of_slot[ARMS_MOST]; /* arms that run */
	size_t n_running;
	size_t n_calls; /* iterations of a slot */
	size_t order[ARMS_MOST];
	struct sl__runner runner;
	uint64_t start_ns;
};

static double
left_s(const struct trier *t)
{
	return t->how->time_s -
	       (double)(sl__clock_now_ns(NULL) - t->start_ns) / 1e9;
}

/* Algorithms are those of the plan as it is, or fixed: choosing anew would take
 * longer than the trial. */
static void
change(struct sl_plan_options *plan, const struct sl_trial *trial)
{
	if (trial->action == SL_TRIAL_THREADS) {
		if (!(plan->flags & SL_PLAN_NO_CACHE) &&
		    plan->n_threads <= SL__PLAN_CHOICES_THREADS_MOST)
			plan->flags |= (unsigned)plan->n_threads *
				       SL__PLAN_CHOICES_THREADS;
		plan->n_threads = (int)trial->value;
	} else {
		plan->algorithms = SL_ALGORITHMS_FIXED;
	}
	if (trial->action == SL_TRIAL_DTYPE)
		plan->dtype = trial->dtype;
}

/* What cannot be planned is not tried, and the plan's failure says why. */
static enum sl_status
open_arm(struct trier *t, size_t k, const struct sl__subject_model *of,
	 struct sl__arena *arena, struct sl_error *err)
{
	struct sl__plan_trial *trial = &t->trials[k];
	struct sl__subject_model_options subject = of->options;
	struct sl_plan_options plan = of->how;
	struct sl_error why = {0};
	/* A trial measures no algorithms. */
	double plan_ns =
		fmax(0, of->plan_ns - (double)of->plan->current->choosing_ns);
	enum sl_status rc;

	/* A plan, two iterations of warm-up, and the rounds of two arms. */
	if (plan_ns + (2 + 2 * ROUNDS_LEAST) * t->how->iteration_ns >
	    left_s(t) * 1e9) {
		trial->absent = "no time was left";
		return SL_OK;
	}
	plan.sizes = subject.plan ? subject.plan->sizes : NULL;
	plan.n_threads = sl_plan_n_threads(of->plan);
	plan.log = NULL;
	change(&plan, &trial->trial);
	subject.plan = &plan;
	rc = sl__subject_model_open(&t->arms[k + 1].subject, of->graph,
				    &subject, &why);
	if (rc == SL_E_NOMEM)
		return sl__fail_nomem(err);
	if (rc)
		return sl__arena_copy_text(arena, &trial->absent, why.text,
					   err);
	t->arms[k + 1].plan = t->arms[k + 1].subject.plan;
	return SL_OK;
}

static enum sl_status
warm_up(struct trier *t, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < ARMS_MOST; i++) {
		if (!t->arms[i].plan)
			continue;
		t->of_slot[t->n_running++] = i;
		rc = sl_plan_run(t->arms[i].plan, err);
		if (!rc)
			rc = sl_plan_run(t->arms[i].plan, err);
	}
	return rc;
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct trier *t = ctx;
	struct arm *arm = &t->arms[t->of_slot[slot->arm]];
	uint64_t begin = sl__clock_now_ns(NULL);
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < t->n_calls; i++)
		rc = sl_plan_run(arm->plan, err);
	arm->ns[slot->round] = (double)(sl__clock_now_ns(NULL) - begin);
	return rc;
}

static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct trier *t = ctx;

	(void)err;
	t->runner.ahead_ns = taken->took_ns;
	return SL_OK;
}

static enum sl_status
run_rounds(struct trier *t, struct sl_error *err)
{
	const struct sl__phase_spec trying = {
		.name = "trying what would help",
		.n_arms = t->n_running,
		.cuts_rounds = 1,
		.max_rounds = ROUNDS_MOST,
		.time_s = fmax(left_s(t), 1e-3),
		.run = run_slot,
		.close = close_round,
		.ctx = t,
	};

	t->n_calls = (size_t)fmin(
		fmax(STRETCH_NS / fmax(t->how->iteration_ns, 1), 1),
		CALLS_MOST);
	t->runner.control = t->how->control;
	t->runner.order = t->order;
	sl__runner_start_budget(&t->runner, t->how->seed);
	return sl__runner_run(&t->runner, &trying, err);
}

static void
conclude(struct trier *t)
{
	size_t n = t->runner.n_rounds;

	for (size_t k = 0; k < t->n_trials; k++) {
		struct sl__plan_trial *trial = &t->trials[k];
		double *ns = t->arms[k + 1].ns;

		if (!t->arms[k + 1].plan)
			continue;
		if (n < ROUNDS_LEAST) {
			trial->absent = "no time was left";
			continue;
		}
		for (size_t i = 0; i < n; i++)
			ns[i] = t->arms[0].ns[i] / ns[i];
		trial->gain = sl__median_estimate(ns, n);
		trial->again = sl__another_run_estimate(ns, n);
	}
}

static int
is_too_large(const struct sl__subject_model *subject, size_t n)
{
	struct sl_plan_memory memory;

	sl_plan_memory(subject->plan, &memory);
	return (double)n *
		       (double)(memory.weight_bytes + memory.planned_bytes) >
	       BYTES_MOST;
}

static enum sl_status
try_all(struct trier *t, const struct sl__subject_model *subject,
	struct sl__arena *arena, struct sl__arena *scratch,
	struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i <= t->n_trials; i++) {
		t->arms[i].ns =
			sl__arena_array(scratch, ROUNDS_MOST, sizeof(double));
		if (!t->arms[i].ns)
			return sl__fail_nomem(err);
	}
	t->arms[0].plan = subject->plan;
	for (size_t k = 0; !rc && k < t->n_trials; k++) {
		if (is_too_large(subject, t->n_trials))
			t->trials[k].absent = "the model is too large to be "
					      "planned again";
		else
			rc = open_arm(t, k, subject, arena, err);
	}
	if (!rc)
		rc = warm_up(t, err);
	if (rc || t->n_running < 2)
		return rc;
	rc = run_rounds(t, err);
	if (!rc)
		conclude(t);
	return rc;
}

enum sl_status
sl__try_plans(struct sl__plan_trial *trials, size_t n,
	      const struct sl__subject_model *subject,
	      const struct sl__try_plans_options *how, struct sl__arena *arena,
	      struct sl_error *err)
{
	struct trier t = {.how = how, .trials = trials, .n_trials = n};
	struct sl__arena scratch;
	enum sl_status rc;

	t.start_ns = sl__clock_now_ns(NULL);
	sl__arena_init(&scratch, subject->how.allocator);
	rc = try_all(&t, subject, arena, &scratch, err);
	for (size_t i = 1; i < ARMS_MOST; i++)
		sl__subject_model_close(&t.arms[i].subject);
	sl__arena_release(&scratch);
	return rc;
}
