/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_out.c - models with a known bottleneck on which nothing was tuned.
 *
 * They were written before any of them was run.  No constant, range or kernel
 * of calibration was chosen with them in view, and none may be: the suite is
 * for that.  Operators differ from the suite's and from those of calibration,
 * or stand in another arrangement.
 */
#include "planted_case.h"

#include <math.h>

/* Four groups of 64 channels: 20 multiply-adds for each byte. */
static void
build_grouped(struct sl_builder *b, int64_t n, int n_threads)
{
	const struct sl_conv2d conv = {
		.out_channels = 256, .padding = 1, .groups = 4};
	int x = image(b, 256, n, n);

	(void)n_threads;
	for (int i = 0; i < 3; i++)
		x = sl_builder_conv2d(b, x, &conv);
	sl_builder_output(b, x, "y");
}

/* Each channel by itself, 5 x 5: 25 multiply-adds for each element. */
static void
build_depthwise(struct sl_builder *b, int64_t n, int n_threads)
{
	const struct sl_conv2d conv = {.out_channels = 128,
				       .kernel_height = 5,
				       .padding = 2,
				       .groups = 128};
	int x = image(b, 128, n, n);

	(void)n_threads;
	for (int i = 0; i < 4; i++)
		x = sl_builder_conv2d(b, x, &conv);
	sl_builder_output(b, x, "y");
}

/* Many small matmuls of two activations. */
static void
build_small_matmuls(struct sl_builder *b, int64_t n, int n_threads)
{
	const int64_t dims[] = {sl_builder_symbol(b, "batch", 6), 8, n, n};
	int y = sl_builder_input(b, "y", SL_DTYPE_F32, 4, dims);
	int pair[2] = {sl_builder_input(b, "x", SL_DTYPE_F32, 4, dims), y};

	(void)n_threads;
	for (int i = 0; i < 3; i++)
		pair[0] = sl_builder_op(b, "MatMul", 2, pair);
	sl_builder_output(b, pair[0], "z");
}

/* Convolutions of int8, 3 x 3. */
static void
build_int8_conv(struct sl_builder *b, int64_t n, int n_threads)
{
	enum { CHANNELS = 128 };
	int pair[2] = {image(b, CHANNELS, n, n), 0};

	(void)n_threads;
	for (int i = 0; i < 3; i++) {
		sl_builder_enter(b, i ? i > 1 ? "third" : "second" : "first");
		pair[0] = quantized(b, pair[0], one(b, "x_scale", 0.05f));
		pair[1] = quantized(
			b,
			sl_builder_weight(
				b, "w", 4,
				(int64_t[]){CHANNELS, CHANNELS, 3, 3}, 0, 0.02),
			one(b, "w_scale", 0.001f));
		sl_builder_ints(b, "pads", 4, (int64_t[]){1, 1, 1, 1});
		pair[0] = sl_builder_op(b, "Conv", 2, pair);
		sl_builder_leave(b);
	}
	sl_builder_output(b, quantized(b, pair[0], one(b, "y_scale", 0.05f)),
			  "y");
}

