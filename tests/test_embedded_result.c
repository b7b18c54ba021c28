/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_embedded_result.c - a document in a page comes back with its meaning,
 * small as JSON and large deflated; damaged and missing ones are refused.
 */
#include "harness.h"
#include "base/buf.h"
#include "result/embedded_result.h"

#include <string.h>

static const char head[] = "<!doctype html>\n<p>x</p>\n";

/* A page whose document is a list of n names that would end its element. */
static void
write_page(struct sl_buf *page, struct sl_buf *json, size_t n)
{
	sl__buf_text(json, "[ 1");
	for (size_t i = 0; i < n; i++)
		sl__buf_format(json, ",\n  \"</script> %zu\\\"\"", i);
	sl__buf_text(json, "]");
	sl__buf_text(page, head);
	sl__embedded_result_write(page, json);
	sl__buf_text(page, "<script>last</script>\n");
	assert_int_equal(SL_OK, sl__buf_status(page, NULL));
}

/* Without the spaces between tokens, '<' as it is spelled there. */
static void
write_expected(struct sl_buf *out, size_t n)
{
	sl__buf_text(out, "[1");
	for (size_t i = 0; i < n; i++)
		sl__buf_format(out, ",\"\\u003c/script> %zu\\\"\"", i);
	sl__buf_text(out, "]\n");
}

static void
check_round_trip(size_t n, const char *type)
{
	struct sl_buf page = {0}, json = {0}, storage = {0}, want = {0};
	const char *text;
	size_t n_bytes;

	write_page(&page, &json, n);
	write_expected(&want, n);
	assert_non_null(strstr(page.data, type));
	text = page.data;
	n_bytes = page.n_bytes;
	assert_int_equal(SL_OK, sl__embedded_result_find(&text, &n_bytes,
							 &storage, NULL));
	assert_int_equal(n_bytes, want.n_bytes);
	assert_memory_equal(text, want.data, n_bytes);
	sl_buf_release(&page);
	sl_buf_release(&json);
	sl_buf_release(&storage);
	sl_buf_release(&want);
}

static void
test_small_is_plain_and_large_is_deflated(void **state)
{
	(void)state;
	check_round_trip(0, "type=\"application/json\" id=\"result\"");
	check_round_trip(1000, "type=\"application/json\" id=\"result\"");
	check_round_trip(60000, "type=\"application/zlib\" id=\"result\"");
}

static void
test_deflated_is_smaller(void **state)
{
	struct sl_buf page = {0}, json = {0};

	(void)state;
	write_page(&page, &json, 60000);
	assert_true(page.n_bytes < json.n_bytes / 4);
	sl_buf_release(&page);
	sl_buf_release(&json);
}

static enum sl_status
find_in(const char *page, size_t n_bytes)
{
	struct sl_buf storage = {0};
	enum sl_status rc =
		sl__embedded_result_find(&page, &n_bytes, &storage, NULL);

	sl_buf_release(&storage);
	return rc;
}

/* A digit changed breaks the checksum; a cut loses the end. */
static void
test_damage_is_refused(void **state)
{
	struct sl_buf page = {0}, json = {0};
	char *data;

	(void)state;
	write_page(&page, &json, 60000);
	data = strstr(page.data, "id=\"result\">\n") + 13;
	for (size_t at = 3; at < 3000; at += 500) {
		char kept = data[at];

		data[at] = kept == 'A' ? 'B' : 'A';
		assert_int_equal(SL_E_DATA, find_in(page.data, page.n_bytes));
		data[at] = kept;
	}
	data[7] = '!';
	assert_int_equal(SL_E_DATA, find_in(page.data, page.n_bytes));
	assert_int_equal(SL_E_DATA,
			 find_in(page.data, (size_t)(data - page.data) + 100));
	assert_int_equal(SL_E_DATA, find_in(head, strlen(head)));
	sl_buf_release(&page);
	sl_buf_release(&json);
}

static void
test_what_is_no_page_stays(void **state)
{
	const char *text = "{}";
	size_t n_bytes = 2;
	struct sl_buf storage = {0};

	(void)state;
	assert_int_equal(SL_OK, sl__embedded_result_find(&text, &n_bytes,
							 &storage, NULL));
	assert_string_equal(text, "{}");
	assert_int_equal(n_bytes, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_is_plain_and_large_is_deflated),
		cmocka_unit_test(test_deflated_is_smaller),
		cmocka_unit_test(test_damage_is_refused),
		cmocka_unit_test(test_what_is_no_page_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
