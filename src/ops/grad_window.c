/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_window.c - gradients of what slides a window over images.
 *
 * A convolution has two operators of its own: ConvGradInput(dy, w) and
 * ConvGradWeight(x, dy), which may also give the gradient of the bias.  The
 * gradients of a transposed convolution are a convolution of dy, and
 * ConvGradWeight with the two images exchanged.  MaxPoolGrad(dy, x) finds the
 * largest elements again; AveragePoolGrad(dy) needs no image.  All carry the
 * window in full, padding worked out, and the sizes of their result in 'shape'.
 */
#include "ops/cost.h"
#include "ops/gradient.h"
#include "ops/ref.h"
#include "ops/window.h"

#include <string.h>

#include "base/banned.h"

enum { MOST = SL__WINDOW_MOST };

/* The node's window over images of these sizes (those behind batch and
 * channels), padding worked out.  0: a failure. */
static int
read_window(struct sl__gradient *g, struct sl__window *w,
	    const struct sl__type *x, const struct sl__type *y,
	    const int64_t *kernel)
{
	if (x->rank < 3 || x->rank != y->rank) {
		sl__gradient_reject(g, "it is no image");
		return 0;
	}
	g->w->rc = sl__window_read_from_node(w, &g->node, x->rank - 2, kernel,
					     g->w->err);
	if (g->w->rc)
		return 0;
	sl__window_fill_same_pads(w, x->dims + 2, y->dims + 2);
	return 1;
}

static void
set_window(struct sl__node_writer *writer, const struct sl__window *w,
	   const struct sl__type *shape, int64_t n_groups)
{
	size_t n = (size_t)w->n;
	int64_t pads[2 * MOST];

	memcpy(pads, w->pads_before, n * sizeof(*pads));
	memcpy(pads + n, w->pads_after, n * sizeof(*pads));
	sl__node_writer_set_ints(writer, "kernel_shape", w->kernel, n);
	sl__node_writer_set_ints(writer, "strides", w->strides, n);
	sl__node_writer_set_ints(writer, "dilations", w->dilations, n);
	sl__node_writer_set_ints(writer, "pads", pads, 2 * n);
	if (n_groups)
		sl__node_writer_set_int(writer, "group", n_groups);
	if (shape)
		sl__node_writer_set_ints(writer, "shape", shape->dims,
					 (size_t)shape->rank);
}

/* Over batch and places: what is left is one for each channel. */
static void
set_bias(struct sl__gradient *g)
{
	int rank = sl__node_writer_type(g->w, g->dy[0]).rank;
	int64_t axes[MOST + 2] = {0};

	for (int d = 2; d < rank; d++)
		axes[d - 1] = d;
	g->dx[2] =
		sl__node_writer_sum(g->w, g->dy[0], axes, (size_t)rank - 1, 0);
}

void
sl__grad_conv(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	struct sl__type x = sl__node_writer_type(w, g->node.inputs[0]);
	struct sl__type weight = sl__node_writer_type(w, g->node.inputs[1]);
	struct sl__type y = sl__node_writer_type(w, g->dy[0]);
	int64_t n_groups = sl__attribute_int(&g->node, "group", 1);
	uint32_t outputs[2] = {0, SL__NONE};
	struct sl__window win;

	if (w->rc || !read_window(g, &win, &x, &y, weight.dims + 2))
		return;
	if (g->is_wanted[0]) {
		set_window(w, &win, &x, n_groups);
		g->dx[0] = SL__ADD_NODE(w, SLEUTH_ConvGradInput, g->dy[0],
					g->node.inputs[1]);
	}
	if (g->is_wanted[1]) {
		const uint32_t inputs[] = {g->node.inputs[0], g->dy[0]};

		set_window(w, &win, &weight, n_groups);
		outputs[1] = sl__gradient_wants(g, 2) ? 0 : SL__NONE;
		sl__node_writer_add_outputs(w, SL__OP_SLEUTH_ConvGradWeight,
					    inputs, 2, outputs, 2);
		g->dx[1] = outputs[0];
	}
	if (sl__gradient_wants(g, 2) && g->is_wanted[1])
		g->dx[2] = outputs[1];
	else if (sl__gradient_wants(g, 2))
		set_bias(g);
}

/* Where the output's sizes are given, the pads are what is left over. */
static void
settle_transposed(struct sl__window *w, const struct sl__gradient *g,
		  const struct sl__type *x, const struct sl__type *y)
{
	const int64_t *more, *shape;
	size_t n_more = sl__attribute_ints(&g->node, "output_padding", &more);

	if (!sl__attribute_ints(&g->node, "output_shape", &shape) &&
	    w->padding != SL__PADDING_SAME)
		return;
	for (int d = 0; d < w->n; d++)
		sl__window_split_pads(
			w, d,
			(x->dims[d + 2] - 1) * w->strides[d] +
				(n_more == (size_t)w->n ? more[d] : 0) +
				sl__window_extent(w, d) - y->dims[d + 2]);
}

