/* SPDX-License-Identifier: Apache-2.0 */
/* graph_construction.h - graphs while they are put together. */
#ifndef SL_GRAPH_CONSTRUCTION_H
#define SL_GRAPH_CONSTRUCTION_H

#include "graph/graph.h"
#include "sleuth/models.h"

/*
 * Readers and builders make values, nodes and blocks in any order, then freeze
 * the graph, after which none of these may be called.  Everything is copied
 * into the graph's arena, except what a tensor points to.  A new graph has
 * block 0.
 */
enum sl_status sl__graph_new(struct sl_graph **out,
			     const struct sl_allocator *allocator,
			     struct sl_error *err) SL_CHECKED;

/* A new value of a block; its other fields are the caller's to set. */
enum sl_status sl__graph_add_value(struct sl_graph *graph, uint32_t *out,
				   const char *name, uint32_t block,
				   struct sl_error *err) SL_CHECKED;

/*
 * Appends a node to its block and makes it the producer of its outputs
 * (SL_E_DATA when one has a producer, or is an input, already).  'node' is
 * copied with its lists of inputs and outputs; name, domain, type and
 * attributes must live in the arena.  Sets 'op' from the table and, where
 * the name is empty, "TYPE_ID".  Constant nodes give their value's tensor.
 */
enum sl_status sl__graph_add_node(struct sl_graph *graph, uint32_t *out,
				  const struct sl__node *node,
				  struct sl_error *err) SL_CHECKED;

enum sl_status sl__graph_add_block(struct sl_graph *graph, uint32_t *out,
				   const char *name,
				   struct sl_error *err) SL_CHECKED;

/* The lists of a block, copied. */
enum sl_status sl__graph_set_inputs(struct sl_graph *graph, uint32_t block,
				    const uint32_t *values, size_t n,
				    struct sl_error *err) SL_CHECKED;
enum sl_status sl__graph_set_outputs(struct sl_graph *graph, uint32_t block,
				     const uint32_t *values, size_t n,
				     struct sl_error *err) SL_CHECKED;

/*
 * The symbol of that name, made where there is none; *size stands for it.  A
 * dimension without a name is known by its place, "x.0" for the first of x,
 * and is not the one that the model calls so.
 */
enum sl_status sl__graph_intern_symbol(struct sl_graph *graph, int64_t *size,
				       const char *name,
				       struct sl_error *err) SL_CHECKED;
enum sl_status sl__graph_intern_unnamed_symbol(struct sl_graph *graph,
					       int64_t *size, const char *place,
					       struct sl_error *err) SL_CHECKED;

/* All symbols of another graph, into one that has none. */
enum sl_status sl__graph_copy_symbols(struct sl_graph *graph,
				      const struct sl_graph *from,
				      struct sl_error *err) SL_CHECKED;

/* All of another graph into a new one, with the numbers that it has.  What
 * is stored is the other's, which must outlive the new one. */
enum sl_status sl__graph_copy(struct sl_graph *to, const struct sl_graph *from,
			      struct sl_error *err) SL_CHECKED;

/* Gives a parameter of such a copy another tensor; one that a Constant node
 * makes, through it. */
enum sl_status sl__graph_set_tensor(struct sl_graph *graph, uint32_t value,
				    const struct sl__tensor *tensor,
				    struct sl_error *err) SL_CHECKED;

/* Which symbol a name tells, graph->n_symbols for none: names go before
 * places.  And whether symbol i is the one that its name tells. */
size_t sl__graph_find_symbol(const struct sl_graph *graph, const char *name);
int sl__graph_symbol_owns_name(const struct sl_graph *graph, size_t i);

/*
 * The usual sizes of symbols travel as metadata, "sleuth.usual.NAME", so that
 * a model that was written is read back with them.  noting makes that
 * metadata, taking sets the symbols from it.
 */
enum sl_status sl__graph_store_default_sizes(struct sl_graph *graph,
					     struct sl_error *err) SL_CHECKED;
void sl__graph_load_default_sizes(struct sl_graph *graph);

/* Takes a mapping over; it is closed with the graph. */
enum sl_status sl__graph_add_mapping(struct sl_graph *graph,
				     const struct sl__file_mapping *mapping,
				     struct sl_error *err) SL_CHECKED;

/*
 * Verifies and freezes: every value that is used has a producer, a tensor or
 * is an input of its block or of one around it; arities are the table's; no
 * cycles.  Nodes that stand before what they use are put in order.  Finds
 * the states (verify.c).  SL_E_DATA names the node.
 */
enum sl_status sl__graph_freeze(struct sl_graph *graph,
				struct sl_error *err) SL_CHECKED;

/* Lets an attribute, whose kind is set, hold n integers, floats or strings. */
void sl__attribute_set_values(struct sl__attribute *a, const void *values,
			      size_t n);

#endif
