/* SPDX-License-Identifier: Apache-2.0 */
/* binary_rows.c - functions of two elements, over rows of them. */
#include "compute/binary_rows.h"
#include "compute/vector_gates.h"

#include <math.h>

#include "base/banned.h"

/*
 * name(r): y = expression of a, b and knob, over all rows.  'hint' stands
 * before loops that may become vectors.
 */
#define RUN(type, hint, a_at, b_at, expression)      \
	do {                                         \
		hint for (int64_t i = 0; i < n; i++) \
		{                                    \
			type a = a_at, b = b_at;     \
                                                     \
			(void)b;                     \
			y[i] = (type)(expression);   \
		}                                    \
	} while (0)
#define ROWS(name, type, hint, expression)                                    \
	SL__INLINE void name##_body(const struct sl__binary_rows *r)          \
	{                                                                     \
		int64_t n = r->n;                                             \
		float knob = r->knob;                                         \
                                                                              \
		(void)knob;                                                   \
		for (int64_t row = 0; row < r->n_rows; row++) {               \
			const type *as = (const type *)r->a + row * r->a_row; \
			const type *bs = (const type *)r->b + row * r->b_row; \
			type *y = (type *)r->y + row * r->y_row;              \
			type a0 = as[0], b0 = bs[0];                          \
                                                                              \
			if (r->a_step && r->b_step)                           \
				RUN(type, hint, as[i], bs[i], expression);    \
			else if (r->a_step)                                   \
				RUN(type, hint, as[i], b0, expression);       \
			else if (r->b_step)                                   \
				RUN(type, hint, a0, bs[i], expression);       \
			else                                                  \
				RUN(type, hint, a0, b0, expression);          \
		}                                                             \
	}
#define REAL(name, expression)                                     \
	ROWS(real_##name, float, SL__EACH_ALONE, expression)       \
	SL__VECTOR_TARGETS(real_##name, real_##name##_body,        \
			   (const struct sl__binary_rows *r), (r)) \
	sl__binary_function *sl__real_##name##_rows_for(void)      \
	{                                                          \
		return real_##name##_for();                        \
	}
/* With calls for each element, or of integers: compiled once. */
#define PLAIN(name, type, expression)                             \
	ROWS(name, type, , expression)                            \
	static void name##_plain(const struct sl__binary_rows *r) \
	{                                                         \
		name##_body(r);                                   \
	}                                                         \
	sl__binary_function *sl__##name##_rows_for(void)          \
	{                                                         \
		return name##_plain;                              \
	}

/* With the sign of b, also where it is 0. */
static float
modulo(float a, float b)
{
	float rest = fmodf(a, b);

	if (rest == 0)
		return copysignf(0, b);
	return (rest < 0) != (b < 0) ? rest + b : rest;
}

/* pow() of one half: unlike the root it is infinite for -infinity, and 0 for
 * -0. */
SL__INLINE float
root(float x)
{
	return x < -3.40282347e38F ? -x : sqrtf(x + 0);
}

SL__INLINE float
truth(int is_so)
{
	return is_so ? 1 : 0;
}

REAL(add, a + b)
REAL(bias_gelu, sl__gelu(a + b))
REAL(bias_tanh_gelu, sl__tanh_gelu(a + b))
REAL(cube, a *a *a)
REAL(div, a / b)
REAL(equal, truth(a == b))
REAL(first, a)
REAL(greater, truth(a > b))
REAL(greater_equal, truth(a >= b))
REAL(less, truth(a < b))
REAL(less_equal, truth(a <= b))
REAL(max, sl__max_or_nan(a, b))
REAL(min, sl__min_or_nan(a, b))
REAL(mul, a *b)
REAL(prelu, a < 0 ? a * b : a)
REAL(root, root(a))
REAL(scaled_add, (a + b) * knob)
REAL(square, a *a)
REAL(sub, a - b)
REAL(swiglu, sl__swish(a, knob) * b)
PLAIN(real_fmod, float, fmodf(a, b))
PLAIN(real_mod, float, modulo(a, b))
PLAIN(real_pow, float, powf(a, b))

/* Towards zero; a divisor of 0 gives 0. */
static int64_t
divided(int64_t a, int64_t b)
{
	if (b == 0)
		return 0;
	return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

/* With the sign of a. */
static int64_t
remainder_of(int64_t a, int64_t b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}

/* With the sign of b. */
static int64_t
whole_modulo(int64_t a, int64_t b)
{
	int64_t rest = remainder_of(a, b);

	return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

#define WRAP(a, sign, b) (int64_t)((uint64_t)(a)sign(uint64_t)(b))

/* By more than there are bits: nothing is left but copies of the sign. */
static int64_t
shifted_left(int64_t a, int64_t by)
{
	return (uint64_t)by > 63 ? 0 : (int64_t)((uint64_t)a << by);
}

static int64_t
shifted_right(int64_t a, int64_t by)
{
	int64_t sign = a < 0 ? -1 : 0;

	return (uint64_t)by > 63 ? sign
				 : sign ^ (int64_t)((uint64_t)(sign ^ a) >> by);
}

PLAIN(whole_add, int64_t, WRAP(a, +, b))
PLAIN(whole_and, int64_t, a &b)
PLAIN(whole_div, int64_t, divided(a, b))
PLAIN(whole_equal, int64_t, a == b)
PLAIN(whole_fmod, int64_t, remainder_of(a, b))
PLAIN(whole_first, int64_t, a)
PLAIN(whole_greater, int64_t, a > b)
PLAIN(whole_greater_equal, int64_t, a >= b)
PLAIN(whole_left, int64_t, shifted_left(a, b))
PLAIN(whole_less, int64_t, a < b)
PLAIN(whole_less_equal, int64_t, a <= b)
PLAIN(whole_max, int64_t, a < b ? b : a)
PLAIN(whole_min, int64_t, b < a ? b : a)
PLAIN(whole_mod, int64_t, whole_modulo(a, b))
PLAIN(whole_mul, int64_t, WRAP(a, *, b))
PLAIN(whole_or, int64_t, a | b)
PLAIN(whole_right, int64_t, shifted_right(a, b))
PLAIN(whole_sub, int64_t, WRAP(a, -, b))
PLAIN(whole_xor, int64_t, a ^ b)
