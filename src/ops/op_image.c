/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_image.c - images resized, sampled, cropped and rearranged.
 *
 * Interpolation is counted in its direct form: each output element is a
 * weighted sum of 2 (linear) or 4 (cubic) neighbours along each dimension
 * that changes, so of 2^d or 4^d elements; the nearest neighbour is a copy.
 * Kernels that go one dimension after another take less.
 */
#include "ops/cost.h"
#include "ops/ref_move.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* What a resizing node is told, and about which axes. */
struct resize {
	const struct sl__known *scales, *sizes, *roi; /* NULL: none, or not
							 known */
	const float *given; /* scales as an attribute, n_given of them */
	size_t n_given;
	const int64_t *axes; /* NULL: all */
	size_t n_axes;
	int is_told; /* by contents that are known */
};

/* Contents of an input that is there and not empty. */
static const struct sl__known *
contents_of(struct sl__call *call, size_t i)
{
	const struct sl__known *known = sl__in_known(call, i);

	return known && known->n ? known : NULL;
}

static void
read_resize(struct resize *r, struct sl__call *call, int rank)
{
	const struct sl__node *node = call->node;
	int is_upsample = sl__is_op(node, SL__OP_ONNX_Upsample);
	const struct sl__attribute *scales = sl__attribute(node, "scales");

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
		if (sl__attribute(node, "axes"))
			r->n_axes = sl__ints(node, "axes", &r->axes);
	}
	/* A tensor of another type of number tells nothing. */
	if (r->scales && !r->scales->floats)
		r->scales = NULL;
	if (r->sizes && !r->sizes->ints)
		r->sizes = NULL;
	r->is_told = r->scales || r->sizes || r->given;
}

/* Number k of the scales, as the 32-bit number that it is. */
static float
scale_of(const struct resize *r, size_t k)
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
		return sl__size_unknown(shapes);
	}
	size = floorf((float)in * crop * scale);
	return size >= 0 && size < 9e18F ? (int64_t)size : -1;
}

/* The one scale for all axes that keeps the picture's proportions; 0 where
 * they are to be stretched, -1 where a size is not known. */
static double
common_scale(struct sl__call *call, const struct resize *r,
	     const struct sl__type *x)
{
	const char *word =
		sl__word(call->node, "keep_aspect_ratio_policy", "stretch");
	int is_larger = !strcmp(word, "not_smaller");
	double best = 0;

	if (!strcmp(word, "stretch") || !r->sizes)
		return 0;
	for (size_t k = 0; k < r->n_axes; k++) {
		int at = sl__axis(r->axes ? r->axes[k] : (int64_t)k, x->rank);
		double ratio;

		if (at < 0 || x->dims[at] <= 0 ||
		    sl__is_symbol(r->sizes->ints[k]))
			return -1;
		ratio = (double)r->sizes->ints[k] / (double)x->dims[at];
		if (k == 0 || (is_larger ? ratio > best : ratio < best))
			best = ratio;
	}
	return best;
}

