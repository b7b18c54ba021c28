/* SPDX-License-Identifier: Apache-2.0 */
/* bottleneck.c - operations judged, and the model by them. */
#include "analysis/bottleneck.h"
#include "analysis/counter_check.h"
#include "analysis/ledger.h"
#include "analysis/roofline_place.h"
#include "base/status.h"
#include "result/fact_list.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/*
 * What speaks for a judgement, and what against it.
 *
 * What an experiment showed is evidence where it fits the bound and would not
 * fit some other one as well; it speaks against the bound where it does not
 * fit.  Where nothing is decided, all that was seen is listed.
 */

/* Costs (bound_classes.h) from which on an experiment tells candidates
 * apart, and from which on it speaks against the one chosen. */
static const double TELLS = 0.7, OBJECTS = 0.7;

static double
in_place_ns(const struct sl__step_evidence *c)
{
	return isnan(c->at_ns[SL_CONDITION_IN_PLACE])
		       ? c->time_ns
		       : c->at_ns[SL_CONDITION_IN_PLACE];
}

/* The memory of which a sentence about bytes speaks: the bound, or the
 * nearest that holds the operands. */
static int
memory_named(const struct sl__step_evidence *c, enum sl_bound bound)
{
	double share = c->n_bytes / fmax(c->n_threads, 1);

	if (sl__bound_memory(bound) >= 0)
		return sl__bound_memory(bound);
	for (int k = 0; k < SL__N_MEMORIES; k++) {
		if (share <= 1.1 * c->size_bytes[k] &&
		    !isnan(c->bytes_per_s[k]))
			return k;
	}
	return SL__MEMORY_DRAM;
}

static struct sl_fact
bytes_fact(const struct sl__step_evidence *c, enum sl_bound bound)
{
	int k = memory_named(c, bound);
	double rate = c->n_bytes / in_place_ns(c) * 1e9;

	return (struct sl_fact){
		SL_FACT_BYTES_RATE,
		{rate, rate / c->bytes_per_s[k], sl__memory_levels[k]},
		{NULL}};
}

static struct sl_fact
batch_fact(const struct sl__step_evidence *c)
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
seen(const struct sl__step_evidence *c, enum sl_bound bound,
     enum sl__experiment trait)
{
	const double *at = c->at_ns;
	double t = in_place_ns(c);
	double rate = c->flops / t * 1e9 / c->flops_per_s;

	switch (trait) {
	case SL__EXPERIMENT_ARITHMETIC:
		return (struct sl_fact){
			SL_FACT_ARITHMETIC_RATE, {rate, c->dtype}, {NULL}};
	case SL__EXPERIMENT_BYTES:
		return bytes_fact(c, bound);
	case SL__EXPERIMENT_SIZE:
		return (struct sl_fact){
			SL_FACT_STEP_SIZE, {t, c->step_ns}, {NULL}};
	case SL__EXPERIMENT_WARM:
		return (struct sl_fact){
			SL_FACT_WARM, {t / at[SL_CONDITION_WARM]}, {NULL}};
	case SL__EXPERIMENT_COLD:
		return (struct sl_fact){
			SL_FACT_COLD, {at[SL_CONDITION_COLD] / t}, {NULL}};
	case SL__EXPERIMENT_HOG:
		return (struct sl_fact){
			SL_FACT_HOGGED,
			{at[SL_CONDITION_HOGGED] / at[SL_CONDITION_ALONE],
			 c->hog.dram, c->hog.compute},
			{NULL}};
	case SL__EXPERIMENT_THREADS:
		return (struct sl_fact){
			SL_FACT_THREADS,
			{c->n_threads, at[SL_CONDITION_ALONE] / t},
			{NULL}};
	case SL__EXPERIMENT_BATCH:
		return batch_fact(c);
	}
	return (struct sl_fact){.kind = SL_FACT_NONE};
}

