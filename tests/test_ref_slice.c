/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_slice.c - proves the reference kernels of pieces of tensors by
 * numpy's rules (worked out by hand): steps backwards, places beyond the ends,
 * parts of nothing, all modes of padding. */
#include "evaluated.h"

static void
slice_follows_numpy(void **state)
{
	(void)state;
	check_evaluated("Slice 13 (i8[5]={0,1,2,3,4}, i64[1]={-1}, "
			"i64[1]={-9223372036854775807}, i64[1]={0}, "
			"i64[1]={-1})",
			"i8[5]={4,3,2,1,0}");
	check_evaluated("Slice 13 (i8[5]={0,1,2,3,4}, i64[1]={3}, i64[1]={0}, "
			"i64[1]={-1}, i64[1]={-2})",
			"i8[2]={3,1}");
	check_evaluated("Slice 13 (i8[5]={0,1,2,3,4}, i64[1]={1}, "
			"i64[1]={9223372036854775807}, _, "
			"i64[1]={9223372036854775807})",
			"i8[1]={1}");
	check_evaluated("Slice 13 (i8[5]={0,1,2,3,4}, i64[1]={4}, i64[1]={2})",
			"i8[0]={}");
	check_evaluated("Slice 13 (i8[0]={}, i64[1]={-1}, i64[1]={-9}, _, "
			"i64[1]={-1})",
			"i8[0]={}");
	check_evaluated("Slice 10 (string[2,2]={'a','b','c','d'}, i32[2]={1,0},"
			" i32[2]={2,9}, i32[2]={1,0}, i32[2]={1,-1})",
			"string[0,1]={}");
	check_evaluated("Slice 1 (i8[2,3]={1,2,3,4,5,6}) starts=[1] ends=[3] "
			"axes=[1]",
			"i8[2,2]={2,3,5,6}");
	check_evaluated("Slice 13 (uint4[5]={0,1,2,3,4}, i64[1]={-2}, "
			"i64[1]={-9}, _, i64[1]={-1})",
			"uint4[4]={3,2,1,0}");
	check_fails("Slice 13 (i8[5]={0,1,2,3,4}, i64[1]={0}, i64[1]={2}, _, "
		    "i64[1]={0})",
		    "step of 0");
}

static void
split_gives_unlike_parts(void **state)
{
	(void)state;
	check_evaluated("Split 18 (i8[5]={0,1,2,3,4}) num_outputs=3 -> 3",
			"i8[2]={0,1} i8[2]={2,3} i8[1]={4}");
	check_evaluated("Split 13 (i8[2,3]={0,1,2,3,4,5}, i64[3]={1,0,2}) "
			"axis=-1 -> 3",
			"i8[2,1]={0,3} i8[2,0]={} i8[2,2]={1,2,4,5}");
	check_evaluated("Split 11 (string[2]={'a','b'}) split=[1,1] -> 2",
			"string[1]={'a'} string[1]={'b'}");
	check_fails("Split 13 (i8[3]={0,1,2}, i64[2]={1,3}) -> 2", "add up");
	check_fails("Split 13 (i8[3]={0,1,2}, i64[2]={4,-1}) -> 2", "size -1");
	check_fails("Split 13 (i8[3]={0,1,2}) -> 2", "does not divide");
}

static void
concat_puts_side_by_side(void **state)
{
	(void)state;
	check_evaluated("Concat 13 (i8[2,1]={0,3}, i8[2,0]={}, "
			"i8[2,2]={1,2,4,5}) axis=-1",
			"i8[2,3]={0,1,2,3,4,5}");
	check_evaluated(
		"Concat 13 (uint4[1]={1}, uint4[3]={2,3,4}, uint4[1]={5}) "
		"axis=0",
		"uint4[5]={1,2,3,4,5}");
	check_evaluated("Concat 13 (string[1]={'a'}, string[1]={''}) axis=0",
			"string[2]={'a',''}");
	check_fails("Concat 13 (i8[2,1]={0,3}, i8[1,1]={1}) axis=1",
		    "not 2 as before");
}

