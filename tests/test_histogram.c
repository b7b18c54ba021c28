/* SPDX-License-Identifier: Apache-2.0 */
/* test_histogram.c - every time is counted once and anything shows. */
#include "harness.h"
#include "report/histogram.h"

static size_t
counted(const struct sl__histogram *h)
{
	size_t n = h->n_beyond;

	for (size_t i = 0; i < h->n_bins; i++)
		n += h->counts[i];
	return n;
}

/* 0 .. 15 in 8 bins: two each; both ends belong. */
static void
even_times_fill_even_bins(void **state)
{
	char line[3 * SL__HISTOGRAM_MAX_BINS + 1];
	struct sl__histogram h;
	double x[16];

	(void)state;
	for (size_t i = 0; i < 16; i++)
		x[i] = (double)i;
	sl__histogram_of(&h, x, 16, 7.5, 8);
	assert_int_equal(h.n_bins, 8);
	assert_near(h.lo, 0, 0);
	assert_near(h.hi, 15, 0);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(h.counts[i], 2);
	assert_string_equal(sl__histogram_line(line, &h, 0), "████████");
	assert_string_equal(sl__histogram_line(line, &h, 1), "@@@@@@@@");
}

/* One in a hundred at twice the time still shows. */
static void
a_single_slow_time_shows(void **state)
{
	char line[3 * SL__HISTOGRAM_MAX_BINS + 1];
	struct sl__histogram h;
	double x[100];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		x[i] = i < 50 ? 1.0 : 1.5;
	x[0] = 2;
	sl__histogram_of(&h, x, 100, 1.25, 10);
	assert_int_equal(counted(&h), 100);
	assert_string_equal(sl__histogram_line(line, &h, 0), "█    █   ▁");
	assert_string_equal(sl__histogram_line(line, &h, 1), "@    @   .");
}

static void
a_far_out_time_is_counted_apart(void **state)
{
	struct sl__histogram h;
	double x[100];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		x[i] = 10 + (double)(i % 10);
	x[42] = 1e6;
	sl__histogram_of(&h, x, 100, 14.5, SIZE_MAX);
	assert_int_equal(counted(&h), 100);
	assert_int_equal(h.n_beyond, 1);
	assert_true(h.n_bins <= SL__HISTOGRAM_MAX_BINS);
}

static void
equal_times_share_one_bin(void **state)
{
	char line[3 * SL__HISTOGRAM_MAX_BINS + 1];
	double x[3] = {5, 5, 5};
	struct sl__histogram h;

	(void)state;
	sl__histogram_of(&h, x, 3, 5, 0);
	assert_int_equal(h.n_bins, 1);
	assert_string_equal(sl__histogram_line(line, &h, 0), "█");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(even_times_fill_even_bins),
		cmocka_unit_test(a_single_slow_time_shows),
		cmocka_unit_test(a_far_out_time_is_counted_apart),
		cmocka_unit_test(equal_times_share_one_bin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
