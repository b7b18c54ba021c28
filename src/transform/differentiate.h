/* SPDX-License-Identifier: Apache-2.0 */
/* differentiate.h - a model's graph, and nodes that compute gradients. */
#ifndef SL_DIFFERENTIATE_H
#define SL_DIFFERENTIATE_H

#include "ops/node_writer.h"

/*
 * A graph that begins as a copy of a model: its values, nodes and blocks keep
 * their numbers, and new ones come after them.  So 'forward' of a new node is a
 * node of both.
 *
 * Invariants: needs[v] says whether value v depends on something whose gradient
 * is wanted; parts[v] are the parts of its gradient that were found so far.
 */
struct sl__differentiation {
	const struct sl_graph *model;
	struct sl__node_writer w;
	unsigned char *needs;
	struct sl__gradient_parts {
		uint32_t *values; /* one for each use */
		size_t n, cap;
	} * parts;
	size_t n_parts; /* values that 'parts' and 'needs' have room for */
	struct sl__arena scratch;
};

/*
 * Copies a model under sizes that are all known.  Both outlive the new graph,
 * and so does 'err'.
 */
enum sl_status sl__differentiation_new(struct sl__differentiation **out,
				       const struct sl_graph *model,
				       const struct sl__shapes *shapes,
				       struct sl_error *err) SL_CHECKED;
void sl__differentiation_free(struct sl__differentiation *d);

/* A weight becomes an input of the graph that a step renews: returns that. */
uint32_t sl__differentiation_make_state(struct sl__differentiation *d,
					uint32_t value);

/*
 * Adds what computes the gradients of the values that 'is_wanted' marks (by
 * value of the graph so far), where seeds[i] is the gradient of outputs[i].
 * SL_E_ABSENT names a node that has no rule.
 */
enum sl_status sl__differentiate(struct sl__differentiation *d,
				 const unsigned char *is_wanted,
				 const uint32_t *outputs, const uint32_t *seeds,
				 size_t n) SL_CHECKED;

/* The gradient of a value, summed over its uses; SL__NONE: there is none. */
uint32_t sl__differentiation_gradient(struct sl__differentiation *d,
				      uint32_t value);

/* Freezes the graph and hands it over. */
enum sl_status sl__differentiation_finish(struct sl__differentiation *d,
					  struct sl_graph **out) SL_CHECKED;

#endif
