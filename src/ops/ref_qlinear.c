/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_qlinear.c - operators on quantized numbers that are defined by way of
 * real ones: taken off their scale, computed, quantized again.
 */
#include "ops/activation.h"
#include "ops/ref_move.h"
#include "ops/ref_pool.h"
#include "ops/ref_quantize.h"
#include "ops/ref_softmax.h"

#include <string.h>

#include "base/banned.h"

/* Input i with the scale and the zero point after it, as reals of 32 bits:
 * scales are often ratios of small integers, whose ties rounding decides. */
static double *
read_reals(struct sl__eval *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	struct sl__ref_scale s = sl__ref_scale(ev, i + 1);
	const int64_t *x = sl__ref_integers(ev, i);
	int64_t n = x ? (int64_t)t->n_elements : 0;
	double *made = sl__ref_new_doubles(ev, n);

	for (int64_t k = 0; made && k < n; k++)
		made[k] = (double)(float)(((double)x[k] - (double)s.zero) *
					  s.scale);
	return ev->failure ? NULL : made;
}

/* Output 0, quantized by the scale that is input i. */
static enum sl_status
write_reals(struct sl__eval *ev, const double *y, size_t i)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	struct sl__ref_scale s = sl__ref_scale(ev, i);

	for (size_t k = 0; !ev->failure && k < out->tensor.n_elements; k++) {
		int64_t q = sl__ref_quantized(out->tensor.dtype, y[k], s.scale,
					      s.zero);

		sl__store_integers(out->bytes, out->tensor.dtype, k, 1, &q);
	}
	return ev->failure;
}

/* QLinearAdd, QLinearMul. */
enum sl_status
sl__ref_qlinear_binary(struct sl__eval *ev)
{
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	int is_sum = sl__is_op(ev->node, SL__OP_MS_QLinearAdd);
	double *y = sl__ref_new_output(ev, 0);
	const double *a = read_reals(ev, 0), *b = read_reals(ev, 3);
	struct sl__walk w;

	if (ev->failure || sl__walk_result(ev, &w) ||
	    sl__walk_input(ev, &w, 0, SIZE_MAX) ||
	    sl__walk_input(ev, &w, 3, SIZE_MAX))
		return ev->failure;
	for (size_t i = 0; i < out->n_elements; i++) {
		y[i] = is_sum ? a[w.offsets[0]] + b[w.offsets[1]]
			      : a[w.offsets[0]] * b[w.offsets[1]];
		sl__walk_on(&w);
	}
	return write_reals(ev, y, 6);
}

/* QLinearSigmoid, QLinearLeakyRelu. */
enum sl_status
sl__ref_qlinear_unary(struct sl__eval *ev)
{
	int is_sigmoid = sl__is_op(ev->node, SL__OP_MS_QLinearSigmoid);
	double slope = sl__float(ev->node, "alpha", (double)0.01F);
	double *x = read_reals(ev, 0);

	for (size_t i = 0; x && i < sl__ref_tensor(ev, 0)->n_elements; i++)
		x[i] = is_sigmoid ? sl__act_sigmoid(x[i], 0, 0)
				  : sl__act_leaky_relu(x[i], slope, 0);
	return write_reals(ev, x, 3);
}

/* The attribute "opset" says whether a line runs along the axis or, before
 * 13, spans all axes from it on. */
enum sl_status
sl__ref_qlinear_softmax(struct sl__eval *ev)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, 0);
	int is_old = sl__int(ev->node, "opset", 13) < 13;
	int axis = sl__axis(sl__int(ev->node, "axis", is_old ? 1 : -1),
			    sl__ref_rank(ev, 0));
	double *x = read_reals(ev, 0);
	int64_t length, step;
	size_t end;

	if (axis < 0)
		return sl__ref_refuse(ev, "its axis is not there");
	end = is_old ? t->rank : (size_t)axis + 1;
	length = sl__ref_product(t->dims, (size_t)axis, end);
	step = sl__ref_product(t->dims, end, t->rank);
	for (int64_t i = 0; x && i < (int64_t)t->n_elements; i++) {
		if (i / step % length == 0)
			sl__softmax_line(x + i, x + i, length, step);
	}
	return write_reals(ev, x, 3);
}

/* QLinearAveragePool, QLinearGlobalAveragePool. */
enum sl_status
sl__ref_qlinear_pool(struct sl__eval *ev)
{
	const double *x = read_reals(ev, 0);
	double *y = sl__ref_new_output(ev, 0);
	unsigned form = 0;

	if (sl__is_op(ev->node, SL__OP_MS_QLinearGlobalAveragePool))
		form |= SL__POOL_WHOLE;
	if (sl__int(ev->node, "channels_last", 0))
		form |= SL__POOL_CHANNELS_LAST;
	if (ev->failure || sl__ref_averages(ev, form, x, y))
		return ev->failure;
	return write_reals(ev, y, 3);
}

/* Sizes of the result: those of the first input, summed along the axis. */
static enum sl_status
concat_dims(struct sl__eval *ev, int axis, int64_t *dims)
{
	const struct sl__tensor *first = sl__ref_tensor(ev, 2);

	memcpy(dims, first->dims, first->rank * sizeof(*dims));
	dims[axis] = 0;
	for (size_t i = 2; i + 2 < ev->node->n_inputs; i += 3) {
		const struct sl__tensor *t = sl__ref_tensor(ev, i);
		int fits = t && t->rank == first->rank &&
			   t->dtype == first->dtype;

		for (size_t d = 0; fits && d < t->rank; d++)
			fits = d == (size_t)axis || t->dims[d] == dims[d];
		if (!fits || __builtin_add_overflow(dims[axis], t->dims[axis],
						    &dims[axis]))
			return sl__ref_refuse(
				ev, "input %zu is not like the first", i);
	}
	return SL_OK;
}

/* Inputs after the result's scale and zero point come in threes: a tensor
 * and its own. */
enum sl_status
sl__ref_qlinear_concat(struct sl__eval *ev)
{
	int axis = sl__axis(sl__int(ev->node, "axis", 0), sl__ref_rank(ev, 2));
	int64_t dims[SL__RANK_MOST], inner, start = 0;
	size_t rank = (size_t)sl__ref_rank(ev, 2);
	double *y;

	if (axis < 0 || rank > SL__RANK_MOST || ev->node->n_inputs % 3 != 2)
		return sl__ref_refuse(ev, "its axis is not there, or not each "
					  "input has a scale");
	if (concat_dims(ev, axis, dims) ||
	    sl__ref_out(ev, 0, sl__ref_dtype(ev, 2), rank, dims))
		return ev->failure;
	y = sl__ref_new_output(ev, 0);
	inner = sl__ref_product(dims, (size_t)axis + 1, rank);
	for (size_t i = 2; !ev->failure && i + 2 < ev->node->n_inputs; i += 3) {
		const struct sl__tensor *t = sl__ref_tensor(ev, i);
		int64_t line = t->dims[axis] * inner;
		const double *x = read_reals(ev, i);

		for (int64_t k = 0; x && k < (int64_t)t->n_elements; k++)
			y[(k / line * dims[axis] + start) * inner + k % line] =
				x[k];
		start += t->dims[axis];
	}
	return write_reals(ev, y, 0);
}
