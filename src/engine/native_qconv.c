/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_qconv.c - convolutions of bytes with instructions that multiply four
 * pairs at a time and add them up.
 *
 * Thirty-two channels of fourteen results (a tile) are summed in registers:
 * each four bytes of a pixel go to all lanes of a vector, and weights lie so
 * that a lane has those of one channel.  A table made beforehand says where
 * each result's taps are; padding is a pixel of the image's zero point.  An
 * image of few channels is copied row by row with its padding, and all taps of
 * a row of the kernel are one long one.  While a panel of weights (those of
 * thirty-two channels) is used by few tiles, the next one is prefetched.
 */
#include "compute/conv_shape.h"
#include "compute/targets.h"
#include "engine/constants.h"
#include "engine/quantized.h"
#include "engine/quantized_conv.h"
#include "engine/strided_layout.h"
#include "engine/tiled_step.h"

#include <stddef.h>
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
	CHANNELS = 32, /* of a panel */
	RESULTS = 14,  /* of a tile; of a small one half as many */
	QUAD = 4,
	TAPS_MOST = 49,
	TABLE_MOST = 1 << 21, /* bytes */
	LONG_TAP_MOST = 64,   /* bytes of a row of the kernel that is one tap */
	PANELS_NEAR = 1 << 18, /* bytes of weights that may be read again */
	BLOCK = 8 * RESULTS    /* results for which they are */
};

struct qconv {
	struct sl__conv_shape shape;
	int64_t n_out, n_taps, n_quads; /* of each tap */
	int64_t n_panels;
	int64_t panel_bytes;
	int64_t n_results;   /* of an image, or of a row where taps are long */
	int64_t n_images;    /* or rows */
	int64_t block;       /* results that a step's tile has */
	int64_t n_blocks;    /* of an image */
	int64_t n_groups;    /* of panels; 1: a tile has all of them */
	int64_t row_bytes;   /* of a copied row; 0: taps are pixels */
	int64_t result_step; /* bytes from each result's taps to the next
				one's; 0: these differ */
	int32_t *offsets;    /* [result][tap] in the image; -1: padding */
	int32_t *bias;       /* in the order of the packed weights */
	float *factors;
	uint8_t *zeros;
	int32_t x_zero, y_zero;
	int is_signed_y;
};

#if defined(__x86_64__)
#define VNNI_TARGET "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"
#define VNNI        __attribute__((target(VNNI_TARGET)))
#define VNNI_INLINE \
	static inline __attribute__((always_inline, target(VNNI_TARGET)))

/* One panel of the results of a tile. */
struct tile {
	const uint8_t *pixels[TAPS_MOST * RESULTS];
	int64_t start, end;        /* of a tap's bytes, from its pixel on */
	int64_t n_taps, n_results; /* that are stored */
	const int8_t *w;
	const char *next; /* weights to prefetch */
	int64_t next_step;
	const int32_t *bias;
	const float *factors;
	uint8_t *y;
	int64_t y_step;
	int32_t y_zero;
	int is_signed_y;
	uint32_t channels; /* a bit for each that there is */
};

/*
 * A tile, in assembler: compilers keep some of so many registers in memory.
 * zmm0 to zmm27 are the sums, the first and the second half of each result's
 * channels in turn; packing two results leaves each eight channels of them in
 * turn, which a permutation mends.  Few registers are left for addresses: what
 * the tile has is read from it.
 */
/* clang-format off */
#define LOAD(p, low, high)                      \
	"vmovdqu64 (%%rax), %%zmm" low "\n\t"   \
	"vmovdqu64 64(%%rax), %%zmm" high "\n\t"
#define MULTIPLY(p, low, high)                        \
	"movq 8*" p "(%[pixels]), %%rax\n\t"          \
	"vpbroadcastd (%%rax, %[k]), %%zmm30\n\t"     \
	"vpdpbusd %%zmm28, %%zmm30, %%zmm" low "\n\t" \
	"vpdpbusd %%zmm29, %%zmm30, %%zmm" high "\n\t"
