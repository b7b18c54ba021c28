/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_onnx_remarks.c - what is odd about a file but no reason to refuse it is
 * told in the log: operator sets that are missing, doubled or newer than the
 * table.  And names that cannot be told apart are refused.
 */
#include "onnx_bytes.h"
#include "model/onnx_read.h"

static void
take_line(const char *text, void *ctx)
{
	snprintf(ctx, 256, "%s", text);
}

/* A model of one Relu that imports these versions of ai.onnx; 0: none. */
static struct bytes
relu_model(int64_t first, int64_t second)
{
	struct bytes graph = {0}, model = {0}, set = {0};

	put_info(&graph, 11, "x", "2");
	put_node(&graph, "Relu", "", "x", "y");
	put_info(&graph, 12, "y", NULL);
	put_int(&model, 1, 8);
	put_message(&model, 7, &graph);
	if (first) {
		put_int(&set, 2, first);
		put_message(&model, 8, &set);
	}
	if (second) {
		put_text(&set, 1, "ai.onnx"); /* the same domain */
		put_int(&set, 2, second);
		put_message(&model, 8, &set);
	}
	return model;
}

static void
test_operator_sets(void **state)
{
	static const struct {
		int64_t first, second;
		int version;
		const char *says;
	} cases[] = {
		{17, 0, 17, ""},
		{17, 17, 17, ""},
		{0, 0, 1, "imports no operator set; version 1 is taken"},
		{13, 17, 17, "imported in two versions; the newer counts"},
		{17, 13, 17, "imported in two versions; the newer counts"},
		{99, 0, 99, "operator set 99 is newer than what is known (28)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes model =
			relu_model(cases[i].first, cases[i].second);
		char line[256] = "";
		struct sl_log log = {take_line, line};
		struct sl_graph_options options = {
			.struct_size = sizeof(options), .log = &log};
		struct sl_graph *graph;

		assert_int_equal(sl__onnx_read(&graph, model.data, model.n,
					       NULL, &options, NULL),
				 SL_OK);
		assert_int_equal(graph->nodes[0].version, cases[i].version);
		if (!strstr(line, cases[i].says) || (!*cases[i].says && *line))
			fail_msg("'%s' does not say '%s'", line, cases[i].says);
		sl_graph_free(graph);
		bytes_release(&model);
	}
}

/* "x" and a NUL with more behind it would be one name. */
static void
test_names_with_a_nul_are_refused(void **state)
{
	struct bytes graph = {0}, info = {0}, model;
	struct sl_error err = {.status = SL_OK, .text = ""};
	struct sl_graph *read;

	(void)state;
	put_info(&graph, 11, "x", "2");
	put_field(&info, 1, "x\0y", 3);
	put_message(&graph, 11, &info);
	put_node(&graph, "Relu", "", "x", "y");
	put_info(&graph, 12, "y", NULL);
	model = model_of(&graph, 17);
	assert_int_equal(
		sl__onnx_read(&read, model.data, model.n, NULL, NULL, &err),
		SL_E_DATA);
	assert_non_null(strstr(err.text, "a name with a NUL in it"));
	bytes_release(&model);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operator_sets),
		cmocka_unit_test(test_names_with_a_nul_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
