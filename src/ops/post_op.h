/* SPDX-License-Identifier: Apache-2.0 */
/* post_op.h - post-ops: the epilogue of a fused node. */
#ifndef SL_POST_OP_H
#define SL_POST_OP_H

#include "graph/graph.h"

/*
 * Nodes of the domain "sleuth" (Conv, MatMul) may end in a chain of
 * element-wise operations, in the attribute "post": one word each, with
 * their parameters in the lists "post_alpha" and "post_beta" of the same
 * length.  "add" and "mul" take a second operand: the node's inputs from
 * number SL__POST_OP_FIRST_INPUT on, in order, each broadcast to the result.
 */
enum { SL__POST_OP_FIRST_INPUT = 3, SL__POST_OPS_MAX = 8 };

enum sl__post_op_kind {
	SL__POST_OP_ADD = 0,
	SL__POST_OP_MUL,
	SL__POST_OP_RELU,
	SL__POST_OP_LEAKY_RELU, /* alpha below 0 */
	SL__POST_OP_CLIP,       /* alpha to beta */
	SL__POST_OP_SIGMOID,
	SL__POST_OP_TANH,
	SL__POST_OP_ELU,          /* alpha */
	SL__POST_OP_HARD_SIGMOID, /* max(0, min(1, alpha x + beta)) */
	SL__POST_OP_HARD_SWISH,   /* x max(0, min(1, x / 6 + 1 / 2)) */
	SL__POST_OP_SILU,         /* x sigmoid(alpha x) */
	SL__POST_OP_GELU,         /* x Phi(x) */
	SL__POST_OP_GELU_TANH,    /* its approximation by tanh */
	SL__POST_OP_LINEAR,       /* alpha x + beta */
	SL__N_POST_OPS
};

struct sl__post_op {
	enum sl__post_op_kind kind;
	float alpha, beta;
	uint32_t input; /* of ADD and MUL: number of the node's input */
};

/* The word of a kind; and how many operations a node ends in, read into
 * posts[SL__POST_OPS_MAX].  -1 where the attributes make no sense. */
const char *sl__post_op_name(enum sl__post_op_kind kind);
int sl__post_ops_read(const struct sl__node *node,
		      struct sl__post_op *post_ops);

/* One operation on one number; 'operand' counts for ADD and MUL. */
double sl__post_op_apply(const struct sl__post_op *post_op, double x,
			 double operand);

#endif
