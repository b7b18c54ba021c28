/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_changepoint.c - the partition is the cheapest of all: on random short
 * series it equals the one that dynamic programming over every pair of ends
 * finds.  Planted steps are found where they are, pure noise has none, and
 * long flat series stay affordable.
 */
#include "harness.h"
#include "stats/changepoint.h"
#include "counting.h"
#include "base/rng.h"
#include "stats/summary.h"

enum { N_SHORT = 60, N_LONG = 20000 };

/* Sum of squares around the mean of x[from..to-1], in two passes. */
static double
deviation(const double *x, size_t from, size_t to)
{
	double mean = sl__mean(x + from, to - from), sum = 0;

	for (size_t i = from; i < to; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

/* The best partition, by trying every last segment for every end. */
static void
best_by_force(size_t *starts, size_t *n_segments, const double *x, size_t n,
	      double penalty, size_t min_segment)
{
	double best[N_SHORT + 1];
	size_t from[N_SHORT + 1] = {0}, k = 0;

	best[0] = -penalty;
	for (size_t end = 1; end <= n; end++) {
		best[end] = (double)INFINITY;
		for (size_t start = 0;
		     start < end && start + min_segment <= end; start++) {
			double cost = best[start] + penalty +
				      deviation(x, start, end);

			if (cost < best[end]) {
				best[end] = cost;
				from[end] = start;
			}
		}
	}
	for (size_t end = n; end > 0; end = from[end])
		k++;
	*n_segments = k;
	for (size_t end = n; end > 0; end = from[end])
		starts[--k] = from[end];
}

/* Levels that last a while, under normal noise with spikes. */
static void
fill_steps(double *x, size_t n, struct sl__rng *rng)
{
	double level = 0;

	for (size_t i = 0; i < n; i++) {
		if (sl__rng_uniform(rng) < 0.1)
			level = 4 * sl__rng_normal(rng);
		x[i] = level + sl__rng_normal(rng);
		if (sl__rng_uniform(rng) < 0.05)
			x[i] += 10 * sl__rng_exponential(rng);
	}
}

static void
it_is_the_cheapest_partition_of_all(void **state)
{
	struct sl__rng rng;
	size_t n_changes = 0;

	(void)state;
	sl__rng_init(&rng, 1);
	for (int run = 0; run < 3000; run++) {
		size_t n = 1 + (size_t)sl__rng_below(&rng, N_SHORT);
		size_t min = 1 + (size_t)sl__rng_below(&rng, n < 6 ? n : 6);
		double x[N_SHORT], scratch[N_SHORT], scale;
		size_t starts[N_SHORT], n_segments;
		struct sl__pelt_options how = {0, min};
		struct sl__segments segments;
		struct sl__arena arena;

		fill_steps(x, n, &rng);
		scale = sl__noise_scale(x, n, scratch);
		how.penalty = 0.5 + 20 * sl__rng_uniform(&rng);
		best_by_force(starts, &n_segments, x, n,
			      how.penalty * scale * scale, min);
		sl__arena_init(&arena, NULL);
		assert_int_equal(sl__pelt(&segments, x, n, &how, &arena, NULL),
				 SL_OK);
		assert_int_equal(segments.n, n_segments);
		assert_memory_equal(segments.starts, starts,
				    n_segments * sizeof(*starts));
		n_changes += n_segments - 1;
		sl__arena_release(&arena);
	}
	assert_true(n_changes > 3000);
}

static double
cost_of(const double *x, size_t n, const size_t *starts, size_t n_segments,
	double penalty)
{
	double cost = penalty * (double)(n_segments - 1);

	for (size_t k = 0; k < n_segments; k++)
		cost += deviation(x, starts[k],
				  k + 1 < n_segments ? starts[k + 1] : n);
	return cost;
}

/* Whole numbers make many partitions equally cheap: any of them will do. */
static void
ties_cost_nothing(void **state)
{
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 5);
	for (int run = 0; run < 3000; run++) {
		size_t n = 2 + (size_t)sl__rng_below(&rng, N_SHORT - 1);
		size_t starts[N_SHORT], n_segments;
		double x[N_SHORT], scratch[N_SHORT], penalty, best, found;
		struct sl__pelt_options how = {0, 1};
		struct sl__segments segments;
		struct sl__arena arena;

		for (size_t i = 0; i < n; i++)
			x[i] = (double)sl__rng_below(&rng, 4);
		how.penalty = 1 + (double)sl__rng_below(&rng, 4);
		penalty = how.penalty * pow(sl__noise_scale(x, n, scratch), 2);
		best_by_force(starts, &n_segments, x, n, penalty, 1);
		best = cost_of(x, n, starts, n_segments, penalty);
		sl__arena_init(&arena, NULL);
		assert_int_equal(sl__pelt(&segments, x, n, &how, &arena, NULL),
				 SL_OK);
		found = cost_of(x, n, segments.starts, segments.n, penalty);
		assert_near(found, best, 1e-9);
		sl__arena_release(&arena);
	}
}

static void
planted_steps_are_found_where_they_are(void **state)
{
	static const size_t planted[] = {0, 100, 130, 400};
	static const double levels[] = {10, 25, 10, 18};
	struct sl__segments segments;
	struct sl__arena arena;
	struct sl__rng rng;
	double x[600];
	size_t k = 0;

	(void)state;
	sl__rng_init(&rng, 2);
	for (size_t i = 0; i < 600; i++) {
		if (k < 3 && i == planted[k + 1])
			k++;
		x[i] = levels[k] + sl__rng_normal(&rng);
	}
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__pelt(&segments, x, 600, NULL, &arena, NULL),
			 SL_OK);
	assert_int_equal(segments.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(segments.starts[i], planted[i]);
	sl__arena_release(&arena);
}

static void
series_without_noise_have_their_steps(void **state)
{
	struct sl__segments segments;
	struct sl__arena arena;
	double x[50];

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < 50; i++)
		x[i] = 3;
	assert_int_equal(sl__pelt(&segments, x, 50, NULL, &arena, NULL), SL_OK);
	assert_int_equal(segments.n, 1);
	for (size_t i = 20; i < 50; i++)
		x[i] = 3 + 1e-9;
	assert_int_equal(sl__pelt(&segments, x, 50, NULL, &arena, NULL), SL_OK);
	assert_int_equal(segments.n, 2);
	assert_int_equal(segments.starts[1], 20);
	x[7] = 1e300;
	assert_int_equal(sl__pelt(&segments, x, 50, NULL, &arena, NULL), SL_OK);
	assert_int_equal(segments.starts[0], 0);
	assert_int_equal(sl__pelt(&segments, x, 1, NULL, &arena, NULL), SL_OK);
	assert_int_equal(segments.n, 1);
	assert_int_equal(sl__pelt(&segments, x, 0, NULL, &arena, NULL),
			 SL_E_USAGE);
	sl__arena_release(&arena);
}

