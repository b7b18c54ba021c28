/* SPDX-License-Identifier: Apache-2.0 */
/* winograd.c - Winograd's transforms of tiles, sixteen channels at a time. */
#include "compute/winograd.h"
#include "compute/targets.h"

#include "base/banned.h"

enum { LANES = SL__WINOGRAD_LANES, MOST = SL__WINOGRAD_TILE_MOST };

typedef float lanes
	__attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* x[0], x[step], ... to y[0], y[1], ...: B' of one row or column of a tile. */
SL__INLINE void
input_line(int m, const lanes *x, int step, lanes *y, int to_step)
{
	if (m == 2) {
		y[0] = x[0] - x[2 * step];
		y[to_step] = x[step] + x[2 * step];
		y[2 * to_step] = x[2 * step] - x[step];
		y[3 * to_step] = x[step] - x[3 * step];
	} else {
		lanes a = x[4 * step] - 4 * x[2 * step];
		lanes b = x[3 * step] - 4 * x[step];
		lanes c = x[4 * step] - x[2 * step];
		lanes d = 2 * (x[3 * step] - x[step]);

		y[0] = 4 * x[0] - 5 * x[2 * step] + x[4 * step];
		y[to_step] = a + b;
		y[2 * to_step] = a - b;
		y[3 * to_step] = c + d;
		y[4 * to_step] = c - d;
		y[5 * to_step] = 4 * x[step] - 5 * x[3 * step] + x[5 * step];
	}
}

/* A' likewise: t numbers to m. */
SL__INLINE void
output_line(int m, const lanes *x, int step, lanes *y, int to_step)
{
	lanes a = x[step] + x[2 * step], b = x[step] - x[2 * step];

	if (m == 2) {
		y[0] = x[0] + a;
		y[to_step] = b - x[3 * step];
	} else {
		lanes c = x[3 * step] + x[4 * step];
		lanes d = x[3 * step] - x[4 * step];

		y[0] = x[0] + a + c;
		y[to_step] = b + 2 * d;
		y[2 * to_step] = a + 4 * c;
		y[3 * to_step] = b + 8 * d + x[5 * step];
	}
}

/* G likewise: 3 numbers to t. */
SL__INLINE void
kernel_line(int m, const lanes *x, int step, lanes *y, int to_step)
{
	lanes even = x[0] + x[2 * step], odd = x[step];

	if (m == 2) {
		y[0] = x[0];
		y[to_step] = (even + odd) * .5F;
		y[2 * to_step] = (even - odd) * .5F;
		y[3 * to_step] = x[2 * step];
	} else {
		lanes far = x[0] * (1.F / 24) + x[2 * step] * (1.F / 6);
		lanes half = odd * (1.F / 12);

		y[0] = x[0] * .25F;
		y[to_step] = (even + odd) * (-1.F / 6);
		y[2 * to_step] = (even - odd) * (-1.F / 6);
		y[3 * to_step] = far + half;
		y[4 * to_step] = far - half;
		y[5 * to_step] = x[2 * step];
	}
}

SL__INLINE void
input_tile(int m, const struct sl__winograd_input *in)
{
	int t = m + 2;

	for (int64_t l = 0; l < in->n_lines; l++) {
		lanes x[MOST * MOST], y[MOST];
		float *to = in->to + l * in->line_step;

		SL__UNROLL
		for (int j = 0; j < t; j++) {
			lanes column[MOST];

			SL__UNROLL
			for (int i = 0; i < t; i++)
				column[i] =
					*(const lanes
						  *)(in->at[i * t + j] +
						     l * in->steps[i * t + j]);
			input_line(m, column, 1, x + j, t);
		}
		SL__UNROLL
		for (int i = 0; i < t; i++) {
			input_line(m, x + i * t, 1, y, 1);
			SL__UNROLL
			for (int j = 0; j < t; j++)
				*(lanes *)(to + (i * t +
						 j) * in->product_step) = y[j];
		}
	}
}

SL__INLINE void
output_tile(int m, const struct sl__winograd_output *out)
{
	int t = m + 2;
	lanes x[MOST * MOST], y[MOST];

	SL__UNROLL
	for (int j = 0; j < t; j++) {
		lanes column[MOST];

		SL__UNROLL
		for (int i = 0; i < t; i++)
			column[i] = *(const lanes *)(out->from +
						     (i * t + j) *
							     out->product_step);
		output_line(m, column, 1, x + j, t);
	}
	SL__UNROLL
	for (int i = 0; i < m; i++) {
		output_line(m, x + i * t, 1, y, 1);
		SL__UNROLL
		for (int j = 0; j < m; j++)
			*(lanes *)(out->to + (i * m + j) * LANES) = y[j];
	}
}

SL__INLINE void
kernel_tile(int m, const struct sl__winograd_kernel *k)
{
	int t = m + 2;
	lanes g[9], x[MOST * 3], y[MOST];

	for (int i = 0; i < 9; i++)
		g[i] = *(const lanes *)(k->g + i * LANES);
	for (int j = 0; j < 3; j++)
		kernel_line(m, g + j, 3, x + j, 3);
	for (int i = 0; i < t; i++) {
		kernel_line(m, x + i * 3, 1, y, 1);
		for (int j = 0; j < t; j++)
			*(lanes *)(k->to + (i * t + j) * k->product_step) =
				y[j];
	}
}

#define DEFINE_TRANSFORM(name, what)                                       \
	SL__INLINE void name##_2_body(const struct sl__winograd_##what *x) \
	{                                                                  \
		name(2, x);                                                \
	}                                                                  \
	SL__INLINE void name##_4_body(const struct sl__winograd_##what *x) \
	{                                                                  \
		name(4, x);                                                \
	}                                                                  \
	SL__VECTOR_TARGETS(name##_2, name##_2_body,                        \
			   (const struct sl__winograd_##what *x), (x))     \
	SL__VECTOR_TARGETS(name##_4, name##_4_body,                        \
			   (const struct sl__winograd_##what *x), (x))
DEFINE_TRANSFORM(input_tile, input)
DEFINE_TRANSFORM(output_tile, output)
DEFINE_TRANSFORM(kernel_tile, kernel)

struct sl__winograd
sl__winograd_for(int m)
{
	if (m == 2)
		return (struct sl__winograd){input_tile_2_for(),
					     output_tile_2_for(),
					     kernel_tile_2_for()};
	return (struct sl__winograd){input_tile_4_for(), output_tile_4_for(),
				     kernel_tile_4_for()};
}
