/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bootstrap.c - Student's intervals are SciPy's, BCa intervals are
 * within Monte-Carlo error of SciPy's, block lengths are those of the arch
 * package (oracles/bootstrap.py) and of theory.  That intervals cover is
 * simulated in test_bootstrap_coverage.c.
 */
#include "autocorrelated.h"
#include "harness.h"
#include "stats/bootstrap.h"
#include "stats/special.h"
#include "stats/summary.h"

static const double TIMES[] = {10.2, 10.4, 9.9,  10.1, 12.8, 10.0, 10.3,
			       11.1, 25.4, 10.2, 10.6, 9.8,  10.9, 14.2,
			       10.0, 10.5, 10.7, 11.9, 10.1, 17.3};

enum { MAX_N = 4000, MAX_RESAMPLES = 20000 };

/* Scratch for all tests, and what they share. */
static double resample[MAX_N], replicates[MAX_RESAMPLES];

static struct sl__bootstrap_options
bootstrap(struct sl__rng *rng, uint64_t seed, size_t n_resamples)
{
	struct sl__bootstrap_options how = {.05, n_resamples, rng, resample,
					    replicates};

	sl__rng_init(rng, seed);
	return how;
}

static void
student_is_that_of_scipy(void **state)
{
	static const double ONE_TO_FIVE[] = {1, 2, 3, 4, 5};
	struct sl_estimate e = sl__student_mean(ONE_TO_FIVE, 5, .05);

	(void)state;
	assert_close(e.value, 3.0, 1e-15);
	assert_close(e.lo, 1.036756839, 1e-9);
	assert_close(e.hi, 4.963243161, 1e-9);
	assert_int_equal(e.n, 5);
	assert_int_equal(e.needs_n, 0);
	assert_int_equal(e.method, SL_METHOD_STUDENT);
	e = sl__student_mean(TIMES, 20, .05);
	assert_close(e.lo, 10.09935975, 1e-9);
	assert_close(e.hi, 13.54064025, 1e-9);
}

/*
 * A percentile of R replicates has a standard error of 1.9 % of theirs at
 * R = 20 000: sqrt(.025 * .975 / R) / phi(1.96).  Tolerances are four such.
 */
static void
bca_is_that_of_scipy(void **state)
{
	struct sl__rng rng;
	struct sl__bootstrap_options how = bootstrap(&rng, 1, MAX_RESAMPLES);
	struct sl_estimate e;

	(void)state;
	e = sl__bca(TIMES, 20, sl__statistic_mean, NULL, &how);
	assert_close(e.value, 11.82, 1e-14);
	assert_near(e.lo, 10.765, 0.076 * 0.7985);
	assert_near(e.hi, 14.5, 0.076 * 0.7985);
	assert_int_equal(e.needs_n, 0);
	assert_int_equal(e.method, SL_METHOD_BCA);
	/* The median takes few values, so that it is exact. */
	e = sl__bca(TIMES, 20, statistic_median, NULL, &how);
	assert_close(e.value, 10.45, 1e-14);
	assert_close(e.lo, 10.15, 1e-9);
	assert_close(e.hi, 11.0, 1e-9);
}

/* Leaving out groups shifts limits as leaving out single values does. */
static void
bca_of_a_large_sample_is_that_of_scipy(void **state)
{
	struct sl__rng rng;
	struct sl__bootstrap_options how = bootstrap(&rng, 2, MAX_RESAMPLES);
	struct sl_estimate e;
	double x[1500];

	(void)state;
	for (size_t i = 0; i < 1500; i++) {
		double share = ((double)(i * 757 % 1500) + 0.5) / 1500;

		x[i] = exp(2 * sl__normal_quantile(share));
	}
	e = sl__bca(x, 1500, sl__statistic_mean, NULL, &how);
	assert_near(e.lo, 5.875744158, 0.076 * 0.8634);
	assert_near(e.hi, 9.568316244, 0.076 * 0.8634);
}

/* AR(1) driven by the generator of the C standard, as in the oracle. */
static void
congruential_series(double *x, size_t n, double rho)
{
	uint32_t s = 1;
	double y = 0;

	for (size_t i = 0; i < n; i++) {
		s = (s * 1103515245u + 12345u) & 0x7fffffffu;
		y = rho * y + (double)s / 0x1p31 - 0.5;
		x[i] = y;
	}
}

static void
block_lengths_are_those_of_arch(void **state)
{
	static const struct {
		size_t n;
		double rho, block;
	} CASES[] = {
		{100, 0, 1},
		{100, 0.3, 4.38572425},
		{100, 0.8, 10.87467521},
		{100, -0.5, 3.005905093},
		{1000, 0, 1.966589313},
		{1000, 0.3, 8.481108203},
		{1000, 0.8, 19.48745978},
		{1000, -0.5, 10.60561455},
	};
	double x[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		congruential_series(x, CASES[i].n, CASES[i].rho);
		assert_close(sl__block_length(x, CASES[i].n), CASES[i].block,
			     1e-8);
	}
}

