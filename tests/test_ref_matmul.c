/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves matrix products, Gemm, Einsum and determinants: vectors, stacks that
 * are broadcast, transposed operands, integers that wrap, sums that f16 could
 * not hold, no elements.  Expected numbers are onnxruntime's or numpy's unless
 * a comment derives them.
 */
#include "evaluated.h"

static void
test_shapes_of_products(void **state)
{
	(void)state;
	check_evaluated(
		"MatMul 13 (f32[2,3]={1,2,3,4,5,6}, f32[3,2]={1,0,-1,2,3,1})",
		"f32[2,2]={8,7,17,16}");
	check_evaluated("MatMul 13 (f32[3]={1,2,3}, f32[3]={4,5,6})",
			"f32[]={32}");
	check_evaluated("MatMul 13 (f32[2]={1,2}, "
			"f32[2,2,3]={1,2,3,4,5,6,7,8,9,10,11,12})",
			"f32[2,3]={9,12,15,27,30,33}");
	check_evaluated("MatMul 13 (f32[2,1,2]={1,2,3,4}, f32[2]={10,1})",
			"f32[2,1]={12,34}");
	/* [2,1] stacks with [3] */
	check_evaluated(
		"MatMul 13 (f32[2,1,1,2]={1,2,3,4}, f32[3,2,1]={1,0,0,1,1,1})",
		"f32[2,3,1,1]={1,2,3,3,4,7}");
	check_evaluated("MatMul 13 (i32[1,2]={2147483647,2}, i32[2,1]={2,3})",
			"i32[1,1]={4}");
	check_evaluated("MatMul 13 (uint64[1,1]={18446744073709551615}, "
			"uint64[1,1]={3})",
			"uint64[1,1]={18446744073709551613}");
	/* 2^53 + 1, which no double is */
	check_evaluated(
		"MatMul 13 (i64[1,2]={9007199254740992,1}, i64[2,1]={1,1})",
		"i64[1,1]={9007199254740993}");
}

static void
test_precision(void **state)
{
	(void)state;
	check_evaluated("MatMul 13 (f16[1,3]={2048,1,1}, f16[3,1]={1,1,1})",
			"f16[1,1]={2050}");
	check_evaluated(
		"MatMul 13 (f32[1,3]={16777216,1,-16777216}, f32[3,1]={1,1,1})",
		"f32[1,1]={1}");
	check_evaluated("MatMul 13 (f64[1,1]={0.1}, f64[1,1]={3})",
			"f64[1,1]={0.3}");
}

static void
test_nothing(void **state)
{
	(void)state;
	check_evaluated("MatMul 13 (f32[2,0]={}, f32[0,2]={})",
			"f32[2,2]={0,0,0,0}");
	check_evaluated("MatMul 13 (f32[0,2]={}, f32[2,3]={1,2,3,4,5,6})",
			"f32[0,3]={}");
	check_evaluated("MatMul 13 (f32[0,1,2]={}, f32[2,1]={1,2})",
			"f32[0,1,1]={}");
	check_evaluated(
		"Gemm 13 (f32[2,0]={}, f32[0,1]={}, f32[1]={7}) beta=2.0",
		"f32[2,1]={14,14}");
}

static void
test_gemm(void **state)
{
	(void)state;
	check_evaluated(
		"Gemm 13 (f32[2,3]={1,2,3,4,5,6}, f32[2,3]={1,0,1,0,1,1}, "
		"f32[2,1]={100,200}) transB=1 alpha=2.0 beta=0.5",
		"f32[2,2]={58,60,120,122}");
	check_evaluated("Gemm 13 (f32[2,1]={1,2}, f32[2,3]={1,2,3,4,5,6}, "
			"f32[3]={1,2,3}) transA=1",
			"f32[1,3]={10,14,18}");
	check_evaluated(
		"Gemm 7 (f32[1,2]={3,4}, f32[2,2]={1,2,3,4}, f32[]={1})",
		"f32[1,2]={16,23}");
	check_evaluated(
		"Gemm 11 (f32[1,2]={3,4}, f32[2,2]={1,2,3,4}) alpha=0.5",
		"f32[1,2]={7.5,11}");
	check_evaluated("Gemm 13 (i64[1,2]={9007199254740992,1}, "
			"i64[2,1]={1,1}, i64[1]={-1})",
			"i64[1,1]={9007199254740992}");
	check_evaluated("com.microsoft.FusedGemm 1 (f32[1,2]={3,-4}, "
			"f32[2,2]={1,0,0,1}, f32[2]={1,1}) "
			"activation=LeakyRelu activation_alpha=0.25",
			"f32[1,2]={4,-0.75}");
}

