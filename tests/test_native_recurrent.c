/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_recurrent.c - LSTM, GRU and RNN against the reference kernels.
 * Sigmoid and tanh keep states below 1 and forget errors, so that what is
 * true of one product (test_dnnl_matmul.c) is true of a sequence.
 */
#include "matmul_case.h"

enum { W = 2, R = 4, B = 8, WEIGHTS = W | R | B };

static void
check_layers(const struct matmul_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct matmul_case c = cases[i];

		c.kernel = "recurrent";
		check_product(&c);
	}
}

static void
directions_states_and_layouts(void **state)
{
	static const struct matmul_case cases[] = {
		{"LSTM 14 (f32[5,3,7], f32[1,76,7], f32[1,76,19], f32[1,152]) "
		 "hidden_size=19 -> 3",
		 .constants = WEIGHTS},
		{"LSTM 14 (f32[5,3,7], f32[1,76,7], f32[1,76,19]) "
		 "hidden_size=19 direction=reverse -> 3",
		 .constants = W | R},
		{"LSTM 14 (f32[5,3,7], f32[2,76,7], f32[2,76,19], f32[2,152], "
		 "_, f32[2,3,19], f32[2,3,19]) hidden_size=19 "
		 "direction=bidirectional -> 3",
		 .constants = WEIGHTS},
		{"LSTM 14 (f32[3,5,7], f32[2,76,7], f32[2,76,19], f32[2,152], "
		 "_, f32[3,2,19], f32[3,2,19]) hidden_size=19 layout=1 "
		 "direction=bidirectional -> 3",
		 .constants = WEIGHTS},
		{"LSTM 14 (f32[1,1,257], f32[1,512,257], f32[1,512,128], "
		 "f32[1,1024], _, f32[1,1,128], f32[1,1,128]) hidden_size=128 "
		 "-> 3",
		 .constants = WEIGHTS},
		{"LSTM 14 (f32[9,4,100], f32[1,512,100], f32[1,512,128], "
		 "f32[1,1024]) hidden_size=128 -> 1",
		 .constants = WEIGHTS},
		{"GRU 14 (f32[5,3,7], f32[2,57,7], f32[2,57,19], f32[2,114], "
		 "_, f32[2,3,19]) hidden_size=19 direction=bidirectional -> 2",
		 .constants = WEIGHTS},
		{"GRU 14 (f32[5,3,7], f32[2,57,7], f32[2,57,19], f32[2,114], "
		 "_, f32[2,3,19]) hidden_size=19 direction=bidirectional "
		 "linear_before_reset=1 -> 2",
		 .constants = WEIGHTS},
		{"GRU 14 (f32[3,5,7], f32[1,57,7], f32[1,57,19]) "
		 "hidden_size=19 layout=1 linear_before_reset=1 -> 2",
		 .constants = W | R},
		{"RNN 14 (f32[5,3,7], f32[2,19,7], f32[2,19,19], f32[2,38]) "
		 "hidden_size=19 direction=bidirectional -> 2",
		 .constants = WEIGHTS},
	};

	(void)state;
	check_layers(cases, sizeof(cases) / sizeof(cases[0]));
}

/* What follows the end of a sequence is 0; a backward direction begins there. */
static void
lengths_of_sequences(void **state)
{
	(void)state;
	check_kernel(
		"LSTM 14 (f32[5,4,1], f32[2,8,1]={-0.25,0.25,1,0.875,-0.25,0."
		"125,0.875,-1,0.5,-0.75,-0.125,-1.125,-0.875,-0.875,-1.125,-1"
		"}, f32[2,8,2]={1.125,-0.75,-0.5,0.625,-0.875,-0.375,0.25,1.1"
		"25,1.125,-0.625,1,0.125,0.5,0.875,-0.75,0.25,1.125,-0.375,0."
		"75,0.125,0.125,0.875,-0.375,-0.125,-1.125,-0.875,0.75,0.625,"
		"-0.875,-1.125,-0.875,-1}, f32[2,16]={1.125,-1.125,1,0.875,0."
		"125,1,-0.5,-1.125,-0.25,0.125,-0.25,-1,-0.625,-0.625,-0.375,"
		"0.625,-0.375,-0.625,-0.625,1,1,0.25,-0.625,0.75,0.5,0.25,1.1"
		"25,-0.875,-0.5,-0.875,-0.125,-1}, i32[4]={5,2,2,0}, f32[2,4,"
		"2], f32[2,4,2]) hidden_size=2 direction=bidirectional -> 3");
	check_kernel(
		"GRU 14 (f32[3,5,1], f32[1,6,1]={1.125,-1.125,0.5,-0.875,0.87"
		"5,-0.625}, f32[1,6,2]={-0.5,-0.625,-0.25,0.625,-0.875,0.375,"
		"-1.125,-0.5,0.375,-0.875,-0.75,-0.5}, _, i32[3]={1,5,4}) hid"
		"den_size=2 layout=1 direction=reverse linear_before_reset=1 "
		"-> 2");
	check_kernel(
		"RNN 14 (f32[5,3,2], f32[1,3,2]={0.5,0.25,0.625,0.125,0.875,0"
		".125}, f32[1,3,3]={-0.5,0.375,0.875,-0.625,-0.875,1.125,1.12"
		"5,-0.25,-0.25}, f32[1,6]={-0.375,-1.125,-0.625,1.125,0.75,0."
		"75}, i32[3]={3,3,3}) hidden_size=3 -> 2");
}

static void
refuses_lengths_outside(void **state)
{
	struct engine_case c = {.text = "GRU 14 (f32[2,1,1], "
					"f32[1,3,1]={1,1,1}, "
					"f32[1,3,1]={1,1,1}, _, i32[1]) "
					"hidden_size=1 -> 2",
				.low = 3,
				.high = 9};
	struct sl_graph *graph = engine_case_graph(c.text);
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = 1};
	struct sl_error err = {0};
	struct sl_plan *plan;

	(void)state;
	assert_int_equal(sl_plan_new(&plan, graph, &options, &err), SL_OK);
	engine_case_fill(plan, &c);
	assert_int_equal(sl_plan_run(plan, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "in 2 steps"));
	sl_plan_free(plan);
	sl_graph_free(graph);
}

static void
what_is_left_to_the_reference_kernels(void **state)
{
	static const char *const texts[] = {
		"LSTM 14 (f32[5,3,7], f32[1,16,7], f32[1,16,4]) hidden_size=4",
		"LSTM 14 (f32[2,1,1], f32[1,4,1]={1,1,1,1}, "
		"f32[1,4,1]={1,1,1,1}) hidden_size=1 clip=0.5",
		"LSTM 14 (f32[2,1,1], f32[1,4,1]={1,1,1,1}, "
		"f32[1,4,1]={1,1,1,1}) hidden_size=1 input_forget=1",
		"LSTM 14 (f32[2,1,1], f32[1,4,1]={1,1,1,1}, "
		"f32[1,4,1]={1,1,1,1}, _, _, _, _, f32[1,3]={1,1,1}) "
		"hidden_size=1",
		"GRU 14 (f32[0,1,1], f32[1,3,1]={1,1,1}, f32[1,3,1]={1,1,1}) "
		"hidden_size=1 -> 2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_case(&(struct engine_case){.text = texts[i],
						 .is_reference = 1});
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(directions_states_and_layouts),
		cmocka_unit_test(lengths_of_sequences),
		cmocka_unit_test(refuses_lengths_outside),
		cmocka_unit_test(what_is_left_to_the_reference_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
