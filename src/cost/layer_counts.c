/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_counts.c - what single layers hold and compute, by closed form.
 *
 * Written without graphs on purpose: tests compare these formulas with what
 * the operators' rules find.
 */
#include "cost/layer_counts.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

/* A product or sum that remembers whether it ever left 64 bits. */
struct number {
	uint64_t value;
	int is_beyond;
};

static struct number
product(const int64_t *factors, size_t n)
{
	struct number p = {1, 0};

	for (size_t i = 0; i < n; i++)
		p.is_beyond |= __builtin_mul_overflow(
			p.value, (uint64_t)factors[i], &p.value);
	return p;
}

static struct number
sum(struct number a, struct number b)
{
	struct number s = {0, a.is_beyond | b.is_beyond};

	s.is_beyond |= __builtin_add_overflow(a.value, b.value, &s.value);
	return s;
}

static enum sl_status
check_sizes(const int64_t *sizes, size_t n, struct sl_error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (sizes[i] < 1)
			return sl__fail(err, SL_E_USAGE,
					"a size of %lld: it must be at least "
					"1",
					(long long)sizes[i]);
	}
	return SL_OK;
}

/* What the figures of one sample make of the whole. */
struct layer {
	int64_t batch;
	struct number parameters, macs, bias_adds; /* the last two a sample */
};

static enum sl_status
fill(struct sl_counts *out, const struct layer *layer, struct sl_error *err)
{
	uint64_t batch = (uint64_t)layer->batch;
	int beyond = layer->parameters.is_beyond | layer->macs.is_beyond |
		     layer->bias_adds.is_beyond;
	struct sl_counts counts = {0};

	counts.batch = layer->batch;
	counts.parameters = layer->parameters.value;
	counts.macs_per_sample = layer->macs.value;
	beyond |= __builtin_mul_overflow(counts.parameters, UINT64_C(4),
					 &counts.parameter_bytes);
	beyond |= __builtin_mul_overflow(counts.macs_per_sample, UINT64_C(2),
					 &counts.flops_per_sample);
	beyond |= __builtin_mul_overflow(counts.macs_per_sample, batch,
					 &counts.macs);
	beyond |=
		__builtin_mul_overflow(counts.macs, UINT64_C(2), &counts.flops);
	beyond |= __builtin_mul_overflow(layer->bias_adds.value, batch,
					 &counts.bias_flops);
	beyond |= __builtin_add_overflow(counts.flops, counts.bias_flops,
					 &counts.all_flops);
	if (beyond)
		return sl__fail(err, SL_E_USAGE,
				"these sizes make more than 64 bits count");
	*out = counts;
	return SL_OK;
}

enum sl_status
sl_count_linear(struct sl_counts *out, int64_t batch, int64_t n_in,
		int64_t n_out, int has_bias, struct sl_error *err)
{
	const int64_t sizes[] = {n_in, n_out, batch};
	struct layer layer = {.batch = batch};
	enum sl_status rc = check_sizes(sizes, 3, err);

	memset(out, 0, sizeof(*out));
	if (rc)
		return rc;
	layer.macs = layer.parameters = product(sizes, 2);
	if (has_bias) {
		layer.bias_adds = product(&n_out, 1);
		layer.parameters = sum(layer.parameters, layer.bias_adds);
	}
	return fill(out, &layer, err);
}

/* A kernel along one dimension. */
struct window {
	int64_t size, kernel, stride, padding, dilation;
};

/* Where it fits. */
static enum sl_status
count_places(int64_t *out, const struct window *w, struct sl_error *err)
{
	int64_t reach, room;

	if (__builtin_mul_overflow(w->dilation, w->kernel - 1, &reach) ||
	    __builtin_mul_overflow(w->padding, INT64_C(2), &room) ||
	    __builtin_add_overflow(room, w->size, &room) ||
	    __builtin_sub_overflow(room, reach, &room))
		return sl__fail(err, SL_E_USAGE,
				"these sizes make more than 64 bits count");
	if (room < 1)
		return sl__fail(err, SL_E_USAGE,
				"a kernel of %lld does not fit into %lld with "
				"padding %lld",
				(long long)w->kernel, (long long)w->size,
				(long long)w->padding);
	*out = (room - 1) / w->stride + 1;
	return SL_OK;
}

