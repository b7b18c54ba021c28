/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_pool.c - pools of f32 by own kernels: channels side by side, a row of
 * the result after the other.
 */
#include "compute/conv_shape.h"
#include "compute/targets.h"
#include "engine/pool.h"
#include "engine/strided_layout.h"
#include "engine/tiled_step.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { CHUNK = 256 }; /* channels whose results are kept near */

struct pool {
	struct sl__conv_shape shape;
	int is_max, counts_pads;
	void (*join)(int is_max, const float *x, int64_t n, float *y);
};

/* The larger, a NaN where there is one; or the sum. */
SL__INLINE void
join_body(int is_max, const float *x, int64_t n, float *y)
{
	if (is_max) {
		for (int64_t i = 0; i < n; i++)
			y[i] = y[i] >= x[i] || y[i] != y[i] ? y[i] : x[i];
	} else {
		for (int64_t i = 0; i < n; i++)
			y[i] += x[i];
	}
}
SL__VECTOR_TARGETS(join, join_body,
		   (int is_max, const float *x, int64_t n, float *y),
		   (is_max, x, n, y))

/* n channels of one pixel of the result. */
static void
pool_pixel(const struct pool *p, const struct sl__conv_position *at,
	   const float *x, int64_t n, float *y)
{
	const struct sl__conv_shape *s = &p->shape;
	int64_t n_taps = sl__conv_shape_n_taps(s), n_read = 0;

	for (int64_t t = 0; t < n_taps; t++) {
		int64_t tap[3] = {t / s->kernel[2] / s->kernel[1],
				  t / s->kernel[2] % s->kernel[1],
				  t % s->kernel[2]};
		int64_t pixel = sl__conv_pixel(s, at, tap);

		if (pixel < 0)
			continue;
		if (n_read++)
			p->join(p->is_max, x + pixel * s->channels, n, y);
		else
			memcpy(y, x + pixel * s->channels,
			       (size_t)n * sizeof(*y));
	}
	if (p->is_max)
		return;
	n_read = p->counts_pads ? n_taps : n_read;
	for (int64_t i = 0; i < n; i++)
		y[i] /= (float)n_read;
}

static void
run_row(const void *state, unsigned char *const *at, int64_t row, void *scratch)
{
	const struct pool *p = state;
	const struct sl__conv_shape *s = &p->shape;
	int64_t first = row * s->out[2];

	(void)scratch;
	for (int64_t i = first; i < first + s->out[2]; i++) {
		struct sl__conv_position position = sl__conv_position(s, i);
		const float *x = (const float *)(const void *)at[0];
		float *y = (float *)(void *)at[1] + i * s->channels;

		for (int64_t c = 0; c < s->channels; c += CHUNK)
			pool_pixel(p, &position, x + c,
				   s->channels - c < CHUNK ? s->channels - c
							   : CHUNK,
				   y + c);
	}
}

int
sl__make_native_pool(struct sl__planner *pl, const struct sl__node *node)
{
	struct pool *own = sl__plan_alloc_state(pl, sizeof(*own));
	struct sl__tiled_work work = {
		.run = run_row, .state = own, .kernel = "pool"};
	struct sl__conv_shape *s = own ? &own->shape : NULL;
	const struct sl__type *x;
	struct sl__pool p;
	uint32_t operands[2];

	if (!own || !sl__pool_read(&p, pl, node) ||
	    sl__plan_value_type(pl, p.x)->dtype != SL_DTYPE_F32)
		return 0;
	x = sl__plan_value_type(pl, p.x);
	sl__conv_shape_set(s, x->rank, x->dims,
			   sl__plan_value_type(pl, p.y)->dims, &p.window);
	own->is_max = p.is_max;
	own->counts_pads = p.counts_pads;
	own->join = join_for();
	operands[0] = sl__plan_input_buffer(pl, p.x,
					    sl__layout_channels_last(pl, p.x));
	operands[1] = sl__plan_output_buffer(pl, p.y,
					     sl__layout_channels_last(pl, p.y));
	work.n_tiles = s->batch * s->out[0] * s->out[1];
	work.n_threads = sl__threads_for_bytes(
		pl->program->n_threads,
		sl__plan_value_bytes(pl, p.x) +
			sl__plan_value_bytes(pl, p.y) *
				(uint64_t)sl__conv_shape_n_taps(s) / 4);
	sl__plan_add_tiled_step(pl, operands, 2, &work);
	return 1;
}
