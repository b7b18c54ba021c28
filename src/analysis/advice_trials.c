/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_trials.c - what a profile tries before it advises, and what follows.
 *
 * A bound says what cannot be exceeded, a trial what is there.  Whoever follows
 * an advice makes another plan in another process, maybe with other algorithms:
 * a trial promises what another run would find, and no less than the bound.
 */
#include "analysis/advice.h"
#include "analysis/roofline_place.h"
#include "base/status.h"
#include "result/fact_list.h"
#include "result/step_evidence.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static int
has_type(const struct sl_profile *p, const char *type)
{
	for (size_t i = 0; i < p->n_operations; i++) {
		if (!strcmp(p->operations[i].type, type))
			return 1;
	}
	return 0;
}

static int
has_products(const struct sl_profile *p)
{
	return has_type(p, "Conv") || has_type(p, "MatMul") ||
	       has_type(p, "Gemm") || has_type(p, "ConvTranspose");
}

size_t
sl__advice_trials(struct sl__plan_trial *trials, const struct sl_profile *p,
		  size_t n_cpus)
{
	size_t n = 0;

	memset(trials, 0, SL__ADVICE_TRIALS * sizeof(*trials));
	if (p->dtype == SL_DTYPE_F32 && has_products(p) &&
	    sl__ceiling_peak(&p->ceilings, SL_DTYPE_BF16))
		trials[n++].trial = (struct sl_trial){.action = SL_TRIAL_DTYPE,
						      .dtype = SL_DTYPE_BF16};
	if ((size_t)p->n_threads < n_cpus)
		trials[n++].trial =
			(struct sl_trial){.action = SL_TRIAL_THREADS,
					  .value = (int64_t)n_cpus,
					  .from = 1,
					  .to = (int64_t)n_cpus};
	if (p->n_threads > 1)
		trials[n++].trial =
			(struct sl_trial){.action = SL_TRIAL_THREADS,
					  .value = 1,
					  .from = 1,
					  .to = p->n_threads};
	if (p->request.algorithms == SL_ALGORITHMS_MEASURED &&
	    has_type(p, "Conv"))
		trials[n++].trial =
			(struct sl_trial){.action = SL_TRIAL_ALGORITHMS};
	return n;
}

static int
is_same(const struct sl_trial *a, const struct sl_trial *b)
{
	return a->action == b->action && a->value == b->value &&
	       (a->action != SL_TRIAL_DTYPE || a->dtype == b->dtype);
}

static int
was_tried(const struct sl__plan_trial *t)
{
	return t->gain.n && !t->gain.needs_n;
}

static int
has_gained(const struct sl__plan_trial *t)
{
	return was_tried(t) && t->gain.value >= SL__ADVICE_LEAST &&
	       t->gain.lo > 1;
}

static const struct sl__plan_trial *
trial_of(const struct sl_advice *advice,
	 const struct sl__advice_sources *sources)
{
	for (size_t i = 0; i < sources->n_trials; i++) {
		const struct sl__plan_trial *t = &sources->trials[i];

		if (was_tried(t) && is_same(&t->trial, &advice->trial))
			return t;
	}
	return NULL;
}

static struct sl_fact
what_of(const struct sl_trial *trial, const struct sl_profile *p)
{
	if (trial->action == SL_TRIAL_DTYPE)
		return (struct sl_fact){.kind = SL_FACT_COMPUTE_BF16};
	if (trial->action == SL_TRIAL_ALGORITHMS)
		return (struct sl_fact){.kind = SL_FACT_FIX_ALGORITHMS};
	if (trial->value == 1)
		return (struct sl_fact){SL_FACT_USE_ONE_THREAD,
					{p->n_threads, (double)p->n_operations},
					{NULL}};
	return (struct sl_fact){SL_FACT_USE_THREADS,
				{(double)trial->value, p->n_threads},
				{NULL}};
}

static struct sl_fact
basis_of(const struct sl_estimate *gain)
{
	return (struct sl_fact){
		SL_FACT_TRIED,
		{(double)gain->n, gain->value, gain->lo, gain->hi},
		{NULL}};
}

/* A plan of one's own may gain more than was seen, as far as the bound allows. */
static void
take_gain(struct sl_advice *advice, const struct sl__plan_trial *t)
{
	advice->measured = t->gain;
	advice->measured.lo = t->again.lo;
	advice->measured.hi = t->again.hi;
	advice->most = fmax(advice->most, t->again.hi);
	advice->basis = basis_of(&t->gain);
}

/* Whether it is among the proposals that are left. */
static int
is_proposed(const struct sl_advice *proposals, size_t n,
	    const struct sl_trial *trial)
{
	for (size_t i = 0; i < n; i++) {
		if (is_same(&proposals[i].trial, trial))
			return 1;
	}
	return 0;
}

size_t
sl__advice_weigh(struct sl_advice *proposals, size_t n, size_t most,
		 const struct sl_profile *profile,
		 const struct sl__advice_sources *sources)
{
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sl__plan_trial *t =
			trial_of(&proposals[i], sources);

		if (t && !has_gained(t))
			continue;
		proposals[n_left] = proposals[i];
		if (t)
			take_gain(&proposals[n_left], t);
		n_left++;
	}
	for (size_t i = 0; i < sources->n_trials && n_left < most; i++) {
		const struct sl__plan_trial *t = &sources->trials[i];

		if (!has_gained(t) || is_proposed(proposals, n_left, &t->trial))
			continue;
		proposals[n_left] = (struct sl_advice){
			.what = what_of(&t->trial, profile),
			.least = 1,
			.most = t->again.hi,
			.now_ns = profile->latency.median.value,
			.trial = t->trial};
		take_gain(&proposals[n_left++], t);
	}
	return n_left;
}

static struct sl_fact
in_vain(const struct sl__advice_sources *sources)
{
	struct sl_fact fact = {
		SL_FACT_IN_VAIN,
		{(double)NAN, (double)NAN, (double)NAN, (double)NAN},
		{NULL}};
	size_t n = 0;

	for (size_t i = 0; i < sources->n_trials; i++) {
		const struct sl__plan_trial *t = &sources->trials[i];
		int at = t->trial.action == SL_TRIAL_DTYPE        ? 2
			 : t->trial.action == SL_TRIAL_ALGORITHMS ? 3
			 : t->trial.value == 1                    ? 0
								  : 1;

		if (!was_tried(t) || has_gained(t))
			continue;
		fact.values[at] = 1;
		n++;
	}
	return n ? fact : (struct sl_fact){0};
}

enum sl_status
sl__advice_remark_in_vain(struct sl_profile *profile,
			  const struct sl__advice_sources *sources,
			  struct sl__arena *arena, struct sl_error *err)
{
	struct sl_fact fact = in_vain(sources);
	struct sl__facts remarks;

	if (!fact.kind)
		return SL_OK;
	sl__facts_init(&remarks, arena, profile->remarks, profile->n_remarks);
	sl__facts_add(&remarks, fact);
	profile->remarks = remarks.list;
	profile->n_remarks = remarks.n;
	return remarks.has_failed ? sl__fail_nomem(err) : SL_OK;
}
