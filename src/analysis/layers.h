/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - the nodes of a model as a report lists them. */
#ifndef SL_LAYERS_H
#define SL_LAYERS_H

#include "survey.h"

/*
 * Fills layers, their groups, coverage and the total cost of 'out'; all
 * storage is from 'arena'.  Constant nodes are no layers, and neither are
 * nodes that do not run.
 */
enum sl_status sl__layers_of(struct sl_inspection *out,
			     const struct sl__survey *survey,
			     struct sl__arena *arena,
			     struct sl_error *err) SL_CHECKED;

/*
 * The module path in a node's name: "/layer1/layer1.0/conv1/Conv" gives
 * "layer1/layer1.0/conv1", "layer1.0.conv1" gives "layer1/0/conv1"; "" where
 * the name has no parts.  NULL: out of memory.
 */
const char *sl__layer_path(struct sl__arena *arena,
			   const struct sl__node *node);

#endif
