/* SPDX-License-Identifier: Apache-2.0 */
/* operation_graph.h - which operations use what others make. */
#ifndef SL_OPERATION_GRAPH_H
#define SL_OPERATION_GRAPH_H

#include "engine/program.h"
#include "sleuth/profiling.h"

/*
 * Fills edges and n_edges from the buffers that steps name; what a step that
 * looks at sizes while it runs takes from others is not known.  Storage is from
 * 'arena'.
 */
enum sl_status sl__operation_graph(struct sl_profile *out,
				   const struct sl__program *program,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

#endif
