/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of several inputs that are broadcast together against the
 * reference kernels: every operator over a table of sizes, and the orders of
 * elements that convolutions leave.
 */
#include "engine_case.h"
#include "built.h"

static const char *const reals[] = {
	"Add",  "Sub",         "Mul",           "Max",
	"Min",  "Equal",       "Greater",       "GreaterOrEqual",
	"Less", "LessOrEqual", "Mod 21 fmod=1",
};

/* One operand and the other. */
static const char *const sizes[][2] = {
	{"[2,3,5]", "[2,3,5]"},
	{"[4,7]", "[]"},
	{"[]", "[4,7]"},
	{"[]", "[]"},
	{"[2,6,5,7]", "[1,6,1,1]"},
	{"[2,6,5,7]", "[2,6,1,1]"},
	{"[6,1,1]", "[2,6,5,7]"},
	{"[3,4,33]", "[33]"},
	{"[1,5,1,3]", "[4,1,2,3]"},
	{"[3,1]", "[1,7]"},
	{"[2,3,4,5,6]", "[3,1,5,1]"},
	{"[5,1]", "[5,9]"},
};

static void
check_pair(const char *op, const char *type, size_t i, double low, double high)
{
	struct engine_case c = {.low = low, .high = high};
	char line[160], name[32];
	const char *rest = strchr(op, ' ');

	snprintf(name, sizeof(name), "%.*s", rest ? (int)(rest - op) : 31, op);
	snprintf(line, sizeof(line), "%s 21 (%s%s, %s%s) %s", name, type,
		 sizes[i][0], type, sizes[i][1], rest ? rest + 4 : "");
	c.text = line;
	check_case(&c);
}

static void
reals_of_all_sizes(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(reals) / sizeof(*reals); k++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			check_pair(reals[k], "f32", i, -2, 2);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		check_pair("Div", "f32", i, 0.5, 2);
		check_pair("Pow", "f32", i, 0.5, 2);
		check_pair("Mod", "f32", i, 0.5, 2);
	}
}

static void
whole_numbers(void **state)
{
	static const char *const ops[] = {
		"Add",        "Sub",         "Mul",        "Div",
		"Max",        "Min",         "Mod",        "Equal",
		"Less",       "LessOrEqual", "Greater",    "GreaterOrEqual",
		"BitwiseAnd", "BitwiseOr",   "BitwiseXor",
	};

	(void)state;
	for (size_t k = 0; k < sizeof(ops) / sizeof(*ops); k++) {
		check_pair(ops[k], "i64", k % 12, -5, 5);
		check_pair(ops[k], "i32", (k + 3) % 12, -5, 5);
		check_pair(ops[k], "uint8", (k + 5) % 12, 0, 200);
	}
	for (size_t k = 0; k < 2; k++) {
		const char *op = k ? "BitShift 21 direction=RIGHT"
				   : "BitShift 21 direction=LEFT";

		check_pair(op, "uint8", 0, 0, 12);
		check_pair(op, "uint16", 4, 0, 70);
		check_pair(op, "uint32", 8, 0, 40);
	}
	check_pair("And", "bool", 0, 0, 0);
	check_pair("Or", "bool", 4, 0, 0);
	check_pair("Xor", "bool", 8, 0, 0);
	check_pair("Equal", "bool", 8, 0, 0);
}

static void
special_numbers(void **state)
{
	static const char *const lines[] = {
		"Max 13 (f32[99], f32[99])",   "Min 13 (f32[99], f32[99])",
		"Less 13 (f32[99], f32[99])",  "Equal 13 (f32[99], f32[99])",
		"Div 14 (f32[99], f32[99])",   "Mul 14 (f32[99], f32[99])",
		"PRelu 16 (f32[99], f32[99])",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		check_case(
			&(struct engine_case){.text = lines[i], .has_ends = 1});
}

/* The power of one half is no square root at the ends; whether it is 0 or -0
 * shows in the reciprocal. */
static void
half_a_power(void **state)
{
	struct sl_builder *b = new_builder();
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 1, (int64_t[]){99});
	int half = sl_builder_floats(b, "half", 0, NULL, (float[]){0.5F});
	int y = sl_builder_op(b, "Pow", 2, (int[]){x, half});
	struct sl_graph *graph;

	(void)state;
	sl_builder_output(b, sl_builder_op(b, "Reciprocal", 1, &y), "z");
	sl_builder_output(b, y, "y");
	graph = finish(b);
	check_graph(graph, &(struct engine_case){.text = "the root",
						 .low = 0.1,
						 .high = 4,
						 .has_ends = 1});
	sl_graph_free(graph);
}

