/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_qdepthwise.c - convolutions of each channel by itself, of bytes.
 *
 * Thirty-two channels of four neighbouring results are summed at a time.  One
 * instruction multiplies four neighbouring pixels of a channel by four weights
 * (a quad) and adds up.  Quads begin at every second pixel: with a stride of 2
 * each serves one result, with a stride of 1 two, the second one with weights
 * moved by one.  A row of a wider kernel is several groups of four taps.
 * Padding is pixels of the image's zero point.  Where channels or results are
 * fewer than a block, they are copied; otherwise the last block overlaps the
 * one before it.
 */
#include "compute/conv_shape.h"
#include "compute/targets.h"
#include "compute/vector.h"
#include "engine/constants.h"
#include "engine/quantized.h"
#include "engine/quantized_conv.h"
#include "engine/strided_layout.h"
#include "engine/tiled_step.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

enum {
	AT_X,
	AT_W,
	AT_Y,
	N_OPERANDS,
	CHANNELS = 32,
	RESULTS = 4,
	QUAD = 4,
	VECTORS = 4,      /* of eight channels, in a block */
	PIXELS_MOST = 10, /* that four results with a stride of 2 read */
	TAPS_MOST = 32    /* rows of a kernel times groups of four */
};

/* All channels of four results. */
struct block {
	const uint8_t
		*pixels[TAPS_MOST][PIXELS_MOST]; /* that each tap reads, */
	int64_t offset; /* that many bytes further on */
	int n_taps;
	int64_t channels, n_blocks; /* in blocks of 32 */
	const int8_t *w;
	const int32_t *bias;
	const float *factors;
	uint8_t *y;
	int64_t y_step;
	int32_t y_zero;
	uint8_t flip;    /* makes an int8 of the image a uint8 */
	int is_signed_y; /* the result is int8 */
};
typedef void block_function(const struct block *b);

struct qdepthwise {
	struct sl__conv_shape shape;
	int64_t n_groups; /* of four taps, in a row of the kernel */
	int64_t n_taps;   /* groups of all rows */
	int64_t n_shifts; /* weights of a quad: 2 with a stride of 1 */
	int64_t n_pixels; /* that a block reads for each tap */
	int64_t n_blocks; /* of channels */
	int32_t *bias;    /* in the order of the packed weights */
	float *factors;
	uint8_t *zeros; /* a pixel of padding, whole blocks of channels */
	int32_t y_zero;
	uint8_t flip;
	int is_signed_y;
	block_function *run;
};

static int64_t
block_weights(const struct qdepthwise *d)
{
	return d->n_taps * d->n_shifts * QUAD * CHANNELS;
}

/* The first channel of a block. */
static int64_t
block_channel(int64_t channels, int64_t block)
{
	int64_t c = block * CHANNELS, last = channels - CHANNELS;

	return c <= last ? c : last < 0 ? 0 : last;
}

#if defined(__x86_64__)
#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define VNNI_INLINE                   \
	static inline __attribute__(( \
		always_inline,        \
		target("avx512f,avx512bw,avx512vl,avx512vnni")))

/* Two neighbouring pixels, byte by byte: the low and the high half of each 16
 * channels. */
struct pair {
	__m256i low, high;
};

VNNI_INLINE struct pair
load_pair(const uint8_t *const *pixels, int64_t at, __m256i flip)
{
	__m256i a = _mm256_loadu_si256((const void *)(pixels[0] + at));
	__m256i b = _mm256_loadu_si256((const void *)(pixels[1] + at));

	a = _mm256_xor_si256(a, flip);
	b = _mm256_xor_si256(b, flip);
	return (struct pair){_mm256_unpacklo_epi8(a, b),
			     _mm256_unpackhi_epi8(a, b)};
}

