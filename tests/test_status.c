/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_status.c - every failure has a text, fits its line, says where it was
 * on its way up, and success leaves the error alone.
 */
#include "harness.h"
#include "sleuth.h"
#include "base/status.h"

#include <errno.h>

static const enum sl_status all[] = {
	SL_OK,   SL_E_NOMEM,   SL_E_USAGE,       SL_E_DATA, SL_E_ABSENT,
	SL_E_IO, SL_E_MEASURE, SL_E_INTERRUPTED, SL_E_BUG,
};

enum { N_ALL = sizeof(all) / sizeof(all[0]) };

static void
every_status_has_a_text_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < N_ALL; i++) {
		const char *text = sl_status_text(all[i]);

		assert_true(strlen(text) > 0);
		assert_string_not_equal(text,
					sl_status_text((enum sl_status)99));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(text, sl_status_text(all[j]));
	}
}

static void
the_version_is_the_header_s(void **state)
{
	char expected[64];

	(void)state;
	snprintf(expected, sizeof(expected), "%d.%d.%d", SL_VERSION_MAJOR,
		 SL_VERSION_MINOR, SL_VERSION_PATCH);
	assert_string_equal(sl_version(), expected);
}

static void
a_failure_carries_its_text_and_status(void **state)
{
	struct sl_error err = {.status = SL_OK, .text = ""};

	(void)state;
	assert_int_equal(sl__fail(&err, SL_E_DATA, "byte %d of %s", 3, "x"),
			 SL_E_DATA);
	assert_int_equal(err.status, SL_E_DATA);
	assert_string_equal(err.text, "byte 3 of x");
	assert_int_equal(sl__fail(NULL, SL_E_DATA, "dropped"), SL_E_DATA);
	assert_int_equal(sl__fail_nomem(&err), SL_E_NOMEM);
	assert_int_equal(err.status, SL_E_NOMEM);
	assert_string_equal(err.text, "out of memory");
}

static void
errno_is_told_in_words(void **state)
{
	struct sl_error err = {.status = SL_OK, .text = ""};

	(void)state;
	assert_int_equal(sl__fail_errno(&err, SL_E_IO, ENOENT, "%s", "a.csv"),
			 SL_E_IO);
	assert_string_equal(err.text, "a.csv: No such file or directory");
	assert_int_equal(sl__fail_errno(NULL, SL_E_IO, ENOENT, "x"), SL_E_IO);
}

static void
where_it_was_goes_in_front(void **state)
{
	struct sl_error err = {.status = SL_OK, .text = "untouched"};

	(void)state;
	assert_int_equal(sl__error_prefix(&err, SL_OK, "outer"), SL_OK);
	assert_string_equal(err.text, "untouched");
	assert_int_equal(sl__error_prefix(NULL, SL_E_IO, "outer"), SL_E_IO);

	(void)sl__fail(&err, SL_E_DATA, "byte 3");
	assert_int_equal(sl__error_prefix(&err, SL_E_DATA, "field 7"),
			 SL_E_DATA);
	assert_int_equal(sl__error_prefix(&err, SL_E_DATA, "m.onnx"),
			 SL_E_DATA);
	assert_int_equal(err.status, SL_E_DATA);
	assert_string_equal(err.text, "m.onnx: field 7: byte 3");
}

/* What could be said about it is typed, and stays on the way up, but for a text
 * that no longer begins with it. */
static void
hints_go_along(void **state)
{
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__error_set_hint(&err, SL_OK, SL_HINT_MISSING),
			 SL_OK);
	assert_int_equal(sl__error_set_hint(NULL, SL_E_DATA, SL_HINT_MISSING),
			 SL_E_DATA);
	(void)sl__error_set_hint(&err, sl__fail(&err, SL_E_DATA, "free"),
				 SL_HINT_MISSING);
	assert_int_equal(err.hint, SL_HINT_MISSING);
	err.n_missing = 1;
	err.missing[0] = (struct sl_missing_size){"x", "n"};
	(void)sl__error_prefix(&err, SL_E_DATA, "m.onnx");
	assert_int_equal(err.hint, SL_HINT_MISSING);
	assert_int_equal(err.n_missing, 1);
	assert_string_equal(err.missing[0].dim, "n");
	(void)sl__fail(&err, SL_E_DATA, "another");
	assert_int_equal(err.hint, SL_HINT_NONE);
	assert_int_equal(err.n_missing, 0);
	(void)sl__error_set_hint(&err, SL_E_DATA, SL_HINT_SIZE);
	(void)sl__error_prefix(&err, SL_E_DATA, "m.onnx");
	assert_int_equal(err.hint, SL_HINT_NONE);
}

/* A message of any length is cut to the line and stays a string. */
static void
long_messages_are_cut(void **state)
{
	struct sl_error err = {.status = SL_OK, .text = ""};
	char text[2 * sizeof(err.text)];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)sl__fail(&err, SL_E_IO, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	(void)sl__fail_errno(&err, SL_E_IO, ENOENT, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	(void)sl__error_prefix(&err, SL_E_IO, "outer");
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "outer: aaa", 10);
}

/* Names come from outside, and the text is promised to be one line. */
static void
control_characters_do_not_get_through(void **state)
{
	struct sl_error err = {.status = SL_OK, .text = ""};

	(void)state;
	(void)sl__fail(&err, SL_E_IO, "%s", "a\nb\tc\r\033[31m\x7f");
	assert_string_equal(err.text, "a?b?c??[31m?");
	(void)sl__fail_errno(&err, SL_E_IO, ENOENT, "%s", "a\n.csv");
	assert_string_equal(err.text, "a?.csv: No such file or directory");
	(void)sl__error_prefix(&err, SL_E_IO, "two\nlines");
	assert_string_equal(err.text,
			    "two?lines: a?.csv: No such file or directory");
	/* U+009B opens an escape sequence too; a no-break space is text. */
	(void)sl__fail(&err, SL_E_IO,
		       "\xc2\x9b"
		       "31m \xc2\xa0 \xc2\xb5s \xe2\x82\xac");
	assert_string_equal(err.text, "?31m \xc2\xa0 \xc2\xb5s \xe2\x82\xac");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_a_text_of_its_own),
		cmocka_unit_test(the_version_is_the_header_s),
		cmocka_unit_test(a_failure_carries_its_text_and_status),
		cmocka_unit_test(errno_is_told_in_words),
		cmocka_unit_test(where_it_was_goes_in_front),
		cmocka_unit_test(hints_go_along),
		cmocka_unit_test(long_messages_are_cut),
		cmocka_unit_test(control_characters_do_not_get_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
