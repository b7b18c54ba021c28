/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_binary.c - several inputs broadcast together: integers that wrap
 * or divide by zero, signs of remainders, the attributes of versions before
 * 7, strings, no elements at all.
 */
#include "evaluated.h"

static void
test_integers_wrap(void **state)
{
	(void)state;
	check_evaluated("Add 14 (i8[2]={127,1}, i8[]={1})", "i8[2]={-128,2}");
	check_evaluated("Sub 14 (uint8[2]={0,5}, uint8[]={1})",
			"uint8[2]={255,4}");
	check_evaluated("Mul 14 (i16[2]={300,-2}, i16[]={300})",
			"i16[2]={24464,-600}");
	check_evaluated("Add 14 (i64[1]={9223372036854775807}, i64[1]={1})",
			"i64[1]={-9223372036854775808}");
	check_evaluated("Mul 14 (uint64[1]={9223372036854775808}, "
			"uint64[1]={3})",
			"uint64[1]={9223372036854775808}");
}

static void
test_division(void **state)
{
	(void)state;
	check_evaluated("Div 14 (i32[4]={7,-7,7,-7}, i32[4]={2,2,-2,-2})",
			"i32[4]={3,-3,-3,3}");
	check_evaluated("Div 14 (i32[2]={7,0}, i32[]={0})", "i32[2]={0,0}");
	check_evaluated("Div 14 (i64[1]={-9223372036854775808}, i64[1]={-1})",
			"i64[1]={-9223372036854775808}");
	check_evaluated("Div 14 (i8[1]={-128}, i8[1]={-1})", "i8[1]={-128}");
	check_evaluated("Div 14 (uint64[1]={18446744073709551615}, "
			"uint64[1]={2})",
			"uint64[1]={9223372036854775807}");
	check_evaluated("Div 14 (f32[3]={1,-1,0}, f32[]={0})",
			"f32[3]={inf,-inf,nan}");
}

static void
test_remainders(void **state)
{
	(void)state;
	check_evaluated("Mod 13 (i32[4]={7,-7,7,-7}, i32[4]={3,3,-3,-3})",
			"i32[4]={1,2,-2,-1}");
	check_evaluated("Mod 13 (i32[4]={7,-7,7,-7}, i32[4]={3,3,-3,-3}) "
			"fmod=1",
			"i32[4]={1,-1,1,-1}");
	check_evaluated("Mod 13 (i32[2]={7,-7}, i32[]={0})", "i32[2]={0,0}");
	check_evaluated("Mod 13 (i64[1]={-9223372036854775808}, i64[1]={-1})",
			"i64[1]={0}");
	check_evaluated("Mod 13 (uint64[1]={18446744073709551615}, "
			"uint64[1]={10})",
			"uint64[1]={5}");
	check_evaluated("Mod 13 (f32[3]={7.5,-7.5,-6}, f32[]={3}) fmod=1",
			"f32[3]={1.5,-1.5,-0}");
	check_evaluated("Mod 28 (f32[4]={7.5,-7.5,-6,-1}, "
			"f32[4]={3,3,-3,inf})",
			"f32[4]={1.5,1.5,-0,inf}");
}

static void
test_powers(void **state)
{
	(void)state;
	check_evaluated("Pow 15 (i32[4]={-3,2,0,7}, i32[4]={3,10,0,1})",
			"i32[4]={-27,1024,1,7}");
	check_evaluated("Pow 15 (i8[1]={2}, i8[1]={8})", "i8[1]={0}");
	check_evaluated("Pow 15 (i32[4]={2,1,-1,-1}, i32[4]={-1,-5,-3,-2})",
			"i32[4]={0,1,-1,1}");
	check_evaluated("Pow 15 (i32[2]={2,9}, f32[2]={3.0,0.5})",
			"i32[2]={8,3}");
	check_evaluated("Pow 15 (f16[2]={2,9}, i64[2]={-1,2})",
			"f16[2]={0.5,81}");
}

static void
test_shifts(void **state)
{
	(void)state;
	check_evaluated("BitShift 11 (uint8[3]={129,1,1}, uint8[3]={1,7,8}) "
			"direction=LEFT",
			"uint8[3]={2,128,0}");
	check_evaluated("BitShift 11 (uint64[3]={18446744073709551615,8,8}, "
			"uint64[3]={63,3,64}) direction=RIGHT",
			"uint64[3]={1,1,0}");
	check_evaluated("BitShift 28 (i8[3]={-8,-8,8}, i8[3]={1,100,-1}) "
			"direction=RIGHT",
			"i8[3]={-4,-1,0}");
	check_evaluated("BitwiseXor 18 (i16[2]={-1,5}, i16[]={3})",
			"i16[2]={-4,6}");
}

