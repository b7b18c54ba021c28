/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.h - nodes computed one by one, by the reference kernels. */
#ifndef SL_EVALUATE_H
#define SL_EVALUATE_H

#include "ops/ref.h"
#include "sleuth/models.h"

/* Runs a node in the reference kernel's place; 0 where it leaves that to it,
 * else *rc is what came of it. */
typedef int sl__node_runner(void *ctx, const struct sl__kernel_call *call,
			    enum sl_status *rc, struct sl_error *err);

/*
 * Runs nodes in the plainest way: what a value holds is found in values[],
 * sizes are inferred from what the inputs hold just then, so that nothing
 * need be known beforehand.  Constant folding, steps whose sizes depend on
 * data, the bodies of loops and branches, and tests are run by it.
 *
 * Invariants: values[] has one entry per value of the graph, of all blocks.
 * Parameters are there when they are first asked for.  One thread.
 */
struct sl__evaluator {
	const struct sl_graph *graph;
	struct sl__runtime_value *values;
	uint32_t *last_user;       /* node of the value's own block after which
				       it goes; SL__NONE: nobody uses it, or a
				       block gives it: it stays */
	unsigned char *is_bound;   /* its storage is the caller's */
	struct sl__shapes *shapes; /* written and put back around each node */
	struct sl__arena *arena;   /* of the evaluator itself */
	struct sl__arena scratch;
	struct sl_allocator allocator;
	int is_used;   /* a value was set since the last clearing */
	int keeps_all; /* nothing is let go before sl__evaluator_clear_values() */
	const volatile sig_atomic_t *interrupt; /* looked at before each node
						   and block; or NULL */
	sl__node_runner *runner;                /* asked first; or NULL */
	void *runner_ctx;
};

/* The graph outlives the evaluator. */
enum sl_status sl__evaluator_new(struct sl__evaluator **out,
				 const struct sl_graph *graph,
				 const struct sl_allocator *allocator,
				 struct sl_error *err) SL_CHECKED;
void sl__evaluator_free(struct sl__evaluator *ev); /* NULL is fine */

/* The value holds this tensor, which outlives the run. */
void sl__evaluator_set_tensor(struct sl__evaluator *ev, uint32_t value,
			      const struct sl__tensor *tensor);

/*
 * The value is what 'storage' holds, of any kind, or is to be written where it
 * points: a TENSOR whose type and sizes its node must then find.  It stays the
 * caller's.
 */
void sl__evaluator_bind_storage(struct sl__evaluator *ev, uint32_t value,
				const struct sl__runtime_value *storage);

/* What a value holds; parameters are loaded.  SL_E_DATA where it holds
 * nothing. */
enum sl_status sl__evaluator_value(struct sl__evaluator *ev, uint32_t value,
				   const struct sl__runtime_value **out,
				   struct sl_error *err) SL_CHECKED;

/* Input i of a node that is being run, for its kernel to take over and leave
 * empty, where nobody needs it any more; NULL: somebody does. */
struct sl__runtime_value *
sl__evaluator_last_use(const struct sl__kernel_call *call, size_t i);

/* Empties all values but parameters and bound ones. */
void sl__evaluator_clear_values(struct sl__evaluator *ev);

/*
 * Runs one node, or the nodes of a block in order.  SL_E_DATA or SL_E_ABSENT
 * (an operator that nobody knows) names the node.
 */
enum sl_status sl__evaluate_node(struct sl__evaluator *ev, uint32_t node_id,
				 struct sl_error *err) SL_CHECKED;
enum sl_status sl__evaluate_block(struct sl__evaluator *ev, uint32_t block,
				  struct sl_error *err) SL_CHECKED;

/* Puts the node's name before a failure. */
enum sl_status sl__error_prefix_node_name(struct sl_error *err,
					  enum sl_status status,
					  const struct sl__node *node);

#endif
