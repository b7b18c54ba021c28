/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.h - what each number of a model is for. */
#ifndef SL_PARAMETERS_H
#define SL_PARAMETERS_H

#include "graph/execution_order.h"

/*
 * Invariants: arrays are indexed by value and mean something for values that
 * have a tensor.  A tied copy names a value of role WEIGHT.  'first_user' is
 * the node that computes with it first, behind views, casts, transposes and
 * dequantization; SL__NONE: nothing uses it.
 */
struct sl__roles {
	enum sl_role *role;
	uint32_t *tied_to;
	uint32_t *first_user;
	size_t n_batch_norms;
	size_t n_folded;     /* convolutions with a folded BatchNorm */
	const char *folding; /* that in words, or NULL */
};

/*
 * Judges every tensor by how it is used, and by a few of its numbers where
 * use does not tell; see parameters.c for the rules.  No shapes are needed.
 */
enum sl_status sl__roles_classify(struct sl__roles *out,
				  const struct sl__execution_order *steps,
				  struct sl__arena *arena,
				  struct sl_error *err) SL_CHECKED;

/* tied.c: marks copies among the weights. */
enum sl_status sl__roles_tie(struct sl__roles *roles,
			     const struct sl_graph *graph,
			     struct sl__arena *arena,
			     struct sl_error *err) SL_CHECKED;

/* folding.c: finds BatchNorms that an exporter folded into convolutions. */
enum sl_status sl__roles_find_folded_norms(struct sl__roles *roles,
					   const struct sl_graph *graph,
					   struct sl__arena *arena,
					   struct sl_error *err) SL_CHECKED;

/* How many numbers a tensor stands for: more than it stores where a product
 * takes several to a byte. */
uint64_t sl__parameter_n_elements(const struct sl__roles *roles,
				  const struct sl_graph *graph, size_t value);

/* How input i of a node is used; one letter, see parameters.c. */
char sl__node_input_use_code(const struct sl__node *node, size_t i);

#endif
