/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_number.c - a number reads back as the same double, is no longer than
 * that takes, and has a point in JSON and CSV whatever the locale.  CSV used
 * to get a column more for each decimal comma.
 */
#include "harness.h"
#include "base/buf.h"
#include "comma_locale.h"
#include "base/number.h"
#include "base/json.h"
#include "base/rng.h"
#include "report/result_csv.h"

#include <float.h>

static void
short_numbers_stay_short(void **state)
{
	static const struct {
		double value;
		const char *text;
	} all[] = {
		{0, "0"},
		{1, "1"},
		{-2.5, "-2.5"},
		{0.1, "0.1"},
		{0.3, "0.3"},
		{1e-9, "1e-09"},
		{1.5e300, "1.5e+300"},
		{0.1 + 0.2, "0.30000000000000004"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{-DBL_MIN / 4, "-5.5626846462680035e-309"},
	};
	char text[SL__NUMBER_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_string_equal(sl__number_text(text, all[i].value),
				    all[i].text);
}

/* Doubles of every size, from random bits. */
static void
every_double_reads_back(void **state)
{
	struct sl__rng rng;
	char text[SL__NUMBER_BYTES];

	(void)state;
	sl__rng_init(&rng, 5);
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = sl__rng_next(&rng);
		double value, back;

		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		back = strtod(sl__number_text(text, value), NULL);
		assert_memory_equal(&back, &value, sizeof(value));
	}
}

/* What locales write: a comma, and in some a character of two bytes. */
static void
any_point_becomes_one(void **state)
{
	static const char *const all[][2] = {
		{"12,5", "12.5"},
		{"-0,25e-07", "-0.25e-07"},
		{"12.5", "12.5"},
		{"3\xd9\xab"
		 "14",
		 "3.14"},
		{"1,5e+300", "1.5e+300"},
		{"42", "42"},
		{"-1e-09", "-1e-09"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char text[SL__NUMBER_BYTES];

		snprintf(text, sizeof(text), "%s", all[i][0]);
		sl__number_fix_decimal_point(text);
		assert_string_equal(text, all[i][1]);
	}
}

static void
a_locale_with_a_comma_changes_nothing(void **state)
{
	struct sl_buf csv = {0}, out = {0};
	struct sl__json json;
	char comma[8];

	(void)state;
	if (!comma_locale_begin())
		skip();
	snprintf(comma, sizeof(comma), "%.1f", 1.5);
	sl__csv_number(&csv, 1.5);
	sl__csv_number(&csv, 0.1 + 0.2);
	sl__csv_end_line(&csv);
	sl__json_init(&json, &out);
	sl__json_array(&json, NULL);
	sl__json_number(&json, NULL, 0.1 + 0.2);
	sl__json_end_array(&json);
	comma_locale_end();
	assert_string_equal(comma, "1,5");
	assert_string_equal(csv.data, "1.5,0.30000000000000004\n");
	assert_string_equal(out.data, "[\n  0.30000000000000004\n]\n");
	sl_buf_release(&csv);
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_numbers_stay_short),
		cmocka_unit_test(every_double_reads_back),
		cmocka_unit_test(any_point_becomes_one),
		cmocka_unit_test(a_locale_with_a_comma_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
