/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_winograd.c - convolutions of 3 x 3 by Winograd's F(2, 3) and F(4, 3).
 *
 * A task takes some tiles and some channels of the result.  It transforms its
 * tiles, writing them as the rows of t x t matmuls (gemm_blocked.h), and then
 * multiplies and transforms back one panel of channels after the other, so that
 * the products stay near.  Weights are transformed once.
 */
#include "compute/conv_shape.h"
#include "compute/winograd.h"
#include "engine/constants.h"
#include "engine/conv_epilogue.h"
#include "engine/strided_layout.h"
#include "engine/tile_epilogue.h"
#include "engine/tiled_step.h"

#include <string.h>

#include "base/banned.h"

enum { AT_X, AT_W, AT_Y, AT_REST, LANES = SL__WINOGRAD_LANES };

static const float zeros[LANES];

struct winograd {
	struct sl__conv_shape shape;
	int m, t;              /* results and pixels of a tile along a side */
	int64_t tiles[2];      /* of an image, down and across */
	int64_t n_tiles, rows; /* of all images; of a task */
	int64_t n_channels, columns; /* of the result; of a task */
	int64_t lines;               /* of the source's channels */
	int64_t panel, panel_floats; /* columns; of one of its t x t matrices */
	struct sl__winograd by;
	struct sl__gemm_blocked g; /* for its epilogue: rows are pixels */
	struct sl__gemm p;
	struct sl__tile_epilogue epilogue;
};

/* How the weights of a layer are transformed: [panels][t t][in][panel], so that
 * a task reads them in the order in which they lie. */
struct weights {
	int64_t m, in, out, panel, panel_floats;
};

/* Sixteen columns from j on of all t x t matrices. */
static void
transform_weights(const struct weights *w, const float *from, int64_t j,
		  float *to)
{
	struct sl__winograd by = sl__winograd_for((int)w->m);
	int64_t n = w->out - j < LANES ? w->out - j : LANES;
	int64_t n_products = (w->m + 2) * (w->m + 2);
	float g[9 * LANES] = {0};
	struct sl__winograd_kernel k = {g, w->panel_floats, NULL};

	for (int64_t c = 0; c < w->in; c++) {
		for (int64_t i = 0; i < n; i++) {
			const float *x = from + ((j + i) * w->in + c) * 9;

			for (int q = 0; q < 9; q++)
				g[q * LANES + i] = x[q];
		}
		k.to = to + j / w->panel * n_products * w->panel_floats +
		       c * w->panel + j % w->panel;
		by.kernel(&k);
	}
}

static int
pack(struct sl__planner *pl, const void *how, const void *from, void *to)
{
	const struct weights *w = how;
	int64_t n_panels = (w->out + w->panel - 1) / w->panel;

	(void)pl;
	memset(to, 0,
	       (size_t)((w->m + 2) * (w->m + 2) * n_panels * w->panel_floats) *
		       sizeof(float));
	for (int64_t j = 0; j < w->out; j += LANES)
		transform_weights(w, from, j, to);
	return 1;
}

/* Where the pixels of a tile are; 'index' counts through all images. */
static void
locate(const struct winograd *w, int64_t index, const float *x,
       struct sl__winograd_input *in)
{
	const struct sl__conv_shape *s = &w->shape;
	int64_t per_image = w->tiles[0] * w->tiles[1];
	int64_t image = index / per_image;
	int64_t row = index % per_image / w->tiles[1] * w->m - s->before[1];
	int64_t column = index % w->tiles[1] * w->m - s->before[2];

	for (int i = 0; i < w->t * w->t; i++) {
		int64_t y = row + i / w->t, z = column + i % w->t;
		int is_inside = y >= 0 && y < s->in[1] && z >= 0 &&
				z < s->in[2];

		in->at[i] = is_inside ? x + ((image * s->in[1] + y) * s->in[2] +
					     z) * s->channels
				      : zeros;
		in->steps[i] = is_inside ? LANES : 0;
	}
}

/* Rows of a task are multiplied in groups of much the same size. */
struct groups {
	int64_t n, rows; /* of all but the last */
};

static struct groups
groups_of(int64_t n_rows)
{
	int64_t most = sl__gemm_blocked_rows();
	struct groups g = {(n_rows + most - 1) / most, 0};

	g.rows = (n_rows + g.n - 1) / g.n;
	g.n = (n_rows + g.rows - 1) / g.rows;
	return g;
}