static int
was_seen(const struct sl__step_evidence *c, enum sl__experiment trait)
{
	switch (trait) {
	case SL__EXPERIMENT_ARITHMETIC:
		return c->flops > 0 && !isnan(c->flops_per_s);
	case SL__EXPERIMENT_BYTES:
		return c->n_bytes > 0 &&
		       !isnan(c->bytes_per_s[SL__MEMORY_DRAM]);
	case SL__EXPERIMENT_SIZE: /* nothing new about what is large */
		return in_place_ns(c) < 20 * c->step_ns;
	case SL__EXPERIMENT_WARM:
		return !isnan(c->at_ns[SL_CONDITION_WARM]);
	case SL__EXPERIMENT_COLD:
		return !isnan(c->at_ns[SL_CONDITION_COLD]);
	case SL__EXPERIMENT_HOG:
		return !isnan(c->at_ns[SL_CONDITION_HOGGED]) &&
		       !isnan(c->hog.dram);
	case SL__EXPERIMENT_THREADS:
		return !isnan(c->at_ns[SL_CONDITION_ALONE]) &&
		       c->is_same_alone && c->n_threads > 1;
	case SL__EXPERIMENT_BATCH:
		return !isnan(c->at_ns[SL_CONDITION_DOUBLED]) && c->n_bytes > 0;
	}
	return 0;
}

/* Whether some candidate that is not hopeless costs more than the one
 * chosen. */
static int
tells_apart(const struct sl__bound_scores *s, int trait)
{
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		if (s->costs[b][trait] < s->costs[s->bound][trait] - TELLS)
			return 1;
	}
	return 0;
}

/* The two likeliest answers, from 'least' on. */
static void
find_nearest(enum sl_bound nearest[2], const struct sl__bound_scores *s,
	     int least)
{
	int first = least, second = least + 1;

	for (int b = least; b < SL_N_BOUNDS; b++) {
		if (s->probability[b] > s->probability[first]) {
			second = first;
			first = b;
		} else if (b != first &&
			   s->probability[b] > s->probability[second]) {
			second = b;
		}
	}
	nearest[0] = (enum sl_bound)first;
	nearest[1] = (enum sl_bound)second;
}

/* Neither of the two likeliest is clear, or it is likely none of them. */
static struct sl_fact
undecided_fact(const struct sl__bound_scores *s)
{
	enum sl_bound of[2];

	find_nearest(of, s, SL_BOUND_UNKNOWN + 1);
	if (s->probability[SL_BOUND_UNKNOWN] > 0.5)
		return (struct sl_fact){
			SL_FACT_UNEXPLAINED, {of[0], of[1]}, {NULL}};
	return (struct sl_fact){
		SL_FACT_UNDECIDED,
		{of[0], s->probability[of[0]], of[1], s->probability[of[1]]},
		{NULL}};
}

/* What all is listed of an operation that is not decided by traits. */
static void
add_special(struct sl__facts *to, const struct sl__step_evidence *c,
	    const struct sl__bound_scores *s)
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

/* Fills evidence and against of a judgement whose bound is decided. */
static enum sl_status
find_evidence(struct sl_judgement *out, const struct sl__step_evidence *c,
	      const struct sl__bound_scores *s, struct sl__arena *arena,
	      struct sl_error *err)
{
	struct sl__facts for_it, against;

