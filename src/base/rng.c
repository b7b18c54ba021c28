/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.c - random numbers that a seed repeats exactly.
 *
 * No state is hidden: the caller owns the generator, so that a report's seed
 * reproduces it whatever else the program draws.
 */
#include "base/rng.h"

#include <math.h>

#include "base/banned.h"

static uint64_t
splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t
rotate_left(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

void
sl__rng_init(struct sl__rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix64(&seed);
}

uint64_t
sl__rng_next(struct sl__rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

double
sl__rng_uniform(struct sl__rng *rng)
{
	return (double)(sl__rng_next(rng) >> 11) * 0x1p-53;
}

double
sl__rng_normal(struct sl__rng *rng)
{
	/* Box-Muller; 1 - u keeps the logarithm finite. */
	double radius = sqrt(-2 * log(1 - sl__rng_uniform(rng)));

	return radius * cos(6.283185307179586 * sl__rng_uniform(rng));
}

double
sl__rng_exponential(struct sl__rng *rng)
{
	return -log(1 - sl__rng_uniform(rng));
}

int
sl__rng_coin(struct sl__rng *rng)
{
	return (int)(sl__rng_next(rng) >> 63);
}

uint64_t
sl__rng_below(struct sl__rng *rng, uint64_t n)
{
	/* Values under 'limit' would make some remainders likelier. */
	uint64_t limit = (0 - n) % n;
	uint64_t x;

	do {
		x = sl__rng_next(rng);
	} while (x < limit);
	return x % n;
}

void
sl__rng_permutation(struct sl__rng *rng, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t j = (size_t)sl__rng_below(rng, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}
