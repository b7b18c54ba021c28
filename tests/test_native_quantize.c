/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_quantize.c - quantizing, and element-wise operators and pools
 * on quantized numbers, give the reference kernels' integers exactly and
 * their reals within 1e-5.  Bytes are drawn from the whole range, so that
 * both ends saturate; the scales of one row make every other sum a tie.
 */
#include "quantized_case.h"

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	uint32_t n_given;
	const char *text;
} ROWS[] = {
	{1, "QuantizeLinear 13 (f32[3,7,11], f32[]={0.018}, uint8[]={114})"},
	{1, "QuantizeLinear 13 (f32[1003], f32[]={0.25}, i8[]={-3})"},
	{1, "QuantizeLinear 13 (f32[40], f32[]={0.0001}, i8[]={0})"},
	{1, "QuantizeLinear 13 (f32[40], f32[]={0.02})"},
	{1, "QuantizeLinear 13 (f32[2,5,33], f32[5], i8[5])"},
	{1, "QuantizeLinear 13 (f32[6,5], f32[6], uint8[6]) axis=0"},
	{1, "QuantizeLinear 13 (f32[300,1000], f32[]={0.02}, uint8[]={3})"},
	{1,
	 "DequantizeLinear 13 (uint8[3,7,11], f32[]={0.018}, uint8[]={114})"},
	{1, "DequantizeLinear 13 (i8[3,7,11], f32[]={0.018}, i8[]={-114})"},
	{1, "DequantizeLinear 13 (i8[2,5,33], f32[5], i8[5])"},
	{1, "DequantizeLinear 13 (i32[77], f32[]={0.018})"},
	{1, "DequantizeLinear 13 (uint8[300,1000], f32[]={0.02}, uint8[]={3})"},
	{1, "DynamicQuantizeLinear 11 (f32[3,335])"},
	{1, "DynamicQuantizeLinear 11 (f32[5])"},
	{2, "com.microsoft.QLinearAdd 1 (uint8[2,3,77], f32[]={0.02}, "
	    "uint8[]={114}, "
	    "uint8[2,3,77], f32[]={0.035}, uint8[]={9}, f32[]={0.05}, "
	    "uint8[]={120})"},
	{2, "com.microsoft.QLinearAdd 1 (i8[500], f32[]={0.02}, i8[]={-114}, "
	    "i8[500], f32[]={0.035}, i8[]={9}, f32[]={0.05}, i8[]={12})"},
	{2,
	 "com.microsoft.QLinearAdd 1 (uint8[5000], f32[]={0.5}, uint8[]={3}, "
	 "uint8[5000], f32[]={0.5}, uint8[]={9}, f32[]={1}, uint8[]={1})"},
	{1, "com.microsoft.QLinearAdd 1 (i8[4,32], f32[]={0.02}, i8[]={1}, "
	    "i8[32], f32[]={0.01}, i8[]={0}, f32[]={0.05}, i8[]={12})"},
	{1, "com.microsoft.QLinearAdd 1 (i8[4,32], f32[]={0.02}, i8[]={1}, "
	    "i8[1], f32[]={0.01}, i8[]={0}, f32[]={0.05}, i8[]={12})"},
	{2, "com.microsoft.QLinearAdd 1 (uint8[300,1000], f32[]={0.02}, "
	    "uint8[]={1}, "
	    "uint8[300,1000], f32[]={0.01}, uint8[]={0}, f32[]={0.05}, "
	    "uint8[]={12})"},
	/* Most sums saturate; factors so large that all are in doubt. */
	{2, "com.microsoft.QLinearAdd 1 (i8[777], f32[]={0.5}, i8[]={100}, "
	    "i8[777], f32[]={0.07}, i8[]={-100}, f32[]={0.06}, i8[]={-128})"},
	{2, "com.microsoft.QLinearAdd 1 (uint8[777], f32[]={3}, uint8[]={255}, "
	    "uint8[777], f32[]={7}, uint8[]={255}, f32[]={0.0001}, "
	    "uint8[]={255})"},
	{2, "com.microsoft.QLinearMul 1 (uint8[3,77], f32[]={0.02}, "
	    "uint8[]={114}, "
	    "uint8[3,77], f32[]={0.035}, uint8[]={9}, f32[]={0.05}, "
	    "uint8[]={120})"},
	{2, "com.microsoft.QLinearMul 1 (i8[3,77], f32[]={0.5}, i8[]={4}, "
	    "i8[3,77], f32[]={0.25}, i8[]={9}, f32[]={4}, i8[]={-1})"},
	{1, "com.microsoft.QLinearSigmoid 1 (uint8[2,300], f32[]={0.04}, "
	    "uint8[]={128}, "
	    "f32[]={0.0039}, uint8[]={0})"},
	{1, "com.microsoft.QLinearSigmoid 1 (i8[300], f32[]={0.04}, i8[]={1}, "
	    "f32[]={0.0039}, i8[]={-128})"},
	{1,
	 "com.microsoft.QLinearLeakyRelu 1 (i8[300], f32[]={0.04}, i8[]={1}, "
	 "f32[]={0.03}, i8[]={-100}) alpha=0.2"},
	{1, "com.microsoft.QLinearSoftmax 1 (i8[4,10], f32[]={0.04}, i8[]={1}, "
	    "f32[]={0.0039}, i8[]={-128}) opset=15"},
	{1, "com.microsoft.QLinearSoftmax 1 (uint8[3,4,5], f32[]={0.04}, "
	    "uint8[]={1}, "
	    "f32[]={0.0039}, uint8[]={0}) opset=13 axis=1"},
	{1, "com.microsoft.QLinearSoftmax 1 (uint8[3,4,5], f32[]={0.04}, "
	    "uint8[]={1}, "
	    "f32[]={0.0039}, uint8[]={0}) opset=11 axis=1"},
	{1,
	 "com.microsoft.QLinearAveragePool 1 (uint8[2,70,6,7], f32[]={0.04}, "
	 "uint8[]={1}, f32[]={0.04}, uint8[]={1}) kernel_shape=[2,2] "
	 "strides=[2,2]"},
	{1, "com.microsoft.QLinearAveragePool 1 (i8[1,5,6,7], f32[]={0.04}, "
	    "i8[]={1}, f32[]={0.03}, i8[]={-7}) kernel_shape=[3,3] "
	    "pads=[1,1,1,1]"},
	{1,
	 "com.microsoft.QLinearAveragePool 1 (i8[1,5,6,7], f32[]={0.04}, "
	 "i8[]={1}, f32[]={0.03}, i8[]={-7}) kernel_shape=[3,3] pads=[1,1,1,1] "
	 "count_include_pad=1 ceil_mode=1 strides=[2,2]"},
	{1, "com.microsoft.QLinearGlobalAveragePool 1 (uint8[2,67,5,3], "
	    "f32[]={0.04}, uint8[]={1}, f32[]={0.01}, uint8[]={9})"},
	{1, "MaxPool 12 (uint8[2,5,7,8]) kernel_shape=[3,3] pads=[1,1,1,1]"},
	{1, "MaxPool 12 (i8[2,5,7,8]) kernel_shape=[2,2] strides=[2,2]"},
};

