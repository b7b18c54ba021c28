/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_classes.h - bounds told apart by kernels of this machine that have them.
 *
 * Every bound has a class: where the responses of kernels that it bounds lie,
 * and how far apart.  An operation resembles a class by Student's density of
 * its responses around it (4 degrees of freedom), with the noise of its own
 * measurement added; flat priors, and a class "none of these" that is flat over
 * all that can be answered, give each bound its probability.
 */
#ifndef SL_BOUND_CLASSES_H
#define SL_BOUND_CLASSES_H

#include "base/arena.h"
#include "result/calibration.h"

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

/* By experiment. */
struct sl__bound_class {
	double location[SL__N_EXPERIMENTS], variance[SL__N_EXPERIMENTS];
};
struct sl__bound_classes {
	struct sl__bound_class at[SL_N_BOUNDS];
};

/* The memory that a bound names; -1: none. */
int sl__bound_memory(enum sl_bound bound);

/* The classes as this machine's known kernels have them; with none of these
 * as pure kernels answer on any machine.  Storage from 'arena' is scratch. */
enum sl_status sl__bound_classes_fit(struct sl__bound_classes *out,
				     const struct sl__calibration *known,
				     struct sl__arena *arena,
				     struct sl_error *err) SL_CHECKED;

/* What the experiments say: costs are half the squared distance from a class
 * in each response, negative, 4 at most, and 0 for candidates that are none
 * here.  Probabilities sum to 1; that of UNKNOWN is that of none of these. */
struct sl__bound_scores {
	double costs[SL_N_BOUNDS][SL__N_EXPERIMENTS];
	double probability[SL_N_BOUNDS];
	enum sl_bound bound; /* UNKNOWN: no candidate is clear enough */
};

/* Below it a judgement abstains. */
#define SL__PROBABILITY_LEAST 0.8

/* All 0 where there are no ceilings.  A reference path speaks for itself. */
void sl__bound_classes_score(struct sl__bound_scores *out,
			     const struct sl__step_evidence *c,
			     const struct sl__bound_classes *classes);

#endif
