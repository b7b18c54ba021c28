/* SPDX-License-Identifier: Apache-2.0 */
/* suite.c - models built so that their bottleneck is known. */
#include "planted_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One matmul of square matrices. */
static void
build_square(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", n, n);

	(void)n_threads;
	sl_builder_output(b, sl_builder_linear(b, x, n, 0), "y");
}

/* A row by square matrices of so many bytes each: every weight is used once. */
static void
build_row(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = (int64_t)sqrt((double)n_bytes / 4) / 16 * 16;
	int x = matrix(b, "x", 1, n);

	(void)n_threads;
	for (int i = 0; i < 4; i++)
		x = sl_builder_linear(b, x, n, 0);
	sl_builder_output(b, x, "y");
}

/* y = y + x, over and over; both have all the bytes. */
static void
add_pairs(struct sl_builder *b, const char *type, int64_t n_bytes)
{
	int x = matrix(b, "x", 1, n_bytes / 8);
	int pair[2] = {x, x};

	for (int i = 0; i < 8; i++)
		pair[0] = sl_builder_op(b, type, 2, pair);
	sl_builder_output(b, pair[0], "y");
}

static void
build_sums(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_pairs(b, "Add", n_bytes);
}

static void
build_scalings(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_pairs(b, "Mul", n_bytes);
}

/* Of one operand, over and over. */
static void
add_chain(struct sl_builder *b, const char *type, int x, int n)
{
	for (int i = 0; i < n; i++)
		x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

static void
build_relus(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_chain(b, "Relu", matrix(b, "x", 8, n_bytes / 8 / 8), 8);
}

static void
build_sigmoids(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_chain(b, "Sigmoid", matrix(b, "x", 32, n_bytes / 8 / 32), 12);
}

static void
build_cosines(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_chain(b, "Cos", matrix(b, "x", 32, n_bytes / 8 / 32), 4);
}

static void
build_softpluses(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_chain(b, "Softplus", matrix(b, "x", 32, n_bytes / 8 / 32), 8);
}

static void
build_softmaxes(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_chain(b, "Softmax", matrix(b, "x", 256, n_bytes / 8 / 256), 8);
}

static void
build_averages(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	const struct sl_pool2d pool = {
		.kernel_height = 3, .stride = 1, .padding = 1};
	int x = image(b, 64, 24, n_bytes / 8 / 64 / 24);

	(void)n_threads;
	for (int i = 0; i < 6; i++)
		x = sl_builder_average_pool(b, x, &pool);
	sl_builder_output(b, x, "y");
}

/* Operations on a handful of numbers, some of which wake all threads. */
static void
build_storm(struct sl_builder *b, int64_t n, int n_threads)
{
	static const char *const types[] = {"Add", "Softmax", "Tanh"};
	int x = matrix(b, "x", 4, 16);
	int pair[2] = {x, x};

	(void)n_threads;
	for (int64_t i = 0; i < n; i++) {
		if (i % 4 == 3)
			pair[0] = sl_builder_linear(b, pair[0], 16, 1);
		else
			pair[0] = sl_builder_op(b, types[i % 4], i % 4 ? 1 : 2,
						pair);
	}
	sl_builder_output(b, pair[0], "y");
}

/* Layers of eight neurons. */
static void
build_thin(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", 1, 8);

	(void)n_threads;
	for (int64_t i = 0; i < n; i++)
		x = sl_builder_linear(b, x, 8, 1);
	sl_builder_output(b, x, "y");
}

static void
build_conv(struct sl_builder *b, int64_t n, int n_threads)
{
	const struct sl_conv2d conv = {.out_channels = 64, .padding = 1};
	int x = image(b, 64, n, n);

	(void)n_threads;
	sl_builder_output(b, sl_builder_conv2d(b, x, &conv), "y");
}

static void
build_pointwise(struct sl_builder *b, int64_t n, int n_threads)
{
	const struct sl_conv2d conv = {.out_channels = 256, .kernel_height = 1};
	int x = image(b, 256, n, n);

	(void)n_threads;
	for (int i = 0; i < 3; i++)
		x = sl_builder_conv2d(b, x, &conv);
	sl_builder_output(b, x, "y");
}

static void
build_attention(struct sl_builder *b, int64_t seq, int n_threads)
{
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), seq, 256});

	(void)n_threads;
	sl_builder_output(b, sl_builder_attention(b, x, 4, 0), "y");
}

/* A multilayer perceptron for many samples. */
static void
build_mlp(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", 256, n);

	(void)n_threads;
	for (int i = 0; i < 4; i++)
		x = sl_builder_relu(b, sl_builder_linear(b, x, n, 1));
	sl_builder_output(b, x, "y");
}

static void
add_quantized(struct sl_builder *b, int x, int64_t n, int n_layers)
{
	int pair[2] = {x, 0};

	for (int i = 0; i < n_layers; i++) {
		char name[32];

		snprintf(name, sizeof(name), "layer%d", i);
		sl_builder_enter(b, name);
		pair[0] = quantized(b, pair[0], one(b, "x_scale", 0.05f));
		pair[1] = quantized(b,
				    sl_builder_weight(b, "w", 2,
						      (int64_t[]){n, n}, 0,
						      0.05),
				    one(b, "w_scale", 0.002f));
		pair[0] = sl_builder_op(b, "MatMul", 2, pair);
		sl_builder_leave(b);
	}
	sl_builder_output(b, quantized(b, pair[0], one(b, "y_scale", 0.05f)),
			  "y");
}