VNNI_INLINE void
make_quads(const struct pair *p, const struct pair *q, __m256i *quads)
{
	quads[0] = _mm256_unpacklo_epi16(p->low, q->low);
	quads[1] = _mm256_unpackhi_epi16(p->low, q->low);
	quads[2] = _mm256_unpacklo_epi16(p->high, q->high);
	quads[3] = _mm256_unpackhi_epi16(p->high, q->high);
}

VNNI_INLINE void
add_quads(__m256i *sums, const __m256i *quads, const int8_t *w)
{
	SL__UNROLL
	for (int v = 0; v < VECTORS; v++)
		sums[v] = _mm256_dpbusd_epi32(
			sums[v], quads[v],
			_mm256_loadu_si256((const void *)(w + 32 * v)));
}

/* Packing puts the channels back in order. */
VNNI_INLINE void
store_result(const struct block *b, const __m256i *sums, const float *factors,
	     uint8_t *y)
{
	__m256i zero = _mm256_set1_epi16((int16_t)b->y_zero), codes[VECTORS];
	__m256i low, high;

	SL__UNROLL
	for (int v = 0; v < VECTORS; v++)
		codes[v] = _mm256_cvtps_epi32(_mm256_cvtepi32_ps(sums[v]) *
					      _mm256_loadu_ps(factors + 8 * v));
	low = _mm256_adds_epi16(_mm256_packs_epi32(codes[0], codes[1]), zero);
	high = _mm256_adds_epi16(_mm256_packs_epi32(codes[2], codes[3]), zero);
	_mm256_storeu_si256((void *)y,
			    b->is_signed_y ? _mm256_packs_epi16(low, high)
					   : _mm256_packus_epi16(low, high));
}

/* With n_taps known the loop over them is unrolled. */
VNNI_INLINE void
sum_vnni(const struct block *b, int64_t k, int stride, int n_taps)
{
	__m256i flip = _mm256_set1_epi8((char)b->flip);
	__m256i sums[RESULTS][VECTORS], quads[VECTORS];
	int64_t c = block_channel(b->channels, k), at = c + b->offset;
	const int8_t *w = b->w + k * n_taps * (3 - stride) * QUAD * CHANNELS;

	SL__UNROLL
	for (int v = 0; v < VECTORS; v++)
		sums[0][v] = sums[1][v] = sums[2][v] = sums[3][v] =
			_mm256_loadu_si256(
				(const void *)(b->bias + k * CHANNELS + 8 * v));
	SL__UNROLL
	for (int t = 0; t < n_taps; t++) {
		const uint8_t *const *pixels = b->pixels[t];
		struct pair p = load_pair(pixels, at, flip), next;

		SL__UNROLL
		for (int i = 0; i < RESULTS * stride / 2; i++) {
			next = load_pair(pixels + 2 * i + 2, at, flip);
			make_quads(&p, &next, quads);
			p = next;
			if (stride == 2) {
				add_quads(sums[i], quads, w);
				continue;
			}
			add_quads(sums[2 * i], quads, w);
			add_quads(sums[2 * i + 1], quads, w + QUAD * CHANNELS);
		}
		w += (3 - stride) * QUAD * CHANNELS;
	}
	SL__UNROLL
	for (int i = 0; i < RESULTS; i++)
		store_result(b, sums[i], b->factors + k * CHANNELS,
			     b->y + i * b->y_step + c);
}

VNNI_INLINE void
run_vnni(const struct block *b, int stride, int n_taps)
{
	for (int64_t k = 0; k < b->n_blocks; k++)
		sum_vnni(b, k, stride, n_taps);
}

VNNI static void
run_vnni_1(const struct block *b)
{
	run_vnni(b, 1, b->n_taps);
}

VNNI static void
run_vnni_2(const struct block *b)
{
	run_vnni(b, 2, b->n_taps);
}

VNNI static void
run_vnni_1_of_3(const struct block *b)
{
	run_vnni(b, 1, 3);
}

VNNI static void
run_vnni_2_of_3(const struct block *b)
{
	run_vnni(b, 2, 3);
}
#endif

