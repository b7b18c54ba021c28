/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_conv.c - convolutions, also transposed, quantized and deformable.
 *
 * Each output element of a convolution is a sum over the input channels of
 * its group and the taps of the kernel; of a transposed one, each input
 * element is spread over the output channels of its group and the taps.
 * 'forms' says where each operator's operands stand.
 *
 * A convolution and a transposed one are the same pairing of two images read
 * in the two directions: tap k of the window joins element o of the small
 * image with element o * stride + k * dilation - pad of the big one.  Forward
 * the big image is the input, transposed it is the output.  Along the last
 * dimension the elements of both lie at fixed distances, so the innermost
 * loop runs over rows of them.
 */
#include "ops/activation.h"
#include "ops/cost.h"
#include "ops/op_row.h"
#include "ops/ref_quantize.h"
#include "ops/window.h"

#include <math.h>
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
form_of(const struct sl__rule_context *call)
{
	return SL__OP_ROW_OF(call->node, forms);
}

/* Dimension of the image that axis d of the window slides along. */
static int
image_dim(const struct conv *c, int d)
{
	return c->channel == 1 ? d + 2 : d + 1;
}

static enum sl_dtype
result_dtype(struct sl__rule_context *call)
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
read_conv(struct conv *c, struct sl__rule_context *call)
{
	int weight_rank;

	memset(c, 0, sizeof(*c));
	c->form = form_of(call);
	c->x = sl__in_type(call, 0);
	c->w = sl__in_type(call, c->form->weight);
	c->rank = sl__in_rank(call, 0);
	c->n_groups = sl__attribute_int(call->node, "group", 1);
	weight_rank = sl__in_rank(call, c->form->weight);
	if (c->rank < 0 || weight_rank < 0)
		return 0;
	if (c->rank < 3 || c->rank != weight_rank)
		sl__rule_reject(
			call,
			"an input of %s and a weight of %s: it takes both "
			"with batch or output channels, channels, and an "
			"image",
			sl__in_shape_text(call, 0),
			sl__in_shape_text(call, c->form->weight));
	if (c->n_groups < 1)
		sl__rule_reject(call, "group is %lld", (long long)c->n_groups);
	c->channel = c->form->is_channels_last ||
				     (c->form->id == SL__OP_MS_QLinearConv &&
				      sl__attribute_int(call->node,
							"channels_last", 0))
			     ? c->rank - 1
			     : 1;
	return !call->failure &&
	       !sl__window_read(&c->window, call, c->rank - 2, c->w->dims + 2);
}

static void
check_channels(struct sl__rule_context *call, const struct conv *c,
	       int64_t taken)
{
	int64_t channels = c->x->dims[c->channel];

	if (taken == -1)
		sl__rule_reject(call,
				"the weight takes more channels than can be "
				"counted, for its many groups");
	else if (sl__sizes_differ(channels, taken))
		sl__rule_reject(
			call,
			"the input has %lld channels, the weight takes %lld",
			(long long)channels, (long long)taken);
}

static void
check_bias(struct sl__rule_context *call, const struct conv *c,
	   int64_t channels)
{
	int rank = sl__in_rank(call, c->form->bias);

	if (rank >= 0 &&
	    (rank != 1 ||
	     sl__sizes_differ(sl__in_type(call, c->form->bias)->dims[0],
			      channels)))
		sl__rule_reject(
			call, "a bias of %s does not fit %lld output channels",
			sl__in_shape_text(call, c->form->bias),
			(long long)channels);
}

enum sl_status
sl__infer_conv(struct sl__rule_context *call)
{
	int64_t dims[SL__WINDOW_MOST + 2], out_channels;
	enum sl_dtype dtype = result_dtype(call);
	struct conv c;

	if (!read_conv(&c, call))
		return sl__out_set_dtype_only(call, 0, dtype);
	out_channels = c.w->dims[0];
	check_channels(call, &c,
		       sl__size_mul(call->shapes, c.w->dims[1], c.n_groups));
	if (!sl__is_symbol(out_channels) && out_channels % c.n_groups)
		sl__rule_reject(
			call,
			"%lld output channels in %lld groups do not come "
			"out even",
			(long long)out_channels, (long long)c.n_groups);
	check_bias(call, &c, out_channels);
	for (int d = 0; d < c.window.n; d++) {
		int at = image_dim(&c, d);

		dims[at] = sl__window_output_size(call, &c.window, d,
						  c.x->dims[at]);
	}
	dims[0] = c.x->dims[0];
	dims[c.channel] = out_channels;
	return sl__out_set_shape(call, 0, dtype, c.rank, dims);
}

