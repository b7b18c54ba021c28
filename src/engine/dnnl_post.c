/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_post.c - what a fused node ends in, as oneDNN's post-operations. */
#include "engine/dnnl_post.h"

#include "base/banned.h"

enum { TAKES_ALPHA = 1, TAKES_BETA = 2 };

static const struct {
	dnnl_alg_kind_t kind;
	unsigned takes; /* the operation's own parameters; else 0 */
} functions[SL__N_POSTS] = {
	[SL__POST_RELU] = {dnnl_eltwise_relu, 0},
	[SL__POST_LEAKY_RELU] = {dnnl_eltwise_relu, TAKES_ALPHA},
	[SL__POST_CLIP] = {dnnl_eltwise_clip, TAKES_ALPHA | TAKES_BETA},
	[SL__POST_SIGMOID] = {dnnl_eltwise_logistic, 0},
	[SL__POST_TANH] = {dnnl_eltwise_tanh, 0},
	[SL__POST_ELU] = {dnnl_eltwise_elu, TAKES_ALPHA},
	[SL__POST_HARD_SIGMOID] = {dnnl_eltwise_linear,
				   TAKES_ALPHA | TAKES_BETA},
	[SL__POST_HARD_SWISH] = {dnnl_eltwise_hardswish, 0},
	[SL__POST_SILU] = {dnnl_eltwise_swish, TAKES_ALPHA},
	[SL__POST_GELU] = {dnnl_eltwise_gelu_erf, 0},
	[SL__POST_GELU_TANH] = {dnnl_eltwise_gelu_tanh, 0},
	[SL__POST_LINEAR] = {dnnl_eltwise_linear, TAKES_ALPHA | TAKES_BETA},
};

int
sl__dnnl_changes(struct sl__dnnl_change out[SL__CHANGES_MOST],
		 const struct sl__post *post)
{
	unsigned takes = functions[post->kind].takes;

	if (post->kind == SL__POST_ADD || post->kind == SL__POST_MUL)
		return 0;
	out[0].kind = functions[post->kind].kind;
	out[0].alpha = takes & TAKES_ALPHA ? post->alpha : 0;
	out[0].beta = takes & TAKES_BETA ? post->beta : 0;
	if (post->kind != SL__POST_HARD_SIGMOID)
		return 1;
	out[1].kind = dnnl_eltwise_clip;
	out[1].alpha = 0;
	out[1].beta = 1;
	return 2;
}

dnnl_alg_kind_t
sl__dnnl_join(const struct sl__post *post)
{
	return post->kind == SL__POST_ADD ? dnnl_binary_add : dnnl_binary_mul;
}

int
sl__dnnl_post_length(const struct sl__post *post)
{
	struct sl__dnnl_change changes[SL__CHANGES_MOST];
	int n = sl__dnnl_changes(changes, post);

	return n ? n : 1;
}

static int
do_agree(const struct sl__post *p, const struct sl__post *q)
{
	struct sl__dnnl_change a[SL__CHANGES_MOST], b[SL__CHANGES_MOST];
	int n_a = sl__dnnl_changes(a, p), n_b = sl__dnnl_changes(b, q);

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
sl__dnnl_posts_fit(const struct sl__post *posts, int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < i; k++) {
			if (!do_agree(&posts[k], &posts[i]))
				return i;
		}
	}
	return n;
}

dnnl_status_t
sl__dnnl_post_append(dnnl_post_ops_t ops, const struct sl__post *post,
		     const dnnl_memory_desc_t *operand)
{
	struct sl__dnnl_change changes[SL__CHANGES_MOST];
	int n = sl__dnnl_changes(changes, post);
	dnnl_status_t status = dnnl_success;

	if (!n && operand)
		return dnnl_post_ops_append_binary(ops, sl__dnnl_join(post),
						   operand);
	if (!n && post->kind == SL__POST_ADD)
		return dnnl_post_ops_append_sum(ops, 1);
	if (!n)
		return dnnl_invalid_arguments;
	for (int i = 0; !status && i < n; i++)
		status = dnnl_post_ops_append_eltwise(ops, 1, changes[i].kind,
						      changes[i].alpha,
						      changes[i].beta);
	return status;
}
