/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_shape.c - proves the reference kernels of operators about shapes
 * on cases that ONNX's own tests leave out: strings, halves of bytes, nothing
 * at all, numbers at the ends of their range. */
#include "evaluated.h"

static void
reshape_resolves_zeros_and_the_free_size(void **state)
{
	(void)state;
	check_evaluated("Reshape 14 (i8[2,3]={1,2,3,4,5,6}, i64[2]={0,-1})",
			"i8[2,3]={1,2,3,4,5,6}");
	check_evaluated("Reshape 14 (i8[2,3]={1,2,3,4,5,6}, i64[1]={-1})",
			"i8[6]={1,2,3,4,5,6}");
	check_evaluated("Reshape 14 (f32[0,3]={}, i64[2]={3,0}) allowzero=1",
			"f32[3,0]={}");
	check_evaluated("Reshape 1 (string[2]={'a','bc'}) shape=[2,1]",
			"string[2,1]={'a','bc'}");
	check_fails("Reshape 14 (i8[2,3]={1,2,3,4,5,6}, i64[1]={4})",
		    "do not make");
}

static void
views_keep_their_elements(void **state)
{
	(void)state;
	check_evaluated("Flatten 13 (i8[2,1,2]={1,2,3,4}) axis=-1",
			"i8[2,2]={1,2,3,4}");
	check_evaluated("Flatten 13 (f16[3]={1,2,3}) axis=0",
			"f16[1,3]={1,2,3}");
	check_evaluated("Squeeze 13 (i8[1,2,1]={1,2}, i64[1]={-1})",
			"i8[1,2]={1,2}");
	check_evaluated("Squeeze 11 (i8[1,2,1]={1,2})", "i8[2]={1,2}");
	check_evaluated("Unsqueeze 13 (i8[2]={1,2}, i64[2]={0,-1})",
			"i8[1,2,1]={1,2}");
	check_evaluated("Identity 16 (string[]={'x'})", "string[]={'x'}");
}

static void
shape_takes_a_part(void **state)
{
	(void)state;
	check_evaluated("Shape 15 (i8[2,0,3]={}) start=1", "i64[2]={0,3}");
	check_evaluated("Shape 15 (i8[2,0,3]={}) start=-9 end=-1",
			"i64[2]={2,0}");
	check_evaluated("Shape 15 (i8[2,0,3]={}) start=2 end=1", "i64[0]={}");
	check_evaluated("Shape 13 (i8[]={1})", "i64[0]={}");
	check_evaluated("Size 13 (i8[2,0,3]={})", "i64[]={0}");
	check_evaluated("Size 13 (i8[]={7})", "i64[]={1}");
}

static void
expand_and_tile_repeat(void **state)
{
	(void)state;
	check_evaluated("Expand 13 (i8[2,1]={1,2}, i64[3]={2,1,3})",
			"i8[2,2,3]={1,1,1,2,2,2,1,1,1,2,2,2}");
	check_evaluated("Expand 13 (i8[2]={1,2}, i64[1]={1})", "i8[2]={1,2}");
	check_evaluated("Expand 13 (i8[1]={1}, i64[2]={0,1})", "i8[0,1]={}");
	check_evaluated("Tile 13 (string[1,2]={'a','b'}, i64[2]={2,2})",
			"string[2,4]={'a','b','a','b','a','b','a','b'}");
	check_evaluated("Tile 13 (i8[2]={1,2}, i64[1]={0})", "i8[0]={}");
	check_evaluated("Tile 13 (uint4[3]={1,2,3}, i64[1]={2})",
			"uint4[6]={1,2,3,1,2,3}");
}

static void
transpose_moves_halves_of_bytes(void **state)
{
	(void)state;
	check_evaluated("Transpose 21 (uint4[2,3]={1,2,3,4,5,6})",
			"uint4[3,2]={1,4,2,5,3,6}");
	check_evaluated("Transpose 21 (i4[3,1,3]={-1,-2,-3,-4,-5,-6,1,2,3}) "
			"perm=[2,1,0]",
			"i4[3,1,3]={-1,-4,1,-2,-5,2,-3,-6,3}");
	check_evaluated("Transpose 13 (string[2,2]={'a','b','c','d'})",
			"string[2,2]={'a','c','b','d'}");
	check_evaluated("Transpose 13 (f32[2,0]={})", "f32[0,2]={}");
	check_fails("Transpose 13 (f32[1,1]={1}) perm=[0,0]", "perm");
}

