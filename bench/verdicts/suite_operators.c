/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite_operators.c - more of the suite: other operators, a known bottleneck.
 *
 * Until the theory was mended with them in view they were held out.
 */
#include "planted_case.h"

/* Batches of square matrices, none of them a weight. */
static void
build_products(struct sl_builder *b, int64_t n, int n_threads)
{
	const int64_t dims[] = {sl_builder_symbol(b, "batch", 16), n, n};
	int pair[2] = {sl_builder_input(b, "x", SL_DTYPE_F32, 3, dims),
		       sl_builder_input(b, "y", SL_DTYPE_F32, 3, dims)};

	(void)n_threads;
	sl_builder_output(b, sl_builder_op(b, "MatMul", 2, pair), "z");
}

static void
build_wide_conv(struct sl_builder *b, int64_t n, int n_threads)
{
	const struct sl_conv2d conv = {
		.out_channels = 96, .kernel_height = 5, .padding = 2};
	int x = image(b, 96, n, n);

	(void)n_threads;
	for (int i = 0; i < 2; i++)
		x = sl_builder_conv2d(b, x, &conv);
	sl_builder_output(b, x, "y");
}

static void
build_layers(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", 512, n);

	(void)n_threads;
	for (int i = 0; i < 3; i++)
		x = sl_builder_linear(b, x, n, 1);
	sl_builder_output(b, x, "y");
}

