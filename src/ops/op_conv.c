/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_conv.c - convolutions, also transposed, quantized and deformable.
 *
 * Each output element of a convolution is a sum over the input channels of
 * its group and the taps of the kernel; of a transposed one, each input
 * element is spread over the output channels of its group and the taps.
 * 'forms' says where each operator's operands stand.
 */
#include "ops/cost.h"
#include "ops/op_row.h"
#include "ops/window.h"

#include <string.h>

#include "base/banned.h"

enum { NO_BIAS = 99 };

struct form {
	enum sl__op_id id;
	size_t weight, bias; /* inputs */
	int is_channels_last;
};

static const struct form forms[] = {
	{SL__OP_ONNX_Conv, 1, 2, 0},
	{SL__OP_ONNX_ConvTranspose, 1, 2, 0},
	{SL__OP_ONNX_ConvInteger, 1, NO_BIAS, 0},
	{SL__OP_ONNX_QLinearConv, 3, 8, 0},
	{SL__OP_ONNX_DeformConv, 1, 3, 0},
	{SL__OP_ONNX_CausalConvWithState, 1, 2, 0},
	{SL__OP_MS_FusedConv, 1, 2, 0},
	{SL__OP_MS_NhwcConv, 1, 2, 1},
	{SL__OP_MS_NhwcFusedConv, 1, 2, 1},
	{SL__OP_MS_QLinearConv, 3, 8, 0},
};

/* One convolution: its operands, and the window where they are known. */
struct conv {
	const struct form *form;
	const struct sl__type *x, *w; /* of equal rank */
	int rank, channel;            /* of x; the dimension of channels */
	int64_t n_groups;
	struct sl__window window;
};

static const struct form *
form_of(const struct sl__call *call)
{
	return SL__ROW_OF(call->node, forms);
}

/* Dimension of the image that axis d of the window slides along. */
static int
image_dim(const struct conv *c, int d)
{
	return c->channel == 1 ? d + 2 : d + 1;
}

static enum sl_dtype
result_dtype(struct sl__call *call)
{
	const struct sl__node *node = call->node;

	if (sl__is_op(node, SL__OP_ONNX_ConvInteger))
		return SL_DTYPE_I32;
	if ((sl__is_op(node, SL__OP_ONNX_QLinearConv) ||
	     sl__is_op(node, SL__OP_MS_QLinearConv)) &&
	    sl__has_in(call, 7))
		return sl__in_dtype(call, 7);
	return sl__in_dtype(call, 0);
}

/* Reads what a node convolves; 0 where a rank is not known, or what is known is
 * refused. */
static int
read_conv(struct conv *c, struct sl__call *call)
{
	int weight_rank;

	memset(c, 0, sizeof(*c));
	c->form = form_of(call);
	c->x = sl__in(call, 0);
	c->w = sl__in(call, c->form->weight);
	c->rank = sl__in_rank(call, 0);
	c->n_groups = sl__int(call->node, "group", 1);
	weight_rank = sl__in_rank(call, c->form->weight);
	if (c->rank < 0 || weight_rank < 0)
		return 0;
	if (c->rank < 3 || c->rank != weight_rank)
		sl__refuse(call,
			   "an input of %s and a weight of %s: it takes both "
			   "with batch or output channels, channels, and an "
			   "image",
			   sl__in_text(call, 0),
			   sl__in_text(call, c->form->weight));
	if (c->n_groups < 1)
		sl__refuse(call, "group is %lld", (long long)c->n_groups);
	c->channel = c->form->is_channels_last ||
				     (c->form->id == SL__OP_MS_QLinearConv &&
				      sl__int(call->node, "channels_last", 0))
			     ? c->rank - 1
			     : 1;
	return !call->failure &&
	       !sl__window_read(&c->window, call, c->rank - 2, c->w->dims + 2);
}

static void
check_channels(struct sl__call *call, const struct conv *c, int64_t taken)
{
	int64_t channels = c->x->dims[c->channel];

	if (taken == -1)
		sl__refuse(call, "the weight takes more channels than can be "
				 "counted, for its many groups");
	else if (sl__sizes_differ(channels, taken))
		sl__refuse(call,
			   "the input has %lld channels, the weight takes %lld",
			   (long long)channels, (long long)taken);
}

