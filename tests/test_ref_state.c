/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves operators that hand a state on: a text in two pieces gives what it
 * gives in one, and each rule of LinearAttention does to a state of one
 * number what its formula says.
 */
#include "evaluated.h"

static void
test_convolution(void **state)
{
	(void)state;
	check_evaluated("CausalConvWithState 27 (f32[1,1,3]={1,2,3}, "
			"f32[1,1,2]={10,1})",
			"f32[1,1,3]={1,12,23} f32[1,1,1]={3}");
	check_evaluated(
		"CausalConvWithState 27 (f32[1,1,1]={1}, f32[1,1,2]={10,1})",
		"f32[1,1,1]={1} f32[1,1,1]={1}");
	check_evaluated("CausalConvWithState 27 (f32[1,1,2]={2,3}, "
			"f32[1,1,2]={10,1}, _, f32[1,1,1]={1})",
			"f32[1,1,2]={12,23} f32[1,1,1]={3}");
	/* a text shorter than the state; two channels with a bias */
	check_evaluated("CausalConvWithState 27 (f32[1,2,1]={1,2}, "
			"f32[2,1,3]={100,10,1,1,1,1}, f32[2]={5,0}, "
			"f32[1,2,2]={3,4,6,7})",
			"f32[1,2,1]={346,15} f32[1,2,2]={4,1,7,2}");
	check_evaluated("CausalConvWithState 27 (f32[1,1,2]={0,1}, "
			"f32[1,1,1]={1}) activation=silu",
			"f32[1,1,2]={0,0.7310586} f32[1,1,0]={}");
	check_evaluated(
		"CausalConvWithState 27 (f32[0,1,2]={}, f32[1,1,2]={1,1})",
		"f32[0,1,2]={} f32[0,1,1]={}");
	check_fails("CausalConvWithState 27 (f32[1,1,1]={1}, f32[1,1,2]={1,1}, "
		    "_, f32[1,1,2]={1,1})",
		    "does not fit");
	check_fails("CausalConvWithState 27 (f32[1,1,1]={1}, f32[1,1,1]={1}) "
		    "activation=relu",
		    "activation is 'relu'");
}

static void
test_rules(void **state)
{
	(void)state;
	/* 1 * 3; 3 + 2 * 5 */
	check_evaluated("LinearAttention 27 (f32[1,2,1]={1,1}, "
			"f32[1,2,1]={1,2}, f32[1,2,1]={3,5}) q_num_heads=1 "
			"kv_num_heads=1 update_rule=linear",
			"f32[1,2,1]={3,13} f32[1,1,1,1]={13}");
	/* the second token finds everything forgotten */
	check_evaluated(
		"LinearAttention 27 (f32[1,2,1]={1,1}, f32[1,2,1]={1,2}, "
		"f32[1,2,1]={3,5}, f32[1,1,1,1]={100}, f32[1,2,1]={0,-inf}) "
		"q_num_heads=1 kv_num_heads=1 update_rule=gated",
		"f32[1,2,1]={103,10} f32[1,1,1,1]={10}");
	/* 3 + 2 (5 - 3 * 2), and half of that */
	check_evaluated(
		"LinearAttention 27 (f32[1,2,1]={1,1}, f32[1,2,1]={1,2}, "
		"f32[1,2,1]={3,5}, _, _, f32[1,2,1]={1,1}) q_num_heads=1 "
		"kv_num_heads=1 update_rule=delta",
		"f32[1,2,1]={3,1} f32[1,1,1,1]={1}");
	check_evaluated(
		"LinearAttention 27 (f32[1,2,1]={1,1}, f32[1,2,1]={1,2}, "
		"f32[1,2,1]={3,5}, _, f32[1,2,1]={0,0}, f32[1,2,1]={1,0.5}) "
		"q_num_heads=1 kv_num_heads=1 scale=2.0",
		"f32[1,2,1]={6,4} f32[1,1,1,1]={2}");
	check_fails("LinearAttention 27 (f32[1,1,1]={1}, f32[1,1,1]={1}, "
		    "f32[1,1,1]={3}) q_num_heads=1 kv_num_heads=1",
		    "do not go with the rule 'gated_delta'");
}

static void
test_heads(void **state)
{
	(void)state;
	/* two heads of queries read one state of two rows and two columns */
	check_evaluated("LinearAttention 27 (f32[1,1,4]={1,0,0,2}, "
			"f32[1,1,2]={1,10}, f32[1,1,2]={3,5}) q_num_heads=2 "
			"kv_num_heads=1 scale=1.0 update_rule=linear",
			"f32[1,1,4]={3,5,60,100} f32[1,1,2,2]={3,5,30,50}");
	/* one row of the state fades, the other does not */
	check_evaluated(
		"LinearAttention 27 (f32[1,1,2]={1,1}, f32[1,1,2]={0,0}, "
		"f32[1,1,1]={0}, f32[1,1,2,1]={3,5}, f32[1,1,2]={-inf,0}) "
		"q_num_heads=1 kv_num_heads=1 scale=1.0 update_rule=gated",
		"f32[1,1,1]={5} f32[1,1,2,1]={0,5}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_convolution),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
