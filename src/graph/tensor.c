/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.c - numbers that a model carries.
 *
 * Packed bytes are read with memcpy(), since nothing in a file is aligned,
 * and in little-endian order, as ONNX stores them.  Generated elements come
 * from a counter-based generator: splitmix64 of seed and index.
 */
#include "graph/tensor.h"
#include "base/dtype.h"
#include "base/file_mapping.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

int
sl__tensor_has_type_of(const struct sl__tensor *tensor,
		       const struct sl__tensor *other)
{
	return tensor->dtype == other->dtype && tensor->rank == other->rank &&
	       (tensor->rank == 0 ||
		!memcmp(tensor->dims, other->dims,
			tensor->rank * sizeof(*tensor->dims)));
}

int
sl__tensor_compute_size(struct sl__tensor *tensor)
{
	uint64_t n = 1;

	for (size_t i = 0; i < tensor->rank; i++) {
		if (tensor->dims[i] < 0)
			return 0;
		if (__builtin_mul_overflow(n, (uint64_t)tensor->dims[i], &n))
			return 0;
	}
	tensor->n_elements = tensor->n_stored = n;
	return sl__dtype_bytes(&tensor->n_bytes, tensor->dtype, n);
}

uint64_t
sl__tensor_stored_bytes(const struct sl__tensor *tensor)
{
	return tensor->n_bytes +
	       (tensor->indices ? tensor->indices->n_bytes : 0);
}

static uint64_t
mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* The sum of four uniform 16-bit numbers, brought to variance 1, is close to
 * normal (|x| < 3.47) and costs no logarithm: a 7-billion-parameter model is
 * written in the time the disk takes. */
static double
normal_of(uint64_t bits)
{
	double sum = (double)(bits & 0xffff) + (double)(bits >> 16 & 0xffff) +
		     (double)(bits >> 32 & 0xffff) + (double)(bits >> 48);

	/* mean 4 * 65535 / 2, variance 4 * (65536^2 - 1) / 12 */
	return (sum - 131070) / 37837.22;
}

static double element_of(const struct sl__tensor *tensor, uint64_t i);

static double
factor_at(const struct sl__tensor_generator *g, uint64_t index)
{
	return g->factors[index / g->taps % g->results +
			  index / (g->taps * g->results) / g->inputs *
				  g->results];
}

static double
generate(const struct sl__tensor_generator *g, uint64_t index)
{
	uint64_t bits;

	if (g->kind == SL__TENSOR_GENERATOR_CONSTANT)
		return g->mean;
	if (g->kind == SL__TENSOR_GENERATOR_SCALED)
		return element_of(g->of, index) * factor_at(g, index);
	bits = mix(g->seed ^ mix(index));
	if (g->kind == SL__TENSOR_GENERATOR_NORMAL)
		return g->mean + g->scale * normal_of(bits);
	return g->mean + g->scale * ((double)(bits >> 11) * 0x1p-52 - 1);
}

static void
put(enum sl_dtype dtype, double value, unsigned char *to)
{
	sl__store_doubles(to, dtype, 0, 1, &value);
}

/* Runs of one factor, so that most of the work is one multiplication. */
static void
scale_floats(const struct sl__tensor_generator *g, uint64_t first, uint64_t n,
	     float *to)
{
	const void *from = sl__tensor_byte_range(g->of, first * sizeof(*to),
						 n * sizeof(*to), to);

	if (from != to)
		memcpy(to, from, n * sizeof(*to));
	for (uint64_t i = 0; i < n;) {
		uint64_t end = i + g->taps - (first + i) % g->taps;
		double factor = factor_at(g, first + i);

		for (end = end < n ? end : n; i < end; i++)
			to[i] = (float)((double)to[i] * factor);
	}
}