static void
check_bias(struct sl__call *call, const struct conv *c, int64_t channels)
{
	int rank = sl__in_rank(call, c->form->bias);

	if (rank >= 0 &&
	    (rank != 1 ||
	     sl__sizes_differ(sl__in(call, c->form->bias)->dims[0], channels)))
		sl__refuse(
			call, "a bias of %s does not fit %lld output channels",
			sl__in_text(call, c->form->bias), (long long)channels);
}

enum sl_status
sl__infer_conv(struct sl__call *call)
{
	int64_t dims[SL__WINDOW_MOST + 2], out_channels;
	enum sl_dtype dtype = result_dtype(call);
	struct conv c;

	if (!read_conv(&c, call))
		return sl__out_rankless(call, 0, dtype);
	out_channels = c.w->dims[0];
	check_channels(call, &c,
		       sl__size_mul(call->shapes, c.w->dims[1], c.n_groups));
	if (!sl__is_symbol(out_channels) && out_channels % c.n_groups)
		sl__refuse(call,
			   "%lld output channels in %lld groups do not come "
			   "out even",
			   (long long)out_channels, (long long)c.n_groups);
	check_bias(call, &c, out_channels);
	for (int d = 0; d < c.window.n; d++) {
		int at = image_dim(&c, d);

		dims[at] =
			sl__window_positions(call, &c.window, d, c.x->dims[at]);
	}
	dims[0] = c.x->dims[0];
	dims[c.channel] = out_channels;
	return sl__out(call, 0, dtype, c.rank, dims);
}

/* output_padding, and output_shape where given: either of them or both may
 * name the image's sizes only, or all dimensions. */
struct spread {
	int64_t more[SL__WINDOW_MOST];
	const int64_t *shape; /* NULL: follows from the rest */
};

static void
read_spread(struct spread *s, struct sl__call *call, int n)
{
	const int64_t *values;
	size_t n_values = sl__ints(call->node, "output_padding", &values);

	memset(s, 0, sizeof(*s));
	if (n_values && n_values != (size_t)n)
		sl__refuse(call, "output_padding has %zu numbers, not %d",
			   n_values, n);
	for (int d = 0; d < n && n_values == (size_t)n; d++) {
		if (values[d] < 0 || values[d] > INT32_MAX)
			sl__refuse(call, "output_padding holds %lld",
				   (long long)values[d]);
		s->more[d] = values[d];
	}
	n_values = sl__ints(call->node, "output_shape", &values);
	if (n_values && n_values != (size_t)n && n_values != (size_t)n + 2)
		sl__refuse(call, "output_shape has %zu numbers, not %d",
			   n_values, n);
	else if (n_values)
		s->shape = values + (n_values - (size_t)n);
	for (int d = 0; s->shape && d < n; d++) {
		if (s->shape[d] < 0)
			sl__refuse(call, "output_shape holds %lld",
				   (long long)s->shape[d]);
	}
}

/*
 * stride * (in - 1) + extent + output_padding - pads.  SAME means in * stride,
 * for which what is missing where the kernel is smaller than the stride is not
 * made up: padding is never negative.
 */
static int64_t
spread_size(struct sl__shapes *shapes, const struct conv *c,
	    const struct spread *s, int d)
{
	const struct sl__window *w = &c->window;
	int64_t in = c->x->dims[d + 2];
	int64_t extent, more;

	if (s->shape)
		return s->shape[d];
	if (sl__is_symbol(w->kernel[d]))
		return sl__size_unknown(shapes);
	extent = (w->kernel[d] - 1) * w->dilations[d] + 1;
	more = extent + s->more[d] - w->strides[d] - w->pads_before[d] -
	       w->pads_after[d];
	if (w->padding == SL__PADDING_SAME && more > 0)
		more = 0;
	in = sl__size_mul(shapes, in, w->strides[d]);
	return more < 0 ? sl__size_sub(shapes, in, -more)
			: sl__size_add(shapes, in, more);
}

