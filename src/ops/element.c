/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.c - arithmetic on one element of contents that are followed.
 *
 * Symbols stand for sizes.  One that comes from the model, and sums and
 * products of such, is at least 0; with that much, many comparisons that
 * exporters write (is this dimension -1?) have one answer for all sizes.
 */
#include "ops/element.h"
#include "base/dtype.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

struct sl__known_element
sl__element_from_integer(int64_t value)
{
	struct sl__known_element e = {.kind = SL__ELEMENT_WHOLE,
				      .whole = value};

	return e;
}

struct sl__known_element
sl__element_from_real(double value)
{
	struct sl__known_element e = {.kind = SL__ELEMENT_REAL, .real = value};

	return e;
}

struct sl__known_element
sl__known_element_at(const struct sl__known_contents *known, size_t i)
{
	return known->ints ? sl__element_from_integer(known->ints[i])
			   : sl__element_from_real(known->floats[i]);
}

enum sl__fold_outcome
sl__element_new_symbol(struct sl__shapes *shapes, struct sl__known_element *out)
{
	*out = sl__element_from_integer(sl__size_new_unknown(shapes));
	return out->whole == -1 ? SL__FOLD_OUTCOME_NO_MEMORY
				: SL__FOLD_OUTCOME_KNOWN;
}

static int64_t
least(const struct sl__shapes *shapes, int64_t size)
{
	if (!sl__is_symbol(size))
		return size;
	return sl__size_is_nonnegative(shapes, size) ? 0 : INT64_MIN;
}

static int64_t
most(int64_t size)
{
	return sl__is_symbol(size) ? INT64_MAX : size;
}

int
sl__element_proves_less(const struct sl__shapes *shapes,
			const struct sl__known_element *a,
			const struct sl__known_element *b)
{
	if (a->kind == SL__ELEMENT_REAL)
		return a->real < b->real;
	if (most(a->whole) < least(shapes, b->whole))
		return 1;
	if (a->whole == b->whole || least(shapes, a->whole) >= most(b->whole))
		return 0;
	return -1;
}

int
sl__element_proves_equal(const struct sl__shapes *shapes,
			 const struct sl__known_element *a,
			 const struct sl__known_element *b)
{
	if (a->kind == SL__ELEMENT_REAL)
		return a->real == b->real;
	if (a->whole == b->whole)
		return 1;
	if (most(a->whole) < least(shapes, b->whole) ||
	    most(b->whole) < least(shapes, a->whole))
		return 0;
	return -1;
}

static int
any_symbol(const struct sl__known_element *a, const struct sl__known_element *b)
{
	return sl__is_symbol(a->whole) || sl__is_symbol(b->whole);
}

/* The result of arithmetic on sizes of which one at least is a symbol. */
static enum sl__fold_outcome
take_size(int64_t size, struct sl__known_element *out)
{
	*out = sl__element_from_integer(size);
	return size == -1 ? SL__FOLD_OUTCOME_NO_MEMORY : SL__FOLD_OUTCOME_KNOWN;
}

static enum sl__fold_outcome
take_number(int overflows, int64_t value, struct sl__known_element *out)
{
	*out = sl__element_from_integer(value);
	return overflows || sl__is_symbol(value) ? SL__FOLD_OUTCOME_UNKNOWN
						 : SL__FOLD_OUTCOME_KNOWN;
}

static enum sl__fold_outcome
take_real(double value, struct sl__known_element *out)
{
	*out = sl__element_from_real(value);
	return SL__FOLD_OUTCOME_KNOWN;
}

