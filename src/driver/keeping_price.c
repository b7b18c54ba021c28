/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeping_price.c - training steps that compute activations again, beside steps
 * that keep them, or the other way round.
 *
 * The second plan has the same inputs; both run in rounds of random order.
 */
#include "base/status.h"
#include "driver/training_subject.h"
#include "machine/platform.h"
#include "result/fact_list.h"
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* The inputs of one plan into another of the same model; states are as they
 * begin. */
static enum sl_status
copy_inputs(struct sl_trainer *to, const struct sl_trainer *from,
	    struct sl_error *err)
{
	const struct sl_graph *graph = from->plan->training->graph;
	const struct sl__block *main = &graph->blocks[0];
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < main->n_inputs; i++) {
		const struct sl__value *v = &graph->values[main->inputs[i]];
		struct sl_array a, b;
		void *source, *data;

		if (v->kind != SL_VALUE_INPUT)
			continue;
		rc = sl_plan_input(from->plan->plan, v->name, &a, &source, err);
		if (!rc)
			rc = sl_plan_input(to->plan->plan, v->name, &b, &data,
					   err);
		if (!rc)
			memcpy(data, source, (size_t)a.n_bytes);
	}
	return rc;
}

/* Another plan of the step, and its time / that of the one that there is. */
struct other {
	int64_t n_segments;
	double least_saved; /* share of the memory, or it is not timed */
	uint64_t live_bytes;
	struct sl_estimate ratio; /* n 0: not timed */
};

static enum sl_status
compare(struct other *o, struct sl__training_subject *s,
	const struct sl__subject_model *subject,
	const struct sl__feed_rounds_options *how, struct sl__arena *arena,
	struct sl_error *err)
{
	struct sl_training_options training = s->trainer->options;
	struct sl_plan_options plan = subject->plan->options;
	double now_bytes = (double)subject->plan->current->bound_bytes;
	struct sl_estimate ratios[2];
	struct sl__feed_arm arms[2] = {{.plan = subject->plan}};
	struct sl_trainer *made;
	enum sl_status rc;

	training.struct_size = sizeof(training);
	training.n_segments = o->n_segments;
	plan.struct_size = sizeof(plan);
	plan.sizes = &subject->sizes;
	o->ratio = sl__no_estimate();
	rc = sl_trainer_open(&made, subject->graph, &training, &plan, err);
	if (rc)
		return rc;
	o->live_bytes = made->plan->plan->current->bound_bytes;
	if (how->time_s > 0 &&
	    (double)o->live_bytes <= (1 - o->least_saved) * now_bytes) {
		rc = copy_inputs(made, s->trainer, err);
		arms[1].plan = made->plan->plan;
		if (!rc)
			rc = sl__feed_rounds_run(ratios, arms, 2, how, arena,
						 err);
		if (!rc)
			o->ratio = ratios[1];
	}
	sl_trainer_close(made);
	return rc;
}

/* What it takes to be worth a word. */
#define SAVED_LEAST 0.1

/* Of the memory that is free, what a second plan may take. */
#define ROOM_MOST 0.25

/* Rounds of both that an interval needs, and seconds beyond them. */
enum { ROUNDS_LEAST = 8 };
#define TRIAL_S 1.0

static enum sl_status
try_recomputing(struct sl__training_subject *s,
		const struct sl__subject_model *subject, struct sl_profile *out,
		const struct sl__feed_rounds_options *how,
		struct sl__arena *arena, struct sl_error *err)
{
	struct sl_training_profile *t =
		(struct sl_training_profile *)(uintptr_t)out->training;
	double now_bytes = (double)subject->plan->current->bound_bytes;
	double least_s = 2 * ROUNDS_LEAST * how->iteration_ns / 1e9;
	struct other again = {.n_segments = -1, .least_saved = SAVED_LEAST};
	struct sl__feed_rounds_options brief = *how;
	struct sl__facts found;
	enum sl_status rc;

	brief.time_s = fmin(how->time_s, least_s + TRIAL_S);
	if (brief.time_s <= least_s ||
	    now_bytes > ROOM_MOST * (double)sl__platform_free_bytes(""))
		return SL_OK;
	rc = compare(&again, s, subject, &brief, arena, err);
	if (rc || !again.ratio.n || again.ratio.needs_n)
		return rc;
	sl__facts_init(&found, arena, t->findings, t->n_findings);
	sl__facts_add(&found,
		      (struct sl_fact){SL_FACT_RECOMPUTE_SAVES,
				       {now_bytes - (double)again.live_bytes,
					now_bytes,
					(again.ratio.value - 1) * t->step_ns,
					(again.ratio.lo - 1) * t->step_ns,
					(again.ratio.hi - 1) * t->step_ns,
					(double)again.ratio.n},
				       {NULL}});
	t->findings = found.list;
	t->n_findings = found.n;
	return found.has_failed ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__training_subject_compare_keeping(struct sl__training_subject *s,
				     const struct sl__subject_model *subject,
				     struct sl_profile *out,
				     const struct sl__feed_rounds_options *how,
				     struct sl__arena *arena,
				     struct sl_error *err)
{
	struct sl_training_profile *t =
		(struct sl_training_profile *)(uintptr_t)out->training;
	struct other keeping = {.least_saved = -INFINITY};
	enum sl_status rc;

	if (t->n_segments < 2 && s->loader)
		return SL_OK; /* the time is the loader's */
	if (t->n_segments < 2)
		return try_recomputing(s, subject, out, how, arena, err);
	rc = compare(&keeping, s, subject, how, arena, err);
	t->keeping_live_bytes = keeping.live_bytes;
	if (!rc)
		t->keeping_ratio = keeping.ratio;
	return rc;
}
