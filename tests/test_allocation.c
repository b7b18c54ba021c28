/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_allocation.c - without libsleuth-alloc memory is measured as resident
 * and says so, a failing function ends it, and running out of memory leaks
 * nothing.  test_interpose.c has the cases with it.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "counting.h"
#include "sleuth.h"

#include <sys/mman.h>

enum { MIB = 1 << 20 };

static struct sl_memory *
measure(sl_function *fn, void *ctx, enum sl_memory_method method)
{
	struct sl_memory_options how = {.struct_size = sizeof(how),
					.name = "planted",
					.method = method};
	struct sl_memory *m = NULL;
	struct sl_error err = {0};

	if (sl_measure_memory_of(&m, fn, ctx, &how, &err))
		fail_msg("%s", err.text);
	return m;
}

static int
nothing(void *ctx)
{
	(void)ctx;
	return 0;
}

static int
returns_three(void *ctx)
{
	(void)ctx;
	return 3;
}

static void
a_failing_function_ends_it(void **state)
{
	struct sl_memory_options how = {
		.struct_size = sizeof(how), .name = "bad", .n_calls = 2};
	struct sl_memory *m = (void *)&how;
	struct sl_error err = {0};

	(void)state;
	for (int method = SL_MEMORY_AUTO; method <= SL_MEMORY_RESIDENT;
	     method += 2) {
		how.method = (enum sl_memory_method)method;
		assert_int_equal(sl_measure_memory_of(&m, returns_three, NULL,
						      &how, &err),
				 SL_E_MEASURE);
		assert_null(m);
		assert_string_equal(err.text, "bad: call 1 returned 3");
	}
}

static void
options_out_of_range_are_refused(void **state)
{
	struct sl_memory_options how = {0};
	struct sl_memory *m;

	(void)state;
	assert_int_equal(sl_measure_memory_of(&m, nothing, NULL, &how, NULL),
			 SL_E_USAGE);
	how.struct_size = sizeof(how);
	how.site_depth = 9;
	assert_int_equal(sl_measure_memory_of(&m, nothing, NULL, &how, NULL),
			 SL_E_USAGE);
	how.site_depth = 0;
	how.method = (enum sl_memory_method)7;
	assert_int_equal(sl_measure_memory_of(&m, nothing, NULL, &how, NULL),
			 SL_E_USAGE);
}

/* Fails the n-th request of our own for every n; nothing stays behind. */
static void
running_out_of_memory_leaks_nothing(void **state)
{
	enum sl_status rc = SL_E_NOMEM;
	int n_failed = 0;

	(void)state;
	for (int n = 1; rc; n++) {
		struct counting c = {.fail_at = n};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_memory_options how = {.struct_size = sizeof(how),
						.allocator = &allocator};
		struct sl_memory *m;

		rc = sl_measure_memory_of(&m, nothing, NULL, &how, NULL);
		if (rc) {
			assert_int_equal(rc, SL_E_NOMEM);
			n_failed++;
		}
		sl_memory_free(m);
		assert_int_equal(c.n_out, 0);
	}
	assert_true(n_failed >= 2);
}

/* 32 MiB of fresh pages, kept in *ctx, or given back when ctx is NULL. */
static int
touch_pages(void *ctx)
{
	void **kept = ctx;
	void *block = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		return 1;
	memset(block, 1, 32 * MIB);
	if (kept)
		*kept = block;
	else
		munmap(block, 32 * MIB);
	return 0;
}

static void
resident_memory_says_what_it_is(void **state)
{
	void *kept = NULL;
	struct sl_memory *m;

	(void)state;
	m = measure(touch_pages, &kept, SL_MEMORY_RESIDENT);
	assert_int_equal(m->method, SL_MEMORY_RESIDENT);
	assert_string_equal(m->method_reason, "asked for resident memory");
	assert_string_equal(m->n_allocations.absent, m->method_reason);
	assert_true(isnan(m->allocated_bytes.value));
	assert_true(m->final_bytes - m->baseline_bytes >= 28.0 * MIB);
	assert_true(m->peak_bytes >= m->final_bytes);
	assert_int_equal(m->pattern, SL_MEMORY_GROWING);
	assert_int_equal(m->n_sites, 0);
	assert_true(m->n_points >= 1);
	munmap(kept, 32 * MIB);
	sl_memory_free(m);
}

static void
resident_memory_sees_a_peak(void **state)
{
	struct sl_memory *m = measure(touch_pages, NULL, SL_MEMORY_RESIDENT);

	(void)state;
	assert_true(m->peak_bytes - m->baseline_bytes >= 28.0 * MIB);
	assert_true(m->final_bytes - m->baseline_bytes <= 16.0 * MIB);
	sl_memory_free(m);
}

static void
without_the_interposer_it_says_so(void **state)
{
	struct sl_memory_options how = {.struct_size = sizeof(how),
					.method = SL_MEMORY_INTERPOSED};
	struct sl_error err = {0};
	struct sl_memory *m;

	(void)state;
	assert_int_equal(sl_measure_memory_of(&m, nothing, NULL, &how, &err),
			 SL_E_ABSENT);
	m = measure(nothing, NULL, SL_MEMORY_AUTO);
	assert_int_equal(m->method, SL_MEMORY_RESIDENT);
	assert_string_equal(m->method_reason,
			    "libsleuth-alloc is neither linked nor preloaded");
	sl_memory_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failing_function_ends_it),
		cmocka_unit_test(options_out_of_range_are_refused),
		cmocka_unit_test(running_out_of_memory_leaks_nothing),
		cmocka_unit_test(resident_memory_says_what_it_is),
		cmocka_unit_test(resident_memory_sees_a_peak),
		cmocka_unit_test(without_the_interposer_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
