/* SPDX-License-Identifier: Apache-2.0 */
/* arm_test.h - one arm against the first: what rounds say of it and its layers. */
#ifndef SL_ARM_TEST_H
#define SL_ARM_TEST_H

#include "experiment/recent_rounds.h"
#include "experiment/step_pairing.h"
#include "stats/ensemble.h"
#include "sleuth/comparing.h"

/* Arm i > 0, which is B, against arm 0, which is A. */
struct sl__arm_test {
	struct sl__ensemble ensemble; /* of groups of rounds; members by enum
					 sl_comparison_basis */
	const char *absent[SL_N_COMPARISON_BASES]; /* why one is silent; NULL */
	struct sl__step_pairing pairing;
	unsigned char *is_tested;      /* [pairs] long enough, on both sides */
	struct sl__sign_count *counts; /* [pairs] */
	struct sl__sign_count *here;   /* [pairs] in this placement */
	size_t *n_slower, *n_faster;   /* [pairs] placements in which most
					  rounds lay beyond the margin */
	double *a_ns, *b_ns;           /* [pairs] scratch of a round */
	double *logs;                  /* [pairs] scratch */
	double decided_s;              /* NaN while open */
};

/* Fills a_ns and b_ns. */
void sl__arm_test_time_pairs(struct sl__arm_test *test,
			     const struct sl__iteration_times *a,
			     const struct sl__iteration_times *b);

/* A round: ln(B / A) of each tested layer is added to its counts.  per_sample
 * is added to each ln(B / A). */
void sl__arm_test_count_layers(struct sl__arm_test *test,
			       const struct sl__iteration_times *a,
			       const struct sl__iteration_times *b,
			       double per_sample, double margin,
			       struct sl__rng *coin);

/* ln(B / A) by enum sl_comparison_basis; of layers the median, NaN where none
 * is tested. */
void sl__arm_test_compare(struct sl__arm_test *test,
			  const struct sl__iteration_times *a,
			  const struct sl__iteration_times *b,
			  double per_sample, double *log_ratios);

/* What layers did in this placement is noted, and counts of the next begin. */
void sl__arm_test_close_placement(struct sl__arm_test *test);

/*
 * Where a plan's memory happens to lie moves its short layers by some percent.
 * A layer differs only if it does so in most placements, three of four at
 * least, and in none the other way.
 */
int sl__differs_in_most_placements(const struct sl__arm_test *test, size_t pair,
				   size_t n_placements);

#endif
