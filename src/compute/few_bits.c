/* SPDX-License-Identifier: Apache-2.0 */
/*
 * few_bits.c - rows times a matrix of 4 or 8 bits.
 *
 * With few rows its time is that of reading the weights, so that they stay as
 * they are in memory: each column of the result is one stretch of codes with a
 * scale for each block.  Where rows may be 8 bits too, each 32 elements of a
 * row get a scale of their own, and sums of a block are exact integers; the
 * zero point is in their first sum.  Otherwise weights become reals in
 * registers.  A core reads two stretches, as dots.c says; threads share
 * columns.
 */
#include "compute/few_bits.h"
#include "compute/parallel.h"
#include "compute/vector.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

enum { BLOCK = SL__FEW_BITS_BLOCK, STEP_BYTES = SL__FEW_BITS_STEP };

static int64_t
step_elements(const struct sl__few_bits *g)
{
	return g->is_4_bits ? 2 * STEP_BYTES : STEP_BYTES;
}

/* Blocks of rows, whole steps of them. */
static int64_t
padded_blocks(const struct sl__few_bits *g)
{
	return g->n_steps * step_elements(g) / BLOCK;
}

/* Where element i of a block stands, so that it meets its weight: the low four
 * bits of 16 bytes come before the high ones. */
SL__INLINE int64_t
place_in_block(int is_4_bits, int i)
{
	return is_4_bits ? (i & 1) * (BLOCK / 2) + (i >> 1) : i;
}

/* The rows in the order of the weights, as reals: [row][block][32], zeros at
 * the end. */
static void
arrange_rows(const struct sl__few_bits *g, const float *a, float *to)
{
	int64_t n = padded_blocks(g) * BLOCK;

	for (int64_t r = 0; r < g->n_rows; r++, a += g->k, to += n) {
		for (int64_t i = 0; i < n; i++) {
			int64_t at =
				i / BLOCK * BLOCK +
				place_in_block(g->is_4_bits, (int)(i % BLOCK));

			to[at] = i < g->k ? a[i] : 0;
		}
	}
}

/* The zero point of a block of the weights. */
static int
zero_of(const struct sl__few_bits *g, int64_t column, int64_t block)
{
	const unsigned char *row = g->zeros + column * g->zeros_row;

	return g->is_4_bits ? row[block / 2] >> (block & 1) * 4 & 15
			    : row[block];
}

/* m rows of reals by two columns. */
SL__INLINE void
plain_body(const struct sl__few_bits_task *t, int m)
{
	const struct sl__few_bits *g = t->g;
	int64_t n_blocks = (g->k + BLOCK - 1) / BLOCK;
	int64_t n_bytes = g->is_4_bits ? BLOCK / 2 : BLOCK;
	const float *rows = g->rows;
	int64_t row = padded_blocks(g) * BLOCK;
	float real[BLOCK], zero = (float)g->zero;

	for (int c = 0; c < 2; c++) {
		float sums[SL__FEW_BITS_ROWS][SL__FEW_BITS_LANES] = {{0}};

		for (int64_t b = 0; b < n_blocks; b++) {
			const unsigned char *w = t->w[c] + b * n_bytes;
			float scale = t->scales[c][b / g->ratio];

			for (int j = 0; j < BLOCK / 2; j++) {
				int low = g->is_4_bits ? w[j] & 15 : w[j];
				int high = g->is_4_bits ? w[j] >> 4
							: w[j + BLOCK / 2];

				real[j] = ((float)low - zero) * scale;
				real[j + BLOCK / 2] =
					((float)high - zero) * scale;
			}
			for (int i = 0; i < m; i++) {
				const float *a =
					rows + (t->row + i) * row + b * BLOCK;

				for (int j = 0; j < SL__FEW_BITS_LANES; j++)
					sums[i][j] +=
						a[j] * real[j] +
						a[j + SL__FEW_BITS_LANES] *
							real[j +
							     SL__FEW_BITS_LANES];
			}
		}
		for (int i = 0; i < m; i++) {
			t->sums[c][i] = 0;
			for (int j = 0; j < SL__FEW_BITS_LANES; j++)
				t->sums[c][i] += sums[i][j];
		}
	}
}

SL__VECTOR_TARGETS(plain_task, plain_body,
		   (const struct sl__few_bits_task *t, int m), (t, m))

#if defined(__x86_64__)

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

/* A vector of weights of each column; 'is_last', 'm' and 'is_4_bits' are
 * constants wherever this is inlined. */
