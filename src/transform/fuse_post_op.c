/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_post_op.c - the element-wise nodes that a fused one ends in.
 *
 * A result with one user is followed into it.  Where it has two, they may
 * be the gate and the product of one function: x times something of x.
 */
#include "transform/fuse_post_op.h"
#include "transform/matching.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

void
sl__post_op_chain_begin(struct sl__post_op_chain *chain, struct sl__rewrite *rw,
			uint32_t value)
{
	memset(chain, 0, sizeof(*chain));
	chain->rw = rw;
	chain->value = value;
}

int
sl__post_op_chain_has_room(const struct sl__post_op_chain *chain)
{
	return chain->n_covers + 8 <
	       sizeof(chain->covers) / sizeof(*chain->covers);
}

/* Adds one operation that ends in the output of 'node'. */
static void
take(struct sl__post_op_chain *c, enum sl__post_op_kind kind, double alpha,
     double beta, uint32_t node)
{
	struct sl__post_op *post_op = &c->post_ops[c->n++];

	post_op->kind = kind;
	post_op->alpha = (float)alpha;
	post_op->beta = (float)beta;
	c->covers[c->n_covers++] = node;
	c->value = sl__rewrite_output(c->rw, node);
}

static const struct {
	enum sl__op_id op;
	enum sl__post_op_kind kind;
	double alpha, beta; /* where the node has no attributes of the names */
} functions[] = {
	{SL__OP_ONNX_Relu, SL__POST_OP_RELU, 0, 0},
	{SL__OP_ONNX_LeakyRelu, SL__POST_OP_LEAKY_RELU, .01, 0},
	{SL__OP_ONNX_Sigmoid, SL__POST_OP_SIGMOID, 0, 0},
	{SL__OP_ONNX_Tanh, SL__POST_OP_TANH, 0, 0},
	{SL__OP_ONNX_Elu, SL__POST_OP_ELU, 1, 0},
	{SL__OP_ONNX_HardSigmoid, SL__POST_OP_HARD_SIGMOID, .2, .5},
	{SL__OP_ONNX_HardSwish, SL__POST_OP_HARD_SWISH, 0, 0},
	{SL__OP_ONNX_Swish, SL__POST_OP_SILU, 1, 0},
	{SL__OP_ONNX_Gelu, SL__POST_OP_GELU, 0, 0},
	{SL__OP_MS_Gelu, SL__POST_OP_GELU, 0, 0},
	{SL__OP_MS_FastGelu, SL__POST_OP_GELU_TANH, 0, 0},
	{SL__OP_MS_QuickGelu, SL__POST_OP_SILU, 1.702, 0},
};

static int
follow_function(struct sl__post_op_chain *c, uint32_t user)
{
	const struct sl__node *node = &c->rw->nodes[user].node;
	enum sl__post_op_kind kind;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (!sl__rewrite_node_is_op(c->rw, user, functions[i].op))
			continue;
		if (node->n_inputs != 1 || node->n_outputs != 1)
			return 0;
		kind = functions[i].kind;
		if (kind == SL__POST_OP_GELU &&
		    !strcmp(sl__attribute_string(node, "approximate", ""),
			    "tanh"))
			kind = SL__POST_OP_GELU_TANH;
		take(c, kind,
		     sl__attribute_float(node, "alpha", functions[i].alpha),
		     sl__attribute_float(node, "beta", functions[i].beta),
		     user);
		return 1;
	}
	return 0;
}

static int
follow_clip(struct sl__post_op_chain *c, uint32_t user)
{
	double low, high;

	if (!sl__clip_read_bounds(c->rw, user, &low, &high) ||
	    sl__rewrite_input(c->rw, user, 0) != c->value)
		return 0;
	if (fabs(low) <= 0 && isinf(high))
		take(c, SL__POST_OP_RELU, 0, 0, user);
	else
		take(c, SL__POST_OP_CLIP, low, high, user);
	return 1;
}

static int
is_sum(const struct sl__rewrite *rw, uint32_t node)
{
	return sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Add) ||
	       sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Sum);
}

