/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_qlinear.c - operators on quantized numbers that are defined by way of
 * real ones: taken off their scale, computed, quantized again.
 */
#include "base/status.h"
#include "ops/activation.h"
#include "ops/ref_pool.h"
#include "ops/ref_quantize.h"
#include "ops/ref_softmax.h"

#include <string.h>

#include "base/banned.h"

/* Input i with the scale and the zero point after it, as reals of 32 bits:
 * scales are often ratios of small integers, whose ties rounding decides. */
static enum sl_status
read_reals(struct sl__eval *ev, double **out, size_t i, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	struct sl__ref_scale s;
	const int64_t *x;
	enum sl_status rc = sl__ref_scale(ev, &s, i + 1, err);

	if (rc)
		return rc;
	x = sl__ref_integers(ev, i, err);
	if (!x)
		return sl__ref_failure(ev);
	*out = sl__ref_new(ev, (size_t)t->n_elements, sizeof(**out));
	if (!*out)
		return sl__fail_nomem(err);
	for (size_t k = 0; k < t->n_elements; k++)
		(*out)[k] = (double)(float)(((double)x[k] - (double)s.zero) *
					    s.scale);
	return SL_OK;
}

/* Output 0, quantized by the scale that is input i. */
static enum sl_status
write_reals(struct sl__eval *ev, const double *y, size_t i,
	    struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, 0);
	struct sl__ref_scale s;
	enum sl_status rc = sl__ref_scale(ev, &s, i, err);

	for (size_t k = 0; !rc && k < out->tensor.n_elements; k++) {
		int64_t q = sl__ref_quantized(out->tensor.dtype, y[k], s.scale,
					      s.zero);

		sl__store_integers(out->bytes, out->tensor.dtype, k, 1, &q);
	}
	return rc;
}

/* Storage for output 0 as reals. */
static enum sl_status
new_reals(struct sl__eval *ev, double **y, struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);

	if (!out || out->kind != SL__TYPE_TENSOR)
		return sl__fail(err, SL_E_DATA, "its result has no sizes");
	*y = sl__ref_new(ev, (size_t)out->tensor.n_elements, sizeof(**y));
	return *y ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
join(struct sl__eval *ev, const double *a, const double *b, double *y,
     struct sl_error *err)
{
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	const struct sl__tensor *left = sl__ref_tensor(ev, 0);
	const struct sl__tensor *right = sl__ref_tensor(ev, 3);
	int is_sum = sl__is_op(ev->node, SL__OP_MS_QLinearAdd);
	int64_t *at = sl__ref_new(ev, out->rank, sizeof(*at));
	int64_t *strides[2], offsets[2] = {0, 0};

	strides[0] = sl__ref_new(ev, out->rank, sizeof(int64_t));
	strides[1] = sl__ref_new(ev, out->rank, sizeof(int64_t));
	if (!at || !strides[0] || !strides[1])
		return sl__fail_nomem(err);
	sl__ref_broadcast(strides[0], out->rank, left->rank, left->dims);
	sl__ref_broadcast(strides[1], out->rank, right->rank, right->dims);
	for (size_t i = 0; i < out->n_elements; i++) {
		y[i] = is_sum ? a[offsets[0]] + b[offsets[1]]
			      : a[offsets[0]] * b[offsets[1]];
		(void)sl__ref_next(at, out->rank, out->dims, offsets,
				   (const int64_t *const *)strides, 2);
	}
	return SL_OK;
}

/* QLinearAdd, QLinearMul. */
enum sl_status
sl__ref_qlinear_binary(struct sl__eval *ev, struct sl_error *err)
{
	double *a, *b, *y;
	enum sl_status rc = read_reals(ev, &a, 0, err);

	if (!rc)
		rc = read_reals(ev, &b, 3, err);
	if (!rc)
		rc = new_reals(ev, &y, err);
	if (!rc)
		rc = join(ev, a, b, y, err);
	return rc ? rc : write_reals(ev, y, 6, err);
}

/* QLinearSigmoid, QLinearLeakyRelu. */
enum sl_status
sl__ref_qlinear_unary(struct sl__eval *ev, struct sl_error *err)
{
	int is_sigmoid = sl__is_op(ev->node, SL__OP_MS_QLinearSigmoid);
	double slope = sl__float(ev->node, "alpha", (double)0.01F);
	double *x;
	size_t n;
	enum sl_status rc = read_reals(ev, &x, 0, err);

	if (rc)
		return rc;
	n = (size_t)sl__ref_tensor(ev, 0)->n_elements;
	for (size_t i = 0; i < n; i++)
		x[i] = is_sigmoid ? sl__act_sigmoid(x[i], 0, 0)
				  : sl__act_leaky_relu(x[i], slope, 0);
	return write_reals(ev, x, 3, err);
}

