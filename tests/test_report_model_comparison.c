/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_model_comparison.c - a comparison of models made by hand keeps
 * its figures in every format, and says what is absent.
 */
#include "harness.h"
#include "reads_back.h"
#include "json_check.h"
#include "planted.h"

static struct sl_model_arm_result sides[2];
static struct sl_compared_layer layers[4];
static const size_t order[4] = {1, 3, 2, 0};
static struct sl_arm_comparison pair;

static const struct sl_estimate none = {
	.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};

static void
plant_layers(void)
{
	layers[0] = (struct sl_compared_layer){
		.name = "conv1",
		.type = "Conv",
		.n_a = 1,
		.n_b = 1,
		.a_kernel = "jit",
		.b_kernel = "jit",
		.a_ns = 2e6,
		.b_ns = 2.01e6,
		.ratio = planted_estimate(1.005, .99, 1.02),
		.log_e = -1,
		.is_tested = 1,
		.change_ns = none};
	layers[1] = (struct sl_compared_layer){
		.name = "conv2",
		.type = "Conv",
		.n_a = 1,
		.n_b = 3,
		.a_kernel = "jit",
		.b_kernel = "ref",
		.a_ns = 3e6,
		.b_ns = 1e6,
		.ratio = planted_estimate(.333, .32, .34),
		.log_e = 30,
		.is_tested = 1,
		.is_named = 1,
		.change_ns = none};
	layers[2] = (struct sl_compared_layer){.name = "old",
					       .type = "Relu",
					       .n_a = 1,
					       .a_kernel = "eltwise",
					       .a_ns = 5e5,
					       .b_ns = (double)NAN,
					       .ratio = none,
					       .log_e = (double)NAN};
	layers[3] = (struct sl_compared_layer){.name = "new",
					       .type = "Gelu",
					       .n_b = 1,
					       .b_kernel = "eltwise",
					       .a_ns = (double)NAN,
					       .b_ns = 7e5,
					       .ratio = none,
					       .log_e = (double)NAN};
}

static struct sl_model_comparison
planted_models(enum sl_verdict verdict)
{
	struct sl_comparison c = {
		.a = "old.onnx",
		.b = "new.onnx, 1 thread",
		.ratio = planted_estimate(.512, .508, .517),
		.speedup = 1 / .512,
		.cpu_ratio = planted_estimate(.9, .8, 1.0),
		.memory_ratio = {.value = 2},
		.verdict = verdict,
		.gate = verdict == SL_VERDICT_SLOWER ? SL_GATE_REGRESSED
						     : SL_GATE_OK,
		.margin = .01,
		.n_rounds = 60,
		.n_left_out = 3,
		.log_e = 20,
		.minimum_detectable = .02,
		.decided_after_s = verdict ? 1.2 : (double)NAN,
	};

	plant_layers();
	for (int i = 0; i < 2; i++)
		sides[i] = (struct sl_model_arm_result){
			.name = i ? c.b : c.a,
			.model = "net",
			.source = "file",
			.dtype = SL_DTYPE_F32,
			.n_threads = i ? 1 : 2,
			.batch = 1,
			.n_steps = 3,
			.wall_ns = planted_estimate(i ? 4e6 : 8e6, 3e6, 9e6),
			.cpu_ns = planted_estimate(5e6, 4e6, 6e6),
			.memory_bytes = i ? 1000000 : 2000000,
			.nominal_flops = i ? 500000000 : 1000000000,
			.executed_flops = i ? 500000000 : 1000000000,
		};
	pair = (struct sl_arm_comparison){
		.comparison = c,
		.wall_verdict = verdict,
		.cpu = c,
		.layers_ratio = none,
		.log_e = 19,
		.log_e_of = {20, (double)NAN, (double)NAN},
		.absent = {NULL, "threads", "names"},
		.layers = layers,
		.n_layers = 4,
		.by_change = order,
		.n_named = 1,
		.n_only_a = 1,
		.n_only_b = 1,
		.only_a_ns = 5e5,
		.only_b_ns = 7e5,
	};
	return (struct sl_model_comparison){.sides = sides,
					    .n = 2,
					    .pairs = &pair,
					    .n_pairs = 1,
					    .iterations_per_slot = 1,
					    .n_placements = 6,
					    .placements_enough = 6,
					    .placement_reach = .1,
					    .noise = planted_noise(),
					    .elapsed_s = 2,
					    .stopped_by = SL_STOP_VERDICT,
					    .seed = 7};
}

