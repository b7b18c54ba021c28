/* SPDX-License-Identifier: Apache-2.0 */
/* cache_ladder.h - the caches that a process gets, found from two curves. */
#ifndef SL_CACHE_LADDER_H
#define SL_CACHE_LADDER_H

#include "base/arena.h"
#include "sleuth/machines.h"

enum { SL__LADDER_STEPS_MOST = 6 };

/* From the first cache outwards. */
struct sl__found_caches {
	struct sl_found_cache at[SL__LADDER_STEPS_MOST];
	size_t n; /* 0: the ladder has no step */
};

/*
 * Time per access over working-set size, measured n_repeats times at the same
 * sizes, which grow by a constant factor of 1.2 to 1.5.  All above 0.
 */
struct sl__ladder_curve {
	const double *sizes_bytes; /* [n_sizes], ascending */
	size_t n_sizes, n_repeats;
	const double *costs; /* [n_repeats][n_sizes] */
};

/*
 * Finds the caches from the latency of a random chase, and how far each serves
 * a load stream, whose cost is the time of a byte; 'stream' may be NULL.  What
 * the system says of its caches plays no part.
 */
enum sl_status sl__cache_ladder_find(struct sl__found_caches *out,
				     const struct sl__ladder_curve *latency,
				     const struct sl__ladder_curve *stream,
				     struct sl__arena *arena,
				     struct sl_error *err) SL_CHECKED;

#endif
