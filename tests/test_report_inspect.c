/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_inspect.c - every format of a report on models is well formed,
 * holds the figures it was given in full precision, lists every layer, shows
 * what is unknown as unknown, adds up where it leaves rows out, and a model
 * with nothing in it is no crash.
 */
#include "reads_back.h"
#include "json_check.h"
#include "recorded_inspection.h"

static struct sl_buf
render_many(const struct sl_inspection *const *models, size_t n,
	    const struct sl_inspect_view *view,
	    const struct sl_render_options *how)
{
	struct sl_buf out = {0};
	struct sl_error err;

	assert_int_equal(sl_inspection_render(models, n, view, how, &out, &err),
			 SL_OK);
	if (how && how->format == SL_FORMAT_JSON)
		assert_reads_back(&out);
	assert_non_null(out.data);
	return out;
}

static struct sl_buf
render(const struct sl_inspection *i, const struct sl_inspect_view *view,
       enum sl_format format, int verbose)
{
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = format,
					.verbose = verbose};

	return render_many(&i, 1, view, &how);
}

static void
assert_has(const struct sl_buf *out, const char *part)
{
	if (strstr(out->data, part))
		return;
	print_error("no \"%s\" in:\n%s\n", part, out->data);
	fail();
}

static void
assert_has_not(const struct sl_buf *out, const char *part)
{
	if (!strstr(out->data, part))
		return;
	print_error("\"%s\" in:\n%s\n", part, out->data);
	fail();
}

static size_t
count_of(const struct sl_buf *out, const char *part)
{
	size_t n = 0;

	for (const char *at = out->data; (at = strstr(at, part)); at++)
		n++;
	return n;
}

static void
json_has_the_names_of_the_contract(void **state)
{
	static const char *const names[] = {
		"model.name",
		"model.source",
		"model.opset",
		"model.nodes",
		"model.parameters.trainable",
		"model.parameters.statistics",
		"model.parameters.constants",
		"model.parameters.tied",
		"cost.batch",
		"cost.macs",
		"cost.flops",
		"cost.flops_per_sample",
		"cost.bytes",
		"cost.conventions.core",
		"cost.conventions.torch",
		"cost.conventions.fvcore",
		"cost.conventions.thop",
		"cost.conventions.all",
		"cost.coverage.counted.nodes",
		"cost.coverage.estimated.share_nodes",
		"cost.coverage.unknown.share_bytes",
		"memory.parameters_bytes",
		"memory.activations_bytes",
		"memory.live_bytes",
		"memory.resident_peak_bytes_absent",
		"memory.efficiency_absent",
		"operations[0].name",
		"operations[0].type",
		"operations[0].role_absent",
		"operations[0].phase",
		"operations[0].covers",
		"operations[0].parameters",
		"operations[0].output_shape",
		"operations[0].memory_bytes",
		"operations[0].share",
		"operations[0].flops",
		"operations[0].bytes",
		"operations[0].intensity",
		"training.forward_flops",
		"training.backward_flops",
		"training.total_flops",
		"training.backward_to_forward",
		"training.phases[0].name",
		"training.optimizer_bytes.sgd",
		"training.optimizer_bytes.adam",
	};
	struct sl_inspection i = recorded_inspection();
	struct sl_buf out = render(&i, NULL, SL_FORMAT_JSON, 0);

	(void)state;
	assert_true(json_valid(out.data));
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		if (!json_has(out.data, names[k])) {
			print_error("no %s\n", names[k]);
			fail();
		}
	}
	assert_false(json_has(out.data, "latency"));
	assert_false(json_has(out.data, "ledger"));
	sl_buf_release(&out);
}

static void
json_holds_the_figures_and_the_absences(void **state)
{
	struct sl_inspection i = recorded_inspection();
	struct sl_buf out;
	const char *t;

	(void)state;
	/* More digits than a double holds. */
	i.parameters.trainable = UINT64_C(9007199254740993);
	out = render(&i, NULL, SL_FORMAT_JSON, 0);
	t = out.data;
	assert_true(json_is(t, "command", "\"inspect\""));
	assert_true(
		json_is(t, "model.parameters.trainable", "9007199254740993"));
	assert_true(json_is(t, "cost.macs", "442528"));
	assert_true(json_is(t, "cost.coverage.counted.nodes", "3"));
	assert_near(json_number_at(t, "cost.coverage.unknown.share_nodes"),
		    0.25, 0);
	assert_true(json_is(t, "cost.coverage.reasons[0]",
			    "\"Squash (org.example): no rule for "
			    "org.example\""));
	assert_true(json_is(t, "operations[0].flops", "884736"));
	assert_true(json_is(t, "operations[2].flops", "null"));
	assert_true(json_is(t, "operations[2].flops_absent",
			    "\"no rule for org.example\""));
	assert_true(json_is(t, "operations[2].bytes", "65600"));
	assert_true(json_is(t, "memory.kv_bytes", "null"));
	assert_true(json_is(t, "memory.kv_bytes_absent", "\"no attention\""));
	assert_true(json_is(t, "growth[3].exponent", "null"));
	assert_true(json_is(t, "growth[3].exponent_absent",
			    "\"no such dimension\""));
	assert_true(json_is(t, "explanations[0].items[1].macs", "-1000"));
	assert_true(json_is(t, "weights[1].mean", "null"));
	assert_true(json_is(t, "weights[0].histogram[4]", "16"));
	assert_true(json_is(t, "tensors[1].tied_to", "\"features.0.weight\""));
	sl_buf_release(&out);
}

