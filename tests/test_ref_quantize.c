/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_quantize.c - quantized operators, with cases worked out by hand:
 * ties and limits, scales by axis and by block, weights of uint8 with zero
 * points, sums beyond a type, what is refused.
 */
#include "evaluated.h"

static void
test_quantizing_rounds_to_even(void **state)
{
	(void)state;
	check_evaluated("QuantizeLinear 13 (f32[6]={1,3,5,-1,-3,7}, f32[]={2},"
			" uint8[]={10})",
			"uint8[6]={10,12,12,10,8,14}");
	check_evaluated("QuantizeLinear 13 (f32[4]={-1000,1000,254,256}, "
			"f32[]={2}, i8[]={1})",
			"i8[4]={-128,127,127,127}");
	check_evaluated("QuantizeLinear 13 (f32[3]={nan,inf,-inf}, f32[]={1},"
			" uint8[]={7})",
			"uint8[3]={7,255,0}");
	check_evaluated("QuantizeLinear 13 (f32[2]={0.4,300}, f32[]={1})",
			"uint8[2]={0,255}");
	check_evaluated("QuantizeLinear 21 (f32[4]={-9,7.5,8,1}, f32[]={1},"
			" i4[]={0})",
			"i4[4]={-8,7,7,1}");
	check_evaluated("QuantizeLinear 21 (f32[3]={-1,2,70000}, f32[]={1}) "
			"output_dtype=4",
			"uint16[3]={0,2,65535}");
	check_evaluated("QuantizeLinear 19 (f32[1]={500}, f32[]={1}, "
			"f8e4m3fn[]={0})",
			"f8e4m3fn[1]={448}");
	check_evaluated("QuantizeLinear 19 (f32[2]={500,-9}, f32[]={1}, "
			"f8e4m3fn[]={0}) saturate=0",
			"f8e4m3fn[2]={nan,-9}");
}

/* The quotient is 1.49999994; of f32 it is 1.5, which goes to 2. */
static void
test_quotients_are_of_the_scale_s_type(void **state)
{
	(void)state;
	check_evaluated("QuantizeLinear 13 (f32[1]={0.003}, f32[]={0.002}, "
			"uint8[]={0})",
			"uint8[1]={2}");
	check_evaluated("QuantizeLinear 23 (f32[1]={0.003}, f32[]={0.002}, "
			"uint8[]={0}) precision=11",
			"uint8[1]={1}");
}

static void
test_scales_by_axis(void **state)
{
	(void)state;
	check_evaluated("QuantizeLinear 13 (f32[2,3]={2,4,6,8,10,12}, "
			"f32[2]={1,2}, i8[2]={0,-1}) axis=0",
			"i8[2,3]={2,4,6,3,4,5}");
	check_evaluated("DequantizeLinear 13 (uint8[2,2]={3,3,7,7}, "
			"f32[2]={0.5,2}, uint8[2]={1,3}) axis=-1",
			"f32[2,2]={1,0,3,8}");
	check_evaluated("DequantizeLinear 10 (i32[2]={3,-3}, f32[]={0.5})",
			"f32[2]={1.5,-1.5}");
	check_evaluated("DequantizeLinear 19 (i8[2]={3,-3}, f16[]={0.5}, "
			"i8[]={1})",
			"f16[2]={1,-2}");
	check_evaluated("com.microsoft.DequantizeLinear 1 (uint8[1,2]={3,7}, "
			"f32[2]={0.5,2}, uint8[2]={1,3}) axis=1",
			"f32[1,2]={1,8}");
	check_evaluated("QuantizeLinear 13 (f32[0,2]={}, f32[2]={1,1}, "
			"i8[2]={0,0})",
			"i8[0,2]={}");
	check_fails("QuantizeLinear 13 (f32[2,3]={1,2,3,4,5,6}, f32[3]={1,1,1},"
		    " i8[2]={0,0})",
		    "input 2 has 2 elements");
}

/* The last block is shorter. */
static void
test_scales_by_block(void **state)
{
	(void)state;
	check_evaluated("DequantizeLinear 21 (i4[2,3]={1,2,3,-4,5,-6}, "
			"f32[2,2]={1,10,100,1000}, i4[2,2]={0,0,1,0}) axis=1 "
			"block_size=2",
			"f32[2,3]={1,2,30,-500,400,-6000}");
	check_evaluated("QuantizeLinear 21 (f32[3,2]={2,4,6,8,10,12}, "
			"f32[2,2]={1,2,5,4}, i8[2,2]={0,1,0,0}) axis=0 "
			"block_size=2",
			"i8[3,2]={2,3,6,5,2,3}");
	check_fails("QuantizeLinear 21 (f32[3,2]={2,4,6,8,10,12}, "
		    "f32[3,2]={1,2,5,4,1,1}, i8[3,2]={0,1,0,0,0,0}) axis=0 "
		    "block_size=2",
		    "blocks of 2 along axis 0");
}

