/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_residence.c - proves that what the kernel says of the process is read
 * from its own text, that what a stretch of work touches is seen and split by
 * where it comes from, that pauses are left out, and that the figures add up.
 */
#define _DEFAULT_SOURCE
#include "emulator.h"
#include "memory/residence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

#ifdef __SANITIZE_ADDRESS__
/* Otherwise what is freed stays: the kernel's texts, which are long here. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "quarantine_size_mb=0";
}
#endif

static void
the_kernels_text_is_read(void **state)
{
	struct sl__memory_snapshot r = {0};

	(void)state;
	assert_true(sl__memory_from_smaps_rollup(
		&r, "559f00000000-7ffd00000000 ---p 00000000 00:00 0  "
		    "[rollup]\n"
		    "Rss:               10000 kB\n"
		    "Pss:                5000 kB\n"
		    "Anonymous:          4000 kB\n"
		    "AnonHugePages:      2048 kB\n"));
	assert_near(r.resident_bytes, 10000.0 * 1024, 0);
	assert_near(r.anonymous_bytes, 4000.0 * 1024, 0);
	assert_near(r.file_bytes, 6000.0 * 1024, 0);
	assert_true(sl__memory_from_proc_status(&r, "VmHWM:\t 900 kB\n"
						    "RssAnon:\t 400 kB\n"
						    "RssFile:\t 300 kB\n"
						    "RssShmem:\t 20 kB\n"));
	assert_near(r.resident_bytes, 720.0 * 1024, 0);
	assert_near(r.file_bytes, 320.0 * 1024, 0);
	assert_false(sl__memory_from_smaps_rollup(&r, "Pss: 12 kB\n"));
	assert_false(sl__memory_from_smaps_rollup(&r, ""));
	assert_false(sl__memory_from_proc_status(&r, "VmRSS: 12 kB\n"));
	assert_false(sl__memory_from_proc_status(&r, "RssAnon: many\n"));
}

/* Executable and of no file: code that was made; libraries are not. */
static void
code_is_told_from_libraries(void **state)
{
	static const char text[] =
		"55a0-55b0 r-xp 00000000 fe:01 77    /usr/bin/sleuth\n"
		"Anonymous:            64 kB\n"
		"7f00-7f10 rwxp 00000000 00:00 0 \n"
		"Rss:                 200 kB\n"
		"Anonymous:           128 kB\n"
		"7f10-7f20 rw-p 00000000 00:00 0 \n"
		"Anonymous:           512 kB\n"
		"7f20-7f30 r-xp 00000000 00:00 0 \n"
		"Anonymous:            32 kB\n";

	(void)state;
	assert_near(sl__smaps_jit_code_bytes(text), 160.0 * 1024, 0);
	assert_near(sl__smaps_jit_code_bytes(""), 0, 0);
}

static void
add_up(const struct sl__residence *r)
{
	assert_null(r->absent);
	assert_near(sl__residence_final(r).value,
		    sl__residence_baseline(r).value +
			    sl__residence_anonymous_growth(r).value +
			    sl__residence_file_growth(r).value,
		    1e-3);
	assert_true(sl__residence_peak(r).value >=
		    sl__residence_final(r).value);
	assert_true(sl__residence_peak(r).value >=
		    sl__residence_baseline(r).value);
}

static unsigned char *
touch(size_t n_bytes)
{
	unsigned char *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	memset(at, 1, n_bytes);
	return at;
}

static void
what_is_touched_is_seen(void **state)
{
	struct sl__residence r;
	unsigned char *at, *gone;

	(void)state;
	sl__residence_begin(&r);
	at = touch(16 * MIB);
	gone = touch(32 * MIB);
	munmap(gone, 32 * MIB);
	sl__residence_end(&r);
	munmap(at, 16 * MIB);
	add_up(&r);
	/* The texts of the kernel need some room themselves. */
	assert_near(sl__residence_anonymous_growth(&r).value, 16.0 * MIB,
		    1.0 * MIB);
	assert_near(sl__residence_file_growth(&r).value, 0, 1.0 * MIB);
	if (r.is_peak_reset)
		assert_near(sl__residence_peak(&r).value -
				    sl__residence_baseline(&r).value,
			    48.0 * MIB, 1.0 * MIB);
}

