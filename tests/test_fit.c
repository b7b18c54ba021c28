/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest batch that fits by the graph, against closed forms: a square
 * product needs its weights and, for each sample, its input and output.  What
 * the engine's plan says is in test_fit_plan.c.
 */
#include "counting.h"
#include "json_check.h"
#include "square_layer.h"

static struct sl_fit *
fit(const struct sl_graph *graph, double memory_bytes,
    enum sl_optimizer optimizer)
{
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = memory_bytes,
				     .optimizer = optimizer,
				     .graph_only = 1};
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
		assert_int_equal(f->graph_largest, n);
		assert_false(f->is_planned);
		assert_string_equal(f->unplanned, "only the graph was asked");
		assert_near(f->total_bytes, memory, 0);
		assert_near(f->graph_bytes, memory, 0);
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
	/* In the backward pass the kept input and the gradient of the output
	 * take what a sample takes in inference. */
	assert_int_equal(f->phase, SL_PHASE_BACKWARD);
	assert_int_equal(f->largest, (1000000000 - 4 * SQUARE_WEIGHT_BYTES) /
					     SQUARE_SAMPLE_BYTES);
	assert_near(f->activations_bytes,
		    (double)f->largest * SQUARE_SAMPLE_BYTES, 0);
	assert_near(f->total_bytes,
		    4.0 * SQUARE_WEIGHT_BYTES + f->activations_bytes, 0);
	assert_near(f->next_bytes, f->total_bytes + SQUARE_SAMPLE_BYTES, 0);
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
	how.axis = "seq"; /* there is none */
	assert_int_equal(sl_fit(&f, graph, &how, &err), SL_E_DATA);
	assert_null(f);
	sl_graph_free(graph);
}

/* A model that fixes its batch at 1 or 4 fits or not. */
static void
test_fixed_batch(void **state)
{
	(void)state;
	for (int64_t batch = 1; batch <= 4; batch += 3) {
		struct sl_graph *graph = square_layer(batch);
		double needs = SQUARE_WEIGHT_BYTES +
			       (double)batch * SQUARE_SAMPLE_BYTES;
		struct sl_fit *f = fit(graph, needs, SL_OPTIMIZER_NONE);

		assert_int_equal(f->fixed_at, batch);
		assert_int_equal(f->largest, batch);
		assert_near(f->total_bytes, needs, 0);
		assert_non_null(f->limit);
		sl_fit_free(f);
		f = fit(graph, needs - 1, SL_OPTIMIZER_NONE);
		assert_int_equal(f->fixed_at, batch);
		assert_int_equal(f->largest, 0);
		assert_near(f->total_bytes, needs, 0);
		sl_fit_free(f);
		sl_graph_free(graph);
	}
}

/* While the update of the weights needs most, memory does not grow with the
 * batch at first: that is no end.  Here weights are 4 MiB, a sample 8 KiB. */
static void
test_grows_late(void **state)
{
	struct sl_graph *graph = square_layer(0);
	double update = 4.0 * SQUARE_WEIGHT_BYTES;
	struct sl_fit *f = fit(graph, update + 10 * SQUARE_SAMPLE_BYTES,
			       SL_OPTIMIZER_ADAM);

	(void)state;
	assert_false(f->is_unbounded);
	assert_int_equal(f->largest, 10);
	sl_fit_free(f);
	/* Beyond all sizes looked at: not a claim about memory. */
	f = fit(graph, 1e18, SL_OPTIMIZER_NONE);
	assert_true(f->is_cut);
	assert_false(f->is_unbounded);
	sl_fit_free(f);
	sl_graph_free(graph);
}

/* GPT-2 has 1024 positions, however much memory there is. */
static void
test_the_model_takes_no_more(void **state)
{
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = 1e12,
				     .axis = "seq",
				     .graph_only = 1};
	struct sl_graph *graph;
	struct sl_error err = {0};
	struct sl_fit *f = NULL;

	(void)state;
	if (sl_graph_open(&graph, "gpt2", NULL, &err) ||
	    sl_fit(&f, graph, &how, &err))
		fail_msg("%s", err.text);
	assert_int_equal(f->largest, 1024);
	assert_non_null(f->limit);
	assert_true(isnan(f->next_bytes));
	sl_fit_free(f);
	sl_graph_free(graph);
}

static void
test_survives_every_failed_allocation(void **state)
{
	struct sl_graph *graph = square_layer(4);
	enum sl_status rc = SL_E_NOMEM;

	(void)state;
	for (int i = 1; rc; i++) {
		struct counting c = {.fail_at = i};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_fit_options how = {.struct_size = sizeof(how),
					     .memory_bytes = 1e9,
					     .allocator = &allocator,
					     .graph_only = 1};
		struct sl_fit *f;

		rc = sl_fit(&f, graph, &how, NULL);
		assert_true(c.n_requests > 0);
		assert_int_equal(rc, c.n_requests < i ? SL_OK : SL_E_NOMEM);
		sl_fit_free(f);
		assert_int_equal(c.n_out, 0);
		assert_true(i < 10000);
	}
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
	assert_true(json_is(out.data, "fit.fixed", "false"));
	assert_true(json_is(out.data, "fit.fits", "true"));
	assert_true(json_is(out.data, "fit.activations_basis", "\"counted\""));
	assert_true(json_is(out.data, "fit.predicted_from", "\"graph\""));
	assert_true(json_is(out.data, "fit.plans", "0"));
	assert_true(json_is(out.data, "fit.phase", "null"));
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
		cmocka_unit_test(test_fixed_batch),
		cmocka_unit_test(test_grows_late),
		cmocka_unit_test(test_the_model_takes_no_more),
		cmocka_unit_test(test_survives_every_failed_allocation),
		cmocka_unit_test(test_report_says_what_json_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
