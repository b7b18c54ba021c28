/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pages.c - proves that stretches are aligned, apart, writable to the
 * last byte, counted, and given back, from the system and from a caller's
 * allocator.
 */
#include "counting.h"
#include "harness.h"
#include "base/pages.h"

enum { N_BLOCKS = 9 };

static const uint64_t sizes[N_BLOCKS] = {1,    64,      65, 0,       4096,
					 1000, 3 << 20, 7,  20 << 20};

/* Writes all of each block and looks whether all are as written. */
static void
check_blocks(struct sl__pages *pages)
{
	unsigned char *blocks[N_BLOCKS];
	uint64_t used = 0;

	for (int i = 0; i < N_BLOCKS; i++) {
		blocks[i] = sl__pages_alloc(pages, sizes[i]);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % 64, 0);
		memset(blocks[i], i + 1, (size_t)sizes[i]);
		used += (sizes[i] + 63) / 64 * 64;
		assert_int_equal(sl__pages_used(pages), used);
	}
	for (int i = 0; i < N_BLOCKS; i++) {
		for (uint64_t k = 0; k < sizes[i]; k++) {
			if (blocks[i][k] != i + 1)
				fail_msg("block %d, byte %llu", i,
					 (unsigned long long)k);
		}
	}
}

static void
come_from_the_system(void **state)
{
	struct sl__pages *pages;
	const unsigned char *fresh;

	(void)state;
	assert_int_equal(sl__pages_new(&pages, NULL, NULL), SL_OK);
	assert_int_equal(sl__pages_used(pages), 0);
	fresh = sl__pages_alloc(pages, 100);
	assert_non_null(fresh);
	for (int i = 0; i < 100; i++)
		assert_int_equal(fresh[i], 0);
	sl__pages_free(pages);
	assert_int_equal(sl__pages_new(&pages, NULL, NULL), SL_OK);
	check_blocks(pages);
	sl__pages_free(pages);
	sl__pages_free(NULL);
}

static void
come_from_the_caller(void **state)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl__pages *pages;

	(void)state;
	assert_int_equal(sl__pages_new(&pages, &allocator, NULL), SL_OK);
	check_blocks(pages);
	assert_true(c.n_out > N_BLOCKS / 2);
	sl__pages_free(pages);
	assert_int_equal(c.n_out, 0);
}

static void
refuse_what_is_not_there(void **state)
{
	struct sl__pages *pages;

	(void)state;
	assert_int_equal(sl__pages_new(&pages, NULL, NULL), SL_OK);
	assert_null(sl__pages_alloc(pages, UINT64_MAX));
	assert_null(sl__pages_alloc(pages, UINT64_MAX / 8));
	assert_int_equal(sl__pages_used(pages), 0);
	assert_non_null(sl__pages_alloc(pages, 10));
	sl__pages_free(pages);
}

static void
failing_memory_leaks_nothing(void **state)
{
	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl__pages *pages;
		struct sl_error err;
		int is_short = sl__pages_new(&pages, &allocator, &err) != 0;

		for (int i = 0; !is_short && i < 3; i++)
			is_short = !sl__pages_alloc(pages, 1000);
		sl__pages_free(pages);
		assert_int_equal(c.n_out, 0);
		assert_int_equal(is_short, c.n_requests >= fail_at);
		if (!is_short)
			break;
	}
}

/* A stretch is 16 MiB at least; of one that is left behind, and of all when
 * nothing more comes, whole large pages go back. */
static void
give_back_what_is_left(void **state)
{
	enum { MIB = 1 << 20 };
	unsigned char *first, *last;
	struct sl__pages *pages;

	(void)state;
	assert_int_equal(sl__pages_new(&pages, NULL, NULL), SL_OK);
	assert_int_equal(sl__pages_reserved(pages), 0);
	sl__pages_trim(pages);
	first = sl__pages_alloc(pages, 3 * MIB);
	assert_non_null(first);
	assert_int_equal(sl__pages_reserved(pages), 16 * MIB);
	assert_int_equal(sl__pages_touched(pages, 0), 3 * MIB);
	assert_int_equal(sl__pages_touched(pages, 2 * MIB), 4 * MIB);
	last = sl__pages_alloc(pages, 20 * MIB + 1);
	assert_non_null(last);
	assert_int_equal(sl__pages_reserved(pages), (4 + 22) * MIB);
	assert_non_null(sl__pages_alloc(pages, 2 * MIB));
	assert_int_equal(sl__pages_reserved(pages), (4 + 22 + 16) * MIB);
	sl__pages_trim(pages);
	assert_int_equal(sl__pages_reserved(pages), (4 + 22 + 2) * MIB);
	memset(first, 1, 3 * MIB);
	memset(last, 1, 20 * MIB + 1);
	sl__heap_trim();
	sl__pages_free(pages);
}

/* Its pages go with the block that was handed out last, but for those it
 * shares with others. */
static void
take_back_the_last(void **state)
{
	enum { MIB = 1 << 20 };
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	unsigned char *first, *last;
	struct sl__pages *pages;

	(void)state;
	assert_int_equal(sl__pages_new(&pages, NULL, NULL), SL_OK);
	first = sl__pages_alloc(pages, MIB);
	last = sl__pages_alloc(pages, 7 * MIB);
	assert_true(first && last);
	sl__pages_free_last(pages, last);
	assert_int_equal(sl__pages_used(pages), MIB);
	assert_int_equal(sl__pages_reserved(pages), 2 * MIB);
	memset(first, 1, MIB);
	last = sl__pages_alloc(pages, 7 * MIB);
	assert_non_null(last);
	sl__pages_free_last(pages, last);
	assert_int_equal(sl__pages_reserved(pages), 2 * MIB);
	sl__pages_free(pages);
	assert_int_equal(sl__pages_new(&pages, &allocator, NULL), SL_OK);
	first = sl__pages_alloc(pages, 1000);
	last = sl__pages_alloc(pages, 2000);
	assert_true(first && last);
	sl__pages_free_last(pages, last);
	assert_int_equal(sl__pages_used(pages), 1024);
	memset(first, 1, 1000);
	sl__pages_free(pages);
	assert_int_equal(c.n_out, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(come_from_the_system),
		cmocka_unit_test(come_from_the_caller),
		cmocka_unit_test(refuse_what_is_not_there),
		cmocka_unit_test(failing_memory_leaks_nothing),
		cmocka_unit_test(give_back_what_is_left),
		cmocka_unit_test(take_back_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