/* output_padding, and output_shape where given: either of them or both may
 * name the image's sizes only, or all dimensions. */
struct spread {
	int64_t more[SL__WINDOW_MOST];
	const int64_t *shape; /* NULL: follows from the rest */
};

static void
read_spread(struct spread *s, struct sl__rule_context *call, int n)
{
	const int64_t *values;
	size_t n_values =
		sl__attribute_ints(call->node, "output_padding", &values);

	memset(s, 0, sizeof(*s));
	if (n_values && n_values != (size_t)n)
		sl__rule_reject(call, "output_padding has %zu numbers, not %d",
				n_values, n);
	for (int d = 0; d < n && n_values == (size_t)n; d++) {
		if (values[d] < 0 || values[d] > INT32_MAX)
			sl__rule_reject(call, "output_padding holds %lld",
					(long long)values[d]);
		s->more[d] = values[d];
	}
	n_values = sl__attribute_ints(call->node, "output_shape", &values);
	if (n_values && n_values != (size_t)n && n_values != (size_t)n + 2)
		sl__rule_reject(call, "output_shape has %zu numbers, not %d",
				n_values, n);
	else if (n_values)
		s->shape = values + (n_values - (size_t)n);
	for (int d = 0; s->shape && d < n; d++) {
		if (s->shape[d] < 0)
			sl__rule_reject(call, "output_shape holds %lld",
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
		return sl__size_new_unknown(shapes);
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
sl__infer_conv_transpose(struct sl__rule_context *call)
{
	int64_t dims[SL__WINDOW_MOST + 2];
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct spread spread;
	struct conv c;

	if (!read_conv(&c, call))
		return sl__out_set_dtype_only(call, 0, dtype);
	read_spread(&spread, call, c.window.n);
	check_channels(call, &c, c.w->dims[0]);
	dims[0] = c.x->dims[0];
	dims[1] = sl__size_mul(call->shapes, c.w->dims[1], c.n_groups);
	check_bias(call, &c, dims[1]);
	for (int d = 0; !call->failure && d < c.window.n; d++)
		dims[d + 2] = spread_size(call->shapes, &c, &spread, d);
	return sl__out_set_shape(call, 0, dtype, c.rank, dims);
}

/* [n][c][t] with a kernel [c][1][k] over what came before; the state is the
 * last k - 1 elements of each channel. */
enum sl_status
sl__infer_causal_conv(struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, 0),
			      *w = sl__in_type(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);

	sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return sl__out_set_dtype_only(call, 1, dtype);
	if (x->rank != 3 || w->rank != 3 ||
	    sl__sizes_differ(x->dims[1], w->dims[0]))
		return sl__rule_reject(call, "a kernel of %s does not fit %s",
				       sl__in_shape_text(call, 1),
				       sl__in_shape_text(call, 0));
	return sl__out_set_shape(
		call, 1, dtype, 3,
		(int64_t[]){x->dims[0], x->dims[1],
			    sl__size_sub(call->shapes, w->dims[2], 1)});
}

/* What follows the sums: bias, a second operand, an activation, a scale. */
static void
count_ending(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	const char *word = sl__attribute_string(node, "activation", "");

	cost->work = SL_WORK_CONVOLUTION;
	if (sl__has_in(call, form_of(call)->bias))
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.add = 1));
	if ((sl__is_op(node, SL__OP_MS_FusedConv) ||
	     sl__is_op(node, SL__OP_MS_NhwcFusedConv)) &&
	    sl__has_in(call, 3))
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.add = 1));
	if (!strcmp(word, "Relu") || !strcmp(word, "LeakyRelu") ||
	    !strcmp(word, "Clip"))
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.cmp = 1));
	else if (*word && strcmp(word, "none"))
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.exp = 1));
	if (form_of(call)->weight == 3) /* back to small integers */
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.mul = 1));
}

