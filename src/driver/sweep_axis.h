/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_axis.h - what a sweep changes: sizes, threads, names with widths. */
#ifndef SL_SWEEP_AXIS_H
#define SL_SWEEP_AXIS_H

#include "base/arena.h"
#include "sleuth/sweeping.h"

/* The unit of the rate whose knee is looked for: what an iteration gets done.
 */
enum sl_rate_unit sl__axis_rate_unit(enum sl_axis axis);

/* SL_E_DATA where the model has no such size, SL_E_USAGE where its name has no
 * width to change. */
enum sl_status sl__axis_check(enum sl_axis axis,
			      const struct sl_sweep_model *model,
			      struct sl_error *err) SL_CHECKED;

/* The name of a built-in model with layers of that width, from 'arena'. */
enum sl_status sl__axis_widened_model_name(const char **out, const char *name,
					   int64_t width,
					   struct sl__arena *arena,
					   struct sl_error *err) SL_CHECKED;

#endif
