/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arrivals.c - gaps between arrivals pass the test of Kolmogorov and
 * Smirnov for exponential ones of the rate, and do not depend on each other;
 * the same seed gives the same arrivals; there is room for them.
 */
#include "harness.h"
#include "stats/arrivals.h"
#include "stats/summary.h"

enum { CAP = 30000 };

static uint64_t due_ns[CAP], again_ns[CAP];
static double gaps[CAP];

/* The largest distance of sorted gaps from 1 - exp(-rate x). */
static double
distance(const double *sorted, size_t n, double rate)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		double f = -expm1(-rate * sorted[i]);

		most = fmax(most, fabs(f - (double)i / (double)n));
		most = fmax(most, fabs(f - (double)(i + 1) / (double)n));
	}
	return most;
}

static void
gaps_are_exponential(void **state)
{
	const double rate = 250, critical = 1.628; /* of the root of n, 1 % */
	struct sl__rng rng;
	size_t n;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		sl__rng_init(&rng, seed);
		n = sl__arrivals_poisson(due_ns, CAP, rate, 80, &rng);
		assert_in_range(n, 19500, 20500); /* 3.5 sd of 20000 */
		for (size_t i = 0; i < n; i++)
			gaps[i] =
				(double)(due_ns[i] - (i ? due_ns[i - 1] : 0)) /
				1e9;
		assert_near(sl__autocorrelation(gaps, n, 1), 0, .025);
		sl__sort(gaps, n);
		assert_true(distance(gaps, n, rate) * sqrt((double)n) <
			    critical);
		/* A rate that is 6 % off would be noticed. */
		assert_true(distance(gaps, n, 1.06 * rate) * sqrt((double)n) >
			    critical);
	}
}

static void
a_seed_repeats_them(void **state)
{
	struct sl__rng rng;
	size_t n;

	(void)state;
	sl__rng_init(&rng, 4);
	n = sl__arrivals_poisson(due_ns, CAP, 100, 10, &rng);
	sl__rng_init(&rng, 4);
	assert_int_equal(sl__arrivals_poisson(again_ns, CAP, 100, 10, &rng), n);
	assert_memory_equal(due_ns, again_ns, n * sizeof(*due_ns));
	assert_true(due_ns[n - 1] < 10000000000u);
	sl__rng_init(&rng, 5);
	(void)sl__arrivals_poisson(again_ns, CAP, 100, 10, &rng);
	assert_memory_not_equal(due_ns, again_ns, n * sizeof(*due_ns));
}

static void
there_is_room(void **state)
{
	static const double means[] = {0.1, 1, 20, 1000};
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 6);
	for (size_t i = 0; i < 4; i++) {
		size_t cap = sl__arrivals_cap(means[i], 1);

		assert_true(cap < CAP);
		for (size_t run = 0; run < 2000; run++)
			assert_true(sl__arrivals_poisson(due_ns, CAP, means[i],
							 1, &rng) < cap);
	}
	/* No more than there is room for. */
	assert_int_equal(sl__arrivals_poisson(due_ns, 3, 1000, 1, &rng), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_are_exponential),
		cmocka_unit_test(a_seed_repeats_them),
		cmocka_unit_test(there_is_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
