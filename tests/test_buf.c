/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_buf.c - what was added is there, byte for byte and ended by a NUL;
 * a failed allocation sticks and is told at the end.
 */
#include "harness.h"
#include "base/buf.h"

static void
an_empty_buffer_has_no_data(void **state)
{
	struct sl_buf buf = {0};

	(void)state;
	assert_null(buf.data);
	assert_int_equal(sl__buf_status(&buf, NULL), SL_OK);
	sl_buf_release(&buf);
	sl__buf_text(&buf, "");
	assert_string_equal(buf.data, "");
	assert_int_equal(buf.n_bytes, 0);
	sl_buf_release(&buf);
	assert_null(buf.data);
}

/* Across every doubling up to 64 KiB, in pieces of changing length. */
static void
what_was_added_is_there(void **state)
{
	enum { TOTAL = 65536 };
	static char expected[TOTAL + 64];
	struct sl_buf buf = {0};
	size_t n = 0;

	(void)state;
	for (size_t piece = 0; n < TOTAL; piece++) {
		size_t length = piece % 61;

		memset(expected + n, 'a' + (int)(piece % 26), length);
		sl__buf_add(&buf, expected + n, length);
		n += length;
		assert_int_equal(buf.n_bytes, n);
		assert_true(buf.cap_bytes > n);
		assert_int_equal(buf.data[n], '\0');
	}
	assert_memory_equal(buf.data, expected, n);
	sl_buf_release(&buf);
}

static void
writers_append(void **state)
{
	struct sl_buf buf = {0};

	(void)state;
	sl__buf_text(&buf, "time");
	sl__buf_format(&buf, " %5.2f %s", 1.5, "ms");
	sl__buf_repeat(&buf, "ab", 3);
	sl__buf_repeat(&buf, "never", 0);
	sl__buf_add(&buf, "\0z", 2);
	assert_int_equal(buf.n_bytes, 21);
	assert_memory_equal(buf.data, "time  1.50 msababab\0z", 22);
	sl_buf_release(&buf);
}

/* A formatted piece of exactly the room that is left, and one more. */
static void
formatting_fits_at_every_boundary(void **state)
{
	(void)state;
	for (int width = 1; width < 600; width++) {
		struct sl_buf buf = {0};

		sl__buf_format(&buf, "%*d", width, 7);
		assert_int_equal(buf.n_bytes, width);
		assert_int_equal(buf.data[width - 1], '7');
		assert_int_equal(buf.data[width], '\0');
		sl_buf_release(&buf);
	}
}

static void
a_failure_sticks_until_release(void **state)
{
	struct sl_error err = {.status = SL_OK, .text = ""};
	struct sl_buf buf = {0};
	volatile size_t too_much = SIZE_MAX / 2;

	(void)state;
	sl__buf_text(&buf, "kept?");
	sl__buf_add(&buf, "x", too_much);
	assert_null(buf.data);
	sl__buf_text(&buf, "later");
	sl__buf_format(&buf, "%d", 1);
	assert_null(buf.data);
	assert_int_equal(buf.n_bytes, 0);
	assert_int_equal(sl__buf_status(&buf, &err), SL_E_NOMEM);
	assert_string_equal(err.text, "out of memory");

	sl_buf_release(&buf);
	assert_int_equal(sl__buf_status(&buf, NULL), SL_OK);
	sl__buf_text(&buf, "again");
	assert_string_equal(buf.data, "again");
	sl_buf_release(&buf);
}

/* What a shell makes of it is the word again. */
static void
words_are_quoted_where_needed(void **state)
{
	static const struct {
		const char *word, *text;
	} rows[] = {
		{"model.onnx", "model.onnx"}, {"--dim", "--dim"},
		{"a=1,2", "a=1,2"},           {"", "''"},
		{"my model", "'my model'"},   {"$HOME", "'$HOME'"},
		{"it's", "'it'\\''s'"},       {"*", "'*'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sl_buf buf = {0};

		assert_int_equal(sl_buf_add_word(&buf, rows[i].word, NULL), 0);
		assert_string_equal(buf.data, rows[i].text);
		assert_int_equal(sl_buf_add_word(&buf, "b", NULL), 0);
		assert_string_equal(buf.data + buf.n_bytes - 2, " b");
		sl_buf_release(&buf);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_has_no_data),
		cmocka_unit_test(what_was_added_is_there),
		cmocka_unit_test(writers_append),
		cmocka_unit_test(words_are_quoted_where_needed),
		cmocka_unit_test(formatting_fits_at_every_boundary),
		cmocka_unit_test(a_failure_sticks_until_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
