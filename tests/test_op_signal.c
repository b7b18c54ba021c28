/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves shapes and costs of Fourier transforms, windows and mel weights in
 * the forms of versions 17 and 20.
 */
#include "one_node.h"

static void
test_transforms(void **state)
{
	(void)state;
	check_out("DFT 17 (f32[1,10,10,1])", "f32[1,10,10,2]");
	check_out("DFT 17 (f32[1,10,10,1]) axis=2 onesided=1", "f32[1,10,6,2]");
	check_out("DFT 20 (f32[1,10,12,1], _, i64[]={1}) onesided=1",
		  "f32[1,6,12,2]");
	/* the last dimension but one unless told */
	check_out("DFT 20 (f32[1,10,12,1]) onesided=1", "f32[1,10,7,2]");
	check_out("DFT 20 (f32[1,10,12,1], i64[]={16}) onesided=1",
		  "f32[1,10,9,2]");
	check_out("DFT 20 (f32[1,10,7,2]) onesided=1 inverse=1",
		  "f32[1,10,12,1]");
	check_out("DFT 20 (f32[1,10,7,2]) inverse=1", "f32[1,10,7,2]");
	check_out("DFT 20 (f32[1,10,7,2], i64[])", "f32[1,10,?,2]");
	check_out("DFT 20 (f32[1,10,7,2], _, i64[])", "f32?");
	check_out("DFT 17 (f32[b,n,1]) onesided=1", "f32[b,((n/2)+1),2]");
	check_refused("DFT 17 (f32[1,10,1]) axis=2", "no axis of 1x10x1");
	check_refused("DFT 20 (f32[1,10,1], _, i64[]={7})", "no axis");
}

static void
test_short_transforms(void **state)
{
	(void)state;
	check_out("STFT 17 (f32[1,128,1], i64[]={8}, _, i64[]={16})",
		  "f32[1,15,9,2]");
	check_out("STFT 17 (f32[1,128,1], i64[]={8}, f32[16])",
		  "f32[1,15,9,2]");
	check_out("STFT 17 (f32[1,128,2], i64[]={8}, f32[16]) onesided=0",
		  "f32[1,15,16,2]");
	check_out("STFT 17 (f32[b,n,1], i64[]={8}, f32[16])",
		  "f32[b,(((n-16)/8)+1),9,2]");
	check_out("STFT 17 (f32[1,128,1], i64[], f32[16])", "f32?");
	check_refused("STFT 17 (f32[1,12,1], i64[]={8}, f32[16])",
		      "no frame of 16 every 8 in a signal of 12");
	check_refused("STFT 17 (f32[1,128,1], i64[]={0}, f32[16])", "no frame");
}

/* 5 n log2 n: 16 points are 320 operations, of real numbers 160, two in five
 * of them products. */
static void
test_costs(void **state)
{
	(void)state;
	check_cost(
		"DFT 20 (f32[3,16,2])",
		{.add = 3 * 192, .mul = 3 * 128, .basis = SL_BASIS_ESTIMATED});
	check_cost("DFT 20 (f32[3,16,1])",
		   {.add = 3 * 96, .mul = 3 * 64, .basis = SL_BASIS_ESTIMATED});
	check_cost("STFT 17 (f32[1,128,1], i64[]={8}, f32[16])",
		   {.add = 15 * 96,
		    .mul = 15 * (64 + 16),
		    .basis = SL_BASIS_ESTIMATED});
}

static void
test_windows(void **state)
{
	(void)state;
	check_out("HannWindow 17 (i64[]={10})", "f32[10]");
	check_out("HammingWindow 17 (i64[]={10}) output_datatype=11",
		  "f64[10]");
	check_out("BlackmanWindow 17 (i64[])", "f32[size]");
	check_out("MelWeightMatrix 17 (i64[]={8}, i64[]={16}, i64[]={8192}, "
		  "f32[]={0}, f32[]={4096})",
		  "f32[9,8]");
	check_cost("HannWindow 17 (i64[]={10})", {.exp = 10, .fma = 10});
	check_cost("BlackmanWindow 17 (i64[]={10})", {.exp = 20, .fma = 20});
}

static void
test_no_memory(void **state)
{
	(void)state;
	check_allocations("DFT 17 (f32[b,n,1]) onesided=1");
	check_allocations("STFT 17 (f32[b,n,1], i64[]={8}, f32[16])");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transforms),
		cmocka_unit_test(test_short_transforms),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
