/* SPDX-License-Identifier: Apache-2.0 */
/* test_microbench.c - operations at small sizes: structure, work, failures. */
#include "harness.h"
#include "json_check.h"
#include "short_look.h"

#include "driver/micro_ops.h"

#include <string.h>

static void
assert_renders(const struct sl_microbench *m)
{
	const struct sl_microbench *two[] = {m, m};
	struct sl_render_options how = {.struct_size = sizeof(how)};
	struct sl_buf out = {0};

	for (size_t n = 1; n <= 2; n++) {
		for (int f = SL_FORMAT_TEXT; f <= SL_FORMAT_MARKDOWN; f++) {
			how.format = (enum sl_format)f;
			assert_int_equal(
				sl_microbench_render(two, n, &how, &out, NULL),
				SL_OK);
			assert_true(out.n_bytes > 0);
			if (f == SL_FORMAT_JSON)
				assert_true(json_valid(out.data));
			sl_buf_release(&out);
		}
	}
	assert_int_equal(sl_microbench_render(two, 0, &how, &out, NULL),
			 SL_E_USAGE);
}

static void
assert_point(const struct sl_micro_point *p)
{
	assert_null(p->absent);
	assert_true(p->median_ns.value > 0);
	assert_true(p->median_ns.lo < p->median_ns.value);
	assert_true(p->median_ns.hi > p->median_ns.value);
	assert_true(p->fastest_ns <= p->median_ns.value);
	assert_int_equal(p->n_operations, 1);
	assert_non_null(p->kernel);
	assert_close(p->bytes_per_s,
		     (double)p->n_bytes / p->median_ns.value * 1e9, 1e-9);
	assert_close(p->flops_per_s,
		     (double)p->flops / p->median_ns.value * 1e9, 1e-9);
	assert_int_not_equal(p->level, SL_LEVEL_NONE);
	if (p->micro_class != SL_MICRO_UNKNOWN)
		assert_true(p->roof_share > 0 && p->roof_share <= 1);
}

static void
test_add(void **state)
{
	struct sl_microbench_options how = short_look();
	struct sl_microbench *m = look_at("add", &how);
	const struct sl_micro_series *s = &m->series[0];

	(void)state;
	assert_int_equal(m->n_series, 1);
	assert_int_equal(m->stopped_by, SL_STOP_RUNS);
	assert_string_equal(s->name, "add");
	assert_int_equal(s->axis, SL_MICRO_AXIS_ELEMENTS);
	assert_int_equal(s->n_points, 2);
	assert_int_equal(s->n_measured, 2);
	assert_int_equal(s->largest, 1);
	assert_int_equal(m->most_efficient, SIZE_MAX);
	for (size_t i = 0; i < 2; i++) {
		assert_point(&s->points[i]);
		assert_int_equal(s->points[i].value, sizes[i]);
		assert_int_equal(s->points[i].flops, sizes[i]);
		assert_int_equal(s->points[i].n_bytes, 12 * sizes[i]);
	}
	assert_string_equal(s->points[1].shape, "64, 64");
	assert_renders(m);
	sl_microbench_free(m);
}

static void
test_matmul(void **state)
{
	struct sl_microbench_options how = short_look();
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1};
	struct sl_microbench *m;

	(void)state;
	how.plan = &plan;
	m = look_at("matmul", &how);
	assert_int_equal(m->n_threads, 1);
	assert_int_equal(m->ceilings.n_threads, 1);
	for (size_t i = 0; i < 2; i++) {
		const struct sl_micro_point *p = &m->series[0].points[i];
		int64_t n = sizes[i];

		assert_point(p);
		assert_int_equal(p->flops, 2 * n * n * n);
		/* Three matrices, and what the kernel works in. */
		assert_true(p->n_bytes >= (uint64_t)(3 * 4 * n * n));
		assert_close(p->intensity,
			     (double)p->flops / (double)p->n_bytes, 1e-9);
	}
	assert_string_equal(m->series[0].points[0].shape, "16x16 * 16x16");
	sl_microbench_free(m);
}

