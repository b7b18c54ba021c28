/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permutation.c - a random order that needs no memory.
 *
 * A Feistel network over the least power of four that holds n numbers is a
 * permutation of these whatever its round function does (Luby and Rackoff,
 * 1988).  Applied again until the result is below n, it is one of 0 .. n - 1
 * (cycle walking, Black and Rogaway, 2002): under four times on average.
 */
#include "data/permutation.h"

#include "base/banned.h"

enum {
	N_ROUNDS = 6,       /* four make it random; two to spare */
	LEAST_HALF_BITS = 4 /* smaller halves give few orders */
};

/* The finalizer of splitmix64 (Steele, Lea and Flood, 2014). */
static uint64_t
mixed(uint64_t z)
{
	z += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t
sl__mixed_key(uint64_t a, uint64_t b)
{
	return mixed(mixed(a) ^ b);
}

size_t
sl__permuted(size_t i, size_t n, uint64_t key)
{
	unsigned half_bits = LEAST_HALF_BITS;
	uint64_t x = i, mask;

	while (half_bits < 31 && ((uint64_t)n - 1) >> 2 * half_bits)
		half_bits++;
	mask = ((uint64_t)1 << half_bits) - 1;
	do {
		uint64_t left = x >> half_bits, right = x & mask;

		for (uint64_t round = 0; round < N_ROUNDS; round++) {
			uint64_t next =
				left ^
				(mixed(key ^ round << 58 ^ right) & mask);

			left = right;
			right = next;
		}
		x = left << half_bits | right;
	} while (x >= n);
	return (size_t)x;
}
