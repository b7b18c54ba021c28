/* SPDX-License-Identifier: Apache-2.0 */
/* counter_check.c - verdicts held against what the CPU's counters counted. */
#include "analysis/counter_check.h"
#include "analysis/bottleneck.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	LINE_BYTES = 64, /* on all CPUs whose counters libpfm4 names */
	N_WITNESSES = 3
};

static const double TURNS_LEAST = 0.2, SHARE_MOST = 1.25, LEFT = 0.85;

/* Lines that come from a memory have missed the cache before it. */
static const enum sl_event missing[SL__N_MEMORIES] = {
	SL_EVENT_L1_MISSES, SL_EVENT_L2_MISSES, SL_EVENT_L3_MISSES};

void
sl__counts_take(struct sl_profile *profile, const struct sl__counted *counted)
{
	struct sl_operation *ops =
		(struct sl_operation *)(uintptr_t)profile->operations;

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
sl__counter_traffic(struct sl_profile *profile)
{
	struct sl_operation *ops =
		(struct sl_operation *)(uintptr_t)profile->operations;

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

/* What was said for a verdict or against it. */
struct side {
	const char *said[N_WITNESSES];
	size_t n;
};

struct hearing {
	struct sl__arena *arena;
	struct side for_it, against;
	int is_broken; /* out of memory */
};

static void
hear(struct hearing *h, struct side *side, char *words)
{
	if (words)
		side->said[side->n++] = words;
	else
		h->is_broken = 1;
}

static char *
say_lines(struct hearing *h, const struct sl__counter_rates *r, int k)
{
	return sl__arena_format(
		h->arena,
		"lines from %s come at %.3g GB/s, %.0f %% of what it gives",
		sl_level_text(sl__memory_levels[k]), r->bytes_per_s[k] / 1e9,
		100 * r->share[k]);
}

static char *
say_stalls(struct hearing *h, const struct sl__counter_rates *r)
{
	return sl__arena_format(h->arena, "%.0f %% of cycles are stalled",
				100 * r->stalled);
}

static char *
say_pace(struct hearing *h, const struct sl__counter_rates *r)
{
	return sl__arena_format(h->arena, "%.2f instructions a cycle",
				r->per_cycle);
}

static void
hear_on_memory(struct hearing *h, const struct sl__counter_rates *r, int k)
{
	if (r->share[k] >= 0.5)
		hear(h, &h->for_it, say_lines(h, r, k));
	else if (r->share[k] < 0.1)
		hear(h, &h->against, say_lines(h, r, k));
	if (r->stalled >= 0.5)
		hear(h, &h->for_it, say_stalls(h, r));
	else if (r->stalled < 0.15)
		hear(h, &h->against, say_stalls(h, r));
	if (r->per_cycle < 1)
		hear(h, &h->for_it, say_pace(h, r));
	else if (r->per_cycle >= 2)
		hear(h, &h->against, say_pace(h, r));
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
		hear(h, &h->against, say_lines(h, r, k));
}

static void
hear_on_compute(struct hearing *h, const struct sl__counter_rates *r,
		int is_near_roof)
{
	int k = busiest(r);

	hear_against_memory(h, r);
	if (k >= 0 && r->share[k] < 0.5 && !isnan(r->share[SL__MEMORY_DRAM]))
		hear(h, &h->for_it, say_lines(h, r, k));
	if (r->stalled < 0.4)
		hear(h, &h->for_it, say_stalls(h, r));
	else if (r->stalled >= 0.7 && !is_near_roof)
		hear(h, &h->against, say_stalls(h, r));
	if (r->per_cycle >= 1.5)
		hear(h, &h->for_it, say_pace(h, r));
	else if (r->per_cycle < 0.5 && !is_near_roof)
		hear(h, &h->against, say_pace(h, r));
}

static void
hear_on(struct hearing *h, enum sl_bound bound, const struct sl_operation *op,
	const struct sl__counter_rates *r)
{
	switch (bound) {
	case SL_BOUND_COMPUTE:
		hear_on_compute(h, r,
				op->roof == SL_LEVEL_COMPUTE &&
					op->ceiling_share >= 0.5);
		break;
	case SL_BOUND_L2:
		hear_on_memory(h, r, SL__MEMORY_L2);
		break;
	case SL_BOUND_L3:
		hear_on_memory(h, r, SL__MEMORY_L3);
		break;
	case SL_BOUND_DRAM:
		hear_on_memory(h, r, SL__MEMORY_DRAM);
		break;
	case SL_BOUND_OVERHEAD:
	case SL_BOUND_IMBALANCE:
		hear_against_memory(h, r);
		break;
	case SL_BOUND_UNKNOWN:
	case SL_BOUND_REFERENCE:
		break;
	}
}

static char *
sentence(struct hearing *h, const char *beginning, const struct side *side)
{
	const char *const *s = side->said;

	return sl__arena_format(
		h->arena, "%s: %s%s%s%s%s", beginning, s[0],
		side->n > 1 ? ", " : "", side->n > 1 ? s[1] : "",
		side->n > 2 ? ", " : "", side->n > 2 ? s[2] : "");
}

/* What is in both, in one list; NULL when out of memory. */
static const char **
merge(struct sl__arena *arena, const char *const *a, size_t n_a,
      const char *const *b, size_t n_b)
{
	const char **all = sl__arena_array(arena, n_a + n_b, sizeof(*all));

	for (size_t i = 0; all && i < n_a; i++)
		all[i] = a[i];
	for (size_t i = 0; all && i < n_b; i++)
		all[n_a + i] = b[i];
	return all;
}

/* A line more at the end; the list is NULL when out of memory. */
static void
append(struct hearing *h, const char *const **lines, size_t *n,
       const char *line)
{
	const char **all = line ? merge(h->arena, *lines, *n, &line, 1) : NULL;

	h->is_broken |= !all;
	if (!all)
		return;
	*lines = all;
	++*n;
}

/* Nothing is decided any more: all that was seen is listed. */
static void
withdraw(struct hearing *h, struct sl_judgement *j)
{
	const char *first = sl__arena_format(
		h->arena, "experiments say %s, but counters contradict",
		sl_bound_text(j->bound));
	const char **all;
	const char *line = first ? sentence(h, first, &h->against) : NULL;

	h->is_broken |= !line;
	all = merge(h->arena, j->evidence, j->n_evidence, j->against,
		    j->n_against);
	if (line && all)
		all = merge(h->arena, &line, 1, all,
			    j->n_evidence + j->n_against);
	h->is_broken |= !all;
	*j = (struct sl_judgement){.bound = SL_BOUND_UNKNOWN,
				   .evidence = all,
				   .n_evidence =
					   1 + j->n_evidence + j->n_against};
}

enum sl_status
sl__counter_check(struct sl_judgement *judgement, const struct sl_operation *op,
		  const struct sl_profile *profile, struct sl__arena *arena,
		  struct sl_error *err)
{
	struct hearing h = {.arena = arena};
	struct sl__counter_rates rates;

	if (!op->counts)
		return SL_OK;
	sl__counter_rates_of(&rates, op, profile);
	hear_on(&h, judgement->bound, op, &rates);
	if (h.for_it.n)
		append(&h, &judgement->evidence, &judgement->n_evidence,
		       sentence(&h, "counters agree", &h.for_it));
	judgement->confidence *= pow(LEFT, (double)h.against.n);
	if (h.against.n && ((h.against.n > 1 && !h.for_it.n) ||
			    judgement->confidence < SL__PROBABILITY_LEAST))
		withdraw(&h, judgement);
	else if (h.against.n)
		append(&h, &judgement->against, &judgement->n_against,
		       sentence(&h, "counters speak against it", &h.against));
	return h.is_broken ? sl__fail_nomem(err) : SL_OK;
}
