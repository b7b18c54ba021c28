/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bootstrap_coverage.c - block bootstrap intervals of mean and median
 * cover at least 90 % of AR(1) series where Student's fail.
 */
#include "autocorrelated.h"
#include "harness.h"
#include "stats/bootstrap.h"
#include "stats/summary.h"

enum { MAX_N = 500, N_RESAMPLES = 300 };

/* How many of n_trials intervals contain 0, by method. */
struct covered {
	size_t mean, median, student;
};

static struct covered
cover_zero(size_t n, double rho, size_t n_trials)
{
	static double x[MAX_N], resample[MAX_N], replicates[N_RESAMPLES];
	struct covered found = {0, 0, 0};
	struct sl__rng rng;
	struct sl__bootstrap_options how = {.05, N_RESAMPLES, &rng, resample,
					    replicates};

	sl__rng_init(&rng, 5);
	for (size_t i = 0; i < n_trials; i++) {
		struct sl_estimate e;

		fill_autocorrelated(x, n, 0, rho, &rng);
		e = sl__block_bootstrap(x, n, sl__statistic_mean, NULL, 0,
					&how);
		found.mean += e.lo <= 0 && 0 <= e.hi;
		e = sl__block_bootstrap(x, n, statistic_median, NULL, 0, &how);
		found.median += e.lo <= 0 && 0 <= e.hi;
		e = sl__student_mean(x, n, .05);
		found.student += e.lo <= 0 && 0 <= e.hi;
	}
	return found;
}

static void
block_intervals_cover_autocorrelated_series(void **state)
{
	static const double RHO[] = {0, 0.3, 0.5};
	const size_t n_trials = 300;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct covered c = cover_zero(MAX_N, RHO[i], n_trials);

		print_message("rho %g, %zu trials: mean %zu, median %zu, "
			      "Student %zu covered\n",
			      RHO[i], n_trials, c.mean, c.median, c.student);
		assert_true(10 * c.mean >= 9 * n_trials);
		assert_true(10 * c.median >= 9 * n_trials);
		/* And they are not merely wide: 95 % and 2.5 errors. */
		assert_true(c.mean <= n_trials * 978 / 1000);
		/* 74 % in theory: 2 Phi(1.96 sqrt((1-rho) / (1+rho))) - 1. */
		if (RHO[i] > 0.4)
			assert_true(10 * c.student < 8 * n_trials);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_intervals_cover_autocorrelated_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
