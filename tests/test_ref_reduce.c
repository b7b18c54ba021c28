/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves reductions and softmaxes: axes given in either way, none of them,
 * nothing to reduce, integers in their own arithmetic; lines of old and new
 * versions.  Expected numbers are onnxruntime's or numpy's unless a comment
 * derives them.
 */
#include "evaluated.h"

static void
test_axes(void **state)
{
	(void)state;
	check_evaluated("ReduceSum 11 (f32[2,3]={1,2,3,4,5,6}) axes=[0]",
			"f32[1,3]={5,7,9}");
	check_evaluated(
		"ReduceSum 13 (f32[2,3]={1,2,3,4,5,6}, i64[1]={-1}) keepdims=0",
		"f32[2]={6,15}");
	check_evaluated("ReduceSum 13 (f32[2,3]={1,2,3,4,5,6})",
			"f32[1,1]={21}");
	check_evaluated("ReduceSum 13 (f32[2,3]={1,2,3,4,5,6}, i64[0]={}) "
			"noop_with_empty_axes=1",
			"f32[2,3]={1,2,3,4,5,6}");
	check_evaluated(
		"ReduceSum 13 (f32[2,1,2]={1,2,3,4}, i64[2]={2,0}) keepdims=0",
		"f32[1]={10}");
	check_evaluated(
		"ReduceMax 18 (f32[2,2,2]={1,8,3,-4,5,6,-7,2}, i64[1]={1})",
		"f32[2,1,2]={3,8,5,6}");
	check_evaluated("ReduceSum 13 (f32[]={3})", "f32[]={3}");
	/* Nothing is joined, but squares are still taken. */
	check_evaluated(
		"ReduceSumSquare 18 (f32[2]={2,3}, _) noop_with_empty_axes=1",
		"f32[2]={4,9}");
	check_fails("ReduceSum 13 (f32[2]={1,2}, i64[1]={1})", "axis 1");
}

static void
test_kinds(void **state)
{
	(void)state;
	check_evaluated("ReduceL1 18 (f32[2,2]={1,-2,3,-4}, i64[1]={1})",
			"f32[2,1]={3,7}");
	check_evaluated("ReduceL2 18 (f32[2,2]={3,-4,5,12}, i64[1]={1})",
			"f32[2,1]={5,13}");
	check_evaluated("ReduceMean 18 (f32[2,2]={3,-4,5,12}, i64[1]={0})",
			"f32[1,2]={4,4}");
	check_evaluated("ReduceMin 18 (f32[2,2]={3,-4,5,12}, i64[1]={0})",
			"f32[1,2]={3,-4}");
	check_evaluated("ReduceProd 18 (f32[2,2]={3,-4,5,12}, i64[1]={0})",
			"f32[1,2]={15,-48}");
	check_evaluated("ReduceLogSum 18 (f32[2]={1,6}, i64[1]={0})",
			"f32[1]={1.94591}");
	check_evaluated("ReduceLogSumExp 18 (f32[2]={1,2}, i64[1]={0})",
			"f32[1]={2.313262}");
	/* exp(1000) is beyond every double, log(2 exp(1000)) is not */
	check_evaluated("ReduceLogSumExp 18 (f32[2]={1000,1000})",
			"f32[1]={1000.693}");
	check_evaluated("ReduceLogSumExp 18 (f32[2]={inf,1})", "f32[1]={inf}");
	check_evaluated("ReduceMax 18 (f32[3]={1,nan,2})", "f32[1]={nan}");
	check_evaluated("ReduceSum 13 (f16[3]={2048,1,1})", "f16[1]={2050}");
}

static void
test_integers(void **state)
{
	(void)state;
	/* a mean is cut; 2^53 + 1; products wrap; the largest of unsigned */
	check_evaluated("ReduceMean 13 (i32[2,2]={-3,-4,5,6}) axes=[1]",
			"i32[2,1]={-3,5}");
	check_evaluated("ReduceSum 13 (i64[2]={9007199254740992,1})",
			"i64[1]={9007199254740993}");
	check_evaluated("ReduceProd 13 (i32[2]={65536,65537})",
			"i32[1]={65536}");
	check_evaluated("ReduceMax 18 (uint64[2]={18446744073709551615,1})",
			"uint64[1]={18446744073709551615}");
	check_evaluated("ReduceMin 18 (i8[2]={-128,127})", "i8[1]={-128}");
	check_evaluated("ReduceL1 13 (i32[2]={-3,4})", "i32[1]={7}");
	check_evaluated("ReduceL2 13 (i32[2]={-3,4})", "i32[1]={5}");
	check_evaluated("ReduceMax 20 (bool[2,2]={0,1,0,0}, i64[1]={1})",
			"bool[2,1]={1,0}");
	check_evaluated("ReduceMin 20 (bool[2,2]={0,1,1,1}, i64[1]={1})",
			"bool[2,1]={0,1}");
}

