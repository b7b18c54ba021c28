/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_fused.c - convolutions and products that end in more (post_op.h).
 *
 * The plain kernel computes the result, then each element goes through the
 * chain.  The cost is that of all nodes that were fused, less the traffic
 * between them.
 */
#include "ops/activation.h"
#include "ops/cost.h"
#include "ops/post_op.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

/* 'apply' is NULL for what takes a second operand; what an element takes is
 * what the operators took that were there. */
static const struct {
	const char *word;
	sl__activation_function *apply;
	struct sl__operations_each per;
} kinds[SL__N_POST_OPS] = {
	[SL__POST_OP_ADD] = {"add", NULL, {.add = 1}},
	[SL__POST_OP_MUL] = {"mul", NULL, {.mul = 1}},
	[SL__POST_OP_RELU] = {"relu", sl__act_relu, {.cmp = 1}},
	[SL__POST_OP_LEAKY_RELU] = {"leaky_relu",
				    sl__act_leaky_relu,
				    {.mul = 1, .cmp = 1}},
	[SL__POST_OP_CLIP] = {"clip", sl__act_clip, {.cmp = 2}},
	[SL__POST_OP_SIGMOID] = {"sigmoid",
				 sl__act_sigmoid,
				 {.add = 1, .div = 1, .exp = 1}},
	[SL__POST_OP_TANH] = {"tanh", sl__act_tanh, {.exp = 1}},
	[SL__POST_OP_ELU] = {"elu",
			     sl__act_elu,
			     {.mul = 1, .add = 1, .exp = 1, .cmp = 1}},
	[SL__POST_OP_HARD_SIGMOID] = {"hard_sigmoid",
				      sl__act_hard_sigmoid,
				      {.mul = 1, .add = 1, .cmp = 2}},
	[SL__POST_OP_HARD_SWISH] = {"hard_swish",
				    sl__act_hard_swish,
				    {.mul = 2, .add = 1, .cmp = 2}},
	[SL__POST_OP_SILU] = {"silu",
			      sl__act_swish,
			      {.mul = 1, .add = 1, .div = 1, .exp = 1}},
	[SL__POST_OP_GELU] = {"gelu",
			      sl__act_gelu,
			      {.mul = 3, .add = 1, .exp = 1}},
	[SL__POST_OP_GELU_TANH] = {"gelu_tanh",
				   sl__act_gelu_tanh,
				   {.mul = 6, .add = 2, .exp = 1}},
	[SL__POST_OP_LINEAR] = {"linear", sl__act_affine, {.mul = 1, .add = 1}},
};

const char *
sl__post_op_name(enum sl__post_op_kind kind)
{
	return kinds[kind].word;
}

static int
kind_of(const char *word)
{
	for (int i = 0; i < SL__N_POST_OPS; i++) {
		if (!strcmp(kinds[i].word, word))
			return i;
	}
	return -1;
}

int
sl__post_ops_read(const struct sl__node *node, struct sl__post_op *post_ops)
{
	const struct sl__attribute *list = sl__attribute_find(node, "post");
	const struct sl__attribute *alpha =
		sl__attribute_find(node, "post_alpha");
	const struct sl__attribute *beta =
		sl__attribute_find(node, "post_beta");
	uint32_t input = SL__POST_OP_FIRST_INPUT;

	if (!list)
		return 0;
	if (list->kind != SL__ATTRIBUTE_STRINGS || list->n > SL__POST_OPS_MAX ||
	    !alpha || alpha->kind != SL__ATTRIBUTE_FLOATS ||
	    alpha->n != list->n || !beta ||
	    beta->kind != SL__ATTRIBUTE_FLOATS || beta->n != list->n)
		return -1;
	for (size_t i = 0; i < list->n; i++) {
		int kind = kind_of(list->strings[i]);

		if (kind < 0)
			return -1;
		memset(&post_ops[i], 0, sizeof(post_ops[i]));
		post_ops[i].kind = (enum sl__post_op_kind)kind;
		post_ops[i].alpha = alpha->floats[i];
		post_ops[i].beta = beta->floats[i];
		if (kind == SL__POST_OP_ADD || kind == SL__POST_OP_MUL)
			post_ops[i].input = input++;
	}
	return input <= node->n_inputs || input == SL__POST_OP_FIRST_INPUT
		       ? (int)list->n
		       : -1;
}