/* Elements of the weight behind one of its first dimension's. */
static uint64_t
taps_per_first(struct sl__rule_context *call)
{
	const struct sl__type *w = sl__in_type(call, form_of(call)->weight);
	uint64_t taps = 1;

	for (int d = 1; w && d < w->rank; d++)
		taps = sl__saturating_mul(taps, (uint64_t)w->dims[d]);
	return taps;
}

void
sl__cost_conv(struct sl__rule_context *call, struct sl_cost *cost)
{
	sl__cost_add_macs(cost, sl__saturating_mul(cost->out_elements,
						   taps_per_first(call)));
	count_ending(call, cost);
}

void
sl__cost_conv_transpose(struct sl__rule_context *call, struct sl_cost *cost)
{
	sl__cost_add_macs(cost, sl__saturating_mul(cost->in_elements,
						   taps_per_first(call)));
	count_ending(call, cost);
}

/*
 * Beside the convolution, each tap of each channel is read between the
 * elements of the image: 2^n of them, weighted.
 */
void
sl__cost_deform_conv(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__type *w = sl__in_type(call, 1);
	uint64_t taps = sl__in_dim(call, 0, 1);

	sl__cost_conv(call, cost);
	for (int d = 2; w && d < w->rank; d++) {
		taps = sl__saturating_mul(taps, (uint64_t)w->dims[d]);
		taps = sl__saturating_mul(taps, sl__out_dim(call, 0, d));
	}
	taps = sl__saturating_mul(taps, sl__out_dim(call, 0, 0));
	if (w && w->rank < 32)
		sl__cost_add_operations(
			cost, taps,
			SL__OPERATIONS_EACH(.fma = UINT64_C(1)
						   << (w->rank - 2)));
	sl__cost_add_operations(
		cost, taps,
		SL__OPERATIONS_EACH(.mul = (uint64_t)sl__has_in(call, 4)));
}

enum { MOST = SL__WINDOW_MOST };

/* x [batch][n_groups * channels][in], y [batch][n_groups * results][out]. */
struct job {
	struct sl__window w;
	int64_t batch, n_groups;
	int64_t channels, results; /* of one group */
	int64_t in[MOST], out[MOST];
	int64_t in_size, out_size, taps; /* elements of an image, a kernel */
	const double *x, *weight, *bias;
	double *y;
	int is_channels_last, is_transposed;
};

/* Elements that one tap joins: small + i with big + i * stride, n of them. */
struct row {
	int64_t big, small, stride, n;
};

static int64_t
divide_up(int64_t a, int64_t b)
{
	return a <= 0 ? 0 : (a + b - 1) / b;
}

/* The row of the small image at at[0 .. n - 2], as far as the tap takes it
 * into the big one; 0 where that is nowhere. */
static int
find_row(struct row *row, const struct sl__window *w, const int64_t *big,
	 const int64_t *small, const int64_t *tap, const int64_t *at)
{
	int last = w->n - 1;
	int64_t first = tap[last] * w->dilations[last] - w->pads_before[last];
	int64_t from = divide_up(-first, w->strides[last]);
	int64_t to = divide_up(big[last] - first, w->strides[last]);

	row->big = row->small = 0;
	for (int d = 0; d < last; d++) {
		int64_t i = at[d] * w->strides[d] + tap[d] * w->dilations[d] -
			    w->pads_before[d];

		if (i < 0 || i >= big[d])
			return 0;
		row->big = row->big * big[d] + i;
		row->small = row->small * small[d] + at[d];
	}
	if (to > small[last])
		to = small[last];
	row->stride = w->strides[last];
	row->big = row->big * big[last] + first + from * row->stride;
	row->small = row->small * small[last] + from;
	row->n = to - from;
	return row->n > 0;
}

static void
gather_row(const struct row *r, const double *big, double *small, double weight)
{
	const double *from = big + r->big;
	double *to = small + r->small;

	if (r->stride == 1) {
		for (int64_t i = 0; i < r->n; i++)
			to[i] += weight * from[i];
		return;
	}
	for (int64_t i = 0; i < r->n; i++)
		to[i] += weight * from[i * r->stride];
}

static void
scatter_row(const struct row *r, double *big, const double *small,
	    double weight)
{
	const double *from = small + r->small;
	double *to = big + r->big;

	for (int64_t i = 0; i < r->n; i++)
		to[i * r->stride] += weight * from[i];
}

