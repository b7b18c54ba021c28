/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that contents are followed through arithmetic as ONNX defines it:
 * broadcasting, truncating division, both kinds of modulo, rounding to the
 * type; that symbols go through where a size can say it; and that nothing is
 * claimed where a symbol, an overflow or a zero leaves it open.  Numbers were
 * worked out by hand and with numpy (tests/oracles/op_cases.py).
 */
#include "one_node.h"

static void
integers_are_exact(void **state)
{
	(void)state;
	check_known("Add 13 (i64[3]={1,2,3}, i64[]={10})", "{11,12,13}");
	check_known("Sub 13 (i64[2]={1,2}, i64[2]={5,7})", "{-4,-5}");
	check_known("Mul 13 (i64[2]={3,-4}, i64[1]={5})", "{15,-20}");
	check_known("Div 13 (i64[4]={7,-7,7,-7}, i64[4]={2,2,-2,-2})",
		    "{3,-3,-3,3}");
	check_known("Mod 13 (i64[4]={7,-7,7,-7}, i64[4]={4,4,-4,-4})",
		    "{3,1,-1,-3}");
	check_known("Mod 13 (i64[4]={7,-7,7,-7}, i64[4]={4,4,-4,-4}) fmod=1",
		    "{3,-3,3,-3}");
	check_known("Pow 13 (i64[3]={2,-3,0}, i64[3]={10,3,0})",
		    "{1024,-27,1}");
	check_known("Pow 13 (i64[1]={4}, f32[1]={0.5})", "{2}");
	check_known("Max 13 (i64[2]={1,9}, i64[]={5}, i64[1]={4})", "{5,9}");
	check_known("Min 13 (i64[2]={1,9}, i64[]={5})", "{1,5}");
	check_known("Sum 13 (i64[2]={1,2}, i64[1]={5}, i64[]={7})", "{13,14}");
	check_known("Neg 13 (i64[2]={3,-4})", "{-3,4}");
	check_known("Abs 13 (i64[3]={3,-4,0})", "{3,4,0}");
	check_known("Sign 13 (i64[3]={3,-4,0})", "{1,-1,0}");
	check_known("Relu 14 (i64[2]={-3,4})", "{0,4}");
	check_known("Clip 13 (i64[3]={-5,3,9}, i64[]={0}, i64[]={6})",
		    "{0,3,6}");
	check_known("Clip 13 (i64[3]={-5,3,9}, _, i64[]={6})", "{-5,3,6}");
}

static void
reals_are_rounded_to_their_type(void **state)
{
	(void)state;
	check_known("Add 13 (f32[1]={16777216}, f32[]={1})", "{16777216}");
	check_known("Add 13 (f64[1]={16777216}, f64[]={1})", "{16777217}");
	check_known("Div 13 (f32[2]={7,1}, f32[]={2})", "{3.5,0.5}");
	check_known("Floor 13 (f32[3]={2.5,-2.5,3})", "{2,-3,3}");
	check_known("Ceil 13 (f32[3]={2.5,-2.5,3})", "{3,-2,3}");
	check_known("Round 11 (f32[4]={0.5,1.5,2.5,-2.5})", "{0,2,2,-2}");
	check_known("Sqrt 13 (f32[2]={4,2})", "{2,1.41421354}");
	check_known("Exp 13 (f32[2]={0,1})", "{1,2.71828175}");
	check_known("Log 13 (f64[1]={1})", "{0}");
	check_known("Reciprocal 13 (f32[2]={4,3})", "{0.25,0.333333343}");
	check_known("Neg 13 (f32[1]={2.5})", "{-2.5}");
	check_known("Sign 13 (f32[3]={2.5,-1.5,0})", "{1,-1,0}");
	check_known("Mod 13 (f32[2]={5.5,-5.5}, f32[]={2}) fmod=1",
		    "{1.5,-1.5}");
	check_known("Pow 13 (f32[1]={2}, i64[1]={-1})", "{0.5}");
	check_known("Clip 6 (f32[3]={-5,3,9}) min=0.0 max=6.0", "{0,3,6}");
}

static void
casts_cut_and_convert(void **state)
{
	(void)state;
	check_known("Cast 13 (f32[3]={2.9,-2.9,0.5}) to=7", "{2,-2,0}");
	check_known("Cast 13 (i64[2]={3,-4}) to=1", "{3,-4}");
	check_known("Cast 13 (i64[3]={3,0,-1}) to=9", "{1,0,1}");
	check_known("Cast 13 (f32[2]={0.5,0}) to=9", "{1,0}");
	check_known("Cast 13 (bool[2]={1,0}) to=7", "{1,0}");
	check_known("Cast 13 (f32[4]={1.0001,65520,2049,6e-8}) to=10",
		    "{1,inf,2048,5.96046448e-08}");
	check_known("Cast 13 (f32[2]={257,1.00390625}) to=16", "{256,1}");
	check_known("CastLike 15 (i64[2]={3,4}, f32[7])", "{3,4}");
	/* What the type cannot hold is not claimed. */
	check_known("Cast 13 (i64[1]={300}) to=2", "?");
	check_known("Cast 13 (i64[1]={-1}) to=12", "?");
	check_known("Cast 13 (f32[1]={1e30}) to=7", "?");
	check_known("Cast 13 (i64[1]={1}) to=8", "?");
}

