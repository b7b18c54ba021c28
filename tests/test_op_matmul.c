/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves shapes and costs of matrix products: numpy.matmul's rules for
 * vectors and batches, Gemm's transpositions and bias, the quantized and
 * fused forms; M * N * K products and M * N additions for a bias, with the
 * figures of a linear layer that anyone can work out by hand.
 */
#include "one_node.h"

static void
test_shapes_are_those_of_numpy(void **state)
{
	(void)state;
	check_out("MatMul 13 (f32[2,3], f32[3,4])", "f32[2,4]");
	check_out("MatMul 13 (f32[3], f32[3,4])", "f32[4]");
	check_out("MatMul 13 (f32[2,3], f32[3])", "f32[2]");
	check_out("MatMul 13 (f32[3], f32[3])", "f32[]");
	check_out("MatMul 13 (f32[5,2,3], f32[3,4])", "f32[5,2,4]");
	check_out("MatMul 13 (f32[2,3], f32[5,3,4])", "f32[5,2,4]");
	check_out("MatMul 13 (f32[3], f32[5,3,4])", "f32[5,4]");
	check_out("MatMul 13 (f32[5,2,3], f32[3])", "f32[5,2]");
	check_out("MatMul 13 (f32[7,1,2,3], f32[5,3,4])", "f32[7,5,2,4]");
	check_out("MatMul 13 (f32[1,0], f32[0,4])", "f32[1,4]");
	check_out("MatMul 13 (f16[n,2,k], f16[n,k,s])", "f16[n,2,s]");
	check_out("MatMul 13 (f32, f32[3,4])", "f32?");
}

static void
test_operands_that_do_not_meet_are_refused(void **state)
{
	(void)state;
	check_refused("MatMul 13 (f32[2,3], f32[4,5])",
		      "2x3 and 4x5 is not defined: rows of 3 meet columns of "
		      "4");
	check_refused("MatMul 13 (f32[2,2,3], f32[3,3,5])",
		      "2x2x3 and 3x3x5 is not defined");
	check_refused("MatMul 13 (f32[], f32[3])", "a scalar is no operand");
	check_refused("Gemm 13 (f32[2,3], f32[4,3])", "rows of 3");
	check_refused("Gemm 13 (f32[2,3,1], f32[3,3])", "matrices");
	check_refused("Gemm 13 (f32[2,3], f32[3,4], f32[2])",
		      "a bias of 2 does not fit 2x4");
	check_refused("Gemm 13 (f32[2,3], f32[3,4], f32[1,2,4])", "a bias");
	check_refused("com.microsoft.MatMulNBits 1 (f32[2,3], uint8[4,1,2], "
		      "f32[4]) K=4 N=4",
		      "rows of 3 meet columns of K = 4");
}

static void
test_gemm_transposes_and_adds(void **state)
{
	(void)state;
	check_out("Gemm 13 (f32[2,3], f32[3,4])", "f32[2,4]");
	check_out("Gemm 13 (f32[3,2], f32[3,4]) transA=1", "f32[2,4]");
	check_out("Gemm 13 (f32[2,3], f32[4,3], f32[4]) transB=1", "f32[2,4]");
	check_out("Gemm 13 (f32[3,2], f32[4,3], f32[]) transA=1 transB=1",
		  "f32[2,4]");
	check_out("Gemm 13 (f32[n,3], f32[3,4], f32[1,4])", "f32[n,4]");
	check_out("Gemm 13 (f32[2,3], f32[3,4], f32[2,1])", "f32[2,4]");
	check_out("Gemm 13 (f32, f32[3,4])", "f32?");
	check_cost("Gemm 13 (f32[2,3], f32[4,3], f32[4]) transB=1",
		   {.fma = 24, .macs = 24, .add = 8, .work = SL_WORK_PRODUCT});
	/* alpha on all of the product, beta on C before it is broadcast */
	check_cost("Gemm 13 (f32[2,3], f32[4,3], f32[4]) transB=1 alpha=0.5 "
		   "beta=2.0",
		   {.fma = 24,
		    .macs = 24,
		    .add = 8,
		    .mul = 8 + 4,
		    .work = SL_WORK_PRODUCT});
}

