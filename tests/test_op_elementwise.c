/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that element-wise operators have the shapes of numpy's broadcasting
 * and ONNX's types, under all versions, and costs that are their formulas
 * times the elements.
 */
#include "one_node.h"

static void
unary_is_like_its_input(void **state)
{
	(void)state;
	check_out("Relu 13 (f32[2,n,4])", "f32[2,n,4]");
	check_out("Sigmoid 13 (f16[])", "f16[]");
	check_out("Sqrt 13 (f64)", "f64?");
	check_out("Not 1 (bool[2])", "bool[2]");
	check_out("IsNaN 13 (f32[2,3])", "bool[2,3]");
	check_out("IsInf 10 (f32)", "bool?");
	check_out("Clip 13 (f32[2,3], f32[], f32[])", "f32[2,3]");
	check_out("Clip 13 (f32[2,3], _, f32[])", "f32[2,3]");
	check_out("PRelu 16 (f32[2,3,4], f32[3,1])", "f32[2,3,4]");
	check_out("com.microsoft.BiasGelu 1 (f32[2,8], f32[8])", "f32[2,8]");
	check_out("com.microsoft.QLinearSigmoid 1 (uint8[2,3], f32[], "
		  "uint8[], f32[], uint8[])",
		  "uint8[2,3]");
}

static void
inputs_are_broadcast(void **state)
{
	(void)state;
	check_refused("Add 13 (f32[2], i64[2])",
		      "its inputs are of different types, f32 and int64");
	check_refused("Max 13 (f32[2], f32[2], f64[2])", "f32 and f64");
	check_refused("Where 16 (bool[2], f32[2], i64[2])", "f32 and int64");
	check_refused("Where 16 (f32[2], f32[2], f32[2])", "not bool");
	check_refused("Relu 14 (string[2])", "strings are nothing to");
	check_refused("Add 14 (string[2], string[2])", "strings are nothing");
	check_out("Equal 19 (string[2], string[1])", "bool[2]");
	check_cost("Equal 19 (string[2], string[1])",
		   {.basis = SL_BASIS_UNKNOWN});
	check_out("Add 13 (f32[2,3], f32[3])", "f32[2,3]");
	check_out("Mul 14 (f32[3], f32[2,1])", "f32[2,3]");
	check_out("Sub 7 (i64[], i64[5])", "int64[5]");
	check_out("Div 7 (f32[n,3], f32[n,1])", "f32[n,3]");
	check_out("Add 7 (f32[n,3], f32[1,3])", "f32[n,3]");
	check_out("Add 7 (f32[n], f32[4])", "f32[4]");
	check_out("Add 7 (f32[n], f32[m])", "f32[?]");
	check_out("Add 7 (f32[0,3], f32[1,3])", "f32[0,3]");
	check_out("Add 7 (f32, f32[4])", "f32?");
	check_out("Pow 13 (f32[2,3], i64[])", "f32[2,3]");
	check_out("Equal 13 (i64[2,1], i64[3])", "bool[2,3]");
	check_out("GreaterOrEqual 16 (f32[2], f32[2])", "bool[2]");
	check_out("And 7 (bool[4,1], bool[5])", "bool[4,5]");
	check_out("BitShift 11 (uint8[3], uint8[3]) direction=LEFT",
		  "uint8[3]");
	check_out("Where 16 (bool[2,1], f32[3], f32[])", "f32[2,3]");
	check_out("Where 9 (bool[7,1,1], i64[2,1], i64[3])", "int64[7,2,3]");
	check_out("com.microsoft.QLinearAdd 1 (int8[2,3], f32[], int8[], "
		  "int8[3], f32[], int8[], f32[], int8[])",
		  "int8[2,3]");
}

static void
any_number_of_inputs(void **state)
{
	char text[1024] = "Sum 13 (f32[3]";

	(void)state;
	check_out("Max 8 (f32[2,3])", "f32[2,3]");
	check_out("Mean 13 (f32[4,1,1], f32[5,1], f32[6])", "f32[4,5,6]");
	for (int i = 0; i < 40; i++)
		strcat(text, ", f32[1]");
	strcat(text, ", f32[2,1])");
	check_out(text, "f32[2,3]");
	/* 42 inputs join 41 times for each of 6 elements. */
	check_cost(text, {.add = 6 * 41});
	check_cost("Mean 13 (f32[4,1], f32[4,1], f32[5])",
		   {.add = 2 * 20, .div = 20});
	check_cost("Min 13 (f32[4], f32[4])", {.cmp = 4});
}

