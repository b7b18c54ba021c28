/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise.c - convolutions of each channel by itself, f32.
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
#include "compute/depthwise.h"
#include "compute/targets.h"

#include "base/banned.h"

enum { LANES = 16, PIXELS = 8 };
enum { WIDTH = 3, RESULTS = 4, REACH_MOST = 2 * (RESULTS - 1) + WIDTH };

typedef float lanes
	__attribute__((vector_size(4 * LANES), aligned(4), may_alias));

typedef int32_t bits __attribute__((vector_size(4 * LANES)));

static void
find_taps(struct sl__depthwise *all, int64_t first)
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
		all->taps[all->n_taps++] = (struct sl__depthwise_tap){
			((p.image * s->in[0] + depth) * s->in[1] + row) *
					s->in[2] +
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
sum_one(const struct sl__depthwise *all, int64_t first, int64_t i, int64_t c)
{
	const struct sl__conv_shape *s = all->shape;
	const struct sl__gemm_blocked *g = all->g;
	int64_t at = (first + i) * g->c_row + c, step = i * s->strides[2];
	float sum = g->bias ? g->bias[c] : 0;

	if (g->addend)
		sum += g->addend[at];
	for (int t = 0; t < all->n_taps; t++) {
		const struct sl__depthwise_tap *tap = &all->taps[t];
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
sum_block(const struct sl__depthwise *all, int64_t first, int64_t i, int64_t c,
	  int n)
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
		const struct sl__depthwise_tap *tap = &all->taps[t];
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
sum_row(const struct sl__depthwise *all, int64_t first)
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
SL__VECTOR_TARGETS(sum, sum_row,
		   (const struct sl__depthwise *all, int64_t first),
		   (all, first))

/* The pixels of each row of the kernel that four results from i on read. */
struct lines {
	const float *pixels[SL__DEPTHWISE_TAPS_MOST / WIDTH][REACH_MOST];
};

SL__INLINE void
find_lines(const struct sl__depthwise *all, struct lines *l, int64_t i,
	   int stride)
{
	const struct sl__conv_shape *s = all->shape;

	for (int t = 0; t < all->n_taps; t += WIDTH) {
		const struct sl__depthwise_tap *tap = &all->taps[t];
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
sum_four(const struct sl__depthwise *all, const struct lines *l, float *to,
	 int64_t c, int stride)
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
sum_wide_row(const struct sl__depthwise *all, int64_t first, int stride)
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
		   (const struct sl__depthwise *all, int64_t first),
		   (all, first, 1))
SL__VECTOR_TARGETS(wide_2, sum_wide_row,
		   (const struct sl__depthwise *all, int64_t first),
		   (all, first, 2))

/* Nothing may lie where results go, since some are computed twice. */
static int
is_wide(const struct sl__conv_shape *s, int has_addend)
{
	return s->kernel[2] == WIDTH && s->dilations[2] == 1 &&
	       s->strides[2] <= 2 && s->channels >= LANES &&
	       s->out[2] >= RESULTS && !has_addend;
}

sl__depthwise_function *
sl__depthwise_for(const struct sl__conv_shape *s, int has_addend)
{
	if (is_wide(s, has_addend))
		return s->strides[2] == 1 ? wide_1_for() : wide_2_for();
	return sum_for();
}

void
sl__depthwise_row(sl__depthwise_function *sum, struct sl__depthwise *all,
		  int64_t first)
{
	find_taps(all, first);
	sum(all, first);
}
