/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_outlier.c - fences are those computed by hand, each side has its own
 * scale, and normal samples are labelled at the rate of 3.5 sigma.
 */
#include "harness.h"
#include "stats/outlier.h"
#include "base/rng.h"
#include "stats/special.h"
#include "stats/summary.h"

static void
check(const double *sorted, size_t n, double low_fence, double high_fence)
{
	struct sl__outliers out;
	size_t n_low = 0, n_high = 0;

	sl__outliers_count(&out, sorted, n);
	assert_near(out.low_fence, low_fence, 1e-12);
	assert_near(out.high_fence, high_fence, 1e-12);
	for (size_t i = 0; i < n; i++) {
		n_low += sorted[i] < low_fence;
		n_high += sorted[i] > high_fence;
	}
	assert_int_equal(out.n_low, n_low);
	assert_int_equal(out.n_high, n_high);
}

static void
fences_are_those_of_the_formula(void **state)
{
	/* Median 6; deviations 0 1 2 3 4 5 to the left, 0 1 2 3 4 94 to the
	 * right: both MADs are 2.5. */
	static const double ODD[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100};
	/* Median 25; deviations 5 6 7 and 5 35 975. */
	static const double SKEWED[] = {18, 19, 20, 30, 60, 1000};
	/* The same, mirrored: the low side is the long one. */
	static const double MIRRORED[] = {-1000, -60, -30, -20, -19, -18};

	(void)state;
	check(ODD, 11, 6 - 3.5 * 2.5 / 0.6745, 6 + 3.5 * 2.5 / 0.6745);
	check(SKEWED, 6, 25 - 3.5 * 6 / 0.6745, 25 + 3.5 * 35 / 0.6745);
	check(MIRRORED, 6, -25 - 3.5 * 35 / 0.6745, -25 + 3.5 * 6 / 0.6745);
}

static void
a_side_without_mad_uses_the_mean_deviation(void **state)
{
	/* To the right of 5: 0 0 0 0 1 2 50, mean 53 / 7, median 0. */
	static const double COARSE[] = {1, 2, 5, 5, 5, 5, 6, 7, 55};
	static const double SAME[] = {3, 3, 3, 3};
	static const double ONE[] = {42};

	(void)state;
	/* To the left: 4 3 0 0 0 0, mean 7 / 6, median 0. */
	check(COARSE, 9, 5 - 3.5 * 1.253314 * 7 / 6,
	      5 + 3.5 * 1.253314 * 53 / 7);
	check(SAME, 4, 3, 3);
	check(ONE, 1, 42, 42);
}

static void
normal_samples_are_labelled_at_their_rate(void **state)
{
	enum { N = 200000 };
	static double x[N];
	double expected = N * sl__normal_cdf(-3.5);
	struct sl__outliers out;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 4);
	for (size_t i = 0; i < N; i++)
		x[i] = sl__rng_normal(&rng);
	sl__sort(x, N);
	sl__outliers_count(&out, x, N);
	assert_near(out.low_fence, -3.5, 0.03);
	assert_near(out.high_fence, 3.5, 0.03);
	/* 47 expected on each side, four standard deviations of that. */
	assert_near((double)out.n_low, expected, 4 * sqrt(expected));
	assert_near((double)out.n_high, expected, 4 * sqrt(expected));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fences_are_those_of_the_formula),
		cmocka_unit_test(a_side_without_mad_uses_the_mean_deviation),
		cmocka_unit_test(normal_samples_are_labelled_at_their_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