static void
results_are_the_reference_kernels(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(ROWS); i++)
		check_quantized(ROWS[i].text, ROWS[i].n_given, 0);
}

/* Scales in blocks, other integers, operands that are repeated in between. */
static void
other_kinds_are_left(void **state)
{
	(void)state;
	check_quantized("QuantizeLinear 21 (f32[4,6], f32[4,2], i8[4,2]) "
			"block_size=3",
			1, 1);
	check_quantized("QuantizeLinear 21 (f32[4,6], f32[]={0.1}, i16[]={3})",
			1, 1);
	check_quantized(
		"com.microsoft.QLinearAdd 1 (uint8[2,3,4], f32[]={0.02}, "
		"uint8[]={114}, uint8[2,1,4], f32[]={0.035}, uint8[]={9}, "
		"f32[]={0.05}, uint8[]={120})",
		1, 1);
	check_quantized("QuantizeLinear 13 (f32[0], f32[]={0.1}, i8[]={3})", 1,
			1);
}

/* Sums of codes whose scales differ by up to a factor of 100 either way, with
 * ties among them. */
static void
sums_at_many_scales(void **state)
{
	static const double scales[] = {0.01, 0.0137, 0.02, 0.031, 0.25,
					0.5,  0.731,  1,    0.999};
	uint64_t draw = 5;

	(void)state;
	for (int i = 0; i < 60; i++) {
		int is_signed = i % 3 == 0;
		const char *type = is_signed ? "i8" : "uint8";
		double by[3];
		int at[3];
		char line[256];

		for (int k = 0; k < 3; k++) {
			draw = draw * 6364136223846793005u +
			       1442695040888963407u;
			by[k] = scales[(draw >> 33) % 9];
			at[k] = (int)(draw >> 40) % 256 - 128 * is_signed;
		}
		snprintf(line, sizeof(line),
			 "com.microsoft.QLinearAdd 1 (%s[20011], f32[]={%g}, "
			 "%s[]={%d}, %s[20011], f32[]={%g}, %s[]={%d}, "
			 "f32[]={%g}, %s[]={%d})",
			 type, by[0], type, at[0], type, by[1], type, at[1],
			 by[2], type, at[2]);
		check_quantized(line, 2, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_the_reference_kernels),
		cmocka_unit_test(other_kinds_are_left),
		cmocka_unit_test(sums_at_many_scales),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
