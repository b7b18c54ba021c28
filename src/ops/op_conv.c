/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_conv.c - convolutions, also transposed, quantized and deformable.
 *
 * Each output element of a convolution is a sum over the input channels of
 * its group and the taps of the kernel; of a transposed one, each input
 * element is spread over the output channels of its group and the taps.
 * 'forms' says where each operator's operands stand.
 */
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/cost.h"
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
	for (size_t i = 1; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (sl__is_op(call->node, forms[i].id))
			return &forms[i];
	}
	return &forms[0];
}

/* Dimension of the image that axis d of the window slides along. */
static int
image_dim(const struct conv *c, int d)
{
	return c->channel == 1 ? d + 2 : d + 1;
}

static enum sl_dtype
result_dtype(const struct sl__call *call)
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

/* Reads what a node convolves; *is_known is 0 where a rank is not known. */
static enum sl_status
read_conv(struct conv *c, const struct sl__call *call, int *is_known,
	  struct sl_error *err)
{
	int weight_rank;

	memset(c, 0, sizeof(*c));
	c->form = form_of(call);
	c->x = sl__in(call, 0);
	c->w = sl__in(call, c->form->weight);
	c->rank = sl__in_rank(call, 0);
	c->n_groups = sl__int(call->node, "group", 1);
	weight_rank = sl__in_rank(call, c->form->weight);
	*is_known = c->rank >= 0 && weight_rank >= 0;
	if (!*is_known)
		return SL_OK;
	if (c->rank < 3 || c->rank != weight_rank)
		return sl__refuse(err,
				  "an input of %s and a weight of %s: it takes "
				  "both with batch or output channels, "
				  "channels, and an image",
				  sl__type_text(call->shapes, c->x),
				  sl__type_text(call->shapes, c->w));
	if (c->n_groups < 1)
		return sl__refuse(err, "group is %lld", (long long)c->n_groups);
	c->channel = c->form->is_channels_last ||
				     (c->form->id == SL__OP_MS_QLinearConv &&
				      sl__int(call->node, "channels_last", 0))
			     ? c->rank - 1
			     : 1;
	return sl__window_read(&c->window, call, c->rank - 2, c->w->dims + 2,
			       err);
}

static enum sl_status
check_channels(const struct conv *c, int64_t taken, struct sl_error *err)
{
	int64_t channels = c->x->dims[c->channel];

	if (taken == -1)
		return sl__refuse(err, "the weight takes more channels than "
				       "can be counted, for its many groups");
	if (sl__sizes_differ(channels, taken))
		return sl__refuse(err,
				  "the input has %lld channels, the weight "
				  "takes %lld",
				  (long long)channels, (long long)taken);
	return SL_OK;
}

static enum sl_status
check_bias(const struct sl__call *call, const struct conv *c, int64_t channels,
	   struct sl_error *err)
{
	const struct sl__type *b = sl__in(call, c->form->bias);
	int rank = sl__in_rank(call, c->form->bias);

	if (rank < 0)
		return SL_OK;
	if (rank != 1 || sl__sizes_differ(b->dims[0], channels))
		return sl__refuse(err,
				  "a bias of %s does not fit %lld output "
				  "channels",
				  sl__type_text(call->shapes, b),
				  (long long)channels);
	return SL_OK;
}

enum sl_status
sl__infer_conv(const struct sl__call *call, struct sl_error *err)
{
	int64_t dims[SL__WINDOW_MOST + 2], out_channels;
	enum sl_dtype dtype = result_dtype(call);
	struct conv c;
	int is_known;
	enum sl_status rc = read_conv(&c, call, &is_known, err);

	if (rc)
		return rc;
	if (!is_known)
		return sl__out_rankless(call, 0, dtype, err);
	out_channels = c.w->dims[0];
	rc = check_channels(
		&c, sl__size_mul(call->shapes, c.w->dims[1], c.n_groups), err);
	if (!rc && !sl__is_symbol(out_channels) && out_channels % c.n_groups)
		rc = sl__refuse(err,
				"%lld output channels in %lld groups do not "
				"come out even",
				(long long)out_channels, (long long)c.n_groups);
	if (!rc)
		rc = check_bias(call, &c, out_channels, err);
	for (int d = 0; !rc && d < c.window.n; d++) {
		int at = image_dim(&c, d);

		rc = sl__window_positions(&dims[at], call->shapes, &c.window, d,
					  c.x->dims[at], err);
	}
	if (rc)
		return rc;
	dims[0] = c.x->dims[0];
	dims[c.channel] = out_channels;
	return sl__out(call, 0, dtype, c.rank, dims, err);
}

/* output_padding, and output_shape where given: either of them or both may
 * name the image's sizes only, or all dimensions. */
struct spread {
	int64_t more[SL__WINDOW_MOST];
	const int64_t *shape; /* NULL: follows from the rest */
};

static enum sl_status
read_spread(struct spread *s, const struct sl__call *call, int n,
	    struct sl_error *err)
{
	const int64_t *values;
	size_t n_values = sl__ints(call->node, "output_padding", &values);