/* The two ways are each other's inverse. */
static void
depth_and_space_are_inverse(void **state)
{
	(void)state;
	check_evaluated("DepthToSpace 13 (i8[1,8,1,1]={0,1,2,3,4,5,6,7}) "
			"blocksize=2",
			"i8[1,2,2,2]={0,2,4,6,1,3,5,7}");
	check_evaluated("DepthToSpace 13 (i8[1,8,1,1]={0,1,2,3,4,5,6,7}) "
			"blocksize=2 mode=CRD",
			"i8[1,2,2,2]={0,1,2,3,4,5,6,7}");
	check_evaluated("SpaceToDepth 13 (i8[1,2,2,2]={0,2,4,6,1,3,5,7}) "
			"blocksize=2",
			"i8[1,8,1,1]={0,1,2,3,4,5,6,7}");
	check_evaluated("SpaceToDepth 28 (i8[1,2,2,2]={0,1,2,3,4,5,6,7}) "
			"blocksize=2 mode=CRD",
			"i8[1,8,1,1]={0,1,2,3,4,5,6,7}");
}

static void
tensors_are_made_from_nothing(void **state)
{
	(void)state;
	check_evaluated("ConstantOfShape 9 (i64[2]={2,1})", "f32[2,1]={0,0}");
	check_evaluated("ConstantOfShape 9 (i64[1]={0})", "f32[0]={}");
	check_evaluated("ConstantOfShape 9 (i64[0]={})", "f32[]={0}");
	check_evaluated("Range 11 (i64[]={5}, i64[]={-2}, i64[]={-3})",
			"i64[3]={5,2,-1}");
	check_evaluated("Range 11 (i64[]={5}, i64[]={5}, i64[]={1})",
			"i64[0]={}");
	check_evaluated("Range 11 (f32[]={1}, f32[]={2}, f32[]={0.4})",
			"f32[3]={1,1.4,1.8}");
	check_fails("Range 11 (i64[]={5}, i64[]={6}, i64[]={0})", "how many");
	check_evaluated("EyeLike 9 (i64[2,3]={9,9,9,9,9,9}) k=1 dtype=11",
			"f64[2,3]={0,1,0,0,0,1}");
	check_evaluated("EyeLike 9 (bool[2,2]={0,0,0,0}) k=-1",
			"bool[2,2]={0,0,1,0}");
}

static void
one_hot_skips_what_lies_outside(void **state)
{
	(void)state;
	check_evaluated("OneHot 11 (i64[4]={0,-1,3,-4}, i64[]={3}, "
			"i8[2]={5,7})",
			"i8[4,3]={7,5,5,5,5,7,5,5,5,5,5,5}");
	check_evaluated("OneHot 11 (f32[2]={1,0}, i64[1]={2}, "
			"string[2]={'off','on'}) axis=0",
			"string[2,2]={'off','on','on','off'}");
	check_evaluated("OneHot 11 (i64[0]={}, i64[]={3}, i8[2]={5,7})",
			"i8[0,3]={}");
}

static void
trilu_keeps_a_triangle(void **state)
{
	(void)state;
	check_evaluated("Trilu 14 (i8[2,3]={1,2,3,4,5,6}, i64[]={1})",
			"i8[2,3]={0,2,3,0,0,6}");
	check_evaluated("Trilu 14 (i8[2,3]={1,2,3,4,5,6}) upper=0",
			"i8[2,3]={1,0,0,4,5,0}");
	check_evaluated("Trilu 14 (i8[1,2]={1,2}, i64[]={9223372036854775807})"
			" upper=0",
			"i8[1,2]={1,2}");
	check_evaluated("Trilu 14 (i8[0,2]={})", "i8[0,2]={}");
	check_fails("Trilu 14 (i8[2]={1,2})", "no matrix");
}

/* However many rows there are of nothing: this returns at once. */
static void
huge_sizes_of_nothing_are_done(void **state)
{
	(void)state;
	check_evaluated("EyeLike 9 (f32[1152921504606846976,0]={})",
			"f32[1152921504606846976,0]={}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reshape_resolves_zeros_and_the_free_size),
		cmocka_unit_test(views_keep_their_elements),
		cmocka_unit_test(shape_takes_a_part),
		cmocka_unit_test(expand_and_tile_repeat),
		cmocka_unit_test(transpose_moves_halves_of_bytes),
		cmocka_unit_test(depth_and_space_are_inverse),
		cmocka_unit_test(tensors_are_made_from_nothing),
		cmocka_unit_test(one_hot_skips_what_lies_outside),
		cmocka_unit_test(trilu_keeps_a_triangle),
		cmocka_unit_test(huge_sizes_of_nothing_are_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
