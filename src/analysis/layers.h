/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - the nodes of a model as a report lists them. */
#ifndef SL_LAYERS_H
#define SL_LAYERS_H

#include "analysis/survey.h"
#include "graph/module_path.h"

/*
 * Fills layers, their groups, coverage and the total cost of 'out'; all
 * storage is from 'arena'.  Constant nodes are no layers, and neither are
 * nodes that do not run.
 */
enum sl_status sl__layers_of(struct sl_inspection *out,
			     const struct sl__survey *survey,
			     struct sl__arena *arena,
			     struct sl_error *err) SL_CHECKED;

#endif