static int
has_vnni(void)
{
#if defined(__x86_64__)
	return sl__isa_has(SL__ISA_AVX512 | SL__ISA_AVX512_VNNI);
#else
	return 0;
#endif
}

SL__INLINE uint8_t
code_of(const struct block *b, int32_t sum, float factor)
{
	int32_t least = b->is_signed_y ? -128 : 0, code;
	float v = sl__min(sl__max((float)sum * factor, -1024), 1024);

	code = (int32_t)((v + 0x1.8p23F) - 0x1.8p23F) + b->y_zero;
	code = code < least ? least : code;
	return (uint8_t)(code > least + 255 ? least + 255 : code);
}

/* Block k of channels, result i, in plain C, for other instruction sets:
 * weights of a quad's pixels come one after the other. */
SL__INLINE void
sum_plain(const struct block *b, int64_t k, int i, int stride)
{
	int64_t c = block_channel(b->channels, k), at = c + b->offset;
	int first = stride == 1 ? i & ~1 : 2 * i;
	const int8_t *w = b->w +
			  k * b->n_taps * (3 - stride) * QUAD * CHANNELS +
			  (stride == 1 ? i & 1 : 0) * QUAD * CHANNELS;
	const float *factors = b->factors + k * CHANNELS;
	uint8_t *y = b->y + i * b->y_step + c;
	int32_t sums[CHANNELS];

	memcpy(sums, b->bias + k * CHANNELS, sizeof(sums));
	for (int t = 0; t < b->n_taps; t++) {
		for (int q = 0; q < QUAD; q++) {
			const uint8_t *x = b->pixels[t][first + q] + at;

			for (int j = 0; j < CHANNELS; j++)
				sums[j] +=
					(x[j] ^ b->flip) * w[q * CHANNELS + j];
		}
		w += (3 - stride) * QUAD * CHANNELS;
	}
	for (int j = 0; j < CHANNELS; j++)
		y[j] = code_of(b, sums[j], factors[j]);
}

SL__INLINE void
run_plain(const struct block *b, int stride)
{
	for (int64_t k = 0; k < b->n_blocks; k++) {
		for (int i = 0; i < RESULTS; i++)
			sum_plain(b, k, i, stride);
	}
}
SL__VECTOR_TARGETS(plain_1, run_plain, (const struct block *b), (b, 1))
SL__VECTOR_TARGETS(plain_2, run_plain, (const struct block *b), (b, 2))

static block_function *
find_function(int64_t stride, int64_t n_taps)
{
#if defined(__x86_64__)
	if (has_vnni() && n_taps == 3)
		return stride == 1 ? run_vnni_1_of_3 : run_vnni_2_of_3;
	if (has_vnni())
		return stride == 1 ? run_vnni_1 : run_vnni_2;
#else
	(void)n_taps;
#endif
	return stride == 1 ? plain_1_for() : plain_2_for();
}

/* A row of results: rows of the image that its taps read, NULL for padding,
 * and the column of the first pixel for the first result. */
struct row {
	const struct qdepthwise *d;
	const uint8_t *images[TAPS_MOST];
	int64_t columns[TAPS_MOST];
	int is_inside; /* none is padding */
	int64_t found; /* the result that b's pixels are those of, where all
			  of them are in the image; -1: not all are */
	uint8_t *y;
	struct block b;
	uint8_t copies[TAPS_MOST][PIXELS_MOST][CHANNELS];
	uint8_t results[]; /* four, whole blocks of channels */
};

