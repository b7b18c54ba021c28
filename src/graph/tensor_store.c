/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_store.c - numbers into the packed elements of any type. */
#include "dtype.h"
#include "tensor.h"

#include <math.h>
#include <string.h>

#include "banned.h"

/* The upper half of an f32, rounded to nearest even. */
static uint16_t
bf16_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (isnan(value))
		return 0x7fc0;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t
f16_of(float value)
{
	double magnitude = fabs((double)value);
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	int exponent;
	double mantissa;

	if (isnan(value))
		return 0x7e00;
	if (magnitude >= 65520)
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x1p-14) /* subnormal: steps of 2^-24 */
		return (uint16_t)(sign |
				  (uint16_t)nearbyint(magnitude * 0x1p24));
	mantissa = frexp(magnitude, &exponent); /* in [0.5, 1) */
	return (uint16_t)(sign + (uint16_t)((exponent + 14) * 1024) +
			  (uint16_t)nearbyint((mantissa * 2 - 1) * 1024));
}

static int64_t
whole_of(double value)
{
	if (isnan(value))
		return 0;
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

static void
put_real(unsigned char *bytes, enum sl_dtype dtype, uint64_t i, double value)
{
	float single = (float)value;
	uint16_t half;

	if (dtype == SL_DTYPE_F32) {
		memcpy(bytes + 4 * i, &single, sizeof(single));
	} else if (dtype == SL_DTYPE_F64) {
		memcpy(bytes + 8 * i, &value, sizeof(value));
	} else if (dtype == SL_DTYPE_F16 || dtype == SL_DTYPE_BF16) {
		half = dtype == SL_DTYPE_BF16 ? bf16_of(single)
					      : f16_of(single);
		memcpy(bytes + 2 * i, &half, sizeof(half));
	} else if (dtype == SL_DTYPE_BOOL) {
		bytes[i] = value != 0; /* NaN too */
	} else {
		put_whole(bytes, dtype, i, whole_of(value));
	}
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