static void
test_comparisons(void **state)
{
	(void)state;
	check_evaluated("Less 13 (uint64[2]={18446744073709551615,1}, "
			"uint64[]={2})",
			"bool[2]={0,1}");
	check_evaluated("Less 13 (i64[2]={-1,1}, i64[]={2})", "bool[2]={1,1}");
	/* Beyond what a double tells apart. */
	check_evaluated("Equal 13 (i64[1]={9007199254740993}, "
			"i64[1]={9007199254740992})",
			"bool[1]={0}");
	check_evaluated("GreaterOrEqual 16 (f16[3]={1,nan,-1}, f16[]={1})",
			"bool[3]={1,0,0}");
	check_evaluated("Equal 19 (string[2,1]={'a','b'}, string[2]={'b','a'})",
			"bool[2,2]={0,1,1,0}");
	check_evaluated("Equal 13 (bool[2]={1,0}, bool[]={1})",
			"bool[2]={1,0}");
	check_evaluated("Xor 7 (bool[2,1]={1,0}, bool[2]={1,0})",
			"bool[2,2]={0,1,1,0}");
}

/* B's sizes stand at the end of A's, or from the axis on. */
static void
test_old_broadcasting(void **state)
{
	(void)state;
	check_evaluated("Add 6 (f32[2,3]={1,2,3,4,5,6}, f32[2]={10,20}) "
			"broadcast=1 axis=0",
			"f32[2,3]={11,12,13,24,25,26}");
	check_evaluated("Add 6 (f32[2,3]={1,2,3,4,5,6}, f32[3]={10,20,30}) "
			"broadcast=1",
			"f32[2,3]={11,22,33,14,25,36}");
	check_evaluated("Mul 6 (f32[2,2,1]={1,2,3,4}, f32[2]={10,20}) "
			"broadcast=1 axis=1",
			"f32[2,2,1]={10,40,30,80}");
	check_evaluated("Sub 1 (f32[2]={1,2}, f32[]={1}) broadcast=1",
			"f32[2]={0,1}");
	check_evaluated("Greater 1 (f32[2]={1,2}, f32[1]={1}) broadcast=1",
			"bool[2]={0,1}");
	check_fails("Add 6 (f32[2,3]={1,2,3,4,5,6}, f32[2]={1,2}) "
		    "broadcast=1 axis=1",
		    "a dimension of 2 in a result of 3");
	check_fails("Add 6 (f32[2,3]={1,2,3,4,5,6}, f32[2]={1,2}) "
		    "broadcast=1 axis=2",
		    "at axis 2 of 2");
	check_fails("Add 6 (f32[2]={1,2}, f32[1,2]={1,2}) broadcast=1",
		    "2 dimensions, the result 1");
}

static void
test_any_number_of_inputs(void **state)
{
	(void)state;
	check_evaluated("Max 13 (f32[2]={1,nan}, f32[2]={3,1}, f32[]={2})",
			"f32[2]={3,nan}");
	check_evaluated("Min 13 (f32[2]={1,1}, f32[2]={3,nan}, f32[]={2})",
			"f32[2]={1,nan}");
	check_evaluated("Max 13 (uint64[1]={18446744073709551615}, "
			"uint64[1]={1})",
			"uint64[1]={18446744073709551615}");
	check_evaluated("Min 13 (i8[2,1]={-3,3}, i8[2]={-5,0})",
			"i8[2,2]={-5,-3,-5,0}");
	check_evaluated("Sum 13 (f32[2]={1,2}, f32[]={10}, f32[1]={100})",
			"f32[2]={111,112}");
	check_evaluated("Mean 13 (f16[2]={1,2}, f16[2]={2,4})",
			"f16[2]={1.5,3}");
	check_evaluated("Sum 13 (f32[2]={1,2})", "f32[2]={1,2}");
	check_fails("Sum 6 (f32[2]={1,2}, f32[3]={1,2,3})",
		    "a dimension of 3 in a result of 2");
}

