/* SPDX-License-Identifier: Apache-2.0 */
/* special.h - the distribution functions that statistics stand on. */
#ifndef SL_SPECIAL_H
#define SL_SPECIAL_H

#include <stddef.h>

/* Standard normal: P(Z <= z), and its inverse for 0 < p < 1. */
double sl__normal_cdf(double z);
double sl__normal_quantile(double p);

/* Regularised incomplete beta I_x(a, b), a > 0, b > 0, 0 <= x <= 1. */
double sl__beta_cdf(double x, double a, double b);

/* Student's t with 'df' > 0 degrees of freedom (not only whole ones). */
double sl__student_cdf(double t, double df);
double sl__student_quantile(double p, double df);

/* P(Bin(n, p) <= k); k may be -1 (gives 0) up to n (gives 1). */
double sl__binomial_cdf(double k, size_t n, double p);

#endif
