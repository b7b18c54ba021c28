/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo_digits.c - built-in models to be trained: images of 8 x 8, ten classes.
 *
 * Their weights are those that training starts from: normal, of the variance
 * that keeps activations in range (He et al. 2015), norms 1, biases 0.
 */
#include "model/builder_layers.h"
#include "model/zoo.h"

#include <math.h>

#include "base/banned.h"

enum { SIDE = 8, N_CLASSES = 10, WIDTH = 64, HEADS = 4, N_LAYERS = 2 };

static int
named_linear(struct sl_builder *b, const char *name, int x, int64_t n_out)
{
	sl_builder_name(b, name);
	return sl_builder_linear(b, x, n_out, 1);
}

void
sl__zoo_digits_mlp(struct sl_builder *b, const struct sl__zoo_request *r)
{
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), SIDE * SIDE});

	(void)r;
	sl__builder_set_untrained(b);
	x = sl_builder_relu(b, named_linear(b, "fc1", x, 128));
	x = sl_builder_relu(b, named_linear(b, "fc2", x, 64));
	sl_builder_output(b, named_linear(b, "fc3", x, N_CLASSES), "logits");
}

/* A convolution of 3 x 3 that keeps the size, norm and rectifier. */
static int
conv_norm_relu(struct sl_builder *b, const char *scope, int x, int64_t channels)
{
	const struct sl_conv2d conv = {.out_channels = channels, .padding = 1};

	sl_builder_enter(b, scope);
	sl_builder_name(b, "conv");
	x = sl_builder_conv2d(b, x, &conv);
	sl_builder_name(b, "norm");
	x = sl_builder_relu(b, sl_builder_batch_norm(b, x));
	sl_builder_leave(b);
	return x;
}

void
sl__zoo_digits_cnn(struct sl_builder *b, const struct sl__zoo_request *r)
{
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 4,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), 1, SIDE, SIDE});

	(void)r;
	sl__builder_set_untrained(b);
	x = conv_norm_relu(b, "layer1", x, 16);
	x = conv_norm_relu(b, "layer2", x, 32);
	x = sl_builder_max_pool(b, x, NULL);
	x = conv_norm_relu(b, "layer3", x, 32);
	x = sl_builder_flatten(b, sl_builder_max_pool(b, x, NULL));
	sl_builder_output(b, named_linear(b, "fc", x, N_CLASSES), "logits");
}

static int
norm(struct sl_builder *b, const char *name, int x)
{
	sl_builder_name(b, name);
	return sl_builder_layer_norm(b, x);
}

/* Attention and two linear layers, each added to what it was given. */
static int
encoder_layer(struct sl_builder *b, int x)
{
	int y = norm(b, "norm1", x);

	sl_builder_name(b, "attention");
	y = sl_builder_attention(b, y, HEADS, SL_ATTENTION_BIAS);
	x = sl__builder_op2(b, "Add", x, y);
	y = named_linear(b, "fc1", norm(b, "norm2", x), 2 * WIDTH);
	y = sl_builder_activation(b, y, SL_ACTIVATION_GELU);
	sl__builder_set_weight_gain(b, 1 / sqrt(2.0 * N_LAYERS));
	y = named_linear(b, "fc2", y, WIDTH);
	return sl__builder_op2(b, "Add", x, y);
}

/* Each row of the image is a token; the mean over tokens is classified. */
void
sl__zoo_digits_transformer(struct sl_builder *b,
			   const struct sl__zoo_request *r)
{
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), SIDE, SIDE});
	int places;

	(void)r;
	sl__builder_set_untrained(b);
	x = named_linear(b, "embedding", x, WIDTH);
	places = sl_builder_weight(b, "positions", 2, (int64_t[]){SIDE, WIDTH},
				   0, 0.02);
	x = sl__builder_op2(b, "Add", x, places);
	for (int i = 0; i < N_LAYERS; i++) {
		sl__builder_enter_scope_format(b, "layer%d", i);
		x = encoder_layer(b, x);
		sl_builder_leave(b);
	}
	x = norm(b, "norm", x);
	sl_builder_int(b, "keepdims", 0);
	x = sl__builder_op2(b, "ReduceMean", x,
			    sl__builder_constant_list(b, 1, (int64_t[]){1}));
	sl_builder_output(b, named_linear(b, "head", x, N_CLASSES), "logits");
}
