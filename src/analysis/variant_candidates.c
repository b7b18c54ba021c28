/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variant_candidates.c - which changes of a model are worth a trial.
 *
 * A trial costs a share of the time that all of them have, so that a change is
 * tried where it acts on what bounds the model: fewer bits and fewer
 * operations where that is arithmetic or memory, fewer threads where that is
 * starting them and waiting for them.  Whatever the profile advises is tried
 * as well, and its bound is the promise that the trial is held against.
 */
#include "analysis/variant_candidates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

#define WHEN(bottleneck) (1u << SL_BOTTLENECK_##bottleneck)

enum {
	WORK = WHEN(COMPUTE) | WHEN(MEMORY) | WHEN(MIXED),
	STARTING = WHEN(OVERHEAD) | WHEN(IMBALANCE) | WHEN(MIXED),
	SHRINKS = 1u << 30 /* the model's file and memory */
};

/* In the order of what they usually gain. */
static const struct {
	const char *changes;
	unsigned needs; /* enum sl__variant_needs */
	unsigned suits; /* bottlenecks, and SHRINKS */
} usual[] = {
	{"int8", SL__NEEDS_MATMUL, WORK | SHRINKS},
	{"bf16", SL__NEEDS_MATMUL | SL__NEEDS_BF16, WORK},
	{"int8-weights", SL__NEEDS_LINEAR, WHEN(MEMORY) | SHRINKS},
	{"int4-weights", SL__NEEDS_LINEAR, WHEN(MEMORY) | SHRINKS},
	{"prune-channels=0.5,fine-tune=10", SL__NEEDS_CONV | SL__NEEDS_DATA,
	 WORK | SHRINKS},
	{"prune-channels=0.5,fine-tune=10,int8",
	 SL__NEEDS_CONV | SL__NEEDS_DATA, WORK | SHRINKS},
	{"threads=1", SL__NEEDS_THREADS, STARTING},
};

const char *
sl_variant_reason_text(enum sl_variant_reason reason)
{
	static const char *const words[SL_N_VARIANT_REASONS] = {
		"asked", "usual", "verdict", "advice", "left out"};

	return (unsigned)reason < SL_N_VARIANT_REASONS ? words[reason] : "?";
}

static int
is_listed(const struct sl__variant_candidates *c, const char *changes)
{
	for (size_t i = 0; i < c->n + c->n_left_out; i++) {
		if (!strcmp(c->list[i].changes, changes))
			return 1;
	}
	return 0;
}

static void
add(struct sl__variant_candidates *c, const char *changes,
    enum sl_variant_reason reason, double promised)
{
	int is_left_out = reason == SL_VARIANT_LEFT_OUT;

	if (is_listed(c, changes) || c->n >= SL__VARIANT_CANDIDATES_MOST ||
	    c->n_left_out >= SL__VARIANT_CANDIDATES_MOST)
		return;
	c->list[c->n + c->n_left_out] =
		(struct sl__variant_candidate){changes, reason, promised};
	c->n_left_out += (size_t)is_left_out;
	c->n += (size_t)!is_left_out;
}

/* The change that does what an advice says; NULL: another command does. */
static const char *
changes_of(const struct sl_advice *a)
{
	const struct sl_trial *t = &a->trial;

	if (t->action == SL_TRIAL_VARIANT)
		return t->changes;
	if (t->action == SL_TRIAL_DTYPE && t->dtype == SL_DTYPE_BF16)
		return "bf16";
	if (t->action == SL_TRIAL_THREADS && t->value == 1)
		return "threads=1";
	if (t->action == SL_TRIAL_ALGORITHMS &&
	    a->what.kind == SL_FACT_FIX_ALGORITHMS)
		return "algorithms=fixed";
	if (a->what.kind == SL_FACT_KEEP_KEYS)
		return "kv-cache";
	return NULL;
}

/* One that was tried may gain what it did then, within its interval. */
static double
promise_of(const struct sl_advice *a)
{
	return a->measured.n && !isnan(a->measured.hi)
		       ? fmax(a->measured.hi, a->most)
		       : a->most;
}

static int
suits(unsigned bottlenecks, const struct sl_profile *p,
      enum sl_objective objective)
{
	enum sl_bottleneck b = p ? p->verdict.bottleneck
				 : SL_BOTTLENECK_NOT_ASKED;

	if (objective == SL_OBJECTIVE_MEMORY || objective == SL_OBJECTIVE_SIZE)
		return (bottlenecks & SHRINKS) != 0;
	if (b == SL_BOTTLENECK_NOT_ASKED || b == SL_BOTTLENECK_INCONCLUSIVE)
		return (bottlenecks & ~(WHEN(MEMORY) | SHRINKS)) != 0;
	return (bottlenecks >> b & 1) != 0;
}

void
sl__variant_candidates(struct sl__variant_candidates *out,
		       const struct sl_profile *profile, unsigned met,
		       enum sl_objective objective)
{
	enum { N = sizeof(usual) / sizeof(*usual) };
	int is_decided = profile && profile->verdict.bottleneck >
					    SL_BOTTLENECK_INCONCLUSIVE;

	*out = (struct sl__variant_candidates){0};
	for (size_t i = 0; profile && i < profile->n_advice; i++) {
		const char *changes = changes_of(&profile->advice[i]);

		if (changes)
			add(out, changes, SL_VARIANT_ADVICE,
			    promise_of(&profile->advice[i]));
	}
	for (size_t i = 0; i < N; i++) {
		if ((usual[i].needs & met) == usual[i].needs &&
		    suits(usual[i].suits, profile, objective))
			add(out, usual[i].changes,
			    is_decided ? SL_VARIANT_VERDICT : SL_VARIANT_USUAL,
			    (double)NAN);
	}
	for (size_t i = 0; i < N; i++) {
		if ((usual[i].needs & met) == usual[i].needs)
			add(out, usual[i].changes, SL_VARIANT_LEFT_OUT,
			    (double)NAN);
	}
}

int
sl__variant_breaks_promise(const struct sl_variant_result *v)
{
	/* The least that it gains, at 95 %. */
	return v->promised > 0 && v->ratio.n && 1 / v->ratio.hi > v->promised;
}
