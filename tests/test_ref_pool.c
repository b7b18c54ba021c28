/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves pools: windows that stick out, what an average divides by, where the
 * largest lies, whole images, regions, and pools undone.  Expected numbers
 * are onnxruntime's unless a comment derives them.
 */
#include "evaluated.h"

static void
test_largest(void **state)
{
	(void)state;
	check_evaluated("MaxPool 12 (f32[1,2,5]={1,5,2,4,3,-1,-5,-2,-4,-3}) "
			"kernel_shape=[3] strides=[2] pads=[1,1] -> 2",
			"f32[1,2,3]={5,5,4,-1,-2,-3} i64[1,2,3]={1,1,3,5,7,9}");
	check_evaluated(
		"MaxPool 12 (f32[1,1,3,4]={1,2,3,4,8,7,6,5,9,10,11,12}) "
		"kernel_shape=[2,2] dilations=[2,1] -> 2",
		"f32[1,1,1,3]={10,11,12} i64[1,1,1,3]={9,10,11}");
	check_evaluated(
		"MaxPool 12 (f32[1,2,2,3]={1,2,3,6,5,4,7,8,9,12,11,10}) "
		"kernel_shape=[2,2] storage_order=1 -> 2",
		"f32[1,2,1,2]={6,5,12,11} i64[1,2,1,2]={1,3,7,9}");
	check_evaluated(
		"MaxPool 12 (f32[1,1,2,2,3]={1,2,3,4,5,6,7,8,9,10,11,12}) "
		"kernel_shape=[2,1,2] strides=[1,1,2] ceil_mode=1",
		"f32[1,1,1,2,2]={8,9,11,12}");
	check_evaluated("MaxPool 12 (i8[1,1,4]={-128,-3,-100,-7}) "
			"kernel_shape=[2] strides=[2] pads=[1,1]",
			"i8[1,1,3]={-128,-3,-7}");
	/* An integer may be below those of 8 bits. */
	check_evaluated("MaxPool 12 (i32[1,1,3]={-300,-200,-250}) "
			"kernel_shape=[3]",
			"i32[1,1,1]={-200}");
	check_evaluated(
		"MaxPool 12 (i32[1,1,1]={-300}) kernel_shape=[1] pads=[1,0]",
		"i32[1,1,2]={-2147483648,-300}");
	check_evaluated(
		"MaxPool 12 (i8[1,1,1]={-3}) kernel_shape=[1] pads=[1,0]",
		"i8[1,1,2]={-128,-3}");
	/* The first of equals. */
	check_evaluated(
		"MaxPool 12 (f32[1,1,4]={7,7,7,7}) kernel_shape=[2] -> 2",
		"f32[1,1,3]={7,7,7} i64[1,1,3]={0,1,2}");
	check_evaluated("MaxPool 12 (f32[1,1,4]={1,2,3,4}) kernel_shape=[2] "
			"auto_pad=SAME_LOWER -> 2",
			"f32[1,1,4]={1,2,3,4} i64[1,1,4]={0,1,2,3}");
	check_evaluated("MaxPool 12 (f32[0,1,4]={}) kernel_shape=[2] -> 2",
			"f32[0,1,3]={} i64[0,1,3]={}");
	/* Windows in the padding alone hold nothing. */
	check_evaluated(
		"MaxPool 12 (f32[1,1,1]={5}) kernel_shape=[1] pads=[1,1] -> 2",
		"f32[1,1,3]={-inf,5,-inf} i64[1,1,3]={-1,0,-1}");
	check_evaluated(
		"MaxPool 12 (uint8[1,1,1]={5}) kernel_shape=[1] pads=[1,1]",
		"uint8[1,1,3]={0,5,0}");
	check_evaluated(
		"com.microsoft.NhwcMaxPool 1 "
		"(i8[1,2,2,2]={1,-5,2,-6,3,-7,4,-8}) kernel_shape=[2,1]",
		"i8[1,1,2,2]={3,-5,4,-6}");
}

/* Wherever in the window it is; of two the first. */
static void
test_not_a_number(void **state)
{
	(void)state;
	check_evaluated("MaxPool 12 (f32[1,1,5]={1,nan,3,nan,2}) "
			"kernel_shape=[3] -> 2",
			"f32[1,1,3]={nan,nan,nan} i64[1,1,3]={1,1,3}");
	check_evaluated("MaxPool 12 (f32[1,1,4]={nan,1,2,3}) kernel_shape=[2]",
			"f32[1,1,3]={nan,2,3}");
	check_evaluated("GlobalMaxPool 1 (f32[3,1,2]={nan,5,5,nan,4,5})",
			"f32[3,1,1]={nan,nan,5}");
	check_evaluated("MaxRoiPool 1 (f32[1,1,1,3]={1,nan,3}, "
			"f32[2,5]={0,0,0,2,0,0,2,0,2,0}) pooled_shape=[1,1]",
			"f32[2,1,1,1]={nan,3}");
}

