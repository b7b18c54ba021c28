/* SPDX-License-Identifier: Apache-2.0 */
/* test_fact_list.c - lists of facts: they grow, go on from others, and running
 * out of memory sticks. */
#include "counting.h"
#include "harness.h"
#include "result/fact_list.h"

static void
lists_grow(void **state)
{
	const struct sl_fact before[] = {{.kind = SL_FACT_WARM},
					 {.kind = SL_FACT_COLD}};
	struct sl__arena arena;
	struct sl__facts list;

	(void)state;
	sl__arena_init(&arena, NULL);
	sl__facts_init(&list, &arena, before, 2);
	for (int i = 0; i < 100; i++)
		sl__facts_add(&list,
			      (struct sl_fact){SL_FACT_THREADS, {i}, {NULL}});
	assert_false(list.has_failed);
	assert_int_equal(list.n, 102);
	assert_int_equal(list.list[1].kind, SL_FACT_COLD);
	for (int i = 0; i < 100; i++)
		assert_near(list.list[2 + i].values[0], (double)i, 0);
	sl__facts_init(&list, &arena, NULL, 0);
	assert_int_equal(list.n, 0);
	sl__arena_release(&arena);
}

/* A copy does not need the names that the first had. */
static void
copies_own_their_names(void **state)
{
	char name[] = "conv";
	const struct sl_fact fact = {
		SL_FACT_BYTES_IMPOSSIBLE, {1, 2, 3, 4}, {name, "Conv"}};
	struct sl_fact *copy;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	copy = sl__fact_copy(&fact, &arena);
	assert_non_null(copy);
	name[0] = 'x';
	assert_string_equal(copy->names[0], "conv");
	assert_string_equal(copy->names[1], "Conv");
	assert_null(copy->names[2]);
	assert_near(copy->values[3], 4.0, 0);
	sl__arena_release(&arena);
}

static void
out_of_memory(void **state)
{
	const struct sl_fact fact = {.kind = SL_FACT_NOT_COLD,
				     .names = {"why"}};
	struct counting c = {.fail_at = 1};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl__arena arena;
	struct sl__facts list;

	(void)state;
	sl__arena_init(&arena, &allocator);
	sl__facts_init(&list, &arena, &fact, 1);
	assert_true(list.has_failed);
	assert_int_equal(list.n, 0);
	sl__facts_add(&list, fact);
	assert_true(list.has_failed);
	sl__arena_release(&arena);
	c = (struct counting){.fail_at = 1};
	sl__arena_init(&arena, &allocator);
	assert_null(sl__fact_copy(&fact, &arena));
	sl__arena_release(&arena);
	assert_int_equal(c.n_out, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_grow),
		cmocka_unit_test(copies_own_their_names),
		cmocka_unit_test(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
