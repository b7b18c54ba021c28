/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_x86.c - moving memory with the vector registers of x86-64.
 *
 * One set of loops written once and defined for 128, 256 and 512 bits, four
 * vectors a turn.  Non-temporal loops end with a fence, so that their time
 * includes the draining of the buffers.
 */
#include "machine/stream.h"
#include "machine/isa.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/banned.h"

#define SCALE 3 /* the constant of a triad; any will do */

/* Keeps the compiler from turning a loop into memset or memcpy. */
#define CLOBBER_MEMORY() __asm__ volatile("" : : : "memory")

#define PLAIN(at, value) (*(at) = (value))
#define NO_FENCE()       ((void)0)

/*
 * A loop that sets four vectors at a[i] a turn.  STORE takes an address and a
 * value; VALUE(k) is the value for a[k], from b[k] and c[k]; END comes last.
 */
#define DEFINE_WRITER(name, features, vector, STORE, VALUE, END)           \
	__attribute__((target(features))) static uint64_t name(            \
		const struct sl__stream_arrays *arrays)                    \
	{                                                                  \
		vector *a = (vector *)(void *)arrays->a;                   \
		const vector *b = (const vector *)(const void *)arrays->b; \
		const vector *c = (const vector *)(const void *)arrays->c; \
		const vector scale = (vector){0} + SCALE;                  \
		size_t n = arrays->n_bytes / sizeof(vector);               \
                                                                           \
		for (size_t i = 0; i < n; i += 4) {                        \
			STORE(&a[i], VALUE(i));                            \
			STORE(&a[i + 1], VALUE(i + 1));                    \
			STORE(&a[i + 2], VALUE(i + 2));                    \
			STORE(&a[i + 3], VALUE(i + 3));                    \
			CLOBBER_MEMORY();                                  \
		}                                                          \
		(void)scale;                                               \
		(void)b;                                                   \
		(void)c;                                                   \
		END();                                                     \
		return 0;                                                  \
	}

#define SET(k)   scale
#define COPY(k)  b[k]
#define TRIAD(k) (b[k] + scale * c[k])

#define DEFINE_LOADER(name, features, vector)                              \
	__attribute__((target(features))) static uint64_t name(            \
		const struct sl__stream_arrays *arrays)                    \
	{                                                                  \
		const vector *a = (const vector *)(const void *)arrays->a; \
		size_t n = arrays->n_bytes / sizeof(vector);               \
		vector x0 = {0}, x1 = x0, x2 = x0, x3 = x0;                \
                                                                           \
		for (size_t i = 0; i < n; i += 4) {                        \
			x0 |= a[i];                                        \
			x1 |= a[i + 1];                                    \
			x2 |= a[i + 2];                                    \
			x3 |= a[i + 3];                                    \
		}                                                          \
		x0 |= x1 | x2 | x3;                                        \
		return (uint64_t)x0[0] | (uint64_t)x0[1];                  \
	}

#define DEFINE_STREAMS(bits, isa, features, floats, integers, STREAM)         \
	DEFINE_LOADER(load_##bits, features, integers)                        \
	DEFINE_WRITER(store_##bits, features, floats, PLAIN, SET, NO_FENCE)   \
	DEFINE_WRITER(store_nt_##bits, features, floats, STREAM, SET,         \
		      _mm_sfence)                                             \
	DEFINE_WRITER(copy_##bits, features, floats, PLAIN, COPY, NO_FENCE)   \
	DEFINE_WRITER(copy_nt_##bits, features, floats, STREAM, COPY,         \
		      _mm_sfence)                                             \
	DEFINE_WRITER(triad_##bits, features, floats, PLAIN, TRIAD, NO_FENCE) \
	DEFINE_WRITER(triad_nt_##bits, features, floats, STREAM, TRIAD,       \
		      _mm_sfence)                                             \
	static const struct sl__stream_kernels streams_##bits = {             \
		isa,                                                          \
		bits,                                                         \
		{load_##bits, store_##bits, store_nt_##bits, copy_##bits,     \
		 copy_nt_##bits, triad_##bits, triad_nt_##bits}};

#define STREAM_128(at, value) _mm_stream_pd((double *)(at), value)
#define STREAM_256(at, value) _mm256_stream_pd((double *)(at), value)
#define STREAM_512(at, value) _mm512_stream_pd((double *)(at), value)

DEFINE_STREAMS(128, "SSE2", "sse2", __m128d, __m128i, STREAM_128)
DEFINE_STREAMS(256, "AVX2", "avx2", __m256d, __m256i, STREAM_256)
DEFINE_STREAMS(512, "AVX-512", "avx512f", __m512d, __m512i, STREAM_512)

const struct sl__stream_kernels *
sl__stream_kernels_x86(void)
{
	if (sl__isa_has(SL__ISA_AVX512))
		return &streams_512;
	if (sl__isa_has(SL__ISA_AVX2))
		return &streams_256;
	return &streams_128;
}

#else /* not x86-64 */

#include "base/banned.h"

const struct sl__stream_kernels *
sl__stream_kernels_x86(void)
{
	return NULL;
}

#endif
