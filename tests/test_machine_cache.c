/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_machine_cache.c - a cached result comes back bit for bit or not at
 * all: every damaged byte, another version, another machine, what is no file of
 * the user's own, and a folder that cannot be written are noticed, and none of
 * them is a failure of the probe.
 */
#include "harness.h"
#include "base/arena.h"
#include "base/buf.h"
#include "cache_obstacle.h"
#include "counting.h"
#include "machine/machine_cache.h"
#include "base/file.h"
#include "recorded_machine.h"

#include <unistd.h>

static char folder[] = "/tmp/sleuth-cache-XXXXXX";
static char path[64];

static int
make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/machine-0123456789abcdef.txt", folder);
	return 0;
}

static int
remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void
assert_same(double a, double b)
{
	assert_true((isnan(a) && isnan(b)) || (a <= b && a >= b));
}

static void
assert_same_estimate(const struct sl_estimate *a, const struct sl_estimate *b)
{
	assert_same(a->value, b->value);
	assert_same(a->lo, b->lo);
	assert_same(a->hi, b->hi);
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->needs_n, b->needs_n);
	assert_int_equal(a->method, b->method);
}

/* The identity of the recorded machine, with nothing measured. */
static struct sl_machine
unmeasured(void)
{
	struct sl_machine m = {.fingerprint = "0123456789abcdef"};

	return m;
}

static void
everything_measured_comes_back(void **state)
{
	struct sl_machine m = recorded_machine(), back = unmeasured();
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__machine_cache_save(&m, folder, NULL), SL_OK);
	assert_int_equal(sl__machine_cache_load(&back, folder, &arena, NULL),
			 SL_OK);
	assert_int_equal(back.from_cache, 1);
	assert_int_equal(back.n_passes, m.n_passes);
	assert_int_equal(back.max_threads, m.max_threads);
	assert_same(back.elapsed_s, m.elapsed_s);
	assert_same(back.measured_at_s, m.measured_at_s);
	assert_string_equal(back.buffer_pages.value, m.buffer_pages.value);
	assert_null(back.buffer_pages.absent);
	assert_int_equal(back.n_peaks, m.n_peaks);
	for (size_t i = 0; i < m.n_peaks; i++) {
		assert_int_equal(back.peaks[i].dtype, m.peaks[i].dtype);
		assert_string_equal(back.peaks[i].isa, m.peaks[i].isa);
		assert_int_equal(back.peaks[i].n_bits, m.peaks[i].n_bits);
		assert_int_equal(back.peaks[i].n_threads, m.peaks[i].n_threads);
		assert_same_estimate(&back.peaks[i].ops_per_s,
				     &m.peaks[i].ops_per_s);
	}
	assert_null(back.peaks[0].absent);
	assert_string_equal(back.peaks[4].absent, "not exercised");
	assert_int_equal(back.n_levels, m.n_levels);
	for (size_t i = 0; i < m.n_levels; i++) {
		assert_int_equal(back.levels[i].level, m.levels[i].level);
		assert_int_equal(back.levels[i].access, m.levels[i].access);
		assert_int_equal(back.levels[i].to_bytes, m.levels[i].to_bytes);
		assert_same_estimate(&back.levels[i].value, &m.levels[i].value);
		assert_same(back.levels[i].traffic_per_byte,
			    m.levels[i].traffic_per_byte);
	}
	assert_int_equal(back.n_points, m.n_points);
	assert_int_equal(back.points[1].access, SL_ACCESS_CHASE);
	assert_same(back.points[1].value, 1.25);
	sl__arena_release(&arena);
}

/* Loads 'text' in place of the file; returns the status and checks that a
 * refused file changes nothing. */
static enum sl_status
load_text(const char *text, size_t n, struct sl_error *err)
{
	struct sl_machine back = unmeasured();
	struct sl__arena arena;
	enum sl_status rc;

	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__file_write(path, text, n, NULL), SL_OK);
	rc = sl__machine_cache_load(&back, folder, &arena, err);
	if (rc) {
		assert_int_equal(back.n_peaks, 0);
		assert_int_equal(back.from_cache, 0);
	}
	sl__arena_release(&arena);
	return rc;
}

