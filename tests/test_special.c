/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_special.c - distribution functions agree to 1e-12 with mpmath's 40
 * digits (oracles/special.py) and with closed forms, far into the tails;
 * quantiles undo them.
 */
#include "harness.h"
#include "stats/special.h"

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* z, P(Z <= z) */
static const double NORMAL_CDF[][2] = {
	{-30, 4.906713927148187e-198}, {-8, 6.220960574271784e-16},
	{-1.96, 0.024997895148220435}, {-0.1, 0.460172162722971},
	{0.3, 0.6179114221889527},     {2, 0.9772498680518208},
	{6, 0.9999999990134123},
};

/* p, z */
static const double NORMAL_QUANTILE[][2] = {
	{1e-300, -37.0470962993612},  {1e-20, -9.262340089798407},
	{1e-05, -4.264890793922825},  {0.01, -2.326347874040841},
	{0.025, -1.9599639845400543}, {0.2, -0.8416212335729142},
	{0.4, -0.2533471031357997},
};

/* x, a, b, I_x(a, b) */
static const double BETA_CDF[][4] = {
	{0.1, 0.5, 0.5, 0.20483276469913345},
	{0.01, 2, 3, 0.00059203},
	{0.9, 2, 3, 0.9963},
	{0.5, 0.01, 4, 0.9997317532469993},
	{1e-30, 0.5, 2, 1.5000000000000001e-15},
	{0.3, 30, 40, 0.012126160623329713},
	{0.2, 30, 40, 8.143500654569912e-06},
	{0.999, 80, 0.3, 0.48770483895084343},
	{0.52, 500.5, 499.5, 0.8912980738167762},
};

/* t, df, P(T <= t) */
static const double STUDENT_CDF[][3] = {
	{-0.01, 3, 0.496324555706426},    {-1, 0.5, 0.3011216108413221},
	{-2.5, 2.5, 0.05228498153907769}, {-12, 4, 0.00013821427425148649},
	{-2, 29, 0.027471818591483593},   {-5, 100, 1.2250867067519001e-06},
	{-2, 10000, 0.02276363033071772}, {-6, 10000000, 9.866213666838918e-10},
};

/* k, n, p, P(Bin(n, p) <= k) */
static const double BINOMIAL_CDF[][4] = {
	{3, 10, 0.5, 0.171875},
	{0, 367, 0.01, 0.025010156959690614},
	{400, 1000, 0.5, 1.3642320780330092e-10},
	{4996837, 10000000, 0.5, 0.022742538103474798},
	{9899370, 10000000, 0.99, 0.02279722702511802},
	{9800, 10000000, 0.001, 0.022695426586163796},
	{0, 10000000, 1e-07, 0.3678794227774695},
};

/* df, t at p = 0.975 */
static const double STUDENT_975[][2] = {
	{1, 12.706204736174705}, {2, 4.302652729749464},
	{4, 2.7764451051977943}, {9, 2.2621571627982053},
	{30, 2.042272456301238}, {1000000, 1.959966356814107},
};

static void
normal_is_that_of_mpmath(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(NORMAL_CDF); i++)
		assert_close(sl__normal_cdf(NORMAL_CDF[i][0]), NORMAL_CDF[i][1],
			     1e-12);
	for (size_t i = 0; i < N_ROWS(NORMAL_QUANTILE); i++) {
		const double *row = NORMAL_QUANTILE[i];

		assert_close(sl__normal_quantile(row[0]), row[1], 1e-13);
	}
	assert_close(sl__normal_quantile(0.975), 1.9599639845400542, 1e-13);
	assert_near(sl__normal_quantile(0.5), 0, 1e-15);
	assert_true(isinf(sl__normal_quantile(0)));
	assert_true(sl__normal_quantile(1) > 0);
}

static void
beta_is_that_of_mpmath(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(BETA_CDF); i++) {
		const double *row = BETA_CDF[i];

		assert_close(sl__beta_cdf(row[0], row[1], row[2]), row[3],
			     1e-12);
	}
	assert_near(sl__beta_cdf(0, 2, 3), 0, 0);
	assert_near(sl__beta_cdf(1, 2, 3), 1, 0);
}

