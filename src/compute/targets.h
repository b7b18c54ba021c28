/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - one loop compiled for several instruction sets. */
#ifndef SL_TARGETS_H
#define SL_TARGETS_H

#include "machine/isa.h"

/* Before a loop in which each element is read before it is written and no
 * other depends on it: source and target may then be the same place. */
#if defined(__clang__)
#define SL__EACH_ALONE _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SL__EACH_ALONE _Pragma("GCC ivdep")
#else
#define SL__EACH_ALONE
#endif

/* Before a loop of at most 16 rounds whose number is known.  gcc warns of what
 * it ignores where it does not optimise. */
#if !defined(__OPTIMIZE__)
#define SL__UNROLL
#elif defined(__clang__)
#define SL__UNROLL _Pragma("clang loop unroll(full)")
#else
#define SL__UNROLL _Pragma("GCC unroll 16")
#endif

#define SL__INLINE static inline __attribute__((always_inline))

/*
 * Defines void name(args) for the best instruction set there is: 'body' is a
 * SL__INLINE function of the same arguments, compiled three times, and
 * name_for() gives the one that this process may run.  'params' and 'args' are
 * lists in parentheses.
 */
#if defined(__x86_64__)
#define SL__VECTOR_TARGETS(name, body, params, args)                           \
	__attribute__((                                                        \
		target("avx512f,avx512bw,avx512vl,avx512dq,fma"))) static void \
		name##_avx512 params                                           \
	{                                                                      \
		body args;                                                     \
	}                                                                      \
	__attribute__((target("avx2,fma"))) static void name##_avx2 params     \
	{                                                                      \
		body args;                                                     \
	}                                                                      \
	static void name##_plain params                                        \
	{                                                                      \
		body args;                                                     \
	}                                                                      \
	static void(*name##_for(void)) params                                  \
	{                                                                      \
		if (sl__isa_has(SL__ISA_AVX512))                               \
			return name##_avx512;                                  \
		return sl__isa_has(SL__ISA_AVX2) ? name##_avx2 : name##_plain; \
	}
#else
#define SL__VECTOR_TARGETS(name, body, params, args) \
	static void name##_plain params              \
	{                                            \
		body args;                           \
	}                                            \
	static void(*name##_for(void)) params        \
	{                                            \
		return name##_plain;                 \
	}
#endif

#endif
