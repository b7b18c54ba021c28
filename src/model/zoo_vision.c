/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo_vision.c - built-in models of images, as torchvision builds them.
 *
 * Node and parameter names are the modules' paths there.  BatchNorm is a
 * node of its own.  Dropout is left out: it does nothing in inference.
 *
 * A residual branch ends with a norm whose scale is 1/sqrt(number of
 * branches), so that the sum's variance grows by e over the whole depth and
 * not by 2 in every block.
 */
#include "model/builder_layers.h"
#include "model/zoo.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { IMAGE = 224, N_CLASSES = 1000 };

static int
image_input(struct sl_builder *b, int64_t channels, int64_t size)
{
	return sl_builder_input(b, "x", SL_DTYPE_F32, 4,
				(int64_t[]){sl_builder_symbol(b, "batch", 1),
					    channels, size, size});
}

/* A convolution of k x k that keeps the size, but for the stride. */
static struct sl_conv2d
conv_of(int64_t out_channels, int64_t k, int64_t stride)
{
	return (struct sl_conv2d){.out_channels = out_channels,
				  .kernel_height = k,
				  .kernel_width = k,
				  .stride = stride,
				  .padding = (k - 1) / 2};
}

static int
conv(struct sl_builder *b, const char *name, int x, struct sl_conv2d c)
{
	sl_builder_name(b, name);
	return sl_builder_conv2d(b, x, &c);
}

/* Convolution and norm, the latter scaled by 'gain'. */
static int
conv_norm(struct sl_builder *b, const char *const names[2], int x,
	  struct sl_conv2d c, double gain)
{
	x = conv(b, names[0], x, c);
	sl_builder_name(b, names[1]);
	sl__builder_set_weight_gain(b, gain);
	return sl_builder_batch_norm(b, x);
}

static int
relu(struct sl_builder *b, int x)
{
	return sl__builder_op1(b, "Relu", x);
}

static int
relu6(struct sl_builder *b, int x)
{
	return sl__builder_op3(b, "Clip", x, sl__builder_constant_scalar(b, 0),
			       sl__builder_constant_scalar(b, 6));
}

static int
pool(struct sl_builder *b, const char *type, int x, int64_t k, int64_t stride)
{
	sl_builder_ints(b, "kernel_shape", 2, (int64_t[]){k, k});
	sl_builder_ints(b, "strides", 2, (int64_t[]){stride, stride});
	return sl__builder_op1(b, type, x);
}

static int
named_linear(struct sl_builder *b, const char *name, int x, int64_t n_out)
{
	sl_builder_name(b, name);
	return sl_builder_linear(b, x, n_out, 1);
}

/* The end of a classifier: one number a channel, then a linear layer. */
static void
classify(struct sl_builder *b, const char *name, int x)
{
	sl_builder_name(b, "avgpool");
	x = sl__builder_op1(b, "GlobalAveragePool", x);
	x = sl__builder_op1(b, "Flatten", x);
	sl_builder_output(b, named_linear(b, name, x, N_CLASSES), "logits");
}

void
sl__zoo_lenet5(struct sl_builder *b, const struct sl__zoo_request *r)
{
	struct sl_conv2d c = {.out_channels = 6,
			      .kernel_height = 5,
			      .kernel_width = 5,
			      .has_bias = 1};
	int x = image_input(b, 1, 32);

	(void)r;
	x = sl__builder_op1(b, "Tanh", conv(b, "conv1", x, c));
	x = pool(b, "AveragePool", x, 2, 2);
	c.out_channels = 16;
	x = sl__builder_op1(b, "Tanh", conv(b, "conv2", x, c));
	x = sl__builder_op1(b, "Flatten", pool(b, "AveragePool", x, 2, 2));
	x = sl__builder_op1(b, "Tanh", named_linear(b, "fc1", x, 120));
	x = sl__builder_op1(b, "Tanh", named_linear(b, "fc2", x, 84));
	sl_builder_output(b, named_linear(b, "fc3", x, 10), "logits");
}

