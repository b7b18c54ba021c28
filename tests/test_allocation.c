/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_allocation.c - without libsleuth-alloc memory is measured as resident
 * and says so, a failing function ends it, and running out of memory leaks
 * nothing.  test_interpose.c has the cases with it.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "measured_memory.h"
#include "counting.h"
#include "memory/resource_usage.h"
#include "short_options.h"

#include <dirent.h>
#include <sched.h>

enum { MIB = 1 << 20 };

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
		assert_int_equal(sl_measure_function_memory(&m, returns_three,
							    NULL, &how, &err),
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
	assert_int_equal(
		sl_measure_function_memory(&m, nothing, NULL, &how, NULL),
		SL_E_USAGE);
	assert_null(m);
	/* An older caller's struct has none of the other members. */
	assert_int_equal(sl_measure_function_memory(&m, nothing, NULL,
						    short_options(), NULL),
			 SL_OK);
	sl_memory_free(m);
	how.struct_size = sizeof(how);
	how.site_depth = 9;
	assert_int_equal(
		sl_measure_function_memory(&m, nothing, NULL, &how, NULL),
		SL_E_USAGE);
	how.site_depth = 0;
	how.method = (enum sl_memory_method)7;
	assert_int_equal(
		sl_measure_function_memory(&m, nothing, NULL, &how, NULL),
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

		rc = sl_measure_function_memory(&m, nothing, NULL, &how, NULL);
		if (rc) {
			assert_int_equal(rc, SL_E_NOMEM);
			n_failed++;
		}
		sl_memory_free(m);
		assert_int_equal(c.n_out, 0);
	}
	assert_true(n_failed >= 2);
}

/* Fresh pages, kept for the caller or given back at once. */
struct pages {
	size_t n_bytes;
	int keep;
	void *kept;
};

static int
touch_pages(void *ctx)
{
	struct pages *pages = ctx;
	void *block = mmap(NULL, pages->n_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		return 1;
	memset(block, 1, pages->n_bytes);
	if (pages->keep)
		pages->kept = block;
	else
		munmap(block, pages->n_bytes);
	return 0;
}

static void
resident_memory_says_what_it_is(void **state)
{
	struct pages pages = {.n_bytes = 32 * MIB, .keep = 1};
	struct sl_memory *m;

	(void)state;
	m = measure(touch_pages, &pages, SL_MEMORY_RESIDENT);
	assert_int_equal(m->method, SL_MEMORY_RESIDENT);
	assert_string_equal(m->method_reason, "asked for resident memory");
	assert_string_equal(m->n_allocations.absent, m->method_reason);
	assert_true(isnan(m->allocated_bytes.value));
	assert_true(m->final_bytes - m->baseline_bytes >= 28.0 * MIB);
	assert_true(m->peak_bytes >= m->final_bytes);
	assert_int_equal(m->pattern, SL_MEMORY_GROWING);
	assert_int_equal(m->n_sites, 0);
	assert_true(m->n_points >= 1);
	munmap(pages.kept, pages.n_bytes);
	sl_memory_free(m);
}

/* How often the only other thread went to sleep; -1 when it cannot be told. */
static long
sleeps_of_other_thread(void)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	DIR *tasks = opendir("/proc/self/task");
	long n = -1;

	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		char path[300], text[4096] = "";
		const char *found;
		FILE *file;

		if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			 e->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
		found = strstr(text, key);
		if (found)
			n = atol(found + sizeof(key) - 1);
	}
	if (tasks)
		closedir(tasks);
	return n;
}

/* Holds pages until the sampling thread, which sleeps after each sample, has
 * slept twice: one sample at least began when all of them were there. */
static int
hold_pages(void *ctx)
{
	struct pages *pages = ctx;
	long n_sleeps;
	int failure;

	pages->keep = 1;
	failure = touch_pages(pages);
	if (failure)
		return failure;
	n_sleeps = sleeps_of_other_thread();
	while (n_sleeps >= 0 && sleeps_of_other_thread() < n_sleeps + 2)
		sched_yield();
	munmap(pages->kept, pages->n_bytes);
	return n_sleeps < 0;
}

/* Below the high-water mark only samples can tell. */
static void
samples_see_a_peak_below_the_mark(void **state)
{
	struct pages pages = {.n_bytes = 16 * MIB};
	struct sl__resource_usage usage;
	struct sl_memory *m;

	(void)state;
	sl__resource_usage_read(&usage, SL_SCOPE_MEMORY);
	assert_true(usage.resident_bytes + 2 * pages.n_bytes <
		    usage.resident_peak_bytes);
	m = measure(hold_pages, &pages, SL_MEMORY_RESIDENT);
	assert_true(m->peak_bytes - m->baseline_bytes >= 12.0 * MIB);
	assert_true(m->peak_bytes < (double)usage.resident_peak_bytes);
	assert_int_equal(m->pattern, SL_MEMORY_SPIKE);
	sl_memory_free(m);
}

/*
 * More than all that was resident before: the process has a new high-water
 * mark, so that the peak is seen even when the sampling thread gets no time
 * between the last page touched and the first given back.
 */
static void
resident_memory_sees_a_peak(void **state)
{
	struct sl__resource_usage usage;
	struct pages pages = {0};
	struct sl_memory *m;

	(void)state;
	sl__resource_usage_read(&usage, SL_SCOPE_MEMORY);
	pages.n_bytes = usage.resident_peak_bytes + 32 * MIB;
	m = measure(touch_pages, &pages, SL_MEMORY_RESIDENT);
	assert_true(m->peak_bytes - m->baseline_bytes >=
		    (double)pages.n_bytes - 4.0 * MIB);
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
	assert_int_equal(
		sl_measure_function_memory(&m, nothing, NULL, &how, &err),
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
		cmocka_unit_test(samples_see_a_peak_below_the_mark),
		cmocka_unit_test(without_the_interposer_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
