/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_conv.c - convolutions of f32, also transposed, by own kernels.
 *
 * A convolution is a matmul whose rows are the pixels under the window
 * (conv_rows.c), for each group.  Images lie with their channels side by side,
 * which convolutions, pools and element-wise operations leave to one another.
 */
#include "compute/conv_rows.h"
#include "engine/conv_epilogue.h"
#include "engine/strided_layout.h"
#include "engine/tile_epilogue.h"
#include "engine/tiled_step.h"

#include <string.h>

#include "base/banned.h"

/* Weights of all groups as right matrices [taps][channels in][channels out]. */
struct weights {
	int64_t groups, n_taps, in, out; /* channels of a group */
	int64_t is_transposed;
	int64_t panel, packed_floats; /* columns of a panel; of a group */
};

enum { AT_X, AT_W, AT_Y, AT_REST };

struct conv {
	struct sl__conv_rows rows; /* without an address */
	struct weights weights;
	struct sl__gemm_blocked g;
	struct sl__gemm_cut cut;
	struct sl__gemm p; /* its epilogue */
	struct sl__tile_epilogue epilogue;
};

static void
read_weights(struct weights *w, const struct sl__planner *pl,
	     const struct sl__conv *c)
{
	const int64_t *dims = sl__plan_value_type(pl, c->w)->dims;

	*w = (struct weights){
		.groups = c->n_groups,
		.n_taps = 1,
		.in = c->is_transposed ? dims[0] / c->n_groups : dims[1],
		.out = c->is_transposed ? dims[1] : dims[0] / c->n_groups,
		.is_transposed = c->is_transposed,
		.panel = sl__gemm_blocked_panel()};
	for (int d = 2; d < c->rank; d++)
		w->n_taps *= dims[d];
	w->packed_floats =
		sl__gemm_blocked_packed_floats(w->n_taps * w->in, w->out);
}

static int64_t
n_panels(const struct weights *w)
{
	return w->groups * ((w->out + w->panel - 1) / w->panel);
}

static void
pack_panel(const void *how, const float *from, int64_t index, float *to)
{
	const struct weights *w = how;
	int64_t per_group = (w->out + w->panel - 1) / w->panel;
	int64_t group = index / per_group, j = index % per_group * w->panel;
	int64_t n = w->out - j < w->panel ? w->out - j : w->panel;
	int64_t out = w->is_transposed ? w->n_taps : w->n_taps * w->in;
	int64_t in = w->is_transposed ? w->n_taps * w->out : w->n_taps;
	int64_t lines = sl__gemm_lines(w->n_taps * w->in);

	from += group * w->in * w->out * w->n_taps + j * out;
	to += group * w->packed_floats + j * lines * SL__GEMM_LINE;
	memset(to, 0, (size_t)(lines * SL__GEMM_LINE * w->panel) * sizeof(*to));
	for (int64_t tap = 0; tap < w->n_taps; tap++, from++) {
		struct sl__gemm_matrix b = {from, in, out};
		float *at = to + tap * w->in * w->panel;

		for (int64_t c = 0; c < w->in; c++, at += w->panel) {
			for (int64_t i = 0; i < n; i++)
				at[i] = b.at[c * b.row + i * b.column];
		}
	}
}

/* Whether rows are the pixels themselves. */
static int
is_pointwise(const struct sl__conv_shape *s)
{
	for (int d = 0; d < 3; d++) {
		if (s->kernel[d] != 1 || s->strides[d] != 1 || s->before[d] ||
		    s->in[d] != s->out[d])
			return 0;
	}
	return 1;
}

