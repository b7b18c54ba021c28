/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest batch that fits, against closed forms: a square product needs
 * its weights and, for each sample, its input and output.
 */
#include "json_check.h"
#include "square_layer.h"

static struct sl_fit *
fit(const struct sl_graph *graph, double memory_bytes,
    enum sl_optimizer optimizer)
{
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = memory_bytes,
				     .optimizer = optimizer};
	struct sl_error err;
	struct sl_fit *f;

	if (sl_fit(&f, graph, &how, &err))
		fail_msg("%s", err.text);
	return f;
}

static void
test_inference(void **state)
{
	struct sl_graph *graph = square_layer(0);

	(void)state;
	for (int64_t n = 1; n < 5000; n = n * 3 + 1) {
		double memory =
			SQUARE_WEIGHT_BYTES + (double)n * SQUARE_SAMPLE_BYTES;
		struct sl_fit *f = fit(graph, memory, SL_OPTIMIZER_NONE);

		assert_int_equal(f->largest, n);
		assert_near(f->total_bytes, memory, 0);
		assert_near(f->next_bytes, memory + SQUARE_SAMPLE_BYTES, 0);
		sl_fit_free(f);
		f = fit(graph, memory + SQUARE_SAMPLE_BYTES - 1,
			SL_OPTIMIZER_NONE);
		assert_int_equal(f->largest, n);
		sl_fit_free(f);
	}
	sl_graph_free(graph);
}

static void
test_nothing_fits(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_fit *f = fit(graph, SQUARE_WEIGHT_BYTES, SL_OPTIMIZER_NONE);

	(void)state;
	assert_int_equal(f->largest, 0);
	assert_near(f->total_bytes, SQUARE_WEIGHT_BYTES + SQUARE_SAMPLE_BYTES,
		    0);
	sl_fit_free(f);
	sl_graph_free(graph);
}

/* Weights four times with Adam: themselves, gradients, two moments. */
static void
test_training(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_fit *f = fit(graph, 1e9, SL_OPTIMIZER_ADAM);

	(void)state;
	assert_near(f->parameters_bytes, SQUARE_WEIGHT_BYTES, 0);
	assert_near(f->gradients_bytes, SQUARE_WEIGHT_BYTES, 0);
	assert_near(f->optimizer_bytes, 2.0 * SQUARE_WEIGHT_BYTES, 0);
	assert_near(f->total_bytes,
		    f->parameters_bytes + f->gradients_bytes +
			    f->optimizer_bytes + f->activations_bytes,
		    0);
	assert_true(f->total_bytes <= 1e9 && f->next_bytes > 1e9);
	sl_fit_free(f);
	sl_graph_free(graph);
}

static void
test_refuses(void **state)
{
	struct sl_graph *graph = square_layer(4);
	struct sl_fit_options how = {.struct_size = sizeof(how)};
	struct sl_error err;
	struct sl_fit *f;

	(void)state;
	assert_int_equal(sl_fit(&f, graph, &how, &err), SL_E_USAGE);
	how.memory_bytes = 1e9;
	how.axis = "width";
	assert_int_equal(sl_fit(&f, graph, &how, &err), SL_E_USAGE);
	how.axis = NULL; /* the model fixes its batch at 4 */
	assert_int_equal(sl_fit(&f, graph, &how, &err), SL_E_DATA);
	assert_null(f);
	sl_graph_free(graph);
}

static void
test_report_says_what_json_says(void **state)
{
	struct sl_graph *graph = square_layer(0);
	struct sl_fit *f = fit(graph, 5e6, SL_OPTIMIZER_NONE);
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_JSON};
	struct sl_buf out = {0};

	(void)state;
	assert_int_equal(sl_fit_render(f, &how, &out, NULL), 0);
	assert_true(json_valid(out.data));
	assert_true(json_is(out.data, "fit.axis", "\"batch\""));
	assert_near(json_number_at(out.data, "fit.largest"), (double)f->largest,
		    0);
	sl_buf_release(&out);
	how.format = SL_FORMAT_TEXT;
	assert_int_equal(sl_fit_render(f, &how, &out, NULL), 0);
	assert_non_null(strstr(out.data, "The largest batch that fits in"));
	sl_buf_release(&out);
	sl_fit_free(f);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inference),
		cmocka_unit_test(test_nothing_fits),
		cmocka_unit_test(test_training),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_report_says_what_json_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
