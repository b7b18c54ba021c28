/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_quantize.c - real numbers to small integers and back.
 *
 * Quantizing is round(x / scale) + zero point within the type's limits: one
 * multiplication by what the scale divides into, an addition where there is a
 * zero point, two comparisons.  Going back is a subtraction and a
 * multiplication.
 *
 * One scale serves the whole tensor, or one each place along an axis, or one
 * each block along it.  Quotients are rounded to the type of the scale before
 * they are rounded to an integer, which decides ties as runtimes do.
 */
#include "base/dtype.h"
#include "ops/activation.h"
#include "ops/cost.h"
#include "ops/ref_move.h"
#include "ops/ref_pool.h"
#include "ops/ref_quantize.h"
#include "ops/ref_softmax.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* A vector of scales has one for each place along the axis, and blocks of
 * scales lie along it; one scale for all needs no axis. */
static void
check_axis(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0),
			      *scale = sl__in_type(call, 1);
	int axis;

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 1 ||
	    (scale->rank == 1 && scale->dims[0] == 1))
		return;
	axis = sl__axis_require(call, sl__attribute_int(call->node, "axis", 1),
				in->rank);
	if (axis >= 0 && scale->rank == 1 &&
	    sl__sizes_differ(scale->dims[0], in->dims[axis]))
		sl__rule_reject(call, "%s scales for dimension %d of %s",
				sl__in_shape_text(call, 1), axis,
				sl__in_shape_text(call, 0));
}

/* Output 0 is like input 0, of the type that the attribute names, or else of
 * the one that is given. */
static enum sl_status
out_as(struct sl__rule_context *call, enum sl_dtype otherwise)
{
	int64_t named = sl__attribute_int(call->node, "output_dtype", 0);
	int rank = sl__in_rank(call, 0);
	enum sl_dtype dtype = otherwise;

	check_axis(call);
	if (named > 0)
		dtype = named < SL_N_DTYPES ? (enum sl_dtype)named
					    : SL_DTYPE_NONE;
	return sl__out_set_shape(call, 0, dtype, rank,
				 rank > 0 ? sl__in_type(call, 0)->dims : NULL);
}

enum sl_status
sl__infer_quantize(struct sl__rule_context *call)
{
	return out_as(call, sl__has_in(call, 2) ? sl__in_dtype(call, 2)
						: SL_DTYPE_U8);
}

enum sl_status
sl__infer_dequantize(struct sl__rule_context *call)
{
	return out_as(call, sl__in_dtype(call, 1));
}

enum sl_status
sl__infer_dynamic_quantize(struct sl__rule_context *call)
{
	sl__out_set_like_input(call, 0, 0, SL_DTYPE_U8);
	sl__out_set_shape(call, 1, SL_DTYPE_F32, 0, NULL);
	return sl__out_set_shape(call, 2, SL_DTYPE_U8, 0, NULL);
}

void
sl__cost_quantize(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_QUANTIZE;
	sl__cost_add_operations(
		cost, cost->out_elements,
		SL__OPERATIONS_EACH(.mul = 1,
				    .add = sl__has_in(call, 2) ? 1 : 0,
				    .cmp = 2));
}

void
sl__cost_dequantize(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_QUANTIZE;
	sl__cost_add_operations(
		cost, cost->out_elements,
		SL__OPERATIONS_EACH(.mul = 1,
				    .add = sl__has_in(call, 2) ? 1 : 0));
}

/* The smallest and the largest element are looked for first: two comparisons
 * each.  Scale and zero point then take two divisions. */
void
sl__cost_dynamic_quantize(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_QUANTIZE;
	sl__cost_add_operations(
		cost, cost->in_elements,
		SL__OPERATIONS_EACH(.mul = 1, .add = 1, .cmp = 4));
	cost->div = 2;
}

int64_t
sl__ref_saturate_value(enum sl_dtype dtype, double rounded, int64_t zero)
{
	int is_signed = sl__dtype_is_signed(dtype);
	int n_bits = (int)sl_dtype_bits(dtype) - is_signed;
	double high = ldexp(1, n_bits < 62 ? n_bits : 62) - 1;
	double low = is_signed ? -high - 1 : 0;
	double value = isnan(rounded) ? (double)zero : rounded + (double)zero;

	return (int64_t)(value < low ? low : value > high ? high : value);
}

