/* SPDX-License-Identifier: Apache-2.0 */
/*
 * special.c - the distribution functions that statistics stand on.
 *
 * Everything but the normal rests on the incomplete beta function: a
 * continued fraction times x^a (1-x)^b / B(a,b).  That factor is computed as
 * Loader (2000) computes binomial probabilities, from the error of
 * Stirling's formula and from deviances: differences of log-gammas would
 * lose eight digits at n = 10^7, and lgamma() writes a global besides.
 * Relative error is some 1e-13; tails are computed as tails, not as 1 - p.
 */
#include "stats/special.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/banned.h"

#define SQRT_HALF   0.70710678118654752440
#define SQRT_TWO_PI 2.50662827463100050242
#define TWO_PI      6.28318530717958647693

/*
 * From here on Student's t is the normal: tails differ by t^4 / (4 df), which
 * is 5e-13 at t = 38, where the normal tail leaves the range of doubles.
 */
#define NORMAL_DF 1e18

/* 1 200 steps of the fraction are taken at a = b = 10^7, 5 500 at 10^9. */
enum { MAX_STEPS = 1000000 };

double
sl__normal_cdf(double z)
{
	return erfc(-z * SQRT_HALF) / 2;
}

/* Abramowitz and Stegun 26.2.23: absolute error below 4.5e-4, p <= 1/2. */
static double
normal_quantile_roughly(double p)
{
	double t = sqrt(-2 * log(p));
	double above = 2.515517 + t * (0.802853 + t * 0.010328);
	double below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));

	return above / below - t;
}

double
sl__normal_quantile(double p)
{
	double z;

	assert(p >= 0 && p <= 1);
	if (p > 0.5)
		return -sl__normal_quantile(1 - p);
	if (p <= 0)
		return -HUGE_VAL;
	z = normal_quantile_roughly(p);
	/* Halley cubes the error: 4.5e-4, 1e-10, then rounding. */
	for (int i = 0; i < 2; i++) {
		double density = exp(-z * z / 2) / SQRT_TWO_PI;
		double step = (sl__normal_cdf(z) - p) / density;

		z -= step / (1 + z * step / 2);
	}
	return z;
}

/*
 * ln Gamma(z) - ((z - 1/2) ln z - z + ln(2 pi) / 2): the series of Stirling
 * from z = 16 on, where the first term left out is below 1e-17, reached by
 * Gamma(z + 1) = z Gamma(z).
 */
static double
stirling_error(double z)
{
	double sum = 0;
	double r;

	for (; z < 16; z += 1)
		sum += (z + 0.5) * log1p(1 / z) - 1;
	r = 1 / (z * z);
	/* B(2k) / (2k (2k-1)) for the Bernoulli numbers B(2) to B(12). */
	return sum + (1.0 / 12 -
		      r * (1.0 / 360 -
			   r * (1.0 / 1260 -
				r * (1.0 / 1680 -
				     r * (1.0 / 1188 - r * 691.0 / 360360))))) /
			     z;
}

/*
 * e - ln(1 + e) for small e without cancellation.  With v = e / (2 + e),
 * ln(1 + e) = 2 (v + v^3/3 + v^5/5 + ...) and e - 2v = e v.
 */
static double
log1p_deficit(double e)
{
	double v = e / (2 + e);
	double power = v;
	double sum = e * v;

	/* |e| <= 1/4, |v| <= 1/7: terms shrink 49-fold, ten reach 2^-53. */
	for (int k = 3; k <= 21; k += 2) {
		power *= v * v;
		sum -= 2 * power / k;
	}
	return sum;
}

/* a ln(a / (n x)) + n x - a, the deviance of a against its mean n x. */
static double
deviance(double a, double n, double x)
{
	double e = fma(n, x, -a) / a;

	if (fabs(e) <= 0.25)
		return a * log1p_deficit(e);
	return a * (e - log(n * x / a));
}

/* x^a y^b / B(a, b), with y = 1 - x. */
static double
beta_factor(double x, double y, double a, double b)
{
	double n = a + b;
	double error =
		stirling_error(n) - stirling_error(a) - stirling_error(b);

	return sqrt(a / n * b / TWO_PI) *
	       exp(error - deviance(a, n, x) - deviance(b, n, y));
}