static void
test_averages(void **state)
{
	(void)state;
	check_evaluated("AveragePool 11 (f32[1,1,4]={2,4,6,8}) "
			"kernel_shape=[2] pads=[1,1]",
			"f32[1,1,5]={2,3,5,7,8}");
	check_evaluated("AveragePool 11 (f32[1,1,4]={2,4,6,8}) "
			"kernel_shape=[2] pads=[1,1] count_include_pad=1",
			"f32[1,1,5]={1,3,5,7,4}");
	check_evaluated("AveragePool 19 (f32[1,1,5]={2,4,6,8,10}) "
			"kernel_shape=[2] dilations=[2]",
			"f32[1,1,3]={4,6,8}");
	/* ceil_mode: the last window has 8 and 1 pad, and 2 places beyond that
	 * count nowhere */
	check_evaluated(
		"AveragePool 19 (f32[1,1,4]={2,4,6,8}) kernel_shape=[4] "
		"strides=[3] pads=[0,1] ceil_mode=1 count_include_pad=1",
		"f32[1,1,2]={5,4}");
	check_evaluated("AveragePool 19 (f32[1,1,4]={2,4,6,8}) "
			"kernel_shape=[4] strides=[3] pads=[0,1] ceil_mode=1",
			"f32[1,1,2]={5,8}");
	/* a window that starts in the padding behind the end is left out */
	check_evaluated("AveragePool 22 (f32[1,1,3]={2,4,6}) kernel_shape=[2] "
			"strides=[3] pads=[0,1] ceil_mode=1",
			"f32[1,1,1]={3}");
	check_evaluated("AveragePool 11 (f32[1,1,3,3]={1,2,3,4,5,6,7,8,9}) "
			"kernel_shape=[2,2] auto_pad=SAME_UPPER strides=[2,2]",
			"f32[1,1,2,2]={3,4.5,7.5,9}");
	check_evaluated(
		"AveragePool 11 (f16[1,1,4]={2048,1,1,2}) kernel_shape=[4]",
		"f16[1,1,1]={513}");
}

static void
test_norms(void **state)
{
	(void)state;
	check_evaluated("LpPool 18 (f32[1,1,4]={3,-4,0,5}) kernel_shape=[2]",
			"f32[1,1,3]={5,4,5}");
	check_evaluated("LpPool 18 (f32[1,1,4]={3,-4,0,5}) kernel_shape=[2] "
			"p=1 pads=[1,0]",
			"f32[1,1,4]={3,7,4,5}");
	check_evaluated("GlobalLpPool 2 (f32[1,2,2]={3,-4,1,-7}) p=1",
			"f32[1,2,1]={7,8}");
	check_evaluated("GlobalLpPool 2 (f32[1,1,1,2]={3,-4})",
			"f32[1,1,1,1]={5}");
}

static void
test_whole_images(void **state)
{
	(void)state;
	check_evaluated(
		"GlobalAveragePool 1 (f32[1,2,2,2]={1,2,3,6,-1,-2,-3,-6})",
		"f32[1,2,1,1]={3,-3}");
	check_evaluated("GlobalMaxPool 1 (f32[2,1,3]={-3,-1,-2,4,9,5})",
			"f32[2,1,1]={-1,9}");
	check_evaluated("GlobalMaxPool 1 (f32[0,2,3]={})", "f32[0,2,1]={}");
	check_fails("GlobalMaxPool 1 (f32[1,2,0]={})", "without elements");
	check_fails("GlobalAveragePool 1 (f32[1,2,3,0]={})",
		    "without elements");
}

static void
test_undone(void **state)
{
	(void)state;
	check_evaluated("MaxUnpool 11 (f32[1,1,2]={5,6}, i64[1,1,2]={1,2}) "
			"kernel_shape=[2] strides=[2]",
			"f32[1,1,4]={0,5,6,0}");
	/* Indices count in 1x1x4; the result is larger. */
	check_evaluated("MaxUnpool 11 (f32[1,1,1,2]={5,6}, i64[1,1,1,2]={1,6}, "
			"i64[4]={1,1,3,5}) kernel_shape=[2,2] strides=[2,2]",
			"f32[1,1,3,5]={0,5,0,0,0,0,0,6,0,0,0,0,0,0,0}");
	check_fails("MaxUnpool 11 (f32[1,1,2]={5,6}, i64[1,1,2]={1,4}) "
		    "kernel_shape=[2] strides=[2]",
		    "index 4");
	check_evaluated("MaxUnpool 11 (f32[0,2,1152921504606846976]={}, "
			"i64[0,2,1152921504606846976]={}, i64[3]={0,2,5}) "
			"kernel_shape=[1] strides=[1073741824]",
			"f32[0,2,5]={}");
	check_fails("MaxUnpool 11 (f32[1,1,2]={5,6}, i64[1,1,2]={-1,3}) "
		    "kernel_shape=[2] strides=[2]",
		    "index -1");
}

static void
test_regions(void **state)
{
	(void)state;
	check_evaluated(
		"MaxRoiPool 1 (f32[1,1,3,4]={1,2,3,4,5,6,7,8,9,10,11,12}, "
		"f32[2,5]={0,1,0,3,2,0,0,0,0,0}) pooled_shape=[2,2]",
		"f32[2,1,2,2]={7,8,11,12,1,1,1,1}");
	check_evaluated("MaxRoiPool 1 "
			"(f32[2,1,3,4]={1,2,3,4,5,6,7,8,9,10,11,12,12,11,10,9,"
			"8,7,6,5,4,3,2,1}, f32[2,5]={1,2,2,6,4,0,0,0,20,20}) "
			"pooled_shape=[1,2] spatial_scale=0.5",
			"f32[2,1,1,2]={7,6,12,0}");
	check_fails("MaxRoiPool 1 (f32[1,1,1,1]={1}, f32[1,5]={1,0,0,0,0}) "
		    "pooled_shape=[1,1]",
		    "no image 1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_not_a_number),
		cmocka_unit_test(test_averages),
		cmocka_unit_test(test_norms),
		cmocka_unit_test(test_whole_images),
		cmocka_unit_test(test_undone),
		cmocka_unit_test(test_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