void
sl__zoo_vgg16(struct sl_builder *b, const struct sl__zoo_request *r)
{
	/* 0 is a pooling by two; numbers in names count every module. */
	static const int channels[] = {64,  64,  0,   128, 128, 0,
				       256, 256, 256, 0,   512, 512,
				       512, 0,   512, 512, 512, 0};
	int x = image_input(b, 3, IMAGE), n = 0;
	char name[16];

	(void)r;
	sl_builder_enter(b, "features");
	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++) {
		struct sl_conv2d c = conv_of(channels[i], 3, 1);

		snprintf(name, sizeof(name), "%d", n++);
		if (!channels[i]) {
			sl_builder_name(b, name);
			x = pool(b, "MaxPool", x, 2, 2);
			continue;
		}
		c.has_bias = 1;
		x = conv(b, name, x, c);
		snprintf(name, sizeof(name), "%d", n++);
		sl_builder_name(b, name);
		x = relu(b, x);
	}
	sl_builder_leave(b);
	sl_builder_name(b, "avgpool"); /* to 7 x 7, which it is already */
	x = sl__builder_op1(b, "Flatten", pool(b, "AveragePool", x, 1, 1));
	sl_builder_enter(b, "classifier");
	x = relu(b, named_linear(b, "0", x, 4096));
	x = relu(b, named_linear(b, "3", x, 4096));
	x = named_linear(b, "6", x, N_CLASSES);
	sl_builder_leave(b);
	sl_builder_output(b, x, "logits");
}

struct residual {
	int is_bottleneck;
	int64_t width, stride;
	double gain;
};

static int
residual_block(struct sl_builder *b, int x, const struct residual *r)
{
	static const char *const names[][2] = {
		{"conv1", "bn1"},
		{"conv2", "bn2"},
		{"conv3", "bn3"},
		{"downsample.0", "downsample.1"}};
	int64_t n_out = r->is_bottleneck ? 4 * r->width : r->width;
	int shortcut = x, y = x;

	if (r->is_bottleneck) {
		y = conv_norm(b, names[0], y, conv_of(r->width, 1, 1), 1);
		y = conv_norm(b, names[1], relu(b, y),
			      conv_of(r->width, 3, r->stride), 1);
		y = conv_norm(b, names[2], relu(b, y), conv_of(n_out, 1, 1),
			      r->gain);
	} else {
		y = conv_norm(b, names[0], y, conv_of(n_out, 3, r->stride), 1);
		y = conv_norm(b, names[1], relu(b, y), conv_of(n_out, 3, 1),
			      r->gain);
	}
	if (r->stride != 1 || sl__builder_dim_size(b, x, 1) != n_out)
		shortcut = conv_norm(b, names[3], x,
				     conv_of(n_out, 1, r->stride), 1);
	return relu(b, sl__builder_op2(b, "Add", y, shortcut));
}

void
sl__zoo_resnet(struct sl_builder *b, const struct sl__zoo_request *r)
{
	static const struct {
		int depth, n_blocks[4];
	} depths[] = {{18, {2, 2, 2, 2}},
		      {34, {3, 4, 6, 3}},
		      {50, {3, 4, 6, 3}},
		      {101, {3, 4, 23, 3}},
		      {152, {3, 8, 36, 3}}};
	const int *n_blocks = depths[0].n_blocks;
	struct residual block = {.is_bottleneck = r->variant >= 50};
	int x = image_input(b, 3, IMAGE);

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		if (depths[i].depth == r->variant)
			n_blocks = depths[i].n_blocks;
	}
	block.gain =
		1 / sqrt(n_blocks[0] + n_blocks[1] + n_blocks[2] + n_blocks[3]);
	x = conv_norm(b, (const char *const[]){"conv1", "bn1"}, x,
		      conv_of(64, 7, 2), 1);
	x = relu(b, x);
	sl_builder_ints(b, "pads", 4, (int64_t[]){1, 1, 1, 1});
	x = pool(b, "MaxPool", x, 3, 2);
	for (int stage = 0; stage < 4; stage++) {
		block.width = 64 << stage;
		for (int i = 0; i < n_blocks[stage]; i++) {
			block.stride = stage && !i ? 2 : 1;
			sl__builder_enter_scope_format(b, "layer%d.%d",
						       stage + 1, i);
			x = residual_block(b, x, &block);
			sl_builder_leave(b);
		}
	}
	classify(b, "fc", x);
}

/* Convolution, norm and activation in a scope. */
static int
conv_relu6(struct sl_builder *b, const char *scope, int x, struct sl_conv2d c)
{
	sl_builder_enter(b, scope);
	x = conv_norm(b, (const char *const[]){"0", "1"}, x, c, 1);
	sl_builder_name(b, "2");
	x = relu6(b, x);
	sl_builder_leave(b);
	return x;
}