void
sl__grad_conv_transpose(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	struct sl__type x = sl__node_writer_type(w, g->node.inputs[0]);
	struct sl__type weight = sl__node_writer_type(w, g->node.inputs[1]);
	struct sl__type y = sl__node_writer_type(w, g->dy[0]), dx;
	int64_t n_groups = sl__attribute_int(&g->node, "group", 1);
	struct sl__window win;

	if (w->rc || !read_window(g, &win, &y, &x, weight.dims + 2))
		return;
	settle_transposed(&win, g, &x, &y);
	if (g->is_wanted[0]) {
		set_window(w, &win, NULL, n_groups);
		g->dx[0] =
			SL__ADD_NODE(w, ONNX_Conv, g->dy[0], g->node.inputs[1]);
		dx = sl__node_writer_type(w, g->dx[0]);
		if (!w->rc && memcmp(dx.dims, x.dims,
				     (size_t)x.rank * sizeof(*x.dims)) != 0)
			sl__gradient_reject(g, "its result is larger than all "
					       "windows");
	}
	if (g->is_wanted[1]) {
		set_window(w, &win, &weight, n_groups);
		g->dx[1] = SL__ADD_NODE(w, SLEUTH_ConvGradWeight, g->dy[0],
					g->node.inputs[0]);
	}
	if (sl__gradient_wants(g, 2))
		set_bias(g);
}

void
sl__grad_pool(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	int is_max = !sl__is_op(&g->node, SL__OP_ONNX_AveragePool);
	struct sl__type x = sl__node_writer_type(w, g->node.inputs[0]);
	struct sl__type y = sl__node_writer_type(w, g->dy[0]);
	struct sl__window win = {.n = x.rank - 2};

	if (!w->rc && sl__is_op(&g->node, SL__OP_ONNX_GlobalMaxPool)) {
		for (int d = 0; d < win.n; d++) {
			win.kernel[d] = x.dims[d + 2];
			win.strides[d] = win.dilations[d] = 1;
		}
	} else if (w->rc || !read_window(g, &win, &x, &y, NULL)) {
		return;
	}
	set_window(w, &win, &x, 0);
	if (!is_max)
		sl__node_writer_set_int(
			w, "count_include_pad",
			sl__attribute_int(&g->node, "count_include_pad", 0));
	g->dx[0] = is_max ? SL__ADD_NODE(w, SLEUTH_MaxPoolGrad, g->dy[0],
					 g->node.inputs[0])
			  : SL__ADD_NODE(w, SLEUTH_AveragePoolGrad, g->dy[0]);
}

void
sl__grad_global_average(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	struct sl__type x = sl__node_writer_type(w, g->node.inputs[0]);
	double n = 1;

	for (int d = 2; d < x.rank; d++)
		n *= (double)x.dims[d];
	g->dx[0] = SL__ADD_NODE(
		w, ONNX_Expand, sl__node_writer_scale(w, g->dy[0], 1 / n),
		sl__node_writer_integers(w, x.dims, (size_t)x.rank));
}

/* Output 0 is of the sizes that 'shape' says, 1 has one for each of its first
 * dimension. */
enum sl_status
sl__infer_window_grad(struct sl__rule_context *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	const int64_t *dims;
	size_t rank = sl__attribute_ints(call->node, "shape", &dims);

	if (rank < 3)
		return sl__rule_reject(call, "its shape is that of no image");
	sl__out_set_shape(call, 0, dtype, (int)rank, dims);
	return sl__out_set_shape(call, 1, dtype, 1, dims);
}

/* As many multiply-adds as the convolution has, a weight for each place of its
 * output; and one addition for each where there is a bias. */
void
sl__cost_conv_grad(struct sl__rule_context *call, struct sl_cost *cost)
{
	int is_weight = sl__is_op(call->node, SL__OP_SLEUTH_ConvGradWeight);
	size_t dy = is_weight ? 1 : 0;
	uint64_t n_out = sl__in_dim(call, dy, 1);
	uint64_t n_weights = is_weight ? cost->out_elements
				       : sl__in_elements(call, 1);

	cost->work = SL_WORK_CONVOLUTION;
	if (is_weight && call->node->n_outputs > 1 &&
	    call->node->outputs[1] != SL__NONE)
		cost->add = sl__in_elements(call, 1);
	if (n_out)
		sl__cost_add_macs(
			cost,
			sl__saturating_mul(sl__in_elements(call, dy) / n_out,
					   n_weights));
}

