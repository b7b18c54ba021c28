/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_cast.c - one type of number into another: every code of every
 * small float survives and every tie goes to the even one, what is too large
 * saturates or does not, integers lose upper bits, numbers become text and
 * text numbers.
 */
#include "comma_locale.h"
#include "evaluated.h"

/* Of types whose codes fit a byte: the value of a code, by reading it. */
static double
value_of(enum sl_dtype dtype, unsigned char code)
{
	struct sl__tensor one = {.dtype = dtype, .bytes = &code};
	double value;

	assert_true(sl__tensor_doubles(&one, 0, 1, &value));
	return value;
}

static unsigned
code_of(enum sl_dtype dtype, double value)
{
	unsigned char bytes[2] = {0};

	sl__store_doubles(bytes, dtype, 0, 1, &value);
	return bytes[0] | (unsigned)bytes[1] << 8;
}

static void
check_codes(enum sl_dtype dtype, unsigned n_codes, unsigned n_finite)
{
	/* Positive codes are in order: halfway between two goes to the even. */
	for (unsigned code = 0; code + 1 < n_finite; code++) {
		double a = value_of(dtype, (unsigned char)code);
		double b = value_of(dtype, (unsigned char)(code + 1));

		assert_true(a < b);
		assert_int_equal(code_of(dtype, (a + b) / 2),
				 code % 2 ? code + 1 : code);
		assert_int_equal(code_of(dtype, nextafter((a + b) / 2, b)),
				 code + 1);
		assert_int_equal(code_of(dtype, nextafter((a + b) / 2, a)),
				 code);
	}
	for (unsigned code = 0; code < n_codes; code++) {
		double value = value_of(dtype, (unsigned char)code);

		if (!isnan(value) && !isinf(value))
			assert_int_equal(code_of(dtype, value), code);
	}
	assert_int_equal(code_of(dtype, 1e30), n_finite - 1);
	assert_int_equal(code_of(dtype, (double)INFINITY), n_finite - 1);
}

static void
test_every_code_of_small_floats(void **state)
{
	(void)state;
	check_codes(SL_DTYPE_F8E4M3FN, 256, 0x7f);
	check_codes(SL_DTYPE_F8E4M3FNUZ, 256, 0x80);
	check_codes(SL_DTYPE_F8E5M2, 256, 0x7c);
	check_codes(SL_DTYPE_F8E5M2FNUZ, 256, 0x80);
	check_codes(SL_DTYPE_F4E2M1, 16, 8);
	assert_int_equal(code_of(SL_DTYPE_F8E4M3FN, (double)NAN), 0x7f);
	assert_int_equal(code_of(SL_DTYPE_F8E4M3FNUZ, -0.0), 0);
	assert_int_equal(code_of(SL_DTYPE_F8E5M2, -0.0), 0x80);
}

/* Every f16, and every tie between two. */
static void
test_every_f16(void **state)
{
	(void)state;
	for (unsigned code = 0; code < 0x7bff; code++) {
		double step =
			ldexp(1, (code < 1024 ? 1 : (int)code / 1024) - 25);
		double value = code < 1024 ? (double)code * 0x1p-24
					   : (1024.0 + code % 1024) * step;

		assert_int_equal(code_of(SL_DTYPE_F16, value), code);
		assert_int_equal(code_of(SL_DTYPE_F16, -value), code | 0x8000);
		assert_int_equal(code_of(SL_DTYPE_F16, value + step / 2),
				 code % 2 ? code + 1 : code);
		/* More than half by less than an f32 can tell. */
		assert_int_equal(
			code_of(SL_DTYPE_F16, value + step * (0.5 + 0x1p-30)),
			code + 1);
	}
	assert_int_equal(code_of(SL_DTYPE_F16, 65519), 0x7bff);
	assert_int_equal(code_of(SL_DTYPE_F16, 65520), 0x7c00);
}

static void
test_bf16(void **state)
{
	(void)state;
	assert_int_equal(code_of(SL_DTYPE_BF16, 1), 0x3f80);
	assert_int_equal(code_of(SL_DTYPE_BF16, 1 + 0x1p-8), 0x3f80);
	assert_int_equal(code_of(SL_DTYPE_BF16, 1 + 3 * 0x1p-8), 0x3f82);
	assert_int_equal(code_of(SL_DTYPE_BF16, 0x1p-133), 1);
	assert_int_equal(code_of(SL_DTYPE_BF16, -1e39), 0xff80);
	assert_int_equal(code_of(SL_DTYPE_BF16, (double)NAN), 0x7fc0);
}

static void
test_saturation(void **state)
{
	(void)state;
	/* to=17 is f8e4m3fn, 18 f8e4m3fnuz, 19 f8e5m2, 20 f8e5m2fnuz. */
	check_evaluated("Cast 19 (f32[4]={464,465,-inf,nan}) to=17",
			"f8e4m3fn[4]={448,448,-448,nan}");
	check_evaluated("Cast 19 (f32[4]={464,465,-inf,1}) to=17 saturate=0",
			"f8e4m3fn[4]={448,nan,nan,1}");
	check_evaluated("Cast 19 (f32[3]={247,248,-1e9}) to=18 saturate=0",
			"f8e4m3fnuz[3]={240,nan,nan}");
	check_evaluated("Cast 19 (f16[3]={61408,61440,-inf}) to=19 saturate=0",
			"f8e5m2[3]={5.734e+04,inf,-inf}");
	check_evaluated("Cast 19 (f32[2]={61439,61440}) to=20 saturate=0",
			"f8e5m2fnuz[2]={5.734e+04,nan}");
	check_evaluated("CastLike 19 (f32[2]={1e9,1}, f8e5m2[1]={1}) "
			"saturate=0",
			"f8e5m2[2]={inf,1}");
}

