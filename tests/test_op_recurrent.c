/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves shapes and costs of LSTM, GRU and RNN: both layouts, directions,
 * outputs left out, lengths that are data; and the products against a loop
 * over steps, gates and elements.
 */
#include "one_node.h"

static void
test_shapes(void **state)
{
	(void)state;
	check_refused("RNN 14 (f32[5,2,3], f32[1,4,3], f32[1,4,4]) "
		      "hidden_size=-4",
		      "hidden_size is -4");
	check_refused("RNN 14 (f32[5,2,3], f32[1,4,3], f32[1,4,4]) "
		      "hidden_size=4 direction=sideways",
		      "direction is 'sideways'");
	check_out("LSTM 14 (f32[5,2,3], f32[1,16,3], f32[1,16,4]) "
		  "hidden_size=4 -> 3",
		  "f32[5,1,2,4] f32[1,2,4] f32[1,2,4]");
	check_out("LSTM 14 (f32[2,5,3], f32[1,16,3], f32[1,16,4]) layout=1 "
		  "-> 3",
		  "f32[2,5,1,4] f32[2,1,4] f32[2,1,4]");
	check_out("GRU 14 (f32[5,2,3], f32[2,12,3], f32[2,12,4]) "
		  "direction=bidirectional hidden_size=4 -> 2",
		  "f32[5,2,2,4] f32[2,2,4]");
	check_out("RNN 14 (f32[s,b,3], f32[1,4,3], f32[1,4,4]) "
		  "direction=reverse -> 1",
		  "f32[s,1,b,4]");
	check_out("RNN 14 (f16, f16[1,4,3], f16[1,4,4]) -> 2", "f16? f16?");
}

static void
test_wrong_shapes_are_refused(void **state)
{
	(void)state;
	check_refused("LSTM 14 (f32[5,2,3], f32[1,12,3], f32[1,12,4]) "
		      "hidden_size=4",
		      "a weight of 1x12x3 where 1x16x3 fits");
	check_refused("GRU 14 (f32[5,2,3], f32[1,12,7], f32[1,12,4])",
		      "a weight of 1x12x7 where 1x12x3 fits");
	check_refused("RNN 14 (f32[5,2,3], f32[2,4,3], f32[1,4,4])",
		      "a weight of 2x4x3 where 1x4x3 fits");
	check_refused("RNN 14 (f32[5,3], f32[1,4,3], f32[1,4,4])",
		      "an input of 5x3");
}

/* One product per step, sample, direction, gate, element and operand. */
static uint64_t
count_in_loops(int steps, int directions, int gates, int hidden, int input)
{
	uint64_t n = 0;

	for (int t = 0; t < steps * directions; t++)
		for (int g = 0; g < gates; g++)
			for (int h = 0; h < hidden; h++)
				n += (uint64_t)(input + hidden);
	return n;
}

static void
test_costs(void **state)
{
	uint64_t macs = count_in_loops(5 * 2, 1, 4, 4, 3);

	(void)state;
	/* per element: C = f C + i c, H = o tanh(C); five functions */
	check_cost("LSTM 14 (f32[5,2,3], f32[1,16,3], f32[1,16,4], f32[1,32]) "
		   "hidden_size=4 -> 3",
		   {.macs = macs,
		    .fma = macs + 40,
		    .mul = 80,
		    .add = 160,
		    .exp = 200,
		    .work = SL_WORK_RECURRENT});
	macs = count_in_loops(5 * 2, 2, 3, 4, 3);
	check_cost("GRU 14 (f32[5,2,3], f32[2,12,3], f32[2,12,4]) "
		   "direction=bidirectional hidden_size=4",
		   {.macs = macs,
		    .fma = macs + 80,
		    .mul = 160,
		    .add = 80,
		    .exp = 240,
		    .work = SL_WORK_RECURRENT});
	macs = count_in_loops(5 * 2, 1, 1, 4, 3);
	check_cost("RNN 14 (f32[2,5,3], f32[1,4,3], f32[1,4,4]) layout=1",
		   {.macs = macs,
		    .fma = macs,
		    .exp = 40,
		    .work = SL_WORK_RECURRENT});
}

static void
test_lengths(void **state)
{
	uint64_t macs = count_in_loops(5 + 1, 1, 1, 4, 3);

	(void)state;
	check_cost("RNN 14 (f32[5,2,3], f32[1,4,3], f32[1,4,4], _, "
		   "i32[2]={5,1})",
		   {.macs = macs,
		    .fma = macs,
		    .exp = 24,
		    .work = SL_WORK_RECURRENT});
	macs = count_in_loops(5 * 2, 1, 1, 4, 3);
	check_cost("RNN 14 (f32[5,2,3], f32[1,4,3], f32[1,4,4], _, i32[2])",
		   {.macs = macs,
		    .fma = macs,
		    .exp = 40,
		    .work = SL_WORK_RECURRENT,
		    .basis = SL_BASIS_ESTIMATED});
}

static void
test_no_memory(void **state)
{
	(void)state;
	check_allocations("LSTM 14 (f32[s,b,3], f32[1,16,3], f32[1,16,4]) "
			  "-> 3");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_wrong_shapes_are_refused),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
