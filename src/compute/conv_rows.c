/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_rows.c - the pixels under a window as rows of a matmul.
 *
 * A copy of 64 bytes serves as many multiply-adds as there are output
 * channels, so that copying costs little where these are not few.
 */
#include "compute/conv_rows.h"
#include "compute/targets.h"

#include <string.h>

#include "base/banned.h"

enum { ROWS_MOST = 16 };

static const float zeros[SL__GEMM_LINE];

/* Lines of channels that lie in whole lines. */
SL__INLINE void
copy_lines(const struct sl__conv_rows *c, const struct sl__gemm_part *part,
	   float *to)
{
	const struct sl__conv_shape *s = &c->shape;
	int64_t lines = c->group_channels / SL__GEMM_LINE;
	int64_t end = part->line + part->n_lines;
	struct sl__conv_position at[ROWS_MOST];
	const float *from[ROWS_MOST];
	int64_t steps[ROWS_MOST];

	at[0] = sl__conv_position(s, part->row);
	for (int i = 1; i < part->n_rows; i++) {
		at[i] = at[i - 1];
		sl__conv_position_advance(s, &at[i]);
	}
	for (int64_t line = part->line; line < end;) {
		int64_t index = line / lines, first = line % lines;
		int64_t n = lines - first < end - line ? lines - first
						       : end - line;
		int64_t tap[3] = {index / s->kernel[2] / s->kernel[1],
				  index / s->kernel[2] % s->kernel[1],
				  index % s->kernel[2]};

		for (int i = 0; i < part->n_rows; i++) {
			int64_t pixel = sl__conv_pixel(s, &at[i], tap);

			from[i] = pixel < 0 ? zeros
					    : c->x + pixel * s->channels +
						      first * SL__GEMM_LINE;
			steps[i] = pixel < 0 ? 0 : SL__GEMM_LINE;
		}
		for (int64_t l = 0; l < n; l++) {
			for (int i = 0; i < part->n_rows; i++) {
				memcpy(to, from[i] + l * steps[i],
				       sizeof(zeros));
				to += SL__GEMM_LINE;
			}
		}
		line += n;
	}
}
SL__VECTOR_TARGETS(copy, copy_lines,
		   (const struct sl__conv_rows *c,
		    const struct sl__gemm_part *part, float *to),
		   (c, part, to))

static void
whole_lines(const void *ctx, const struct sl__gemm_part *part, float *to)
{
	copy_for()(ctx, part, to);
}

/* A row as it comes about: elements 'first' to end - 1 along k. */
struct target {
	float row[SL__GEMM_LINES_MOST * SL__GEMM_LINE];
	int64_t first, end;
};

/* Elements k to k + n - 1 of a row, as far as they are wanted; NULL: zeros. */
static void
put(struct target *t, int64_t k, int64_t n, const float *from)
{
	int64_t skip = k < t->first ? t->first - k : 0;
	float *to = t->row + (k + skip - t->first);

	n = (k + n < t->end ? n : t->end - k) - skip;
	if (n <= 0)
		return;
	if (from)
		memcpy(to, from + skip, (size_t)n * sizeof(*to));
	else
		memset(to, 0, (size_t)n * sizeof(*to));
}

/* The taps of one row of the kernel that fall into the image side by side. */
static void
put_taps(const struct sl__conv_rows *c, const struct sl__conv_position *at,
	 int64_t *tap, int64_t k, struct target *t)
{
	const struct sl__conv_shape *s = &c->shape;
	int64_t n = s->kernel[2], before = at->at[2] < 0 ? -at->at[2] : 0;
	int64_t after = at->at[2] + n - s->in[2];
	int64_t pixel;

	before = before < n ? before : n;
	after = after < 0 ? 0 : after < n - before ? after : n - before;
	tap[2] = before;
	pixel = before + after < n ? sl__conv_pixel(s, at, tap) : -1;
	if (pixel < 0)
		before = n, after = 0;
	put(t, k, before * s->channels, NULL);
	if (pixel >= 0)
		put(t, k + before * s->channels,
		    (n - before - after) * s->channels,
		    c->x + pixel * s->channels);
	put(t, k + (n - after) * s->channels, after * s->channels, NULL);
}

static void
put_row(const struct sl__conv_rows *c, const struct sl__conv_position *at,
	struct target *t)
{
	const struct sl__conv_shape *s = &c->shape;
	int is_joined = c->group_channels == s->channels && !s->is_transposed &&
			s->dilations[2] == 1;
	int64_t n = c->group_channels * (is_joined ? s->kernel[2] : 1);
	int64_t each = is_joined ? 1 : s->kernel[2];

	for (int64_t i = t->first / n; i * n < t->end; i++) {
		int64_t tap[3] = {i / each / s->kernel[1],
				  i / each % s->kernel[1], i % each};
		int64_t pixel;

		if (is_joined) {
			put_taps(c, at, tap, i * n, t);
			continue;
		}
		pixel = sl__conv_pixel(s, at, tap);
		put(t, i * n, n, pixel < 0 ? NULL : c->x + pixel * s->channels);
	}
}

static void
any_channels(const void *ctx, const struct sl__gemm_part *part, float *to)
{
	const struct sl__conv_rows *c = ctx;
	int64_t k = sl__conv_shape_n_taps(&c->shape) * c->group_channels;
	struct target t = {.first = part->line * SL__GEMM_LINE};
	int64_t end = t.first + part->n_lines * SL__GEMM_LINE;
	struct sl__conv_position at = sl__conv_position(&c->shape, part->row);

	t.end = end < k ? end : k;
	/* What is beyond k stays zero. */
	for (int i = 0; i < part->n_rows; i++, to += SL__GEMM_LINE) {
		put_row(c, &at, &t);
		sl__conv_position_advance(&c->shape, &at);
		for (int64_t l = 0; l < part->n_lines; l++)
			memcpy(to + l * part->n_rows * SL__GEMM_LINE,
			       t.row + l * SL__GEMM_LINE, sizeof(zeros));
	}
}

sl__gemm_rows_function *
sl__conv_rows_for(const struct sl__conv_shape *shape, int64_t group_channels)
{
	(void)shape;
	return group_channels % SL__GEMM_LINE ? any_channels : whole_lines;
}
