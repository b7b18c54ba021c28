/* SPDX-License-Identifier: Apache-2.0 */
/* fit_plan.h - the largest size that the engine can plan in given memory. */
#ifndef SL_FIT_PLAN_H
#define SL_FIT_PLAN_H

#include "base/arena.h"

/*
 * Replaces what the graph said of inference, in 'fit', by what dry plans say:
 * the largest size, and the figures at it.  'first' is the smallest size that
 * the model takes.  Where the model cannot be planned, or nothing is to be
 * found by it, the graph's figures stay and fit->unplanned says why; fails for
 * want of memory in this process only.
 */
enum sl_status sl__fit_plan(struct sl_fit *fit, const struct sl_graph *graph,
			    const struct sl_fit_options *options, int64_t first,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

#endif
