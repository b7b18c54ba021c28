/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves convolutions: groups, strides, dilations, uneven pads, any number of
 * dimensions, nothing at all.  Numbers are small integers, so that sums are
 * exact; the expected ones are onnxruntime's unless a comment derives them.
 */
#include "evaluated.h"

static void
test_one_dimension(void **state)
{
	(void)state;
	check_evaluated("Conv 11 (f32[1,2,6]={1,2,3,4,5,6,-1,0,2,-3,1,4}, "
			"f32[2,1,3]={1,-2,1,3,0,-1}, f32[2]={10,-5}) group=2 "
			"pads=[2,1] strides=[2]",
			"f32[1,2,4]={11,10,10,3,-4,-10,0,-2}");
	check_evaluated("Conv 11 (f32[2,1,5]={1,2,3,4,5,0,1,0,2,0}, "
			"f32[1,1,2]={3,-1}) dilations=[3] pads=[1,2]",
			"f32[2,1,5]={-3,-1,1,9,12,0,-2,3,0,6}");
	/* 1-D, so the odd pad of SAME shows: [1,1] over 0 1 2 3 4 */
	check_evaluated("Conv 11 (f32[1,1,4]={1,2,3,4}, f32[1,1,2]={1,1}) "
			"auto_pad=SAME_UPPER",
			"f32[1,1,4]={3,5,7,4}");
	check_evaluated("Conv 11 (f32[1,1,4]={1,2,3,4}, f32[1,1,2]={1,1}) "
			"auto_pad=SAME_LOWER",
			"f32[1,1,4]={1,3,5,7}");
}

static void
test_images(void **state)
{
	(void)state;
	check_evaluated(
		"Conv 11 (f32[1,1,3,4]={1,2,3,4,5,6,7,8,9,10,11,12}, "
		"f32[1,1,2,3]={1,0,-1,2,1,0}) pads=[1,0,0,2] strides=[2,1]",
		"f32[1,1,2,4]={4,7,10,8,26,29,41,32}");
	check_evaluated("Conv 11 (f32[1,2,2,2]={1,2,3,4,5,6,7,8}, "
			"f32[3,2,1,1]={1,2,-1,1,0,3}, f32[3]={1,2,3})",
			"f32[1,3,2,2]={12,15,18,21,6,6,6,6,18,21,24,27}");
	check_evaluated("Conv 11 "
			"(f32[1,1,5,5]={1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,"
			"17,18,19,20,21,22,23,24,25}, f32[1,1,2,2]={1,1,1,-1}) "
			"auto_pad=SAME_LOWER strides=[2,3] dilations=[1,1]",
			"f32[1,1,3,2]={-1,-1,12,18,32,38}");
	check_evaluated(
		"Conv 11 (f32[1,1,2,3,2]={1,2,3,4,5,6,7,8,9,10,11,12}, "
		"f32[1,1,2,2,1]={1,-1,2,3}) pads=[0,1,0,1,0,1] strides=[1,2,1]",
		"f32[1,1,2,2,3]={20,22,0,49,54,0,-7,-8,0,-2,-2,0}");
	/* each channel by itself */
	check_evaluated("Conv 11 (f32[1,3,2,2]={1,2,3,4,5,6,7,8,9,10,11,12}, "
			"f32[3,1,2,2]={1,0,0,1,0,1,1,0,1,1,1,1}) group=3",
			"f32[1,3,1,1]={5,13,42}");
}

static void
test_sums_are_rounded_once(void **state)
{
	(void)state;
	/* 2048 + 1 + 1 - 2: f16 holds no 2049, and would stay at 2048 */
	check_evaluated("Conv 11 (f16[1,1,3]={2048,1,1}, f16[1,1,3]={1,1,1}, "
			"f16[1]={-2048})",
			"f16[1,1,1]={2}");
	/* 2^24 + 1 - 2^24 in f32 */
	check_evaluated("Conv 11 (f32[1,1,3]={16777216,1,-16777216}, "
			"f32[1,1,3]={1,1,1})",
			"f32[1,1,1]={1}");
	check_evaluated("Conv 11 (f64[1,1,2]={0.5,0.25}, f64[1,1,2]={1,3})",
			"f64[1,1,1]={1.25}");
}

static void
test_nothing(void **state)
{
	(void)state;
	check_evaluated("Conv 11 (f32[0,1,4]={}, f32[2,1,3]={1,1,1,2,2,2})",
			"f32[0,2,2]={}");
	/* no channels: the bias alone */
	check_evaluated("Conv 11 (f32[1,0,3]={}, f32[2,0,2]={}, f32[2]={7,9})",
			"f32[1,2,2]={7,7,9,9}");
	check_evaluated("Conv 11 (f32[1,1,0]={}, f32[1,1,1]={1})",
			"f32[1,1,0]={}");
}

