/* SPDX-License-Identifier: Apache-2.0 */
/* post.c - what a fused node does to its result before writing it. */
#include "ops/post.h"
#include "graph/infer.h"
#include "ops/activation.h"

#include <string.h>

#include "base/banned.h"

static const char *const words[SL__N_POSTS] = {
	[SL__POST_ADD] = "add",
	[SL__POST_MUL] = "mul",
	[SL__POST_RELU] = "relu",
	[SL__POST_LEAKY_RELU] = "leaky_relu",
	[SL__POST_CLIP] = "clip",
	[SL__POST_SIGMOID] = "sigmoid",
	[SL__POST_TANH] = "tanh",
	[SL__POST_ELU] = "elu",
	[SL__POST_HARD_SIGMOID] = "hard_sigmoid",
	[SL__POST_HARD_SWISH] = "hard_swish",
	[SL__POST_SILU] = "silu",
	[SL__POST_GELU] = "gelu",
	[SL__POST_GELU_TANH] = "gelu_tanh",
	[SL__POST_LINEAR] = "linear",
};

const char *
sl__post_word(enum sl__post_kind kind)
{
	return words[kind];
}

static int
kind_of(const char *word)
{
	for (int i = 0; i < SL__N_POSTS; i++) {
		if (!strcmp(words[i], word))
			return i;
	}
	return -1;
}

int
sl__posts_read(const struct sl__node *node, struct sl__post *posts)
{
	const struct sl__attribute *list = sl__attribute(node, "post");
	const struct sl__attribute *alpha = sl__attribute(node, "post_alpha");
	const struct sl__attribute *beta = sl__attribute(node, "post_beta");
	uint32_t input = SL__POST_FIRST_INPUT;

	if (!list)
		return 0;
	if (list->kind != SL__ATTRIBUTE_STRINGS || list->n > SL__POSTS_MOST ||
	    !alpha || alpha->kind != SL__ATTRIBUTE_FLOATS ||
	    alpha->n != list->n || !beta ||
	    beta->kind != SL__ATTRIBUTE_FLOATS || beta->n != list->n)
		return -1;
	for (size_t i = 0; i < list->n; i++) {
		int kind = kind_of(list->strings[i]);

		if (kind < 0)
			return -1;
		memset(&posts[i], 0, sizeof(posts[i]));
		posts[i].kind = (enum sl__post_kind)kind;
		posts[i].alpha = alpha->floats[i];
		posts[i].beta = beta->floats[i];
		if (kind == SL__POST_ADD || kind == SL__POST_MUL)
			posts[i].input = input++;
	}
	return input <= node->n_inputs || input == SL__POST_FIRST_INPUT
		       ? (int)list->n
		       : -1;
}

double
sl__post_apply(const struct sl__post *post, double x, double operand)
{
	double a = (double)post->alpha, b = (double)post->beta;

	switch (post->kind) {
	case SL__POST_ADD:
		return x + operand;
	case SL__POST_MUL:
		return x * operand;
	case SL__POST_RELU:
		return sl__act_relu(x, a, b);
	case SL__POST_LEAKY_RELU:
		return sl__act_leaky_relu(x, a, b);
	case SL__POST_CLIP:
		return sl__act_clip(x, a, b);
	case SL__POST_SIGMOID:
		return sl__act_sigmoid(x, a, b);
	case SL__POST_TANH:
		return sl__act_tanh(x, a, b);
	case SL__POST_ELU:
		return sl__act_elu(x, a, b);
	case SL__POST_HARD_SIGMOID:
		return sl__act_hard_sigmoid(x, a, b);
	case SL__POST_HARD_SWISH:
		return sl__act_hard_swish(x, 1.0 / 6, .5);
	case SL__POST_SILU:
		return sl__act_swish(x, a, b);
	case SL__POST_GELU:
		return sl__act_gelu(x, a, b);
	case SL__POST_GELU_TANH:
		return sl__act_gelu_tanh(x, a, b);
	case SL__POST_LINEAR:
		return sl__act_affine(x, a, b);
	case SL__N_POSTS:
	default:
		return x;
	}
}
