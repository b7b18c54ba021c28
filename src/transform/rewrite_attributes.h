/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_attributes.h - nodes that passes make, part by part. */
#ifndef SL_REWRITE_ATTRIBUTES_H
#define SL_REWRITE_ATTRIBUTES_H

#include "graph/graph.h"

struct sl__rewrite; /* rewrite.h, which includes this */

enum {
	SL__MAKING_INPUTS = 64,
	SL__MAKING_OUTPUTS = 64,
	SL__MAKING_ATTRIBUTES = 32,
	SL__MAKING_COVERS = 64
};

/*
 * A node that is being made.  More inputs, outputs, attributes or covered nodes
 * than there is room for are a failure of the rewrite, SL_E_ABSENT.
 */
struct sl__making {
	struct sl__rewrite *rw;
	struct sl__node node; /* its lists are those below */
	uint32_t inputs[SL__MAKING_INPUTS];
	uint32_t outputs[SL__MAKING_OUTPUTS];
	struct sl__attribute attributes[SL__MAKING_ATTRIBUTES];
	uint32_t covers[SL__MAKING_COVERS];
	size_t n_covers;
};

/* A node of that operator with nothing yet; domain and type are literals. */
void sl__make_begin(struct sl__making *m, struct sl__rewrite *rw,
		    const char *domain, const char *type, int version);

/* A node like that one: operator, version, name and attributes, neither
 * inputs nor outputs. */
void sl__make_like(struct sl__making *m, struct sl__rewrite *rw, uint32_t like);

/* The name and the attributes of another node, after sl__make_begin(). */
void sl__make_attributes_of(struct sl__making *m, uint32_t like);

/* Appends; SL__NONE is an input or output left out. */
void sl__make_input(struct sl__making *m, uint32_t value);
void sl__make_inputs(struct sl__making *m, const uint32_t *values, size_t n);
void sl__make_output(struct sl__making *m, uint32_t value);

/* Sets an attribute, in place of one of that name.  Numbers are copied; names
 * and strings are literals. */
void sl__make_int(struct sl__making *m, const char *name, int64_t value);
void sl__make_ints(struct sl__making *m, const char *name,
		   const int64_t *values, size_t n);
void sl__make_float(struct sl__making *m, const char *name, float value);
void sl__make_floats(struct sl__making *m, const char *name,
		     const float *values, size_t n);
void sl__make_string(struct sl__making *m, const char *name, const char *value);
void sl__make_strings(struct sl__making *m, const char *name,
		      const char *const *values, size_t n);
void sl__make_drop(struct sl__making *m, const char *name);

/* The new node does the work of that one, which goes when it is added.  Not
 * for nodes whose results are still used by others: those stay. */
void sl__make_cover(struct sl__making *m, uint32_t node);

/* Takes out what is covered and adds the node; returns its number. */
uint32_t sl__make_end(struct sl__making *m);

#endif
