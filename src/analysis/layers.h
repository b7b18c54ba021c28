/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - the nodes of a model as a report lists them. */
#ifndef SL_LAYERS_H
#define SL_LAYERS_H

#include "analysis/static_analysis.h"
#include "cost/parameters.h"
#include "graph/module_path.h"

/*
 * Fills layers, their groups, coverage and the total cost of 'out'; all
 * storage is from 'arena'.  Constant nodes are no layers, and neither are
 * nodes that do not run.
 */
enum sl_status sl__inspection_fill_layers(
	struct sl_inspection *out, const struct sl__static_analysis *survey,
	struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

/*
 * A row per weight, in the order of the file.  Reads every number twice, in
 * pieces, and lets their pages go.  Numbers that cannot be had are absent
 * with the reason.
 */
enum sl_status sl__weight_rows_compute(const struct sl_weight_row **out,
				       size_t *n, const struct sl_graph *graph,
				       const struct sl__roles *roles,
				       struct sl__arena *arena,
				       struct sl_error *err) SL_CHECKED;

/* One tensor. */
void sl__weight_row_compute(struct sl_weight_row *out,
			    const struct sl__tensor *tensor);

#endif
