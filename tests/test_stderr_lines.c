/* SPDX-License-Identifier: Apache-2.0 */
/* test_stderr_lines.c - the last lines of a command, whole and printable. */
#include "harness.h"
#include "experiment/stderr_lines.h"

static void
assert_lines(const char *tail, const char *expected)
{
	char room[SL__STDERR_BYTES], out[SL__STDERR_BYTES];

	assert_true(strlen(tail) < sizeof(room));
	strcpy(room, tail);
	memset(out, 'x', sizeof(out));
	sl__stderr_last_lines(out, room);
	assert_string_equal(out, expected);
}

static void
the_last_lines_are_kept(void **state)
{
	(void)state;
	assert_lines("", "");
	assert_lines("\n\n", "");
	assert_lines("one", "one");
	assert_lines("one\ntwo\n", "one\ntwo");
	assert_lines("1\n2\n3\n4\n", "1\n2\n3\n4");
	assert_lines("1\n2\n3\n4\n5\n\n", "2\n3\n4\n5");
	assert_lines("\n2\n", "\n2");
}

static void
what_a_terminal_would_obey_is_gone(void **state)
{
	(void)state;
	assert_lines("\033[31mred\n", "?[31mred");
	assert_lines("a\tb\r\nc\r\n", "a b\nc");
	assert_lines("10 %\r20 %\r30 %\nfailed", "30 %\nfailed");
	assert_lines("\xff\n", "?");
}

/* A tail that fills its room was cut in front. */
static void
a_part_of_a_line_is_left_out(void **state)
{
	char tail[SL__STDERR_BYTES];

	(void)state;
	memset(tail, 'a', sizeof(tail) - 1);
	tail[sizeof(tail) - 1] = '\0';
	assert_lines(tail, tail);
	memcpy(tail + sizeof(tail) - 5, "\nend", 4);
	assert_lines(tail, "end");
	assert_lines("part\nend", "part\nend");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_lines_are_kept),
		cmocka_unit_test(what_a_terminal_would_obey_is_gone),
		cmocka_unit_test(a_part_of_a_line_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
