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
#include "base/status.h"
#include "ops/ref_move.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { OPERANDS_MOST = 3 };

/* The operands' offsets follow each position of the result. */
struct walk {
	size_t rank, n;
	const int64_t *dims; /* of the result */
	int64_t *at;
	int64_t *strides[OPERANDS_MOST];
	int64_t offsets[OPERANDS_MOST];
	uint64_t n_elements; /* of the result */
};

/* Where the sizes of an operand begin among those of the result: at the end
 * of it, or, before version 7, where the attribute says. */
static enum sl_status
first_dim(size_t *out, const struct sl__eval *ev, const struct walk *w,
	  const struct sl__tensor *t, struct sl_error *err)
{
	int64_t axis = sl__int(ev->node, "axis", 0);

	if (t->rank > w->rank)
		return sl__fail(err, SL_E_DATA,
				"an input has %zu dimensions, the result %zu",
				t->rank, w->rank);
	*out = w->rank - t->rank;
	if (ev->node->domain[0] || ev->node->version >= 7 ||
	    !sl__attribute(ev->node, "axis") || t->rank == w->rank)
		return SL_OK;
	axis = axis < 0 ? axis + (int64_t)w->rank : axis;
	if (axis < 0 || axis > (int64_t)*out)
		return sl__fail(err, SL_E_DATA,
				"an input of %zu dimensions at axis %lld of "
				"%zu",
				t->rank, (long long)axis, w->rank);
	*out = (size_t)axis;
	return SL_OK;
}

static enum sl_status
add_operand(struct sl__eval *ev, struct walk *w, size_t i, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	int64_t *strides = sl__ref_new(ev, w->rank, sizeof(*strides));
	size_t first = 0;
	enum sl_status rc;

	if (!t)
		return sl__fail(err, SL_E_DATA, "input %zu is no tensor", i);
	if (!strides)
		return sl__fail_nomem(err);
	rc = first_dim(&first, ev, w, t, err);
	if (rc)
		return rc;
	for (size_t d = 0; d < t->rank; d++) {
		if (t->dims[d] != 1 && t->dims[d] != w->dims[first + d])
			return sl__fail(err, SL_E_DATA,
					"a dimension of %lld in a result of "
					"%lld",
					(long long)t->dims[d],
					(long long)w->dims[first + d]);
	}
	sl__ref_broadcast(strides, first + t->rank, t->rank, t->dims);
	w->strides[w->n] = strides;
	w->offsets[w->n++] = 0;
	return SL_OK;
}

/* A walk over output 0, still without operands. */
static enum sl_status
walk_start(struct sl__eval *ev, struct walk *w, struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);

	memset(w, 0, sizeof(*w));
	if (!out || out->kind != SL__TYPE_TENSOR)
		return sl__fail(err, SL_E_DATA, "its result has no sizes");
	w->rank = out->tensor.rank;
	w->dims = out->tensor.dims;
	w->n_elements = out->tensor.n_elements;
	w->at = sl__ref_new(ev, w->rank, sizeof(*w->at));
	return w->at ? SL_OK : sl__fail_nomem(err);
}

/* A walk over output 0 with the operands first .. first + n - 1. */
static enum sl_status
walk_with(struct sl__eval *ev, struct walk *w, size_t first, size_t n,
	  struct sl_error *err)
{
	enum sl_status rc = walk_start(ev, w, err);

	for (size_t i = first; !rc && i < first + n; i++)
		rc = add_operand(ev, w, i, err);
	return rc;
}

static void
walk_on(struct walk *w)
{
	(void)sl__ref_next(w->at, w->rank, w->dims, w->offsets,
			   (const int64_t *const *)w->strides, w->n);
}

typedef double real_function(double a, double b);
typedef int64_t whole_function(int64_t a, int64_t b, int is_unsigned);