static void
test_dynamic_quantizing(void **state)
{
	(void)state;
	check_evaluated("DynamicQuantizeLinear 11 (f32[3]={-51,0,204})",
			"uint8[3]={0,51,255} f32[]={1} uint8[]={51}");
	/* 0 is always in the range. */
	check_evaluated("DynamicQuantizeLinear 11 (f32[2]={255,510})",
			"uint8[2]={128,255} f32[]={2} uint8[]={0}");
	check_evaluated("DynamicQuantizeLinear 11 (f32[2]={0,0})",
			"uint8[2]={0,0} f32[]={1} uint8[]={0}");
	check_evaluated("DynamicQuantizeLinear 11 (f32[0]={})",
			"uint8[0]={} f32[]={1} uint8[]={0}");
}

static void
test_integer_products(void **state)
{
	(void)state;
	check_evaluated("MatMulInteger 10 (uint8[2,2]={1,2,3,4}, "
			"uint8[2,2]={5,6,7,8})",
			"i32[2,2]={19,22,43,50}");
	/* (1-1 2-1; 3-1 4-1) times (5-5 6-8; 7-5 8-8) */
	check_evaluated("MatMulInteger 10 (uint8[2,2]={1,2,3,4}, "
			"uint8[2,2]={5,6,7,8}, uint8[]={1}, uint8[2]={5,8})",
			"i32[2,2]={2,0,6,-4}");
	/* A zero point for each row. */
	check_evaluated("MatMulInteger 10 (uint8[2,2]={1,2,3,4}, "
			"i8[2,1]={1,-1}, uint8[2]={1,3})",
			"i32[2,1]={-1,-1}");
	check_evaluated("MatMulInteger 10 (uint8[2]={2,3}, i8[2]={-5,7})",
			"i32[]={11}");
	check_evaluated("MatMulInteger 10 (uint8[2,1,1]={2,3}, "
			"i8[1,1,2]={-5,7})",
			"i32[2,1,2]={-10,14,-15,21}");
	check_evaluated("MatMulInteger 10 (uint8[2,0]={}, i8[0,1]={})",
			"i32[2,1]={0,0}");
	check_evaluated("com.microsoft.MatMulInteger16 1 "
			"(i16[1,2]={-300,300}, i16[2,1]={300,1})",
			"i32[1,1]={-89700}");
	check_fails("MatMulInteger 10 (uint8[2,2]={1,2,3,4}, "
		    "uint8[2,2]={5,6,7,8}, uint8[]={1}, uint8[3]={5,8,1})",
		    "each of 2 lines");
}

/* 0.5 (9-1) 0.25 (7-3) + 0.5 (3-1) 0.25 (5-3) = 4.5; over 0.5, and 100. */
static void
test_scaled_products(void **state)
{
	(void)state;
	check_evaluated("QLinearMatMul 10 (uint8[1,2]={9,3}, f32[]={0.5}, "
			"uint8[]={1}, uint8[2,1]={7,5}, f32[]={0.25}, "
			"uint8[]={3}, f32[]={0.5}, uint8[]={100})",
			"uint8[1,1]={109}");
	/* Another scale and zero point for each column. */
	check_evaluated("QLinearMatMul 10 (uint8[1,1]={9}, f32[]={0.5}, "
			"uint8[]={1}, i8[1,2]={7,-5}, f32[2]={0.25,1}, "
			"i8[2]={3,0}, f32[]={0.5}, i8[]={0})",
			"i8[1,2]={8,-40}");
	check_evaluated("com.microsoft.MatMulIntegerToFloat 1 "
			"(uint8[1,2]={9,3}, uint8[2,1]={7,5}, f32[]={0.5}, "
			"f32[]={0.25}, uint8[]={1}, uint8[]={3}, f32[1]={10})",
			"f32[1,1]={14.5}");
	/* A is quantized to 0, 51, 255 with a scale of 1. */
	check_evaluated("com.microsoft.DynamicQuantizeMatMul 1 "
			"(f32[1,3]={-51,0,204}, i8[3,1]={1,2,3}, f32[]={0.5}, "
			"i8[]={1}, f32[1]={2})",
			"f32[1,1]={206}");
	/* The bias has the scale of the sums; both operands stand on end. */
	check_evaluated("com.microsoft.QGemm 1 (uint8[2,1]={9,3}, f32[]={0.5},"
			" uint8[]={1}, uint8[1,2]={7,5}, f32[]={0.25}, "
			"uint8[]={3}, i32[1]={4}) transA=1 transB=1 alpha=2.0",
			"f32[1,1]={10}");
	check_evaluated("com.microsoft.QGemm 1 (uint8[1,2]={9,3}, f32[]={0.5},"
			" uint8[]={1}, uint8[2,1]={7,5}, f32[]={0.25}, "
			"uint8[]={3}, _, f32[]={0.5}, uint8[]={100})",
			"uint8[1,1]={109}");
}

