/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_failing_load.c - requests for memory fail while a model is put under
 * load and shown: it says so, and nothing leaks.
 */
#include "fail_each.h"

static enum sl_status
attempt_load(void *ctx, const struct sl_allocator *allocator,
	     struct sl_error *err)
{
	const struct sl_plan_options plan = {.struct_size = sizeof(plan),
					     .n_threads = 1,
					     .algorithms = SL_ALGORITHMS_FIXED,
					     .flags = SL_PLAN_NO_CACHE};
	const struct sl_load_options how = {.struct_size = sizeof(how),
					    .scenario = SL_SCENARIO_SERVER,
					    .plan = &plan,
					    .time_s = .002,
					    .rate_per_s = 5000,
					    .allocator = allocator};
	const struct sl_render_options text = {.struct_size = sizeof(text)};
	struct sl_buf page = {0};
	struct sl_load *l;
	enum sl_status rc;

	rc = sl_load(&l, ctx, &how, err);
	if (!rc)
		rc = sl_load_render(l, &text, &page, err);
	sl_load_free(l);
	sl_buf_release(&page);
	return rc;
}

static void
requests_fail(void **state)
{
	struct sl_graph *graph;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-8-2", NULL, NULL), SL_OK);
	assert_true(fail_from(attempt_load, graph, "load", 1, 3) > 0);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(requests_fail)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