static void
test_transposed(void **state)
{
	(void)state;
	check_evaluated("ConvTranspose 11 (f32[1,1,3]={1,2,3}, "
			"f32[1,1,2]={1,10}) strides=[2]",
			"f32[1,1,6]={1,10,2,20,3,30}");
	check_evaluated(
		"ConvTranspose 11 (f32[1,2,2]={1,2,3,4}, "
		"f32[2,2,3]={1,0,1,2,1,0,1,1,1,0,0,1}, f32[4]={0,0,5,5}) "
		"group=2 strides=[2] pads=[1,0] output_padding=[1]",
		"f32[1,4,5]={0,3,0,2,0,1,4,2,0,0,8,12,9,9,5,5,8,5,9,5}");
	check_evaluated("ConvTranspose 11 (f32[1,1,2,2]={1,2,3,4}, "
			"f32[1,2,2,3]={1,2,3,4,5,6,6,5,4,3,2,1}) "
			"dilations=[2,1] pads=[0,1,1,0]",
			"f32[1,2,3,3]={4,7,6,10,17,12,13,16,12,17,14,8,39,32,"
			"16,8,5,2}");
	check_evaluated("ConvTranspose 11 (f32[1,1,2,1,2]={1,2,3,4}, "
			"f32[1,1,1,2,2]={1,2,3,4}) strides=[2,1,3]",
			"f32[1,1,3,2,5]={1,2,0,2,4,3,4,0,6,8,0,0,0,0,0,0,0,0,0,"
			"0,3,6,0,4,8,9,12,0,12,16}");
	/* 1 2 1+... : the odd one of 3 pads before, or after with SAME_UPPER */
	check_evaluated(
		"ConvTranspose 11 (f32[1,1,3]={1,2,3}, "
		"f32[1,1,4]={1,10,100,1000}) strides=[2] output_shape=[5]",
		"f32[1,1,5]={102,1020,203,2030,300}");
	check_evaluated("ConvTranspose 11 (f32[1,1,3]={1,2,3}, "
			"f32[1,1,5]={1,10,100,1000,10000}) strides=[2] "
			"auto_pad=SAME_UPPER",
			"f32[1,1,6]={10,102,1020,10203,2030,20300}");
	check_evaluated("ConvTranspose 11 (f32[1,1,3]={1,2,3}, "
			"f32[1,1,5]={1,10,100,1000,10000}) strides=[2] "
			"auto_pad=SAME_LOWER",
			"f32[1,1,6]={102,1020,10203,2030,20300,3000}");
	/* more than all windows reach: the rest is bias */
	check_evaluated("ConvTranspose 11 (f32[1,1,2]={1,2}, f32[1,1,1]={3}, "
			"f32[1]={9}) output_shape=[4]",
			"f32[1,1,4]={12,15,9,9}");
	check_fails("ConvTranspose 11 (f32[1,3,1]={1,2,3}, f32[3,1,1]={1,1,1}) "
		    "group=2",
		    "do not come out even");
}

static void
test_deformed(void **state)
{
	(void)state;
	/* Without offsets a convolution; one element further; half way. */
	check_evaluated(
		"DeformConv 19 (f32[1,1,2,3]={1,2,3,4,5,6}, f32[1,1,1,1]={2}, "
		"f32[1,2,2,3]={0,0,0,0,0,0,0,0,0,0,0,0})",
		"f32[1,1,2,3]={2,4,6,8,10,12}");
	check_evaluated(
		"DeformConv 19 (f32[1,1,2,3]={1,2,3,4,5,6}, f32[1,1,1,1]={1}, "
		"f32[1,2,2,3]={0,0,0,0,0,0,1,1,1,1,1,1})",
		"f32[1,1,2,3]={2,3,0,5,6,0}");
	check_evaluated(
		"DeformConv 19 (f32[1,1,2,3]={1,2,3,4,5,6}, f32[1,1,1,1]={1}, "
		"f32[1,2,2,3]={0.5,0.5,0.5,0,0,0,0,0,0,0.5,0.5,0.5})",
		"f32[1,1,2,3]={2.5,3.5,4.5,4.5,5.5,3}");
	/* the mask and the bias; two parts of the channels bent apart */
	check_evaluated("DeformConv 19 (f32[1,2,1,2]={1,2,3,4}, "
			"f32[1,2,1,1]={1,1}, f32[1,4,1,2]={0,0,1,1,0,0,-1,-1}, "
			"f32[1]={10}, f32[1,2,1,2]={1,1,2,3}) offset_group=2",
			"f32[1,1,1,2]={12,19}");
	/* in one dimension */
	check_evaluated("DeformConv 19 (f32[1,1,3]={1,2,4}, f32[1,1,2]={1,1}, "
			"f32[1,2,2]={0,0.5,0,0})",
			"f32[1,1,2]={3,7}");
	check_fails("DeformConv 19 (f32[1,1,2]={1,2}, f32[1,1,1]={1}, "
		    "f32[1,1,1]={0})",
		    "each place");
	check_fails("DeformConv 19 (f32[1,1,2]={1,2}, f32[1,1,1]={1}, "
		    "f32[1,1,2]={0,0}) offset_group=2",
		    "offset_group is 2");
}