/* The number with which 'value' meets in a node, where that is one. */
static int
meets_scalar(const struct sl__rewrite *rw, uint32_t node, uint32_t value,
	     double *x)
{
	return sl__scalar_constant_read(rw, sl__other_operand(rw, node, value),
					x) &&
	       isfinite(*x) &&
	       sl__have_same_dtype_and_dims(rw, value,
					    sl__rewrite_output(rw, node));
}

/* Arithmetic with a number is alpha x + beta. */
static int
follow_linear(struct sl__post_op_chain *c, uint32_t user)
{
	const struct sl__rewrite *rw = c->rw;
	int is_left = sl__rewrite_input(rw, user, 0) == c->value;
	double x;

	if (!meets_scalar(rw, user, c->value, &x))
		return 0;
	if (is_sum(rw, user))
		take(c, SL__POST_OP_LINEAR, 1, x, user);
	else if (sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Mul))
		take(c, SL__POST_OP_LINEAR, x, 0, user);
	else if (sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Sub))
		take(c, SL__POST_OP_LINEAR, is_left ? 1 : -1, is_left ? -x : x,
		     user);
	else if (sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Div) && is_left &&
		 sl__fits_f32(1 / x))
		take(c, SL__POST_OP_LINEAR, 1 / x, 0, user);
	else
		return 0;
	return 1;
}

/* The other operand has the sizes of the result; it cannot depend on this
 * one, which nobody else sees. */
static int
follow_binary(struct sl__post_op_chain *c, uint32_t user)
{
	const struct sl__rewrite *rw = c->rw;
	uint32_t other = sl__other_operand(rw, user, c->value);
	int is_add = is_sum(rw, user);

	if (!is_add && !sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Mul))
		return 0;
	if (!sl__have_same_dtype_and_dims(rw, other, c->value) ||
	    !sl__have_same_dtype_and_dims(rw, sl__rewrite_output(rw, user),
					  c->value))
		return 0;
	c->operands[c->n_operands++] = other;
	take(c, is_add ? SL__POST_OP_ADD : SL__POST_OP_MUL, 0, 0, user);
	return 1;
}

/* Whether a node makes a sixth of 'value'. */
static int
is_sixth(const struct sl__rewrite *rw, uint32_t node, uint32_t value)
{
	double x;

	if (!meets_scalar(rw, node, value, &x))
		return 0;
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Mul))
		return sl__is_close(x, 1.0 / 6);
	return sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Div) &&
	       sl__rewrite_input(rw, node, 0) == value && sl__is_close(x, 6);
}

static int
is_matmul(const struct sl__rewrite *rw, uint32_t node, uint32_t a, uint32_t b)
{
	return sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Mul) &&
	       sl__other_operand(rw, node, a) == b;
}

/* Sigmoid or HardSigmoid, then the product. */
static int
follow_gate(struct sl__post_op_chain *c, uint32_t gate, uint32_t product)
{
	const struct sl__rewrite *rw = c->rw;
	const struct sl__node *node = &rw->nodes[gate].node;
	uint32_t opened = node->outputs[0];
	int is_hard = sl__rewrite_node_is_op(rw, gate, SL__OP_ONNX_HardSigmoid);

	if (!is_hard && !sl__rewrite_node_is_op(rw, gate, SL__OP_ONNX_Sigmoid))
		return 0;
	if (sl__rewrite_only_user(rw, opened) != product ||
	    !is_matmul(rw, product, c->value, opened))
		return 0;
	if (is_hard &&
	    (!sl__is_close(sl__attribute_float(node, "alpha", .2), 1.0 / 6) ||
	     !sl__is_close(sl__attribute_float(node, "beta", .5), .5)))
		return 0;
	c->covers[c->n_covers++] = gate;
	take(c, is_hard ? SL__POST_OP_HARD_SWISH : SL__POST_OP_SILU,
	     is_hard ? 0 : 1, 0, product);
	return 1;
}

/* The sixth is taken before the product with x or after it: the last of both
 * nodes after 'at', and in *next the first. */
