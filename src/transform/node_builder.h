/* SPDX-License-Identifier: Apache-2.0 */
/* node_builder.h - nodes that passes make, part by part. */
#ifndef SL_NODE_BUILDER_H
#define SL_NODE_BUILDER_H

#include "graph/graph.h"

struct sl__rewrite; /* rewrite.h, which includes this */

enum {
	SL__NODE_BUILDER_INPUTS = 64,
	SL__NODE_BUILDER_OUTPUTS = 64,
	SL__NODE_BUILDER_ATTRIBUTES = 32,
	SL__NODE_BUILDER_COVERS = 64
};

/*
 * A node that is being made.  More inputs, outputs, attributes or covered nodes
 * than there is room for are a failure of the rewrite, SL_E_ABSENT.
 */
struct sl__node_builder {
	struct sl__rewrite *rw;
	struct sl__node node; /* its lists are those below */
	uint32_t inputs[SL__NODE_BUILDER_INPUTS];
	uint32_t outputs[SL__NODE_BUILDER_OUTPUTS];
	struct sl__attribute attributes[SL__NODE_BUILDER_ATTRIBUTES];
	uint32_t covers[SL__NODE_BUILDER_COVERS];
	size_t n_covers;
};

/* A node of that operator with nothing yet; domain and type are literals. */
void sl__node_builder_begin(struct sl__node_builder *m, struct sl__rewrite *rw,
			    const char *domain, const char *type, int version);

/* A node like that one: operator, version, name and attributes, neither
 * inputs nor outputs. */
void sl__node_builder_begin_like(struct sl__node_builder *m,
				 struct sl__rewrite *rw, uint32_t like);

/* The name and the attributes of another node, after sl__node_builder_begin().
 */
void sl__node_builder_copy_attributes(struct sl__node_builder *m,
				      uint32_t like);

/* Appends; SL__NONE is an input or output left out. */
void sl__node_builder_add_input(struct sl__node_builder *m, uint32_t value);
void sl__node_builder_add_inputs(struct sl__node_builder *m,
				 const uint32_t *values, size_t n);
void sl__node_builder_add_output(struct sl__node_builder *m, uint32_t value);

/* Sets an attribute, in place of one of that name.  Numbers are copied; names
 * and strings are literals. */
void sl__node_builder_set_int(struct sl__node_builder *m, const char *name,
			      int64_t value);
void sl__node_builder_set_ints(struct sl__node_builder *m, const char *name,
			       const int64_t *values, size_t n);
void sl__node_builder_set_float(struct sl__node_builder *m, const char *name,
				float value);
void sl__node_builder_set_floats(struct sl__node_builder *m, const char *name,
				 const float *values, size_t n);
void sl__node_builder_set_string(struct sl__node_builder *m, const char *name,
				 const char *value);
void sl__node_builder_set_strings(struct sl__node_builder *m, const char *name,
				  const char *const *values, size_t n);
void sl__node_builder_drop_attribute(struct sl__node_builder *m,
				     const char *name);

/* The new node does the work of that one, which goes when it is added.  Not
 * for nodes whose results are still used by others: those stay. */
void sl__node_builder_add_covered(struct sl__node_builder *m, uint32_t node);

/* Takes out what is covered and adds the node; returns its number. */
uint32_t sl__node_builder_finish(struct sl__node_builder *m);

#endif
