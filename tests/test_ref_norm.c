/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves normalizations: what a row is in each, where scale and bias belong,
 * which statistics are handed out.  Rows are such as -1 1 or -3 3, whose
 * mean is 0 and whose deviation is 1 or 3; epsilon is 0 where that makes the
 * answer whole.
 */
#include "evaluated.h"

static void
test_batches(void **state)
{
	(void)state;
	/* (x - mean) / sqrt(variance) * scale + bias, by channel */
	check_evaluated(
		"BatchNormalization 15 (f32[1,2,2]={5,9,1,2}, f32[2]={2,1}, "
		"f32[2]={0,10}, f32[2]={1,0}, f32[2]={4,1}) epsilon=0.0",
		"f32[1,2,2]={4,8,11,12}");
	check_evaluated(
		"BatchNormalization 9 (f32[2,2]={5,1,9,2}, f32[2]={2,1}, "
		"f32[2]={0,10}, f32[2]={1,0}, f32[2]={4,1}) epsilon=0.0",
		"f32[2,2]={4,11,8,12}");
	/* per element, as versions up to 8 may have it */
	check_evaluated("BatchNormalization 7 (f32[1,1,2]={5,9}, "
			"f32[1,2]={1,2}, f32[1,2]={0,1}, f32[1,2]={1,1}, "
			"f32[1,2]={4,16}) spatial=0 epsilon=0.0",
			"f32[1,1,2]={2,5}");
	check_evaluated("BatchNormalization 15 (f32[0,1,2]={}, f32[1]={1}, "
			"f32[1]={0}, f32[1]={0}, f32[1]={1})",
			"f32[0,1,2]={}");
	check_evaluated(
		"BatchNormalization 15 (f32[1,2,2]={5,9,1,2}, f32[2]={2,1}, "
		"f32[2]={0,10}, f32[2]={1,0}, f32[2]={3,1})",
		"f32[1,2,2]={4.618794,9.237589,11,11.99999}");
}

static void
test_training(void **state)
{
	(void)state;
	/* 1 and 5: mean 3, variance 4; running 0.5 (1 + 3), 0.5 (2 + 4) */
	check_evaluated("BatchNormalization 15 (f32[2,1]={1,5}, f32[1]={1}, "
			"f32[1]={0}, f32[1]={1}, f32[1]={2}) training_mode=1 "
			"momentum=0.5 epsilon=0.0 -> 3",
			"f32[2,1]={-1,1} f32[1]={2} f32[1]={3}");
	check_evaluated(
		"BatchNormalization 9 (f32[2,1]={1,5}, f32[1]={1}, f32[1]={0}, "
		"f32[1]={1}, f32[1]={2}) momentum=0.5 epsilon=0.0 -> 5",
		"f32[2,1]={-1,1} f32[1]={2} f32[1]={3} f32[1]={3} f32[1]={4}");
}

static void
test_layers(void **state)
{
	(void)state;
	check_evaluated(
		"LayerNormalization 17 (f32[2,2]={1,3,0,8}, f32[2]={1,2}, "
		"f32[2]={0,10}) epsilon=0.0 -> 3",
		"f32[2,2]={-1,12,-1,12} f32[2,1]={2,4} f32[2,1]={1,0.25}");
	/* rows of two axes; a scale that is repeated along the first of them */
	check_evaluated("LayerNormalization 17 (f32[1,2,2]={-3,3,3,-3}, "
			"f32[2]={1,2}) axis=1 epsilon=0.0",
			"f32[1,2,2]={-1,2,1,-2}");
	check_evaluated("LayerNormalization 17 (f32[2,2]={-1,1,-1,1}, "
			"f32[2,1]={1,5}) epsilon=0.0",
			"f32[2,2]={-1,1,-5,5}");
	check_evaluated(
		"LayerNormalization 17 (f32[0,2]={}, f32[2]={1,1}) -> 3",
		"f32[0,2]={} f32[0,1]={} f32[0,1]={}");
	check_evaluated("LayerNormalization 17 (f16[1,2]={-3,3}, f16[2]={1,1}) "
			"epsilon=0.0 -> 3",
			"f16[1,2]={-1,1} f32[1,1]={0} f32[1,1]={0.3333333}");
	check_evaluated("LayerNormalization 17 (f32[2,3]={1,2,4,-1,0,7}, "
			"f32[3]={1,2,3}, f32[3]={1,0,-1})",
			"f32[2,3]={-0.06904153,-0.5345207,3.008906,0.1570731,-"
			"1.123903,3.214634}");
	check_fails("LayerNormalization 17 (f32[1,2]={1,2}, f32[3]={1,1,1})",
		    "does not fit");
}