static void
build_int8(struct sl_builder *b, int64_t n, int n_threads)
{
	(void)n_threads;
	add_quantized(b, matrix(b, "x", n, n), n, 2);
}

/* Twenty layers, of which one has 49 times the work. */
static void
build_slow(struct sl_builder *b, int64_t n, int n_threads)
{
	const struct sl_conv2d quick = {.out_channels = 32, .kernel_height = 1};
	const struct sl_conv2d slow = {
		.out_channels = 32, .kernel_height = 7, .padding = 3};
	int x = image(b, 32, n, n);

	(void)n_threads;
	for (int i = 0; i < 20; i++) {
		char name[32];

		snprintf(name, sizeof(name), "layer%d", i);
		sl_builder_enter(b, i == 13 ? "slow" : name);
		x = sl_builder_conv2d(b, x, i == 13 ? &slow : &quick);
		sl_builder_leave(b);
	}
	sl_builder_output(b, x, "y");
}

/* A small image, blown up and averaged again at the end of a chain. */
static void
build_spike(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = image(b, 1, 64, 64);
	int blown[2];

	(void)n_threads;
	for (int i = 0; i < 6; i++)
		x = sl_builder_op(b, i % 2 ? "Tanh" : "Sigmoid", 1, &x);
	blown[0] = x;
	blown[1] = sl_builder_integers(b, "repeats", 1, (int64_t[]){4},
				       (int64_t[]){1, 1, n, n});
	sl_builder_name(b, "spike");
	x = sl_builder_op(b, "Tile", 2, blown);
	x = sl_builder_op(b, "GlobalAveragePool", 1, &x);
	sl_builder_output(b, x, "y");
}

/* One row more than there are threads: one of them has two. */
static void
build_uneven(struct sl_builder *b, int64_t n, int n_threads)
{
	add_chain(b, "Softmax", matrix(b, "x", n_threads + 1, n), 6);
}

static void
build_uneven_logs(struct sl_builder *b, int64_t n, int n_threads)
{
	add_chain(b, "LogSoftmax", matrix(b, "x", n_threads + 1, n), 6);
}

/* One row: the other threads have nothing to do. */
static void
build_one_row(struct sl_builder *b, int64_t n, int n_threads)
{
	(void)n_threads;
	add_chain(b, "Softmax", matrix(b, "x", 1, n), 6);
}

/* A recurrence of small steps. */
static void
add_recurrence(struct sl_builder *b, const char *type, int64_t n_steps,
	       int64_t n_hidden, int64_t n_gates)
{
	int operands[3] = {
		sl_builder_input(b, "x", SL_DTYPE_F32, 3,
				 (int64_t[]){sl_builder_symbol(b, "batch", 1),
					     n_steps, 16}),
		sl_builder_weight(b, "w", 3,
				  (int64_t[]){1, n_gates * n_hidden, 16}, 0,
				  0.1),
		sl_builder_weight(
			b, "r", 3,
			(int64_t[]){1, n_gates * n_hidden, n_hidden}, 0, 0.1)};

	sl_builder_int(b, "hidden_size", n_hidden);
	sl_builder_int(b, "layout", 1);
	sl_builder_output(b, sl_builder_op(b, type, 3, operands), "y");
}

static void
build_lstm(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	(void)n_threads;
	add_recurrence(b, "LSTM", n_steps, 32, 4);
}

static void
build_rnn(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	(void)n_threads;
	add_recurrence(b, "RNN", n_steps, 48, 1);
}

/* Rows of half a line, in no order. */
static void
build_rows(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = n_bytes / 4 / 8;
	int ids = sl_builder_input(
		b, "ids", SL_DTYPE_I64, 1,
		(int64_t[]){sl_builder_symbol(b, "batch", n / 4)});

	(void)n_threads;
	sl_builder_output(b, sl_builder_embedding(b, ids, n, 8), "y");
}

static int64_t
side_of(int64_t n_bytes)
{
	int64_t n = 64;

	while (4 * 4 * n * n <= n_bytes)
		n *= 2;
	return n;
}

static void
build_transpose(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = side_of(n_bytes);
	int x = matrix(b, "x", n, n);

	(void)n_threads;
	sl_builder_ints(b, "perm", 2, (int64_t[]){1, 0});
	sl_builder_output(b, sl_builder_op(b, "Transpose", 1, &x), "y");
}

/* Heads of attention brought together, the last dimension moved. */
static void
build_turned(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = side_of(n_bytes) / 2;
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", 4), n, n});

	(void)n_threads;
	sl_builder_ints(b, "perm", 3, (int64_t[]){0, 2, 1});
	sl_builder_output(b, sl_builder_op(b, "Transpose", 1, &x), "y");
}

