/* SPDX-License-Identifier: Apache-2.0 */
/* counter_check.c - verdicts held against what the CPU's counters counted. */
#include "analysis/counter_check.h"
#include "analysis/bottleneck.h"
#include "base/status.h"
#include "result/fact_list.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { LINE_BYTES = 64 }; /* on all CPUs whose counters libpfm4 names */

static const double TURNS_LEAST = 0.2, SHARE_MOST = 1.25, LEFT = 0.85;

/* Lines that come from a memory have missed the cache before it. */
static const enum sl_event missing[SL__N_MEMORIES] = {
	SL_EVENT_L1_MISSES, SL_EVENT_L2_MISSES, SL_EVENT_L3_MISSES};

void
sl__profile_attach_counts(struct sl_profile *profile,
			  const struct sl__plan_counter_values *counted)
{
	struct sl_operation *ops = profile->operations;

	memcpy(profile->counters, counted->uses, sizeof(profile->counters));
	profile->no_counter = counted->absent;
	profile->n_counted = 0;
	for (size_t i = 0; i < counted->n; i++) {
		if (!counted->counts[i].n_calls)
			continue;
		ops[profile->by_time[i]].counts = &counted->counts[i];
		profile->n_counted++;
	}
}

/* The last cache is the second one where there is no third. */
static enum sl_event
missing_before(const struct sl_operation *op, enum sl_level level)
{
	int has_l3 = 0;

	for (size_t i = 0; i < op->n_traffic; i++)
		has_l3 |= op->traffic[i].level == SL_LEVEL_L3;
	if (level == SL_LEVEL_L2)
		return SL_EVENT_L1_MISSES;
	return level == SL_LEVEL_L3 || !has_l3 ? SL_EVENT_L2_MISSES
					       : SL_EVENT_L3_MISSES;
}

static struct sl_reading
lines_read(const struct sl_operation *op, const struct sl_profile *profile,
	   enum sl_event event)
{
	const struct sl_counter_use *use = &profile->counters[event];
	struct sl_reading out = {(double)NAN, NULL};

	if (op->counts && !isnan(op->counts->of[event]))
		out.value = round(LINE_BYTES * op->counts->of[event]);
	else if (profile->no_counter)
		out.absent = profile->no_counter;
	else if (use->absent)
		out.absent = use->absent;
	else if (op->counts)
		out.absent = "its counter had no turn while the operation ran";
	else
		out.absent = "only what takes long is counted";
	return out;
}

void
sl__profile_fill_counted_traffic(struct sl_profile *profile)
{
	struct sl_operation *ops = profile->operations;

	for (size_t i = 0; i < profile->n_operations; i++) {
		struct sl_operation *op = &ops[i];

		for (size_t k = 0; k < op->n_traffic; k++)
			op->traffic[k].measured_bytes = lines_read(
				op, profile,
				missing_before(op, op->traffic[k].level));
	}
}

static double
count_of(const struct sl_operation *op, const struct sl_profile *profile,
	 enum sl_event event)
{
	return profile->counters[event].running_share >= TURNS_LEAST
		       ? op->counts->of[event]
		       : (double)NAN;
}

static double
bandwidth_of(const struct sl_ceilings *ceilings, enum sl_level level)
{
	for (size_t i = 0; i < ceilings->n_levels; i++) {
		if (ceilings->levels[i].level == level)
			return ceilings->levels[i].bytes_per_s.value;
	}
	return (double)NAN;
}