static void
test_root_mean_squares(void **state)
{
	(void)state;
	/* the mean of 1 and 49 is 25 */
	check_evaluated("RMSNormalization 23 (f32[1,2]={1,7}, f32[2]={5,10}) "
			"epsilon=0.0",
			"f32[1,2]={1,14}");
	check_evaluated("RMSNormalization 23 (f32[1,1,2,1]={1,7}, f32[1]={5}) "
			"axis=1 epsilon=0.0",
			"f32[1,1,2,1]={1,7}");
	check_evaluated("com.microsoft.SimplifiedLayerNormalization 1 "
			"(f32[1,2]={1,7}, f32[2]={5,10}) epsilon=0.0 -> 2",
			"f32[1,2]={1,14} f32[1,1]={0.2}");
	check_evaluated("com.microsoft.SkipSimplifiedLayerNormalization 1 "
			"(f32[1,1,2]={0,3}, f32[1,1,2]={1,2}, f32[2]={5,5}, "
			"f32[2]={0,2}) epsilon=0.0 -> 4",
			"f32[1,1,2]={1,7} f32[1,1,1]={0} f32[1,1,1]={0.2} "
			"f32[1,1,2]={1,7}");
}

static void
test_sums_first(void **state)
{
	(void)state;
	check_evaluated("com.microsoft.SkipLayerNormalization 1 "
			"(f32[1,1,2]={1,1}, f32[1,1,2]={1,2}, f32[2]={1,2}, "
			"f32[2]={0,1}, f32[2]={0,3}) epsilon=0.0 -> 4",
			"f32[1,1,2]={-1,3} f32[1,1,1]={4} f32[1,1,1]={0.5} "
			"f32[1,1,2]={2,6}");
	/* one skip for all texts */
	check_evaluated(
		"com.microsoft.SkipLayerNormalization 1 (f32[2,1,2]={0,0,1,2}, "
		"f32[1,2]={1,3}, f32[2]={1,1}) epsilon=0.0",
		"f32[2,1,2]={-1,1,-1,1}");
}

static void
test_embeddings(void **state)
{
	(void)state;
	/* 1 2 + 0 4 = 1 6; 3 0 + 2 1 = 5 1 and so on */
	check_evaluated(
		"com.microsoft.EmbedLayerNormalization 1 (i32[1,2]={0,1}, _, "
		"f32[2,2]={1,2,3,0}, f32[2,2]={0,4,2,1}, _, f32[2]={1,1}, "
		"f32[2]={0,5}) epsilon=0.0 -> 3",
		"f32[1,2,2]={-1,6,1,4} i32[1]={0} f32[1,2,2]={1,6,5,1}");
	check_evaluated(
		"com.microsoft.EmbedLayerNormalization 1 (i32[1,2]={0,1}, "
		"i32[1,2]={0,1}, f32[2,2]={1,2,3,0}, f32[2,2]={0,4,2,1}, "
		"f32[2,2]={10,0,0,10}, f32[2]={1,1}, f32[2]={0,5}, "
		"i32[1,2]={1,0}, i32[1,2]={1,0}) epsilon=0.0 -> 3",
		"f32[1,2,2]={1,4,-1,6} i32[1]={1} f32[1,2,2]={13,3,3,14}");
	check_fails("com.microsoft.EmbedLayerNormalization 1 (i32[1,1]={2}, _, "
		    "f32[2,1]={1,2}, f32[1,1]={0}, _, f32[1]={1}, f32[1]={0})",
		    "no row 2");
	check_fails(
		"com.microsoft.EmbedLayerNormalization 1 (i32[1,2]={0,0}, _, "
		"f32[2,1]={1,2}, f32[1,1]={0}, _, f32[1]={1}, f32[1]={0})",
		"no row 1");
}