static void
truth_is_followed(void **state)
{
	(void)state;
	check_known("Equal 13 (i64[3]={1,2,3}, i64[]={2})", "{0,1,0}");
	check_known("Less 13 (f32[3]={1,2,3}, f32[]={2})", "{1,0,0}");
	check_known("LessOrEqual 16 (i64[3]={1,2,3}, i64[]={2})", "{1,1,0}");
	check_known("Greater 13 (i64[3]={1,2,3}, i64[]={2})", "{0,0,1}");
	check_known("GreaterOrEqual 16 (f32[3]={1,2,3}, f32[]={2})", "{0,1,1}");
	check_known("GreaterOrEqual 16 (f32[2]={nan,1}, f32[]={1})", "{0,1}");
	check_known("Not 1 (bool[2]={1,0})", "{0,1}");
	check_known("And 7 (bool[4]={0,0,1,1}, bool[4]={0,1,0,1})",
		    "{0,0,0,1}");
	check_known("Or 7 (bool[4]={0,0,1,1}, bool[4]={0,1,0,1})", "{0,1,1,1}");
	check_known("Xor 7 (bool[4]={0,0,1,1}, bool[4]={0,1,0,1})",
		    "{0,1,1,0}");
	check_known("Where 16 (bool[3]={1,0,1}, i64[3]={1,2,3}, i64[]={9})",
		    "{1,9,3}");
	check_known("Where 16 (bool[2,1]={1,0}, i64[2]={1,2}, i64[]={9})",
		    "{1,2,9,9}");
}

static void
contents_are_broadcast(void **state)
{
	(void)state;
	check_known("Add 13 (i64[2,1]={10,20}, i64[3]={1,2,3})",
		    "{11,12,13,21,22,23}");
	check_known("Mul 13 (i64[2,1,2]={1,2,3,4}, i64[2,1]={1,10})",
		    "{1,2,10,20,3,4,30,40}");
	check_known("Add 13 (i64[0]={}, i64[1]={1})", "{}");
	check_known("Add 13 (i64[]={2}, i64[]={3})", "{5}");
	/* The small input stands at an axis here. */
	check_known("Add 6 (i64[1,2]={1,2}, i64[1]={3}) broadcast=1 axis=0",
		    "?");
}

static void
symbols_go_through(void **state)
{
	(void)state;
	check_known("Add 13 (i64[2]={n,3}, i64[]={1})", "{(n+1),4}");
	check_known("Mul 13 (i64[2]={n,3}, i64[]={2})", "{(n*2),6}");
	check_known("Mul 13 (i64[2]={n,3}, i64[]={0})", "{0,0}");
	check_known("Sub 13 (i64[2]={n,3}, i64[2]={n,1})", "{0,2}");
	check_known("Div 13 (i64[2]={n,3}, i64[]={2})", "{(n/2),1}");
	check_known("Div 13 (i64[2]={n,3}, i64[]={-2})", "{?,-1}");
	check_known("Mod 13 (i64[2]={n,3}, i64[]={2})", "{?,1}");
	check_known("Min 13 (i64[2]={n,3}, i64[]={2})", "{?,2}");
	check_known("Max 13 (i64[2]={n,3}, i64[]={0})", "{n,3}");
	check_known("Min 13 (i64[2]={n,3}, i64[]={-1})", "{-1,-1}");
	check_known("Abs 13 (i64[1]={n})", "{n}");
	check_known("Relu 14 (i64[1]={n})", "{n}");
	check_known("Cast 13 (i64[2]={n,3}) to=6", "{n,3}");
	check_known("Where 16 (bool[2]={1,0}, i64[2]={n,3}, i64[]={7})",
		    "{n,7}");
}

static void
symbols_decide_only_what_they_must(void **state)
{
	(void)state;
	check_known("Equal 13 (i64[2]={n,3}, i64[]={-1})", "{0,0}");
	check_known("Equal 13 (i64[1]={n}, i64[1]={n})", "{1}");
	check_known("Equal 13 (i64[1]={n}, i64[1]={m})", "?");
	check_known("Equal 13 (i64[1]={n}, i64[1]={4})", "?");
	check_known("Less 13 (i64[1]={n}, i64[1]={0})", "{0}");
	check_known("Less 13 (i64[1]={n}, i64[1]={1})", "?");
	check_known("GreaterOrEqual 16 (i64[1]={n}, i64[1]={0})", "{1}");
	check_known("Cast 13 (i64[1]={n}) to=1", "?");
	check_known("Cast 13 (i64[1]={n}) to=9", "?");
	check_known("Pow 13 (f32[1]={2}, i64[1]={n})", "?");
	check_known("Pow 13 (i64[1]={n}, i64[1]={2})", "{?}");
	check_known("Sign 13 (i64[1]={n})", "{?}");
}

static void
what_is_open_is_not_claimed(void **state)
{
	(void)state;
	check_known("Div 13 (i64[1]={1}, i64[1]={0})", "?");
	check_known("Mod 13 (i64[1]={1}, i64[1]={0})", "?");
	check_known("Mul 13 (i64[1]={4611686018427387904}, i64[]={4})", "?");
	check_known("Add 13 (int32[1]={2147483647}, int32[]={1})", "?");
	check_known("Sub 13 (uint8[1]={1}, uint8[]={2})", "?");
	check_known("Pow 13 (i64[1]={2}, i64[1]={-1})", "?");
	check_known("Pow 13 (i64[1]={2}, i64[1]={64})", "?");
	check_known("Add 13 (i64[2], i64[2]={1,2})", "?");
	check_known("Sqrt 13 (f32[2])", "?");
}

static void
every_allocation_may_fail(void **state)
{
	(void)state;
	check_allocations("Add 13 (i64[3]={1,2,3}, i64[]={10})");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(reals_are_rounded_to_their_type),
		cmocka_unit_test(casts_cut_and_convert),
		cmocka_unit_test(truth_is_followed),
		cmocka_unit_test(contents_are_broadcast),
		cmocka_unit_test(symbols_go_through),
		cmocka_unit_test(symbols_decide_only_what_they_must),
		cmocka_unit_test(what_is_open_is_not_claimed),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
