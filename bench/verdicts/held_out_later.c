/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_out_later.c - more models with a known bottleneck on which nothing was
 * tuned.
 *
 * They were written, with their answers, when those of held_out.c had been run
 * on several machines, and before any of them was run.
 */
#include "planted_case.h"

/* Images grow twice as large in each direction, twice. */
static void
build_upsampling(struct sl_builder *b, int64_t n, int n_threads)
{
	enum { CHANNELS = 64 };
	int pair[2] = {image(b, CHANNELS, n, n), 0};

	(void)n_threads;
	for (int i = 0; i < 2; i++) {
		sl_builder_enter(b, i ? "second" : "first");
		pair[1] = sl_builder_weight(
			b, "w", 4, (int64_t[]){CHANNELS, CHANNELS, 4, 4}, 0,
			0.02);
		sl_builder_ints(b, "strides", 2, (int64_t[]){2, 2});
		sl_builder_ints(b, "pads", 4, (int64_t[]){1, 1, 1, 1});
		pair[0] = sl_builder_op(b, "ConvTranspose", 2, pair);
		sl_builder_leave(b);
	}
	sl_builder_output(b, pair[0], "y");
}

/* Sizes that no block divides. */
static void
build_odd_products(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", n, 1111);

	(void)n_threads;
	x = sl_builder_linear(b, x, 777, 1);
	x = sl_builder_linear(b, x, 1111, 1);
	sl_builder_output(b, x, "y");
}

static void
build_large_kernels(struct sl_builder *b, int64_t n, int n_threads)
{
	const struct sl_conv2d conv = {
		.out_channels = 96, .kernel_height = 5, .padding = 2};
	int x = image(b, 96, n, n);

	(void)n_threads;
	for (int i = 0; i < 3; i++)
		x = sl_builder_conv2d(b, x, &conv);
	sl_builder_output(b, x, "y");
}

static void
add_elements(struct sl_builder *b, const char *type, int64_t n_bytes)
{
	int x = matrix(b, "x", 32, n_bytes / 8 / 32);

	for (int i = 0; i < 8; i++)
		x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

static void
build_arctans(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_elements(b, "Atan", n_bytes);
}

static void
build_floors(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_elements(b, "Floor", n_bytes);
}

/* One thing to be moved twice for each element: what is added is a row. */
static void
build_shifts(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	enum { WIDTH = 4096 };
	int pair[2] = {matrix(b, "x", n_bytes / 8 / WIDTH, WIDTH),
		       sl_builder_weight(b, "shift", 1, (int64_t[]){WIDTH}, 0,
					 0.1)};

	(void)n_threads;
	for (int i = 0; i < 4; i++)
		pair[0] = sl_builder_op(b, i % 2 ? "Sub" : "Add", 2, pair);
	sl_builder_output(b, pair[0], "y");
}

/* Powers with an exponent that is no whole number. */
static void
build_powers(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int pair[2] = {matrix(b, "x", 32, n_bytes / 8 / 32),
		       one(b, "exponent", 1.7f)};

	(void)n_threads;
	pair[0] = sl_builder_op(b, "Abs", 1, pair);
	for (int i = 0; i < 8; i++)
		pair[0] = sl_builder_op(b, "Pow", 2, pair);
	sl_builder_output(b, pair[0], "y");
}

static void
build_means(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	int64_t n = n_bytes / 4 / 3;
	int y = matrix(b, "y", 16, n / 16);
	int pair[2] = {matrix(b, "x", 16, n / 16), y};

	(void)n_threads;
	for (int i = 0; i < 6; i++)
		pair[0] = sl_builder_op(b, "Mean", 2, pair);
	sl_builder_output(b, pair[0], "z");
}

/* Read once, next to nothing written.  It was planted as DRAM; its rows are
 * folded at a third of what DRAM gives, beside a hog as well. */
static void
build_row_maxima(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	enum { WIDTH = 1024 };
	static const char *const types[] = {"ReduceMax", "ReduceMin"};
	int64_t axis = -1;
	int axes = sl_builder_integers(b, "axes", 1, (int64_t[]){1}, &axis);
	int operands[2] = {matrix(b, "x", n_bytes / 4 / WIDTH, WIDTH), axes};

	(void)n_threads;
	for (int i = 0; i < 2; i++)
		sl_builder_output(b, sl_builder_op(b, types[i], 2, operands),
				  types[i]);
}

/* One sample, one direction. */
static void
build_gru_40(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	enum { HIDDEN = 40, INPUT = 32 };
	int operands[3] = {
		sl_builder_input(
			b, "x", SL_DTYPE_F32, 3,
			(int64_t[]){n_steps, sl_builder_symbol(b, "batch", 1),
				    INPUT}),
		sl_builder_weight(b, "w", 3,
				  (int64_t[]){1, 3 * HIDDEN, INPUT}, 0, 0.1),
		sl_builder_weight(b, "r", 3,
				  (int64_t[]){1, 3 * HIDDEN, HIDDEN}, 0, 0.1)};

	(void)n_threads;
	sl_builder_int(b, "hidden_size", HIDDEN);
	sl_builder_output(b, sl_builder_op(b, "GRU", 3, operands), "y");
}

/* Pixels of 48 channels each become 48 planes. */
static void
build_planes(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	enum { CHANNELS = 48, SIDE = 128 };
	int64_t n = n_bytes / 8 / CHANNELS / SIDE / SIDE;
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 4,
		(int64_t[]){sl_builder_symbol(b, "batch", n), SIDE, SIDE,
			    CHANNELS});

	(void)n_threads;
	sl_builder_ints(b, "perm", 4, (int64_t[]){0, 3, 1, 2});
	sl_builder_output(b, sl_builder_op(b, "Transpose", 1, &x), "y");
}

