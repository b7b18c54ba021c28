/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_base64.c - the vectors of RFC 4648, lines, every length there and back,
 * and text that is not base 64.
 */
#include "harness.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/rng.h"

#include <string.h>

static void
test_vectors_of_the_standard(void **state)
{
	static const char *const texts[] = {
		"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

	(void)state;
	for (size_t n = 0; n <= 6; n++) {
		struct sl_buf text = {0}, bytes = {0};

		sl__base64_add(&text, "foobar", n);
		assert_int_equal(text.n_bytes, n ? strlen(texts[n]) + 1 : 0);
		if (n)
			assert_memory_equal(text.data, texts[n],
					    strlen(texts[n]));
		assert_int_equal(SL_OK,
				 sl__base64_read(&bytes, texts[n],
						 strlen(texts[n]), NULL));
		assert_int_equal(bytes.n_bytes, n);
		if (n)
			assert_memory_equal(bytes.data, "foobar", n);
		sl_buf_release(&text);
		sl_buf_release(&bytes);
	}
}

static void
test_every_length_comes_back(void **state)
{
	unsigned char from[256];
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 3);
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (unsigned char)sl__rng_next(&rng);
	for (size_t n = 0; n <= sizeof(from); n++) {
		struct sl_buf text = {0}, bytes = {0};

		sl__base64_add(&text, from, n);
		for (size_t i = 0, column = 0; i < text.n_bytes; i++) {
			column = text.data[i] == '\n' ? 0 : column + 1;
			assert_true(column <= 76);
		}
		assert_int_equal(SL_OK, sl__base64_read(&bytes, text.data,
							text.n_bytes, NULL));
		assert_int_equal(bytes.n_bytes, n);
		if (n)
			assert_memory_equal(bytes.data, from, n);
		sl_buf_release(&text);
		sl_buf_release(&bytes);
	}
}

static void
test_refuses_what_is_not_base64(void **state)
{
	static const char *const wrong[] = {
		"Z", "Zg", "Zg=", "Z===", "Zm9v!", "Zg==Zg==", "Zm9<", "===="};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct sl_buf bytes = {0};

		assert_int_equal(SL_E_DATA,
				 sl__base64_read(&bytes, wrong[i],
						 strlen(wrong[i]), NULL));
		sl_buf_release(&bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors_of_the_standard),
		cmocka_unit_test(test_every_length_comes_back),
		cmocka_unit_test(test_refuses_what_is_not_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
