/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak_x86.c - arithmetic with the vector instructions of x86-64.
 *
 * Each kernel is compiled for its own instruction set and chosen at run time.
 * All operands are ones, hidden from the compiler by empty assembly, so that
 * the accumulators count the multiply-adds (peak.h).  SSE2 has no fused
 * multiply-add: a multiply and an add stand for it, which is what that
 * instruction set can do.  AMX tiles are listed and not exercised.
 */
#include "machine/isa.h"
#include "machine/peak.h"

#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/banned.h"

#define TARGET(features) __attribute__((target(features)))
#define HIDE(v)          __asm__ volatile("" : "+x"(v))

static double
sum_f32(const void *lanes, size_t n_bytes)
{
	double sum = 0;
	float lane;

	for (size_t at = 0; at < n_bytes; at += sizeof(lane)) {
		memcpy(&lane, (const char *)lanes + at, sizeof(lane));
		sum += (double)lane;
	}
	return sum;
}

static double
sum_f64(const void *lanes, size_t n_bytes)
{
	double sum = 0, lane;

	for (size_t at = 0; at < n_bytes; at += sizeof(lane)) {
		memcpy(&lane, (const char *)lanes + at, sizeof(lane));
		sum += lane;
	}
	return sum;
}

static double
sum_i32(const void *lanes, size_t n_bytes)
{
	double sum = 0;
	int32_t lane;

	for (size_t at = 0; at < n_bytes; at += sizeof(lane)) {
		memcpy(&lane, (const char *)lanes + at, sizeof(lane));
		sum += (double)lane;
	}
	return sum;
}

#define DECLARE(i, type) \
	type c##i = {0}; \
	HIDE(c##i);
#define STEP(i, op) c##i = op(c##i, a, b);
/* Hides b anew, so that what depends on a and b alone is done each time. */
#define STEP_ANEW(i, op) \
	HIDE(b);         \
	STEP(i, op)
/* The copy keeps the accumulator itself out of memory. */
#define TOTAL(i, type, sum_lanes)                        \
	{                                                \
		type lanes = c##i;                       \
		sum += sum_lanes(&lanes, sizeof(lanes)); \
	}

/*
 * A kernel with accumulators of 'type', whose steps are c = op(c, a, b) on
 * operands that are all ones.
 */
#define DEFINE(name, features, CHAINS, MAKE_STEP, op, type, ones, sum_lanes) \
	TARGET(features) static double name(uint64_t n_rounds)               \
	{                                                                    \
		__typeof__(ones) a = ones, b = ones;                         \
		double sum = 0;                                              \
                                                                             \
		CHAINS(DECLARE, type)                                        \
		HIDE(a);                                                     \
		HIDE(b);                                                     \
		for (uint64_t k = 0; k < n_rounds; k++) {                    \
			CHAINS(MAKE_STEP, op)                                \
		}                                                            \
		CHAINS(TOTAL, type, sum_lanes)                               \
		return sum;                                                  \
	}

#define MULADD_PS(c, a, b) _mm_add_ps(_mm_mul_ps(c, a), b)
#define MULADD_PD(c, a, b) _mm_add_pd(_mm_mul_pd(c, a), b)

/* Four products of bytes into each 32-bit lane, before VNNI: 3 steps. */
#define DOT_128(c, a, b) \
	_mm_add_epi32(   \
		c, _mm_madd_epi16(_mm_maddubs_epi16(a, b), _mm_set1_epi16(1)))
#define DOT_256(c, a, b)                                                  \
	_mm256_add_epi32(c, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), \
					      _mm256_set1_epi16(1)))

#define BF16_ONE      0x3f80 /* the upper half of 1.0f */
#define ONES_BF16_256 (__m256bh) _mm256_set1_epi16(BF16_ONE)
#define ONES_BF16_512 (__m512bh) _mm512_set1_epi16(BF16_ONE)

DEFINE(sse2_f32, "sse2", SL__CHAINS_14, STEP, MULADD_PS, __m128, _mm_set1_ps(1),
       sum_f32)
DEFINE(sse2_f64, "sse2", SL__CHAINS_14, STEP, MULADD_PD, __m128d,
       _mm_set1_pd(1), sum_f64)
DEFINE(avx2_f32, "avx2,fma", SL__CHAINS_12, STEP, _mm256_fmadd_ps, __m256,
       _mm256_set1_ps(1), sum_f32)
DEFINE(avx2_f64, "avx2,fma", SL__CHAINS_12, STEP, _mm256_fmadd_pd, __m256d,
       _mm256_set1_pd(1), sum_f64)
DEFINE(avx512_f32, "avx512f", SL__CHAINS_12, STEP, _mm512_fmadd_ps, __m512,
       _mm512_set1_ps(1), sum_f32)
DEFINE(avx512_f64, "avx512f", SL__CHAINS_12, STEP, _mm512_fmadd_pd, __m512d,
       _mm512_set1_pd(1), sum_f64)
