/* SPDX-License-Identifier: Apache-2.0 */
/* micro_series.h - verdicts of an operator over sizes, as crossovers see them.
 */
#ifndef SL_MICRO_SERIES_H
#define SL_MICRO_SERIES_H

#include "sleuth/microbenchmarks.h"

/* "at the L2 roof", "overhead"; "-" and "disturbed" for unknown. */
const char *sl__micro_bottleneck_text(const struct sl_micro_point *point);

/* What the crossover is from or to, at one of its two points: a verdict,
 * "compute" or "memory", a level. */
const char *
sl__micro_crossover_regime_text(const struct sl_micro_series *series,
				const struct sl_micro_crossover *crossover,
				size_t point);

/* "fewer, larger calls"; "-" for NONE. */
const char *sl__micro_focus_advice_text(enum sl_micro_focus focus);

/* The point whose verdict stands for that of a measured one as crossovers see
 * it: itself, or the one before where it is an exception. */
size_t sl__micro_smoothed_verdict_source(const struct sl_micro_series *series,
					 size_t point);

/* Whether two measured points have the same verdict, as crossovers see it. */
int sl__micro_same_smoothed_verdict(const struct sl_micro_series *series,
				    size_t a, size_t b);

/* The next measured point from i on; n_points where there is none. */
size_t sl__micro_next_measured_point(const struct sl_micro_series *series,
				     size_t i);

/*
 * The bytes a second at the largest size, over those at the next smaller one
 * whose data lie nearer and which is no overhead; NaN: there is none.  Where
 * it is about 1, where data lie does not matter.  A size must be measured.
 */
double
sl__micro_large_to_small_bandwidth_ratio(const struct sl_micro_series *series);

#endif