static void
test_nothing(void **state)
{
	(void)state;
	check_evaluated("ReduceSum 13 (f32[2,0]={}, i64[1]={1})",
			"f32[2,1]={0,0}");
	check_evaluated("ReduceProd 18 (f32[2,0]={}, i64[1]={1})",
			"f32[2,1]={1,1}");
	check_evaluated("ReduceMax 20 (f32[0]={})", "f32[1]={-inf}");
	check_evaluated("ReduceMin 20 (f32[0]={})", "f32[1]={inf}");
	check_evaluated("ReduceMax 20 (i8[0]={})", "i8[1]={-128}");
	check_evaluated("ReduceMin 20 (i32[0]={})", "i32[1]={2147483647}");
	check_evaluated("ReduceMax 20 (i64[0]={})",
			"i64[1]={-9223372036854775808}");
	check_evaluated("ReduceMin 20 (uint64[0]={})",
			"uint64[1]={18446744073709551615}");
	check_evaluated("ReduceMax 20 (bool[0]={})", "bool[1]={0}");
	check_evaluated("ReduceMin 20 (bool[0]={})", "bool[1]={1}");
	check_evaluated("ReduceMean 18 (f32[0]={})", "f32[1]={nan}");
	check_evaluated("ReduceLogSumExp 18 (f32[0]={})", "f32[1]={-inf}");
	check_evaluated("ReduceSum 13 (f32[0,2]={}, i64[1]={1})",
			"f32[0,1]={}");
}

static void
test_softmax(void **state)
{
	(void)state;
	/* 1 of 2 each, 1 of 4 each: rows span both axes before version 13 */
	check_evaluated("Softmax 11 (f32[1,2,2]={0,0,0,0}) axis=1",
			"f32[1,2,2]={0.25,0.25,0.25,0.25}");
	check_evaluated("Softmax 13 (f32[1,2,2]={0,0,0,0}) axis=1",
			"f32[1,2,2]={0.5,0.5,0.5,0.5}");
	check_evaluated("Softmax 11 (f32[2,2]={0,0,0,0})",
			"f32[2,2]={0.5,0.5,0.5,0.5}");
	check_evaluated("Softmax 11 (f32[2]={1,2}) axis=1", "f32[2]={1,1}");
	check_evaluated("Softmax 13 (f32[]={5})", "f32[]={1}");
	check_evaluated("Softmax 13 (f32[2,0]={})", "f32[2,0]={}");
	check_evaluated("Softmax 13 (f32[0,2]={})", "f32[0,2]={}");
	check_evaluated("Softmax 13 (f32[2]={1000,1000})", "f32[2]={0.5,0.5}");
	check_evaluated("Softmax 13 (f32[2,3]={1,2,3,0,-1,5}) axis=0",
			"f32[2,3]={0.7310586,0.9525741,0.1192029,0.2689414,0."
			"04742587,0.8807971}");
	check_evaluated("Softmax 13 (f32[2,3]={1,2,3,0,-1,5})",
			"f32[2,3]={0.09003057,0.2447285,0.6652409,0.006676413,"
			"0.002456115,0.9908675}");
	check_evaluated("LogSoftmax 13 (f32[1,3]={1,2,3})",
			"f32[1,3]={-2.407606,-1.407606,-0.407606}");
	check_evaluated("LogSoftmax 11 (f32[1,2,2]={1,2,3,4})",
			"f32[1,2,2]={-3.44019,-2.44019,-1.44019,-0.4401897}");
	check_evaluated("Hardmax 13 (f32[2,3]={1,3,3,2,2,1}) axis=1",
			"f32[2,3]={0,1,0,1,0,0}");
	check_evaluated("Hardmax 11 (f32[1,2,2]={1,3,4,2}) axis=1",
			"f32[1,2,2]={0,0,1,0}");
	check_evaluated("Hardmax 13 (f32[2,2]={1,3,4,2}) axis=0",
			"f32[2,2]={0,1,1,0}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_axes),     cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_integers), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_softmax),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
