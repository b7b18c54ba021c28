/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_map.c - what was put last is found, nothing else is, and a failed
 * allocation loses nothing that was there.
 */
#include "harness.h"
#include "counting.h"
#include "base/map.h"

enum { N_KEYS = 5000 };

static const char *
key_of(size_t i, char text[32])
{
	snprintf(text, 32, "layer%zu/weight", i);
	return text;
}

static void
an_empty_map_finds_nothing(void **state)
{
	struct sl__arena arena;
	struct sl__map map;

	(void)state;
	sl__arena_init(&arena, NULL);
	sl__map_init(&map, &arena);
	assert_null(sl__map_find(&map, ""));
	assert_null(sl__map_find(&map, "x"));
	assert_int_equal(map.n, 0);
	sl__arena_release(&arena);
}

static void
what_was_put_is_found_through_growth(void **state)
{
	struct sl__arena arena;
	struct sl__map map;
	char text[32];

	(void)state;
	sl__arena_init(&arena, NULL);
	sl__map_init(&map, &arena);
	for (size_t i = 0; i < N_KEYS; i++) {
		assert_int_equal(sl__map_put(&map, key_of(i, text), i, NULL),
				 SL_OK);
		assert_int_equal(map.n, i + 1);
		assert_true(4 * map.n <= 3 * map.n_slots);
	}
	for (size_t i = 0; i < N_KEYS; i++) {
		const size_t *value = sl__map_find(&map, key_of(i, text));

		assert_non_null(value);
		assert_int_equal(*value, i);
	}
	assert_null(sl__map_find(&map, key_of(N_KEYS, text)));
	assert_null(sl__map_find(&map, "layer1"));
	assert_null(sl__map_find(&map, ""));
	sl__arena_release(&arena);
}

static void
putting_again_replaces(void **state)
{
	struct sl__arena arena;
	struct sl__map map;
	char key[] = "bias";

	(void)state;
	sl__arena_init(&arena, NULL);
	sl__map_init(&map, &arena);
	assert_int_equal(sl__map_put(&map, key, 1, NULL), SL_OK);
	assert_int_equal(sl__map_put(&map, key, 2, NULL), SL_OK);
	assert_int_equal(sl__map_put(&map, "", 3, NULL), SL_OK);
	key[0] = 'x'; /* the map holds copies */
	assert_int_equal(map.n, 2);
	assert_int_equal(*sl__map_find(&map, "bias"), 2);
	assert_int_equal(*sl__map_find(&map, ""), 3);
	assert_null(sl__map_find(&map, key));
	sl__arena_release(&arena);
}

/* Whichever allocation fails, the keys before it stay and memory does not. */
static void
any_allocation_may_fail(void **state)
{
	int n_failures = 0;

	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {0, 0, fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_error err = {.status = SL_OK, .text = ""};
		enum sl_status rc = SL_OK;
		struct sl__arena arena;
		struct sl__map map;
		char text[32];
		size_t n = 0;

		sl__arena_init(&arena, &allocator);
		sl__map_init(&map, &arena);
		while (n < N_KEYS) {
			rc = sl__map_put(&map, key_of(n, text), n, &err);
			if (rc)
				break;
			n++;
		}
		for (size_t i = 0; i < n; i++)
			assert_int_equal(*sl__map_find(&map, key_of(i, text)),
					 i);
		assert_int_equal(map.n, n);
		sl__arena_release(&arena);
		assert_int_equal(c.n_out, 0);
		if (rc == SL_OK)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
		assert_string_equal(err.text, "out of memory");
		n_failures++;
	}
	assert_true(n_failures > 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_finds_nothing),
		cmocka_unit_test(what_was_put_is_found_through_growth),
		cmocka_unit_test(putting_again_replaces),
		cmocka_unit_test(any_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