int64_t
sl__ref_quantize_value(enum sl_dtype dtype, double x, double scale,
		       int64_t zero)
{
	double quotient = (double)(float)(x / scale);

	return sl__ref_saturate_value(dtype, nearbyint(quotient), zero);
}

enum sl_status
sl__ref_check_narrow_integers(struct sl__kernel_call *ev, size_t i)
{
	enum sl_dtype dtype = sl__ref_input_dtype(ev, i);

	if (!sl__ref_input(ev, i) ||
	    (sl__ref_dtype_is_integer(dtype) && sl_dtype_bits(dtype) <= 16))
		return SL_OK;
	return sl__ref_reject(ev,
			      "input %zu is %s, not integers of 8 or 16 bits",
			      i, sl_dtype_text(dtype));
}

struct sl__ref_scale_zero_point
sl__ref_scale_zero_point(struct sl__kernel_call *ev, size_t i)
{
	const double *scales = sl__ref_channel_scales(ev, i, 1);
	const int64_t *zeros = sl__ref_channel_integers(ev, i + 1, 1);
	struct sl__ref_scale_zero_point s = {1, 0};

	if (!ev->failure)
		s = (struct sl__ref_scale_zero_point){scales[0], zeros[0]};
	return s;
}

/* Whether input i has one element for each of n, and not one for all. */
static int
is_each(struct sl__kernel_call *ev, size_t i, int64_t n)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	if (!t || (t->n_elements != 1 && t->n_elements != (uint64_t)n))
		sl__ref_reject(ev,
			       "input %zu has %llu elements, where 1 or %lld "
			       "are meant",
			       i, t ? (unsigned long long)t->n_elements : 0,
			       (long long)n);
	return t && t->n_elements == (uint64_t)n;
}

const double *
sl__ref_channel_scales(struct sl__kernel_call *ev, size_t i, int64_t n)
{
	int each = is_each(ev, i, n);
	const double *given = sl__ref_input_doubles(ev, i);
	double *all;

	if (each || ev->failure)
		return given;
	all = sl__ref_scratch_doubles(ev, n);
	for (int64_t k = 0; all && k < n; k++)
		all[k] = given[0];
	return all;
}

const int64_t *
sl__ref_channel_integers(struct sl__kernel_call *ev, size_t i, int64_t n)
{
	int each = sl__ref_input(ev, i) && is_each(ev, i, n);
	const int64_t *given = sl__ref_optional_integers(ev, i);
	int64_t *all = sl__ref_scratch_integers(ev, n);

	for (int64_t k = 0; !ev->failure && given && k < n; k++)
		all[k] = given[each ? k : 0];
	return all;
}

/*
 * Which scale belongs to an element: the tensor is seen as [outer][axis]
 * [inner], the scales as 1, as [axis], or as [outer][n_blocks][inner].
 */
struct grid {
	int64_t n_axis, n_inner;
	int64_t block, n_blocks; /* 0: not in blocks */
	int64_t n_scales;
	const double *scales;
	const int64_t *zeros;
};

static int64_t
scale_at(const struct grid *g, int64_t i)
{
	int64_t place = i / g->n_inner % g->n_axis;
	int64_t outer = i / g->n_inner / g->n_axis;

	if (g->block)
		return (outer * g->n_blocks + place / g->block) * g->n_inner +
		       i % g->n_inner;
	return g->n_scales == 1 ? 0 : place;
}

static enum sl_status
check_blocks(struct sl__kernel_call *ev, const struct grid *g, int axis)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *scale = sl__ref_input_tensor(ev, 1);
	int fits = 1;

	for (int d = 0; d < (int)x->rank; d++)
		fits &= scale->dims[d] ==
			(d == axis ? (g->n_axis + g->block - 1) / g->block
				   : x->dims[d]);
	return fits ? SL_OK
		    : sl__ref_reject(ev,
				     "its scales are not those of blocks of "
				     "%lld along axis %d",
				     (long long)g->block, axis);
}

