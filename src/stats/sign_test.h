/* SPDX-License-Identifier: Apache-2.0 */
/* sign_test.h - the sign e-process: evidence that may be looked at any time. */
#ifndef SL_SIGN_TEST_H
#define SL_SIGN_TEST_H

#include <stddef.h>

/*
 * W wins in n rounds.  If wins are Bernoulli(1/2) given the past, then
 *
 *   E = 2^n B(W + 1/2, n - W + 1/2) / B(1/2, 1/2)
 *
 * (the Krichevsky-Trofimov mixture of likelihood ratios) is a non-negative
 * martingale with mean 1, so that P(E >= 1/alpha at any time) <= alpha
 * (Ville 1939).  Returns ln E.
 */
double sl__sign_log_e(size_t n, size_t wins);

/*
 * Like sl__sign_log_e() for the one-sided null P(win) <= 1/2: the mixture is
 * taken over success rates above 1/2 only, which multiplies E by twice the
 * posterior mass there, 2 (1 - I_{1/2}(W + 1/2, n - W + 1/2)).
 */
double sl__sign_log_e_above(size_t n, size_t wins);

/* Smallest number of wins in n with E >= 1/alpha; n + 1 when none. */
size_t sl__sign_wins_needed(size_t n, double alpha);

/*
 * The rank j for which [D(j), D(n + 1 - j)] is the always-valid 1 - alpha
 * interval of the median: the smallest win count that is not rejected.
 * 0 when n is too small for a bounded interval (n < 7 at alpha = .05).
 */
size_t sl__sign_interval_rank(size_t n, double alpha);

/*
 * e-BH (Wang and Ramdas 2022): with e-values log_e[0..n-1], marks in
 * rejected[] those that may be called discoveries at false discovery rate
 * alpha under any dependence: the k largest, k the greatest with
 * e_(k) >= n / (k alpha).  Returns k.  'order' is scratch for n indices.
 */
size_t sl__e_benjamini_hochberg(unsigned char *rejected, const double *log_e,
				size_t n, double alpha, size_t *order);

/* ln of the average of n e-values given as logarithms; n >= 1. */
double sl__e_values_log_mean(const double *log_e, size_t n);

#endif
