/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck_evidence.c - what speaks for a judgement, and what against it.
 *
 * What an experiment showed is evidence where it fits the bound and would not
 * fit some other one as well; it speaks against the bound where it does not
 * fit.  Where nothing is decided, all that was seen is listed.
 */
#include "analysis/bottleneck_evidence.h"
#include "analysis/ledger_open.h"
#include "base/status.h"
#include "result/fact_list.h"

#include <math.h>

#include "base/banned.h"

/* Costs (bottleneck_score.c) from which on an experiment tells candidates
 * apart, and from which on it speaks against the one chosen. */
static const double TELLS = 0.7, OBJECTS = 0.7;

static double
in_place_ns(const struct sl__case *c)
{
	return isnan(c->at_ns[SL_CONDITION_IN_PLACE])
		       ? c->time_ns
		       : c->at_ns[SL_CONDITION_IN_PLACE];
}

/* The memory of which a sentence about bytes speaks: the bound, or the
 * nearest that holds the operands. */
static int
memory_named(const struct sl__case *c, enum sl_bound bound)
{
	double share = c->n_bytes / fmax(c->n_threads, 1);

	if (bound == SL_BOUND_L2)
		return SL__MEMORY_L2;
	if (bound == SL_BOUND_L3)
		return SL__MEMORY_L3;
	if (bound == SL_BOUND_DRAM)
		return SL__MEMORY_DRAM;
	for (int k = 0; k < SL__N_MEMORIES; k++) {
		if (share <= 1.1 * c->size_bytes[k] &&
		    !isnan(c->bytes_per_s[k]))
			return k;
	}
	return SL__MEMORY_DRAM;
}

static struct sl_fact
bytes_fact(const struct sl__case *c, enum sl_bound bound)
{
	int k = memory_named(c, bound);
	double rate = c->n_bytes / in_place_ns(c) * 1e9;

	return (struct sl_fact){
		SL_FACT_BYTES_RATE,
		{rate, rate / c->bytes_per_s[k], sl__memory_levels[k]},
		{NULL}};
}

static struct sl_fact
batch_fact(const struct sl__case *c)
{
	return (struct sl_fact){
		SL_FACT_DOUBLED,
		{c->at_ns[SL_CONDITION_DOUBLED] / in_place_ns(c),
		 c->flops > 0 ? c->doubled_flops / c->flops : (double)NAN,
		 c->doubled_bytes / c->n_bytes},
		{NULL}};
}

/* What the experiment showed. */
static struct sl_fact
seen(const struct sl__case *c, enum sl_bound bound, enum sl__trait trait)
{
	const double *at = c->at_ns;
	double t = in_place_ns(c);
	double rate = c->flops / t * 1e9 / c->flops_per_s;
	struct sl_fact fact = {SL_FACT_NONE, {0}, {NULL}};

	switch (trait) {
	case SL__TRAIT_ARITHMETIC:
		fact = (struct sl_fact){
			SL_FACT_ARITHMETIC_RATE, {rate, c->dtype}, {NULL}};
		break;
	case SL__TRAIT_BYTES:
		fact = bytes_fact(c, bound);
		break;
	case SL__TRAIT_SIZE:
		fact = (struct sl_fact){
			SL_FACT_STEP_SIZE, {t, c->step_ns}, {NULL}};
		break;
	case SL__TRAIT_WARM:
		fact = (struct sl_fact){
			SL_FACT_WARM, {t / at[SL_CONDITION_WARM]}, {NULL}};
		break;
	case SL__TRAIT_COLD:
		fact = (struct sl_fact){
			SL_FACT_COLD, {at[SL_CONDITION_COLD] / t}, {NULL}};
		break;
	case SL__TRAIT_HOG:
		fact = (struct sl_fact){
			SL_FACT_HOGGED,
			{at[SL_CONDITION_HOGGED] / at[SL_CONDITION_ALONE],
			 c->hog.dram, c->hog.compute},
			{NULL}};
		break;
	case SL__TRAIT_THREADS:
		fact = (struct sl_fact){
			SL_FACT_THREADS,
			{c->n_threads, at[SL_CONDITION_ALONE] / t},
			{NULL}};
		break;
	case SL__TRAIT_BATCH:
		fact = batch_fact(c);
		break;
	}
	return fact;
}

static int
was_seen(const struct sl__case *c, enum sl__trait trait)
{
	switch (trait) {
	case SL__TRAIT_ARITHMETIC:
		return c->flops > 0 && !isnan(c->flops_per_s);
	case SL__TRAIT_BYTES:
		return c->n_bytes > 0 &&
		       !isnan(c->bytes_per_s[SL__MEMORY_DRAM]);
	case SL__TRAIT_SIZE: /* nothing new about what is large */
		return in_place_ns(c) < 20 * c->step_ns;
	case SL__TRAIT_WARM:
		return !isnan(c->at_ns[SL_CONDITION_WARM]);
	case SL__TRAIT_COLD:
		return !isnan(c->at_ns[SL_CONDITION_COLD]);
	case SL__TRAIT_HOG:
		return !isnan(c->at_ns[SL_CONDITION_HOGGED]) &&
		       !isnan(c->hog.dram);
	case SL__TRAIT_THREADS:
		return !isnan(c->at_ns[SL_CONDITION_ALONE]) &&
		       c->is_same_alone && c->n_threads > 1;
	case SL__TRAIT_BATCH:
		return !isnan(c->at_ns[SL_CONDITION_DOUBLED]) && c->n_bytes > 0;
	}
	return 0;
}

