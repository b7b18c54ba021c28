/* SPDX-License-Identifier: Apache-2.0 */
/* execution_order.h - the nodes of all blocks in the order they run. */
#ifndef SL_EXECUTION_ORDER_H
#define SL_EXECUTION_ORDER_H

#include "graph/graph.h"
#include "sleuth/models.h"

/*
 * A node with bodies (If, Loop, Scan) is two visits, with the nodes of its
 * bodies between them, branches one after the other; any other node is one.
 */
enum sl__node_visit_kind {
	SL__NODE_VISIT_RUN = 0,
	SL__NODE_VISIT_ENTER,
	SL__NODE_VISIT_LEAVE
};

struct sl__node_visit {
	uint32_t node;
	enum sl__node_visit_kind kind;
};

/* Blocks that no node owns do not run and have no steps. */
struct sl__execution_order {
	const struct sl_graph *graph;
	struct sl__node_visit *rows;
	size_t n;
};

enum sl_status sl__execution_order_find(struct sl__execution_order *out,
					const struct sl_graph *graph,
					struct sl__arena *arena,
					struct sl_error *err) SL_CHECKED;

/*
 * How values pass into and out of a body: the owner's input that the body's
 * input i starts as, the owner's output that the body's output k becomes, and
 * the body's input that output k becomes in the next turn.  SL__NONE where
 * there is none.
 */
uint32_t sl__body_owner_input(const struct sl_graph *graph, uint32_t block,
			      size_t i);
uint32_t sl__body_owner_output(const struct sl_graph *graph, uint32_t block,
			       size_t k);
uint32_t sl__body_feedback_input(const struct sl_graph *graph, uint32_t block,
				 size_t k);

/* The block of attribute i of a node where it is a body; else SL__NONE. */
uint32_t sl__node_body_by_index(const struct sl_graph *graph, uint32_t node,
				size_t i);

/* Which nodes use a value: nodes[first[v]] to nodes[first[v + 1] - 1]. */
struct sl__value_users {
	uint32_t *first; /* n_values + 1 */
	uint32_t *nodes;
};

enum sl_status sl__value_users_find(struct sl__value_users *out,
				    const struct sl_graph *graph,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

#endif
