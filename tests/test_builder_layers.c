/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_builder_layers.c - activations, pooling and embeddings become nodes of
 * the right shapes, and compute what they are called.
 */
#include "built.h"
#include "sleuth.h"

/* What has no layer of its own in ONNX is one node, or two. */
static void
other_layers_give_their_shapes(void **state)
{
	const struct sl_conv2d tall = {.out_channels = 8,
				       .kernel_height = 7,
				       .kernel_width = 1,
				       .stride_width = 2,
				       .padding = 3,
				       .padding_width = -1};
	const struct sl_pool2d wide = {.kernel_height = 1,
				       .kernel_width = 3,
				       .stride = 1,
				       .stride_width = 2,
				       .padding_width = 1};
	struct sl_builder *b = new_builder();
	int x = sl_builder_conv2d(b, image(b), &tall);

	(void)state;
	assert_shape(b, x, "batch,8,16,8");
	x = sl_builder_relu(b, x);
	x = sl_builder_average_pool(b, x, &wide);
	assert_shape(b, x, "batch,8,16,4");
	x = sl_builder_max_pool(b, x, NULL);
	assert_shape(b, x, "batch,8,8,2");
	sl_builder_output(b, sl_builder_flatten(b, x), "flat");
	x = sl_builder_global_average_pool(b, x);
	assert_shape(b, x, "batch,8,1,1");
	x = sl_builder_flatten(b, x);
	assert_shape(b, x, "batch,8");
	sl_builder_output(b, x, "y");
	sl_graph_free(finish(b));
}

/* Each is what its name says: f(1), computed by the engine. */
static void
activations_compute_what_they_say(void **state)
{
	/* By Python's math module; softmax of a single number is 1. */
	static const double expected[SL_N_ACTIVATIONS] = {1,
							  0.8413447460685429,
							  0.7310585786300049,
							  0.7310585786300049,
							  0.7615941559557649,
							  1};
	const struct sl_array one = {
		SL_DTYPE_F32, 1, (int64_t[]){1}, (float[]){1}, NULL, 1, 4};

	(void)state;
	for (int a = 0; a < SL_N_ACTIVATIONS; a++) {
		struct sl_builder *b = new_builder();
		struct sl_graph *graph;
		struct sl_plan *plan;
		struct sl_array y;
		int x = sl_builder_input(b, "x", SL_DTYPE_F32, 1,
					 (int64_t[]){1});

		x = sl_builder_activation(b, x, (enum sl_activation)a);
		sl_builder_output(b, x, "y");
		graph = finish(b);
		assert_int_equal(sl_plan_new(&plan, graph, NULL, NULL), SL_OK);
		assert_int_equal(sl_plan_set_input(plan, "x", &one, NULL),
				 SL_OK);
		assert_int_equal(sl_plan_run(plan, NULL), SL_OK);
		assert_int_equal(sl_plan_output(plan, "y", &y, NULL), SL_OK);
		assert_near((double)*(const float *)y.data, expected[a], 1e-6);
		sl_plan_free(plan);
		sl_graph_free(graph);
	}
}

static void
an_embedding_looks_rows_up(void **state)
{
	struct sl_builder *b = new_builder();
	struct sl_graph *graph;
	uint64_t n;
	int x = sl_builder_input(
		b, "ids", SL_DTYPE_I64, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), 7});

	(void)state;
	sl_builder_name(b, "words");
	x = sl_builder_embedding(b, x, 100, 12);
	assert_shape(b, x, "batch,7,12");
	sl_builder_output(b, x, "y");
	graph = finish(b);
	find_node(graph, "words", "Gather");
	assert_int_equal(sl_count_parameters(&n, graph, NULL), SL_OK);
	assert_int_equal(n, 100 * 12);
	sl_graph_free(graph);
	b = new_builder();
	assert_int_equal(sl_builder_embedding(b, 0, 0, 12), -1);
	assert_int_equal(sl_builder_activation(b, 0, (enum sl_activation)99),
			 -1);
	sl_builder_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_layers_give_their_shapes),
		cmocka_unit_test(activations_compute_what_they_say),
		cmocka_unit_test(an_embedding_looks_rows_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
