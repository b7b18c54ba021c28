/* SPDX-License-Identifier: Apache-2.0 */
/* recent_rounds.h - what an iteration typically takes, by its parts. */
#ifndef SL_RECENT_ROUNDS_H
#define SL_RECENT_ROUNDS_H

#include "base/arena.h"

/* Nanoseconds of one iteration.  'wall_ns' is the sum of the steps' and of
 * what lies outside of them. */
struct sl__iteration_times {
	double wall_ns, cpu_ns;
	double *step_ns; /* [n_steps] */
};

/*
 * The last rounds of one arm, all of them in one placement.
 *
 * What disturbs an iteration hits one step of it: the sum of the medians of
 * all steps sees less of that than the median of sums.  If all times of an arm
 * are k times as long, so is the sum.
 *
 * Invariants: n <= cap; rows are [n_steps] steps, the rest, CPU time; the
 * newest is in front of 'next'.  Only sl__recent_rounds_reserve() allocates.
 */
struct sl__recent_rounds {
	size_t n_steps, cap, n, next;
	double *rows;
	double *scratch; /* [cap] */
};

/* Storage for 'cap' rounds from the arena; 0, or 1 when out of memory. */
int sl__recent_rounds_reserve(struct sl__recent_rounds *rounds, size_t n_steps,
			      size_t cap, struct sl__arena *arena);

/* The rounds that follow are in another placement. */
void sl__recent_rounds_clear(struct sl__recent_rounds *rounds);

/* The oldest goes where there is no room. */
void sl__recent_rounds_add(struct sl__recent_rounds *rounds,
			   const struct sl__iteration_times *times);

/* Medians over the last n rounds, or over all there are; of none, nothing is
 * written. */
void sl__recent_rounds_typical(const struct sl__recent_rounds *rounds, size_t n,
			       struct sl__iteration_times *out);

#endif