/* Whether some candidate that is not hopeless costs more than the one
 * chosen. */
static int
tells_apart(const struct sl__scores *s, int trait)
{
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		if (s->costs[b][trait] < s->costs[s->bound][trait] - TELLS)
			return 1;
	}
	return 0;
}

/* The two likeliest, where neither is clear. */
static struct sl_fact
undecided_fact(const struct sl__scores *s)
{
	int first = 0, second = 0;

	for (int b = 1; b < SL_N_BOUNDS; b++) {
		if (s->probability[b] > s->probability[first]) {
			second = first;
			first = b;
		} else if (s->probability[b] > s->probability[second]) {
			second = b;
		}
	}
	if (s->probability[first] >= SL__PROBABILITY_LEAST)
		return (struct sl_fact){SL_FACT_UNEXPLAINED, {first}, {NULL}};
	return (struct sl_fact){
		SL_FACT_UNDECIDED,
		{first, s->probability[first], second, s->probability[second]},
		{NULL}};
}

/* What all is listed of an operation that is not decided by traits. */
static void
add_special(struct sl__facts *to, const struct sl__case *c,
	    const struct sl__scores *s)
{
	double sum = 0;

	for (int b = 0; b < SL_N_BOUNDS; b++)
		sum += s->probability[b];
	if (c->is_reference)
		sl__facts_add(to,
			      (struct sl_fact){.kind = SL_FACT_PLAIN_LOOPS});
	else if (s->bound == SL_BOUND_UNKNOWN && sum > 0)
		sl__facts_add(to, undecided_fact(s));
	else if (s->bound == SL_BOUND_UNKNOWN)
		sl__facts_add(to,
			      (struct sl_fact){.kind = SL_FACT_NO_CEILINGS});
}

enum sl_status
sl__bottleneck_evidence(struct sl_judgement *out, const struct sl__case *c,
			const struct sl__scores *s, struct sl__arena *arena,
			struct sl_error *err)
{
	struct sl__facts for_it, against;

	sl__facts_init(&for_it, arena, NULL, 0);
	sl__facts_init(&against, arena, NULL, 0);
	add_special(&for_it, c, s);
	for (int k = 0; k < SL__N_TRAITS && !c->is_reference; k++) {
		enum sl__trait trait = (enum sl__trait)k;

		if (!was_seen(c, trait))
			continue;
		if (s->bound == SL_BOUND_UNKNOWN || tells_apart(s, k))
			sl__facts_add(&for_it, seen(c, s->bound, trait));
		else if (s->costs[s->bound][k] < -OBJECTS)
			sl__facts_add(&against, seen(c, s->bound, trait));
	}
	out->evidence = for_it.list;
	out->n_evidence = for_it.n;
	out->against = against.list;
	out->n_against = against.n;
	return for_it.has_failed || against.has_failed ? sl__fail_nomem(err)
						       : SL_OK;
}

static int
supports(enum sl_bottleneck verdict, enum sl_bound bound)
{
	int is_memory = bound == SL_BOUND_L2 || bound == SL_BOUND_L3 ||
			bound == SL_BOUND_DRAM;

	switch (verdict) {
	case SL_BOTTLENECK_COMPUTE:
		return bound == SL_BOUND_COMPUTE ||
		       bound == SL_BOUND_IMBALANCE ||
		       bound == SL_BOUND_REFERENCE;
	case SL_BOTTLENECK_MEMORY:
		return is_memory;
	case SL_BOTTLENECK_OVERHEAD:
		return bound == SL_BOUND_OVERHEAD;
	case SL_BOTTLENECK_MIXED:
	case SL_BOTTLENECK_INCONCLUSIVE:
	case SL_BOTTLENECK_DATA:
		break;
	}
	return verdict == SL_BOTTLENECK_MIXED && bound != SL_BOUND_UNKNOWN;
}

static void
add_books(struct sl__facts *to, const struct sl_profile *profile)
{
	if (!profile->ledger.is_closed) {
		struct sl_fact fact = sl__ledger_open(profile);

		if (fact.kind == SL_FACT_NONE)
			fact.kind = SL_FACT_OPEN;
		fact.values[0] = profile->ledger.residual_share;
		sl__facts_add(to, fact);
	}
	if (profile->ceilings.absent)
		sl__facts_add(to, (struct sl_fact){
					  .kind = SL_FACT_NOT_MEASURED,
					  .names = {profile->ceilings.absent}});
}

enum sl_status
sl__finding_evidence(struct sl_finding *out, const struct sl_profile *profile,
		     struct sl__arena *arena, struct sl_error *err)
{
	int is_open = out->bottleneck == SL_BOTTLENECK_INCONCLUSIVE;
	struct sl__facts for_it, against;

	sl__facts_init(&for_it, arena, NULL, 0);
	sl__facts_init(&against, arena, NULL, 0);
	add_books(is_open ? &for_it : &against, profile);
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		int is_for = is_open ||
			     supports(out->bottleneck, (enum sl_bound)b);

		/* Shares below one in twenty change nothing. */
		if (out->shares[b] < 0.05)
			continue;
		sl__facts_add(is_for ? &for_it : &against,
			      (struct sl_fact){SL_FACT_TIME_SHARE,
					       {out->shares[b], b},
					       {NULL}});
	}
	out->evidence = for_it.list;
	out->n_evidence = for_it.n;
	out->against = against.list;
	out->n_against = against.n;
	return for_it.has_failed || against.has_failed ? sl__fail_nomem(err)
						       : SL_OK;
}
