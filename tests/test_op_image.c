/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves shapes and costs of operators on images.  Sizes of resized images
 * are ONNX's own examples, in all forms that its versions have.
 */
#include "one_node.h"

static void
test_resize_by_scales(void **state)
{
	(void)state;
	check_out("Resize 10 (f32[1,1,2,4], f32[4]={1,1,0.6,0.6})",
		  "f32[1,1,1,2]");
	check_out("Resize 13 (f32[1,1,2,2], _, f32[4]={1,1,2,3})",
		  "f32[1,1,4,6]");
	check_out("Resize 13 (f32[1,1,4,4], f32[0]={}, f32[4]={1,1,0.8,0.8})",
		  "f32[1,1,3,3]");
	/* 10 * 0.7 is 7 in 32 bits, and a little less in 64 */
	check_out("Resize 13 (f32[1,1,10,10], _, f32[4]={1,1,0.7,0.7})",
		  "f32[1,1,7,7]");
	check_out("Resize 18 (f32[1,1,2,2], _, f32[2]={2,3}) axes=[2,-1]",
		  "f32[1,1,4,6]");
	check_out("Resize 13 (f32[n,3,h,w], _, f32[4]={1,1,2,2})",
		  "f32[n,3,(h*2),(w*2)]");
	check_out("Resize 13 (f32[1,3,h,4], _, f32[4]={1,1,1.5,1.5})",
		  "f32[1,3,?,6]");
	check_out("Resize 13 (f32[1,3,4,4], _, f32[4])", "f32[?,?,?,?]");
	check_out("Resize 13 (f32, _, f32[4]={1,1,2,2})", "f32?");
	check_out("Upsample 9 (f32[1,1,2,2], f32[4]={1,1,2,3})",
		  "f32[1,1,4,6]");
	check_out("Upsample 7 (f32[1,1,2,2]) scales=[1.0,1.0,2.0,3.0]",
		  "f32[1,1,4,6]");
	check_out("Upsample 1 (f32[1,1,2,2]) height_scale=2.0 "
		  "width_scale=3.0",
		  "f32[1,1,4,6]");
	/* half of each side of the image, the height twice as large */
	check_out("Resize 13 (f32[1,1,10,20], "
		  "f32[8]={0,0,0.25,0.5,1,1,0.75,1.0}, f32[4]={1,1,2,1}) "
		  "coordinate_transformation_mode=tf_crop_and_resize",
		  "f32[1,1,10,10]");
	check_refused("Resize 13 (f32[1,1,2,2], _, f32[2]={2,2})",
		      "2 scales or sizes for 4 dimensions");
	check_refused("Resize 18 (f32[1,1,2,2], _, f32[1]={2}) axes=[4]",
		      "axis 4 lies outside of 4 dimensions");
	check_refused("Resize 13 (f32[1,1,2,2], _, f32[4]={1,1,-1,1})",
		      "negative");
}

static void
test_resize_to_sizes(void **state)
{
	(void)state;
	check_out("Resize 13 (f32[1,1,2,4], _, _, i64[4]={1,1,1,3})",
		  "f32[1,1,1,3]");
	check_out("Resize 13 (f32[1,1,2,4], _, f32[0]={}, i64[4]={1,1,1,3})",
		  "f32[1,1,1,3]");
	check_out("Resize 19 (f32[1,1,2,4], _, _, i64[2]={7,8}) axes=[3,2]",
		  "f32[1,1,8,7]");
	check_out("Resize 19 (f32[1,1,2,4], _, _, i64[2]={7,8}) axes=[2,3] "
		  "keep_aspect_ratio_policy=not_larger",
		  "f32[1,1,4,8]");
	check_out("Resize 19 (f32[1,1,2,4], _, _, i64[2]={7,8}) axes=[2,3] "
		  "keep_aspect_ratio_policy=not_smaller",
		  "f32[1,1,7,14]");
	/* 1.75 * 2 = 3.5 goes up */
	check_out("Resize 19 (f32[1,1,2,4], _, _, i64[2]={9,7}) axes=[2,3] "
		  "keep_aspect_ratio_policy=not_larger",
		  "f32[1,1,4,7]");
	check_out("Resize 13 (f32[n,1,2,4], _, _, i64[4]={n,1,h,w})",
		  "f32[n,1,h,w]");
	check_out("Resize 19 (f32[1,1,h,4], _, _, i64[2]={7,8}) axes=[2,3] "
		  "keep_aspect_ratio_policy=not_larger",
		  "f32[1,1,?,?]");
	/* sizes that are no integers were read as if they were */
	check_out("Resize 13 (f32[1,4], _, _, f32[2]={1,3})", "f32[?,?]");
}