DEFINE(bf16_256, "avx512bf16,avx512vl", SL__CHAINS_12, STEP, _mm256_dpbf16_ps,
       __m256, ONES_BF16_256, sum_f32)
DEFINE(bf16_512, "avx512bf16,avx512bw", SL__CHAINS_12, STEP, _mm512_dpbf16_ps,
       __m512, ONES_BF16_512, sum_f32)
DEFINE(ssse3_i8, "ssse3", SL__CHAINS_12, STEP_ANEW, DOT_128, __m128i,
       _mm_set1_epi8(1), sum_i32)
DEFINE(avx2_i8, "avx2", SL__CHAINS_12, STEP_ANEW, DOT_256, __m256i,
       _mm256_set1_epi8(1), sum_i32)
DEFINE(avxvnni_i8, "avxvnni", SL__CHAINS_12, STEP, _mm256_dpbusd_avx_epi32,
       __m256i, _mm256_set1_epi8(1), sum_i32)
DEFINE(vnni_i8_256, "avx512vnni,avx512vl", SL__CHAINS_12, STEP,
       _mm256_dpbusd_epi32, __m256i, _mm256_set1_epi8(1), sum_i32)
DEFINE(vnni_i8_512, "avx512vnni,avx512bw", SL__CHAINS_12, STEP,
       _mm512_dpbusd_epi32, __m512i, _mm512_set1_epi8(1), sum_i32)

/* ops_per_round: chains x multiply-adds in a register x 2. */
static const struct {
	enum sl_dtype dtype;
	unsigned needs; /* sets of isa.h; 0: every x86-64 has it */
	const char *isa;
	size_t n_bits;
	double ops_per_round;
	double (*run)(uint64_t n_rounds);
} known[] = {
	{SL_DTYPE_F32, 0, "SSE2", 128, 14 * 4 * 2, sse2_f32},
	{SL_DTYPE_F32, SL__ISA_AVX2, "AVX2", 256, 12 * 8 * 2, avx2_f32},
	{SL_DTYPE_F32, SL__ISA_AVX512, "AVX-512", 512, 12 * 16 * 2, avx512_f32},
	{SL_DTYPE_F64, 0, "SSE2", 128, 14 * 2 * 2, sse2_f64},
	{SL_DTYPE_F64, SL__ISA_AVX2, "AVX2", 256, 12 * 4 * 2, avx2_f64},
	{SL_DTYPE_F64, SL__ISA_AVX512, "AVX-512", 512, 12 * 8 * 2, avx512_f64},
	{SL_DTYPE_BF16, SL__ISA_AVX512_BF16, "AVX512-BF16", 256, 12 * 16 * 2,
	 bf16_256},
	{SL_DTYPE_BF16, SL__ISA_AVX512_BF16, "AVX512-BF16", 512, 12 * 32 * 2,
	 bf16_512},
	{SL_DTYPE_BF16, SL__ISA_AMX, "AMX-BF16", 8192, 0, NULL},
	{SL_DTYPE_I8, SL__ISA_SSE4, "SSSE3", 128, 12 * 16 * 2, ssse3_i8},
	{SL_DTYPE_I8, SL__ISA_AVX2, "AVX2", 256, 12 * 32 * 2, avx2_i8},
	{SL_DTYPE_I8, SL__ISA_AVX_VNNI, "AVX-VNNI", 256, 12 * 32 * 2,
	 avxvnni_i8},
	{SL_DTYPE_I8, SL__ISA_AVX512_VNNI, "AVX512-VNNI", 256, 12 * 32 * 2,
	 vnni_i8_256},
	{SL_DTYPE_I8, SL__ISA_AVX512_VNNI, "AVX512-VNNI", 512, 12 * 64 * 2,
	 vnni_i8_512},
	{SL_DTYPE_I8, SL__ISA_AMX, "AMX-INT8", 8192, 0, NULL},
};

size_t
sl__peak_x86(struct sl__peak_kernel *kernels)
{
	size_t n = sizeof(known) / sizeof(known[0]);
	const struct sl__isa *isa = sl__isa_decided();

	for (size_t i = 0; i < n; i++) {
		kernels[i] = (struct sl__peak_kernel){
			.dtype = known[i].dtype,
			.isa = known[i].isa,
			.n_bits = known[i].n_bits,
			.ops_per_round = known[i].ops_per_round,
			.run = known[i].run,
			.is_lacking = (known[i].needs & ~isa->shown) != 0,
		};
		if (kernels[i].is_lacking)
			kernels[i].absent = SL__PEAK_LACKING;
		else if (known[i].needs & ~isa->usable)
			kernels[i].absent = SL__PEAK_CAPPED;
		else if (!known[i].run)
			kernels[i].absent = "not exercised";
		kernels[i].is_unexercised = !known[i].run &&
					    !(known[i].needs & ~isa->usable);
	}
	return n;
}

#else /* not x86-64 */

#include "base/banned.h"

size_t
sl__peak_x86(struct sl__peak_kernel *kernels)
{
	(void)kernels;
	return 0;
}

#endif
