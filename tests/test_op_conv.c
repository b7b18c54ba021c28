/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves shapes and costs of convolutions: sizes of one, two and three
 * dimensions, groups, transposed and quantized forms, figures that are known
 * by hand, and by counting every product of small ones in plain loops.
 */
#include "one_node.h"

static void
test_shapes(void **state)
{
	(void)state;
	check_refused("Conv 11 (f32[1,3,8,8], f32[4,3,3,3]) "
		      "group=4611686018427387904",
		      "the weight takes more channels than can be counted");
	check_out("Conv 11 (f32[1,3,224,224], f32[64,3,7,7]) strides=[2,2] "
		  "pads=[3,3,3,3]",
		  "f32[1,64,112,112]");
	check_out("Conv 11 (f32[1,3,224,224], f32[64,3,7,7]) strides=[2,2]",
		  "f32[1,64,109,109]");
	check_out("Conv 11 (f32[2,4,9], f32[6,2,3]) group=2 dilations=[2]",
		  "f32[2,6,5]");
	check_out("Conv 11 (f32[2,4,5,6,7], f32[6,4,1,2,3]) "
		  "pads=[0,0,0,1,1,1]",
		  "f32[2,6,6,6,6]");
	check_out("Conv 11 (f32[1,3,7,7], f32[8,3,3,3]) strides=[2,2] "
		  "auto_pad=SAME_UPPER",
		  "f32[1,8,4,4]");
	check_out("Conv 11 (f32[1,3,7,7], f32[8,3,3,3]) strides=[2,2] "
		  "auto_pad=VALID",
		  "f32[1,8,3,3]");
	check_out("Conv 11 (f32[n,3,h,w], f32[8,3,3,3]) pads=[1,1,1,1]",
		  "f32[n,8,h,w]");
	check_out("Conv 11 (f32[n,3,h,8], f32[8,3,3,3]) strides=[2,2]",
		  "f32[n,8,(((h-3)/2)+1),3]");
	check_out("Conv 11 (f32, f32[8,3,3,3])", "f32?");
	check_out("com.microsoft.NhwcConv 1 (f32[1,9,8,3], f32[5,3,3,3])",
		  "f32[1,7,6,5]");
}

static void
test_quantized_forms(void **state)
{
	(void)state;
	check_out("ConvInteger 10 (uint8[1,1,3,3], int8[2,1,2,2], uint8[])",
		  "int32[1,2,2,2]");
	check_out("QLinearConv 10 (uint8[1,1,7,7], f32[], uint8[], "
		  "int8[2,1,1,1], f32[2], int8[2], f32[], uint8[], i32[2])",
		  "uint8[1,2,7,7]");
	check_out("com.microsoft.QLinearConv 1 (uint8[1,7,8,3], f32[], "
		  "uint8[], int8[5,3,2,2], f32[], int8[], f32[], uint8[]) "
		  "channels_last=1",
		  "uint8[1,6,7,5]");
	check_cost("QLinearConv 10 (uint8[1,1,7,7], f32[], uint8[], "
		   "int8[2,1,1,1], f32[2], int8[2], f32[], uint8[], i32[2])",
		   {.fma = 98,
		    .macs = 98,
		    .add = 98,
		    .mul = 98,
		    .work = SL_WORK_CONVOLUTION});
	check_cost("com.microsoft.FusedConv 1 (f32[1,2,3,3], f32[4,2,1,1], "
		   "f32[4], f32[1,4,3,3]) activation=Relu",
		   {.fma = 72,
		    .macs = 72,
		    .add = 72,
		    .cmp = 36,
		    .work = SL_WORK_CONVOLUTION});
}