/* The padding has the image's zero point and adds nothing. */
static void
test_convolutions(void **state)
{
	(void)state;
	check_evaluated("ConvInteger 10 (uint8[1,1,3]={2,3,4}, "
			"uint8[1,1,2]={5,6}, uint8[]={1}, uint8[1]={4}) "
			"pads=[1,0]",
			"i32[1,1,3]={2,5,8}");
	check_evaluated("ConvInteger 10 (uint8[1,2,2]={2,3,4,5}, "
			"uint8[2,1,1]={5,6}, uint8[]={1}, uint8[2]={4,7}) "
			"group=2",
			"i32[1,2,2]={1,2,-3,-4}");
	/* (2 5 8) + 4 times 0.5 * 0.25 / 0.125, and 10. */
	check_evaluated("QLinearConv 10 (uint8[1,1,3]={2,3,4}, f32[]={0.5}, "
			"uint8[]={1}, uint8[1,1,2]={5,6}, f32[]={0.25}, "
			"uint8[]={4}, f32[]={0.125}, uint8[]={10}, i32[1]={4})"
			" pads=[1,0]",
			"uint8[1,1,3]={16,19,22}");
	/* Beyond 64 bits, and beyond all numbers. */
	check_evaluated("QLinearConv 10 (uint8[1,1,2]={200,100}, f32[]={1e30}, "
			"uint8[]={150}, uint8[1,1,1]={100}, f32[]={1}, "
			"uint8[]={0}, f32[]={1e-8}, uint8[]={7})",
			"uint8[1,1,2]={255,0}");
	check_evaluated("QLinearConv 10 (uint8[1,1,2]={200,100}, f32[]={1}, "
			"uint8[]={150}, uint8[1,1,1]={100}, f32[]={1e18}, "
			"uint8[]={0}, f32[]={1}, uint8[]={7})",
			"uint8[1,1,2]={255,0}");
	check_evaluated("QLinearConv 10 (i8[1,1,2]={2,-3}, f32[]={1}, "
			"i8[]={0}, i8[2,1,1]={3,3}, f32[2]={1,0.5}, "
			"i8[2]={0,0}, f32[]={1}, i8[]={0})",
			"i8[1,2,2]={6,-9,3,-4}");
	check_evaluated("com.microsoft.QLinearConv 1 (uint8[1,2,2]={1,2,3,4},"
			" f32[]={1}, uint8[]={0}, uint8[1,2,1]={10,1}, "
			"f32[]={1}, uint8[]={0}, f32[]={1}, uint8[]={0}) "
			"channels_last=1",
			"uint8[1,2,1]={12,34}");
	check_evaluated("ConvInteger 10 (uint8[0,1,3]={}, uint8[1,1,2]={5,6})",
			"i32[0,1,2]={}");
	check_fails("ConvInteger 10 (uint8[1,1,3]={2,3,4}, uint8[1,1,2]={5,6},"
		    " uint8[2]={1,1})",
		    "one zero point, not 2");
}