/* Each tap of each window is looked at once. */
void
sl__cost_pool_grad(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = sl__in_elements(call, 0), n_taps = 1;
	const int64_t *kernel;
	size_t rank = sl__attribute_ints(call->node, "kernel_shape", &kernel);

	for (size_t d = 0; d < rank; d++)
		n_taps = sl__saturating_mul(n_taps, (uint64_t)kernel[d]);
	cost->work = SL_WORK_POOL;
	if (sl__is_op(call->node, SL__OP_SLEUTH_MaxPoolGrad)) {
		cost->cmp = sl__saturating_mul(n, n_taps);
		cost->add = n;
	} else {
		cost->div = n;
		cost->add = sl__saturating_mul(n, n_taps);
	}
}

/* A window over images of sizes in[], which it takes out[] places in. */
struct slide {
	struct sl__window w;
	int64_t in[MOST], out[MOST], in_size, out_size, n_taps;
};

static enum sl_status
read_slide(struct slide *s, struct sl__kernel_call *ev,
	   const struct sl__tensor *x, const struct sl__tensor *y)
{
	if (!x || !y || x->rank < 3 || x->rank != y->rank || x->rank > MOST + 2)
		return sl__ref_reject(ev, "it is no image");
	if (sl__window_read_for_kernel(&s->w, ev, (int)x->rank - 2, NULL))
		return ev->failure;
	for (int d = 0; d < s->w.n; d++) {
		s->in[d] = x->dims[d + 2];
		s->out[d] = y->dims[d + 2];
	}
	s->in_size = sl__dims_product(s->in, 0, (size_t)s->w.n);
	s->out_size = sl__dims_product(s->out, 0, (size_t)s->w.n);
	s->n_taps = (int64_t)sl__window_taps(&s->w);
	return SL_OK;
}

/* Where tap t of the window at place o lies in its image; -1: in the padding. */
static int64_t
tap_place(const struct slide *s, int64_t o, int64_t t)
{
	int64_t place = 0, stride = 1;

	for (int d = s->w.n; d-- > 0;) {
		int64_t i = o % s->out[d] * s->w.strides[d] +
			    t % s->w.kernel[d] * s->w.dilations[d] -
			    s->w.pads_before[d];

		if (i < 0 || i >= s->in[d])
			return -1;
		place += i * stride;
		stride *= s->in[d];
		o /= s->out[d];
		t /= s->w.kernel[d];
	}
	return place;
}

/* Images [batch][groups][channels][in] and [batch][groups][results][out],
 * weights [groups][results][channels][taps]. */
struct conv {
	struct slide s;
	int64_t batch, n_groups, channels, results;
};

/* For each weight: calls of the products of one pair of images. */
struct conv_pair {
	const double *x, *dy; /* x NULL: dx is written */
	const double *w;
	double *dx, *dw;
};

static void
run_pair(const struct slide *s, const struct conv_pair *p)
{
	for (int64_t t = 0; t < s->n_taps; t++) {
		for (int64_t o = 0; o < s->out_size; o++) {
			int64_t i = tap_place(s, o, t);

			if (i < 0)
				continue;
			if (p->dw)
				p->dw[t] += p->x[i] * p->dy[o];
			else
				p->dx[i] += p->w[t] * p->dy[o];
		}
	}
}

static enum sl_status
read_conv(struct conv *c, struct sl__kernel_call *ev,
	  const struct sl__tensor *x, const struct sl__tensor *y,
	  const struct sl__tensor *w)
{
	if (read_slide(&c->s, ev, x, y))
		return ev->failure;
	c->n_groups = sl__attribute_int(ev->node, "group", 1);
	c->batch = x->dims[0];
	if (c->n_groups < 1 || x->dims[1] % c->n_groups ||
	    y->dims[1] % c->n_groups || !w || w->rank != x->rank)
		return sl__ref_reject(ev, "its groups do not come out even");
	c->channels = x->dims[1] / c->n_groups;
	c->results = y->dims[1] / c->n_groups;
	if (w->dims[0] != y->dims[1] || w->dims[1] != c->channels)
		return sl__ref_reject(ev, "its weights do not fit the images");
	return SL_OK;
}

static void
run_conv(const struct conv *c, const struct conv_pair *all)
{
	int64_t pairs = c->results * c->channels;

	for (int64_t i = 0; i < c->batch * c->n_groups * pairs; i++) {
		int64_t group = i / pairs, m = i % pairs / c->channels;
		int64_t k = i % c->channels;
		int64_t image = (group * c->channels + k) * c->s.in_size;
		int64_t weight = i % (c->n_groups * pairs) * c->s.n_taps;
		struct conv_pair one = {.dy = all->dy + (group * c->results +
							 m) * c->s.out_size};

		if (all->dw) {
			one.x = all->x + image;
			one.dw = all->dw + weight;
		} else {
			one.dx = all->dx + image;
			one.w = all->w + weight;
		}
		run_pair(&c->s, &one);
	}
}

