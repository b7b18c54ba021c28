/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_inspect_page.c - the page of a model survives the failure of any
 * allocation, shortens long lists of inputs and says by how much, cuts module
 * paths of both kinds where it should, has all columns at 80, never says that
 * a layer that computes does nothing, and shows what was asked for of every
 * model.
 */
#include "harness.h"
#include "counting.h"
#include "report/inspect_page.h"
#include "recorded_inspection.h"

static struct sl__inspect_page_input
result_of(const struct sl_inspection *const *models, size_t n, enum sl_by by)
{
	struct sl__inspect_page_input r = {.inspections = {models, n}};

	r.view.struct_size = sizeof(r.view);
	r.view.by = by;
	return r;
}

/* Builds the page with the n-th request failing; returns the requests. */
static int
build_failing(const struct sl__inspect_page_input *r, int fail_at)
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
	const struct sl__inspect_page_input results[] = {
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
	assert_page(&i, NULL, "a 1 f32, b 2 f32, c 3 f32, d 4 f32");
	i.sizes = "";
	i.inputs = "a 1 f32, b 2 f32, c 3 f32, dimension 4 f32, "
		   "e 5 f32";
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

/* The line of the page at 80 columns that holds 'part'. */
static void
take_line(char *line, size_t n_bytes, const struct sl_inspection *const *models,
	  size_t n_models, const struct sl_inspect_view *view, const char *part)
{
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .n_columns = 80};
	struct sl_buf out = {0};
	struct sl_error err;
	const char *at, *end;

	assert_int_equal(
		sl_inspection_render(models, n_models, view, &how, &out, &err),
		SL_OK);
	at = strstr(out.data, part);
	if (!at) {
		print_error("no \"%s\" in:\n%s\n", part, out.data);
		fail();
	}
	end = at + strcspn(at, "\n");
	while (at > out.data && at[-1] != '\n')
		at--;
	assert_in_range(end - at, 1, n_bytes - 1);
	memcpy(line, at, (size_t)(end - at));
	line[end - at] = '\0';
	sl_buf_release(&out);
}

static void
assert_words(const char *line, const char *const *words)
{
	for (; *words; words++) {
		if (!strstr(line, *words)) {
			print_error("no \"%s\" in: %s\n", *words, line);
			fail();
		}
	}
}

/* Names, types and shapes as long as those of real models. */
static void
all_columns_fit_in_80(void **state)
{
	static const char *const titles[] = {"layer",  "type",  "output",
					     "params", "FLOPs", "bytes",
					     "FLOP/B", "share", NULL};
	struct sl_inspection i = recorded_inspection();
	const struct sl_inspection *one = &i;
	struct sl_layer layers[24];
	char names[24][64], line[400];

	(void)state;
	for (size_t k = 0; k < 24; k++) {
		layers[k] = recorded_layers[0];
		snprintf(names[k], sizeof(names[k]),
			 "encoder.layer.%zu.attention.%s", k / 2,
			 k % 2 ? "self.query" : "output.dense");
		layers[k].name = names[k];
		layers[k].type = k % 2 ? "MatMul" : "Softmax";
		layers[k].output_shape = "1x12x128x128";
		layers[k].share = 1.0 / 24;
	}
	i.layers = layers;
	i.n_layers = 24;
	take_line(line, sizeof(line), &one, 1, NULL, "FLOP/B  share");
	assert_words(line, titles);
	take_line(line, sizeof(line), &one, 1, NULL, "MatMul");
	assert_words(line,
		     (const char *const[]){"query ×12", "1x12x128x128", "10.6M",
					   "955k", "11.1", NULL});
}

/* A BatchNorm of 2 x 16,384 operations has no share of the products. */
static void
layers_without_products_show_what_they_compute(void **state)
{
	struct sl_inspection i = recorded_inspection();
	const struct sl_inspection *one = &i;
	char line[400];

	(void)state;
	take_line(line, sizeof(line), &one, 1, NULL, "BatchNorm  ");
	assert_words(line, (const char *const[]){"32.8k", "131k", " 0.25", " -",
						 NULL});
	take_line(line, sizeof(line), &one, 1, NULL,
		  "share -: no multiply-accumulates");
}

static void
weights_show_their_distribution(void **state)
{
	struct sl_inspection i = recorded_inspection();
	const struct sl_inspection *one = &i;
	char line[400];

	(void)state;
	i.seed = 7;
	take_line(line, sizeof(line), &one, 1, NULL, "Weights");
	assert_words(line, (const char *const[]){"seed 7", NULL});
	take_line(line, sizeof(line), &one, 1, NULL, "dead channels");
	assert_words(line, (const char *const[]){"min to max", "zeros", NULL});
	/* Bins 4 and 5 hold 16 and 8 of 46: the fullest of 16 pairs. */
	take_line(line, sizeof(line), &one, 1, NULL, "2 of 16");
	assert_words(line, (const char *const[]){"█", "12.5 %", NULL});
}

static void
several_models_show_what_was_asked_for(void **state)
{
	struct sl_inspection a = recorded_inspection(), b = a;
	const struct sl_inspection *both[] = {&a, &b};
	struct sl_inspect_view view = {.struct_size = sizeof(view),
				       .by = SL_BY_TYPE};
	char line[400];

	(void)state;
	take_line(line, sizeof(line), both, 2, NULL, "parameters");
	assert_words(line, (const char *const[]){"FLOPs", "memory", "batch",
						 "seq", "main type", NULL});
	take_line(line, sizeof(line), both, 2, NULL, "From core to fvcore");
	take_line(line, sizeof(line), both, 2, NULL, "Weights");
	take_line(line, sizeof(line), both, 2, &view, "Types of layer");
	view.by = SL_BY_LAYER;
	view.n_top = 2;
	take_line(line, sizeof(line), both, 2, &view, "2 others");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_reported),
		cmocka_unit_test(long_lists_of_inputs_are_cut),
		cmocka_unit_test(paths_are_cut_at_their_own_separator),
		cmocka_unit_test(all_columns_fit_in_80),
		cmocka_unit_test(
			layers_without_products_show_what_they_compute),
		cmocka_unit_test(weights_show_their_distribution),
		cmocka_unit_test(several_models_show_what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
