/* SPDX-License-Identifier: Apache-2.0 */
/* curve_fit.h - laws fitted to points. */
#ifndef SL_CURVE_FIT_H
#define SL_CURVE_FIT_H

#include "sleuth/basics.h"

struct sl__line_fit {
	struct sl_estimate slope, intercept; /* Student intervals, df n - 2;
						refused (needs_n 3) for n 2 */
	double r_squared;                    /* NaN when all y are equal */
	double residual_std; /* n - 2 in the denominator; NaN for n < 3 */
	size_t n;
};

/*
 * y = c * x^k by ordinary least squares on logarithms: slope is the exponent k
 * with its interval, intercept is ln c, residual_std is that of ln y.  The
 * intervals assume independent normal errors of one size.  SL_E_USAGE for
 * n < 2, when all x are equal, or unless all x, y > 0.
 */
enum sl_status sl__fit_power(struct sl__line_fit *out, const double *x,
			     const double *y, size_t n, double alpha,
			     struct sl_error *err) SL_CHECKED;

/*
 * y = offset + scale * x^k with offset, scale >= 0 (a fixed cost beside a
 * power law) by least squares on relative errors, because the noise of times
 * grows with them: a search over k from -6 to 6 that solves for the other
 * two.  The interval of k holds every k whose residuals are not worse by
 * Student's t with n - 3 degrees of freedom (profile t; Bates and Watts
 * 1988, section 6.1); a bound beyond the search is infinite.  SL_E_USAGE
 * for n < 4, or unless all x, y > 0 and three x differ.
 */
struct sl__affine_power_fit {
	double offset, scale;
	struct sl_estimate exponent;
	double residual_std; /* of (y - fit) / y; n - 3 in the denominator */
	size_t n;
};
enum sl_status sl__fit_affine_power(struct sl__affine_power_fit *out,
				    const double *x, const double *y, size_t n,
				    double alpha,
				    struct sl_error *err) SL_CHECKED;

#endif
