/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - reading time, and what a reading costs. */
#ifndef SL_CLOCK_H
#define SL_CLOCK_H

#include "sleuth/measuring.h"

/* The monotonic clock of the system. */
const struct sl_clock *sl__clock_monotonic(void);

/* Nanoseconds of 'clock'; NULL means the monotonic one. */
uint64_t sl__clock_now_ns(const struct sl_clock *clock);

/* CPU time of the calling thread; about 0.5 us a reading. */
uint64_t sl__clock_thread_cpu_ns(void);

/* What calibration found; both in nanoseconds and above zero. */
struct sl__clock_cost {
	double reading_ns;    /* median cost of one reading */
	double resolution_ns; /* smallest step above zero that was seen */
};

/* Reads 'clock' a few thousand times: under 1 ms with a vDSO clock. */
void sl__clock_calibrate(struct sl__clock_cost *out,
			 const struct sl_clock *clock);

/*
 * Units of 'counter', another clock, in a nanosecond of 'clock'; takes some
 * 2 ms of the latter.  A thread preempted meanwhile does not falsify it.
 */
double sl__clock_rate(const struct sl_clock *counter,
		      const struct sl_clock *clock);

/*
 * Ticks: the cheapest counter that runs at a constant rate on all cores (the
 * invariant time stamp counter, about 10 ns a reading), or the monotonic
 * clock where there is none.  sl__ticks_per_ns() measures the rate once per
 * process (about 2 ms) and must have been called, by any thread, before the
 * first sl__ticks().
 */
uint64_t sl__ticks(void);
double sl__ticks_per_ns(void);

/* Ticks, or the nanoseconds of a clock that takes their place; NULL: none
 * does. */
uint64_t sl__ticks_read(const struct sl_clock *clock);

/* What makes nanoseconds of ticks. */
struct sl__ticker {
	const struct sl_clock *clock; /* that takes their place, or NULL */
	double per_ns;
	double reading_ns; /* what a reading costs: the shortest of many runs of
			      readings, some 50 us in all */
};

void sl__ticker_init(struct sl__ticker *ticker, const struct sl_clock *clock);

/* Nanoseconds between two readings, one of which is included. */
double sl__ticker_span_ns(const struct sl__ticker *ticker, uint64_t from,
			  uint64_t to);

#endif
