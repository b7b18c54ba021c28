/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors: sizes of every type, values of every small float against the
 * formulas of their formats, and generated weights: those of the oracle, the
 * same whichever piece is asked for, with the mean and deviation promised.
 */
#include "harness.h"
#include "graph/tensor.h"

static struct sl__tensor
tensor_of(enum sl_dtype dtype, const int64_t *dims, size_t rank,
	  const void *bytes)
{
	struct sl__tensor t = {
		.dtype = dtype, .rank = rank, .dims = dims, .bytes = bytes};

	assert_true(sl__tensor_compute_size(&t));
	return t;
}

static void
test_measures_and_refuses_overflow(void **state)
{
	const int64_t dims[] = {3, 5}, odd[] = {INT64_MAX, 3}, bad[] = {2, -1};
	struct sl__tensor t;

	(void)state;
	t = tensor_of(SL_DTYPE_F32, dims, 2, NULL);
	assert_int_equal(t.n_elements, 15);
	assert_int_equal(t.n_bytes, 60);
	t = tensor_of(SL_DTYPE_I4, dims, 2, NULL);
	assert_int_equal(t.n_bytes, 8); /* 15 halves of a byte */
	t = tensor_of(SL_DTYPE_F8E5M2, dims, 2, NULL);
	assert_int_equal(t.n_bytes, 15);
	t = tensor_of(SL_DTYPE_F64, dims, 0, NULL);
	assert_int_equal(t.n_bytes, 8);
	t.rank = 2;
	t.dims = odd;
	assert_false(sl__tensor_compute_size(&t));
	t.dims = bad;
	assert_false(sl__tensor_compute_size(&t));
}

static double
one(enum sl_dtype dtype, const void *bytes)
{
	struct sl__tensor t = tensor_of(dtype, NULL, 0, bytes);
	double value = -99;

	assert_true(sl__tensor_doubles(&t, 0, 1, &value));
	return value;
}

/* Largest, smallest and special numbers as the formats' papers list them. */
static void
test_small_floats(void **state)
{
	const unsigned char e4m3_max = 0x7e, e4m3_nan = 0x7f, e4m3_min = 0x01;
	const unsigned char e5m2_max = 0x7b, e5m2_inf = 0x7c, e5m2_one = 0xbc;
	const unsigned char uz_nan = 0x80, e4m3uz_max = 0x7f, f4 = 0x7f;
	const uint16_t half_max = 0x7bff, half_min = 0x0001, brain = 0xc0a0;

	(void)state;
	assert_near(one(SL_DTYPE_F8E4M3FN, &e4m3_max), 448, 0);
	assert_true(isnan(one(SL_DTYPE_F8E4M3FN, &e4m3_nan)));
	assert_near(one(SL_DTYPE_F8E4M3FN, &e4m3_min), 0x1p-9, 0);
	assert_near(one(SL_DTYPE_F8E5M2, &e5m2_max), 57344, 0);
	assert_true(isinf(one(SL_DTYPE_F8E5M2, &e5m2_inf)));
	assert_near(one(SL_DTYPE_F8E5M2, &e5m2_one), -1, 0);
	assert_true(isnan(one(SL_DTYPE_F8E4M3FNUZ, &uz_nan)));
	assert_true(isnan(one(SL_DTYPE_F8E5M2FNUZ, &uz_nan)));
	assert_near(one(SL_DTYPE_F8E4M3FNUZ, &e4m3uz_max), 240, 0);
	assert_near(one(SL_DTYPE_F4E2M1, &f4), -6, 0); /* the low half: 15 */
	assert_near(one(SL_DTYPE_F8E8M0, &e4m3_max), 0.5, 0); /* 2^(126-127) */
	assert_near(one(SL_DTYPE_U2, &f4), 3, 0);
	assert_near(one(SL_DTYPE_I2, &f4), -1, 0); /* the low two bits: 11 */
	assert_near(one(SL_DTYPE_F16, &half_max), 65504, 0);
	assert_near(one(SL_DTYPE_F16, &half_min), 0x1p-24, 0);
	assert_near(one(SL_DTYPE_BF16, &brain), -5, 0);
}

static void
test_integers_of_every_width(void **state)
{
	const int64_t n[] = {4};
	const unsigned char nibbles[] = {0x8f, 0x70};
	const int16_t shorts[] = {-2, 5, 32767, -32768};
	const uint64_t huge[] = {UINT64_MAX, 1, 2, 3};
	struct sl__tensor t;
	int64_t ints[4];
	double doubles[4];

	(void)state;
	t = tensor_of(SL_DTYPE_I4, n, 1, nibbles);
	assert_true(sl__tensor_integers(&t, 0, 4, ints));
	assert_int_equal(ints[0], -1);
	assert_int_equal(ints[1], -8);
	assert_int_equal(ints[2], 0);
	assert_int_equal(ints[3], 7);
	t = tensor_of(SL_DTYPE_I16, n, 1, shorts);
	assert_true(sl__tensor_integers(&t, 1, 3, ints));
	assert_int_equal(ints[0], 5);
	assert_int_equal(ints[2], -32768);
	t = tensor_of(SL_DTYPE_U64, n, 1, huge);
	assert_true(sl__tensor_doubles(&t, 0, 1, doubles));
	assert_near(doubles[0], 0x1p64, 0);
	assert_true(sl__tensor_integers(&t, 0, 1, ints));
	assert_true(ints[0] == INT64_MAX);
}

