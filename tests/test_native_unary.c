/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of one element against the reference kernels, which compute in
 * double.  Functions of vector_math.h are good to 2e-7, so 1e-5 of the
 * largest element leaves room only for the last steps of f32; f16 and bf16
 * are rounded once, to 2^-11 and 2^-8.
 */
#include "engine_case.h"
#include "built.h"

static const char *const anywhere[] = {
	"Abs",
	"Atan",
	"Ceil",
	"Celu",
	"Cos",
	"Elu",
	"Erf",
	"Exp",
	"Floor",
	"Gelu",
	"HardSigmoid",
	"HardSwish",
	"LeakyRelu",
	"Mish",
	"Neg",
	"Relu",
	"Round",
	"Selu",
	"Shrink",
	"Sigmoid",
	"Sign",
	"Sin",
	"Softplus",
	"Softsign",
	"Swish",
	"Tan",
	"Tanh",
	"ThresholdedRelu",
	"Asinh",
	"Cosh",
	"Sinh",
	"Clip",
	"com.microsoft.Gelu",
	"com.microsoft.FastGelu",
	"com.microsoft.QuickGelu",
};

static void
check_range(const char *name, const char *sizes, double low, double high)
{
	struct engine_case c = {.low = low, .high = high};
	char line[128];

	snprintf(line, sizeof(line), "%s 24 (f32%s)", name, sizes);
	c.text = line;
	if (strchr(name, '.'))
		snprintf(line, sizeof(line), "%s 1 (f32%s)", name, sizes);
	check_case(&c);
}

static void
all_real_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(anywhere) / sizeof(*anywhere); i++) {
		check_range(anywhere[i], "[2,3,5]", -2, 2);
		check_range(anywhere[i], "[1037]", -0.01, 0.01);
		check_range(anywhere[i], "[]", -1, 1);
		check_range(anywhere[i], "[7,331]", -12, 12);
	}
}

static void
where_defined(void **state)
{
	(void)state;
	check_range("Acos", "[333]", -1, 1);
	check_range("Asin", "[333]", -1, 1);
	check_range("Atanh", "[333]", -0.9, 0.9);
	check_range("Acosh", "[333]", 1, 9);
	check_range("Log", "[333]", 0.01, 3);
	check_range("Log", "[333]", -1, 1e30);
	check_range("Sqrt", "[333]", -1, 9);
	check_range("Reciprocal", "[333]", 0.5, 2);
	check_range("Exp", "[999]", -110, 80);
	check_range("Sigmoid", "[999]", -120, 120);
	check_range("Tanh", "[999]", -120, 120);
}

/* What is no number and what has no end. */
static void
special_numbers(void **state)
{
	char line[160];

	(void)state;
	for (size_t i = 0; i < sizeof(anywhere) / sizeof(*anywhere); i++) {
		int is_ours = strchr(anywhere[i], '.') != NULL;

		snprintf(line, sizeof(line), "%s %d (f32[333])", anywhere[i],
			 is_ours ? 1 : 24);
		check_case(&(struct engine_case){.text = line, .has_ends = 1});
	}
	/* A bound that is not there is the largest number of the type. */
	check_case(&(struct engine_case){"Clip 13 (f32[99], f32[]={-1})",
					 .has_ends = 1});
	check_case(&(struct engine_case){"Clip 6 (f32[99]) max=1.5",
					 .has_ends = 1});
}

static void
attributes(void **state)
{
	(void)state;
	check_kernel("Clip 6 (f32[100]) min=-0.5 max=1.25");
	check_kernel("Clip 13 (f32[100], f32[]={-0.5}, f32[]={0.25})");
	check_kernel("Clip 13 (f32[100], _, f32[]={0.25})");
	check_kernel("Clip 13 (f32[100], f32[]={1.0}, f32[]={-1.0})");
	check_kernel("Elu 6 (f32[100]) alpha=0.3");
	check_kernel("Celu 12 (f32[100]) alpha=0.3");
	check_kernel("Selu 1 (f32[100])");
	check_kernel("Selu 6 (f32[100]) alpha=0.3 gamma=2.5");
	check_kernel("LeakyRelu 16 (f32[100]) alpha=0.3");
	check_kernel("ThresholdedRelu 10 (f32[100]) alpha=0.3");
	check_kernel("HardSigmoid 6 (f32[100]) alpha=0.3 beta=0.4");
	check_kernel("Shrink 9 (f32[100]) bias=0.3 lambd=1.1");
	check_kernel("Swish 24 (f32[100]) alpha=0.3");
	check_kernel("Gelu 20 (f32[100]) approximate=tanh");
	check_case(&(struct engine_case){"IsNaN 20 (f32[100])", .has_ends = 1});
	check_case(&(struct engine_case){
		"IsInf 20 (f16[100]) detect_negative=0", .has_ends = 1});
}

static void
other_types(void **state)
{
	(void)state;
	check_case(&(struct engine_case){"Relu 14 (f16[999])", .share = 1e-3});
	check_case(&(struct engine_case){"Sigmoid 13 (bf16[999])",
					 .share = 1.0 / 128});
	check_case(&(struct engine_case){"Tanh 13 (f16[999])",
					 .share = 1.0 / 1024});
	check_case(&(struct engine_case){"Abs 13 (i64[999])", .low = -99,
					 .high = 99});
	check_case(&(struct engine_case){"Neg 13 (i32[999])", .low = -99,
					 .high = 99});
	check_case(&(struct engine_case){"Sign 13 (i8[999])", .low = -99,
					 .high = 99});
	check_case(&(struct engine_case){
		"Clip 13 (i64[999], i64[]={-5}, i64[]={7})", .low = -99,
		.high = 99});
	check_kernel("Not 1 (bool[999])");
	check_case(
		&(struct engine_case){"BitwiseNot 18 (uint8[999])", .high = 9});
	check_case(&(struct engine_case){"Exp 13 (f64[9])", .is_reference = 1});
	check_case(
		&(struct engine_case){"Relu 14 (f32[0,3])", .is_reference = 1});
}

/* Large enough for several threads. */
static void
several_threads(void **state)
{
	(void)state;
	check_kernel("Relu 14 (f32[3,70001])");
	check_kernel("Tanh 13 (f32[3,70001])");
	check_case(&(struct engine_case){"Sqrt 13 (f16[3,170001])",
					 .share = 1e-3});
}

/* Results are written over inputs that nobody needs any more, and not over
 * those that somebody does. */
static void
in_place(void **state)
{
	struct sl_builder *b = new_builder();
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, (int64_t[]){3, 37});
	int t = sl_builder_op(b, "Tanh", 1, &x);
	int e = sl_builder_op(b, "Exp", 1, &t);
	int s = sl_builder_op(b, "Sigmoid", 1, &e);
	int r = sl_builder_op(b, "Neg", 1, &e);
	struct sl_graph *graph;

	(void)state;
	sl_builder_output(b, s, "s");
	sl_builder_output(b, r, "r");
	graph = finish(b);
	check_graph(graph, &(struct engine_case){.text = "in place"});
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_real_functions),
		cmocka_unit_test(where_defined),
		cmocka_unit_test(special_numbers),
		cmocka_unit_test(attributes),
		cmocka_unit_test(other_types),
		cmocka_unit_test(several_threads),
		cmocka_unit_test(in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
