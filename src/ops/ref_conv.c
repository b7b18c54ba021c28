/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_conv.c - convolutions, also transposed and deformable, computed.
 *
 * A convolution and a transposed one are the same pairing of two images read
 * in the two directions: tap k of the window joins element o of the small
 * image with element o * stride + k * dilation - pad of the big one.  Forward
 * the big image is the input, transposed it is the output.  Along the last
 * dimension the elements of both lie at fixed distances, so the innermost
 * loop runs over rows of them.
 */
#include "ops/activation.h"
#include "ops/window.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { MOST = SL__WINDOW_MOST };

/* x [batch][n_groups * channels][in], y [batch][n_groups * results][out]. */
struct conv {
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
run_taps(const struct conv *c, const double *kernel, const double *x, double *y)
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
		} while (sl__ref_next(at, n - 1, n_small, NULL, NULL, 0));
		kernel++;
	} while (sl__ref_next(tap, n, c->w.kernel, NULL, NULL, 0));
}

/* A copy of [batch][a][b] as [batch][b][a]; NULL: out of memory. */
static double *
swapped(struct sl__eval *ev, const double *x, int64_t batch, int64_t a,
	int64_t b)
{
	double *made = sl__ref_new_doubles(ev, batch * a * b);

	for (int64_t i = 0; !ev->failure && i < batch * a * b; i++)
		made[(i / (a * b) * b + i % b) * a + i / b % a] = x[i];
	return made;
}

/* Inference has compared channels, groups and bias with each other. */
static enum sl_status
read_sizes(struct conv *c, struct sl__eval *ev)
{
	const struct sl__tensor *x = sl__ref_tensor(ev, 0);
	const struct sl__tensor *w = sl__ref_tensor(ev, 1);
	const struct sl__tensor *y = &sl__ref_result(ev, 0)->tensor;
	size_t first = c->is_channels_last ? 1 : 2;

	if (!x || !w || x->rank < 3 || x->rank != w->rank || x->rank != y->rank)
		return sl__ref_refuse(ev, "it lacks an image or weight");
	if (sl__ref_window(&c->w, ev, (int)x->rank - 2, w->dims + 2))
		return ev->failure;
	c->batch = x->dims[0];
	c->n_groups = sl__int(ev->node, "group", 1);
	for (size_t d = 0; d < x->rank - 2; d++) {
		c->in[d] = x->dims[first + d];
		c->out[d] = y->dims[first + d];
	}
	c->in_size = sl__ref_product(c->in, 0, x->rank - 2);
	c->out_size = sl__ref_product(c->out, 0, x->rank - 2);
	c->taps = sl__ref_product(c->w.kernel, 0, x->rank - 2);
	return SL_OK;
}

/* The result is the bias so far, which is that input. */
static enum sl_status
read_operands(struct conv *c, struct sl__eval *ev, size_t bias)
{
	int64_t results = c->n_groups * c->results;

	c->x = sl__ref_doubles(ev, 0);
	c->weight = sl__ref_doubles(ev, 1);
	c->bias = sl__ref_given_doubles(ev, bias);
	c->y = sl__ref_new_output(ev, 0);
	if (c->is_channels_last)
		c->x = swapped(ev, c->x, c->batch, c->in_size,
			       c->n_groups * c->channels);
	for (int64_t i = 0;
	     !ev->failure && c->bias && i < c->batch * results * c->out_size;
	     i++)
		c->y[i] = c->bias[i / c->out_size % results];
	return ev->failure;
}

/* A window of one element that moves by one sees an image as one row. */
static void
flatten_points(struct conv *c)
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
convolve(const struct conv *c)
{
	int64_t pairs = c->channels * c->results;

	if (c->in_size == 0 || c->out_size == 0)
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
}

/* Conv, and FusedConv, which adds a second operand and ends in an activation,
 * also with the channels last. */
enum sl_status
sl__ref_conv(struct sl__eval *ev)
{
	const struct sl__tensor *y = &sl__ref_result(ev, 0)->tensor;
	int is_nhwc = sl__is_op(ev->node, SL__OP_MS_NhwcFusedConv);
	int is_fused = sl__is_op(ev->node, SL__OP_MS_FusedConv) || is_nhwc;
	const struct sl__tensor *z = is_fused ? sl__ref_tensor(ev, 3) : NULL;
	const double *more = z ? sl__ref_doubles(ev, 3) : NULL;
	struct sl__ending ending = {0};
	struct conv c = {.is_channels_last =
				 sl__is_op(ev->node, SL__OP_MS_NhwcConv) ||
				 is_nhwc};

	if (ev->failure || (is_fused && sl__ending_read(&ending, ev)))
		return ev->failure;
	if (z && (z->rank != y->rank ||
		  memcmp(z->dims, y->dims, z->rank * sizeof(*z->dims)) != 0))
		return sl__ref_refuse(
			ev, "what is added has other sizes than the result");
	if (read_sizes(&c, ev))
		return ev->failure;
	c.channels = sl__ref_dim(ev, 1, 1);
	c.results = sl__ref_dim(ev, 1, 0) / c.n_groups;
	sl__window_settle(&c.w, c.in, c.out);
	flatten_points(&c);
	if (read_operands(&c, ev, 2))
		return ev->failure;
	convolve(&c);
	if (c.is_channels_last)
		c.y = swapped(ev, c.y, c.batch, c.n_groups * c.results,
			      c.out_size);
	for (uint64_t i = 0; !ev->failure && more && i < y->n_elements; i++)
		c.y[i] += more[i];
	if (!ev->failure)
		sl__ending_apply(&ending, (size_t)y->n_elements, c.y);
	return sl__ref_store_doubles(ev, 0, c.y);
}

