/* SPDX-License-Identifier: Apache-2.0 */
/* warmup.h - where the steady state of a series begins. */
#ifndef SL_WARMUP_H
#define SL_WARMUP_H

#include "arena.h"

struct sl__warmup {
	enum sl_warmup_class class_;
	size_t steady_from; /* index of the first steady value */
};

/*
 * Classifies x[0..n-1] (slot medians in order): PELT segments; the steady
 * state is the longest run of segments at the end whose means lie within
 * max(1 %, 2 * MADN of the final segment) of the final segment's mean.
 * Flat when that is everything; warming when what came before was slower on
 * the whole, slowing when faster; none when the steady state is shorter than
 * a quarter of the series (it never settled); unknown for n < 8.
 */
enum sl_status sl__warmup_classify(struct sl__warmup *out, const double *x,
				   size_t n, struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

#endif
