/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_utf8.c - every code point goes out and back; after every two bytes, with
 * the bounds of what may follow, a sequence is taken exactly where Unicode 15,
 * table 3-7, has it; and what is not fit for a terminal does not reach it.
 */
#include "harness.h"
#include "base/utf8.h"

enum { LAST_CODE = 0x10ffff };

static int
is_surrogate(uint32_t code)
{
	return code >= 0xd800 && code <= 0xdfff;
}

static void
every_code_point_goes_out_and_back(void **state)
{
	char text[SL__UTF8_MOST + 1];
	uint32_t back;

	(void)state;
	for (uint32_t code = 1; code <= LAST_CODE; code++) {
		size_t n = sl__utf8_encode(text, code);

		text[n] = '\0';
		back = 0;
		assert_int_equal(strlen(text), n);
		assert_int_equal(sl__utf8_decode(text, &back), n);
		assert_int_equal(sl__utf8_step(text), n);
		assert_int_equal(back, is_surrogate(code) ? 0xfffd : code);
		/* Cut short, nothing of it is left. */
		if (n > 1) {
			text[n - 1] = '\0';
			assert_int_equal(sl__utf8_decode(text, &back), 0);
			assert_int_equal(sl__utf8_step(text), 1);
		}
	}
	assert_int_equal(sl__utf8_encode(text, LAST_CODE + 1), 3);
	assert_memory_equal(text, "\xef\xbf\xbd", 3);
	assert_int_equal(sl__utf8_encode(text, UINT32_MAX), 3);
	assert_int_equal(sl__utf8_encode(text, 0), 1);
}

struct row {
	unsigned char from[4], to[4]; /* of each byte; 0 ends */
};

/* Unicode 15, table 3-7, well-formed UTF-8 byte sequences. */
static const struct row table[] = {
	{{0x00}, {0x7f}},
	{{0xc2, 0x80}, {0xdf, 0xbf}},
	{{0xe0, 0xa0, 0x80}, {0xe0, 0xbf, 0xbf}},
	{{0xe1, 0x80, 0x80}, {0xec, 0xbf, 0xbf}},
	{{0xed, 0x80, 0x80}, {0xed, 0x9f, 0xbf}},
	{{0xee, 0x80, 0x80}, {0xef, 0xbf, 0xbf}},
	{{0xf0, 0x90, 0x80, 0x80}, {0xf0, 0xbf, 0xbf, 0xbf}},
	{{0xf1, 0x80, 0x80, 0x80}, {0xf3, 0xbf, 0xbf, 0xbf}},
	{{0xf4, 0x80, 0x80, 0x80}, {0xf4, 0x8f, 0xbf, 0xbf}},
};

/* Bytes of the first sequence in 'p' by the table; 0: none. */
static size_t
by_table(const unsigned char p[4])
{
	for (size_t r = 0; r < sizeof(table) / sizeof(table[0]); r++) {
		size_t n = 0;

		while (n < 4 && (n == 0 || table[r].to[n]) &&
		       p[n] >= table[r].from[n] && p[n] <= table[r].to[n])
			n++;
		if (n && (n == 4 || !table[r].to[n]))
			return n;
	}
	return 0;
}

static void
sequences_are_taken_by_the_table(void **state)
{
	/* The bounds of a byte that continues, and their neighbours. */
	static const unsigned char thirds[] = {0x00, 0x41, 0x7f, 0x80,
					       0xbf, 0xc0, 0xff};
	enum { N = sizeof(thirds) };
	char text[5] = "";
	uint32_t code;

	(void)state;
	for (unsigned i = 0; i < 256 * 256 * N * N; i++) {
		unsigned char p[5] = {(unsigned char)(i / N / N / 256),
				      (unsigned char)(i / N / N % 256),
				      thirds[i / N % N], thirds[i % N], 0};

		memcpy(text, p, sizeof(p));
		assert_int_equal(sl__utf8_decode(text, &code), by_table(p));
	}
}

static void
what_is_malformed_leaves_the_code_alone(void **state)
{
	uint32_t code = 7;

	(void)state;
	assert_int_equal(sl__utf8_decode("\xed\xa0\x80", &code), 0);
	assert_int_equal(code, 7);
}

static void
a_sanitized_text_is_one_printable_line(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"", ""},
		{"plain µ × … 𝄞", "plain µ × … 𝄞"},
		{"a\nb\tc\r\033[31m\x7f", "a?b?c??[31m?"},
		{"\xc2\x9b"
		 "31m \xc2\xa0",
		 "?31m \xc2\xa0"},
		{"x\xe2\x80\xaey\xe2\x80\xa8z", "x?y?z"},
		{"a\xe2\x80\x8b\xef\xbb\xbf\xc2\xad", "a???"},
		{"a\xff\xc0\xaf \xe2\x80", "a??? ??"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", cases[i].in);
		sl_text_sanitize(text);
		assert_string_equal(text, cases[i].out);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_point_goes_out_and_back),
		cmocka_unit_test(sequences_are_taken_by_the_table),
		cmocka_unit_test(what_is_malformed_leaves_the_code_alone),
		cmocka_unit_test(a_sanitized_text_is_one_printable_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