/*
 * Where the output's size is given, or SAME makes it in * stride, the pads
 * are what is left over; never less than none, so that the end of an output
 * that is larger than all windows stays at the bias.
 */
static void
settle_transposed(struct conv *c, const struct sl__node *node)
{
	const int64_t *more, *shape;
	size_t n_more = sl__ints(node, "output_padding", &more);

	if (!sl__ints(node, "output_shape", &shape) &&
	    c->w.padding != SL__PADDING_SAME)
		return;
	for (int d = 0; d < c->w.n; d++)
		sl__window_share_pads(
			&c->w, d,
			(c->in[d] - 1) * c->w.strides[d] +
				(n_more == (size_t)c->w.n ? more[d] : 0) +
				sl__window_extent(&c->w, d) - c->out[d]);
}

enum sl_status
sl__ref_conv_transpose(struct sl__eval *ev)
{
	struct conv c = {.is_transposed = 1};
	int64_t channels = sl__ref_dim(ev, 1, 0);

	if (read_sizes(&c, ev))
		return ev->failure;
	if (channels % c.n_groups)
		return sl__ref_refuse(
			ev, "%lld channels in %lld groups do not come out even",
			(long long)channels, (long long)c.n_groups);
	c.channels = channels / c.n_groups;
	c.results = sl__ref_dim(ev, 1, 1);
	settle_transposed(&c, ev->node);
	if (read_operands(&c, ev, 2))
		return ev->failure;
	convolve(&c);
	return sl__ref_store_doubles(ev, 0, c.y);
}

/* Offsets [batch][n_parts][taps][n][out], mask [batch][n_parts][taps][out]:
 * each of n_parts equal parts of the channels is bent in its own way. */
struct bend {
	int64_t n_parts;
	const double *offsets, *mask;
};

/* Checks that input i is [batch][channels][out]. */
static enum sl_status
check_field(const struct conv *c, struct sl__eval *ev, size_t i,
	    int64_t channels)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	if (t && t->rank == (size_t)c->w.n + 2 && t->dims[0] == c->batch &&
	    t->dims[1] == channels &&
	    !memcmp(t->dims + 2, c->out, (size_t)c->w.n * sizeof(c->out[0])))
		return SL_OK;
	return sl__ref_refuse(
		ev,
		"input %zu does not have %lld numbers for each place "
		"of the output",
		i, (long long)channels);
}

static enum sl_status
read_bend(struct bend *b, const struct conv *c, struct sl__eval *ev)
{
	int64_t per_part;

	b->n_parts = sl__int(ev->node, "offset_group", 1);
	if (b->n_parts < 1 || c->n_groups * c->channels % b->n_parts)
		return sl__ref_refuse(ev, "offset_group is %lld",
				      (long long)b->n_parts);
	per_part = b->n_parts * c->taps;
	if (check_field(c, ev, 2, per_part * c->w.n) ||
	    (sl__ref_in(ev, 4) && check_field(c, ev, 4, per_part)))
		return ev->failure;
	b->offsets = sl__ref_doubles(ev, 2);
	b->mask = sl__ref_given_doubles(ev, 4);
	return ev->failure;
}

/* The image between its elements: the 2^n around the place, weighted by how
 * near they are; what lies outside is 0. */
static double
sample(const struct conv *c, const double *image, const double *place)
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
sample_tap(const struct conv *c, const double *image, const int64_t *tap,
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
		sl__ref_next(at, (size_t)c->w.n, c->out, NULL, NULL, 0);
	}
}

/* Adds channel k of image n to all results of its group. */
static void
bend_channel(const struct conv *c, const struct bend *b, int64_t n, int64_t k,
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
		sl__ref_next(tap, (size_t)c->w.n, c->w.kernel, NULL, NULL, 0);
	}
}

enum sl_status
sl__ref_deform_conv(struct sl__eval *ev)
{
	struct conv c = {0};
	struct bend b = {0};
	double *seen;

	if (read_sizes(&c, ev))
		return ev->failure;
	c.channels = sl__ref_dim(ev, 1, 1);
	c.results = sl__ref_dim(ev, 1, 0) / c.n_groups;
	if (read_operands(&c, ev, 3) || read_bend(&b, &c, ev))
		return ev->failure;
	seen = sl__ref_new_doubles(ev, c.out_size);
	for (int64_t i = 0; seen && i < c.batch * c.n_groups * c.channels; i++)
		bend_channel(&c, &b, i / (c.n_groups * c.channels),
			     i % (c.n_groups * c.channels), seen);
	return sl__ref_store_doubles(ev, 0, c.y);
}
