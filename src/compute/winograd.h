/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winograd.h - Winograd's transforms of tiles, sixteen channels at a time.
 *
 * F(m, 3) makes m x m results of a tile of t x t pixels, t = m + 2, with t x t
 * products instead of 9 m m: A' ((G g G') . (B' d B)) A for a kernel g and a
 * tile d (Winograd 1980; Lavin and Gray, "Fast Algorithms for Convolutional
 * Neural Networks", 2015, whose points are 0, 1, -1 and, for m = 4, 2 and -2).
 */
#ifndef SL_WINOGRAD_H
#define SL_WINOGRAD_H

#include <stdint.h>

enum { SL__WINOGRAD_LANES = 16, SL__WINOGRAD_TILE_MOST = 6 };

/*
 * A tile's pixels, at[i] of row i / t, each with n_lines lines of channels;
 * steps[i] elements from a line to the next (0: always the same).  Product i of
 * line l goes to to[i * product_step + l * line_step].
 */
struct sl__winograd_input {
	const float *at[SL__WINOGRAD_TILE_MOST * SL__WINOGRAD_TILE_MOST];
	int64_t steps[SL__WINOGRAD_TILE_MOST * SL__WINOGRAD_TILE_MOST];
	int64_t n_lines, product_step, line_step;
	float *to;
};

/* Product i of a line of channels from from[i * product_step] to m x m results,
 * to[0] to to[m * m - 1] lines of 16. */
struct sl__winograd_output {
	const float *from;
	int64_t product_step;
	float *to;
};

/* 16 kernels, g[9][16], to t x t numbers each, product i at to[i *
 * product_step]. */
struct sl__winograd_kernel {
	const float *g;
	int64_t product_step;
	float *to;
};

/* The transforms of F(m, 3), m 2 or 4, for this machine. */
struct sl__winograd {
	void (*input)(const struct sl__winograd_input *in);
	void (*output)(const struct sl__winograd_output *out);
	void (*kernel)(const struct sl__winograd_kernel *k);
};
struct sl__winograd sl__winograd_for(int m);

#endif
