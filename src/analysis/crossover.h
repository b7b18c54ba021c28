/* SPDX-License-Identifier: Apache-2.0 */
/* crossover.h - what bounds an operation at each size, and where that changes.
 */
#ifndef SL_CROSSOVER_H
#define SL_CROSSOVER_H

#include "base/arena.h"
#include "result/micro_series.h"

/* From this share of a roof on an operation is at it. */
#define SL__MICRO_AT_ROOF 0.7
/* What a crossover towards the roof is said to have reached. */
#define SL__MICRO_REACHED 0.8
/* Rates that differ by no more than this are the same. */
#define SL__MICRO_SAME 0.85
/* So many empty steps are overhead. */
#define SL__MICRO_STEPS 3.0

/*
 * Fills the shares of the roof, class and is_sure from median_ns,
 * fastest_ns, n_iterations, disturbance, level, level_ns, bound_ns and roof.
 * step_ns may be NaN: then nothing is overhead.  Where nearer memory serves a
 * part of the bytes, so that the roof is that memory's, and the time is within
 * reach of the bandwidth of where they lie, the roof becomes the latter's.
 */
void sl__micro_classify(struct sl_micro_point *point, double step_ns);

/*
 * Fills reached, largest, n_measured and crossovers of a series whose points
 * are classified.  A verdict that holds at one size alone, between two sizes
 * with another one, is no crossover: list[] has SL__MICRO_CROSSOVERS_MAX
 * places.
 */
enum { SL__MICRO_CROSSOVERS_MAX = 3 * 64 };
void sl__micro_crossovers(struct sl_micro_series *series,
			  struct sl_micro_crossover *list);

/* What to optimise at the largest size of a series whose points are
 * classified. */
enum sl_micro_focus
sl__micro_optimization_focus(const struct sl_micro_series *series);

/* Finds most and least efficient, at the largest sizes. */
void sl__micro_find_best_and_worst(struct sl_microbench *out);

#endif
