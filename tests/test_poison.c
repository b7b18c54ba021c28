/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_poison.c - proves that AddressSanitizer is told what lies between two
 * blocks of pages, and what a step of a program may not touch; and that figures
 * about pages are the same without it.
 */
#include "harness.h"
#include "base/arena.h"
#include "base/pages.h"
#include "base/poison.h"
#include "engine/observer.h"

#ifdef SL_ASAN
#define is_poisoned(at) __asan_address_is_poisoned(at)
#else
#define is_poisoned(at) ((void)(at), 0)
#endif

static void
needs_asan(void)
{
#ifndef SL_ASAN
	skip();
#endif
}

static void
check_ends(const unsigned char *block, size_t n_bytes)
{
	assert_false(is_poisoned(block));
	assert_false(is_poisoned(block + n_bytes - 1));
	assert_true(is_poisoned(block + n_bytes));
}

static void
what_follows_a_block_is_poisoned(void **state)
{
	struct sl__pages *pages;
	unsigned char *first, *second, *last;
	struct sl__arena arena;

	(void)state;
	needs_asan();
	assert_int_equal(sl__pages_new(&pages, NULL, NULL), SL_OK);
	first = sl__pages_alloc(pages, 100);
	second = sl__pages_alloc(pages, 4096);
	last = sl__pages_alloc(pages, 7);
	assert_true(first && second && last);
	check_ends(first, 100);
	check_ends(second, 4096);
	check_ends(last, 7);
	/* Taken back, its place can be handed out whole. */
	sl__pages_free_last(pages, last);
	assert_ptr_equal(sl__pages_alloc(pages, 8192), last);
	check_ends(last, 8192);
	sl__pages_free(pages);

	sl__arena_init(&arena, NULL);
	first = sl__arena_alloc(&arena, 16);
	assert_non_null(first);
	check_ends(first, 16);
	sl__arena_release(&arena);
}

static void
red_zones_are_not_counted(void **state)
{
	enum { N = 1000, KIB = 1024 };
	struct sl__pages *pages;

	(void)state;
	assert_int_equal(sl__pages_new(&pages, NULL, NULL), SL_OK);
	for (int i = 0; i < N; i++)
		assert_non_null(sl__pages_alloc(pages, KIB));
	assert_int_equal(sl__pages_used(pages), N * KIB);
	assert_int_equal(sl__pages_touched(pages, 0), N * KIB);
	sl__pages_free(pages);
}

/* Three buffers side by side: a step names the outer ones, the first of them by
 * a part of it.  The middle one lasts: the evaluator may hold it. */
struct scene {
	_Alignas(64) unsigned char block[192];
	struct sl__buffer buffers[4];
	struct sl__step step;
	struct sl__program program;
	uint32_t operands[2];
	int n_runs;
};

static enum sl_status
look_around(struct sl__step *step, struct sl_error *err)
{
	struct scene *s = step->state;

	(void)err;
	s->n_runs++;
	check_ends(s->block, 60);
	for (int i = 64; i < 128; i++)
		assert_int_equal(is_poisoned(s->block + i),
				 !s->program.is_stepwise);
	check_ends(s->block + 128, 33);
	return SL_OK;
}

static void
a_step_may_touch_what_it_names(void **state)
{
	const struct sl__observer nobody = {0};
	struct scene s = {
		.buffers = {{.n_bytes = 60, .base = 0, .data = s.block},
			    {.n_bytes = 64, .base = 1, .data = s.block + 64},
			    {.n_bytes = 33, .base = 2, .data = s.block + 128},
			    {.n_bytes = 8, .base = 0, .data = s.block + 16}},
		.operands = {3, 2}};

	(void)state;
	needs_asan();
	for (int i = 0; i < 4; i++)
		s.buffers[i].category = i == 1 ? SL__CATEGORY_OUTPUT
					       : SL__CATEGORY_ACTIVATION;
	s.step = (struct sl__step){.run = look_around,
				   .state = &s,
				   .operands = s.operands,
				   .n_operands = 2};
	s.program = (struct sl__program){.buffers = s.buffers,
					 .n_buffers = 4,
					 .steps = &s.step,
					 .n_steps = 1,
					 .block = s.block,
					 .block_bytes = sizeof(s.block),
					 .n_threads = 1};
	assert_int_equal(sl__program_run(&s.program, &nobody, NULL), SL_OK);
	assert_int_equal(sl__run_step(&s.program, 0, NULL), SL_OK);
	s.program.is_stepwise = 1;
	assert_int_equal(sl__program_run(&s.program, &nobody, NULL), SL_OK);
	assert_int_equal(s.n_runs, 3);
	for (size_t i = 0; i < sizeof(s.block); i++)
		assert_false(is_poisoned(s.block + i));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_follows_a_block_is_poisoned),
		cmocka_unit_test(red_zones_are_not_counted),
		cmocka_unit_test(a_step_may_touch_what_it_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
