/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_layers.c - layers: their weights and the nodes that use them.
 *
 * Weights are scaled so that what a layer gives has about the variance of
 * what the layers before it gave: the deviation is sqrt(c / n) for n products
 * in a sum (Glorot and Bengio 2010), where 1/c is the mean square that the
 * activation before leaves of a standard normal, 1/2 for a rectifier (He et
 * al. 2015).
 */
#include "model/builder_layers.h"
#include "cost/layer_counts.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Deviations of what training moves off 0 and 1 only a little. */
static const double bias_deviation = 0.02;
static const double norm_deviation = 0.1;

int
sl__builder_op1(struct sl_builder *b, const char *type, int x)
{
	return sl_builder_op(b, type, 1, &x);
}

int
sl__builder_op2(struct sl_builder *b, const char *type, int x, int y)
{
	return sl_builder_op(b, type, 2, (int[]){x, y});
}

int
sl__builder_op3(struct sl_builder *b, const char *type, int x, int y, int z)
{
	return sl_builder_op(b, type, 3, (int[]){x, y, z});
}

int
sl__builder_reshape(struct sl_builder *b, int x, size_t n, const int64_t *sizes)
{
	return sl__builder_op2(b, "Reshape", x,
			       sl__builder_constant_list(b, n, sizes));
}

int
sl__builder_transpose(struct sl_builder *b, int x, size_t n,
		      const int64_t *order)
{
	sl_builder_ints(b, "perm", n, order);
	return sl__builder_op1(b, "Transpose", x);
}

int
sl__builder_concat(struct sl_builder *b, int64_t axis, size_t n,
		   const int *values)
{
	sl_builder_int(b, "axis", axis);
	return sl_builder_op(b, "Concat", n, values);
}

int
sl__builder_split(struct sl_builder *b, int x, int64_t n)
{
	sl_builder_int(b, "axis", -1);
	sl_builder_int(b, "num_outputs", n);
	sl_builder_outputs(b, (size_t)n);
	return sl__builder_op1(b, "Split", x);
}

int
sl__builder_shape_slice(struct sl_builder *b, int x, int64_t first, int64_t end)
{
	sl_builder_int(b, "start", first);
	sl_builder_int(b, "end", end);
	return sl__builder_op1(b, "Shape", x);
}

int
sl__builder_shape_dim(struct sl_builder *b, int x, int64_t d)
{
	return sl__builder_op2(b, "Gather", sl__builder_op1(b, "Shape", x),
			       sl__builder_constant_integer(b, d));
}

int
sl__builder_embedding_weight(struct sl_builder *b, const char *name, int64_t n,
			     int64_t width, double deviation)
{
	const int64_t dims[] = {n, width};
	int table;

	sl_builder_enter(b, name);
	table = sl_builder_weight(b, "weight", 2, dims, 0, deviation);
	sl_builder_leave(b);
	return table;
}

int
sl__builder_gather(struct sl_builder *b, int table, int rows)
{
	sl_builder_int(b, "axis", 0);
	return sl__builder_op2(b, "Gather", table, rows);
}

int
sl__builder_silu(struct sl_builder *b, int x)
{
	return sl__builder_op2(b, "Mul", x, sl__builder_op1(b, "Sigmoid", x));
}

void
sl__builder_set_untrained(struct sl_builder *b)
{
	b->is_untrained = 1;
}

/* The deviation of a layer's biases, norms or statistics. */
static double
spread(const struct sl_builder *b, double deviation)
{
	return b->is_untrained ? 0 : deviation;
}

void
sl__builder_set_weight_gain(struct sl_builder *b, double gain)
{
	b->gain = gain;
}

static double
take_gain(struct sl_builder *b)
{
	double gain = b->gain > 0 ? b->gain : 1;

	b->gain = 0;
	return gain;
}

/* Whether a product is x * sigmoid(x). */
static int
is_silu(const struct sl_builder *b, const struct sl__node *node)
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct sl__node *gate =
			sl__builder_producer(b, (int)node->inputs[i]);

		if (gate && !strcmp(gate->type, "Sigmoid") &&
		    gate->inputs[0] == node->inputs[1 - i])
			return 1;
	}
	return 0;
}

