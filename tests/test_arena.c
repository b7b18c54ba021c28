/* SPDX-License-Identifier: Apache-2.0 */
/* test_arena.c - blocks are zeroed, aligned, apart, and freed together. */
#include "harness.h"
#include "base/arena.h"

/* An allocator that counts what is out and fails on the n-th request. */
struct counting {
	int n_out, n_requests, fail_at;
};

static void *
counting_alloc(size_t n_bytes, void *ctx)
{
	struct counting *c = ctx;

	if (++c->n_requests == c->fail_at)
		return NULL;
	c->n_out++;
	return malloc(n_bytes);
}

static void
counting_release(void *block, void *ctx)
{
	struct counting *c = ctx;

	c->n_out--;
	free(block);
}

static void
blocks_are_zeroed_aligned_and_apart(void **state)
{
	struct sl__arena arena;
	unsigned char *blocks[200];

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < 200; i++) {
		blocks[i] = sl__arena_alloc(&arena, i * 7);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % 16, 0);
		for (size_t k = 0; k < i * 7; k++)
			assert_int_equal(blocks[i][k], 0);
		memset(blocks[i], (int)i, i * 7);
	}
	for (size_t i = 0; i < 200; i++) {
		for (size_t k = 0; k < i * 7; k++)
			assert_int_equal(blocks[i][k], (unsigned char)i);
	}
	sl__arena_release(&arena);
}

static void
everything_is_freed_with_the_arena(void **state)
{
	struct counting c = {0, 0, 0};
	struct sl_allocator allocator = {counting_alloc, counting_release, &c};
	struct sl__arena *arena;
	int *object;

	(void)state;
	object = sl__arena_object_new(&arena, &allocator, sizeof(*object));
	assert_non_null(object);
	assert_int_equal(*object, 0);
	for (int i = 0; i < 1000; i++)
		assert_non_null(sl__arena_alloc(arena, 1000));
	assert_true(c.n_out > 1);
	sl__arena_object_free(object);
	assert_int_equal(c.n_out, 0);
	sl__arena_object_free(NULL);
}

static void
failure_is_null_and_leaks_nothing(void **state)
{
	struct counting c = {0, 0, 2};
	struct sl_allocator allocator = {counting_alloc, counting_release, &c};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, &allocator);
	assert_non_null(sl__arena_alloc(&arena, 4000));
	assert_null(sl__arena_alloc(&arena, 4000));
	assert_non_null(sl__arena_alloc(&arena, 4000));
	assert_null(sl__arena_array(&arena, SIZE_MAX / 2, 16));
	assert_null(sl__arena_alloc(&arena, SIZE_MAX - 4));
	sl__arena_release(&arena);
	assert_int_equal(c.n_out, 0);
}

static void
strings_are_copied(void **state)
{
	struct sl__arena arena;
	char text[] = "layer1";
	char *copy;

	(void)state;
	sl__arena_init(&arena, NULL);
	copy = sl__arena_string(&arena, text);
	text[0] = 'x';
	assert_string_equal(copy, "layer1");
	assert_null(sl__arena_string(&arena, NULL));
	assert_string_equal(sl__arena_format(&arena, "%s/%d", copy, 7),
			    "layer1/7");
	sl__arena_release(&arena);
}

static void
columns_grow(void **state)
{
	struct sl__arena arena;
	int *x = NULL;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t n = 0, cap = 3; n < 100; cap *= 2) {
		x = sl__arena_realloc_array(&arena, x, n, cap, sizeof(*x));
		for (; n < cap; n++)
			x[n] = (int)n;
		for (size_t i = 0; i < n; i++)
			assert_int_equal(x[i], i);
	}
	assert_null(
		sl__arena_realloc_array(&arena, x, 1, SIZE_MAX, sizeof(*x)));
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
		cmocka_unit_test(everything_is_freed_with_the_arena),
		cmocka_unit_test(failure_is_null_and_leaks_nothing),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(columns_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
