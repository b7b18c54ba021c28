/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_quantized.c - convolutions and matrix products of bytes give the
 * reference kernels' integers exactly, ties included, and reals within 1e-5;
 * zero points, groups, paddings, types of both operands, scales per channel
 * and sizes that fill no vector are in the table.  What the kernels cannot do
 * exactly is left to the reference kernels.
 */
#include "quantized_case.h"
#include "engine/quantized.h"

#define X             "f32[]={0.02}, "
#define W             "f32[]={0.005}, "
#define Y             "f32[]={0.05}, "
#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const char *const CONVS[] = {
	/* Zero points of the image, with padding and without. */
	"QLinearConv 10 (uint8[1,8,9,7], " X "uint8[]={114}, i8[6,8,3,3], " W
	"i8[]={0}, " Y "uint8[]={0}, i32[6]) pads=[1,1,1,1]",
	"QLinearConv 10 (uint8[2,8,9,7], " X "uint8[]={114}, i8[6,8,3,3], " W
	"i8[]={0}, " Y "uint8[]={0}, i32[6])",
	"QLinearConv 10 (uint8[1,16,6,6], " X "uint8[]={0}, i8[32,16,3,3], " W
	"i8[]={0}, " Y "uint8[]={0}, i32[32]) pads=[1,1,1,1] strides=[2,2]",
	/* Odd and even zero points of the result; no bias. */
	"QLinearConv 10 (uint8[1,19,5,5], " X "uint8[]={7}, i8[21,19,1,1], " W
	"i8[]={0}, " Y "uint8[]={111}, i32[21])",
	"QLinearConv 10 (uint8[1,32,7,7], " X "uint8[]={130}, i8[48,32,1,1], " W
	"i8[]={0}, " Y "uint8[]={130})",
	/* int8 images. */
	"QLinearConv 10 (i8[1,12,8,8], " X "i8[]={-128}, i8[16,12,4,4], " W
	"i8[]={0}, " Y "i8[]={-128}, i32[16]) pads=[1,1,2,2]",
	"QLinearConv 10 (i8[1,1,12,10], " X "i8[]={3}, i8[16,1,8,8], " W
	"i8[]={0}, " Y "i8[]={5}, i32[16]) pads=[3,3,4,4]",
	"QLinearConv 10 (i8[1,33,4,5], " X "i8[]={-7}, i8[17,33,1,1], " W
	"i8[]={0}, " Y "uint8[]={128}, i32[17])",
	/* Scales per channel; weights of uint8 around 128. */
	"QLinearConv 10 (uint8[1,8,9,9], " X
	"uint8[]={3}, i8[24,8,3,3], f32[24], "
	"i8[24]={0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}, " Y
	"uint8[]={9}, i32[24]) pads=[1,1,1,1] dilations=[2,2]",
	"QLinearConv 10 (uint8[1,8,9,9], " X "uint8[]={3}, uint8[16,8,3,3], " W
	"uint8[]={128}, " Y "uint8[]={9}, i32[16])",
	/* Groups of one channel that the own kernel leaves: a wide stride, a
	 * dilation, sums that are multiplied beyond int32, two results of
	 * each.  Groups of several. */
	"QLinearConv 10 (uint8[1,35,9,19], " X
	"uint8[]={5}, i8[35,1,3,3], f32[35], "
	"i8[]={0}, " Y "uint8[]={77}, i32[35]) group=35 pads=[1,1,1,1] "
	"strides=[1,3]",
	"QLinearConv 10 (uint8[1,16,9,19], " X "uint8[]={5}, i8[16,1,3,3], " W
	"i8[]={0}, " Y "uint8[]={7}, i32[16]) group=16 pads=[1,2,1,2] "
	"dilations=[1,2]",
	"QLinearConv 10 (uint8[1,16,9,9], f32[]={1e6}, uint8[]={5}, "
	"i8[16,1,3,3], " W "i8[]={0}, f32[]={1e-6}, uint8[]={7}, i32[16]) "
	"group=16 pads=[1,1,1,1]",
	"QLinearConv 10 (uint8[1,16,9,9], " X "uint8[]={5}, i8[32,1,3,3], " W
	"i8[]={0}, " Y "uint8[]={7}, i32[32]) group=16 pads=[1,1,1,1]",
	"QLinearConv 10 (uint8[1,24,6,6], " X "uint8[]={9}, i8[8,6,3,3], " W
	"i8[]={0}, " Y "uint8[]={2}, i32[8]) group=4",
	/* One and three dimensions. */
	"QLinearConv 10 (uint8[2,8,31], " X "uint8[]={9}, i8[8,8,5], " W
	"i8[]={0}, " Y "uint8[]={2}, i32[8]) pads=[2,2]",
	"QLinearConv 10 (uint8[1,4,5,6,7], " X "uint8[]={9}, i8[8,4,3,3,3], " W
	"i8[]={0}, " Y "uint8[]={2}, i32[8]) pads=[1,1,1,1,1,1]",
	"ConvInteger 10 (uint8[1,8,9,9], i8[16,8,3,3], uint8[]={12}, i8[]={0}) "
	"pads=[1,1,1,1]",
	"ConvInteger 10 (uint8[1,3,9,9], uint8[5,3,3,3], uint8[]={12}, "
	"uint8[]={128})",
};

