/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scope_memory.c - linked with libsleuth-alloc: scopes allocate nothing
 * themselves and report what was allocated inside them.  Left out under a
 * sanitizer, as test_interpose.c is.
 */
#include "harness.h"
#include "sleuth.h"

#include <pthread.h>
#include <stdio.h>

enum { MIB = 1 << 20 };

/* Keeps the compiler from leaving out a block that nobody reads. */
static void *volatile sink;

static int
many_scopes(void *ctx)
{
	(void)ctx;
	for (int i = 0; i < 1000; i++) {
		struct sl_scope scope = sl_scope_begin("quiet", 0);

		sl_scope_work(&scope, 1, 1);
		sl_scope_end(&scope);
	}
	return 0;
}

/* The promise of sl_scope_begin(): nothing after a name was first met. */
static void
scopes_do_not_allocate(void **state)
{
	struct sl_memory_options how = {.struct_size = sizeof(how),
					.n_warmup = 1};
	struct sl_memory *m;

	(void)state;
	assert_int_equal(
		sl_measure_function_memory(&m, many_scopes, NULL, &how, NULL),
		SL_OK);
	assert_near(m->n_allocations.value, 0, 0);
	sl_memory_free(m);
}

static void
scopes_report_what_they_allocate(void **state)
{
	struct sl_scope outer, inner;
	struct sl_scopes *s;

	(void)state;
	sl_scope_reset();
	for (int i = 0; i < 10; i++) {
		outer = sl_scope_begin("outer", SL_SCOPE_MEMORY);
		inner = sl_scope_begin("inner", SL_SCOPE_MEMORY);
		sink = malloc(MIB);
		free(sink);
		sl_scope_end(&inner);
		sl_scope_end(&outer);
	}
	assert_int_equal(sl_scope_top(&s, 0, NULL), SL_OK);
	assert_int_equal(s->n_rows, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct sl_scope_row *row = &s->rows[i];

		assert_near(row->n_allocations.value, 1, 0);
		assert_true(row->allocated_bytes.value >= MIB);
		assert_true(row->live_peak_bytes.value >= MIB);
		assert_true(row->live_peak_bytes.value < 1.1 * MIB);
		assert_string_equal(row->pattern, "temporary copies");
	}
	sl_scopes_free(s);
}

/* Each name takes storage when it is first met, and 150 of them more than one
 * block: none of that is the caller's. */
static void
names_are_not_the_callers_memory(void **state)
{
	static char names[150][16];
	struct sl_scope outer;
	struct sl_scopes *s;

	(void)state;
	sl_scope_reset();
	outer = sl_scope_begin("outside", SL_SCOPE_MEMORY);
	sink = malloc(MIB);
	for (int i = 0; i < 150; i++) {
		struct sl_scope inner;

		snprintf(names[i], sizeof(names[i]), "name %d", i);
		inner = sl_scope_begin(names[i], SL_SCOPE_MEMORY);
		sl_scope_end(&inner);
	}
	sl_scope_end(&outer);
	assert_int_equal(sl_scope_top(&s, 0, NULL), SL_OK);
	assert_int_equal(s->n_rows, 151);
	for (size_t i = 0; i < s->n_rows; i++) {
		int is_outer = !strcmp(s->rows[i].name, "outside");

		assert_near(s->rows[i].n_allocations.value, is_outer, 0);
		assert_near(s->rows[i].allocated_bytes.value, is_outer * MIB,
			    is_outer * 64);
	}
	free(sink);
	sl_scopes_free(s);
}

static void *
allocate_in_a_scope(void *ctx)
{
	struct sl_scope scope = sl_scope_begin("shared", SL_SCOPE_MEMORY);

	(void)ctx;
	for (int i = 0; i < 7; i++) {
		sink = malloc(MIB);
		free(sink);
	}
	sl_scope_end(&scope);
	return NULL;
}

/* Means over the calls of all threads, and the largest peak. */
static void
threads_are_added_up(void **state)
{
	struct sl_scopes *s;

	(void)state;
	sl_scope_reset();
	for (int i = 0; i < 3; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL,
						allocate_in_a_scope, NULL),
				 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	assert_int_equal(sl_scope_top(&s, 0, NULL), SL_OK);
	assert_int_equal(s->n_rows, 1);
	assert_int_equal(s->rows[0].n_calls, 3);
	assert_near(s->rows[0].n_allocations.value, 7, 0);
	assert_true(s->rows[0].allocated_bytes.value >= 7 * MIB);
	assert_true(s->rows[0].allocated_bytes.value < 7.1 * MIB);
	assert_true(s->rows[0].live_peak_bytes.value >= MIB);
	assert_true(s->rows[0].live_peak_bytes.value < 1.1 * MIB);
	sl_scopes_free(s);
}

/* Opening a scope lowers the watermarks; forgetting it puts them back. */
static void
a_forgotten_scope_hides_no_peak(void **state)
{
	struct sl_scope outer, inner;
	struct sl_scopes *s;

	(void)state;
	sl_scope_reset();
	for (int i = 0; i < 10; i++) {
		outer = sl_scope_begin("around", SL_SCOPE_MEMORY);
		sink = malloc(MIB);
		free(sink);
		inner = sl_scope_begin("forgotten", SL_SCOPE_MEMORY);
		(void)inner;
		sl_scope_end(&outer);
	}
	assert_int_equal(sl_scope_top(&s, 0, NULL), SL_OK);
	assert_int_equal(s->n_rows, 1);
	assert_int_equal(s->n_unbalanced, 10);
	assert_true(s->rows[0].live_peak_bytes.value >= MIB);
	/* One block makes each tooth: needs the largest block too. */
	assert_string_equal(s->rows[0].pattern, "temporary copies");
	sl_scopes_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes_do_not_allocate),
		cmocka_unit_test(scopes_report_what_they_allocate),
		cmocka_unit_test(names_are_not_the_callers_memory),
		cmocka_unit_test(threads_are_added_up),
		cmocka_unit_test(a_forgotten_scope_hides_no_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
