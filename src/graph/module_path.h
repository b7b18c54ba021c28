/* SPDX-License-Identifier: Apache-2.0 */
/* module_path.h - where in a model a node stands, from its name. */
#ifndef SL_MODULE_PATH_H
#define SL_MODULE_PATH_H

#include "graph/graph.h"

/*
 * The module path in a node's name: "/layer1/layer1.0/conv1/Conv" gives
 * "layer1/layer1.0/conv1", "layer1.0.conv1" gives "layer1/0/conv1"; "" where
 * the name has no parts.  NULL: out of memory.
 */
const char *sl__node_module_path(struct sl__arena *arena,
				 const struct sl__node *node);

/* Whether a path is that module or lies in it; in "" lies nothing. */
int sl__module_path_is_within(const char *path, const char *module);

#endif
