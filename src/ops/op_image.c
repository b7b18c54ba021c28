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

uint64_t
sl__interpolation_taps(struct sl__rule_context *call, const char *otherwise)
{
	const char *mode = sl__attribute_string(call->node, "mode", otherwise);

	if (strstr(mode, "nearest"))
		return 1;
	return strstr(mode, "cubic") ? 4 : 2;
}

enum sl_status
sl__infer_grid_sample(struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, 0),
			      *grid = sl__in_type(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int64_t *dims;

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (x->rank < 3 || grid->rank != x->rank ||
	    sl__sizes_differ(grid->dims[x->rank - 1], x->rank - 2))
		return sl__rule_reject(
			call, "a grid of %s does not fit images of %s",
			sl__in_shape_text(call, 1), sl__in_shape_text(call, 0));
	dims = sl__sizes_copy_from_input(call, 0);
	if (!dims)
		return call->failure;
	dims[0] = sl__size_prefer_number(x->dims[0], grid->dims[0]);
	for (int d = 2; d < x->rank; d++)
		dims[d] = grid->dims[d - 1];
	return sl__out_set_shape(call, 0, dtype, x->rank, dims);
}

void
sl__cost_grid_sample(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t each = sl__interpolation_taps(call, "linear"), taps = 1;

	cost->work = each == 1 ? SL_WORK_MOVEMENT : SL_WORK_OTHER;
	for (int d = 2; each > 1 && d < sl__in_rank(call, 0); d++)
		taps = sl__saturating_mul(taps, each);
	if (each > 1)
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.fma = taps));
	/* Each point of the grid is brought to the image's coordinates. */
	sl__cost_add_operations(cost, sl__in_elements(call, 1),
				SL__OPERATIONS_EACH(.fma = 1));
}