static void
any_damage_is_noticed(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_buf text = {0};
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__machine_cache_save(&m, folder, NULL), SL_OK);
	assert_int_equal(sl__file_read(&text, path, 1 << 20, NULL), SL_OK);
	for (size_t i = 0; i < text.n_bytes; i++) {
		text.data[i] ^= 1;
		assert_int_equal(load_text(text.data, text.n_bytes, &err),
				 SL_E_DATA);
		text.data[i] ^= 1;
	}
	for (size_t n = 0; n < text.n_bytes; n += 7)
		assert_int_equal(load_text(text.data, n, &err), SL_E_DATA);
	assert_int_equal(load_text(text.data, text.n_bytes, &err), SL_OK);
	sl_buf_release(&text);
}

static void
another_version_is_named_as_such(void **state)
{
	static const char old[] = "sleuth-machine 0\nwhatever\n";
	struct sl_error err;

	(void)state;
	assert_int_equal(load_text(old, strlen(old), &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "another version"));
}

static void
no_file_is_absence(void **state)
{
	struct sl_machine back = {.fingerprint = "fedcba9876543210"};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__machine_cache_load(&back, folder, &arena, NULL),
			 SL_E_ABSENT);
	sl__arena_release(&arena);
}

static void
an_unwritable_folder_is_an_error_of_saving(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__machine_cache_save(&m, "/proc/sleuth", &err),
			 SL_E_IO);
	assert_non_null(strstr(err.text, "/proc/sleuth"));
}

static void
what_is_no_file_of_the_users_own_is_neither_loaded_nor_replaced(void **state)
{
	struct sl_machine m = recorded_machine();

	(void)state;
	unlink(path);
	for (int kind = 0; kind < N_OBSTACLES; kind++) {
		struct sl_machine back = unmeasured();
		struct sl__arena arena;
		struct sl_error err;
		struct obstacle o;

		if (!obstacle_new(&o, (enum obstacle_kind)kind, path))
			continue;
		sl__arena_init(&arena, NULL);
		assert_int_equal(
			sl__machine_cache_load(&back, folder, &arena, &err),
			SL_E_IO);
		assert_non_null(strstr(err.text, obstacle_reasons[kind]));
		assert_int_equal(back.from_cache, 0);
		assert_int_equal(sl__machine_cache_save(&m, folder, &err),
				 SL_E_IO);
		assert_non_null(strstr(err.text, obstacle_reasons[kind]));
		assert_untouched(&o);
		obstacle_free(&o);
		sl__arena_release(&arena);
	}
}

static void
running_out_of_memory_while_loading_fails_cleanly(void **state)
{
	struct sl_machine m = recorded_machine();
	enum sl_status rc = SL_E_NOMEM;

	(void)state;
	assert_int_equal(sl__machine_cache_save(&m, folder, NULL), SL_OK);
	for (int fail_at = 1; rc == SL_E_NOMEM; fail_at++) {
		struct counting c = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_machine back = unmeasured();
		struct sl__arena arena;

		assert_true(fail_at < 100);
		sl__arena_init(&arena, &allocator);
		rc = sl__machine_cache_load(&back, folder, &arena, NULL);
		sl__arena_release(&arena);
		assert_int_equal(c.n_out, 0);
		assert_true(c.n_requests > 0);
		assert_int_equal(rc,
				 c.n_requests < fail_at ? SL_OK : SL_E_NOMEM);
	}
	assert_int_equal(rc, SL_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_measured_comes_back),
		cmocka_unit_test(any_damage_is_noticed),
		cmocka_unit_test(another_version_is_named_as_such),
		cmocka_unit_test(no_file_is_absence),
		cmocka_unit_test(an_unwritable_folder_is_an_error_of_saving),
		cmocka_unit_test(
			what_is_no_file_of_the_users_own_is_neither_loaded_nor_replaced),
		cmocka_unit_test(
			running_out_of_memory_while_loading_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
