/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_gemv.c - few rows times a constant matrix.
 *
 * Such a matmul does little with each weight, so its time is that of
 * reading the weights.  They lie as [n][k], one row after the other of what
 * each column of the result is made of: a transposed right matrix (the table
 * of an embedding that is also the head) is read where it is, another one is
 * transposed once.  A core reads two stretches of memory, each in a straight
 * line: at the end of a small page, where the hardware stops to read ahead,
 * one goes on while the other waits, which is worth a fifth; with large pages
 * one stretch is as good.  Rows that lie side by side, read at once, or
 * [k][n] by rows, take half as long again to twice as long.  Threads share
 * columns.  Rows and results are few: they stay f32 where weights are bf16.
 */
#include "compute/vector.h"
#include "engine/node_steps.h"
#include "engine/gemm_epilogue.h"
#include "graph/op_rules.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

enum {
	ROWS_MOST = 4,
	CHUNK = 64,                   /* columns whose results are kept near, */
	HALF = CHUNK / 2,             /* half of them from each stretch */
	BYTES_PER_THREAD = 512 * 1024 /* below, a second one is not worth it */
};

/* Rows of a, f32, times n rows of each stretch of b: y[i * CHUNK + j], and
 * HALF further on for the second. */
struct dots {
	const float *a;
	int64_t a_row;
	const unsigned char *b[2]; /* f32 or bf16 */
	int64_t b_row;
	int64_t k, n;
	float *y;
};

typedef void dots_function(const struct dots *d);

/* Sixteen sums side by side, for vectors of whatever width. */
SL__INLINE float
dot(const float *a, const void *b, int64_t k, int is_bf16)
{
	enum { LANES = 16 };
	const float *wide = b;
	const uint16_t *narrow = b;
	float sums[LANES] = {0}, sum = 0;
	int64_t p = 0;

	for (; p + LANES <= k; p += LANES) {
		for (int i = 0; i < LANES; i++)
			sums[i] += a[p + i] *
				   (is_bf16 ? sl__from_bf16(narrow[p + i])
					    : wide[p + i]);
	}
	for (; p < k; p++)
		sum += a[p] * (is_bf16 ? sl__from_bf16(narrow[p]) : wide[p]);
	for (int i = 0; i < LANES; i++)
		sum += sums[i];
	return sum;
}

SL__INLINE void
dots_body(const struct dots *d, int m, int is_bf16)
{
	int64_t stride = d->b_row * (is_bf16 ? 2 : 4);

	for (int64_t j = 0; j < 2 * d->n; j++) {
		const unsigned char *b = d->b[j & 1] + (j >> 1) * stride;
		float *y = d->y + (j & 1) * HALF + (j >> 1);

		for (int i = 0; i < m; i++)
			y[i * CHUNK] =
				dot(d->a + i * d->a_row, b, d->k, is_bf16);
	}
}

SL__VECTOR_TARGETS(plain_dots, dots_body,
		   (const struct dots *d, int m, int is_bf16), (d, m, is_bf16))

#if defined(__x86_64__)

#define AVX512 __attribute__((target("avx512f")))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

enum { LANES = 16, UNROLL_MOST = 4 };

