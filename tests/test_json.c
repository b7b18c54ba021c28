/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json.c - commas, indentation and escapes as RFC 8259 has them, absence
 * with its reason, and doubles that come back bit for bit.
 */
#include "harness.h"
#include "base/json.h"
#include "base/buf.h"
#include "base/rng.h"

#include <float.h>

static void
an_object_of_everything(void **state)
{
	static const char expected[] = "{\n"
				       "  \"name\": \"true\",\n"
				       "  \"n\": 18446744073709551615,\n"
				       "  \"mean_ms\": 1.5,\n"
				       "  \"quiet\": true,\n"
				       "  \"loud\": false,\n"
				       "  \"runs\": [\n"
				       "    1,\n"
				       "    {\n"
				       "      \"x\": 2\n"
				       "    },\n"
				       "    [],\n"
				       "    {}\n"
				       "  ],\n"
				       "  \"last\": \"z\"\n"
				       "}\n";
	struct sl_buf out = {0};
	struct sl__json json;

	(void)state;
	sl__json_init(&json, &out);
	sl__json_object(&json, NULL);
	sl__json_text(&json, "name", "true");
	sl__json_integer(&json, "n", UINT64_MAX);
	sl__json_number(&json, "mean_ms", 1.5);
	sl__json_boolean(&json, "quiet", 1);
	sl__json_boolean(&json, "loud", 0);
	sl__json_array(&json, "runs");
	sl__json_number(&json, NULL, 1);
	sl__json_object(&json, NULL);
	sl__json_number(&json, "x", 2);
	sl__json_end_object(&json);
	sl__json_array(&json, NULL);
	sl__json_end_array(&json);
	sl__json_object(&json, NULL);
	sl__json_end_object(&json);
	sl__json_end_array(&json);
	sl__json_text(&json, "last", "z");
	sl__json_end_object(&json);
	assert_string_equal(out.data, expected);
	sl_buf_release(&out);
}

/* The text of a string written alone, without its quotes and newline. */
static void
check_escaped(const char *text, const char *expected)
{
	char quoted[64];
	struct sl_buf out = {0};
	struct sl__json json;

	sl__json_init(&json, &out);
	sl__json_text(&json, NULL, text);
	snprintf(quoted, sizeof(quoted), "\"%s\"", expected);
	assert_string_equal(out.data, quoted);
	sl_buf_release(&out);
}

static void
strings_are_escaped(void **state)
{
	(void)state;
	check_escaped("", "");
	check_escaped("a/b 'c'", "a/b 'c'");
	check_escaped("say \"hi\"", "say \\\"hi\\\"");
	check_escaped("C:\\x", "C:\\\\x");
	check_escaped("a\nb\tc", "a\\nb\\tc");
	check_escaped("\xc2\xb5s", "\xc2\xb5s"); /* UTF-8 passes */
	check_escaped("\xc2\x9b"
		      "2J",
		      "\\u009b2J");
	check_escaped("a\xe2\x80\xae"
		      "b\xe2\x80\x8b",
		      "a\\u202eb\\u200b");
	check_escaped("\xe2\x81\xa6\xef\xbb\xbf", "\\u2066\\ufeff");
	check_escaped("\xc2\xa0\xe2\x80\xa6\xf0\x9f\x98\x80",
		      "\xc2\xa0\xe2\x80\xa6\xf0\x9f\x98\x80");
	for (int c = 1; c < 0x20; c++) {
		char text[2] = {(char)c, '\0'}, expected[16];

		snprintf(expected, sizeof(expected), "\\u%04x", (unsigned)c);
		if (c != '\n' && c != '\t')
			check_escaped(text, expected);
	}
}

static void
keys_are_escaped_too(void **state)
{
	struct sl_buf out = {0};
	struct sl__json json;

	(void)state;
	sl__json_init(&json, &out);
	sl__json_object(&json, NULL);
	sl__json_integer(&json, "a\"b", 1);
	sl__json_end_object(&json);
	assert_string_equal(out.data, "{\n  \"a\\\"b\": 1\n}\n");
	sl_buf_release(&out);
}

static void
absence_is_null_with_a_reason(void **state)
{
	static const char expected[] = "{\n"
				       "  \"steal\": null,\n"
				       "  \"steal_absent\": \"not visible\",\n"
				       "  \"switches\": 3,\n"
				       "  \"nan\": null,\n"
				       "  \"nan_absent\": \"not measured\",\n"
				       "  \"row\": [\n"
				       "    null,\n"
				       "    null\n"
				       "  ]\n"
				       "}\n";
	struct sl_buf out = {0};
	struct sl__json json;

	(void)state;
	sl__json_init(&json, &out);
	sl__json_object(&json, NULL);
	sl__json_absent(&json, "steal", "not visible");
	sl__json_number(&json, "switches", 3);
	sl__json_number(&json, "nan", (double)NAN);
	sl__json_array(&json, "row");
	sl__json_number(&json, NULL, -(double)INFINITY);
	sl__json_number(&json, NULL, (double)NAN);
	sl__json_end_array(&json);
	sl__json_end_object(&json);
	assert_string_equal(out.data, expected);
	sl_buf_release(&out);
}

static void
check_round_trip(double value)
{
	struct sl_buf out = {0};
	struct sl__json json;
	double back;
	char *end;

	sl__json_init(&json, &out);
	sl__json_number(&json, NULL, value);
	back = strtod(out.data, &end);
	assert_int_equal(*end, '\0');
	assert_memory_equal(&back, &value, sizeof(value));
	sl_buf_release(&out);
}

static void
doubles_come_back_bit_for_bit(void **state)
{
	static const double known[] = {
		0.,
		-0.,
		0.1,
		1. / 3,
		2. / 3,
		123456.789,
		1e22,
		1e23,
		5e-324,
		DBL_MIN,
		DBL_MAX,
		-DBL_MAX,
		DBL_EPSILON,
		4503599627370497.5,
		9007199254740993.,
	};
	struct sl__rng rng;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		check_round_trip(known[i]);
	sl__rng_init(&rng, 21);
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = sl__rng_next(&rng);
		double value;

		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			check_round_trip(value);
	}
}

static void
short_numbers_stay_short(void **state)
{
	struct sl_buf out = {0};
	struct sl__json json;

	(void)state;
	sl__json_init(&json, &out);
	sl__json_number(&json, NULL, 0.1);
	assert_string_equal(out.data, "0.1");
	sl_buf_release(&out);
}

/* A buffer that is out of memory stays so: the page ends in a failure. */
static void
failure_sticks_to_the_buffer(void **state)
{
	struct sl_buf out = {0};
	struct sl__json json;
	volatile size_t too_much = SIZE_MAX / 2;

	(void)state;
	sl__json_init(&json, &out);
	sl__json_object(&json, NULL);
	sl__buf_add(&out, "x", too_much);
	sl__json_text(&json, "a", "b");
	sl__json_end_object(&json);
	assert_null(out.data);
	assert_int_equal(sl__buf_status(&out, NULL), SL_E_NOMEM);
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_of_everything),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(keys_are_escaped_too),
		cmocka_unit_test(absence_is_null_with_a_reason),
		cmocka_unit_test(doubles_come_back_bit_for_bit),
		cmocka_unit_test(short_numbers_stay_short),
		cmocka_unit_test(failure_sticks_to_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
