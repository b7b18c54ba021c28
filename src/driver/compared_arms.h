/* SPDX-License-Identifier: Apache-2.0 */
/* compared_arms.h - plans of models that are compared, and where they lie. */
#ifndef SL_COMPARED_ARMS_H
#define SL_COMPARED_ARMS_H

#include "base/option_struct.h"
#include "base/pages.h"
#include "base/rng.h"
#include "experiment/step_pairing.h"
#include "experiment/subject.h"
#include "sleuth/comparing.h"

/*
 * Zeroed before it is opened.  The arms and options are borrowed and outlive
 * it.  Invariants: once open, subjects[i] is one of slots[i], and its plan can
 * be run.
 */
struct sl__compared_arms {
	const struct sl_model_arm *arms;
	size_t n;
	const struct sl_model_comparison_options *how;
	struct sl__arena scratch;
	struct sl__rng rng;       /* decides where plans come to lie */
	struct sl__pages *spacer; /* memory between them; NULL: none */
	int is_unfinished; /* a plan had no time to measure all algorithms */
	int are_known;     /* what the first arm found stands for all */
	int layouts[SL_MODEL_ARMS_MAX]; /* of images; 0: the plan decides */
	struct sl__subject_model slots[SL_MODEL_ARMS_MAX]
				      [2]; /* one is made anew
							    beside the other */
	struct sl__subject_model
		*subjects[SL_MODEL_ARMS_MAX]; /* NULL: not open */
	struct sl__plan_options_storage plans[SL_MODEL_ARMS_MAX];
	struct sl__shared_tuning_cache choices;
};

/* Whatever it returns, the caller closes it. */
enum sl_status
sl__compared_arms_open(struct sl__compared_arms *out,
		       const struct sl_model_arm *arms, size_t n,
		       const struct sl_model_comparison_options *how,
		       struct sl_error *err) SL_CHECKED;
void sl__compared_arms_close(struct sl__compared_arms *arms);

struct sl__step_pairing_side
sl__compared_arms_side(const struct sl__compared_arms *arms, size_t i);

/*
 * The same plans elsewhere in memory, one by one; a coin decides who comes
 * first, so that neither has the better place by rule.  *n_renewed is how many
 * got a new one; the others keep what they have.  SL_E_MEASURE where one would
 * not be the same.
 */
enum sl_status sl__compared_arms_renew(struct sl__compared_arms *arms,
				       size_t *n_renewed,
				       struct sl_error *err) SL_CHECKED;

/*
 * What renewing all plans takes, by what making them took.  Of arms that
 * share a graph and its settings only the first had to measure algorithms: the
 * least of their times counts.
 */
double sl__compared_arms_renewal_ns(const struct sl__compared_arms *arms);

#endif
