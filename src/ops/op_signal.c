/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_signal.c - Fourier transforms and what goes with them.
 *
 * A transform of n points is counted as the usual figure for a fast one of
 * any radix, 5 n log2(n) operations for complex numbers and half of that for
 * real ones, three additions to two products; which algorithm a runtime
 * takes for which n is its own affair, so the cost is an estimate.
 *
 * A transform of n = p m points, p the least prime in n, is p transforms of m
 * points that are put together: n times the sum of n's primes in all.  The
 * roots of unity are computed one by one, so that no error builds up.
 */
#include "ops/cost.h"
#include "ops/op_row.h"
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* The one integer that input i holds; a symbol counts, 0 is returned where
 * there is none. */
static int
in_size(struct sl__rule_context *call, size_t i, int64_t *out)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, i);

	if (!known || !known->ints || known->n != 1)
		return 0;
	*out = known->ints[0];
	return 1;
}

/* The axis of a DFT: an attribute, 1 unless given, before version 20 and an
 * input, -2 unless given, since. */
static int
transform_axis(struct sl__rule_context *call, int rank, int *is_known)
{
	int64_t axis = -2;

	*is_known = 1;
	if (call->node->version < 20)
		axis = sl__attribute_int(call->node, "axis", 1);
	else if (sl__has_in(call, 2))
		*is_known = in_size(call, 2, &axis) && !sl__is_symbol(axis);
	return sl__axis_normalize(axis, rank);
}

/* Points of the transform: as told, else the input's. */
static int64_t
transform_length(struct sl__rule_context *call, int64_t in)
{
	struct sl__shapes *s = call->shapes;
	int64_t n = in;

	if (sl__has_in(call, 1))
		return in_size(call, 1, &n) ? n : sl__size_new_unknown(s);
	if (sl__attribute_int(call->node, "onesided", 0) &&
	    sl__attribute_int(call->node, "inverse", 0))
		return sl__size_mul(s, 2, sl__size_sub(s, in, 1));
	return n;
}

static int64_t
half_and_one(struct sl__shapes *s, int64_t n)
{
	return sl__size_add(s, sl__size_div(s, n, 2), 1);
}

enum sl_status
sl__infer_dft(struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0), is_known, axis;
	int is_onesided = sl__attribute_int(call->node, "onesided", 0) != 0;
	int is_inverse = sl__attribute_int(call->node, "inverse", 0) != 0;
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	axis = transform_axis(call, rank, &is_known);
	if (!is_known)
		return sl__out_set_unknown_shape(
			call, 0, dtype, "depends on the contents of 'axis'");
	if (rank < 2 || axis < 0 || axis == rank - 1)
		return sl__rule_reject(call, "no axis of %s to transform along",
				       sl__in_shape_text(call, 0));
	dims = sl__sizes_copy_from_input(call, 0);
	if (!dims)
		return call->failure;
	dims[axis] = transform_length(call, x->dims[axis]);
	if (is_onesided && !is_inverse)
		dims[axis] = half_and_one(call->shapes, dims[axis]);
	dims[rank - 1] = is_onesided && is_inverse ? 1 : 2;
	return sl__out_set_shape(call, 0, dtype, rank, dims);
}

/* Length of the frames of an STFT; 0 where it is not known. */
static int
frame_length(struct sl__rule_context *call, int64_t *out)
{
	if (sl__has_in(call, 3))
		return in_size(call, 3, out);
	if (sl__in_rank(call, 2) == 1)
		*out = sl__in_type(call, 2)->dims[0];
	else if (!sl__has_in(call, 2) && sl__in_rank(call, 0) >= 2)
		*out = sl__in_type(call, 0)->dims[1];
	else
		return 0;
	return 1;
}