/* Tiles first to first + n - 1 to [t t][groups][lines][rows][16]. */
static void
transform_tiles(const struct winograd *w, int64_t first, int64_t n,
		const float *x, float *to)
{
	struct groups groups = groups_of(n);
	struct sl__winograd_input in = {.n_lines = w->lines,
					.product_step = n * w->lines * LANES};

	for (int64_t i = 0; i < n; i++) {
		int64_t group = i / groups.rows * groups.rows;
		int64_t rows = n - group < groups.rows ? n - group
						       : groups.rows;

		locate(w, first + i, x, &in);
		in.line_step = rows * LANES;
		in.to = to + (group * w->lines + i - group) * LANES;
		w->by.input(&in);
	}
}

/* All products of n tiles with one panel, to [t t][n][panel]; others of its task
 * may follow. */
static void
multiply(const struct winograd *w, int64_t n, const float *rows,
	 const float *panel, int is_last, float *to)
{
	struct groups groups = groups_of(n);
	int n_products = w->t * w->t;

	for (int i = 0; i < n_products; i++) {
		struct sl__gemm_panel p = {.b = panel + i * w->panel_floats,
					   .n_lines = w->lines,
					   .n_groups = groups.n};

		if (!is_last || i + 1 < n_products)
			p.next = p.b + w->panel_floats;
		for (int64_t k = 0; k < n; k += groups.rows, p.group++) {
			p.a = rows + (i * n + k) * w->lines * LANES;
			p.c = to + (i * n + k) * w->panel;
			p.n_rows = (int)(n - k < groups.rows ? n - k
							     : groups.rows);
			sl__gemm_panel(&p);
		}
	}
}

/* A pixel's channels: n sums to its place in the result. */
static void
finish_pixel(const struct sl__gemm_blocked *g, int64_t at, int64_t column,
	     int64_t n, const float *sums)
{
	float *to = g->c + at + column;

	for (int64_t i = 0; i < n; i++) {
		float x = sums[i] + (g->bias ? g->bias[column + i] : 0);

		x += g->addend ? g->addend[at + column + i] : 0;
		if (g->is_clipped)
			x = x < g->low ? g->low : x > g->high ? g->high : x;
		to[i] = x;
	}
}

/* The tile's results in channels from 'column' on. */
static void
finish_tile(const struct winograd *w, const struct sl__gemm_blocked *g,
	    int64_t index, int64_t column, const float *results)
{
	const struct sl__conv_shape *s = &w->shape;
	int64_t per_image = w->tiles[0] * w->tiles[1];
	int64_t row = index % per_image / w->tiles[1] * w->m;
	int64_t first = index % w->tiles[1] * w->m;
	int64_t n = w->n_channels - column < LANES ? w->n_channels - column
						   : LANES;

	for (int i = 0; i < w->m * w->m; i++) {
		int64_t y = row + i / w->m, z = first + i % w->m;
		int64_t pixel =
			(index / per_image * s->out[1] + y) * s->out[2] + z;

		if (y < s->out[1] && z < s->out[2])
			finish_pixel(g, pixel * g->c_row, column, n,
				     results + i * LANES);
	}
}

/* What else follows, on all pixels of a tile. */
static void
finish_rest(const struct winograd *w, const struct sl__gemm_blocked *g,
	    unsigned char *const *at, int64_t index,
	    const struct sl__gemm_range *columns)
{
	const struct sl__conv_shape *s = &w->shape;
	int64_t per_image = w->tiles[0] * w->tiles[1];

	for (int i = 0; w->epilogue.rest.n_epilogue && i < w->m * w->m; i++) {
		struct sl__gemm_range range = *columns;
		int64_t y = index % per_image / w->tiles[1] * w->m + i / w->m;
		int64_t z = index % w->tiles[1] * w->m + i % w->m;

		range.row = (index / per_image * s->out[1] + y) * s->out[2] + z;
		range.n_rows = 1;
		if (y < s->out[1] && z < s->out[2])
			sl__tile_epilogue_finish(&w->epilogue, at, g, &range,
						 range.row, 0);
	}
}