/*
 * Numbers that are too large or too small grow or shrink further in a silu,
 * which is x for large x and x/2 for small.  So part of the variance comes
 * from the norm's shifts, 0.7 + 0.3 = 1, and deviations die out.
 */
static int
conv_silu(struct sl_builder *b, const char *scope, int x, struct sl_conv2d c)
{
	sl_builder_enter(b, scope);
	x = conv(b, "0", x, c);
	sl_builder_name(b, "1");
	x = sl__builder_batch_norm(b, x, sqrt(0.7), sqrt(0.3));
	x = sl__builder_silu(b, x);
	sl_builder_leave(b);
	return x;
}

/* Blocks of a stage: widened by 'expand', 'k' x 'k' per channel, narrowed to
 * n_out; the first with the stride. */
struct stage {
	int expand, k, stride, n_out, n_blocks;
};

static struct sl_conv2d
depthwise(int64_t channels, int64_t k, int64_t stride)
{
	struct sl_conv2d c = conv_of(channels, k, stride);

	c.groups = channels;
	return c;
}

static int
inverted_residual(struct sl_builder *b, int x, const struct stage *s,
		  int64_t stride, double gain)
{
	int64_t n_in = sl__builder_dim_size(b, x, 1), wide = n_in * s->expand;
	int is_residual = stride == 1 && n_in == s->n_out, y = x, n = 0;
	char names[3][16];

	sl_builder_enter(b, "conv");
	if (s->expand != 1) {
		y = conv_relu6(b, "0", y, conv_of(wide, 1, 1));
		n = 1;
	}
	for (int i = 0; i < 3; i++)
		snprintf(names[i], sizeof(names[i]), "%d", n + i);
	y = conv_relu6(b, names[0], y, depthwise(wide, s->k, stride));
	y = conv_norm(b, (const char *const[]){names[1], names[2]}, y,
		      conv_of(s->n_out, 1, 1), is_residual ? gain : 1);
	sl_builder_leave(b);
	return is_residual ? sl__builder_op2(b, "Add", x, y) : y;
}

void
sl__zoo_mobilenetv2(struct sl_builder *b, const struct sl__zoo_request *r)
{
	static const struct stage stages[] = {
		{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2}, {6, 3, 2, 32, 3},
		{6, 3, 2, 64, 4}, {6, 3, 1, 96, 3}, {6, 3, 2, 160, 3},
		{6, 3, 1, 320, 1}};
	const double gain = 1 / sqrt(10.0); /* of ten blocks with shortcuts */
	int x = image_input(b, 3, IMAGE), n = 1;

	(void)r;
	sl_builder_enter(b, "features");
	x = conv_relu6(b, "0", x, conv_of(32, 3, 2));
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		for (int k = 0; k < stages[i].n_blocks; k++) {
			sl__builder_enter_scope_format(b, "%d", n++);
			x = inverted_residual(b, x, &stages[i],
					      k ? 1 : stages[i].stride, gain);
			sl_builder_leave(b);
		}
	}
	x = conv_relu6(b, "18", x, conv_of(1280, 1, 1));
	sl_builder_leave(b);
	classify(b, "classifier.1", x);
}

/* Channels weighted by what a small network makes of their means. */
static int
squeeze_excite(struct sl_builder *b, int x, int64_t n_squeezed)
{
	struct sl_conv2d c = conv_of(n_squeezed, 1, 1);
	int64_t channels = sl__builder_dim_size(b, x, 1);
	int y;

	c.has_bias = 1;
	sl_builder_name(b, "avgpool");
	y = sl__builder_op1(b, "GlobalAveragePool", x);
	y = sl__builder_silu(b, conv(b, "fc1", y, c));
	c.out_channels = channels;
	sl__builder_set_weight_gain(b,
				    0.25); /* weights near 1/2, whatever x is */
	y = sl__builder_op1(b, "Sigmoid", conv(b, "fc2", y, c));
	return sl__builder_op2(b, "Mul", y, x);
}

