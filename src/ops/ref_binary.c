/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_binary.c - operators of several inputs that are broadcast together.
 *
 * 'forms' has a row for each operator of two: what it does to two real
 * numbers, and to two integers, which wrap in 64 bits and are cut to their
 * type's width when stored.  uint64 is carried as its bits, so what depends
 * on the sign is told whether there is one.
 */
#include "base/dtype.h"
#include "ops/ref_move.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Where the sizes of input i begin among those of the result: at the end of
 * it, or, before version 7, where the attribute says. */
static enum sl_status
add_operand(struct sl__kernel_call *ev, struct sl__strided_iterator *w,
	    size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	int64_t axis = sl__attribute_int(ev->node, "axis", 0);

	if (ev->node->domain[0] || ev->node->version >= 7 || !t ||
	    !sl__attribute_find(ev->node, "axis") || t->rank >= w->rank)
		return sl__strided_iterator_add_input(ev, w, i, SIZE_MAX);
	axis = axis < 0 ? axis + (int64_t)w->rank : axis;
	if (axis < 0 || axis > (int64_t)(w->rank - t->rank))
		return sl__ref_reject(
			ev,
			"an input of %zu dimensions at axis %lld of "
			"%zu",
			t->rank, (long long)axis, w->rank);
	return sl__strided_iterator_add_input(ev, w, i, (size_t)axis);
}

/* A walk over output 0 with the operands first .. first + n - 1; how many
 * elements it has. */
static int64_t
walk_with(struct sl__kernel_call *ev, struct sl__strided_iterator *w,
	  size_t first, size_t n)
{
	sl__strided_iterator_over_output(ev, w);
	for (size_t i = first; !ev->failure && i < first + n; i++)
		add_operand(ev, w, i);
	return ev->failure ? 0
			   : (int64_t)sl__ref_output(ev, 0)->tensor.n_elements;
}

typedef double real_function(double a, double b);
typedef int64_t whole_function(int64_t a, int64_t b, int is_unsigned);

#define WHOLE(name, formula)                                               \
	static int64_t whole_##name(int64_t a, int64_t b, int is_unsigned) \
	{                                                                  \
		(void)is_unsigned;                                         \
		return formula;                                            \
	}

WHOLE(add, (int64_t)((uint64_t)a + (uint64_t)b))
WHOLE(sub, (int64_t)((uint64_t)a - (uint64_t)b))
WHOLE(less, sl__ref_integer_is_less(a, b, is_unsigned))
WHOLE(less_equal, !sl__ref_integer_is_less(b, a, is_unsigned))
WHOLE(greater, sl__ref_integer_is_less(b, a, is_unsigned))
WHOLE(greater_equal, !sl__ref_integer_is_less(a, b, is_unsigned))
WHOLE(equal, a == b)
WHOLE(max, sl__ref_integer_is_less(a, b, is_unsigned) ? b : a)
WHOLE(min, sl__ref_integer_is_less(b, a, is_unsigned) ? b : a)
/* Logic too: booleans are 0 or 1. */
WHOLE(and, (a & b))
WHOLE(or, a | b)
WHOLE(xor, a ^ b)
/* By more than there are bits: nothing is left but copies of the sign. */
WHOLE(shift_left, (uint64_t)b > 63 ? 0 : (int64_t)((uint64_t)a << b))