/* Keeps Lentz's method away from a division by zero. */
static double
not_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/*
 * I_x(a, b) = x^a y^b / B(a, b) / fraction: the even part of the continued
 * fraction 26.5.8 of Abramowitz and Stegun as in Didonato and Morris (1992),
 * whose terms keep their digits where a and b differ by many powers of ten,
 * evaluated by Lentz's method as modified by Thompson and Barnett (1986).
 * Takes some sqrt(max(a, b)) steps when x <= (a + 1) / (a + b + 2).
 */
static double
beta_fraction(double x, double y, double a, double b)
{
	double lambda = a * y - b * x;
	double value = not_zero(a / (a + 1) * (lambda + 1));
	double c = value, d = 0;

	for (double m = 1; m < MAX_STEPS; m++) {
		double k = a + 2 * m - 1;
		double alpha = (a + m - 1) / k * ((a + b + m - 1) / k) * m *
			       (b - m) * x * x;
		double beta = m + m * (b - m) * x / k +
			      (a + m) / (k + 2) * (lambda + 1 + m * (1 + y));

		d = 1 / not_zero(beta + alpha * d);
		c = not_zero(beta + alpha / c);
		value *= c * d;
		if (fabs(c * d - 1) <= DBL_EPSILON)
			break;
	}
	return value;
}

/* I_x(a, b) where the caller knows y = 1 - x better than by subtracting. */
static double
incomplete_beta(double x, double y, double a, double b)
{
	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	/* x > (a + 1) / (a + b + 2), in terms of y. */
	if (y * (a + b + 2) < b + 1)
		return 1 - beta_factor(y, x, b, a) / beta_fraction(y, x, b, a);
	return beta_factor(x, y, a, b) / beta_fraction(x, y, a, b);
}

double
sl__beta_cdf(double x, double a, double b)
{
	assert(a > 0 && b > 0);
	return incomplete_beta(x, 1 - x, a, b);
}

/*
 * P(T > s) for s >= 0 is I_x(df/2, 1/2) / 2 at x = df / (df + s^2).  *slope
 * receives s times the density, which is x^a y^b / B(a, b).
 */
static double
student_tail(double s, double df, double *slope)
{
	double ratio = s * s / df;
	double x = 1 / (1 + ratio);
	double y = 1 / (1 + 1 / ratio);

	*slope = x > 0 && y > 0 ? beta_factor(x, y, df / 2, 0.5) : 0;
	return incomplete_beta(x, y, df / 2, 0.5) / 2;
}

double
sl__student_cdf(double t, double df)
{
	double slope;
	double tail;

	assert(df > 0);
	if (df > NORMAL_DF)
		return sl__normal_cdf(t);
	tail = student_tail(fabs(t), df, &slope);
	return t < 0 ? tail : 1 - tail;
}

/*
 * Newton's method on ln P(T > s) as a function of u = ln s.  The density of
 * ln |T| is log-concave, hence so is its tail: from any start one step may
 * pass the root and all later ones approach it from one side.  Tails of T
 * are power laws, straight lines in these coordinates.
 */
double
sl__student_quantile(double p, double df)
{
	double u;

	assert(p >= 0 && p <= 1 && df > 0);
	if (p > 0.5)
		return -sl__student_quantile(1 - p, df);
	if (p <= 0 || df > NORMAL_DF)
		return sl__normal_quantile(p);
	if (p >= 0.5)
		return 0;
	u = log(-sl__normal_quantile(p));
	/* About a dozen steps.  A quantile whose square overflows is infinite. */
	for (int i = 0; i < 100; i++) {
		double slope;
		double tail = student_tail(exp(u), df, &slope);
		double step = log(tail / p) * (tail / slope);

		u += step;
		if (2 * u >= log(DBL_MAX))
			return -HUGE_VAL;
		/* The error is now about step^2. */
		if (fabs(step) < 1e-9)
			break;
	}
	return -exp(u);
}

double
sl__binomial_cdf(double k, size_t n, double p)
{
	assert(p >= 0 && p <= 1);
	k = floor(k);
	if (k < 0)
		return 0;
	if (k >= (double)n)
		return 1;
	return incomplete_beta(1 - p, p, (double)n - k, k + 1);
}