void
sl__counter_rates_of(struct sl__counter_rates *out,
		     const struct sl_operation *op,
		     const struct sl_profile *profile)
{
	double cycles = (double)NAN;
	double s = (op->median_ns.n ? op->median_ns.value
				    : op->self_ns / op->n_calls) /
		   1e9;
	int has_l3 = bandwidth_of(&profile->ceilings, SL_LEVEL_L3) > 0;

	out->per_cycle = out->stalled = (double)NAN;
	for (int k = 0; k < SL__N_MEMORIES; k++)
		out->bytes_per_s[k] = out->share[k] = (double)NAN;
	if (!op->counts)
		return;
	cycles = count_of(op, profile, SL_EVENT_CYCLES);
	if (cycles > 0) {
		out->per_cycle =
			count_of(op, profile, SL_EVENT_INSTRUCTIONS) / cycles;
		out->stalled = count_of(op, profile, SL_EVENT_STALLS) / cycles;
	}
	for (int k = 0; k < SL__N_MEMORIES && s > 0; k++) {
		enum sl_event event = k == SL__MEMORY_DRAM && !has_l3
					      ? SL_EVENT_L2_MISSES
					      : missing[k];

		out->bytes_per_s[k] =
			LINE_BYTES * count_of(op, profile, event) / s;
		out->share[k] =
			out->bytes_per_s[k] /
			bandwidth_of(&profile->ceilings, sl__memory_levels[k]);
		if (!(out->share[k] <= SHARE_MOST))
			out->share[k] = (double)NAN;
	}
}

/* What up to three witnesses say on one side: values of a fact. */
struct side {
	double values[SL_FACT_VALUES];
	size_t n;
};

enum { LEVEL = 0, BYTES, SHARE, STALLED, PACE };

struct hearing {
	struct side for_it, against;
};

static void
hear_lines(struct side *side, const struct sl__counter_rates *r, int k)
{
	side->values[LEVEL] = sl__memory_levels[k];
	side->values[BYTES] = r->bytes_per_s[k];
	side->values[SHARE] = r->share[k];
	side->n++;
}

static void
hear_stalls(struct side *side, const struct sl__counter_rates *r)
{
	side->values[STALLED] = r->stalled;
	side->n++;
}

static void
hear_pace(struct side *side, const struct sl__counter_rates *r)
{
	side->values[PACE] = r->per_cycle;
	side->n++;
}

static void
hear_on_memory(struct hearing *h, const struct sl__counter_rates *r, int k)
{
	if (r->share[k] >= 0.5)
		hear_lines(&h->for_it, r, k);
	else if (r->share[k] < 0.1)
		hear_lines(&h->against, r, k);
	if (r->stalled >= 0.5)
		hear_stalls(&h->for_it, r);
	else if (r->stalled < 0.15)
		hear_stalls(&h->against, r);
	if (r->per_cycle < 1)
		hear_pace(&h->for_it, r);
	else if (r->per_cycle >= 2)
		hear_pace(&h->against, r);
}

/* The memory that is used most of what it gives; -1: none was counted. */
static int
busiest(const struct sl__counter_rates *r)
{
	int best = -1;

	for (int k = 0; k < SL__N_MEMORIES; k++) {
		if (!isnan(r->share[k]) &&
		    (best < 0 || r->share[k] > r->share[best]))
			best = k;
	}
	return best;
}

static void
hear_against_memory(struct hearing *h, const struct sl__counter_rates *r)
{
	int k = busiest(r);

	if (k >= 0 && r->share[k] >= 0.8)
		hear_lines(&h->against, r, k);
}

static void
hear_on_compute(struct hearing *h, const struct sl__counter_rates *r,
		int is_near_roof)
{
	int k = busiest(r);

	hear_against_memory(h, r);
	if (k >= 0 && r->share[k] < 0.5 && !isnan(r->share[SL__MEMORY_DRAM]))
		hear_lines(&h->for_it, r, k);
	if (r->stalled < 0.4)
		hear_stalls(&h->for_it, r);
	else if (r->stalled >= 0.7 && !is_near_roof)
		hear_stalls(&h->against, r);
	if (r->per_cycle >= 1.5)
		hear_pace(&h->for_it, r);
	else if (r->per_cycle < 0.5 && !is_near_roof)
		hear_pace(&h->against, r);
}

