/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_cast.c - one type of number into another, and into text and back.
 *
 * Integers to integers lose their upper bits, reals to integers are cut,
 * anything to a float is rounded.  Floats of 8 bits saturate unless the node
 * says otherwise.
 */
#include "base/dtype.h"
#include "base/number.h"
#include "ops/ref_quantize.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

double
sl__ref_round_to_dtype(enum sl_dtype dtype, double value)
{
	unsigned char bytes[8] = {0};
	struct sl__tensor one = {.dtype = dtype, .bytes = bytes};
	double rounded = value;

	if (dtype == SL_DTYPE_F32 || dtype == SL_DTYPE_F64)
		return dtype == SL_DTYPE_F32 ? (double)(float)value : value;
	sl__store_doubles(bytes, dtype, 0, 1, &value);
	return sl__tensor_doubles(&one, 0, 1, &rounded) ? rounded : value;
}

/* The first magnitude that rounds to more than the largest finite number, and
 * the code that stands for it; 0: not such a type. */
struct overflow {
	double from;
	unsigned char code;
	int has_sign;
};

static struct overflow
overflow_of(enum sl_dtype dtype)
{
	struct overflow none = {0, 0, 0};

	if (dtype == SL_DTYPE_F8E4M3FN) /* a tie goes down, to 448 */
		return (struct overflow){nextafter(464, 465), 0x7f, 1};
	if (dtype == SL_DTYPE_F8E4M3FNUZ)
		return (struct overflow){248, 0x80, 0};
	if (dtype == SL_DTYPE_F8E5M2)
		return (struct overflow){61440, 0x7c, 1};
	if (dtype == SL_DTYPE_F8E5M2FNUZ)
		return (struct overflow){61440, 0x80, 0};
	return none;
}

/*
 * A power of two, 'up' unless round_mode says otherwise, so that storing it
 * is exact.  What lies outside of 2^-127 .. 2^127 saturates or is NaN.
 */
static double
power_of_two(const struct sl__node *node, double value, int saturates)
{
	const char *mode = sl__attribute_string(node, "round_mode", "up");
	int exponent;
	double mantissa, power;

	if (isnan(value) || value < 0 || isinf(value) || value == 0)
		return saturates && value >= 0 ? value : (double)NAN;
	mantissa = frexp(value, &exponent); /* in [0.5, 1) */
	if (mantissa == 0.5 || !strcmp(mode, "down") ||
	    (!strcmp(mode, "nearest") && mantissa < 0.75))
		exponent--;
	power = ldexp(1, exponent);
	if (!saturates && (power > 0x1p127 || power < 0x1p-127))
		return (double)NAN;
	return power;
}

static void
store_powers(struct sl__kernel_call *ev, struct sl__runtime_value *out,
	     const double *from, int saturates)
{
	for (uint64_t i = 0; i < out->tensor.n_elements; i++) {
		double power = power_of_two(ev->node, from[i], saturates);

		sl__store_doubles(out->bytes, out->tensor.dtype, i, 1, &power);
	}
}

enum sl_status
sl__ref_store_cast(struct sl__kernel_call *ev, size_t k, const double *from)
{
	struct sl__runtime_value *out = sl__ref_output(ev, k);
	int saturates = sl__attribute_int(ev->node, "saturate", 1) != 0;
	struct overflow beyond;

	if (out && !ev->failure && out->tensor.dtype == SL_DTYPE_F8E8M0) {
		store_powers(ev, out, from, saturates);
		return SL_OK;
	}
	if (sl__ref_output_store_doubles(ev, k, from) || !out || saturates)
		return ev->failure;
	beyond = overflow_of(out->tensor.dtype);
	for (uint64_t i = 0; beyond.from > 0 && i < out->tensor.n_elements;
	     i++) {
		if (fabs(from[i]) >= beyond.from)
			out->bytes[i] =
				beyond.has_sign && from[i] < 0
					? (unsigned char)(beyond.code | 0x80)
					: beyond.code;
	}
	return SL_OK;
}

enum { TEXT_MOST = 64 }; /* bytes of a number as text */

/* The fewest digits that read back as the same number of its type, written
 * plainly unless that takes many zeros. */
static void
real_text(char *text, enum sl_dtype dtype, double value)
{
	int n_digits = 1, exponent;

	if (isnan(value) || isinf(value)) {
		snprintf(text, TEXT_MOST, "%s",
			 isnan(value) ? "NaN"
			 : value < 0  ? "-INF"
				      : "INF");
		return;
	}
	for (;; n_digits++) {
		snprintf(text, TEXT_MOST, "%.*e", n_digits - 1, value);
		if (n_digits == 17 ||
		    sl__ref_round_to_dtype(dtype, strtod(text, NULL)) == value)
			break;
	}
	exponent = (int)strtol(strrchr(text, 'e') + 1, NULL, 10);
	if (exponent >= -5 && exponent < 16)
		snprintf(text, TEXT_MOST, "%.*f",
			 n_digits - 1 > exponent ? n_digits - 1 - exponent : 0,
			 value);
	sl__number_fix_decimal_point(text);
}