/* The sizes of the grid, from input 0, its scales and the attributes. */
static enum sl_status
measure(struct sl__kernel_call *ev, struct grid *g)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *scale = sl__ref_input_tensor(ev, 1);
	int64_t block = sl__attribute_int(ev->node, "block_size", 0);
	int axis;

	if (!x || !scale)
		return sl__ref_reject(ev, "it takes tensors");
	*g = (struct grid){.n_axis = 1,
			   .n_inner = 1,
			   .n_scales = (int64_t)scale->n_elements};
	if (scale->n_elements == 1 && block <= 0)
		return SL_OK;
	axis = sl__axis_normalize(sl__attribute_int(ev->node, "axis", 1),
				  (int)x->rank);
	if (axis < 0)
		return sl__ref_reject(
			ev, "its axis is not one of %zu dimensions", x->rank);
	g->n_axis = x->dims[axis];
	g->n_inner = sl__dims_product(x->dims, (size_t)axis + 1, x->rank);
	if (block > 0 && scale->rank == x->rank && scale->rank > 0) {
		g->block = block;
		g->n_blocks = scale->dims[axis];
		return check_blocks(ev, g, axis);
	}
	if (scale->rank != 1 || g->n_scales != g->n_axis)
		return sl__ref_reject(
			ev, "%lld scales for %lld places along axis %d",
			(long long)g->n_scales, (long long)g->n_axis, axis);
	return SL_OK;
}

static enum sl_status
read_grid(struct sl__kernel_call *ev, struct grid *g)
{
	if (measure(ev, g))
		return ev->failure;
	g->scales = sl__ref_channel_scales(ev, 1, g->n_scales);
	g->zeros = sl__ref_channel_integers(ev, 2, g->n_scales);
	return ev->failure;
}

/* The type in which quotients are rounded. */
static enum sl_dtype
precision_of(const struct sl__kernel_call *ev)
{
	int64_t named = sl__attribute_int(ev->node, "precision", 0);

	return named > 0 && named < SL_N_DTYPES &&
			       sl__dtype_family((enum sl_dtype)named) ==
				       SL__DTYPE_FLOAT
		       ? (enum sl_dtype)named
		       : sl__ref_input_dtype(ev, 1);
}

/* To integers of at most 16 bits, or to small floats, whose zero point is
 * always 0. */
enum sl_status
sl__ref_quantize(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	enum sl_dtype precision = precision_of(ev), dtype = out->tensor.dtype;
	int64_t n = (int64_t)out->tensor.n_elements, *whole;
	double *y;
	const double *x = sl__ref_input_doubles(ev, 0);
	struct grid g;

	if (out->kind != SL__TYPE_TENSOR)
		return sl__ref_fail(ev, SL_E_ABSENT,
				    "the type to quantize to is not known");
	y = sl__ref_scratch_doubles(ev, n);
	whole = sl__ref_scratch_integers(ev, n);
	if (ev->failure || read_grid(ev, &g))
		return ev->failure;
	for (int64_t i = 0; i < n; i++) {
		int64_t at = scale_at(&g, i);

		y[i] = sl__ref_round_to_dtype(precision, x[i] / g.scales[at]);
		if (sl__ref_dtype_is_integer(dtype))
			whole[i] = sl__ref_saturate_value(
				dtype, nearbyint(y[i]), g.zeros[at]);
	}
	return sl__ref_dtype_is_integer(dtype)
		       ? sl__ref_output_store_integers(ev, 0, whole)
		       : sl__ref_store_cast(ev, 0, y);
}