/* c for the activation that made x, seen through what only moves numbers. */
static double
inverse_mean_square(const struct sl_builder *b, int x)
{
	/* 1 / E f(z)^2 for z standard normal, by quadrature. */
	static const struct {
		const char *type;
		double c;
	} activations[] = {{"Relu", 2},
			   {"Clip", 2},
			   {"Gelu", 1 / 0.42522},
			   {"Tanh", 1 / 0.39429},
			   {"Sigmoid", 1 / 0.29338}};
	static const char *const movers[] = {
		"MaxPool", "AveragePool", "GlobalAveragePool", "Flatten",
		"Reshape", "Transpose",   "Identity",          "Dropout"};
	const struct sl__node *node = sl__builder_producer(b, x);

	for (size_t i = 0; node && i < sizeof(movers) / sizeof(movers[0]);) {
		if (strcmp(node->type, movers[i++]))
			continue;
		node = sl__builder_producer(b, (int)node->inputs[0]);
		i = 0;
	}
	if (!node)
		return 1;
	for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]);
	     i++) {
		if (!strcmp(node->type, activations[i].type))
			return activations[i].c;
	}
	return !strcmp(node->type, "Mul") && is_silu(b, node) ? 1 / 0.35578 : 1;
}

/* The deviation of weights whose n products with x are summed. */
static double
deviation_for(struct sl_builder *b, int x, double n)
{
	return take_gain(b) * sqrt(inverse_mean_square(b, x) / (n > 0 ? n : 1));
}

static int
check_size(struct sl_builder *b, const char *what, int64_t size)
{
	if (size >= 1)
		return 0;
	return sl__builder_fail(b, SL_E_USAGE, "%s: a size of %lld", what,
				(long long)size);
}

/* Of two dimensions: one node.  Otherwise a product and a sum, with the
 * weights the other way around, as exporters write it. */
int
sl_builder_linear(struct sl_builder *b, int x, int64_t n_out, int has_bias)
{
	int rank = sl__builder_rank(b, x);
	int64_t n_in = rank < 0 ? -1 : sl__builder_dim_size(b, x, -1);
	double deviation = deviation_for(b, x, (double)n_in);
	int weight, bias = -1, y;

	if (n_in < 0 || check_size(b, "a linear layer", n_out))
		return -1;
	sl__builder_enter_layer(b, "linear");
	weight = sl_builder_weight(b, "weight", 2,
				   rank == 2 ? (int64_t[]){n_out, n_in}
					     : (int64_t[]){n_in, n_out},
				   0, deviation);
	if (has_bias)
		bias = sl_builder_weight(b, "bias", 1, &n_out, 0,
					 spread(b, bias_deviation));
	sl__builder_name_after_scope(b);
	if (rank == 2) {
		sl_builder_int(b, "transB", 1);
		y = sl_builder_op(b, "Gemm", has_bias ? 3 : 2,
				  (int[]){x, weight, bias});
	} else {
		y = sl__builder_op2(b, "MatMul", x, weight);
		if (has_bias)
			y = sl__builder_op2(b, "Add", y, bias);
	}
	sl_builder_leave(b);
	return y;
}

/* Zero means the default; the input's channels must be those of x. */
static int
complete_conv(struct sl_builder *b, int x, struct sl_conv2d *c)
{
	int64_t channels;

	if (sl__builder_rank(b, x) != 4)
		return sl__builder_fail(b, SL_E_USAGE,
					"a convolution takes batch x channels "
					"x height x width");
	channels = sl__builder_dim_size(b, x, 1);
	sl__conv2d_apply_defaults(c);
	c->in_channels = c->in_channels ? c->in_channels : channels;
	if (check_size(b, "a convolution", c->out_channels) ||
	    check_size(b, "a convolution", c->kernel_height) ||
	    check_size(b, "a convolution", c->kernel_width) ||
	    check_size(b, "a convolution", c->groups) || channels < 0)
		return -1;
	if (c->in_channels != channels)
		return sl__builder_fail(b, SL_E_USAGE,
					"a convolution of %lld channels over "
					"%lld",
					(long long)c->in_channels,
					(long long)channels);
	if (channels % c->groups || c->out_channels % c->groups)
		return sl__builder_fail(b, SL_E_USAGE,
					"a convolution from %lld to %lld "
					"channels cannot have %lld groups",
					(long long)channels,
					(long long)c->out_channels,
					(long long)c->groups);
	return 0;
}

/* The attributes that convolutions and pooling share. */
static void
set_window(struct sl_builder *b, const struct sl_conv2d *c)
{
	sl_builder_ints(b, "kernel_shape", 2,
			(int64_t[]){c->kernel_height, c->kernel_width});
	sl_builder_ints(b, "strides", 2,
			(int64_t[]){c->stride, c->stride_width});
	sl_builder_ints(b, "pads", 4,
			(int64_t[]){c->padding, c->padding_width, c->padding,
				    c->padding_width});
}

