/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_machine.c - the whole way: measured once, remembered, recalled; told
 * to stop, it stops; a cache it cannot use is a remark and no failure; and
 * the accessors pick the rows they promise.  Caches are looked for once.
 */
#include "harness.h"
#include "counting.h"
#include "machine/found_caches.h"
#include "machine/machine.h"
#include "recorded_machine.h"

#include <dirent.h>
#include <unistd.h>

static char folder[] = "/tmp/sleuth-machine-XXXXXX";
static char root[sizeof(folder) + 8];

/* A recorded machine, but with little memory: what is measured grows with
 * it. */
static int
make_folder(void **state)
{
	char command[512];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(root, sizeof(root), "%s/root", folder);
	snprintf(command, sizeof(command),
		 "cp -R " SL_TEST_DATA "/machines/vm %s && "
		 "echo 'MemAvailable: 131072 kB' > %s/proc/meminfo",
		 root, root);
	return system(command);
}

static int
remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* Keeps the last line of the log. */
static void
remember(const char *text, void *ctx)
{
	snprintf(ctx, 512, "%s", text);
}

static void
count_progress(const struct sl_progress *now, void *ctx)
{
	assert_true(now->share >= 0 && now->share <= 1);
	++*(int *)ctx;
}

static struct sl_machine_options
quick(const char *cache_folder)
{
	struct sl_machine_options o = {.struct_size = sizeof(o),
				       .n_threads = 1,
				       .time_s = 0.01,
				       .root = root,
				       .cache_folder = cache_folder};

	return o;
}

static void
measured_once_and_recalled_after(void **state)
{
	struct sl_machine_options o = quick(folder);
	struct sl_machine *first, *second;
	struct sl_error err;
	int n_progress = 0, n_peaks = 0;
	double f32;

	(void)state;
	o.progress = count_progress;
	o.progress_ctx = &n_progress;
	assert_int_equal(sl_machine_open_cached(&first, &o, &err), SL_E_ABSENT);
	assert_null(first);
	assert_int_equal(sl_machine_probe(&first, &o, &err), SL_OK);
	/* A job for each peak that the CPU has, and those of memory. */
	for (size_t i = 0; i < first->n_peaks; i++)
		n_peaks += first->peaks[i].n_threads > 0;
	assert_true(n_peaks >= 4);
	assert_true(n_progress >= n_peaks + 4);
	assert_int_equal(first->from_cache, 0);
	assert_int_equal(first->n_passes, 1);
	f32 = sl_machine_peak_flops_per_s(first, SL_DTYPE_F32, 1);
	assert_true(f32 > 0);
	assert_true(sl_machine_bandwidth_bytes_per_s(first, 1) > 0);
	assert_int_equal(sl_machine_open_cached(&second, &o, &err), SL_OK);
	assert_int_equal(second->from_cache, 1);
	assert_string_equal(second->fingerprint, first->fingerprint);
	assert_near(sl_machine_peak_flops_per_s(second, SL_DTYPE_F32, 1), f32,
		    0);
	assert_int_equal(second->n_points, first->n_points);
	sl_machine_free(first);
	sl_machine_free(second);
}