enum sl_status
sl__ref_dequantize(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y;
	struct grid g;

	if (out->kind != SL__TYPE_TENSOR)
		return sl__ref_fail(ev, SL_E_ABSENT,
				    "the type of its result is not known");
	y = sl__ref_scratch_output(ev, 0);
	if (ev->failure || read_grid(ev, &g))
		return ev->failure;
	for (int64_t i = 0; i < (int64_t)out->tensor.n_elements; i++) {
		int64_t at = scale_at(&g, i);

		y[i] = (x[i] - (double)g.zeros[at]) * g.scales[at];
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* The scale spreads what lies between the least and the largest element, and
 * 0, over 0 to 255. */
struct sl__ref_scale_zero_point
sl__ref_dynamic_scale(const double *x, size_t n)
{
	struct sl__ref_scale_zero_point s = {1, 0};
	double least = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		least = x[i] < least ? x[i] : least;
		most = x[i] > most ? x[i] : most;
	}
	if (most > least)
		s.scale = (double)((float)(most - least) / 255.0F);
	s.zero = sl__ref_quantize_value(SL_DTYPE_U8, -least, s.scale, 0);
	return s;
}

enum sl_status
sl__ref_dynamic_quantize(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	const double *x = sl__ref_input_doubles(ev, 0);
	size_t n = x ? (size_t)in->n_elements : 0;
	int64_t *y = sl__ref_scratch_integers(ev, (int64_t)n);
	struct sl__ref_scale_zero_point s;

	if (ev->failure)
		return ev->failure;
	s = sl__ref_dynamic_scale(x, n);
	for (size_t i = 0; i < n; i++)
		y[i] = sl__ref_quantize_value(SL_DTYPE_U8, x[i], s.scale,
					      s.zero);
	sl__ref_output_store_integers(ev, 0, y);
	sl__ref_output_store_doubles(ev, 1, &s.scale);
	return sl__ref_output_store_integers(ev, 2, &s.zero);
}

/* Input i with the scale and the zero point after it, as reals of 32 bits:
 * scales are often ratios of small integers, whose ties rounding decides. */
static double *
read_reals(struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	struct sl__ref_scale_zero_point s = sl__ref_scale_zero_point(ev, i + 1);
	const int64_t *x = sl__ref_input_integers(ev, i);
	int64_t n = x ? (int64_t)t->n_elements : 0;
	double *made = sl__ref_scratch_doubles(ev, n);

	for (int64_t k = 0; made && k < n; k++)
		made[k] = (double)(float)(((double)x[k] - (double)s.zero) *
					  s.scale);
	return ev->failure ? NULL : made;
}

/* Output 0, quantized by the scale that is input i. */
static enum sl_status
write_reals(struct sl__kernel_call *ev, const double *y, size_t i)
{
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	struct sl__ref_scale_zero_point s = sl__ref_scale_zero_point(ev, i);

	for (size_t k = 0; !ev->failure && k < out->tensor.n_elements; k++) {
		int64_t q = sl__ref_quantize_value(out->tensor.dtype, y[k],
						   s.scale, s.zero);

		sl__store_integers(out->bytes, out->tensor.dtype, k, 1, &q);
	}
	return ev->failure;
}

/* QLinearAdd, QLinearMul. */
enum sl_status
sl__ref_qlinear_binary(struct sl__kernel_call *ev)
{
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	int is_sum = sl__is_op(ev->node, SL__OP_MS_QLinearAdd);
	double *y = sl__ref_scratch_output(ev, 0);
	const double *a = read_reals(ev, 0), *b = read_reals(ev, 3);
	struct sl__strided_iterator w;

	if (ev->failure || sl__strided_iterator_over_output(ev, &w) ||
	    sl__strided_iterator_add_input(ev, &w, 0, SIZE_MAX) ||
	    sl__strided_iterator_add_input(ev, &w, 3, SIZE_MAX))
		return ev->failure;
	for (size_t i = 0; i < out->n_elements; i++) {
		y[i] = is_sum ? a[w.offsets[0]] + b[w.offsets[1]]
			      : a[w.offsets[0]] * b[w.offsets[1]];
		sl__strided_iterator_next(&w);
	}
	return write_reals(ev, y, 6);
}

/* QLinearSigmoid, QLinearLeakyRelu. */
enum sl_status
sl__ref_qlinear_unary(struct sl__kernel_call *ev)
{
	int is_sigmoid = sl__is_op(ev->node, SL__OP_MS_QLinearSigmoid);
	double slope = sl__attribute_float(ev->node, "alpha", (double)0.01F);
	double *x = read_reals(ev, 0);

	for (size_t i = 0; x && i < sl__ref_input_tensor(ev, 0)->n_elements;
	     i++)
		x[i] = is_sigmoid ? sl__act_sigmoid(x[i], 0, 0)
				  : sl__act_leaky_relu(x[i], slope, 0);
	return write_reals(ev, x, 3);
}

/* The attribute "opset" says whether a line runs along the axis or, before
 * 13, spans all axes from it on. */
enum sl_status
sl__ref_qlinear_softmax(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	int is_old = sl__attribute_int(ev->node, "opset", 13) < 13;
	int axis = sl__axis_normalize(
		sl__attribute_int(ev->node, "axis", is_old ? 1 : -1),
		sl__ref_input_rank(ev, 0));
	double *x = read_reals(ev, 0);
	int64_t length, step;
	size_t end;

	if (axis < 0)
		return sl__ref_reject(ev, "its axis is not there");
	end = is_old ? t->rank : (size_t)axis + 1;
	length = sl__dims_product(t->dims, (size_t)axis, end);
	step = sl__dims_product(t->dims, end, t->rank);
	for (int64_t i = 0; x && i < (int64_t)t->n_elements; i++) {
		if (i / step % length == 0)
			sl__softmax_line(x + i, x + i, length, step);
	}
	return write_reals(ev, x, 3);
}

/* QLinearAveragePool, QLinearGlobalAveragePool. */
enum sl_status
sl__ref_qlinear_pool(struct sl__kernel_call *ev)
{
	const double *x = read_reals(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	unsigned form = 0;

	if (sl__is_op(ev->node, SL__OP_MS_QLinearGlobalAveragePool))
		form |= SL__POOL_WHOLE;
	if (sl__attribute_int(ev->node, "channels_last", 0))
		form |= SL__POOL_CHANNELS_LAST;
	if (ev->failure || sl__ref_pool_averages(ev, form, x, y))
		return ev->failure;
	return write_reals(ev, y, 3);
}

/* Sizes of the result: those of the first input, summed along the axis. */
static enum sl_status
concat_dims(struct sl__kernel_call *ev, int axis, int64_t *dims)
{
	const struct sl__tensor *first = sl__ref_input_tensor(ev, 2);

	memcpy(dims, first->dims, first->rank * sizeof(*dims));
	dims[axis] = 0;
	for (size_t i = 2; i + 2 < ev->node->n_inputs; i += 3) {
		const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
		int fits = t && t->rank == first->rank &&
			   t->dtype == first->dtype;

		for (size_t d = 0; fits && d < t->rank; d++)
			fits = d == (size_t)axis || t->dims[d] == dims[d];
		if (!fits || __builtin_add_overflow(dims[axis], t->dims[axis],
						    &dims[axis]))
			return sl__ref_reject(
				ev, "input %zu is not like the first", i);
	}
	return SL_OK;
}

/* Inputs after the result's scale and zero point come in threes: a tensor
 * and its own. */
enum sl_status
sl__ref_qlinear_concat(struct sl__kernel_call *ev)
{
	int axis = sl__axis_normalize(sl__attribute_int(ev->node, "axis", 0),
				      sl__ref_input_rank(ev, 2));
	int64_t dims[SL__RANK_MOST], inner, start = 0;
	size_t rank = (size_t)sl__ref_input_rank(ev, 2);
	double *y;

	if (axis < 0 || rank > SL__RANK_MOST || ev->node->n_inputs % 3 != 2)
		return sl__ref_reject(ev, "its axis is not there, or not each "
					  "input has a scale");
	if (concat_dims(ev, axis, dims) ||
	    sl__ref_output_alloc(ev, 0, sl__ref_input_dtype(ev, 2), rank, dims))
		return ev->failure;
	y = sl__ref_scratch_output(ev, 0);
	inner = sl__dims_product(dims, (size_t)axis + 1, rank);
	for (size_t i = 2; !ev->failure && i + 2 < ev->node->n_inputs; i += 3) {
		const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
		int64_t line = t->dims[axis] * inner;
		const double *x = read_reals(ev, i);

		for (int64_t k = 0; x && k < (int64_t)t->n_elements; k++)
			y[(k / line * dims[axis] + start) * inner + k % line] =
				x[k];
		start += t->dims[axis];
	}
	return write_reals(ev, y, 0);
}
