/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_quantized_conv.c - convolutions of small integers.
 *
 * Zero points are taken off first, so that padding, which has the zero point
 * of the image, adds nothing.  Sums are of 64 bits.
 */
#include "ops/ref_quantize.h"
#include "ops/window.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Dimension 0 of the image is the batch; strides are in elements. */
struct conv {
	struct sl__window window;
	size_t rank;
	size_t channel; /* dimension of the channels: 1 or the last */
	size_t first;   /* dimension of the image that is the window's 0 */
	int64_t n_groups, n_in, n_out; /* channels of the weight: in of one */
	const int64_t *in_dims, *out_dims;
	int64_t in_strides[SL__WINDOW_MOST + 2];
	int64_t n_taps;
	int64_t *x, *w; /* less their zero points; w is [n_out][n_in][taps] */
};

/* A copy of input i less the zero points, one for all of 'n_lines' stretches
 * of equal length or one each. */
static int64_t *
centred(struct sl__eval *ev, size_t i, size_t zero_at, int64_t n_lines)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	const int64_t *given = sl__ref_integers(ev, i);
	const int64_t *zeros = sl__ref_per_channel(ev, zero_at, n_lines);
	int64_t n = t ? (int64_t)t->n_elements : 0;
	int64_t length = n_lines && n >= n_lines ? n / n_lines : 1;
	int64_t *made = sl__ref_new_integers(ev, n);

	sl__ref_check_small(ev, i);
	sl__ref_check_small(ev, zero_at);
	for (int64_t k = 0; !ev->failure && k < n; k++)
		made[k] = given[k] - zeros[k / length];
	return made;
}

/* Sizes that inference has checked for the most part. */
static enum sl_status
measure(struct sl__eval *ev, struct conv *c, size_t weight)
{
	const struct sl__tensor *x = sl__ref_tensor(ev, 0);
	const struct sl__tensor *w = sl__ref_tensor(ev, weight);
	const struct sl__datum *out = sl__ref_result(ev, 0);

	memset(c, 0, sizeof(*c));
	c->n_groups = sl__int(ev->node, "group", 1);
	if (!x || !w || out->kind != SL__TYPE_TENSOR || x->rank < 3 ||
	    w->rank != x->rank || out->tensor.rank != x->rank ||
	    c->n_groups < 1 || w->dims[0] % c->n_groups)
		return sl__ref_refuse(
			ev, "its image and its weight do not go together");
	c->rank = x->rank;
	c->in_dims = x->dims;
	c->out_dims = out->tensor.dims;
	c->n_out = w->dims[0];
	c->n_in = w->dims[1];
	if (sl__ref_window(&c->window, ev, (int)x->rank - 2, w->dims + 2))
		return ev->failure;
	c->channel = 1;
	if (sl__is_op(ev->node, SL__OP_MS_QLinearConv) &&
	    sl__int(ev->node, "channels_last", 0))
		c->channel = c->rank - 1;
	c->first = c->channel == 1 ? 2 : 1;
	c->n_taps = (int64_t)sl__window_taps(&c->window);
	sl__ref_strides(c->in_strides, c->rank, c->in_dims);
	sl__window_settle(&c->window, c->in_dims + c->first,
			  c->out_dims + c->first);
	if (c->in_dims[c->channel] != c->n_in * c->n_groups ||
	    c->out_dims[c->channel] != c->n_out)
		return sl__ref_refuse(
			ev, "%lld channels, where the weight takes %lld",
			(long long)c->in_dims[c->channel],
			(long long)(c->n_in * c->n_groups));
	return SL_OK;
}

/* The offset of one tap in the image; -1 where it lies in the padding. */
static int64_t
tap_offset(const struct conv *c, const int64_t *at, int64_t tap)
{
	const struct sl__window *w = &c->window;
	int64_t offset = 0;

	for (int d = w->n; d-- > 0;) {
		size_t dim = c->first + (size_t)d;
		int64_t place = at[dim] * w->strides[d] - w->pads_before[d] +
				tap % w->kernel[d] * w->dilations[d];

		tap /= w->kernel[d];
		if (place < 0 || place >= c->in_dims[dim])
			return -1;
		offset += place * c->in_strides[dim];
	}
	return offset;
}

/* The sum at one position of the result. */
static int64_t
sum_at(const struct conv *c, const int64_t *at)
{
	int64_t channel = at[c->channel];
	int64_t group = channel / (c->n_out / c->n_groups);
	int64_t step = c->in_strides[c->channel];
	const int64_t *x =
		c->x + at[0] * c->in_strides[0] + group * c->n_in * step;
	const int64_t *w = c->w + channel * c->n_in * c->n_taps;
	int64_t sum = 0;

	for (int64_t tap = 0; tap < c->n_taps; tap++) {
		int64_t offset = tap_offset(c, at, tap);

		for (int64_t k = 0; offset >= 0 && k < c->n_in; k++)
			sum += x[offset + k * step] * w[k * c->n_taps + tap];
	}
	return sum;
}

/* All sums, of the result's sizes; 'weight' is which input. */
static int64_t *
convolve(struct sl__eval *ev, struct conv *c, size_t weight)
{
	const struct sl__tensor *zero = sl__ref_tensor(ev, 2);
	int64_t at[SL__WINDOW_MOST + 2] = {0};
	int64_t *sums, n;

	if (measure(ev, c, weight))
		return NULL;
	if (zero && zero->n_elements != 1)
		sl__ref_refuse(ev, "an image has one zero point, not %llu",
			       (unsigned long long)zero->n_elements);
	c->x = centred(ev, 0, 2, 1);
	c->w = centred(ev, weight, weight == 1 ? 3 : 5, c->n_out);
	n = (int64_t)sl__ref_result(ev, 0)->tensor.n_elements;
	sums = sl__ref_new_integers(ev, n);
	for (int64_t i = 0; !ev->failure && i < n; i++) {
		sums[i] = sum_at(c, at);
		(void)sl__ref_next(at, c->rank, c->out_dims, NULL, NULL, 0);
	}
	return sums;
}

enum sl_status
sl__ref_conv_integer(struct sl__eval *ev)
{
	struct conv c;

	return sl__ref_store_integers(ev, 0, convolve(ev, &c, 1));
}

/* One factor takes a sum, with the bias of its channel, to the result's scale,
 * in f32 as runtimes do; then come its zero point and limits. */
enum sl_status
sl__ref_qlinear_conv(struct sl__eval *ev)
{
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	struct conv c;
	int64_t *sums = convolve(ev, &c, 3), inner;
	struct sl__ref_scale y = sl__ref_scale(ev, 6);
	const double *x_scale = sl__ref_scales(ev, 1, 1), *w_scales;
	const int64_t *bias;

	if (ev->failure)
		return ev->failure;
	w_scales = sl__ref_scales(ev, 4, c.n_out);
	bias = sl__ref_per_channel(ev, 8, c.n_out);
	inner = sl__ref_product(c.out_dims, c.channel + 1, c.rank);
	for (int64_t i = 0; !ev->failure && i < (int64_t)out->n_elements; i++) {
		int64_t m = i / inner % c.n_out;
		double factor = (double)((float)(x_scale[0] * w_scales[m]) /
					 (float)y.scale);
		double sum = (double)sums[i] + (double)bias[m];
		float scaled = (float)((double)(float)sum * factor);

		sums[i] = sl__ref_saturated(out->dtype,
					    nearbyint((double)scaled), y.zero);
	}
	return sl__ref_store_integers(ev, 0, sums);
}