/* Each tap of the kernel from x to y: into the small image, or where that is
 * the input, into the big one. */
static void
run_taps(const struct job *c, const double *kernel, const double *x, double *y)
{
	const int64_t *n_big = c->is_transposed ? c->out : c->in;
	const int64_t *n_small = c->is_transposed ? c->in : c->out;
	int64_t tap[MOST] = {0};
	size_t n = (size_t)c->w.n;

	do {
		int64_t at[MOST] = {0};
		struct row row;

		do {
			if (!find_row(&row, &c->w, n_big, n_small, tap, at))
				continue;
			if (c->is_transposed)
				scatter_row(&row, y, x, *kernel);
			else
				gather_row(&row, x, y, *kernel);
		} while (sl__strided_position_next(at, n - 1, n_small, NULL,
						   NULL, 0));
		kernel++;
	} while (sl__strided_position_next(tap, n, c->w.kernel, NULL, NULL, 0));
}

/* A copy of [batch][a][b] as [batch][b][a]; NULL: out of memory. */
static double *
swapped(struct sl__kernel_call *ev, const double *x, int64_t batch, int64_t a,
	int64_t b)
{
	double *made = sl__ref_scratch_doubles(ev, batch * a * b);

	for (int64_t i = 0; !ev->failure && i < batch * a * b; i++)
		made[(i / (a * b) * b + i % b) * a + i / b % a] = x[i];
	return made;
}

/* Inference has compared channels, groups and bias with each other. */
static enum sl_status
read_sizes(struct job *c, struct sl__kernel_call *ev, size_t weight)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *w = sl__ref_input_tensor(ev, weight);
	const struct sl__tensor *y = &sl__ref_output(ev, 0)->tensor;
	size_t first = c->is_channels_last ? 1 : 2;

	if (!x || !w || x->rank < 3 || x->rank != w->rank || x->rank != y->rank)
		return sl__ref_reject(ev, "it lacks an image or weight");
	if (sl__window_read_for_kernel(&c->w, ev, (int)x->rank - 2,
				       w->dims + 2))
		return ev->failure;
	c->batch = x->dims[0];
	c->n_groups = sl__attribute_int(ev->node, "group", 1);
	for (size_t d = 0; d < x->rank - 2; d++) {
		c->in[d] = x->dims[first + d];
		c->out[d] = y->dims[first + d];
	}
	c->in_size = sl__dims_product(c->in, 0, x->rank - 2);
	c->out_size = sl__dims_product(c->out, 0, x->rank - 2);
	c->taps = sl__dims_product(c->w.kernel, 0, x->rank - 2);
	c->channels = w->dims[1];
	c->results = w->dims[0] / c->n_groups;
	return SL_OK;
}

/* The result is the bias so far, which is that input. */
static enum sl_status
read_operands(struct job *c, struct sl__kernel_call *ev, size_t bias)
{
	int64_t results = c->n_groups * c->results;

	c->x = sl__ref_input_doubles(ev, 0);
	c->weight = sl__ref_input_doubles(ev, 1);
	c->bias = sl__ref_optional_doubles(ev, bias);
	c->y = sl__ref_scratch_output(ev, 0);
	for (int64_t i = 0;
	     !ev->failure && c->bias && i < c->batch * results * c->out_size;
	     i++)
		c->y[i] = c->bias[i / c->out_size % results];
	return ev->failure;
}

/* A window of one element that moves by one sees an image as one row. */
static void
flatten_points(struct job *c)
{
	for (int d = 0; d < c->w.n; d++) {
		if (c->w.kernel[d] != 1 || c->w.strides[d] != 1 ||
		    c->w.pads_before[d] || c->in[d] != c->out[d])
			return;
	}
	c->w.n = 1;
	c->in[0] = c->in_size;
	c->out[0] = c->out_size;
}