static void
find_taps(struct row *r, const uint8_t *x, int64_t first)
{
	const struct qdepthwise *d = r->d;
	const struct sl__conv_shape *s = &d->shape;
	struct sl__conv_position p = sl__conv_position(s, first);

	r->is_inside = s->channels >= CHANNELS;
	r->found = -1;
	for (int64_t t = 0; t < d->n_taps; t++) {
		int64_t line = t / d->n_groups;
		int64_t depth = p.at[0] + line / s->kernel[1] * s->dilations[0];
		int64_t row = p.at[1] + line % s->kernel[1] * s->dilations[1];
		int is_in = depth >= 0 && depth < s->in[0] && row >= 0 &&
			    row < s->in[1];

		r->is_inside &= is_in;
		r->columns[t] = p.at[2] + t % d->n_groups * QUAD;
		r->images[t] =
			!is_in ? NULL
			       : x + ((p.image * s->in[0] + depth) * s->in[1] +
				      row) * s->in[2] *
						 s->channels;
	}
}

/* The pixels that tap t reads for results from the one whose window begins
 * 'step' pixels after the first. */
static void
find_pixels(struct row *r, int64_t t, int64_t step)
{
	const struct qdepthwise *d = r->d;
	int64_t channels = d->shape.channels, column = r->columns[t] + step;
	const uint8_t **pixels = r->b.pixels[t];

	if (r->images[t] && column >= 0 &&
	    column + d->n_pixels <= d->shape.in[2]) {
		const uint8_t *x = r->images[t] + column * channels;

		for (int64_t p = 0; p < d->n_pixels; p++)
			pixels[p] = x + p * channels;
	} else {
		for (int64_t p = 0; p < d->n_pixels; p++)
			pixels[p] =
				r->images[t] && column + p >= 0 &&
						column + p < d->shape.in[2]
					? r->images[t] + (column + p) * channels
					: d->zeros;
	}
	for (int64_t p = 0; channels < CHANNELS && p < d->n_pixels; p++) {
		memcpy(r->copies[t][p], pixels[p], (size_t)channels);
		pixels[p] = r->copies[t][p];
	}
}

/* The same of all taps, or how far they are from those that were found. */
static void
find_all_pixels(struct row *r, int64_t i)
{
	const struct qdepthwise *d = r->d;
	int64_t stride = d->shape.strides[2], step = i * stride;
	int is_inside = r->is_inside && r->columns[0] + step >= 0 &&
			r->columns[d->n_taps - 1] + step + d->n_pixels <=
				d->shape.in[2];

	if (is_inside && r->found >= 0) {
		r->b.offset = (i - r->found) * stride * d->shape.channels;
		return;
	}
	for (int64_t t = 0; t < d->n_taps; t++)
		find_pixels(r, t, step);
	r->b.offset = 0;
	r->found = is_inside ? i : -1;
}

/* Results from i on, of the row. */
static void
run_results(struct row *r, int64_t i)
{
	const struct qdepthwise *d = r->d;
	const struct sl__conv_shape *s = &d->shape;
	int64_t n = s->out[2] - i;
	int is_small = s->channels < CHANNELS || n < RESULTS;

	find_all_pixels(r, i);
	r->b.y = is_small ? r->results : r->y + i * s->channels;
	r->b.y_step = is_small ? d->n_blocks * CHANNELS : s->channels;
	d->run(&r->b);
	for (int64_t k = 0; is_small && k < n && k < RESULTS; k++)
		memcpy(r->y + (i + k) * s->channels, r->b.y + k * r->b.y_step,
		       (size_t)s->channels);
}

static void
run_row(const void *state, unsigned char *const *at, int64_t tile,
	void *scratch)
{
	const struct qdepthwise *d = state;
	const struct sl__conv_shape *s = &d->shape;
	int64_t first = tile * s->out[2], last = s->out[2] - RESULTS;
	struct row *r = scratch;

	r->d = d;
	r->y = at[AT_Y] + first * s->channels;
	r->b.n_taps = (int)d->n_taps;
	r->b.channels = s->channels;
	r->b.n_blocks = d->n_blocks;
	r->b.w = (const int8_t *)at[AT_W];
	r->b.bias = d->bias;
	r->b.factors = d->factors;
	r->b.y_zero = d->y_zero;
	r->b.flip = d->flip;
	r->b.is_signed_y = d->is_signed_y;
	find_taps(r, at[AT_X], first);
	for (int64_t i = 0; i < s->out[2]; i += RESULTS)
		run_results(r, i <= last || last < 0 ? i : last);
}