static void
test_choosing(void **state)
{
	(void)state;
	check_evaluated("Where 16 (bool[2,1]={1,0}, i16[2]={1,2}, "
			"i16[]={-1})",
			"i16[2,2]={1,2,-1,-1}");
	check_evaluated("Where 16 (bool[2]={1,0}, string[]={'yes'}, "
			"string[2]={'a','no'})",
			"string[2]={'yes','no'}");
	check_evaluated("Where 16 (bool[1]={1}, f64[0]={}, f64[1]={1})",
			"f64[0]={}");
	check_fails("Where 16 (i32[1]={1}, f32[1]={1}, f32[1]={1})", "bool");
}

static void
test_slopes(void **state)
{
	(void)state;
	check_evaluated("PRelu 16 (f32[1,2,2]={-1,1,-2,2}, "
			"f32[2,1]={0.5,0.25})",
			"f32[1,2,2]={-0.5,1,-0.5,2}");
	check_evaluated("PRelu 6 (f32[1,2,2]={-1,1,-2,2}, f32[2]={0.5,0.25})",
			"f32[1,2,2]={-0.5,1,-0.5,2}");
	check_evaluated("PRelu 16 (i32[3]={-4,0,4}, i32[1]={3})",
			"i32[3]={-12,0,4}");
	check_evaluated("PRelu 16 (uint64[1]={18446744073709551615}, "
			"uint64[1]={3})",
			"uint64[1]={18446744073709551615}");
	check_fails("PRelu 16 (f32[2]={1,2}, f32[3]={1,2,3})",
		    "a dimension of 3 in a result of 2");
	check_fails("PRelu 16 (f32[2]={1,2}, f32[2,2]={1,2,3,4})",
		    "2 dimensions, the result 1");
}

static void
test_no_elements(void **state)
{
	(void)state;
	check_evaluated("Add 14 (f32[0,2]={}, f32[2]={1,2})", "f32[0,2]={}");
	check_evaluated("Add 14 (f32[0]={}, f32[1]={1})", "f32[0]={}");
	check_evaluated("Max 13 (i8[0]={}, i8[]={1})", "i8[0]={}");
	check_evaluated("Equal 19 (string[0]={}, string[1]={'a'})",
			"bool[0]={}");
}

static void
test_floats_are_rounded_once(void **state)
{
	(void)state;
	/* 2048 + 1 is a tie, which the little more decides. */
	check_evaluated("Add 14 (f16[2]={2048,65504}, f16[2]={1,65504})",
			"f16[2]={2048,inf}");
	check_evaluated("Sum 13 (f16[1]={2048}, f16[1]={1}, f16[1]={0.001})",
			"f16[1]={2050}");
}

/* The sign that counts is the exponent's. */
static void
test_powers_of_mixed_types(void **state)
{
	(void)state;
	check_evaluated("Pow 15 (uint8[3]={1,3,3}, i32[3]={-1,-1,2})",
			"uint8[3]={1,0,9}");
	/* 3 has the order 2^62 among the odd numbers of 64 bits, so that this
	 * is the number that times 3 gives 1. */
	check_evaluated("Pow 15 (i64[1]={3}, uint64[1]={18446744073709551615})",
			"i64[1]={-6148914691236517205}");
}

static void
test_chosen_bits(void **state)
{
	(void)state;
	check_evaluated("Where 16 (bool[3]={1,0,1}, int4[3]={-8,3,7}, "
			"int4[1]={-1})",
			"i4[3]={-8,-1,7}");
	check_evaluated("Where 16 (bool[2]={1,0}, string[]={'a'}, "
			"string[2]={'b','c'})",
			"string[2]={'a','c'}");
}

/* Sizes beyond all bounds beside a 0. */
static void
test_huge_sizes_of_nothing(void **state)
{
	(void)state;
	check_evaluated("Add 14 (f32[0,1152921504606846976,64]={}, f32[1]={1})",
			"f32[0,1152921504606846976,64]={}");
	check_evaluated("Sum 13 (f32[0,1152921504606846976,64]={}, "
			"f32[0,1152921504606846976,64]={})",
			"f32[0,1152921504606846976,64]={}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_wrap),
		cmocka_unit_test(test_division),
		cmocka_unit_test(test_remainders),
		cmocka_unit_test(test_powers),
		cmocka_unit_test(test_shifts),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_old_broadcasting),
		cmocka_unit_test(test_any_number_of_inputs),
		cmocka_unit_test(test_choosing),
		cmocka_unit_test(test_slopes),
		cmocka_unit_test(test_no_elements),
		cmocka_unit_test(test_floats_are_rounded_once),
		cmocka_unit_test(test_powers_of_mixed_types),
		cmocka_unit_test(test_chosen_bits),
		cmocka_unit_test(test_huge_sizes_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