static void
test_resize_costs(void **state)
{
	(void)state;
	check_cost("Resize 13 (f32[1,1,2,2], _, f32[4]={1,1,2,3})",
		   {.work = SL_WORK_MOVEMENT});
	check_cost("Resize 13 (f32[1,1,2,2], _, f32[4]={1,1,2,3}) mode=linear",
		   {.fma = 24 * 4});
	check_cost("Resize 13 (f32[1,1,2,2], _, f32[4]={1,1,2,3}) mode=cubic",
		   {.fma = 24 * 16});
	/* one dimension changes */
	check_cost("Resize 13 (f32[1,1,2,2], _, f32[4]={1,1,1,3}) mode=linear",
		   {.fma = 12 * 2});
	/* a quarter of the size takes a filter four times as wide */
	check_cost("Resize 18 (f32[1,1,8,8], _, f32[4]={1,1,0.25,1}) "
		   "mode=linear antialias=1",
		   {.fma = 16 * 8});
}

static void
test_sampling(void **state)
{
	(void)state;
	check_out("GridSample 16 (f32[2,3,4,5], f32[2,6,7,2])", "f32[2,3,6,7]");
	check_out("GridSample 20 (f32[2,3,4,5,6], f32[2,7,8,9,3])",
		  "f32[2,3,7,8,9]");
	check_refused("GridSample 16 (f32[2,3,4,5], f32[2,6,7,3])",
		      "a grid of 2x6x7x3 does not fit images of 2x3x4x5");
	check_cost("GridSample 16 (f32[2,3,4,5], f32[2,6,7,2])",
		   {.fma = 252 * 4 + 168});
	check_cost("GridSample 16 (f32[2,3,4,5], f32[2,6,7,2]) mode=bicubic",
		   {.fma = 252 * 16 + 168});
	check_cost("GridSample 16 (f32[2,3,4,5], f32[2,6,7,2]) mode=nearest",
		   {.fma = 168, .work = SL_WORK_MOVEMENT});
	check_out("AffineGrid 20 (f32[2,2,3], i64[4]={2,3,5,6})",
		  "f32[2,5,6,2]");
	check_out("AffineGrid 20 (f32[2,3,4], i64[5]={2,3,4,5,6})",
		  "f32[2,4,5,6,3]");
	check_out("AffineGrid 20 (f32[2,2,3], i64[4])", "f32?");
	check_cost("AffineGrid 20 (f32[2,2,3], i64[4]={2,3,5,6})",
		   {.fma = 120 * 3});
}

static void
test_rearranging(void **state)
{
	(void)state;
	check_out("DepthToSpace 13 (f32[1,8,2,3]) blocksize=2", "f32[1,2,4,6]");
	check_out("SpaceToDepth 13 (f32[1,2,4,6]) blocksize=2", "f32[1,8,2,3]");
	check_out("SpaceToDepth 13 (f32[1,2,h,6]) blocksize=2",
		  "f32[1,8,(h/2),3]");
	check_refused("DepthToSpace 13 (f32[1,7,2,3]) blocksize=2",
		      "dimension 1 of 1x7x2x3 does not divide by 4");
	check_refused("SpaceToDepth 13 (f32[1,2,5,6]) blocksize=2",
		      "dimension 2 of 1x2x5x6 does not divide by 2");
	check_refused("SpaceToDepth 13 (f32[1,2,4,6])", "blocks of 0");
	check_cost("DepthToSpace 13 (f32[1,8,2,3]) blocksize=2",
		   {.work = SL_WORK_MOVEMENT});
	check_out("Col2Im 18 (f32[1,5,5], i64[2]={5,5}, i64[2]={1,5})",
		  "f32[1,1,5,5]");
	check_out("Col2Im 18 (f32[1,10,12], i64[3]={3,4,5}, i64[3]={1,1,5})",
		  "f32[1,2,3,4,5]");
	check_refused("Col2Im 18 (f32[1,7,5], i64[2]={5,5}, i64[2]={1,5})",
		      "7 rows do not divide into blocks of 5");
	check_out("CenterCropPad 18 (f32[20,10,3], i64[3]={10,7,3})",
		  "f32[10,7,3]");
	check_out("CenterCropPad 18 (f32[20,8,3], i64[2]={10,9}) axes=[-3,1]",
		  "f32[10,9,3]");
	check_out("CenterCropPad 18 (f32[20,8,3], i64[2]) axes=[0,1]",
		  "f32[?,?,3]");
	check_refused("CenterCropPad 18 (f32[20,8,3], i64[2]={10,9})",
		      "2 sizes for 3 axes");
	check_out("ImageDecoder 20 (uint8[n])", "uint8[height,width,3]");
	check_out("ImageDecoder 20 (uint8[n]) pixel_format=Grayscale",
		  "uint8[height,width,1]");
}

static void
test_no_memory(void **state)
{
	(void)state;
	check_allocations("Resize 13 (f32[n,3,h,w], _, f32[4]={1,1,2,1.5})");
	check_allocations("Col2Im 18 (f32[1,5,5], i64[2]={5,5}, "
			  "i64[2]={1,5})");
	check_allocations("CenterCropPad 18 (f32[20,8,3], i64[2]) axes=[0,1]");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resize_by_scales),
		cmocka_unit_test(test_resize_to_sizes),
		cmocka_unit_test(test_resize_costs),
		cmocka_unit_test(test_sampling),
		cmocka_unit_test(test_rearranging),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