/* How weights are packed: [block][tap][shift], and 128 bytes each. */
struct packed {
	int64_t channels, n_blocks, n_lines, n_groups, n_shifts, width;
	int64_t is_quads, is_unsigned;
};

/* The channel of place 0 to 31 of a block: as they are, or as quads of vectors
 * of eight have them. */
static int64_t
channel_at(int is_quads, int64_t place)
{
	int64_t v = place / 8, lane = place % 8;

	return is_quads ? lane / 4 * 16 + v * 4 + lane % 4 : place;
}

/* Place 0 to 127 of a tap's weights. */
static int8_t
weight_at(const struct packed *p, const int8_t *x, const int64_t *tap,
	  int64_t place)
{
	int64_t k = p->is_quads ? place % QUAD : place / CHANNELS;
	int64_t c = block_channel(p->channels, tap[0]) +
		    channel_at((int)p->is_quads,
			       p->is_quads ? place / QUAD : place % CHANNELS);
	int64_t column = tap[2] * QUAD + k - tap[3];

	if (c >= p->channels || column < 0 || column >= p->width)
		return 0;
	x += (c * p->n_lines + tap[1]) * p->width + column;
	return p->is_unsigned ? (int8_t)(*(const uint8_t *)x - 128) : *x;
}

static int
pack(struct sl__planner *pl, const void *how, const void *from, void *to)
{
	const struct packed *p = how;
	int8_t *y = to;
	int64_t tap[4]; /* block, line of the kernel, group, shift */

	(void)pl;
	for (tap[0] = 0; tap[0] < p->n_blocks; tap[0]++) {
		for (int64_t i = 0; i < p->n_lines * p->n_groups * p->n_shifts;
		     i++) {
			tap[1] = i / p->n_shifts / p->n_groups;
			tap[2] = i / p->n_shifts % p->n_groups;
			tap[3] = i % p->n_shifts;
			for (int64_t k = 0; k < QUAD * CHANNELS; k++)
				*y++ = weight_at(p, from, tap, k);
		}
	}
	return 1;
}

static void
measure(struct qdepthwise *d)
{
	const struct sl__conv_shape *s = &d->shape;
	int64_t stride = s->strides[2];

	d->n_shifts = stride == 1 ? 2 : 1;
	d->n_groups = (s->kernel[2] + d->n_shifts - 1 + QUAD - 1) / QUAD;
	d->n_taps = s->kernel[0] * s->kernel[1] * d->n_groups;
	d->n_pixels = stride == 1 ? 6 : PIXELS_MOST;
	d->n_blocks = (s->channels + CHANNELS - 1) / CHANNELS;
}

/* Takes the zero point off by the bias: padding is pixels of it.  0 where sums,
 * or what they are multiplied to, might not fit into 32 bits. */
static int
set_bias(struct qdepthwise *d, const struct sl__quantized_conv *q,
	 int32_t x_zero)
{
	int64_t most = (int64_t)q->length * 255 * 128;

	for (int64_t i = 0; i < d->n_blocks * CHANNELS; i++) {
		int64_t c = block_channel(d->shape.channels, i / CHANNELS) +
			    channel_at(has_vnni(), i % CHANNELS);
		int64_t bias;

		if (c >= d->shape.channels)
			continue;
		bias = (int64_t)q->bias[c] - (int64_t)x_zero * q->sums[c];
		if (llabs(bias) + most > INT32_MAX ||
		    (double)(llabs(bias) + most) * (double)q->factors[c] >=
			    INT32_MAX)
			return 0;
		d->bias[i] = (int32_t)bias;
		d->factors[i] = q->factors[c];
	}
	return 1;
}

