/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scope_top.c - rows carry rates of declared work, refuse what their n
 * cannot support, say why resources are absent, and come dearest first.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "scope_rows.h"
#include "timing/scope.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

static void
rates_come_from_declared_work(void **state)
{
	const struct sl_scope_row *row;
	struct sl_scopes *s;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct sl_scope scope = sl_scope_begin("work", 0);
		volatile double x = 1;

		for (int k = 0; k < 1000; k++)
			x = x * 1.0001;
		sl_scope_work(&scope, 600, 0);
		sl_scope_work(&scope, 400, 0);
		sl_scope_end(&scope);
	}
	s = take();
	row = row_of(s, "work");
	assert_near(row->n_flops, 1e6, 0);
	assert_null(row->flops_per_s.absent);
	assert_close(row->flops_per_s.value * row->total_ns, 1e15, 1e-9);
	assert_string_equal(row->bytes_per_s.absent, "no bytes were declared");
	assert_int_equal(row->p99.needs_n, 0);
	assert_true(row->median.lo <= row->median.value &&
		    row->median.value <= row->median.hi);
	sl_scopes_free(s);
}

static void
what_n_cannot_support_is_refused(void **state)
{
	struct sl_scopes *s;

	(void)state;
	iteration("once", 0);
	s = take();
	assert_int_equal(row_of(s, "once")->p99.needs_n, 368);
	assert_int_equal(row_of(s, "once")->median.needs_n, 6);
	assert_int_equal(row_of(s, "once")->mean.needs_n, 2);
	assert_true(isnan(row_of(s, "once")->std_ns));
	sl_scopes_free(s);
}

static void
resources_are_absent_unless_asked_for(void **state)
{
	enum { N_BYTES = 32 << 20 };
	const struct sl_scope_row *row;
	struct sl_scope scope;
	struct sl_scopes *s;
	void *block;

	(void)state;
	iteration("bare", 0);
	scope = sl_scope_begin("touch", SL_SCOPE_RESOURCES);
	block = mmap(NULL, N_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(block != MAP_FAILED);
	memset(block, 1, N_BYTES);
	sl_scope_end(&scope);
	munmap(block, N_BYTES);
	s = take();
	row = row_of(s, "bare");
	assert_string_equal(row->cpu_ns.absent, "not asked for: SL_SCOPE_CPU");
	assert_string_equal(row->n_minor_faults.absent,
			    "not asked for: SL_SCOPE_FAULTS");
	assert_string_equal(row->resident_change_bytes.absent,
			    "not asked for: SL_SCOPE_MEMORY");
	assert_true(isnan(row->cpu_ns.value));
	row = row_of(s, "touch");
	/* Asked for, but nothing counts allocations here. */
	assert_non_null(row->n_allocations.absent);
	assert_null(strstr(row->n_allocations.absent, "not asked for"));
	assert_null(row->cpu_ns.absent);
	assert_true(row->cpu_ns.value > 0);
	assert_true(row->n_minor_faults.value >= 1);
	/* The kernel's counters may lag by some dozens of pages, and a
	 * sanitizer adds memory of its own. */
	assert_true(row->resident_change_bytes.value >= 0.9 * N_BYTES);
	assert_true(row->resident_peak_bytes.value >=
		    row->resident_change_bytes.value);
	sl_scopes_free(s);
}

enum { TOUCHED_BYTES = 8 << 20, PAGE_BYTES = 4096 };
static const uint64_t BUSY_NS = 5000000; /* of a thread's CPU time */

static uint64_t
cpu_now_ns(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One call: works for a while and touches pages, which are left. */
static void *
work_and_touch(void *pages)
{
	struct sl_scope scope = sl_scope_begin("shared", SL_SCOPE_RESOURCES);
	uint64_t start_ns = cpu_now_ns();

	while (cpu_now_ns() - start_ns < BUSY_NS)
		;
	memset(pages, 1, TOUCHED_BYTES);
	sl_scope_end(&scope);
	return NULL;
}

/* Figures are means over the calls of all threads: each did as much. */
static void
threads_are_added_up(void **state)
{
	const double n_pages = TOUCHED_BYTES / PAGE_BYTES;
	const struct sl_scope_row *row;
	struct sl_scopes *s;
	pthread_t threads[3];
	void *pages[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		pages[i] = mmap(NULL, TOUCHED_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(pages[i] != MAP_FAILED);
		(void)madvise(pages[i], TOUCHED_BYTES, MADV_NOHUGEPAGE);
		assert_int_equal(pthread_create(&threads[i], NULL,
						work_and_touch, pages[i]),
				 0);
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
	s = take();
	row = row_of(s, "shared");
	assert_int_equal(row->n_calls, 3);
	assert_true(row->cpu_ns.value >= (double)BUSY_NS);
	assert_true(row->n_minor_faults.value >= n_pages);
	/* A sanitizer's memory of its own may come on top. */
	assert_true(row->n_minor_faults.value < 30 * n_pages);
	assert_true(row->resident_change_bytes.value >= 0.9 * TOUCHED_BYTES);
	assert_true(row->resident_change_bytes.value < 10.0 * TOUCHED_BYTES);
	assert_true(row->resident_peak_bytes.value >= 0.9 * TOUCHED_BYTES);
	for (int i = 0; i < 3; i++)
		munmap(pages[i], TOUCHED_BYTES);
	sl_scopes_free(s);
}

static void
top_takes_the_dearest(void **state)
{
	struct sl_scopes *s;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct sl_scope scope = sl_scope_begin("dear", 0);

		for (volatile int k = 0; k < 100000; k++)
			;
		sl_scope_end(&scope);
		iteration("cheap", 0);
	}
	assert_int_equal(sl_scope_top(&s, 1, NULL), SL_OK);
	assert_int_equal(s->n_rows, 1);
	assert_int_equal(s->n_scopes, 2);
	assert_string_equal(s->rows[0].name, "dear");
	assert_true(s->rows[0].share > 0.5 && s->rows[0].share <= 1);
	sl_scopes_free(s);
}

static void
rates_need_work_and_time(void **state)
{
	(void)state;
	assert_close(sl__work_rate_per_s(500, 1000, "none").value, 5e8, 1e-15);
	assert_string_equal(sl__work_rate_per_s(0, 1000, "none").absent,
			    "none");
	assert_string_equal(sl__work_rate_per_s(500, 0, "none").absent,
			    "too short to time");
	assert_true(isnan(sl__work_rate_per_s(500, 0, "none").value));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rates_come_from_declared_work, reset),
		cmocka_unit_test_setup(what_n_cannot_support_is_refused, reset),
		cmocka_unit_test_setup(resources_are_absent_unless_asked_for,
				       reset),
		cmocka_unit_test_setup(threads_are_added_up, reset),
		cmocka_unit_test_setup(top_takes_the_dearest, reset),
		cmocka_unit_test(rates_need_work_and_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
