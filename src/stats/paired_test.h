/* SPDX-License-Identifier: Apache-2.0 */
/* paired_test.h - A against B, one round at a time. */
#ifndef SL_PAIRED_TEST_H
#define SL_PAIRED_TEST_H

#include "base/rng.h"
#include "sleuth/measuring.h"

/*
 * Invariants: n <= cap.  log_ratios[i] = D = ln(tB / tA) of round i.  A
 * verdict and a gate, once reached, stay: an e-process that crossed its
 * bound has proved its point whatever it does later.  A tie with zero or
 * with a margin is decided by the coin.
 *
 * With margin m > 0: "slower" when the one-sided e-process of
 * D > ln(1 + m) reaches 2 / alpha, "faster" when that of D < -ln(1 + m)
 * does (both may be false at once, hence the 2); "same" when D < ln(1 + m)
 * and D > -ln(1 + m) have both reached 1 / alpha.  Gate: regressed as
 * "slower", ok when D < ln(1 + m) reached 1 / alpha.
 * With m = 0: the two-sided sign_log_e >= ln(1 / alpha) and the majority of
 * wins decide; "same" cannot be proved; the gate is ok when B is faster.
 */
struct sl__paired_test {
	double *log_ratios; /* the caller's storage, cap doubles */
	size_t n, cap;
	double margin, alpha;
	struct sl__rng *coin; /* decides ties; the caller's */
	size_t n_above_zero;  /* rounds with D > 0 */
	size_t n_above_hi;    /* rounds with D > ln(1 + m) */
	size_t n_above_lo;    /* rounds with D > -ln(1 + m) */
	unsigned char below_hi_proved, above_lo_proved; /* for "same" */
	enum sl_verdict verdict;
	enum sl_gate gate;
	size_t decided_at; /* rounds when the verdict fell; 0 while open */
};

/* A margin below zero counts as zero; 0 < alpha < 1. */
void sl__paired_test_init(struct sl__paired_test *test, double *storage,
			  size_t cap, double margin, double alpha,
			  struct sl__rng *coin);

/*
 * Adds a round; times above zero.  Full storage drops the round (the caller
 * checks n < cap).  Allocates nothing.
 */
void sl__paired_test_add(struct sl__paired_test *test, double a, double b);

/*
 * tB / tA: exp of the median log-ratio, with the always-valid interval of
 * confidence 1 - alpha.  'scratch' holds n doubles.  NaN for n == 0.
 */
struct sl_estimate sl__paired_test_ratio(const struct sl__paired_test *test,
					 double *scratch);

/*
 * The relative change that as many rounds again would find with 80 % power,
 * the margin included: from the spread of the log-ratios around their median
 * (a shift must move enough of them across the margin; docs/statistics.md
 * has the derivation).  NaN when n is too small to say.  'scratch' holds n
 * doubles.
 */
double sl__paired_test_minimum_detectable(const struct sl__paired_test *test,
					  double *scratch);

#endif
