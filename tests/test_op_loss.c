/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves the shapes and costs of a classifier's losses.
 */
#include "one_node.h"

static void
one_number_or_one_for_each_target(void **state)
{
	(void)state;
	check_out("NegativeLogLikelihoodLoss 13 (f32[n,5,7], i64[n,7])",
		  "f32[]");
	check_out("NegativeLogLikelihoodLoss 13 (f32[n,5,7], i64[n,7], "
		  "f32[5]) reduction=none",
		  "f32[n,7]");
	check_out("SoftmaxCrossEntropyLoss 13 (f16[3,5], i64[3]) "
		  "reduction=none -> 2",
		  "f16[3] f16[3,5]");
	check_out("SoftmaxCrossEntropyLoss 13 (f16[3,5], i64[3]) "
		  "reduction=sum",
		  "f16[]");
}

/* 3 targets of 5 classes. */
static void
costs_are_counted(void **state)
{
	(void)state;
	check_cost("NegativeLogLikelihoodLoss 13 (f32[3,5], i64[3]) "
		   "reduction=none",
		   {.add = 3, .work = SL_WORK_REDUCTION});
	check_cost("NegativeLogLikelihoodLoss 13 (f32[3,5], i64[3]) "
		   "reduction=sum",
		   {.add = 3 + 2, .work = SL_WORK_REDUCTION});
	check_cost("NegativeLogLikelihoodLoss 13 (f32[3,5], i64[3], f32[5])",
		   {.mul = 3,
		    .add = 3 + 2 + 2,
		    .div = 1,
		    .work = SL_WORK_REDUCTION});
	check_cost("SoftmaxCrossEntropyLoss 13 (f32[3,5], i64[3])",
		   {.cmp = 15,
		    .exp = 15 + 3,
		    .add = 3 * 15 + 3 + 2,
		    .div = 1,
		    .work = SL_WORK_SOFTMAX});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_number_or_one_for_each_target),
		cmocka_unit_test(costs_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