static uint32_t
find_product(const struct sl__rewrite *rw, uint32_t x, uint32_t at,
	     uint32_t *next)
{
	uint32_t last, between;

	*next = sl__rewrite_only_user(rw, at);
	if (*next == SL__NONE)
		return SL__NONE;
	between = sl__rewrite_output(rw, *next);
	last = sl__rewrite_only_user(rw, between);
	if (last == SL__NONE)
		return SL__NONE;
	if (is_matmul(rw, *next, x, at) && is_sixth(rw, last, between))
		return last;
	return is_sixth(rw, *next, at) && is_matmul(rw, last, x, between)
		       ? last
		       : SL__NONE;
}

/* HardSwish written out: x times clip(x + 3, 0, 6), divided by 6. */
static int
follow_steps(struct sl__post_op_chain *c, uint32_t add)
{
	const struct sl__rewrite *rw = c->rw;
	uint32_t clip, next, last;
	double three, low, high;

	if (!is_sum(rw, add) || !meets_scalar(rw, add, c->value, &three) ||
	    !sl__is_close(three, 3))
		return 0;
	clip = sl__rewrite_only_user(rw, sl__rewrite_output(rw, add));
	if (clip == SL__NONE || !sl__clip_read_bounds(rw, clip, &low, &high) ||
	    fabs(low) > 0 || !sl__is_close(high, 6))
		return 0;
	last = find_product(rw, c->value, sl__rewrite_output(rw, clip), &next);
	if (last == SL__NONE)
		return 0;
	c->covers[c->n_covers++] = add;
	c->covers[c->n_covers++] = clip;
	c->covers[c->n_covers++] = next;
	take(c, SL__POST_OP_HARD_SWISH, 0, 0, last);
	return 1;
}

static int
follow_two(struct sl__post_op_chain *c)
{
	const struct sl__value_uses *uses = &c->rw->uses[c->value];
	uint32_t a, b;

	if (c->rw->is_pinned[c->value] || uses->n != 2 ||
	    uses->nodes[0] == uses->nodes[1])
		return 0;
	a = uses->nodes[0];
	b = uses->nodes[1];
	return follow_gate(c, a, b) || follow_gate(c, b, a) ||
	       follow_steps(c, a) || follow_steps(c, b);
}

static int
follow_one(struct sl__post_op_chain *c)
{
	uint32_t user = sl__rewrite_only_user(c->rw, c->value);
	const struct sl__node *node = sl__rewrite_node(c->rw, user);

	if (!node)
		return 0;
	if (follow_function(c, user) || follow_clip(c, user))
		return 1;
	return sl__has_numpy_broadcasting(node) &&
	       (follow_linear(c, user) || follow_binary(c, user));
}

void
sl__post_op_chain_extend(struct sl__post_op_chain *c)
{
	while (c->n < SL__POST_OPS_MAX && sl__post_op_chain_has_room(c) &&
	       (follow_one(c) || follow_two(c)))
		;
}

void
sl__post_op_chain_attach(const struct sl__post_op_chain *c,
			 struct sl__node_builder *m)
{
	const char *words[SL__POST_OPS_MAX];
	float alphas[SL__POST_OPS_MAX], betas[SL__POST_OPS_MAX];

	for (int i = 0; i < c->n; i++) {
		words[i] = sl__post_op_name(c->post_ops[i].kind);
		alphas[i] = c->post_ops[i].alpha;
		betas[i] = c->post_ops[i].beta;
	}
	if (c->n) {
		sl__node_builder_set_strings(m, "post", words, (size_t)c->n);
		sl__node_builder_set_floats(m, "post_alpha", alphas,
					    (size_t)c->n);
		sl__node_builder_set_floats(m, "post_beta", betas,
					    (size_t)c->n);
	}
	for (int i = 0; i < c->n_operands; i++)
		sl__node_builder_add_input(m, c->operands[i]);
	sl__node_builder_add_output(m, c->value);
	for (size_t i = 0; i < c->n_covers; i++)
		sl__node_builder_add_covered(m, c->covers[i]);
}
