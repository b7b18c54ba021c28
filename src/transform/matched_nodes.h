/* SPDX-License-Identifier: Apache-2.0 */
/* matched_nodes.h - the nodes that a pattern has been found in. */
#ifndef SL_MATCHED_NODES_H
#define SL_MATCHED_NODES_H

#include "transform/rewrite.h"

/*
 * Nodes in the order in which they were met, each once.  A matcher that goes
 * down a wrong path sets n back to what it was.
 */
struct sl__matched_nodes {
	struct sl__rewrite *rw;
	uint32_t nodes[SL__NODE_BUILDER_COVERS];
	size_t n;
};

/* Nodes beyond the room there is are left out: they stay in the graph. */
void sl__matched_add(struct sl__matched_nodes *matched, uint32_t node);

/*
 * The node that is being made covers those of the matched nodes that nobody
 * needs when it is there: every output is its own, or used by others of these
 * only. Its inputs and outputs have been said.
 */
void sl__matched_cover_unused(const struct sl__matched_nodes *matched,
			      struct sl__node_builder *m);

/* The operand i of a node, seen through what changes nothing: Identity,
 * casts to the same type, Dropout.  They join the matched nodes. */
uint32_t sl__matched_input_value(struct sl__matched_nodes *matched,
				 uint32_t node, size_t i);
uint32_t sl__matched_skip_identities(struct sl__matched_nodes *matched,
				     uint32_t value);

/* The node that makes a value, when it is of that operator: it joins the
 * matched nodes; else SL__NONE. */
uint32_t sl__matched_producer(struct sl__matched_nodes *matched, uint32_t value,
			      enum sl__op_id op);

#endif
