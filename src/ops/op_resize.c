/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_resize.c - Resize and Upsample.
 *
 * Resizing is separable: each dimension has a table that names, for every
 * element of the result, the elements it is made of and their weights, and
 * the dimensions are resized one after the other.  The nearest neighbour
 * moves bytes of any type, the rest is computed in doubles.
 *
 * A scale is kept as the fraction out / in where sizes are given, so that
 * positions that are whole numbers come out whole.
 */
#include "base/dtype.h"
#include "ops/cost.h"
#include "ops/ref_rules.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* What a resizing node is told, and about which axes. */
struct told {
	const struct sl__known_contents *scales, *sizes,
		*roi;       /* NULL: none, or not
							 known */
	const float *given; /* scales as an attribute, n_given of them */
	size_t n_given;
	float first[4];      /* scales of the first version */
	const int64_t *axes; /* NULL: all */
	size_t n_axes;
	int is_told; /* by contents that are known */
};

/* Contents of an input that is there and not empty. */
static const struct sl__known_contents *
contents_of(struct sl__rule_context *call, size_t i)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, i);

	return known && known->n ? known : NULL;
}

static void
check_numbers(struct sl__rule_context *call, const struct told *r)
{
	size_t n = r->given   ? r->n_given
		   : r->sizes ? r->sizes->n
			      : r->scales->n;

	if (n != r->n_axes)
		sl__rule_reject(call, "%zu scales or sizes for %zu dimensions",
				n, r->n_axes);
}

/* The first version has two scales, of the last two dimensions. */
static void
read_first_upsample(struct told *r, struct sl__rule_context *call, int rank)
{
	double height = sl__attribute_float(call->node, "height_scale", 0);
	double width = sl__attribute_float(call->node, "width_scale", 0);

	if (rank != 4 || !(height > 0) || !(width > 0))
		return;
	r->first[0] = r->first[1] = 1;
	r->first[2] = (float)height;
	r->first[3] = (float)width;
	r->given = r->first;
	r->n_given = 4;
}

static void
read_told(struct told *r, struct sl__rule_context *call, int rank)
{
	const struct sl__node *node = call->node;
	int is_upsample = sl__is_op(node, SL__OP_ONNX_Upsample);
	const struct sl__attribute *scales = sl__attribute_find(node, "scales");

	memset(r, 0, sizeof(*r));
	r->n_axes = (size_t)rank;
	if (is_upsample && scales && scales->kind == SL__ATTRIBUTE_FLOATS) {
		r->given = scales->floats;
		r->n_given = scales->n;
	} else if (is_upsample || node->n_inputs <= 2) {
		r->scales = contents_of(call, 1);
	} else {
		r->roi = contents_of(call, 1);
		r->scales = contents_of(call, 2);
		r->sizes = contents_of(call, 3);
		if (sl__attribute_find(node, "axes"))
			r->n_axes = sl__attribute_ints(node, "axes", &r->axes);
	}
	/* A tensor of another type of number tells nothing. */
	if (r->scales && !r->scales->floats)
		r->scales = NULL;
	if (r->sizes && !r->sizes->ints)
		r->sizes = NULL;
	if (!r->scales && !r->sizes && !r->given)
		read_first_upsample(r, call, rank);
	r->is_told = r->scales || r->sizes || r->given;
	if (r->is_told)
		check_numbers(call, r);
}

/* Number k of the scales, as the 32-bit number that it is. */
static float
scale_of(const struct told *r, size_t k)
{
	return r->given ? r->given[k] : (float)r->scales->floats[k];
}

/*
 * floor(in * crop * scale) in 32 bits, as runtimes compute it: 10 * 0.7f is 7
 * there and less than 7 in 64 bits.
 */
