/* SPDX-License-Identifier: Apache-2.0 */
/* overhead.h - what it costs to watch a model run. */
#ifndef SL_OVERHEAD_H
#define SL_OVERHEAD_H

#include "sleuth/overheads.h"

/* Like sl_study_overhead(), by a clock in place of ticks; NULL: by ticks.
 * Scopes read ticks whatever the clock. */
enum sl_status sl__study_overhead(struct sl_overhead_study **out,
				  const struct sl_graph *graph,
				  const struct sl_profile_options *options,
				  const struct sl_clock *clock,
				  struct sl_error *err) SL_CHECKED;

#endif
