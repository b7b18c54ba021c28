/* SPDX-License-Identifier: Apache-2.0 */
/* static_analysis.h - everything that follows from a model under one set of
 * sizes. */
#ifndef SL_STATIC_ANALYSIS_H
#define SL_STATIC_ANALYSIS_H

#include "cost/attention.h"
#include "cost/convention.h"
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
struct sl__qdq_fused_model {
	struct sl_graph *graph;
	const struct sl__covered_nodes *covers;
	struct sl__shapes *shapes;
	struct sl__execution_order steps;
	struct sl__costs costs;
	struct sl__cost_analysis_inputs forward; /* no roles */
	struct sl__liveness liveness;
	/* Nodes of the model that are part of an operator, and those of both
	 * kinds that are not. */
	size_t n_quantize, n_dequantize, n_apart;
};

/*
 * Made by sl__static_analysis_new() and given back whole.  'steps' and 'roles'
 * are borrowed and outlive it.
 */
struct sl__static_analysis {
	struct sl__arena arena;
	const struct sl_graph *graph;
	struct sl__shapes *shapes;
	struct sl__costs costs; /* bytes are those of 'fused' */
	struct sl__cost_analysis_inputs forward;
	struct sl__attentions attentions;
	struct sl__liveness liveness; /* of the nodes as the file has them */
	struct sl__qdq_fused_model *fused; /* NULL: nothing is quantized so */
	uint64_t once_bytes;               /* sl__compulsory_bytes() */
	struct sl__tally tally;
	struct sl__kv kv;
	int64_t batch; /* of the first input; 1 where it has none */
};

enum sl_status sl__static_analysis_new(struct sl__static_analysis **out,
				       const struct sl__execution_order *steps,
				       const struct sl__roles *roles,
				       const struct sl__shapes_options *options,
				       struct sl_error *err) SL_CHECKED;
/* What is alive when an engine runs the model: that of the fused graph, where
 * there is one. */
const struct sl__liveness *
sl__static_analysis_liveness(const struct sl__static_analysis *survey);

void
sl__static_analysis_free(struct sl__static_analysis *survey); /* NULL is fine */

#endif
