/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_curve_fit.c - fits and their intervals are SciPy's (oracles/fit.py),
 * exact laws come back exactly, and the intervals of simulated points cover.
 */
#include "harness.h"
#include "stats/curve_fit.h"
#include "base/rng.h"

static const double X[] = {1, 2, 3, 4, 6, 8, 12, 16};
static const double Y[] = {2.1, 3.9, 6.2, 7.8, 12.3, 15.8, 24.5, 31.6};
static const double T[] = {54.1, 57.6, 66.9, 73.2, 95.5, 117.0, 176.3, 240.2};

static void
check(const struct sl_estimate *e, double value, double lo, double hi)
{
	assert_close(e->value, value, 1e-6);
	assert_close(e->lo, lo, 1e-6);
	assert_close(e->hi, hi, 1e-6);
	assert_int_equal(e->n, 8);
	assert_int_equal(e->needs_n, 0);
}

/* A line, as the power law between the exponentials. */
static enum sl_status
fit_line(struct sl__line_fit *out, const double *x, const double *y, size_t n,
	 double alpha, struct sl_error *err)
{
	double to_x[8], to_y[8];

	for (size_t i = 0; i < n; i++) {
		to_x[i] = exp(x[i]);
		to_y[i] = exp(y[i]);
	}
	return sl__fit_power(out, to_x, to_y, n, alpha, err);
}

static void
lines_are_those_of_scipy(void **state)
{
	struct sl__line_fit fit;

	(void)state;
	assert_int_equal(fit_line(&fit, X, Y, 8, .05, NULL), SL_OK);
	check(&fit.slope, 1.990625, 1.933944948, 2.047305052);
	check(&fit.intercept, 0.0859375, -0.3754046982, 0.5472796982);
	assert_close(fit.r_squared, 0.9991882104, 1e-9);
	assert_close(fit.residual_std, 0.3209685862, 1e-9);
}

static void
power_laws_are_those_of_scipy(void **state)
{
	struct sl__line_fit fit;

	(void)state;
	assert_int_equal(sl__fit_power(&fit, X, T, 8, .05, NULL), SL_OK);
	check(&fit.slope, 0.5477856082, 0.3572196088, 0.7383516077);
	check(&fit.intercept, 3.721781209, 3.384866515, 4.058695903);
	assert_close(fit.r_squared, 0.8918390076, 1e-9);
	assert_close(fit.residual_std, 0.1919346555, 1e-9);
}

static void
fixed_costs_are_those_of_scipy(void **state)
{
	struct sl__affine_power_fit fit;

	(void)state;
	assert_int_equal(sl__fit_affine_power(&fit, X, T, 8, .05, NULL), SL_OK);
	assert_close(fit.offset, 50.46783564, 1e-5);
	assert_close(fit.scale, 2.950948847, 1e-5);
	check(&fit.exponent, 1.504664539, 1.400036179, 1.613488314);
	assert_close(fit.residual_std, 0.01694692345, 1e-7);
}

static void
exact_laws_come_back(void **state)
{
	static const double exponents[] = {-1, 0.5, 1, 2, 3};
	struct sl__affine_power_fit affine;
	struct sl__line_fit line;
	double y[8];

	(void)state;
	for (size_t k = 0; k < 5; k++) {
		for (size_t i = 0; i < 8; i++)
			y[i] = 7 + 1e3 * pow(X[i], exponents[k]);
		assert_int_equal(
			sl__fit_affine_power(&affine, X, y, 8, .05, NULL),
			SL_OK);
		assert_near(affine.exponent.value, exponents[k], 1e-5);
		assert_close(affine.scale, 1e3, 1e-3);
		assert_near(affine.offset, 7, 1);
		assert_near(affine.exponent.lo, exponents[k], 1e-4);
		assert_near(affine.exponent.hi, exponents[k], 1e-4);
		for (size_t i = 0; i < 8; i++)
			y[i] = 1e3 * pow(X[i], exponents[k]);
		assert_int_equal(sl__fit_power(&line, X, y, 8, .05, NULL),
				 SL_OK);
		assert_near(line.slope.value, exponents[k], 1e-12);
		assert_near(line.intercept.value, log(1e3), 1e-11);
	}
}

static void
what_cannot_be_known_is_said(void **state)
{
	static const double same[] = {3, 3, 3, 3}, two[] = {1, 2, 1, 2};
	static const double negative[] = {1, 2, -3, 4};
	static const double noise[] = {100, 103, 98, 101, 97, 102, 99, 100};
	struct sl__affine_power_fit affine;
	struct sl__line_fit line;
	struct sl_error err;

	(void)state;
	assert_int_equal(fit_line(&line, X, Y, 1, .05, &err), SL_E_USAGE);
	assert_int_equal(fit_line(&line, same, X, 4, .05, &err), SL_E_USAGE);
	assert_int_equal(sl__fit_power(&line, X, negative, 4, .05, &err),
			 SL_E_USAGE);
	assert_int_equal(sl__fit_affine_power(&affine, X, T, 3, .05, &err),
			 SL_E_USAGE);
	assert_int_equal(sl__fit_affine_power(&affine, two, T, 4, .05, &err),
			 SL_E_USAGE);
	assert_int_equal(
		sl__fit_affine_power(&affine, X, negative, 4, .05, &err),
		SL_E_USAGE);
	/* Two points make a line without an error. */
	assert_int_equal(fit_line(&line, X, Y, 2, .05, NULL), SL_OK);
	assert_near(line.slope.value, 1.8, 1e-12);
	assert_true(isnan(line.slope.lo) && isnan(line.residual_std));
	assert_int_equal(line.slope.needs_n, 3);
	/* A level line explains nothing. */
	assert_int_equal(fit_line(&line, X, same, 4, .05, NULL), SL_OK);
	assert_true(isnan(line.r_squared));
	/* Noise around a constant has no exponent. */
	assert_int_equal(sl__fit_affine_power(&affine, X, noise, 8, .05, NULL),
			 SL_OK);
	assert_true(isinf(affine.exponent.lo) && isinf(affine.exponent.hi));
}

static void
intervals_cover_at_their_rate(void **state)
{
	size_t n_slope = 0, n_exponent = 0;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 5);
	for (int run = 0; run < 1000; run++) {
		struct sl__affine_power_fit affine;
		struct sl__line_fit line;
		double y[8], t[8];

		for (size_t i = 0; i < 8; i++) {
			y[i] = 4 - 2 * X[i] + 3 * sl__rng_normal(&rng);
			t[i] = (50 + 3 * pow(X[i], 1.5)) *
			       exp(0.02 * sl__rng_normal(&rng));
		}
		assert_int_equal(fit_line(&line, X, y, 8, .05, NULL), SL_OK);
		assert_int_equal(
			sl__fit_affine_power(&affine, X, t, 8, .05, NULL),
			SL_OK);
		n_slope += line.slope.lo <= -2 && line.slope.hi >= -2;
		n_exponent += affine.exponent.lo <= 1.5 &&
			      affine.exponent.hi >= 1.5;
	}
	print_message("of 1000: slope covered %zu, exponent %zu\n", n_slope,
		      n_exponent);
	/* 950 within 3 standard deviations of 6.9. */
	assert_in_range(n_slope, 929, 971);
	assert_in_range(n_exponent, 929, 971);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_those_of_scipy),
		cmocka_unit_test(power_laws_are_those_of_scipy),
		cmocka_unit_test(fixed_costs_are_those_of_scipy),
		cmocka_unit_test(exact_laws_come_back),
		cmocka_unit_test(what_cannot_be_known_is_said),
		cmocka_unit_test(intervals_cover_at_their_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