/* If every start stayed open these would be 4e9 pairs of ends. */
static void
long_series_of_noise_have_no_changes(void **state)
{
	static double x[N_LONG];
	struct sl__segments segments;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 3);
	for (int run = 0; run < 20; run++) {
		struct sl__arena arena;

		for (size_t i = 0; i < N_LONG; i++)
			x[i] = 1e6 + sl__rng_normal(&rng);
		sl__arena_init(&arena, NULL);
		assert_int_equal(
			sl__pelt(&segments, x, N_LONG, NULL, &arena, NULL),
			SL_OK);
		assert_int_equal(segments.n, 1);
		sl__arena_release(&arena);
	}
}

static void
the_noise_scale_ignores_steps_and_ramps(void **state)
{
	static double x[N_LONG], scratch[N_LONG];
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 4);
	for (size_t i = 0; i < N_LONG; i++)
		x[i] = 2.5 * sl__rng_normal(&rng) + 0.1 * (double)i +
		       (double)(i / 1000 * 50);
	assert_close(sl__noise_scale(x, N_LONG, scratch), 2.5, 0.03);
	for (size_t i = 0; i < 10; i++)
		x[i] = (double)i;
	assert_close(sl__noise_scale(x, 10, scratch), 1.2533141373 / sqrt(2),
		     1e-9);
	assert_near(sl__noise_scale(x, 1, scratch), 0, 0);
}

static void
every_failed_allocation_is_reported(void **state)
{
	double x[50];

	(void)state;
	for (size_t i = 0; i < 50; i++)
		x[i] = (double)(i % 7);
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {0, 0, fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl__segments segments;
		struct sl__arena arena;
		enum sl_status rc;

		sl__arena_init(&arena, &allocator);
		rc = sl__pelt(&segments, x, 50, NULL, &arena, NULL);
		sl__arena_release(&arena);
		assert_int_equal(c.n_out, 0);
		if (c.n_requests < fail_at) {
			assert_int_equal(rc, SL_OK);
			break;
		}
		assert_int_equal(rc, SL_E_NOMEM);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_cheapest_partition_of_all),
		cmocka_unit_test(ties_cost_nothing),
		cmocka_unit_test(planted_steps_are_found_where_they_are),
		cmocka_unit_test(series_without_noise_have_their_steps),
		cmocka_unit_test(long_series_of_noise_have_no_changes),
		cmocka_unit_test(the_noise_scale_ignores_steps_and_ramps),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
