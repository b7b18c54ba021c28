/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_post_op.h - the epilogue of a fused node, as oneDNN's post-ops. */
#ifndef SL_DNNL_POST_OP_H
#define SL_DNNL_POST_OP_H

#include "engine/dnnl_version.h"
#include "ops/post_op.h"

/* One of oneDNN's functions. */
struct sl__dnnl_eltwise {
	dnnl_alg_kind_t kind;
	float alpha, beta;
};

enum { SL__ELTWISE_CHAIN_MAX = 2 };

/* oneDNN's functions for an operation, one after the other, and how many they
 * are: 0 for ADD and MUL, which have operands instead. */
int sl__dnnl_eltwise_chain(struct sl__dnnl_eltwise out[SL__ELTWISE_CHAIN_MAX],
			   const struct sl__post_op *post_op);

/* dnnl_binary_add or dnnl_binary_mul. */
dnnl_alg_kind_t sl__dnnl_binary_kind(const struct sl__post_op *post_op);

/* How many of oneDNN's operations it is. */
int sl__dnnl_post_op_n_dnnl_ops(const struct sl__post_op *post_op);

/*
 * How many of n operations, from the first on, one primitive computes right.
 * oneDNN 2 computes a function that comes twice in a chain with the parameters
 * of its first place.
 */
int sl__dnnl_post_ops_n_fusable(const struct sl__post_op *post_ops, int n);

/* Adds an operation to a chain.  'operand' describes that of ADD and MUL;
 * NULL: an ADD takes what the destination held before. */
dnnl_status_t sl__dnnl_post_op_append(dnnl_post_ops_t ops,
				      const struct sl__post_op *post_op,
				      const_dnnl_memory_desc_t operand);

#endif