/* The layers of the document add up to its totals. */
static void
json_adds_up(void **state)
{
	struct sl_inspection i = recorded_inspection();
	struct sl_buf out = render(&i, NULL, SL_FORMAT_JSON, 0);
	double flops = 0, bytes = 0, parameters = 0;

	(void)state;
	for (size_t k = 0; k < i.n_layers; k++) {
		char path[64];

		snprintf(path, sizeof(path), "operations[%zu].bytes", k);
		bytes += json_number_at(out.data, path);
		snprintf(path, sizeof(path), "operations[%zu].parameters", k);
		parameters += json_number_at(out.data, path);
		snprintf(path, sizeof(path), "operations[%zu].flops_absent", k);
		if (json_has(out.data, path))
			continue;
		snprintf(path, sizeof(path), "operations[%zu].flops", k);
		flops += json_number_at(out.data, path);
	}
	assert_near(flops, json_number_at(out.data, "cost.flops"), 0);
	assert_near(bytes, json_number_at(out.data, "cost.bytes"), 0);
	assert_near(parameters,
		    json_number_at(out.data, "model.parameters.trainable"), 0);
	sl_buf_release(&out);
}

static void
the_page_shows_exact_counts_and_what_is_unknown(void **state)
{
	struct sl_inspection i = recorded_inspection();
	struct sl_buf out = render(&i, NULL, SL_FORMAT_TEXT, 0);

	(void)state;
	assert_has(&out, "folder/tiny.onnx  opset 17, 4 nodes");
	assert_has(&out, "634 trainable + 32 statistics + 1 constant ");
	assert_has(&out, "at least 885 kFLOPs (as torch: 885,056) = 2 × "
			 "442,528 MACs");
	assert_has(&out, "as fvcore counts 474,296");
	assert_has_not(&out, "core_causal"); /* the same as core */
	assert_has(&out, "3 nodes counted, 1 unknown");
	assert_has(&out, "Squash (org.example): no rule");
	assert_has(&out, "4.40 kB + largest live set 131 kB");
	assert_has(&out, "adam, adamw");
	assert_has(&out, "885 k n");
	assert_has(&out, "n^1.34");
	assert_has(&out, "n²");
	assert_has(&out, "memory with seq: no such dimension");
	assert_has(&out, "+32,768");
	assert_has(&out, "−1,000");
	assert_has(&out, "3 NaN or infinite");
	assert_has(&out, "int4 is not read");
	sl_buf_release(&out);
}

/* Rows that are left out are summed up, so that a table adds up. */
static void
a_short_table_says_what_it_leaves_out(void **state)
{
	const struct sl_inspect_view top = {.struct_size = sizeof(top),
					    .n_top = 1};
	struct sl_inspection i = recorded_inspection();
	struct sl_render_options how = {.struct_size = sizeof(how),
					.n_columns = 160};
	const struct sl_inspection *one = &i;
	struct sl_buf out = render_many(&one, 1, &top, &how);

	(void)state;
	assert_has(&out, "most FLOPs first");
	assert_has(&out, "3 others");
	assert_has(&out, "202");    /* 32 + 0 + 170 parameters */
	assert_has(&out, "320 ");   /* 2 x 160 FLOPs */
	assert_has(&out, "198 kB"); /* 131,328 + 65,600 + 784 bytes */
	assert_has_not(&out, "classifier.fc");
	sl_buf_release(&out);
}

static void
layers_are_grouped_as_asked(void **state)
{
	struct sl_inspect_view view = {.struct_size = sizeof(view),
				       .by = SL_BY_TYPE};
	struct sl_inspection i = recorded_inspection();
	struct sl_buf out = render(&i, &view, SL_FORMAT_TEXT, 0);

	(void)state;
	assert_has(&out, "Types of layer");
	assert_has(&out, "BatchNormalization  ");
	sl_buf_release(&out);

	/* features.a and features.b are one module of depth 1. */
	view.by = SL_BY_PATH;
	out = render(&i, &view, SL_FORMAT_TEXT, 0);
	assert_has(&out, "Modules to depth 1");
	assert_has(&out, "features         2         464");
	sl_buf_release(&out);
	view.depth = 2;
	out = render(&i, &view, SL_FORMAT_TEXT, 0);
	assert_has(&out, "features.a");
	assert_has(&out, "features.b");
	sl_buf_release(&out);
}

