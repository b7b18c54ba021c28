/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_fused.c - convolutions and products that end in more (post.h).
 *
 * The plain kernel computes the result, then each element goes through the
 * chain.  The cost is that of all nodes that were fused, less the traffic
 * between them.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/post.h"
#include "ops/ref.h"

#include "base/banned.h"

/* All elements of y through one operation; the second operand is broadcast. */
static enum sl_status
apply(struct sl__eval *ev, const struct sl__post *post, double *y)
{
	const struct sl__tensor *t = &sl__ref_result(ev, 0)->tensor;
	size_t n = post->kind == SL__POST_ADD || post->kind == SL__POST_MUL;
	const struct sl__tensor *in = n ? sl__ref_tensor(ev, post->input)
					: NULL;
	const double *x = n ? sl__ref_doubles(ev, post->input) : NULL;
	int64_t *at = sl__ref_new(ev, 2 * t->rank, sizeof(*at));
	const int64_t *strides = at + t->rank;
	int64_t offset = 0;

	if (ev->failure)
		return ev->failure;
	if (in && !sl__ref_fits(in, t->rank, t->dims))
		return sl__ref_refuse(ev, "input %u does not fit the result",
				      post->input);
	if (in)
		sl__ref_broadcast(at + t->rank, t->rank, in->rank, in->dims);
	do {
		*y = sl__post_apply(post, *y, x ? x[offset] : 0);
		y++;
	} while (sl__ref_next(at, t->rank, t->dims, &offset, &strides, n));
	return SL_OK;
}

/* What stands in output 0, with n operations done to it. */
static enum sl_status
finish(struct sl__eval *ev, const struct sl__post *posts, int n)
{
	const struct sl__tensor *t = &sl__ref_result(ev, 0)->tensor;
	double *y = sl__ref_new_output(ev, 0);

	if (!y || n == 0)
		return ev->failure;
	if (!sl__tensor_doubles(t, 0, (size_t)t->n_elements, y))
		return sl__ref_refuse(ev, "its result is no number");
	for (int i = 0; !ev->failure && i < n; i++)
		apply(ev, &posts[i], y);
	return sl__ref_store_doubles(ev, 0, y);
}

static int
read_posts(struct sl__eval *ev, struct sl__post *posts)
{
	int n = sl__posts_read(ev->node, posts);

	if (n < 0)
		sl__ref_refuse(ev, "the operations at its end make no sense");
	return n;
}

enum sl_status
sl__ref_post_conv(struct sl__eval *ev)
{
	struct sl__post posts[SL__POSTS_MOST];
	int n = read_posts(ev, posts);

	return n < 0 || sl__ref_conv(ev) ? ev->failure : finish(ev, posts, n);
}

/* The bias is the first operand that is added. */
enum sl_status
sl__ref_post_matmul(struct sl__eval *ev)
{
	struct sl__post posts[SL__POSTS_MOST + 1] = {
		{.kind = SL__POST_ADD, .input = SL__POST_FIRST_INPUT - 1}};
	int n = read_posts(ev, posts + 1);
	int has_bias = sl__ref_in(ev, SL__POST_FIRST_INPUT - 1) != NULL;

	if (n < 0 || sl__ref_matmul(ev))
		return ev->failure;
	return finish(ev, has_bias ? posts : posts + 1, n + has_bias);
}

/* What one element takes, like the operators that were there. */
static const struct sl__per prices[SL__N_POSTS] = {
	[SL__POST_ADD] = {.add = 1},
	[SL__POST_MUL] = {.mul = 1},
	[SL__POST_RELU] = {.cmp = 1},
	[SL__POST_LEAKY_RELU] = {.mul = 1, .cmp = 1},
	[SL__POST_CLIP] = {.cmp = 2},
	[SL__POST_SIGMOID] = {.add = 1, .div = 1, .exp = 1},
	[SL__POST_TANH] = {.exp = 1},
	[SL__POST_ELU] = {.mul = 1, .add = 1, .exp = 1, .cmp = 1},
	[SL__POST_HARD_SIGMOID] = {.mul = 1, .add = 1, .cmp = 2},
	[SL__POST_HARD_SWISH] = {.mul = 2, .add = 1, .cmp = 2},
	[SL__POST_SILU] = {.mul = 1, .add = 1, .div = 1, .exp = 1},
	[SL__POST_GELU] = {.mul = 3, .add = 1, .exp = 1},
	[SL__POST_GELU_TANH] = {.mul = 6, .add = 2, .exp = 1},
	[SL__POST_LINEAR] = {.mul = 1, .add = 1},
};

static void
count_posts(struct sl__call *call, struct sl_cost *cost)
{
	struct sl__post posts[SL__POSTS_MOST];
	int n = sl__posts_read(call->node, posts);

	if (n < 0)
		sl__cost_unknown(call, cost);
	for (int i = 0; i < n; i++)
		sl__count(cost, cost->out_elements, prices[posts[i].kind]);
}

void
sl__cost_post_conv(struct sl__call *call, struct sl_cost *cost)
{
	sl__cost_conv(call, cost);
	count_posts(call, cost);
}

void
sl__cost_post_matmul(struct sl__call *call, struct sl_cost *cost)
{
	sl__cost_matmul(call, cost);
	if (sl__has_in(call, SL__POST_FIRST_INPUT - 1))
		sl__count(cost, cost->out_elements, SL__PER(.add = 1));
	count_posts(call, cost);
}
