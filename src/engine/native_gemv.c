/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_gemv.c - few rows times a constant matrix.
 *
 * Such a matmul does little with each weight, so its time is that of
 * reading the weights.  They lie as [n][k], one row after the other of what
 * each column of the result is made of: a transposed right matrix (the table
 * of an embedding that is also the head) is read where it is, another one is
 * transposed once.  How they are read is in compute/dots.h.  Threads share
 * columns.  Rows and results are few: they stay f32 where weights are bf16.
 */
#include "compute/dots.h"
#include "compute/vector.h"
#include "engine/node_steps.h"
#include "engine/gemm_epilogue.h"
#include "graph/op_rules.h"

#include "base/banned.h"

enum {
	ROWS_MOST = SL__DOTS_ROWS_MOST,
	CHUNK = SL__DOTS_CHUNK,
	HALF = SL__DOTS_HALF,
	BYTES_PER_THREAD = 512 * 1024 /* below, a second one is not worth it */
};

struct gemv {
	struct sl__gemm p;
	struct sl__epilogue epilogue;
	int64_t b_row;
	sl__dots_function *dots; /* NULL: plain C */
	sl__plain_dots_function *plain;
	int is_gathered; /* rows of a are brought into the workspace */
	int is_bf16;     /* b */
	int is_a_bf16, is_y_bf16;
	unsigned char **at;
	const float *a; /* while it runs */
	int64_t a_row;
};

enum { AT_A, AT_B, AT_Y, AT_ROWS }; /* operands; the last where gathered */

/* Rows of a as f32, side by side. */
static void
gather(const struct gemv *g, const unsigned char *a, float *to)
{
	const float *wide = (const float *)(const void *)a;
	const uint16_t *narrow = (const uint16_t *)(const void *)a;
	int64_t step = g->p.a_k;

	for (int64_t i = 0; i < g->p.dims[0]; i++) {
		for (int64_t p = 0; p < g->p.k; p++) {
			int64_t at = i * g->p.a_strides[0] + p * step;

			*to++ = g->is_a_bf16 ? sl__from_bf16(narrow[at])
					     : wide[at];
		}
	}
}

static void
store(const struct gemv *g, unsigned char *y, int64_t at, int64_t n,
      const float *from)
{
	uint16_t *narrow = (uint16_t *)(void *)y + at;

	if (!g->is_y_bf16) {
		memcpy((float *)(void *)y + at, from,
		       (size_t)n * sizeof(*from));
		return;
	}
	for (int64_t i = 0; i < n; i++)
		narrow[i] = sl__to_bf16(from[i]);
}

/* Columns first .. first + n - 1 of the result from y. */
static void
finish(const struct gemv *g, int64_t first, int64_t n, float *y)
{
	for (int64_t i = 0; i < g->p.dims[0]; i++) {
		sl__epilogue_apply(&g->epilogue, g->at, i, first, n,
				   y + i * CHUNK);
		store(g, g->at[AT_Y], i * g->p.n + first, n, y + i * CHUNK);
	}
}

/* n columns from 'first' on and as many from 'second' on; the latter may be
 * the same. */
static void
run_chunk(const struct gemv *g, int64_t first, int64_t second, int64_t n)
{
	int64_t stride = g->b_row * (g->is_bf16 ? 2 : 4);
	float y[ROWS_MOST * CHUNK];
	struct sl__dots d = {
		g->a,
		g->a_row,
		{g->at[AT_B] + first * stride, g->at[AT_B] + second * stride},
		g->b_row,
		g->p.k,
		n,
		y};

	if (g->dots)
		g->dots(&d);
	else
		g->plain(&d, (int)g->p.dims[0], g->is_bf16);
	finish(g, first, n, y);
	if (second != first)
		finish(g, second, n, y + HALF);
}

