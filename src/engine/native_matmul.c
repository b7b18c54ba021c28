/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_matmul.c - matmuls of f32 by own kernels (gemm_blocked.c).
 *
 * The right matrix is packed into panels: once where it is constant, else
 * before the tiles in every run.
 */
#include "engine/tile_epilogue.h"
#include "engine/tiled_step.h"

#include "base/banned.h"

/* The right matrices: one of each stack that has its own. */
struct right {
	int64_t k, n, row, column; /* of each: sizes and strides */
	int64_t panel;             /* columns of a panel */
	int64_t rank, dims[SL__GEMM_RANK], strides[SL__GEMM_RANK];
	int64_t n_matrices, packed_floats; /* of each */
};

enum { AT_A, AT_B, AT_Y, AT_REST };

struct matmul {
	struct sl__gemm p;
	struct right right;
	struct sl__gemm_blocked g; /* without addresses */
	struct sl__gemm_cut cut;
	struct sl__tile_epilogue epilogue;
};

static void
read_right(struct right *r, const struct sl__gemm *p)
{
	*r = (struct right){.k = p->k,
			    .n = p->n,
			    .row = p->b_k,
			    .column = p->b_n,
			    .panel = sl__gemm_blocked_panel(),
			    .rank = p->rank - 1,
			    .n_matrices = 1};
	r->packed_floats = sl__gemm_blocked_packed_floats(p->k, p->n);
	for (int d = 0; d < r->rank; d++) {
		r->dims[d] = p->b_strides[d] ? p->dims[d] : 1;
		r->strides[d] = p->b_strides[d];
		r->n_matrices *= r->dims[d];
	}
}

/* One panel of one of the matrices. */
static void
pack_panel(const void *how, const float *from, int64_t index, float *to)
{
	const struct right *r = how;
	int64_t n_panels = (r->n + r->panel - 1) / r->panel;
	int64_t matrix = index / n_panels, j = index % n_panels * r->panel;
	struct sl__gemm_matrix b = {from + j * r->column, r->row, r->column};

	to += matrix * r->packed_floats +
	      j * sl__gemm_lines(r->k) * SL__GEMM_LINE;
	for (int64_t d = r->rank; d-- > 0; matrix /= r->dims[d])
		b.at += matrix % r->dims[d] * r->strides[d];
	sl__gemm_blocked_pack(to, &b, r->k,
			      r->n - j < r->panel ? r->n - j : r->panel);
}

static int64_t
n_panels(const struct right *r)
{
	return r->n_matrices * ((r->n + r->panel - 1) / r->panel);
}

static void
run_tile(const void *state, unsigned char *const *at, int64_t tile,
	 void *scratch)
{
	const struct matmul *m = state;
	const struct sl__gemm *p = &m->p;
	int64_t stack = tile / m->cut.n_tiles, left = stack, b = 0, step = 1;
	struct sl__gemm_strided_rows rows = {
		{(const float *)(const void *)at[AT_A],
		 p->a_strides[p->rank - 1], p->a_k},
		p->k};
	struct sl__gemm_blocked g = m->g;
	struct sl__gemm_range range =
		sl__gemm_tile_range(&g, &m->cut, tile % m->cut.n_tiles);

	for (int d = p->rank - 1; d-- > 0; left /= p->dims[d]) {
		rows.a.at += left % p->dims[d] * p->a_strides[d];
		b += left % m->right.dims[d] * step;
		step *= m->right.dims[d];
	}
	g.ctx = &rows;
	g.b = (const float *)(const void *)at[AT_B] +
	      b * m->right.packed_floats;
	g.c = (float *)(void *)at[AT_Y] + stack * g.m * g.n;
	sl__tile_epilogue_start(&m->epilogue, at, &g, stack * g.m * g.n, 0);
	sl__gemm_blocked_tile(&g, &range, scratch);
	sl__tile_epilogue_finish(&m->epilogue, at, &g, &range,
				 stack * g.m + range.row, 0);
}

int
sl__make_native_matmul(struct sl__planner *pl, const struct sl__node *node)
{
	struct matmul *m = sl__plan_alloc_state(pl, sizeof(*m));
	uint32_t operands[AT_REST + 1 + SL__EPILOGUE_MAX], n = AT_REST;
	const struct sl__gemm *p = m ? &m->p : NULL;
	const struct right *r = m ? &m->right : NULL;
	struct sl__tiled_work work = {
		.run = run_tile, .state = m, .kernel = "gemm"};
	int64_t rows;

	if (!m || !sl__gemm_read(&m->p, pl, node) ||
	    sl__plan_value_type(pl, p->y)->dtype != SL_DTYPE_F32)
		return 0;
	rows = p->dims[p->rank - 1];
	m->g = (struct sl__gemm_blocked){.m = rows,
					 .n = p->n,
					 .k = p->k,
					 .rows = sl__gemm_strided_rows,
					 .c_row = p->n};
	sl__tile_epilogue_split(&m->epilogue, p, &m->g);
	read_right(&m->right, p);
	work.n_threads =
		sl__threads_for_flops(pl, 2. * (double)sl__gemm_n_rows(p) *
						  (double)p->n * (double)p->k);
	sl__gemm_blocked_cut(&m->cut, rows, p->n, p->k, work.n_threads);
	work.n_tiles = m->cut.n_tiles * (sl__gemm_n_rows(p) / rows);
	work.scratch_bytes = m->cut.scratch_bytes;
	work.packed_at = AT_B;
	work.panels = (struct sl__panels){
		pack_panel, r, sizeof(*r), n_panels(r),
		(uint64_t)(r->n_matrices * r->packed_floats) * sizeof(float)};
	sl__plan_panels(pl, &work, p->b, operands, &n);
	operands[AT_A] = sl__plan_input_buffer(pl, p->a, NULL);
	n = sl__tile_epilogue_add_operands(&m->epilogue, pl, operands, n);
	operands[AT_Y] = sl__tile_epilogue_output(&m->epilogue, pl, p->y, NULL,
						  operands);
	sl__plan_add_tiled_step(pl, operands, n, &work);
	return 1;
}