static void
pauses_are_left_out(void **state)
{
	unsigned char *a, *b, *c;
	struct sl__residence r;

	(void)state;
	sl__residence_begin(&r);
	a = touch(8 * MIB);
	sl__residence_pause(&r);
	b = touch(64 * MIB);
	sl__residence_resume(&r);
	c = touch(4 * MIB);
	sl__residence_end(&r);
	add_up(&r);
	if (r.is_peak_reset)
		assert_int_equal(sl__residence_peaked_after_pause(&r), 1);
	assert_near(sl__residence_anonymous_growth(&r).value, 12.0 * MIB,
		    1.0 * MIB);
	assert_near(sl__residence_peak(&r).value -
			    sl__residence_baseline(&r).value,
		    12.0 * MIB, 1.0 * MIB);
	/* What the measurer touched himself. */
	sl__residence_exclude_bytes(&r, 4 * MIB);
	add_up(&r);
	assert_near(sl__residence_anonymous_growth(&r).value, 8.0 * MIB,
		    1.0 * MIB);
	munmap(a, 8 * MIB);
	munmap(b, 64 * MIB);
	munmap(c, 4 * MIB);
}

/* What was needed before the pause and given back is a peak of then; without
 * a pause, or where an older mark hides it, it is not known when it was. */
static void
the_moment_of_the_peak_is_told(void **state)
{
	struct sl__residence r;
	unsigned char *a;

	(void)state;
	sl__residence_begin(&r);
	a = touch(32 * MIB);
	munmap(a, 32 * MIB);
	assert_int_equal(sl__residence_peaked_after_pause(&r), -1);
	sl__residence_pause(&r);
	sl__residence_resume(&r);
	a = touch(8 * MIB);
	sl__residence_end(&r);
	munmap(a, 8 * MIB);
	if (r.is_peak_reset)
		assert_int_equal(sl__residence_peaked_after_pause(&r), 0);
	r.peak_stretch = -1;
	assert_int_equal(sl__residence_peaked_after_pause(&r), -1);
}

/* What malloc() keeps of what went before is no room for what comes. */
static void
the_heap_is_empty_at_the_start(void **state)
{
	enum { N = 256, BYTES = 64 << 10 }; /* below malloc's mappings */
	static void *blocks[2][N];
	void *last;
	struct sl__residence r;

	(void)state;
	skip_in_emulator("madvise() leaves the pages of the heap in place");
#ifdef __SANITIZE_ADDRESS__
	print_message("skipped: AddressSanitizer has its own malloc()\n");
	skip();
#endif
	for (int i = 0; i < N; i++)
		blocks[0][i] = memset(malloc(BYTES), 1, BYTES);
	last = malloc(64); /* the heap does not shrink by itself */
	for (int i = 0; i < N; i++)
		free(blocks[0][i]);
	sl__residence_begin(&r);
	for (int i = 0; i < N; i++)
		blocks[1][i] = memset(malloc(BYTES), 1, BYTES);
	sl__residence_end(&r);
	for (int i = 0; i < N; i++)
		free(blocks[1][i]);
	free(last);
	assert_near(sl__residence_anonymous_growth(&r).value, 16.0 * MIB,
		    2.0 * MIB);
}

static void
the_heap_is_counted_by_its_owner(void **state)
{
	struct sl__residence r;
	void *block;

	(void)state;
	sl__residence_begin(&r);
	block = malloc(5 * MIB);
	assert_non_null(block);
	memset(block, 1, 5 * MIB);
	sl__residence_end(&r);
	free(block);
	if (!isnan(r.base.heap_bytes))
		assert_near(sl__residence_heap_growth(&r), 5.0 * MIB,
			    0.1 * MIB);
	assert_near(sl__residence_jit_code_growth(&r), 0, 0);
	/* Where they do not say, nothing is known: not that nothing grew. */
	r.base.heap_bytes = r.now.heap_bytes = (double)NAN;
	r.now.code_bytes = (double)NAN;
	assert_true(isnan(sl__residence_heap_growth(&r)));
	assert_true(isnan(sl__residence_jit_code_growth(&r)));
}

static void
pages_are_a_power_of_two(void **state)
{
	uint64_t page = sl__backing_page_size();

	(void)state;
	assert_true(page >= (uint64_t)sysconf(_SC_PAGESIZE));
	assert_int_equal(page & (page - 1), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_text_is_read),
		cmocka_unit_test(code_is_told_from_libraries),
		cmocka_unit_test(what_is_touched_is_seen),
		cmocka_unit_test(pauses_are_left_out),
		cmocka_unit_test(the_moment_of_the_peak_is_told),
		cmocka_unit_test(the_heap_is_empty_at_the_start),
		cmocka_unit_test(the_heap_is_counted_by_its_owner),
		cmocka_unit_test(pages_are_a_power_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
