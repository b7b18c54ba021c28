/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_builder.c - models assembled in C: layers become the nodes and shapes
 * they should, names are paths and unique, sizes known by name stay so, and a
 * failed allocation leaks nothing.
 */
#include "built.h"
#include "ops/cost.h"
#include "counting.h"

static int
has_value(const struct sl_graph *graph, const char *name)
{
	for (size_t i = 0; i < sl_graph_n_values(graph); i++) {
		if (!strcmp(sl_graph_value_name(graph, i), name))
			return 1;
	}
	return 0;
}

static void
layers_give_their_shapes(void **state)
{
	struct sl_builder *b = new_builder();
	const struct sl_conv2d conv = {
		.out_channels = 8, .stride = 2, .padding = 1, .has_bias = 1};
	int x = image(b);

	(void)state;
	x = sl_builder_conv2d(b, x, &conv);
	assert_shape(b, x, "batch,8,8,8");
	x = sl_builder_batch_norm(b, x);
	assert_shape(b, x, "batch,8,8,8");
	x = sl_builder_op(b, "Flatten", 1, &x);
	assert_shape(b, x, "batch,512");
	x = sl_builder_linear(b, x, 10, 1);
	assert_shape(b, x, "batch,10");
	sl_builder_output(b, x, "scores");
	sl_graph_free(finish(b));
}

/* A kernel's width is its height unless it is said. */
static void
kernels_are_square(void **state)
{
	static const struct sl_conv2d square = {.in_channels = 3,
						.out_channels = 8,
						.height = 16,
						.width = 16,
						.kernel_height = 5};
	struct sl_builder *b = new_builder();
	struct sl_counts c;
	int x = sl_builder_conv2d(b, image(b), &square);

	(void)state;
	assert_shape(b, x, "batch,8,12,12");
	sl_builder_output(b, x, "y");
	sl_graph_free(finish(b));
	assert_int_equal(sl_count_conv2d(&c, 1, &square, NULL), SL_OK);
	assert_int_equal(c.macs, 12 * 12 * 5 * 5 * 3 * 8);
}

/* A model in 16 bits: weights, single numbers, masks; the same shapes and half
 * the bytes. */
static void
weights_in_16_bits(void **state)
{
	static const enum sl_dtype dtypes[] = {SL_DTYPE_F16, SL_DTYPE_BF16};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct sl_builder *b = new_builder();
		const int64_t dims[] = {sl_builder_symbol(b, "batch", 1),
					sl_builder_symbol(b, "seq", 5), 24};
		int x = sl_builder_input(b, "x", dtypes[i], 3, dims);
		struct sl_value_shape shape;
		struct sl_sized *sized;
		struct sl_graph *graph;
		struct sl_counts c;

		sl_builder_dtype(b, dtypes[i]);
		x = sl_builder_layer_norm(b, x);
		x = sl_builder_attention(b, x, 3, 1);
		x = sl_builder_linear(b, x, 7, 1);
		sl_builder_output(b, x, "y");
		graph = finish(b);
		assert_int_equal(sl_count_flops(&c, graph, NULL, NULL), SL_OK);
		assert_int_equal(c.parameters, 2 * 24 + 4 * 24 * 24 + 25 * 7);
		assert_int_equal(c.parameter_bytes, 2 * c.parameters);
		assert_int_equal(sl_sized_new(&sized, graph, NULL, NULL, NULL),
				 SL_OK);
		assert_true(sl_sized_value(sized, sl_graph_output(graph, 0),
					   &shape));
		assert_int_equal(shape.dtype, dtypes[i]);
		assert_int_equal(shape.n_bytes, 5 * 7 * 2);
		sl_sized_free(sized);
		sl_graph_free(graph);
	}
}

static void
other_types_are_refused(void **state)
{
	struct sl_builder *b = new_builder();
	struct sl_graph *graph;
	struct sl_error err;

	(void)state;
	sl_builder_dtype(b, SL_DTYPE_I8);
	assert_int_equal(sl_builder_finish(&graph, b, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "int8"));
	sl_builder_free(b);
}

