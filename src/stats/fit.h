/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - laws fitted to points. */
#ifndef SL_FIT_H
#define SL_FIT_H

#include "sleuth.h"

struct sl__line_fit {
	struct sl_estimate slope, intercept; /* Student intervals, df n - 2 */
	double r_squared;
	double residual_std; /* NaN for n < 3 */
	size_t n;
};

/* Ordinary least squares y = intercept + slope * x; SL_E_USAGE for n < 2 or
 * when all x are equal. */
enum sl_status sl__fit_line(struct sl__line_fit *out, const double *x,
			    const double *y, size_t n, double alpha,
			    struct sl_error *err) SL_CHECKED;

/*
 * y = c * x^k by least squares on logarithms: slope is the exponent k with
 * its interval, intercept is ln c.  SL_E_USAGE unless all x, y > 0.
 * 'scratch' holds 2 n doubles.
 */
enum sl_status sl__fit_power(struct sl__line_fit *out, const double *x,
			     const double *y, size_t n, double alpha,
			     double *scratch, struct sl_error *err) SL_CHECKED;

/*
 * y = a + c * x^k with a >= 0 (a fixed cost under a power law), by a search
 * over k that solves for a and c linearly; the interval of k by profile
 * likelihood.  Needs n >= 4.
 */
struct sl__affine_power_fit {
	double offset, scale;
	struct sl_estimate exponent;
	double residual_std;
	size_t n;
};
enum sl_status sl__fit_affine_power(struct sl__affine_power_fit *out,
				    const double *x, const double *y, size_t n,
				    double alpha,
				    struct sl_error *err) SL_CHECKED;

#endif