	sl__facts_init(&for_it, arena, NULL, 0);
	sl__facts_init(&against, arena, NULL, 0);
	add_special(&for_it, c, s);
	for (int k = 0; k < SL__N_EXPERIMENTS && !c->is_reference; k++) {
		enum sl__experiment trait = (enum sl__experiment)k;

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

/* Plain loops are computing that could be faster. */
static enum sl_bottleneck
kind_of(enum sl_bound bound)
{
	static const enum sl_bottleneck kinds[SL_N_BOUNDS] = {
		[SL_BOUND_UNKNOWN] = SL_BOTTLENECK_INCONCLUSIVE,
		[SL_BOUND_COMPUTE] = SL_BOTTLENECK_COMPUTE,
		[SL_BOUND_L2] = SL_BOTTLENECK_MEMORY,
		[SL_BOUND_L3] = SL_BOTTLENECK_MEMORY,
		[SL_BOUND_DRAM] = SL_BOTTLENECK_MEMORY,
		[SL_BOUND_OVERHEAD] = SL_BOTTLENECK_OVERHEAD,
		[SL_BOUND_IMBALANCE] = SL_BOTTLENECK_IMBALANCE,
		[SL_BOUND_REFERENCE] = SL_BOTTLENECK_COMPUTE,
		[SL_BOUND_INSTRUCTIONS] = SL_BOTTLENECK_COMPUTE,
		[SL_BOUND_LATENCY] = SL_BOTTLENECK_COMPUTE,
		[SL_BOUND_LAYOUT] = SL_BOTTLENECK_MEMORY,
	};

	return kinds[bound];
}

static int
supports(enum sl_bottleneck verdict, enum sl_bound bound)
{
	enum sl_bottleneck kind = kind_of(bound);

	return verdict == SL_BOTTLENECK_MIXED
		       ? kind != SL_BOTTLENECK_INCONCLUSIVE
		       : verdict == kind;
}

static void
add_accounting(struct sl__facts *to, const struct sl_profile *profile)
{
	if (!profile->ledger.is_closed) {
		struct sl_fact fact = sl__ledger_residual_cause(profile);

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

/* A ratio to steps that are fed from memory beyond which feeding costs next to
 * nothing. */
#define FED_ALIKE 0.95

/* Likewise of a model's verdict. */
static enum sl_status
finding_evidence(struct sl_finding *out, const struct sl_profile *profile,
		 struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_feed_comparison *memory =
		sl__feed_comparison_of(profile, SL_FEED_MEMORY);
	int is_open = out->bottleneck == SL_BOTTLENECK_INCONCLUSIVE;
	struct sl__facts for_it, against;

	sl__facts_init(&for_it, arena, NULL, 0);
	sl__facts_init(&against, arena, NULL, 0);
	add_accounting(is_open ? &for_it : &against, profile);
	if (memory)
		sl__facts_add(is_open || (memory->ratio.hi < FED_ALIKE) ==
						      (out->bottleneck ==
						       SL_BOTTLENECK_DATA)
				      ? &for_it
				      : &against,
			      sl__feed_fact(memory));
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

/* An operation of the profile; its response may be NULL. */
static void
case_of(struct sl__step_evidence *out, const struct sl_operation *op,
	const struct sl_profile *profile)
{
	const struct sl_ceilings *ceilings = &profile->ceilings;

	memset(out, 0, sizeof(*out));
	out->dtype = op->dtype ? op->dtype : ceilings->dtype;
	sl__step_evidence_take_ceilings(out, ceilings);
	sl__step_evidence_take_response(out, op->response);
	out->is_reference = op->path == SL_PATH_REFERENCE ||
			    op->path == SL_PATH_STEPWISE;
	out->time_ns = op->median_ns.n ? op->median_ns.value
				       : op->self_ns / op->n_calls;
	out->least_ns = op->min_ns;
	out->flops = (double)op->executed_flops;
	out->core_flops = (double)op->core_flops;
	out->n_bytes = (double)op->n_bytes;
	out->hog = profile->hog;
	out->others_share = profile->others_share;
}

enum sl_status
sl__bottleneck_judge(struct sl_judgement *out,
		     const struct sl__step_evidence *c,
		     const struct sl__bound_classes *classes,
		     struct sl__arena *arena, struct sl_error *err)
{
	struct sl__bound_scores scores;

	memset(out, 0, sizeof(*out));
	sl__bound_classes_score(&scores, c, classes);
	out->bound = scores.bound;
	if (scores.bound != SL_BOUND_UNKNOWN)
		out->confidence = scores.probability[scores.bound];
	find_nearest(out->nearest, &scores, SL_BOUND_UNKNOWN);
	for (int i = 0; i < 2; i++)
		out->likelihood[i] = scores.probability[out->nearest[i]];
	return find_evidence(out, c, &scores, arena, err);
}

static const struct sl_response *
response_of(const struct sl__step_responses *diagnosis, size_t step)
{
	for (size_t i = 0; diagnosis && i < diagnosis->n; i++) {
		if (diagnosis->responses[i].step == step)
			return &diagnosis->responses[i];
	}
	return NULL;
}

/* Whether threads make it faster: t = start + work / n and work > t, so that at
 * least as much of it is work that they share as it is start. */
static int
is_shared(const struct sl_response *r)
{
	const double clearly = 1.1;

	return r && r->is_same_alone &&
	       r->at[SL_CONDITION_ALONE].ns >
		       clearly * r->at[SL_CONDITION_IN_PLACE].ns;
}

/*
 * Where it is more than waking all threads takes, the least that a step takes
 * is the shortest one of the model that its work does not explain.  It is
 * short: a model without a small step says nothing about small steps.
 */
static void
take_step_ns(struct sl_profile *profile,
	     const struct sl__step_responses *diagnosis)
{
	const double small_ns = 5000;
	struct sl_ceilings *ceilings = &profile->ceilings;
	const struct sl_estimate *shortest = NULL;
	double least = small_ns;

	for (size_t i = 0; i < profile->n_operations; i++) {
		const struct sl_operation *op = &profile->operations[i];
		const struct sl_estimate *ns = &op->median_ns;

		if (!ns->n || ns->value >= least ||
		    !(op->bound_ns <= ns->value / 4) ||
		    is_shared(response_of(diagnosis, op->step)))
			continue;
		least = ns->value;
		shortest = ns;
	}
	if (shortest && ceilings->step_ns.n && least > ceilings->step_ns.value)
		ceilings->step_ns = *shortest;
}

/* How much of the time was experimented on, where that is less than wanted. */
static void
remark_coverage(struct sl__facts *remarks, const struct sl_profile *profile,
		double wanted)
{
	double covered = 0;

	for (size_t i = 0; i < profile->n_hot; i++)
		covered += profile->operations[profile->by_time[i]].share;
	if (profile->n_hot < SL__HOT_MOST || covered >= wanted - 1e-9)
		return;
	sl__facts_add(remarks, (struct sl_fact){SL_FACT_COVERAGE,
						{covered, SL__HOT_MOST},
						{NULL}});
}

/* What the experiments could not do is said once. */
static enum sl_status
remark_absences(struct sl_profile *profile,
		const struct sl__step_responses *diagnosis,
		struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_fact absences[] = {
		{SL_FACT_NOT_ALONE, {0}, {diagnosis->no_alone}},
		{SL_FACT_NOT_COLD, {0}, {diagnosis->no_cold}},
		{SL_FACT_NOT_HOGGED, {0}, {diagnosis->no_hog}},
		{SL_FACT_NOT_DOUBLED, {0}, {diagnosis->no_doubled}},
	};
	struct sl__facts remarks;

	sl__facts_init(&remarks, arena, profile->remarks, profile->n_remarks);
	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		if (absences[i].names[0])
			sl__facts_add(&remarks, absences[i]);
	}
	remark_coverage(&remarks, profile, diagnosis->hot_share);
	profile->remarks = remarks.list;
	profile->n_remarks = remarks.n;
	return remarks.has_failed ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__profile_judge_bottlenecks(struct sl_profile *profile,
			      const struct sl__step_responses *diagnosis,
			      const struct sl__calibration *known,
			      struct sl__arena *arena, struct sl_error *err)
{
	static const struct sl__calibration nothing = {.n = 0};
	struct sl__bound_classes classes;
	struct sl_operation *ops = profile->operations;
	const struct sl_hog_effect none = {(double)NAN, (double)NAN,
					   (double)NAN, (double)NAN};
	enum sl_status rc = sl__bound_classes_fit(
		&classes, known ? known : &nothing, arena, err);

	profile->hog = diagnosis ? diagnosis->hog : none;
	profile->others_share = diagnosis ? sl__others_share(&diagnosis->noise)
					  : (double)NAN;
	take_step_ns(profile, diagnosis);
	if (!rc && diagnosis)
		rc = remark_absences(profile, diagnosis, arena, err);
	for (size_t i = 0; !rc && i < profile->n_operations; i++) {
		struct sl__step_evidence c;

		ops[i].response = response_of(diagnosis, ops[i].step);
		if (sl__profile_is_disturbed(profile) ||
		    ops[i].phase == SL_PHASE_DATA)
			continue;
		case_of(&c, &ops[i], profile);
		rc = sl__bottleneck_judge(&ops[i].judgement, &c, &classes,
					  arena, err);
		if (!rc)
			rc = sl__judgement_cross_check(&ops[i].judgement,
						       &ops[i], profile, arena,
						       err);
	}
	return rc ? rc
		  : sl__judge_model(&profile->verdict, profile, arena, err);
}

enum { N_KINDS = SL_BOTTLENECK_IMBALANCE + 1 };

/* Shares of time, and sums of share x confidence, by kind. */
struct tally {
	double share[N_KINDS], sure[N_KINDS];
	double judged;
	double computing; /* all but what feeds the others */
};

static void
tally_up(struct sl_finding *out, struct tally *t,
	 const struct sl_profile *profile)
{
	for (size_t i = 0; i < profile->n_operations; i++) {
		const struct sl_operation *op = &profile->operations[i];
		enum sl_bottleneck kind = kind_of(op->judgement.bound);

		if (op->phase == SL_PHASE_DATA)
			continue;
		t->computing += op->share;
		out->shares[op->judgement.bound] += op->share;
		t->share[kind] += op->share;
		t->sure[kind] += op->share * op->judgement.confidence;
		if (kind != SL_BOTTLENECK_INCONCLUSIVE)
			t->judged += op->share;
	}
}

static enum sl_bound
main_cause(const struct sl_finding *f)
{
	int best = SL_BOUND_UNKNOWN;

	for (int b = 1; b < SL_N_BOUNDS; b++) {
		if (supports(f->bottleneck, (enum sl_bound)b) &&
		    f->shares[b] > (best ? f->shares[best] : 0))
			best = b;
	}
	return (enum sl_bound)best;
}

/*
 * One kind makes 60 % of the judged time; or two together 80 % of all of it:
 * mixed.  Where neither is so, less than half of the time is judged, or the
 * times do not add up, nothing is said.
 */
static void
decide(struct sl_finding *out, const struct tally *t, int is_closed)
{
	int best = SL_BOTTLENECK_COMPUTE;
	double sure = 0, second = 0;

	for (int k = SL_BOTTLENECK_COMPUTE; k < N_KINDS; k++) {
		sure += t->sure[k];
		if (t->share[k] > t->share[best])
			best = k;
	}
	for (int k = SL_BOTTLENECK_COMPUTE; k < N_KINDS; k++)
		second = k == best ? second : fmax(second, t->share[k]);
	if (!is_closed || t->judged < 0.5 * t->computing)
		return;
	if (t->share[best] > 0.6 * t->judged) {
		out->bottleneck = (enum sl_bottleneck)best;
		out->confidence = t->sure[best] / t->share[best] *
				  fmin(t->judged / t->computing, 1);
		return;
	}
	if (t->share[best] + second < 0.8 * t->computing)
		return;
	out->bottleneck = SL_BOTTLENECK_MIXED;
	out->confidence = sure / t->judged * fmin(t->judged / t->computing, 1);
}

/*
 * What steps take less when they are fed from memory is what feeding costs
 * them.  They are bound by data where that is proved (95 %) to be more than any
 * other kind has of the time; what is not judged could all be of one.
 */
static int
is_data_bound(const struct sl_profile *profile, const struct tally *t)
{
	const struct sl_feed_comparison *memory =
		sl__feed_comparison_of(profile, SL_FEED_MEMORY);
	double most = 0;

	for (int k = 0; k < N_KINDS; k++)
		most = fmax(most, t->share[k]);
	return memory && 1 - memory->ratio.hi > most;
}

enum sl_status
sl__judge_model(struct sl_finding *out, const struct sl_profile *profile,
		struct sl__arena *arena, struct sl_error *err)
{
	struct tally t = {.judged = 0};

	memset(out, 0, sizeof(*out));
	out->bottleneck = SL_BOTTLENECK_INCONCLUSIVE;
	tally_up(out, &t, profile);
	decide(out, &t, profile->ledger.is_closed);
	if (is_data_bound(profile, &t)) {
		out->bottleneck = SL_BOTTLENECK_DATA;
		out->confidence = 0.95;
	}
	if (out->bottleneck != SL_BOTTLENECK_INCONCLUSIVE)
		out->cause = main_cause(out);
	return finding_evidence(out, profile, arena, err);
}