const struct planted suite[] = {
	{"square-768", 0, COMPUTE, 0, 0, 0, build_square, 768, UNIT_ONE},
	{"square-1536", 0, COMPUTE, 0, 0, 0, build_square, 1536, UNIT_ONE},
	{"square-bf16", 0, COMPUTE, 0, 0, BF16, build_square, 1536, UNIT_ONE},
	{"int8-1024", 0, COMPUTE, 0, 0, 0, build_int8, 1024, UNIT_ONE},
	{"mlp-512", 0, COMPUTE, 0, 0, 0, build_mlp, 512, UNIT_ONE},
	{"conv", 0, COMPUTE, DIRECT, 0, 0, build_conv, 96, UNIT_ONE},
	{"pointwise", 0, COMPUTE, 0, 0, 0, build_pointwise, 28, UNIT_ONE},
	{"attention-256", 0, COMPUTE, 0, 0, 0, build_attention, 256, UNIT_ONE},
	{"attention-1024", 0, COMPUTE, 0, 0, 0, build_attention, 1024,
	 UNIT_ONE},
	{"attention-2048", 0, COMPUTE, 0, 0, 0, build_attention, 2048,
	 UNIT_ONE},
	{"sigmoids", 0, WORK, APART, 0, 0, build_sigmoids, 0.5, UNIT_L2},
	{"cosines", 0, WORK, APART, 0, 0, build_cosines, 0.6, UNIT_L2},
	{"softpluses", 0, WORK, APART, 0, 0, build_softpluses, 0.5, UNIT_L2},
	{"softmaxes", 0, WORK, APART, 0, 0, build_softmaxes, 2, UNIT_L2},
	{"averages", 0, WORK, APART, 0, 0, build_averages, 0.5, UNIT_L2},
	{"sums-l2", 0, L2, APART, 1, 0, build_sums, 0.4, UNIT_L2},
	{"scalings-l2", 0, L2, APART, 1, 0, build_scalings, 0.6, UNIT_L2},
	{"relus-l2", 0, L2, APART, 1, 0, build_relus, 0.8, UNIT_L2},
	{"sums-l3", 0, L3, APART, 0, 0, build_sums, 0.2, UNIT_L3},
	{"scalings-l3", 0, L3, APART, 0, 0, build_scalings, 0.3, UNIT_L3},
	{"relus-l3", 0, L3, APART, 0, 0, build_relus, 0.4, UNIT_L3},
	{"row-small", 0, DRAM, 0, 0, 0, build_row, 0.75, UNIT_L3},
	{"row-large", 0, DRAM, 0, 0, 0, build_row, 2, UNIT_L3},
	{"row-bf16", 0, DRAM, 0, 0, BF16, build_row, 4, UNIT_L3},
	{"sums-memory", 0, DRAM, APART, 0, 0, build_sums, 5, UNIT_L3},
	{"scalings-memory", 0, DRAM, APART, 0, 0, build_scalings, 8, UNIT_L3},
	{"relus-memory", 0, DRAM, APART, 0, 0, build_relus, 6, UNIT_L3},
	{"lstm-200", 0, LATENCY, 0, 0, 0, build_lstm, 200, UNIT_ONE},
	{"lstm-1000", 0, LATENCY, 0, 0, 0, build_lstm, 1000, UNIT_ONE},
	{"rnn-600", 0, LATENCY, 0, 0, 0, build_rnn, 600, UNIT_ONE},
	{"rows-memory", 0, LAYOUT, 0, 0, 0, build_rows, 3, UNIT_L3},
	{"transpose", 0, LAYOUT, 0, 0, 0, build_transpose, 2, UNIT_L3},
	{"transpose-large", 0, LAYOUT, 0, 0, 0, build_transpose, 8, UNIT_L3},
	{"turned-4", 0, LAYOUT, 0, 0, 0, build_turned, 4, UNIT_L3},
	{"storm-8000", 0, OVERHEAD, APART, 0, 0, build_storm, 8000, UNIT_ONE},
	{"storm-1000", 0, OVERHEAD, APART, 0, 0, build_storm, 1000, UNIT_ONE},
	{"thin-800", 0, OVERHEAD, 0, 0, 0, build_thin, 800, UNIT_ONE},
	{"uneven", 0, IMBALANCE, 0, 0, 0, build_uneven, 1 << 15, UNIT_ONE},
	{"uneven-logs", 0, IMBALANCE, 0, 0, 0, build_uneven_logs, 60000,
	 UNIT_ONE},
	{"one-row", 0, IMBALANCE, 0, 0, 0, build_one_row, 1 << 17, UNIT_ONE},
	{"plain-conv", 0, REFERENCE, PLAIN, 0, 0, build_conv, 24, UNIT_ONE},
	{"plain-square", 0, REFERENCE, PLAIN, 0, 0, build_square, 160,
	 UNIT_ONE},
	{"slow-layer", ASKS_TOP, COMPUTE, 0, 0, 0, build_slow, 56, UNIT_ONE},
	{"memory-spike", ASKS_PEAK, 0, 0, 0, 0, 0, build_spike, 16, UNIT_ONE},
};
const size_t n_suite = sizeof(suite) / sizeof(suite[0]);
