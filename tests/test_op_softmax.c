/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that Softmax and its like keep their shape under all versions, refuse
 * an axis that is not there, and cost what their formulas say.
 */
#include "one_node.h"

static void
shapes_stay(void **state)
{
	(void)state;
	check_out("Softmax 13 (f32[2,n,4])", "f32[2,n,4]");
	check_out("Softmax 11 (f32[2,n,4]) axis=2", "f32[2,n,4]");
	check_out("LogSoftmax 13 (f16[2,3]) axis=-2", "f16[2,3]");
	check_out("Hardmax 13 (f32)", "f32?");
	check_out("Softmax 11 (f32[4])", "f32[4]");
	check_refused("Softmax 13 (f32[2,3]) axis=2", "axis 2");
	check_refused("LogSoftmax 11 (f32[2,3]) axis=-3", "axis -3");
	check_out("com.microsoft.QLinearSoftmax 1 (uint8[2,3], f32[], "
		  "uint8[], f32[], uint8[]) axis=1 opset=13",
		  "uint8[2,3]");
}

static void
costs_are_formulas_times_elements(void **state)
{
	(void)state;
	check_cost("Softmax 13 (f32[2,3,4])", {.cmp = 24,
					       .add = 48,
					       .exp = 24,
					       .div = 24,
					       .work = SL_WORK_SOFTMAX});
	/* One logarithm for each of 6 lines of 4. */
	check_cost(
		"LogSoftmax 13 (f32[2,3,4])",
		{.cmp = 24, .add = 72, .exp = 24 + 6, .work = SL_WORK_SOFTMAX});
	/* Before version 13: 2 lines of 12. */
	check_cost(
		"LogSoftmax 11 (f32[2,3,4])",
		{.cmp = 24, .add = 72, .exp = 24 + 2, .work = SL_WORK_SOFTMAX});
	check_cost(
		"LogSoftmax 11 (f32[2,3,4]) axis=2",
		{.cmp = 24, .add = 72, .exp = 24 + 6, .work = SL_WORK_SOFTMAX});
	check_cost("Hardmax 13 (f32[2,3,4]) axis=1",
		   {.cmp = 16, .work = SL_WORK_REDUCTION});
	check_cost("Softmax 13 (f32[0,4])", {.work = SL_WORK_SOFTMAX});
	check_cost("com.microsoft.QLinearSoftmax 1 (uint8[2,3], f32[], "
		   "uint8[], f32[], uint8[]) axis=1 opset=13",
		   {.mul = 12,
		    .add = 24,
		    .exp = 6,
		    .div = 6,
		    .cmp = 18,
		    .work = SL_WORK_SOFTMAX});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_stay),
		cmocka_unit_test(costs_are_formulas_times_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
