/* SPDX-License-Identifier: Apache-2.0 */
/* op_rules.h - what the table of operators says of each (ops/op.def). */
#ifndef SL_OP_RULES_H
#define SL_OP_RULES_H

#include "graph/infer.h"

/*
 * The rules of an operator.  'infer' says the outputs' types and shapes; a
 * value about which nothing can be said stays UNKNOWN.  'fold' says what
 * outputs hold where that follows from known contents; it runs after
 * 'infer'.  'cost' fills the operations and the work of one call: it runs
 * only when the shapes of all inputs and outputs are known, with bytes and
 * element counts filled in already (cost.h), and may change those.
 */
typedef enum sl_status sl__infer_function(struct sl__rule_context *call);
typedef enum sl_status sl__fold_function(struct sl__rule_context *call);
typedef void sl__cost_function(struct sl__rule_context *call,
			       struct sl_cost *cost);

/*
 * 'ref' computes: the plainest loops that are right.  It is the oracle of
 * every faster kernel and runs where there is none (ref.h).
 */
struct sl__kernel_call;
typedef enum sl_status sl__ref_function(struct sl__kernel_call *ev);

/*
 * 'grad' adds the nodes that compute the gradients of inputs from those of
 * outputs to a graph (ops/gradient.h); a failure stays in its writer.
 */
struct sl__gradient;
typedef void sl__grad_function(struct sl__gradient *g);

struct sl__op {
	const char *domain; /* "" is ai.onnx */
	const char *type;
	int since; /* first version of the domain that has it */
	int min_inputs, max_inputs; /* max -1: any number */
	int min_outputs, max_outputs;
	sl__infer_function *infer;
	sl__fold_function *fold;
	sl__cost_function *cost;
	sl__ref_function *ref;
	sl__grad_function *grad;
};

/* Indices into the table. */
enum sl__op_id {
#define OP(domain, type, since, in0, in1, out0, out1, infer, fold, cost, ref, \
	   grad)                                                              \
	SL__OP_##domain##_##type,
#include "ops/op.def"
#undef OP
	SL__N_OPS
};

/* The operators of op.def, SL__N_OPS of them. */
extern const struct sl__op sl__ops[];

/* NULL when there is none; domain "ai.onnx" is "". */
const struct sl__op *sl__op_find(const char *domain, const char *type);

/*
 * The tensor that a Constant node holds, whichever attribute carries it; NULL
 * where it holds none that is dense.  It lives in the arena.
 */
enum sl_status sl__constant_tensor(const struct sl__tensor **out,
				   const struct sl__node *node,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/* SL_E_DATA for an attribute of another kind than its name has in ONNX, and
 * for one that the operator demands and the node lacks. */
enum sl_status sl__op_check_attributes(const struct sl__node *node,
				       struct sl_error *err) SL_CHECKED;

/* Whether a node is this operator. */
static inline int
sl__is_op(const struct sl__node *node, enum sl__op_id id)
{
	return node->op == &sl__ops[id];
}

/* Every rule that the table names, declared. */
#define OP(domain, type, since, in0, in1, out0, out1, infer, fold, cost, ref, \
	   grad)                                                              \
	sl__infer_function sl__infer_##infer;                                 \
	sl__fold_function sl__fold_##fold;                                    \
	sl__cost_function sl__cost_##cost;                                    \
	sl__ref_function sl__ref_##ref;                                       \
	sl__grad_function sl__grad_##grad;
#include "ops/op.def"
#undef OP

/* Whether its nodes run other blocks: If, Loop, Scan, SequenceMap. */
static inline int
sl__op_is_control_flow(const struct sl__op *op)
{
	return op->cost == sl__cost_control;
}

#endif
