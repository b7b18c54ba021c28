/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_store.c - numbers into the packed elements of any type. */
#include "base/dtype.h"
#include "graph/tensor.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/*
 * A float of at most 16 bits: 'bias' is that of its exponent, 'largest' its
 * largest finite number.  What rounds to more becomes the code 'beyond', which
 * is infinity of f16 and bf16; the others saturate.  Without a negative zero
 * that code is the NaN.
 */
struct format {
	int n_bits, n_mantissa, bias;
	double largest;
	unsigned beyond, nan;
	int has_negative_zero;
};

static const struct format *
format_of(enum sl_dtype dtype)
{
	static const struct format formats[SL_N_DTYPES] = {
		[SL_DTYPE_F16] = {16, 10, 15, 65504, 0x7c00, 0x7e00, 1},
		[SL_DTYPE_BF16] = {16, 7, 127, 0x1.fep127, 0x7f80, 0x7fc0, 1},
		[SL_DTYPE_F8E4M3FN] = {8, 3, 7, 448, 0x7e, 0x7f, 1},
		[SL_DTYPE_F8E4M3FNUZ] = {8, 3, 8, 240, 0x7f, 0x80, 0},
		[SL_DTYPE_F8E5M2] = {8, 2, 15, 57344, 0x7b, 0x7e, 1},
		[SL_DTYPE_F8E5M2FNUZ] = {8, 2, 16, 57344, 0x7f, 0x80, 0},
		/* It has no NaN, which becomes a negative zero. */
		[SL_DTYPE_F4E2M1] = {4, 1, 1, 6, 0x7, 0x8, 1},
	};

	return formats[dtype].n_bits ? &formats[dtype] : NULL;
}

/* The code of the magnitude that is nearest, ties to even.  Codes of growing
 * magnitudes are successive integers. */
static unsigned
magnitude_of(const struct format *f, double magnitude)
{
	int exponent, least = 1 - f->bias;
	double steps;

	if (magnitude == 0 || isinf(magnitude))
		return magnitude == 0 ? 0 : f->beyond;
	(void)frexp(magnitude, &exponent); /* magnitude < 2^exponent */
	exponent = exponent - 1 > least ? exponent - 1 : least;
	if (exponent > f->bias + 1)
		return f->beyond;
	steps = nearbyint(ldexp(magnitude, f->n_mantissa - exponent));
	if (ldexp(steps, exponent - f->n_mantissa) > f->largest)
		return f->beyond;
	return (unsigned)(exponent - least) * (1u << f->n_mantissa) +
	       (unsigned)steps;
}

static unsigned
code_of(const struct format *f, double value)
{
	unsigned code;

	if (isnan(value))
		return f->nan;
	code = magnitude_of(f, fabs(value));
	if (signbit(value) && (code || f->has_negative_zero))
		code |= 1u << (f->n_bits - 1);
	return code;
}

/* The nearest power of two from 2^-127 to 2^127; what is not positive has
 * none, but 0 is near to the least. */
static unsigned char
power_of_two(double value)
{
	int exponent;
	double mantissa;

	if (isnan(value) || value < 0)
		return 255;
	if (value < 0x1p-127)
		return 0;
	if (value >= 0x1p127)
		return 254;
	mantissa = frexp(value, &exponent); /* in [0.5, 1) */
	return (unsigned char)(exponent + 126 + (mantissa >= 0.75));
}

static int64_t
whole_of(enum sl_dtype dtype, double value)
{
	if (isnan(value))
		return 0;
	if (dtype == SL_DTYPE_U64 && value >= 0x1p63) /* the bits */
		return value < 0x1p64 ? (int64_t)(uint64_t)value : -1;
	if (value >= 0x1p63)
		return INT64_MAX;
	return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

/* The low bits of a number at a place that is less than a byte. */
static void
put_bits(unsigned char *bytes, unsigned n_bits, uint64_t i, int64_t value)
{
	unsigned per_byte = 8 / n_bits;
	unsigned shift = (unsigned)(i % per_byte) * n_bits;
	unsigned mask = (1u << n_bits) - 1;
	unsigned char *at = &bytes[i / per_byte];

	*at = (unsigned char)((*at & ~(mask << shift)) |
			      (((unsigned)value & mask) << shift));
}

static void
put_whole(unsigned char *bytes, enum sl_dtype dtype, uint64_t i, int64_t value)
{
	unsigned n_bits = sl_dtype_bits(dtype);

	if (dtype == SL_DTYPE_BOOL)
		bytes[i] = value != 0;
	else if (n_bits < 8)
		put_bits(bytes, n_bits, i, value);
	else
		memcpy(bytes + i * (n_bits / 8), &value, n_bits / 8);
}

/* A float of at most 16 bits. */
static void
put_short(unsigned char *bytes, const struct format *f, uint64_t i,
	  double value)
{
	unsigned code = code_of(f, value);
	uint16_t half = (uint16_t)code;

	if (f->n_bits == 16)
		memcpy(bytes + 2 * i, &half, sizeof(half));
	else if (f->n_bits == 8)
		bytes[i] = (unsigned char)code;
	else
		put_bits(bytes, (unsigned)f->n_bits, i, (int64_t)code);
}

static void
put_real(unsigned char *bytes, enum sl_dtype dtype, uint64_t i, double value)
{
	const struct format *f = format_of(dtype);
	float single = (float)value;

	if (dtype == SL_DTYPE_F32)
		memcpy(bytes + 4 * i, &single, sizeof(single));
	else if (dtype == SL_DTYPE_F64)
		memcpy(bytes + 8 * i, &value, sizeof(value));
	else if (f)
		put_short(bytes, f, i, value);
	else if (dtype == SL_DTYPE_F8E8M0)
		bytes[i] = power_of_two(value);
	else if (dtype == SL_DTYPE_BOOL)
		bytes[i] = value != 0; /* NaN too */
	else
		put_whole(bytes, dtype, i, whole_of(dtype, value));
}

void
sl__store_doubles(unsigned char *bytes, enum sl_dtype dtype, uint64_t first,
		  size_t n, const double *from)
{
	for (size_t i = 0; i < n; i++)
		put_real(bytes, dtype, first + i, from[i]);
}

void
sl__store_integers(unsigned char *bytes, enum sl_dtype dtype, uint64_t first,
		   size_t n, const int64_t *from)
{
	int is_whole = sl__dtype_family(dtype) == SL__DTYPE_INTEGER;

	for (size_t i = 0; i < n; i++) {
		if (is_whole)
			put_whole(bytes, dtype, first + i, from[i]);
		else
			put_real(bytes, dtype, first + i, (double)from[i]);
	}
}
