/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reply_cache.c - a reply is found under its key and in its state alone;
 * the newest of a key counts; what was not used for longest goes first; large
 * replies are not kept.
 */
#include "base/buf.h"
#include "harness.h"
#include "serve/reply_cache.h"

static void
put(struct sl__reply_cache *cache, const char *key, const char *state,
    const char *text)
{
	struct sl_buf body = {0};

	sl__buf_text(&body, text);
	sl__reply_cache_put(cache, key, state, &body);
	sl_buf_release(&body);
}

static const char *
find(struct sl__reply_cache *cache, const char *key, const char *state)
{
	const struct sl_buf *body = sl__reply_cache_find(cache, key, state);

	return body ? body->data : "none";
}

static void
test_key_and_state(void **state)
{
	struct sl__reply_cache cache = {.n_uses = 0};

	(void)state;
	assert_string_equal(find(&cache, "a", "1"), "none");
	put(&cache, "a", "1", "x");
	assert_string_equal(find(&cache, "a", "1"), "x");
	assert_string_equal(find(&cache, "a", "2"), "none");
	assert_string_equal(find(&cache, "b", "1"), "none");
	put(&cache, "a", "2", "y");
	assert_string_equal(find(&cache, "a", "2"), "y");
	assert_string_equal(find(&cache, "a", "1"), "none");
	sl__reply_cache_release(&cache);
	assert_string_equal(find(&cache, "a", "2"), "none");
}

static void
test_least_recently_used(void **state)
{
	struct sl__reply_cache cache = {.n_uses = 0};
	char key[16];

	(void)state;
	for (int i = 0; i < SL__CACHED_REPLIES; i++) {
		snprintf(key, sizeof(key), "%d", i);
		put(&cache, key, "s", key);
	}
	assert_string_equal(find(&cache, "0", "s"), "0");
	put(&cache, "more", "s", "more");
	assert_string_equal(find(&cache, "0", "s"), "0");
	assert_string_equal(find(&cache, "1", "s"), "none");
	assert_string_equal(find(&cache, "2", "s"), "2");
	assert_string_equal(find(&cache, "more", "s"), "more");
	sl__reply_cache_release(&cache);
}

static void
test_large(void **state)
{
	struct sl__reply_cache cache = {.n_uses = 0};
	struct sl_buf body = {0};

	(void)state;
	sl__buf_repeat(&body, "x", SL__CACHED_REPLY_BYTES);
	sl__reply_cache_put(&cache, "a", "s", &body);
	assert_int_equal(strlen(find(&cache, "a", "s")),
			 SL__CACHED_REPLY_BYTES);
	sl__buf_text(&body, "x");
	sl__reply_cache_put(&cache, "b", "s", &body);
	assert_string_equal(find(&cache, "b", "s"), "none");
	sl_buf_release(&body);
	sl__reply_cache_release(&cache);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_and_state),
		cmocka_unit_test(test_least_recently_used),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
