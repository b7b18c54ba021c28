/* SPDX-License-Identifier: Apache-2.0 */
/* zoo_layers.c - built-in models of one layer or a few. */
#include "model/builder_layers.h"
#include "model/zoo.h"

#include "base/banned.h"

void
sl__zoo_mlp(struct sl_builder *b, const struct sl__zoo_request *r)
{
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), r->sizes[0]});

	for (size_t i = 1; i < r->n_sizes; i++) {
		if (i > 1)
			x = sl__builder_op1(b, "Relu", x);
		x = sl_builder_linear(b, x, r->sizes[i], 1);
	}
	sl_builder_output(b, x, "y");
}

void
sl__zoo_linear(struct sl_builder *b, const struct sl__zoo_request *r)
{
	sl__zoo_mlp(b, r);
}

void
sl__zoo_conv(struct sl_builder *b, const struct sl__zoo_request *r)
{
	const int64_t *s = r->sizes;
	struct sl_conv2d conv = {.in_channels = s[0],
				 .out_channels = s[1],
				 .kernel_height = s[2],
				 .kernel_width = s[2],
				 .stride = r->n_sizes > 4 ? s[4] : 1,
				 .padding = r->n_sizes > 5 ? s[5] : s[2] / 2,
				 .groups = r->n_sizes > 6 ? s[6] : 1,
				 .has_bias = 1};
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 4,
				 (int64_t[]){sl_builder_symbol(b, "batch", 1),
					     s[0], s[3], s[3]});

	sl_builder_output(b, sl_builder_conv2d(b, x, &conv), "y");
}

void
sl__zoo_attention(struct sl_builder *b, const struct sl__zoo_request *r)
{
	int64_t width = r->sizes[1];
	int64_t n_heads = width % 64 ? 1 : width / 64;
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 3,
		(int64_t[]){sl_builder_symbol(b, "batch", 1),
			    sl_builder_symbol(b, "seq", r->sizes[0]), width});

	if (r->n_sizes > 2)
		n_heads = r->sizes[2];
	sl_builder_output(b, sl_builder_attention(b, x, n_heads, 0), "y");
}