static void
make_floats(const struct sl__tensor_generator *g, uint64_t first, uint64_t n,
	    float *to)
{
	if (g->kind == SL__TENSOR_GENERATOR_SCALED) {
		scale_floats(g, first, n, to);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		to[i] = (float)generate(g, first + i);
}

const void *
sl__tensor_byte_range(const struct sl__tensor *tensor, uint64_t offset_bytes,
		      size_t n_bytes, void *scratch)
{
	size_t step = sl_dtype_bits(tensor->dtype) / 8;
	unsigned char *to = scratch;

	if (tensor->bytes)
		return tensor->bytes + offset_bytes;
	if (!tensor->generator || step == 0)
		return NULL;
	if (tensor->dtype == SL_DTYPE_F32) {
		make_floats(tensor->generator, offset_bytes / step,
			    n_bytes / step, scratch);
		return scratch;
	}
	for (uint64_t i = 0; i < n_bytes / step; i++)
		put(tensor->dtype,
		    generate(tensor->generator, offset_bytes / step + i),
		    to + i * step);
	return scratch;
}

void
sl__tensor_release_pages(const struct sl__tensor *tensor, uint64_t offset_bytes,
			 uint64_t n_bytes)
{
	const struct sl__tensor_generator *g = tensor->generator;

	if (g && g->kind == SL__TENSOR_GENERATOR_SCALED)
		sl__tensor_release_pages(g->of, offset_bytes, n_bytes);
	else if (tensor->is_mapped && tensor->bytes)
		sl__file_mapping_drop_pages(tensor->bytes + offset_bytes,
					    n_bytes);
}

static double
f16_value(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double mantissa = bits & 1023;
	double magnitude;

	if (exponent == 31)
		magnitude = mantissa > 0 ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		magnitude = ldexp(mantissa, -24);
	else
		magnitude = ldexp(1024 + mantissa, exponent - 25);
	return bits & 0x8000 ? -magnitude : magnitude;
}

static double
bf16_value(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof(value));
	return (double)value;
}

/* A small float: sign, exponent, mantissa; 'fn' formats have no infinity and
 * one NaN pattern (all ones, or negative zero for 'uz'). */
static double
f8_value(enum sl_dtype dtype, unsigned bits)
{
	int is_e5 = dtype == SL_DTYPE_F8E5M2 || dtype == SL_DTYPE_F8E5M2FNUZ;
	int is_uz = dtype == SL_DTYPE_F8E4M3FNUZ ||
		    dtype == SL_DTYPE_F8E5M2FNUZ;
	int n_mantissa = is_e5 ? 2 : 3;
	int bias = (is_e5 ? 15 : 7) + is_uz;
	int exponent = (int)(bits & 0x7f) >> n_mantissa;
	int mantissa = (int)bits & ((1 << n_mantissa) - 1);
	double magnitude;

	if (is_uz ? bits == 0x80 : !is_e5 && (bits & 0x7f) == 0x7f)
		return (double)NAN;
	if (dtype == SL_DTYPE_F8E5M2 && exponent == 31)
		magnitude = mantissa ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		magnitude = ldexp(mantissa, 1 - bias - n_mantissa);
	else
		magnitude = ldexp((1 << n_mantissa) + mantissa,
				  exponent - bias - n_mantissa);
	return bits & 0x80 ? -magnitude : magnitude;
}

static int64_t
nibble_of(const unsigned char *bytes, uint64_t i, int is_signed)
{
	int value = bytes[i / 2] >> (i % 2 ? 4 : 0) & 15;

	return is_signed && value > 7 ? value - 16 : value;
}

static double
f4_value(unsigned bits)
{
	static const double magnitudes[] = {0, .5, 1, 1.5, 2, 3, 4, 6};

	return bits & 8 ? -magnitudes[bits & 7] : magnitudes[bits & 7];
}

/* One integer of at most 64 bits, little-endian. */
static int64_t
integer_at(const unsigned char *bytes, unsigned n_bits, int is_signed)
{
	uint64_t value = 0;

	memcpy(&value, bytes, n_bits / 8);
	if (is_signed && n_bits < 64 && value >> (n_bits - 1))
		value |= ~UINT64_C(0) << n_bits;
	return (int64_t)value;
}

