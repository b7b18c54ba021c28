/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_plan.h - plans whose steps take scripted time.
 *
 * Steps do what they did and take no time of the script's but what they are
 * told to; or they do nothing at all, where there are many iterations.
 */
#ifndef SL_TEST_SCRIPTED_PLAN_H
#define SL_TEST_SCRIPTED_PLAN_H

#include "harness.h"
#include "scripted.h"
#include "engine/plan.h"

enum { SCRIPTED_STEPS = 8, SCRIPTED_PLANS = 4 };

struct scripted_plan {
	struct scripted_time *time;
	struct sl__step *steps;
	size_t n;
	double ns[SCRIPTED_STEPS]; /* what each step takes, */
	double noise;              /* and up to that share more */
	int is_idle;               /* steps compute nothing */
	size_t n_runs[SCRIPTED_STEPS], n_all;
	size_t interrupt_at; /* this step of all, from 1, sets 'interrupted' of
				the time; 0: none does */
	size_t fail_at;      /* this one fails; 0: none does */
	size_t slow_at;      /* this one takes SLOW_NS more; 0: none does */
	sl__run_function *originals[SCRIPTED_STEPS];
};

/* A step knows nothing but itself: all plans that are scripted now. */
static struct scripted_plan *scripted_plans[SCRIPTED_PLANS];

static inline enum sl_status
scripted_step(struct sl__step *step, struct sl_error *err)
{
	struct scripted_plan *p = NULL;
	size_t i = 0;

	for (int k = 0; k < SCRIPTED_PLANS; k++) {
		struct scripted_plan *other = scripted_plans[k];

		if (other && step >= other->steps &&
		    step < other->steps + other->n)
			p = other;
	}
	assert_non_null(p);
	i = (size_t)(step - p->steps);
	p->n_runs[i]++;
	p->n_all++;
	p->time->now_ns +=
		(uint64_t)(p->ns[i] *
			   (1 + p->noise * sl__rng_uniform(&p->time->rng)));
	if (p->n_all == p->slow_at)
		p->time->now_ns += SLOW_NS;
	if (p->n_all == p->interrupt_at)
		p->time->interrupted = 1;
	if (p->n_all == p->fail_at) {
		if (err)
			(void)snprintf(err->text, sizeof(err->text), "broken");
		return SL_E_DATA;
	}
	return p->is_idle ? SL_OK : p->originals[i](step, err);
}

/* Every step takes step_ns from now on, until the script is dropped. */
static inline void
script_plan(struct scripted_plan *p, const struct sl_plan *plan,
	    struct scripted_time *time, double step_ns)
{
	int slot = 0;

	memset(p, 0, sizeof(*p));
	p->time = time;
	p->steps = plan->current->steps;
	p->n = plan->current->n_steps;
	assert_in_range(p->n, 1, SCRIPTED_STEPS);
	for (size_t i = 0; i < p->n; i++) {
		p->ns[i] = step_ns;
		p->originals[i] = p->steps[i].run;
		p->steps[i].run = scripted_step;
	}
	while (scripted_plans[slot])
		assert_true(++slot < SCRIPTED_PLANS);
	scripted_plans[slot] = p;
}

static inline void
drop_script(const struct scripted_plan *p)
{
	for (int k = 0; k < SCRIPTED_PLANS; k++) {
		if (scripted_plans[k] == p)
			scripted_plans[k] = NULL;
	}
}

#endif