static void
pad_has_four_modes(void **state)
{
	(void)state;
	check_evaluated("Pad 13 (i8[3]={1,2,3}, i64[2]={2,1}, i8[]={9})",
			"i8[6]={9,9,1,2,3,9}");
	check_evaluated("Pad 13 (i8[3]={1,2,3}, i64[2]={5,3}) mode=reflect",
			"i8[11]={2,1,2,3,2,1,2,3,2,1,2}");
	check_evaluated("Pad 13 (i8[1]={7}, i64[2]={2,1}) mode=reflect",
			"i8[4]={7,7,7,7}");
	check_evaluated("Pad 13 (i8[3]={1,2,3}, i64[2]={2,1}) mode=edge",
			"i8[6]={1,1,1,2,3,3}");
	check_evaluated("Pad 19 (i8[3]={1,2,3}, i64[2]={4,2}) mode=wrap",
			"i8[9]={3,1,2,3,1,2,3,1,2}");
	check_evaluated("Pad 2 (f32[2]={1,2}) pads=[1,0] value=0.5",
			"f32[3]={0.5,1,2}");
	check_evaluated("Pad 1 (f32[2]={1,2}) paddings=[0,1]",
			"f32[3]={1,2,0}");
	check_evaluated("Pad 13 (string[1]={'a'}, i64[2]={1,0})",
			"string[2]={'','a'}");
	check_evaluated("Pad 13 (i8[0]={}, i64[2]={1,1}, i8[]={3})",
			"i8[2]={3,3}");
	check_fails("Pad 13 (i8[0]={}, i64[2]={1,1}) mode=edge", "nothing");
	check_fails("Pad 13 (i8[1]={1}, i64[2]={1,1}) mode=other",
		    "mode is 'other'");
}

/* What goes is gone before anything is repeated. */
static void
negative_pads_crop(void **state)
{
	(void)state;
	check_evaluated("Pad 13 (i8[4]={1,2,3,4}, i64[2]={-1,-1})",
			"i8[2]={2,3}");
	check_evaluated("Pad 13 (i8[4]={1,2,3,4}, i64[2]={-2,2}, i8[]={9})",
			"i8[4]={3,4,9,9}");
	check_evaluated("Pad 13 (i8[4]={1,2,3,4}, i64[2]={2,-2}) mode=edge",
			"i8[4]={1,1,1,2}");
	check_evaluated("Pad 18 (i8[2,2]={1,2,3,4}, i64[2]={-1,1}, i8[]={0}, "
			"i64[1]={-1})",
			"i8[2,2]={2,0,4,0}");
	check_fails("Pad 13 (i8[2]={1,2}, i64[2]={-2,-1})", "negative");
}

static void
center_crop_pad_keeps_the_middle(void **state)
{
	(void)state;
	check_evaluated("CenterCropPad 18 (i8[5]={1,2,3,4,5}, i64[1]={2})",
			"i8[2]={2,3}");
	check_evaluated("CenterCropPad 18 (i8[2]={1,2}, i64[1]={5})",
			"i8[5]={0,1,2,0,0}");
	check_evaluated("CenterCropPad 18 (i8[1,3]={1,2,3}, i64[1]={1}) "
			"axes=[-1]",
			"i8[1,1]={2}");
}

static void
sequences_are_reversed_up_to_their_length(void **state)
{
	(void)state;
	check_evaluated("ReverseSequence 10 (i8[2,3]={1,2,3,4,5,6}, "
			"i64[2]={2,0}) batch_axis=0 time_axis=1",
			"i8[2,3]={2,1,3,4,5,6}");
	check_evaluated("ReverseSequence 10 (i8[2,1,2]={1,2,3,4}, i64[1]={2})",
			"i8[2,1,2]={3,4,1,2}");
	check_fails("ReverseSequence 10 (i8[2,1]={1,2}, i64[1]={3})",
		    "3 elements, in 2");
	check_fails("ReverseSequence 10 (i8[2,1]={1,2}, i64[2]={1,1})",
		    "2 lengths for 1");
}

static void
compress_takes_what_is_marked(void **state)
{
	(void)state;
	check_evaluated("Compress 11 (i8[2,3]={1,2,3,4,5,6}, "
			"bool[3]={1,0,1}) axis=-1",
			"i8[2,2]={1,3,4,6}");
	check_evaluated("Compress 11 (i8[2,3]={1,2,3,4,5,6}, "
			"bool[5]={0,1,0,0,1})",
			"i8[2]={2,5}");
	check_evaluated("Compress 11 (string[2]={'a','b'}, bool[1]={0}) axis=0",
			"string[0]={}");
	check_fails("Compress 11 (i8[2]={1,2}, bool[3]={0,0,1}) axis=0",
		    "place 2");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slice_follows_numpy),
		cmocka_unit_test(split_gives_unlike_parts),
		cmocka_unit_test(concat_puts_side_by_side),
		cmocka_unit_test(pad_has_four_modes),
		cmocka_unit_test(negative_pads_crop),
		cmocka_unit_test(center_crop_pad_keeps_the_middle),
		cmocka_unit_test(sequences_are_reversed_up_to_their_length),
		cmocka_unit_test(compress_takes_what_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