int
sl_builder_conv2d(struct sl_builder *b, int x, const struct sl_conv2d *conv)
{
	struct sl_conv2d c = *conv;
	int64_t dims[4];
	int weight, bias = -1, y;

	if (b->failed || complete_conv(b, x, &c))
		return -1;
	dims[0] = c.out_channels;
	dims[1] = c.in_channels / c.groups;
	dims[2] = c.kernel_height;
	dims[3] = c.kernel_width;
	sl__builder_enter_layer(b, "conv");
	weight = sl_builder_weight(
		b, "weight", 4, dims, 0,
		deviation_for(b, x,
			      (double)dims[1] * (double)dims[2] *
				      (double)dims[3]));
	if (c.has_bias)
		bias = sl_builder_weight(b, "bias", 1, &c.out_channels, 0,
					 spread(b, bias_deviation));
	sl__builder_name_after_scope(b);
	set_window(b, &c);
	sl_builder_ints(b, "dilations", 2,
			(int64_t[]){c.dilation, c.dilation_width});
	sl_builder_int(b, "group", c.groups);
	y = sl_builder_op(b, "Conv", c.has_bias ? 3 : 2,
			  (int[]){x, weight, bias});
	sl_builder_leave(b);
	return y;
}

/* Pooling is described as a convolution is, with defaults of its own. */
static int
pool(struct sl_builder *b, const char *type, int x, const struct sl_pool2d *p)
{
	struct sl_conv2d window = {0};

	if (p)
		window = (struct sl_conv2d){.kernel_height = p->kernel_height,
					    .kernel_width = p->kernel_width,
					    .stride = p->stride,
					    .stride_width = p->stride_width,
					    .padding = p->padding,
					    .padding_width = p->padding_width};
	if (!window.kernel_height)
		window.kernel_height = 2;
	if (!window.kernel_width)
		window.kernel_width = window.kernel_height;
	if (!window.stride) {
		window.stride = window.kernel_height;
		if (!window.stride_width)
			window.stride_width = window.kernel_width;
	}
	sl__conv2d_apply_defaults(&window);
	set_window(b, &window);
	return sl__builder_op1(b, type, x);
}

int
sl_builder_max_pool(struct sl_builder *b, int x, const struct sl_pool2d *p)
{
	return pool(b, "MaxPool", x, p);
}

int
sl_builder_average_pool(struct sl_builder *b, int x, const struct sl_pool2d *p)
{
	return pool(b, "AveragePool", x, p);
}

int
sl_builder_global_average_pool(struct sl_builder *b, int x)
{
	return sl__builder_op1(b, "GlobalAveragePool", x);
}

int
sl_builder_flatten(struct sl_builder *b, int x)
{
	return sl__builder_op1(b, "Flatten", x);
}

/* Rows of standard normal numbers, as other frameworks begin with. */
int
sl_builder_embedding(struct sl_builder *b, int ids, int64_t n_rows,
		     int64_t width)
{
	int table, y;

	if (check_size(b, "an embedding", n_rows) ||
	    check_size(b, "an embedding", width))
		return -1;
	sl__builder_enter_layer(b, "embedding");
	table = sl_builder_weight(b, "weight", 2, (int64_t[]){n_rows, width}, 0,
				  1);
	sl__builder_name_after_scope(b);
	y = sl__builder_gather(b, table, ids);
	sl_builder_leave(b);
	return y;
}

int
sl_builder_activation(struct sl_builder *b, int x,
		      enum sl_activation activation)
{
	static const char *const types[SL_N_ACTIVATIONS] = {
		"Relu", "Gelu", NULL, "Sigmoid", "Tanh", "Softmax"};

	if ((unsigned)activation >= SL_N_ACTIVATIONS)
		return sl__builder_fail(b, SL_E_USAGE, "no such activation: %d",
					(int)activation);
	if (activation == SL_ACTIVATION_SILU)
		return sl__builder_silu(b, x);
	if (activation == SL_ACTIVATION_SOFTMAX)
		sl_builder_int(b, "axis", -1);
	return sl__builder_op1(b, types[activation], x);
}

int
sl_builder_relu(struct sl_builder *b, int x)
{
	return sl_builder_activation(b, x, SL_ACTIVATION_RELU);
}

int
sl__builder_batch_norm(struct sl_builder *b, int x, double scale, double shift)
{
	int64_t n = sl__builder_dim_size(b, x, 1);
	double deviation = spread(b, norm_deviation);
	int in[5] = {x}, y;

	if (n < 0)
		return -1;
	sl__builder_enter_layer(b, "batch_norm");
	in[1] = sl_builder_weight(b, "weight", 1, &n, scale, scale * deviation);
	in[2] = sl_builder_weight(b, "bias", 1, &n, 0, spread(b, shift));
	in[3] = sl_builder_weight(b, "running_mean", 1, &n, 0, deviation);
	in[4] = sl_builder_weight(b, "running_var", 1, &n, 1, deviation);
	sl__builder_name_after_scope(b);
	y = sl_builder_op(b, "BatchNormalization", 5, in);
	sl_builder_leave(b);
	return y;
}

int
sl_builder_batch_norm(struct sl_builder *b, int x)
{
	double scale = take_gain(b);

	return sl__builder_batch_norm(b, x, scale, scale * norm_deviation);
}

