/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_index.c - proves the reference kernels of elements picked, placed
 * and put in order, on cases that ONNX's own tests leave out; an index that
 * lies outside is refused and never read. */
#include "evaluated.h"

static void
gather_counts_from_either_end(void **state)
{
	(void)state;
	check_evaluated("Gather 13 (i8[2,3]={1,2,3,4,5,6}, i64[2]={-1,0}) "
			"axis=1",
			"i8[2,2]={3,1,6,4}");
	check_evaluated("Gather 13 (string[2]={'a','b'}, i32[]={-1})",
			"string[]={'b'}");
	check_evaluated("Gather 13 (uint4[4]={1,2,3,4}, i64[3]={3,1,2})",
			"uint4[3]={4,2,3}");
	check_evaluated("Gather 13 (i8[0,2]={}, i64[0]={})", "i8[0,2]={}");
	check_fails("Gather 13 (i8[2]={1,2}, i64[1]={2})", "index 2");
	check_fails("Gather 13 (i8[2]={1,2}, i64[1]={-3})", "index -3");
	check_fails("Gather 13 (i8[0]={}, i64[1]={0})", "index 0");
}

static void
gather_elements_and_nd_check_their_indices(void **state)
{
	(void)state;
	check_evaluated("GatherElements 13 (i8[2,2]={1,2,3,4}, "
			"i64[1,2]={-1,0}) axis=0",
			"i8[1,2]={3,2}");
	check_fails("GatherElements 13 (i8[2,2]={1,2,3,4}, i64[1,2]={2,0}) "
		    "axis=0",
		    "index 2");
	check_fails("GatherElements 13 (i8[1,2]={1,2}, i64[2,2]={0,0,0,0}) "
		    "axis=1",
		    "2 indices for 1");
	check_evaluated("GatherND 13 (i8[2,2,2]={0,1,2,3,4,5,6,7}, "
			"i64[2,1]={1,-2}) batch_dims=1",
			"i8[2,2]={2,3,4,5}");
	check_evaluated("GatherND 13 (string[2]={'a','b'}, i64[1,1]={-1})",
			"string[1]={'b'}");
	check_evaluated("GatherND 13 (i8[2,2]={0,1,2,3}, i64[0,2]={})",
			"i8[0]={}");
	check_fails("GatherND 13 (i8[2,2]={0,1,2,3}, i64[1,2]={0,2})",
		    "index 2");
}

static void
scatter_reduces(void **state)
{
	(void)state;
	check_evaluated("ScatterElements 18 (i8[3]={1,2,3}, i64[3]={0,0,-1}, "
			"i8[3]={120,10,5}) reduction=add",
			"i8[3]={-125,2,8}");
	check_evaluated("ScatterElements 18 (f32[2]={1,2}, i64[2]={1,1}, "
			"f32[2]={3,0.5}) reduction=mul",
			"f32[2]={1,3}");
	check_evaluated(
		"ScatterElements 18 (uint64[2]={1,18446744073709551615}, "
		"i64[2]={0,1}, uint64[2]={18446744073709551614,5}) "
		"reduction=max",
		"uint64[2]={18446744073709551614,18446744073709551615}");
	check_evaluated("ScatterElements 18 (f16[2]={1,2}, i64[2]={0,1}, "
			"f16[2]={-1,nan}) reduction=min",
			"f16[2]={-1,nan}");
	check_evaluated("Scatter 9 (string[2]={'a','b'}, i64[1]={1}, "
			"string[1]={'c'})",
			"string[2]={'a','c'}");
	check_evaluated("ScatterElements 13 (i8[2]={1,2}, i64[0]={}, i8[0]={})",
			"i8[2]={1,2}");
	check_fails("ScatterElements 13 (i8[2]={1,2}, i64[1]={2}, i8[1]={0})",
		    "index 2");
	check_fails("ScatterElements 13 (i8[2]={1,2}, i64[2]={0,1}, i8[1]={0})",
		    "1 updates for 2");
	check_fails("ScatterElements 18 (string[1]={'a'}, i64[1]={0}, "
		    "string[1]={'b'}) reduction=add",
		    "cannot be reduced");
}

static void
scatter_nd_writes_slices(void **state)
{
	(void)state;
	check_evaluated("ScatterND 18 (i8[2,2]={1,2,3,4}, i64[2,1]={-1,-1}, "
			"i8[2,2]={1,1,2,2}) reduction=add",
			"i8[2,2]={1,2,6,7}");
	check_evaluated("ScatterND 13 (string[2]={'a','b'}, i64[1,1]={0}, "
			"string[1]={'z'})",
			"string[2]={'z','b'}");
	check_fails("ScatterND 13 (i8[2]={1,2}, i64[1,1]={-3}, i8[1]={0})",
		    "index -3");
	check_fails("ScatterND 13 (i8[2,2]={1,2,3,4}, i64[1,1]={0}, "
		    "i8[1]={0})",
		    "1 updates");
}

static void
tensor_scatter_writes_a_cache(void **state)
{
	(void)state;
	check_evaluated("TensorScatter 24 (i8[2,3,1]={0,0,0,0,0,0}, "
			"i8[2,2,1]={1,2,3,4}, i64[2]={2,1}) mode=circular",
			"i8[2,3,1]={2,0,1,0,3,4}");
	check_fails("TensorScatter 24 (i8[1,2,1]={0,0}, i8[1,1,1]={1}, "
		    "i64[1]={2})",
		    "beyond 2 places");
}

static void
non_zero_lists_places(void **state)
{
	(void)state;
	check_evaluated("NonZero 13 (f32[2,2]={0,-1,-0.0,nan})",
			"i64[2,2]={0,1,1,1}");
	check_evaluated("NonZero 13 (i8[0,2]={})", "i64[2,0]={}");
	check_evaluated("NonZero 13 (bool[]={1})", "i64[1,1]={0}");
	check_fails("NonZero 13 (string[1]={'a'})", "not numbers");
}

