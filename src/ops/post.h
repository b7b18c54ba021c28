/* SPDX-License-Identifier: Apache-2.0 */
/* post.h - what a fused node does to its result before writing it. */
#ifndef SL_POST_H
#define SL_POST_H

#include "graph/graph.h"

/*
 * Nodes of the domain "sleuth" (Conv, MatMul) may end in a chain of
 * element-wise operations, in the attribute "post": one word each, with
 * their parameters in the lists "post_alpha" and "post_beta" of the same
 * length.  "add" and "mul" take a second operand: the node's inputs from
 * number SL__POST_FIRST_INPUT on, in order, each broadcast to the result.
 */
enum { SL__POST_FIRST_INPUT = 3, SL__POSTS_MOST = 8 };

enum sl__post_kind {
	SL__POST_ADD = 0,
	SL__POST_MUL,
	SL__POST_RELU,
	SL__POST_LEAKY_RELU, /* alpha below 0 */
	SL__POST_CLIP,       /* alpha to beta */
	SL__POST_SIGMOID,
	SL__POST_TANH,
	SL__POST_ELU,          /* alpha */
	SL__POST_HARD_SIGMOID, /* max(0, min(1, alpha x + beta)) */
	SL__POST_HARD_SWISH,   /* x max(0, min(1, x / 6 + 1 / 2)) */
	SL__POST_SILU,         /* x sigmoid(alpha x) */
	SL__POST_GELU,         /* x Phi(x) */
	SL__POST_GELU_TANH,    /* its approximation by tanh */
	SL__POST_LINEAR,       /* alpha x + beta */
	SL__N_POSTS
};

struct sl__post {
	enum sl__post_kind kind;
	float alpha, beta;
	uint32_t input; /* of ADD and MUL: number of the node's input */
};

/* The word of a kind; and how many operations a node ends in, read into
 * posts[SL__POSTS_MOST].  -1 where the attributes make no sense. */
const char *sl__post_word(enum sl__post_kind kind);
int sl__posts_read(const struct sl__node *node, struct sl__post *posts);

/* One operation on one number; 'operand' counts for ADD and MUL. */
double sl__post_apply(const struct sl__post *post, double x, double operand);

#endif