static void
run_part(int rank, int n, void *ctx)
{
	const struct gemv *g = ctx;
	int64_t first, end, half;

	sl__parallel_range(g->p.n, rank, n, &first, &end);
	half = (end - first) / 2;
	for (int64_t j = 0; j < half; j += HALF)
		run_chunk(g, first + j, first + half + j,
			  half - j < HALF ? half - j : HALF);
	if (first + 2 * half < end)
		run_chunk(g, end - 1, end - 1, 1);
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct gemv *g = step->state;

	(void)err;
	g->a = (const float *)(const void *)step->at[AT_A];
	g->a_row = g->p.a_strides[0];
	if (g->is_gathered) {
		float *rows = (float *)(void *)step->at[AT_ROWS];

		gather(g, step->at[AT_A], rows);
		g->a = rows;
		g->a_row = g->p.k;
	}
	sl__parallel_run(step->n_threads, run_part, g);
	return SL_OK;
}

/* Weights as [n][k]: where they are, or transposed once. */
static uint32_t
read_weights(struct sl__planner *pl, struct gemv *g)
{
	const struct sl__gemm *p = &g->p;
	const struct sl__layout *layout;

	g->b_row = p->k;
	if (p->b_k != 1)
		return sl__gemm_pack_weights(pl, p);
	g->b_row = p->b_n;
	layout = sl__gemm_row_major_layout(pl, p->b, p->dtype);
	return layout ? sl__plan_input_buffer(pl, p->b, layout)
		      : sl__plan_constant_in_own_pages(pl, p->b);
}

/* As they lie, where that is row-major: they are few, and become f32 here. */
static uint32_t
read_rows(struct sl__planner *pl, struct gemv *g, uint32_t *operands)
{
	const struct sl__gemm *p = &g->p;
	const struct sl__layout *layout = sl__plan_find_bf16_layout(pl, p->a);

	operands[AT_A] = sl__plan_input_buffer(pl, p->a, layout);
	g->is_a_bf16 = layout ||
		       sl__plan_value_type(pl, p->a)->dtype == SL_DTYPE_BF16;
	g->is_gathered = g->is_a_bf16 || p->a_k != 1;
	if (!g->is_gathered)
		return AT_Y + 1;
	operands[AT_ROWS] =
		sl__plan_workspace(pl, (uint64_t)(p->dims[0] * p->k) * 4);
	return AT_ROWS + 1;
}

int
sl__make_gemv(struct sl__planner *pl, const struct sl__node *node)
{
	struct gemv *g = sl__plan_alloc_state(pl, sizeof(*g));
	uint32_t operands[AT_ROWS + 1 + SL__EPILOGUE_MAX], n;
	struct sl__step *step;

	if (!g || !sl__gemm_read(&g->p, pl, node) || g->p.rank != 1 ||
	    g->p.dims[0] > ROWS_MOST || !pl->graph->values[g->p.b].tensor ||
	    pl->graph->values[g->p.a].tensor)
		return 0;
	if (g->p.b_k != 1 && sl__isa_is_scalar())
		return 0; /* oneDNN transposes */
	g->is_bf16 = g->p.dtype == SL_DTYPE_BF16;
	g->is_y_bf16 = sl__plan_value_type(pl, g->p.y)->dtype == SL_DTYPE_BF16;
	g->dots = sl__dots_for((int)g->p.dims[0], g->is_bf16);
	g->plain = sl__plain_dots_for();
	n = read_rows(pl, g, operands);
	operands[AT_B] = read_weights(pl, g);
	n = sl__epilogue_add_operands(&g->epilogue, pl, &g->p, operands, n);
	operands[AT_Y] = sl__plan_output_buffer(pl, g->p.y, NULL);
	step = sl__plan_add_step(pl, operands, n,
				 g->dots ? "gemv:avx512" : "gemv", run, g);
	step->n_threads = sl__threads_at_most(
		step->n_threads,
		g->p.n * g->p.k * (g->is_bf16 ? 2 : 4) / BYTES_PER_THREAD);
	g->at = step->at;
	return 1;
}
