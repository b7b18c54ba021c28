/* SPDX-License-Identifier: Apache-2.0 */
/* asked_operation.h - the operation that a profile is asked about. */
#ifndef SL_ASKED_OPERATION_H
#define SL_ASKED_OPERATION_H

#include "base/arena.h"
#include "sleuth/profiling.h"

/* By node, whether it is the one called 'name' or in the module of that path;
 * from 'arena'.  SL_E_USAGE for neither. */
enum sl_status sl__asked_nodes(unsigned char **out,
			       const struct sl_graph *graph, const char *name,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

/* Names in 'profile' the longest operation that does work of these nodes and
 * returns its place in by_time; SIZE_MAX where is_asked is NULL or the plan has
 * no step for them. */
size_t sl__asked_operation(struct sl_profile *profile,
			   const struct sl_plan *plan,
			   const unsigned char *is_asked);

#endif
