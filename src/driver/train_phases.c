/* SPDX-License-Identifier: Apache-2.0 */
/* train_phases.c - where the time of training steps goes. */
#include "driver/train_phases.h"
#include "base/status.h"
#include "stats/quantile.h"

#include "base/banned.h"

static const enum sl_phase order[SL_TRAIN_PHASES] = {
	SL_PHASE_DATA, SL_PHASE_FORWARD, SL_PHASE_LOSS, SL_PHASE_BACKWARD,
	SL_PHASE_UPDATE};

enum sl_status
sl__train_phases_init(struct sl__train_phases *out,
		      const struct sl__training_plan *plan, uint64_t first,
		      uint64_t n_steps, struct sl__arena *arena,
		      struct sl_error *err)
{
	size_t cap = SL__STAMPS_PER_STEP * sl_plan_n_steps(plan->plan) + 1;

	*out = (struct sl__train_phases){
		.plan = plan,
		.stride = (n_steps - first) / SL__TRAIN_SAMPLES + 1,
		.next = first};
	/* The first step touches memory for the first time. */
	out->next += out->stride > 1 ? out->stride / 2 : 1;
	out->events.stamps =
		sl__arena_array(arena, cap, sizeof(*out->events.stamps));
	out->events.cap = cap;
	for (size_t k = 0; k < SL_TRAIN_PHASES; k++) {
		out->ns[k] = sl__arena_array(arena, SL__TRAIN_SAMPLES,
					     sizeof(*out->ns[k]));
		if (!out->ns[k])
			return sl__fail_nomem(err);
	}
	sl__ticker_init(&out->ticker, NULL);
	return out->events.stamps ? SL_OK : sl__fail_nomem(err);
}

struct sl__event_buffer *
sl__train_phases_begin(struct sl__train_phases *p, uint64_t step)
{
	if (step != p->next || p->n == SL__TRAIN_SAMPLES)
		return NULL;
	p->next += p->stride;
	return &p->events;
}

/* A step of the plan that covers no node, a reorder, is of the phase of the
 * one after it.  What is computed again is part of the backward pass. */
void
sl__train_phases_end(struct sl__train_phases *p,
		     const struct sl__event_buffer *e, double wait_ns)
{
	const struct sl_graph *graph = p->plan->training->graph;
	enum sl_phase phase = SL_PHASE_UPDATE;
	double sums[SL_TRAIN_PHASES] = {wait_ns};

	for (size_t i = e->n_stamps; i-- > 1;) {
		const struct sl__timestamp *from = &e->stamps[i - 1];
		struct sl_step step;

		if (sl_plan_step(p->plan->plan, from->step, &step) &&
		    step.n_covers)
			phase = graph->nodes[step.covers[0]].phase;
		if (phase == SL_PHASE_RECOMPUTE)
			phase = SL_PHASE_BACKWARD;
		for (size_t k = 1; k < SL_TRAIN_PHASES; k++) {
			if (order[k] == phase)
				sums[k] += sl__ticker_span_ns(
					&p->ticker, from->ticks, from[1].ticks);
		}
	}
	for (size_t k = 0; k < SL_TRAIN_PHASES; k++)
		p->ns[k][p->n] = sums[k];
	p->n++;
}

void
sl__train_phases_summarize(struct sl__train_phases *p,
			   struct sl_train_phase *out)
{
	for (size_t k = 0; k < SL_TRAIN_PHASES; k++) {
		out[k].phase = order[k];
		out[k].ns = p->n ? sl__median_estimate(p->ns[k], p->n)
				 : sl__no_estimate();
	}
}
