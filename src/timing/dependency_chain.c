/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dependency_chain.c - work of an exactly known length.
 *
 * The step is Knuth's linear congruential generator (MMIX).  The empty
 * assembly hides its value from the compiler: clang otherwise folds eight
 * steps into one multiplication, and a planted 1 % would not be one.
 */
#include "timing/dependency_chain.h"

#include "base/banned.h"

uint64_t
sl__dependency_chain(uint64_t x, uint64_t n_steps)
{
	for (uint64_t i = 0; i < n_steps; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}
