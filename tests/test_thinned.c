/* SPDX-License-Identifier: Apache-2.0 */
/* test_thinned.c - samples in fixed memory: which are kept, their median. */
#include "harness.h"
#include "stats/thinned.h"

/* After n additions of 0, 1, 2, ...: every stride-th is there, in order. */
static void
check_thinned(const struct sl__thinned *t, size_t n)
{
	assert_int_equal(t->n_seen, n);
	assert_near(t->sum, (double)n * ((double)n - 1) / 2, 0);
	assert_near(t->min, 0, 0);
	assert_near(t->max, (double)n - 1, 0);
	assert_true(t->n <= t->cap && t->n >= (n < t->cap ? n : t->cap / 2));
	assert_int_equal(t->n, (n + t->stride - 1) / t->stride);
	for (size_t i = 0; i < t->n; i++)
		assert_near(t->x[i], (double)(i * t->stride), 0);
}

static void
thins_evenly(void **state)
{
	static const size_t caps[] = {2, 8, 64};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t c = 0; c < 3; c++) {
		struct sl__thinned t;

		assert_int_equal(sl__thinned_init(&t, caps[c], &arena), 0);
		assert_int_equal(t.n_seen, 0);
		for (size_t n = 1; n <= 1000; n++) {
			sl__thinned_add(&t, (double)(n - 1));
			check_thinned(&t, n);
		}
	}
	sl__arena_release(&arena);
}

/* Of the last n, whatever their order, which stays as it was. */
static void
median_of_the_last(void **state)
{
	static const double x[] = {900, 800, 5, 1, 4, 2, 6, 3, 7};
	struct sl__thinned t;
	struct sl__arena arena;
	struct sl_estimate e;
	double sorted[9];

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__thinned_init(&t, 16, &arena), 0);
	for (int i = 0; i < 9; i++)
		sl__thinned_add(&t, x[i]);
	e = sl__thinned_median(&t, 7, sorted);
	assert_near(e.value, 4, 0);
	/* Of seven, the first and the last. */
	assert_near(e.lo, 1, 0);
	assert_near(e.hi, 7, 0);
	assert_int_equal(e.n, 7);
	for (int i = 0; i < 9; i++)
		assert_near(t.x[i], x[i], 0);
	e = sl__thinned_median(&t, 9, sorted);
	assert_near(e.value, 5, 0);
	e = sl__thinned_median(&t, 5, sorted);
	assert_near(e.value, 4, 0);
	assert_int_equal(e.needs_n, 6);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thins_evenly),
		cmocka_unit_test(median_of_the_last),
	};

	return cmocka_run_group_tests_name("thinned", tests, NULL, NULL);
}