VNNI SL__INLINE void
add_step(const struct sl__few_bits_task *t, int64_t s, int is_last, int m,
	 int is_4_bits, __m512 (*sums)[SL__FEW_BITS_ROWS])
{
	const struct sl__few_bits *g = t->g;
	const __m512i few = _mm512_set1_epi8(15);
	__mmask64 bytes = is_last ? g->last_bytes : ~(__mmask64)0;
	__mmask8 scales = g->scales[is_last];
	int64_t block = s * (is_4_bits ? 4 : 2) >> g->shift;
	int64_t n_lanes = g->n_steps * SL__FEW_BITS_LANES;
	int64_t a_step = (is_4_bits ? 2 : 1) * STEP_BYTES;
	int64_t at = t->row * n_lanes + s * SL__FEW_BITS_LANES;
	const signed char *a = g->codes + (t->row * g->n_steps + s) * a_step;
	const float *factors = g->rows + at;
	const int32_t *first = g->first + at;

	SL__UNROLL
	for (int c = 0; c < 2; c++) {
		__m512i w = _mm512_maskz_loadu_epi8(bytes,
						    t->w[c] + s * STEP_BYTES);
		__m512i high = _mm512_and_si512(_mm512_srli_epi16(w, 4), few);
		__m512 scale = _mm512_permutexvar_ps(
			_mm512_loadu_si512(g->which),
			_mm512_castps128_ps512(_mm_maskz_loadu_ps(
				scales, t->scales[c] + block)));

		if (is_4_bits)
			w = _mm512_and_si512(w, few);
		SL__UNROLL
		for (int i = 0; i < m; i++) {
			const signed char *codes = a + i * g->n_steps * a_step;
			__m512i sum = _mm512_dpbusd_epi32(
				_mm512_loadu_si512(first + i * n_lanes), w,
				_mm512_loadu_si512(codes));

			if (is_4_bits)
				sum = _mm512_dpbusd_epi32(
					sum, high,
					_mm512_loadu_si512(codes + STEP_BYTES));
			sums[c][i] = _mm512_fmadd_ps(
				_mm512_mul_ps(
					_mm512_cvtepi32_ps(sum),
					_mm512_loadu_ps(factors + i * n_lanes)),
				scale, sums[c][i]);
		}
	}
}

VNNI SL__INLINE void
task_body(const struct sl__few_bits_task *t, int m, int is_4_bits)
{
	const struct sl__few_bits *g = t->g;
	__m512 sums[2][SL__FEW_BITS_ROWS];
	int64_t s = 0;

	SL__UNROLL
	for (int i = 0; i < m; i++)
		sums[0][i] = sums[1][i] = _mm512_setzero_ps();
	for (; s < g->n_full_steps; s++)
		add_step(t, s, 0, m, is_4_bits, sums);
	if (s < g->n_steps)
		add_step(t, s, 1, m, is_4_bits, sums);
	SL__UNROLL
	for (int i = 0; i < m; i++) {
		t->sums[0][i] = _mm512_reduce_add_ps(sums[0][i]);
		t->sums[1][i] = _mm512_reduce_add_ps(sums[1][i]);
	}
}

#define DEFINE_TASK(m)                                                 \
	VNNI static void task_4_##m(const struct sl__few_bits_task *t) \
	{                                                              \
		task_body(t, m, 1);                                    \
	}                                                              \
	VNNI static void task_8_##m(const struct sl__few_bits_task *t) \
	{                                                              \
		task_body(t, m, 0);                                    \
	}
DEFINE_TASK(1)
DEFINE_TASK(2)
DEFINE_TASK(3)
DEFINE_TASK(4)

static void
choose(struct sl__few_bits *g)
{
	static sl__few_bits_function *const known[2][SL__FEW_BITS_ROWS] = {
		{task_8_1, task_8_2, task_8_3, task_8_4},
		{task_4_1, task_4_2, task_4_3, task_4_4}};

	int per_step = g->is_4_bits ? 4 : 2;
	int64_t n = per_step >> g->shift > 1 ? per_step >> g->shift : 1;
	int64_t left = g->n_blocks - (g->n_full_steps * per_step >> g->shift);

	for (int i = 0; i < SL__FEW_BITS_LANES; i++)
		g->which[i] = i * per_step / SL__FEW_BITS_LANES >> g->shift;
	g->last_bytes = ((uint64_t)1 << g->row_bytes % STEP_BYTES) - 1;
	g->scales[0] = (unsigned char)((1 << n) - 1);
	g->scales[1] = (unsigned char)((1 << (left < n ? left : n)) - 1);
	if (sl__isa_has(SL__ISA_AVX512_VNNI))
		memcpy(g->tasks, known[g->is_4_bits], sizeof(g->tasks));
}

#else

static void
choose(struct sl__few_bits *g)
{
	(void)g;
}

#endif

/* One block of a row as codes from -127 to 127; its scale, and the sum of the
 * codes. */
SL__INLINE float
round_block(const float *a, signed char *codes, int *sum)
{
	float most = 0, by;

	for (int i = 0; i < BLOCK; i++)
		most = sl__max(most, sl__abs(a[i]));
	by = most > 0 ? 127 / most : 0;
	*sum = 0;
	for (int i = 0; i < BLOCK; i++) {
		int code = (int)(a[i] * by + (a[i] < 0 ? -0.5F : 0.5F));

		codes[i] = (signed char)code;
		*sum += code;
	}
	return most / 127;
}

/* How 4-bit codes of a step stand: the low halves of its four blocks, then the
 * high ones. */