/* f16 written and read back is within half a step of the number. */
static void
test_generated_halves(void **state)
{
	const struct sl__tensor_generator g = {
		.kind = SL__TENSOR_GENERATOR_NORMAL, .seed = 7, .scale = 1};
	const int64_t n[] = {1000};
	struct sl__tensor half = {
		.dtype = SL_DTYPE_F16, .rank = 1, .dims = n, .generator = &g};
	struct sl__tensor full = {
		.dtype = SL_DTYPE_F64, .rank = 1, .dims = n, .generator = &g};
	double a[1000], b[1000];

	(void)state;
	assert_true(sl__tensor_compute_size(&half) &&
		    sl__tensor_compute_size(&full));
	assert_true(sl__tensor_doubles(&half, 0, 1000, a));
	assert_true(sl__tensor_doubles(&full, 0, 1000, b));
	for (int i = 0; i < 1000; i++)
		assert_near(a[i], b[i], fabs(b[i]) * 0x1p-11 + 0x1p-25);
}

static void
test_generator_is_by_index(void **state)
{
	const struct sl__tensor_generator g = {
		.kind = SL__TENSOR_GENERATOR_NORMAL,
		.seed = 1,
		.mean = 3,
		.scale = 2};
	const int64_t n[] = {100000};
	struct sl__tensor t = {
		.dtype = SL_DTYPE_F32, .rank = 1, .dims = n, .generator = &g};
	static float whole[100000];
	float piece[10];
	double sum = 0, squares = 0;

	(void)state;
	assert_true(sl__tensor_compute_size(&t));
	assert_ptr_equal(sl__tensor_byte_range(&t, 0, sizeof(whole), whole),
			 whole);
	sl__tensor_byte_range(&t, 4 * 777, sizeof(piece), piece);
	assert_memory_equal(piece, whole + 777, sizeof(piece));
	for (int i = 0; i < 100000; i++) {
		sum += (double)whole[i];
		squares += ((double)whole[i] - 3) * ((double)whole[i] - 3);
	}
	/* Five standard errors: 2 / sqrt(n), and of the deviation less. */
	assert_near(sum / 1e5, 3, 5 * 2 / sqrt(1e5));
	assert_near(sqrt(squares / 1e5), 2, 5 * 2 / sqrt(2e5));
}

/* oracles/generated.py: the same weights on every machine, in every version. */
static void
test_generated_numbers(void **state)
{
	static const uint64_t at[] = {0, 1, 2, 1000003};
	static const double normal[] = {-0.8297649774481317, 0.9921712007383207,
					-1.0126801070480336,
					-0.8169469110045611};
	static const double uniform[] = {
		-0.21290949495778722, -0.06961509874302552, -0.7844485345999186,
		-0.2867947927163319};
	struct sl__tensor_generator g = {.seed = 7, .mean = 3, .scale = 2};
	const int64_t n[] = {2000000};
	struct sl__tensor t = {
		.dtype = SL_DTYPE_F64, .rank = 1, .dims = n, .generator = &g};

	(void)state;
	assert_true(sl__tensor_compute_size(&t));
	for (size_t i = 0; i < 4; i++) {
		double value;

		g.kind = SL__TENSOR_GENERATOR_NORMAL;
		assert_true(sl__tensor_doubles(&t, at[i], 1, &value));
		assert_close(value, 3 + 2 * normal[i], 1e-15);
		g.kind = SL__TENSOR_GENERATOR_UNIFORM;
		assert_true(sl__tensor_doubles(&t, at[i], 1, &value));
		assert_close(value, 3 + 2 * uniform[i], 1e-15);
		g.kind = SL__TENSOR_GENERATOR_CONSTANT;
		assert_true(sl__tensor_doubles(&t, at[i], 1, &value));
		assert_near(value, 3, 0);
	}
}

static void
test_refuses_what_has_no_numbers(void **state)
{
	const char *const words[] = {"a"};
	struct sl__tensor t = {.dtype = SL_DTYPE_STRING, .strings = words};
	double value;

	(void)state;
	assert_true(sl__tensor_compute_size(&t));
	assert_false(sl__tensor_doubles(&t, 0, 1, &value));
	assert_null(sl__tensor_byte_range(&t, 0, 0, NULL));
	t = (struct sl__tensor){.dtype = SL_DTYPE_F32, .absent = "no file"};
	assert_true(sl__tensor_compute_size(&t));
	assert_false(sl__tensor_doubles(&t, 0, 1, &value));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measures_and_refuses_overflow),
		cmocka_unit_test(test_small_floats),
		cmocka_unit_test(test_integers_of_every_width),
		cmocka_unit_test(test_generated_halves),
		cmocka_unit_test(test_generator_is_by_index),
		cmocka_unit_test(test_generated_numbers),
		cmocka_unit_test(test_refuses_what_has_no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