static void
build_tiny_rows(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", 4, 8);

	(void)n_threads;
	for (int64_t i = 0; i < n; i++)
		x = sl_builder_op(b, "Softmax", 1, &x);
	sl_builder_output(b, x, "y");
}

/* One row: a second thread has none. */
static void
build_one_norm(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", 1, n);

	(void)n_threads;
	for (int i = 0; i < 6; i++)
		x = sl_builder_layer_norm(b, x);
	sl_builder_output(b, x, "y");
}

const struct planted held_out_later[] = {
	{"upsampling", 0, COMPUTE, DIRECT, 0, 0, build_upsampling, 28,
	 UNIT_ONE},
	{"odd-products", 0, COMPUTE, 0, 0, 0, build_odd_products, 333,
	 UNIT_ONE},
	{"large-kernels", 0, COMPUTE, DIRECT, 0, 0, build_large_kernels, 36,
	 UNIT_ONE},
	{"large-kernels-bf16", 0, COMPUTE, DIRECT, 0, BF16, build_large_kernels,
	 36, UNIT_ONE},
	{"arctans", 0, WORK, APART, 0, 0, build_arctans, 0.4, UNIT_L2},
	{"powers", 0, WORK, APART, 0, 0, build_powers, 0.4, UNIT_L2},
	{"floors-l2", 0, L2, APART, 1, 0, build_floors, 0.6, UNIT_L2},
	{"means-l3", 0, L3, APART, 0, 0, build_means, 0.4, UNIT_L3},
	{"shifts", 0, DRAM, APART, 0, 0, build_shifts, 6, UNIT_L3},
	{"row-maxima", 0, WORK, APART, 0, 0, build_row_maxima, 5, UNIT_L3},
	{"gru-40", 0, LATENCY, 0, 0, 0, build_gru_40, 150, UNIT_ONE},
	{"planes", 0, LAYOUT, 0, 0, 0, build_planes, 4, UNIT_L3},
	{"tiny-rows", 0, OVERHEAD, APART, 0, 0, build_tiny_rows, 400, UNIT_ONE},
	{"one-norm", 0, IMBALANCE, 0, 0, 0, build_one_norm, 150000, UNIT_ONE},
};
const size_t n_held_out_later =
	sizeof(held_out_later) / sizeof(held_out_later[0]);
