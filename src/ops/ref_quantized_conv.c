/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_quantized_conv.c - convolutions of small integers.
 *
 * Zero points are taken off first, so that padding, which has the zero point
 * of the image, adds nothing.  Sums are of 64 bits.
 */
#include "base/status.h"
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
static enum sl_status
centred(struct sl__eval *ev, int64_t **out, size_t i, size_t zero_at,
	size_t n_lines, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	const int64_t *given = sl__ref_integers(ev, i, err), *zeros;
	size_t n, length;
	enum sl_status rc;

	if (!given)
		return sl__ref_failure(ev);
	rc = sl__ref_check_small(ev, i, err);
	if (!rc)
		rc = sl__ref_check_small(ev, zero_at, err);
	if (!rc)
		rc = sl__ref_per_channel(ev, &zeros, zero_at, n_lines, err);
	if (rc)
		return rc;
	n = (size_t)t->n_elements;
	length = n_lines && n >= n_lines ? n / n_lines : 1;
	*out = sl__ref_new(ev, n, sizeof(**out));
	if (!*out)
		return sl__fail_nomem(err);
	for (size_t k = 0; k < n; k++)
		(*out)[k] = given[k] - zeros[k / length];
	return SL_OK;
}

/* Sizes that inference has checked for the most part. */
static enum sl_status
measure(struct sl__eval *ev, struct conv *c, size_t weight,
	struct sl_error *err)
{
	const struct sl__tensor *x = sl__ref_tensor(ev, 0);
	const struct sl__tensor *w = sl__ref_tensor(ev, weight);
	const struct sl__datum *out = sl__ref_result(ev, 0);
	enum sl_status rc;

	memset(c, 0, sizeof(*c));
	c->n_groups = sl__int(ev->node, "group", 1);
	if (!x || !w || !out || out->kind != SL__TYPE_TENSOR || x->rank < 3 ||
	    w->rank != x->rank || out->tensor.rank != x->rank ||
	    c->n_groups < 1 || w->dims[0] % c->n_groups)
		return sl__fail(err, SL_E_DATA,
				"its image and its weight do not go together");
	c->rank = x->rank;
	c->in_dims = x->dims;
	c->out_dims = out->tensor.dims;
	c->n_out = w->dims[0];
	c->n_in = w->dims[1];
	rc = sl__window_of(&c->window, ev->node, (int)x->rank - 2, w->dims + 2,
			   err);
	if (rc)
		return rc;
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
		return sl__fail(err, SL_E_DATA,
				"%lld channels, where the weight takes %lld",
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

/* All sums, of the result's sizes, in scratch. */
static enum sl_status
sums_of(struct sl__eval *ev, const struct conv *c, int64_t **out,
	struct sl_error *err)
{
	size_t n = (size_t)sl__ref_result(ev, 0)->tensor.n_elements;
	int64_t at[SL__WINDOW_MOST + 2] = {0};
	int64_t *sums = sl__ref_new(ev, n, sizeof(*sums));

	if (!sums)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		sums[i] = sum_at(c, at);
		(void)sl__ref_next(at, c->rank, c->out_dims, NULL, NULL, 0);
	}
	*out = sums;
	return SL_OK;
}

static enum sl_status
check_zero(const struct sl__eval *ev, size_t i, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	if (!t || t->n_elements == 1)
		return SL_OK;
	return sl__fail(err, SL_E_DATA, "an image has one zero point, not %llu",
			(unsigned long long)t->n_elements);
}

static enum sl_status
convolve(struct sl__eval *ev, struct conv *c, size_t weight, int64_t **sums,
	 struct sl_error *err)
{
	enum sl_status rc = measure(ev, c, weight, err);

	if (!rc)
		rc = check_zero(ev, 2, err);
	if (!rc)
		rc = centred(ev, &c->x, 0, 2, 1, err);
	if (!rc)
		rc = centred(ev, &c->w, weight, weight == 1 ? 3 : 5,
			     (size_t)c->n_out, err);
	return rc ? rc : sums_of(ev, c, sums, err);
}

enum sl_status
sl__ref_conv_integer(struct sl__eval *ev, struct sl_error *err)
{
	struct conv c;
	int64_t *sums;
	enum sl_status rc = convolve(ev, &c, 1, &sums, err);

	if (!rc)
		sl__ref_store_integers(ev, 0, sums);
	return rc;
}

/* What is added to the sums of each channel: integers of their scale. */
static enum sl_status
read_bias(struct sl__eval *ev, const struct conv *c, const int64_t **bias,
	  struct sl_error *err)
{
	return sl__ref_per_channel(ev, bias, 8, (size_t)c->n_out, err);
}

/* One factor takes a sum to the result's scale, in f32 as runtimes do; then
 * come its zero point and limits. */
static void
rescale(const struct conv *c, int64_t *sums, const struct sl__tensor *out,
	const double *factors, const int64_t *bias, int64_t zero)
{
	size_t inner = 1;

	for (size_t d = c->channel + 1; d < c->rank; d++)
		inner *= (size_t)c->out_dims[d];
	for (size_t i = 0; i < out->n_elements; i++) {
		size_t channel = i / inner % (size_t)c->n_out;
		double sum = (double)sums[i] + (double)bias[channel];
		float scaled = (float)((double)(float)sum * factors[channel]);

		sums[i] = sl__ref_saturated(out->dtype,
					    nearbyint((double)scaled), zero);
	}
}

static enum sl_status
factors_of(struct sl__eval *ev, const struct conv *c, double y_scale,
	   double **out, struct sl_error *err)
{
	const double *x_scale, *w_scales;
	double *factors = sl__ref_new(ev, (size_t)c->n_out, sizeof(*factors));
	enum sl_status rc = sl__ref_scales(ev, &x_scale, 1, 1, err);

	if (!rc)
		rc = sl__ref_scales(ev, &w_scales, 4, (size_t)c->n_out, err);
	if (!rc && !factors)
		rc = sl__fail_nomem(err);
	for (int64_t m = 0; !rc && m < c->n_out; m++)
		factors[m] = (double)((float)(x_scale[0] * w_scales[m]) /
				      (float)y_scale);
	*out = factors;
	return rc;
}

enum sl_status
sl__ref_qlinear_conv(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *out;
	struct sl__ref_scale y;
	const int64_t *bias;
	double *factors;
	int64_t *sums;
	struct conv c;
	enum sl_status rc = convolve(ev, &c, 3, &sums, err);

	if (!rc)
		rc = sl__ref_scale(ev, &y, 6, err);
	if (!rc)
		rc = factors_of(ev, &c, y.scale, &factors, err);
	if (!rc)
		rc = read_bias(ev, &c, &bias, err);
	if (rc)
		return rc;
	out = &sl__ref_result(ev, 0)->tensor;
	rescale(&c, sums, out, factors, bias, y.zero);
	sl__ref_store_integers(ev, 0, sums);
	return SL_OK;
}
