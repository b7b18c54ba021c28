/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_channel_norm.c - norms over channels by own kernels, f32: those of
 * batches that no convolution took in, and LRN.
 */
#include "compute/targets.h"
#include "compute/vector_math.h"
#include "engine/node_steps.h"
#include "engine/channel_norm.h"
#include "engine/strided_layout.h"
#include "engine/tiled_step.h"

#include <math.h>

#include "base/banned.h"

/*
 * Data as [outer][channels][inner]: inner is 1 where channels run fastest.
 * Tiles are some of 'outer'.
 */
struct norm {
	int64_t outer, channels, inner, per_tile;
	float epsilon;
	struct sl__lrn lrn;
	void (*row)(const struct norm *n, const float *x, const float *by,
		    float *y);
};

enum { TILE_ELEMENTS = 32768 };

/* A batch's row: by[channels] factors, then as many summands. */
SL__INLINE void
scale_body(const struct norm *n, const float *x, const float *by, float *y)
{
	const float *add = by + n->channels;

	if (n->inner == 1) {
		SL__EACH_ALONE
		for (int64_t c = 0; c < n->channels; c++)
			y[c] = x[c] * by[c] + add[c];
		return;
	}
	for (int64_t c = 0; c < n->channels; c++) {
		SL__EACH_ALONE
		for (int64_t i = 0; i < n->inner; i++)
			y[c * n->inner + i] =
				x[c * n->inner + i] * by[c] + add[c];
	}
}
SL__VECTOR_TARGETS(scale, scale_body,
		   (const struct norm *n, const float *x, const float *by,
		    float *y),
		   (n, x, by, y))

/* One pixel's channels, each divided by what its neighbours add up to. */
SL__INLINE void
lrn_body(const struct norm *n, const float *x, const float *by, float *y)
{
	const struct sl__lrn *l = &n->lrn;
	int64_t half = (l->size - 1) / 2;

	(void)by;
	for (int64_t c = 0; c < n->channels; c++) {
		int64_t last = c + half < n->channels ? c + half
						      : n->channels - 1;
		float sum = 0;

		for (int64_t i = c < half ? 0 : c - half; i <= last; i++)
			sum += x[i] * x[i];
		y[c] = l->bias + l->alpha / (float)l->size * sum;
	}
	for (int64_t c = 0; c < n->channels; c++)
		y[c] = x[c] * sl__exp(-l->beta * sl__log(y[c]));
}
SL__VECTOR_TARGETS(divide, lrn_body,
		   (const struct norm *n, const float *x, const float *by,
		    float *y),
		   (n, x, by, y))

static const float *
factors(const struct norm *n, unsigned char *const *at, float *by)
{
	const float *v[4]; /* scale, shift, mean, variance */

	for (int i = 0; i < 4; i++)
		v[i] = (const float *)(const void *)at[2 + i];
	for (int64_t c = 0; c < n->channels; c++) {
		by[c] = v[0][c] / sqrtf(v[3][c] + n->epsilon);
		by[n->channels + c] = v[1][c] - v[2][c] * by[c];
	}
	return by;
}

static void
run_tile(const void *state, unsigned char *const *at, int64_t tile,
	 void *scratch)
{
	const struct norm *n = state;
	int64_t i = tile * n->per_tile, end = i + n->per_tile;
	int64_t size = n->channels * n->inner;
	const float *x = (const float *)(const void *)at[0];
	float *y = (float *)(void *)at[1];
	const float *by = n->lrn.size ? NULL : factors(n, at, scratch);

	for (end = end < n->outer ? end : n->outer; i < end; i++)
		n->row(n, x + i * size, by, y + i * size);
}

/* The layout in which the data is read: as it lies, where that is one of the
 * two. */
static const struct sl__layout *
read_data(struct norm *n, const struct sl__planner *pl,
	  const struct sl__channel_norm *what)
{
	const struct sl__type *x = sl__plan_value_type(pl, what->x);
	const struct sl__layout *layout = sl__plan_value_layout(pl, what->x);
	struct sl__strided_layout s;

	n->outer = x->dims[0];
	n->channels = x->dims[1];
	n->inner = sl__sizes_product(x, 2, x->rank);
	if (!layout || !sl__strided_layout_of(pl, what->x, layout, &s) ||
	    s.axis >= 0 || s.dtype != SL_DTYPE_F32 || s.strides[1] != 1)
		return NULL;
	n->outer *= n->inner;
	n->inner = 1;
	return layout;
}

static void
plan_norm(struct sl__planner *pl, struct norm *n,
	  const struct sl__channel_norm *what, const struct sl__layout *layout)
{
	struct sl__tiled_work work = {
		.run = run_tile,
		.state = n,
		.kernel = n->lrn.size ? "lrn" : "batch_norm",
		.scratch_bytes = n->lrn.size ? 0
					     : (uint64_t)(2 * n->channels) *
						       sizeof(float)};
	uint32_t operands[6], n_operands = 2;

	n->per_tile = TILE_ELEMENTS / (n->channels * n->inner);
	n->per_tile = n->per_tile < 1 ? 1 : n->per_tile;
	work.n_tiles = (n->outer + n->per_tile - 1) / n->per_tile;
	operands[0] = sl__plan_input_buffer(pl, what->x, layout);
	for (uint32_t i = 1; i <= 4 && !n->lrn.size; i++)
		operands[n_operands++] =
			sl__plan_input_buffer(pl, what->node->inputs[i], NULL);
	operands[1] = n->lrn.size ? sl__plan_output_buffer(pl, what->y, layout)
				  : sl__plan_output_in_place(
					    pl, what->y, layout, operands[0]);
	work.n_threads = sl__threads_for_bytes(
		pl->program->n_threads, 2 * sl__plan_value_bytes(pl, what->x));
	sl__plan_add_tiled_step(pl, operands, n_operands, &work);
}

int
sl__make_native_channel_norm(struct sl__planner *pl,
			     const struct sl__node *node)
{
	struct norm *n = sl__plan_alloc_state(pl, sizeof(*n));
	struct sl__channel_norm what;

	if (!n || !sl__batch_norm_read(&what, pl, node))
		return 0;
	n->epsilon = what.epsilon;
	n->row = scale_for();
	plan_norm(pl, n, &what, read_data(n, pl, &what));
	return 1;
}

int
sl__make_native_lrn(struct sl__planner *pl, const struct sl__node *node)
{
	struct norm *n = sl__plan_alloc_state(pl, sizeof(*n));
	struct sl__channel_norm what;

	if (!n || !sl__lrn_read(&what, pl, node) ||
	    sl__plan_value_type(pl, what.x)->rank < 3)
		return 0;
	(void)read_data(n, pl, &what);
	n->outer = (int64_t)sl__plan_value_n_elements(pl, what.x) / n->channels;
	n->inner = 1;
	n->lrn = what.lrn;
	n->row = divide_for();
	plan_norm(pl, n, &what, sl__layout_channels_last(pl, what.x));
	return 1;
}
