/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_resize.c - images resized: nearest neighbour and linear, in the last
 * two dimensions, f32.
 *
 * The tensor is [outer][height][width][inner]: 'inner' is 1 where elements
 * are row-major, and a run of channels where they lie in blocks or last.  For
 * every row and column of the result a table names two of the image and the
 * share of the second; the nearest neighbour has one of them.
 */
#include "compute/vector.h"
#include "engine/strided_layout.h"
#include "engine/node_steps.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

struct table {
	int64_t in, out;
	double num, den; /* the scale */
	int32_t *first, *second;
	float *share; /* of the second */
};

struct resize {
	int64_t outer, inner;
	int is_linear;
	struct table rows, columns;
	void (*row)(const struct resize *r, const float *x, float *y);
	void (*mix)(const float *a, const float *b, float share, int64_t n,
		    float *y);
	unsigned char **at; /* x, y, a row of the image for each thread */
};

/* One row of the result from a row of the image. */
SL__INLINE void
row_body(const struct resize *r, const float *x, float *y)
{
	const int32_t *first = r->columns.first, *second = r->columns.second;
	const float *share = r->columns.share;
	int64_t n = r->columns.out, inner = r->inner;

	if (!r->is_linear && inner == 1) {
		for (int64_t i = 0; i < n; i++)
			y[i] = x[first[i]];
		return;
	}
	if (inner == 1) {
		for (int64_t i = 0; i < n; i++)
			y[i] = x[first[i]] +
			       share[i] * (x[second[i]] - x[first[i]]);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		const float *a = x + first[i] * inner;
		const float *b = x + second[i] * inner;

		for (int64_t k = 0; k < inner; k++)
			y[i * inner + k] = a[k] + share[i] * (b[k] - a[k]);
	}
}
SL__VECTOR_TARGETS(row, row_body,
		   (const struct resize *r, const float *x, float *y),
		   (r, x, y))

SL__INLINE void
mix_body(const float *a, const float *b, float share, int64_t n, float *y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] + share * (b[i] - a[i]);
}
SL__VECTOR_TARGETS(mix, mix_body,
		   (const float *a, const float *b, float share, int64_t n,
		    float *y),
		   (a, b, share, n, y))

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct resize *r = ctx;
	const struct table *rows = &r->rows;
	int64_t width = r->columns.in * r->inner, first, end;
	const float *images = (const float *)(void *)r->at[0];
	float *y = (float *)(void *)r->at[1];
	float *scratch = (float *)(void *)r->at[2] + rank * width;

	sl__parallel_range(r->outer * rows->out, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		const float *image = images + i / rows->out * rows->in * width;
		int64_t k = i % rows->out;
		const float *x = image + rows->first[k] * width;

		if (r->is_linear && rows->share[k] > 0) {
			r->mix(x, image + rows->second[k] * width,
			       rows->share[k], width, scratch);
			x = scratch;
		}
		r->row(r, x, y + i * r->columns.out * r->inner);
	}
}

/* Where element i of the result lies in the image; NAN where that is not for
 * this kernel. */
static double
source_of(const struct sl__node *node, const struct table *t, int64_t i)
{
	const char *word = sl__attribute_string(
		node, "coordinate_transformation_mode", "half_pixel");
	double x = (double)i, half = (x + 0.5) * t->den / t->num;
	double width = (double)t->in * t->num / t->den;

	if (sl__is_op(node, SL__OP_ONNX_Upsample) || node->version < 11 ||
	    !strcmp(word, "asymmetric"))
		return x * t->den / t->num;
	if (!strcmp(word, "half_pixel"))
		return half - 0.5;
	if (!strcmp(word, "pytorch_half_pixel"))
		return t->out > 1 ? half - 0.5 : 0;
	if (!strcmp(word, "align_corners"))
		return t->out > 1 ? x * (double)(t->in - 1) / (width - 1) : 0;
	return (double)NAN;
}

/* Scales are numbers of 32 bits, and so is the position: what lies half way
 * before they were rounded does so again. */
static double
rounded(const struct sl__node *node, const struct table *t, double x)
{
	const char *word = sl__attribute_string(node, "nearest_mode",
						"round_prefer_floor");

	x = (double)(float)x;
	if (sl__is_op(node, SL__OP_ONNX_Upsample))
		return floor(x);
	if (node->version < 11)
		return t->num < t->den ? ceil(x) : floor(x);
	if (!strcmp(word, "round_prefer_ceil"))
		return floor(x + 0.5);
	if (!strcmp(word, "floor"))
		return floor(x);
	return !strcmp(word, "ceil") ? ceil(x) : ceil(x - 0.5);
}

static int32_t
clamped(double x, int64_t n)
{
	if (!(x > 0))
		return 0;
	return (int32_t)(x < (double)(n - 1) ? (int64_t)x : n - 1);
}

static int
fill_table(struct sl__planner *pl, const struct sl__node *node, struct table *t,
	   int is_linear)
{
	t->first = sl__plan_alloc_state(pl, (size_t)t->out * sizeof(*t->first));
	t->second =
		sl__plan_alloc_state(pl, (size_t)t->out * sizeof(*t->second));
	t->share = sl__plan_alloc_state(pl, (size_t)t->out * sizeof(*t->share));
	if (!t->first || !t->second || !t->share || t->in > INT32_MAX)
		return 0;
	for (int64_t i = 0; i < t->out; i++) {
		double x = source_of(node, t, i), low = floor(x);

		if (isnan(x))
			return 0;
		if (!is_linear)
			low = rounded(node, t, x);
		t->first[i] = t->second[i] = clamped(low, t->in);
		if (is_linear) {
			t->second[i] = clamped(low + 1, t->in);
			t->share[i] = (float)(x - low);
		}
	}
	return 1;
}