/* Each pair of a channel and a result of its group. */
static void
convolve(struct job *c, struct sl__kernel_call *ev)
{
	int64_t pairs = c->channels * c->results;

	if (c->is_channels_last)
		c->x = swapped(ev, c->x, c->batch, c->in_size,
			       c->n_groups * c->channels);
	if (ev->failure || c->in_size == 0 || c->out_size == 0)
		return;
	for (int64_t i = 0; i < c->batch * c->n_groups * pairs; i++) {
		int64_t group = i / pairs; /* of all images */
		int64_t k = c->is_transposed ? i % pairs / c->results
					     : i % c->channels;
		int64_t m = c->is_transposed ? i % c->results
					     : i % pairs / c->channels;

		run_taps(c, c->weight + i % (c->n_groups * pairs) * c->taps,
			 c->x + (group * c->channels + k) * c->in_size,
			 c->y + (group * c->results + m) * c->out_size);
	}
	if (c->is_channels_last)
		c->y = swapped(ev, c->y, c->batch, c->n_groups * c->results,
			       c->out_size);
}

/* Conv, and FusedConv, which adds a second operand and ends in an activation,
 * also with the channels last. */
enum sl_status
sl__ref_conv(struct sl__kernel_call *ev)
{
	const struct sl__tensor *y = &sl__ref_output(ev, 0)->tensor;
	int is_nhwc = sl__is_op(ev->node, SL__OP_MS_NhwcFusedConv);
	int is_fused = sl__is_op(ev->node, SL__OP_MS_FusedConv) || is_nhwc;
	const struct sl__tensor *z = is_fused ? sl__ref_input_tensor(ev, 3)
					      : NULL;
	const double *more = z ? sl__ref_input_doubles(ev, 3) : NULL;
	struct sl__fused_activation ending = {0};
	struct job c = {.is_channels_last =
				sl__is_op(ev->node, SL__OP_MS_NhwcConv) ||
				is_nhwc};

	if (ev->failure || (is_fused && sl__fused_activation_read(&ending, ev)))
		return ev->failure;
	if (z && (z->rank != y->rank ||
		  memcmp(z->dims, y->dims, z->rank * sizeof(*z->dims)) != 0))
		return sl__ref_reject(
			ev, "what is added has other sizes than the result");
	if (read_sizes(&c, ev, 1))
		return ev->failure;
	sl__window_fill_same_pads(&c.w, c.in, c.out);
	flatten_points(&c);
	if (read_operands(&c, ev, 2))
		return ev->failure;
	convolve(&c, ev);
	for (uint64_t i = 0; !ev->failure && more && i < y->n_elements; i++)
		c.y[i] += more[i];
	if (!ev->failure)
		sl__fused_activation_apply(&ending, (size_t)y->n_elements, c.y);
	return sl__ref_output_store_doubles(ev, 0, c.y);
}

/*
 * A copy of input i less the zero points, one for all of 'n_lines' stretches of
 * equal length or one each, so that padding, which has the zero point of the
 * image, adds nothing.  Sums of their products are whole and exact: of 16 bits
 * and more than half a million taps they would not be.
 */
static double *
centred(struct sl__kernel_call *ev, size_t i, size_t zero_at, int64_t n_lines)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	const double *given = sl__ref_input_doubles(ev, i);
	const int64_t *zeros = sl__ref_channel_integers(ev, zero_at, n_lines);
	int64_t n = t ? (int64_t)t->n_elements : 0;
	int64_t length = n_lines && n >= n_lines ? n / n_lines : 1;
	double *made = sl__ref_scratch_doubles(ev, n);

	sl__ref_check_narrow_integers(ev, i);
	sl__ref_check_narrow_integers(ev, zero_at);
	for (int64_t k = 0; !ev->failure && k < n; k++)
		made[k] = given[k] - (double)zeros[k / length];
	return made;
}

/* All sums, of the result's sizes; 'weight' is which input. */
static void
sum_up(struct sl__kernel_call *ev, struct job *c, size_t weight)
{
	const struct sl__tensor *zero = sl__ref_input_tensor(ev, 2);

	c->is_channels_last = sl__is_op(ev->node, SL__OP_MS_QLinearConv) &&
			      sl__attribute_int(ev->node, "channels_last", 0);
	if (sl__ref_output(ev, 0)->kind != SL__TYPE_TENSOR)
		sl__ref_reject(ev, "its result has no sizes");
	if (ev->failure || read_sizes(c, ev, weight))
		return;
	sl__window_fill_same_pads(&c->w, c->in, c->out);
	if (zero && zero->n_elements != 1)
		sl__ref_reject(ev, "an image has one zero point, not %llu",
			       (unsigned long long)zero->n_elements);
	c->x = centred(ev, 0, 2, 1);
	c->weight = centred(ev, weight, weight == 1 ? 3 : 5,
			    c->n_groups * c->results);
	c->y = sl__ref_scratch_output(ev, 0);
	convolve(c, ev);
}