/* I_x(a, 1) = x^a, and I_x(a, b) + I_{1-x}(b, a) = 1. */
static void
beta_has_its_closed_forms(void **state)
{
	(void)state;
	for (double a = 0.25; a < 1e6; a *= 3) {
		for (double x = 0.0625; x < 1; x += 0.0625) {
			double power = pow(x, a);

			assert_near(sl__beta_cdf(x, a, 1), power,
				    power > 1e-300 ? 1e-12 * power : 1e-300);
			assert_near(sl__beta_cdf(x, a, 7) +
					    sl__beta_cdf(1 - x, 7, a),
				    1, 1e-14);
		}
	}
}

static void
student_is_that_of_mpmath(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(STUDENT_CDF); i++) {
		const double *row = STUDENT_CDF[i];

		assert_close(sl__student_cdf(row[0], row[1]), row[2], 1e-12);
		assert_near(sl__student_cdf(-row[0], row[1]), 1 - row[2],
			    1e-15);
	}
	for (size_t i = 0; i < N_ROWS(STUDENT_975); i++) {
		const double *row = STUDENT_975[i];

		assert_close(sl__student_quantile(0.975, row[0]), row[1],
			     1e-12);
	}
}

/*
 * P(T <= t) is 1/2 + atan(t) / pi for one degree of freedom, and
 * 1/2 + t / (2 sqrt(2 + t^2)) for two, so that the quantile for two is
 * (2p - 1) / sqrt(2 p (1 - p)).
 */
static void
student_has_its_closed_forms(void **state)
{
	(void)state;
	for (double p = 1e-100; p < 0.49; p = p < 1e-3 ? p * 10 : p + 0.01) {
		assert_close(sl__student_quantile(p, 1),
			     -1 / tan(3.14159265358979323846 * p), 1e-12);
		assert_close(sl__student_quantile(p, 2),
			     (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-12);
		assert_close(sl__student_quantile(p, HUGE_VAL),
			     sl__normal_quantile(p), 1e-15);
	}
	assert_near(sl__student_cdf(0, 7), 0.5, 0);
	assert_near(sl__student_quantile(0.5, 7), 0, 0);
	assert_true(isinf(sl__student_quantile(0, 7)));
	assert_true(isinf(sl__student_quantile(1e-300, 0.3)));
	assert_near(sl__student_cdf(-1e200, 3), 0, 1e-300);
}

static void
student_quantile_undoes_the_cdf(void **state)
{
	static const double DF[] = {0.1, 0.7, 1, 3.5, 12, 499, 1e5, 1e9, 1e17};

	(void)state;
	for (size_t i = 0; i < N_ROWS(DF); i++) {
		for (double p = 1e-12; p < 0.5; p *= 1.7) {
			double t = sl__student_quantile(p, DF[i]);

			assert_close(sl__student_cdf(t, DF[i]), p, 1e-12);
		}
	}
}

static void
binomial_is_that_of_mpmath(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(BINOMIAL_CDF); i++) {
		const double *row = BINOMIAL_CDF[i];

		assert_close(sl__binomial_cdf(row[0], (size_t)row[1], row[2]),
			     row[3], 1e-12);
	}
	assert_near(sl__binomial_cdf(-1, 10, 0.5), 0, 0);
	assert_near(sl__binomial_cdf(10, 10, 0.5), 1, 0);
	assert_near(sl__binomial_cdf(0, 0, 0.5), 1, 0);
	assert_near(sl__binomial_cdf(3, 10, 0), 1, 0);
	assert_near(sl__binomial_cdf(3, 10, 1), 0, 0);
}

/* Every binomial up to n = 30, summed term by term. */
static void
binomial_is_its_sum(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 30; n++) {
		for (double p = 0.03125; p < 1; p += 0.125) {
			double term = pow(1 - p, (double)n);
			double sum = 0;

			for (size_t k = 0; k < n; k++) {
				sum += term;
				assert_close(sl__binomial_cdf((double)k, n, p),
					     sum, 1e-12);
				term *= (double)(n - k) / (double)(k + 1) * p /
					(1 - p);
			}
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_is_that_of_mpmath),
		cmocka_unit_test(beta_is_that_of_mpmath),
		cmocka_unit_test(beta_has_its_closed_forms),
		cmocka_unit_test(student_is_that_of_mpmath),
		cmocka_unit_test(student_has_its_closed_forms),
		cmocka_unit_test(student_quantile_undoes_the_cdf),
		cmocka_unit_test(binomial_is_that_of_mpmath),
		cmocka_unit_test(binomial_is_its_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