static int
mb_conv(struct sl_builder *b, int x, const struct stage *s, int64_t stride,
	double gain)
{
	int64_t n_in = sl__builder_dim_size(b, x, 1), wide = n_in * s->expand;
	int is_residual = stride == 1 && n_in == s->n_out, y = x, n = 0;
	char name[16];

	sl_builder_enter(b, "block");
	if (s->expand != 1)
		y = conv_silu(b, "0", y, conv_of(wide, 1, 1));
	n = s->expand != 1;
	snprintf(name, sizeof(name), "%d", n);
	y = conv_silu(b, name, y, depthwise(wide, s->k, stride));
	sl__builder_enter_scope_format(b, "%d", n + 1);
	y = squeeze_excite(b, y, n_in / 4);
	sl_builder_leave(b);
	sl__builder_enter_scope_format(b, "%d", n + 2);
	/* The weights are about 1/2, and silu leaves 0.36 of the variance. */
	sl__builder_set_weight_gain(b, 2 / sqrt(0.35578));
	y = conv_norm(b, (const char *const[]){"0", "1"}, y,
		      conv_of(s->n_out, 1, 1), is_residual ? gain : 1);
	sl_builder_leave(b);
	sl_builder_leave(b);
	return is_residual ? sl__builder_op2(b, "Add", y, x) : y;
}