static int64_t
whole_mul(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t
whole_shift_right(int64_t a, int64_t b, int is_unsigned)
{
	if (a < 0 && !is_unsigned)
		return ~whole_shift_right(~a, b, 0);
	return (uint64_t)b > 63 ? 0 : (int64_t)((uint64_t)a >> b);
}

/* Towards zero; a divisor of 0 gives 0. */
static int64_t
whole_div(int64_t a, int64_t b, int is_unsigned)
{
	if (b == 0)
		return 0;
	if (is_unsigned)
		return (int64_t)((uint64_t)a / (uint64_t)b);
	return b == -1 ? whole_sub(0, a, 0) : a / b;
}

/* With the sign of a. */
static int64_t
whole_fmod(int64_t a, int64_t b, int is_unsigned)
{
	if (b == 0 || (b == -1 && !is_unsigned))
		return 0;
	if (is_unsigned)
		return (int64_t)((uint64_t)a % (uint64_t)b);
	return a % b;
}

/* With the sign of b. */
static int64_t
whole_mod(int64_t a, int64_t b, int is_unsigned)
{
	int64_t rest = whole_fmod(a, b, is_unsigned);

	return rest && !is_unsigned && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* A negative power of an integer is cut to 0 unless that is 1 or -1. */
static int64_t
whole_pow(int64_t a, int64_t b, int is_unsigned)
{
	int64_t power = 1;

	if (b < 0 && !is_unsigned) {
		if (a == -1)
			return b % 2 ? -1 : 1;
		return a == 1;
	}
	for (uint64_t rest = (uint64_t)b; rest; rest >>= 1) {
		if (rest & 1)
			power = whole_mul(power, a, 0);
		a = whole_mul(a, a, 0);
	}
	return power;
}

#define REAL(name, formula)                           \
	static double real_##name(double a, double b) \
	{                                             \
		return formula;                       \
	}

REAL(add, a + b)
REAL(sub, a - b)
REAL(mul, (a * b))
REAL(div, a / b)
REAL(less, a < b)
REAL(less_equal, a <= b)
REAL(greater, a > b)
REAL(greater_equal, a >= b)
REAL(equal, a == b)
/* A NaN among them wins. */
REAL(max, a >= b || isnan(a) ? a : b)
REAL(min, a <= b || isnan(a) ? a : b)

/* With the sign of b, also where it is 0. */
static double
real_mod(double a, double b)
{
	double rest = fmod(a, b);

	if (rest == 0)
		return copysign(0, b);
	return (rest < 0) != (b < 0) ? rest + b : rest;
}

struct form {
	real_function *real; /* NULL: has none */
	whole_function *whole;
};

static const struct form forms[SL__N_OPS] = {
	[SL__OP_ONNX_Add] = {real_add, whole_add},
	[SL__OP_ONNX_And] = {NULL, whole_and},
	[SL__OP_ONNX_BitShift] = {NULL, whole_shift_left},
	[SL__OP_ONNX_BitwiseAnd] = {NULL, whole_and},
	[SL__OP_ONNX_BitwiseOr] = {NULL, whole_or},
	[SL__OP_ONNX_BitwiseXor] = {NULL, whole_xor},
	[SL__OP_ONNX_Div] = {real_div, whole_div},
	[SL__OP_ONNX_Equal] = {real_equal, whole_equal},
	[SL__OP_ONNX_Greater] = {real_greater, whole_greater},
	[SL__OP_ONNX_GreaterOrEqual] = {real_greater_equal,
					whole_greater_equal},
	[SL__OP_ONNX_Less] = {real_less, whole_less},
	[SL__OP_ONNX_LessOrEqual] = {real_less_equal, whole_less_equal},
	[SL__OP_ONNX_Max] = {real_max, whole_max},
	[SL__OP_ONNX_Mean] = {real_add, whole_add},
	[SL__OP_ONNX_Min] = {real_min, whole_min},
	[SL__OP_ONNX_Mod] = {real_mod, whole_mod},
	[SL__OP_ONNX_Mul] = {real_mul, whole_mul},
	[SL__OP_ONNX_Or] = {NULL, whole_or},
	[SL__OP_ONNX_Pow] = {pow, whole_pow},
	[SL__OP_ONNX_Sub] = {real_sub, whole_sub},
	[SL__OP_ONNX_Sum] = {real_add, whole_add},
	[SL__OP_ONNX_Xor] = {NULL, whole_xor},
};

static struct form
form_of(const struct sl__node *node)
{
	struct form form = forms[node->op - sl__ops];

	if (sl__is_op(node, SL__OP_ONNX_Mod) &&
	    sl__attribute_int(node, "fmod", 0)) {
		form.real = fmod;
		form.whole = whole_fmod;
	}
	if (sl__is_op(node, SL__OP_ONNX_BitShift) &&
	    !strcmp(sl__attribute_string(node, "direction", "LEFT"), "RIGHT"))
		form.whole = whole_shift_right;
	return form;
}

/* Numbers as integers, or as reals where 'whole' is NULL. */
struct numbers {
	int64_t *whole;
	double *real;
};

static struct numbers
new_numbers(struct sl__kernel_call *ev, int is_whole, int64_t n)
{
	struct numbers y = {is_whole ? sl__ref_scratch_integers(ev, n) : NULL,
			    is_whole ? NULL : sl__ref_scratch_doubles(ev, n)};

	return y;
}

static enum sl_status
store(struct sl__kernel_call *ev, const struct numbers *y)
{
	return y->whole ? sl__ref_output_store_integers(ev, 0, y->whole)
			: sl__ref_output_store_doubles(ev, 0, y->real);
}

/* Equal of strings. */
static enum sl_status
on_strings(struct sl__kernel_call *ev)
{
	const struct sl__tensor *a = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *b = sl__ref_input_tensor(ev, 1);
	struct sl__strided_iterator w;
	int64_t n = walk_with(ev, &w, 0, 2);

	for (int64_t i = 0; i < n; i++) {
		sl__ref_output(ev, 0)->bytes[i] = !strcmp(
			a->strings[w.offsets[0]], b->strings[w.offsets[1]]);
		sl__strided_iterator_next(&w);
	}
	return ev->failure;
}

/* Joins input i into y, which the first one fills. */
static void
join(struct sl__kernel_call *ev, size_t i, const struct numbers *y)
{
	struct form form = form_of(ev->node);
	/* Of a power it is the exponent whose sign counts. */
	size_t signs = sl__is_op(ev->node, SL__OP_ONNX_Pow) ? 1 : 0;
	int is_unsigned = !sl__dtype_is_signed(sl__ref_input_dtype(ev, signs));
	const int64_t *whole = y->whole ? sl__ref_input_integers(ev, i) : NULL;
	const double *real = y->whole ? NULL : sl__ref_input_doubles(ev, i);
	struct sl__strided_iterator w;
	int64_t n = ev->failure ? 0 : walk_with(ev, &w, i, 1);

	for (int64_t k = 0; k < n; k++) {
		int64_t at = w.offsets[0];

		if (whole)
			y->whole[k] = i ? form.whole(y->whole[k], whole[at],
						     is_unsigned)
					: whole[at];
		else
			y->real[k] = i ? form.real(y->real[k], real[at])
				       : real[at];
		sl__strided_iterator_next(&w);
	}
}

/* All of two inputs, and Max, Min, Sum and Mean of any number. */
enum sl_status
sl__ref_joined(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	int is_mean = sl__is_op(ev->node, SL__OP_ONNX_Mean);
	int is_whole = !is_mean, n_strings = 0;
	int64_t n = (int64_t)out->tensor.n_elements;
	struct numbers y;

	for (size_t i = 0; i < ev->node->n_inputs; i++) {
		is_whole &=
			sl__ref_dtype_is_integer(sl__ref_input_dtype(ev, i));
		n_strings += sl__ref_input_dtype(ev, i) == SL_DTYPE_STRING;
	}
	if (n_strings == 2 && sl__is_op(ev->node, SL__OP_ONNX_Equal))
		return on_strings(ev);
	if (!is_whole && !form_of(ev->node).real)
		return sl__ref_reject(ev, "it takes integers only");
	y = new_numbers(ev, is_whole, n);
	for (size_t i = 0; !ev->failure && i < ev->node->n_inputs; i++)
		join(ev, i, &y);
	for (int64_t k = 0; !ev->failure && is_mean && k < n; k++)
		y.real[k] /= (double)ev->node->n_inputs;
	return store(ev, &y);
}

/* Each element is moved from one of two tensors, whatever its type. */
enum sl_status
sl__ref_where(struct sl__kernel_call *ev)
{
	const struct sl__tensor *condition = sl__ref_input_tensor(ev, 0);
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	struct sl__element_mover both[2];
	struct sl__strided_iterator w;
	int64_t n = walk_with(ev, &w, 0, 3);

	if (ev->failure)
		return ev->failure;
	if (condition->dtype != SL_DTYPE_BOOL ||
	    sl__ref_input_dtype(ev, 1) != sl__ref_input_dtype(ev, 2))
		return sl__ref_reject(
			ev, "a condition of %s chooses from %s and %s",
			sl_dtype_text(condition->dtype),
			sl_dtype_text(sl__ref_input_dtype(ev, 1)),
			sl_dtype_text(sl__ref_input_dtype(ev, 2)));
	if (sl__move_begin(ev, &both[0], out, sl__ref_input_tensor(ev, 1)) ||
	    sl__move_begin(ev, &both[1], out, sl__ref_input_tensor(ev, 2)))
		return ev->failure;
	for (int64_t i = 0; i < n; i++) {
		int which = condition->bytes[w.offsets[0]] ? 0 : 1;

		sl__move_elements(&both[which], i, w.offsets[1 + which], 1);
		sl__strided_iterator_next(&w);
	}
	return sl__move_own_strings(ev, 0);
}

/* Before version 7 a vector of slopes goes along the channels. */
static void
add_slopes(struct sl__kernel_call *ev, struct sl__strided_iterator *w)
{
	const struct sl__tensor *slope = sl__ref_input_tensor(ev, 1);

	if (ev->node->version >= 7 || !slope || slope->rank != 1 ||
	    w->rank < 2 || w->dims[1] != slope->dims[0])
		add_operand(ev, w, 1);
	else
		w->strides[w->n++][1] = slope->n_elements > 1;
}

/* The slopes are repeated up to the input's sizes. */
enum sl_status
sl__ref_prelu(struct sl__kernel_call *ev)
{
	int is_whole = sl__ref_dtype_is_integer(sl__ref_input_dtype(ev, 0));
	int is_signed = sl__dtype_is_signed(sl__ref_input_dtype(ev, 0));
	const int64_t *whole = is_whole ? sl__ref_input_integers(ev, 0) : NULL;
	const int64_t *wholes = is_whole ? sl__ref_input_integers(ev, 1) : NULL;
	const double *real = is_whole ? NULL : sl__ref_input_doubles(ev, 0);
	const double *reals = is_whole ? NULL : sl__ref_input_doubles(ev, 1);
	struct sl__strided_iterator w;
	int64_t n = walk_with(ev, &w, 0, 1);
	struct numbers y = new_numbers(ev, is_whole, n);

	if (!ev->failure)
		add_slopes(ev, &w);
	for (int64_t i = 0; !ev->failure && i < n; i++) {
		int64_t a = w.offsets[0], b = w.offsets[1];

		if (is_whole)
			y.whole[i] = whole[a] < 0 && is_signed
					     ? whole_mul(whole[a], wholes[b], 0)
					     : whole[a];
		else
			y.real[i] = real[a] < 0 ? real[a] * reals[b] : real[a];
		sl__strided_iterator_next(&w);
	}
	return store(ev, &y);
}
