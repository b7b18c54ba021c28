/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that a built graph can be walked through the public header alone:
 * inputs and outputs by number and name, what nodes take and make, inputs
 * left out, and what is said of numbers that are none.
 */
#include "harness.h"
#include "sleuth.h"

#include <string.h>

static struct sl_graph *
build(void)
{
	struct sl_builder *b;
	struct sl_graph *graph;
	const int64_t dims[] = {1, 3}, one[] = {3};
	const float high[] = {6, 6, 6};
	int x, y, in[3];

	assert_int_equal(sl_builder_new(&b, "small", NULL, NULL), SL_OK);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, dims);
	y = sl_builder_input(b, "y", SL_DTYPE_F32, 2, dims);
	in[0] = x;
	in[1] = y;
	x = sl_builder_op(b, "Add", 2, in);
	sl_builder_output(b, x, "sum");
	in[0] = x;
	in[1] = -1; /* no lower bound */
	in[2] = sl_builder_floats(b, "high", 0, one, high);
	sl_builder_name(b, "cut");
	x = sl_builder_op(b, "Clip", 3, in);
	sl_builder_output(b, x, "result");
	assert_int_equal(sl_builder_finish(&graph, b, NULL), SL_OK);
	sl_builder_free(b);
	return graph;
}

static void
test_inputs_and_outputs(void **state)
{
	struct sl_graph *g = build();

	(void)state;
	assert_int_equal(sl_graph_n_inputs(g), 2);
	assert_string_equal(sl_graph_value_name(g, sl_graph_input(g, 0)), "x");
	assert_string_equal(sl_graph_value_name(g, sl_graph_input(g, 1)), "y");
	assert_true(sl_graph_input(g, 2) == SL_NO_VALUE);
	assert_true(sl_graph_find_input(g, "y") == sl_graph_input(g, 1));
	assert_true(sl_graph_find_input(g, "sum") == SL_NO_VALUE);
	assert_int_equal(sl_graph_n_outputs(g), 2);
	assert_string_equal(sl_graph_value_name(g, sl_graph_output(g, 1)),
			    "result");
	assert_true(sl_graph_output(g, 2) == SL_NO_VALUE);
	assert_true(sl_graph_find_output(g, "sum") == sl_graph_output(g, 0));
	assert_true(sl_graph_find_output(g, "high") == SL_NO_VALUE);
	assert_int_equal(sl_graph_value_dtype(g, sl_graph_input(g, 0)),
			 SL_DTYPE_F32);
	sl_graph_free(g);
}

static void
test_nodes(void **state)
{
	struct sl_graph *g = build();
	size_t high;

	(void)state;
	assert_int_equal(sl_graph_n_nodes(g), 2);
	assert_string_equal(sl_graph_node_type(g, 1), "Clip");
	assert_string_equal(sl_graph_node_name(g, 1), "cut");
	assert_string_equal(sl_graph_node_domain(g, 1), "");
	assert_int_equal(sl_graph_node_n_inputs(g, 1), 3);
	assert_true(sl_graph_node_input(g, 1, 0) ==
		    sl_graph_node_output(g, 0, 0));
	assert_true(sl_graph_node_input(g, 1, 1) == SL_NO_VALUE);
	high = sl_graph_node_input(g, 1, 2);
	assert_int_equal(sl_graph_value_kind(g, high), SL_VALUE_PARAMETER);
	assert_int_equal(sl_graph_value_dtype(g, high), SL_DTYPE_F32);
	assert_int_equal(sl_graph_node_n_outputs(g, 1), 1);
	assert_true(sl_graph_node_output(g, 1, 0) == sl_graph_output(g, 1));
	assert_true(sl_graph_node_output(g, 1, 1) == SL_NO_VALUE);
	sl_graph_free(g);
}

static void
test_numbers_that_are_none(void **state)
{
	struct sl_graph *g = build();
	size_t beyond = sl_graph_n_values(g);

	(void)state;
	assert_null(sl_graph_node_name(g, 2));
	assert_null(sl_graph_node_type(g, 2));
	assert_null(sl_graph_node_domain(g, SL_NO_VALUE));
	assert_null(sl_graph_value_name(g, beyond));
	assert_int_equal(sl_graph_value_dtype(g, SL_NO_VALUE), SL_DTYPE_NONE);
	assert_int_equal(sl_graph_node_n_inputs(g, 2), 0);
	assert_int_equal(sl_graph_node_n_outputs(g, SL_NO_VALUE), 0);
	assert_true(sl_graph_node_input(g, 2, 0) == SL_NO_VALUE);
	sl_graph_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inputs_and_outputs),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_numbers_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
