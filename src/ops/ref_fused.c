/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_fused.c - convolutions and products that end in more (post.h).
 *
 * The plain kernel computes the result, then each element goes through the
 * chain.  The cost is that of all nodes that were fused, less the traffic
 * between them.
 */
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/post.h"
#include "ops/ref.h"

#include "base/banned.h"

/* A second operand: its numbers and its strides through the result. */
struct operand {
	const double *x;
	int64_t *strides;
};

static enum sl_status
read_operand(struct operand *o, struct sl__eval *ev, size_t i,
	     struct sl_error *err)
{
	const struct sl__tensor *y = &sl__ref_result(ev, 0)->tensor;
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	if (!t)
		return sl__fail(err, SL_E_DATA, "it lacks its input %zu", i);
	if (!sl__ref_fits(t, y->rank, y->dims))
		return sl__fail(err, SL_E_DATA,
				"input %zu does not fit the result", i);
	o->strides = sl__ref_new(ev, y->rank, sizeof(*o->strides));
	if (!o->strides)
		return sl__fail_nomem(err);
	sl__ref_broadcast(o->strides, y->rank, t->rank, t->dims);
	o->x = sl__ref_doubles(ev, i, err);
	return o->x ? SL_OK : sl__ref_failure(ev);
}

/* All elements of y through one operation. */
static enum sl_status
apply(struct sl__eval *ev, const struct sl__post *post, double *y,
      struct sl_error *err)
{
	const struct sl__tensor *t = &sl__ref_result(ev, 0)->tensor;
	int64_t *at = sl__ref_new(ev, t->rank, sizeof(*at));
	struct operand o = {0};
	int64_t offset = 0;
	size_t n_operands = 0;
	enum sl_status rc = SL_OK;

	if (!at)
		return sl__fail_nomem(err);
	if (post->kind == SL__POST_ADD || post->kind == SL__POST_MUL) {
		rc = read_operand(&o, ev, post->input, err);
		n_operands = 1;
	}
	if (rc || t->n_elements == 0)
		return rc;
	do {
		*y = sl__post_apply(post, *y, o.x ? o.x[offset] : 0);
		y++;
	} while (sl__ref_next(at, t->rank, t->dims, &offset,
			      (const int64_t *const *)&o.strides, n_operands));
	return SL_OK;
}

/* What stands in output 0, with n operations done to it. */
static enum sl_status
finish(struct sl__eval *ev, const struct sl__post *posts, int n,
       struct sl_error *err)
{
	const struct sl__tensor *t = &sl__ref_result(ev, 0)->tensor;
	double *y;
	enum sl_status rc = SL_OK;

	if (n == 0)
		return SL_OK;
	y = sl__ref_new(ev, (size_t)t->n_elements, sizeof(*y));
	if (!y)
		return sl__fail_nomem(err);
	if (!sl__tensor_doubles(t, 0, (size_t)t->n_elements, y))
		return sl__fail(err, SL_E_DATA, "its result is no number");
	for (int i = 0; !rc && i < n; i++)
		rc = apply(ev, &posts[i], y, err);
	if (!rc)
		sl__ref_store_doubles(ev, 0, y);
	return rc;
}

static enum sl_status
read_posts(const struct sl__eval *ev, struct sl__post *posts, int *n,
	   struct sl_error *err)
{
	*n = sl__posts_read(ev->node, posts);
	return *n < 0 ? sl__fail(err, SL_E_DATA,
				 "the operations at its end make no sense")
		      : SL_OK;
}

enum sl_status
sl__ref_post_conv(struct sl__eval *ev, struct sl_error *err)
{
	struct sl__post posts[SL__POSTS_MOST];
	int n;
	enum sl_status rc = read_posts(ev, posts, &n, err);

	if (!rc)
		rc = sl__ref_conv(ev, err);
	if (rc || !sl__ref_result(ev, 0))
		return rc;
	return finish(ev, posts, n, err);
}

/* The bias is the first operand that is added. */
enum sl_status
sl__ref_post_matmul(struct sl__eval *ev, struct sl_error *err)
{
	struct sl__post posts[SL__POSTS_MOST + 1] = {
		{.kind = SL__POST_ADD, .input = SL__POST_FIRST_INPUT - 1}};
	int n, has_bias = sl__ref_in(ev, SL__POST_FIRST_INPUT - 1) != NULL;
	enum sl_status rc = read_posts(ev, posts + 1, &n, err);

	if (!rc)
		rc = sl__ref_matmul(ev, err);
	if (rc || !sl__ref_result(ev, 0))
		return rc;
	return finish(ev, has_bias ? posts : posts + 1, n + has_bias, err);
}

/* What one element takes: multiplications, additions, divisions, functions
 * and comparisons, like the operators that were there. */
static const struct {
	unsigned char mul, add, div, exp, cmp;
} prices[SL__N_POSTS] = {
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
count_posts(const struct sl__call *call, struct sl_cost *cost)
{
	struct sl__post posts[SL__POSTS_MOST];
	int n = sl__posts_read(call->node, posts);
	uint64_t all = cost->out_elements;

	if (n < 0)
		sl__cost_unknown(call, cost);
	for (int i = 0; i < n; i++) {
		enum sl__post_kind kind = posts[i].kind;

		cost->mul =
			sl__plus(cost->mul, sl__times(prices[kind].mul, all));
		cost->add =
			sl__plus(cost->add, sl__times(prices[kind].add, all));
		cost->div =
			sl__plus(cost->div, sl__times(prices[kind].div, all));
		cost->exp =
			sl__plus(cost->exp, sl__times(prices[kind].exp, all));
		cost->cmp =
			sl__plus(cost->cmp, sl__times(prices[kind].cmp, all));
	}
}

void
sl__cost_post_conv(const struct sl__call *call, struct sl_cost *cost)
{
	sl__cost_conv(call, cost);
	count_posts(call, cost);
}

void
sl__cost_post_matmul(const struct sl__call *call, struct sl_cost *cost)
{
	sl__cost_matmul(call, cost);
	if (sl__has_in(call, SL__POST_FIRST_INPUT - 1))
		cost->add = sl__plus(cost->add, cost->out_elements);
	count_posts(call, cost);
}
