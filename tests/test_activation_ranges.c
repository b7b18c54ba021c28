/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_activation_ranges.c - ranges that calibration chooses are those of known
 * numbers, and int8 variants of models say what they were calibrated on.
 */
#include "experiment/activation_ranges.h"
#include "harness.h"
#include "sleuth.h"

enum { N = 1000 };

static void
rules(void **state)
{
	const struct sl__value_range seen = {-10, 90};
	struct sl__value_range r;
	uint64_t bins[N];

	(void)state;
	/* 10,000 numbers from 0 to 10, one at each end. */
	memset(bins, 0, sizeof(bins));
	for (size_t i = 100; i < 200; i++)
		bins[i] = 100;
	bins[0] = bins[N - 1] = 1;
	r = sl__calibration_choose(SL_CALIBRATION_MIN_MAX, seen, bins, N);
	assert_true(r.low <= -10 && r.high >= 90);
	/* One in 10,000 goes: the lower end, which comes first. */
	r = sl__calibration_choose(SL_CALIBRATION_PERCENTILE, seen, bins, N);
	assert_true(r.low >= 0 && r.low <= 0 && r.high >= 90);
	bins[150] += 10000;
	r = sl__calibration_choose(SL_CALIBRATION_PERCENTILE, seen, bins, N);
	assert_true(r.low >= 0 && r.low <= 0);
	assert_true(r.high > 9.99 && r.high < 10.01);
	/* The far numbers cost more than coarse steps cost the others, but where
	 * these are many. */
	r = sl__calibration_choose(SL_CALIBRATION_MSE, seen, bins, N);
	assert_true(r.high > 80);
	for (size_t i = 100; i < 200; i++)
		bins[i] = 100000000;
	r = sl__calibration_choose(SL_CALIBRATION_MSE, seen, bins, N);
	assert_true(r.high < 80 && r.high > 9);
}

/* Sample i is all i: training samples 0 to n - 1. */
static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	(void)ctx;
	(void)split;
	(void)err;
	for (int i = 0; i < 4; i++)
		((float *)inputs[0])[i] = (float)index;
	labels[0] = 0;
	return SL_OK;
}

static struct sl_dataset *
samples(size_t n)
{
	static const int64_t four = 4;
	static const struct sl_data_input input = {"", SL_DTYPE_F32, 1, &four};
	struct sl_data_source source = SL_DATA_SOURCE_INIT;
	struct sl_dataset *data;

	source.name = "numbers";
	source.inputs = &input;
	source.n_inputs = source.n_labels = 1;
	source.n_classes = 2;
	source.n_samples[SL_SPLIT_TRAIN] = n;
	source.fill = fill;
	assert_int_equal(sl_dataset_new(&data, &source, NULL, NULL), SL_OK);
	return data;
}

static void
ranges_of_samples(void **state)
{
	struct sl_graph *graph;
	struct sl_dataset *data = samples(20);
	struct sl_plan_options plan = SL_PLAN_OPTIONS_INIT;
	struct sl_variant_options how = SL_VARIANT_OPTIONS_INIT;
	struct sl__activation_ranges_options what = {.plan = &plan,
						     .how = &how};
	struct sl__value_range ranges[64] = {{0, 0}};
	unsigned char is_wanted[64] = {0};
	size_t n, input;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3-2", NULL, NULL), SL_OK);
	assert_true(sl_graph_n_values(graph) <= 64);
	input = sl_graph_input(graph, 0);
	is_wanted[input] = 1;
	what.graph = graph;
	what.is_wanted = is_wanted;
	how.data = data;
	how.n_samples = 10;
	/* Every second one: 0, 2, ... 18. */
	assert_int_equal(sl__activation_ranges_measure(ranges, &n, &what, NULL),
			 SL_OK);
	assert_int_equal(n, 10);
	assert_true(ranges[input].low >= 0 && ranges[input].low <= 0);
	assert_true(ranges[input].high >= 18 && ranges[input].high <= 18);
	sl_dataset_close(data);
	sl_graph_free(graph);
}

static void
variants(void **state)
{
	const char *const kept[] = {"linear"}, *const unknown[] = {"lunar"};
	struct sl_variant_options how = SL_VARIANT_OPTIONS_INIT;
	struct sl_dataset *few = samples(7), *enough = samples(8);
	struct sl_graph *graph;
	struct sl_variant *v;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3-2", NULL, NULL), SL_OK);
	how.data = few;
	assert_int_equal(sl_variant_new(&v, graph, "int8", &how, &err),
			 SL_E_DATA);
	assert_string_equal(err.text, "7 samples cannot calibrate: at least 8 "
				      "are needed");
	how.data = enough;
	how.calibration = SL_CALIBRATION_MSE;
	assert_int_equal(sl_variant_new(&v, graph, "int8", &how, &err), SL_OK);
	assert_non_null(strstr(v->changes[0].text, "by mse on 8 samples"));
	assert_int_equal(v->changes[0].n_layers, 2);
	sl_variant_free(v);
	how.data = NULL;
	how.keep = kept;
	how.n_keep = 1;
	assert_int_equal(sl_variant_new(&v, graph, "int8", &how, &err), SL_OK);
	assert_non_null(strstr(v->changes[0].text, "synthetic inputs"));
	assert_int_equal(v->changes[0].n_layers, 1);
	sl_variant_free(v);
	how.keep = unknown;
	assert_int_equal(sl_variant_new(&v, graph, "int8", &how, &err),
			 SL_E_USAGE);
	sl_dataset_close(few);
	sl_dataset_close(enough);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),
		cmocka_unit_test(ranges_of_samples),
		cmocka_unit_test(variants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
