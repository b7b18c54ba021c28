/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_winograd.c - own Winograd convolutions against the reference
 * kernels, and that each of F(2, 3) and F(4, 3) is taken where it pays.
 *
 * F(4, 3) loses some three bits to its transforms: 1e-4 of the largest element,
 * as test_dnnl_choice.c has it for oneDNN's.
 */
#define ENGINE_CASE_FLAGS      (SL__PLAN_NO_DNNL | SL_PLAN_NO_CACHE)
#define ENGINE_CASE_ALGORITHMS SL_ALGORITHMS_MEASURED
#include "compute/gemm_blocked.h"
#include "conv_graph.h"

/* How often the plan has a kernel of that name. */
static int
count(const struct sl_graph *graph, const char *name, unsigned flags)
{
	struct engine_case c = {.text = name};
	struct sl_plan *plan =
		engine_case_plan(graph, &c, ENGINE_CASE_FLAGS | flags, 1);
	struct sl_step step;
	int n = 0;

	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		n += !strncmp(step.kernel, name, strlen(name));
	sl_plan_free(plan);
	return n;
}

/* Vectors of four have narrower panels than a line: no Winograd there. */
static int
has_winograd(void)
{
	return sl__gemm_blocked_panel() % 16 == 0;
}

static void
check_line(const char *line, const char *kernel, const char *const *ending,
	   const int64_t *dims)
{
	struct engine_case c = {.text = line, .share = 1e-4};
	struct sl_graph *graph =
		conv_graph(line, 2, ending, ending ? 4 : 0, dims);

	check_graph(graph, &c);
	if (count(graph, kernel, 0) != has_winograd())
		fail_msg("%s: not by %s", line, kernel);
	assert_int_equal(count(graph, "winograd", SL_PLAN_NO_WINOGRAD), 0);
	sl_graph_free(graph);
}

/* Sizes that tiles divide and do not, fewer and more tiles than rows of a
 * group, channels of the result that fill no vector, pads of every kind. */
static void
four_by_four(void **state)
{
	static const char *const lines[] = {
		"Conv 11 (f32[1,64,16,16], f32[64,64,3,3], f32[64]) "
		"pads=[1,1,1,1]",
		"Conv 11 (f32[1,32,19,17], f32[40,32,3,3], f32[40]) "
		"pads=[1,1,1,1]",
		"Conv 11 (f32[2,48,14,15], f32[33,48,3,3]) pads=[0,2,1,0]",
		"Conv 11 (f32[1,32,31,30], f32[65,32,3,3], f32[65])",
		"Conv 11 (f32[1,96,33,31], f32[70,96,3,3], f32[70]) "
		"auto_pad=SAME_UPPER",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_line(lines[i], "winograd_4x3", NULL, NULL);
}

static void
two_by_two(void **state)
{
	static const char *const lines[] = {
		"Conv 11 (f32[1,64,7,7], f32[64,64,3,3], f32[64]) "
		"pads=[1,1,1,1]",
		"Conv 11 (f32[1,96,8,6], f32[50,96,3,3]) pads=[1,1,1,1]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_line(lines[i], "winograd_2x3", NULL, NULL);
}

static void
what_follows(void **state)
{
	static const char *const endings[][5] = {
		{"Relu"},
		{"Add", "Relu"},
		{"Sigmoid", "Add"},
		{"MulC", "Relu", "Add", "Mul"},
	};
	static const int64_t dims[] = {1, 36, 17, 18};

	(void)state;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		check_line("Conv 11 (f32[1,48,17,18], f32[36,48,3,3], "
			   "f32[36]) pads=[1,1,1,1]",
			   "winograd_4x3", endings[i], dims);
}

/* Where it cannot be, or does not pay. */
static void
not_for_it(void **state)
{
	static const char *const lines[] = {
		"Conv 11 (f32[1,64,16,16], f32[64,64,3,3]) strides=[2,2]",
		"Conv 11 (f32[1,64,16,16], f32[64,64,3,3]) dilations=[2,2]",
		"Conv 11 (f32[1,64,16,16], f32[64,32,3,3]) group=2",
		"Conv 11 (f32[1,40,16,16], f32[64,40,3,3])",
		"Conv 11 (f32[1,16,16,16], f32[4,16,3,3])",
		"Conv 11 (f32[1,64,3,3], f32[64,64,3,3])",
		"Conv 11 (f32[1,64,16,16], f32[64,64,5,5])",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct sl_graph *graph = conv_graph(lines[i], 2, NULL, 0, NULL);

		if (count(graph, "winograd", 0))
			fail_msg("%s", lines[i]);
		sl_graph_free(graph);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_by_four),
		cmocka_unit_test(two_by_two),
		cmocka_unit_test(what_follows),
		cmocka_unit_test(not_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