static void
place_codes(const struct sl__few_bits *g, signed char *to, int64_t block,
	    const signed char *codes)
{
	int64_t in = block % 4;

	if (!g->is_4_bits) {
		memcpy(to + block * BLOCK, codes, BLOCK);
		return;
	}
	to += block / 4 * 4 * BLOCK + in * BLOCK / 2;
	memcpy(to, codes, BLOCK / 2);
	memcpy(to + STEP_BYTES, codes + BLOCK / 2, BLOCK / 2);
}

/* Rows as codes; the scales of lanes take the place of what is read. */
static void
round_rows(const struct sl__few_bits *g, float *rows)
{
	signed char *codes = g->codes;
	int32_t *first = g->first;
	int64_t n_blocks = padded_blocks(g),
		n_lanes = g->n_steps * SL__FEW_BITS_LANES;
	int64_t each = n_lanes / n_blocks; /* lanes of a block: 4 or 8 */
	float *factors = rows;

	for (int64_t r = 0; r < g->n_rows; r++) {
		const float *from = rows + r * n_blocks * BLOCK;

		for (int64_t b = 0; b < n_blocks; b++) {
			signed char block[BLOCK];
			int sum;
			float scale =
				round_block(from + b * BLOCK, block, &sum);
			int64_t at = r * n_lanes + b * each;

			place_codes(g, codes + r * n_blocks * BLOCK, b, block);
			for (int64_t i = 0; i < each; i++) {
				factors[at + i] = scale;
				first[at + i] = 0;
			}
			first[at] = -g->zero * sum;
		}
	}
}

/* What zero points of their own take off a sum, beyond the usual one. */
static float
zeros_part(const struct sl__few_bits *g, const struct sl__few_bits_task *t,
	   int c, int64_t column, int64_t row)
{
	const float *a = g->a + row * g->k;
	int64_t n_block = BLOCK * g->ratio;
	float sum = 0;

	for (int64_t b = 0; b < g->n_blocks; b++) {
		int64_t end = (b + 1) * n_block < g->k ? (b + 1) * n_block
						       : g->k;
		float part = 0;

		for (int64_t i = b * n_block; i < end; i++)
			part += a[i];
		sum += part * t->scales[c][b] *
		       (float)(zero_of(g, column, b) - g->zero);
	}
	return sum;
}

static void
finish(const struct sl__few_bits *g, const struct sl__few_bits_task *t, int c,
       int64_t column, int m)
{
	float *y = g->y;

	for (int i = 0; i < m; i++) {
		float sum = t->sums[c][i] + (g->bias ? g->bias[column] : 0);

		if (g->zeros)
			sum -= zeros_part(g, t, c, column, t->row + i);
		y[(t->row + i) * g->n + column] = sum;
	}
}

/* All rows of two columns. */
static void
run_columns(const struct sl__few_bits *g, int64_t one, int64_t other)
{
	const float *scales = g->scales_of_blocks;
	float sums[2][SL__FEW_BITS_ROWS];
	struct sl__few_bits_task t = {
		.g = g,
		.w = {g->b + one * g->row_bytes, g->b + other * g->row_bytes},
		.scales = {scales + one * g->n_blocks,
			   scales + other * g->n_blocks},
		.sums = {sums[0], sums[1]}};

	for (; t.row < g->n_rows; t.row += SL__FEW_BITS_ROWS) {
		int m = g->n_rows - t.row < SL__FEW_BITS_ROWS
				? (int)(g->n_rows - t.row)
				: SL__FEW_BITS_ROWS;

		if (g->tasks[m - 1])
			g->tasks[m - 1](&t);
		else
			g->plain(&t, m);
		finish(g, &t, 0, one, m);
		finish(g, &t, 1, other, m);
	}
}

static void
run_part(int rank, int n, void *ctx)
{
	const struct sl__few_bits *g = ctx;
	int64_t first, end, half;

	sl__parallel_range(g->n, rank, n, &first, &end);
	half = (end - first) / 2;
	for (int64_t j = 0; j < half; j++)
		run_columns(g, first + j, first + half + j);
	if (first + 2 * half < end)
		run_columns(g, end - 1, end - 1);
}

void
sl__few_bits_init(struct sl__few_bits *g, int64_t block, int rows_are_rounded)
{
	g->ratio = block / BLOCK;
	while (g->ratio >> g->shift > 1)
		g->shift++;
	g->n_blocks = (g->k + block - 1) / block;
	g->row_bytes = g->n_blocks * block * (g->is_4_bits ? 4 : 8) / 8;
	g->n_steps = (g->row_bytes + STEP_BYTES - 1) / STEP_BYTES;
	g->n_full_steps = g->row_bytes / STEP_BYTES;
	g->zero = g->is_4_bits ? 8 : 128;
	g->zeros_row = g->is_4_bits ? (g->n_blocks + 1) / 2 : g->n_blocks;
	g->plain = plain_task_for();
	if (rows_are_rounded)
		choose(g);
}

int64_t
sl__few_bits_row_elements(const struct sl__few_bits *g)
{
	return padded_blocks(g) * BLOCK;
}

void
sl__few_bits_run(struct sl__few_bits *g, int n_threads)
{
	arrange_rows(g, g->a, g->rows);
	if (g->tasks[0])
		round_rows(g, g->rows);
	sl__parallel_run(n_threads, run_part, g);
}