int
sl_builder_layer_norm(struct sl_builder *b, int x)
{
	int64_t n = sl__builder_dim_size(b, x, -1);
	double deviation = spread(b, norm_deviation);
	int in[3] = {x}, y;

	if (n < 0)
		return -1;
	sl__builder_enter_layer(b, "layer_norm");
	in[1] = sl_builder_weight(b, "weight", 1, &n, 1, deviation);
	in[2] = sl_builder_weight(b, "bias", 1, &n, 0, deviation);
	sl__builder_name_after_scope(b);
	sl_builder_int(b, "axis", -1);
	y = sl_builder_op(b, "LayerNormalization", 3, in);
	sl_builder_leave(b);
	return y;
}

int
sl__builder_split_heads(struct sl_builder *b, int x, int64_t heads,
			int64_t width)
{
	x = sl__builder_reshape(b, x, 4, (int64_t[]){0, 0, heads, width});
	return sl__builder_transpose(b, x, 4, (int64_t[]){0, 2, 1, 3});
}

int
sl__builder_join_heads(struct sl_builder *b, int x, int64_t heads,
		       int64_t width)
{
	x = sl__builder_transpose(b, x, 4, (int64_t[]){0, 2, 1, 3});
	return sl__builder_reshape(b, x, 3, (int64_t[]){0, 0, heads * width});
}

int
sl__builder_causal_mask(struct sl_builder *b, int x, int64_t d)
{
	int n = sl__builder_shape_slice(b, x, d, d + 1);
	int mask = sl__builder_concat(b, 0, 2, (int[]){n, n});

	sl__builder_tensor_attribute(b, "value", -FLT_MAX);
	mask = sl__builder_op1(b, "ConstantOfShape", mask);
	if (b->dtype != SL_DTYPE_F32) {
		sl_builder_int(b, "to", b->dtype);
		mask = sl__builder_op1(b, "Cast", mask);
	}
	sl_builder_int(b, "upper", 1);
	sl_builder_name(b, "causal_mask");
	return sl__builder_op2(b, "Trilu", mask,
			       sl__builder_constant_integer(b, 1));
}

/* x with its last two dimensions swapped. */
static int
turn(struct sl_builder *b, int x)
{
	int rank = sl__builder_rank(b, x);
	int64_t order[8];

	if (rank < 2 || rank > 8)
		return sl__builder_fail(b, SL_E_USAGE,
					"attention over %d dimensions", rank);
	for (int i = 0; i < rank; i++)
		order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
	return sl__builder_transpose(b, x, (size_t)rank, order);
}

/* The factor goes to q, the smallest of what it could be multiplied with. */
int
sl__builder_attend(struct sl_builder *b, const int qkv[3], int64_t width,
		   int mask)
{
	int scale = sl__builder_constant_scalar(
		b, (float)(1 / sqrt((double)width)));
	int q = sl__builder_op2(b, "Mul", qkv[0], scale);
	int k = turn(b, qkv[1]);
	int p;

	sl_builder_name(b, "scores");
	p = sl__builder_op2(b, "MatMul", q, k);
	if (mask >= 0)
		p = sl__builder_op2(b, "Add", p, mask);
	sl_builder_int(b, "axis", -1);
	p = sl__builder_op1(b, "Softmax", p);
	sl_builder_name(b, "context");
	return sl__builder_op2(b, "MatMul", p, qkv[2]);
}

int
sl_builder_attention(struct sl_builder *b, int x, int64_t n_heads,
		     unsigned flags)
{
	static const char *const names[] = {"query", "key", "value"};
	int64_t width = sl__builder_dim_size(b, x, -1);
	int has_bias = (flags & SL_ATTENTION_BIAS) != 0;
	int qkv[3], y;

	if (width < 0)
		return -1;
	if (sl__builder_rank(b, x) != 3 || n_heads < 1 || width % n_heads)
		return sl__builder_fail(b, SL_E_USAGE,
					"attention takes batch x sequence x "
					"width, with a width that %lld heads "
					"divide",
					(long long)n_heads);
	sl__builder_enter_layer(b, "attention");
	for (int i = 0; i < 3; i++) {
		sl_builder_name(b, names[i]);
		qkv[i] = sl_builder_linear(b, x, width, has_bias);
		qkv[i] = sl__builder_split_heads(b, qkv[i], n_heads,
						 width / n_heads);
	}
	y = sl__builder_attend(b, qkv, width / n_heads,
			       flags & SL_ATTENTION_CAUSAL
				       ? sl__builder_causal_mask(b, x, 1)
				       : -1);
	y = sl__builder_join_heads(b, y, n_heads, width / n_heads);
	sl_builder_name(b, "output");
	y = sl_builder_linear(b, y, width, has_bias);
	sl_builder_leave(b);
	return y;
}
