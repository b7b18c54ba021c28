/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_warmup.c - series whose beginning is known are called what they are,
 * from the place where it ends; spikes and bursts do not change that.
 */
#include "harness.h"
#include "counting.h"
#include "stats/warmup.h"
#include "base/rng.h"

enum { N = 200 };

struct series {
	double x[N];
	struct sl__rng rng;
};

/* Level 100 with 0.5 % noise and one slot in fifty disturbed. */
static void
series_init(struct series *s, uint64_t seed)
{
	sl__rng_init(&s->rng, seed);
	for (size_t i = 0; i < N; i++) {
		s->x[i] = 100 + 0.5 * sl__rng_normal(&s->rng);
		if (sl__rng_uniform(&s->rng) < 0.02)
			s->x[i] += 50 * sl__rng_exponential(&s->rng);
	}
}

static void
scale_range(struct series *s, size_t from, size_t to, double factor)
{
	for (size_t i = from; i < to; i++)
		s->x[i] *= factor;
}

static struct sl__warmup
classify(const double *x, size_t n)
{
	struct sl__warmup warmup;
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__warmup_classify(&warmup, x, n, &arena, NULL),
			 SL_OK);
	sl__arena_release(&arena);
	return warmup;
}

static void
steady_series_are_flat(void **state)
{
	size_t n_flat = 0;

	(void)state;
	for (uint64_t run = 0; run < 500; run++) {
		struct sl__warmup w;
		struct series s;

		series_init(&s, 100 + run);
		w = classify(s.x, N);
		n_flat += w.class_ == SL_WARMUP_FLAT && w.steady_from == 0;
	}
	print_message("%zu of 500 steady series are flat\n", n_flat);
	/* A spike in the first two slots is a slow start for all one knows. */
	assert_true(n_flat >= 480);
}

/* How often a start of 'length' slots by 'factor' is cut off to 2 slots: a
 * spike beside the edge may move it. */
static size_t
count_cut(size_t length, double factor, enum sl_warmup_class expected)
{
	size_t n_cut = 0;

	for (uint64_t run = 0; run < 200; run++) {
		struct sl__warmup w;
		struct series s;

		series_init(&s, 900 + run);
		scale_range(&s, 0, length, factor);
		w = classify(s.x, N);
		n_cut += w.class_ == expected && w.steady_from + 2 >= length &&
			 w.steady_from <= length + 2;
	}
	return n_cut;
}

static void
slow_and_fast_starts_are_cut_off(void **state)
{
	(void)state;
	assert_true(count_cut(1, 3.0, SL_WARMUP_WARMING) >= 195);
	assert_true(count_cut(2, 2.0, SL_WARMUP_WARMING) >= 195);
	assert_true(count_cut(10, 1.3, SL_WARMUP_WARMING) >= 195);
	assert_true(count_cut(60, 1.3, SL_WARMUP_WARMING) >= 195);
	assert_true(count_cut(60, 0.7, SL_WARMUP_SLOWING) >= 195);
}

static void
a_gradual_start_is_cut_off_near_its_end(void **state)
{
	struct sl__warmup w;
	struct series s;

	(void)state;
	series_init(&s, 1);
	for (size_t i = 0; i < N; i++)
		s.x[i] *= 1 + exp(-(double)i / 10); /* 1 % from slot 46 on */
	w = classify(s.x, N);
	assert_int_equal(w.class_, SL_WARMUP_WARMING);
	assert_in_range(w.steady_from, 20, 60);
}

static void
changes_within_one_percent_do_not_count(void **state)
{
	double x[N];

	(void)state;
	for (size_t i = 0; i < N; i++)
		x[i] = (i < 50 ? 100.8 : 100) + 0.01 * (double)(i % 3);
	assert_int_equal(classify(x, N).class_, SL_WARMUP_FLAT);
	for (size_t i = 0; i < 50; i++)
		x[i] += 0.5;
	assert_int_equal(classify(x, N).class_, SL_WARMUP_WARMING);
	assert_int_equal(classify(x, N).steady_from, 50);
}

static void
a_burst_does_not_end_the_steady_state(void **state)
{
	struct sl__warmup w;
	struct series s;

	(void)state;
	series_init(&s, 2);
	scale_range(&s, 100, 115, 1.5);
	assert_int_equal(classify(s.x, N).class_, SL_WARMUP_FLAT);
	series_init(&s, 3);
	scale_range(&s, N - 8, N, 1.5);
	assert_int_equal(classify(s.x, N).class_, SL_WARMUP_FLAT);
	scale_range(&s, 0, 20, 2);
	w = classify(s.x, N);
	assert_int_equal(w.class_, SL_WARMUP_WARMING);
	assert_in_range(w.steady_from, 18, 22);
}

static void
what_never_settles_is_none(void **state)
{
	struct sl__warmup w;
	struct series s;

	(void)state;
	series_init(&s, 4);
	for (size_t i = 0; i < N; i++)
		s.x[i] *= 1 + 0.02 * (double)i;
	w = classify(s.x, N);
	assert_int_equal(w.class_, SL_WARMUP_NONE);
	assert_int_equal(w.steady_from, 0);
	series_init(&s, 5);
	scale_range(&s, N - 30, N, 2);
	assert_int_equal(classify(s.x, N).class_, SL_WARMUP_NONE);
}

static void
few_values_are_unknown_and_equal_ones_flat(void **state)
{
	const double x[8] = {5, 5, 5, 5, 5, 5, 5, 5};

	(void)state;
	for (size_t n = 0; n < 8; n++)
		assert_int_equal(classify(x, n).class_, SL_WARMUP_UNKNOWN);
	assert_int_equal(classify(x, 8).class_, SL_WARMUP_FLAT);
}

static void
every_failed_allocation_is_reported(void **state)
{
	struct series s;

	(void)state;
	series_init(&s, 6);
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {0, 0, fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl__warmup w;
		struct sl__arena arena;
		enum sl_status rc;

		sl__arena_init(&arena, &allocator);
		rc = sl__warmup_classify(&w, s.x, N, &arena, NULL);
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
		cmocka_unit_test(steady_series_are_flat),
		cmocka_unit_test(slow_and_fast_starts_are_cut_off),
		cmocka_unit_test(a_gradual_start_is_cut_off_near_its_end),
		cmocka_unit_test(changes_within_one_percent_do_not_count),
		cmocka_unit_test(a_burst_does_not_end_the_steady_state),
		cmocka_unit_test(what_never_settles_is_none),
		cmocka_unit_test(few_values_are_unknown_and_equal_ones_flat),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
