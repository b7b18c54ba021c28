/* SPDX-License-Identifier: Apache-2.0 */
/* traced_iterations.h - which recorded iterations are kept whole. */
#ifndef SL_TRACED_ITERATIONS_H
#define SL_TRACED_ITERATIONS_H

#include "engine/observer.h"
#include "stats/thinned.h"

enum {
	SL__KEPT_SLOW = 8,  /* slowest iterations, at most */
	SL__KEPT_EVEN = 16, /* spread evenly over the run; even */
	SL__KEPT_TIMES = 1 << 12
};

/* A recorded iteration that is kept whole. */
struct sl__traced_iteration {
	struct sl__event_buffer events;
	uint64_t begin, end; /* ticks */
	size_t nth;          /* recorded iteration, from 0 */
};

/*
 * Of any number of iterations the first, the slowest and one that takes as long
 * as the median, in fixed memory.  Which one that is shows at the end only,
 * when the others are gone: the candidates are the one nearest to the median so
 * far and some spread evenly over the run, which a drift leaves near to it.
 */
struct sl__traced_iterations {
	struct sl__traced_iteration first;
	struct sl__traced_iteration
		median; /* after sl__traced_iterations_pick_median() */
	struct sl__traced_iteration slow[SL__KEPT_SLOW]; /* slowest first */
	size_t n_slow, n_slow_most;
	size_t n_seen;

	struct sl__traced_iteration near, even[SL__KEPT_EVEN];
	size_t n_even, stride;
	struct sl__thinned took; /* ticks of each iteration */
	double median_ticks;     /* so far */
	size_t next_look;
	double *sorted; /* [SL__KEPT_TIMES] scratch */
};

/* Storage for iterations of n_steps at most; 0, or 1 when out of memory. */
int sl__traced_iterations_init(struct sl__traced_iterations *k, size_t n_steps,
			       size_t n_slowest, struct sl__arena *arena);

/* An iteration that lasted from begin to end and left 'events', which is
 * copied. */
void sl__traced_iterations_offer(struct sl__traced_iterations *k,
				 const struct sl__event_buffer *events,
				 uint64_t begin, uint64_t end);

/* Fills 'median', whose events are one of the candidates'; n_stamps is 0 where
 * no iteration was added. */
void sl__traced_iterations_pick_median(struct sl__traced_iterations *k);

/* Room for an iteration of n_steps, every mark once; 0, or 1 when out of
 * memory. */
int sl__event_buffer_reserve(struct sl__event_buffer *events, size_t n_steps,
			     struct sl__arena *arena);

#endif
