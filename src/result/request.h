/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - what was asked for, kept with its result. */
#ifndef SL_REQUEST_H
#define SL_REQUEST_H

#include "base/arena.h"
#include "sleuth/profiling.h"

/* A copy of what 'plan' (NULL: defaults) says of 'model', or of one layer of it
 * (NULL: all of it). */
enum sl_status sl__request_from_options(struct sl_request *out,
					const char *model, const char *layer,
					const struct sl_plan_options *plan,
					struct sl__arena *arena,
					struct sl_error *err) SL_CHECKED;

#endif
