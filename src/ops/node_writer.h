/* SPDX-License-Identifier: Apache-2.0 */
/* node_writer.h - appends nodes to a graph under construction. */
#ifndef SL_NODE_WRITER_H
#define SL_NODE_WRITER_H

#include "graph/graph_construction.h"
#include "graph/op_rules.h"
#include "graph/shapes.h"
#include "sleuth/inspecting.h"

enum { SL__NODE_WRITER_ATTRIBUTES = 24 };

/*
 * Invariants: 'shapes' knows the types of all values of 'graph'; no size that
 * a function below reads is a symbol, which is a failure.  The first failure
 * sticks: nothing is added after it, and numbers that are returned are those of
 * a value that exists and mean nothing.
 */
struct sl__node_writer {
	struct sl_graph *graph;
	struct sl__shapes *shapes;
	enum sl_phase phase; /* of the nodes that are added */
	uint32_t forward;    /* the node of the model that they belong to, or
				SL__NONE */
	const char *name;    /* of that node, or ""; theirs begin with it */
	struct sl__attribute attributes[SL__NODE_WRITER_ATTRIBUTES];
	size_t n_attributes; /* of the next node */
	enum sl_status rc;
	struct sl_error *err;
};

void sl__node_writer_fail(struct sl__node_writer *w, enum sl_status status,
			  const char *text);

/* Attributes of the next node that is added; names and strings are literals,
 * numbers are copied.  The last: those of another node. */
void sl__node_writer_set_int(struct sl__node_writer *w, const char *name,
			     int64_t value);
void sl__node_writer_set_ints(struct sl__node_writer *w, const char *name,
			      const int64_t *values, size_t n);
void sl__node_writer_set_float(struct sl__node_writer *w, const char *name,
			       double value);
void sl__node_writer_set_string(struct sl__node_writer *w, const char *name,
				const char *value);
void sl__node_writer_copy_attributes(struct sl__node_writer *w,
				     const struct sl__node *from);

/*
 * Adds a node of that operator and finds the types of its outputs, which are
 * new activations.  Returns the first.  The second leaves out the outputs that
 * are SL__NONE and puts the new values in place of the others.
 */
uint32_t sl__node_writer_add(struct sl__node_writer *w, enum sl__op_id op,
			     const uint32_t *inputs, size_t n_inputs);
void sl__node_writer_add_outputs(struct sl__node_writer *w, enum sl__op_id op,
				 const uint32_t *inputs, size_t n_inputs,
				 uint32_t *outputs, size_t n_outputs);
#define SL__ADD_NODE(w, op, ...)                                               \
	sl__node_writer_add((w), SL__OP_##op, (const uint32_t[]){__VA_ARGS__}, \
			    sizeof((const uint32_t[]){__VA_ARGS__}) /          \
				    sizeof(uint32_t))

/* Output k of a node that is there, made where the node leaves it out. */
uint32_t sl__node_writer_output(struct sl__node_writer *w, uint32_t node,
				uint32_t k);

/* A new input of the model of that type, kind INPUT or STATE. */
uint32_t sl__node_writer_add_input(struct sl__node_writer *w, const char *name,
				   const struct sl__type *type,
				   enum sl_value_kind kind);

/* Constants: integers [n], and one number of a type. */
uint32_t sl__node_writer_integers(struct sl__node_writer *w,
				  const int64_t *values, size_t n);
uint32_t sl__node_writer_scalar(struct sl__node_writer *w, enum sl_dtype dtype,
				double value);

/* The type of a value, all of whose sizes are known; rank 0 after a failure. */
struct sl__type sl__node_writer_type(struct sl__node_writer *w, uint32_t value);

/* The value in other sizes: of a list, or those of another value; itself where
 * it has them.  All elements 'number', like another value. */
uint32_t sl__node_writer_reshape(struct sl__node_writer *w, uint32_t value,
				 const int64_t *dims, int rank);
uint32_t sl__node_writer_reshape_like(struct sl__node_writer *w, uint32_t value,
				      uint32_t like);
uint32_t sl__node_writer_fill_like(struct sl__node_writer *w, uint32_t like,
				   double number);

/* Undoes a broadcast: sums over the dimensions that 'like' lacks or has once.
 * And over the axes of a list, which stay as 1 or go. */
uint32_t sl__node_writer_sum_like(struct sl__node_writer *w, uint32_t value,
				  uint32_t like);
uint32_t sl__node_writer_sum(struct sl__node_writer *w, uint32_t value,
			     const int64_t *axes, size_t n, int is_kept);

/* Scaled by a number. */
uint32_t sl__node_writer_scale(struct sl__node_writer *w, uint32_t value,
			       double factor);

#endif