static void
add_chain(struct sl_builder *b, const char *type, int x)
{
	for (int i = 0; i < 8; i++)
		x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

/* Few rows, each of thousands of elements. */
static void
build_long_rows(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t rows = 8 * n_threads;

	add_chain(b, "LogSoftmax", matrix(b, "x", rows, n_bytes / 8 / rows));
}

static void
build_selus(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_chain(b, "Selu", matrix(b, "x", 32, n_bytes / 8 / 32));
}

/* Halves of rows, of whole pages, exchanged: nothing but moving. */
static void
build_halves(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	enum { WIDTH = 1 << 14 };
	int x = matrix(b, "x", n_bytes / 8 / WIDTH, WIDTH);

	(void)n_threads;
	for (int i = 0; i < 3; i++) {
		int parts[2], left;

		sl_builder_int(b, "axis", 1);
		sl_builder_int(b, "num_outputs", 2);
		sl_builder_outputs(b, 2);
		left = sl_builder_op(b, "Split", 1, &x);
		parts[0] = left + 1;
		parts[1] = left;
		sl_builder_int(b, "axis", 1);
		x = sl_builder_op(b, "Concat", 2, parts);
	}
	sl_builder_output(b, x, "y");
}

static void
add_pairs(struct sl_builder *b, const char *type, int64_t n_bytes)
{
	int64_t n = n_bytes / 4 / 3;
	int y = matrix(b, "y", 16, n / 16);
	int pair[2] = {matrix(b, "x", 16, n / 16), y};

	for (int i = 0; i < 6; i++)
		pair[0] = sl_builder_op(b, type, 2, pair);
	sl_builder_output(b, pair[0], "z");
}

static void
build_quotients(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_pairs(b, "Div", n_bytes);
}

static void
build_minima(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_pairs(b, "Min", n_bytes);
}

/* One row by int8 weights beyond the caches. */
static void
build_row_int8(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = (int64_t)sqrt((double)n_bytes) / 64 * 64;
	int pair[2] = {matrix(b, "x", 1, n), 0};

	(void)n_threads;
	pair[0] = quantized(b, pair[0], one(b, "x_scale", 0.05f));
	pair[1] = quantized(
		b, sl_builder_weight(b, "w", 2, (int64_t[]){n, n}, 0, 0.02),
		one(b, "w_scale", 0.001f));
	pair[0] = sl_builder_op(b, "MatMul", 2, pair);
	sl_builder_output(b, quantized(b, pair[0], one(b, "y_scale", 0.05f)),
			  "y");
}

static void
build_clips(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int x = matrix(b, "x", 16, n_bytes / 8 / 16);

	(void)n_threads;
	for (int i = 0; i < 8; i++) {
		int operands[3] = {x, one(b, "low", -1), one(b, "high", 1)};

		x = sl_builder_op(b, "Clip", 3, operands);
	}
	sl_builder_output(b, x, "y");
}

/* As many samples as threads have one each, of few neurons. */
static void
build_lstm_each(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	enum { HIDDEN = 24, INPUT = 24 };
	int operands[3] = {
		sl_builder_input(
			b, "x", SL_DTYPE_F32, 3,
			(int64_t[]){n_steps,
				    sl_builder_symbol(b, "batch", n_threads),
				    INPUT}),
		sl_builder_weight(b, "w", 3,
				  (int64_t[]){1, 4 * HIDDEN, INPUT}, 0, 0.1),
		sl_builder_weight(b, "r", 3,
				  (int64_t[]){1, 4 * HIDDEN, HIDDEN}, 0, 0.1)};

	sl_builder_int(b, "hidden_size", HIDDEN);
	sl_builder_output(b, sl_builder_op(b, "LSTM", 3, operands), "y");
}

/* A GRU of the other formula, forwards and backwards. */
static void
build_gru_late(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	enum { HIDDEN = 20, INPUT = 24 };
	int operands[3] = {
		sl_builder_input(
			b, "x", SL_DTYPE_F32, 3,
			(int64_t[]){n_steps, sl_builder_symbol(b, "batch", 1),
				    INPUT}),
		sl_builder_weight(b, "w", 3,
				  (int64_t[]){2, 3 * HIDDEN, INPUT}, 0, 0.1),
		sl_builder_weight(b, "r", 3,
				  (int64_t[]){2, 3 * HIDDEN, HIDDEN}, 0, 0.1)};

	(void)n_threads;
	sl_builder_int(b, "hidden_size", HIDDEN);
	sl_builder_int(b, "linear_before_reset", 1);
	sl_builder_text(b, "direction", "bidirectional");
	sl_builder_output(b, sl_builder_op(b, "GRU", 3, operands), "y");
}

/* One chain, without gates. */
static void
build_rnn_reverse(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	enum { HIDDEN = 40, INPUT = 20 };
	int operands[3] = {
		sl_builder_input(
			b, "x", SL_DTYPE_F32, 3,
			(int64_t[]){n_steps, sl_builder_symbol(b, "batch", 1),
				    INPUT}),
		sl_builder_weight(b, "w", 3, (int64_t[]){1, HIDDEN, INPUT}, 0,
				  0.1),
		sl_builder_weight(b, "r", 3, (int64_t[]){1, HIDDEN, HIDDEN}, 0,
				  0.1)};

	(void)n_threads;
	sl_builder_int(b, "hidden_size", HIDDEN);
	sl_builder_text(b, "direction", "reverse");
	sl_builder_output(b, sl_builder_op(b, "RNN", 3, operands), "y");
}

/* Rows of two numbers each, in no order. */
static void
build_two_numbers(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = n_bytes / 4 / 2;
	int ids = sl_builder_input(
		b, "ids", SL_DTYPE_I64, 1,
		(int64_t[]){sl_builder_symbol(b, "batch", n / 4)});

	(void)n_threads;
	sl_builder_output(b, sl_builder_embedding(b, ids, n, 2), "y");
}

/* A transpose of pairs: runs of eight bytes, a power of two apart. */
static void
build_turned_pairs(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = 256;
	int x;

	(void)n_threads;
	while (2 * 2 * 4 * 2 * n * 2 * n < n_bytes)
		n *= 2;
	x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", n), n, 2});
	sl_builder_ints(b, "perm", 3, (int64_t[]){1, 0, 2});
	sl_builder_output(b, sl_builder_op(b, "Transpose", 1, &x), "y");
}

/* A row of few numbers, cut and joined again and again. */
static void
build_snippets(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", 1, 24);

	(void)n_threads;
	for (int64_t i = 0; i < n; i++) {
		int parts[2], left;

		sl_builder_int(b, "axis", 1);
		sl_builder_int(b, "num_outputs", 2);
		sl_builder_outputs(b, 2);
		left = sl_builder_op(b, "Split", 1, &x);
		parts[0] = left + 1;
		parts[1] = left;
		sl_builder_int(b, "axis", 1);
		x = sl_builder_op(b, "Concat", 2, parts);
	}
	sl_builder_output(b, x, "y");
}

/* One long channel more than there are threads. */
static void
build_instances(struct sl_builder *b, int64_t n, int n_threads)
{
	const int64_t channels = n_threads + 1;
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), channels, n});

	for (int i = 0; i < 6; i++) {
		int operands[3] = {
			x, sl_builder_weight(b, "scale", 1, &channels, 1, 0),
			sl_builder_weight(b, "bias", 1, &channels, 0, 0)};

		x = sl_builder_op(b, "InstanceNormalization", 3, operands);
	}
	sl_builder_output(b, x, "y");
}