static void
test_fused(void **state)
{
	(void)state;
	check_evaluated("com.microsoft.FusedMatMul 1 (f32[2,2]={1,2,3,4}, "
			"f32[2,2]={1,0,5,1}) transA=1 alpha=3.0",
			"f32[2,2]={48,9,66,12}");
	check_evaluated("com.microsoft.FusedMatMul 1 (f32[2,2]={1,2,3,4}, "
			"f32[2,2]={1,0,5,1}) transB=1",
			"f32[2,2]={1,7,3,19}");
	/* rows first: [row][stack][column] */
	check_evaluated(
		"com.microsoft.FusedMatMul 1 (f32[2,2,2]={1,2,3,4,5,6,7,8}, "
		"f32[2,2,1]={1,0,0,1}) transBatchA=1",
		"f32[2,2,1]={1,5,4,8}");
}

/*
 * 4 bits, blocks of 16 (the least that is allowed): one row of the weight is
 * 8 everywhere (the zero point) but 9 and 7 in its first byte, scaled by 2.
 */
static void
test_few_bits(void **state)
{
	(void)state;
	check_evaluated(
		"com.microsoft.MatMulNBits 1 (f32[1,4]={1,10,100,1000}, "
		"uint8[1,1,8]={0x79,0x88,0x88,0x88,0x88,0x88,0x88,0x88}, "
		"f32[1]={2}) K=4 N=1 bits=4 block_size=16",
		"f32[1,1]={-18}");
	/* zero point 9 in the low half, a bias of 1 */
	check_evaluated(
		"com.microsoft.MatMulNBits 1 (f32[1,4]={1,10,100,1000}, "
		"uint8[1,1,8]={0x79,0x99,0x99,0x99,0x99,0x99,0x99,0x99}, "
		"f32[1]={2}, uint8[1]={0x09}, _, f32[1]={1}) K=4 N=1 bits=4 "
		"block_size=16",
		"f32[1,1]={-39}");
	/* 8 bits: 128 is 0 */
	check_evaluated("com.microsoft.MatMulNBits 1 (f32[1,2]={1,10}, "
			"uint8[1,1,16]={129,126,0,0,0,0,0,0,0,0,0,0,0,0,0,0}, "
			"f32[1]={0.5}) K=2 N=1 bits=8 block_size=16",
			"f32[1,1]={-9.5}");
	/* real zero points; columns that take another block's scale */
	check_evaluated("com.microsoft.MatMulNBits 1 "
			"(f32[1,17]={1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}, "
			"uint8[1,2,8]={0x11,0,0,0,0,0,0,0,0x01,0,0,0,0,0,0,0}, "
			"f32[2]={1,100}, f32[2]={0.5,0.75}, "
			"i32[17]={0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}) K=17 N=1 "
			"bits=4 block_size=16",
			"f32[1,1]={50.5}");
	check_fails("com.microsoft.MatMulNBits 1 (f32[1,4]={1,1,1,1}, "
		    "uint8[1,1,7]={0,0,0,0,0,0,0}, f32[1]={2}) K=4 N=1 bits=4 "
		    "block_size=16",
		    "too small");
	check_fails("com.microsoft.MatMulNBits 1 (f32[1,4]={1,1,1,1}, "
		    "uint8[1,1,8]={0,0,0,0,0,0,0,0}, f32[1]={2}) K=4 N=1 "
		    "bits=3 block_size=16",
		    "3 bits");
}

