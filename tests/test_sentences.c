/* SPDX-License-Identifier: Apache-2.0 */
/* test_sentences.c - findings in words: units, order, and what has no room. */
#include "analysis/sentences.h"
#include "counting.h"
#include "harness.h"

static void
units(void **state)
{
	struct sl__words w;

	(void)state;
	assert_string_equal(sl__words_time(&w, 12), "12 ns");
	assert_string_equal(sl__words_time(&w, 1234), "1.23 us");
	assert_string_equal(sl__words_time(&w, -2.5e6), "-2.5 ms");
	assert_string_equal(sl__words_time(&w, 3e10), "30 s");
	assert_string_equal(sl__words_bytes(&w, 999), "999 B");
	assert_string_equal(sl__words_bytes(&w, 2.1e6), "2.1 MB");
	assert_string_equal(sl__words_bytes(&w, 4e15), "4e+03 TB");
}

static void
order_and_room(void **state)
{
	struct sl__sentences said;
	struct sl__arena arena;
	struct sl_error err;
	const char *const *list;
	size_t n;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__sentences_begin(&said, &arena, &err), SL_OK);
	for (int i = 0; i < SL__SENTENCES_MOST + 3; i++)
		sl__say(&said, "number %d", i);
	assert_int_equal(sl__sentences_end(&said, &list, &n, &err), SL_OK);
	assert_int_equal(n, SL__SENTENCES_MOST);
	assert_string_equal(list[0], "number 0");
	assert_string_equal(list[n - 1], "number 15");
	sl__arena_release(&arena);
}

/* A long one is cut, and nothing behind it is written. */
static void
cut(void **state)
{
	struct sl__sentences said;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__sentences_begin(&said, &arena, &err), SL_OK);
	sl__say(&said, "%2000d", 7);
	assert_int_equal(strlen(said.list[0]), 1023);
	sl__arena_release(&arena);
}

/* What is missing is an error, not a shorter answer. */
static void
out_of_memory(void **state)
{
	struct counting c = {.fail_at = 2};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl__sentences said;
	struct sl__arena arena;
	struct sl_error err;
	const char *const *list;
	size_t n;

	(void)state;
	sl__arena_init(&arena, &allocator);
	assert_int_equal(sl__sentences_begin(&said, &arena, &err), SL_OK);
	for (int i = 0; i < 4000 && c.n_requests < 2; i++) {
		said.n = 0; /* the room in the list is not what is tested */
		sl__say(&said, "%1000d", i);
	}
	assert_int_equal(c.n_requests, 2);
	assert_int_equal(sl__sentences_end(&said, &list, &n, &err), SL_E_NOMEM);
	sl__arena_release(&arena);
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
