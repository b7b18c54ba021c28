/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_unit.c - numbers get the unit that fits and no more digits than their
 * interval warrants.  Expected texts are worked out by hand from the rule of
 * the Particle Data Group.
 */
#include "harness.h"
#include "report/unit.h"

static struct sl_estimate
estimate(double value, double lo, double hi)
{
	struct sl_estimate e = {value, lo, hi, 100, 0, SL_METHOD_ORDER};

	return e;
}

static struct sl_estimate
refused(double value, size_t needs_n)
{
	struct sl_estimate e = {value, (double)NAN, (double)NAN,
				5,     needs_n,     SL_METHOD_ORDER};

	return e;
}

static void
times_get_a_unit_and_four_digits(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] =
		{
			{0, "0 ns"},          {0.5, "0.5000 ns"},
			{1, "1.000 ns"},      {999.94, "999.9 ns"},
			{999.96, "1.000 µs"}, /* rounds up into the next unit */
			{12345, "12.35 µs"},  {12.34e6, "12.34 ms"},
			{1.5e9, "1.500 s"},   {12345e9, "12345 s"},
			{-2e6, "-2.000 ms"},
		};
	struct sl__text text;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sl__time_text(&text, cases[i].ns),
				    cases[i].text);
	assert_string_equal(sl__time_text(&text, (double)NAN), "-");
}

static void
a_unit_can_be_asked_for(void **state)
{
	struct sl__text text;

	(void)state;
	assert_string_equal(sl__time_text_in_unit(&text, 1.5e6, "us"),
			    "1500 µs");
	assert_string_equal(sl__time_text_in_unit(&text, 1.5e6, "µs"),
			    "1500 µs");
	assert_string_equal(sl__time_text_in_unit(&text, 1.5e6, "s"),
			    "0.001500 s");
	assert_string_equal(sl__time_text_in_unit(&text, 1.5e6, "parsec"),
			    "1.500 ms");
	assert_string_equal(sl__unit_of_time(2e3), "µs");
}

/* Half-widths .055, .10, .354, .36, 4, 40: digits by the 354 / 355 rule. */
static void
intervals_decide_the_digits(void **state)
{
	static const struct {
		double value, half;
		const char *text;
	} cases[] = {
		{12.344, 0.055, "12.34 ms [12.29, 12.40]"},
		{12.344, 0.101, "12.34 ms [12.24, 12.45]"},
		{12.344, 0.354, "12.34 ms [11.99, 12.70]"},
		{12.344, 0.36, "12.3 ms [12.0, 12.7]"},
		{412.3, 4.1, "412 ms [408, 416]"},
		{412.3, 41, "410 ms [370, 450]"},
	};
	struct sl__text text;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value = 1e6 * cases[i].value;
		double half = 1e6 * cases[i].half;
		struct sl_estimate e =
			estimate(value, value - half, value + half);

		assert_string_equal(sl__time_estimate(&text, &e, NULL),
				    cases[i].text);
	}
}

/* Digits are those that the deviation warrants, the unit that of the mean. */
static void
a_mean_stands_with_its_deviation(void **state)
{
	struct sl__text text;

	(void)state;
	assert_string_equal(
		sl__time_mean_std_text(&text, 79.54e6, 19.38e6, NULL),
		"80 ms ± 19 ms");
	assert_string_equal(
		sl__time_mean_std_text(&text, 10.123e6, 5.1e4, NULL),
		"10.12 ms ± 0.05 ms");
	assert_string_equal(sl__time_mean_std_text(&text, 2e9, 1e6, "ms"),
			    "2000.0 ms ± 1.0 ms");
	assert_string_equal(
		sl__time_mean_std_text(&text, 5e6, (double)NAN, NULL),
		"5.000 ms");
	assert_string_equal(sl__time_mean_std_text(&text, 5e6, 0, NULL),
			    "5.000 ms ± 0.000 ms");
	assert_string_equal(sl__time_mean_std_text(&text, (double)NAN, 1, NULL),
			    "-");
}

/* A half-width of 95 rounds to tens, one of 950 to hundreds: of 10 nothing
 * would be left. */
static void
a_lopsided_interval_leaves_a_digit(void **state)
{
	struct sl_estimate e = estimate(10.4e6, 9.9e6, 1910e6);
	struct sl__text text;

	(void)state;
	assert_string_equal(sl__time_estimate(&text, &e, NULL),
			    "10 ms [10, 1910]");
}

/* A difference next to nothing has no digits of its own: once it was printed as
 * -0.00000000000001 ns and took the whole width of a table. */
static void
a_value_that_may_be_zero_is_rounded_like_its_interval(void **state)
{
	struct sl_estimate tiny = estimate(-1e-14, -30.0447, 40.0596);
	struct sl_estimate zero = estimate(0, -0.31, 0.42);
	struct sl_estimate lopsided = estimate(25, 0, 6000);
	struct sl__text text;

	(void)state;
	assert_string_equal(sl__time_estimate(&text, &tiny, NULL),
			    "0 ns [-30, 40]");
	assert_string_equal(sl__time_estimate(&text, &zero, NULL),
			    "0.0 ns [-0.3, 0.4]");
	assert_string_equal(sl__time_estimate(&text, &lopsided, NULL),
			    "0 ns [0, 6000]");
}