static void
hear_on(struct hearing *h, enum sl_bound bound, const struct sl_operation *op,
	const struct sl__counter_rates *r)
{
	switch (bound) {
	case SL_BOUND_COMPUTE:
	case SL_BOUND_INSTRUCTIONS:
		hear_on_compute(h, r,
				op->roof == SL_LEVEL_COMPUTE &&
					op->ceiling_share >= 0.5);
		break;
	case SL_BOUND_L2:
	case SL_BOUND_L3:
	case SL_BOUND_DRAM:
		hear_on_memory(h, r, sl__bound_memory(bound));
		break;
	case SL_BOUND_OVERHEAD:
	case SL_BOUND_IMBALANCE:
		hear_against_memory(h, r);
		break;
	case SL_BOUND_UNKNOWN:
	case SL_BOUND_REFERENCE:
	case SL_BOUND_LATENCY:
	case SL_BOUND_LAYOUT:
		break;
	}
}

static struct sl_fact
fact_of(enum sl_fact_kind kind, const struct side *side, enum sl_bound bound)
{
	struct sl_fact fact = {.kind = kind};

	memcpy(fact.values, side->values, sizeof(fact.values));
	fact.values[PACE + 1] = bound;
	return fact;
}

/* Nothing is decided any more: all that was seen is listed. */
static int
withdraw(struct sl_judgement *j, const struct side *against,
	 struct sl__arena *arena)
{
	struct sl__facts all;

	sl__facts_init(&all, arena, NULL, 0);
	sl__facts_add(&all,
		      fact_of(SL_FACT_COUNTERS_CONTRADICT, against, j->bound));
	for (size_t i = 0; i < j->n_evidence; i++)
		sl__facts_add(&all, j->evidence[i]);
	for (size_t i = 0; i < j->n_against; i++)
		sl__facts_add(&all, j->against[i]);
	*j = (struct sl_judgement){.bound = SL_BOUND_UNKNOWN,
				   .evidence = all.list,
				   .n_evidence = all.n};
	return all.has_failed;
}

/* A fact more at the end; returns whether memory ran out. */
static int
append(const struct sl_fact **facts, size_t *n, struct sl_fact fact,
       struct sl__arena *arena)
{
	struct sl__facts all;

	sl__facts_init(&all, arena, *facts, *n);
	sl__facts_add(&all, fact);
	*facts = all.list;
	*n = all.n;
	return all.has_failed;
}

enum sl_status
sl__judgement_cross_check(struct sl_judgement *judgement,
			  const struct sl_operation *op,
			  const struct sl_profile *profile,
			  struct sl__arena *arena, struct sl_error *err)
{
	struct hearing h;
	struct sl__counter_rates rates;
	int has_failed = 0;

	if (!op->counts)
		return SL_OK;
	for (size_t i = 0; i < SL_FACT_VALUES; i++)
		h.for_it.values[i] = h.against.values[i] = (double)NAN;
	h.for_it.n = h.against.n = 0;
	sl__counter_rates_of(&rates, op, profile);
	hear_on(&h, judgement->bound, op, &rates);
	if (h.for_it.n)
		has_failed |= append(&judgement->evidence,
				     &judgement->n_evidence,
				     fact_of(SL_FACT_COUNTERS_AGREE, &h.for_it,
					     judgement->bound),
				     arena);
	judgement->confidence *= pow(LEFT, (double)h.against.n);
	if (h.against.n && ((h.against.n > 1 && !h.for_it.n) ||
			    judgement->confidence < SL__PROBABILITY_LEAST))
		has_failed |= withdraw(judgement, &h.against, arena);
	else if (h.against.n)
		has_failed |= append(&judgement->against, &judgement->n_against,
				     fact_of(SL_FACT_COUNTERS_OBJECT,
					     &h.against, judgement->bound),
				     arena);
	return has_failed ? sl__fail_nomem(err) : SL_OK;
}
