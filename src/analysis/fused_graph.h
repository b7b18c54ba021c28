/* SPDX-License-Identifier: Apache-2.0 */
/* fused_graph.h - a quantized model as an engine runs it. */
#ifndef SL_FUSED_GRAPH_H
#define SL_FUSED_GRAPH_H

#include "cost/liveness.h"
#include "transform/rewrite.h"

/*
 * Files write a quantized operator as DequantizeLinear, the operator in reals
 * and QuantizeLinear.  An engine runs the three as one that takes and gives
 * integers; the reals between them are in no memory.  This is the model with
 * such nodes in one, by the engine's own pass: 'forward' is about 'graph',
 * whose values have the numbers they have in the model, new ones after them,
 * and covers[] says which nodes of the model each of its nodes stands for.
 */
struct sl__fused {
	struct sl_graph *graph;
	const struct sl__covers *covers;
	struct sl__shapes *shapes;
	struct sl__steps steps;
	struct sl__costs costs;
	struct sl__forward forward; /* no roles */
	struct sl__liveness liveness;
	/* Nodes of the model that are part of an operator, and those of both
	 * kinds that are not. */
	size_t n_quantize, n_dequantize, n_apart;
};

/*
 * *out is NULL where the model has no such operator.  'model' and what
 * 'options' points to outlive it, and so does 'arena'.
 */
enum sl_status sl__fused_new(struct sl__fused **out,
			     const struct sl__forward *model,
			     const struct sl__shapes_options *options,
			     struct sl__arena *arena,
			     struct sl_error *err) SL_CHECKED;
void sl__fused_free(struct sl__fused *fused); /* NULL is fine */

/*
 * The bytes that nodes of the model move: what a fused operator does counts
 * for the one of its nodes that does the most work; the others move nothing,
 * nor do those that are computed beforehand or change nothing.  Operations
 * stay as they are.
 */
enum sl_status sl__fused_move_traffic(const struct sl__fused *fused,
				      const struct sl_graph *model,
				      struct sl__costs *costs,
				      struct sl_error *err) SL_CHECKED;

#endif