static int64_t
or_else(int64_t size, int64_t usual)
{
	return size ? size : usual;
}

void
sl__conv2d_apply_defaults(struct sl_conv2d *c)
{
	c->kernel_height = or_else(c->kernel_height, 3);
	c->kernel_width = or_else(c->kernel_width, c->kernel_height);
	c->stride = or_else(c->stride, 1);
	c->stride_width = or_else(c->stride_width, c->stride);
	c->padding_width = or_else(c->padding_width, c->padding);
	if (c->padding_width == -1)
		c->padding_width = 0;
	c->dilation = or_else(c->dilation, 1);
	c->dilation_width = or_else(c->dilation_width, c->dilation);
	c->groups = or_else(c->groups, 1);
}

static enum sl_status
check_conv(const struct sl_conv2d *c, struct sl_error *err)
{
	enum sl_status rc = check_sizes(
		(int64_t[]){c->in_channels, c->out_channels, c->height,
			    c->width, c->kernel_height, c->kernel_width,
			    c->stride, c->stride_width, c->dilation,
			    c->dilation_width, c->groups},
		11, err);

	if (rc)
		return rc;
	if (c->padding < 0 || c->padding_width < 0)
		return sl__fail(err, SL_E_USAGE, "a padding of %lld x %lld",
				(long long)c->padding,
				(long long)c->padding_width);
	if (c->in_channels % c->groups || c->out_channels % c->groups)
		return sl__fail(err, SL_E_USAGE,
				"%lld groups do not divide %lld and %lld "
				"channels",
				(long long)c->groups, (long long)c->in_channels,
				(long long)c->out_channels);
	return SL_OK;
}

enum sl_status
sl_count_conv2d(struct sl_counts *out, int64_t batch,
		const struct sl_conv2d *conv, struct sl_error *err)
{
	struct layer layer = {.batch = batch};
	struct sl_conv2d c = *conv;
	/* Weights of one output; places; outputs per place. */
	int64_t sizes[6];
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__conv2d_apply_defaults(&c);
	rc = check_conv(&c, err);
	if (!rc)
		rc = check_sizes(&batch, 1, err);
	if (!rc)
		rc = count_places(&sizes[4],
				  &(struct window){c.height, c.kernel_height,
						   c.stride, c.padding,
						   c.dilation},
				  err);
	if (!rc)
		rc = count_places(&sizes[5],
				  &(struct window){c.width, c.kernel_width,
						   c.stride_width,
						   c.padding_width,
						   c.dilation_width},
				  err);
	if (rc)
		return rc;
	sizes[0] = c.in_channels / c.groups;
	sizes[1] = c.kernel_height;
	sizes[2] = c.kernel_width;
	sizes[3] = c.out_channels;
	layer.parameters = product(sizes, 4);
	layer.macs = product(sizes, 6);
	if (c.has_bias) {
		layer.parameters = sum(layer.parameters, product(&sizes[3], 1));
		layer.bias_adds = product(&sizes[3], 3);
	}
	return fill(out, &layer, err);
}

enum sl_status
sl_count_attention(struct sl_counts *out, int64_t batch, int64_t seq,
		   int64_t width, int has_bias, struct sl_error *err)
{
	const int64_t projections[] = {4, width, width, seq};
	const int64_t biases[] = {4, width, seq};
	const int64_t products[] = {2, seq, seq, width};
	struct layer layer = {.batch = batch};
	enum sl_status rc = check_sizes((int64_t[]){batch, seq, width}, 3, err);

	memset(out, 0, sizeof(*out));
	if (rc)
		return rc;
	layer.parameters = product(projections, 3);
	layer.macs = sum(product(projections, 4), product(products, 4));
	if (has_bias) {
		layer.parameters = sum(layer.parameters, product(biases, 2));
		layer.bias_adds = product(biases, 3);
	}
	return fill(out, &layer, err);
}