#define ROUND(p, low, high)                                       \
	"vcvtdq2ps %%zmm" low ", %%zmm" low "\n\t"                \
	"vcvtdq2ps %%zmm" high ", %%zmm" high "\n\t"              \
	"vmulps %%zmm28, %%zmm" low ", %%zmm" low "\n\t"          \
	"vmulps %%zmm29, %%zmm" high ", %%zmm" high "\n\t"        \
	"vcvtps2dq %%zmm" low ", %%zmm" low "\n\t"                \
	"vcvtps2dq %%zmm" high ", %%zmm" high "\n\t"              \
	"vpackssdw %%zmm" high ", %%zmm" low ", %%zmm" low "\n\t" \
	"vpaddsw %%zmm30, %%zmm" low ", %%zmm" low "\n\t"
#define STORE(pack, first, second)                                  \
	pack " %%zmm" second ", %%zmm" first ", %%zmm" first "\n\t" \
	     "vpermq %%zmm" first ", %%zmm29, %%zmm" first "\n\t"   \
	     "vextracti64x4 $1, %%zmm" first ", %%ymm28\n\t"        \
	     "vmovdqu8 %%ymm" first ", (%[y])%{%%k1%}\n\t"          \
	     "vmovdqu8 %%ymm28, (%[y], %[step])%{%%k1%}\n\t"        \
	     "leaq (%[y], %[step], 2), %[y]\n\t"
#define SEVEN(DO)                                      \
	DO("0", "0", "1")                              \
	DO("1", "2", "3")                              \
	DO("2", "4", "5")                              \
	DO("3", "6", "7")                              \
	DO("4", "8", "9")                              \
	DO("5", "10", "11")                            \
	DO("6", "12", "13")
#define FOURTEEN(DO)                                   \
	SEVEN(DO)                                      \
	DO("7", "14", "15")                            \
	DO("8", "16", "17")                            \
	DO("9", "18", "19")                            \
	DO("10", "20", "21")                           \
	DO("11", "22", "23")                           \
	DO("12", "24", "25")                           \
	DO("13", "26", "27")
/* Of seven results the last one is stored twice. */
#define STORE_SEVEN(pack)                              \
	"vmovdqa64 %%zmm12, %%zmm14\n\t"               \
	STORE(pack, "0", "2")                          \
	STORE(pack, "4", "6")                          \
	STORE(pack, "8", "10")                         \
	STORE(pack, "12", "14")
#define STORE_FOURTEEN(pack)                           \
	STORE(pack, "0", "2")                          \
	STORE(pack, "4", "6")                          \
	STORE(pack, "8", "10")                         \
	STORE(pack, "12", "14")                        \
	STORE(pack, "16", "18")                        \
	STORE(pack, "20", "22")                        \
	STORE(pack, "24", "26")
#define SUM(EACH)                                      \
	"movq %c[bias](%[t]), %%rax\n\t"               \
	EACH(LOAD)                                     \
	"1:\n\t"                                       \
	"movq %c[start](%[t]), %[k]\n\t"               \
	"2:\n\t"                                       \
	"vmovdqu64 (%[w]), %%zmm28\n\t"                \
	"vmovdqu64 64(%[w]), %%zmm29\n\t"              \
	"prefetcht1 (%[next])\n\t"                     \
	EACH(MULTIPLY)                                 \
	"addq %c[ahead](%[t]), %[next]\n\t"            \
	"subq $-128, %[w]\n\t"                         \
	"addq $4, %[k]\n\t"                            \
	"cmpq %c[end](%[t]), %[k]\n\t"                 \
	"jl 2b\n\t"                                    \
	"addq $8*14, %[pixels]\n\t"                    \
	"decq %[taps]\n\t"                             \
	"jnz 1b\n\t"
#define FINISH(EACH, store)                            \
	"movq %c[factors](%[t]), %%rax\n\t"            \
	"vmovups (%%rax), %%zmm28\n\t"                 \
	"vmovups 64(%%rax), %%zmm29\n\t"               \
	"vpbroadcastw %c[zero](%[t]), %%zmm30\n\t"     \
	EACH(ROUND)                                    \
	"vmovdqu64 %[apart], %%zmm29\n\t"              \
	"kmovd %c[mask](%[t]), %%k1\n\t"               \
	store
/* clang-format on */