#define ARITHMETIC(name, sign)                                                \
	enum sl__fold_outcome sl__element_##name(                             \
		struct sl__shapes *shapes, const struct sl__known_element *a, \
		const struct sl__known_element *b,                            \
		struct sl__known_element *out)                                \
	{                                                                     \
		int64_t x = a->whole, y = b->whole, z;                        \
		int overflows;                                                \
                                                                              \
		if (a->kind == SL__ELEMENT_REAL)                              \
			return take_real(a->real sign b->real, out);          \
		if (any_symbol(a, b))                                         \
			return take_size(sl__size_##name(shapes, x, y), out); \
		overflows = __builtin_##name##_overflow(x, y, &z);            \
		return take_number(overflows, z, out);                        \
	}
ARITHMETIC(add, +)
ARITHMETIC(sub, -)
ARITHMETIC(mul, *)
#undef ARITHMETIC

/* Sizes divide downwards: the same as truncating where neither is below 0. */
enum sl__fold_outcome
sl__element_div(struct sl__shapes *shapes, const struct sl__known_element *a,
		const struct sl__known_element *b,
		struct sl__known_element *out)
{
	if (a->kind == SL__ELEMENT_REAL)
		return take_real(a->real / b->real, out);
	if (b->whole == 0)
		return SL__FOLD_OUTCOME_UNKNOWN;
	if (!any_symbol(a, b))
		return take_number(0, a->whole / b->whole, out);
	if (least(shapes, a->whole) < 0 || least(shapes, b->whole) < 0)
		return sl__element_new_symbol(shapes, out);
	return take_size(sl__size_div(shapes, a->whole, b->whole), out);
}

/* The larger, 'up' being 1, or the smaller of two. */
static enum sl__fold_outcome
choose(struct sl__shapes *shapes, const struct sl__known_element *a,
       const struct sl__known_element *b, int up, struct sl__known_element *out)
{
	const struct sl__known_element *low = up ? b : a, *high = up ? a : b;

	*out = *a;
	if (a->kind == SL__ELEMENT_REAL) {
		/* NaN where one of them is, as numpy has it. */
		if (!isnan(a->real) && !(low->real < high->real))
			*out = *b;
		return SL__FOLD_OUTCOME_KNOWN;
	}
	if (least(shapes, high->whole) >= most(low->whole))
		return SL__FOLD_OUTCOME_KNOWN;
	*out = *b;
	if (least(shapes, low->whole) >= most(high->whole) ||
	    a->whole == b->whole)
		return SL__FOLD_OUTCOME_KNOWN;
	return sl__element_new_symbol(shapes, out);
}

enum sl__fold_outcome
sl__element_max(struct sl__shapes *shapes, const struct sl__known_element *a,
		const struct sl__known_element *b,
		struct sl__known_element *out)
{
	return choose(shapes, a, b, 1, out);
}

enum sl__fold_outcome
sl__element_min(struct sl__shapes *shapes, const struct sl__known_element *a,
		const struct sl__known_element *b,
		struct sl__known_element *out)
{
	return choose(shapes, a, b, 0, out);
}

/* To 'n_digits' binary digits, the last worth 2^last at the least; what
 * rounds to 2^beyond or more is infinite. */
static double
round_digits(double value, int n_digits, int last, int beyond)
{
	int exponent;
	double step;

	if (!isfinite(value) || value == 0)
		return value;
	frexp(value, &exponent);
	step = ldexp(1,
		     exponent - n_digits > last ? exponent - n_digits : last);
	value = rint(value / step) * step;
	return fabs(value) < ldexp(1, beyond)
		       ? value
		       : copysign((double)INFINITY, value);
}

/* 0 where numbers of that type are not followed. */
static int
round_to(enum sl_dtype dtype, double *value)
{
	if (dtype == SL_DTYPE_F32)
		*value = (double)(float)*value;
	else if (dtype == SL_DTYPE_F16)
		*value = round_digits(*value, 11, -24, 16);
	else if (dtype == SL_DTYPE_BF16)
		*value = round_digits(*value, 8, -133, 128);
	return dtype == SL_DTYPE_F32 || dtype == SL_DTYPE_F64 ||
	       dtype == SL_DTYPE_F16 || dtype == SL_DTYPE_BF16;
}

static int
fits(enum sl_dtype dtype, int64_t value)
{
	unsigned n_bits = sl_dtype_bits(dtype);
	int64_t end;

	if (sl__is_symbol(value))
		return 1;
	if (n_bits == 64)
		return sl__dtype_is_signed(dtype) || value >= 0;
	end = INT64_C(1) << (sl__dtype_is_signed(dtype) ? n_bits - 1 : n_bits);
	return value < end && value >= (sl__dtype_is_signed(dtype) ? -end : 0);
}

static enum sl__fold_outcome
to_boolean(const struct sl__shapes *shapes, struct sl__known_element *e)
{
	struct sl__known_element zero = sl__element_from_integer(0);
	int is_zero = e->real == 0;

	if (e->kind == SL__ELEMENT_WHOLE)
		is_zero = sl__element_proves_equal(shapes, e, &zero);
	*e = sl__element_from_integer(!is_zero);
	return is_zero < 0 ? SL__FOLD_OUTCOME_UNKNOWN : SL__FOLD_OUTCOME_KNOWN;
}

static enum sl__fold_outcome
to_integer(struct sl__known_element *e, enum sl_dtype dtype)
{
	if (e->kind == SL__ELEMENT_REAL) {
		/* Half the range: what lies below are symbols. */
		if (!(fabs(e->real) < 0x1p62))
			return SL__FOLD_OUTCOME_UNKNOWN;
		*e = sl__element_from_integer((int64_t)e->real);
	}
	return fits(dtype, e->whole) ? SL__FOLD_OUTCOME_KNOWN
				     : SL__FOLD_OUTCOME_UNKNOWN;
}

enum sl__fold_outcome
sl__element_convert(const struct sl__shapes *shapes,
		    struct sl__known_element *e, enum sl_dtype dtype)
{
	if (e->kind == SL__ELEMENT_ABSENT)
		return SL__FOLD_OUTCOME_UNKNOWN;
	if (dtype == SL_DTYPE_BOOL)
		return to_boolean(shapes, e);
	if (sl__dtype_family(dtype) == SL__DTYPE_INTEGER)
		return to_integer(e, dtype);
	if (e->kind == SL__ELEMENT_WHOLE) {
		if (sl__is_symbol(e->whole))
			return SL__FOLD_OUTCOME_UNKNOWN;
		*e = sl__element_from_real((double)e->whole);
	}
	return round_to(dtype, &e->real) ? SL__FOLD_OUTCOME_KNOWN
					 : SL__FOLD_OUTCOME_UNKNOWN;
}
