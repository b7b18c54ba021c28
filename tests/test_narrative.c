/* SPDX-License-Identifier: Apache-2.0 */
/* test_narrative.c - results in words: units, order, and what has no room. */
#include "base/buf.h"
#include "report/phrase.h"
#include "counting.h"
#include "harness.h"
#include "report/narrative.h"

static void
units(void **state)
{
	struct sl__phrase w;

	(void)state;
	assert_string_equal(sl__phrase_time(&w, 12), "12 ns");
	assert_string_equal(sl__phrase_time(&w, 1234), "1.23 µs");
	assert_string_equal(sl__phrase_time(&w, -2.5e6), "-2.5 ms");
	assert_string_equal(sl__phrase_time(&w, 3e10), "30 s");
	assert_string_equal(sl__phrase_bytes(&w, 999), "999 B");
	assert_string_equal(sl__phrase_bytes(&w, 2.1e6), "2.1 MB");
	assert_string_equal(sl__phrase_bytes(&w, 4e15), "4e+03 TB");
}

static void
order_and_room(void **state)
{
	struct sl__narrative told;

	(void)state;
	sl__narrative_init(&told, NULL);
	for (int i = 0; i < SL__SENTENCES_MOST + 3; i++)
		sl__narrative_add_sentence(&told, "number %d", i);
	assert_false(told.has_failed);
	assert_int_equal(told.n, SL__SENTENCES_MOST);
	assert_string_equal(told.list[0], "number 0");
	assert_string_equal(told.list[told.n - 1], "number 15");
	sl__narrative_release(&told);
}

/* A long one is cut, and nothing behind it is written. */
static void
cut(void **state)
{
	struct sl__narrative told;

	(void)state;
	sl__narrative_init(&told, NULL);
	sl__narrative_add_sentence(&told, "%2000d", 7);
	assert_int_equal(strlen(told.list[0]), 1023);
	sl__narrative_release(&told);
}

/* What is missing is an error, not a shorter answer. */
static void
out_of_memory(void **state)
{
	struct counting c = {.fail_at = 1};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl_buf out = {0};
	struct sl__narrative told;
	struct sl__json json;
	struct sl__doc doc;
	struct sl_error err;

	(void)state;
	sl__narrative_init(&told, &allocator);
	sl__narrative_add_sentence(&told, "%1000d", 1);
	assert_int_equal(c.n_requests, 1);
	assert_true(told.has_failed);
	assert_int_equal(told.n, 0);
	sl__doc_init(&doc, NULL);
	sl__narrative_page(&doc, &told, SL__SENTENCES_MOST);
	assert_true(doc.failed);
	sl__doc_release(&doc);
	sl__json_init(&json, &out);
	sl__json_object(&json, NULL);
	sl__narrative_json(&json, &told);
	sl__json_end_object(&json);
	assert_int_equal(sl__buf_status(&out, &err), SL_E_NOMEM);
	sl_buf_release(&out);
	sl__narrative_release(&told);
	assert_int_equal(c.n_out, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units),
		cmocka_unit_test(order_and_room),
		cmocka_unit_test(cut),
		cmocka_unit_test(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
