/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa_trial_x86.c - a few instructions of each set of x86-64, and their sums.
 *
 * Operands are volatile, so that the CPU computes and not the compiler.  All
 * results are small integers, which every type holds exactly.
 */
#define _GNU_SOURCE
#include "machine/isa_trial.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/banned.h"

#define TARGET(features) __attribute__((target(features)))

static volatile int three = 3, seven = 7;

static enum sl__isa_outcome
compare(int sum, int expected)
{
	return sum == expected ? SL__ISA_RIGHT : SL__ISA_WRONG;
}

static int
sum_of(const int *x, size_t n)
{
	int sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* 4 lanes of 3 x 7 (SSE4.1), turned around (SSSE3). */
TARGET("ssse3,sse4.1") static enum sl__isa_outcome try_sse4(void)
{
	__m128i x =
		_mm_mullo_epi32(_mm_set1_epi32(three), _mm_set1_epi32(seven));
	int lanes[4];

	x = _mm_shuffle_epi8(x, _mm_set_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9,
					     8, 15, 14, 13, 12));
	_mm_storeu_si128((__m128i *)(void *)lanes, x);
	return compare(sum_of(lanes, 4), 84);
}

/* 8 lanes of 3 x 7 + 3, in floats and then in integers. */
TARGET("avx2,fma") static enum sl__isa_outcome try_avx2(void)
{
	__m256 a = _mm256_set1_ps((float)three);
	__m256 x = _mm256_fmadd_ps(a, _mm256_set1_ps((float)seven), a);
	__m256i y = _mm256_permute4x64_epi64(_mm256_cvtps_epi32(x), 0x1b);
	int lanes[8];

	y = _mm256_add_epi32(y, _mm256_set1_epi32(three));
	_mm256_storeu_si256((__m256i *)(void *)lanes, y);
	return compare(sum_of(lanes, 8), 8 * 27);
}

/* 8 lanes of 4 products of bytes. */
TARGET("avx2,avxvnni") static enum sl__isa_outcome try_avx_vnni(void)
{
	__m256i x = _mm256_dpbusd_avx_epi32(_mm256_setzero_si256(),
					    _mm256_set1_epi8((char)seven),
					    _mm256_set1_epi8((char)-three));
	int lanes[8];

	_mm256_storeu_si256((__m256i *)(void *)lanes, x);
	return compare(sum_of(lanes, 8), 8 * 4 * -21);
}

/* 16 lanes of 3 x 7 + 3 (F), words with a mask (BW), 64 bits (DQ), and half
 * the width (VL). */
TARGET("avx512f,avx512bw,avx512dq,avx512vl")
static enum sl__isa_outcome
try_avx512(void)
{
	__m512 a = _mm512_set1_ps((float)three);
	__m512 x = _mm512_fmadd_ps(a, _mm512_set1_ps((float)seven), a);
	__m512i y = _mm512_cvtps_epi32(x), z;
	int lanes[16];

	y = _mm512_mask_add_epi16(y, 0x55555555, y,
				  _mm512_set1_epi16((short)three));
	z = _mm512_mullo_epi64(_mm512_set1_epi64(three),
			       _mm512_set1_epi64(seven));
	y = _mm512_add_epi32(y, z); /* 21 in every other lane */
	_mm512_storeu_si512(lanes, y);
	_mm256_mask_storeu_epi32(lanes, 0x01, _mm256_set1_epi32(seven));
	return compare(sum_of(lanes, 16), 16 * 27 + 8 * 21 - 48 + 7);
}

TARGET("avx512f,avx512vl,avx512vnni")
static enum sl__isa_outcome
try_avx512_vnni(void)
{
	__m512i x = _mm512_dpbusd_epi32(_mm512_set1_epi32(three),
					_mm512_set1_epi32(seven * 0x01010101),
					_mm512_set1_epi32(three * 0x01010101));
	int lanes[16];

	_mm512_storeu_si512(lanes, x);
	return compare(sum_of(lanes, 16), 16 * (4 * 21 + 3));
}

/* 1 and 2 as bf16: the upper halves of these floats. */
enum { BF16_ONE = 0x3f80, BF16_TWO = 0x4000 };

TARGET("avx512f,avx512bf16") static enum sl__isa_outcome try_avx512_bf16(void)
{
	__m512i ones = _mm512_set1_epi32(BF16_ONE * 0x10001);
	__m512i twos = _mm512_set1_epi32(BF16_TWO * 0x10001);
	__m512 x = _mm512_dpbf16_ps(_mm512_set1_ps((float)three),
				    (__m512bh)ones, (__m512bh)twos);
	int lanes[16];

	_mm512_storeu_si512(lanes, _mm512_cvtps_epi32(x));
	return compare(sum_of(lanes, 16), 16 * (2 * 2 + 3));
}

/* Tiles as palette 1 has them: 16 rows of 64 bytes. */
enum { TILE_ROWS = 16, ROW_BYTES = 64, TILE_INTS = TILE_ROWS * ROW_BYTES / 4 };

struct tile_config {
	uint8_t palette, start_row, reserved[14];
	uint16_t row_bytes[16];
	uint8_t rows[16];
};

/* Products of whole tiles, each with one value: sums of 64 products of bytes
 * and of 32 of bf16.  The values fill 32 bits. */
TARGET("amx-tile,amx-int8,amx-bf16")
static void
multiply_tiles(int *integers, float *floats, const int values[4])
{
	struct tile_config config = {.palette = 1};
	int a[TILE_INTS], b[TILE_INTS];

	for (int i = 0; i < 3; i++) {
		config.row_bytes[i] = ROW_BYTES;
		config.rows[i] = TILE_ROWS;
	}
	_tile_loadconfig(&config);
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < TILE_INTS; i++) {
			a[i] = values[2 * k];
			b[i] = values[2 * k + 1];
		}
		_tile_zero(0);
		_tile_loadd(1, a, ROW_BYTES);
		_tile_loadd(2, b, ROW_BYTES);
		if (k == 0) {
			_tile_dpbssd(0, 1, 2);
			_tile_stored(0, integers, ROW_BYTES);
		} else {
			_tile_dpbf16ps(0, 1, 2);
			_tile_stored(0, floats, ROW_BYTES);
		}
	}
	_tile_release();
}

static enum sl__isa_outcome
try_amx(void)
{
	enum { REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 }; /* asm/prctl.h */
	const int values[4] = {three * 0x01010101, seven * 0x01010101,
			       BF16_ONE * 0x10001, BF16_TWO * 0x10001};
	int integers[TILE_INTS];
	float floats[TILE_INTS];

	if (syscall(SYS_arch_prctl, REQ_XCOMP_PERM, TILE_DATA))
		return SL__ISA_REFUSED;
	multiply_tiles(integers, floats, values);
	for (int i = 0; i < TILE_INTS; i++) {
		if (integers[i] != 64 * 21 || floats[i] < 64 || floats[i] > 64)
			return SL__ISA_WRONG;
	}
	return SL__ISA_RIGHT;
}

sl__isa_trial *const *
sl__isa_trials(void)
{
	static sl__isa_trial *const trials[SL__N_ISA_SETS] = {
		try_sse4,        try_avx2,        try_avx_vnni, try_avx512,
		try_avx512_vnni, try_avx512_bf16, try_amx};

	return trials;
}

#else

#include "base/banned.h"

sl__isa_trial *const *
sl__isa_trials(void)
{
	return NULL;
}

#endif