static void
test_wrong_shapes_are_refused(void **state)
{
	(void)state;
	check_refused("Conv 11 (f32[1,4,8,8], f32[8,3,3,3])",
		      "the input has 4 channels, the weight takes 3");
	check_refused("Conv 11 (f32[1,4,8,8], f32[8,3,3,3]) group=2",
		      "the input has 4 channels, the weight takes 6");
	check_refused("Conv 11 (f32[1,6,8,8], f32[7,3,3,3]) group=2",
		      "do not come out even");
	check_refused("Conv 11 (f32[1,3,8,8], f32[8,3,3,3], f32[7])",
		      "a bias of 7 does not fit 8 output channels");
	check_refused("Conv 11 (f32[1,3,8,8], f32[8,3,3])", "1x3x8x8");
	check_refused("Conv 11 (f32[1,3,2,8], f32[8,3,3,3])",
		      "a window of 3 does not fit into 2");
	check_refused("Conv 11 (f32[1,3,2,8], f32[8,3,5,3]) pads=[1,0,1,0]",
		      "a window of 5 does not fit into 4 with its padding");
	check_refused("Conv 11 (f32[1,3,8,8], f32[8,3,3,3]) strides=[0,1]",
		      "strides holds 0");
	check_refused("Conv 11 (f32[1,3,8,8], f32[8,3,3,3]) strides=[1]",
		      "strides has 1 number, not 2");
	check_refused("Conv 11 (f32[1,3,8,8], f32[8,3,3,3]) pads=[1,1]",
		      "pads has 2 numbers, not 4");
	check_refused("Conv 11 (f32[1,3,8,8], f32[8,3,3,3]) "
		      "kernel_shape=[5,3]",
		      "kernel_shape says 5 where the weight has 3");
	check_refused("Conv 11 (f32[1,3,8,8], f32[8,3,3,3]) auto_pad=SOME",
		      "auto_pad is 'SOME'");
	check_refused("Conv 11 (f32[1,3,8,8], f32[8,3,3,3]) group=0",
		      "group is 0");
	check_refused("ConvTranspose 11 (f32[1,3,8,8], f32[4,3,3,3])",
		      "the input has 3 channels, the weight takes 4");
	check_refused("ConvTranspose 11 (f32[1,3,1,1], f32[3,1,1,1]) "
		      "pads=[1,1,1,1]",
		      "negative");
}

static void
test_transposed(void **state)
{
	(void)state;
	check_out("ConvTranspose 11 (f32[1,1,3,3], f32[1,2,3,3])",
		  "f32[1,2,5,5]");
	check_out("ConvTranspose 11 (f32[1,1,3,3], f32[1,2,3,3]) "
		  "strides=[3,2] output_padding=[1,1]",
		  "f32[1,2,10,8]");
	check_out("ConvTranspose 11 (f32[1,1,3,3], f32[1,2,3,3]) "
		  "strides=[3,2] output_shape=[10,8]",
		  "f32[1,2,10,8]");
	check_out("ConvTranspose 11 (f32[1,1,3,3], f32[1,2,3,3]) "
		  "strides=[3,2] output_shape=[1,2,10,8]",
		  "f32[1,2,10,8]");
	check_out("ConvTranspose 11 (f32[1,1,3,3], f32[1,2,3,3]) "
		  "strides=[3,2] pads=[1,2,1,2]",
		  "f32[1,2,7,3]");
	check_out("ConvTranspose 11 (f32[1,1,3,3], f32[1,2,3,3]) "
		  "strides=[2,2] auto_pad=SAME_UPPER",
		  "f32[1,2,6,6]");
	/* as ONNX Runtime has them: a kernel smaller than the stride leaves
	 * a rest, output_padding is used up before anything is cut */
	check_out("ConvTranspose 11 (f32[2,4,13], f32[4,3,1]) strides=[3] "
		  "auto_pad=SAME_UPPER",
		  "f32[2,3,37]");
	check_out("ConvTranspose 11 (f32[2,4,4,5], f32[4,3,1,3]) "
		  "strides=[3,1] output_padding=[1,0] auto_pad=SAME_UPPER",
		  "f32[2,3,11,5]");
	check_out("ConvTranspose 11 (f32[2,4,2,3], f32[4,3,4,1]) "
		  "strides=[3,1] output_padding=[2,0] auto_pad=SAME_UPPER",
		  "f32[2,3,6,3]");
	check_out("ConvTranspose 11 (f32[1,1,3,3], f32[1,1,2,2]) "
		  "dilations=[2,2]",
		  "f32[1,1,5,5]");
	check_out("ConvTranspose 11 (f32[1,4,3], f32[4,3,3]) group=2",
		  "f32[1,6,5]");
	check_out("ConvTranspose 11 (f32[n,4,t], f32[4,3,2]) strides=[2]",
		  "f32[n,3,(t*2)]");
	/* each of 36 inputs meets 3 channels of 9 taps */
	check_cost("ConvTranspose 11 (f32[1,4,3,3], f32[4,3,3,3], f32[6]) "
		   "group=2",
		   {.fma = 36 * 3 * 9,
		    .macs = 36 * 3 * 9,
		    .add = 6 * 25,
		    .work = SL_WORK_CONVOLUTION});
}