static int64_t
whole_element(enum sl_dtype dtype, const unsigned char *bytes, uint64_t i)
{
	unsigned n_bits = sl_dtype_bits(dtype);
	int64_t value;

	if (n_bits == 4)
		return nibble_of(bytes, i, sl__dtype_is_signed(dtype));
	if (n_bits == 2) {
		value = bytes[i / 4] >> i % 4 * 2 & 3;
		return sl__dtype_is_signed(dtype) && value > 1 ? value - 4
							       : value;
	}
	value = integer_at(bytes + i * (n_bits / 8), n_bits,
			   sl__dtype_is_signed(dtype));
	return dtype == SL_DTYPE_BOOL ? value != 0 : value;
}

static double
float_element(enum sl_dtype dtype, const unsigned char *bytes, uint64_t i)
{
	uint16_t half;
	float single;
	double whole;

	if (dtype == SL_DTYPE_F32) {
		memcpy(&single, bytes + 4 * i, sizeof(single));
		return (double)single;
	}
	if (dtype == SL_DTYPE_F64) {
		memcpy(&whole, bytes + 8 * i, sizeof(whole));
		return whole;
	}
	if (dtype == SL_DTYPE_F16 || dtype == SL_DTYPE_BF16) {
		memcpy(&half, bytes + 2 * i, sizeof(half));
		return dtype == SL_DTYPE_F16 ? f16_value(half)
					     : bf16_value(half);
	}
	if (dtype == SL_DTYPE_F4E2M1)
		return f4_value((unsigned)nibble_of(bytes, i, 0));
	if (dtype == SL_DTYPE_F8E8M0)
		return bytes[i] == 255 ? (double)NAN : ldexp(1, bytes[i] - 127);
	return f8_value(dtype, bytes[i]);
}

static int
is_readable(const struct sl__tensor *tensor)
{
	return (tensor->bytes || tensor->generator) && !tensor->is_sparse &&
	       sl__dtype_family(tensor->dtype) != SL__DTYPE_OTHER;
}

static double
element_of(const struct sl__tensor *tensor, uint64_t i)
{
	unsigned char made[8] = {0};

	if (!tensor->bytes) {
		put(tensor->dtype, generate(tensor->generator, i), made);
		if (sl__dtype_family(tensor->dtype) == SL__DTYPE_FLOAT)
			return float_element(tensor->dtype, made, 0);
		return (double)whole_element(tensor->dtype, made, 0);
	}
	if (sl__dtype_family(tensor->dtype) == SL__DTYPE_FLOAT)
		return float_element(tensor->dtype, tensor->bytes, i);
	if (tensor->dtype == SL_DTYPE_U64)
		return (double)(uint64_t)whole_element(tensor->dtype,
						       tensor->bytes, i);
	return (double)whole_element(tensor->dtype, tensor->bytes, i);
}

int
sl__tensor_doubles(const struct sl__tensor *tensor, uint64_t first, size_t n,
		   double *out)
{
	if (n && !is_readable(tensor))
		return 0;
	for (size_t i = 0; i < n; i++)
		out[i] = element_of(tensor, first + i);
	return 1;
}

static int64_t
saturate(double value)
{
	if (isnan(value))
		return 0;
	if (value >= 0x1p63)
		return INT64_MAX;
	return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

int
sl__tensor_integer_bits(const struct sl__tensor *tensor, uint64_t first,
			size_t n, int64_t *out)
{
	int is_whole = sl__dtype_family(tensor->dtype) == SL__DTYPE_INTEGER;

	if (n && !is_readable(tensor))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (is_whole && tensor->bytes)
			out[i] = whole_element(tensor->dtype, tensor->bytes,
					       first + i);
		else
			out[i] = saturate(element_of(tensor, first + i));
	}
	return 1;
}

int
sl__tensor_integers(const struct sl__tensor *tensor, uint64_t first, size_t n,
		    int64_t *out)
{
	if (!sl__tensor_integer_bits(tensor, first, n, out))
		return 0;
	/* Of 64 unsigned bits the last became a sign. */
	for (size_t i = 0; tensor->dtype == SL_DTYPE_U64 && i < n; i++) {
		if (out[i] < 0)
			out[i] = INT64_MAX;
	}
	return 1;
}