static void
test_elements_by_way_of_reals(void **state)
{
	(void)state;
	/* 0.5 (9-1) + 0.25 (7-3) = 5, times = 4. */
	check_evaluated("com.microsoft.QLinearAdd 1 (uint8[1]={9}, f32[]={0.5}"
			", uint8[]={1}, uint8[2,1]={7,3}, f32[]={0.25}, "
			"uint8[]={3}, f32[]={0.5}, uint8[]={100})",
			"uint8[2,1]={110,108}");
	check_evaluated("com.microsoft.QLinearMul 1 (uint8[1]={9}, f32[]={0.5}"
			", uint8[]={1}, uint8[2,1]={7,3}, f32[]={0.25}, "
			"uint8[]={3}, f32[]={0.5}, uint8[]={100})",
			"uint8[2,1]={108,100}");
	check_evaluated("com.microsoft.QLinearLeakyRelu 1 (i8[3]={-8,0,8}, "
			"f32[]={0.5}, _, f32[]={0.25}, _) alpha=0.5",
			"i8[3]={-8,0,16}");
	check_evaluated("com.microsoft.QLinearSigmoid 1 (i8[3]={-128,0,127}, "
			"f32[]={1}, i8[]={0}, f32[]={0.00390625}, i8[]={-128})",
			"i8[3]={-128,0,127}");
	check_evaluated("com.microsoft.QLinearSoftmax 1 (uint8[1,2,2]="
			"{5,5,9,9}, f32[]={1}, uint8[]={0}, f32[]={0.0078125},"
			" uint8[]={0}) axis=2 opset=13",
			"uint8[1,2,2]={64,64,64,64}");
	check_evaluated("com.microsoft.QLinearSoftmax 1 (uint8[1,2,2]="
			"{5,5,5,5}, f32[]={1}, uint8[]={0}, f32[]={0.0078125},"
			" uint8[]={0}) axis=1 opset=12",
			"uint8[1,2,2]={32,32,32,32}");
}

static void
test_pools_and_concat(void **state)
{
	(void)state;
	check_evaluated("com.microsoft.QLinearAveragePool 1 (uint8[1,1,3]="
			"{3,5,9}, f32[]={0.5}, uint8[]={1}, f32[]={0.5}, "
			"uint8[]={10}) kernel_shape=[2] pads=[1,0]",
			"uint8[1,1,3]={12,13,16}");
	check_evaluated("com.microsoft.QLinearAveragePool 1 (uint8[1,1,3]="
			"{3,5,9}, f32[]={0.5}, uint8[]={1}, f32[]={0.5}, "
			"uint8[]={10}) kernel_shape=[2] pads=[1,0] "
			"count_include_pad=1",
			"uint8[1,1,3]={11,13,16}");
	check_evaluated("com.microsoft.QLinearGlobalAveragePool 1 "
			"(uint8[1,2,2]={1,10,3,30}, f32[]={1}, uint8[]={0}, "
			"f32[]={1}, uint8[]={0}) channels_last=1",
			"uint8[1,1,2]={2,20}");
	check_evaluated("com.microsoft.QLinearConcat 1 (f32[]={0.5}, "
			"uint8[]={1}, uint8[2,1]={4,6}, f32[]={1}, uint8[]={2},"
			" uint8[2,2]={1,2,3,4}, f32[]={0.5}, uint8[]={0}) "
			"axis=1",
			"uint8[2,3]={5,2,3,9,4,5}");
	check_fails("com.microsoft.QLinearConcat 1 (f32[]={0.5}, uint8[]={1}, "
		    "uint8[2,1]={4,6}, f32[]={1}, uint8[]={2}, "
		    "uint8[1,2]={1,2}, f32[]={0.5}, uint8[]={0}) axis=1",
		    "input 5 is not like the first");
}

/* What of a window lies outside costs nothing. */
static void
test_windows_beyond_the_image(void **state)
{
	(void)state;
	check_evaluated("com.microsoft.QLinearAveragePool 1 "
			"(uint8[1,1,1,1]={5}, f32[]={1}, uint8[]={0}, "
			"f32[]={1}, uint8[]={0}) "
			"kernel_shape=[1073741824,1073741824] "
			"pads=[1073741823,1073741823,0,0]",
			"uint8[1,1,1,1]={5}");
	check_fails("com.microsoft.QLinearGlobalAveragePool 1 "
		    "(uint8[1,1,0]={}, f32[]={1}, uint8[]={0}, f32[]={1}, "
		    "uint8[]={0})",
		    "without elements");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantizing_rounds_to_even),
		cmocka_unit_test(test_quotients_are_of_the_scale_s_type),
		cmocka_unit_test(test_scales_by_axis),
		cmocka_unit_test(test_scales_by_block),
		cmocka_unit_test(test_dynamic_quantizing),
		cmocka_unit_test(test_integer_products),
		cmocka_unit_test(test_scaled_products),
		cmocka_unit_test(test_convolutions),
		cmocka_unit_test(test_elements_by_way_of_reals),
		cmocka_unit_test(test_pools_and_concat),
		cmocka_unit_test(test_windows_beyond_the_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
