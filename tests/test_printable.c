/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_printable.c - names of unknown origin cannot break a page.
 */
#include "harness.h"
#include "report/printable.h"

#define BAD "\xef\xbf\xbd" /* U+FFFD */

static struct sl__arena arena;

static int
begin(void **state)
{
	(void)state;
	sl__arena_init(&arena, NULL);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	sl__arena_release(&arena);
	return 0;
}

static void
malformed_bytes_are_replaced(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain µ × … 𝄞", "plain µ × … 𝄞"},
		{"a\xff"
		 "b",
		 "a" BAD "b"},
		{"\xc0\xaf", BAD BAD},
		{"\xe0\x80\xaf", BAD BAD BAD},
		{"\xed\xa0\x80", BAD BAD BAD},
		{"\xf4\x90\x80\x80", BAD BAD BAD BAD},
		{"\xe2\x80", BAD BAD},
		{"\x80", BAD},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(sl__utf8_printable(&arena, cases[i].in),
				    cases[i].out);
	}
	assert_string_equal(sl__utf8_printable(&arena, NULL), "");
}

static void
control_characters_become_visible(void **state)
{
	(void)state;
	assert_string_equal(sl__utf8_printable(&arena, "a\033[2J\n\t\x7f"),
			    "a\\x1b[2J\\n\\t\\x7f");
	assert_string_equal(sl__utf8_printable(&arena, "\xc2\x9b"), "\\x9b");
	assert_string_equal(sl__utf8_printable(&arena, "x\xe2\x80\xaey"),
			    "x\\u202ey");
	assert_string_equal(sl__utf8_printable(&arena, "a\xe2\x80\x8b"
						       "b"),
			    "a\\u200bb");
	assert_string_equal(sl__utf8_printable(&arena, "\xef\xbb\xbfz"),
			    "\\ufeffz");
}

static void
signs_are_spelled_in_ascii(void **state)
{
	(void)state;
	assert_string_equal(sl__utf8_ascii(&arena, "1 ± 2 µs × 3 ≥ 4 … é"),
			    "1 +/- 2 us x 3 >= 4 ... ?");
	assert_string_equal(sl__utf8_ascii(&arena, " ▁▄█"), " .:#");
}

static void
width_counts_code_points(void **state)
{
	(void)state;
	assert_int_equal(sl__utf8_width(""), 0);
	assert_int_equal(sl__utf8_width("µs…"), 3);
	assert_int_equal(sl__utf8_width("\001a\002b"), 2);
}

static void
long_names_lose_their_middle(void **state)
{
	(void)state;
	assert_string_equal(sl__utf8_shortened(&arena, "abcdef", 6, "…"),
			    "abcdef");
	assert_string_equal(sl__utf8_shortened(&arena, "abcdefgh", 6, "…"),
			    "abc…gh");
	assert_string_equal(sl__utf8_shortened(&arena, "µµµµµµµµ", 5, "..."),
			    "µ...µ");
	assert_string_equal(sl__utf8_shortened(&arena, "abcdef", 2, "..."),
			    "..");
}

/* Widths as Unicode's East Asian Width has them (Python's unicodedata). */
static void
wide_letters_take_two_columns(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
	} cases[] = {
		{"abc", 3},     {"µ×…█", 4}, {"模型", 4}, {"モデル", 6},
		{"모델", 4},    {"ａ", 2},   {"𠀀", 2},   {"\033x", 1},
		{"e\u0301", 1}, {"ﾓﾃﾞﾙ", 4}, {"𝄞", 1},    {"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(sl__utf8_width(cases[i].text),
				 cases[i].columns);
	assert_string_equal(sl__utf8_shortened(&arena, "模型模型模型", 7, "…"),
			    "模…型");
	assert_string_equal(sl__utf8_shortened(&arena, "模型ab", 6, "…"),
			    "模型ab");
	assert_string_equal(sl__utf8_shortened(&arena, "abcdef", 5, "…"),
			    "ab…ef");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_bytes_are_replaced),
		cmocka_unit_test(control_characters_become_visible),
		cmocka_unit_test(signs_are_spelled_in_ascii),
		cmocka_unit_test(width_counts_code_points),
		cmocka_unit_test(long_names_lose_their_middle),
		cmocka_unit_test(wide_letters_take_two_columns),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
