/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that reductions have the shapes ONNX defines, wherever a version
 * keeps its axes, and cost n_in - n_out joinings; that products of sizes are
 * followed.
 */
#include "one_node.h"

static void
axes_are_an_attribute_or_an_input(void **state)
{
	(void)state;
	check_out("ReduceSum 11 (f32[2,3,4]) axes=[1]", "f32[2,1,4]");
	check_out("ReduceSum 13 (f32[2,3,4], i64[1]={1})", "f32[2,1,4]");
	check_out("ReduceMean 13 (f32[2,n,4]) axes=[-1,0] keepdims=0",
		  "f32[n]");
	check_out("ReduceMax 18 (f32[2,n,4], i64[2]={0,2}) keepdims=0",
		  "f32[n]");
	check_out("ReduceL2 13 (f32[2,3]) axes=[1,1] keepdims=0", "f32[2]");
	check_out("ReduceProd 13 (i64[2,3])", "int64[1,1]");
	check_out("ReduceProd 13 (i64[2,3]) keepdims=0", "int64[]");
	check_out("ReduceMin 13 (i64[])", "int64[]");
	check_out("ReduceLogSumExp 18 (f64) keepdims=0", "f64?");
}

static void
no_axes_are_all_or_none(void **state)
{
	(void)state;
	check_out("ReduceSum 13 (f32[2,3], i64[0]={})", "f32[1,1]");
	check_out("ReduceSum 13 (f32[2,3], i64[0]={}) keepdims=0", "f32[]");
	check_out("ReduceSum 13 (f32[2,3], i64[0]={}) noop_with_empty_axes=1",
		  "f32[2,3]");
	check_out("ReduceSum 13 (f32[2,3]) noop_with_empty_axes=1", "f32[2,3]");
	check_out("ReduceSum 13 (f32[2,3]) noop_with_empty_axes=0", "f32[1,1]");
}

static void
unknown_axes_leave_what_is_certain(void **state)
{
	(void)state;
	check_out("ReduceSum 13 (f32[2,1,4], i64[1])", "f32[?,1,?]");
	check_out("ReduceSum 13 (f32[2,3,4], i64[0]) keepdims=0", "f32[]");
	check_out("ReduceSum 13 (f32[2,3,4], i64[1]) keepdims=0", "f32[?,?]");
	check_out("ReduceSum 13 (f32[2,3,4], i64[k]) keepdims=0", "f32?");
}

static void
axes_outside_are_refused(void **state)
{
	(void)state;
	check_refused("ReduceSum 11 (f32[2,3]) axes=[2]", "axis 2");
	check_refused("ReduceSum 13 (f32[2,3], i64[1]={-3})", "axis -3");
	check_refused("ArgMax 13 (f32[2,3]) axis=2", "axis 2");
	check_refused("TopK 11 (f32[2,3], i64[1]={1}) axis=2", "axis 2");
	check_refused("TopK 11 (f32[2,3], i64[1]={4})", "4 largest of 3");
}

static void
places_and_running_sums(void **state)
{
	(void)state;
	check_out("ArgMax 13 (f32[2,3,4])", "int64[1,3,4]");
	check_out("ArgMin 13 (f32[2,3,n]) axis=-1 keepdims=0", "int64[2,3]");
	check_out("ArgMax 13 (f32)", "int64?");
	check_out("CumSum 14 (f32[2,n], i64[])", "f32[2,n]");
	check_out("CumProd 26 (i64[2,3], i64[])", "int64[2,3]");
}

static void
the_largest_k(void **state)
{
	(void)state;
	check_out("TopK 1 (f32[2,9]) k=5", "f32[2,5] int64[2,5]");
	check_out("TopK 11 (f32[9,2], i64[1]={5}) axis=0",
		  "f32[5,2] int64[5,2]");
	check_out("TopK 11 (f32[2,9], i64[1]={k})", "f32[2,k] int64[2,k]");
	check_out("TopK 11 (f32[2,9], i64[1])", "f32[2,?] int64[2,?]");
	check_out("TopK 11 (f32, i64[1]={5})", "f32? int64?");
}

static void
products_of_sizes_are_followed(void **state)
{
	(void)state;
	check_known("ReduceProd 13 (i64[3]={2,3,4}) keepdims=0", "{24}");
	check_known("ReduceProd 13 (i64[2]={n,4}) keepdims=0", "{(n*4)}");
	check_known("ReduceSum 13 (i64[2,3]={1,2,3,4,5,6}, i64[1]={0})",
		    "{5,7,9}");
	check_known("ReduceSum 13 (i64[2,3]={1,2,3,4,5,6}, i64[1]={1})",
		    "{6,15}");
	check_known("ReduceMax 13 (i64[2,2]={1,7,3,4}) axes=[1]", "{7,4}");
	check_known("ReduceMin 13 (i64[2,2]={1,7,3,4}) axes=[0]", "{1,4}");
	check_known("ReduceMin 13 (i64[2]={n,4})", "{?}");
	/* The sizes of a scalar: their product is one element. */
	check_known("ReduceProd 13 (i64[0]={}) keepdims=0", "{1}");
	check_known("ReduceSum 13 (i64[0]={}) keepdims=0", "{0}");
	check_known("ReduceMax 13 (i64[0]={}) keepdims=0", "?");
	check_known("ReduceProd 13 (i64[2]={4611686018427387904,4})", "?");
	check_known("ReduceSum 13 (i64[2]={1,2}, i64[1])", "?");
}