/* For AR(1) the optimum is (2 rho / (1 - rho^2))^(2/3) n^(1/3). */
static void
block_lengths_tend_to_the_optimum(void **state)
{
	static double x[MAX_N];
	struct sl__rng rng;
	double sum = 0, white = 0;

	(void)state;
	sl__rng_init(&rng, 3);
	for (int i = 0; i < 200; i++) {
		fill_autocorrelated(x, MAX_N, 0, 0.5, &rng);
		sum += sl__block_length(x, MAX_N);
		fill_autocorrelated(x, MAX_N, 0, 0, &rng);
		white += sl__block_length(x, MAX_N);
	}
	assert_close(sum / 200, pow(4. / 3, 2. / 3) * cbrt(MAX_N), 0.1);
	assert_true(white / 200 < 2);
}

static void
block_lengths_stay_within_bounds(void **state)
{
	static double x[MAX_N];

	(void)state;
	for (size_t n = 0; n < 40; n++) {
		double most;

		for (size_t i = 0; i < n; i++)
			x[i] = (double)i;
		most = fmax(1, fmin((double)n / 3, 3 * sqrt((double)n)));
		assert_true(sl__block_length(x, n) >= 1);
		assert_true(sl__block_length(x, n) <= most);
		for (size_t i = 0; i < n; i++)
			x[i] = 7;
		assert_near(sl__block_length(x, n), 1, 0);
	}
}

/*
 * Under a block length of b the variance of a resampled mean is known given
 * the data (Politis and Romano 1994): with circular autocovariances R(k),
 * (R(0) + 2 sum (1 - k/n) (1 - 1/b)^k R(k)) / n.
 */
static void
blocks_have_the_variance_of_theory(void **state)
{
	enum { N = 60 };
	const double block = 5;
	struct sl__rng rng;
	struct sl__bootstrap_options how = bootstrap(&rng, 4, MAX_RESAMPLES);
	double x[N], mean, expected = 0;

	(void)state;
	congruential_series(x, N, 0.7);
	mean = sl__mean(x, N);
	for (size_t k = 0; k < N; k++) {
		double weight = pow(1 - 1 / block, (double)k) *
				(1 - (double)k / N) * (k ? 2 : 1);

		for (size_t i = 0; i < N; i++)
			expected += weight / N / N * (x[i] - mean) *
				    (x[(i + k) % N] - mean);
	}
	sl__block_bootstrap(x, N, sl__statistic_mean, NULL, block, &how);
	/* A variance of R values has a relative error of sqrt(2 / R). */
	assert_close(sl__variance(replicates, MAX_RESAMPLES,
				  sl__mean(replicates, MAX_RESAMPLES)),
		     expected, 4 * 0.01);
}

static void
small_and_constant_samples_are_told(void **state)
{
	static const double SAME[12] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
	struct sl__rng rng;
	struct sl__bootstrap_options how = bootstrap(&rng, 6, 100);
	struct sl_estimate e[3];

	(void)state;
	e[0] = sl__student_mean(TIMES, 1, .05);
	e[1] = sl__bca(TIMES, 2, sl__statistic_mean, NULL, &how);
	e[2] = sl__block_bootstrap(TIMES, 9, sl__statistic_mean, NULL, 0, &how);
	assert_int_equal(e[0].needs_n, 2);
	assert_int_equal(e[1].needs_n, 3);
	assert_int_equal(e[2].needs_n, 10);
	for (size_t i = 0; i < 3; i++) {
		assert_true(e[i].value > 0);
		assert_true(isnan(e[i].lo) && isnan(e[i].hi));
	}
	e[0] = sl__student_mean(SAME, 12, .05);
	e[1] = sl__bca(SAME, 12, statistic_median, NULL, &how);
	e[2] = sl__block_bootstrap(SAME, 12, sl__statistic_mean, NULL, 0, &how);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(e[i].needs_n, 0);
		assert_near(e[i].lo, 3, 0);
		assert_near(e[i].hi, 3, 0);
	}
	e[0] = sl__student_mean(NULL, 0, .05);
	e[1] = sl__bca(NULL, 0, sl__statistic_mean, NULL, &how);
	e[2] = sl__block_bootstrap(NULL, 0, sl__statistic_mean, NULL, 0, &how);
	for (size_t i = 0; i < 3; i++)
		assert_true(isnan(e[i].value) && e[i].needs_n > 0);
}

static void
a_seed_repeats_an_interval(void **state)
{
	struct sl__rng rng;
	struct sl__bootstrap_options how = bootstrap(&rng, 7, 200);
	struct sl_estimate first, again;

	(void)state;
	first = sl__block_bootstrap(TIMES, 20, statistic_median, NULL, 2, &how);
	how = bootstrap(&rng, 7, 200);
	again = sl__block_bootstrap(TIMES, 20, statistic_median, NULL, 2, &how);
	assert_near(first.lo, again.lo, 0);
	assert_near(first.hi, again.hi, 0);
	assert_int_equal(first.method, SL_METHOD_BLOCK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student_is_that_of_scipy),
		cmocka_unit_test(bca_is_that_of_scipy),
		cmocka_unit_test(bca_of_a_large_sample_is_that_of_scipy),
		cmocka_unit_test(block_lengths_are_those_of_arch),
		cmocka_unit_test(block_lengths_tend_to_the_optimum),
		cmocka_unit_test(block_lengths_stay_within_bounds),
		cmocka_unit_test(blocks_have_the_variance_of_theory),
		cmocka_unit_test(small_and_constant_samples_are_told),
		cmocka_unit_test(a_seed_repeats_an_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
