/* SPDX-License-Identifier: Apache-2.0 */
/* arm_set.h - several candidates against the first, round by round. */
#ifndef SL_ARM_SET_H
#define SL_ARM_SET_H

#include "base/arena.h"
#include "stats/paired_test.h"

/*
 * Invariants: candidate i > 0 has a test with candidate 0 on wall time and
 * one on CPU time, all over the same rounds.  The error rate is divided by
 * the number of tests on wall time, which alone decide.
 */
struct sl__arm_set {
	size_t n;                   /* candidates */
	struct sl__arm_tests *arms; /* [n]; [0] is not used */
	double *scratch;            /* [cap_rounds] */
	size_t cap_rounds;
	size_t n_taken, n_disturbed, n_left_out;
};

struct sl__arm_tests {
	struct sl__paired_test wall, cpu;
	double decided_s; /* NaN while open */
};

/*
 * Puts the defaults in place of zeros (margin 0.01, alpha 0.05; a negative
 * margin means none) and checks the ranges.
 */
enum sl_status sl__arm_set_defaults(double *margin, double *alpha,
				    struct sl_error *err) SL_CHECKED;

/* n >= 1 candidates; 'coin' decides ties and must outlive the set. */
enum sl_status sl__arm_set_init(struct sl__arm_set *set, size_t n,
				double margin, double alpha,
				struct sl__rng *coin,
				struct sl__arena *arena) SL_CHECKED;

/* Makes room for 'cap' rounds in all, keeping those there are. */
enum sl_status sl__arm_set_reserve(struct sl__arm_set *set, size_t cap,
				   struct sl__arena *arena) SL_CHECKED;

/* The times of one round, in the order of the candidates; above zero. */
struct sl__round {
	const double *wall, *cpu;      /* [n] each */
	int is_disturbed, is_left_out; /* timing/runner.h has the rule */
	double now_s;                  /* for decided_s */
};

/* Adds a round, for which there must be room; one that is left out is only
 * counted.  Allocates nothing. */
void sl__arm_set_add(struct sl__arm_set *set, const struct sl__round *round);

/* Whether every test has a verdict. */
int sl__arm_set_is_decided(const struct sl__arm_set *set);

/* Whether every candidate is proved not slower than the first by more than the
 * margin, or faster. */
int sl__arm_set_passes(const struct sl__arm_set *set);

/*
 * Whether every test has a verdict and a ratio worth printing: an early
 * verdict overshoots, so that it takes min_rounds, or a half-width of half
 * the margin, as a share of the ratio.
 */
int sl__arm_set_is_settled(const struct sl__arm_set *set, size_t min_rounds);

/*
 * Fills the figures of 'out' that come from the rounds: all but names and
 * memory.  'which' is a candidate above 0.
 */
void sl__arm_set_comparison(const struct sl__arm_set *set, size_t which,
			    struct sl_comparison *out);

#endif
