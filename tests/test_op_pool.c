/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves shapes and costs of pooling: a window of k elements takes k - 1
 * comparisons or additions.  Sizes come from ONNX's own examples of the
 * operators; how windows are counted is test_window.c's.
 */
#include "one_node.h"

static void
test_window_shapes(void **state)
{
	(void)state;
	check_out("MaxPool 12 (f32[1,64,112,112]) kernel_shape=[3,3] "
		  "strides=[2,2] pads=[1,1,1,1]",
		  "f32[1,64,56,56]");
	check_out("MaxPool 12 (f32[1,3,32]) kernel_shape=[2]", "f32[1,3,31]");
	check_out("MaxPool 12 (f32[1,3,32,32,32]) kernel_shape=[2,2,2] -> 2",
		  "f32[1,3,31,31,31] int64[1,3,31,31,31]");
	check_out("MaxPool 12 (f32[1,1,4,4]) kernel_shape=[3,3] strides=[2,2] "
		  "ceil_mode=1",
		  "f32[1,1,2,2]");
	check_out("MaxPool 12 (f32[1,1,4,4]) kernel_shape=[2,2] "
		  "dilations=[2,2]",
		  "f32[1,1,2,2]");
	/* the last window would start in the padding */
	check_out("MaxPool 22 (f32[1,1,2,2]) kernel_shape=[1,1] strides=[2,2] "
		  "ceil_mode=1",
		  "f32[1,1,1,1]");
	check_out("AveragePool 19 (f32[1,3,32,32]) kernel_shape=[2,2] "
		  "auto_pad=SAME_LOWER",
		  "f32[1,3,32,32]");
	check_out("LpPool 18 (f32[1,3,32,32]) kernel_shape=[5,5] "
		  "strides=[3,3]",
		  "f32[1,3,10,10]");
	check_out("MaxPool 12 (f32[n,3,h,w]) kernel_shape=[2,2] strides=[2,2]",
		  "f32[n,3,(((h-2)/2)+1),(((w-2)/2)+1)]");
	check_out("MaxPool 12 (f32) kernel_shape=[2,2] -> 2", "f32? int64?");
	check_out("com.microsoft.NhwcMaxPool 1 (int8[1,8,6,3]) "
		  "kernel_shape=[2,2] strides=[2,2]",
		  "int8[1,4,3,3]");
	check_out("com.microsoft.QLinearAveragePool 1 (uint8[1,8,6,3], f32[], "
		  "uint8[], f32[], uint8[]) kernel_shape=[2,2] "
		  "channels_last=1",
		  "uint8[1,7,5,3]");
	check_refused("MaxPool 12 (f32[3,4]) kernel_shape=[2]",
		      "batches of images");
}

static void
test_whole_images(void **state)
{
	(void)state;
	check_out("GlobalAveragePool 1 (f32[2,3,7,7])", "f32[2,3,1,1]");
	check_out("GlobalMaxPool 1 (f32[2,3,n])", "f32[2,3,1]");
	check_out("GlobalLpPool 2 (f32[2,3,4,5,6])", "f32[2,3,1,1,1]");
	check_out("com.microsoft.QLinearGlobalAveragePool 1 (uint8[2,7,7,3], "
		  "f32[], uint8[], f32[], uint8[]) channels_last=1",
		  "uint8[2,1,1,3]");
	check_cost("GlobalAveragePool 1 (f32[2,3,7,7])",
		   {.add = 6 * 48, .div = 6, .work = SL_WORK_ADAPTIVE_POOL});
	check_cost("GlobalMaxPool 1 (f32[2,3,7,7])",
		   {.cmp = 6 * 48, .work = SL_WORK_POOL});
	check_cost("GlobalLpPool 2 (f32[2,3,7,7]) p=2",
		   {.fma = 6 * 49, .exp = 6, .work = SL_WORK_POOL});
	check_cost("GlobalLpPool 2 (f32[2,3,7,7]) p=1",
		   {.add = 6 * 48, .work = SL_WORK_POOL});
	check_cost("GlobalLpPool 2 (f32[2,3,7,7]) p=3",
		   {.add = 6 * 48, .exp = 6 * 50, .work = SL_WORK_POOL});
}

