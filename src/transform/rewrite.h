/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.h - a graph on its way to becoming another one. */
#ifndef SL_REWRITE_H
#define SL_REWRITE_H

#include "graph/graph_construction.h"
#include "graph/op_rules.h"
#include "graph/shapes.h"
#include "transform/node_builder.h"

/* A node while it may still change.  'covers' are nodes of the original graph
 * that it does the work of, in no order. */
struct sl__mutable_node {
	struct sl__node node; /* its lists of inputs and outputs may be
				 written by rewrite.c only */
	const uint32_t *covers;
	size_t n_covers;
	int is_gone;
};

struct sl__value_uses {
	uint32_t *nodes; /* one entry per input that it is */
	uint32_t n, cap;
};

/*
 * Invariants: values and nodes keep the numbers they have in 'from'; new ones
 * come after them.  The branch that an If is known to take lies in the If's
 * own block and the If is gone, and so is the other branch.  types[],
 * producers[] and uses[] are always right.  A value is pinned when something
 * other than a node of its own block needs it: outputs of the model and of
 * bodies, captures of bodies.  A pinned value may be produced by another
 * node, but never disappears.
 */
struct sl__rewrite {
	const struct sl_graph *from;
	struct sl_graph *to; /* values only, until the end; its arena serves
				attributes, names and constants */
	struct sl__mutable_node *nodes;
	size_t n_nodes, cap_nodes;
	struct sl__type *types;
	uint32_t *producers;
	struct sl__value_uses *uses;
	unsigned char *is_pinned;
	size_t cap_values;
	uint32_t *homes; /* by block of 'from': where its nodes lie now, see
			    rewrite_blocks.h */
	const struct sl__shapes
		*shapes; /* of 'from': contents that are known */
	struct sl_allocator allocator;
	enum sl_status rc;    /* of the first failure */
	struct sl_error *err; /* what it was */
};

/*
 * The first failure sticks: functions that change a rewrite do nothing after
 * it.  Numbers that they return then are those of a value or node that exists
 * and mean nothing; pointers are NULL.  A pass that fails ends early or goes
 * on in vain, and whoever ran it looks at 'rc'.
 */

/* 'graph' and 'shapes' outlive the rewrite, 'graph' the new graph too; so does
 * 'err' the rewrite. */
enum sl_status sl__rewrite_new(struct sl__rewrite **out,
			       const struct sl_graph *graph,
			       const struct sl__shapes *shapes,
			       const struct sl_allocator *allocator,
			       struct sl_error *err) SL_CHECKED;
void sl__rewrite_free(struct sl__rewrite *rw); /* NULL is fine */

/* The new graph, frozen, and of each of its nodes the original ones that it
 * covers.  They live in the graph's arena. */
struct sl__covered_nodes {
	const uint32_t *nodes;
	size_t n;
};
enum sl_status
sl__rewrite_finish(struct sl__rewrite *rw, struct sl_graph **out,
		   const struct sl__covered_nodes **covers) SL_CHECKED;

/* NULL for SL__NONE and nodes that are gone; inputs that a node leaves out or
 * does not have are SL__NONE; the first output of a node that has one. */
const struct sl__node *sl__rewrite_node(const struct sl__rewrite *rw,
					uint32_t node);
uint32_t sl__rewrite_input(const struct sl__rewrite *rw, uint32_t node,
			   size_t i);
uint32_t sl__rewrite_output(const struct sl__rewrite *rw, uint32_t node);
int sl__rewrite_node_is_op(const struct sl__rewrite *rw, uint32_t node,
			   enum sl__op_id op);

/* The node that makes a value, and the only one that uses it (once, and the
 * value is not pinned); SL__NONE. */
uint32_t sl__rewrite_producer(const struct sl__rewrite *rw, uint32_t value);
uint32_t sl__rewrite_only_user(const struct sl__rewrite *rw, uint32_t value);

/* All nodes, gone ones included, in the order that the original ones had:
 * new ones stand where the last of what they cover stood, or behind what they
 * use.  In to's arena. */
uint32_t *sl__rewrite_node_order(struct sl__rewrite *rw);

/* The numbers of a constant; NULL for what is none and for absent ones. */
const struct sl__tensor *sl__tensor_constant_read(const struct sl__rewrite *rw,
						  uint32_t value);

/* Whether a value is a constant of one element (any rank), and that. */
int sl__scalar_constant_read(const struct sl__rewrite *rw, uint32_t value,
			     double *out);

/* Zeroed storage in to's arena; NULL: a failure. */
void *sl__rewrite_alloc(struct sl__rewrite *rw, size_t n, size_t n_bytes);

/* Likewise for 'cap' elements, the first n of which are those of the list. */
void *sl__rewrite_copy_list(struct sl__rewrite *rw, const void *list, size_t n,
			    size_t cap, size_t n_bytes);

/* Notes that the model cannot be rewritten, unless something failed before. */
void sl__rewrite_fail(struct sl__rewrite *rw, enum sl_status status,
		      const char *text);

/*
 * Adds a node: domain "" or "sleuth", type, version, inputs, outputs and
 * attributes (in to's arena) of 'node' count.  Its outputs have no producer
 * or one that is gone.  It covers what covers[] say: nodes of the rewrite,
 * gone ones included.
 */
uint32_t sl__rewrite_add_node(struct sl__rewrite *rw,
			      const struct sl__node *node,
			      const uint32_t *covers, size_t n_covers);

/* Takes a node out; its outputs have no producer then. */
void sl__rewrite_remove_node(struct sl__rewrite *rw, uint32_t node);

/* Whoever uses 'old' uses 'new' from now on.  'old' is not pinned. */
void sl__rewrite_replace_value(struct sl__rewrite *rw, uint32_t old,
			       uint32_t new);

/* 'node' covers also what 'other' covers. */
void sl__rewrite_add_covered(struct sl__rewrite *rw, uint32_t node,
			     uint32_t other);

#endif