#define RUN(EACH, store)                                                       \
	__asm__ volatile(                                                      \
		SUM(EACH) FINISH(EACH, store)                                  \
		: [pixels] "+&r"(pixels), [w] "+&r"(w), [next] "+&r"(next),    \
		  [taps] "+&r"(taps), [k] "=&r"(k), [y] "+&r"(y)               \
		: [t] "r"(t), [step] "r"(step), [apart] "m"(APART),            \
		  [bias] "i"(offsetof(struct tile, bias)),                     \
		  [factors] "i"(offsetof(struct tile, factors)),               \
		  [ahead] "i"(offsetof(struct tile, next_step)),               \
		  [start] "i"(offsetof(struct tile, start)),                   \
		  [end] "i"(offsetof(struct tile, end)),                       \
		  [zero] "i"(offsetof(struct tile, y_zero)),                   \
		  [mask] "i"(offsetof(struct tile, channels))                  \
		: "rax", "memory", "cc", "k1", "xmm0", "xmm1", "xmm2", "xmm3", \
		  "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",     \
		  "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16",        \
		  "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22",        \
		  "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28",        \
		  "xmm29", "xmm30")

static const int64_t APART[8] = {0, 2, 4, 6, 1, 3, 5, 7};

/* C promises strings of 4,095 characters only; these are the assembler's. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* Fourteen results, or eight, of which one is a copy. */
VNNI static void
run_tile(const struct tile *t, uint8_t *y, int64_t step)
{
	const uint8_t *const *pixels = t->pixels;
	const int8_t *w = t->w;
	const char *next = t->next;
	int64_t taps = t->n_taps, k;
	int is_small = t->n_results <= RESULTS / 2;

	if (t->is_signed_y && is_small)
		RUN(SEVEN, STORE_SEVEN("vpacksswb"));
	else if (t->is_signed_y)
		RUN(FOURTEEN, STORE_FOURTEEN("vpacksswb"));
	else if (is_small)
		RUN(SEVEN, STORE_SEVEN("vpackuswb"));
	else
		RUN(FOURTEEN, STORE_FOURTEEN("vpackuswb"));
}

#pragma GCC diagnostic pop

/* Where not all results are wanted, they come into a copy first. */
static void
store_tile(const struct tile *t, int64_t channels)
{
	uint8_t copy[RESULTS][CHANNELS];

	if (t->n_results == RESULTS) {
		run_tile(t, t->y, t->y_step);
		return;
	}
	run_tile(t, copy[0], CHANNELS);
	for (int64_t p = 0; p < t->n_results; p++)
		memcpy(t->y + p * t->y_step, copy[p], (size_t)channels);
}

/* Where the taps of results from 'first' on are; those beyond the last are the
 * last one's. */
static void
find_pixels(struct tile *t, const struct qconv *q, const uint8_t *x,
	    int64_t first)
{
	for (int64_t p = 0; p < RESULTS; p++) {
		int64_t i = first + (p < t->n_results ? p : t->n_results - 1);
		const int32_t *offsets = q->offsets + i * q->n_taps;

		for (int64_t tap = 0; tap < q->n_taps; tap++)
			t->pixels[tap * RESULTS + p] =
				offsets[tap] < 0 ? q->zeros : x + offsets[tap];
	}
}

/* The same, or how far they are from those of the block's first tile. */
static void
find_tile(struct tile *t, const struct qconv *q, const uint8_t *x,
	  int64_t first, int64_t i)
{
	int is_found = q->result_step && i != first && t->n_results == RESULTS;

	if (!is_found)
		find_pixels(t, q, x, i);
	t->start = is_found ? (i - first) * q->result_step : 0;
	t->end = t->start + q->n_quads * QUAD;
}

/* Panel k of the results whose pixels were found: tile 'index' of n that use
 * it. */
static void
run_panel(struct tile *t, const struct qconv *q, unsigned char *const *at,
	  int64_t k, int64_t index, int64_t n)
{
	int64_t left = q->n_out - k * CHANNELS;
	int64_t share = q->panel_bytes / n;

	t->w = (const int8_t *)at[AT_W] + k * q->panel_bytes;
	t->next = (const char *)t->w;
	t->next_step = 0;
	if (q->n_groups > 1 && n <= QUAD && k + 1 < q->n_panels) {
		t->next += q->panel_bytes + index * share;
		t->next_step = QUAD * CHANNELS / n;
	}
	t->bias = q->bias + k * CHANNELS;
	t->factors = q->factors + k * CHANNELS;
	t->channels = left < CHANNELS ? (1U << left) - 1 : UINT32_MAX;
	store_tile(t, left < CHANNELS ? left : CHANNELS);
}