static void
csv_has_one_line_a_layer(void **state)
{
	struct sl_inspection i = recorded_inspection();
	const struct sl_inspection *both[] = {&i, &i};
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_CSV};
	struct sl_buf out = render_many(both, 2, NULL, &how);

	(void)state;
	assert_int_equal(count_of(&out, "\n"), 1 + 2 * 4);
	assert_has(&out,
		   "folder/tiny.onnx,\"odd, \"\"one\"\"\",Squash,org.example,");
	assert_has(&out, ",unknown,1,f32,1x16,0,,,,65600,0,65536,64,64,,\n");
	assert_has(&out, ",432,442368,884736,884736,79552,1728,12288,65536,");
	sl_buf_release(&out);
}

static void
several_models_stand_side_by_side(void **state)
{
	struct sl_inspection a = recorded_inspection(), b = a;
	const struct sl_inspection *both[] = {&a, &b};
	struct sl_render_options how = {.struct_size = sizeof(how),
					.n_columns = 160};
	struct sl_buf out;

	(void)state;
	b.name = "other";
	b.source = "zoo";
	b.parameters.trainable = 0;
	out = render_many(both, 2, NULL, &how);
	assert_has(&out, "2 models");
	assert_has(&out, "n^1.34");
	/* 442,528 MACs / 634 parameters */
	assert_has(&out, "each parameter is used 698 times per sample");
	assert_has(&out, "other: 100.0 % Conv; holds no parameters");
	sl_buf_release(&out);
	how.format = SL_FORMAT_JSON;
	out = render_many(both, 2, NULL, &how);
	assert_true(json_valid(out.data));
	assert_true(json_is(out.data, "results[1].model.name", "\"other\""));
	assert_false(json_has(out.data, "model"));
	sl_buf_release(&out);
}

static void
narrow_plain_and_empty_pages_hold(void **state)
{
	struct sl_inspection full = recorded_inspection();
	struct sl_inspection empty = {.name = "",
				      .inputs = "",
				      .outputs = "",
				      .sizes = "",
				      .intensity = (double)NAN,
				      .memory.kv_bytes.absent = "no attention",
				      .memory.kv_bytes_per_token.absent = "no"};
	const struct sl_inspection *models[] = {&full, &empty};

	(void)state;
	for (size_t width = 20; width <= 120; width += 20) {
		for (int format = SL_FORMAT_TEXT; format <= SL_FORMAT_MARKDOWN;
		     format++) {
			struct sl_render_options how = {
				.struct_size = sizeof(how),
				.format = (enum sl_format)format,
				.n_columns = width,
				.ascii = 1,
				.verbose = width > 60};
			struct sl_buf out = render_many(models, 2, NULL, &how);

			sl_buf_release(&out);
			out = render_many(models + 1, 1, NULL, &how);
			sl_buf_release(&out);
			out = render_many(models, 1, NULL, &how);
			for (size_t k = 0;
			     format == SL_FORMAT_TEXT && k < out.n_bytes; k++)
				assert_in_range(out.data[k], 1, 126);
			sl_buf_release(&out);
		}
	}
}

static void
wrong_use_is_refused(void **state)
{
	struct sl_inspection i = recorded_inspection();
	const struct sl_inspection *one = &i;
	struct sl_inspect_view view = {.struct_size = 1};
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_HYPERFINE};
	struct sl_buf out = {0};
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_inspection_render(&one, 1, &view, NULL, &out, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_inspection_render(&one, 0, NULL, NULL, &out, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_inspection_render(&one, 1, NULL, &how, &out, &err),
			 SL_E_USAGE);
	assert_string_equal(err.text, "an inspection has no such format");
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_the_names_of_the_contract),
		cmocka_unit_test(json_holds_the_figures_and_the_absences),
		cmocka_unit_test(json_adds_up),
		cmocka_unit_test(
			the_page_shows_exact_counts_and_what_is_unknown),
		cmocka_unit_test(a_short_table_says_what_it_leaves_out),
		cmocka_unit_test(layers_are_grouped_as_asked),
		cmocka_unit_test(csv_has_one_line_a_layer),
		cmocka_unit_test(several_models_stand_side_by_side),
		cmocka_unit_test(narrow_plain_and_empty_pages_hold),
		cmocka_unit_test(wrong_use_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