static void
parts_of_an_estimate_agree_with_the_whole(void **state)
{
	struct sl_estimate e = estimate(12.345e6, 12.30e6, 12.41e6);
	struct sl_estimate exact = estimate(5e6, 5e6, 5e6);
	struct sl__text text;

	(void)state;
	assert_string_equal(sl__time_value(&text, &e, "us"), "12350 µs");
	assert_string_equal(sl__time_bounds_text(&text, &e, "us"),
			    "[12300, 12410]");
	assert_string_equal(sl__time_estimate(&text, &exact, NULL),
			    "5.000 ms [5.000, 5.000]");
}

static void
a_refused_interval_says_what_it_needs(void **state)
{
	struct sl_estimate few = refused(12.34e6, 6);
	struct sl_estimate p99 = refused(15e6, 368);
	struct sl_estimate bare = refused(12.34e6, 0);
	struct sl_estimate none = refused((double)NAN, 0);
	struct sl__text text;

	(void)state;
	assert_string_equal(sl__time_estimate(&text, &few, NULL),
			    "12.34 ms [needs n >= 6]");
	assert_string_equal(sl__time_bounds_text(&text, &few, NULL),
			    "[needs n >= 6]");
	assert_string_equal(sl__time_percentile(&text, &p99, NULL),
			    "needs n >= 368");
	assert_string_equal(sl__time_estimate(&text, &bare, NULL), "12.34 ms");
	assert_string_equal(sl__time_estimate(&text, &none, NULL), "-");
	assert_string_equal(sl__time_bounds_text(&text, &none, NULL), "-");
}

static void
ratios_have_no_unit(void **state)
{
	struct sl_estimate e = estimate(1.0213, 1.0187, 1.0240);
	struct sl_estimate few = refused(1.02134, 6);
	struct sl__text text;

	(void)state;
	assert_string_equal(sl__ratio_estimate(&text, &e),
			    "1.0213 [1.0187, 1.0240]");
	assert_string_equal(sl__ratio_value(&text, &e), "1.0213");
	assert_string_equal(sl__ratio_bounds_text(&text, &e),
			    "[1.0187, 1.0240]");
	assert_string_equal(sl__ratio_estimate(&text, &few),
			    "1.021 [needs n >= 6]");
}

static void
sizes_and_rates_take_powers_of_1000(void **state)
{
	struct sl__text text;

	(void)state;
	assert_string_equal(sl__bytes_text(&text, 0), "0 B");
	assert_string_equal(sl__bytes_text(&text, 999), "999 B");
	assert_string_equal(sl__bytes_text(&text, 2099200), "2.10 MB");
	assert_string_equal(sl__bytes_text(&text, 999.6e6), "1.00 GB");
	assert_string_equal(sl__bytes_text(&text, (double)NAN), "-");
	assert_string_equal(sl__si_prefix_text(&text, 12.34e9), "12.3 G");
	assert_string_equal(sl__si_prefix_text(&text, 12.34), "12.3 ");
}

static void
counts_are_exact_and_grouped(void **state)
{
	struct sl__text text;

	(void)state;
	assert_string_equal(sl__count_text(&text, 0), "0");
	assert_string_equal(sl__count_text(&text, 999), "999");
	assert_string_equal(sl__count_text(&text, 1000), "1,000");
	assert_string_equal(sl__count_text(&text, 25557032), "25,557,032");
	assert_string_equal(sl__count_text(&text, UINT64_MAX),
			    "18,446,744,073,709,551,615");
}

static void
percentages_keep_zero_apart_from_little(void **state)
{
	static const struct {
		double share;
		const char *text;
	} cases[] = {
		{0, "0 %"},         {0.012, "1.2 %"},     {0.12345, "12.3 %"},
		{1e-6, "<0.001 %"}, {-1e-6, ">-0.001 %"}, {1, "100 %"},
		{12.345, "1234 %"}, {0.01, "1 %"},
	};
	struct sl__text text;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sl__percent_text(&text, cases[i].share),
				    cases[i].text);
	assert_string_equal(sl__percent_text(&text, (double)NAN), "-");
}

static void
shares_have_one_decimal(void **state)
{
	static const struct {
		double share;
		const char *text;
	} cases[] = {
		{0, "0 %"},       {0.000617, "0.1 %"}, {0.0003, "<0.1 %"},
		{1, "100.0 %"},   {0.9583, "95.8 %"},  {-0.0619, "−6.2 %"},
		{-1e-5, "0.0 %"},
	};
	struct sl__text text;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sl__share_text(&text, cases[i].share),
				    cases[i].text);
	assert_string_equal(sl__share_text(&text, (double)NAN), "-");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_get_a_unit_and_four_digits),
		cmocka_unit_test(a_unit_can_be_asked_for),
		cmocka_unit_test(intervals_decide_the_digits),
		cmocka_unit_test(a_mean_stands_with_its_deviation),
		cmocka_unit_test(a_lopsided_interval_leaves_a_digit),
		cmocka_unit_test(
			a_value_that_may_be_zero_is_rounded_like_its_interval),
		cmocka_unit_test(parts_of_an_estimate_agree_with_the_whole),
		cmocka_unit_test(a_refused_interval_says_what_it_needs),
		cmocka_unit_test(ratios_have_no_unit),
		cmocka_unit_test(sizes_and_rates_take_powers_of_1000),
		cmocka_unit_test(counts_are_exact_and_grouped),
		cmocka_unit_test(percentages_keep_zero_apart_from_little),
		cmocka_unit_test(shares_have_one_decimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
