/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.h - what an operator's gradient rule sees, and what it says. */
#ifndef SL_GRADIENT_H
#define SL_GRADIENT_H

#include "ops/node_writer.h"

/*
 * One node of a model whose inputs' gradients are asked for.  For each input
 * that is_wanted, a rule adds nodes that compute its gradient and notes the
 * value in dx, of the very type of the input; it may leave SL__NONE, which is
 * 0 everywhere.  Gradients of several uses are summed by the caller.  What a
 * rule reads of the forward node's inputs and outputs stays in memory until
 * then, so it reads the least that will do.
 */
struct sl__gradient {
	struct sl__node_writer *w;
	uint32_t id;                    /* of the node */
	struct sl__node node;           /* a copy */
	const uint32_t *dy;             /* by output; SL__NONE: 0 everywhere */
	uint32_t *dx;                   /* by input, all SL__NONE at first */
	const unsigned char *is_wanted; /* by input */
};

/* Whether input i is there and its gradient is asked for. */
static inline int
sl__gradient_wants(const struct sl__gradient *g, uint32_t i)
{
	return i < g->node.n_inputs && g->is_wanted[i];
}

/* Input i; SL__NONE where it is left out. */
static inline uint32_t
sl__gradient_input(const struct sl__gradient *g, uint32_t i)
{
	return i < g->node.n_inputs ? g->node.inputs[i] : SL__NONE;
}

/* The gradient of output k, made of zeros where there is none; the output must
 * be there. */
uint32_t sl__gradient_dy(const struct sl__gradient *g, uint32_t k);

/* The gradient of input i is 'value', summed over where it was repeated. */
void sl__gradient_set_summed(struct sl__gradient *g, uint32_t i,
			     uint32_t value);

/* The integers of an attribute or of input i (SL__NONE: no such input), whose
 * contents are known; NULL where there are none.  A failure where they depend
 * on data. */
const int64_t *sl__gradient_integers(struct sl__gradient *g, uint32_t i,
				     const char *attribute, size_t *n);

/* A failure that says why this node has no gradient. */
void sl__gradient_reject(struct sl__gradient *g, const char *why);

#endif
