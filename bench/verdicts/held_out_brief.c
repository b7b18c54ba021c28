/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_out_brief.c - models of brief steps with a known bottleneck, on which
 * nothing was tuned.
 *
 * Their steps take from a tenth of a microsecond to some twenty.  They were
 * written, with their answers, when the theory had learned what starting threads
 * takes of such steps, and before any of them was run.
 */
#include "planted_case.h"

/* Images of n x n that fit the nearest caches. */
static void
add_convs(struct sl_builder *b, int64_t channels, int64_t n, int64_t kernel)
{
	const struct sl_conv2d conv = {.out_channels = channels,
				       .kernel_height = kernel,
				       .padding = kernel / 2};
	int x = image(b, channels, n, n);

	for (int i = 0; i < 8; i++)
		x = sl_builder_conv2d(b, x, &conv);
	sl_builder_output(b, x, "y");
}

/* Some 5 MFLOP each. */
static void
build_convs(struct sl_builder *b, int64_t n, int n_threads)
{
	(void)n_threads;
	add_convs(b, 32, n, 3);
}

static void
build_pointwise(struct sl_builder *b, int64_t n, int n_threads)
{
	(void)n_threads;
	add_convs(b, 64, n, 1);
}

/* Some 400 FLOPs. */
static void
build_tiny_convs(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = image(b, 2, 3, 3);
	const struct sl_conv2d conv = {
		.out_channels = 2, .kernel_height = 3, .padding = 1};

	(void)n_threads;
	for (int64_t i = 0; i < n; i++)
		x = sl_builder_conv2d(b, x, &conv);
	sl_builder_output(b, x, "y");
}

/* Some 4 MFLOP each, weights of 128 kB. */
static void
build_products(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", n, 128);

	(void)n_threads;
	for (int i = 0; i < 3; i++) {
		x = sl_builder_linear(b, x, 256, 1);
		x = sl_builder_linear(b, x, 128, 1);
	}
	sl_builder_output(b, x, "y");
}

static void
build_tiny_products(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = matrix(b, "x", 2, 8);

	(void)n_threads;
	for (int64_t i = 0; i < n; i++)
		x = sl_builder_linear(b, x, 8, 1);
	sl_builder_output(b, x, "y");
}

/* Two tokens. */
static void
build_tiny_attentions(struct sl_builder *b, int64_t n, int n_threads)
{
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), 2, 8});

	(void)n_threads;
	for (int64_t i = 0; i < n; i++)
		x = sl_builder_attention(b, x, 2, 0);
	sl_builder_output(b, x, "y");
}

static void
add_elements(struct sl_builder *b, const char *type, int64_t n)
{
	int x = matrix(b, "x", 16, n / 16);

	for (int i = 0; i < 8; i++)
		x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
}

static void
build_tanhs(struct sl_builder *b, int64_t n, int n_threads)
{
	(void)n_threads;
	add_elements(b, "Tanh", n);
}

static void
build_negs(struct sl_builder *b, int64_t n_bytes, int n_threads)
{
	(void)n_threads;
	add_elements(b, "Neg", n_bytes / 8);
}

static void
add_softmaxes(struct sl_builder *b, int64_t n_rows, int64_t n)
{
	int x = matrix(b, "x", n_rows, n);

	for (int i = 0; i < 6; i++)
		x = sl_builder_op(b, "Softmax", 1, &x);
	sl_builder_output(b, x, "y");
}

static void
build_row(struct sl_builder *b, int64_t n, int n_threads)
{
	(void)n_threads;
	add_softmaxes(b, 1, n);
}

/* A row more than there are threads. */
static void
build_uneven_rows(struct sl_builder *b, int64_t n, int n_threads)
{
	add_softmaxes(b, n_threads + 1, n);
}

/* 16 neurons, one sample. */
static void
build_lstm(struct sl_builder *b, int64_t n_steps, int n_threads)
{
	enum { HIDDEN = 16 };
	int operands[3] = {
		sl_builder_input(b, "x", SL_DTYPE_F32, 3,
				 (int64_t[]){n_steps,
					     sl_builder_symbol(b, "batch", 1),
					     HIDDEN}),
		sl_builder_weight(b, "w", 3, (int64_t[]){1, 4 * HIDDEN, HIDDEN},
				  0, 0.1),
		sl_builder_weight(b, "r", 3, (int64_t[]){1, 4 * HIDDEN, HIDDEN},
				  0, 0.1)};

	(void)n_threads;
	sl_builder_int(b, "hidden_size", HIDDEN);
	sl_builder_output(b, sl_builder_op(b, "LSTM", 3, operands), "y");
}

const struct planted held_out_brief[] = {
	{"brief-convs", 0, COMPUTE, DIRECT, 0, 0, build_convs, 16, UNIT_ONE},
	{"brief-convs-bf16", 0, COMPUTE, DIRECT, 0, BF16, build_convs, 24,
	 UNIT_ONE},
	{"brief-pointwise", 0, COMPUTE, 0, 0, 0, build_pointwise, 28, UNIT_ONE},
	{"brief-products", 0, COMPUTE, 0, 0, 0, build_products, 64, UNIT_ONE},
	{"brief-tanhs", 0, WORK, APART, 0, 0, build_tanhs, 16384, UNIT_ONE},
	{"brief-negs", 0, L2, APART, 0, 0, build_negs, 0.4, UNIT_L2},
	{"brief-lstm", 0, LATENCY, 0, 0, 0, build_lstm, 24, UNIT_ONE},
	{"tiny-convs", 0, OVERHEAD, DIRECT, 0, 0, build_tiny_convs, 200,
	 UNIT_ONE},
	{"tiny-products", 0, OVERHEAD, 0, 0, 0, build_tiny_products, 300,
	 UNIT_ONE},
	{"tiny-attentions", 0, OVERHEAD, 0, 0, 0, build_tiny_attentions, 30,
	 UNIT_ONE},
	{"brief-row", 0, IMBALANCE, APART, 0, 0, build_row, 20000, UNIT_ONE},
	{"brief-uneven", 0, IMBALANCE, APART, 0, 0, build_uneven_rows, 12000,
	 UNIT_ONE},
};
const size_t n_held_out_brief =
	sizeof(held_out_brief) / sizeof(held_out_brief[0]);
