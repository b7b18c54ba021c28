/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_calibrate.c - proves that kernels which were measured are kept, that
 * only those are measured which are missing, and none while others are busy.
 */
#include "harness.h"
#include "base/buf.h"
#include "base/cache_file.h"
#include "experiment/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Kernels of the table; the last but two of which is a chain of tiny steps. */
enum { N_KERNELS = 20, TINY = 17 };

/* The kernel's view of the machine: all idle, or all stolen. */
struct load {
	struct sl__system_times now;
	int is_busy;
};

static void
read_nothing(struct sl__covariates *now, void *ctx)
{
	(void)ctx;
	memset(now, 0, sizeof(*now));
}

static int
read_load(struct sl__system_times *now, void *ctx)
{
	struct load *load = ctx;

	load->now.total += 1000;
	*(load->is_busy ? &load->now.steal : &load->now.idle) += 1000;
	*now = load->now;
	return 1;
}

struct fixture {
	struct load load;
	struct sl__monitor_source source;
	struct sl__ceiling_probes *probes;
	struct sl__calibrate_options how;
	char folder[64], path[256];
	struct sl__arena arena;
};

static void
must(enum sl_status rc)
{
	assert_int_equal(rc, SL_OK);
}

static void
open_fixture(struct fixture *f, int is_busy)
{
	struct sl__ceiling_probes_options options = {.n_threads = 1};

	memset(f, 0, sizeof(*f));
	f->load.is_busy = is_busy;
	f->source =
		(struct sl__monitor_source){read_nothing, read_load, &f->load};
	snprintf(f->folder, sizeof(f->folder), "/tmp/sleuth-calibrate-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	must(sl__ceiling_probes_open(&f->probes, &options, NULL));
	snprintf(f->path, sizeof(f->path), "%s/calibration-%s-1.txt", f->folder,
		 sl__ceiling_probes_fingerprint(f->probes));
	f->how = (struct sl__calibrate_options){
		.probes = f->probes, .n_threads = 1, .cache_folder = f->folder};
	f->how.control.with.monitor = &f->source;
	sl__arena_init(&f->arena, NULL);
}

static void
close_fixture(struct fixture *f)
{
	sl__ceiling_probes_close(f->probes);
	sl__arena_release(&f->arena);
	unlink(f->path);
	rmdir(f->folder);
}

/* A file in which all kernels but one have answered, each with its number as
 * time. */
static void
keep_all_but_tiny(const struct fixture *f)
{
	struct sl__known_step steps[N_KERNELS - 1];
	struct sl_buf text = {0};

	memset(steps, 0, sizeof(steps));
	for (size_t i = 0; i < N_KERNELS - 1; i++) {
		steps[i].number = i < TINY ? i : i + 1;
		steps[i].kernel = i;
		steps[i].bound = SL_BOUND_DRAM;
		steps[i].evidence.time_ns = (double)i;
	}
	sl__calibration_write(
		&text, &(struct sl__calibration){steps, N_KERNELS - 1, 1, 1.5});
	must(sl__cache_write(f->path, text.data, text.n_bytes, NULL));
	sl_buf_release(&text);
}

static void
expect_kept(const struct sl__calibration *c)
{
	assert_true(c->n >= N_KERNELS - 1);
	for (size_t i = 0; i < N_KERNELS - 1; i++)
		assert_near(c->steps[i].evidence.time_ns, (double)i, 0);
}

static void
only_the_missing_are_measured(void **state)
{
	struct sl__calibration first, second;
	struct fixture f;

	(void)state;
	open_fixture(&f, 0);
	keep_all_but_tiny(&f);
	must(sl__calibrate(&first, &f.how, &f.arena, NULL));
	expect_kept(&first);
	assert_true(first.n > N_KERNELS - 1);
	for (size_t i = N_KERNELS - 1; i < first.n; i++) {
		assert_int_equal(first.steps[i].number, TINY);
		assert_int_equal(first.steps[i].bound, SL_BOUND_OVERHEAD);
		assert_int_equal(first.steps[i].kernel, N_KERNELS - 1);
	}
	assert_int_equal(first.n_missing, 0);
	assert_true(first.elapsed_s > 1.5);
	/* Complete: read, not measured again. */
	must(sl__calibrate(&second, &f.how, &f.arena, NULL));
	assert_int_equal(second.n, first.n);
	assert_near(second.elapsed_s, first.elapsed_s, 1e-4);
	close_fixture(&f);
}

static void
nothing_is_measured_beside_others(void **state)
{
	struct sl__calibration c;
	struct fixture f;

	(void)state;
	open_fixture(&f, 1);
	keep_all_but_tiny(&f);
	must(sl__calibrate(&c, &f.how, &f.arena, NULL));
	expect_kept(&c);
	assert_int_equal(c.n, N_KERNELS - 1);
	assert_int_equal(c.n_missing, 1);
	/* Nor is anything kept where nothing was. */
	unlink(f.path);
	must(sl__calibrate(&c, &f.how, &f.arena, NULL));
	assert_int_equal(c.n, 0);
	assert_true(c.n_missing > 0);
	assert_int_equal(access(f.path, F_OK), -1);
	close_fixture(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_missing_are_measured),
		cmocka_unit_test(nothing_is_measured_beside_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
