/* SPDX-License-Identifier: Apache-2.0 */
/* test_bar.c - bars: whole columns, eighths, and what lies outside. */
#include "report/bar.h"
#include "harness.h"
#include "report/printable.h"

static void
eighths(void **state)
{
	struct sl__bar bar;

	(void)state;
	assert_string_equal(sl__bar_text(&bar, 0, 4), "");
	assert_string_equal(sl__bar_text(&bar, 0.5, 4), "██");
	assert_string_equal(sl__bar_text(&bar, 1, 4), "████");
	assert_string_equal(sl__bar_text(&bar, 0.625, 4), "██▌");
	assert_string_equal(sl__bar_text(&bar, 1.0 / 32, 4), "▏");
	assert_string_equal(sl__bar_text(&bar, 31.0 / 32, 4), "███▉");
}

static void
padding(void **state)
{
	struct sl__bar bar;

	(void)state;
	assert_string_equal(sl__bar_padded(&bar, 0, 3), "   ");
	assert_string_equal(sl__bar_padded(&bar, 0.5, 3), "█▌ ");
	for (int i = 0; i <= 100; i++)
		assert_int_equal(
			sl__utf8_width(sl__bar_padded(&bar, i / 100.0, 32)),
			32);
}

/* Shares outside 0 and 1 and wide pages stay within the room there is. */
static void
limits(void **state)
{
	struct sl__bar bar;

	(void)state;
	assert_string_equal(sl__bar_text(&bar, -1, 2), "");
	assert_string_equal(sl__bar_text(&bar, (double)NAN, 2), "");
	assert_string_equal(sl__bar_text(&bar, 7, 2), "██");
	assert_int_equal(strlen(sl__bar_padded(&bar, 1, 1000)),
			 3 * SL__BAR_COLUMNS_MOST);
}

/* No character of a bar is unknown where a page must be ASCII. */
static void
ascii(void **state)
{
	struct sl__arena arena;
	struct sl__bar bar;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (int i = 0; i <= 8; i++) {
		const char *text =
			sl__utf8_ascii(&arena, sl__bar_text(&bar, i / 8.0, 1));

		assert_non_null(text);
		assert_int_equal(strlen(text), i > 0);
		assert_null(strchr(text, '?'));
	}
	sl__arena_release(&arena);
}

static void
columns_follow_the_page(void **state)
{
	(void)state;
	assert_int_equal(sl__bar_columns_that_fit(0, 2, 32, 24), 24);
	assert_int_equal(sl__bar_columns_that_fit(80, 2, 32, 24), 24);
	assert_int_equal(sl__bar_columns_that_fit(200, 2, 32, 24), 24);
	assert_int_equal(sl__bar_columns_that_fit(60, 2, 32, 24), 14);
	assert_int_equal(sl__bar_columns_that_fit(60, 1, 48, 32), 12);
	assert_int_equal(sl__bar_columns_that_fit(40, 1, 48, 32), 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eighths),
		cmocka_unit_test(padding),
		cmocka_unit_test(limits),
		cmocka_unit_test(ascii),
		cmocka_unit_test(columns_follow_the_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
