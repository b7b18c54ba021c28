/* SPDX-License-Identifier: Apache-2.0 */
/* tile_epilogue.c - what follows a matmul, shared by its tiles and its rows. */
#include "engine/tile_epilogue.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

void
sl__tile_epilogue_split(struct sl__tile_epilogue *out, const struct sl__gemm *p,
			struct sl__gemm_blocked *g)
{
	int i = 0;

	out->bias = out->addend = SL__NONE;
	if (i < p->n_epilogue && sl__epilogue_is_bias(p, i) &&
	    p->epilogue[i].column == 1)
		out->bias = p->epilogue[i++].value;
	if (i < p->n_epilogue && sl__epilogue_is_residual(p, i)) {
		out->addend_layout = p->epilogue[i].layout;
		out->addend = p->epilogue[i++].value;
	}
	if (i < p->n_epilogue &&
	    (p->epilogue[i].post_op.kind == SL__POST_OP_RELU ||
	     p->epilogue[i].post_op.kind == SL__POST_OP_CLIP)) {
		const struct sl__post_op *op = &p->epilogue[i++].post_op;
		int is_relu = op->kind == SL__POST_OP_RELU;

		g->is_clipped = 1;
		g->low = is_relu ? 0 : op->alpha;
		g->high = is_relu ? INFINITY : op->beta;
	}
	out->rest = *p;
	out->rest.n_epilogue -= i;
	memmove(out->rest.epilogue, p->epilogue + i,
		(size_t)out->rest.n_epilogue * sizeof(*p->epilogue));
}

uint32_t
sl__tile_epilogue_add_operands(struct sl__tile_epilogue *e,
			       struct sl__planner *pl, uint32_t *operands,
			       uint32_t n)
{
	if (e->bias != SL__NONE) {
		e->bias_at = n;
		operands[n++] = sl__plan_input_buffer(pl, e->bias, NULL);
	}
	if (e->addend != SL__NONE) {
		e->addend_at = n;
		operands[n++] =
			sl__plan_input_buffer(pl, e->addend, e->addend_layout);
	}
	return sl__epilogue_add_operands(&e->epilogue, pl, &e->rest, operands,
					 n);
}

uint32_t
sl__tile_epilogue_output(const struct sl__tile_epilogue *e,
			 struct sl__planner *pl, uint32_t value,
			 const struct sl__layout *layout,
			 const uint32_t *operands)
{
	return e->addend == SL__NONE
		       ? sl__plan_output_buffer(pl, value, layout)
		       : sl__plan_output_in_place(pl, value, layout,
						  operands[e->addend_at]);
}

void
sl__tile_epilogue_start(const struct sl__tile_epilogue *e,
			unsigned char *const *at, struct sl__gemm_blocked *g,
			int64_t offset, int64_t column)
{
	if (e->bias != SL__NONE)
		g->bias = (const float *)(const void *)at[e->bias_at] + column;
	if (e->addend != SL__NONE)
		g->addend = (const float *)(const void *)at[e->addend_at] +
			    offset + column;
}

void
sl__tile_epilogue_finish(const struct sl__tile_epilogue *e,
			 unsigned char *const *at,
			 const struct sl__gemm_blocked *g,
			 const struct sl__gemm_range *range, int64_t row,
			 int64_t column)
{
	for (int64_t i = 0; e->rest.n_epilogue && i < range->n_rows; i++)
		sl__epilogue_apply(&e->epilogue, at, row + i,
				   column + range->column, range->n_columns,
				   g->c + (range->row + i) * g->c_row +
					   range->column);
}