/* The attribute "opset" says whether a line runs along the axis or, before
 * 13, spans all axes from it on. */
enum sl_status
sl__ref_qlinear_softmax(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, 0);
	int is_old = sl__int(ev->node, "opset", 13) < 13;
	int axis = sl__axis(sl__int(ev->node, "axis", is_old ? 1 : -1),
			    sl__ref_rank(ev, 0));
	size_t length = 1, step = 1;
	double *x;
	enum sl_status rc;

	if (axis < 0)
		return sl__fail(err, SL_E_DATA, "its axis is not there");
	rc = read_reals(ev, &x, 0, err);
	if (rc)
		return rc;
	for (size_t d = (size_t)axis; d < t->rank; d++) {
		if (is_old || d == (size_t)axis)
			length *= (size_t)t->dims[d];
		else
			step *= (size_t)t->dims[d];
	}
	for (size_t i = 0; i < t->n_elements; i++) {
		if (i / step % length == 0)
			sl__softmax_line(x + i, x + i, (int64_t)length,
					 (int64_t)step);
	}
	return write_reals(ev, x, 3, err);
}

/* QLinearAveragePool, QLinearGlobalAveragePool. */
enum sl_status
sl__ref_qlinear_pool(struct sl__eval *ev, struct sl_error *err)
{
	unsigned form = 0;
	double *x, *y;
	enum sl_status rc = read_reals(ev, &x, 0, err);

	if (sl__is_op(ev->node, SL__OP_MS_QLinearGlobalAveragePool))
		form |= SL__POOL_WHOLE;
	if (sl__int(ev->node, "channels_last", 0))
		form |= SL__POOL_CHANNELS_LAST;
	if (!rc)
		rc = new_reals(ev, &y, err);
	if (!rc)
		rc = sl__ref_averages(ev, form, x, y, err);
	return rc ? rc : write_reals(ev, y, 3, err);
}

/* Sizes of the result: those of the first input, summed along the axis. */
static enum sl_status
concat_dims(struct sl__eval *ev, int axis, int64_t *dims, struct sl_error *err)
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
			return sl__fail(err, SL_E_DATA,
					"input %zu is not like the first", i);
	}
	return SL_OK;
}

/* Copies one input to its place along the axis. */
static enum sl_status
place(struct sl__eval *ev, size_t i, size_t axis, int64_t *start, double *y,
      struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	size_t inner = 1, line;
	double *x;
	enum sl_status rc = read_reals(ev, &x, i, err);

	for (size_t d = axis + 1; d < t->rank; d++)
		inner *= (size_t)t->dims[d];
	line = (size_t)t->dims[axis] * inner;
	for (size_t k = 0; !rc && k < t->n_elements; k++)
		y[k / line * (size_t)out->dims[axis] * inner +
		  (size_t)*start * inner + k % line] = x[k];
	*start += t->dims[axis];
	return rc;
}

/* Inputs after the result's scale and zero point come in threes: a tensor
 * and its own. */
enum sl_status
sl__ref_qlinear_concat(struct sl__eval *ev, struct sl_error *err)
{
	int axis = sl__axis(sl__int(ev->node, "axis", 0), sl__ref_rank(ev, 2));
	int64_t dims[SL__RANK_MOST], start = 0;
	double *y;
	enum sl_status rc;

	if (axis < 0 || sl__ref_rank(ev, 2) > SL__RANK_MOST ||
	    ev->node->n_inputs % 3 != 2)
		return sl__fail(err, SL_E_DATA,
				"its axis is not there, or "
				"not each input has a scale");
	rc = concat_dims(ev, axis, dims, err);
	if (!rc)
		rc = sl__ref_out(ev, 0, sl__ref_dtype(ev, 2),
				 (size_t)sl__ref_rank(ev, 2), dims, err);
	if (!rc)
		rc = new_reals(ev, &y, err);
	for (size_t i = 2; !rc && i + 2 < ev->node->n_inputs; i += 3)
		rc = place(ev, i, (size_t)axis, &start, y, err);
	return rc ? rc : write_reals(ev, y, 0, err);
}
