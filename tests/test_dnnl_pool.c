/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools and norms over channels on oneDNN against the reference kernels.  An
 * average of n numbers and a norm differ by a few roundings of f32; 1e-5 of
 * the largest element is a hundred.  Maxima are exact.
 */
#include "engine_case.h"

static void
test_maxima(void **state)
{
	static const char *const lines[] = {
		"MaxPool 12 (f32[1,5,9,11]) kernel_shape=[3,2]",
		"MaxPool 12 (f32[2,16,9,11]) kernel_shape=[3,3] strides=[2,2] "
		"pads=[1,1,1,1]",
		"MaxPool 12 (f32[1,5,9,11]) kernel_shape=[3,3] strides=[2,2] "
		"pads=[0,1,1,0]",
		"MaxPool 12 (f32[1,5,9,10]) kernel_shape=[2,3] strides=[2,2] "
		"ceil_mode=1",
		"MaxPool 12 (f32[1,5,13,12]) kernel_shape=[3,3] "
		"dilations=[2,3]",
		"MaxPool 12 (f32[1,5,13,12]) kernel_shape=[4,3] "
		"strides=[3,2] auto_pad=SAME_UPPER",
		"MaxPool 12 (f32[1,5,13,12]) kernel_shape=[4,3] "
		"strides=[3,2] auto_pad=SAME_LOWER",
		"MaxPool 12 (f32[3,4,20]) kernel_shape=[3] strides=[2]",
		"MaxPool 12 (f32[1,4,6,7,8]) kernel_shape=[3,2,2]",
		"GlobalMaxPool 1 (f32[2,7,5,6])",
		"GlobalMaxPool 1 (f32[2,7,50])",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_kernel(lines[i]);
}

static void
test_whole_types(void **state)
{
	(void)state;
	check_case(&(struct engine_case){
		.text = "MaxPool 12 (uint8[1,5,9,11]) kernel_shape=[3,2]",
		.high = 255});
	check_case(&(struct engine_case){
		.text = "MaxPool 12 (int8[1,16,9,11]) kernel_shape=[3,3] "
			"pads=[1,1,1,1] strides=[2,2]",
		.low = -128,
		.high = 127});
}

static void
test_averages(void **state)
{
	static const char *const lines[] = {
		"AveragePool 11 (f32[1,5,9,11]) kernel_shape=[3,2]",
		"AveragePool 11 (f32[2,16,9,11]) kernel_shape=[3,3] "
		"strides=[2,2] pads=[1,1,1,1]",
		"AveragePool 11 (f32[2,16,9,11]) kernel_shape=[3,3] "
		"strides=[2,2] pads=[1,1,1,1] count_include_pad=1",
		"AveragePool 11 (f32[1,5,9,10]) kernel_shape=[2,3] "
		"strides=[2,2] ceil_mode=1",
		"AveragePool 11 (f32[1,5,13,12]) kernel_shape=[4,3] "
		"strides=[3,2] auto_pad=SAME_UPPER",
		"AveragePool 19 (f32[1,5,13,12]) kernel_shape=[3,3] "
		"dilations=[2,1]",
		"AveragePool 11 (f32[3,4,20]) kernel_shape=[3] strides=[2] "
		"pads=[1,0]",
		"AveragePool 11 (f32[1,4,6,7,8]) kernel_shape=[3,2,2]",
		"GlobalAveragePool 1 (f32[2,7,5,6])",
		"GlobalAveragePool 1 (f32[1,32,7,7])",
		"GlobalAveragePool 1 (f32[2,3,4,5,6])",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_kernel(lines[i]);
}

/* Indices, windows that stick out further than the padding that counts,
 * windows in the padding alone, types that oneDNN does not have. */
static void
test_declined(void **state)
{
	static const char *const lines[] = {
		"MaxPool 12 (f32[1,5,9,11]) kernel_shape=[3,2] -> 2",
		"AveragePool 19 (f32[1,5,9,10]) kernel_shape=[2,3] "
		"strides=[2,2] ceil_mode=1 count_include_pad=1",
		"MaxPool 12 (f32[1,5,9,11]) kernel_shape=[1,2] "
		"pads=[1,0,0,0]",
		"MaxPool 12 (f64[1,5,9,11]) kernel_shape=[3,2]",
		"MaxPool 12 (f32[1,0,9,11]) kernel_shape=[3,2]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_case(&(struct engine_case){.text = lines[i],
						 .is_reference = 1});
}

static void
test_norms(void **state)
{
	static const char *const lines[] = {
		"BatchNormalization 9 (f32[2,5,9,11], f32[5], f32[5], f32[5], "
		"f32[5])",
		"BatchNormalization 15 (f32[1,32,7,7], f32[32], f32[32], "
		"f32[32], f32[32]) epsilon=0.01",
		"BatchNormalization 15 (f32[3,6], f32[6], f32[6], f32[6], "
		"f32[6])",
		"LRN 13 (f32[2,7,5,6]) size=5",
		"LRN 13 (f32[1,32,5,6]) size=3 alpha=0.5 beta=0.6 bias=2.0",
	};

	(void)state;
	/* Variances are above 0. */
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_case(&(struct engine_case){
			.text = lines[i], .low = .1, .high = 3});
	check_case(&(struct engine_case){.text = "LRN 13 (f32[2,7,5,6]) size=4",
					 .is_reference = 1});
	check_case(&(struct engine_case){
		.text = "BatchNormalization 15 (f32[2,5,9], f32[5], f32[5], "
			"f32[5], f32[5]) training_mode=1 -> 3",
		.low = .1,
		.high = 3});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maxima),
		cmocka_unit_test(test_whole_types),
		cmocka_unit_test(test_averages),
		cmocka_unit_test(test_declined),
		cmocka_unit_test(test_norms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
