/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_elementwise.c - each element alone: types that ONNX's own tests
 * leave out, infinities and NaN, attributes of old versions, no elements at
 * all.  Irrational results were computed once with NumPy in float64.
 */
#include "evaluated.h"

#define X "(f32[5]={-2,-0.5,0,0.5,3})"

static void
test_activations(void **state)
{
	(void)state;
	check_evaluated("Gelu 20 " X,
			"f32[5]={-0.04550026,-0.1542688,0,0.3457312,2.99595}");
	check_evaluated("Gelu 20 " X " approximate=tanh",
			"f32[5]={-0.04540231,-0.154286,0,0.345714,2.996363}");
	check_evaluated("Mish 18 " X,
			"f32[5]={-0.2525015,-0.2207438,0,0.3752452,2.986535}");
	check_evaluated("Swish 24 " X,
			"f32[5]={-0.2384058,-0.1887703,0,0.3112297,2.857722}");
	check_evaluated("Selu 6 " X,
			"f32[5]={-1.520167,-0.6917582,0,0.5253505,3.152103}");
	check_evaluated("Celu 12 " X " alpha=2.0",
			"f32[5]={-1.264241,-0.4423984,0,0.5,3}");
	check_evaluated("Elu 6 " X " alpha=0.5",
			"f32[5]={-0.4323324,-0.1967347,0,0.5,3}");
	check_evaluated("HardSwish 14 " X,
			"f32[5]={-0.3333333,-0.2083333,0,0.2916667,3}");
	check_evaluated("Softplus 1 " X,
			"f32[5]={0.126928,0.474077,0.6931472,0.974077,"
			"3.048587}");
	check_evaluated("Softsign 1 " X,
			"f32[5]={-0.6666667,-0.3333333,0,0.3333333,0.75}");
	check_evaluated("Shrink 9 " X " bias=0.25 lambd=0.5",
			"f32[5]={-1.75,0,0,0,2.75}");
	check_evaluated("ThresholdedRelu 10 " X, "f32[5]={0,0,0,0,3}");
	check_evaluated("LeakyRelu 16 " X " alpha=0.5",
			"f32[5]={-1,-0.25,0,0.5,3}");
}

static void
test_those_of_onnxruntime(void **state)
{
	(void)state;
	check_evaluated("com.microsoft.Gelu 1 " X,
			"f32[5]={-0.04550026,-0.1542688,0,0.3457312,2.99595}");
	check_evaluated("com.microsoft.FastGelu 1 " X,
			"f32[5]={-0.04540231,-0.154286,0,0.345714,2.996363}");
	check_evaluated("com.microsoft.QuickGelu 1 " X,
			"f32[5]={-0.06434137,-0.1496116,0,0.3503884,2.981929}");
	check_evaluated("com.microsoft.BiasGelu 1 (f32[2,2]={-3,0,0,-1},"
			" f32[2]={1,0.5})",
			"f32[2,2]={-0.04550026,0.3457312,0.8413448,"
			"-0.1542688}");
	check_fails("com.microsoft.BiasGelu 1 (f32[2]={1,2}, f32[3]={1,2,3})",
		    "a bias of 3 for a last dimension of 2");
	check_evaluated("SwiGLU 28 (f32[2]={-2,3}, f32[2]={2,-1})",
			"f32[2]={-0.4768117,-2.857722}");
}

/* The defaults of version 1 have five digits. */
static void
test_old_defaults(void **state)
{
	(void)state;
	check_evaluated("Selu 1 (f32[2]={1,-1}) alpha=1.0 gamma=2.0",
			"f32[2]={2,-1.264241}");
	check_evaluated("Selu 1 (f32[1]={10000})", "f32[1]={10507}");
	check_evaluated("Selu 6 (f32[1]={10000})", "f32[1]={10507.01}");
}

static void
test_far_ends(void **state)
{
	(void)state;
	check_evaluated("Sigmoid 13 (f32[4]={-inf,-800,800,nan})",
			"f32[4]={0,0,1,nan}");
	check_evaluated("Softplus 1 (f32[3]={-inf,800,inf})",
			"f32[3]={0,800,inf}");
	check_evaluated("Gelu 20 (f32[2]={-inf,inf})", "f32[2]={0,inf}");
	check_evaluated("Swish 24 (f32[2]={-inf,inf})", "f32[2]={0,inf}");
	check_evaluated("Mish 18 (f32[2]={-inf,inf})", "f32[2]={0,inf}");
	check_evaluated("Relu 14 (f32[3]={-inf,nan,inf})",
			"f32[3]={0,nan,inf}");
	check_evaluated("Sign 13 (f32[4]={-inf,-0.0,nan,7})",
			"f32[4]={-1,0,nan,1}");
	check_evaluated("Softsign 1 (f32[2]={-inf,inf})", "f32[2]={-1,1}");
	check_evaluated("Shrink 9 (f32[1]={nan})", "f32[1]={nan}");
}

static void
test_round_goes_to_even(void **state)
{
	(void)state;
	check_evaluated("Round 11 (f32[6]={0.5,1.5,2.5,-0.5,-1.5,2.6})",
			"f32[6]={0,2,2,-0,-2,3}");
	check_evaluated("Round 11 (f16[3]={2.5,-3.5,1000.5})",
			"f16[3]={2,-4,1000}");
}

