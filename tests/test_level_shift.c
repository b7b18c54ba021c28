/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_level_shift.c - a lasting change of level is found where it is, with the
 * levels around it; a spike, a drift within the noise, a constant series and a
 * short one are no change; each change of several is found.
 */
#include "autocorrelated.h"
#include "harness.h"
#include "stats/level_shift.h"

enum { N = 120 };

static struct sl__level_shifts found;
static struct sl__arena arena;

static size_t
n_found(const double *x, size_t n)
{
	sl__arena_clear(&arena);
	assert_int_equal(sl__level_shifts_find(&found, x, n, &arena, NULL),
			 SL_OK);
	return found.n;
}

static void
fill(double *x, size_t n, uint64_t seed)
{
	struct sl__rng rng;

	sl__rng_init(&rng, seed);
	fill_autocorrelated(x, n, 0, 0, &rng);
}

static void
test_step(void **state)
{
	double x[N];

	(void)state;
	fill(x, N, 1);
	for (size_t i = 70; i < N; i++)
		x[i] += 8;
	assert_int_equal(n_found(x, N), 1);
	assert_int_equal(found.list[0].at, 70);
	assert_near(found.list[0].before, 0, 0.5);
	assert_near(found.list[0].after, 8, 0.5);
	assert_true(found.list[0].p <= 0.01 && found.list[0].p > 0);
}

static void
test_two_steps(void **state)
{
	double x[N];

	(void)state;
	fill(x, N, 2);
	for (size_t i = 40; i < 90; i++)
		x[i] -= 9;
	assert_int_equal(n_found(x, N), 2);
	assert_int_equal(found.list[0].at, 40);
	assert_int_equal(found.list[1].at, 90);
	assert_near(found.list[0].after, -9, 0.5);
	assert_near(found.list[1].after, 0, 0.5);
}

/* Also at the ends, where a spike is a fourth of a side. */
static void
test_spikes(void **state)
{
	double x[N];

	(void)state;
	fill(x, N, 3);
	x[0] += 50;
	x[1] += 50;
	x[60] -= 90;
	x[N - 1] += 70;
	assert_int_equal(n_found(x, N), 0);
}

static void
test_nothing(void **state)
{
	double x[N] = {0};

	(void)state;
	assert_int_equal(n_found(x, N), 0);
	for (size_t i = 4; i < 7; i++)
		x[i] = 1;
	assert_int_equal(n_found(x, 7), 0);
	assert_int_equal(n_found(x, 0), 0);
	/* Exactly: a series without noise, of four and of four. */
	x[7] = 1;
	assert_int_equal(n_found(x, 8), 0); /* 8 points cannot reach 1 % */
	for (size_t i = 4; i < 20; i++)
		x[i] = 1;
	assert_int_equal(n_found(x, 20), 1);
	assert_int_equal(found.list[0].at, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_two_steps),
		cmocka_unit_test(test_spikes),
		cmocka_unit_test(test_nothing),
	};
	int failed;

	sl__arena_init(&arena, NULL);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	sl__arena_release(&arena);
	return failed;
}
