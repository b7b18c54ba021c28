/* SPDX-License-Identifier: Apache-2.0 */
/* calm_pairs.h - by how much one of two takes longer, of the calmer rounds. */
#ifndef SL_CALM_PAIRS_H
#define SL_CALM_PAIRS_H

#include "stats/thinned.h"

/*
 * Rounds of two that take turns.  What disturbs a round makes it longer in
 * all, whichever of the two it hits: the rounds that took least in all have
 * the clean differences, and to choose them so favours neither.
 */
struct sl__calm_pairs {
	struct sl__thinned more;  /* second minus first */
	struct sl__thinned total; /* first plus second, of the same rounds */
};

/* Storage for cap rounds; 0, or 1 when out of memory. */
int sl__calm_pairs_init(struct sl__calm_pairs *p, size_t cap,
			struct sl__arena *arena);
void sl__calm_pairs_add(struct sl__calm_pairs *p, double first, double second);

/*
 * Differences of the half of rounds that took least, but six where there are
 * so many: of fewer a median has no interval.  Fills calm[], room for
 * p->more.n, sorted, and returns how many.
 */
size_t sl__calm_pairs_differences(const struct sl__calm_pairs *p, double *calm);

/* Their median with its interval (95 %); calm[] is scratch, as above. */
struct sl_estimate sl__calm_pairs_median(const struct sl__calm_pairs *p,
					 double *calm);

#endif
