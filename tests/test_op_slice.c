/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that pieces have the sizes and contents that Python's slices,
 * numpy.split, numpy.concatenate and numpy.pad give, in every form that
 * versions of the operators take, and that symbols are never taken for
 * numbers.
 */
#include "one_node.h"

static void
test_slices_like_python(void **state)
{
	(void)state;
	check_out("Slice 1 (f32[10,5]) starts=[2,1] ends=[8,100]", "f32[6,4]");
	check_out("Slice 9 (f32[10,5]) starts=[-3] ends=[-1] axes=[1]",
		  "f32[10,2]");
	check_out("Slice 13 (f32[10], i64[1]={1}, i64[1]={9}, i64[1]={0}, "
		  "i64[1]={3})",
		  "f32[3]");
	check_out("Slice 13 (f32[10], i64[1]={-1}, i64[1]={-11}, i64[1]={0}, "
		  "i64[1]={-1})",
		  "f32[10]");
	check_out("Slice 13 (f32[10], i64[1]={9}, "
		  "i64[1]={-9223372036854775807}, i64[1]={0}, i64[1]={-4})",
		  "f32[3]");
	check_out("Slice 9 (f32[10]) starts=[-9223372036854775808] "
		  "ends=[9223372036854775807]",
		  "f32[10]");
	check_out("Slice 10 (f32[10], i64[1]={7}, i64[1]={3})", "f32[0]");
	/* backwards from before the first: ONNX starts at the first */
	check_out("Slice 13 (f32[4], i64[1]={-9}, i64[1]={-9}, i64[1]={0}, "
		  "i64[1]={-1})",
		  "f32[1]");
	check_out("Slice 13 (f32[0], i64[1]={-1}, i64[1]={-9}, i64[1]={0}, "
		  "i64[1]={-1})",
		  "f32[0]");
	check_out("Slice 10 (f32[10], i64[1]={20}, i64[1]={30})", "f32[0]");
	check_refused("Slice 10 (f32[10], i64[1]={0}, i64[1]={1}, i64[1]={1})",
		      "axis 1 lies outside");
	check_refused("Slice 10 (f32[10], i64[1]={0}, i64[1]={1}, "
		      "i64[1]={0}, i64[1]={0})",
		      "a step of 0");
}

/* One of start, end and step is enough to leave the size open. */
static void
test_slices_that_are_known_in_part(void **state)
{
	(void)state;
	check_out("Slice 13 (f32[10,4], i64[1]={2}, i64[1], i64[1]={0})",
		  "f32[?,4]");
	check_out("Slice 13 (f32[10,4], i64[1], i64[1]={2}, i64[1]={0})",
		  "f32[?,4]");
	check_out("Slice 13 (f32[10,4], i64[1]={0}, i64[1]={2}, i64[1]={0}, "
		  "i64[1])",
		  "f32[?,4]");
	check_out("Slice 13 (f32[10,4], i64[1]={0}, i64[1]={2}, i64[1]={0}, "
		  "i64[1]={1})",
		  "f32[2,4]");
}

static void
test_slices_of_symbols(void **state)
{
	(void)state;
	check_out("Slice 1 (f32[n,s]) starts=[0] ends=[2147483647] axes=[1]",
		  "f32[n,s]");
	check_out("Slice 1 (f32[n,s]) starts=[1] ends=[2147483647] axes=[1]",
		  "f32[n,(s-1)]");
	check_out("Slice 1 (f32[n,s]) starts=[0] ends=[-1] axes=[1]",
		  "f32[n,(s+-1)]");
	/* the last one, and one in the middle */
	check_out("Slice 1 (f32[n,s]) starts=[-1] ends=[2147483647] axes=[1]",
		  "f32[n,1]");
	check_out("Slice 1 (f32[n,s]) starts=[3] ends=[4] axes=[1]",
		  "f32[n,1]");
	/* as many as there are, or 5: not known which */
	check_out("Slice 1 (f32[n]) starts=[0] ends=[5]", "f32[?]");
	check_out("Slice 1 (f32[n]) starts=[-3] ends=[2147483647]", "f32[?]");
	/* positions up to the length of the text */
	check_out("Slice 13 (f32[1,512], i64[1]={0}, i64[1]={s}, i64[1]={1})",
		  "f32[1,s]");
	check_out("Slice 13 (f32[512], i64[1]={p}, i64[1]={s})", "f32[(s-p)]");
	check_out("Slice 13 (f32[n], i64[1]={-1}, i64[1]={-2147483649}, "
		  "i64[1]={0}, i64[1]={-1})",
		  "f32[n]");
	check_out("Slice 13 (f32[n], i64[1]={0}, i64[1]={2147483647}, "
		  "i64[1]={0}, i64[1]={2})",
		  "f32[((n+1)/2)]");
	/* only what is cut is lost */
	check_out("Slice 13 (f32[n,4], i64[1], i64[1], i64[1]={1})",
		  "f32[n,?]");
	check_out("Slice 13 (f32[n,4], i64[1], i64[1], i64[1])", "f32[?,?]");
	check_out("Slice 13 (f32, i64[1]={0}, i64[1]={1})", "f32?");
}