static void
test_powers_of_two(void **state)
{
	(void)state;
	check_evaluated("Cast 24 (f32[5]={1,1.1,3,0,inf}) to=24",
			"f8e8m0[5]={1,2,4,5.877e-39,1.701e+38}");
	check_evaluated("Cast 24 (f32[3]={1.9,3,0.3}) to=24 round_mode=down",
			"f8e8m0[3]={1,2,0.25}");
	check_evaluated("Cast 24 (f32[3]={1.4,1.5,nan}) to=24 "
			"round_mode=nearest saturate=0",
			"f8e8m0[3]={1,2,nan}");
}

static void
test_integers(void **state)
{
	(void)state;
	check_evaluated("Cast 13 (i16[3]={200,-129,5}) to=3",
			"i8[3]={-56,127,5}");
	check_evaluated("Cast 13 (f32[4]={-1.9,1.9,nan,300}) to=3",
			"i8[4]={-1,1,0,44}");
	check_evaluated("Cast 13 (f64[2]={1.8e19,-1}) to=13",
			"uint64[2]={18000000000000000000,"
			"18446744073709551615}");
	check_evaluated("Cast 13 (uint64[1]={18446744073709551615}) to=11",
			"f64[1]={1.844674e+19}");
	check_evaluated("Cast 13 (f32[4]={0,-0.0,0.1,nan}) to=9",
			"bool[4]={0,0,1,1}");
	check_evaluated("Cast 13 (i64[2]={256,0}) to=9", "bool[2]={1,0}");
	check_evaluated("Cast 21 (i32[3]={-8,7,9}) to=22", "i4[3]={-8,7,-7}");
	check_evaluated("Cast 21 (i4[3]={-8,7,-1}) to=1", "f32[3]={-8,7,-1}");
	check_evaluated("Cast 13 (f32[0,2]={}) to=7", "i64[0,2]={}");
}

/* Half a step of f32 above 2^60 and a little: a double would lose it. */
static void
test_long_integers_are_rounded_once(void **state)
{
	struct evaluated *e =
		evaluated("Cast 13 (i64[1]={1152921573326323713}) to=1");
	double value;

	(void)state;
	assert_true(
		sl__tensor_doubles(&evaluated_out(e, 0)->tensor, 0, 1, &value));
	assert_true(value == 0x1p60 + 0x1p37);
	evaluated_free(e);
}

static void
test_text(void **state)
{
	(void)state;
	check_evaluated("Cast 13 (f32[6]={0.1,-2.5,1,100,16777216,1e20}) to=8",
			"string[6]={'0.1','-2.5','1','100','16777216',"
			"'1e+20'}");
	check_evaluated("Cast 13 (f64[2]={0.1,0.30000000000000004}) to=8",
			"string[2]={'0.1','0.30000000000000004'}");
	check_evaluated("Cast 13 (f16[2]={0.1,65504}) to=8",
			"string[2]={'0.1','65504'}");
	check_evaluated("Cast 13 (f32[3]={nan,inf,-inf}) to=8",
			"string[3]={'NaN','INF','-INF'}");
	check_evaluated("Cast 13 (uint64[1]={18446744073709551615}) to=8",
			"string[1]={'18446744073709551615'}");
	check_evaluated("Cast 13 (bool[2]={1,0}) to=8", "string[2]={'1','0'}");
	check_evaluated("Cast 13 (string[1]={'as is'}) to=8",
			"string[1]={'as is'}");
	check_evaluated("Cast 13 (string[4]={'3.5','-1e2','+INF','nan'}) to=1",
			"f32[4]={3.5,-100,inf,nan}");
	check_evaluated("Cast 13 (string[2]={'9007199254740993','100.5'}) to=7",
			"i64[2]={9007199254740993,100}");
	check_fails("Cast 13 (string[1]={'Hello'}) to=1",
		    "'Hello' is not a number");
	check_fails("Cast 13 (string[1]={'1.5x'}) to=1", "is not a number");
}

static void
test_bits(void **state)
{
	(void)state;
	check_evaluated("BitCast 26 (f32[2]={1,-0.0}) to=6",
			"i32[2]={1065353216,-2147483648}");
	check_fails("BitCast 26 (f32[1]={1}) to=7", "bits");
}

/* The check itself then reads and writes commas: 2,5 is one number. */
static void
test_text_where_commas_divide(void **state)
{
	(void)state;
	if (!comma_locale_begin())
		skip();
	check_evaluated("Cast 13 (f32[2]={0x1p-1,0x5p-1}) to=8",
			"string[2]={'0.5','2.5'}");
	check_evaluated("Cast 13 (string[1]={'2.5'}) to=1", "f32[1]={2,5}");
	comma_locale_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_of_small_floats),
		cmocka_unit_test(test_every_f16),
		cmocka_unit_test(test_bf16),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_powers_of_two),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_long_integers_are_rounded_once),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_text_where_commas_divide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