/* Element i as text. */
static int
element_text(char *text, const struct sl__tensor *t, uint64_t i)
{
	int64_t whole;
	double real;

	if (sl__dtype_family(t->dtype) == SL__DTYPE_INTEGER) {
		if (!sl__tensor_integer_bits(t, i, 1, &whole))
			return 0;
		if (t->dtype == SL_DTYPE_U64)
			snprintf(text, TEXT_MOST, "%llu",
				 (unsigned long long)whole);
		else
			snprintf(text, TEXT_MOST, "%lld", (long long)whole);
		return 1;
	}
	if (!sl__tensor_doubles(t, i, 1, &real))
		return 0;
	real_text(text, t->dtype, real);
	return 1;
}

static enum sl_status
to_text(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	const char **texts;
	char text[TEXT_MOST];

	if (!t || t->dtype == SL_DTYPE_STRING)
		return sl__ref_output_copy(ev, 0, sl__ref_input(ev, 0));
	texts = sl__ref_scratch(ev, (size_t)t->n_elements, sizeof(*texts));
	if (!texts)
		return ev->failure;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		if (!element_text(text, t, i))
			return sl__ref_reject(ev, "%s has no text",
					      sl_dtype_text(t->dtype));
		texts[i] = sl__arena_string(ev->scratch, text);
		if (!texts[i])
			return sl__ref_nomem(ev);
	}
	return sl__ref_value_set_strings(ev, out, t->rank, t->dims, texts);
}

/* Like strtod(), but the point is a point whatever the locale says. */
static int
read_real(const char *text, double *out)
{
	char copy[2 * TEXT_MOST], half[16], *end;
	const char *point = strchr(text, '.');
	int n_before = point ? (int)(point - text) : 0;
	int n;

	if (!point) {
		*out = strtod(text, &end);
		return end != text && !*end;
	}
	snprintf(half, sizeof(half), "%.1f", 0.5);
	n = snprintf(copy, sizeof(copy), "%.*s%.*s%s", n_before, text,
		     (int)strlen(half) - 2, half + 1, point + 1);
	if (n < 0 || (size_t)n >= sizeof(copy))
		return 0;
	*out = strtod(copy, &end);
	return end != copy && !*end;
}

/* An integer that is written as one is exact. */
static int
read_whole(const char *text, enum sl_dtype dtype, int64_t *out)
{
	char *end;

	errno = 0;
	*out = dtype == SL_DTYPE_U64 && *text != '-'
		       ? (int64_t)strtoull(text, &end, 10)
		       : strtoll(text, &end, 10);
	return end != text && !*end && errno == 0;
}

static enum sl_status
from_text(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	enum sl_dtype dtype = out->tensor.dtype;
	int is_whole = sl__ref_dtype_is_integer(dtype);

	for (uint64_t i = 0; i < t->n_elements; i++) {
		int64_t whole;
		double real;

		if (is_whole && read_whole(t->strings[i], dtype, &whole))
			sl__store_integers(out->bytes, dtype, i, 1, &whole);
		else if (read_real(t->strings[i], &real))
			sl__store_doubles(out->bytes, dtype, i, 1, &real);
		else
			return sl__ref_reject(ev, "'%.60s' is not a number",
					      t->strings[i]);
	}
	return SL_OK;
}

/* Of 64 bits to 24 at once: by way of a double it would be rounded twice. */
static enum sl_status
long_to_single(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	const int64_t *x = sl__ref_input_integers(ev, 0);
	unsigned char *y = sl__ref_output(ev, 0)->bytes;

	if (!x)
		return ev->failure;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		float one = t->dtype == SL_DTYPE_U64 ? (float)(uint64_t)x[i]
						     : (float)x[i];

		memcpy(y + 4 * i, &one, sizeof(one));
	}
	return SL_OK;
}

/* Cast, CastLike: what to is the result's type by now. */
enum sl_status
sl__ref_cast(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	enum sl_dtype from = sl__ref_input_dtype(ev, 0), to;

	if (out->kind != SL__TYPE_TENSOR || from == SL_DTYPE_NONE)
		return sl__ref_fail(
			ev, SL_E_ABSENT,
			"the type of number to cast to is not known");
	to = out->tensor.dtype;
	if (from == to)
		return sl__ref_output_copy(ev, 0, sl__ref_input(ev, 0));
	if (to == SL_DTYPE_STRING)
		return to_text(ev);
	if (from == SL_DTYPE_STRING)
		return from_text(ev);
	if ((from == SL_DTYPE_I64 || from == SL_DTYPE_U64) &&
	    to == SL_DTYPE_F32)
		return long_to_single(ev);
	if (sl__ref_dtype_is_integer(from) && sl__ref_dtype_is_integer(to))
		return sl__ref_output_store_integers(
			ev, 0, sl__ref_input_integers(ev, 0));
	return sl__ref_store_cast(ev, 0, sl__ref_input_doubles(ev, 0));
}

/* The bits as another type of number of the same width. */
enum sl_status
sl__ref_bit_cast(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	struct sl__runtime_value *out = sl__ref_output(ev, 0);

	if (!t || out->kind != SL__TYPE_TENSOR || t->dtype == SL_DTYPE_STRING ||
	    sl_dtype_bits(t->dtype) != sl_dtype_bits(out->tensor.dtype))
		return sl__ref_reject(
			ev, "bits of one type are not those of the other");
	if (t->n_bytes)
		memcpy(out->bytes, t->bytes, (size_t)t->n_bytes);
	return SL_OK;
}
