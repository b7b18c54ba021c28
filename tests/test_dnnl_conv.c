/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions on oneDNN against the reference kernels, which compute in
 * double.  A sum of n products of numbers up to 2 and 1 differs by some
 * sqrt(n) roundings of f32, 1e-7 of its largest term; 1e-5 of the largest
 * element leaves room for sums of a thousand.  bf16 rounds operands and
 * result to 2^-9 each.
 */
#include "conv_graph.h"

static void
check_line(const char *text, enum sl_dtype dtype, double share)
{
	struct engine_case c = {.text = text, .dtype = dtype, .share = share};
	struct sl_graph *graph = conv_graph(text, 2, NULL, 0, NULL);

	check_graph(graph, &c);
	sl_graph_free(graph);
}

/* Sizes that no block divides; one to three dimensions; windows of all
 * kinds. */
static const char *const lines[] = {
	"Conv 11 (f32[1,3,20,20], f32[8,3,3,3])",
	"Conv 11 (f32[2,5,9,11], f32[7,5,3,2], f32[7]) pads=[1,0,1,1]",
	"Conv 11 (f32[1,24,13,7], f32[40,24,1,1], f32[40])",
	"Conv 11 (f32[1,24,13,7], f32[40,24,1,1]) strides=[2,2]",
	"Conv 11 (f32[1,16,14,14], f32[16,16,3,3], f32[16]) pads=[1,1,1,1]",
	"Conv 11 (f32[1,3,31,33], f32[24,3,7,7], f32[24]) pads=[3,3,3,3] "
	"strides=[2,2]",
	"Conv 11 (f32[1,19,15,15], f32[19,1,3,3], f32[19]) group=19 "
	"pads=[1,1,1,1]",
	"Conv 11 (f32[1,32,15,15], f32[32,1,5,5], f32[32]) group=32 "
	"pads=[2,2,2,2] strides=[2,2]",
	"Conv 11 (f32[1,12,10,10], f32[24,3,3,3], f32[24]) group=4",
	"Conv 11 (f32[1,6,17,17], f32[5,6,3,3], f32[5]) dilations=[2,3]",
	"Conv 11 (f32[1,6,17,17], f32[5,6,4,4]) auto_pad=SAME_UPPER "
	"strides=[2,3]",
	"Conv 11 (f32[1,6,17,17], f32[5,6,4,4]) auto_pad=SAME_LOWER",
	"Conv 11 (f32[1,6,17,17], f32[5,6,4,4]) auto_pad=VALID strides=[3,2]",
	"Conv 11 (f32[2,10,50], f32[6,10,5], f32[6]) pads=[4,0] strides=[2]",
	"Conv 11 (f32[1,16,40], f32[16,1,3], f32[16]) group=16 dilations=[4]",
	"Conv 11 (f32[1,4,6,7,8], f32[9,4,3,2,3], f32[9]) pads=[1,0,1,1,1,1]",
	"ConvTranspose 11 (f32[1,6,7,9], f32[6,5,3,3], f32[5]) strides=[2,2]",
	"ConvTranspose 11 (f32[2,6,7,9], f32[6,5,4,4]) strides=[2,2] "
	"pads=[1,1,1,1] output_padding=[1,0]",
	"ConvTranspose 11 (f32[1,8,5,5], f32[8,3,3,3], f32[6]) group=2 "
	"dilations=[2,1]",
	"ConvTranspose 11 (f32[1,8,12], f32[8,3,4], f32[3]) strides=[3] "
	"auto_pad=SAME_UPPER",
	"ConvTranspose 11 (f32[1,3,5,5], f32[3,4,3,3]) strides=[2,2] "
	"output_shape=[10,9]",
	"com.microsoft.FusedConv 1 (f32[1,8,9,9], f32[8,8,3,3], f32[8]) "
	"activation=Relu pads=[1,1,1,1]",
	"com.microsoft.FusedConv 1 (f32[1,8,9,9], f32[8,8,3,3], f32[8], "
	"f32[1,8,9,9]) activation=LeakyRelu activation_params=[0.25] "
	"pads=[1,1,1,1]",
	"com.microsoft.FusedConv 1 (f32[1,8,9,9], f32[8,8,3,3], f32[8]) "
	"activation=HardSigmoid activation_params=[0.1,0.25]",
};

static void
test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_line(lines[i], SL_DTYPE_F32, 0);
}

static void
test_bf16(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_line(lines[i], SL_DTYPE_BF16, 1.0 / 64);
}

/* Weights that are an input of the model, too. */
static void
test_weights_given(void **state)
{
	(void)state;
	check_kernel("Conv 11 (f32[1,6,9,9], f32[5,6,3,3], f32[5])");
	check_case(&(struct engine_case){
		.text = "Conv 11 (f32[1,6,9,9], f32[6,1,3,3], f32[6]) group=6",
		.is_reference = 1});
}

static const struct {
	const char *ending[5];
} endings[] = {
	{{"Relu"}},
	{{"Clip"}},
	{{"Sigmoid"}},
	{{"HardSigmoid", "Relu"}},
	{{"HardSwish"}},
	{{"Tanh", "Add"}},
	{{"Add", "Relu"}},
	{{"AddX", "Relu"}},
	{{"Relu", "Add", "Mul", "Sigmoid"}},
	{{"MulC", "Relu"}},
	{{"HardSigmoid", "AddX", "MulC"}},
	{{"Relu", "AddX", "Relu", "AddX"}},
};

/* What follows is done by the convolution or after it, to the same end. */
static void
check_endings(const char *text, const int64_t *dims, enum sl_dtype dtype)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		struct engine_case c = {.text = endings[i].ending[0],
					.dtype = dtype};
		struct sl_graph *graph =
			conv_graph(text, 2, endings[i].ending, 4, dims);

		/* 90 products below 2, each off by some 2^-8 of itself, differ
		 * by 0.02 as a rule and 0.1 at most; endings that cut the
		 * result leave as little as 1 of it. */
		c.share = dtype == SL_DTYPE_BF16 ? .1 : 0;
		check_graph(graph, &c);
		sl_graph_free(graph);
	}
}

static void
test_endings(void **state)
{
	static const int64_t dims[] = {2, 10, 9, 7};
	const char *square = "Conv 11 (f32[2,10,9,7], f32[10,10,3,3], "
			     "f32[10]) pads=[1,1,1,1]";
	const char *depthwise = "Conv 11 (f32[2,10,9,7], f32[10,1,3,3], "
				"f32[10]) group=10 pads=[1,1,1,1]";

	(void)state;
	check_endings(square, dims, SL_DTYPE_F32);
	check_endings(depthwise, dims, SL_DTYPE_F32);
	check_endings(square, dims, SL_DTYPE_BF16);
	check_endings(depthwise, dims, SL_DTYPE_BF16);
}

/* Channels padded to a block are computed; the model asks for fewer. */
static void
test_work(void **state)
{
	struct engine_case c = {.text = "work"};
	struct sl_graph *graph = conv_graph(
		"Conv 11 (f32[1,16,8,8], f32[16,16,3,3])", 1, NULL, 0, NULL);
	struct sl_plan *plan = engine_case_plan(graph, &c, 0, 1);
	uint64_t executed = 0;
	struct sl_step step;

	(void)state;
	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		executed += step.executed_flops;
	assert_int_equal(executed, 2 * 16 * 16 * 9 * 6 * 6);
	sl_plan_free(plan);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bf16),
		cmocka_unit_test(test_weights_given),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
