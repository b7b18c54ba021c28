/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_call.c - proves what a rule may say of a node's outputs: those that are
 * left out are passed over, sizes that depend on data are noted once, with the
 * reason, and impossible ones are refused.
 */
#include "graph/infer.h"
#include "harness.h"
#include "one_node.h"

static void
unknown_sizes_are_noted_with_the_reason(void **state)
{
	struct one_node *n = one_node("Dropout 13 (f32[2,3]) -> 1");
	struct sl__rule_context call = {.shapes = n->shapes,
					.node = &n->graph->nodes[0]};
	const struct sl__unresolved_shape *row;

	(void)state;
	assert_int_equal(n->shapes->n_unresolved, 0);
	assert_int_equal(
		sl__out_set_unknown_shape(&call, 0, SL_DTYPE_F16, "no reason"),
		SL_OK);
	assert_int_equal(n->shapes->n_unresolved, 1);
	row = &n->shapes->unresolved[0];
	assert_int_equal(row->node, 0);
	assert_int_equal(row->value, call.node->outputs[0]);
	assert_string_equal(row->why, "no reason");
	assert_int_equal(n->shapes->types[row->value].rank, -1);
	assert_int_equal(n->shapes->types[row->value].dtype, SL_DTYPE_F16);
	one_node_free(n);
}

/* Nobody asks for the sizes of an output that is not there. */
static void
left_out_outputs_are_passed_over(void **state)
{
	struct one_node *n = one_node("Dropout 13 (f32[2,3]) -> 1");
	struct sl__rule_context call = {.shapes = n->shapes,
					.node = &n->graph->nodes[0]};
	const int64_t wrong[] = {-1};
	struct sl_error err;

	(void)state;
	call.err = &err;
	assert_int_equal(sl__out_set_unknown_shape(&call, 1, SL_DTYPE_F32, "x"),
			 SL_OK);
	assert_int_equal(n->shapes->n_unresolved, 0);
	assert_int_equal(sl__out_set_shape(&call, 1, SL_DTYPE_F32, 1, wrong),
			 SL_OK);
	assert_int_equal(sl__out_set_like_input(&call, 1, 0, SL_DTYPE_F32),
			 SL_OK);
	assert_int_equal(sl__out_set_shape(&call, 0, SL_DTYPE_F32, 1, wrong),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "dimension 0 of output 0"));
	one_node_free(n);
}

static void
outputs_are_like_inputs(void **state)
{
	struct one_node *n = one_node("Dropout 13 (f32[2,3]) -> 1");
	struct sl__rule_context call = {.shapes = n->shapes,
					.node = &n->graph->nodes[0]};
	const struct sl__type *type = &n->shapes->types[call.node->outputs[0]];

	(void)state;
	assert_int_equal(sl__out_set_like_input(&call, 0, 0, SL_DTYPE_BOOL),
			 SL_OK);
	assert_int_equal(type->dtype, SL_DTYPE_BOOL);
	assert_int_equal(type->rank, 2);
	assert_int_equal(type->dims[1], 3);
	assert_int_equal(sl__out_set_like_input(&call, 0, 0, SL_DTYPE_NONE),
			 SL_OK);
	assert_int_equal(type->dtype, SL_DTYPE_F32);
	one_node_free(n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_sizes_are_noted_with_the_reason),
		cmocka_unit_test(left_out_outputs_are_passed_over),
		cmocka_unit_test(outputs_are_like_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