enum sl_status
sl__infer_stft(struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, 0);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct sl__shapes *s = call->shapes;
	int64_t dims[4], length, step;

	if (sl__in_rank(call, 0) < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (x->rank != 2 && x->rank != 3)
		return sl__rule_reject(call, "a signal of %s",
				       sl__in_shape_text(call, 0));
	if (!in_size(call, 1, &step) || !frame_length(call, &length))
		return sl__out_set_unknown_shape(
			call, 0, dtype,
			"depends on the contents of "
			"'frame_step' or 'frame_length'");
	if (step == 0 || length == 0 ||
	    (!sl__is_symbol(x->dims[1]) && !sl__is_symbol(length) &&
	     length > x->dims[1]))
		return sl__rule_reject(
			call,
			"no frame of %lld every %lld in a signal of "
			"%lld",
			(long long)length, (long long)step,
			(long long)x->dims[1]);
	dims[0] = x->dims[0];
	dims[1] = sl__size_div(s, sl__size_sub(s, x->dims[1], length), step);
	dims[1] = sl__size_add(s, dims[1], 1);
	dims[2] = sl__attribute_int(call->node, "onesided", 1)
			  ? half_and_one(s, length)
			  : length;
	dims[3] = 2;
	return sl__out_set_shape(call, 0, dtype, 4, dims);
}

static void
count_transforms(struct sl_cost *cost, uint64_t n_transforms, uint64_t n,
		 int is_real)
{
	double points = 5 * (double)n * (n > 1 ? log2((double)n) : 0);
	double each = ceil(is_real ? points / 2 : points);
	/* Beyond this no signal goes; the conversion must not overflow. */
	uint64_t each_n = each < 9e18 ? (uint64_t)each : UINT64_MAX;

	cost->add = sl__saturating_mul(n_transforms, each_n - each_n / 5 * 2);
	cost->mul = sl__saturating_mul(n_transforms, each_n / 5 * 2);
	sl__cost_mark_estimated(cost,
				"as a fast Fourier transform of 5 n log2 n "
				"operations");
}

void
sl__cost_dft(struct sl__rule_context *call, struct sl_cost *cost)
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
				 cost->in_elements /
					 sl__saturating_mul(length, parts),
				 (uint64_t)n,
				 parts == 1 || sl__out_dim(call, 0, -1) == 1);
}

void
sl__cost_stft(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t frames = sl__saturating_mul(sl__out_dim(call, 0, 0),
					     sl__out_dim(call, 0, 1));
	int is_real = sl__in_rank(call, 0) == 2 || sl__in_dim(call, 0, 2) == 1;
	int64_t length;

	if (!frame_length(call, &length) || length < 0) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_transforms(cost, frames, (uint64_t)length, is_real);
	if (sl__has_in(call, 2))
		sl__cost_add_operations(
			cost, sl__saturating_mul(frames, (uint64_t)length),
			SL__OPERATIONS_EACH(.mul = 1));
}

static enum sl_dtype
named_dtype(struct sl__rule_context *call)
{
	int64_t dtype =
		sl__attribute_int(call->node, "output_datatype", SL_DTYPE_F32);

	return dtype > 0 && dtype < SL_N_DTYPES ? (enum sl_dtype)dtype
						: SL_DTYPE_NONE;
}

enum sl_status
sl__infer_signal_window(struct sl__rule_context *call)
{
	int64_t size;

	if (!in_size(call, 0, &size))
		size = sl__size_new_named(call->shapes, "size");
	return sl__out_set_shape(call, 0, named_dtype(call), 1, &size);
}

/* One cosine and its weighting; two of them for Blackman's. */
void
sl__cost_signal_window(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = sl__is_op(call->node, SL__OP_ONNX_BlackmanWindow) ? 2 : 1;

	sl__cost_add_operations(cost, cost->out_elements,
				SL__OPERATIONS_EACH(.exp = n, .fma = n));
}

enum sl_status
sl__infer_mel_weights(struct sl__rule_context *call)
{
	int64_t dims[2], n;

	dims[0] = in_size(call, 1, &n)
			  ? half_and_one(call->shapes, n)
			  : sl__size_new_named(call->shapes, "bins");
	dims[1] = in_size(call, 0, &n)
			  ? n
			  : sl__size_new_named(call->shapes, "mel");
	return sl__out_set_shape(call, 0, named_dtype(call), 2, dims);
}

/* Triangles: two lines and their lesser for each element. */
void
sl__cost_mel_weights(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	sl__cost_add_operations(cost, cost->out_elements,
				SL__OPERATIONS_EACH(.fma = 2, .cmp = 2));
	sl__cost_mark_estimated(cost, "as if no element were known to be zero");
}

static const double tau = 6.283185307179586476925286766559;

struct point {
	double re, im;
};

struct transform {
	size_t n;
	struct point *roots; /* exp(-+ i tau k / n) */
	struct point *terms; /* scratch of putting together */
	struct point *in, *out;
};

