/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_advice.c - what would make training steps faster.
 *
 * Steps that are fed from memory wait for nothing: no way to load batches makes
 * them faster than that.
 */
#include "analysis/advice.h"
#include "analysis/bottleneck.h"
#include "base/status.h"
#include "result/fact_list.h"

#include "base/banned.h"

const char *
sl_feed_text(enum sl_feed feed)
{
	static const char *const words[SL_N_FEEDS] = {"memory", "prefetch"};

	return words[(unsigned)feed < SL_N_FEEDS ? feed : SL_FEED_MEMORY];
}

const struct sl_feed_comparison *
sl__feed_comparison_of(const struct sl_profile *profile, enum sl_feed feed)
{
	const struct sl_training_profile *t = profile->training;

	for (size_t i = 0; t && i < t->n_comparisons; i++) {
		if (t->comparisons[i].feed == feed)
			return &t->comparisons[i];
	}
	return NULL;
}

struct sl_fact
sl__feed_fact(const struct sl_feed_comparison *c)
{
	return (struct sl_fact){
		SL_FACT_FED_FROM_MEMORY,
		{c->ratio.value, c->ratio.lo, c->ratio.hi, (double)c->ratio.n},
		{NULL}};
}

/* How many times as fast. */
static struct sl_estimate
speedup_of(const struct sl_estimate *ratio)
{
	struct sl_estimate out = *ratio;

	out.value = 1 / ratio->value;
	out.lo = 1 / ratio->hi;
	out.hi = 1 / ratio->lo;
	return out;
}

static enum sl_status
remark_in_vain(struct sl_profile *p, const struct sl_feed_comparison *tried,
	       const struct sl_estimate *gain, struct sl__arena *arena,
	       struct sl_error *err)
{
	struct sl__facts remarks;

	sl__facts_init(&remarks, arena, p->remarks, p->n_remarks);
	sl__facts_add(&remarks,
		      (struct sl_fact){SL_FACT_PREFETCH_IN_VAIN,
				       {(double)tried->n_prefetch, gain->value,
					gain->lo, gain->hi},
				       {NULL}});
	p->remarks = remarks.list;
	p->n_remarks = remarks.n;
	return remarks.has_failed ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__advise_training(struct sl_profile *p, struct sl__arena *arena,
		    struct sl_error *err)
{
	const struct sl_feed_comparison *memory =
		sl__feed_comparison_of(p, SL_FEED_MEMORY);
	const struct sl_feed_comparison *tried =
		sl__feed_comparison_of(p, SL_FEED_PREFETCH);
	struct sl_advice *list = sl__arena_array(arena, 1, sizeof(*list));
	struct sl_estimate gain;

	if (!list)
		return sl__fail_nomem(err);
	p->advice = list;
	if (!memory || memory->verdict != SL_VERDICT_FASTER ||
	    !(1 / memory->ratio.lo >= SL__ADVICE_LEAST))
		return SL_OK;
	p->n_advice = 1;
	*list = (struct sl_advice){.what = {.kind = SL_FACT_CHEAPER_SAMPLES},
				   .least = 1,
				   .most = 1 / memory->ratio.lo,
				   .now_ns = p->latency.median.value,
				   .basis = sl__feed_fact(memory)};
	if (!tried)
		return SL_OK;
	gain = speedup_of(&tried->ratio);
	if (tried->verdict != SL_VERDICT_FASTER)
		return remark_in_vain(p, tried, &gain, arena, err);
	list->what = (struct sl_fact){
		SL_FACT_USE_PREFETCH, {(double)tried->n_prefetch}, {NULL}};
	list->trial = (struct sl_trial){.action = SL_TRIAL_PREFETCH,
					.value = (int64_t)tried->n_prefetch};
	list->measured = gain;
	return SL_OK;
}