static void
render(struct sl_buf *out, enum sl_format format, enum sl_verdict verdict)
{
	struct sl_model_comparison v = planted_models(verdict);
	struct sl_render_options how = {
		.struct_size = sizeof(how), .format = format, .n_columns = 200};

	memset(out, 0, sizeof(*out));
	assert_int_equal(sl_model_comparison_render(&v, &how, out, NULL),
			 SL_OK);
	if (format == SL_FORMAT_JSON)
		assert_reads_back(out);
}

static int
has(const struct sl_buf *out, const char *text)
{
	return strstr(out->data, text) != NULL;
}

static void
the_verdict_stands_first(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_TEXT, SL_VERDICT_FASTER);
	assert_true(has(&out,
			"B is faster: 0.512 × A's time, 95 % [0.508, 0.517] "
			"(1.95 × as fast); decided by wall time after 1.2 s"));
	assert_true(has(&out, "60 rounds, 3 disturbed rounds excluded"));
	assert_true(has(&out, "A 1.00 GFLOP, B 500 MFLOP per iteration"));
	assert_true(has(&out, "; B/A 0.5\n"));
	assert_true(has(&out, "Layers that differ"));
	assert_true(has(&out, "1 of 2"));
	assert_true(has(&out, "conv2"));
	assert_false(has(&out, "conv1"));
	assert_true(has(&out, "1:3"));
	assert_true(has(&out, "only in A"));
	assert_true(has(&out, "old 500.0"));
	assert_true(has(&out, "new 700.0"));
	assert_true(has(&out, "6 memory layouts of the buffers sampled"));
	assert_false(has(&out, "too few"));
	sl_buf_release(&out);
}

static const char *
line_with(struct sl_buf *out, const char *key)
{
	char *at = strstr(out->data, key);

	if (!at)
		fail_msg("no '%s'", key);
	at[strcspn(at, "\n")] = '\0';
	return at;
}

/* Where CPU time has no say, the page has its figures and no verdict. */
static void
a_series_without_a_say_says_why(void **state)
{
	struct sl_buf out;
	const char *line;

	(void)state;
	render(&out, SL_FORMAT_TEXT, SL_VERDICT_SLOWER);
	line = line_with(&out, "CPU ");
	assert_non_null(strstr(line, " ms, B "));
	assert_non_null(strstr(line, "  threads"));
	assert_null(strstr(line, "slower"));
	sl_buf_release(&out);
}

static void
few_placements_are_told_with_their_reach(void **state)
{
	struct sl_model_comparison v = planted_models(SL_VERDICT_FASTER);
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_TEXT,
					.n_columns = 200};
	struct sl_buf out = {0};

	(void)state;
	v.placements_enough = 9;
	v.placement_reach = .25;
	v.renewal_absent = "of this";
	assert_int_equal(sl_model_comparison_render(&v, &how, &out, NULL),
			 SL_OK);
	assert_true(has(&out, "6 memory layouts of the buffers sampled, too "
			      "few: ignore layer differences below 25 %; no "
			      "more, because of this"));
	sl_buf_release(&out);
	how.format = SL_FORMAT_JSON;
	assert_int_equal(sl_model_comparison_render(&v, &how, &out, NULL),
			 SL_OK);
	assert_true(json_is(out.data, "placements_ended_by", "\"of this\""));
	sl_buf_release(&out);
}

