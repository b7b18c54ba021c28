/* SPDX-License-Identifier: Apache-2.0 */
/* test_ceiling_probes.c - probes beside a workload: structure, never speed. */
#define _GNU_SOURCE
#include "harness.h"
#include "machine/ceiling_probes.h"
#include "base/thread.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Threads of this process. */
static size_t
n_tasks(void)
{
	DIR *folder = opendir("/proc/self/task");
	size_t n = 0;

	assert_non_null(folder);
	for (struct dirent *at = readdir(folder); at; at = readdir(folder))
		n += at->d_name[0] != '.';
	closedir(folder);
	return n;
}

/* A thread that was joined may still be listed for a moment. */
static void
expect_tasks(size_t n)
{
	for (int i = 0; i < 100000 && n_tasks() != n; i++)
		sched_yield();
	assert_int_equal(n_tasks(), n);
}

/* Threads of this process that run now, the caller left out. */
static size_t
n_running(void)
{
	DIR *folder = opendir("/proc/self/task");
	size_t n = 0;

	assert_non_null(folder);
	for (struct dirent *at = readdir(folder); at; at = readdir(folder)) {
		char path[300], line[512] = "";
		const char *state;
		FILE *file;

		if (at->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat",
			 at->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		(void)!fgets(line, sizeof(line), file);
		fclose(file);
		state = strrchr(line, ')');
		n += state && state[2] == 'R';
	}
	closedir(folder);
	return n - 1;
}

static cpu_set_t
cpus_now(void)
{
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	return cpus;
}

static struct sl__ceiling_probes *
opened(size_t n_threads, enum sl_dtype dtype)
{
	struct sl__ceiling_probes_options options = {.dtype = dtype,
						     .n_threads = n_threads};
	struct sl__ceiling_probes *probes;
	struct sl_error err;

	assert_int_equal(sl__ceiling_probes_open(&probes, &options, &err),
			 SL_OK);
	return probes;
}

static void
check_estimate(const struct sl_estimate *e, size_t n)
{
	assert_int_equal(e->n, n);
	assert_true(e->value > 0 && isfinite(e->value));
	if (e->needs_n) {
		assert_true(isnan(e->lo) && isnan(e->hi));
		return;
	}
	assert_true(e->lo <= e->value && e->value <= e->hi);
}

static void
ceilings_have_levels_in_order(void **state)
{
	struct sl__ceiling_probes *probes = opened(1, SL_DTYPE_F32);
	struct sl_ceilings c;

	(void)state;
	memset(&c, 0, sizeof(c));
	c.step_ns.value = 7;
	for (int i = 0; i < 12; i++)
		sl__ceiling_probes_run(probes);
	sl__ceiling_probes_ceilings(probes, &c);
	assert_int_equal(c.n_threads, 1);
	assert_int_equal(c.dtype, SL_DTYPE_F32);
	assert_true(c.step_ns.value == 7);
	assert_true(c.n_levels >= 3 && c.n_levels <= SL_CEILING_LEVELS_MOST);
	assert_int_equal(c.levels[0].level, SL_LEVEL_L1);
	assert_int_equal(c.levels[1].level, SL_LEVEL_L2);
	assert_int_equal(c.levels[c.n_levels - 1].level, SL_LEVEL_DRAM);
	assert_true(c.levels[c.n_levels - 1].size_bytes == UINT64_MAX);
	for (size_t i = 0; i < c.n_levels; i++) {
		check_estimate(&c.levels[i].bytes_per_s, 36);
		/* 36 are just enough for an interval. */
		assert_int_equal(c.levels[i].bytes_per_s.needs_n, 0);
		if (i > 0)
			assert_true(c.levels[i].size_bytes >
				    c.levels[i - 1].size_bytes);
	}
	sl__ceiling_probes_close(probes);
}

static void
before_any_probe_there_are_no_figures(void **state)
{
	struct sl__ceiling_probes *probes = opened(1, SL_DTYPE_F32);
	struct sl_ceilings c;

	(void)state;
	memset(&c, 0, sizeof(c));
	sl__ceiling_probes_ceilings(probes, &c);
	assert_int_equal(c.flops_per_s.n, 0);
	assert_true(isnan(c.flops_per_s.value));
	for (size_t i = 0; i < c.n_levels; i++)
		assert_true(isnan(c.levels[i].bytes_per_s.value));
	sl__ceiling_probes_close(probes);
}

static void
peaks_are_of_the_type(void **state)
{
	static const enum sl_dtype asked[] = {SL_DTYPE_F32, SL_DTYPE_U8,
					      SL_DTYPE_F16};
	static const enum sl_dtype got[] = {SL_DTYPE_F32, SL_DTYPE_I8,
					    SL_DTYPE_F32};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct sl__ceiling_probes *probes = opened(1, asked[k]);
		struct sl_ceilings c;
		size_t n_same = 0;

		memset(&c, 0, sizeof(c));
		sl__ceiling_probes_run(probes);
		sl__ceiling_probes_ceilings(probes, &c);
		assert_int_equal(c.dtype, got[k]);
		assert_true(c.n_peaks >= 1);
		assert_int_equal(c.peaks[0].dtype, SL_DTYPE_F32);
		for (size_t i = 0; i < c.n_peaks; i++) {
			check_estimate(&c.peaks[i].flops_per_s, 3);
			n_same += c.peaks[i].dtype == c.dtype &&
				  c.peaks[i].flops_per_s.value ==
					  c.flops_per_s.value;
		}
		assert_true(n_same == 1 || isnan(c.flops_per_s.value));
		sl__ceiling_probes_close(probes);
	}
}

