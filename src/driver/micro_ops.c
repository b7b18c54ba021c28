/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_ops.c - operations as models of one node, at any size.
 *
 * Element-wise ones go from what the first cache holds to what no cache does;
 * the others over the sizes that networks have.
 */
#include "driver/micro_ops.h"

#include <string.h>

#include "base/banned.h"

enum {
	ROW = 1024, /* of softmax, normalisation */
	HEADS = 12, /* of attention, with */
	HEAD = 64,  /* numbers each */
	IMAGE = 30, /* height and width under convolutions, which
		       leave 28: padding would count work that
		       kernels do not do */
	FURTHER = 4 /* doublings beyond 'last' */
};

static int64_t
row_of(int64_t n)
{
	return n % ROW || n < ROW ? n : ROW;
}

const char *
sl__micro_op_shape(const struct sl__micro_op *op, int64_t n,
		   struct sl__arena *arena)
{
	const char *form = op->form;
	const char *text = "";

	for (; text && *form; form++) {
		int64_t value = *form == 'N'   ? n
				: *form == 'R' ? n / row_of(n)
				: *form == 'W' ? row_of(n)
					       : 0;

		text = value ? sl__arena_format(arena, "%s%lld", text,
						(long long)value)
			     : sl__arena_format(arena, "%s%c", text, *form);
	}
	return text;
}

static int
input(struct sl_builder *b, const char *name, size_t rank, const int64_t *dims)
{
	return sl_builder_input(b, name, SL_DTYPE_F32, rank, dims);
}

/* One operator over as many vectors as it takes. */
static int
build_elements(struct sl_builder *b, const struct sl__micro_op *what, int64_t n)
{
	int in[2] = {input(b, what->n_inputs > 1 ? "a" : "x", 1, &n), -1};

	if (what->n_inputs > 1)
		in[1] = input(b, "b", 1, &n);
	return sl_builder_op(b, what->type, what->n_inputs, in);
}

static int
build_sum(struct sl_builder *b, int64_t n)
{
	int x = input(b, "x", 1, &n);

	sl_builder_int(b, "keepdims", 0);
	return sl_builder_op(b, "ReduceSum", 1, &x);
}

static int
rows(struct sl_builder *b, int64_t n)
{
	return input(b, "x", 2, (int64_t[]){n / row_of(n), row_of(n)});
}

static int
build_softmax(struct sl_builder *b, int64_t n)
{
	int x = rows(b, n);

	sl_builder_int(b, "axis", -1);
	return sl_builder_op(b, "Softmax", 1, &x);
}

static int
build_layernorm(struct sl_builder *b, int64_t n)
{
	return sl_builder_layer_norm(b, rows(b, n));
}

static int
build_transpose(struct sl_builder *b, int64_t n)
{
	int x = input(b, "x", 2, (int64_t[]){n, n});

	sl_builder_ints(b, "perm", 2, (int64_t[]){1, 0});
	return sl_builder_op(b, "Transpose", 1, &x);
}

static int
build_matmul(struct sl_builder *b, int64_t n)
{
	int64_t dims[2] = {n, n};
	int in[2] = {input(b, "a", 2, dims), -1};

	in[1] = input(b, "b", 2, dims);
	return sl_builder_op(b, "MatMul", 2, in);
}

static int
build_linear(struct sl_builder *b, int64_t n)
{
	return sl_builder_linear(b, input(b, "x", 2, (int64_t[]){1, n}), n, 0);
}

static int
convolve(struct sl_builder *b, int64_t n, int64_t groups)
{
	int x = input(b, "x", 4, (int64_t[]){1, n, IMAGE, IMAGE});
	struct sl_conv2d conv = {.out_channels = n, .groups = groups};

	return sl_builder_conv2d(b, x, &conv);
}

static int
build_conv(struct sl_builder *b, int64_t n)
{
	return convolve(b, n, 1);
}

static int
build_depthwise(struct sl_builder *b, int64_t n)
{
	return convolve(b, n, n);
}

/* Two products with a softmax between, which plans do as one step. */
static int
build_attention(struct sl_builder *b, int64_t n)
{
	static const char *const names[] = {"q", "k", "v"};
	int64_t dims[3] = {HEADS, n, HEAD};
	int qkv[3], in[2];

	for (int i = 0; i < 3; i++)
		qkv[i] = input(b, names[i], 3, dims);
	sl_builder_ints(b, "perm", 3, (int64_t[]){0, 2, 1});
	in[0] = qkv[0];
	in[1] = sl_builder_op(b, "Transpose", 1, &qkv[1]);
	in[0] = sl_builder_op(b, "MatMul", 2, in);
	sl_builder_int(b, "axis", -1);
	in[0] = sl_builder_op(b, "Softmax", 1, in);
	in[1] = qkv[2];
	return sl_builder_op(b, "MatMul", 2, in);
}

#define KI 1024
#define MI (1024 * 1024)

