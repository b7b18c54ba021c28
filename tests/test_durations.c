/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_durations.c - buckets tile the numbers with at most 1/32 of width,
 * moments have their closed forms, and quantiles bracket the exact order
 * statistics of known sets.
 */
#include "harness.h"
#include "timing/durations.h"
#include "stats/quantile.h"

static void
buckets_tile_the_numbers(void **state)
{
	(void)state;
	for (size_t b = 0; b + 1 < SL__DURATIONS_N_BUCKETS; b++) {
		uint64_t low = sl__durations_bucket_low(b);
		uint64_t high = sl__durations_bucket_high(b);

		assert_true(low <= high);
		assert_int_equal(sl__durations_bucket(low), b);
		assert_int_equal(sl__durations_bucket(high), b);
		assert_int_equal(sl__durations_bucket(high + 1), b + 1);
		assert_true(32 * (high - low) <= low);
	}
	assert_int_equal(sl__durations_bucket(UINT64_MAX),
			 SL__DURATIONS_N_BUCKETS - 1);
}

static void
moments_have_their_closed_forms(void **state)
{
	static struct sl__durations d;

	(void)state;
	assert_true(isnan(sl__durations_mean(&d)));
	for (uint64_t i = 1; i <= 1000; i++) {
		sl__durations_add(&d, i);
		if (i == 1)
			assert_true(isnan(sl__durations_std(&d)));
	}
	/* 1 .. n: mean (n + 1) / 2, variance n (n + 1) / 12. */
	assert_close(sl__durations_mean(&d), 500.5, 1e-15);
	assert_close(sl__durations_std(&d), sqrt(1000.0 * 1001 / 12), 1e-14);
	assert_int_equal(d.min, 1);
	assert_int_equal(d.max, 1000);
	assert_int_equal(d.n, 1000);
}

/* A cold first call a million times longer must not spoil the deviation. */
static void
a_cold_first_call_does_not_cancel(void **state)
{
	static struct sl__durations d;
	double n = 100001, mean, squares = 0;

	(void)state;
	sl__durations_add(&d, 100000000);
	for (int i = 0; i < 100000; i++)
		sl__durations_add(&d, i % 2 ? 101 : 99);
	mean = (1e8 + 100000 * 100.0) / n;
	squares = (1e8 - mean) * (1e8 - mean) +
		  50000 * (99 - mean) * (99 - mean) +
		  50000 * (101 - mean) * (101 - mean);
	assert_close(sl__durations_mean(&d), mean, 1e-12);
	assert_close(sl__durations_std(&d), sqrt(squares / (n - 1)), 1e-9);
}

static void
merging_equals_adding_to_one(void **state)
{
	static struct sl__durations parts[3], merged, whole;

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t x = i * i % 7919 + 1000 * (i % 3);

		sl__durations_add(&parts[i % 3], x);
		sl__durations_add(&whole, x);
	}
	for (int i = 0; i < 3; i++)
		sl__durations_merge(&merged, &parts[i]);
	assert_int_equal(merged.n, whole.n);
	assert_int_equal(merged.min, whole.min);
	assert_int_equal(merged.max, whole.max);
	assert_memory_equal(merged.counts, whole.counts, sizeof(whole.counts));
	assert_close(sl__durations_mean(&merged), sl__durations_mean(&whole),
		     1e-13);
	assert_close(sl__durations_std(&merged), sl__durations_std(&whole),
		     1e-12);
}

/* Of 1 .. n the k-th smallest is k, so the ranks are the interval. */
static void
intervals_hold_the_exact_order_statistics(void **state)
{
	static const double levels[] = {0.5, 0.9, 0.95, 0.99};
	static struct sl__durations d;
	size_t n = 20000;

	(void)state;
	for (uint64_t i = 1; i <= n; i++)
		sl__durations_add(&d, i);
	for (size_t i = 0; i < 4; i++) {
		struct sl_estimate e =
			sl__durations_quantile(&d, levels[i], 0.05);
		size_t l, h;

		assert_true(sl__quantile_ranks(n, levels[i], 0.05, &l, &h));
		assert_int_equal(e.needs_n, 0);
		assert_true(e.lo <= (double)l && e.hi >= (double)h);
		assert_close(e.lo, (double)l, 1.0 / 32);
		assert_close(e.hi, (double)h, 1.0 / 32);
		assert_close(e.value, levels[i] * (double)n, 1.0 / 32);
	}
}

static void
small_values_are_exact(void **state)
{
	static struct sl__durations d;
	struct sl_estimate e;

	(void)state;
	for (int i = 0; i < 500; i++)
		sl__durations_add(&d, 40);
	e = sl__durations_quantile(&d, 0.5, 0.05);
	assert_near(e.value, 40, 0);
	assert_near(e.lo, 40, 0);
	assert_near(e.hi, 40, 0);
}

/* n >= ln(0.025) / ln(q): 6 for the median, 368 for p99. */
static void
too_few_calls_are_refused(void **state)
{
	static struct sl__durations d;
	struct sl_estimate e;

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		sl__durations_add(&d, 100 + i);
	e = sl__durations_quantile(&d, 0.5, 0.05);
	assert_int_equal(e.needs_n, 6);
	assert_true(isnan(e.lo) && isnan(e.hi));
	e = sl__durations_quantile(&d, 0.99, 0.05);
	assert_int_equal(e.needs_n, 368);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_numbers),
		cmocka_unit_test(moments_have_their_closed_forms),
		cmocka_unit_test(a_cold_first_call_does_not_cancel),
		cmocka_unit_test(merging_equals_adding_to_one),
		cmocka_unit_test(intervals_hold_the_exact_order_statistics),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(too_few_calls_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
