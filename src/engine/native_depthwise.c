/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_depthwise.c - convolutions of each channel by itself, f32.
 *
 * Sixteen channels of eight neighbouring pixels are summed at a time: a vector
 * of weights serves eight multiply-adds.  At the sides of an image, where some
 * taps fall into the padding, and for the channels that are left over, pixels
 * are summed one by one.
 *
 * Kernels that are three wide, the usual ones, keep a pixel in a register for
 * all of four results that it belongs to.  Padding is pixels of zeros there,
 * and the last block of results or channels overlaps the one before it.
 */
#include "compute/conv_shape.h"
#include "compute/targets.h"
#include "engine/constants.h"
#include "engine/conv.h"
#include "engine/conv_epilogue.h"
#include "engine/strided_layout.h"
#include "engine/tile_epilogue.h"
#include "engine/tiled_step.h"

#include "base/banned.h"

enum { AT_X, AT_W, AT_Y, AT_REST, LANES = 16, PIXELS = 8, TAPS_MOST = 128 };
enum { WIDTH = 3, RESULTS = 4, REACH_MOST = 2 * (RESULTS - 1) + WIDTH };

typedef float lanes
	__attribute__((vector_size(4 * LANES), aligned(4), may_alias));

typedef int32_t bits __attribute__((vector_size(4 * LANES)));

struct sums;

struct depthwise {
	struct sl__conv_shape shape;
	struct sl__gemm_blocked g; /* for its epilogue: rows are pixels */
	struct sl__gemm p;
	struct sl__tile_epilogue epilogue;
	float *zeros; /* a pixel of padding */
	void (*sum)(const struct sums *all, int64_t first);
};

/* A tap of a row of the result that is in the image: the pixel that it reads
 * for the row's first result, that pixel's column, and its weights. */
struct tap {
	int64_t pixel, column;
	const float *w;
};

/* What is summed: where things are. */
struct sums {
	const struct sl__conv_shape *shape;
	const struct sl__gemm_blocked *g;
	const float *x, *w, *zeros;
	struct tap taps[TAPS_MOST];
	int n_taps;
};

static void
find_taps(struct sums *all, int64_t first)
{
	const struct sl__conv_shape *s = all->shape;
	struct sl__conv_position p = sl__conv_position(s, first);
	int64_t n = sl__conv_shape_n_taps(s);

	all->n_taps = 0;
	for (int64_t t = 0; t < n; t++) {
		int64_t depth = p.at[0] + t / s->kernel[2] / s->kernel[1] *
						  s->dilations[0];
		int64_t row = p.at[1] +
			      t / s->kernel[2] % s->kernel[1] * s->dilations[1];
		int64_t column = p.at[2] + t % s->kernel[2] * s->dilations[2];

		if (depth < 0 || depth >= s->in[0] || row < 0 ||
		    row >= s->in[1])
			continue;
		all->taps[all->n_taps++] =
			(struct tap){((p.image * s->in[0] + depth) * s->in[1] +
				      row) * s->in[2] +
					     column,
				     column, all->w + t * s->channels};
	}
}

/* Pixels of a row of the result of which every tap is in the image. */
struct inside {
	int64_t first, end;
};

static struct inside
inside_of(const struct sl__conv_shape *s)
{
	int64_t reach = (s->kernel[2] - 1) * s->dilations[2];
	int64_t last = s->in[2] - 1 - reach + s->before[2];
	struct inside in = {(s->before[2] + s->strides[2] - 1) / s->strides[2],
			    last < 0 ? 0 : last / s->strides[2] + 1};

	in.end = in.end < s->out[2] ? in.end : s->out[2];
	in.first = in.first < in.end ? in.first : in.end;
	return in;
}

/* One channel of result i of the row, whose first one is 'first'. */
SL__INLINE void
sum_one(const struct sums *all, int64_t first, int64_t i, int64_t c)
{
	const struct sl__conv_shape *s = all->shape;
	const struct sl__gemm_blocked *g = all->g;
	int64_t at = (first + i) * g->c_row + c, step = i * s->strides[2];
	float sum = g->bias ? g->bias[c] : 0;

	if (g->addend)
		sum += g->addend[at];
	for (int t = 0; t < all->n_taps; t++) {
		const struct tap *tap = &all->taps[t];
		int64_t column = tap->column + step;

		if (column >= 0 && column < s->in[2])
			sum += all->x[(tap->pixel + step) * s->channels + c] *
			       tap->w[c];
	}
	if (g->is_clipped)
		sum = sum < g->low ? g->low : sum > g->high ? g->high : sum;
	g->c[at] = sum;
}

/* A NaN stays one. */
#define clipped(x, low, high) \
	SELECT((x) < (low), low, SELECT((x) > (high), high, x))
#define SELECT(mask, a, b) \
	((lanes)(((mask) & (bits)(a)) | (~(mask) & (bits)(b))))

/* Sixteen channels from c on of n results from i on: of one, or of several all
 * of whose taps are in the image. */