static void
add_chain(struct sl_builder *b, const char *type, int x)
{
	for (int i = 0; i < 8; i++)
		x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

static void
build_erf(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_chain(b, "Erf", matrix(b, "x", 32, n_bytes / 4 / 32));
}

static void
build_pools(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	const struct sl_pool2d pool = {
		.kernel_height = 5, .stride = 1, .padding = 2};
	int x = image(b, 64, 32, n_bytes / 4 / 64 / 32);

	(void)n_threads;
	for (int i = 0; i < 6; i++)
		x = sl_builder_max_pool(b, x, &pool);
	sl_builder_output(b, x, "y");
}

/* z = max(x, y), then max(z, y), and so on. */
static void
add_pairs(struct sl_builder *b, const char *type, int64_t n_bytes)
{
	int64_t n = n_bytes / 4 / 3;
	int y = matrix(b, "y", 8, n / 8);
	int pair[2] = {matrix(b, "x", 8, n / 8), y};

	for (int i = 0; i < 8; i++)
		pair[0] = sl_builder_op(b, type, 2, pair);
	sl_builder_output(b, pair[0], "z");
}

static void
build_differences(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_pairs(b, "Sub", n_bytes);
}

static void
build_maxima(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_pairs(b, "Max", n_bytes);
}

/* A row through the feed-forward half of a decoder. */
static void
build_decoder(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t width = 64;
	int x;

	(void)n_threads;
	while (4 * 4 * (width + 64) * (width + 64) < n_bytes)
		width += 64;
	x = matrix(b, "x", 1, width);
	for (int i = 0; i < 2; i++) {
		x = sl_builder_linear(b, x, 4 * width, 0);
		x = sl_builder_linear(b, x, width, 0);
	}
	sl_builder_output(b, x, "y");
}

/* A recurrence of small steps: [batch, steps, 32]. */
static void
add_recurrence(struct sl_builder *b, const char *type, int64_t n_steps,
	       int64_t n_hidden, int64_t n_gates)
{
	int64_t n_directions = n_gates == 4 ? 2 : 1;
	int operands[3] = {
		sl_builder_input(b, "x", SL_DTYPE_F32, 3,
				 (int64_t[]){sl_builder_symbol(b, "batch", 1),
					     n_steps, 32}),
		sl_builder_weight(
			b, "w", 3,
			(int64_t[]){n_directions, n_gates * n_hidden, 32}, 0,
			0.1),
		sl_builder_weight(b, "r", 3,
				  (int64_t[]){n_directions, n_gates * n_hidden,
					      n_hidden},
				  0, 0.1)};

	sl_builder_int(b, "hidden_size", n_hidden);
	sl_builder_int(b, "layout", 1);
	if (n_directions == 2)
		sl_builder_text(b, "direction", "bidirectional");
	sl_builder_output(b, sl_builder_op(b, type, 3, operands), "y");
}

static void
build_gru(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	(void)n_threads;
	add_recurrence(b, "GRU", n_steps, 48, 3);
}

/* Each direction has a thread.  The chain costs little: as many steps that do
 * not wait for each other take 0.86 of the time. */
static void
build_two_lstms(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	(void)n_threads;
	add_recurrence(b, "LSTM", n_steps, 40, 4);
}

/* Single elements of rows, in no order. */
static void
build_columns(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	enum { ROWS = 64 };
	int operands[2];
	int64_t n = n_bytes / 4 / ROWS;

	(void)n_threads;
	operands[0] = sl_builder_weight(b, "table", 2, (int64_t[]){ROWS, n}, 0,
					1);
	operands[1] = sl_builder_input(
		b, "ids", SL_DTYPE_I64, 1,
		(int64_t[]){sl_builder_symbol(b, "batch", n / 8)});
	sl_builder_int(b, "axis", 1);
	sl_builder_output(b, sl_builder_op(b, "Gather", 2, operands), "y");
}

/* [n][4][n] turned to [n][4][n], the last dimension first. */
static void
build_turned(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = 256;
	int x;

	(void)n_threads;
	while (4 * 4 * 2 * n * 2 * n < n_bytes)
		n *= 2;
	x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", n), 4, n});
	sl_builder_ints(b, "perm", 3, (int64_t[]){2, 1, 0});
	sl_builder_output(b, sl_builder_op(b, "Transpose", 1, &x), "y");
}

static void
build_deep(struct sl_builder *b, int64_t n_layers, int n_threads)
{
	int pair[2];

	(void)n_threads;
	pair[0] = pair[1] = matrix(b, "x", 2, 24);
	for (int64_t i = 0; i < n_layers; i++)
		pair[0] = i % 2 ? sl_builder_relu(b, pair[0])
				: sl_builder_op(b, "Sub", 2, pair);
	sl_builder_output(b, pair[0], "y");
}

/* One long row more than there are threads. */
static void
build_norms(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", n_threads + 1, n);

	for (int i = 0; i < 6; i++)
		x = sl_builder_layer_norm(b, x);
	sl_builder_output(b, x, "y");
}

const struct planted suite_operators[] = {
	{"products", 0, COMPUTE, 0, 0, 0, build_products, 384, UNIT_ONE},
	{"wide-conv", 0, COMPUTE, 0, 0, 0, build_wide_conv, 40, UNIT_ONE},
	{"layers-bf16", 0, COMPUTE, 0, 0, SL_DTYPE_BF16, build_layers, 1024,
	 UNIT_ONE},
	{"erf", 0, WORK, APART, 0, 0, build_erf, 0.2, UNIT_L2},
	{"pools", 0, WORK, APART, 0, 0, build_pools, 0.2, UNIT_L2},
	{"differences", 0, DRAM, APART, 0, 0, build_differences, 4, UNIT_L3},
	{"decoder", 0, DRAM, 0, 0, 0, build_decoder, 2, UNIT_L3},
	{"decoder-bf16", 0, DRAM, 0, 0, SL_DTYPE_BF16, build_decoder, 4,
	 UNIT_L3},
	{"maxima-l3", 0, L3, APART, 0, 0, build_maxima, 0.5, UNIT_L3},
	{"maxima-l2", 0, L2, APART, 1, 0, build_maxima, 0.6, UNIT_L2},
	{"gru", 0, LATENCY, 0, 0, 0, build_gru, 200, UNIT_ONE},
	{"two-lstms", 0, COMPUTE, 0, 0, 0, build_two_lstms, 150, UNIT_ONE},
	{"columns", 0, LAYOUT, 0, 0, 0, build_columns, 3, UNIT_L3},
	{"turned", 0, LAYOUT, 0, 0, 0, build_turned, 2, UNIT_L3},
	{"deep", 0, OVERHEAD, APART, 0, 0, build_deep, 600, UNIT_ONE},
	{"norms", 0, IMBALANCE, 0, 0, 0, build_norms, 50000, UNIT_ONE},
};
const size_t n_suite_operators =
	sizeof(suite_operators) / sizeof(suite_operators[0]);
