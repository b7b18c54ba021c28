/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak_generic.c - arithmetic in plain C: one number at a time everywhere,
 * and 128-bit vectors where no file for the architecture does better.
 *
 * Chains are named variables, because an array would have to be unrolled by
 * the compiler to stay in registers.  Values pass through empty assembly, so
 * that the compiler neither knows them nor sees that the chains are alike:
 * it would compute one of them for all, or four in one vector.
 */
#include "machine/peak.h"

#include <string.h>

#include "base/banned.h"

#if defined(__x86_64__)
#define REGISTER "x"
#elif defined(__aarch64__)
#define REGISTER "w"
#else
#define REGISTER "f"
#endif

#define HIDE(v) __asm__ volatile("" : "+" REGISTER(v))

#define DECLARE(i, type) \
	type c##i = 0;   \
	HIDE(c##i);
#define START(i, unused) HIDE(c##i);
#define STEP(i, unused)  c##i = c##i * a + b;
#define ADD(i, unused)   sum += (double)c##i;

/* mul and add are two instructions unless the target fuses them. */
#define DEFINE_SCALAR(name, type)                         \
	static double name(uint64_t n_rounds)             \
	{                                                 \
		type a = 1, b = 1;                        \
		double sum = 0;                           \
                                                          \
		SL__CHAINS_14(DECLARE, type)              \
		HIDE(a);                                  \
		HIDE(b);                                  \
		for (uint64_t k = 0; k < n_rounds; k++) { \
			SL__CHAINS_14(START, )            \
			SL__CHAINS_14(STEP, )             \
		}                                         \
		SL__CHAINS_14(ADD, )                      \
		return sum;                               \
	}

DEFINE_SCALAR(scalar_f32, float)
DEFINE_SCALAR(scalar_f64, double)

#if !defined(__x86_64__) && defined(__GNUC__)

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));

static double
sum_f32(f32x4 v)
{
	return (double)v[0] + (double)v[1] + (double)v[2] + (double)v[3];
}

static double
sum_f64(f64x2 v)
{
	return v[0] + v[1];
}

#define DECLARE_VECTOR(i, type) \
	type c##i = {0};        \
	HIDE(c##i);
#define ADD_VECTOR(i, sum_lanes) sum += sum_lanes(c##i);

#define DEFINE_VECTOR(name, type, sum_lanes)              \
	static double name(uint64_t n_rounds)             \
	{                                                 \
		type a = (type){0} + 1, b = a;            \
		double sum = 0;                           \
                                                          \
		SL__CHAINS_14(DECLARE_VECTOR, type)       \
		HIDE(a);                                  \
		HIDE(b);                                  \
		for (uint64_t k = 0; k < n_rounds; k++) { \
			SL__CHAINS_14(STEP, )             \
		}                                         \
		SL__CHAINS_14(ADD_VECTOR, sum_lanes)      \
		return sum;                               \
	}

DEFINE_VECTOR(vector_f32, f32x4, sum_f32)
DEFINE_VECTOR(vector_f64, f64x2, sum_f64)
#define VECTOR_KERNELS                                                     \
	{SL_DTYPE_F32, "vector", 128, 14 * 4 * 2, vector_f32, NULL, 0, 0}, \
		{SL_DTYPE_F64, "vector", 128, 14 * 2 * 2,                  \
		 vector_f64,   NULL,     0,   0},                          \
		{SL_DTYPE_BF16,                                            \
		 "dot product",                                            \
		 128,                                                      \
		 0,                                                        \
		 NULL,                                                     \
		 "not exercised on this architecture",                     \
		 1,                                                        \
		 0},                                                       \
		{SL_DTYPE_I8, "dot product",                               \
		 128,         0,                                           \
		 NULL,        "not exercised on this architecture",        \
		 1,           0},
#else
#define VECTOR_KERNELS
#endif

static size_t
list_generic(struct sl__peak_kernel *kernels)
{
	static const struct sl__peak_kernel all[] = {
		{SL_DTYPE_F32, "scalar", 32, 14 * 2, scalar_f32, NULL, 0, 0},
		{SL_DTYPE_F64, "scalar", 64, 14 * 2, scalar_f64, NULL, 0, 0},
		VECTOR_KERNELS};

	memcpy(kernels, all, sizeof(all));
	return sizeof(all) / sizeof(all[0]);
}

/* Types in the order that reports list them: floats first. */
static int
rank_of(enum sl_dtype dtype)
{
	static const enum sl_dtype order[] = {SL_DTYPE_F32, SL_DTYPE_F64,
					      SL_DTYPE_BF16, SL_DTYPE_I8};
	int rank = 0;

	while (rank < 4 && order[rank] != dtype)
		rank++;
	return rank;
}

static int
comes_after(const struct sl__peak_kernel *a, const struct sl__peak_kernel *b)
{
	if (a->dtype != b->dtype)
		return rank_of(a->dtype) > rank_of(b->dtype);
	return a->n_bits > b->n_bits;
}

size_t
sl__peak_kernels(struct sl__peak_kernel *kernels)
{
	size_t n = list_generic(kernels);

	n += sl__peak_x86(kernels + n);
	for (size_t i = 1; i < n; i++) {
		struct sl__peak_kernel moving = kernels[i];
		size_t j = i;

		for (; j > 0 && comes_after(&kernels[j - 1], &moving); j--)
			kernels[j] = kernels[j - 1];
		kernels[j] = moving;
	}
	return n;
}

int
sl__peak_has_untested_kernel(const struct sl__peak_kernel *kernels, size_t n,
			     enum sl_dtype dtype)
{
	for (size_t i = 0; i < n; i++) {
		if (kernels[i].dtype == dtype && kernels[i].is_unexercised)
			return 1;
	}
	return 0;
}
