/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that generated tensors have the sizes asked for, that ranges have
 * numpy.arange's elements, and that small ones are followed.
 */
#include "one_node.h"

static void
test_constant_of_shape(void **state)
{
	(void)state;
	check_out("ConstantOfShape 9 (i64[2]={2,3})", "f32[2,3]");
	check_out("ConstantOfShape 9 (i64[2]={n,3})", "f32[n,3]");
	check_out("ConstantOfShape 9 (i64[0]={})", "f32[]");
	check_out("ConstantOfShape 9 (i64[3])", "f32[?,?,?]");
	check_out("ConstantOfShape 9 (i64[k])", "f32?");
	check_known("ConstantOfShape 9 (i64[1]={3})", "{0,0,0}");
	check_known("ConstantOfShape 9 (i64[1]={n})", "?");
	check_refused("ConstantOfShape 9 (i64[1]={-3})", "negative");
	check_cost("ConstantOfShape 9 (i64[1]={3})",
		   {.work = SL_WORK_MOVEMENT, .written_bytes = 12});
}

static void
test_ranges_like_numpy(void **state)
{
	(void)state;
	check_known("Range 11 (i64[]={2}, i64[]={9}, i64[]={3})", "{2,5,8}");
	check_known("Range 11 (i64[]={9}, i64[]={2}, i64[]={-3})", "{9,6,3}");
	check_known("Range 11 (i64[]={2}, i64[]={8}, i64[]={3})", "{2,5}");
	check_known("Range 11 (i64[]={5}, i64[]={2}, i64[]={1})", "{}");
	check_known("Range 11 (f32[]={0}, f32[]={1}, f32[]={0.25})",
		    "{0,0.25,0.5,0.75}");
	check_out("Range 11 (i32[]={0}, i32[]={100000}, i32[]={1})",
		  "int32[100000]");
	check_out("Range 11 (i64[]={0}, i64[]={n}, i64[]={1})", "int64[n]");
	check_out("Range 11 (i64[]={p}, i64[]={n}, i64[]={1})", "int64[(n-p)]");
	check_out("Range 11 (i64[]={0}, i64[]={n}, i64[]={2})", "int64[?]");
	check_out("Range 11 (i64[], i64[], i64[])", "int64[?]");
	check_out("Range 11 (i64[]={0}, i64[]={5}, i64[]={0})", "int64[?]");
	check_out("Range 11 (i64[]={0}, f32[]={5}, i64[]={1})", "int64[?]");
}

static void
test_random(void **state)
{
	(void)state;
	check_out("RandomNormal 1 () shape=[2,3]", "f32[2,3]");
	check_out("RandomUniform 1 () shape=[2] dtype=11", "f64[2]");
	check_out("RandomNormalLike 1 (f16[n,2])", "f16[n,2]");
	check_out("RandomUniformLike 1 (i64[n,2]) dtype=1", "f32[n,2]");
	check_out("Bernoulli 15 (f32[3]) dtype=9", "bool[3]");
	check_out("Multinomial 7 (f32[3,10]) sample_size=4", "int32[3,4]");
	check_out("EyeLike 9 (i64[3,n]) dtype=1", "f32[3,n]");
	check_refused("RandomNormal 1 ()", "no shape");
	check_cost("RandomNormal 1 () shape=[2,3]",
		   {.fma = 6, .exp = 6, .basis = SL_BASIS_ESTIMATED});
	check_cost("Multinomial 7 (f32[3,10]) sample_size=4",
		   {.exp = 30,
		    .add = 30,
		    .cmp = 120,
		    .basis = SL_BASIS_ESTIMATED});
}

static void
test_every_allocation_may_fail(void **state)
{
	(void)state;
	check_allocations("ConstantOfShape 9 (i64[1]={3})");
	check_allocations("Range 11 (i64[]={2}, i64[]={9}, i64[]={3})");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant_of_shape),
		cmocka_unit_test(test_ranges_like_numpy),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
