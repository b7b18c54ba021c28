/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck.h - what bounds an operation, from how it answers experiments.
 *
 * Every candidate predicts, as a range, what each experiment should show if it
 * alone were the bound.  An experiment that falls into the range costs the
 * candidate nothing; one that falls beside it costs the more the further off
 * it is, measured in deviations that grow with the noise of the measurement,
 * and never more than a fixed amount, so that no single experiment decides by
 * an accident.  Costs add up like logarithms of likelihoods; of equal priors,
 * they give each candidate its probability.  Below a margin nothing is said.
 */
#ifndef SL_BOTTLENECK_H
#define SL_BOTTLENECK_H

#include "base/arena.h"
#include "result/step_responses.h"

enum sl__memory_kind { SL__MEMORY_L2 = 0, SL__MEMORY_L3, SL__MEMORY_DRAM };
enum { SL__N_MEMORIES = SL__MEMORY_DRAM + 1 };
extern const enum sl_level sl__memory_levels[SL__N_MEMORIES];

/* The memory that a bound names; -1: none. */
int sl__bound_memory(enum sl_bound bound);

/*
 * All that is known of an operation, in numbers; NaN for what is not.  A
 * reference path is given away by itself.
 */
struct sl__bottleneck_evidence {
	int is_reference;
	enum sl_dtype dtype; /* of its arithmetic */
	double n_threads;
	double time_ns;        /* of a call, in place */
	double least_ns;       /* of all calls */
	double flops, n_bytes; /* executed; of operands, each once */
	double flops_per_s;    /* ceiling, of all threads; as all rates */
	double bytes_per_s[SL__N_MEMORIES];
	double size_bytes[SL__N_MEMORIES]; /* what they hold for a thread */
	double step_ns;                    /* the least that a step takes */
	double at_ns[SL_N_CONDITIONS], spread[SL_N_CONDITIONS];
	int is_same_alone; /* as in struct sl_response; as are these two */
	double doubled_flops, doubled_bytes;
	struct sl_hog_effect hog;
	double others_share; /* of all CPUs, meanwhile */
};

/* The experiments, in the order in which they are spoken of. */
enum sl__experiment {
	SL__EXPERIMENT_ARITHMETIC = 0, /* share of that ceiling */
	SL__EXPERIMENT_BYTES, /* share of bandwidths, and where data fits */
	SL__EXPERIMENT_SIZE,  /* against the least a step takes */
	SL__EXPERIMENT_WARM,
	SL__EXPERIMENT_COLD,
	SL__EXPERIMENT_HOG,
	SL__EXPERIMENT_THREADS,
	SL__EXPERIMENT_BATCH
};
enum { SL__N_EXPERIMENTS = SL__EXPERIMENT_BATCH + 1 };

/* What the experiments say: costs[] are at most 0, probabilities sum to 1;
 * both are 0 for UNKNOWN, and for candidates that are none here. */
struct sl__bound_scores {
	double costs[SL_N_BOUNDS][SL__N_EXPERIMENTS];
	double probability[SL_N_BOUNDS];
	enum sl_bound bound; /* UNKNOWN: no candidate is clear enough */
};

/* Below it a judgement abstains. */
#define SL__PROBABILITY_LEAST 0.7

void sl__bound_candidates_score(struct sl__bound_scores *out,
				const struct sl__bottleneck_evidence *c);

/* A judgement with its evidence, from 'arena'. */
enum sl_status sl__bottleneck_judge(struct sl_judgement *out,
				    const struct sl__bottleneck_evidence *c,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

/*
 * Judges every operation of a profile whose roofs are placed, and the model.
 * 'diagnosis' may be NULL; its responses must last as long as the profile.
 * step_ns of the ceilings may grow.
 */
enum sl_status sl__profile_judge_bottlenecks(
	struct sl_profile *profile, const struct sl__step_responses *diagnosis,
	struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

/* The model's verdict from its operations' judgements and time accounting. */
enum sl_status sl__judge_model(struct sl_finding *out,
			       const struct sl_profile *profile,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

#endif