/* 24 elements to 8: 16 joinings. */
static void
costs_are_joinings(void **state)
{
	(void)state;
	check_cost("ReduceSum 11 (f32[2,3,4]) axes=[1]",
		   {.add = 16, .work = SL_WORK_REDUCTION});
	check_cost("ReduceMean 11 (f32[2,3,4]) axes=[1]",
		   {.add = 16, .div = 8, .work = SL_WORK_REDUCTION});
	check_cost("ReduceMax 11 (f32[2,3,4]) axes=[1]",
		   {.cmp = 16, .work = SL_WORK_REDUCTION});
	check_cost("ReduceProd 11 (f32[2,3,4]) axes=[1]",
		   {.mul = 16, .work = SL_WORK_REDUCTION});
	check_cost("ReduceL1 11 (f32[2,3,4]) axes=[1]",
		   {.add = 16, .cmp = 24, .work = SL_WORK_REDUCTION});
	check_cost("ReduceL2 11 (f32[2,3,4]) axes=[1]",
		   {.mul = 24, .add = 16, .exp = 8, .work = SL_WORK_REDUCTION});
	check_cost("ReduceSumSquare 11 (f32[2,3,4]) axes=[1]",
		   {.mul = 24, .add = 16, .work = SL_WORK_REDUCTION});
	check_cost("ReduceLogSum 11 (f32[2,3,4]) axes=[1]",
		   {.add = 16, .exp = 8, .work = SL_WORK_REDUCTION});
	/* max 16, subtract 24, exp 24, sum 16, log 8, add 8 */
	check_cost(
		"ReduceLogSumExp 11 (f32[2,3,4]) axes=[1]",
		{.add = 48, .exp = 32, .cmp = 16, .work = SL_WORK_REDUCTION});
	check_cost("ArgMax 13 (f32[2,3,4]) axis=1",
		   {.cmp = 16, .work = SL_WORK_REDUCTION});
	check_cost("CumSum 14 (f32[2,3,4], i64[]={1})",
		   {.add = 16, .work = SL_WORK_REDUCTION});
	check_cost("CumProd 26 (f32[2,3,4], i64[]={-1})",
		   {.mul = 18, .work = SL_WORK_REDUCTION});
	check_cost("CumSum 14 (f32[2,3,4], i64[])",
		   {.add = 23,
		    .work = SL_WORK_REDUCTION,
		    .basis = SL_BASIS_ESTIMATED});
	/* A heap of 5 has its foot 3 levels below the root. */
	check_cost("TopK 11 (f32[2,9], i64[1]={5})",
		   {.cmp = 18 * 4, .basis = SL_BASIS_ESTIMATED});
	check_cost("ReduceSum 13 (f32[0,3], i64[1]={0})",
		   {.work = SL_WORK_REDUCTION});
}

static void
a_mean_over_an_image_is_a_pool(void **state)
{
	(void)state;
	check_cost("ReduceMean 11 (f32[1,5,7,7]) axes=[2,3]",
		   {.add = 5 * 48, .div = 5, .work = SL_WORK_ADAPTIVE_POOL});
	check_cost("ReduceMean 18 (f32[1,5,7,7], i64[2]={-1,-2}) keepdims=0",
		   {.add = 5 * 48, .div = 5, .work = SL_WORK_ADAPTIVE_POOL});
	check_cost("ReduceMean 11 (f32[1,5,7,7]) axes=[1,2,3]",
		   {.add = 244, .div = 1, .work = SL_WORK_REDUCTION});
	check_cost("ReduceMean 11 (f32[1,5,7,7]) axes=[3]",
		   {.add = 5 * 42, .div = 35, .work = SL_WORK_REDUCTION});
	check_cost("ReduceMax 11 (f32[1,5,7,7]) axes=[2,3]",
		   {.cmp = 5 * 48, .work = SL_WORK_REDUCTION});
}

static void
every_allocation_may_fail(void **state)
{
	(void)state;
	check_allocations("ReduceProd 13 (i64[2]={3,4}) keepdims=0");
	check_allocations("ReduceSum 13 (f32[2,3], i64[1])");
	check_allocations("TopK 11 (f32[2,9], i64[1])");
	check_allocations("ArgMax 13 (f32[2,9])");
}

/* Numbers that stand for symbols inside are no sizes outside. */
static void
test_counts_are_no_symbols(void **state)
{
	(void)state;
	check_refused("TopK 9 (f32[2,4]) k=-9223372036854775808 -> 2",
		      "k is -9223372036854775808");
	check_refused("ConvTranspose 11 (f32[1,1,3], f32[1,2,3]) "
		      "output_shape=[-9223372036854775803]",
		      "output_shape holds");
	check_refused("com.microsoft.Attention 1 (f32[1,2,4], f32[4,12], "
		      "f32[12]) num_heads=2 "
		      "qkv_hidden_sizes=[-9223372036854775807,4,4]",
		      "a width of");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_no_symbols),
		cmocka_unit_test(axes_are_an_attribute_or_an_input),
		cmocka_unit_test(no_axes_are_all_or_none),
		cmocka_unit_test(unknown_axes_leave_what_is_certain),
		cmocka_unit_test(axes_outside_are_refused),
		cmocka_unit_test(places_and_running_sums),
		cmocka_unit_test(the_largest_k),
		cmocka_unit_test(products_of_sizes_are_followed),
		cmocka_unit_test(costs_are_joinings),
		cmocka_unit_test(a_mean_over_an_image_is_a_pool),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