/* Equal ones by the lower index; NaN before all others. */
static void
topk_orders_ties(void **state)
{
	(void)state;
	check_evaluated("TopK 11 (i8[5]={3,1,3,1,3}, i64[1]={4})",
			"i8[4]={3,3,3,1} i64[4]={0,2,4,1}");
	check_evaluated("TopK 11 (i8[5]={3,1,3,1,3}, i64[1]={3}) largest=0",
			"i8[3]={1,1,3} i64[3]={1,3,0}");
	check_evaluated("TopK 11 (f32[3]={1,nan,2}, i64[1]={2})",
			"f32[2]={nan,2} i64[2]={1,2}");
	check_evaluated("TopK 1 (f32[2,2]={1,2,4,3}) k=1 axis=0",
			"f32[1,2]={4,3} i64[1,2]={1,1}");
	check_evaluated(
		"TopK 11 (uint64[2]={1,18446744073709551615}, i64[1]={1})",
		"uint64[1]={18446744073709551615} i64[1]={1}");
	check_evaluated("TopK 11 (f32[2]={1,2}, i64[1]={0})",
			"f32[0]={} i64[0]={}");
	check_fails("TopK 11 (f32[2]={1,2}, i64[1]={3})", "of 2");
}

static void
unique_gives_four_answers(void **state)
{
	(void)state;
	check_evaluated("Unique 11 (string[4]={'b','a','b','c'}) -> 4",
			"string[3]={'a','b','c'} i64[3]={1,0,3} "
			"i64[4]={1,0,1,2} i64[3]={1,2,1}");
	check_evaluated("Unique 11 (i8[5]={3,1,3,2,1}) sorted=0 -> 4",
			"i8[3]={3,1,2} i64[3]={0,1,3} i64[5]={0,1,0,2,1} "
			"i64[3]={2,2,1}");
	check_evaluated("Unique 11 (i8[2,3]={2,1,2,0,5,0}) axis=1 -> 4",
			"i8[2,2]={1,2,5,0} i64[2]={1,0} i64[3]={1,0,1} "
			"i64[2]={1,2}");
	check_evaluated("Unique 11 (f32[0]={}) -> 4",
			"f32[0]={} i64[0]={} i64[0]={} i64[0]={}");
}

static void
arg_max_chooses_one_of_equals(void **state)
{
	(void)state;
	check_evaluated("ArgMax 13 (i8[4]={1,3,3,0})", "i64[1]={1}");
	check_evaluated("ArgMax 13 (i8[4]={1,3,3,0}) select_last_index=1",
			"i64[1]={2}");
	check_evaluated("ArgMin 13 (uint64[2]={18446744073709551615,2}) "
			"keepdims=0",
			"i64[]={1}");
	check_evaluated("ArgMin 13 (f32[3]={1,nan,0})", "i64[1]={1}");
	check_evaluated("ArgMax 13 (i8[2,0]={}) axis=0", "i64[1,0]={}");
	check_fails("ArgMax 13 (i8[0]={})", "none of 0");
}

static void
running_values(void **state)
{
	(void)state;
	check_evaluated("CumSum 14 (i32[3]={1,2,3}, i64[]={0}) exclusive=1 "
			"reverse=1",
			"i32[3]={5,3,0}");
	check_evaluated("CumSum 14 (f32[2,2]={1,2,3,4}, i32[]={-2})",
			"f32[2,2]={1,2,4,6}");
	check_evaluated("CumProd 26 (i64[3]={2,3,4}, i64[]={0}) exclusive=1",
			"i64[3]={1,2,6}");
	check_fails("CumSum 14 (i32[1]={1}, i64[]={1})", "axis 1");
}

static void
features_are_extracted(void **state)
{
	(void)state;
	check_evaluated("ai.onnx.ml.ArrayFeatureExtractor 1 "
			"(string[2,2]={'a','b','c','d'}, i64[1]={1})",
			"string[2,1]={'b','d'}");
	check_fails("ai.onnx.ml.ArrayFeatureExtractor 1 (f32[1,2]={1,2}, "
		    "i64[1]={2})",
		    "index 2");
}

/* Sizes beyond all bounds beside a 0. */
static void
test_huge_sizes_of_nothing(void **state)
{
	(void)state;
	check_evaluated("GatherND 13 (f32[0,1152921504606846976,64]={}, "
			"i64[0,1152921504606846976,1]={}) batch_dims=2",
			"f32[0,1152921504606846976]={}");
	check_evaluated("GatherND 13 (f32[0,64]={}, "
			"i64[0,1152921504606846976,64,1]={})",
			"f32[0,1152921504606846976,64,64]={}");
	check_evaluated("ScatterND 18 (f32[0,1152921504606846976,64]={}, "
			"i64[0,1]={}, f32[0,1152921504606846976,64]={})",
			"f32[0,1152921504606846976,64]={}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gather_counts_from_either_end),
		cmocka_unit_test(gather_elements_and_nd_check_their_indices),
		cmocka_unit_test(scatter_reduces),
		cmocka_unit_test(scatter_nd_writes_slices),
		cmocka_unit_test(tensor_scatter_writes_a_cache),
		cmocka_unit_test(non_zero_lists_places),
		cmocka_unit_test(topk_orders_ties),
		cmocka_unit_test(unique_gives_four_answers),
		cmocka_unit_test(arg_max_chooses_one_of_equals),
		cmocka_unit_test(running_values),
		cmocka_unit_test(features_are_extracted),
		cmocka_unit_test(test_huge_sizes_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