static void
test_slices_are_followed(void **state)
{
	(void)state;
	check_known("Slice 13 (i64[4]={n,2,3,4}, i64[1]={0}, i64[1]={2})",
		    "{n,2}");
	check_known("Slice 13 (i64[4]={n,2,3,4}, i64[1]={-1}, i64[1]={-9}, "
		    "i64[1]={0}, i64[1]={-2})",
		    "{4,2}");
	check_known("Slice 13 (i64[2,3]={1,2,3,4,5,6}, i64[2]={0,1}, "
		    "i64[2]={2,3})",
		    "{2,3,5,6}");
	check_cost("Slice 1 (f32[1000,4]) starts=[0] ends=[2]",
		   {.work = SL_WORK_MOVEMENT,
		    .read_bytes = 32,
		    .written_bytes = 32});
}

static void
test_split(void **state)
{
	(void)state;
	check_out("Split 2 (f32[6,4]) -> 3", "f32[2,4] f32[2,4] f32[2,4]");
	check_out("Split 11 (f32[6,4]) axis=-1 split=[1,3] -> 2",
		  "f32[6,1] f32[6,3]");
	check_out("Split 13 (f32[6,4], i64[2]={4,2}) -> 2",
		  "f32[4,4] f32[2,4]");
	/* the last may be smaller from version 18 on */
	check_out("Split 18 (f32[7]) num_outputs=3 -> 3",
		  "f32[3] f32[3] f32[1]");
	check_out("Split 18 (f32[3]) num_outputs=4 -> 4",
		  "f32[1] f32[1] f32[1] f32[0]");
	check_out("Split 13 (f32[n,4]) -> 2", "f32[(n/2),4] f32[(n/2),4]");
	check_out("Split 13 (f32[6,4], i64[2]) -> 2", "f32[?,4] f32[?,4]");
	check_out("Split 13 (f32) -> 2", "f32? f32?");
	check_known("Split 13 (i64[3]={n,5,6}, i64[2]={1,2}) -> 2",
		    "{n} {5,6}");
	check_refused("Split 13 (f32[7]) -> 2", "7 does not divide into 2");
	check_refused("Split 13 (f32[7], i64[2]={3,3}) -> 2",
		      "add up to 6, the dimension has 7");
	check_refused("Split 13 (f32[7], i64[3]={3,3,1}) -> 2",
		      "3 sizes for 2 parts");
	check_refused("Split 13 (f32[7], i64[2]={-1,8}) -> 2",
		      "a part of size -1");
	check_refused("Split 18 (f32[7]) num_outputs=3 -> 2",
		      "num_outputs is not 2");
	check_refused("Split 13 (f32[7]) axis=1 -> 1", "axis 1 lies outside");
}