static void
convolutions_are_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(CONVS); i++)
		check_quantized(CONVS[i], 1,
				strstr(CONVS[i], " group=")
					? !sl__dnnl_int8_groups_are_exact()
					: !sl__dnnl_int8_is_exact());
}

/* Weights whose zero point is not in their middle, sums that f32 cannot hold,
 * and nothing at all. */
static void
what_would_not_be_exact_is_left(void **state)
{
	(void)state;
	check_quantized("QLinearConv 10 (uint8[1,2,5,5], " X
			"uint8[]={3}, uint8[4,2,3,3], " W "uint8[]={120}, " Y
			"uint8[]={9}, i32[4])",
			1, 1);
	check_quantized("ConvInteger 10 (uint8[1,128,4,4], i8[8,128,3,3])", 1,
			1);
	check_quantized("QLinearConv 10 (uint8[0,2,5,5], " X
			"uint8[]={3}, i8[4,2,3,3], " W "i8[]={0}, " Y
			"uint8[]={9}, i32[4])",
			1, 1);
}

/* The number of inputs that are given when the product runs. */
static const struct {
	uint32_t n_given;
	const char *text;
} PRODUCTS[] = {
	{1, "QLinearMatMul 10 (uint8[5,33], " X "uint8[]={114}, i8[33,19], " W
	    "i8[]={0}, " Y "uint8[]={101})"},
	{1,
	 "QLinearMatMul 10 (i8[2,3,5,16], " X "i8[]={-4}, i8[16,32], f32[32], "
	 "i8[32], " Y "i8[]={3})"},
	{1,
	 "QLinearMatMul 10 (uint8[4,64], " X "uint8[]={255}, uint8[64,20], " W
	 "uint8[]={120}, " Y "uint8[]={0})"},
	{2,
	 "QLinearMatMul 10 (uint8[3,4,20], " X "uint8[]={9}, uint8[3,20,7], " W
	 "uint8[]={120}, " Y "uint8[]={128})"},
	{2, "QLinearMatMul 10 (i8[2,2,8,16], " X "i8[]={9}, i8[2,2,16,8], " W
	    "i8[]={-3}, " Y "i8[]={1})"},
	{1, "MatMulInteger 10 (uint8[7,300], i8[300,40], uint8[]={12})"},
	{1, "MatMulInteger 10 (i8[7,300], i8[300,40], i8[]={-5}, i8[40])"},
	{1, "MatMulInteger 10 (uint8[1,2000], uint8[2000,9], uint8[]={128}, "
	    "uint8[9])"},
	{2, "MatMulInteger 10 (uint8[6,17], i8[17,5], uint8[]={3}, i8[]={2})"},
	{2, "MatMulInteger 10 (uint8[6,17], i8[17,5])"},
	{1,
	 "com.microsoft.QGemm 1 (uint8[3,40], " X "uint8[]={7}, i8[24,40], " W
	 "i8[]={0}, i32[24], " Y "uint8[]={75}) transB=1"},
	{1, "com.microsoft.QGemm 1 (uint8[40,3], " X
	    "uint8[]={7}, i8[40,24], f32[24], "
	    "i8[]={2}, i32[24], " Y "uint8[]={75}) transA=1 alpha=0.5"},
	{1, "com.microsoft.QGemm 1 (uint8[3,40], " X
	    "uint8[]={7}, i8[40,24], " W "i8[]={0}, i32[24])"},
	{1, "com.microsoft.MatMulIntegerToFloat 1 (uint8[2,5,40], i8[40,24], " X
	    "f32[24], uint8[]={7}, i8[24], f32[24])"},
	{1, "com.microsoft.MatMulIntegerToFloat 1 (i8[5,40], i8[40,24], " X W
	    "i8[]={7})"},
	{1, "com.microsoft.DynamicQuantizeMatMul 1 (f32[5,40], i8[40,24], " W
	    "i8[]={0}, f32[24])"},
	{1, "com.microsoft.DynamicQuantizeMatMul 1 (f32[2,5,40], uint8[40,24], "
	    "f32[24], uint8[24])"},
};

