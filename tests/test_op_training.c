/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that an optimizer's step renews each of its tensors, and costs what
 * its formula says for all of their elements.
 */
#include "one_node.h"

#define TRAINING "ai.onnx.preview.training."

static void
values_and_states_are_renewed(void **state)
{
	(void)state;
	check_out(TRAINING "Momentum 1 (f32[], i64[], f32[2], f32[2], f32[2]) "
			   "-> 2",
		  "f32[2] f32[2]");
	check_out(TRAINING "Adagrad 1 (f32[], i64[], f32[2], f64[3,n], "
			   "f32[2], f64[3,n], f32[2], f64[3,n]) -> 4",
		  "f32[2] f64[3,n] f32[2] f64[3,n]");
	check_out(TRAINING "Adam 1 (f32[], i64[], f32[2], f32[3], f32[2], "
			   "f32[3], f32[2], f32[3], f32[2], f32[3]) -> 6",
		  "f32[2] f32[3] f32[2] f32[3] f32[2] f32[3]");
	check_refused(TRAINING "Momentum 1 (f32[], i64[], f32[2], f32[2]) -> 2",
		      "groups of the same size");
}

static void
costs_are_formulas_times_elements(void **state)
{
	(void)state;
	check_cost(TRAINING "Momentum 1 (f32[], i64[], f32[2], f32[3], f32[2], "
			    "f32[3], f32[2], f32[3]) mode=standard -> 4",
		   {.mul = 5, .fma = 15});
	check_cost(TRAINING "Momentum 1 (f32[], i64[], f32[5], f32[5], f32[5]) "
			    "mode=nesterov -> 2",
		   {.mul = 5, .fma = 20});
	check_cost(TRAINING "Adagrad 1 (f32[], i64[], f32[5], f32[5], f32[5]) "
			    "-> 2",
		   {.mul = 5, .add = 10, .fma = 10, .div = 5, .exp = 5});
	check_cost(TRAINING "Adam 1 (f32[], i64[], f32[5], f32[5], f32[5], "
			    "f32[5]) -> 3",
		   {.mul = 20, .add = 10, .fma = 15, .div = 5, .exp = 5});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_states_are_renewed),
		cmocka_unit_test(costs_are_formulas_times_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