static void
test_quantized_and_fused_forms(void **state)
{
	(void)state;
	check_out("MatMulInteger 10 (uint8[2,3], int8[3,4], uint8[])",
		  "int32[2,4]");
	check_out("QLinearMatMul 21 (uint8[5,2,3], f32[], uint8[], int8[3,4], "
		  "f32[], int8[], f32[], uint8[])",
		  "uint8[5,2,4]");
	check_out("com.microsoft.MatMulInteger16 1 (i16[2,3], i16[3,4])",
		  "int32[2,4]");
	check_out("com.microsoft.MatMulIntegerToFloat 1 (uint8[2,3], "
		  "int8[3,4], f16[], f16[])",
		  "f16[2,4]");
	check_out("com.microsoft.DynamicQuantizeMatMul 1 (f32[2,3], "
		  "int8[3,4], f32[], _, f32[4])",
		  "f32[2,4]");
	check_out("com.microsoft.MatMulNBits 1 (f32[5,2,64], uint8[8,2,16], "
		  "f32[16]) K=64 N=8",
		  "f32[5,2,8]");
	check_out("com.microsoft.QGemm 1 (uint8[2,3], f32[], uint8[], "
		  "int8[4,3], f32[], int8[], i32[4], f32[], uint8[]) transB=1",
		  "uint8[2,4]");
	check_out("com.microsoft.QGemm 1 (uint8[2,3], f32[], uint8[], "
		  "int8[3,4], f32[], int8[])",
		  "f32[2,4]");
	check_out("com.microsoft.FusedMatMul 1 (f32[5,3,2], f32[5,3,4]) "
		  "transA=1",
		  "f32[5,2,4]");
	check_out("com.microsoft.FusedMatMul 1 (f32[2,3], f32[4,3]) transB=1",
		  "f32[2,4]");
	/* rows, then batch, then columns: [2][5][7][3] is 5x7 of 2x3 */
	check_out("com.microsoft.FusedMatMul 1 (f32[2,5,7,3], f32[5,7,3,4]) "
		  "transBatchA=1",
		  "f32[5,7,2,4]");
	check_out("com.microsoft.FusedMatMul 1 (f32[3,5,2], f32[4,5,3]) "
		  "transBatchA=1 transA=1 transBatchB=1 transB=1",
		  "f32[5,2,4]");
	check_cost("com.microsoft.FusedGemm 1 (f32[2,3], f32[3,4], f32[4]) "
		   "activation=Relu",
		   {.fma = 24,
		    .macs = 24,
		    .add = 8,
		    .cmp = 8,
		    .work = SL_WORK_PRODUCT});
	/* 8 * 64 weights are made from their bits */
	check_cost("com.microsoft.MatMulNBits 1 (f32[5,2,64], uint8[8,2,16], "
		   "f32[16]) K=64 N=8",
		   {.fma = 10 * 64 * 8 + 64 * 8,
		    .macs = 10 * 64 * 8,
		    .work = SL_WORK_PRODUCT});
}

static void
test_a_linear_layer_costs_what_it_is_known_to(void **state)
{
	struct one_node *n;

	(void)state;
	/* Linear(768, 3072) on 32 rows: 150,994,944 FLOPs and 98,304 for the
	 * bias. */
	n = one_node("Gemm 13 (f32[32,768], f32[3072,768], f32[3072]) "
		     "transB=1");
	assert_int_equal(2 * n->cost.macs, 150994944);
	assert_int_equal(n->cost.add, 98304);
	assert_int_equal(sl_cost_operations(&n->cost), 151093248);
	one_node_free(n);
	check_cost("MatMul 13 (f32[1,128], f32[128,64])",
		   {.fma = 8192, .macs = 8192, .work = SL_WORK_PRODUCT});
	check_cost("MatMul 13 (f32[512], f32[512,512])",
		   {.fma = 262144, .macs = 262144, .work = SL_WORK_PRODUCT});
	check_cost("MatMul 13 (f32[1,1000], f32[1000,500])",
		   {.fma = 500000, .macs = 500000, .work = SL_WORK_PRODUCT});
}

static void
test_a_product_with_a_parameter_is_linear(void **state)
{
	(void)state;
	check_cost("MatMul 13 (f32[5,2], f32[2,1]={1,2})",
		   {.fma = 10,
		    .macs = 10,
		    .work = SL_WORK_LINEAR,
		    .weight_bytes = 8,
		    .read_bytes = 40,
		    .written_bytes = 20});
	check_cost("MatMul 13 (f32[1,2]={1,2}, f32[2,5])",
		   {.fma = 10, .macs = 10, .work = SL_WORK_LINEAR});
}

/* 2 N^3 operations on 3 N^2 numbers of 4 bytes are N / 6 per byte. */
static void
test_intensity_of_a_square_product(void **state)
{
	(void)state;
	for (uint64_t size = 1; size <= 4096; size *= 4) {
		struct one_node *n;
		char text[80];
		uint64_t bytes;

		snprintf(text, sizeof(text),
			 "MatMul 13 (f32[%d,%d], f32[%d,%d])", (int)size,
			 (int)size, (int)size, (int)size);
		n = one_node(text);
		bytes = n->cost.read_bytes + n->cost.written_bytes;
		assert_int_equal(6 * sl_cost_operations(&n->cost),
				 size * bytes);
		one_node_free(n);
	}
}

static void
test_no_memory(void **state)
{
	(void)state;
	check_allocations("MatMul 13 (f32[7,1,2,3], f32[n,3,4])");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes_are_those_of_numpy),
		cmocka_unit_test(test_operands_that_do_not_meet_are_refused),
		cmocka_unit_test(test_gemm_transposes_and_adds),
		cmocka_unit_test(test_quantized_and_fused_forms),
		cmocka_unit_test(test_a_linear_layer_costs_what_it_is_known_to),
		cmocka_unit_test(test_a_product_with_a_parameter_is_linear),
		cmocka_unit_test(test_intensity_of_a_square_product),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
