/* SPDX-License-Identifier: Apache-2.0 */
/* native_depthwise.c - convolutions of each channel by itself, f32, by
 * compute/depthwise.h. */
#include "compute/depthwise.h"
#include "engine/constants.h"
#include "engine/conv.h"
#include "engine/conv_epilogue.h"
#include "engine/strided_layout.h"
#include "engine/tile_epilogue.h"
#include "engine/tiled_step.h"

#include "base/banned.h"

enum { AT_X, AT_W, AT_Y, AT_REST };

struct depthwise {
	struct sl__conv_shape shape;
	struct sl__gemm_blocked g; /* for its epilogue: rows are pixels */
	struct sl__gemm p;
	struct sl__tile_epilogue epilogue;
	float *zeros; /* a pixel of padding */
	sl__depthwise_function *sum;
};

static void
run_row(const void *state, unsigned char *const *at, int64_t row, void *scratch)
{
	const struct depthwise *d = state;
	struct sl__gemm_blocked g = d->g;
	int64_t first = row * d->shape.out[2];
	struct sl__gemm_range range = {first, d->shape.out[2], 0, g.n};
	struct sl__depthwise all;

	(void)scratch;
	all.shape = &d->shape;
	all.g = &g;
	all.x = (const float *)(const void *)at[AT_X];
	all.w = (const float *)(const void *)at[AT_W];
	all.zeros = d->zeros;
	g.c = (float *)(void *)at[AT_Y];
	sl__tile_epilogue_start(&d->epilogue, at, &g, 0, 0);
	sl__depthwise_row(d->sum, &all, first);
	sl__tile_epilogue_finish(&d->epilogue, at, &g, &range, first, 0);
}

struct weights {
	int64_t channels, n_taps;
};

static int
pack(struct sl__planner *pl, const void *how, const void *from, void *to)
{
	const struct weights *w = how;
	const float *x = from;
	float *y = to;

	(void)pl;
	for (int64_t t = 0; t < w->n_taps; t++) {
		for (int64_t c = 0; c < w->channels; c++)
			*y++ = x[c * w->n_taps + t];
	}
	return 1;
}

static int
read_depthwise(struct depthwise *d, struct sl__planner *pl,
	       const struct sl__conv *c)
{
	const struct sl__type *x = sl__plan_value_type(pl, c->x);
	const struct sl__type *y = sl__plan_value_type(pl, c->y);

	if (c->n_groups < 2 || x->dims[1] != c->n_groups ||
	    y->dims[1] != c->n_groups || c->is_transposed ||
	    x->dtype != SL_DTYPE_F32 || !sl__conv_epilogue_read(&d->p, pl, c))
		return 0;
	sl__conv_shape_set(&d->shape, x->rank, x->dims, y->dims, &c->window);
	if (sl__conv_shape_n_taps(&d->shape) > SL__DEPTHWISE_TAPS_MOST)
		return 0;
	d->g.n = d->g.c_row = y->dims[1];
	sl__tile_epilogue_split(&d->epilogue, &d->p, &d->g);
	d->sum = sl__depthwise_for(&d->shape, d->epilogue.addend != SL__NONE);
	d->zeros = sl__plan_alloc_state(pl, (size_t)d->shape.channels *
						    sizeof(*d->zeros));
	return d->zeros != NULL;
}

int
sl__make_native_depthwise(struct sl__planner *pl, const struct sl__node *node)
{
	struct depthwise *d = sl__plan_alloc_state(pl, sizeof(*d));
	uint32_t operands[AT_REST + SL__EPILOGUE_MAX], n;
	struct sl__tiled_work work = {
		.run = run_row, .state = d, .kernel = "depthwise"};
	struct sl__conv_shape *s = d ? &d->shape : NULL;
	struct sl__packing packing = {.pack = pack};
	struct weights w;
	struct sl__conv c;

	if (!d || !sl__conv_read(&c, pl, node) || !read_depthwise(d, pl, &c))
		return 0;
	w = (struct weights){s->channels, sl__conv_shape_n_taps(s)};
	packing.how = &w;
	packing.n_how = sizeof(w);
	packing.n_bytes = (uint64_t)(w.channels * w.n_taps) * sizeof(float);
	operands[AT_W] = sl__plan_constant_packed_by(pl, c.w, &packing);
	operands[AT_X] = sl__plan_input_buffer(
		pl, c.x, sl__layout_channels_last(pl, c.x));
	n = sl__tile_epilogue_add_operands(&d->epilogue, pl, operands, AT_REST);
	operands[AT_Y] = sl__tile_epilogue_output(
		&d->epilogue, pl, c.y, sl__layout_channels_last(pl, c.y),
		operands);
	work.n_tiles = s->batch * s->out[0] * s->out[1];
	work.n_threads = sl__threads_for_flops(
		pl, 8. * (double)sl__plan_value_n_elements(pl, c.y) *
			    (double)w.n_taps);
	sl__plan_add_tiled_step(pl, operands, n, &work);
	return 1;
}