static void
what_is_open_is_said_to_be(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_TEXT, SL_VERDICT_UNDECIDED);
	assert_true(has(&out, "Undecided, but not slower"));
	assert_true(has(&out, "after 2 s"));
	assert_false(has(&out, "decided by"));
	sl_buf_release(&out);
	render(&out, SL_FORMAT_TEXT, SL_VERDICT_SAME);
	assert_true(has(&out, "B is the same within 1 %"));
	sl_buf_release(&out);
}

static void
json_has_every_figure(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_JSON, SL_VERDICT_FASTER);
	assert_true(json_is(out.data, "command", "\"compare\""));
	assert_true(json_is(out.data, "models[1].threads", "1"));
	assert_true(json_is(out.data, "models[0].median_ms", "8"));
	assert_true(
		json_is(out.data, "models[0].memory.total_bytes", "2000000"));
	assert_true(json_is(out.data, "per_sample", "false"));
	assert_true(json_is(out.data, "comparison.ratio", "0.512"));
	assert_true(json_is(out.data, "comparison.memory_ratio", "2"));
	assert_true(json_is(out.data, "comparison.verdict", "\"faster\""));
	assert_true(json_is(out.data, "comparison.decided_after_ms", "1200"));
	assert_true(json_is(out.data, "evidence.log_e", "19"));
	assert_true(json_is(out.data, "evidence.wall_log_e", "20"));
	assert_true(json_is(out.data, "evidence.cpu_log_e", "null"));
	assert_true(
		json_is(out.data, "evidence.cpu_log_e_absent", "\"threads\""));
	assert_true(json_is(out.data, "evidence.wall_verdict", "\"faster\""));
	assert_true(json_is(out.data, "evidence.cpu_verdict", "null"));
	assert_true(json_is(out.data, "evidence.cpu_verdict_absent",
			    "\"threads\""));
	assert_true(json_is(out.data, "evidence.layers_ratio", "null"));
	assert_true(json_is(out.data, "evidence.decided_by", "\"wall time\""));
	assert_true(json_is(out.data, "layers[1].named", "true"));
	assert_true(json_is(out.data, "layers[1].steps_b", "3"));
	assert_true(json_is(out.data, "layers[1].ratio", "0.333"));
	assert_true(json_is(out.data, "layers[2].b_ms", "null"));
	assert_true(json_is(out.data, "layers[2].ratio_absent",
			    "\"only on one side\""));
	assert_true(json_is(out.data, "layers[3].a_ms", "null"));
	assert_true(json_is(out.data, "layers[3].kernel_b", "\"eltwise\""));
	assert_true(json_is(out.data, "placements", "6"));
	assert_true(json_is(out.data, "placements_ended_by", "null"));
	assert_true(json_is(out.data, "seed", "7"));
	sl_buf_release(&out);
}

static void
csv_has_a_line_for_each_layer(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_CSV, SL_VERDICT_FASTER);
	assert_true(has(&out, "\nold.onnx,\"new.onnx, 1 thread\",conv2,Conv,3,"
			      "1,0.333,0.32,0.34,1\n"));
	assert_true(has(&out, "old,Relu,0.5,,,,,0\n"));
	sl_buf_release(&out);
}

static void
other_formats_are_refused(void **state)
{
	struct sl_model_comparison v = planted_models(SL_VERDICT_FASTER);
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_HYPERFINE};
	struct sl_buf out = {0};

	(void)state;
	assert_int_equal(sl_model_comparison_render(&v, &how, &out, NULL),
			 SL_E_USAGE);
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_stands_first),
		cmocka_unit_test(a_series_without_a_say_says_why),
		cmocka_unit_test(few_placements_are_told_with_their_reach),
		cmocka_unit_test(what_is_open_is_said_to_be),
		cmocka_unit_test(json_has_every_figure),
		cmocka_unit_test(csv_has_a_line_for_each_layer),
		cmocka_unit_test(other_formats_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