static void
a_damaged_cache_is_remarked_and_ignored(void **state)
{
	struct sl_machine_options o = quick(folder);
	char line[512] = "", path[512] = "";
	struct sl_log log = {remember, line};
	struct sl_machine *m;
	DIR *dir = opendir(folder);
	struct dirent *entry;
	FILE *file;

	(void)state;
	while ((entry = readdir(dir)) != NULL) {
		if (!strncmp(entry->d_name, "machine-", 8))
			snprintf(path, sizeof(path), "%s/%.200s", folder,
				 entry->d_name);
	}
	closedir(dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("sleuth-machine 1\nnonsense\n", file);
	fclose(file);
	o.log = &log;
	assert_int_equal(sl_machine_open_cached(&m, &o, NULL), SL_E_ABSENT);
	assert_non_null(strstr(line, "cached result ignored"));
}

static void
without_a_home_nothing_is_kept_and_that_is_told(void **state)
{
	struct sl_machine_options o = quick(NULL);
	char line[512] = "", home[128];
	struct sl_log log = {remember, line};
	struct sl_machine *m;

	(void)state;
	snprintf(home, sizeof(home), "%s/nobody", folder);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	o.log = &log;
	assert_int_equal(sl_machine_probe(&m, &o, NULL), SL_OK);
	sl_machine_free(m);
	assert_non_null(strstr(line, "not cached"));
	assert_non_null(strstr(line, home));
	assert_int_equal(access(home, F_OK), -1);
	/* A wish for no cache needs no reason. */
	line[0] = '\0';
	o.cache_folder = "";
	assert_int_equal(sl_machine_probe(&m, &o, NULL), SL_OK);
	sl_machine_free(m);
	assert_null(strstr(line, "cache"));
}

/* The ladder that is kept, of little memory, is not the one that would be
 * measured. */
static void
caches_serve_any_number_of_threads(void **state)
{
	struct sl_machine_options o = quick(folder);
	struct sl__found_caches_options how = {.cache_folder = folder,
					       .memory_bytes = 1 << 26};
	struct sl__found_caches found;
	struct sl_machine *m;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	o.root = NULL;
	assert_int_equal(sl__machine_identify(&how.fingerprint, &arena, NULL),
			 SL_OK);
	for (int i = 0; i < 2; i++) /* measured, then read as it was written */
		assert_int_equal(
			sl__found_caches_get(&found, &how, &arena, NULL),
			SL_OK);
	assert_int_equal(sl_machine_probe(&m, &o, NULL), SL_OK);
	assert_int_equal(m->max_threads, 1);
	assert_int_equal(m->n_found_caches, found.n);
	assert_true(found.n > 0);
	assert_memory_equal(m->found_caches, found.at,
			    found.n * sizeof(found.at[0]));
	sl_machine_free(m);
	sl__arena_release(&arena);
}

static void
an_interrupt_in_the_first_pass_ends_it(void **state)
{
	struct sl_machine_options o = quick("");
	volatile sig_atomic_t interrupt = 1;
	struct sl_machine *m;
	struct sl_error err;

	(void)state;
	o.interrupt = &interrupt;
	assert_int_equal(sl_machine_probe(&m, &o, &err), SL_E_INTERRUPTED);
	assert_null(m);
}

static void
options_out_of_range_are_usage_errors(void **state)
{
	struct sl_machine_options o = quick("");
	struct sl_machine *m;
	struct sl_error err;

	(void)state;
	o.n_threads = 100000;
	assert_int_equal(sl_machine_probe(&m, &o, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "100000 threads"));
	o = quick("");
	o.time_s = -1;
	assert_int_equal(sl_machine_probe(&m, &o, &err), SL_E_USAGE);
	o.time_s = (double)NAN;
	assert_int_equal(sl_machine_probe(&m, &o, &err), SL_E_USAGE);
	o = quick("");
	o.struct_size = 3;
	assert_int_equal(sl_machine_probe(&m, &o, &err), SL_E_USAGE);
}

static const char *
fingerprint_of(struct sl_machine *m, struct sl__arena *arena)
{
	assert_int_equal(sl__machine_set_fingerprint(m, arena, NULL), SL_OK);
	assert_int_equal(strlen(m->fingerprint), 16);
	return m->fingerprint;
}

static void
whatever_changes_a_ceiling_changes_the_fingerprint(void **state)
{
	static const struct sl_cache other_caches[] = {
		{1, SL_CACHE_DATA, 49152, 64, 2, 1},
		{2, SL_CACHE_UNIFIED, 1 << 20, 0, 1, 2},
	};
	struct sl_machine same = recorded_machine();
	struct sl_machine others[7];
	struct sl__arena arena;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		others[i] = same;
	others[0].model.value = "Another CPU";
	others[1].governor = (struct sl_text_reading){"performance", NULL};
	others[2].turbo.value = "off";
	others[3].n_isa = 2;
	others[4].caches = other_caches;
	others[5].n_cpus_allowed = 1;
	others[6].max_threads = 1;
	sl__arena_init(&arena, NULL);
	fingerprint_of(&same, &arena);
	for (size_t i = 0; i < 7; i++) {
		fingerprint_of(&others[i], &arena);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(others[i].fingerprint,
						others[k].fingerprint);
		assert_string_not_equal(others[i].fingerprint,
					same.fingerprint);
	}
	others[0] = recorded_machine();
	others[0].kernel.value = "6.2.0"; /* does not change a ceiling */
	assert_string_equal(fingerprint_of(&others[0], &arena),
			    same.fingerprint);
	sl__arena_release(&arena);
}

static void
accessors_pick_the_best_row_for_the_threads(void **state)
{
	struct sl_machine m = recorded_machine();

	(void)state;
	assert_near(sl_machine_peak_flops_per_s(&m, SL_DTYPE_F32, 1), 64e9, 0);
	assert_near(sl_machine_peak_flops_per_s(&m, SL_DTYPE_F32, 2), 128e9, 0);
	assert_near(sl_machine_peak_flops_per_s(&m, SL_DTYPE_F32, 9), 128e9, 0);
	assert_near(sl_machine_peak_flops_per_s(&m, SL_DTYPE_I8, 2), 123.456e9,
		    0);
	assert_true(isnan(sl_machine_peak_flops_per_s(&m, SL_DTYPE_BF16, 2)));
	assert_true(isnan(sl_machine_peak_flops_per_s(&m, SL_DTYPE_F32, 0)));
	assert_near(sl_machine_bandwidth_bytes_per_s(&m, 1), 10e9, 0);
	assert_near(sl_machine_bandwidth_bytes_per_s(&m, 2), 16e9, 0);
	assert_ptr_equal(sl_machine_find_bandwidth(&m, SL_LEVEL_L1, 2),
			 &m.levels[0]);
	assert_null(sl_machine_find_bandwidth(&m, SL_LEVEL_L2, 2));
	assert_ptr_equal(
		sl_machine_find_level(&m, SL_LEVEL_DRAM, SL_ACCESS_CHASE, 2),
		&m.levels[4]);
}

static void
running_out_of_memory_fails_cleanly(void **state)
{
	enum sl_status rc = SL_E_NOMEM;

	(void)state;
	for (int fail_at = 1; rc == SL_E_NOMEM; fail_at++) {
		struct counting c = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_machine_options o = quick("");
		struct sl_machine *m;

		assert_true(fail_at < 1000);
		o.allocator = &allocator;
		rc = sl_machine_open_cached(&m, &o, NULL);
		assert_null(m);
		assert_int_equal(c.n_out, 0);
	}
	assert_int_equal(rc, SL_E_ABSENT); /* there is no cache folder */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measured_once_and_recalled_after),
		cmocka_unit_test(a_damaged_cache_is_remarked_and_ignored),
		cmocka_unit_test(
			without_a_home_nothing_is_kept_and_that_is_told),
		cmocka_unit_test(caches_serve_any_number_of_threads),
		cmocka_unit_test(an_interrupt_in_the_first_pass_ends_it),
		cmocka_unit_test(options_out_of_range_are_usage_errors),
		cmocka_unit_test(
			whatever_changes_a_ceiling_changes_the_fingerprint),
		cmocka_unit_test(accessors_pick_the_best_row_for_the_threads),
		cmocka_unit_test(running_out_of_memory_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