/* Axis k of those that are resized, of 'in' elements. */
static int64_t
resized_size(struct sl__call *call, const struct resize *r, size_t k,
	     int64_t in, double common)
{
	const char *mode =
		sl__word(call->node, "coordinate_transformation_mode", "");
	float crop = 1;
	double size;

	if (r->sizes && common < 0)
		return sl__size_unknown(call->shapes);
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

/* The first version has two scales, of the last two dimensions. */
static int
read_first_upsample(float scales[4], struct sl__call *call, int rank)
{
	double height = sl__float(call->node, "height_scale", 0);
	double width = sl__float(call->node, "width_scale", 0);

	if (rank != 4 || !(height > 0) || !(width > 0))
		return 0;
	scales[0] = scales[1] = 1;
	scales[2] = (float)height;
	scales[3] = (float)width;
	return 1;
}

static void
check_numbers(struct sl__call *call, const struct resize *r)
{
	size_t n = r->given   ? r->n_given
		   : r->sizes ? r->sizes->n
			      : r->scales->n;

	if (n != r->n_axes)
		sl__refuse(call, "%zu scales or sizes for %zu dimensions", n,
			   r->n_axes);
}

enum sl_status
sl__infer_resize(struct sl__call *call)
{
	const struct sl__type *x = sl__in(call, 0);
	int rank = sl__in_rank(call, 0);
	double common = 0;
	float first[4];
	struct resize r;
	int64_t *dims;

	if (rank < 0)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0));
	read_resize(&r, call, rank);
	if (!r.is_told && read_first_upsample(first, call, rank)) {
		r.given = first;
		r.n_given = 4;
		r.is_told = 1;
	}
	dims = sl__copy_sizes(call, 0);
	if (r.is_told) {
		check_numbers(call, &r);
		common = call->failure ? 0 : common_scale(call, &r, x);
	}
	for (size_t k = 0; !call->failure && k < r.n_axes; k++) {
		int at = sl__need_axis(call, r.axes ? r.axes[k] : (int64_t)k,
				       rank);

		if (at < 0)
			return call->failure;
		dims[at] = r.is_told ? resized_size(call, &r, k, x->dims[at],
						    common)
				     : sl__size_unknown(call->shapes);
	}
	return sl__out(call, 0, sl__in_dtype(call, 0), rank, dims);
}

/* Neighbours along one dimension: 1 copies, 2 linear, 4 cubic. */
static uint64_t
neighbours_of(struct sl__call *call, const char *otherwise)
{
	const char *mode = sl__word(call->node, "mode", otherwise);

	if (strstr(mode, "nearest"))
		return 1;
	return strstr(mode, "cubic") ? 4 : 2;
}

void
sl__cost_resize(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t each = neighbours_of(call, "nearest"), taps = 1;
	int is_wide = sl__int(call->node, "antialias", 0) != 0;
	const struct sl__type *x = sl__in(call, 0);

	cost->work = SL_WORK_MOVEMENT;
	for (int d = 0; each > 1 && d < x->rank; d++) {
		uint64_t in = sl__in_dim(call, 0, d);
		uint64_t out = sl__out_dim(call, 0, d);

		if (in == out)
			continue;
		/* A filter against aliasing is as much wider as the image
		 * becomes smaller. */
		taps = sl__times(taps,
				 is_wide && out && in > out
					 ? (sl__times(each, in) + out - 1) / out
					 : each);
	}
	if (taps == 1)
		return;
	cost->work = SL_WORK_OTHER;
	sl__count(cost, cost->out_elements, SL__PER(.fma = taps));
}