static void
sizes_that_do_not_go_together_are_refused(void **state)
{
	(void)state;
	check_refused("Add 13 (f32[2,3], f32[2])", "do not go together");
	check_refused("Add 13 (f32[2,3], f32[2])", "node 'it' (Add)");
	check_refused("Where 9 (bool[2], f32[3], f32[1])",
		      "do not go together");
	check_refused("Cast 13 (f32[2]) to=-1", "no type of number");
}

static void
old_versions_keep_the_first_shape(void **state)
{
	(void)state;
	check_out("Add 6 (f32[2,3,4], f32[3]) broadcast=1 axis=1",
		  "f32[2,3,4]");
	check_out("Less 1 (f32[2,3], f32[2]) broadcast=1 axis=0", "bool[2,3]");
	check_out("Sum 6 (f32[2,3], f32[2,3])", "f32[2,3]");
	check_out("Clip 6 (f32[2,3]) min=0.0 max=6.0", "f32[2,3]");
}

static void
casts_name_their_type(void **state)
{
	(void)state;
	check_out("Cast 13 (f32[2,n]) to=7", "int64[2,n]");
	check_out("Cast 13 (f32) to=10", "f16?");
	check_out("Cast 25 (f32[2]) to=28", "none[2]");
	check_out("Cast 25 (f32[2]) to=26", "int2[2]");
	check_refused("Cast 25 (f32[2]) to=99", "no type of number 99");
	check_cost("Cast 25 (f32[2]) to=28", {.basis = SL_BASIS_UNKNOWN});
	check_out("CastLike 15 (f32[2,3], bf16[1])", "bf16[2,3]");
	check_out("BitCast 26 (f32[2,3]) to=6", "int32[2,3]");
}

static void
dropout_may_give_its_mask(void **state)
{
	(void)state;
	check_out("Dropout 13 (f32[2,3], f32[], bool[]) -> 2",
		  "f32[2,3] bool[2,3]");
	check_out("Dropout 7 (f32[2,3]) -> 2", "f32[2,3] f32[2,3]");
	check_cost("Dropout 13 (f32[2,3])", {.work = SL_WORK_VIEW});
	check_cost("Dropout 13 (f32[2,3], f32[]={0.5}, bool[]={0})",
		   {.work = SL_WORK_VIEW});
	check_cost("Dropout 13 (f32[2,3]) -> 2", {.work = SL_WORK_MOVEMENT,
						  .read_bytes = 24,
						  .written_bytes = 30});
	check_cost("Dropout 13 (f32[2,3], f32[]={0.5}, bool[]={1})",
		   {.mul = 6, .cmp = 6, .basis = SL_BASIS_ESTIMATED});
}

static void
views_move_nothing(void **state)
{
	struct one_node *n = one_node("BitCast 26 (f32[2,3]) to=6");

	(void)state;
	assert_int_equal(n->cost.work, SL_WORK_VIEW);
	assert_int_equal(n->cost.read_bytes + n->cost.written_bytes, 0);
	one_node_free(n);
}

