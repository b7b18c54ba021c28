/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_sequence.c - proves the reference kernels of lists of tensors and
 * of optionals: places from either end, parts of unlike size, nothing. */
#include "evaluated.h"
#include "graph_run.h"

/* Two tensors in a sequence, and what is done with it. */
#define TWO(line)                 \
	"const a f32 2 = 1,2\n"   \
	"const b f32 1 = 3\n"     \
	"const zero i64 - = 0\n"  \
	"const back i64 - = -1\n" \
	"const two i64 - = 2\n"   \
	"const far i64 - = 3\n"   \
	"s = SequenceConstruct a b\n" line "out y\n"

static void
check_y(const char *text, const char *expected)
{
	struct course c;

	course_run(&c, text);
	check_value(&c, "y", expected);
	course_finish(&c);
}

static void
items_are_found_from_either_end(void **state)
{
	(void)state;
	check_y(TWO("y = SequenceAt s back\n"), "[1]={3}");
	check_y(TWO("y = SequenceAt s zero\n"), "[2]={1,2}");
	check_refused(TWO("y = SequenceAt s two\n"), "index 2");
	check_y(TWO("y = SequenceLength s\n"), "[]={2}");
}

static void
items_come_and_go(void **state)
{
	(void)state;
	check_y(TWO("t = SequenceInsert s b zero\n"
		    "y = ConcatFromSequence t axis=0\n"),
		"[4]={3,1,2,3}");
	check_y(TWO("t = SequenceInsert s b two\n"
		    "y = ConcatFromSequence t axis=0\n"),
		"[4]={1,2,3,3}");
	check_y(TWO("t = SequenceInsert s b back\n"
		    "y = ConcatFromSequence t axis=0\n"),
		"[4]={1,2,3,3}");
	check_refused(TWO("t = SequenceInsert s b far\n"
			  "y = SequenceLength t\n"),
		      "index 3");
	check_y(TWO("t = SequenceErase s zero\n"
		    "y = SequenceAt t zero\n"),
		"[1]={3}");
	check_refused(TWO("t = SequenceErase s two\n"
			  "y = SequenceLength t\n"),
		      "index 2");
	check_refused(TWO("t = SequenceEmpty\n"
			  "u = SequenceErase t\n"
			  "y = SequenceLength u\n"),
		      "empty");
	check_refused(TWO("t = SequenceInsert s two\n"
			  "y = SequenceLength t\n"),
		      "into a sequence of");
}

static void
items_are_joined(void **state)
{
	(void)state;
	check_y(TWO("t = SequenceConstruct a a\n"
		    "y = ConcatFromSequence t axis=-1 new_axis=1\n"),
		"[2,2]={1,1,2,2}");
	check_refused(TWO("y = ConcatFromSequence s axis=0 new_axis=1\n"),
		      "does not go beside");
	check_refused(TWO("t = SequenceEmpty\n"
			  "y = ConcatFromSequence t axis=0\n"),
		      "empty");
}

static void
tensors_are_cut_into_items(void **state)
{
	(void)state;
	check_evaluated("SplitToSequence 11 (i8[5]={1,2,3,4,5}, i64[]={2})",
			"(i8[2]={1,2} i8[2]={3,4} i8[1]={5})");
	check_evaluated("SplitToSequence 11 (i8[2,2]={1,2,3,4}) axis=1 "
			"keepdims=0",
			"(i8[2]={1,3} i8[2]={2,4})");
	check_evaluated("SplitToSequence 11 (string[3]={'a','b','c'}, "
			"i64[3]={0,2,1})",
			"(string[0]={} string[2]={'a','b'} string[1]={'c'})");
	check_evaluated("SplitToSequence 11 (i8[0]={})", "()");
	check_fails("SplitToSequence 11 (i8[3]={1,2,3}, i64[2]={1,1})",
		    "add up to 3");
	check_fails("SplitToSequence 11 (i8[3]={1,2,3}, i64[]={0})",
		    "parts of 0");
}

static void
optionals_hold_one_or_nothing(void **state)
{
	(void)state;
	check_y(TWO("o = Optional s\n"
		    "t = OptionalGetElement o\n"
		    "y = SequenceAt t back\n"),
		"[1]={3}");
	check_y(TWO("o = Optional a\n"
		    "y = OptionalHasElement o\n"),
		"[]={1}");
	check_y(TWO("o = Optional\n"
		    "y = OptionalHasElement o\n"),
		"[]={0}");
	check_refused(TWO("o = Optional\n"
			  "y = OptionalGetElement o\n"),
		      "holds nothing");
	check_evaluated("OptionalGetElement 18 (i8[1]={4})", "i8[1]={4}");
	check_evaluated("OptionalHasElement 18 (_)", "bool[]={0}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_found_from_either_end),
		cmocka_unit_test(items_come_and_go),
		cmocka_unit_test(items_are_joined),
		cmocka_unit_test(tensors_are_cut_into_items),
		cmocka_unit_test(optionals_hold_one_or_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
