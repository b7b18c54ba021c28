/* SPDX-License-Identifier: Apache-2.0 */
/* run_figures.h - what all runs of a command took, none left out. */
#ifndef SL_RUN_FIGURES_H
#define SL_RUN_FIGURES_H

#include "sleuth/measuring.h"

/* Nanoseconds. */
struct sl__run_time_statistics {
	double mean, std, median, min, max, user, system;
};

/* SL_E_NOMEM where the times cannot be sorted. */
enum sl_status sl__run_time_statistics_of(struct sl__run_time_statistics *out,
					  const struct sl_bench_result *r,
					  struct sl_error *err) SL_CHECKED;

#endif