enum sl_status
sl__infer_conv_transpose(struct sl__call *call)
{
	int64_t dims[SL__WINDOW_MOST + 2];
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct spread spread;
	struct conv c;

	if (!read_conv(&c, call))
		return sl__out_rankless(call, 0, dtype);
	read_spread(&spread, call, c.window.n);
	check_channels(call, &c, c.w->dims[0]);
	dims[0] = c.x->dims[0];
	dims[1] = sl__size_mul(call->shapes, c.w->dims[1], c.n_groups);
	check_bias(call, &c, dims[1]);
	for (int d = 0; !call->failure && d < c.window.n; d++)
		dims[d + 2] = spread_size(call->shapes, &c, &spread, d);
	return sl__out(call, 0, dtype, c.rank, dims);
}

/* [n][c][t] with a kernel [c][1][k] over what came before; the state is the
 * last k - 1 elements of each channel. */
enum sl_status
sl__infer_causal_conv(struct sl__call *call)
{
	const struct sl__type *x = sl__in(call, 0), *w = sl__in(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);

	sl__out_like(call, 0, 0, SL_DTYPE_NONE);
	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return sl__out_rankless(call, 1, dtype);
	if (x->rank != 3 || w->rank != 3 ||
	    sl__sizes_differ(x->dims[1], w->dims[0]))
		return sl__refuse(call, "a kernel of %s does not fit %s",
				  sl__in_text(call, 1), sl__in_text(call, 0));
	return sl__out(call, 1, dtype, 3,
		       (int64_t[]){x->dims[0], x->dims[1],
				   sl__size_sub(call->shapes, w->dims[2], 1)});
}

/* What follows the sums: bias, a second operand, an activation, a scale. */
static void
count_ending(struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	const char *word = sl__word(node, "activation", "");

	cost->work = SL_WORK_CONVOLUTION;
	if (sl__has_in(call, form_of(call)->bias))
		sl__count(cost, cost->out_elements, SL__PER(.add = 1));
	if ((sl__is_op(node, SL__OP_MS_FusedConv) ||
	     sl__is_op(node, SL__OP_MS_NhwcFusedConv)) &&
	    sl__has_in(call, 3))
		sl__count(cost, cost->out_elements, SL__PER(.add = 1));
	if (!strcmp(word, "Relu") || !strcmp(word, "LeakyRelu") ||
	    !strcmp(word, "Clip"))
		sl__count(cost, cost->out_elements, SL__PER(.cmp = 1));
	else if (*word && strcmp(word, "none"))
		sl__count(cost, cost->out_elements, SL__PER(.exp = 1));
	if (form_of(call)->weight == 3) /* back to small integers */
		sl__count(cost, cost->out_elements, SL__PER(.mul = 1));
}

/* Elements of the weight behind one of its first dimension's. */
static uint64_t
taps_per_first(struct sl__call *call)
{
	const struct sl__type *w = sl__in(call, form_of(call)->weight);
	uint64_t taps = 1;

	for (int d = 1; w && d < w->rank; d++)
		taps = sl__times(taps, (uint64_t)w->dims[d]);
	return taps;
}

void
sl__cost_conv(struct sl__call *call, struct sl_cost *cost)
{
	sl__count_macs(cost,
		       sl__times(cost->out_elements, taps_per_first(call)));
	count_ending(call, cost);
}

void
sl__cost_conv_transpose(struct sl__call *call, struct sl_cost *cost)
{
	sl__count_macs(cost,
		       sl__times(cost->in_elements, taps_per_first(call)));
	count_ending(call, cost);
}

/*
 * Beside the convolution, each tap of each channel is read between the
 * elements of the image: 2^n of them, weighted.
 */
void
sl__cost_deform_conv(struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__type *w = sl__in(call, 1);
	uint64_t taps = sl__in_dim(call, 0, 1);

	sl__cost_conv(call, cost);
	for (int d = 2; w && d < w->rank; d++) {
		taps = sl__times(taps, (uint64_t)w->dims[d]);
		taps = sl__times(taps, sl__out_dim(call, 0, d));
	}
	taps = sl__times(taps, sl__out_dim(call, 0, 0));
	if (w && w->rank < 32)
		sl__count(cost, taps,
			  SL__PER(.fma = UINT64_C(1) << (w->rank - 2)));
	sl__count(cost, taps, SL__PER(.mul = (uint64_t)sl__has_in(call, 4)));
}