SL__INLINE void
sum_block(const struct sums *all, int64_t first, int64_t i, int64_t c, int n)
{
	const struct sl__conv_shape *s = all->shape;
	const struct sl__gemm_blocked *g = all->g;
	int64_t at = (first + i) * g->c_row + c, step = i * s->strides[2];
	lanes lows = g->low - (lanes){0}, highs = g->high - (lanes){0};
	lanes sums[PIXELS];

	SL__UNROLL
	for (int p = 0; p < n; p++) {
		sums[p] = g->bias ? *(const lanes *)(g->bias + c) : (lanes){0};
		if (g->addend)
			sums[p] +=
				*(const lanes *)(g->addend + at + p * g->c_row);
	}
	for (int t = 0; t < all->n_taps; t++) {
		const struct tap *tap = &all->taps[t];
		int64_t column = tap->column + step;
		lanes by = *(const lanes *)(tap->w + c);
		const float *from;

		if (n == 1 && (column < 0 || column >= s->in[2]))
			continue;
		from = all->x + (tap->pixel + step) * s->channels + c;
		SL__UNROLL
		for (int p = 0; p < n; p++)
			sums[p] +=
				*(const lanes *)(from + p * s->strides[2] *
								s->channels) *
				by;
	}
	SL__UNROLL
	for (int p = 0; p < n; p++) {
		float *to = g->c + at + p * g->c_row;

		*(lanes *)to = g->is_clipped ? clipped(sums[p], lows, highs)
					     : sums[p];
	}
}

/* A row of the result, whose first pixel is 'first'. */
SL__INLINE void
sum_row(const struct sums *all, int64_t first)
{
	const struct sl__conv_shape *s = all->shape;
	struct inside in = inside_of(s);
	int64_t whole = s->channels / LANES * LANES;

	for (int64_t c = 0; c < whole; c += LANES) {
		int64_t i = 0;

		for (; i < in.first; i++)
			sum_block(all, first, i, c, 1);
		for (; i + PIXELS <= in.end; i += PIXELS)
			sum_block(all, first, i, c, PIXELS);
		for (; i < s->out[2]; i++)
			sum_block(all, first, i, c, 1);
	}
	for (int64_t i = 0; i < s->out[2]; i++) {
		for (int64_t c = whole; c < s->channels; c++)
			sum_one(all, first, i, c);
	}
}
SL__VECTOR_TARGETS(sum, sum_row, (const struct sums *all, int64_t first),
		   (all, first))

/* The pixels of each row of the kernel that four results from i on read. */
struct lines {
	const float *pixels[TAPS_MOST / WIDTH][REACH_MOST];
};

SL__INLINE void
find_lines(const struct sums *all, struct lines *l, int64_t i, int stride)
{
	const struct sl__conv_shape *s = all->shape;

	for (int t = 0; t < all->n_taps; t += WIDTH) {
		const struct tap *tap = &all->taps[t];
		const float **pixels = l->pixels[t / WIDTH];
		int64_t column = tap->column + i * stride;
		const float *x =
			all->x + (tap->pixel + i * stride) * s->channels;

		for (int p = 0; p < stride * (RESULTS - 1) + WIDTH; p++)
			pixels[p] = column + p >= 0 && column + p < s->in[2]
					    ? x + p * s->channels
					    : all->zeros;
	}
}

/* Sixteen channels from c on of four results, the first at 'to'. */
SL__INLINE void
sum_four(const struct sums *all, const struct lines *l, float *to, int64_t c,
	 int stride)
{
	const struct sl__gemm_blocked *g = all->g;
	int64_t channels = all->shape->channels;
	lanes lows = g->low - (lanes){0}, highs = g->high - (lanes){0};
	lanes sums[RESULTS];

	SL__UNROLL
	for (int i = 0; i < RESULTS; i++)
		sums[i] = g->bias ? *(const lanes *)(g->bias + c) : (lanes){0};
	for (int t = 0; t < all->n_taps; t += WIDTH) {
		const float *const *pixels = l->pixels[t / WIDTH];
		const float *w = all->taps[t].w + c;
		lanes by[WIDTH];

		SL__UNROLL
		for (int k = 0; k < WIDTH; k++)
			by[k] = *(const lanes *)(w + k * channels);
		SL__UNROLL
		for (int p = 0; p < stride * (RESULTS - 1) + WIDTH; p++) {
			lanes x = *(const lanes *)(pixels[p] + c);

			SL__UNROLL
			for (int i = 0; i < RESULTS; i++) {
				int k = p - i * stride;

				if (k >= 0 && k < WIDTH)
					sums[i] += x * by[k];
			}
		}
	}
	SL__UNROLL
	for (int i = 0; i < RESULTS; i++)
		*(lanes *)(to + i * g->c_row + c) =
			g->is_clipped ? clipped(sums[i], lows, highs) : sums[i];
}

SL__INLINE void
sum_wide_row(const struct sums *all, int64_t first, int stride)
{
	const struct sl__conv_shape *s = all->shape;
	const struct sl__gemm_blocked *g = all->g;
	int64_t last = s->out[2] - RESULTS, end = s->channels - LANES;
	struct lines lines;

	for (int64_t i = 0; i < s->out[2]; i += RESULTS) {
		int64_t from = i < last ? i : last;
		float *to = g->c + (first + from) * g->c_row;

		find_lines(all, &lines, from, stride);
		for (int64_t c = 0; c < s->channels; c += LANES)
			sum_four(all, &lines, to, c < end ? c : end, stride);
	}
}
SL__VECTOR_TARGETS(wide_1, sum_wide_row,
		   (const struct sums *all, int64_t first), (all, first, 1))
