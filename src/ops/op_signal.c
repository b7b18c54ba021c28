/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_signal.c - Fourier transforms and what goes with them.
 *
 * A transform of n points is counted as the usual figure for a fast one of
 * any radix, 5 n log2(n) operations for complex numbers and half of that for
 * real ones, three additions to two products; which algorithm a runtime
 * takes for which n is its own affair, so the cost is an estimate.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* The one integer that input i holds; a symbol counts, 0 is returned where
 * there is none. */
static int
in_size(struct sl__call *call, size_t i, int64_t *out)
{
	const struct sl__known *known = sl__in_known(call, i);

	if (!known || !known->ints || known->n != 1)
		return 0;
	*out = known->ints[0];
	return 1;
}

/* The axis of a DFT: an attribute, 1 unless given, before version 20 and an
 * input, -2 unless given, since. */
static int
transform_axis(struct sl__call *call, int rank, int *is_known)
{
	int64_t axis = -2;

	*is_known = 1;
	if (call->node->version < 20)
		axis = sl__int(call->node, "axis", 1);
	else if (sl__has_in(call, 2))
		*is_known = in_size(call, 2, &axis) && !sl__is_symbol(axis);
	return sl__axis(axis, rank);
}

/* Points of the transform: as told, else the input's. */
static int64_t
transform_length(struct sl__call *call, int64_t in)
{
	struct sl__shapes *s = call->shapes;
	int64_t n = in;

	if (sl__has_in(call, 1))
		return in_size(call, 1, &n) ? n : sl__size_unknown(s);
	if (sl__int(call->node, "onesided", 0) &&
	    sl__int(call->node, "inverse", 0))
		return sl__size_mul(s, 2, sl__size_sub(s, in, 1));
	return n;
}

static int64_t
half_and_one(struct sl__shapes *s, int64_t n)
{
	return sl__size_add(s, sl__size_div(s, n, 2), 1);
}

enum sl_status
sl__infer_dft(struct sl__call *call)
{
	const struct sl__type *x = sl__in(call, 0);
	int rank = sl__in_rank(call, 0), is_known, axis;
	int is_onesided = sl__int(call->node, "onesided", 0) != 0;
	int is_inverse = sl__int(call->node, "inverse", 0) != 0;
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int64_t *dims;

	if (rank < 0)
		return sl__out_rankless(call, 0, dtype);
	axis = transform_axis(call, rank, &is_known);
	if (!is_known)
		return sl__out_unknown(call, 0, dtype,
				       "depends on the contents of 'axis'");
	if (rank < 2 || axis < 0 || axis == rank - 1)
		return sl__refuse(call, "no axis of %s to transform along",
				  sl__in_text(call, 0));
	dims = sl__copy_sizes(call, 0);
	if (!dims)
		return call->failure;
	dims[axis] = transform_length(call, x->dims[axis]);
	if (is_onesided && !is_inverse)
		dims[axis] = half_and_one(call->shapes, dims[axis]);
	dims[rank - 1] = is_onesided && is_inverse ? 1 : 2;
	return sl__out(call, 0, dtype, rank, dims);
}

/* Length of the frames of an STFT; 0 where it is not known. */
static int
frame_length(struct sl__call *call, int64_t *out)
{
	if (sl__has_in(call, 3))
		return in_size(call, 3, out);
	if (sl__in_rank(call, 2) == 1)
		*out = sl__in(call, 2)->dims[0];
	else if (!sl__has_in(call, 2) && sl__in_rank(call, 0) >= 2)
		*out = sl__in(call, 0)->dims[1];
	else
		return 0;
	return 1;
}

