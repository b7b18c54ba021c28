/* SPDX-License-Identifier: Apache-2.0 */
/* update_order.h - when a training step updates its parameters. */
#ifndef SL_UPDATE_ORDER_H
#define SL_UPDATE_ORDER_H

#include "graph/graph.h"

/*
 * Moves each node of the update phase to where all that it reads is there: the
 * gradient, the loss, and nobody reads the old parameter any more.  Its gradient
 * is not kept until the end then.  Other nodes keep their order; clipping, which
 * reads all gradients, keeps updates at the end, and a graph with bodies stays
 * as it is.
 */
enum sl_status sl__updates_move_early(struct sl_graph *graph, uint32_t loss,
				      struct sl_error *err) SL_CHECKED;

#endif