static void
run_task(const void *state, unsigned char *const *at, int64_t task,
	 void *scratch)
{
	const struct winograd *w = state;
	int64_t n_blocks = (w->n_channels + w->columns - 1) / w->columns;
	int64_t first = task / n_blocks * w->rows;
	int64_t n = w->n_tiles - first < w->rows ? w->n_tiles - first : w->rows;
	struct sl__gemm_range columns = {.column =
						 task % n_blocks * w->columns};
	int64_t k = w->lines * SL__GEMM_LINE, end;
	float *rows = scratch, *products = rows + w->t * w->t * n * k;
	struct sl__gemm_blocked g = w->g;
	float results[16 * LANES];

	end = columns.column + w->columns;
	end = end < w->n_channels ? end : w->n_channels;
	columns.n_columns = end - columns.column;
	g.c = (float *)(void *)at[AT_Y];
	sl__tile_epilogue_start(&w->epilogue, at, &g, 0, 0);
	transform_tiles(w, first, n, (const float *)(const void *)at[AT_X],
			rows);
	for (int64_t j = columns.column; j < end; j += w->panel) {
		multiply(w, n, rows,
			 (const float *)(const void *)at[AT_W] +
				 j * k * w->t * w->t,
			 j + w->panel >= end, products);
		for (int64_t i = 0; i < n * (w->panel / LANES); i++) {
			int64_t tile = i / (w->panel / LANES);
			int64_t part = i % (w->panel / LANES) * LANES;
			struct sl__winograd_output out = {
				products + tile * w->panel + part, n * w->panel,
				results};

			if (j + part >= end)
				continue;
			w->by.output(&out);
			finish_tile(w, &g, first + tile, j + part, results);
		}
	}
	for (int64_t i = 0; i < n; i++)
		finish_rest(w, &g, at, first + i, &columns);
}

/*
 * Multiply-adds that F(m, 3) takes for each pair of channels, and what its
 * transforms cost beside them: some 250 cycles for 16 channels of a tile of 6 x
 * 6 pixels.  Fewer than 16 tiles wait for their weights.
 */
static double
cost_of(const struct sl__conv_shape *s, int64_t out, int m)
{
	double tiles = (double)(s->batch * ((s->out[1] + m - 1) / m) *
				((s->out[2] + m - 1) / m));
	double products = m == 1 ? 9 : (m + 2) * (m + 2);
	double transform = m == 1 ? 0 : m == 2 ? 100 : 250;
	double in = (double)s->channels, n = (double)out;

	return products * in * n * (tiles < 16 ? 16 : tiles) +
	       transform * tiles * (in + n);
}

/* 2 or 4; 0 where none is worth it. */
static int
choose(const struct sl__planner *pl, const struct sl__conv *c,
       const struct sl__conv_shape *s, int64_t out)
{
	double direct = cost_of(s, out, 1), two = cost_of(s, out, 2);
	double four = cost_of(s, out, 4);
	int m = four < two ? 4 : 2;

	/* By rule the exact sum is taken, as oneDNN's is. */
	if (pl->options->flags & SL_PLAN_NO_WINOGRAD ||
	    pl->options->algorithms == SL_ALGORITHMS_FIXED ||
	    !pl->graph->values[c->w].tensor)
		return 0;
	return (m == 4 ? four : two) < .85 * direct ? m : 0;
}

static int
is_fit(const struct sl__planner *pl, const struct sl__conv *c,
       const struct sl__conv_shape *s)
{
	for (int d = 1; d < 3; d++) {
		if (s->kernel[d] != 3 || s->strides[d] != 1 ||
		    s->dilations[d] != 1)
			return 0;
	}
	return c->rank == 4 && c->n_groups == 1 && !c->is_transposed &&
	       s->channels % LANES == 0 &&
	       sl__plan_value_type(pl, c->x)->dtype == SL_DTYPE_F32 &&
	       sl__gemm_blocked_panel() % LANES == 0;
}

/* Tiles so many that their products fill about half of a second cache of 1 MiB,
 * but at least those of one group: each further block of them reads all weights
 * again, which are most of what a layer of few tiles reads.  On several threads
 * there are at least two tasks for each, of the same size, and as many for each:
 * rather fewer channels, since each task reads all weights of its channels, than
 * fewer tiles. */