enum sl_status
sl__infer_stft(struct sl__call *call)
{
	const struct sl__type *x = sl__in(call, 0);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct sl__shapes *s = call->shapes;
	int64_t dims[4], length, step;

	if (sl__in_rank(call, 0) < 0)
		return sl__out_rankless(call, 0, dtype);
	if (x->rank != 2 && x->rank != 3)
		return sl__refuse(call, "a signal of %s", sl__in_text(call, 0));
	if (!in_size(call, 1, &step) || !frame_length(call, &length))
		return sl__out_unknown(call, 0, dtype,
				       "depends on the contents of "
				       "'frame_step' or 'frame_length'");
	if (step == 0 || length == 0 ||
	    (!sl__is_symbol(x->dims[1]) && !sl__is_symbol(length) &&
	     length > x->dims[1]))
		return sl__refuse(call,
				  "no frame of %lld every %lld in a signal of "
				  "%lld",
				  (long long)length, (long long)step,
				  (long long)x->dims[1]);
	dims[0] = x->dims[0];
	dims[1] = sl__size_div(s, sl__size_sub(s, x->dims[1], length), step);
	dims[1] = sl__size_add(s, dims[1], 1);
	dims[2] = sl__int(call->node, "onesided", 1) ? half_and_one(s, length)
						     : length;
	dims[3] = 2;
	return sl__out(call, 0, dtype, 4, dims);
}

static void
count_transforms(struct sl_cost *cost, uint64_t n_transforms, uint64_t n,
		 int is_real)
{
	double points = 5 * (double)n * (n > 1 ? log2((double)n) : 0);
	double each = ceil(is_real ? points / 2 : points);
	/* Beyond this no signal goes; the conversion must not overflow. */
	uint64_t each_n = each < 9e18 ? (uint64_t)each : UINT64_MAX;

	cost->add = sl__times(n_transforms, each_n - each_n / 5 * 2);
	cost->mul = sl__times(n_transforms, each_n / 5 * 2);
	sl__cost_estimate(cost, "as a fast Fourier transform of 5 n log2 n "
				"operations");
}

void
sl__cost_dft(struct sl__call *call, struct sl_cost *cost)
{
	int is_known, rank = sl__in_rank(call, 0);
	int axis = transform_axis(call, rank, &is_known);
	int64_t n = -1;
	uint64_t length, parts = sl__in_dim(call, 0, -1);

	length = is_known && axis >= 0 ? sl__in_dim(call, 0, axis) : 0;
	if (length)
		n = transform_length(call, (int64_t)length);
	if (n < 0 || parts == 0)
		sl__cost_unknown(call, cost);
	else
		count_transforms(cost,
				 cost->in_elements / sl__times(length, parts),
				 (uint64_t)n,
				 parts == 1 || sl__out_dim(call, 0, -1) == 1);
}

void
sl__cost_stft(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t frames =
		sl__times(sl__out_dim(call, 0, 0), sl__out_dim(call, 0, 1));
	int is_real = sl__in_rank(call, 0) == 2 || sl__in_dim(call, 0, 2) == 1;
	int64_t length;

	if (!frame_length(call, &length) || length < 0) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_transforms(cost, frames, (uint64_t)length, is_real);
	if (sl__has_in(call, 2))
		sl__count(cost, sl__times(frames, (uint64_t)length),
			  SL__PER(.mul = 1));
}

static enum sl_dtype
named_dtype(struct sl__call *call)
{
	int64_t dtype = sl__int(call->node, "output_datatype", SL_DTYPE_F32);

	return dtype > 0 && dtype < SL_N_DTYPES ? (enum sl_dtype)dtype
						: SL_DTYPE_NONE;
}

enum sl_status
sl__infer_signal_window(struct sl__call *call)
{
	int64_t size;

	if (!in_size(call, 0, &size))
		size = sl__size_named(call->shapes, "size");
	return sl__out(call, 0, named_dtype(call), 1, &size);
}

/* One cosine and its weighting; two of them for Blackman's. */
void
sl__cost_signal_window(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = sl__is_op(call->node, SL__OP_ONNX_BlackmanWindow) ? 2 : 1;

	sl__count(cost, cost->out_elements, SL__PER(.exp = n, .fma = n));
}

enum sl_status
sl__infer_mel_weights(struct sl__call *call)
{
	int64_t dims[2], n;

	dims[0] = in_size(call, 1, &n) ? half_and_one(call->shapes, n)
				       : sl__size_named(call->shapes, "bins");
	dims[1] = in_size(call, 0, &n) ? n
				       : sl__size_named(call->shapes, "mel");
	return sl__out(call, 0, named_dtype(call), 2, dims);
}

/* Triangles: two lines and their lesser for each element. */
void
sl__cost_mel_weights(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	sl__count(cost, cost->out_elements, SL__PER(.fma = 2, .cmp = 2));
	sl__cost_estimate(cost, "as if no element were known to be zero");
}
