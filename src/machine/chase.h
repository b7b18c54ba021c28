/* SPDX-License-Identifier: Apache-2.0 */
/* chase.h - a walk through memory that cannot be foreseen. */
#ifndef SL_CHASE_H
#define SL_CHASE_H

#include "base/rng.h"

/*
 * Invariants: the first n_lines lines of 'base' hold one cycle, each line
 * the address of the next, and 'at' is a line on it.  The cycle is uniformly
 * random, so that a prefetcher has nothing to learn.
 */
struct sl__chase {
	unsigned char *base;
	size_t line_bytes; /* at least the size of a pointer */
	size_t n_lines;
	void *at;
	struct sl__rng rng;
};

/* Starts with a cycle of one line; 'base' must outlive the chase. */
void sl__chase_init(struct sl__chase *chase, void *base, size_t line_bytes,
		    uint64_t seed);

/* Adds lines to the cycle until it has n_lines; fewer are left as they are. */
void sl__chase_grow(struct sl__chase *chase, size_t n_lines);

/* Follows n_steps pointers, rounded up to a multiple of 8, and returns how
 * many that were. */
size_t sl__chase_run(struct sl__chase *chase, size_t n_steps);

#endif
