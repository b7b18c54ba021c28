/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_inspect_page.c - the page of a model survives the failure of any
 * allocation, shortens long lists of inputs and says by how much, and cuts
 * module paths of both kinds where it should.
 */
#include "harness.h"
#include "counting.h"
#include "inspect_page.h"
#include "recorded_inspection.h"

static struct sl__inspect_result
result_of(const struct sl_inspection *const *models, size_t n, enum sl_by by)
{
	struct sl__inspect_result r = {.models = models, .n_models = n};

	r.view.struct_size = sizeof(r.view);
	r.view.by = by;
	return r;
}

/* Builds the page with the n-th request failing; returns the requests. */
static int
build_failing(const struct sl__inspect_result *r, int fail_at)
{
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .verbose = 1};
	struct counting counting = {.fail_at = fail_at};
	struct sl_allocator allocator = counting_allocator(&counting);
	struct sl_buf out = {0};
	struct sl_error err;
	struct sl__doc doc;
	enum sl_status rc;

	sl__doc_init(&doc, &allocator);
	sl__inspect_page(&doc, r, &how);
	rc = sl__doc_render(&doc, &how, &out, &err);
	assert_int_equal(rc, counting.n_requests >= fail_at && fail_at
				     ? SL_E_NOMEM
				     : SL_OK);
	sl__doc_release(&doc);
	sl_buf_release(&out);
	assert_int_equal(counting.n_out, 0);
	return counting.n_requests;
}

static void
every_failed_allocation_is_reported(void **state)
{
	struct sl_inspection i = recorded_inspection();
	const struct sl_inspection *models[] = {&i, &i};
	const struct sl__inspect_result results[] = {
		result_of(models, 1, SL_BY_LAYER),
		result_of(models, 1, SL_BY_TYPE),
		result_of(models, 1, SL_BY_PATH),
		result_of(models, 2, SL_BY_LAYER),
	};

	(void)state;
	for (size_t k = 0; k < sizeof(results) / sizeof(*results); k++) {
		int n = build_failing(&results[k], 0);

		assert_true(n > 0);
		for (int fail_at = 1; fail_at <= n; fail_at++)
			build_failing(&results[k], fail_at);
	}
}

static void
assert_page(const struct sl_inspection *i, const struct sl_inspect_view *view,
	    const char *part)
{
	struct sl_buf out = {0};
	struct sl_error err;

	assert_int_equal(sl_inspection_render(&i, 1, view, NULL, &out, &err),
			 SL_OK);
	if (!strstr(out.data, part)) {
		print_error("no \"%s\" in:\n%s\n", part, out.data);
		fail();
	}
	sl_buf_release(&out);
}

static void
long_lists_of_inputs_are_cut(void **state)
{
	struct sl_inspection i = recorded_inspection();

	(void)state;
	i.inputs = "a 1 f32, b 2 f32, c 3 f32, d 4 f32";
	assert_page(&i, NULL, "a 1 f32, b 2 f32, c 3 f32, d 4 f32\n");
	i.inputs = "a 1 f32, b 2 f32, c 3 f32, d 4 f32, e 5 f32";
	assert_page(&i, NULL, "a 1 f32, b 2 f32, c 3 f32 and 2 more\n");
}

static void
paths_are_cut_at_their_own_separator(void **state)
{
	static const struct sl_layer_group paths[] = {
		{"/encoder/layer.0/attention", 3, 30, 300, 600, 60, 0.5},
		{"/encoder/layer.1/attention", 2, 20, 200, 400, 40, 0.3},
		{"/head", 1, 10, 100, 200, 20, 0.2},
	};
	struct sl_inspect_view view = {.struct_size = sizeof(view),
				       .by = SL_BY_PATH};
	struct sl_inspection i = recorded_inspection();

	(void)state;
	i.by_path = paths;
	i.n_paths = 3;
	assert_page(&i, &view, "  /encoder       5          50");
	view.depth = 2;
	assert_page(&i, &view, "  /encoder/layer.0       3          30");
	view.depth = 9;
	assert_page(&i, &view, "  /encoder/layer.1/attention       2  ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_reported),
		cmocka_unit_test(long_lists_of_inputs_are_cut),
		cmocka_unit_test(paths_are_cut_at_their_own_separator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
