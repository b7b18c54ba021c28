/* SPDX-License-Identifier: Apache-2.0 */
/* thinned.h - samples of a run of any length in fixed memory. */
#ifndef SL_THINNED_H
#define SL_THINNED_H

#include "base/arena.h"

/*
 * When all room is taken every second sample goes, and only every 'stride'-th
 * is kept from then on.  min, max, sum and n_seen are over all of them.
 */
struct sl__thinned {
	double *x;
	size_t n, cap; /* cap is even */
	size_t stride, n_seen;
	double min, max, sum;
};

/* Storage for cap samples; 0, or 1 when out of memory. */
int sl__thinned_init(struct sl__thinned *t, size_t cap,
		     struct sl__arena *arena);
void sl__thinned_add(struct sl__thinned *t, double x);

/*
 * The median of the last n kept, n at most t->n, with its interval (95 %).
 * sorted[] is scratch, as long.
 */
struct sl_estimate sl__thinned_median(const struct sl__thinned *t, size_t n,
				      double *sorted);

#endif
