/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nearest.c - the number of edits between words, counted by hand, and
 * which names are near enough to be suggested.
 */
#include "harness.h"

#include "base/nearest.h"

#include <string.h>

static void
edits_are_counted(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned edits;
	} rows[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"matmul", "matmul", 0},
		{"matmull", "matmul", 1}, /* one added */
		{"mtmul", "matmul", 1},   /* one left out */
		{"batmul", "matmul", 1},  /* one changed */
		{"amtmul", "matmul", 1},  /* two swapped */
		{"MatMul", "matmul", 0},  /* case */
		{"kitten", "sitting", 3}, /* two changed, one added */
		{"layer", "reyal", 4},    /* all but the middle */
		{"a.b.conv1", "a.b.conv2", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *a = rows[i].a, *b = rows[i].b;

		assert_int_equal(sl__edit_distance(a, strlen(a), b, strlen(b)),
				 rows[i].edits);
		assert_int_equal(sl__edit_distance(b, strlen(b), a, strlen(a)),
				 rows[i].edits);
	}
	/* As far as told. */
	assert_int_equal(sl__edit_distance("mlp:1", 3, "mlq:22", 3), 1);
}

/* What is common does not count towards the length that can be compared. */
static void
long_words_are_compared(void **state)
{
	char a[301], b[301];

	(void)state;
	memset(a, 'x', 300);
	memset(b, 'x', 300);
	a[300] = b[300] = '\0';
	a[150] = 'y';
	assert_int_equal(sl__edit_distance(a, 300, b, 300), 1);
	memset(b, 'z', 300);
	assert_int_equal(sl__edit_distance(a, 300, b, 300), SL__EDITS_MANY);
}

static void
the_nearest_is_kept(void **state)
{
	const char *near = NULL;

	(void)state;
	near = sl_text_nearer("layr", near, "sweep");
	assert_null(near);
	near = sl_text_nearer("layr", near, "lawyer");
	assert_string_equal(near, "lawyer");
	near = sl_text_nearer("layr", near, "layer");
	assert_string_equal(near, "layer");
	near = sl_text_nearer("layr", near, "layers");
	assert_string_equal(near, "layer");
	/* Half of its letters would have to change. */
	assert_null(sl_text_nearer("xy", NULL, "xz"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edits_are_counted),
		cmocka_unit_test(long_words_are_compared),
		cmocka_unit_test(the_nearest_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