enum sl_status
sl__infer_grid_sample(struct sl__call *call)
{
	const struct sl__type *x = sl__in(call, 0), *grid = sl__in(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int64_t *dims;

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return sl__out_rankless(call, 0, dtype);
	if (x->rank < 3 || grid->rank != x->rank ||
	    sl__sizes_differ(grid->dims[x->rank - 1], x->rank - 2))
		return sl__refuse(call,
				  "a grid of %s does not fit images of %s",
				  sl__in_text(call, 1), sl__in_text(call, 0));
	dims = sl__copy_sizes(call, 0);
	if (!dims)
		return call->failure;
	dims[0] = sl__size_of_both(x->dims[0], grid->dims[0]);
	for (int d = 2; d < x->rank; d++)
		dims[d] = grid->dims[d - 1];
	return sl__out(call, 0, dtype, x->rank, dims);
}

void
sl__cost_grid_sample(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t each = neighbours_of(call, "linear"), taps = 1;

	cost->work = each == 1 ? SL_WORK_MOVEMENT : SL_WORK_OTHER;
	for (int d = 2; each > 1 && d < sl__in_rank(call, 0); d++)
		taps = sl__times(taps, each);
	if (each > 1)
		sl__count(cost, cost->out_elements, SL__PER(.fma = taps));
	/* Each point of the grid is brought to the image's coordinates. */
	sl__count(cost, sl__in_elements(call, 1), SL__PER(.fma = 1));
}

/* theta [n][2][3] or [n][3][4], size [n][c][d][h][w]. */
enum sl_status
sl__infer_affine_grid(struct sl__call *call)
{
	const struct sl__known *size = sl__in_known(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	const struct sl__type *list = sl__in(call, 1);
	int64_t dims[5];
	int n;

	if (sl__in_rank(call, 1) == 1 && !sl__is_symbol(list->dims[0]) &&
	    list->dims[0] != 4 && list->dims[0] != 5)
		return sl__refuse(call, "a size of %lld numbers, not 4 or 5",
				  (long long)list->dims[0]);
	if (!size || !size->ints || (size->n != 4 && size->n != 5))
		return sl__out_unknown(call, 0, dtype,
				       "depends on the contents of 'size'");
	n = (int)size->n - 2;
	dims[0] = size->ints[0];
	for (int d = 0; d < n; d++)
		dims[1 + d] = size->ints[2 + d];
	dims[1 + n] = n;
	return sl__out(call, 0, dtype, n + 2, dims);
}

/* A row of theta times a position. */
void
sl__cost_affine_grid(struct sl__call *call, struct sl_cost *cost)
{
	sl__count(cost, cost->out_elements,
		  SL__PER(.fma = sl__in_dim(call, 0, 2)));
}

/* Blocks of b by b elements become b * b channels, or the other way round. */
enum sl_status
sl__infer_blocks(struct sl__call *call)
{
	int to_space = sl__is_op(call->node, SL__OP_ONNX_DepthToSpace);
	const struct sl__type *x = sl__in(call, 0);
	int64_t b = sl__int(call->node, "blocksize", 0), dims[4];
	struct sl__shapes *s = call->shapes;
	enum sl_dtype dtype = sl__in_dtype(call, 0);

	if (sl__in_rank(call, 0) < 0)
		return sl__out_rankless(call, 0, dtype);
	if (x->rank != 4 || b < 1 || b > INT32_MAX)
		return sl__refuse(call, "blocks of %lld in %s", (long long)b,
				  sl__in_text(call, 0));
	for (int d = 1; d < 4; d++) {
		int64_t by = d > 1 ? b : b * b;

		if ((d == 1) == to_space && !sl__is_symbol(x->dims[d]) &&
		    x->dims[d] % by)
			return sl__refuse(call,
					  "dimension %d of %s does not divide "
					  "by %lld",
					  d, sl__in_text(call, 0),
					  (long long)by);
		dims[d] = (d == 1) == to_space
				  ? sl__size_div(s, x->dims[d], by)
				  : sl__size_mul(s, x->dims[d], by);
	}
	dims[0] = x->dims[0];
	return sl__out(call, 0, dtype, 4, dims);
}

/* DepthToSpace and SpaceToDepth take an image [n][c][h][w] apart into six
 * dimensions of the output, each with a stride in the input. */
enum sl_status
sl__ref_blocks(struct sl__eval *ev)
{
	int is_crd = !strcmp(sl__word(ev->node, "mode", "DCR"), "CRD");
	int is_spread = sl__is_op(ev->node, SL__OP_ONNX_DepthToSpace);
	int64_t b = sl__int(ev->node, "blocksize", 0), c, h, w, n, p;
	const int64_t *small, *wide;
	struct sl__mover m;
	struct sl__path path;

	if (sl__ref_rank(ev, 0) != 4 || b < 1)
		return sl__ref_refuse(ev, "an image of 4 dimensions and a "
					  "block of at least 1 are needed");
	if (sl__move_between(&m, ev, 0, 0))
		return ev->failure;
	/* The image of small planes, and the one of wide ones. */
	small = sl__ref_tensor(ev, 0)->dims;
	wide = sl__ref_result(ev, 0)->tensor.dims;
	if (!is_spread) {
		wide = small;
		small = sl__ref_result(ev, 0)->tensor.dims;
	}
	n = wide[0];
	c = wide[1];
	h = small[2];
	w = small[3];
	p = is_spread ? h * w : h * b * w * b;
	{
		const int64_t dims[3][6] = {{n, c, h, b, w, b},
					    {n, b, b, c, h, w},
					    {n, c, b, b, h, w}};
		const int64_t from[4][6] = {
			{b * b * c * p, p, w, b * c * p, 1, c * p},
			{b * b * c * p, b * b * p, w, b * p, 1, p},
			{c * p, w * b, 1, p, b * w * b, b},
			{c * p, p, w * b, 1, b * w * b, b}};

		sl__path_init(&path, 6, dims[is_spread ? 0 : 1 + is_crd]);
		memcpy(path.from, from[(is_spread ? 0 : 2) + is_crd],
		       sizeof(from[0]));
	}
	sl__move_path(&m, &path);
	return sl__move_end(ev, 0);
}

enum sl_status
sl__infer_image_decoder(struct sl__call *call)
{
	const char *format = sl__word(call->node, "pixel_format", "RGB");
	int64_t dims[3];

	dims[0] = sl__size_named(call->shapes, "height");
	dims[1] = sl__size_named(call->shapes, "width");
	dims[2] = strcmp(format, "Grayscale") ? 3 : 1;
	return sl__out(call, 0, SL_DTYPE_U8, 3, dims);
}

/* [n][c * block][positions] into [n][c][image]. */
enum sl_status
sl__infer_col2im(struct sl__call *call)
{
	const struct sl__type *x = sl__in(call, 0);
	const struct sl__known *image = sl__in_known(call, 1);
	const int64_t *block;
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct sl__shapes *s = call->shapes;
	int64_t *dims, taps = 1;
	size_t n_block;

	if (sl__in_rank(call, 0) < 0)
		return sl__out_rankless(call, 0, dtype);
	if (!image || !image->ints || image->n > 32 ||
	    !sl__in_integers(call, 2, &block, &n_block))
		return sl__out_unknown(call, 0, dtype,
				       "depends on the contents of its shapes");
	if (x->rank != 3 || n_block != image->n)
		return sl__refuse(call,
				  "columns of %s, blocks of %zu and an "
				  "image of %zu dimensions",
				  sl__in_text(call, 0), n_block, image->n);
	dims = sl__new_sizes(call, image->n + 2);
	for (size_t d = 0; dims && d < n_block; d++) {
		taps = block[d] < 1 ? -1 : sl__size_mul(s, taps, block[d]);
		if (taps < 1)
			return sl__refuse(call, "a block of %lld a side",
					  (long long)block[d]);
		dims[2 + d] = image->ints[d];
	}
	if (!sl__is_symbol(x->dims[1]) && x->dims[1] % taps)
		return sl__refuse(call,
				  "%lld rows do not divide into blocks of "
				  "%lld",
				  (long long)x->dims[1], (long long)taps);
	if (dims) {
		dims[0] = x->dims[0];
		dims[1] = sl__size_div(s, x->dims[1], taps);
	}
	return sl__out(call, 0, dtype, (int)image->n + 2, dims);
}

/* Overlapping blocks add up. */
void
sl__cost_col2im(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->add = cost->in_elements;
}

enum sl_status
sl__infer_center_crop_pad(struct sl__call *call)
{
	const struct sl__known *shape = sl__in_known(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int rank = sl__in_rank(call, 0);
	const int64_t *axes = NULL;
	size_t n_axes = sl__ints(call->node, "axes", &axes);
	int64_t *dims;

	if (rank < 0)
		return sl__out_rankless(call, 0, dtype);
	if (!axes)
		n_axes = (size_t)rank;
	if (shape && shape->ints && shape->n != n_axes)
		return sl__refuse(call, "%zu sizes for %zu axes", shape->n,
				  n_axes);
	dims = sl__copy_sizes(call, 0);
	for (size_t k = 0; dims && k < n_axes; k++) {
		int at = sl__need_axis(call, axes ? axes[k] : (int64_t)k, rank);

		if (at < 0)
			return call->failure;
		dims[at] = shape && shape->ints
				   ? shape->ints[k]
				   : sl__size_unknown(call->shapes);
	}
	return sl__out(call, 0, dtype, rank, dims);
}