const struct planted held_out[] = {
	{"grouped-conv", 0, COMPUTE, DIRECT, 0, 0, build_grouped, 28, UNIT_ONE},
	{"depthwise-5", 0, COMPUTE, APART, 0, 0, build_depthwise, 28, UNIT_ONE},
	{"small-matmuls", 0, COMPUTE, 0, 0, 0, build_small_matmuls, 96,
	 UNIT_ONE},
	{"int8-conv", 0, COMPUTE, DIRECT, 0, 0, build_int8_conv, 28, UNIT_ONE},
	{"long-rows", 0, WORK, APART, 0, 0, build_long_rows, 0.4, UNIT_L2},
	{"selus", 0, WORK, APART, 0, 0, build_selus, 0.4, UNIT_L2},
	{"halves", 0, DRAM, APART, 0, 0, build_halves, 5, UNIT_L3},
	{"quotients", 0, DRAM, APART, 0, 0, build_quotients, 5, UNIT_L3},
	{"row-int8", 0, DRAM, 0, 0, 0, build_row_int8, 3, UNIT_L3},
	{"clips-l3", 0, L3, APART, 0, 0, build_clips, 0.35, UNIT_L3},
	{"minima-l2", 0, L2, APART, 1, 0, build_minima, 0.5, UNIT_L2},
	{"lstm-each", 0, LATENCY, 0, 0, 0, build_lstm_each, 240, UNIT_ONE},
	{"gru-late", 0, LATENCY, 0, 0, 0, build_gru_late, 180, UNIT_ONE},
	{"rnn-reverse", 0, LATENCY, 0, 0, 0, build_rnn_reverse, 400, UNIT_ONE},
	{"two-numbers", 0, LAYOUT, 0, 0, 0, build_two_numbers, 4, UNIT_L3},
	{"turned-pairs", 0, LAYOUT, 0, 0, 0, build_turned_pairs, 3, UNIT_L3},
	{"snippets", 0, OVERHEAD, APART, 0, 0, build_snippets, 300, UNIT_ONE},
	{"instances", 0, IMBALANCE, 0, 0, 0, build_instances, 40000, UNIT_ONE},
};
const size_t n_held_out = sizeof(held_out) / sizeof(held_out[0]);
