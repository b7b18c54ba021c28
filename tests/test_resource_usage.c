/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_resource_usage.c - statm is read as the kernel documents it, peaks
 * follow from two readings, only what was asked for is read, and a forked child
 * reads its own memory.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "sleuth.h"
#include "memory/resource_usage.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_BYTES = 32 << 20 };

/* Recorded lines, proc_pid_statm(5): size resident shared text lib data dt. */
static void
statm_is_read_as_documented(void **state)
{
	uint64_t pages = 0;

	(void)state;
	assert_true(sl__statm_resident_pages(&pages, "2110 385 330 8 0 97 0"));
	assert_int_equal(pages, 385);
	assert_true(sl__statm_resident_pages(
		&pages, "35184640212 4294967296 1093 712 0 35184569331 0\n"));
	assert_true(pages == 4294967296u);
	assert_true(sl__statm_resident_pages(&pages, "0 0 0 0 0 0 0\n"));
	assert_int_equal(pages, 0);
}

static void
malformed_lines_are_refused(void **state)
{
	static const char *const lines[] = {"",     "12",   "12 ", "12 x",
					    " 1 2", "-1 2", "1\n2"};
	uint64_t pages = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(sl__statm_resident_pages(&pages, lines[i]));
	assert_int_equal(pages, 77);
}

static uint64_t
peak_of(uint64_t before, uint64_t before_peak, uint64_t after,
	uint64_t after_peak)
{
	const struct sl__resource_usage a = {
		.resident_bytes = before, .resident_peak_bytes = before_peak};
	const struct sl__resource_usage b = {.resident_bytes = after,
					     .resident_peak_bytes = after_peak};

	return sl__resident_peak_between(&a, &b);
}

static void
peaks_follow_from_two_readings(void **state)
{
	(void)state;
	assert_int_equal(peak_of(10, 50, 20, 50), 20); /* an old peak: no */
	assert_int_equal(peak_of(20, 50, 10, 50), 20);
	assert_int_equal(peak_of(10, 50, 20, 60), 60); /* a new one: yes */
	/* Counters lag: a mark below the ends does not lower them. */
	assert_int_equal(peak_of(10, 5, 20, 15), 20);
}

static void
only_what_was_asked_for_is_read(void **state)
{
	struct sl__resource_usage usage;

	(void)state;
	sl__resource_usage_read(&usage, 0);
	assert_true(!usage.cpu_ns && !usage.n_minor && !usage.resident_bytes &&
		    !usage.resident_peak_bytes);
	sl__resource_usage_read(&usage, SL_SCOPE_CPU);
	assert_true(usage.cpu_ns && !usage.n_minor && !usage.resident_bytes);
	sl__resource_usage_read(&usage, SL_SCOPE_FAULTS);
	assert_true(usage.n_minor && !usage.cpu_ns && !usage.resident_bytes);
	sl__resource_usage_read(&usage, SL_SCOPE_MEMORY);
	assert_true(usage.resident_bytes && usage.resident_peak_bytes);
	assert_true(!usage.cpu_ns);
}

/* Fresh pages, every one touched. */
static void *
touch(void)
{
	void *block = mmap(NULL, N_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(block != MAP_FAILED);
	memset(block, 1, N_BYTES);
	return block;
}

/* The kernel's counters may lag by some dozens of pages. */
static void
touched_pages_are_seen(void **state)
{
	struct sl__resource_usage before, after;
	void *block;

	(void)state;
	sl__resource_usage_read(&before, SL_SCOPE_MEMORY);
	block = touch();
	sl__resource_usage_read(&after, SL_SCOPE_MEMORY);
	assert_true(after.resident_bytes >=
		    before.resident_bytes + N_BYTES / 10 * 9);
	assert_true(after.n_minor > before.n_minor);
	assert_true(sl__resident_peak_between(&before, &after) >=
		    after.resident_bytes);
	munmap(block, N_BYTES);
}

/* The parent holds pages that the child gives back: what the child reads
 * must have fallen, though the parent's has not. */
static void
a_forked_child_reads_its_own(void **state)
{
	void *block = touch();
	uint64_t parent_bytes = sl__resident_bytes();
	int status = -1;
	pid_t child;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		munmap(block, N_BYTES);
		_exit(sl__resident_bytes() + N_BYTES / 2 < parent_bytes ? 0
									: 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(sl__resident_bytes() + N_BYTES / 2 > parent_bytes);
	munmap(block, N_BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statm_is_read_as_documented),
		cmocka_unit_test(malformed_lines_are_refused),
		cmocka_unit_test(peaks_follow_from_two_readings),
		cmocka_unit_test(only_what_was_asked_for_is_read),
		cmocka_unit_test(touched_pages_are_seen),
		cmocka_unit_test(a_forked_child_reads_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