/* Products of sizes are beyond 64 bits before anything is refused for it. */
static void
absurd_kernels_are_refused(void **state)
{
	const struct sl_conv2d huge = {.out_channels = INT64_C(1) << 40,
				       .kernel_height = INT64_C(1) << 40,
				       .kernel_width = INT64_C(1) << 40};
	const int64_t dims[] = {1, 3, 8, 8};
	struct sl_builder *b = new_builder();
	struct sl_graph *graph;
	struct sl_error err;
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 4, dims);

	(void)state;
	assert_int_equal(sl_builder_conv2d(b, x, &huge), -1);
	assert_true(sl_builder_finish(&graph, b, &err) != SL_OK);
	sl_builder_free(b);
}

static void
attention_keeps_the_shape(void **state)
{
	for (unsigned flags = 0; flags < 4; flags++) {
		struct sl_builder *b = new_builder();
		struct sl_graph *graph;
		struct sl_counts counted, expected;
		struct sl_sizes sizes = SL_SIZES_INIT;
		int x = tokens(b, 24);

		(void)state;
		x = sl_builder_layer_norm(b, x);
		x = sl_builder_attention(b, x, 3, flags);
		assert_shape(b, x, "batch,seq,24");
		sl_builder_output(b, x, "y");
		graph = finish(b);
		find_node(graph, "layer_norm", "LayerNormalization");
		find_node(graph, "attention.query", "MatMul");
		find_node(graph, "attention.scores", "MatMul");
		find_node(graph, "attention.softmax", "Softmax");
		if (flags & SL_ATTENTION_CAUSAL)
			find_node(graph, "attention.causal_mask", "Trilu");
		sizes.seq = 128;
		assert_int_equal(sl_count_flops(&counted, graph, &sizes, NULL),
				 SL_OK);
		assert_int_equal(
			sl_count_attention(&expected, 1, 128, 24,
					   (flags & SL_ATTENTION_BIAS) != 0,
					   NULL),
			SL_OK);
		assert_int_equal(counted.flops, expected.flops);
		assert_int_equal(counted.bias_flops, expected.bias_flops);
		/* The norm before it has a weight and a bias of its own. */
		assert_int_equal(counted.parameters,
				 expected.parameters + 2 * 24);
		sl_graph_free(graph);
	}
}

/* A layer by the builder computes what the closed form says. */
static void
counts_are_the_closed_forms(void **state)
{
	const struct sl_conv2d conv = {.in_channels = 3,
				       .out_channels = 12,
				       .height = 16,
				       .width = 16,
				       .kernel_height = 5,
				       .kernel_width = 3,
				       .stride = 2,
				       .padding = 2,
				       .dilation = 2,
				       .groups = 3};
	struct sl__shapes_options how = {.free_sizes = SL__UNBOUND_REFUSE};
	struct sl_builder *b = new_builder();
	struct sl_counts expected;
	struct sl__shapes *shapes;
	struct sl_graph *graph;
	struct sl_cost cost;

	(void)state;
	sl_builder_output(b, sl_builder_conv2d(b, image(b), &conv), "y");
	graph = finish(b);
	assert_int_equal(sl_count_conv2d(&expected, 1, &conv, NULL), SL_OK);
	assert_int_equal(sl__shapes_new(&shapes, graph, &how, NULL), SL_OK);
	sl__cost_node(shapes, 0, &cost);
	assert_int_equal(cost.macs, expected.macs);
	assert_int_equal(cost.weight_bytes, expected.parameter_bytes);
	sl__shapes_free(shapes);
	sl_graph_free(graph);
}

