/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_builder_nodes.c - any operator can be added with its attributes, and
 * the first mistake in a program that builds is the one that is told.
 */
#include "built.h"

static void
operators_take_attributes_and_give_several_results(void **state)
{
	struct sl_builder *b = new_builder();
	struct sl_graph *graph;
	int x = tokens(b, 10), sizes, parts, both[2];

	(void)state;
	sizes = sl_builder_integers(b, "sizes", 1, (int64_t[]){2},
				    (int64_t[]){3, 7});
	sl_builder_int(b, "axis", 2);
	sl_builder_outputs(b, 2);
	parts = sl_builder_op(b, "Split", 2, (int[]){x, sizes});
	assert_shape(b, parts, "batch,seq,3");
	assert_shape(b, parts + 1, "batch,seq,7");
	both[0] = parts + 1;
	both[1] = parts;
	sl_builder_int(b, "axis", -1);
	x = sl_builder_op(b, "Concat", 2, both);
	assert_shape(b, x, "batch,seq,10");
	sl_builder_float(b, "alpha", 0.25);
	x = sl_builder_op(b, "LeakyRelu", 1, &x);
	sl_builder_text(b, "approximate", "tanh");
	x = sl_builder_op(b, "Gelu", 1, &x);
	sl_builder_output(b, x, "y");
	sl_builder_output(b, x, "again");
	graph = finish(b);
	find_node(graph, "identity", "Identity");
	assert_int_equal(
		graph->nodes[find_node(graph, "leakyrelu", "LeakyRelu")]
			.n_attributes,
		1);
	sl_graph_free(graph);
}

static void
operators_of_other_domains(void **state)
{
	struct sl_builder *b = new_builder();
	struct sl_graph *graph;
	int x = tokens(b, 8), y;

	(void)state;
	sl_builder_domain(b, "com.microsoft");
	x = sl_builder_op(b, "FastGelu", 1, &x);
	assert_shape(b, x, "batch,seq,8");
	sl_builder_domain(b, "ai.onnx");
	x = sl_builder_op(b, "Relu", 1, &x);
	sl_builder_domain(b, "org.example");
	y = sl_builder_op(b, "Frobnicate", 1, &x); /* nobody knows it */
	assert_true(y >= 0);
	x = sl_builder_op(b, "Tanh", 1, &x); /* ONNX's own again */
	sl_builder_output(b, x, "z");
	sl_builder_output(b, y, "y");
	graph = finish(b);
	assert_string_equal(sl_graph_node_domain(graph, 0), "com.microsoft");
	assert_string_equal(sl_graph_node_domain(graph, 1), "");
	assert_string_equal(sl_graph_node_domain(graph, 2), "org.example");
	assert_int_equal(graph->nodes[2].version, 1);
	assert_string_equal(sl_graph_node_domain(graph, 3), "");
	assert_int_equal(graph->n_opsets, 3);
	sl_graph_free(graph);
}

static void
a_domain_lacks_an_input(struct sl_builder *b)
{
	sl_builder_domain(b, "com.microsoft");
	sl_builder_op(b, "SkipLayerNormalization", 1, (int[]){image(b)});
}

static void
unknown_operator(struct sl_builder *b)
{
	int x = image(b);

	sl_builder_op(b, "Rleu", 1, &x);
}

static void
operator_too_new(struct sl_builder *b)
{
	sl_builder_op(b, "RMSNormalization", 2, (int[]){image(b), 0});
}

static void
too_few_inputs(struct sl_builder *b)
{
	int x = image(b);

	sl_builder_op(b, "Add", 1, &x);
}

static void
an_input_left_out(struct sl_builder *b)
{
	sl_builder_op(b, "Add", 2, (int[]){image(b), -1});
}

static void
no_such_value(struct sl_builder *b)
{
	int x = 1234;

	sl_builder_op(b, "Relu", 1, &x);
}

static void
shapes_that_clash(struct sl_builder *b)
{
	int x = image(b);
	int w = sl_builder_weight(b, "w", 1, (int64_t[]){5}, 0, 1);

	sl_builder_name(b, "sum");
	sl_builder_op(b, "Add", 2, (int[]){x, w});
	sl_builder_op(b, "Rleu", 1, &x); /* the first mistake counts */
}

static void
heads_that_do_not_divide(struct sl_builder *b)
{
	sl_builder_attention(b, tokens(b, 10), 3, 0);
}

static void
linear_over_a_named_size(struct sl_builder *b)
{
	int64_t n = sl_builder_symbol(b, "n", 0);

	sl_builder_linear(b, sl_builder_input(b, "x", SL_DTYPE_F32, 1, &n), 4,
			  1);
}

static void
conv_of_three_dimensions(struct sl_builder *b)
{
	const struct sl_conv2d conv = {.out_channels = 4};

	sl_builder_conv2d(b, tokens(b, 4), &conv);
}

static void
same_input_twice(struct sl_builder *b)
{
	image(b);
	image(b);
}

static void
leaving_too_often(struct sl_builder *b)
{
	sl_builder_leave(b);
}

static void
staying_inside(struct sl_builder *b)
{
	sl_builder_enter(b, "deep");
	sl_builder_output(b, image(b), "y");
}

static void
no_output(struct sl_builder *b)
{
	image(b);
}

static void
a_size_below_zero(struct sl_builder *b)
{
	sl_builder_weight(b, "w", 1, (int64_t[]){-3}, 0, 1);
}

static void
mistakes_are_told_at_the_end(void **state)
{
	static const struct {
		void (*build)(struct sl_builder *b);
		const char *says;
	} cases[] = {
		{unknown_operator, "ONNX has no operator 'Rleu'"},
		{operator_too_new, "operator set 23"},
		{too_few_inputs, "Add cannot have 1 inputs"},
		{an_input_left_out, "Add cannot have 1 inputs"},
		{no_such_value, "Relu: input 0 is no value (1234)"},
		{shapes_that_clash, "node 'sum' (Add)"},
		{heads_that_do_not_divide, "3 heads"},
		{linear_over_a_named_size, "the size is 'n'"},
		{conv_of_three_dimensions, "height x width"},
		{same_input_twice, "'x': the name is taken"},
		{leaving_too_often, "without a matching"},
		{staying_inside, "the scope 'deep' was not left"},
		{no_output, "no outputs"},
		{a_size_below_zero, "negative"},
		{a_domain_lacks_an_input,
		 "SkipLayerNormalization cannot have 1 inputs"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_builder *b = new_builder();
		struct sl_graph *graph;
		struct sl_error err = {0};

		cases[i].build(b);
		assert_int_not_equal(sl_builder_finish(&graph, b, &err), SL_OK);
		assert_null(graph);
		if (!strstr(err.text, cases[i].says))
			fail_msg("%s; expected %s", err.text, cases[i].says);
		assert_int_equal(image(b), -1);
		assert_int_equal(sl_builder_symbol(b, "n", 1), -1);
		sl_builder_free(b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			operators_take_attributes_and_give_several_results),
		cmocka_unit_test(operators_of_other_domains),
		cmocka_unit_test(mistakes_are_told_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