/* Scale of dimension d: of the sizes where they are given, else as said.  0
 * where it is not known. */
static int
read_scale(struct sl__planner *pl, const struct sl__node *node, int d,
	   struct table *t)
{
	int is_old = sl__is_op(node, SL__OP_ONNX_Upsample) ||
		     node->n_inputs <= 2;
	const struct sl__attribute *a = sl__attribute_find(node, "scales");
	uint32_t value = sl__plan_node_input(node, is_old ? 1 : 2);
	const struct sl__tensor *scales;

	t->den = 1;
	if (!is_old && sl__plan_node_input(node, 3) != SL__NONE &&
	    sl__plan_value_n_elements(pl, sl__plan_node_input(node, 3))) {
		t->num = (double)t->out;
		t->den = (double)t->in;
		return 1;
	}
	if (a && a->kind == SL__ATTRIBUTE_FLOATS && (size_t)d < a->n) {
		t->num = (double)a->floats[d];
		return t->num > 0;
	}
	scales = sl__plan_constant_tensor(pl, value);
	return scales && (uint64_t)d < scales->n_elements &&
	       sl__tensor_doubles(scales, (uint64_t)d, 1, &t->num) &&
	       t->num > 0;
}

static int
read_mode(const struct sl__node *node, struct resize *r)
{
	const char *mode = sl__attribute_string(node, "mode", "nearest");

	r->is_linear = !strcmp(mode, "linear") || !strcmp(mode, "bilinear");
	return (r->is_linear || !strcmp(mode, "nearest")) &&
	       !sl__attribute_find(node, "axes") &&
	       !sl__attribute_int(node, "antialias", 0) &&
	       !sl__attribute_int(node, "exclude_outside", 0) &&
	       !strcmp(sl__attribute_string(node, "keep_aspect_ratio_policy",
					    "stretch"),
		       "stretch");
}

/* Only the last two dimensions change. */
static int
read_axes(struct sl__planner *pl, const struct sl__node *node, struct resize *r)
{
	const struct sl__type *in = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *out = sl__plan_node_output_type(pl, node, 0);
	struct table *tables[2] = {&r->rows, &r->columns};
	int first = in->rank - 2;

	if (in->rank < 2 || in->rank != out->rank ||
	    in->rank >= SL__SPACE_RANK_MAX || in->dtype != SL_DTYPE_F32 ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)) ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_output(node, 0)))
		return 0;
	for (int d = 0; d < in->rank; d++) {
		struct table whole = {.in = in->dims[d], .out = out->dims[d]};
		struct table *t = d < first ? &whole : tables[d - first];

		*t = whole;
		if (!read_scale(pl, node, d, t))
			return 0;
		/* A scale of 1 leaves a dimension as it is. */
		if (d < first &&
		    (t->in != t->out || t->num < t->den || t->num > t->den))
			return 0;
	}
	return fill_table(pl, node, &r->rows, r->is_linear) &&
	       fill_table(pl, node, &r->columns, r->is_linear);
}

/* Whether images in that layout are [outer][height][width][inner]. */
static int
is_image(const struct sl__planner *pl, uint32_t value,
	 const struct sl__layout *layout, struct resize *r)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	struct sl__strided_layout strided;
	int last = type->rank - 1;
	uint64_t n = layout ? sl__layout_bytes(layout) / sizeof(float)
			    : sl__plan_value_n_elements(pl, value);

	if (!sl__strided_layout_of(pl, value, layout, &strided) ||
	    strided.dtype != SL_DTYPE_F32 || strided.axis >= last - 1)
		return 0;
	r->inner = strided.strides[last];
	r->outer = (int64_t)n /
		   (type->dims[last] * type->dims[last - 1] * r->inner);
	return strided.strides[last - 1] == type->dims[last] * r->inner;
}

/* The layouts of image and result; row-major where others do not fit. */
static void
choose_layouts(struct sl__planner *pl, const struct sl__node *node,
	       struct resize *r, const struct sl__layout **layouts)
{
	uint32_t x = node->inputs[0], y = node->outputs[0];

	layouts[0] = sl__plan_value_layout(pl, x);
	layouts[1] = sl__layout_like(pl, y, layouts[0]);
	if (!layouts[1] || !is_image(pl, y, layouts[1], r) ||
	    !is_image(pl, x, layouts[0], r)) {
		layouts[0] = layouts[1] = NULL;
		(void)is_image(pl, x, NULL, r);
	}
}

int
sl__make_resize(struct sl__planner *pl, const struct sl__node *node)
{
	struct resize *r = sl__plan_alloc_state(pl, sizeof(*r));
	const struct sl__layout *layouts[2];
	uint32_t at[3];

	if (!r || !read_mode(node, r) || !read_axes(pl, node, r))
		return 0;
	r->row = row_for();
	r->mix = mix_for();
	choose_layouts(pl, node, r, layouts);
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], layouts[0]);
	at[1] = sl__plan_output_buffer(pl, node->outputs[0], layouts[1]);
	at[2] = sl__plan_workspace(pl, (uint64_t)(pl->program->n_threads *
						  r->columns.in * r->inner) *
					       sizeof(float));
	r->at = sl__plan_add_parallel_step(pl, at, 3,
					   r->is_linear ? "resize_linear"
							: "resize_nearest",
					   run_part, r)
			->at;
	return 1;
}
