/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chase.c - a walk through memory that cannot be foreseen.
 *
 * The cycle grows by putting each new line behind a random line of it.  There
 * are (n - 1)! ways to do that and as many cycles of n lines, each reached in
 * exactly one way: the cycle is uniformly random at every length, and the
 * walk of one size is extended to the next instead of being made anew.
 */
#include "machine/chase.h"

#include "base/banned.h"

static void **
line(const struct sl__chase *chase, size_t i)
{
	return (void **)(void *)(chase->base + i * chase->line_bytes);
}

void
sl__chase_init(struct sl__chase *chase, void *base, size_t line_bytes,
	       uint64_t seed)
{
	chase->base = base;
	chase->line_bytes = line_bytes;
	chase->n_lines = 1;
	sl__rng_init(&chase->rng, seed);
	*line(chase, 0) = line(chase, 0);
	chase->at = line(chase, 0);
}

void
sl__chase_grow(struct sl__chase *chase, size_t n_lines)
{
	for (; chase->n_lines < n_lines; chase->n_lines++) {
		void **after =
			line(chase, sl__rng_below(&chase->rng, chase->n_lines));
		void **added = line(chase, chase->n_lines);

		*added = *after;
		*after = added;
	}
}

size_t
sl__chase_run(struct sl__chase *chase, size_t n_steps)
{
	size_t n_turns = (n_steps + 7) / 8;
	void **at = chase->at;

	for (size_t i = 0; i < n_turns; i++) {
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		/* The walk is its own purpose: keep it. */
		__asm__ volatile("" : "+r"(at));
	}
	chase->at = at;
	return 8 * n_turns;
}