static void
particular_operators(void **state)
{
	(void)state;
	check_kernel("Sum 13 (f32[2,3], f32[3], f32[2,1], f32[])");
	check_kernel("Mean 13 (f32[2,3], f32[3], f32[2,1])");
	check_kernel("Mean 13 (f32[2,3])");
	check_kernel("Max 13 (f32[2,3], f32[4,1,1], f32[3])");
	check_kernel("Min 13 (f32[5])");
	check_kernel("PRelu 16 (f32[2,3,4,5], f32[3,1,1])");
	check_kernel("PRelu 6 (f32[2,3,4,5], f32[3])");
	check_kernel("Add 6 (f32[2,3,4,5], f32[3,4]) axis=1 broadcast=1");
	check_kernel("Pow 15 (f32[7,9], f32[]={2})");
	check_kernel("Pow 15 (f32[7,9], f32[1]={3})");
	check_kernel("Pow 15 (f32[7,9], i64[1,1,1]={2})");
	check_case(&(struct engine_case){"Pow 15 (f32[7,9], f32[]={0.5})",
					 .low = 0.1, .high = 4});
	check_case(&(struct engine_case){"Pow 15 (f32[7,9], f32[]={-1.5})",
					 .low = 0.1, .high = 4});
	check_kernel("com.microsoft.BiasGelu 1 (f32[3,4,9], f32[9])");
	check_kernel("com.microsoft.FastGelu 1 (f32[3,4,9], f32[9])");
	check_case(&(struct engine_case){"Add 14 (f64[3], f64[3])",
					 .is_reference = 1});
	check_case(&(struct engine_case){"Add 14 (f32[0,3], f32[3])",
					 .is_reference = 1});
}

static void
short_types(void **state)
{
	(void)state;
	check_case(&(struct engine_case){"Add 14 (f16[3,700], f16[700])",
					 .share = 1.0 / 1024});
	check_case(&(struct engine_case){"Mul 14 (bf16[3,700], bf16[3,1])",
					 .share = 1.0 / 128});
}

static void
several_threads(void **state)
{
	(void)state;
	check_kernel("Add 14 (f32[2,64,33,35], f32[2,64,33,35])");
	check_kernel("Mul 14 (f32[2,64,33,35], f32[2,64,1,1])");
	check_kernel("Sub 14 (f32[301,701], f32[701])");
	check_kernel("Less 13 (f32[301,701], f32[])");
}

/* Channels in blocks: 64 fills them, 24 does not; each is used twice, so that
 * nothing may be written over. */
static void
after_convolutions(void **state)
{
	static const char *const ops[] = {"Add", "Mul", "Max", "Sub", "PRelu"};

	(void)state;
	for (size_t k = 0; k < 2 * sizeof(ops) / sizeof(*ops); k++) {
		int64_t channels = k % 2 ? 64 : 24;
		struct sl_builder *b = new_builder();
		int x = sl_builder_input(b, "x", SL_DTYPE_F32, 4,
					 (int64_t[]){2, 16, 9, 7});
		struct sl_conv2d conv = {.out_channels = channels,
					 .padding = 1};
		int c = sl_builder_conv2d(b, x, &conv);
		int d = sl_builder_conv2d(b, x, &conv);
		int e = sl_builder_op(b, ops[k / 2], 2, (int[]){c, d});
		int g = sl_builder_op(b, "GlobalAveragePool", 1, &d);
		int s = sl_builder_op(b, "Sigmoid", 1, &g);
		int m = sl_builder_op(b, "Mul", 2, (int[]){c, s});
		int z = sl_builder_op(b, "Add", 2, (int[]){e, m});
		struct sl_graph *graph;

		sl_builder_output(b, sl_builder_conv2d(b, z, &conv), "y");
		sl_builder_output(b, d, "d");
		graph = finish(b);
		check_graph(graph, &(struct engine_case){.text = ops[k / 2]});
		sl_graph_free(graph);
	}
}

/* A view of what the result would be written over. */
static void
not_over_a_view(void **state)
{
	struct sl_builder *b = new_builder();
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, (int64_t[]){4, 4});
	int t = sl_builder_op(b, "Tanh", 1, &x);
	int to = sl_builder_integers(b, "s", 1, (int64_t[]){3},
				     (int64_t[]){4, 4, 1});
	int v = sl_builder_op(b, "Reshape", 2, (int[]){t, to});
	int y = sl_builder_op(b, "Add", 2, (int[]){t, v});
	struct sl_graph *graph;

	(void)state;
	sl_builder_output(b, y, "y");
	graph = finish(b);
	check_graph(graph, &(struct engine_case){.text = "a view"});
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reals_of_all_sizes),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(special_numbers),
		cmocka_unit_test(half_a_power),
		cmocka_unit_test(particular_operators),
		cmocka_unit_test(short_types),
		cmocka_unit_test(several_threads),
		cmocka_unit_test(after_convolutions),
		cmocka_unit_test(not_over_a_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