enum sl_status
sl__ref_conv_integer(struct sl__kernel_call *ev)
{
	struct job c = {0};

	sum_up(ev, &c, 1);
	return sl__ref_output_store_doubles(ev, 0, c.y);
}

/* One factor takes a sum, with the bias of its channel, to the result's scale,
 * in f32 as runtimes do; then come its zero point and limits. */
enum sl_status
sl__ref_qlinear_conv(struct sl__kernel_call *ev)
{
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	struct sl__ref_scale_zero_point y = sl__ref_scale_zero_point(ev, 6);
	const double *x_scale = sl__ref_channel_scales(ev, 1, 1), *w_scales;
	struct job c = {0};
	int64_t n, inner, *made;
	const int64_t *bias;

	sum_up(ev, &c, 3);
	if (ev->failure)
		return ev->failure;
	n = c.n_groups * c.results;
	w_scales = sl__ref_channel_scales(ev, 4, n);
	bias = sl__ref_channel_integers(ev, 8, n);
	made = sl__ref_scratch_integers(ev, (int64_t)out->n_elements);
	inner = c.is_channels_last ? 1 : c.out_size;
	for (int64_t i = 0; !ev->failure && i < (int64_t)out->n_elements; i++) {
		int64_t m = i / inner % n;
		double factor = (double)((float)(x_scale[0] * w_scales[m]) /
					 (float)y.scale);
		float sum = (float)(c.y[i] + (double)bias[m]);
		float scaled = (float)((double)sum * factor);

		made[i] = sl__ref_saturate_value(
			out->dtype, nearbyint((double)scaled), y.zero);
	}
	return sl__ref_output_store_integers(ev, 0, made);
}

/*
 * Where the output's size is given, or SAME makes it in * stride, the pads
 * are what is left over; never less than none, so that the end of an output
 * that is larger than all windows stays at the bias.
 */
static void
settle_transposed(struct job *c, const struct sl__node *node)
{
	const int64_t *more, *shape;
	size_t n_more = sl__attribute_ints(node, "output_padding", &more);

	if (!sl__attribute_ints(node, "output_shape", &shape) &&
	    c->w.padding != SL__PADDING_SAME)
		return;
	for (int d = 0; d < c->w.n; d++)
		sl__window_split_pads(
			&c->w, d,
			(c->in[d] - 1) * c->w.strides[d] +
				(n_more == (size_t)c->w.n ? more[d] : 0) +
				sl__window_extent(&c->w, d) - c->out[d]);
}

enum sl_status
sl__ref_conv_transpose(struct sl__kernel_call *ev)
{
	struct job c = {.is_transposed = 1};
	int64_t channels = sl__ref_input_dim(ev, 1, 0);

	if (read_sizes(&c, ev, 1))
		return ev->failure;
	if (channels % c.n_groups)
		return sl__ref_reject(
			ev, "%lld channels in %lld groups do not come out even",
			(long long)channels, (long long)c.n_groups);
	c.channels = channels / c.n_groups;
	c.results = sl__ref_input_dim(ev, 1, 1);
	settle_transposed(&c, ev->node);
	if (read_operands(&c, ev, 2))
		return ev->failure;
	convolve(&c, ev);
	return sl__ref_output_store_doubles(ev, 0, c.y);
}

/* Offsets [batch][n_parts][taps][n][out], mask [batch][n_parts][taps][out]:
 * each of n_parts equal parts of the channels is bent in its own way. */
struct bend {
	int64_t n_parts;
	const double *offsets, *mask;
};

/* Checks that input i is [batch][channels][out]. */
static enum sl_status
check_field(const struct job *c, struct sl__kernel_call *ev, size_t i,
	    int64_t channels)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	if (t && t->rank == (size_t)c->w.n + 2 && t->dims[0] == c->batch &&
	    t->dims[1] == channels &&
	    !memcmp(t->dims + 2, c->out, (size_t)c->w.n * sizeof(c->out[0])))
		return SL_OK;
	return sl__ref_reject(
		ev,
		"input %zu does not have %lld numbers for each place "
		"of the output",
		i, (long long)channels);
}

