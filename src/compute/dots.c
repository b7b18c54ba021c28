/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dots.c - few rows times many others, which are read once.
 *
 * A core reads two stretches of memory, each in a straight line: at the end of
 * a small page, where the hardware stops to read ahead, one goes on while the
 * other waits, which is worth a fifth; with large pages one stretch is as
 * good.  Rows that lie side by side, read at once, or [k][n] by rows, take half
 * as long again to twice as long.
 */
#include "compute/dots.h"
#include "compute/vector.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

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
dots_body(const struct sl__dots *d, int m, int is_bf16)
{
	int64_t stride = d->b_row * (is_bf16 ? 2 : 4);

	for (int64_t j = 0; j < 2 * d->n; j++) {
		const unsigned char *b = d->b[j & 1] + (j >> 1) * stride;
		float *y = d->y + (j & 1) * SL__DOTS_HALF + (j >> 1);

		for (int i = 0; i < m; i++)
			y[i * SL__DOTS_CHUNK] =
				dot(d->a + i * d->a_row, b, d->k, is_bf16);
	}
}

SL__VECTOR_TARGETS(plain_dots, dots_body,
		   (const struct sl__dots *d, int m, int is_bf16),
		   (d, m, is_bf16))

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
pair_512(const struct sl__dots *d, int64_t j, int m, int unroll, int is_bf16)
{
	int64_t at = j * d->b_row * (is_bf16 ? 2 : 4), p = 0;
	int64_t step = (int64_t)unroll * LANES;
	const unsigned char *b0 = d->b[0] + at, *b1 = d->b[1] + at;
	__m512 sums[2][SL__DOTS_ROWS_MOST][UNROLL_MOST];

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
		d->y[i * SL__DOTS_CHUNK + j] = total(sums[0][i], unroll);
		d->y[i * SL__DOTS_CHUNK + SL__DOTS_HALF + j] =
			total(sums[1][i], unroll);
	}
}

#define DEFINE_DOTS(m, unroll)                                       \
	AVX512 static void dots_##m##_f32(const struct sl__dots *d)  \
	{                                                            \
		for (int64_t j = 0; j < d->n; j++)                   \
			pair_512(d, j, m, unroll, 0);                \
	}                                                            \
	AVX512 static void dots_##m##_bf16(const struct sl__dots *d) \
	{                                                            \
		for (int64_t j = 0; j < d->n; j++)                   \
			pair_512(d, j, m, unroll, 1);                \
	}
DEFINE_DOTS(1, 4)
DEFINE_DOTS(2, 2)
DEFINE_DOTS(3, 2)
DEFINE_DOTS(4, 1)

sl__dots_function *
sl__dots_for(int m, int is_bf16)
{
	static sl__dots_function *const known[2][SL__DOTS_ROWS_MOST] = {
		{dots_1_f32, dots_2_f32, dots_3_f32, dots_4_f32},
		{dots_1_bf16, dots_2_bf16, dots_3_bf16, dots_4_bf16}};

	return sl__isa_has(SL__ISA_AVX512) ? known[is_bf16][m - 1] : NULL;
}

#else

sl__dots_function *
sl__dots_for(int m, int is_bf16)
{
	(void)m;
	(void)is_bf16;
	return NULL;
}

#endif

sl__plain_dots_function *
sl__plain_dots_for(void)
{
	return plain_dots_for();
}
