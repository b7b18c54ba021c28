/* SPDX-License-Identifier: Apache-2.0 */
/* permutation.h - a random order that needs no memory. */
#ifndef SL_PERMUTATION_H
#define SL_PERMUTATION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Where i of 0 .. n - 1 goes in the order that 'key' gives; i < n < 2^62.  The
 * same on every machine, and each i apart from all others, so that threads can
 * take places of one order without sharing anything.
 */
size_t sl__permuted(size_t i, size_t n, uint64_t key);

/* A key, or a seed, of two numbers: another for each pair. */
uint64_t sl__mixed_key(uint64_t a, uint64_t b);

#endif