static int64_t
scaled_size(struct sl__shapes *shapes, int64_t in, float crop, float scale)
{
	float both = crop * scale, size;

	if (sl__is_symbol(in)) {
		if (both >= 1 && both < 1e6F && both == floorf(both))
			return sl__size_mul(shapes, in, (int64_t)both);
		return sl__size_new_unknown(shapes);
	}
	size = floorf((float)in * crop * scale);
	return size >= 0 && size < 9e18F ? (int64_t)size : -1;
}

/* The one scale for all axes that keeps the picture's proportions, and the
 * axis that it is of; 0 where they are to be stretched, -1 where a size is not
 * known. */
static double
common_scale(struct sl__rule_context *call, const struct told *r,
	     const struct sl__type *x, size_t *which)
{
	const char *word = sl__attribute_string(
		call->node, "keep_aspect_ratio_policy", "stretch");
	int is_larger = !strcmp(word, "not_smaller");
	double best = 0;

	if (!strcmp(word, "stretch") || !r->sizes)
		return 0;
	for (size_t k = 0; k < r->n_axes; k++) {
		int at = sl__axis_normalize(r->axes ? r->axes[k] : (int64_t)k,
					    x->rank);
		double ratio;

		if (at < 0 || x->dims[at] <= 0 ||
		    sl__is_symbol(r->sizes->ints[k]))
			return -1;
		ratio = (double)r->sizes->ints[k] / (double)x->dims[at];
		if (k == 0 || (is_larger ? ratio > best : ratio < best)) {
			best = ratio;
			if (which)
				*which = k;
		}
	}
	return best;
}

/* Axis k of those that are resized, of 'in' elements. */
static int64_t
resized_size(struct sl__rule_context *call, const struct told *r, size_t k,
	     int64_t in, double common)
{
	const char *mode = sl__attribute_string(
		call->node, "coordinate_transformation_mode", "");
	float crop = 1;
	double size;

	if (r->sizes && common < 0)
		return sl__size_new_unknown(call->shapes);
	if (r->sizes && common > 0) {
		size = floor(common * (double)in + 0.5);
		return size < 9e18 ? (int64_t)size : -1;
	}
	if (r->sizes)
		return r->sizes->ints[k];
	if (!strcmp(mode, "tf_crop_and_resize") && r->roi && r->roi->floats &&
	    r->roi->n == 2 * r->n_axes)
		crop = (float)r->roi->floats[r->n_axes + k] -
		       (float)r->roi->floats[k];
	return scaled_size(call->shapes, in, crop, scale_of(r, k));
}

enum sl_status
sl__infer_resize(struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	struct told r;
	double common;
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	read_told(&r, call, rank);
	dims = sl__sizes_copy_from_input(call, 0);
	if (call->failure)
		return call->failure;
	common = common_scale(call, &r, x, NULL);
	for (size_t k = 0; !call->failure && k < r.n_axes; k++) {
		int at = sl__axis_require(call, r.axes ? r.axes[k] : (int64_t)k,
					  rank);

		if (at < 0)
			return call->failure;
		dims[at] = r.is_told ? resized_size(call, &r, k, x->dims[at],
						    common)
				     : sl__size_new_unknown(call->shapes);
	}
	return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), rank, dims);
}

void
sl__cost_resize(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t each = sl__interpolation_taps(call, "nearest"), taps = 1;
	int is_wide = sl__attribute_int(call->node, "antialias", 0) != 0;
	const struct sl__type *x = sl__in_type(call, 0);

	cost->work = SL_WORK_MOVEMENT;
	for (int d = 0; each > 1 && d < x->rank; d++) {
		uint64_t in = sl__in_dim(call, 0, d);
		uint64_t out = sl__out_dim(call, 0, d);

		if (in == out)
			continue;
		/* A filter against aliasing is as much wider as the image
		 * becomes smaller. */
		taps = sl__saturating_mul(
			taps,
			is_wide && out && in > out
				? (sl__saturating_mul(each, in) + out - 1) / out
				: each);
	}
	if (taps == 1)
		return;
	cost->work = SL_WORK_OTHER;
	sl__cost_add_operations(cost, cost->out_elements,
				SL__OPERATIONS_EACH(.fma = taps));
}