static void
products_are_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(PRODUCTS); i++)
		check_quantized(PRODUCTS[i].text, PRODUCTS[i].n_given,
				!sl__dnnl_int8_products_are_exact());
}

static void
stacks_that_are_repeated_are_left(void **state)
{
	(void)state;
	check_quantized("MatMulInteger 10 (uint8[2,3,4,5], i8[3,5,6])", 2, 1);
	check_quantized("MatMulInteger 10 (uint8[5], i8[5,6])", 1, 1);
	check_quantized("MatMulInteger 10 (uint8[4,5], i8[5,6], uint8[4])", 1,
			1);
}

/* The largest sums that int32 holds, and those that are larger. */
static void
sums_beyond_all_bounds_are_left(void **state)
{
	static const char *const texts[] = {
		"com.microsoft.MatMulIntegerToFloat 1 (i8[1,32768], "
		"i8[32768,3], " X W "i8[]={127}, i8[]={127})",
		"com.microsoft.MatMulIntegerToFloat 1 (i8[1,40000], "
		"i8[40000,3], " X W "i8[]={127}, i8[]={127})",
	};

	(void)state;
	for (int i = 0; i < 2; i++)
		check_case(&(struct engine_case){
			.text = texts[i],
			.low = -128,
			.high = -120,
			.is_reference = i ||
					!sl__dnnl_int8_products_are_exact()});
}

/* The work is asked for once, and done by the product, whatever gets its
 * operands ready. */
static void
work_is_counted_once(void **state)
{
	static const char *const texts[] = {
		"com.microsoft.DynamicQuantizeMatMul 1 (f32[5,40], i8[40,24], "
		"f32[]={0.01}, i8[]={0})",
		"MatMulInteger 10 (i8[5,40], uint8[40,24], i8[]={3})",
	};

	(void)state;
	if (!sl__dnnl_int8_products_are_exact())
		skip();
	for (size_t i = 0; i < N_ROWS(texts); i++) {
		struct sl_graph *graph = quantized_graph(texts[i], 2);
		struct engine_case c = {.text = texts[i]};
		struct sl_plan *plan = engine_case_plan(graph, &c, 0, 1);
		uint64_t executed = 0;
		struct sl_step step;
		size_t n = sl_plan_n_steps(plan);

		assert_true(n > 2);
		for (size_t k = 0; k < n; k++) {
			assert_true(sl_plan_step(plan, k, &step));
			assert_int_equal(step.nominal_flops != 0, k == n - 2);
			executed += step.executed_flops;
		}
		/* Products and sums, then scales. */
		assert_int_equal(executed, 2 * 5 * 40 * 24 + 2 * 5 * 24);
		sl_plan_free(plan);
		sl_graph_free(graph);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolutions_are_exact),
		cmocka_unit_test(what_would_not_be_exact_is_left),
		cmocka_unit_test(products_are_exact),
		cmocka_unit_test(stacks_that_are_repeated_are_left),
		cmocka_unit_test(sums_beyond_all_bounds_are_left),
		cmocka_unit_test(work_is_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