static void
the_caller_is_left_as_it_was(void **state)
{
	cpu_set_t before = cpus_now(), after;
	size_t n_before = n_tasks();
	struct sl__ceiling_probes *probes =
		opened(sl__thread_n_cpus(), SL_DTYPE_F32);

	(void)state;
	after = cpus_now();
	assert_true(CPU_EQUAL(&before, &after));
	sl__ceiling_probes_run(probes);
	sl__ceiling_probes_evict_caches(probes);
	after = cpus_now();
	assert_true(CPU_EQUAL(&before, &after));
	/* The last to finish a job may still be on its way to sleep. */
	for (int i = 0; i < 100000 && n_running() > 0; i++)
		sched_yield();
	assert_int_equal(n_running(), 0);
	sl__ceiling_probes_close(probes);
	expect_tasks(n_before);
	after = cpus_now();
	assert_true(CPU_EQUAL(&before, &after));
}

static void
more_threads_than_cpus_are_not_probed(void **state)
{
	size_t n_cpus = sl__thread_n_cpus();
	struct sl__ceiling_probes *probes = opened(n_cpus + 3, SL_DTYPE_F32);
	struct sl_ceilings c;

	(void)state;
	memset(&c, 0, sizeof(c));
	sl__ceiling_probes_run(probes);
	sl__ceiling_probes_ceilings(probes, &c);
	assert_int_equal(c.n_threads, n_cpus);
	sl__ceiling_probes_close(probes);
}

static void
a_hog_needs_a_cpu_to_spare(void **state)
{
	size_t n_cpus = sl__thread_n_cpus();
	struct sl__ceiling_probes *probes = opened(n_cpus, SL_DTYPE_F32);
	cpu_set_t before = cpus_now(), after;
	size_t n_before = n_tasks();
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__hog_start(probes, n_cpus, &err), SL_E_ABSENT);
	assert_non_null(strstr(err.text, "to spare"));
	sl__hog_stop(probes); /* which does not run */
	after = cpus_now();
	assert_true(CPU_EQUAL(&before, &after));
	expect_tasks(n_before);
	sl__ceiling_probes_close(probes);
}

static void
a_hog_has_a_cpu_of_its_own(void **state)
{
	size_t n_without = n_tasks();
	struct sl__ceiling_probes *probes = opened(1, SL_DTYPE_F32);
	cpu_set_t before = cpus_now(), during, after;
	size_t n_before = n_tasks();

	(void)state;
	if (sl__thread_n_cpus() < 2) {
		sl__ceiling_probes_close(probes);
		skip();
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sl__hog_start(probes, 1, NULL), SL_OK);
		during = cpus_now();
		assert_int_equal(CPU_COUNT(&during), CPU_COUNT(&before) - 1);
		CPU_OR(&after, &during, &before);
		assert_true(CPU_EQUAL(&after, &before));
		expect_tasks(n_before + 1);
		sl__hog_stop(probes);
		after = cpus_now();
		assert_true(CPU_EQUAL(&before, &after));
		expect_tasks(n_before);
	}
	/* Closing stops one that is left running. */
	assert_int_equal(sl__hog_start(probes, 1, NULL), SL_OK);
	sl__ceiling_probes_close(probes);
	after = cpus_now();
	assert_true(CPU_EQUAL(&before, &after));
	expect_tasks(n_without);
}

static void
the_effect_of_a_hog_is_measured_once(void **state)
{
	struct sl__ceiling_probes *probes = opened(1, SL_DTYPE_F32);
	struct sl__hog_effect first, second;
	cpu_set_t before = cpus_now(), after;

	(void)state;
	sl__hog_effect(probes, &first);
	sl__hog_effect(probes, &second);
	after = cpus_now();
	assert_true(CPU_EQUAL(&before, &after));
	if (sl__thread_n_cpus() < 2) {
		assert_non_null(first.absent);
	} else {
		assert_null(first.absent);
		assert_true(first.compute > 0 && first.l2 > 0 && first.l3 > 0 &&
			    first.dram > 0);
		assert_memory_equal(&first, &second, sizeof(first));
	}
	sl__ceiling_probes_close(probes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ceilings_have_levels_in_order),
		cmocka_unit_test(before_any_probe_there_are_no_figures),
		cmocka_unit_test(peaks_are_of_the_type),
		cmocka_unit_test(the_caller_is_left_as_it_was),
		cmocka_unit_test(more_threads_than_cpus_are_not_probed),
		cmocka_unit_test(a_hog_needs_a_cpu_to_spare),
		cmocka_unit_test(a_hog_has_a_cpu_of_its_own),
		cmocka_unit_test(the_effect_of_a_hog_is_measured_once),
	};

	sl__ceiling_probes_close(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