/* theta [n][2][3] or [n][3][4], size [n][c][d][h][w]. */
enum sl_status
sl__infer_affine_grid(struct sl__rule_context *call)
{
	const struct sl__known_contents *size = sl__in_known_contents(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	const struct sl__type *list = sl__in_type(call, 1);
	int64_t dims[5];
	int n;

	if (sl__in_rank(call, 1) == 1 && !sl__is_symbol(list->dims[0]) &&
	    list->dims[0] != 4 && list->dims[0] != 5)
		return sl__rule_reject(call,
				       "a size of %lld numbers, not 4 or 5",
				       (long long)list->dims[0]);
	if (!size || !size->ints || (size->n != 4 && size->n != 5))
		return sl__out_set_unknown_shape(
			call, 0, dtype, "depends on the contents of 'size'");
	n = (int)size->n - 2;
	dims[0] = size->ints[0];
	for (int d = 0; d < n; d++)
		dims[1 + d] = size->ints[2 + d];
	dims[1 + n] = n;
	return sl__out_set_shape(call, 0, dtype, n + 2, dims);
}

/* A row of theta times a position. */
void
sl__cost_affine_grid(struct sl__rule_context *call, struct sl_cost *cost)
{
	sl__cost_add_operations(
		cost, cost->out_elements,
		SL__OPERATIONS_EACH(.fma = sl__in_dim(call, 0, 2)));
}

/* Blocks of b by b elements become b * b channels, or the other way round. */
enum sl_status
sl__infer_blocks(struct sl__rule_context *call)
{
	int to_space = sl__is_op(call->node, SL__OP_ONNX_DepthToSpace);
	const struct sl__type *x = sl__in_type(call, 0);
	int64_t b = sl__attribute_int(call->node, "blocksize", 0), dims[4];
	struct sl__shapes *s = call->shapes;
	enum sl_dtype dtype = sl__in_dtype(call, 0);

	if (sl__in_rank(call, 0) < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (x->rank != 4 || b < 1 || b > INT32_MAX)
		return sl__rule_reject(call, "blocks of %lld in %s",
				       (long long)b,
				       sl__in_shape_text(call, 0));
	for (int d = 1; d < 4; d++) {
		int64_t by = d > 1 ? b : b * b;

		if ((d == 1) == to_space && !sl__is_symbol(x->dims[d]) &&
		    x->dims[d] % by)
			return sl__rule_reject(
				call,
				"dimension %d of %s does not divide "
				"by %lld",
				d, sl__in_shape_text(call, 0), (long long)by);
		dims[d] = (d == 1) == to_space
				  ? sl__size_div(s, x->dims[d], by)
				  : sl__size_mul(s, x->dims[d], by);
	}
	dims[0] = x->dims[0];
	return sl__out_set_shape(call, 0, dtype, 4, dims);
}

/* DepthToSpace and SpaceToDepth take an image [n][c][h][w] apart into six
 * dimensions of the output, each with a stride in the input. */
enum sl_status
sl__ref_blocks(struct sl__kernel_call *ev)
{
	int is_crd =
		!strcmp(sl__attribute_string(ev->node, "mode", "DCR"), "CRD");
	int is_spread = sl__is_op(ev->node, SL__OP_ONNX_DepthToSpace);
	int64_t b = sl__attribute_int(ev->node, "blocksize", 0), c, h, w, n, p;
	const int64_t *small, *wide;
	struct sl__element_mover m;
	struct sl__strided_path path;

	if (sl__ref_input_rank(ev, 0) != 4 || b < 1)
		return sl__ref_reject(ev, "an image of 4 dimensions and a "
					  "block of at least 1 are needed");
	if (sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	/* The image of small planes, and the one of wide ones. */
	small = sl__ref_input_tensor(ev, 0)->dims;
	wide = sl__ref_output(ev, 0)->tensor.dims;
	if (!is_spread) {
		wide = small;
		small = sl__ref_output(ev, 0)->tensor.dims;
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

		sl__strided_path_init(&path, 6,
				      dims[is_spread ? 0 : 1 + is_crd]);
		memcpy(path.from, from[(is_spread ? 0 : 2) + is_crd],
		       sizeof(from[0]));
	}
	sl__move_strided_path(&m, &path);
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__infer_image_decoder(struct sl__rule_context *call)
{
	const char *format =
		sl__attribute_string(call->node, "pixel_format", "RGB");
	int64_t dims[3];

	dims[0] = sl__size_new_named(call->shapes, "height");
	dims[1] = sl__size_new_named(call->shapes, "width");
	dims[2] = strcmp(format, "Grayscale") ? 3 : 1;
	return sl__out_set_shape(call, 0, SL_DTYPE_U8, 3, dims);
}

/* [n][c * block][positions] into [n][c][image]. */
enum sl_status
sl__infer_col2im(struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, 0);
	const struct sl__known_contents *image = sl__in_known_contents(call, 1);
	const int64_t *block;
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct sl__shapes *s = call->shapes;
	int64_t *dims, taps = 1;
	size_t n_block;

	if (sl__in_rank(call, 0) < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (!image || !image->ints || image->n > 32 ||
	    !sl__in_integers(call, 2, &block, &n_block))
		return sl__out_set_unknown_shape(
			call, 0, dtype,
			"depends on the contents of its shapes");
	if (x->rank != 3 || n_block != image->n)
		return sl__rule_reject(call,
				       "columns of %s, blocks of %zu and an "
				       "image of %zu dimensions",
				       sl__in_shape_text(call, 0), n_block,
				       image->n);
	dims = sl__sizes_alloc(call, image->n + 2);
	for (size_t d = 0; dims && d < n_block; d++) {
		taps = block[d] < 1 ? -1 : sl__size_mul(s, taps, block[d]);
		if (taps < 1)
			return sl__rule_reject(call, "a block of %lld a side",
					       (long long)block[d]);
		dims[2 + d] = image->ints[d];
	}
	if (!sl__is_symbol(x->dims[1]) && x->dims[1] % taps)
		return sl__rule_reject(call,
				       "%lld rows do not divide into blocks of "
				       "%lld",
				       (long long)x->dims[1], (long long)taps);
	if (dims) {
		dims[0] = x->dims[0];
		dims[1] = sl__size_div(s, x->dims[1], taps);
	}
	return sl__out_set_shape(call, 0, dtype, (int)image->n + 2, dims);
}

/* Overlapping blocks add up. */
void
sl__cost_col2im(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->add = cost->in_elements;
}

enum sl_status
sl__infer_center_crop_pad(struct sl__rule_context *call)
{
	const struct sl__known_contents *shape = sl__in_known_contents(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int rank = sl__in_rank(call, 0);
	const int64_t *axes = NULL;
	size_t n_axes = sl__attribute_ints(call->node, "axes", &axes);
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (!axes)
		n_axes = (size_t)rank;
	if (shape && shape->ints && shape->n != n_axes)
		return sl__rule_reject(call, "%zu sizes for %zu axes", shape->n,
				       n_axes);
	dims = sl__sizes_copy_from_input(call, 0);
	for (size_t k = 0; dims && k < n_axes; k++) {
		int at = sl__axis_require(call, axes ? axes[k] : (int64_t)k,
					  rank);

		if (at < 0)
			return call->failure;
		dims[at] = shape && shape->ints
				   ? shape->ints[k]
				   : sl__size_new_unknown(call->shapes);
	}
	return sl__out_set_shape(call, 0, dtype, rank, dims);
}

enum { SPATIAL_MOST = 6, TAPS_MOST = 4 }; /* 4^6 elements for one */
enum padding { ZEROS, BORDER, REFLECTION };

/* Elements of a picture and how much of each. */
struct tap {
	int64_t at; /* negative: beyond the picture, where all is 0 */
	double weight;
};

struct sampling {
	size_t n_dims, n_taps; /* taps along each dimension: 1, 2 or 4 */
	int64_t dims[SPATIAL_MOST];
	int64_t channels, picture, points; /* elements, of each sample */
	enum padding padding;
	int is_aligned;
	struct tap *taps; /* [n_taps ^ n_dims] */
};

/* x mirrored at the edges until it lies between them. */
static double
reflected(double x, double low, double high)
{
	double range = high - low;

	if (!(range > 0))
		return low;
	x = fabs(fmod(x - low, 2 * range));
	return low + (x > range ? 2 * range - x : x);
}

static void
edges_of(const struct sampling *s, int64_t n, double *low, double *high)
{
	*low = s->is_aligned ? 0 : -0.5;
	*high = (double)n - (s->is_aligned ? 1 : 0.5);
}

/* A position outside the picture brought back as the padding says.  Of the
 * cubic filter only the elements are: its weights stay those of x. */
static double
padded(const struct sampling *s, double x, int64_t n)
{
	double low, high;

	edges_of(s, n, &low, &high);
	if ((x >= low && x <= high) || s->n_taps == TAPS_MOST)
		return x;
	if (s->padding == REFLECTION)
		return reflected(x, low, high);
	if (s->padding == BORDER)
		return x < 0 ? 0 : (double)(n - 1);
	return x;
}

/* The element at j, which is whole, of n. */
static int64_t
element_of(const struct sampling *s, double j, int64_t n)
{
	double low, high;

	edges_of(s, n, &low, &high);
	if (s->padding == REFLECTION && (j < low || j > high))
		j = reflected(j, low, high);
	if (s->padding == BORDER)
		j = j < 0 ? 0 : j > (double)(n - 1) ? (double)(n - 1) : j;
	return j >= 0 && j < (double)n ? (int64_t)j : -1;
}

/* The kernel of cubic convolution with a = -3/4, at distance x. */
static double
cubic(double x)
{
	const double a = -0.75;

	x = fabs(x);
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Taps along one dimension of n elements for a coordinate from -1 to 1. */
static void
tap_dimension(const struct sampling *s, double coordinate, int64_t n,
	      struct tap *taps)
{
	double x = s->is_aligned ? (coordinate + 1) / 2 * (double)(n - 1)
				 : ((coordinate + 1) * (double)n - 1) / 2;
	double first;

	if (s->n_taps == 1)
		x = nearbyint(x);
	x = padded(s, x, n);
	first = floor(x) - (double)(s->n_taps / 4);
	for (size_t k = 0; k < s->n_taps; k++) {
		double j = first + (double)k;

		taps[k].at = isfinite(x) ? element_of(s, j, n) : -1;
		taps[k].weight = s->n_taps == 1   ? 1
				 : s->n_taps == 2 ? 1 - fabs(x - j)
						  : cubic(x - j);
	}
}

/* All elements around one point of the grid; returns how many. */
static size_t
tap_point(const struct sampling *s, const double *point)
{
	struct tap along[TAPS_MOST];
	size_t n = 1;

	s->taps[0] = (struct tap){0, 1};
	for (size_t d = 0; d < s->n_dims; d++) {
		/* The grid names the last dimension first. */
		tap_dimension(s, point[s->n_dims - 1 - d], s->dims[d], along);
		for (size_t i = n * s->n_taps; i-- > 0;) {
			struct tap before = s->taps[i / s->n_taps];
			struct tap t = along[i % s->n_taps];

			if (before.at < 0 || t.at < 0)
				t.at = -1;
			else
				t.at += before.at * s->dims[d];
			t.weight *= before.weight;
			s->taps[i] = t;
		}
		n *= s->n_taps;
	}
	return n;
}

static void
sample_point(const struct sampling *s, const double *picture, size_t n_taps,
	     double *to)
{
	for (int64_t c = 0; c < s->channels; c++) {
		double sum = 0;

		for (size_t k = 0; k < n_taps; k++) {
			if (s->taps[k].at >= 0)
				sum += s->taps[k].weight *
				       picture[s->taps[k].at];
		}
		*to = sum;
		picture += s->picture;
		to += s->points;
	}
}

static enum sl_status
read_modes(struct sl__kernel_call *ev, struct sampling *s)
{
	const struct sl__node *node = ev->node;
	const char *mode = sl__attribute_string(node, "mode", "linear");
	const char *padding =
		sl__attribute_string(node, "padding_mode", "zeros");

	if (!strcmp(mode, "nearest"))
		s->n_taps = 1;
	else if (!strcmp(mode, "linear") || !strcmp(mode, "bilinear"))
		s->n_taps = 2;
	else if (!strcmp(mode, "cubic") || !strcmp(mode, "bicubic"))
		s->n_taps = 4;
	else
		return sl__ref_reject(ev, "mode is '%.60s'", mode);
	if (!strcmp(padding, "border"))
		s->padding = BORDER;
	else if (!strcmp(padding, "reflection"))
		s->padding = REFLECTION;
	else if (strcmp(padding, "zeros") != 0)
		return sl__ref_reject(ev, "padding_mode is '%.60s'", padding);
	s->is_aligned = sl__attribute_int(node, "align_corners", 0) != 0;
	return SL_OK;
}

static enum sl_status
read_sampling(struct sampling *s, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	size_t n = 1;

	if (x->dims[0] != sl__ref_input_dim(ev, 1, 0))
		return sl__ref_reject(ev, "not one grid for each sample");
	if (x->rank > SPATIAL_MOST + 2)
		return sl__ref_fail(ev, SL_E_ABSENT,
				    "pictures of more than %d dimensions",
				    SPATIAL_MOST);
	s->n_dims = x->rank - 2;
	s->channels = x->dims[1];
	s->picture = s->points = 1;
	for (size_t d = 0; d < s->n_dims; d++) {
		s->dims[d] = x->dims[2 + d];
		if (s->dims[d] == 0)
			return sl__ref_reject(ev, "a picture without elements");
		s->picture *= s->dims[d];
		s->points *= sl__ref_input_dim(ev, 1, (int)d + 1);
		n *= s->n_taps;
	}
	s->taps = sl__ref_scratch(ev, n, sizeof(*s->taps));
	return ev->failure;
}

enum sl_status
sl__ref_grid_sample(struct sl__kernel_call *ev)
{
	struct sampling s = {0};
	const double *x = sl__ref_input_doubles(ev, 0),
		     *grid = sl__ref_input_doubles(ev, 1);
	double *y = sl__ref_scratch_output(ev, 0);

	if (ev->failure || read_modes(ev, &s) || read_sampling(&s, ev))
		return ev->failure;
	for (int64_t i = 0; i < sl__ref_input_dim(ev, 0, 0) * s.points; i++) {
		int64_t sample = i / s.points * s.channels;
		size_t n = tap_point(&s, grid + i * (int64_t)s.n_dims);

		sample_point(&s, x + sample * s.picture, n,
			     y + sample * s.points + i % s.points);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* Place i of n from -1 to 1: the first and last are the ends, or half a
 * step away from them; a single one is the middle. */
static double
place_of(int64_t i, int64_t n, int is_aligned)
{
	if (n == 1)
		return 0;
	return is_aligned ? -1 + 2 * (double)i / (double)(n - 1)
			  : (2 * (double)i + 1) / (double)n - 1;
}

/* out [n][d][h][w][3] or [n][h][w][2] = theta [n][3][4] times the place. */
enum sl_status
sl__ref_affine_grid(struct sl__kernel_call *ev)
{
	int is_aligned = sl__attribute_int(ev->node, "align_corners", 0) != 0;
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	const double *theta = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	int64_t n = (int64_t)out->rank - 2, at[5] = {0};

	if (ev->failure)
		return ev->failure;
	if (sl__ref_input_rank(ev, 0) != 3 ||
	    sl__ref_input_dim(ev, 0, 0) != out->dims[0] ||
	    sl__ref_input_dim(ev, 0, 1) != n ||
	    sl__ref_input_dim(ev, 0, 2) != n + 1)
		return sl__ref_reject(ev, "theta does not fit the size");
	for (uint64_t i = 0; i < out->n_elements; i++) {
		const double *row = theta + (at[0] * n + at[n + 1]) * (n + 1);

		y[i] = row[n];
		for (int64_t d = 0; d < n; d++)
			y[i] += row[d] * place_of(at[n - d], out->dims[n - d],
						  is_aligned);
		(void)sl__strided_position_next(at, out->rank, out->dims, NULL,
						NULL, 0);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* Samples of a bin: along a side, and all of them. */
enum { SIDE_MOST = 1 << 20, SAMPLES_MOST = 1 << 24 };

struct regions {
	int64_t images, channels, height, width, n, out_height, out_width;
	int64_t ratio; /* samples along a side of a bin; 0: one a pixel */
	double scale;
	int is_half_pixel, is_max;
};

/* One region: where it starts, its bins' sizes and samples, y before x. */
struct region {
	double start[2], bin[2];
	int64_t n_samples[2];
};

static enum sl_status
read_region(struct sl__kernel_call *ev, struct region *g,
	    const struct regions *r, const double *corners)
{
	double offset = r->is_half_pixel ? 0.5 : 0;

	for (int d = 0; d < 2; d++) {
		double size, n;

		g->start[d] = corners[1 - d] * r->scale - offset;
		size = corners[3 - d] * r->scale - offset - g->start[d];
		if (!r->is_half_pixel && size < 1)
			size = 1;
		g->bin[d] = size / (double)(d ? r->out_width : r->out_height);
		n = r->ratio > 0 ? (double)r->ratio : ceil(g->bin[d]);
		if (!(n <= SIDE_MOST))
			return sl__ref_reject(ev, "a region of %g pixels",
					      size);
		g->n_samples[d] = n > 0 ? (int64_t)n : 0;
	}
	if (g->n_samples[0] * g->n_samples[1] > SAMPLES_MOST)
		return sl__ref_reject(ev, "%lldx%lld samples of a bin",
				      (long long)g->n_samples[0],
				      (long long)g->n_samples[1]);
	return SL_OK;
}

/* The two elements around x of n, and the weight of the second; 0 where x is
 * too far outside. */
static int
bracket(double x, int64_t n, int64_t at[2], double *weight)
{
	if (!(x >= -1 && x <= (double)n))
		return 0;
	x = x > 0 ? x : 0;
	at[0] = (int64_t)x;
	if (at[0] >= n - 1) {
		at[0] = at[1] = n - 1;
		*weight = 0;
	} else {
		at[1] = at[0] + 1;
		*weight = x - (double)at[0];
	}
	return 1;
}

/* One sample: the sum of its four parts or, as ONNX defines the mode, the
 * greatest of them. */
static double
sample(const struct regions *r, const double *picture, double y, double x)
{
	int64_t rows[2], columns[2];
	double down, right, parts[4];

	if (!bracket(y, r->height, rows, &down) ||
	    !bracket(x, r->width, columns, &right))
		return 0;
	for (int i = 0; i < 4; i++)
		parts[i] = (i / 2 ? down : 1 - down) *
			   (i % 2 ? right : 1 - right) *
			   picture[rows[i / 2] * r->width + columns[i % 2]];
	if (!r->is_max)
		return parts[0] + parts[1] + parts[2] + parts[3];
	return fmax(fmax(parts[0], parts[1]), fmax(parts[2], parts[3]));
}

static double
pool_bin(const struct regions *r, const struct region *g, const double *picture,
	 int64_t row, int64_t column)
{
	int64_t n = g->n_samples[0] * g->n_samples[1];
	double result = 0;

	for (int64_t i = 0; i < n; i++) {
		double iy = (double)(i / g->n_samples[1]) + 0.5;
		double ix = (double)(i % g->n_samples[1]) + 0.5;
		double value = sample(
			r, picture,
			g->start[0] +
				g->bin[0] * ((double)row +
					     iy / (double)g->n_samples[0]),
			g->start[1] +
				g->bin[1] * ((double)column +
					     ix / (double)g->n_samples[1]));

		if (r->is_max)
			result = i == 0 || value > result ? value : result;
		else
			result += value;
	}
	return r->is_max || n == 0 ? result : result / (double)n;
}

static enum sl_status
read_regions(struct regions *r, struct sl__kernel_call *ev)
{
	const struct sl__node *node = ev->node;
	const char *mode = sl__attribute_string(node, "mode", "avg");
	const char *coordinates = sl__attribute_string(
		node, "coordinate_transformation_mode", "half_pixel");

	if (sl__ref_input_rank(ev, 0) != 4 || sl__ref_input_rank(ev, 1) != 2 ||
	    sl__ref_input_dim(ev, 1, 1) != 4 ||
	    sl__ref_input_rank(ev, 2) != 1 ||
	    sl__ref_input_dim(ev, 2, 0) != sl__ref_input_dim(ev, 1, 0))
		return sl__ref_reject(ev,
				      "regions that do not fit their images");
	r->images = sl__ref_input_dim(ev, 0, 0);
	r->channels = sl__ref_input_dim(ev, 0, 1);
	r->height = sl__ref_input_dim(ev, 0, 2);
	r->width = sl__ref_input_dim(ev, 0, 3);
	r->n = sl__ref_input_dim(ev, 1, 0);
	r->out_height = sl__attribute_int(node, "output_height", 1);
	r->out_width = sl__attribute_int(node, "output_width", 1);
	r->ratio = sl__attribute_int(node, "sampling_ratio", 0);
	r->scale = sl__attribute_float(node, "spatial_scale", 1);
	r->is_max = !strcmp(mode, "max");
	r->is_half_pixel = node->version >= 16 &&
			   !strcmp(coordinates, "half_pixel");
	if (r->height == 0 || r->width == 0)
		return sl__ref_reject(ev, "images without elements");
	return SL_OK;
}

static enum sl_status
pool_region(struct sl__kernel_call *ev, const struct regions *r,
	    const struct region *g, int64_t image, const double *x, double **y)
{
	if (image < 0 || image >= r->images)
		return sl__ref_reject(ev, "image %lld of %lld",
				      (long long)image, (long long)r->images);
	for (int64_t c = 0; c < r->channels; c++) {
		const double *picture =
			x + (image * r->channels + c) * r->height * r->width;

		for (int64_t i = 0; i < r->out_height * r->out_width; i++)
			*(*y)++ = pool_bin(r, g, picture, i / r->out_width,
					   i % r->out_width);
	}
	return SL_OK;
}

enum sl_status
sl__ref_roi_align(struct sl__kernel_call *ev)
{
	struct regions r = {0};
	const double *x = sl__ref_input_doubles(ev, 0);
	const double *corners = sl__ref_input_doubles(ev, 1);
	const int64_t *images = sl__ref_input_integers(ev, 2);
	double *y = sl__ref_scratch_output(ev, 0), *to = y;

	if (ev->failure || read_regions(&r, ev))
		return ev->failure;
	for (int64_t i = 0; i < r.n; i++) {
		struct region g = {0};

		if (read_region(ev, &g, &r, corners + 4 * i) ||
		    pool_region(ev, &r, &g, images[i], x, &to))
			return ev->failure;
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* Blocks that slide over an image, n_dims of everything. */
struct blocks {
	size_t n_dims;
	const int64_t *image, *block;
	const int64_t *strides, *dilations, *pads; /* NULL: 1, 1, 0 */
	int64_t *n; /* of a block's elements, then of places: [2 * n_dims] */
};

static int64_t
number(const int64_t *list, size_t d, int64_t otherwise)
{
	return list ? list[d] : otherwise;
}

/* One list of the node, n numbers from 'least' up, or none. */
static enum sl_status
read_list(struct sl__kernel_call *ev, const int64_t **out, const char *name,
	  size_t n, int64_t least)
{
	size_t n_given = sl__attribute_ints(ev->node, name, out);

	if (n_given == 0)
		*out = NULL;
	for (size_t d = 0; d < n_given; d++) {
		if (n_given != n || (*out)[d] < least || (*out)[d] > INT32_MAX)
			return sl__ref_reject(ev, "%s do not fit", name);
	}
	return SL_OK;
}

/* How many places a block has, along each dimension. */
static enum sl_status
count_places(struct sl__kernel_call *ev, struct blocks *b, int64_t columns)
{
	int64_t n_all = 1;

	for (size_t d = 0; d < b->n_dims; d++) {
		int64_t size = b->image[d] + number(b->pads, d, 0) +
			       number(b->pads, b->n_dims + d, 0);
		int64_t reach, room;

		if (b->image[d] > INT32_MAX || b->block[d] > INT32_MAX)
			return sl__ref_reject(ev, "an image of %lld a side",
					      (long long)b->image[d]);
		reach = number(b->dilations, d, 1) * (b->block[d] - 1) + 1;
		room = size - reach;
		b->n[d] = b->block[d];
		b->n[b->n_dims + d] =
			room < 0 ? 0 : room / number(b->strides, d, 1) + 1;
		if (__builtin_mul_overflow(n_all, b->n[b->n_dims + d], &n_all))
			break;
	}
	if (n_all != columns)
		return sl__ref_reject(ev, "%lld columns do not fit the image",
				      (long long)columns);
	return SL_OK;
}

static enum sl_status
read_blocks(struct blocks *b, struct sl__kernel_call *ev)
{
	size_t n_block;

	b->image = sl__ref_integer_list(ev, 1, NULL, &b->n_dims);
	b->block = sl__ref_integer_list(ev, 2, NULL, &n_block);
	b->n = sl__ref_scratch(ev, 2 * b->n_dims, sizeof(*b->n));
	if (ev->failure)
		return ev->failure;
	if (sl__ref_input_rank(ev, 0) != 3 || n_block != b->n_dims)
		return sl__ref_reject(ev, "columns that do not fit the image");
	if (read_list(ev, &b->strides, "strides", b->n_dims, 1) ||
	    read_list(ev, &b->dilations, "dilations", b->n_dims, 1) ||
	    read_list(ev, &b->pads, "pads", 2 * b->n_dims, 0))
		return ev->failure;
	return count_places(ev, b, sl__ref_input_dim(ev, 0, 2));
}

/* Where element at[0 ..] of the block at place at[n_dims ..] lies in the
 * image; -1 where it lies in the padding. */
static int64_t
pixel_of(const struct blocks *b, const int64_t *at)
{
	int64_t pixel = 0;

	for (size_t d = 0; d < b->n_dims; d++) {
		int64_t i = at[b->n_dims + d] * number(b->strides, d, 1) +
			    at[d] * number(b->dilations, d, 1) -
			    number(b->pads, d, 0);

		if (i < 0 || i >= b->image[d])
			return -1;
		pixel = pixel * b->image[d] + i;
	}
	return pixel;
}

/* [n][channels * block][places] is added up into [n][channels][image]. */
enum sl_status
sl__ref_col2im(struct sl__kernel_call *ev)
{
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	struct blocks b = {0};
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	int64_t *at, n_pictures, n_pixels;

	if (ev->failure || read_blocks(&b, ev))
		return ev->failure;
	at = sl__ref_scratch(ev, 2 * b.n_dims, sizeof(*at));
	if (!at)
		return ev->failure;
	n_pictures = out->dims[0] * out->dims[1];
	n_pixels = (int64_t)out->n_elements / n_pictures;
	for (int64_t p = 0;
	     sl__ref_input_tensor(ev, 0)->n_elements && p < n_pictures; p++) {
		do {
			int64_t pixel = pixel_of(&b, at);

			if (pixel >= 0)
				y[p * n_pixels + pixel] += *x;
			x++;
		} while (sl__strided_position_next(at, 2 * b.n_dims, b.n, NULL,
						   NULL, 0));
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}