static void
test_concat(void **state)
{
	(void)state;
	check_out("Concat 13 (f32[2,3], f32[2,4]) axis=1", "f32[2,7]");
	check_out("Concat 13 (f32[2,3], f32[1,3]) axis=-2", "f32[3,3]");
	check_out("Concat 1 (f32[2,3], f32[2,4])", "f32[2,7]");
	check_out("Concat 13 (f32[n,3], f32[2,s]) axis=1", "f32[2,(3+s)]");
	check_out("Concat 13 (f32[2,3], f32) axis=1", "f32[2,?]");
	check_refused("Concat 13 (f32[2,3], f32[3,3]) axis=1",
		      "input 1 is 3x3: its dimension 0 is not 2");
	check_refused("Concat 13 (f32[2,3], f32[3]) axis=0",
		      "different numbers of dimensions");
	check_refused("Concat 13 (f32[2,3]) axis=2", "axis 2 lies outside");
	check_known("Concat 13 (i64[1]={n}, i64[2]={12,64}) axis=0",
		    "{n,12,64}");
	check_known("Concat 13 (i64[2,1]={1,2}, i64[2,2]={3,4,5,6}) axis=1",
		    "{1,3,4,2,5,6}");
	check_known("Concat 13 (f32[1]={0.5}, f32[1]={2}) axis=0", "{0.5,2}");
	/* What is known of a shape is kept beside what is not. */
	check_known("Concat 13 (i64[1], i64[2]={12,64}) axis=0", "{?,12,64}");
	check_known("Concat 13 (i64[1], i64[2]) axis=0", "?");
	check_cost("Concat 13 (f32[2,3], f32[2,4]) axis=1",
		   {.work = SL_WORK_MOVEMENT,
		    .read_bytes = 56,
		    .written_bytes = 56});
}

static void
test_pad(void **state)
{
	(void)state;
	check_out("Pad 2 (f32[1,3,4,4]) pads=[0,0,1,1,0,0,1,2]",
		  "f32[1,3,6,7]");
	check_out("Pad 1 (f32[2,2]) paddings=[1,0,0,1]", "f32[3,3]");
	check_out("Pad 13 (f32[2,2], i64[4]={0,-1,0,0})", "f32[2,1]");
	check_out("Pad 18 (f32[2,3], i64[2]={1,1}, _, i64[1]={-1})",
		  "f32[2,5]");
	check_out("Pad 13 (f32[2,n], i64[4]={0,1,0,1})", "f32[2,((n+1)+1)]");
	check_out("Pad 13 (f32[2,3], i64[4])", "f32[(2+?),(3+?)]");
	check_known("Pad 13 (i64[2]={1,2}, i64[2]={1,1}, i64[]={9})",
		    "{9,1,2,9}");
	check_known("Pad 13 (f32[2]={1,2}, i64[2]={0,1})", "{1,2,0}");
	check_known("Pad 13 (i64[2]={1,2}, i64[2]={1,0}) mode=edge", "{1,1,2}");
	check_refused("Pad 13 (f32[2,2], i64[2]={1,1})",
		      "2 pads for 2 dimensions");
	check_refused("Pad 13 (f32[2], i64[2]={-2,-1})", "negative");
	check_refused("Pad 18 (f32[2], i64[2]={1,1}, _, i64[1]={1})",
		      "axis 1 lies outside");
}

/* Sizes that 64 bits do not hold end in a refusal; a dimension of 0 beside
 * them in nothing. */
static void
test_absurd_sizes(void **state)
{
	(void)state;
	check_refused("Concat 13 (f32[4611686018427387904,0], "
		      "f32[4611686018427387904,0], f32[10,0]) axis=0",
		      "more than 2^63 elements");
	check_refused("Pad 13 (f32[9,0], i64[4]={9223372036854775807,0,"
		      "9223372036854775807,0})",
		      "negative");
	check_out("Slice 13 (i64[0,4611686018427387904], i64[1]={0}, "
		  "i64[1]={1}, i64[1]={0}, i64[1]={4096})",
		  "int64[0,4611686018427387904]");
}

static void
test_every_allocation_may_fail(void **state)
{
	(void)state;
	check_allocations("Slice 13 (i64[2]={1,2}, i64[1]={0}, i64[1]={1})");
	check_allocations("Split 13 (i64[2]={1,2}) -> 2");
	check_allocations("Concat 13 (i64[1]={1}, i64[1]={2}) axis=0");
	check_allocations("Pad 13 (i64[1]={1}, i64[2]={1,1})");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices_like_python),
		cmocka_unit_test(test_slices_that_are_known_in_part),
		cmocka_unit_test(test_slices_of_symbols),
		cmocka_unit_test(test_slices_are_followed),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_concat),
		cmocka_unit_test(test_pad),
		cmocka_unit_test(test_absurd_sizes),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
