/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that operators about shapes do what numpy's functions of the same
 * names do, with symbols where sizes are names, and that what they return can
 * be followed: a shape computed in the graph is a shape.
 */
#include "one_node.h"

static void
test_shape_returns_sizes(void **state)
{
	(void)state;
	check_refused("Reshape 14 (f32[1,4], i64[1]={4611686018427387904})",
		      "1x4 elements do not make a shape beyond all sizes");
	check_out("Shape 13 (f32[2,n,4])", "int64[3]");
	check_known("Shape 13 (f32[2,n,4])", "{2,n,4}");
	check_known("Shape 15 (f32[2,n,4]) start=1", "{n,4}");
	check_known("Shape 15 (f32[2,n,4]) start=-2 end=-1", "{n}");
	check_known("Shape 15 (f32[2,n,4]) start=-9 end=9", "{2,n,4}");
	check_known("Shape 15 (f32[2,n,4]) start=2 end=1", "{}");
	check_known("Shape 13 (f32[])", "{}");
	check_out("Shape 13 (f32)", "int64[?]");
	check_known("Size 13 (f32[2,3,4])", "{24}");
	check_known("Size 13 (f32[])", "{1}");
	check_known("Size 13 (f32[2,n])", "{(2*n)}");
	check_cost("Shape 13 (f32[2,3,4])",
		   {.work = SL_WORK_MOVEMENT, .written_bytes = 24});
}

static void
test_reshape(void **state)
{
	(void)state;
	check_out("Reshape 13 (f32[2,3,4], i64[2]={4,-1})", "f32[4,6]");
	check_out("Reshape 13 (f32[2,3,4], i64[3]={0,-1,2})", "f32[2,6,2]");
	check_out("Reshape 13 (f32[2,3,4], i64[1]={24})", "f32[24]");
	check_out("Reshape 13 (f32[1,1], i64[0]={})", "f32[]");
	check_out("Reshape 14 (f32[0,3], i64[2]={3,0}) allowzero=1",
		  "f32[3,0]");
	check_out("Reshape 13 (f32[0,3], i64[2]={0,-1})", "f32[0,0]");
	check_out("Reshape 1 (f32[2,3]) shape=[3,-1]", "f32[3,2]");
	check_known("Reshape 13 (i64[2,2]={1,2,3,4}, i64[1]={-1})",
		    "{1,2,3,4}");
	check_cost("Reshape 13 (f32[2,3], i64[1]={6})", {.work = SL_WORK_VIEW});
}

/* What occurs on both sides is cancelled before -1 is resolved. */
static void
test_reshape_by_symbols(void **state)
{
	(void)state;
	check_out("Reshape 13 (f32[n,s,768], i64[4]={n,s,12,-1})",
		  "f32[n,s,12,64]");
	check_out("Reshape 13 (f32[n,s,768], i64[3]={n,-1,768})",
		  "f32[n,s,768]");
	check_out("Reshape 13 (f32[n,s,768], i64[2]={-1,768})",
		  "f32[(n*s),768]");
	check_out("Reshape 13 (f32[n,12,s,64], i64[3]={0,-1,768})",
		  "f32[n,s,768]");
	check_out("Reshape 13 (f32[n,6], i64[2]={-1,4})", "f32[((3*n)/2),4]");
	check_out("Reshape 13 (f32[n,s], i64[2]={s,n})", "f32[s,n]");
	/* The number of sizes is known though they are not. */
	check_out("Reshape 13 (f32[2,3], i64[2])", "f32[?,?]");
	check_out("Reshape 13 (f32[2,3], i64[k])", "f32?");
	check_out("Reshape 13 (f32, i64[3]={2,0,-1})", "f32[2,?,?]");
}

static void
test_reshape_that_does_not_fit_is_refused(void **state)
{
	(void)state;
	check_refused("Reshape 13 (f32[2,3], i64[1]={5})",
		      "2x3 elements do not make 5");
	check_refused("Reshape 13 (f32[2,3], i64[2]={4,-1})",
		      "2x3 elements do not make 4x-1");
	check_refused("Reshape 13 (f32[2,3], i64[2]={-1,-1})", "stands twice");
	check_refused("Reshape 13 (f32[2,3], i64[3]={2,3,0})",
		      "0 in place 2 of the new shape");
	check_refused("Reshape 13 (f32[2,3], i64[2]={-2,-3})",
		      "negative or beyond");
	check_refused("Reshape 13 (f32[2,3])", "no new shape");
}

static void
test_flatten(void **state)
{
	(void)state;
	check_out("Flatten 13 (f32[2,3,4,5])", "f32[2,60]");
	check_out("Flatten 13 (f32[2,3,4,5]) axis=0", "f32[1,120]");
	check_out("Flatten 13 (f32[2,3,4,5]) axis=-1", "f32[24,5]");
	check_out("Flatten 13 (f32[2,3]) axis=2", "f32[6,1]");
	check_out("Flatten 9 (f32[n,3,4])", "f32[n,12]");
	check_out("Flatten 9 (f32)", "f32[?,?]");
	check_refused("Flatten 13 (f32[2,3]) axis=3", "axis 3 lies outside");
}