enum mode { NEAREST, LINEAR, CUBIC };

enum coordinates {
	HALF_PIXEL,
	HALF_PIXEL_SYMMETRIC,
	PYTORCH_HALF_PIXEL,
	ALIGN_CORNERS,
	ASYMMETRIC,
	TF_HALF_PIXEL,
	TF_CROP
};

enum rounding {
	ROUND_PREFER_FLOOR,
	ROUND_PREFER_CEIL,
	FLOOR,
	CEIL,
	OUTWARD /* of version 10: down where the image grows, else up */
};

/* What the node says. */
struct resize {
	enum mode mode;
	enum coordinates coordinates;
	enum rounding rounding;
	double cubic_a, extrapolation;
	int is_excluding, has_antialias;
	struct told t;
	size_t n_common; /* axis whose ratio all take; n_axes: none */
};

/* One dimension: the scale is num / den. */
struct axis {
	int64_t in, out;
	double num, den, start, end;
	int is_changed;
	size_t n_taps;
	int64_t *at;     /* [out][n_taps]; -1: beyond the image */
	double *weights; /* [out][n_taps] */
};

static enum sl_status
read_words(struct sl__kernel_call *ev, struct resize *r)
{
	static const char *const modes[] = {"nearest", "linear", "cubic",
					    "bilinear", NULL};
	static const char *const coordinates[] = {
		"half_pixel",         "half_pixel_symmetric",
		"pytorch_half_pixel", "align_corners",
		"asymmetric",         "tf_half_pixel_for_nn",
		"tf_crop_and_resize", NULL};
	static const char *const roundings[] = {"round_prefer_floor",
						"round_prefer_ceil", "floor",
						"ceil", NULL};
	const struct sl__node *node = ev->node;
	int mode = sl__ref_attribute_choice(ev, "mode", modes);

	r->mode = mode > CUBIC ? LINEAR : (enum mode)mode;
	r->coordinates = (enum coordinates)sl__ref_attribute_choice(
		ev, "coordinate_transformation_mode", coordinates);
	r->rounding = (enum rounding)sl__ref_attribute_choice(
		ev, "nearest_mode", roundings);
	/* Neither Upsample nor the first Resize has the other attributes. */
	if (sl__is_op(node, SL__OP_ONNX_Upsample)) {
		r->coordinates = ASYMMETRIC;
		r->rounding = FLOOR;
	} else if (node->version < 11) {
		r->coordinates = ASYMMETRIC;
		r->rounding = OUTWARD;
	}
	return ev->failure;
}

