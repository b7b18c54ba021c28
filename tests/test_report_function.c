/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_function.c - one call profiles a function: time, rates, memory
 * and what stands out are on the page, JSON is one document, and a failure
 * or a format that does not exist writes nothing.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "json_check.h"
#include "reads_back.h"
#include "short_options.h"
#include "sleuth.h"

static int
work(void *ctx)
{
	volatile double *x = ctx;

	for (int i = 0; i < 1000; i++)
		*x = *x * 0.5 + 1;
	return 0;
}

static int
fails(void *ctx)
{
	(void)ctx;
	return 1;
}

static void
json_is_one_document(void **state)
{
	struct sl_render_options render = {.struct_size = sizeof(render),
					   .format = SL_FORMAT_JSON};
	struct sl_profile_function_options how = {.struct_size = sizeof(how),
						  .n_flops = 2000,
						  .time_s = 0.02,
						  .render = &render};
	struct sl_buf out = {0};
	double x = 1, rate, median_ms;

	(void)state;
	assert_int_equal(
		sl_profile_function(&out, "work", work, &x, &how, NULL), SL_OK);
	assert_reads_back(&out);
	assert_true(json_is(out.data, "name", "\"work\""));
	assert_true(json_has(out.data, "allocation.pattern"));
	assert_true(json_has(out.data, "insights"));
	median_ms = json_number_at(out.data, "latency.median_ms");
	rate = json_number_at(out.data, "rates.gflops_per_s");
	assert_close(rate * median_ms, 2000e-6, 1e-9);
	assert_true(json_is(out.data, "rates.gbytes_per_s_absent",
			    "\"no bytes were declared\""));
	assert_true(json_is(out.data, "rates.compute_efficiency_absent",
			    "\"run `sleuth machine` first\""));
	sl_buf_release(&out);
}

static void
the_page_has_all_parts(void **state)
{
	struct sl_profile_function_options how = {.struct_size = sizeof(how),
						  .time_s = 0.02};
	struct sl_buf out = {0};
	double x = 1;

	(void)state;
	assert_int_equal(
		sl_profile_function(&out, "work", work, &x, &how, NULL), SL_OK);
	assert_non_null(strstr(out.data, "median"));
	assert_non_null(strstr(out.data, "no FLOPs were declared"));
	assert_non_null(strstr(out.data, "Memory of work"));
	sl_buf_release(&out);
}

static void
failures_write_nothing(void **state)
{
	struct sl_render_options render = {.struct_size = sizeof(render),
					   .format = SL_FORMAT_CSV};
	struct sl_profile_function_options how = {.struct_size = sizeof(how)};
	struct sl_buf out = {0};

	(void)state;
	assert_int_equal(
		sl_profile_function(&out, "fails", fails, NULL, &how, NULL),
		SL_E_MEASURE);
	how.render = &render;
	assert_int_equal(
		sl_profile_function(&out, "fails", fails, NULL, &how, NULL),
		SL_E_USAGE);
	assert_int_equal(sl_profile_function(&out, "fails", fails, NULL,
					     short_options(), NULL),
			 SL_E_MEASURE);
	how.render = NULL;
	how.n_flops = -1;
	assert_int_equal(
		sl_profile_function(&out, "fails", fails, NULL, &how, NULL),
		SL_E_USAGE);
	assert_null(out.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_one_document),
		cmocka_unit_test(the_page_has_all_parts),
		cmocka_unit_test(failures_write_nothing),
	};

	/* No description of a machine lies there. */
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