static void
names_are_paths_and_unique(void **state)
{
	struct sl_builder *b = new_builder();
	struct sl_graph *graph;
	int x = tokens(b, 4);

	(void)state;
	sl_builder_enter(b, "layer");
	sl_builder_enter(b, "0");
	sl_builder_name(b, "fc");
	x = sl_builder_linear(b, x, 4, 1);
	x = sl_builder_op(b, "Relu", 1, &x);
	sl_builder_leave(b);
	x = sl_builder_linear(b, x, 4, 0);
	x = sl_builder_linear(b, x, 4, 0);
	x = sl_builder_op(b, "Relu", 1, &x);
	sl_builder_leave(b);
	x = sl_builder_op(b, "Relu", 1, &x);
	x = sl_builder_op(b, "Relu", 1, &x);
	x = sl_builder_op(b, "Relu", 1, &x);
	sl_builder_output(b, x, "y");
	graph = finish(b);
	find_node(graph, "layer.0.fc", "MatMul");
	find_node(graph, "layer.0.fc.add", "Add");
	find_node(graph, "layer.0.relu", "Relu");
	find_node(graph, "layer.linear", "MatMul");
	find_node(graph, "layer.linear_2", "MatMul");
	find_node(graph, "layer.relu", "Relu");
	find_node(graph, "relu", "Relu");
	find_node(graph, "relu_2", "Relu");
	find_node(graph, "relu_3", "Relu");
	assert_true(has_value(graph, "layer.0.fc.weight"));
	assert_true(has_value(graph, "layer.0.fc.bias"));
	assert_true(has_value(graph, "layer.linear_2.weight"));
	assert_true(has_value(graph, "y"));
	for (size_t i = 0; i < graph->n_values; i++) {
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(graph->values[i].name,
						graph->values[k].name);
	}
	sl_graph_free(graph);
}

/* A size that gets its name late does not upset those that came up before. */
static void
symbols_may_come_late(void **state)
{
	struct sl_builder *b = new_builder();
	struct sl_graph *graph;
	int x = tokens(b, 8), y;

	(void)state;
	sl_builder_int(b, "axis", 2);
	x = sl_builder_op(b, "Flatten", 1, &x);
	assert_shape(b, x, "(batch*seq),8");
	y = sl_builder_input(b, "z", SL_DTYPE_F32, 1,
			     (int64_t[]){sl_builder_symbol(b, "late", 5)});
	assert_shape(b, x, "(batch*seq),8");
	assert_shape(b, y, "late");
	sl_builder_output(b, x, "y");
	sl_builder_output(b, y, "w");
	graph = finish(b);
	assert_int_equal(graph->n_symbols, 4);
	assert_string_equal(graph->symbols[2].name, "late");
	assert_int_equal(graph->symbols[2].usual, 5);
	assert_string_equal(graph->symbols[3].name, "(batch*seq)");
	sl_graph_free(graph);
}

static void
failed_allocations_leak_nothing(void **state)
{
	enum sl_status rc = SL_E_NOMEM;

	(void)state;
	for (int n = 1; rc; n++) {
		struct counting c = {.fail_at = n};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_graph_options how = {.struct_size = sizeof(how),
					       .allocator = &allocator};
		struct sl_graph *graph = NULL;
		struct sl_builder *b;
		struct sl_error err = {0};

		rc = sl_builder_new(&b, "test", &how, &err);
		if (!rc) {
			int x = tokens(b, 12);

			for (int i = 0; i < 6; i++) {
				sl_builder_enter(b, "layer");
				x = sl_builder_attention(b, x, 2, 1);
				x = sl_builder_layer_norm(b, x);
				sl_builder_leave(b);
			}
			sl_builder_output(b, x, "y");
			rc = sl_builder_finish(&graph, b, &err);
		}
		assert_true(c.n_requests > 0);
		if (rc != (c.n_requests < n ? SL_OK : SL_E_NOMEM))
			fail_msg("allocation %d: %s", n, err.text);
		sl_graph_free(graph);
		sl_builder_free(b);
		assert_int_equal(c.n_out, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_give_their_shapes),
		cmocka_unit_test(kernels_are_square),
		cmocka_unit_test(weights_in_16_bits),
		cmocka_unit_test(other_types_are_refused),
		cmocka_unit_test(absurd_kernels_are_refused),
		cmocka_unit_test(attention_keeps_the_shape),
		cmocka_unit_test(counts_are_the_closed_forms),
		cmocka_unit_test(names_are_paths_and_unique),
		cmocka_unit_test(symbols_may_come_late),
		cmocka_unit_test(failed_allocations_leak_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