static enum sl_status
read_resize(struct resize *r, struct sl__kernel_call *ev)
{
	const struct sl__node *node = ev->node;
	struct sl__ref_rule_view v;

	if (read_words(ev, r) || sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	read_told(&r->t, &v.call, sl__ref_input_rank(ev, 0));
	if (r->t.n_axes && !r->t.is_told)
		sl__rule_reject(&v.call, "neither scales nor sizes are given");
	if (r->coordinates != TF_CROP)
		r->t.roi = NULL;
	else if (r->t.roi &&
		 (!r->t.roi->floats || r->t.roi->n != 2 * r->t.n_axes))
		sl__rule_reject(&v.call, "input 1 has %zu numbers, not %zu",
				r->t.roi->n, 2 * r->t.n_axes);
	r->n_common = r->t.n_axes;
	if (!v.call.failure)
		common_scale(&v.call, &r->t, sl__in_type(&v.call, 0),
			     &r->n_common);
	r->cubic_a = sl__attribute_float(node, "cubic_coeff_a", -0.75);
	r->extrapolation = sl__attribute_float(node, "extrapolation_value", 0);
	r->is_excluding = sl__attribute_int(node, "exclude_outside", 0) != 0;
	r->has_antialias = sl__attribute_int(node, "antialias", 0) != 0;
	return sl__ref_rule_view_end(&v, ev);
}

/* Where element i of the result lies among those of the image. */
static double
source_of(const struct resize *r, const struct axis *a, int64_t i)
{
	double x = (double)i, in = (double)a->in, out = (double)a->out;
	double width = in * a->num / a->den; /* 'out' before it was cut */
	double half = (x + 0.5) * a->den / a->num;

	switch (r->coordinates) {
	case HALF_PIXEL:
		return half - 0.5;
	case HALF_PIXEL_SYMMETRIC:
		return in / 2 * (1 - out / width) + half - 0.5;
	case PYTORCH_HALF_PIXEL:
		return a->out > 1 ? half - 0.5 : 0;
	case ALIGN_CORNERS:
		return a->out > 1 ? x * (in - 1) / (width - 1) : 0;
	case ASYMMETRIC:
		return x * a->den / a->num;
	case TF_HALF_PIXEL:
		return half;
	case TF_CROP:
		if (a->out == 1)
			return 0.5 * (a->start + a->end) * (in - 1);
		return (a->start + x * (a->end - a->start) / (out - 1)) *
		       (in - 1);
	}
	return x;
}

/*
 * The nearest whole number.  Scales are numbers of 32 bits, and so is the
 * position: what lies half way before they were rounded does so again.
 */
static double
rounded(const struct resize *r, const struct axis *a, double x)
{
	x = (double)(float)x;
	switch (r->rounding) {
	case ROUND_PREFER_FLOOR:
		return ceil(x - 0.5);
	case ROUND_PREFER_CEIL:
		return floor(x + 0.5);
	case FLOOR:
		return floor(x);
	case CEIL:
		return ceil(x);
	case OUTWARD:
		return a->num < a->den ? ceil(x) : floor(x);
	}
	return x;
}

/* The weight of an element at distance x. */
static double
filter(const struct resize *r, double x)
{
	double a = r->cubic_a;

	x = fabs(x);
	if (r->mode == LINEAR)
		return x < 1 ? 1 - x : 0;
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t
clamped(double x, int64_t n)
{
	if (!(x > 0))
		return 0;
	return x < (double)(n - 1) ? (int64_t)x : n - 1;
}

/* The elements around x; 'stretch' is below 1 where the filter is widened to
 * cover what a smaller image leaves out. */
static void
weigh(const struct resize *r, const struct axis *a, double x, double stretch,
      int64_t *at, double *weights)
{
	double first = floor(x) - (double)(a->n_taps / 2) + 1, sum = 0;

	for (size_t k = 0; k < a->n_taps; k++) {
		double j = first + (double)k;
		int is_outside = j < 0 || j > (double)(a->in - 1);

		at[k] = clamped(j, a->in);
		weights[k] = r->is_excluding && is_outside
				     ? 0
				     : filter(r, (j - x) * stretch);
		sum += weights[k];
	}
	if (!r->is_excluding && stretch == 1)
		return;
	for (size_t k = 0; sum != 0 && k < a->n_taps; k++)
		weights[k] /= sum;
}

static enum sl_status
fill_table(const struct resize *r, struct axis *a, struct sl__kernel_call *ev)
{
	double scale = a->num / a->den;
	double stretch = r->has_antialias && scale < 1 ? scale : 1;
	double reach = r->mode == LINEAR ? 1 : 2;
	uint64_t n;

	if (a->in == 0)
		return sl__ref_reject(ev, "an empty image cannot be resized");
	if (!(reach / stretch < 1e12))
		return sl__ref_reject(ev, "a scale of %g", scale);
	a->n_taps = r->mode == NEAREST ? 1 : 2 * (size_t)ceil(reach / stretch);
	if (__builtin_mul_overflow((uint64_t)a->out, a->n_taps, &n) ||
	    n > SIZE_MAX)
		return sl__ref_nomem(ev);
	a->at = sl__ref_scratch_integers(ev, (int64_t)n);
	a->weights = sl__ref_scratch_doubles(ev, (int64_t)n);
	if (ev->failure)
		return ev->failure;
	for (int64_t i = 0; i < a->out; i++) {
		double x = source_of(r, a, i);
		int64_t *at = a->at + (size_t)i * a->n_taps;

		if (r->coordinates == TF_CROP &&
		    !(x >= 0 && x <= (double)(a->in - 1)))
			at[0] = -1;
		else if (r->mode == NEAREST)
			at[0] = clamped(rounded(r, a, x), a->in);
		else
			weigh(r, a, x, stretch, at,
			      a->weights + (size_t)i * a->n_taps);
	}
	return SL_OK;
}

/* Axis k of those that the node names. */
static enum sl_status
fill_axis(const struct resize *r, size_t k, struct axis *a,
	  struct sl__kernel_call *ev)
{
	const struct told *t = &r->t;
	size_t n = r->n_common < t->n_axes ? r->n_common : k;
	int64_t common = t->axes ? t->axes[n] : (int64_t)n;

	a->start = t->roi ? t->roi->floats[k] : 0;
	a->end = t->roi ? t->roi->floats[t->n_axes + k] : 1;
	a->num = t->sizes ? (double)t->sizes->ints[n] : (double)scale_of(t, k);
	a->den = t->sizes ? (double)sl__ref_input_dim(ev, 0, (int)common) : 1;
	a->is_changed = a->in != a->out || a->num != a->den || a->start != 0 ||
			a->end != 1;
	return a->is_changed ? fill_table(r, a, ev) : SL_OK;
}

/* The axes of the image, those without change included. */
static struct axis *
fill_axes(const struct resize *r, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *y = &sl__ref_output(ev, 0)->tensor;
	struct axis *axes = sl__ref_scratch(ev, x->rank, sizeof(*axes));

	for (size_t d = 0; axes && d < x->rank; d++) {
		axes[d].in = x->dims[d];
		axes[d].out = y->dims[d];
	}
	for (size_t k = 0; !ev->failure && k < r->t.n_axes; k++) {
		int at = sl__axis_normalize(
			r->t.axes ? r->t.axes[k] : (int64_t)k, (int)x->rank);

		if (at < 0)
			sl__ref_reject(ev, "an axis that is not there");
		else
			fill_axis(r, k, &axes[at], ev);
	}
	return ev->failure ? NULL : axes;
}

/* Elements before and after dimension d of an image whose dimensions up to d
 * are resized already.  0 where the result has too many to count. */
static int
around(const struct axis *axes, size_t rank, size_t d, size_t n[2])
{
	size_t n_all = (size_t)axes[d].out;
	int is_fit = 1;

	n[0] = n[1] = 1;
	for (size_t i = 0; is_fit && i < rank; i++) {
		size_t size = (size_t)(i < d ? axes[i].out : axes[i].in);

		if (i == d)
			continue;
		is_fit = !__builtin_mul_overflow(n_all, size, &n_all);
		n[i < d ? 0 : 1] *= size;
	}
	return is_fit;
}

/* What lies beyond the image: 'size' bytes. */
struct cell {
	unsigned char bytes[16];
	size_t size;
};

/* [outer][in][inner] becomes [outer][out][inner]. */
static void
move_axis(const struct axis *a, size_t n[2], const struct cell *cell,
	  const unsigned char *from, unsigned char *to)
{
	size_t n_bytes = n[1] * cell->size;

	for (size_t row = 0; row < n[0] * (size_t)a->out; row++) {
		size_t image = row / (size_t)a->out * (size_t)a->in;
		int64_t at = a->at[row % (size_t)a->out];

		if (at >= 0)
			memcpy(to, from + (image + (size_t)at) * n_bytes,
			       n_bytes);
		for (size_t b = 0; at < 0 && b < n_bytes; b += cell->size)
			memcpy(to + b, cell->bytes, cell->size);
		to += n_bytes;
	}
}

static void
weigh_axis(const struct resize *r, const struct axis *a, size_t n[2],
	   const double *from, double *to)
{
	for (size_t row = 0; row < n[0] * (size_t)a->out; row++) {
		size_t i = row % (size_t)a->out * a->n_taps;
		size_t image = row / (size_t)a->out * (size_t)a->in;

		for (size_t b = 0; b < n[1]; b++)
			to[b] = a->at[i] < 0 ? r->extrapolation : 0;
		for (size_t k = 0; a->at[i] >= 0 && k < a->n_taps; k++) {
			const double *row_from =
				from + (image + (size_t)a->at[i + k]) * n[1];

			for (size_t b = 0; b < n[1]; b++)
				to[b] += a->weights[i + k] * row_from[b];
		}
		to += n[1];
	}
}

/* Bytes of one element, and what stands for those beyond the image. */
static enum sl_status
make_cell(struct sl__kernel_call *ev, struct cell *cell, const struct resize *r,
	  enum sl_dtype dtype)
{
	uint64_t n_bytes;

	memset(cell, 0, sizeof(*cell));
	cell->size = sizeof(char *);
	if (dtype == SL_DTYPE_STRING && r->coordinates != TF_CROP)
		return SL_OK;
	if (!sl__dtype_bytes(&n_bytes, dtype, 8) || n_bytes == 0 ||
	    n_bytes % 8 || n_bytes > 8 * sizeof(cell->bytes))
		return sl__ref_fail(ev, SL_E_ABSENT, "%s cannot be resized",
				    sl_dtype_text(dtype));
	cell->size = (size_t)n_bytes / 8;
	if (sl__dtype_family(dtype) != SL__DTYPE_OTHER)
		sl__store_doubles(cell->bytes, dtype, 0, 1, &r->extrapolation);
	return SL_OK;
}

/* One dimension after the other, in bytes or, without a cell, in doubles. */
static enum sl_status
run_axes(const struct resize *r, const struct cell *cell, const void **data,
	 struct sl__kernel_call *ev)
{
	size_t rank = (size_t)sl__ref_input_rank(ev, 0);
	struct axis *axes = fill_axes(r, ev);

	for (size_t d = 0; axes && d < rank; d++) {
		size_t n[2];
		void *to;

		if (!axes[d].is_changed)
			continue;
		if (!around(axes, rank, d, n))
			return sl__ref_nomem(ev);
		to = sl__ref_scratch(ev, n[0] * (size_t)axes[d].out * n[1],
				     cell ? cell->size : sizeof(double));
		if (!to)
			return ev->failure;
		if (cell)
			move_axis(&axes[d], n, cell, *data, to);
		else
			weigh_axis(r, &axes[d], n, *data, to);
		*data = to;
	}
	return ev->failure;
}

static enum sl_status
run_nearest(const struct resize *r, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	int is_text = x->dtype == SL_DTYPE_STRING;
	const void *data = is_text ? (const void *)x->strings : x->bytes;
	struct cell cell;

	if (make_cell(ev, &cell, r, x->dtype) || run_axes(r, &cell, &data, ev))
		return ev->failure;
	if (is_text)
		return sl__ref_value_set_strings(ev, out, out->tensor.rank,
						 out->tensor.dims, data);
	memcpy(out->bytes, data, (size_t)out->tensor.n_bytes);
	return SL_OK;
}

enum sl_status
sl__ref_resize(struct sl__kernel_call *ev)
{
	struct resize r = {0};
	const void *data;

	if (read_resize(&r, ev))
		return ev->failure;
	if (sl__ref_output(ev, 0)->kind != SL__TYPE_TENSOR)
		return sl__ref_reject(ev, "the sizes are not known");
	if (r.mode == NEAREST)
		return run_nearest(&r, ev);
	data = sl__ref_input_doubles(ev, 0);
	if (!data || run_axes(&r, NULL, &data, ev))
		return ev->failure;
	return sl__ref_output_store_doubles(ev, 0, data);
}
