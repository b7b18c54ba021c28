/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - the nodes of all blocks in the order they run. */
#ifndef SL_STEPS_H
#define SL_STEPS_H

#include "graph/graph.h"

/*
 * A node with bodies (If, Loop, Scan) is two visits, with the nodes of its
 * bodies between them, branches one after the other; any other node is one.
 */
enum sl__step_kind { SL__STEP_RUN = 0, SL__STEP_ENTER, SL__STEP_LEAVE };

struct sl__visit {
	uint32_t node;
	enum sl__step_kind kind;
};

/* Blocks that no node owns do not run and have no steps. */
struct sl__steps {
	const struct sl_graph *graph;
	struct sl__visit *rows;
	size_t n;
};

enum sl_status sl__steps_of(struct sl__steps *out, const struct sl_graph *graph,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

/*
 * How values pass into and out of a body: the owner's input that the body's
 * input i starts as, the owner's output that the body's output k becomes, and
 * the body's input that output k becomes in the next turn.  SL__NONE where
 * there is none.
 */
uint32_t sl__body_source(const struct sl_graph *graph, uint32_t block,
			 size_t i);
uint32_t sl__body_sink(const struct sl_graph *graph, uint32_t block, size_t k);
uint32_t sl__body_again(const struct sl_graph *graph, uint32_t block, size_t k);

/* The block of attribute i of a node where it is a body; else SL__NONE. */
uint32_t sl__node_body(const struct sl_graph *graph, uint32_t node, size_t i);

/* Which nodes use a value: nodes[first[v]] to nodes[first[v + 1] - 1]. */
struct sl__users {
	uint32_t *first; /* n_values + 1 */
	uint32_t *nodes;
};

enum sl_status sl__users_of(struct sl__users *out, const struct sl_graph *graph,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

#endif