static void
test_images(void **state)
{
	(void)state;
	check_evaluated("InstanceNormalization 6 (f32[1,2,2]={-3,3,0,8}, "
			"f32[2]={1,2}, f32[2]={5,0}) epsilon=0.0",
			"f32[1,2,2]={4,6,-2,2}");
	/* one number for each group, then for each channel */
	check_evaluated("GroupNormalization 18 (f32[1,4,1]={-3,3,0,8}, "
			"f32[2]={1,2}, f32[2]={5,0}) num_groups=2 epsilon=0.0",
			"f32[1,4,1]={4,6,-2,2}");
	check_evaluated(
		"GroupNormalization 21 (f32[1,4,1]={-3,3,0,8}, "
		"f32[4]={1,2,3,4}, f32[4]={5,0,0,0}) num_groups=2 epsilon=0.0",
		"f32[1,4,1]={4,2,-3,4}");
	check_evaluated("InstanceNormalization 6 (f32[2,1,3]={1,2,4,-1,0,7}, "
			"f32[1]={2}, f32[1]={1})",
			"f32[2,1,3]={-1.138083,0.4654792,3.672604,-0.6858538,-"
			"0.1239025,3.809756}");
	/* channels: 1 5 1 5 and 0 8 8 0 */
	check_evaluated(
		"MeanVarianceNormalization 13 (f32[2,2,1,2]={1,5,0,8,1,5,8,0})",
		"f32[2,2,1,2]={-1,1,-1,1,-1,1,1,-1}");
	check_evaluated(
		"MeanVarianceNormalization 13 (f32[2,2]={1,5,8,0}) axes=[1]",
		"f32[2,2]={-1,1,1,-1}");
}

static void
test_lines(void **state)
{
	(void)state;
	check_evaluated("LpNormalization 22 (f32[2,2]={3,4,0,0})",
			"f32[2,2]={0.6,0.8,0,0}");
	check_evaluated("LpNormalization 1 (f32[2,2]={3,4,-1,0}) axis=0 p=1",
			"f32[2,2]={0.75,1,-0.25,0}");
	/* x over the squares of it and its neighbours: 5, 14, 29, 25 */
	check_evaluated("LRN 13 (f32[1,4,1,1]={1,2,3,4}) size=3 alpha=3.0 "
			"beta=1.0 bias=0.0",
			"f32[1,4,1,1]={0.2,0.1428571,0.1034483,0.16}");
	/* 3 / (2 + 7)^0.5 */
	check_evaluated("LRN 13 (f32[1,1,1]={3}) size=1 alpha=0.7777778 "
			"beta=0.5 bias=2.0",
			"f32[1,1,1]={1}");
	/* of two, the second is the channel after: 4 + 16, 16 + 64, 64 */
	check_evaluated("LRN 13 (f32[1,3,1,1]={2,4,8}) size=2 alpha=2.0 "
			"beta=1.0 bias=0.0",
			"f32[1,3,1,1]={0.1,0.05,0.125}");
	check_fails("LpNormalization 22 (f32[1]={1}) p=3", "other than 1 or 2");
}

/* However many rows there are of nothing: these return at once. */
static void
test_huge_sizes_of_nothing(void **state)
{
	(void)state;
	check_evaluated("InstanceNormalization 6 "
			"(f32[1152921504606846976,4,0]={}, f32[4]={1,2,3,4}, "
			"f32[4]={1,2,3,4})",
			"f32[1152921504606846976,4,0]={}");
	check_evaluated("GroupNormalization 21 "
			"(f32[1152921504606846976,4,0]={}, f32[4]={1,2,3,4}, "
			"f32[4]={1,2,3,4}) num_groups=2",
			"f32[1152921504606846976,4,0]={}");
	check_evaluated("LpNormalization 22 (f32[1152921504606846976,1,0]={})",
			"f32[1152921504606846976,1,0]={}");
	check_evaluated("LayerNormalization 17 (f32[1152921504606846976,0]={}, "
			"f32[0]={})",
			"f32[1152921504606846976,0]={}");
	check_evaluated("BatchNormalization 15 "
			"(f32[0,2,1152921504606846976,64]={}, f32[2]={1,2}, "
			"f32[2]={1,2}, f32[2]={1,2}, f32[2]={1,2})",
			"f32[0,2,1152921504606846976,64]={}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_training),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_root_mean_squares),
		cmocka_unit_test(test_sums_first),
		cmocka_unit_test(test_embeddings),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_huge_sizes_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