/* Formulas written out beside op_elementwise.c's, on 10 elements. */
static void
costs_are_formulas_times_elements(void **state)
{
	(void)state;
	check_cost("Add 13 (f32[2,5], f32[5]={1,2,3,4,5})",
		   {.add = 10,
		    .read_bytes = 40,
		    .weight_bytes = 20,
		    .written_bytes = 40});
	check_cost("Mul 13 (f32[2,5], f32[1])", {.mul = 10});
	check_cost("Div 13 (f32[2,5], f32[1])", {.div = 10});
	check_cost("Pow 13 (f32[2,5], f32[1])", {.exp = 10});
	check_cost("Equal 13 (f32[2,5], f32[1])", {.cmp = 10});
	check_cost("Erf 13 (f32[2,5])", {.exp = 10});
	check_cost("Relu 13 (f32[2,5])",
		   {.cmp = 10, .work = SL_WORK_ACTIVATION});
	check_cost("Tanh 13 (f32[2,5])",
		   {.exp = 10, .work = SL_WORK_ACTIVATION});
	check_cost(
		"Sigmoid 13 (f32[2,5])",
		{.exp = 10, .add = 10, .div = 10, .work = SL_WORK_ACTIVATION});
	check_cost(
		"HardSwish 14 (f32[2,5])",
		{.mul = 20, .add = 10, .cmp = 20, .work = SL_WORK_ACTIVATION});
	check_cost(
		"Gelu 20 (f32[2,5])",
		{.mul = 30, .add = 10, .exp = 10, .work = SL_WORK_ACTIVATION});
	check_cost(
		"Gelu 20 (f32[2,5]) approximate=tanh",
		{.mul = 60, .add = 20, .exp = 10, .work = SL_WORK_ACTIVATION});
	check_cost(
		"com.microsoft.FastGelu 1 (f32[2,5], f32[5])",
		{.mul = 60, .add = 30, .exp = 10, .work = SL_WORK_ACTIVATION});
	check_cost(
		"com.microsoft.BiasGelu 1 (f32[2,5], f32[5])",
		{.mul = 30, .add = 20, .exp = 10, .work = SL_WORK_ACTIVATION});
}

static void
bounds_are_compared_where_given(void **state)
{
	(void)state;
	check_cost("Clip 13 (f32[10], f32[], f32[])",
		   {.cmp = 20, .work = SL_WORK_ACTIVATION});
	check_cost("Clip 13 (f32[10], _, f32[])",
		   {.cmp = 10, .work = SL_WORK_ACTIVATION});
	check_cost("Clip 6 (f32[10]) min=0.0 max=6.0",
		   {.cmp = 20, .work = SL_WORK_ACTIVATION});
}

static void
casts_move_bytes(void **state)
{
	(void)state;
	check_cost("Cast 13 (f32[10]) to=10", {.work = SL_WORK_MOVEMENT,
					       .read_bytes = 40,
					       .written_bytes = 20});
	check_cost("CastLike 15 (f32[10], f16[1000])",
		   {.work = SL_WORK_MOVEMENT,
		    .read_bytes = 40,
		    .written_bytes = 20});
}

/* A row of op.def that names the rule has a row in the rule's table. */
static void
every_operator_has_its_cost(void **state)
{
	size_t n_found = 0;

	(void)state;
	for (size_t i = 0; i < SL__N_OPS; i++) {
		struct sl__node node = {.op = &sl__ops[i], .n_inputs = 2};
		struct sl__rule_context call = {.node = &node};
		struct sl_cost cost = {.out_elements = 1};

		if (sl__ops[i].cost != sl__cost_elementwise &&
		    sl__ops[i].cost != sl__cost_function_call &&
		    sl__ops[i].cost != sl__cost_comparison)
			continue;
		n_found++;
		sl__ops[i].cost(&call, &cost);
		if (sl_cost_operations(&cost) == 0)
			fail_msg("%s costs nothing", sl__ops[i].type);
	}
	assert_true(n_found > 60);
}

static void
every_allocation_may_fail(void **state)
{
	(void)state;
	check_allocations("Add 13 (f32[2,n], f32[n,1])");
	check_allocations("Where 13 (bool[2], i64[2]={1,2}, i64[]={3})");
	check_allocations("Cast 13 (i64[2]={1,2}) to=1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unary_is_like_its_input),
		cmocka_unit_test(inputs_are_broadcast),
		cmocka_unit_test(any_number_of_inputs),
		cmocka_unit_test(sizes_that_do_not_go_together_are_refused),
		cmocka_unit_test(old_versions_keep_the_first_shape),
		cmocka_unit_test(casts_name_their_type),
		cmocka_unit_test(dropout_may_give_its_mask),
		cmocka_unit_test(views_move_nothing),
		cmocka_unit_test(costs_are_formulas_times_elements),
		cmocka_unit_test(bounds_are_compared_where_given),
		cmocka_unit_test(casts_move_bytes),
		cmocka_unit_test(every_operator_has_its_cost),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