static int64_t
whole_add(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t
whole_sub(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t
whole_mul(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return (int64_t)((uint64_t)a * (uint64_t)b);
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

static int64_t
whole_less(int64_t a, int64_t b, int is_unsigned)
{
	return sl__ref_is_less(a, b, is_unsigned);
}

static int64_t
whole_less_equal(int64_t a, int64_t b, int is_unsigned)
{
	return !whole_less(b, a, is_unsigned);
}

static int64_t
whole_greater(int64_t a, int64_t b, int is_unsigned)
{
	return whole_less(b, a, is_unsigned);
}

static int64_t
whole_greater_equal(int64_t a, int64_t b, int is_unsigned)
{
	return !whole_less(a, b, is_unsigned);
}

static int64_t
whole_equal(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return a == b;
}

static int64_t
whole_max(int64_t a, int64_t b, int is_unsigned)
{
	return whole_less(a, b, is_unsigned) ? b : a;
}

static int64_t
whole_min(int64_t a, int64_t b, int is_unsigned)
{
	return whole_less(b, a, is_unsigned) ? b : a;
}

/* Logic too: booleans are 0 or 1. */
static int64_t
whole_and(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return a & b;
}

static int64_t
whole_or(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return a | b;
}

static int64_t
whole_xor(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return a ^ b;
}

/* By more than there are bits: nothing is left but copies of the sign. */
static int64_t
whole_shift_left(int64_t a, int64_t b, int is_unsigned)
{
	(void)is_unsigned;
	return (uint64_t)b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}

static int64_t
whole_shift_right(int64_t a, int64_t b, int is_unsigned)
{
	if (a < 0 && !is_unsigned)
		return ~whole_shift_right(~a, b, 0);
	return (uint64_t)b > 63 ? 0 : (int64_t)((uint64_t)a >> b);
}

static double
real_add(double a, double b)
{
	return a + b;
}

static double
real_sub(double a, double b)
{
	return a - b;
}

static double
real_mul(double a, double b)
{
	return a * b;
}

static double
real_div(double a, double b)
{
	return a / b;
}

/* With the sign of b, also where it is 0. */
static double
real_mod(double a, double b)
{
	double rest = fmod(a, b);

	if (rest == 0)
		return copysign(0, b);
	return (rest < 0) != (b < 0) ? rest + b : rest;
}

static double
real_less(double a, double b)
{
	return a < b;
}

static double
real_less_equal(double a, double b)
{
	return a <= b;
}

static double
real_greater(double a, double b)
{
	return a > b;
}

static double
real_greater_equal(double a, double b)
{
	return a >= b;
}

static double
real_equal(double a, double b)
{
	return a == b;
}

/* A NaN among them wins. */
static double
real_max(double a, double b)
{
	return a >= b || isnan(a) ? a : b;
}

static double
real_min(double a, double b)
{
	return a <= b || isnan(a) ? a : b;
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

	if (sl__is_op(node, SL__OP_ONNX_Mod) && sl__int(node, "fmod", 0)) {
		form.real = fmod;
		form.whole = whole_fmod;
	}
	if (sl__is_op(node, SL__OP_ONNX_BitShift) &&
	    !strcmp(sl__word(node, "direction", "LEFT"), "RIGHT"))
		form.whole = whole_shift_right;
	return form;
}

static enum sl_status
on_integers(struct sl__eval *ev, struct sl_error *err)
{
	struct form form = form_of(ev->node);
	/* Of a power it is the exponent whose sign counts. */
	size_t signs = sl__is_op(ev->node, SL__OP_ONNX_Pow) ? 1 : 0;
	int is_unsigned = !sl__dtype_is_signed(sl__ref_dtype(ev, signs));
	const int64_t *a = sl__ref_integers(ev, 0, err);
	const int64_t *b = a ? sl__ref_integers(ev, 1, err) : NULL;
	int64_t *y;
	struct walk w;
	enum sl_status rc;

	if (!b)
		return sl__ref_failure(ev);
	rc = walk_with(ev, &w, 0, 2, err);
	if (rc)
		return rc;
	y = sl__ref_new(ev, (size_t)w.n_elements, sizeof(*y));
	if (!y)
		return sl__fail_nomem(err);
	for (uint64_t i = 0; i < w.n_elements; i++) {
		y[i] = form.whole(a[w.offsets[0]], b[w.offsets[1]],
				  is_unsigned);
		walk_on(&w);
	}
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

static enum sl_status
on_reals(struct sl__eval *ev, struct sl_error *err)
{
	struct form form = form_of(ev->node);
	const double *a = sl__ref_doubles(ev, 0, err);
	const double *b = a ? sl__ref_doubles(ev, 1, err) : NULL;
	double *y;
	struct walk w;
	enum sl_status rc;

	if (!b)
		return sl__ref_failure(ev);
	rc = walk_with(ev, &w, 0, 2, err);
	if (rc)
		return rc;
	y = sl__ref_new(ev, (size_t)w.n_elements, sizeof(*y));
	if (!y)
		return sl__fail_nomem(err);
	for (uint64_t i = 0; i < w.n_elements; i++) {
		y[i] = form.real(a[w.offsets[0]], b[w.offsets[1]]);
		walk_on(&w);
	}
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}

/* Equal of strings. */
static enum sl_status
on_strings(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *a = sl__ref_tensor(ev, 0);
	const struct sl__tensor *b = sl__ref_tensor(ev, 1);
	struct walk w;
	enum sl_status rc = walk_with(ev, &w, 0, 2, err);

	if (rc)
		return rc;
	for (uint64_t i = 0; i < w.n_elements; i++) {
		sl__ref_result(ev, 0)->bytes[i] = !strcmp(
			a->strings[w.offsets[0]], b->strings[w.offsets[1]]);
		walk_on(&w);
	}
	return SL_OK;
}

/* All of two inputs. */
enum sl_status
sl__ref_binary(struct sl__eval *ev, struct sl_error *err)
{
	int n_whole = sl__ref_is_whole(sl__ref_dtype(ev, 0)) +
		      sl__ref_is_whole(sl__ref_dtype(ev, 1));
	int n_strings = (sl__ref_dtype(ev, 0) == SL_DTYPE_STRING) +
			(sl__ref_dtype(ev, 1) == SL_DTYPE_STRING);

	if (n_strings == 2 && sl__is_op(ev->node, SL__OP_ONNX_Equal))
		return on_strings(ev, err);
	if (n_whole == 2)
		return on_integers(ev, err);
	if (!form_of(ev->node).real)
		return sl__fail(err, SL_E_DATA, "it takes integers only");
	return on_reals(ev, err);
}

static enum sl_status
join_integers(struct sl__eval *ev, size_t i, int64_t *y, struct sl_error *err)
{
	struct form form = form_of(ev->node);
	int is_unsigned = !sl__dtype_is_signed(sl__ref_dtype(ev, 0));
	const int64_t *x = sl__ref_integers(ev, i, err);
	struct walk w;
	enum sl_status rc;

	if (!x)
		return sl__ref_failure(ev);
	rc = walk_with(ev, &w, i, 1, err);
	for (uint64_t k = 0; !rc && k < w.n_elements; k++) {
		int64_t one = x[w.offsets[0]];

		y[k] = i ? form.whole(y[k], one, is_unsigned) : one;
		walk_on(&w);
	}
	return rc;
}

static enum sl_status
join_reals(struct sl__eval *ev, size_t i, double *y, struct sl_error *err)
{
	struct form form = form_of(ev->node);
	const double *x = sl__ref_doubles(ev, i, err);
	struct walk w;
	enum sl_status rc;

	if (!x)
		return sl__ref_failure(ev);
	rc = walk_with(ev, &w, i, 1, err);
	for (uint64_t k = 0; !rc && k < w.n_elements; k++) {
		double one = x[w.offsets[0]];

		y[k] = i ? form.real(y[k], one) : one;
		walk_on(&w);
	}
	return rc;
}

static enum sl_status
all_integers(struct sl__eval *ev, size_t n_elements, struct sl_error *err)
{
	int64_t *y = sl__ref_new(ev, n_elements, sizeof(*y));
	enum sl_status rc = y ? SL_OK : sl__fail_nomem(err);

	for (size_t i = 0; !rc && i < ev->node->n_inputs; i++)
		rc = join_integers(ev, i, y, err);
	if (!rc)
		sl__ref_store_integers(ev, 0, y);
	return rc;
}

static enum sl_status
all_reals(struct sl__eval *ev, size_t n_elements, struct sl_error *err)
{
	double *y = sl__ref_new(ev, n_elements, sizeof(*y));
	double n_inputs = (double)ev->node->n_inputs;
	enum sl_status rc = y ? SL_OK : sl__fail_nomem(err);

	for (size_t i = 0; !rc && i < ev->node->n_inputs; i++)
		rc = join_reals(ev, i, y, err);
	if (rc)
		return rc;
	for (size_t k = 0; k < n_elements; k++) {
		if (sl__is_op(ev->node, SL__OP_ONNX_Mean))
			y[k] /= n_inputs;
	}
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}

/* Max, Min, Sum, Mean. */
enum sl_status
sl__ref_variadic(struct sl__eval *ev, struct sl_error *err)
{
	struct walk w;
	enum sl_status rc = walk_start(ev, &w, err);

	if (rc)
		return rc;
	if (sl__ref_is_whole(sl__ref_dtype(ev, 0)) &&
	    !sl__is_op(ev->node, SL__OP_ONNX_Mean))
		return all_integers(ev, (size_t)w.n_elements, err);
	return all_reals(ev, (size_t)w.n_elements, err);
}

/* Each element is moved from one of two tensors, whatever its type. */
static enum sl_status
choose(struct sl__eval *ev, struct walk *w, struct sl_error *err)
{
	const unsigned char *condition = sl__ref_tensor(ev, 0)->bytes;
	const struct sl__datum *out = sl__ref_result(ev, 0);
	struct sl__mover both[2];
	enum sl_status rc =
		sl__move_begin(&both[0], out, sl__ref_tensor(ev, 1), err);

	if (!rc)
		rc = sl__move_begin(&both[1], out, sl__ref_tensor(ev, 2), err);
	for (uint64_t i = 0; !rc && i < w->n_elements; i++) {
		int which = condition[w->offsets[0]] ? 0 : 1;

		sl__move(&both[which], (int64_t)i, w->offsets[1 + which], 1);
		walk_on(w);
	}
	return rc ? rc : sl__move_end(ev, 0, err);
}

enum sl_status
sl__ref_where(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *condition = sl__ref_tensor(ev, 0);
	struct walk w;
	enum sl_status rc;

	if (!sl__ref_result(ev, 0))
		return SL_OK;
	rc = walk_with(ev, &w, 0, 3, err);
	if (rc)
		return rc;
	if (condition->dtype != SL_DTYPE_BOOL ||
	    sl__ref_dtype(ev, 1) != sl__ref_dtype(ev, 2))
		return sl__fail(err, SL_E_DATA,
				"a condition of %s chooses from %s and %s",
				sl_dtype_text(condition->dtype),
				sl_dtype_text(sl__ref_dtype(ev, 1)),
				sl_dtype_text(sl__ref_dtype(ev, 2)));
	return choose(ev, &w, err);
}

/* Before version 7 a vector of slopes goes along the channels. */
static void
slope_by_channel(struct sl__eval *ev, struct walk *w)
{
	const struct sl__tensor *slope = sl__ref_tensor(ev, 1);

	for (size_t d = 0; d < w->rank; d++)
		w->strides[1][d] = d == 1 && slope->n_elements > 1;
}

static enum sl_status
prelu_walk(struct sl__eval *ev, struct walk *w, struct sl_error *err)
{
	const struct sl__tensor *slope = sl__ref_tensor(ev, 1);
	enum sl_status rc = walk_with(ev, w, 0, 1, err);

	if (rc)
		return rc;
	if (ev->node->version >= 7 || !slope || slope->rank != 1 ||
	    w->rank < 2 || w->dims[1] != slope->dims[0])
		return add_operand(ev, w, 1, err);
	w->strides[1] = sl__ref_new(ev, w->rank, sizeof(int64_t));
	w->n = 2;
	if (!w->strides[1])
		return sl__fail_nomem(err);
	slope_by_channel(ev, w);
	return SL_OK;
}

static enum sl_status
prelu_integers(struct sl__eval *ev, struct walk *w, struct sl_error *err)
{
	int is_unsigned = !sl__dtype_is_signed(sl__ref_dtype(ev, 0));
	const int64_t *x = sl__ref_integers(ev, 0, err);
	const int64_t *slope = x ? sl__ref_integers(ev, 1, err) : NULL;
	int64_t *y = sl__ref_new(ev, (size_t)w->n_elements, sizeof(*y));

	if (!slope || !y)
		return slope ? sl__fail_nomem(err) : sl__ref_failure(ev);
	for (uint64_t i = 0; i < w->n_elements; i++) {
		int64_t one = x[w->offsets[0]];

		y[i] = one < 0 && !is_unsigned
			       ? whole_mul(one, slope[w->offsets[1]], 0)
			       : one;
		walk_on(w);
	}
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

/* The slopes are repeated up to the input's sizes. */
enum sl_status
sl__ref_prelu(struct sl__eval *ev, struct sl_error *err)
{
	const double *x, *slope;
	double *y;
	struct walk w;
	enum sl_status rc = prelu_walk(ev, &w, err);

	if (rc)
		return rc;
	if (sl__ref_is_whole(sl__ref_dtype(ev, 0)))
		return prelu_integers(ev, &w, err);
	x = sl__ref_doubles(ev, 0, err);
	slope = x ? sl__ref_doubles(ev, 1, err) : NULL;
	if (!slope)
		return sl__ref_failure(ev);
	y = sl__ref_new(ev, (size_t)w.n_elements, sizeof(*y));
	if (!y)
		return sl__fail_nomem(err);
	for (uint64_t i = 0; i < w.n_elements; i++) {
		double one = x[w.offsets[0]];

		y[i] = one < 0 ? one * slope[w.offsets[1]] : one;
		walk_on(&w);
	}
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}
