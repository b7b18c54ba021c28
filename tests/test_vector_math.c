/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of vector_math.h against libm in double, for every
 * instruction set that this machine has, and the conversions of vector.h
 * against the stored types' own.
 */
#include "compute/vector_gates.h"
#include "harness.h"
#include "graph/tensor.h"

enum { N = 4096 };

#define LOOP(name)                                                       \
	SL__INLINE void name##_body(const float *x, int64_t n, float *y) \
	{                                                                \
		for (int64_t i = 0; i < n; i++)                          \
			y[i] = sl__##name(x[i]);                         \
	}                                                                \
	SL__VECTOR_TARGETS(name, name##_body,                            \
			   (const float *x, int64_t n, float *y), (x, n, y))

LOOP(erf)
LOOP(exp)
LOOP(expm1)
LOOP(log)
LOOP(log1p)
LOOP(sigmoid)
LOOP(tanh)

typedef void loop_function(const float *x, int64_t n, float *y);

/* Those of one function that run here; NULL for others. */
struct loops {
	loop_function *of[3];
};

#if defined(__x86_64__)
#define LOOPS(name)                                                           \
	{                                                                     \
		{                                                             \
			name##_plain,                                         \
				__builtin_cpu_supports("avx2") ? name##_avx2  \
							       : NULL,        \
				name##_for() == name##_avx512 ? name##_avx512 \
							      : NULL          \
		}                                                             \
	}
#else
#define LOOPS(name)                              \
	{                                        \
		{                                \
			name##_for(), NULL, NULL \
		}                                \
	}
#endif

static double
logistic(double x)
{
	return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

/* Positions from low to high, and ever nearer to 0. */
static void
fill(float *x, double low, double high, int round)
{
	for (int i = 0; i < N; i++) {
		double at = low + (high - low) * (i + 0.5) / N;

		x[i] = (float)(round ? ldexp(at, -(i * 7 % 30)) : at);
	}
}

static void
check(const char *name, const struct loops *loops, double exact(double x),
      double low, double high)
{
	static float x[N], y[N];

	for (int k = 0; k < 6; k++) {
		loop_function *f = loops->of[k / 2];

		if (!f)
			continue;
		fill(x, low, high, k % 2);
		f(x, N, y);
		for (int i = 0; i < N; i++) {
			double expected = exact((double)x[i]);

			if (fabs((double)y[i] - expected) >
			    2.5e-7 * fabs(expected))
				fail_msg("%s(%.9g) is %.9g, expected %.9g",
					 name, (double)x[i], (double)y[i],
					 expected);
		}
	}
}

static void
near_libm(void **state)
{
	const struct loops erfs = LOOPS(erf), exps = LOOPS(exp),
			   expm1s = LOOPS(expm1), logs = LOOPS(log),
			   log1ps = LOOPS(log1p), sigmoids = LOOPS(sigmoid),
			   tanhs = LOOPS(tanh);

	(void)state;
	check("erf", &erfs, erf, -6, 6);
	check("exp", &exps, exp, -87, 88.7);
	check("expm1", &expm1s, expm1, -20, 80);
	check("log", &logs, log, 1e-3, 1e30);
	check("log", &logs, log, 0.5, 2);
	check("log1p", &log1ps, log1p, 0, 1e6);
	check("sigmoid", &sigmoids, logistic, -87, 87);
	check("tanh", &tanhs, tanh, -20, 20);
}

/* Infinities, what is no number, and what lies beyond the range. */
static void
ends(void **state)
{
	(void)state;
	assert_true(isinf(sl__exp(89)) && isinf(sl__exp(INFINITY)));
	assert_true(sl__exp(-INFINITY) == 0 && sl__exp(-200) == 0);
	assert_true(isnan(sl__exp(NAN)) && isnan(sl__tanh(NAN)));
	assert_true(isnan(sl__erf(NAN)) && isnan(sl__log(NAN)));
	assert_true(sl__tanh(INFINITY) == 1 && sl__tanh(-INFINITY) == -1);
	assert_true(sl__erf(INFINITY) == 1 && sl__erf(-INFINITY) == -1);
	assert_true(sl__log(0) == -INFINITY && sl__log(INFINITY) == INFINITY);
	assert_true(isnan(sl__log(-1)));
	assert_near((double)sl__log(1e-40F), log((double)1e-40F), 1e-4);
	assert_true(sl__sigmoid(INFINITY) == 1 && sl__sigmoid(-INFINITY) == 0);
	/* The least subnormal number is exp of little more than -104. */
	assert_true(sl__exp(-103) > 0);
}

/* Where the gate is shut the result is 0, the limit. */
static void
gates(void **state)
{
	(void)state;
	assert_true(sl__gelu(-INFINITY) == 0 && sl__tanh_gelu(-INFINITY) == 0);
	assert_true(sl__hard_swish(-INFINITY) == 0);
	assert_true(sl__swish(-INFINITY, 1) == 0);
	assert_true(sl__swish(INFINITY, -1) == 0);
	assert_true(isinf(sl__gelu(INFINITY)) &&
		    isinf(sl__tanh_gelu(INFINITY)));
	assert_true(isinf(sl__hard_swish(INFINITY)));
	assert_true(isinf(sl__swish(INFINITY, 1)));
	assert_true(isnan(sl__gelu(NAN)) && isnan(sl__tanh_gelu(NAN)));
	assert_true(isnan(sl__hard_swish(NAN)) && isnan(sl__swish(NAN, 1)));
	assert_true(isnan(sl__max_or_nan(1, NAN)) &&
		    isnan(sl__max_or_nan(NAN, 1)));
	assert_true(isnan(sl__min_or_nan(1, NAN)) &&
		    isnan(sl__min_or_nan(NAN, 1)));
}

/* All f16 there are, there and back; and f32 around what they round to. */
static void
short_types(void **state)
{
	unsigned char stored[2];
	uint16_t bits;

	(void)state;
	for (uint32_t i = 0; i < 0x10000; i++) {
		float x = sl__from_f16((uint16_t)i);

		if (isnan(x))
			continue;
		assert_int_equal(sl__to_f16(x), i);
		for (int k = -3; k <= 3; k++) {
			float near = sl__from_bits(sl__bits(x) +
						   (uint32_t)(k * 2048));
			double number = (double)near;

			if (isnan(near))
				continue;
			sl__store_doubles(stored, SL_DTYPE_F16, 0, 1, &number);
			memcpy(&bits, stored, sizeof(bits));
			assert_int_equal(sl__to_f16(near), bits);
			sl__store_doubles(stored, SL_DTYPE_BF16, 0, 1, &number);
			memcpy(&bits, stored, sizeof(bits));
			assert_int_equal(sl__to_bf16(near), bits);
		}
	}
	assert_true(isnan(sl__from_f16(sl__to_f16(NAN))));
	assert_true(isnan(sl__from_bf16(sl__to_bf16(NAN))));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_libm),
		cmocka_unit_test(ends),
		cmocka_unit_test(gates),
		cmocka_unit_test(short_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
