/* SPDX-License-Identifier: Apache-2.0 */
/* plateau.h - the levels of a memory curve, found and named. */
#ifndef SL_PLATEAU_H
#define SL_PLATEAU_H

#include "base/arena.h"
#include "sleuth/machines.h"

enum { SL__MAX_PLATEAUS = 8 };

/* Points first to last of a curve, both included. */
struct sl__plateau {
	size_t first, last;
	double value;        /* median over the points */
	enum sl_level level; /* set by sl__plateaus_name() */
};

struct sl__plateaus {
	struct sl__plateau at[SL__MAX_PLATEAUS];
	size_t n;
};

/*
 * Cuts values[0..n-1], all above zero and taken at sizes that grow by a
 * constant factor, into plateaus: change points of the logarithm, levels
 * within 15 % of their neighbour joined, short stretches on the way from one
 * level to the next left out.
 */
enum sl_status sl__plateaus_find(struct sl__plateaus *out, const double *values,
				 size_t n, struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

/*
 * Names plateaus, if there is more than one.  The last one is DRAM where the
 * curve goes on to memory, twice the last cache.  The others take the names of the caches in order
 * when there are as many, else of the cache whose capacity for one of
 * n_threads is nearest to where they end, from a sixth to twice of it; what
 * fits nothing, or what a longer one fits, has none.  The caches only lend
 * their names: the plateaus themselves are measured.
 */
void sl__plateaus_name(struct sl__plateaus *plateaus, const size_t *sizes_bytes,
		       const struct sl_cache *caches, size_t n_caches,
		       size_t n_threads, int to_memory);

/* Whether a set of this size, touched by each of n_threads, is at least twice
 * the share of any cache. */
int sl__size_exceeds_caches(size_t size_bytes, const struct sl_cache *caches,
			    size_t n_caches, size_t n_threads);

#endif