/* exp(+- i tau k / n), without an error at the quarters of a turn. */
static struct point
root_of(size_t k, size_t n, double sign)
{
	static const struct point quarters[] = {
		{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
	double angle = tau * (double)k / (double)n;
	struct point root = {cos(angle), sin(angle)};

	if (4 * k % n == 0)
		root = quarters[4 * k / n];
	root.im *= sign;
	return root;
}

static enum sl_status
transform_init(struct transform *t, struct sl__kernel_call *ev, int64_t n,
	       int is_inverse)
{
	struct point *points;

	if (n < 0)
		return sl__ref_reject(ev, "a transform of %lld points",
				      (long long)n);
	if ((uint64_t)n > SIZE_MAX / 4 / sizeof(*points))
		return sl__ref_nomem(ev);
	t->n = (size_t)n;
	points = sl__ref_scratch(ev, 4 * t->n, sizeof(*points));
	if (!points)
		return ev->failure;
	t->roots = points;
	t->terms = points + t->n;
	t->in = points + 2 * t->n;
	t->out = points + 3 * t->n;
	for (size_t k = 0; k < t->n; k++)
		t->roots[k] = root_of(k, t->n, is_inverse ? 1 : -1);
	return SL_OK;
}

static size_t
least_prime(size_t n)
{
	for (size_t p = 2; p <= n / p; p++) {
		if (n % p == 0)
			return p;
	}
	return n;
}

/* out[k] = sum of in[j * stride] exp(-+ i tau j k / n), j = 0 .. n - 1. */
static void
transform_part(const struct transform *t, size_t n, const struct point *in,
	       size_t stride, struct point *out)
{
	size_t p = least_prime(n), m = n / p, step = t->n / n;

	if (n <= 1) {
		if (n)
			*out = *in;
		return;
	}
	for (size_t r = 0; r < p; r++)
		transform_part(t, m, in + r * stride, stride * p, out + r * m);
	for (size_t k = 0; k < m; k++) {
		for (size_t r = 0; r < p; r++)
			t->terms[r] = out[r * m + k];
		for (size_t at = k; at < n; at += m) {
			struct point sum = {0, 0};
			size_t turn = 0; /* r * at modulo n */

			for (size_t r = 0; r < p; r++) {
				struct point a = t->terms[r];
				struct point w = t->roots[turn * step];

				sum.re += a.re * w.re - a.im * w.im;
				sum.im += a.re * w.im + a.im * w.re;
				turn = turn + at < n ? turn + at
						     : turn + at - n;
			}
			out[at] = sum;
		}
	}
}

static void
transform_run(const struct transform *t)
{
	transform_part(t, t->n, t->in, 1, t->out);
}

/* Real numbers, or pairs of them. */
static struct point
point_at(const double *from, int64_t i, int64_t parts)
{
	return (struct point){from[i * parts],
			      parts == 2 ? from[i * parts + 1] : 0};
}

struct dft {
	int64_t outer, in, inner, parts; /* of the input */
	int64_t n, out, out_parts;       /* points, and of the output */
	int is_inverse, is_onesided;
	struct transform transform;
};

/* The one integer of input i, or 'otherwise'. */
static int64_t
one_integer(struct sl__kernel_call *ev, size_t i, int64_t otherwise)
{
	size_t n;
	const int64_t *values = sl__ref_integer_list(ev, i, NULL, &n);

	if (!values)
		return otherwise;
	if (n != 1)
		sl__ref_reject(ev, "input %zu holds %zu numbers", i, n);
	return n == 1 ? values[0] : otherwise;
}

static enum sl_status
read_dft(struct dft *d, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *y = &sl__ref_output(ev, 0)->tensor;
	int64_t axis = ev->node->version >= 20
			       ? one_integer(ev, 2, -2)
			       : sl__attribute_int(ev->node, "axis", 1);

	if (ev->failure)
		return ev->failure;
	axis = sl__axis_normalize(axis, sl__ref_input_rank(ev, 0));
	if (axis < 0 || (size_t)axis + 1 >= x->rank || y->rank != x->rank)
		return sl__ref_reject(ev, "no axis to transform along");
	d->outer = sl__dims_product(x->dims, 0, (size_t)axis);
	d->inner = sl__dims_product(x->dims, (size_t)axis + 1, x->rank - 1);
	d->in = x->dims[axis];
	d->out = y->dims[axis];
	d->parts = x->dims[x->rank - 1];
	d->out_parts = y->dims[y->rank - 1];
	if (d->parts != 1 && d->parts != 2)
		return sl__ref_reject(ev, "numbers of %lld parts",
				      (long long)d->parts);
	d->is_inverse = sl__attribute_int(ev->node, "inverse", 0) != 0;
	d->is_onesided = sl__attribute_int(ev->node, "onesided", 0) != 0;
	d->n = one_integer(ev, 1,
			   d->is_inverse && d->is_onesided ? 2 * (d->in - 1)
							   : d->in);
	return ev->failure
		       ? ev->failure
		       : transform_init(&d->transform, ev, d->n, d->is_inverse);
}

/*
 * The points of one signal: cut, or filled up with zeros.  One half of a
 * spectrum stands for the whole: the other half is its conjugate.
 */
static void
load_signal(const struct dft *d, const double *from)
{
	struct point *in = d->transform.in;
	int is_half = d->is_inverse && d->is_onesided;
	int64_t n_given = is_half ? d->n / 2 + 1 : d->n;

	for (int64_t i = 0; i < d->n; i++)
		in[i] = (struct point){0, 0};
	for (int64_t i = 0; i < d->in && i < n_given && i < d->n; i++) {
		in[i] = point_at(from, i * d->inner, d->parts);
		if (is_half && i > 0 && d->n - i != i) {
			in[d->n - i].re = in[i].re;
			in[d->n - i].im = -in[i].im;
		}
	}
}

static void
store_signal(const struct dft *d, double *to)
{
	double scale = d->is_inverse ? 1 / (double)d->n : 1;

	for (int64_t k = 0; k < d->out && k < d->n; k++) {
		double *at = to + k * d->inner * d->out_parts;

		at[0] = d->transform.out[k].re * scale;
		if (d->out_parts == 2)
			at[1] = d->transform.out[k].im * scale;
	}
}

enum sl_status
sl__ref_dft(struct sl__kernel_call *ev)
{
	struct dft d = {0};
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);

	if (ev->failure || read_dft(&d, ev))
		return ev->failure;
	for (int64_t i = 0; i < d.outer * d.inner; i++) {
		int64_t o = i / d.inner, at = i % d.inner;

		load_signal(&d, x + (o * d.in * d.inner + at) * d.parts);
		transform_run(&d.transform);
		store_signal(&d, y + (o * d.out * d.inner + at) * d.out_parts);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

struct stft {
	int64_t batch, length, parts; /* of the signal */
	int64_t frames, bins, step, n;
	const double *window; /* [n]; NULL: all 1 */
	struct transform transform;
};

static enum sl_status
read_stft(struct stft *s, struct sl__kernel_call *ev)
{
	const struct sl__tensor *window = sl__ref_input_tensor(ev, 2);
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	int is_list = window && window->rank == 1;

	if (out->rank != 4)
		return sl__ref_reject(ev, "the frames are not known");
	s->batch = sl__ref_input_dim(ev, 0, 0);
	s->length = sl__ref_input_dim(ev, 0, 1);
	s->parts = sl__ref_input_rank(ev, 0) == 3 ? sl__ref_input_dim(ev, 0, 2)
						  : 1;
	s->frames = out->dims[1];
	s->bins = out->dims[2];
	s->step = one_integer(ev, 1, 0);
	s->n = one_integer(ev, 3, is_list ? window->dims[0] : s->length);
	if (s->step < 1 || s->n < 1 || s->n > s->length ||
	    (s->parts != 1 && s->parts != 2))
		return sl__ref_reject(ev, "frames of %lld every %lld in %lld",
				      (long long)s->n, (long long)s->step,
				      (long long)s->length);
	if (window && (!is_list || window->dims[0] != s->n))
		return sl__ref_reject(ev, "the window is not of %lld numbers",
				      (long long)s->n);
	s->window = sl__ref_optional_doubles(ev, 2);
	return ev->failure ? ev->failure
			   : transform_init(&s->transform, ev, s->n, 0);
}

static void
run_frame(const struct stft *s, const double *from, double *to)
{
	struct transform t = s->transform;

	for (int64_t i = 0; i < s->n; i++) {
		double weight = s->window ? s->window[i] : 1;

		t.in[i] = point_at(from, i, s->parts);
		t.in[i].re *= weight;
		t.in[i].im *= weight;
	}
	transform_run(&t);
	for (int64_t k = 0; k < s->bins; k++) {
		to[2 * k] = t.out[k].re;
		to[2 * k + 1] = t.out[k].im;
	}
}

enum sl_status
sl__ref_stft(struct sl__kernel_call *ev)
{
	struct stft s = {0};
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);

	if (ev->failure || read_stft(&s, ev))
		return ev->failure;
	for (int64_t i = 0; i < s.batch * s.frames; i++) {
		int64_t first = i / s.frames * s.length + i % s.frames * s.step;

		run_frame(&s, x + first * s.parts, y + i * s.bins * 2);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* a - b cos(2 pi i / n) + c cos(4 pi i / n).  A symmetric window of one
 * number, whose n is 0, is 1. */
enum sl_status
sl__ref_signal_window(struct sl__kernel_call *ev)
{
	static const struct shape {
		enum sl__op_id id;
		double a, b, c;
	} shapes[] = {
		{SL__OP_ONNX_HannWindow, 0.5, 0.5, 0},
		{SL__OP_ONNX_HammingWindow, 25.0 / 46, 21.0 / 46, 0},
		{SL__OP_ONNX_BlackmanWindow, 0.42, 0.5, 0.08},
	};
	const struct shape *s = SL__OP_ROW_OF(ev->node, shapes);
	size_t size = (size_t)sl__ref_output(ev, 0)->tensor.n_elements;
	size_t n = sl__attribute_int(ev->node, "periodic", 1) ? size : size - 1;
	double *y = sl__ref_scratch_output(ev, 0);

	for (size_t i = 0; y && i < size; i++) {
		double turn = tau * (double)i / (double)n;

		y[i] = n ? s->a - s->b * cos(turn) + s->c * cos(2 * turn) : 1;
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

static double
mel_of(double hertz)
{
	return 2595 * log10(1 + hertz / 700);
}

/* Column 'mel' of [bins][n]: a triangle from left over centre to right. */
static void
draw_triangle(double *y, int64_t bins, int64_t n, int64_t mel,
	      const int64_t *corners)
{
	int64_t left = corners[0], centre = corners[1], right = corners[2];

	for (int64_t j = left; j <= centre && j < bins; j++)
		y[j * n + mel] =
			centre == left
				? 1
				: (double)(j - left) / (double)(centre - left);
	for (int64_t j = centre; j < right && j < bins; j++)
		y[j * n + mel] = (double)(right - j) / (double)(right - centre);
}

/* The corners are evenly spaced in mel, n + 2 of them in n + 2 steps below
 * the upper edge, and lie on bins of the spectrum. */
static enum sl_status
place_corners(int64_t *corners, struct sl__kernel_call *ev, int64_t n)
{
	double length = sl__ref_input_scalar(ev, 1, 0);
	double rate = sl__ref_input_scalar(ev, 2, 0);
	double low = mel_of(sl__ref_input_scalar(ev, 3, 0));
	double high = mel_of(sl__ref_input_scalar(ev, 4, 0));

	for (int64_t i = 0; i < n + 2; i++) {
		double mel = low + (double)i * (high - low) / (double)(n + 2);
		double hertz = 700 * (pow(10, mel / 2595) - 1);
		double bin = floor((length + 1) * hertz / rate);

		if (!(bin >= 0 && bin < 1e15) ||
		    (i > 0 && bin < (double)corners[i - 1]))
			return sl__ref_reject(ev,
					      "edges that are no frequencies");
		corners[i] = (int64_t)bin;
	}
	return SL_OK;
}

enum sl_status
sl__ref_mel_weights(struct sl__kernel_call *ev)
{
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	double *y = sl__ref_scratch_output(ev, 0);
	int64_t *corners = y ? sl__ref_scratch_integers(ev, out->dims[1] + 2)
			     : NULL;

	if (!corners || place_corners(corners, ev, out->dims[1]))
		return ev->failure;
	for (int64_t mel = 0; mel < out->dims[1]; mel++)
		draw_triangle(y, out->dims[0], out->dims[1], mel,
			      corners + mel);
	return sl__ref_output_store_doubles(ev, 0, y);
}
