/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - random numbers that a seed repeats exactly. */
#ifndef SL_RNG_H
#define SL_RNG_H

#include <stddef.h>
#include <stdint.h>

/* xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64. */
struct sl__rng {
	uint64_t s[4];
};

void sl__rng_init(struct sl__rng *rng, uint64_t seed);
uint64_t sl__rng_next(struct sl__rng *rng);
double sl__rng_uniform(struct sl__rng *rng);     /* [0, 1), 53 bits */
double sl__rng_normal(struct sl__rng *rng);      /* mean 0, variance 1 */
double sl__rng_exponential(struct sl__rng *rng); /* mean 1 */
int sl__rng_coin(struct sl__rng *rng);           /* 0 or 1 */

/* Uniform in [0, n), without bias; n > 0. */
uint64_t sl__rng_below(struct sl__rng *rng, uint64_t n);

/* A random order of 0 .. n-1 (Fisher-Yates). */
void sl__rng_permutation(struct sl__rng *rng, size_t *order, size_t n);

#endif