static void
run_tile(const void *state, unsigned char *const *at, int64_t tile,
	 void *scratch)
{
	const struct conv *c = state;
	int64_t group = tile / c->cut.n_tiles, first = group * c->weights.out;
	struct sl__conv_rows rows = c->rows;
	struct sl__gemm_strided_rows plain;
	struct sl__gemm_blocked g = c->g;
	struct sl__gemm_range range =
		sl__gemm_tile_range(&g, &c->cut, tile % c->cut.n_tiles);

	rows.x = (const float *)(const void *)at[AT_X] + group * c->weights.in;
	plain = (struct sl__gemm_strided_rows){{rows.x, rows.shape.channels, 1},
					       g.k};
	g.ctx = g.rows == sl__gemm_strided_rows ? (const void *)&plain : &rows;
	g.b = (const float *)(const void *)at[AT_W] +
	      group * c->weights.packed_floats;
	g.c = (float *)(void *)at[AT_Y] + first;
	sl__tile_epilogue_start(&c->epilogue, at, &g, 0, first);
	sl__gemm_blocked_tile(&g, &range, scratch);
	sl__tile_epilogue_finish(&c->epilogue, at, &g, &range, range.row,
				 first);
}

/* 0: a type that own kernels do not take. */
static int
read_conv(struct conv *own, struct sl__planner *pl, const struct sl__conv *c)
{
	const struct sl__type *x = sl__plan_value_type(pl, c->x);
	const struct sl__type *y = sl__plan_value_type(pl, c->y);
	struct sl__conv_shape *s = &own->rows.shape;

	if (x->dtype != SL_DTYPE_F32 || !sl__conv_epilogue_read(&own->p, pl, c))
		return 0;
	sl__conv_shape_set(s, x->rank, x->dims, y->dims, &c->window);
	s->is_transposed = c->is_transposed;
	read_weights(&own->weights, pl, c);
	own->rows.group_channels = own->weights.in;
	own->g = (struct sl__gemm_blocked){
		.m = s->batch * s->out[0] * s->out[1] * s->out[2],
		.n = own->weights.out,
		.k = own->weights.n_taps * own->weights.in,
		.rows = is_pointwise(s) ? sl__gemm_strided_rows
					: sl__conv_rows_for(s, own->weights.in),
		.c_row = y->dims[1]};
	sl__tile_epilogue_split(&own->epilogue, &own->p, &own->g);
	return 1;
}

int
sl__make_native_conv(struct sl__planner *pl, const struct sl__node *node)
{
	struct conv *own = sl__plan_alloc_state(pl, sizeof(*own));
	uint32_t operands[AT_REST + 1 + SL__EPILOGUE_MAX], n = AT_REST;
	struct sl__tiled_work work = {
		.run = run_tile, .state = own, .kernel = "conv"};
	struct sl__gemm_blocked *g = own ? &own->g : NULL;
	const struct weights *w = own ? &own->weights : NULL;
	struct sl__conv c;

	if (!own || !sl__conv_read(&c, pl, node) || !read_conv(own, pl, &c))
		return 0;
	work.n_threads = sl__threads_for_flops(
		pl, 2. * (double)g->m * (double)g->n * (double)g->k *
			    (double)c.n_groups);
	sl__gemm_blocked_cut(&own->cut, g->m, g->n, g->k, work.n_threads);
	work.n_tiles = own->cut.n_tiles * c.n_groups;
	work.scratch_bytes = own->cut.scratch_bytes;
	work.packed_at = AT_W;
	work.panels = (struct sl__panels){
		pack_panel, w, sizeof(*w), n_panels(w),
		(uint64_t)(w->groups * w->packed_floats) * sizeof(float)};
	sl__plan_panels(pl, &work, c.w, operands, &n);
	operands[AT_X] = sl__plan_input_buffer(
		pl, c.x, sl__layout_channels_last(pl, c.x));
	n = sl__tile_epilogue_add_operands(&own->epilogue, pl, operands, n);
	operands[AT_Y] = sl__tile_epilogue_output(
		&own->epilogue, pl, c.y, sl__layout_channels_last(pl, c.y),
		operands);
	sl__plan_add_tiled_step(pl, operands, n, &work);
	return 1;
}
