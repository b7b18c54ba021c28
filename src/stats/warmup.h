/* SPDX-License-Identifier: Apache-2.0 */
/* warmup.h - where the steady state of a series begins. */
#ifndef SL_WARMUP_H
#define SL_WARMUP_H

#include "base/arena.h"

struct sl__warmup {
	enum sl_warmup_class class_;
	size_t steady_from; /* index of the first steady value; 0 for
			       "none" and "unknown" */
};

/*
 * Classifies x[0..n-1] (slot medians in order).  Single spikes are drawn in
 * first: a value goes no further from the median of itself and its two
 * neighbours on either side than 3 noise scales, except the first two, where
 * warming up looks like a spike.  Then sl__pelt().  The level is the mean of
 * the last segment that holds a tenth of the series (a shorter one at the
 * end is a burst; if none does, of the last); a segment is level when its
 * mean is within max(1 %, 2 * MADN of that segment) of it.  The steady state
 * is the longest tail that begins with a level segment and is level for nine
 * tenths of its length.
 * Flat when that is everything; warming when what came before was slower on
 * the whole, slowing when faster; none when the steady state is shorter than
 * a quarter of the series (it never settled); unknown for n < 8.
 */
enum sl_status sl__warmup_classify(struct sl__warmup *out, const double *x,
				   size_t n, struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

#endif