void
sl__zoo_efficientnet(struct sl_builder *b, const struct sl__zoo_request *r)
{
	static const struct stage stages[] = {
		{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
		{6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
		{6, 3, 1, 320, 1}};
	const double gain = 1 / sqrt(9.0); /* of nine blocks with shortcuts */
	int x = image_input(b, 3, IMAGE);

	(void)r;
	sl_builder_enter(b, "features");
	x = conv_silu(b, "0", x, conv_of(32, 3, 2));
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		for (int k = 0; k < stages[i].n_blocks; k++) {
			sl__builder_enter_scope_format(b, "%zu.%d", i + 1, k);
			x = mb_conv(b, x, &stages[i], k ? 1 : stages[i].stride,
				    gain);
			sl_builder_leave(b);
		}
	}
	x = conv_silu(b, "8", x, conv_of(1280, 1, 1));
	sl_builder_leave(b);
	classify(b, "classifier.1", x);
}

enum { VIT_WIDTH = 768, VIT_HEADS = 12, VIT_LAYERS = 12, VIT_PATCH = 16 };

static int
vit_norm(struct sl_builder *b, const char *name, int x)
{
	sl_builder_name(b, name);
	sl_builder_float(b, "epsilon", 1e-6);
	return sl_builder_layer_norm(b, x);
}

static int
vit_layer(struct sl_builder *b, int x)
{
	const double gain = 1 / sqrt(2.0 * VIT_LAYERS);
	const int64_t head = VIT_WIDTH / VIT_HEADS;
	int qkv[3], y = vit_norm(b, "ln_1", x);

	sl_builder_enter(b, "self_attention");
	y = named_linear(b, "in_proj", y, 3 * VIT_WIDTH);
	y = sl__builder_split(b, y, 3);
	for (int i = 0; i < 3 && y >= 0; i++)
		qkv[i] = sl__builder_split_heads(b, y + i, VIT_HEADS, head);
	if (y >= 0)
		y = sl__builder_attend(b, qkv, head, -1);
	y = sl__builder_join_heads(b, y, VIT_HEADS, head);
	sl__builder_set_weight_gain(b, gain);
	y = named_linear(b, "out_proj", y, VIT_WIDTH);
	sl_builder_leave(b);
	x = sl__builder_op2(b, "Add", y, x);
	y = vit_norm(b, "ln_2", x);
	sl_builder_enter(b, "mlp");
	y = named_linear(b, "0", y, 4 * VIT_WIDTH);
	sl_builder_name(b, "1");
	y = sl__builder_op1(b, "Gelu", y);
	sl__builder_set_weight_gain(b, gain);
	y = named_linear(b, "3", y, VIT_WIDTH);
	sl_builder_leave(b);
	return sl__builder_op2(b, "Add", x, y);
}

/* The class token before the patches, and where each of them is. */
static int
vit_tokens(struct sl_builder *b, int x)
{
	int64_t n = (IMAGE / VIT_PATCH) * (IMAGE / VIT_PATCH);
	int token = sl_builder_weight(b, "class_token", 3,
				      (int64_t[]){1, 1, VIT_WIDTH}, 0, 0.02);
	int n_batch = sl__builder_shape_slice(b, x, 0, 1);
	int ones = sl__builder_constant_list(b, 2, (int64_t[]){1, 1});
	int places;

	token = sl__builder_op2(
		b, "Expand", token,
		sl__builder_concat(b, 0, 2, (int[]){n_batch, ones}));
	x = sl__builder_concat(b, 1, 2, (int[]){token, x});
	places = sl_builder_weight(b, "encoder.pos_embedding", 3,
				   (int64_t[]){1, n + 1, VIT_WIDTH}, 0, 0.02);
	return sl__builder_op2(b, "Add", x, places);
}

void
sl__zoo_vit(struct sl_builder *b, const struct sl__zoo_request *r)
{
	struct sl_conv2d c = {.out_channels = VIT_WIDTH,
			      .kernel_height = VIT_PATCH,
			      .kernel_width = VIT_PATCH,
			      .stride = VIT_PATCH,
			      .has_bias = 1};
	int x = conv(b, "conv_proj", image_input(b, 3, IMAGE), c);

	(void)r;
	x = sl__builder_reshape(b, x, 3, (int64_t[]){0, VIT_WIDTH, -1});
	x = sl__builder_transpose(b, x, 3, (int64_t[]){0, 2, 1});
	x = vit_tokens(b, x);
	sl_builder_enter(b, "encoder");
	for (int i = 0; i < VIT_LAYERS; i++) {
		sl__builder_enter_scope_format(b, "layers.encoder_layer_%d", i);
		x = vit_layer(b, x);
		sl_builder_leave(b);
	}
	x = vit_norm(b, "ln", x);
	sl_builder_leave(b);
	sl_builder_int(b, "axis", 1);
	x = sl__builder_op2(b, "Gather", x, sl__builder_constant_integer(b, 0));
	sl_builder_output(b, named_linear(b, "heads.head", x, N_CLASSES),
			  "logits");
}

/* Two convolutions of 3 x 3, each with a rectifier. */
static int
double_conv(struct sl_builder *b, int x, int64_t channels)
{
	struct sl_conv2d c = conv_of(channels, 3, 1);

	c.has_bias = 1;
	x = relu(b, conv(b, "conv1", x, c));
	return relu(b, conv(b, "conv2", x, c));
}

/* Twice the size and half the channels, by a transposed convolution whose
 * places do not overlap: each result sums one product a channel. */
static int
enlarge(struct sl_builder *b, int x)
{
	int64_t n_in = sl__builder_dim_size(b, x, 1), n_out = n_in / 2;
	int weight, bias, y;

	if (n_in < 0)
		return -1;
	sl__builder_enter_layer(b, "up");
	weight = sl_builder_weight(b, "weight", 4,
				   (int64_t[]){n_in, n_out, 2, 2}, 0,
				   sqrt(2 / (double)n_in));
	bias = sl_builder_weight(b, "bias", 1, &n_out, 0, 0.02);
	sl__builder_name_after_scope(b);
	sl_builder_ints(b, "kernel_shape", 2, (int64_t[]){2, 2});
	sl_builder_ints(b, "strides", 2, (int64_t[]){2, 2});
	y = sl__builder_op3(b, "ConvTranspose", x, weight, bias);
	sl_builder_leave(b);
	return y;
}

void
sl__zoo_unet(struct sl_builder *b, const struct sl__zoo_request *r)
{
	enum { DEPTH = 4, FIRST = 64 };
	struct sl_conv2d last = {.out_channels = 2,
				 .kernel_height = 1,
				 .kernel_width = 1,
				 .has_bias = 1};
	int x = image_input(b, 3, IMAGE), skips[DEPTH];

	(void)r;
	for (int i = 0; i <= DEPTH; i++) {
		sl__builder_enter_scope_format(b, "down%d", i);
		x = double_conv(b, x, FIRST << i);
		if (i < DEPTH) {
			skips[i] = x;
			x = pool(b, "MaxPool", x, 2, 2);
		}
		sl_builder_leave(b);
	}
	for (int i = DEPTH; i-- > 0;) {
		sl__builder_enter_scope_format(b, "up%d", i);
		x = enlarge(b, x);
		x = sl__builder_concat(b, 1, 2, (int[]){skips[i], x});
		x = double_conv(b, x, FIRST << i);
		sl_builder_leave(b);
	}
	sl_builder_output(b, conv(b, "last", x, last), "logits");
}