static void
test_equations(void **state)
{
	(void)state;
	check_evaluated("Einsum 12 (f32[2,3]={1,2,3,4,5,6}, "
			"f32[3,2]={1,0,-1,2,3,1}) equation=ij,jk->ki",
			"f32[2,2]={8,17,7,16}");
	check_evaluated(
		"Einsum 12 (f32[2,2,2]={1,2,3,4,5,6,7,8}) equation=iij->j",
		"f32[2]={8,10}");
	check_evaluated("Einsum 12 (f32[2]={1,2}, f32[2]={3,4}, f32[2]={5,6}) "
			"equation=a,b,a->b",
			"f32[2]={51,68}");
	check_evaluated("Einsum 12 (f32[2,1,2]={1,2,3,4}, f32[2,1]={1,10}) "
			"equation=...ij,jk->...ik",
			"f32[2,1,1]={21,43}");
	check_evaluated("Einsum 12 (f32[2,3]={1,2,3,4,5,6}) equation=ba",
			"f32[3,2]={1,4,2,5,3,6}");
	check_evaluated("Einsum 12 (i64[2]={9007199254740993,1}, i64[2]={1,2}) "
			"equation=i,i->",
			"i64[]={9007199254740995}");
	/* a dimension of 1 is repeated; "..." of different lengths */
	check_evaluated("Einsum 12 (f32[2,1]={1,2}, f32[2]={10,100}) "
			"equation=...i,...i->...",
			"f32[2]={110,220}");
	check_evaluated("Einsum 12 (f32[2]={1,2}, f32[]={3}) equation=i,->i",
			"f32[2]={3,6}");
	check_evaluated("Einsum 12 (f32[0,2]={}) equation=ij->j",
			"f32[2]={0,0}");
	check_evaluated("Einsum 12 (f16[3]={2048,1,1}) equation=i->",
			"f16[]={2050}");
}

static void
test_determinants(void **state)
{
	(void)state;
	/* the pivot is 0; the rows depend on each other; nothing at all */
	check_evaluated("Det 11 (f32[2,2]={0,2,3,4})", "f32[]={-6}");
	check_evaluated("Det 11 (f32[2,2,2]={1,2,2,4,2,0,0,5})",
			"f32[2]={0,10}");
	check_evaluated("Det 11 (f32[1,0,0]={})", "f32[1]={1}");
	check_fails("Det 11 (f32[2,3]={1,2,3,4,5,6})", "2x3");
}

/* MatMul has no such attributes, whatever a node says. */
static void
test_attributes_of_others(void **state)
{
	(void)state;
	check_evaluated("MatMul 13 (f32[2,2]={1,2,3,4}, f32[2,2]={1,0,1,1}) "
			"transA=1 transB=1 alpha=2.0",
			"f32[2,2]={3,2,7,4}");
	check_evaluated("MatMul 13 (f32[1,2]={1,2}, f32[2,3]={1,0,0,0,1,0}) "
			"transA=1",
			"f32[1,3]={1,2,0}");
	check_evaluated("com.microsoft.FusedMatMul 1 (f32[2,1]={1,2}, "
			"f32[2,3]={1,0,0,0,1,0}) transA=1 alpha=2.0",
			"f32[1,3]={2,4,0}");
}

static void
test_huge_sizes_of_nothing(void **state)
{
	(void)state;
	check_evaluated("MatMul 13 (f32[0,2,1152921504606846976]={}, "
			"f32[0,1152921504606846976,64]={})",
			"f32[0,2,64]={}");
	check_evaluated("MatMul 13 (f32[0,1152921504606846976]={}, "
			"f32[1152921504606846976,0]={})",
			"f32[0,0]={}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes_of_products),
		cmocka_unit_test(test_precision),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_gemm),
		cmocka_unit_test(test_fused),
		cmocka_unit_test(test_few_bits),
		cmocka_unit_test(test_equations),
		cmocka_unit_test(test_determinants),
		cmocka_unit_test(test_attributes_of_others),
		cmocka_unit_test(test_huge_sizes_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
