/* SPDX-License-Identifier: Apache-2.0 */
/* anytime_t.h - the mean of a few figures, looked at after each of them. */
#ifndef SL_ANYTIME_T_H
#define SL_ANYTIME_T_H

#include <stddef.h>

/*
 * A t-test that may be looked at as often as one likes: an e-process for
 * normal figures of unknown mean and spread (Lai 1976; Wang and Ramdas,
 * "Anytime-valid t-tests and confidence sequences for Gaussian means with
 * unknown variance", 2023).  For the mean u, with S the sum and V the sum of
 * squares of x - u,
 *
 *   E = sqrt(k / (n + k)) ((n + k) V / ((n + k) V - S^2))^(n / 2)
 *
 * is the likelihood ratio under a normal prior of the effect, in units of the
 * spread, of variance 1 / k.  Where the mean is u, P(E ever >= 1/a) <= a.
 */
struct sl__anytime_t {
	size_t n;
	double mean, squares; /* of what is beyond the mean */
};

void sl__anytime_t_add(struct sl__anytime_t *t, double x);

/* ln E against a mean of u at most ('is_above'), or at least: below 0 where
 * the mean so far is on that side. */
double sl__anytime_t_log_e(const struct sl__anytime_t *t, double u,
			   int is_above);

/* Half the length of the interval around the mean that holds the true one
 * after all numbers of figures at once, with confidence 1 - alpha; infinite
 * below three figures or so. */
double sl__anytime_t_half_width(const struct sl__anytime_t *t, double alpha);

#endif