static void
test_infinities_and_nan_are_found(void **state)
{
	(void)state;
	check_evaluated("IsInf 20 (f32[4]={inf,-inf,nan,1})",
			"bool[4]={1,1,0,0}");
	check_evaluated("IsInf 20 (f32[3]={inf,-inf,1}) detect_positive=0",
			"bool[3]={0,1,0}");
	check_evaluated("IsInf 20 (f16[3]={inf,-inf,1}) detect_negative=0",
			"bool[3]={1,0,0}");
	check_evaluated("IsNaN 13 (bf16[3]={inf,nan,1})", "bool[3]={0,1,0}");
}

/* The least integer has no absolute value of its width. */
static void
test_integers_wrap(void **state)
{
	(void)state;
	check_evaluated("Abs 13 (i8[3]={-128,-5,5})", "i8[3]={-128,5,5}");
	check_evaluated("Neg 13 (i8[2]={-128,127})", "i8[2]={-128,-127}");
	check_evaluated("Abs 13 (i64[2]={-9223372036854775808,-3})",
			"i64[2]={-9223372036854775808,3}");
	check_evaluated("Abs 13 (uint64[1]={18446744073709551615})",
			"uint64[1]={18446744073709551615}");
	check_evaluated("Sign 13 (uint64[2]={18446744073709551615,0})",
			"uint64[2]={1,0}");
	check_evaluated("Relu 14 (i16[3]={-7,0,7})", "i16[3]={0,0,7}");
	check_evaluated("BitwiseNot 18 (uint8[2]={0,170})",
			"uint8[2]={255,85}");
	check_evaluated("BitwiseNot 18 (i32[2]={0,-1})", "i32[2]={-1,0}");
	check_evaluated("Not 1 (bool[2]={0,1})", "bool[2]={1,0}");
}

static void
test_clip(void **state)
{
	(void)state;
	check_evaluated("Clip 6 (f32[4]={-3,-1,1,3}) min=-2.0 max=2.0",
			"f32[4]={-2,-1,1,2}");
	check_evaluated("Clip 6 (f32[3]={-3,1,3}) max=2.0", "f32[3]={-3,1,2}");
	check_evaluated("Clip 13 (f32[3]={-3,nan,3}, f32[]={-1})",
			"f32[3]={-1,nan,3}");
	check_evaluated("Clip 13 (f16[3]={-3,1,3}, _, f16[]={2})",
			"f16[3]={-3,1,2}");
	/* Without bounds, the largest numbers of the type; before version 11
	 * those of f32. */
	check_evaluated("Clip 13 (f32[3]={-inf,inf,nan})",
			"f32[3]={-3.402823e+38,3.402823e+38,nan}");
	check_evaluated(
		"Clip 13 (f32[2]={-inf,inf}, f32[]={-inf}, f32[]={inf})",
		"f32[2]={-inf,inf}");
	check_evaluated("Clip 13 (f64[2]={-inf,1e300})",
			"f64[2]={-1.797693e+308,1e+300}");
	check_evaluated("Clip 13 (f16[2]={-inf,inf})",
			"f16[2]={-6.55e+04,6.55e+04}");
	check_evaluated("Clip 13 (bf16[2]={-inf,inf})",
			"bf16[2]={-3.39e+38,3.39e+38}");
	check_evaluated("Clip 6 (f32[2]={-inf,inf})",
			"f32[2]={-3.402823e+38,3.402823e+38}");
	/* Where the bounds cross, the upper one wins. */
	check_evaluated("Clip 13 (f32[3]={0,2,4}, f32[]={3}, f32[]={1})",
			"f32[3]={1,1,1}");
	check_evaluated("Clip 13 (i8[4]={-128,-3,3,127}, i8[]={-2}, i8[]={2})",
			"i8[4]={-2,-2,2,2}");
	check_evaluated("Clip 13 (uint64[2]={18446744073709551615,1}, "
			"uint64[]={2}, uint64[]={18446744073709551614})",
			"uint64[2]={18446744073709551614,2}");
}

static void
test_other_floats(void **state)
{
	(void)state;
	check_evaluated("Sqrt 13 (f16[2]={2,65504})", "f16[2]={1.414,255.9}");
	check_evaluated("Exp 13 (f16[2]={12,-30})", "f16[2]={inf,0}");
	check_evaluated("Reciprocal 13 (f64[2]={3,0})",
			"f64[2]={0.3333333,inf}");
	check_evaluated("Exp 13 (bf16[1]={1})", "bf16[1]={2.719}");
	check_fails("Exp 13 (string[1]={'a'})", "strings");
}

static void
test_nothing_and_scalars(void **state)
{
	(void)state;
	check_evaluated("Exp 13 (f32[2,0,3]={})", "f32[2,0,3]={}");
	check_evaluated("Abs 13 (i8[0]={})", "i8[0]={}");
	check_evaluated("Clip 13 (f32[0]={}, f32[]={1})", "f32[0]={}");
	check_evaluated("IsNaN 13 (f32[0]={})", "bool[0]={}");
	check_evaluated("Neg 13 (f32[]={4})", "f32[]={-4}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_activations),
		cmocka_unit_test(test_those_of_onnxruntime),
		cmocka_unit_test(test_old_defaults),
		cmocka_unit_test(test_far_ends),
		cmocka_unit_test(test_round_goes_to_even),
		cmocka_unit_test(test_infinities_and_nan_are_found),
		cmocka_unit_test(test_integers_wrap),
		cmocka_unit_test(test_clip),
		cmocka_unit_test(test_other_floats),
		cmocka_unit_test(test_nothing_and_scalars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