double
sl__post_op_apply(const struct sl__post_op *post_op, double x, double operand)
{
	double a = (double)post_op->alpha, b = (double)post_op->beta;

	if (post_op->kind == SL__POST_OP_ADD)
		return x + operand;
	if (post_op->kind == SL__POST_OP_MUL)
		return x * operand;
	if (post_op->kind == SL__POST_OP_HARD_SWISH) {
		a = 1.0 / 6;
		b = .5;
	}
	return kinds[post_op->kind].apply(x, a, b);
}

/* All elements of y through one operation; the second operand is broadcast. */
static enum sl_status
apply(struct sl__kernel_call *ev, const struct sl__post_op *post_op, double *y)
{
	int has_operand = !kinds[post_op->kind].apply;
	const double *x =
		has_operand ? sl__ref_input_doubles(ev, post_op->input) : NULL;
	struct sl__strided_iterator w;

	if (ev->failure || sl__strided_iterator_over_output(ev, &w) ||
	    (x &&
	     sl__strided_iterator_add_input(ev, &w, post_op->input, SIZE_MAX)))
		return ev->failure;
	do {
		*y = sl__post_op_apply(post_op, *y, x ? x[w.offsets[0]] : 0);
		y++;
	} while (sl__strided_iterator_next(&w));
	return SL_OK;
}

/* What stands in output 0, with n operations done to it. */
static enum sl_status
finish(struct sl__kernel_call *ev, const struct sl__post_op *post_ops, int n)
{
	const struct sl__tensor *t = &sl__ref_output(ev, 0)->tensor;
	double *y = sl__ref_scratch_output(ev, 0);

	if (!y || n == 0)
		return ev->failure;
	if (!sl__tensor_doubles(t, 0, (size_t)t->n_elements, y))
		return sl__ref_reject(ev, "its result is no number");
	for (int i = 0; !ev->failure && i < n; i++)
		apply(ev, &post_ops[i], y);
	return sl__ref_output_store_doubles(ev, 0, y);
}

static int
read_post_ops(struct sl__kernel_call *ev, struct sl__post_op *post_ops)
{
	int n = sl__post_ops_read(ev->node, post_ops);

	if (n < 0)
		sl__ref_reject(ev, "the operations at its end make no sense");
	return n;
}

enum sl_status
sl__ref_post_conv(struct sl__kernel_call *ev)
{
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	int n = read_post_ops(ev, post_ops);

	return n < 0 || sl__ref_conv(ev) ? ev->failure
					 : finish(ev, post_ops, n);
}

/* The bias is the first operand that is added. */
enum sl_status
sl__ref_post_matmul(struct sl__kernel_call *ev)
{
	struct sl__post_op post_ops[SL__POST_OPS_MAX + 1] = {
		{.kind = SL__POST_OP_ADD,
		 .input = SL__POST_OP_FIRST_INPUT - 1}};
	int n = read_post_ops(ev, post_ops + 1);
	int has_bias = sl__ref_input(ev, SL__POST_OP_FIRST_INPUT - 1) != NULL;

	if (n < 0 || sl__ref_matmul(ev))
		return ev->failure;
	return finish(ev, has_bias ? post_ops : post_ops + 1, n + has_bias);
}

static void
count_post_ops(struct sl__rule_context *call, struct sl_cost *cost)
{
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	int n = sl__post_ops_read(call->node, post_ops);

	if (n < 0)
		sl__cost_unknown(call, cost);
	for (int i = 0; i < n; i++)
		sl__cost_add_operations(cost, cost->out_elements,
					kinds[post_ops[i].kind].per);
}

void
sl__cost_post_conv(struct sl__rule_context *call, struct sl_cost *cost)
{
	sl__cost_conv(call, cost);
	count_post_ops(call, cost);
}

void
sl__cost_post_matmul(struct sl__rule_context *call, struct sl_cost *cost)
{
	sl__cost_matmul(call, cost);
	if (sl__has_in(call, SL__POST_OP_FIRST_INPUT - 1))
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.add = 1));
	count_post_ops(call, cost);
}