/* Four sizes: of element-wise ones, one for each place that data lie in. */
static const int64_t all_elements[] = {4 * KI, 64 * KI, MI, 8 * MI, 0};
static const int64_t all_square[] = {64, 256, 512, 1024, 0};
static const int64_t all_channels[] = {16, 64, 128, 256, 0};

static const struct sl__micro_op ops[] = {
	{"add", "element-wise", "y = a + b", SL_MICRO_AXIS_ELEMENTS, KI, 4 * MI,
	 12, all_elements, "N, N", NULL, "Add", 2},
	{"mul", "element-wise", "y = a * b", SL_MICRO_AXIS_ELEMENTS, KI, 4 * MI,
	 12, NULL, "N, N", NULL, "Mul", 2},
	{"relu", "element-wise", "y = max(x, 0)", SL_MICRO_AXIS_ELEMENTS, KI,
	 4 * MI, 8, NULL, "N", NULL, "Relu", 1},
	{"gelu", "element-wise", "y = x (1 + erf(x / sqrt 2)) / 2",
	 SL_MICRO_AXIS_ELEMENTS, KI, 4 * MI, 8, all_elements, "N", NULL, "Gelu",
	 1},
	{"tanh", "element-wise", "y = tanh x", SL_MICRO_AXIS_ELEMENTS, KI,
	 4 * MI, 8, NULL, "N", NULL, "Tanh", 1},
	{"sum", "reduction", "all numbers added up", SL_MICRO_AXIS_ELEMENTS, KI,
	 4 * MI, 4, all_elements, "N", build_sum, NULL, 0},
	{"softmax", "softmax", "over rows of 1024", SL_MICRO_AXIS_ELEMENTS, KI,
	 4 * MI, 8, all_elements, "RxW", build_softmax, NULL, 0},
	{"layernorm", "normalisation", "over rows of 1024",
	 SL_MICRO_AXIS_ELEMENTS, KI, 4 * MI, 8, all_elements, "RxW",
	 build_layernorm, NULL, 0},
	{"transpose", "movement", "an N x N matrix", SL_MICRO_AXIS_N, 32, 4096,
	 0, NULL, "NxN", build_transpose, NULL, 0},
	{"matmul", "GEMM", "two N x N matrices", SL_MICRO_AXIS_N, 32, 2048, 0,
	 all_square, "NxN * NxN", build_matmul, NULL, 0},
	{"linear", "GEMV", "one row times N x N weights", SL_MICRO_AXIS_N, 64,
	 2048, 0, NULL, "1xN * NxN", build_linear, NULL, 0},
	{"attention", "attention", "12 heads of 64, seq x seq",
	 SL_MICRO_AXIS_SEQ, 64, 2048, 0, all_square, "3 of 12xNx64",
	 build_attention, NULL, 0},
	{"conv", "convolution", "3 x 3 to 28 x 28 pixels, C to C channels",
	 SL_MICRO_AXIS_CHANNELS, 8, 512, 0, all_channels, "1xNx30x30",
	 build_conv, NULL, 0},
	{"depthwise", "convolution",
	 "3 x 3 to 28 x 28 pixels, each channel alone", SL_MICRO_AXIS_CHANNELS,
	 8, 4096, 0, NULL, "1xNx30x30", build_depthwise, NULL, 0},
};

enum { N_MICRO_OPS = sizeof(ops) / sizeof(ops[0]) };

const struct sl__micro_op *
sl__micro_op_at(size_t i)
{
	return i < N_MICRO_OPS ? &ops[i] : NULL;
}

const struct sl__micro_op *
sl__micro_op_find(const char *name)
{
	for (size_t i = 0; i < N_MICRO_OPS; i++) {
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	}
	return NULL;
}

const char *
sl_microbench_op(size_t i)
{
	return i < N_MICRO_OPS ? ops[i].name : NULL;
}

size_t
sl__micro_op_sizes(const struct sl__micro_op *op, double cache_bytes,
		   int64_t values[SL__MICRO_OP_SIZES_MAX])
{
	int64_t last = op->last;
	size_t n = 0;

	for (int i = 0; i < FURTHER; i++) {
		if (op->value_bytes * (double)last < 2 * cache_bytes &&
		    op->value_bytes > 0)
			last *= 2;
	}
	for (int64_t v = op->first; v <= last; v *= 2)
		values[n++] = v;
	return n;
}

enum sl_status
sl__micro_op_model(struct sl_graph **out, const struct sl__micro_op *op,
		   int64_t value, uint64_t seed,
		   const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_graph_options how = {.struct_size = sizeof(how),
				       .seed = seed,
				       .allocator = allocator};
	struct sl_builder *b;
	enum sl_status rc;

	*out = NULL;
	rc = sl_builder_new(&b, op->name, &how, err);
	if (rc)
		return rc;
	sl_builder_output(b,
			  op->build ? op->build(b, value)
				    : build_elements(b, op, value),
			  "y");
	rc = sl_builder_finish(out, b, err);
	sl_builder_free(b);
	return rc;
}