static void
cut(struct winograd *w, int n_threads)
{
	enum { BLOCK_FLOATS = 131072, COLUMNS_LEAST = 64 };
	int64_t least = sl__gemm_blocked_rows(), n_columns = 1, n_rows;
	int64_t wanted = n_threads > 1 ? 2 * n_threads : 1;

	n_rows = BLOCK_FLOATS / (w->t * w->t * w->lines * LANES);
	n_rows = n_rows < least ? least : n_rows;
	n_rows = (w->n_tiles + n_rows / 2) / n_rows;
	n_rows = n_rows < 1 ? 1 : n_rows;
	while (n_rows * n_columns < wanted &&
	       w->n_channels / (2 * n_columns) >= COLUMNS_LEAST)
		n_columns *= 2;
	while ((n_rows * n_columns < wanted ||
		n_rows * n_columns % n_threads) &&
	       w->n_tiles / (n_rows + 1) >= least / 2)
		n_rows++;
	w->rows = (w->n_tiles + n_rows - 1) / n_rows;
	w->columns =
		((w->n_channels + n_columns - 1) / n_columns + w->panel - 1) /
		w->panel * w->panel;
}

static int
read_winograd(struct winograd *w, struct sl__planner *pl,
	      const struct sl__conv *c)
{
	const struct sl__type *x = sl__plan_value_type(pl, c->x);
	const struct sl__type *y = sl__plan_value_type(pl, c->y);
	struct sl__conv_shape *s = &w->shape;

	sl__conv_shape_set(s, x->rank, x->dims, y->dims, &c->window);
	if (!is_fit(pl, c, s))
		return 0;
	w->m = choose(pl, c, s, y->dims[1]);
	if (!w->m || !sl__conv_epilogue_read(&w->p, pl, c))
		return 0;
	w->t = w->m + 2;
	for (int d = 0; d < 2; d++)
		w->tiles[d] = (s->out[1 + d] + w->m - 1) / w->m;
	w->n_tiles = s->batch * w->tiles[0] * w->tiles[1];
	w->n_channels = w->g.c_row = w->g.n = y->dims[1];
	w->lines = s->channels / LANES;
	w->panel = sl__gemm_blocked_panel();
	w->panel_floats = sl__gemm_blocked_packed_floats(s->channels, w->panel);
	w->by = sl__winograd_for(w->m);
	sl__tile_epilogue_split(&w->epilogue, &w->p, &w->g);
	return 1;
}

int
sl__make_native_winograd(struct sl__planner *pl, const struct sl__node *node)
{
	struct winograd *w = sl__plan_alloc_state(pl, sizeof(*w));
	uint32_t operands[AT_REST + SL__EPILOGUE_MAX], n;
	struct sl__tiled_work work = {.run = run_task, .state = w};
	struct sl__packing packing = {.pack = pack};
	struct weights weights;
	struct sl__conv c;
	uint64_t n_products;

	if (!w || !sl__conv_read(&c, pl, node) || !read_winograd(w, pl, &c))
		return 0;
	n_products = (uint64_t)(w->t * w->t);
	weights = (struct weights){w->m, w->shape.channels, w->n_channels,
				   w->panel, w->panel_floats};
	packing.how = &weights;
	packing.n_how = sizeof(weights);
	packing.n_bytes = n_products * sizeof(float) *
			  (uint64_t)sl__gemm_blocked_packed_floats(
				  w->shape.channels, w->n_channels);
	work.kernel = w->m == 2 ? "winograd_2x3" : "winograd_4x3";
	work.n_threads = sl__threads_for_flops(
		pl, 2. * (double)(w->n_tiles * w->shape.channels) *
			    (double)w->n_channels * (double)n_products);
	cut(w, work.n_threads);
	work.n_tiles = (w->n_tiles + w->rows - 1) / w->rows *
		       ((w->n_channels + w->columns - 1) / w->columns);
	work.scratch_bytes = n_products * (uint64_t)w->rows *
			     (uint64_t)(w->lines * LANES + w->panel) *
			     sizeof(float);
	operands[AT_W] = sl__plan_constant_packed_by(pl, c.w, &packing);
	operands[AT_X] = sl__plan_input_buffer(
		pl, c.x, sl__layout_channels_last(pl, c.x));
	n = sl__tile_epilogue_add_operands(&w->epilogue, pl, operands, AT_REST);
	operands[AT_Y] = sl__tile_epilogue_output(
		&w->epilogue, pl, c.y, sl__layout_channels_last(pl, c.y),
		operands);
	sl__plan_add_tiled_step(pl, operands, n, &work)->executed_flops =
		2 * n_products * (uint64_t)(w->n_tiles * w->shape.channels) *
		(uint64_t)w->n_channels;
	return 1;
}
