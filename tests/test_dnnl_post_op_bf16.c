/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_post_op_bf16.c - every pair of operations after convolutions and
 * products computed in bf16, against the reference kernels.
 */
#include "post_op_pairs.h"

static void
pairs_in_bf16(void **state)
{
	(void)state;
	check_post_op_pairs(SL_DTYPE_BF16);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_in_bf16),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