static enum sl_status
read_bend(struct bend *b, const struct job *c, struct sl__kernel_call *ev)
{
	int64_t per_part;

	b->n_parts = sl__attribute_int(ev->node, "offset_group", 1);
	if (b->n_parts < 1 || c->n_groups * c->channels % b->n_parts)
		return sl__ref_reject(ev, "offset_group is %lld",
				      (long long)b->n_parts);
	per_part = b->n_parts * c->taps;
	if (check_field(c, ev, 2, per_part * c->w.n) ||
	    (sl__ref_input(ev, 4) && check_field(c, ev, 4, per_part)))
		return ev->failure;
	b->offsets = sl__ref_input_doubles(ev, 2);
	b->mask = sl__ref_optional_doubles(ev, 4);
	return ev->failure;
}

/* The image between its elements: the 2^n around the place, weighted by how
 * near they are; what lies outside is 0. */
static double
sample(const struct job *c, const double *image, const double *place)
{
	double sum = 0;

	for (unsigned corner = 0; corner < 1u << c->w.n; corner++) {
		double near = 1;
		int64_t at = 0;

		for (int d = 0; d < c->w.n && near > 0; d++) {
			double low = floor(place[d]);
			double part = place[d] - low;
			double i = corner >> d & 1 ? low + 1 : low;

			near *= corner >> d & 1 ? part : 1 - part;
			if (!(i >= 0 && i < (double)c->in[d]))
				near = 0;
			else
				at = at * c->in[d] + (int64_t)i;
		}
		if (near > 0)
			sum += near * image[at];
	}
	return sum;
}

/* What one tap sees of one channel from each place of the output. */
static void
sample_tap(const struct job *c, const double *image, const int64_t *tap,
	   const double *offsets, double *seen)
{
	int64_t at[MOST] = {0};
	double place[MOST];

	for (int64_t i = 0; i < c->out_size; i++) {
		for (int d = 0; d < c->w.n; d++)
			place[d] = (double)(at[d] * c->w.strides[d] +
					    tap[d] * c->w.dilations[d] -
					    c->w.pads_before[d]) +
				   offsets[d * c->out_size + i];
		seen[i] = sample(c, image, place);
		sl__strided_position_next(at, (size_t)c->w.n, c->out, NULL,
					  NULL, 0);
	}
}

/* Adds channel k of image n to all results of its group. */
static void
bend_channel(const struct job *c, const struct bend *b, int64_t n, int64_t k,
	     double *seen)
{
	int64_t all = c->n_groups * c->channels, group = k / c->channels;
	int64_t part = n * b->n_parts + k / (all / b->n_parts);
	int64_t tap[MOST] = {0}, size = c->out_size;

	for (int64_t t = 0; t < c->taps; t++) {
		int64_t at = part * c->taps + t;

		sample_tap(c, c->x + (n * all + k) * c->in_size, tap,
			   b->offsets + at * c->w.n * size, seen);
		for (int64_t i = 0; b->mask && i < size; i++)
			seen[i] *= b->mask[at * size + i];
		for (int64_t m = group * c->results;
		     m < (group + 1) * c->results; m++) {
			double weight =
				c->weight[(m * c->channels + k % c->channels) *
						  c->taps +
					  t];
			double *y = c->y +
				    (n * c->n_groups * c->results + m) * size;

			for (int64_t i = 0; i < size; i++)
				y[i] += weight * seen[i];
		}
		sl__strided_position_next(tap, (size_t)c->w.n, c->w.kernel,
					  NULL, NULL, 0);
	}
}

enum sl_status
sl__ref_deform_conv(struct sl__kernel_call *ev)
{
	struct job c = {0};
	struct bend b = {0};
	double *seen;

	if (read_sizes(&c, ev, 1))
		return ev->failure;
	if (read_operands(&c, ev, 3) || read_bend(&b, &c, ev))
		return ev->failure;
	seen = sl__ref_scratch_doubles(ev, c.out_size);
	for (int64_t i = 0; seen && i < c.batch * c.n_groups * c.channels; i++)
		bend_channel(&c, &b, i / (c.n_groups * c.channels),
			     i % (c.n_groups * c.channels), seen);
	return sl__ref_output_store_doubles(ev, 0, c.y);
}
