/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - what a node does, counted from shapes and attributes. */
#ifndef SL_COST_H
#define SL_COST_H

#include "graph/infer.h"
#include "sleuth/models.h"

/*
 * The cost of one call of a node.  Never fails: what is not known is said so
 * in the cost, and where it is not for want of memory the shapes' is_short is
 * set.  Control flow (If, Loop, Scan) costs nothing itself; the
 * nodes of its bodies have their own costs and calls.
 */
void sl__cost_node(struct sl__shapes *shapes, uint32_t node,
		   struct sl_cost *out);

/* The 'why' of a cost with a figure that 64 bits do not hold. */
extern const char sl__cost_overflow_reason[];

/*
 * How often each node runs, and on what basis: block_calls, with an If whose
 * condition is not known taking its dearer branch (ESTIMATED) and a loop of
 * unknown length running no known number of times (UNKNOWN).  Arrays are
 * indexed by node and live in the shapes' arena.  SL_E_DATA where operations
 * or bytes of all nodes together, or of training them, are beyond 64 bits, so
 * that no sum further on can be.
 */
struct sl__costs {
	struct sl_cost *per_call;
	uint64_t *n_calls;
	enum sl_basis *basis; /* of the whole: the worse of cost and calls */
	const char **why;
};
enum sl_status sl__costs_of_graph(struct sl__costs *out,
				  struct sl__shapes *shapes,
				  struct sl_error *err) SL_CHECKED;

/*
 * Sums and products that stop at UINT64_MAX; a cost that holds one becomes
 * unknown.
 */
uint64_t sl__saturating_add(uint64_t a, uint64_t b);
uint64_t sl__saturating_mul(uint64_t a, uint64_t b);

/* into += n_calls * cost, operations and bytes; the rest is left alone. */
void sl__cost_add_multiple(struct sl_cost *into, const struct sl_cost *cost,
			   uint64_t n_calls);

/* For cost rules: n times so many operations each are added to the cost. */
struct sl__operations_each {
	uint64_t mul, add, fma, div, exp, cmp;
};
void sl__cost_add_operations(struct sl_cost *cost, uint64_t n,
			     struct sl__operations_each each);
#define SL__OPERATIONS_EACH(...) ((struct sl__operations_each){__VA_ARGS__})

/* And products that add up: multiplications and additions in one. */
void sl__cost_add_macs(struct sl_cost *cost, uint64_t n);

/* The cost is an estimate, for a reason. */
void sl__cost_mark_estimated(struct sl_cost *cost, const char *why);

/* Elements of an input or output; 0 where it is left out. */
uint64_t sl__in_elements(const struct sl__rule_context *call, size_t i);
uint64_t sl__out_elements(const struct sl__rule_context *call, size_t k);

/* Dimension d (from the end where negative) of input i or output k; 1 where
 * the rank is too small. */
uint64_t sl__in_dim(const struct sl__rule_context *call, size_t i, int d);
uint64_t sl__out_dim(const struct sl__rule_context *call, size_t k, int d);

/* Whether input i is a parameter, or a parameter seen through views, casts,
 * transposes and dequantization. */
int sl__in_is_parameter(const struct sl__rule_context *call, size_t i);

/* Neighbours that the node's interpolation takes along one dimension: 1 copies,
 * 2 linear, 4 cubic. */
uint64_t sl__interpolation_taps(struct sl__rule_context *call,
				const char *otherwise);

/* Hidden elements of all steps, samples and directions of a recurrent node,
 * from what its cost rule counted. */
uint64_t sl__recurrent_n_hidden(const struct sl__node *node,
				const struct sl_cost *cost);

#endif
