/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_post_op.c - the epilogue of a fused node, as oneDNN's post-ops. */
#include "engine/dnnl_post_op.h"

#include "base/banned.h"

enum { TAKES_ALPHA = 1, TAKES_BETA = 2 };

static const struct {
	dnnl_alg_kind_t kind;
	unsigned takes;    /* the operation's own parameters */
	float alpha, beta; /* else these */
} functions[SL__N_POST_OPS] = {
	[SL__POST_OP_RELU] = {dnnl_eltwise_relu, 0, 0, 0},
	[SL__POST_OP_LEAKY_RELU] = {dnnl_eltwise_relu, TAKES_ALPHA, 0, 0},
	[SL__POST_OP_CLIP] = {dnnl_eltwise_clip, TAKES_ALPHA | TAKES_BETA, 0,
			      0},
	[SL__POST_OP_SIGMOID] = {dnnl_eltwise_logistic, 0, 0, 0},
	[SL__POST_OP_TANH] = {dnnl_eltwise_tanh, 0, 0, 0},
	[SL__POST_OP_ELU] = {dnnl_eltwise_elu, TAKES_ALPHA, 0, 0},
	[SL__POST_OP_HARD_SIGMOID] = {dnnl_eltwise_linear,
				      TAKES_ALPHA | TAKES_BETA, 0, 0},
	[SL__POST_OP_HARD_SWISH] = {dnnl_eltwise_hardswish, 0, 1.0F / 6, .5F},
	[SL__POST_OP_SILU] = {dnnl_eltwise_swish, TAKES_ALPHA, 0, 0},
	[SL__POST_OP_GELU] = {dnnl_eltwise_gelu_erf, 0, 0, 0},
	[SL__POST_OP_GELU_TANH] = {dnnl_eltwise_gelu_tanh, 0, 0, 0},
	[SL__POST_OP_LINEAR] = {dnnl_eltwise_linear, TAKES_ALPHA | TAKES_BETA,
				0, 0},
};

int
sl__dnnl_eltwise_chain(struct sl__dnnl_eltwise out[SL__ELTWISE_CHAIN_MAX],
		       const struct sl__post_op *post_op)
{
	unsigned takes = functions[post_op->kind].takes;

	if (post_op->kind == SL__POST_OP_ADD ||
	    post_op->kind == SL__POST_OP_MUL)
		return 0;
	out[0].kind = functions[post_op->kind].kind;
	out[0].alpha = takes & TAKES_ALPHA ? post_op->alpha
					   : functions[post_op->kind].alpha;
	out[0].beta = takes & TAKES_BETA ? post_op->beta
					 : functions[post_op->kind].beta;
	if (post_op->kind != SL__POST_OP_HARD_SIGMOID)
		return 1;
	out[1].kind = dnnl_eltwise_clip;
	out[1].alpha = 0;
	out[1].beta = 1;
	return 2;
}

dnnl_alg_kind_t
sl__dnnl_binary_kind(const struct sl__post_op *post_op)
{
	return post_op->kind == SL__POST_OP_ADD ? dnnl_binary_add
						: dnnl_binary_mul;
}

int
sl__dnnl_post_op_n_dnnl_ops(const struct sl__post_op *post_op)
{
	struct sl__dnnl_eltwise changes[SL__ELTWISE_CHAIN_MAX];
	int n = sl__dnnl_eltwise_chain(changes, post_op);

	return n ? n : 1;
}

static int
do_agree(const struct sl__post_op *p, const struct sl__post_op *q)
{
	struct sl__dnnl_eltwise a[SL__ELTWISE_CHAIN_MAX],
		b[SL__ELTWISE_CHAIN_MAX];
	int n_a = sl__dnnl_eltwise_chain(a, p),
	    n_b = sl__dnnl_eltwise_chain(b, q);

	for (int i = 0; i < n_a; i++) {
		for (int k = 0; k < n_b; k++) {
			if (a[i].kind == b[k].kind &&
			    (a[i].alpha != b[k].alpha ||
			     a[i].beta != b[k].beta))
				return 0;
		}
	}
	return 1;
}

int
sl__dnnl_post_ops_n_fusable(const struct sl__post_op *post_ops, int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < i; k++) {
			if (!do_agree(&post_ops[k], &post_ops[i]))
				return i;
		}
	}
	return n;
}

dnnl_status_t
sl__dnnl_post_op_append(dnnl_post_ops_t ops, const struct sl__post_op *post_op,
			const_dnnl_memory_desc_t operand)
{
	struct sl__dnnl_eltwise changes[SL__ELTWISE_CHAIN_MAX];
	int n = sl__dnnl_eltwise_chain(changes, post_op);
	dnnl_status_t status = dnnl_success;

	if (!n && operand)
		return dnnl_post_ops_append_binary(
			ops, sl__dnnl_binary_kind(post_op), operand);
	if (!n && post_op->kind == SL__POST_OP_ADD)
		return sl__dnnl_append_sum(ops);
	if (!n)
		return dnnl_invalid_arguments;
	for (int i = 0; !status && i < n; i++)
		status = sl__dnnl_append_eltwise(ops, changes[i].kind,
						 changes[i].alpha,
						 changes[i].beta);
	return status;
}