static void
test_sizes(void **state)
{
	const struct sl__micro_op *add = sl__micro_op_find("add");
	const struct sl__micro_op *matmul = sl__micro_op_find("matmul");
	int64_t values[SL__MICRO_OP_SIZES_MAX];
	size_t n = sl__micro_op_sizes(matmul, 1e12, values);

	(void)state;
	assert_int_equal(n, 7);
	assert_int_equal(values[0], 32);
	assert_int_equal(values[6], 2048);
	n = sl__micro_op_sizes(add, 0, values);
	assert_int_equal(values[n - 1], 4 * 1024 * 1024);
	/* 12 bytes each: twice 32 MiB is first passed by 8 Mi. */
	n = sl__micro_op_sizes(add, 32 * 1024 * 1024, values);
	assert_int_equal(values[n - 1], 8 * 1024 * 1024);
	n = sl__micro_op_sizes(add, 1e12, values);
	assert_int_equal(values[n - 1], 64 * 1024 * 1024);
	assert_null(sl__micro_op_find("all"));
	for (size_t i = 0; sl__micro_op_at(i); i++)
		assert_ptr_equal(sl__micro_op_find(sl_microbench_op(i)),
				 sl__micro_op_at(i));
}

static void
test_wrong_usage(void **state)
{
	static const int64_t down[] = {4, 2};
	struct sl_microbench_options how = short_look();
	struct sl_microbench *m;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_microbench(&m, "nothing", NULL, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "add, mul, "));
	assert_null(m);
	assert_int_equal(sl_microbench(&m, "all", &how, &err), SL_E_USAGE);
	how.values = down;
	assert_int_equal(sl_microbench(&m, "add", &how, &err), SL_E_USAGE);
	how = short_look();
	how.time_s = -1;
	assert_int_equal(sl_microbench(&m, "add", &how, &err), SL_E_USAGE);
	how = short_look();
	how.struct_size = 1;
	assert_int_equal(sl_microbench(&m, "add", &how, &err), SL_E_USAGE);
	sl_microbench_free(NULL);
}

/* A size that no memory holds is one point less. */
static void
test_too_large(void **state)
{
	static const int64_t large[] = {64, (int64_t)1 << 44};
	struct sl_microbench_options how = short_look();
	struct sl_microbench *m;

	(void)state;
	how.values = large;
	m = look_at("add", &how);
	assert_int_equal(m->series[0].n_measured, 1);
	assert_null(m->series[0].points[0].absent);
	assert_non_null(strstr(m->series[0].points[1].absent, "memory"));
	assert_renders(m);
	sl_microbench_free(m);
}

/* After the first iteration of the second size. */
static void
stop_later(const struct sl_progress *now, void *ctx)
{
	volatile sig_atomic_t *flag = ctx;

	if (strstr(now->what, "64"))
		*flag = 1;
}

static void
test_interrupt(void **state)
{
	static const int64_t three[] = {16, 64, 256};
	volatile sig_atomic_t flag = 0;
	struct sl_microbench_options how = short_look();
	struct sl_microbench *m;
	struct sl_error err;

	(void)state;
	how.values = three;
	how.n_values = 3;
	how.interrupt = &flag;
	how.progress = stop_later;
	how.progress_ctx = (void *)(uintptr_t)&flag;
	m = look_at("add", &how);
	assert_int_equal(m->stopped_by, SL_STOP_INTERRUPT);
	assert_null(m->series[0].points[0].absent);
	assert_non_null(m->series[0].points[2].absent);
	assert_renders(m);
	sl_microbench_free(m);
	assert_int_equal(sl_microbench(&m, "add", &how, &err),
			 SL_E_INTERRUPTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_matmul),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_wrong_usage),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_interrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
