/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of CSV: RFC 4180's quotes, and one line a row whatever a name holds,
 * with nothing in it that a terminal would obey.
 */
#include "harness.h"
#include "report/result_csv.h"

static void
check(const char *text, const char *expected)
{
	struct sl_buf out = {0};

	sl__csv_text(&out, text);
	sl__csv_end(&out);
	assert_string_equal(out.data, expected);
	sl_buf_release(&out);
}

static void
test_quotes(void **state)
{
	(void)state;
	check("plain", "plain\n");
	check("a,b", "\"a,b\"\n");
	check("say \"hi\"", "\"say \"\"hi\"\"\"\n");
	check("\xc2\xb5s \xe2\x80\xa6", "\xc2\xb5s \xe2\x80\xa6\n");
}

static void
test_control_characters_are_escaped(void **state)
{
	(void)state;
	check("a\nb\r", "a\\nb\\x0d\n");
	check("\033[2J\a", "\\x1b[2J\\x07\n");
	check("\xc2\x9b"
	      "1m",
	      "\\x9b1m\n");
	check("x\xe2\x80\xae,y", "\"x\\u202e,y\"\n");
	check("\xef\xbb\xbf"
	      "b\xff",
	      "\\ufeffb\xef\xbf\xbd\n");
	for (int c = 1; c < 0x20; c++) {
		const char text[2] = {(char)c, '\0'};
		struct sl_buf out = {0};

		sl__csv_text(&out, text);
		assert_int_equal(out.data[0], '\\');
		sl_buf_release(&out);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_control_characters_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
