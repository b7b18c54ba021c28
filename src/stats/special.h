/* SPDX-License-Identifier: Apache-2.0 */
/* special.h - the distribution functions that statistics stand on. */
#ifndef SL_SPECIAL_H
#define SL_SPECIAL_H

#include <stddef.h>

/*
 * All are good to about 1e-12 of the result, small tail probabilities
 * included: P(T <= -40) has as many digits as P(T <= 0).
 */

/* Standard normal: P(Z <= z), and its inverse; infinite at p = 0 and 1. */
double sl__normal_cdf(double z);
double sl__normal_quantile(double p);

/* Regularised incomplete beta I_x(a, b), a > 0, b > 0, 0 <= x <= 1. */
double sl__beta_cdf(double x, double a, double b);

/*
 * Student's t with 'df' > 0 degrees of freedom, not only whole ones; the
 * normal for an infinite df.  The quantile is infinite at p = 0 and 1.
 */
double sl__student_cdf(double t, double df);
double sl__student_quantile(double p, double df);

/*
 * P(Bin(n, p) <= k); 0 for k < 0 and 1 for k >= n, k not whole is rounded
 * down.  Takes some sqrt(n) steps.
 */
double sl__binomial_cdf(double k, size_t n, double p);

#endif