/* Rows of the image that result row 'index' reads, with their padding. */
static void
copy_rows(const struct qconv *q, const uint8_t *x, int64_t index, uint8_t *to)
{
	const struct sl__conv_shape *s = &q->shape;
	int64_t width = s->in[2] * s->channels;
	struct sl__conv_position p = sl__conv_position(s, index * s->out[2]);
	int64_t before = s->before[2] * s->channels;
	int64_t n = q->row_bytes - before;
	int zero = (uint8_t)q->x_zero;

	n = n < 0 ? 0 : n < width ? n : width;
	before = before < q->row_bytes ? before : q->row_bytes;
	for (int64_t tap = 0; tap < s->kernel[1]; tap++) {
		int64_t row = p.at[1] + tap * s->dilations[1];
		int is_in = row >= 0 && row < s->in[1];
		int64_t copied = is_in ? n : 0;

		memset(to, zero, (size_t)before);
		if (is_in)
			memcpy(to + before,
			       x + (p.image * s->in[1] + row) * width,
			       (size_t)n);
		memset(to + before + copied, zero,
		       (size_t)(q->row_bytes - before - copied));
		to += q->row_bytes;
	}
}

static void
run_block(const void *state, unsigned char *const *at, int64_t index,
	  void *scratch)
{
	const struct qconv *q = state;
	int64_t group = q->n_groups > 1 ? index % q->n_groups : 0;
	int64_t block = index / q->n_groups % q->n_blocks;
	int64_t image = index / q->n_groups / q->n_blocks;
	int64_t first = block * q->block, end = first + q->block;
	int64_t panel = q->n_groups > 1 ? group : 0;
	int64_t panels_end = q->n_groups > 1 ? group + 1 : q->n_panels;
	const uint8_t *x = at[AT_X];
	struct tile *t = scratch;

	end = end < q->n_results ? end : q->n_results;
	if (q->row_bytes) {
		copy_rows(q, x, image, (uint8_t *)(t + 1));
		x = (uint8_t *)(t + 1);
	} else {
		x += image * q->shape.in[0] * q->shape.in[1] * q->shape.in[2] *
		     q->shape.channels;
	}
	t->n_taps = q->n_taps;
	t->y_step = q->n_out;
	t->y_zero = q->y_zero;
	t->is_signed_y = q->is_signed_y;
	for (int64_t i = first; i < end; i += RESULTS) {
		t->n_results = end - i < RESULTS ? end - i : RESULTS;
		find_tile(t, q, x, first, i);
		for (int64_t k = panel; k < panels_end; k++) {
			t->y = at[AT_Y] +
			       (image * q->n_results + i) * q->n_out +
			       k * CHANNELS;
			run_panel(t, q, at, k, (i - first) / RESULTS,
				  (end - first + RESULTS - 1) / RESULTS);
		}
	}
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

/* How weights are packed: [panel][tap][quad], and 128 bytes each. */
struct packed {
	int64_t n_out, channels, n_taps, n_quads, width; /* of a long tap */
	int64_t n_pixels;                                /* of the kernel */
	int64_t is_unsigned;
};

/* The channel of place 0 to 31 of a panel, so that packing puts them back in
 * order. */
static int64_t
channel_at(int64_t place)
{
	int64_t lane = place % 16;

	return lane / 4 * 8 + place / 16 * 4 + lane % 4;
}

static int8_t
weight_at(const struct packed *p, const int8_t *x, int64_t o, int64_t tap,
	  int64_t k)
{
	int64_t c = k % p->channels, pixel = tap * p->width + k / p->channels;

	if (o >= p->n_out || k >= p->channels * p->width)
		return 0;
	x += (o * p->channels + c) * p->n_pixels + pixel;
	return p->is_unsigned ? (int8_t)(*(const uint8_t *)x - 128) : *x;
}

static int
pack(struct sl__planner *pl, const void *how, const void *from, void *to)
{
	const struct packed *p = how;
	int64_t n_panels = (p->n_out + CHANNELS - 1) / CHANNELS;
	int8_t *y = to;

	(void)pl;
	for (int64_t i = 0; i < n_panels * p->n_taps * p->n_quads; i++) {
		int64_t quad = i % p->n_quads;
		int64_t tap = i / p->n_quads % p->n_taps;
		int64_t panel = i / p->n_quads / p->n_taps;

		for (int64_t k = 0; k < QUAD * CHANNELS; k++)
			*y++ = weight_at(p, from,
					 panel * CHANNELS +
						 channel_at(k / QUAD),
					 tap, quad * QUAD + k % QUAD);
	}
	return 1;
}

static uint32_t
pack_weights(struct sl__planner *pl, const struct qconv *q, uint32_t w)
{
	const struct sl__conv_shape *s = &q->shape;
	const struct packed how = {q->n_out,
				   s->channels,
				   q->n_taps,
				   q->n_quads,
				   q->row_bytes ? s->kernel[2] : 1,
				   sl__conv_shape_n_taps(s),
				   sl__plan_value_type(pl, w)->dtype ==
					   SL_DTYPE_U8};
	const struct sl__packing packing = {
		pack, NULL, &how, sizeof(how),
		(uint64_t)(q->n_panels * q->panel_bytes)};

	return sl__plan_constant_packed_by(pl, w, &packing);
}

/* Takes the zero point off by the bias.  0 where sums, or what they are
 * multiplied to, might not fit into 32 bits. */
static int
set_bias(struct qconv *d, const struct sl__quantized_conv *q)
{
	int64_t most = (int64_t)q->length * 255 * 128;

	for (int64_t i = 0; i < d->n_panels * CHANNELS; i++) {
		int64_t c = i / CHANNELS * CHANNELS + channel_at(i % CHANNELS);
		int64_t bias;

		if (c >= d->n_out)
			continue;
		bias = (int64_t)q->bias[c] - (int64_t)q->x_zero * q->sums[c];
		if (llabs(bias) + most > INT32_MAX ||
		    (double)(llabs(bias) + most) * (double)q->factors[c] >=
			    INT32_MAX)
			return 0;
		d->bias[i] = (int32_t)bias;
		d->factors[i] = q->factors[c];
	}
	return 1;
}

static void
set_offsets(struct qconv *q)
{
	const struct sl__conv_shape *s = &q->shape;
	struct sl__conv_position p = sl__conv_position(s, 0);

	for (int64_t i = 0; i < q->n_results; i++) {
		for (int64_t t = 0; t < q->n_taps; t++) {
			const int64_t tap[3] = {t / s->kernel[2] / s->kernel[1],
						t / s->kernel[2] % s->kernel[1],
						t % s->kernel[2]};
			int64_t at = q->row_bytes ? -1
						  : sl__conv_pixel(s, &p, tap);

			q->offsets[i * q->n_taps + t] =
				q->row_bytes ? (int32_t)(t * q->row_bytes +
							 i * s->strides[2] *
								 s->channels)
				: at < 0     ? -1
					     : (int32_t)(at * s->channels);
		}
		sl__conv_position_advance(s, &p);
	}
}

/* Whether results are of one pixel each, one after the other. */
static int
is_pointwise(const struct sl__conv_shape *s)
{
	int is_one = sl__conv_shape_n_taps(s) == 1;

	for (int d = 0; d < 3; d++)
		is_one &= s->strides[d] == 1 && s->before[d] == 0 &&
			  s->out[d] == s->in[d];
	return is_one;
}

/* Taps that are pixels, or rows of the kernel. */
static int
measure(struct qconv *q)
{
	const struct sl__conv_shape *s = &q->shape;
	int64_t row = s->kernel[2] * s->channels;
	int is_long = s->channels % QUAD != 0;
	int64_t tap_bytes = is_long ? row : s->channels;

	if (is_long && (row > LONG_TAP_MOST || s->dilations[2] != 1 ||
			s->kernel[0] != 1 || s->in[0] != 1))
		return 0;
	q->n_taps = is_long ? s->kernel[1] : sl__conv_shape_n_taps(s);
	q->n_quads = (tap_bytes + QUAD - 1) / QUAD;
	q->n_panels = (q->n_out + CHANNELS - 1) / CHANNELS;
	q->panel_bytes = q->n_taps * q->n_quads * QUAD * CHANNELS;
	q->n_results = is_long ? s->out[2] : s->out[0] * s->out[1] * s->out[2];
	q->n_images = is_long ? s->batch * s->out[1] : s->batch;
	q->row_bytes = is_long ? (s->out[2] - 1) * s->strides[2] * s->channels +
					 q->n_quads * QUAD
			       : 0;
	q->result_step = is_long           ? s->strides[2] * s->channels
			 : is_pointwise(s) ? s->channels
					   : 0;
	q->n_groups = q->n_panels * q->panel_bytes > PANELS_NEAR ? q->n_panels
								 : 1;
	q->block = q->n_groups > 1 ? q->n_results : BLOCK;
	q->n_blocks = (q->n_results + q->block - 1) / q->block;
	return q->n_taps <= TAPS_MOST &&
	       q->n_results * q->n_taps * (int64_t)sizeof(*q->offsets) <=
		       TABLE_MOST &&
	       s->in[0] * s->in[1] * s->in[2] * s->channels <= INT32_MAX;
}

static int
read_qconv(struct qconv *d, struct sl__planner *pl,
	   const struct sl__quantized_conv *q)
{
	const struct sl__conv *c = &q->conv;
	const struct sl__type *x = sl__plan_value_type(pl, c->x);
	const struct sl__type *y = sl__plan_value_type(pl, c->y);
	size_t n;

	if (q->is_integer || c->n_groups != 1 || x->dtype != SL_DTYPE_U8 ||
	    !sl__is_8bit_integer(y->dtype))
		return 0;
	sl__conv_shape_set(&d->shape, x->rank, x->dims, y->dims, &c->window);
	d->n_out = y->dims[1];
	/* oneDNN has vectors of half as many. */
	if (d->n_out <= CHANNELS / 2)
		return 0;
	d->x_zero = q->x_zero;
	d->y_zero = q->y_zero;
	d->is_signed_y = y->dtype == SL_DTYPE_I8;
	if (!measure(d))
		return 0;
	n = (size_t)(d->n_panels * CHANNELS);
	d->bias = sl__plan_alloc_state(pl, n * sizeof(*d->bias));
	d->factors = sl__plan_alloc_state(pl, n * sizeof(*d->factors));
	d->zeros = sl__plan_alloc_state(pl, (size_t)d->shape.channels);
	d->offsets = sl__plan_alloc_state(
		pl, (size_t)(d->n_results * d->n_taps) * sizeof(*d->offsets));
	if (pl->rc || !set_bias(d, q))
		return 0;
	memset(d->zeros, (uint8_t)q->x_zero, (size_t)d->shape.channels);
	set_offsets(d);
	return 1;
}

/* QLinearConv of all channels. */
int
sl__make_quantized_dense(struct sl__planner *pl, const struct sl__node *node)
{
	struct qconv *d;
	struct sl__tiled_work work = {.kernel = "int8_conv"};
	struct sl__quantized_conv q = {0};
	uint32_t operands[N_OPERANDS];

	if (!has_vnni() || !sl__quantized_conv_read(&q, pl, node))
		return 0;
	d = sl__plan_alloc_state(pl, sizeof(*d));
	if (!d || !read_qconv(d, pl, &q))
		return 0;
	operands[AT_W] = pack_weights(pl, d, q.conv.w);
	operands[AT_X] = sl__plan_input_buffer(
		pl, q.conv.x, sl__layout_channels_last(pl, q.conv.x));
	operands[AT_Y] = sl__plan_output_buffer(
		pl, q.conv.y, sl__layout_channels_last(pl, q.conv.y));
	work.state = d;
#if defined(__x86_64__)
	work.run = run_block;
	work.scratch_bytes =
		sizeof(struct tile) + (uint64_t)(d->row_bytes * d->n_taps);
#endif
	work.n_tiles = d->n_images * d->n_blocks * d->n_groups;
	work.n_threads = sl__threads_for_flops(
		pl, 2. * (double)sl__plan_value_n_elements(pl, q.conv.y) *
			    (double)q.length);
	sl__plan_add_tiled_step(pl, operands, N_OPERANDS, &work);
	return 1;
}