static void
test_deformable(void **state)
{
	(void)state;
	check_out("DeformConv 19 (f32[1,2,5,5], f32[3,2,2,2], "
		  "f32[1,8,4,4], f32[3], f32[1,4,4,4])",
		  "f32[1,3,4,4]");
	/* 16 positions, 2 channels, 4 taps; each tap from 4 neighbours */
	check_cost("DeformConv 19 (f32[1,2,5,5], f32[3,2,2,2], "
		   "f32[1,8,4,4], f32[3], f32[1,4,4,4])",
		   {.macs = 16 * 3 * 8,
		    .fma = 16 * 3 * 8 + 16 * 8 * 4,
		    .add = 48,
		    .mul = 16 * 8,
		    .work = SL_WORK_CONVOLUTION});
}

static void
test_with_a_state(void **state)
{
	(void)state;
	check_out("CausalConvWithState 27 (f32[2,4,8], f32[4,1,3])",
		  "f32[2,4,8] f32[2,4,2]");
	check_refused("CausalConvWithState 27 (f32[2,4,8], f32[5,1,3])",
		      "a kernel of 5x1x3 does not fit 2x4x8");
	check_cost("CausalConvWithState 27 (f32[2,4,8], f32[4,1,3], f32[4]) "
		   "activation=silu",
		   {.macs = 192,
		    .fma = 192,
		    .add = 64,
		    .exp = 64,
		    .work = SL_WORK_CONVOLUTION});
}

static void
test_figures_known_by_hand(void **state)
{
	(void)state;
	check_cost("Conv 11 (f32[1,3,224,224], f32[64,3,7,7]) strides=[2,2] "
		   "pads=[3,3,3,3]",
		   {.macs = 236027904 / 2,
		    .fma = 236027904 / 2,
		    .work = SL_WORK_CONVOLUTION});
	check_cost("Conv 11 (f32[1,3,224,224], f32[64,3,7,7]) strides=[2,2]",
		   {.macs = 223552896 / 2,
		    .fma = 223552896 / 2,
		    .work = SL_WORK_CONVOLUTION});
	check_cost("Conv 11 (f32[1,3,32,32], f32[16,3,3,3], f32[16]) "
		   "pads=[1,1,1,1]",
		   {.macs = 884736 / 2,
		    .fma = 884736 / 2,
		    .add = 16 * 32 * 32,
		    .work = SL_WORK_CONVOLUTION});
	check_cost("Conv 11 (f32[1,3,32,32], f32[16,3,3,3])",
		   {.macs = 777600 / 2,
		    .fma = 777600 / 2,
		    .work = SL_WORK_CONVOLUTION});
}

/* What a loop over everything would multiply. */
static uint64_t
count_in_loops(int out_channels, int in_channels, int groups, int positions,
	       int taps)
{
	uint64_t n = 0;

	for (int o = 0; o < out_channels; o++)
		for (int i = 0; i < in_channels; i++)
			for (int p = 0; p < positions; p++)
				for (int t = 0; t < taps; t++)
					n += o / (out_channels / groups) ==
					     i / (in_channels / groups);
	return n;
}

static void
test_groups_against_loops(void **state)
{
	static const int sizes[][3] = {{4, 6, 1}, {4, 6, 2}, {4, 4, 4},
				       {3, 6, 3}, {8, 4, 4}, {1, 5, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int in = sizes[i][0], out = sizes[i][1], groups = sizes[i][2];
		struct one_node *n;
		char text[120];

		snprintf(text, sizeof(text),
			 "Conv 11 (f32[1,%d,6], f32[%d,%d,3]) group=%d", in,
			 out, in / groups, groups);
		n = one_node(text);
		assert_int_equal(n->cost.macs,
				 count_in_loops(out, in, groups, 4, 3));
		one_node_free(n);
		snprintf(text, sizeof(text),
			 "ConvTranspose 11 (f32[1,%d,6], f32[%d,%d,3]) "
			 "group=%d",
			 in, in, out / groups, groups);
		n = one_node(text);
		assert_int_equal(n->cost.macs,
				 count_in_loops(out, in, groups, 6, 3));
		one_node_free(n);
	}
}

static void
test_no_memory(void **state)
{
	(void)state;
	check_allocations("Conv 11 (f32[n,3,h,8], f32[8,3,3,3]) "
			  "strides=[2,2]");
	check_allocations("ConvTranspose 11 (f32[n,4,t], f32[4,3,3])");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_quantized_forms),
		cmocka_unit_test(test_wrong_shapes_are_refused),
		cmocka_unit_test(test_transposed),
		cmocka_unit_test(test_deformable),
		cmocka_unit_test(test_with_a_state),
		cmocka_unit_test(test_figures_known_by_hand),
		cmocka_unit_test(test_groups_against_loops),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
