/* SPDX-License-Identifier: Apache-2.0 */
/* timer.h - timing calls of a function with a calibrated clock. */
#ifndef SL_TIMER_H
#define SL_TIMER_H

#include "base/clock.h"

/*
 * Invariants: cost is what one reading of 'clock' takes and is taken off
 * every stretch.  Nothing here allocates.  One thread at a time.
 */
struct sl__timer {
	const struct sl_clock *clock;
	struct sl__clock_cost cost;
};

/* Calibrates; NULL means the monotonic clock. */
void sl__timer_init(struct sl__timer *timer, const struct sl_clock *clock);

/* A stretch shorter than this cannot be timed: 100 readings' worth. */
double sl__timer_shortest_ns(const struct sl__timer *timer);

/*
 * Calls fn(ctx) n_calls times in one stretch and sets *took_ns to the time
 * of all of them together, at least 0.  Returns 0, or what the first failing
 * call returned: no call follows it and *took_ns is not set.
 */
int sl__timer_time_calls(const struct sl__timer *timer, sl_function *fn,
			 void *ctx, size_t n_calls, double *took_ns);

/* SL_E_MEASURE: what a call of it returned. */
enum sl_status sl__timer_set_error(const struct sl_candidate *what,
				   int returned, struct sl_error *err);

/*
 * How many calls make a stretch of at least target_ns: doubles until two
 * stretches in a row are long enough, or one is ten times that.  *call_ns is
 * the time of one call in the shorter of the two.  Returns 0, or what a failing
 * call returned.
 */
int sl__timer_choose_n_calls(const struct sl__timer *timer,
			     const struct sl_candidate *what, double target_ns,
			     size_t *n_calls, double *call_ns);

#endif