static void
test_window_costs(void **state)
{
	struct one_node *n;

	(void)state;
	check_cost("MaxPool 12 (f32[1,2,8,8]) kernel_shape=[3,2] "
		   "strides=[2,2]",
		   {.cmp = 2 * 3 * 4 * 5, .work = SL_WORK_POOL});
	check_cost("AveragePool 19 (f32[1,2,8,8]) kernel_shape=[2,2] "
		   "strides=[2,2]",
		   {.add = 32 * 3, .div = 32, .work = SL_WORK_POOL});
	check_cost("LpPool 18 (f32[1,2,8,8]) kernel_shape=[2,2] "
		   "strides=[2,2]",
		   {.fma = 32 * 4, .exp = 32, .work = SL_WORK_POOL});
	/* adaptive pooling to the size that is there, as exporters write it */
	n = one_node("AveragePool 19 (f32[1,2,7,7]) kernel_shape=[1,1]");
	assert_int_equal(n->cost.work, SL_WORK_ADAPTIVE_POOL);
	assert_int_equal(n->cost.in_elements, 98);
	assert_int_equal(n->cost.out_elements, 98);
	one_node_free(n);
}

static void
test_undone(void **state)
{
	(void)state;
	check_out("MaxUnpool 11 (f32[1,1,2,2], i64[1,1,2,2]) "
		  "kernel_shape=[2,2] strides=[2,2]",
		  "f32[1,1,4,4]");
	check_out("MaxUnpool 11 (f32[1,1,2,2], i64[1,1,2,2], "
		  "i64[4]={1,1,5,5}) kernel_shape=[2,2] strides=[2,2]",
		  "f32[1,1,5,5]");
	check_out("MaxUnpool 11 (f32[1,1,2,2], i64[1,1,2,2], i64[4]) "
		  "kernel_shape=[2,2] strides=[2,2]",
		  "f32?");
	check_cost("MaxUnpool 11 (f32[1,1,2,2], i64[1,1,2,2]) "
		   "kernel_shape=[2,2] strides=[2,2]",
		   {.work = SL_WORK_MOVEMENT});
}

static void
test_regions(void **state)
{
	(void)state;
	check_out("RoiAlign 16 (f32[1,2,10,10], f32[3,4], i64[3]) "
		  "output_height=5 output_width=4",
		  "f32[3,2,5,4]");
	check_out("RoiAlign 16 (f32[1,2,10,10], f32[k,4], i64[k])",
		  "f32[k,2,1,1]");
	check_out("MaxRoiPool 1 (f32[1,2,10,10], f32[3,5]) "
		  "pooled_shape=[6,7]",
		  "f32[3,2,6,7]");
	check_refused("MaxRoiPool 1 (f32[1,2,10,10], f32[3,5]) "
		      "pooled_shape=[6]",
		      "pooled_shape has 1 numbers");
	check_refused("RoiAlign 16 (f32[2,10,10], f32[3,4], i64[3])",
		      "images and a list");
	/* 4 samples an element, of 4 neighbours each */
	check_cost("RoiAlign 16 (f32[1,2,10,10], f32[3,4], i64[3]) "
		   "output_height=5 output_width=4 sampling_ratio=2",
		   {.fma = 120 * 16, .div = 120, .work = SL_WORK_POOL});
	/* at most the image over the output: 2 by 3 samples */
	check_cost("RoiAlign 16 (f32[1,2,10,10], f32[3,4], i64[3]) "
		   "output_height=5 output_width=4 mode=max",
		   {.fma = 120 * 24,
		    .cmp = 120 * 6,
		    .work = SL_WORK_POOL,
		    .basis = SL_BASIS_ESTIMATED});
	check_cost("MaxRoiPool 1 (f32[1,2,10,10], f32[3,5]) "
		   "pooled_shape=[6,7]",
		   {.cmp = 600,
		    .work = SL_WORK_POOL,
		    .basis = SL_BASIS_ESTIMATED});
}

static void
test_no_memory(void **state)
{
	(void)state;
	check_allocations("MaxPool 12 (f32[n,3,h,w]) kernel_shape=[2,2] "
			  "strides=[2,2] -> 2");
	check_allocations("GlobalAveragePool 1 (f32[2,3,7,7])");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_shapes),
		cmocka_unit_test(test_whole_images),
		cmocka_unit_test(test_window_costs),
		cmocka_unit_test(test_undone),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