enum sl_status
sl__ref_conv_grad_input(struct sl__kernel_call *ev)
{
	struct conv_pair all = {.dy = sl__ref_input_doubles(ev, 0),
				.w = sl__ref_input_doubles(ev, 1),
				.dx = sl__ref_scratch_output(ev, 0)};
	struct conv c;

	if (ev->failure ||
	    read_conv(&c, ev, &sl__ref_output(ev, 0)->tensor,
		      sl__ref_input_tensor(ev, 0), sl__ref_input_tensor(ev, 1)))
		return ev->failure;
	run_conv(&c, &all);
	return sl__ref_output_store_doubles(ev, 0, all.dx);
}

enum sl_status
sl__ref_conv_grad_weight(struct sl__kernel_call *ev)
{
	const struct sl__tensor *y = sl__ref_input_tensor(ev, 1);
	struct conv_pair all = {.x = sl__ref_input_doubles(ev, 0),
				.dy = sl__ref_input_doubles(ev, 1),
				.dw = sl__ref_scratch_output(ev, 0)};
	double *bias;
	struct conv c;

	if (ev->failure || read_conv(&c, ev, sl__ref_input_tensor(ev, 0), y,
				     &sl__ref_output(ev, 0)->tensor))
		return ev->failure;
	run_conv(&c, &all);
	sl__ref_output_store_doubles(ev, 0, all.dw);
	bias = sl__ref_scratch_doubles(ev, y->dims[1]);
	for (uint64_t i = 0; bias && i < y->n_elements; i++)
		bias[(int64_t)i / c.s.out_size % y->dims[1]] += all.dy[i];
	return sl__ref_output(ev, 1) ? sl__ref_output_store_doubles(ev, 1, bias)
				     : ev->failure;
}

/* The first of the largest elements under a window; -1: all is padding. */
static int64_t
largest_place(const struct slide *s, const double *image, int64_t o)
{
	int64_t best = -1;

	for (int64_t t = 0; t < s->n_taps; t++) {
		int64_t i = tap_place(s, o, t);

		if (i >= 0 && (best < 0 || image[i] > image[best]))
			best = i;
	}
	return best;
}

enum sl_status
sl__ref_max_pool_grad(struct sl__kernel_call *ev)
{
	const struct sl__tensor *y = sl__ref_input_tensor(ev, 0);
	const double *dy = sl__ref_input_doubles(ev, 0);
	const double *x = sl__ref_input_doubles(ev, 1);
	double *dx = sl__ref_scratch_output(ev, 0);
	struct slide s;

	if (ev->failure || read_slide(&s, ev, sl__ref_input_tensor(ev, 1), y))
		return ev->failure;
	for (int64_t i = 0; i < (int64_t)y->n_elements; i++) {
		int64_t image = i / s.out_size * s.in_size;
		int64_t at = largest_place(&s, x + image, i % s.out_size);

		if (at >= 0)
			dx[image + at] += dy[i];
	}
	return sl__ref_output_store_doubles(ev, 0, dx);
}

/* How many taps an average is over: those in the image, or in the image with
 * its padding, which a window may stick out of. */
static int64_t
n_averaged(const struct slide *s, int64_t o, int counts_pads)
{
	struct slide padded = *s;
	int64_t n = 0;

	for (int d = 0; counts_pads && d < s->w.n; d++) {
		padded.in[d] += s->w.pads_before[d] + s->w.pads_after[d];
		padded.w.pads_before[d] = 0;
	}
	for (int64_t t = 0; t < s->n_taps; t++)
		n += tap_place(&padded, o, t) >= 0;
	return n;
}

enum sl_status
sl__ref_average_pool_grad(struct sl__kernel_call *ev)
{
	const struct sl__tensor *y = sl__ref_input_tensor(ev, 0);
	int counts_pads = sl__attribute_int(ev->node, "count_include_pad", 0) !=
			  0;
	const double *dy = sl__ref_input_doubles(ev, 0);
	double *dx = sl__ref_scratch_output(ev, 0);
	struct slide s;

	if (ev->failure ||
	    read_slide(&s, ev, &sl__ref_output(ev, 0)->tensor, y))
		return ev->failure;
	for (int64_t i = 0; i < (int64_t)y->n_elements; i++) {
		int64_t image = i / s.out_size * s.in_size, o = i % s.out_size;
		int64_t n = n_averaged(&s, o, counts_pads);

		for (int64_t t = 0; t < s.n_taps; t++) {
			int64_t at = tap_place(&s, o, t);

			if (at >= 0)
				dx[image + at] += dy[i] / (double)n;
		}
	}
	return sl__ref_output_store_doubles(ev, 0, dx);
}
