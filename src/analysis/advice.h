/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h - what would make a model faster, and by how much at most. */
#ifndef SL_ADVICE_H
#define SL_ADVICE_H

#include "base/arena.h"
#include "result/plan_trial.h"

enum { SL__ADVICE_MOST = 5 };

/* Gains below this are not worth a word. */
#define SL__ADVICE_LEAST 1.02

enum { SL__ADVICE_TRIALS = 4 };

/* Changes that are worth a trial before anything is advised, those first that
 * promise most; fills trials[SL__ADVICE_TRIALS] and returns how many.  The
 * profile has everything but its advice. */
size_t sl__advice_trials(struct sl__plan_trial *trials,
			 const struct sl_profile *profile, size_t n_cpus);

/*
 * Fills 'advice' of a profile that has everything else, on a machine of which
 * the process may use n_cpus: at most SL__ADVICE_MOST, those first that were
 * tried and gained, then those that can be tried, then by gain.  A gain is
 * bounded by a measurement of this profile or it is not given; times are
 * medians.  What was tried and is not faster is a remark.  Storage is from
 * 'arena'.
 */
struct sl__advice_sources {
	size_t n_cpus;
	int has_fixed_batch; /* the model can take no larger one */
	const struct sl__plan_trial *trials; /* made by now */
	size_t n_trials;
};
enum sl_status sl__advise(struct sl_profile *profile,
			  const struct sl__advice_sources *sources,
			  struct sl__arena *arena,
			  struct sl_error *err) SL_CHECKED;

/* training_advice.c: what would help a training step, by the comparisons of
 * its feeds. */
enum sl_status sl__advise_training(struct sl_profile *profile,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/*
 * Proposals after trials: those that were tried know their gain, or go where
 * there is none, and what gained without having been proposed is added, as far
 * as there is room for 'most'.  Returns how many there are.
 */
size_t sl__advice_weigh(struct sl_advice *proposals, size_t n, size_t most,
			const struct sl_profile *profile,
			const struct sl__advice_sources *sources);

/* Adds what was tried and is not faster to the remarks. */
enum sl_status sl__advice_remark_in_vain(
	struct sl_profile *profile, const struct sl__advice_sources *sources,
	struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

#endif
