/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo_tiny.c - the four architectures of MLPerf Tiny (Banbury et al. 2021):
 * keyword spotting, visual wake words, image classification, anomaly detection.
 *
 * As its reference models have them: convolutions with a bias and a norm, which
 * is a node of its own.  Dropout is left out.  Where those pad one side more
 * than the other, both are padded alike, to the same size of output.
 */
#include "model/builder_layers.h"
#include "model/zoo.h"

#include "base/banned.h"

static int
input(struct sl_builder *b, int64_t channels, int64_t height, int64_t width)
{
	return sl_builder_input(b, "x", SL_DTYPE_F32, 4,
				(int64_t[]){sl_builder_symbol(b, "batch", 1),
					    channels, height, width});
}

static struct sl_conv2d
conv_of(int64_t out_channels, int64_t k, int64_t stride, int64_t groups)
{
	return (struct sl_conv2d){.out_channels = out_channels,
				  .kernel_height = k,
				  .stride = stride,
				  .padding = (k - 1) / 2,
				  .groups = groups,
				  .has_bias = 1};
}

static int
conv_norm(struct sl_builder *b, const char *scope, int x, struct sl_conv2d c)
{
	sl_builder_enter(b, scope);
	sl_builder_name(b, "conv");
	x = sl_builder_conv2d(b, x, &c);
	sl_builder_name(b, "norm");
	x = sl_builder_batch_norm(b, x);
	sl_builder_leave(b);
	return x;
}

static int
conv_norm_relu(struct sl_builder *b, const char *scope, int x,
	       struct sl_conv2d c)
{
	return sl_builder_relu(b, conv_norm(b, scope, x, c));
}

static int
separable(struct sl_builder *b, int x, int n, int64_t channels, int64_t stride)
{
	int64_t n_in = sl__builder_dim_size(b, x, 1);

	sl__builder_enter_scope_format(b, "block%d", n);
	x = conv_norm_relu(b, "depthwise", x, conv_of(n_in, 3, stride, n_in));
	x = conv_norm_relu(b, "pointwise", x, conv_of(channels, 1, 1, 1));
	sl_builder_leave(b);
	return x;
}

static int
named_linear(struct sl_builder *b, const char *name, int x, int64_t n_out)
{
	sl_builder_name(b, name);
	return sl_builder_linear(b, x, n_out, 1);
}

static void
classify(struct sl_builder *b, int x, int64_t n_classes)
{
	x = sl_builder_flatten(b, sl_builder_global_average_pool(b, x));
	sl_builder_output(b, named_linear(b, "fc", x, n_classes), "logits");
}

/* Keywords in 49 frames of 10 cepstral coefficients, of 12 classes. */
void
sl__zoo_ds_cnn(struct sl_builder *b, const struct sl__zoo_request *r)
{
	struct sl_conv2d first = {.out_channels = 64,
				  .kernel_height = 10,
				  .kernel_width = 4,
				  .stride = 2,
				  .padding = 5,
				  .padding_width = 1,
				  .has_bias = 1};
	int x = conv_norm_relu(b, "stem", input(b, 1, 49, 10), first);

	(void)r;
	for (int i = 0; i < 4; i++)
		x = separable(b, x, i, 64, 1);
	classify(b, x, 12);
}

/* Whether a person is in an image: a quarter of the channels. */
void
sl__zoo_mobilenetv1(struct sl_builder *b, const struct sl__zoo_request *r)
{
	static const struct {
		int64_t channels, stride;
	} blocks[] = {{16, 1},  {32, 2},  {32, 1},  {64, 2},  {64, 1},
		      {128, 2}, {128, 1}, {128, 1}, {128, 1}, {128, 1},
		      {128, 1}, {256, 2}, {256, 1}};
	int x = conv_norm_relu(b, "stem", input(b, 3, 96, 96),
			       conv_of(8, 3, 2, 1));

	(void)r;
	for (int i = 0; i < (int)(sizeof(blocks) / sizeof(blocks[0])); i++)
		x = separable(b, x, i, blocks[i].channels, blocks[i].stride);
	classify(b, x, 2);
}

/* Images of 32 x 32 in ten classes: three residual blocks. */
void
sl__zoo_resnet8(struct sl_builder *b, const struct sl__zoo_request *r)
{
	int x = conv_norm_relu(b, "stem", input(b, 3, 32, 32),
			       conv_of(16, 3, 1, 1));

	(void)r;
	for (int i = 0; i < 3; i++) {
		int64_t channels = 16 << i, stride = i ? 2 : 1;
		const struct sl_conv2d shrink = conv_of(channels, 1, stride, 1);
		int y, shortcut = x;

		sl__builder_enter_scope_format(b, "block%d", i);
		y = conv_norm_relu(b, "1", x, conv_of(channels, 3, stride, 1));
		y = conv_norm(b, "2", y, conv_of(channels, 3, 1, 1));
		sl_builder_name(b, "shortcut");
		if (i)
			shortcut = sl_builder_conv2d(b, x, &shrink);
		x = sl_builder_relu(b, sl__builder_op2(b, "Add", y, shortcut));
		sl_builder_leave(b);
	}
	classify(b, x, 10);
}

/* Sounds of a machine, 5 frames of 128 mel bands: what it cannot reproduce is
 * an anomaly. */
void
sl__zoo_autoencoder(struct sl_builder *b, const struct sl__zoo_request *r)
{
	static const int64_t widths[] = {128, 128, 128, 128, 8,
					 128, 128, 128, 128};
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), 640});

	(void)r;
	for (int i = 0; i < (int)(sizeof(widths) / sizeof(widths[0])); i++) {
		sl__builder_enter_scope_format(b, "layer%d", i);
		x = named_linear(b, "fc", x, widths[i]);
		sl_builder_name(b, "norm");
		x = sl_builder_relu(b, sl_builder_batch_norm(b, x));
		sl_builder_leave(b);
	}
	sl_builder_output(b, named_linear(b, "fc", x, 640), "y");
}