static void
test_fused(void **state)
{
	(void)state;
	check_evaluated("com.microsoft.FusedConv 1 (f32[1,1,4]={1,-2,3,-4}, "
			"f32[1,1,1]={1}) activation=Relu",
			"f32[1,1,4]={1,0,3,0}");
	check_evaluated(
		"com.microsoft.FusedConv 1 (f32[1,1,1,4]={1,-2,3,-4}, "
		"f32[1,1,1,1]={2}, f32[1]={1}, f32[1,1,1,4]={0,10,-20,0}) "
		"activation=LeakyRelu activation_params=[0.5]",
		"f32[1,1,1,4]={3,7,-6.5,-3.5}");
	check_evaluated(
		"com.microsoft.FusedConv 1 (f32[1,1,4]={1,-2,3,-4}, "
		"f32[1,1,1]={1}) activation=Clip activation_params=[-1.5,2.5]",
		"f32[1,1,4]={1,-1.5,2.5,-1.5}");
	check_evaluated("com.microsoft.FusedConv 1 (f32[1,1,4]={1,-2,3,-4}, "
			"f32[1,1,1]={1}) activation=HardSigmoid "
			"activation_params=[0.25,0.5]",
			"f32[1,1,4]={0.75,0,1,0}");
	/* Like the operators of these names. */
	check_evaluated("com.microsoft.FusedConv 1 (f32[1,1,3]={nan,inf,-inf}, "
			"f32[1,1,1]={1}) activation=Softsign",
			"f32[1,1,3]={nan,1,-1}");
	check_evaluated("com.microsoft.FusedConv 1 (f32[1,1,3]={nan,inf,-inf}, "
			"f32[1,1,1]={1}) activation=ThresholdedRelu",
			"f32[1,1,3]={nan,inf,0}");
	check_evaluated("com.microsoft.FusedConv 1 (f32[1,1,3]={nan,inf,-inf}, "
			"f32[1,1,1]={1}) activation=HardSwish",
			"f32[1,1,3]={nan,inf,0}");
	check_fails("com.microsoft.FusedConv 1 (f32[1,1,1]={1}, "
		    "f32[1,1,1]={1}) activation=Sine",
		    "is not known");
	check_fails("com.microsoft.FusedConv 1 (f32[1,1,1]={1}, "
		    "f32[1,1,1]={1}, _, f32[1,1,2]={1,1})",
		    "other sizes");
}

/* The same sums with channels before and after the image. */
static void
test_channels_last(void **state)
{
	(void)state;
	check_evaluated("Conv 11 (f32[1,2,2,2]={1,2,3,4,5,6,7,8}, "
			"f32[2,2,1,2]={1,2,3,4,-1,0,1,-2})",
			"f32[1,2,2,1]={44,64,-8,-12}");
	check_evaluated(
		"com.microsoft.NhwcConv 1 (f32[1,2,2,2]={1,5,2,6,3,7,4,8}, "
		"f32[2,2,1,2]={1,2,3,4,-1,0,1,-2})",
		"f32[1,2,1,2]={44,-8,64,-12}");
	check_evaluated("com.microsoft.NhwcFusedConv 1 "
			"(f32[1,2,2,2]={1,5,2,6,3,7,4,8}, "
			"f32[2,2,1,2]={1,2,3,4,-1,0,1,-2}, f32[2]={0,9}, "
			"f32[1,2,1,2]={-100,0,0,0}) activation=Relu",
			"f32[1,2,1,2]={0,1,64,0}");
}

/* However many images there are of nothing: these return at once. */
static void
test_huge_sizes_of_nothing(void **state)
{
	(void)state;
	check_evaluated("Conv 11 (f32[1152921504606846976,1,0]={}, "
			"f32[1,1,1]={1}, f32[1]={1})",
			"f32[1152921504606846976,1,0]={}");
	check_evaluated("ConvTranspose 11 (f32[1152921504606846976,1,0]={}, "
			"f32[1,1,1]={1}, f32[1]={1})",
			"f32[1152921504606846976,1,0]={}");
	check_evaluated("DeformConv 19 (f32[1152921504606846976,1,0,1]={}, "
			"f32[1,1,1,1]={1}, "
			"f32[1152921504606846976,2,0,1]={}, f32[1]={1})",
			"f32[1152921504606846976,1,0,1]={}");
	check_evaluated("com.microsoft.NhwcConv 1 "
			"(f32[1152921504606846976,0,1]={}, f32[1,1,1]={1})",
			"f32[1152921504606846976,0,1]={}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_dimension),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_sums_are_rounded_once),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_transposed),
		cmocka_unit_test(test_deformed),
		cmocka_unit_test(test_fused),
		cmocka_unit_test(test_channels_last),
		cmocka_unit_test(test_huge_sizes_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
