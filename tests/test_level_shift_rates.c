/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_level_shift_rates.c - how often a series of 200 points without a change
 * shows one, over 1,000 simulated series each: independent and autocorrelated,
 * with spikes.  And how well a step of 3 % among noise of 2 % is located: of
 * one result for each commit, as well as by somebody who knows both levels, and
 * of two results for each commit within two commits in 90 %.
 */
#include "autocorrelated.h"
#include "harness.h"
#include "stats/level_shift.h"

enum { N = 200, N_SERIES = 1000, N_NEAR = 2 };

static const double NOISE = 0.02, SPIKES = 0.03;

static void
simulate(double *x, double rho, struct sl__rng *rng)
{
	fill_autocorrelated(x, N, 0, rho, rng);
	for (size_t i = 0; i < N; i++) {
		x[i] *= NOISE;
		if (sl__rng_uniform(rng) < SPIKES)
			x[i] += NOISE * (5 + 10 * sl__rng_uniform(rng));
	}
}

static void
find(struct sl__level_shifts *out, const double *x, size_t n,
     struct sl__arena *arena)
{
	sl__arena_clear(arena);
	assert_int_equal(sl__level_shifts_find(out, x, n, arena, NULL), SL_OK);
}

static void
test_false_alarms(void **state)
{
	static const double rhos[] = {0, 0.3, 0.5};
	struct sl__level_shifts found;
	struct sl__arena arena;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 1);
	sl__arena_init(&arena, NULL);
	for (size_t r = 0; r < 3; r++) {
		int n_false = 0;

		for (int i = 0; i < N_SERIES; i++) {
			double x[N];

			simulate(x, rhos[r], &rng);
			find(&found, x, N, &arena);
			n_false += found.n > 0;
		}
		print_message("rho %.1f: %d of %d\n", rhos[r], n_false,
			      N_SERIES);
		assert_true(n_false <= N_SERIES / 20);
	}
	sl__arena_release(&arena);
}

/* Where the likelihood of a step between two known levels is largest. */
static size_t
oracle(const double *x, size_t n, double step)
{
	double sum = 0, best = 0;
	size_t at = 0;

	for (size_t k = 0; k < n; k++) {
		/* x[k] belongs to the first level rather than the second. */
		sum += step / 2 - x[k];
		if (sum > best) {
			best = sum;
			at = k + 1;
		}
	}
	return at;
}

static int
is_near(size_t at, size_t truth, size_t n_each)
{
	size_t a = at / n_each, b = truth / n_each;

	return (a > b ? a - b : b - a) <= N_NEAR;
}

/* Of 1,000 steps at a random commit, those located within two commits. */
static void
locate(size_t n_each, int *n_near, int *n_oracle)
{
	const double step = log(1.03);
	struct sl__level_shifts found;
	struct sl__arena arena;
	struct sl__rng rng;

	*n_near = *n_oracle = 0;
	sl__rng_init(&rng, 2);
	sl__arena_init(&arena, NULL);
	for (int i = 0; i < N_SERIES; i++) {
		size_t n_commits = N / n_each;
		size_t truth =
			n_each * (20 + sl__rng_below(&rng, n_commits - 40));
		double x[N];
		int is_found = 0;

		fill_autocorrelated(x, N, 0, 0, &rng);
		for (size_t k = 0; k < N; k++)
			x[k] = NOISE * x[k] + (k >= truth ? step : 0);
		find(&found, x, N, &arena);
		for (size_t k = 0; k < found.n; k++)
			is_found |= is_near(found.list[k].at, truth, n_each);
		*n_near += is_found;
		*n_oracle += is_near(oracle(x, N, step), truth, n_each);
	}
	print_message("%zu a commit: %d of %d near, %d by the oracle\n", n_each,
		      *n_near, N_SERIES, *n_oracle);
	sl__arena_release(&arena);
}

static void
test_located(void **state)
{
	int n_near, n_oracle;

	(void)state;
	locate(1, &n_near, &n_oracle);
	assert_true(n_near >= n_oracle - N_SERIES / 50);
	locate(2, &n_near, &n_oracle);
	assert_true(n_near >= N_SERIES * 9 / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_located),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