	memset(s, 0, sizeof(*s));
	if (n_values && n_values != (size_t)n)
		return sl__refuse(err, "output_padding has %zu numbers, not %d",
				  n_values, n);
	for (int d = 0; d < n && n_values; d++) {
		if (values[d] < 0 || values[d] > INT32_MAX)
			return sl__refuse(err, "output_padding holds %lld",
					  (long long)values[d]);
		s->more[d] = values[d];
	}
	n_values = sl__ints(call->node, "output_shape", &values);
	if (n_values && n_values != (size_t)n && n_values != (size_t)n + 2)
		return sl__refuse(err, "output_shape has %zu numbers, not %d",
				  n_values, n);
	if (n_values)
		s->shape = values + (n_values - (size_t)n);
	for (int d = 0; s->shape && d < n; d++) {
		if (s->shape[d] < 0)
			return sl__refuse(err, "output_shape holds %lld",
					  (long long)s->shape[d]);
	}
	return SL_OK;
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
sl__infer_conv_transpose(const struct sl__call *call, struct sl_error *err)
{
	int64_t dims[SL__WINDOW_MOST + 2];
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct spread spread;
	struct conv c;
	int is_known;
	enum sl_status rc = read_conv(&c, call, &is_known, err);

	if (rc)
		return rc;
	if (!is_known)
		return sl__out_rankless(call, 0, dtype, err);
	rc = read_spread(&spread, call, c.window.n, err);
	if (!rc)
		rc = check_channels(&c, c.w->dims[0], err);
	dims[0] = c.x->dims[0];
	dims[1] = sl__size_mul(call->shapes, c.w->dims[1], c.n_groups);
	if (!rc)
		rc = check_bias(call, &c, dims[1], err);
	if (rc)
		return rc;
	for (int d = 0; d < c.window.n; d++)
		dims[d + 2] = spread_size(call->shapes, &c, &spread, d);
	return sl__out(call, 0, dtype, c.rank, dims, err);
}

/* [n][c][t] with a kernel [c][1][k] over what came before; the state is the
 * last k - 1 elements of each channel. */
enum sl_status
sl__infer_causal_conv(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *x = sl__in(call, 0), *w = sl__in(call, 1);
	enum sl_status rc = sl__out_like(call, 0, 0, SL_DTYPE_NONE, err);
	int64_t state[3];

	if (rc || sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return rc ? rc
			  : sl__out_rankless(call, 1, sl__in_dtype(call, 0),
					     err);
	if (x->rank != 3 || w->rank != 3 ||
	    sl__sizes_differ(x->dims[1], w->dims[0]))
		return sl__refuse(err, "a kernel of %s does not fit %s",
				  sl__type_text(call->shapes, w),
				  sl__type_text(call->shapes, x));
	state[0] = x->dims[0];
	state[1] = x->dims[1];
	state[2] = sl__size_sub(call->shapes, w->dims[2], 1);
	return sl__out(call, 1, sl__in_dtype(call, 0), 3, state, err);
}

/* What follows the sums: bias, a second operand, an activation, a scale. */
static void
count_ending(const struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	const char *word = sl__word(node, "activation", "");

	cost->work = SL_WORK_CONVOLUTION;
	if (sl__has_in(call, form_of(call)->bias))
		cost->add = cost->out_elements;
	if ((sl__is_op(node, SL__OP_MS_FusedConv) ||
	     sl__is_op(node, SL__OP_MS_NhwcFusedConv)) &&
	    sl__has_in(call, 3))
		cost->add = sl__plus(cost->add, cost->out_elements);
	if (!strcmp(word, "Relu") || !strcmp(word, "LeakyRelu") ||
	    !strcmp(word, "Clip"))
		cost->cmp = sl__plus(cost->cmp, cost->out_elements);
	else if (*word && strcmp(word, "none"))
		cost->exp = sl__plus(cost->exp, cost->out_elements);
	if (form_of(call)->weight == 3) /* back to small integers */
		cost->mul = sl__plus(cost->mul, cost->out_elements);
}

/* Elements of the weight behind one of its first dimension's. */
static uint64_t
taps_per_first(const struct sl__call *call)
{
	const struct sl__type *w = sl__in(call, form_of(call)->weight);
	uint64_t taps = 1;

	for (int d = 1; w && d < w->rank; d++)
		taps = sl__times(taps, (uint64_t)w->dims[d]);
	return taps;
}

void
sl__cost_conv(const struct sl__call *call, struct sl_cost *cost)
{
	cost->macs = sl__times(cost->out_elements, taps_per_first(call));
	cost->fma = cost->macs;
	count_ending(call, cost);
}

void
sl__cost_conv_transpose(const struct sl__call *call, struct sl_cost *cost)
{
	cost->macs = sl__times(cost->in_elements, taps_per_first(call));
	cost->fma = cost->macs;
	count_ending(call, cost);
}

/*
 * Beside the convolution, each tap of each channel is read between the
 * elements of the image: 2^n of them, weighted.
 */
void
sl__cost_deform_conv(const struct sl__call *call, struct sl_cost *cost)
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
		cost->fma =
			sl__plus(cost->fma,
				 sl__times(taps, UINT64_C(1) << (w->rank - 2)));
	if (sl__has_in(call, 4))
		cost->mul = sl__plus(cost->mul, taps);
}