/* Sixteen weights from number p on; those that the mask lacks are 0. */
AVX512 SL__INLINE __m512
load(const void *b, int64_t p, __mmask16 mask, int is_bf16)
{
	const float *wide = (const float *)b + p;
	const uint16_t *narrow = (const uint16_t *)b + p;
	__m256i half;

	if (!is_bf16)
		return _mm512_maskz_loadu_ps(mask, wide);
	if (mask == 0xffff) {
		half = _mm256_loadu_si256(
			(const __m256i *)(const void *)narrow);
	} else {
		uint16_t few[LANES] = {0};

		for (int i = 0; mask >> i & 1; i++)
			few[i] = narrow[i];
		half = _mm256_loadu_si256((const __m256i *)(const void *)few);
	}
	return _mm512_castsi512_ps(
		_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

/* Adds up the sums of one row and stretch. */
AVX512 SL__INLINE float
total(const __m512 *sums, int unroll)
{
	__m512 sum = sums[0];

	UNROLL
	for (int u = 1; u < unroll; u++)
		sum = _mm512_add_ps(sum, sums[u]);
	return _mm512_reduce_add_ps(sum);
}

/* Row j of both stretches; 'm', 'unroll' and 'is_bf16' are constants wherever
 * this is inlined. */
AVX512 SL__INLINE void
pair_512(const struct dots *d, int64_t j, int m, int unroll, int is_bf16)
{
	int64_t at = j * d->b_row * (is_bf16 ? 2 : 4), p = 0;
	int64_t step = (int64_t)unroll * LANES;
	const unsigned char *b0 = d->b[0] + at, *b1 = d->b[1] + at;
	__m512 sums[2][ROWS_MOST][UNROLL_MOST];

	UNROLL
	for (int i = 0; i < m; i++) {
		UNROLL
		for (int u = 0; u < unroll; u++)
			sums[0][i][u] = sums[1][i][u] = _mm512_setzero_ps();
	}
	for (; p + step <= d->k; p += step) {
		UNROLL
		for (int u = 0; u < unroll; u++) {
			int64_t q = p + u * LANES;
			__m512 w0 = load(b0, q, 0xffff, is_bf16);
			__m512 w1 = load(b1, q, 0xffff, is_bf16);

			UNROLL
			for (int i = 0; i < m; i++) {
				__m512 a = _mm512_loadu_ps(d->a + i * d->a_row +
							   q);

				sums[0][i][u] =
					_mm512_fmadd_ps(a, w0, sums[0][i][u]);
				sums[1][i][u] =
					_mm512_fmadd_ps(a, w1, sums[1][i][u]);
			}
		}
	}
	for (; p < d->k; p += LANES) {
		int64_t left = d->k - p;
		unsigned lanes = left < LANES ? (1u << left) - 1 : 0xffffu;
		__mmask16 mask = (__mmask16)lanes;
		__m512 w0 = load(b0, p, mask, is_bf16);
		__m512 w1 = load(b1, p, mask, is_bf16);

		UNROLL
		for (int i = 0; i < m; i++) {
			__m512 a = _mm512_maskz_loadu_ps(
				mask, d->a + i * d->a_row + p);

			sums[0][i][0] = _mm512_fmadd_ps(a, w0, sums[0][i][0]);
			sums[1][i][0] = _mm512_fmadd_ps(a, w1, sums[1][i][0]);
		}
	}
	UNROLL
	for (int i = 0; i < m; i++) {
		d->y[i * CHUNK + j] = total(sums[0][i], unroll);
		d->y[i * CHUNK + HALF + j] = total(sums[1][i], unroll);
	}
}

#define DEFINE_DOTS(m, unroll)                                   \
	AVX512 static void dots_##m##_f32(const struct dots *d)  \
	{                                                        \
		for (int64_t j = 0; j < d->n; j++)               \
			pair_512(d, j, m, unroll, 0);            \
	}                                                        \
	AVX512 static void dots_##m##_bf16(const struct dots *d) \
	{                                                        \
		for (int64_t j = 0; j < d->n; j++)               \
			pair_512(d, j, m, unroll, 1);            \
	}
DEFINE_DOTS(1, 4)
DEFINE_DOTS(2, 2)
DEFINE_DOTS(3, 2)
DEFINE_DOTS(4, 1)

static dots_function *
choose(int m, int is_bf16)
{
	static dots_function *const known[2][ROWS_MOST] = {
		{dots_1_f32, dots_2_f32, dots_3_f32, dots_4_f32},
		{dots_1_bf16, dots_2_bf16, dots_3_bf16, dots_4_bf16}};

	return sl__isa_has(SL__ISA_AVX512) ? known[is_bf16][m - 1] : NULL;
}

#else

static dots_function *
choose(int m, int is_bf16)
{
	(void)m;
	(void)is_bf16;
	return NULL;
}

#endif

struct gemv {
	struct sl__gemm p;
	struct sl__epilogue epilogue;
	int64_t b_row;
	dots_function *dots; /* NULL: plain C */
	void (*plain)(const struct dots *d, int m, int is_bf16);
	int is_gathered; /* rows of a are brought into the workspace */
	int is_bf16;     /* b */
	int is_a_bf16, is_y_bf16;
	unsigned char **at;
	const float *a; /* while it runs */
	int64_t a_row;
};

enum { AT_A, AT_B, AT_Y, AT_ROWS }; /* operands; the last where gathered */

/* Rows of a as f32, side by side. */
static void
gather(const struct gemv *g, const unsigned char *a, float *to)
{
	const float *wide = (const float *)(const void *)a;
	const uint16_t *narrow = (const uint16_t *)(const void *)a;
	int64_t step = g->p.a_k;

	for (int64_t i = 0; i < g->p.dims[0]; i++) {
		for (int64_t p = 0; p < g->p.k; p++) {
			int64_t at = i * g->p.a_strides[0] + p * step;

			*to++ = g->is_a_bf16 ? sl__from_bf16(narrow[at])
					     : wide[at];
		}
	}
}

static void
store(const struct gemv *g, unsigned char *y, int64_t at, int64_t n,
      const float *from)
{
	uint16_t *narrow = (uint16_t *)(void *)y + at;

	if (!g->is_y_bf16) {
		memcpy((float *)(void *)y + at, from,
		       (size_t)n * sizeof(*from));
		return;
	}
	for (int64_t i = 0; i < n; i++)
		narrow[i] = sl__to_bf16(from[i]);
}

/* Columns first .. first + n - 1 of the result from y. */
static void
finish(const struct gemv *g, int64_t first, int64_t n, float *y)
{
	for (int64_t i = 0; i < g->p.dims[0]; i++) {
		sl__epilogue_apply(&g->epilogue, g->at, i, first, n,
				   y + i * CHUNK);
		store(g, g->at[AT_Y], i * g->p.n + first, n, y + i * CHUNK);
	}
}

/* n columns from 'first' on and as many from 'second' on; the latter may be
 * the same. */
static void
run_chunk(const struct gemv *g, int64_t first, int64_t second, int64_t n)
{
	int64_t stride = g->b_row * (g->is_bf16 ? 2 : 4);
	float y[ROWS_MOST * CHUNK];
	struct dots d = {
		g->a,
		g->a_row,
		{g->at[AT_B] + first * stride, g->at[AT_B] + second * stride},
		g->b_row,
		g->p.k,
		n,
		y};

	if (g->dots)
		g->dots(&d);
	else
		g->plain(&d, (int)g->p.dims[0], g->is_bf16);
	finish(g, first, n, y);
	if (second != first)
		finish(g, second, n, y + HALF);
}

static void
run_part(int rank, int n, void *ctx)
{
	const struct gemv *g = ctx;
	int64_t first, end, half;

	sl__parallel_range(g->p.n, rank, n, &first, &end);
	half = (end - first) / 2;
	for (int64_t j = 0; j < half; j += HALF)
		run_chunk(g, first + j, first + half + j,
			  half - j < HALF ? half - j : HALF);
	if (first + 2 * half < end)
		run_chunk(g, end - 1, end - 1, 1);
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct gemv *g = step->state;

	(void)err;
	g->a = (const float *)(const void *)step->at[AT_A];
	g->a_row = g->p.a_strides[0];
	if (g->is_gathered) {
		float *rows = (float *)(void *)step->at[AT_ROWS];

		gather(g, step->at[AT_A], rows);
		g->a = rows;
		g->a_row = g->p.k;
	}
	sl__parallel_run(step->n_threads, run_part, g);
	return SL_OK;
}

/* Weights as [n][k]: where they are, or transposed once. */
static uint32_t
read_weights(struct sl__planner *pl, struct gemv *g)
{
	const struct sl__gemm *p = &g->p;
	const struct sl__layout *layout;

	g->b_row = p->k;
	if (p->b_k != 1)
		return sl__gemm_pack_weights(pl, p);
	g->b_row = p->b_n;
	layout = sl__gemm_row_major_layout(pl, p->b, p->dtype);
	return layout ? sl__plan_input_buffer(pl, p->b, layout)
		      : sl__plan_constant_in_own_pages(pl, p->b);
}

/* As they lie, where that is row-major: they are few, and become f32 here. */
static uint32_t
read_rows(struct sl__planner *pl, struct gemv *g, uint32_t *operands)
{
	const struct sl__gemm *p = &g->p;
	const struct sl__layout *layout = sl__plan_find_bf16_layout(pl, p->a);

	operands[AT_A] = sl__plan_input_buffer(pl, p->a, layout);
	g->is_a_bf16 = layout ||
		       sl__plan_value_type(pl, p->a)->dtype == SL_DTYPE_BF16;
	g->is_gathered = g->is_a_bf16 || p->a_k != 1;
	if (!g->is_gathered)
		return AT_Y + 1;
	operands[AT_ROWS] =
		sl__plan_workspace(pl, (uint64_t)(p->dims[0] * p->k) * 4);
	return AT_ROWS + 1;
}

int
sl__make_gemv(struct sl__planner *pl, const struct sl__node *node)
{
	struct gemv *g = sl__plan_alloc_state(pl, sizeof(*g));
	uint32_t operands[AT_ROWS + 1 + SL__EPILOGUE_MAX], n;
	struct sl__step *step;

	if (!g || !sl__gemm_read(&g->p, pl, node) || g->p.rank != 1 ||
	    g->p.dims[0] > ROWS_MOST || !pl->graph->values[g->p.b].tensor ||
	    pl->graph->values[g->p.a].tensor)
		return 0;
	if (g->p.b_k != 1 && sl__isa_is_scalar())
		return 0; /* oneDNN transposes */
	g->is_bf16 = g->p.dtype == SL_DTYPE_BF16;
	g->is_y_bf16 = sl__plan_value_type(pl, g->p.y)->dtype == SL_DTYPE_BF16;
	g->dots = choose((int)g->p.dims[0], g->is_bf16);
	g->plain = plain_dots_for();
	n = read_rows(pl, g, operands);
	operands[AT_B] = read_weights(pl, g);
	n = sl__epilogue_add_operands(&g->epilogue, pl, &g->p, operands, n);
	operands[AT_Y] = sl__plan_output_buffer(pl, g->p.y, NULL);
	step = sl__plan_add_step(pl, operands, n,
				 g->dots ? "gemv:avx512" : "gemv", run, g);
	step->n_threads = sl__threads_at_most(
		step->n_threads,
		g->p.n * g->p.k * (g->is_bf16 ? 2 : 4) / BYTES_PER_THREAD);
	g->at = step->at;
	return 1;
}
