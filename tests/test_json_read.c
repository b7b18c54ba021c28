/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json_read.c - JSON of RFC 8259 is read as it stands, integers in full,
 * and what is no JSON is refused with its line.
 */
#include "base/json_read.h"
#include "comma_locale.h"
#include "harness.h"

#include <inttypes.h>

static const struct sl__json_value *
read_text(const char *text, struct sl__arena *arena)
{
	const struct sl__json_value *root;
	struct sl_error err;

	if (sl__json_read(&root, text, strlen(text), arena, &err))
		fail_msg("%s: %s", text, err.text);
	return root;
}

static void
values_are_read(void **state)
{
	const struct sl__json_value *root, *list;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	root = read_text(" {\"a\" : [1, -2.5e3 , true,false,null, \"x\"],\n"
			 "\"b\":{}, \"\" : []}\n",
			 &arena);
	assert_int_equal(root->kind, SL__JSON_OBJECT);
	assert_int_equal(root->n, 3);
	list = sl__json_member(root, "a");
	assert_int_equal(list->kind, SL__JSON_ARRAY);
	assert_int_equal(list->n, 6);
	assert_true(list->first->number == 1);
	assert_true(list->first->next->number == -2500);
	assert_int_equal(list->first->next->next->kind, SL__JSON_BOOLEAN);
	assert_true(list->first->next->next->number == 1);
	assert_true(list->first->next->next->next->number == 0);
	assert_int_equal(list->first->next->next->next->next->kind,
			 SL__JSON_NULL);
	assert_string_equal(list->first->next->next->next->next->next->text,
			    "x");
	assert_int_equal(sl__json_member(root, "b")->n, 0);
	assert_int_equal(sl__json_member(root, "")->kind, SL__JSON_ARRAY);
	assert_null(sl__json_member(root, "c"));
	assert_null(sl__json_member(list, "a"));
	sl__arena_release(&arena);
}

/* A double has 53 bits; the digits are kept. */
static void
integers_keep_their_digits(void **state)
{
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_string_equal(read_text("18446744073709551615", &arena)->text,
			    "18446744073709551615");
	assert_true(read_text("1e-7", &arena)->number == 1e-7);
	sl__arena_release(&arena);
}

static void
escapes_become_characters(void **state)
{
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_string_equal(
		read_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", &arena)->text,
		"\"\\/\b\f\n\r\t");
	assert_string_equal(
		read_text("\"\\u0041\\u00e4\\u20ac\\ud83d\\ude00\"", &arena)
			->text,
		"A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	sl__arena_release(&arena);
}

static void
what_is_no_json_is_refused(void **state)
{
	static const char *const texts[] = {
		"",           " ",           "{",           "[1",
		"[1,]",       "[,1]",        "{\"a\"}",     "{\"a\":}",
		"{\"a\":1,}", "{a:1}",       "01",          "1.",
		".5",         "+1",          "1e",          "- 1",
		"nul",        "tru",         "\"x",         "\"\\x\"",
		"\"\\u12\"",  "\"\\u0000\"", "\"\\ud800\"", "\"\\udc00\"",
		"\"\t\"",     "1 2",         "[1] x",       "{\"a\":1,\"a\":2}",
		"NaN",        "\"\\",        "\"\\u",       "]",
		"[1 2]",
	};
	const struct sl__json_value *root;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (sl__json_read(&root, texts[i], strlen(texts[i]), &arena,
				  &err) != SL_E_DATA)
			fail_msg("'%s' was read", texts[i]);
		assert_null(root);
	}
	/* The text ends where its length says, whatever follows. */
	assert_int_equal(sl__json_read(&root, "12 x", 2, &arena, &err), SL_OK);
	assert_true(root->number == 12);
	assert_int_equal(sl__json_read(&root, "[1,\n2,\n?]", 9, &arena, &err),
			 SL_E_DATA);
	assert_string_equal(err.text, "line 3: no value");
	sl__arena_release(&arena);
}

/* Nothing that a file says makes it run deep, or for ever. */
static void
depth_and_names_are_bounded(void **state)
{
	struct sl_buf text = {0};
	const struct sl__json_value *root;
	struct sl__arena arena;
	struct sl_error err;
	char deep[200];

	(void)state;
	sl__arena_init(&arena, NULL);
	memset(deep, '[', sizeof(deep));
	assert_int_equal(sl__json_read(&root, deep, sizeof(deep), &arena, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "deep"));
	memset(deep, '[', 64);
	memset(deep + 64, ']', 64);
	assert_int_equal(sl__json_read(&root, deep, 128, &arena, &err), SL_OK);
	text.data = calloc(1, 20000);
	strcpy(text.data, "{");
	for (int i = 0; i < 1001; i++)
		sprintf(text.data + strlen(text.data), "%s\"%d\":0",
			i ? "," : "", i);
	strcat(text.data, "}");
	assert_int_equal(sl__json_read(&root, text.data, strlen(text.data),
				       &arena, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "too many names"));
	free(text.data);
	sl__arena_release(&arena);
}

static void
a_comma_in_the_locale_changes_nothing(void **state)
{
	struct sl__arena arena;

	(void)state;
	if (!comma_locale_begin())
		skip();
	sl__arena_init(&arena, NULL);
	assert_true(read_text("[2.5]", &arena)->first->number == 2.5);
	assert_true(read_text("-1.25e-1", &arena)->number == -0.125);
	sl__arena_release(&arena);
	comma_locale_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(integers_keep_their_digits),
		cmocka_unit_test(escapes_become_characters),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(depth_and_names_are_bounded),
		cmocka_unit_test(a_comma_in_the_locale_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