SL__VECTOR_TARGETS(wide_2, sum_wide_row,
		   (const struct sums *all, int64_t first), (all, first, 2))

/* Nothing may lie where results go, since some are computed twice. */
static int
is_wide(const struct depthwise *d)
{
	const struct sl__conv_shape *s = &d->shape;

	return s->kernel[2] == WIDTH && s->dilations[2] == 1 &&
	       s->strides[2] <= 2 && s->channels >= LANES &&
	       s->out[2] >= RESULTS && d->epilogue.addend == SL__NONE;
}

static void
run_row(const void *state, unsigned char *const *at, int64_t row, void *scratch)
{
	const struct depthwise *d = state;
	struct sl__gemm_blocked g = d->g;
	int64_t first = row * d->shape.out[2];
	struct sl__gemm_range range = {first, d->shape.out[2], 0, g.n};
	struct sums all;

	(void)scratch;
	all.shape = &d->shape;
	all.g = &g;
	all.x = (const float *)(const void *)at[AT_X];
	all.w = (const float *)(const void *)at[AT_W];
	all.zeros = d->zeros;
	g.c = (float *)(void *)at[AT_Y];
	sl__tile_epilogue_start(&d->epilogue, at, &g, 0, 0);
	find_taps(&all, first);
	d->sum(&all, first);
	sl__tile_epilogue_finish(&d->epilogue, at, &g, &range, first, 0);
}

struct weights {
	int64_t channels, n_taps;
};

static int
pack(struct sl__planner *pl, const void *how, const void *from, void *to)
{
	const struct weights *w = how;
	const float *x = from;
	float *y = to;

	(void)pl;
	for (int64_t t = 0; t < w->n_taps; t++) {
		for (int64_t c = 0; c < w->channels; c++)
			*y++ = x[c * w->n_taps + t];
	}
	return 1;
}

static int
read_depthwise(struct depthwise *d, struct sl__planner *pl,
	       const struct sl__conv *c)
{
	const struct sl__type *x = sl__plan_value_type(pl, c->x);
	const struct sl__type *y = sl__plan_value_type(pl, c->y);

	if (c->n_groups < 2 || x->dims[1] != c->n_groups ||
	    y->dims[1] != c->n_groups || c->is_transposed ||
	    x->dtype != SL_DTYPE_F32 || !sl__conv_epilogue_read(&d->p, pl, c))
		return 0;
	sl__conv_shape_set(&d->shape, x->rank, x->dims, y->dims, &c->window);
	if (sl__conv_shape_n_taps(&d->shape) > TAPS_MOST)
		return 0;
	d->g.n = d->g.c_row = y->dims[1];
	sl__tile_epilogue_split(&d->epilogue, &d->p, &d->g);
	d->sum = sum_for();
	if (is_wide(d))
		d->sum = d->shape.strides[2] == 1 ? wide_1_for() : wide_2_for();
	d->zeros = sl__plan_alloc_state(pl, (size_t)d->shape.channels *
						    sizeof(*d->zeros));
	return d->zeros != NULL;
}

int
sl__make_native_depthwise(struct sl__planner *pl, const struct sl__node *node)
{
	struct depthwise *d = sl__plan_alloc_state(pl, sizeof(*d));
	uint32_t operands[AT_REST + SL__EPILOGUE_MAX], n;
	struct sl__tiled_work work = {
		.run = run_row, .state = d, .kernel = "depthwise"};
	struct sl__conv_shape *s = d ? &d->shape : NULL;
	struct sl__packing packing = {.pack = pack};
	struct weights w;
	struct sl__conv c;

	if (!d || !sl__conv_read(&c, pl, node) || !read_depthwise(d, pl, &c))
		return 0;
	w = (struct weights){s->channels, sl__conv_shape_n_taps(s)};
	packing.how = &w;
	packing.n_how = sizeof(w);
	packing.n_bytes = (uint64_t)(w.channels * w.n_taps) * sizeof(float);
	operands[AT_W] = sl__plan_constant_packed_by(pl, c.w, &packing);
	operands[AT_X] = sl__plan_input_buffer(
		pl, c.x, sl__layout_channels_last(pl, c.x));
	n = sl__tile_epilogue_add_operands(&d->epilogue, pl, operands, AT_REST);
	operands[AT_Y] = sl__tile_epilogue_output(
		&d->epilogue, pl, c.y, sl__layout_channels_last(pl, c.y),
		operands);
	work.n_tiles = s->batch * s->out[0] * s->out[1];
	work.n_threads = sl__threads_for_flops(
		pl, 8. * (double)sl__plan_value_n_elements(pl, c.y) *
			    (double)w.n_taps);
	sl__plan_add_tiled_step(pl, operands, n, &work);
	return 1;
}