static int
read_qdepthwise(struct qdepthwise *d, struct sl__planner *pl,
		const struct sl__quantized_conv *q)
{
	const struct sl__conv *c = &q->conv;
	const struct sl__type *x = sl__plan_value_type(pl, c->x);
	const struct sl__type *y = sl__plan_value_type(pl, c->y);
	struct sl__conv_shape *s = &d->shape;
	size_t n;

	if (q->is_integer || x->dims[1] != c->n_groups ||
	    y->dims[1] != c->n_groups || !sl__is_8bit_integer(y->dtype))
		return 0;
	sl__conv_shape_set(s, x->rank, x->dims, y->dims, &c->window);
	if ((s->strides[2] != 1 && s->strides[2] != 2) ||
	    (s->dilations[2] != 1 && s->kernel[2] != 1))
		return 0;
	measure(d);
	n = (size_t)(d->n_blocks * CHANNELS);
	d->bias = sl__plan_alloc_state(pl, n * sizeof(*d->bias));
	d->factors = sl__plan_alloc_state(pl, n * sizeof(*d->factors));
	d->flip = x->dtype == SL_DTYPE_I8 ? 0x80 : 0;
	d->is_signed_y = y->dtype == SL_DTYPE_I8;
	d->y_zero = q->y_zero;
	d->zeros = sl__plan_alloc_state(pl, n);
	if (d->zeros)
		memset(d->zeros, (uint8_t)q->x_zero, n);
	d->run = find_function(s->strides[2], d->n_taps);
	return !pl->rc && d->n_taps <= TAPS_MOST &&
	       set_bias(d, q, q->x_zero + d->flip);
}

static uint32_t
pack_weights(struct sl__planner *pl, const struct qdepthwise *d, uint32_t w)
{
	const struct sl__conv_shape *s = &d->shape;
	const struct packed how = {s->channels,
				   d->n_blocks,
				   s->kernel[0] * s->kernel[1],
				   d->n_groups,
				   d->n_shifts,
				   s->kernel[2],
				   has_vnni(),
				   sl__plan_value_type(pl, w)->dtype ==
					   SL_DTYPE_U8};
	const struct sl__packing packing = {
		pack, NULL, &how, sizeof(how),
		(uint64_t)(d->n_blocks * block_weights(d))};

	return sl__plan_constant_packed_by(pl, w, &packing);
}

/* QLinearConv with as many groups as channels, in and out. */
int
sl__make_quantized_depthwise(struct sl__planner *pl,
			     const struct sl__node *node)
{
	struct qdepthwise *d = sl__plan_alloc_state(pl, sizeof(*d));
	struct sl__tiled_work work = {
		.run = run_row, .state = d, .kernel = "int8_depthwise"};
	struct sl__quantized_conv q = {0};
	uint32_t operands[N_OPERANDS];

	if (!d || !sl__quantized_conv_read(&q, pl, node) ||
	    !read_qdepthwise(d, pl, &q))
		return 0;
	operands[AT_W] = pack_weights(pl, d, q.conv.w);
	operands[AT_X] = sl__plan_input_buffer(
		pl, q.conv.x, sl__layout_channels_last(pl, q.conv.x));
	operands[AT_Y] = sl__plan_output_buffer(
		pl, q.conv.y, sl__layout_channels_last(pl, q.conv.y));
	work.scratch_bytes = sizeof(struct row) +
			     (uint64_t)(RESULTS * d->n_blocks * CHANNELS);
	work.n_tiles = d->shape.batch * d->shape.out[0] * d->shape.out[1];
	work.n_threads = sl__threads_for_flops(
		pl, 2. * (double)sl__plan_value_n_elements(pl, q.conv.y) *
			    (double)q.length);
	sl__plan_add_tiled_step(pl, operands, N_OPERANDS, &work);
	return 1;
}