static void
test_squeeze_and_unsqueeze(void **state)
{
	(void)state;
	check_out("Squeeze 11 (f32[1,3,1,5])", "f32[3,5]");
	check_out("Squeeze 11 (f32[1,3,1,5]) axes=[0]", "f32[3,1,5]");
	check_out("Squeeze 13 (f32[1,3,1,5], i64[1]={-2})", "f32[1,3,5]");
	check_out("Squeeze 13 (f32[n,1], i64[1]={0})", "f32[1]");
	check_out("Squeeze 13 (f32[n,1])", "f32?");
	check_out("Squeeze 13 (f32[1,1,2], i64[1])", "f32[?,?]");
	check_known("Squeeze 13 (i64[1]={7}, i64[1]={0})", "{7}");
	check_refused("Squeeze 13 (f32[2,1], i64[1]={0})",
		      "dimension 0 of 2x1 is not 1");
	check_refused("Squeeze 13 (f32[1,1], i64[1]={2})", "axis 2 lies");
	check_out("Unsqueeze 11 (f32[3,4]) axes=[0,3]", "f32[1,3,4,1]");
	check_out("Unsqueeze 13 (f32[n], i64[2]={-1,0})", "f32[1,n,1]");
	check_out("Unsqueeze 13 (f32[n], i64[1])", "f32[?,?]");
	check_known("Unsqueeze 13 (i64[]={5}, i64[1]={0})", "{5}");
	check_refused("Unsqueeze 13 (f32[2], i64[2]={0,0})", "named twice");
	check_refused("Unsqueeze 13 (f32[2])", "no axes");
	check_cost("Unsqueeze 11 (f32[3,4]) axes=[0]", {.work = SL_WORK_VIEW});
}

static void
test_expand_and_tile(void **state)
{
	(void)state;
	check_out("Expand 13 (f32[3,1], i64[3]={2,1,4})", "f32[2,3,4]");
	check_out("Expand 13 (f32[3,1], i64[1]={1})", "f32[3,1]");
	check_out("Expand 13 (f32[1,n], i64[2]={b,1})", "f32[b,n]");
	/* only what is 1 can be stretched */
	check_out("Expand 13 (f32[3,1], i64[4])", "f32[?,?,3,?]");
	check_out("Expand 13 (f32[3,n], i64[1])", "f32[3,?]");
	check_known("Expand 13 (i64[2,1]={1,2}, i64[2]={2,3})",
		    "{1,1,1,2,2,2}");
	check_refused("Expand 13 (f32[3], i64[1]={4})", "3 does not expand");
	check_out("Tile 13 (f32[2,3], i64[2]={2,1})", "f32[4,3]");
	check_out("Tile 13 (f32[2,n], i64[2]={1,4})", "f32[2,(n*4)]");
	check_out("Tile 13 (f32[2,3], i64[2])", "f32[(2*?),(3*?)]");
	check_out("Tile 1 (f32[2,3], f32[1]={2}, f32[1]={1})", "f32[2,3]");
	check_known("Tile 13 (i64[1,2]={1,2}, i64[2]={2,2})",
		    "{1,2,1,2,1,2,1,2}");
	check_refused("Tile 13 (f32[2,3], i64[1]={2})",
		      "1 repetitions for 2 dimensions");
}

static void
test_transpose(void **state)
{
	(void)state;
	check_out("Transpose 13 (f32[2,3,n])", "f32[n,3,2]");
	check_out("Transpose 13 (f32[2,3,n]) perm=[1,0,2]", "f32[3,2,n]");
	check_known("Transpose 13 (i64[2,3]={1,2,3,4,5,6})", "{1,4,2,5,3,6}");
	check_refused("Transpose 13 (f32[2,3]) perm=[0,0]", "not an order");
	check_refused("Transpose 13 (f32[2,3]) perm=[0]", "perm has 1");
	check_cost("Transpose 13 (f32[2,3])", {.work = SL_WORK_MOVEMENT,
					       .read_bytes = 24,
					       .written_bytes = 24});
}

static void
test_identity(void **state)
{
	(void)state;
	check_out("Identity 13 (f16[2,n])", "f16[2,n]");
	check_known("Identity 13 (i64[2]={n,3})", "{n,3}");
	check_cost("Identity 13 (f32[2])", {.work = SL_WORK_VIEW});
}

static void
test_every_allocation_may_fail(void **state)
{
	(void)state;
	check_allocations("Reshape 13 (f32[n,s,768], i64[4]={0,0,12,-1})");
	check_allocations("Shape 13 (f32[2,n])");
	check_allocations("Tile 13 (i64[1,2]={1,2}, i64[2]={2,2})");
	check_allocations("Transpose 13 (i64[2,2]={1,2,3,4})");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape_returns_sizes),
		cmocka_unit_test(test_reshape),
		cmocka_unit_test(test_reshape_by_symbols),
		cmocka_unit_test(test_reshape_that_does_not_fit_is_refused),
		cmocka_unit_test(test_flatten),
		cmocka_unit_test(test_squeeze_and_unsqueeze),
		cmocka_unit_test(test_expand_and_tile),
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
