/* SPDX-License-Identifier: Apache-2.0 */
/* conv_epilogue.c - the epilogue of a convolution as that of a matmul. */
#include "engine/conv_epilogue.h"
#include "engine/strided_layout.h"

#include <string.h>

#include "base/banned.h"

/* How an operand lies along the result's pixels and channels. */
static void
walk_operand(struct sl__epilogue_op *end, struct sl__planner *pl,
	     const struct sl__conv *c, int i)
{
	const struct sl__type *y = sl__plan_value_type(pl, c->y), *z;
	int64_t step = 1, is_same = sl__conv_operand_is_same_size(pl, c, i);
	int shift;

	end->value = sl__plan_node_input(c->node, c->post_ops[i].input);
	z = sl__plan_value_type(pl, end->value);
	shift = y->rank - z->rank;
	if (is_same) {
		end->layout = sl__layout_channels_last(pl, end->value);
		end->column = 1;
		step = y->dims[1];
	}
	for (int d = z->rank; d-- > 0; step *= z->dims[d]) {
		int to = d + shift; /* dimension of the result */

		if (to == 1) {
			end->column = is_same ? 1 : z->dims[d] == 1 ? 0 : step;
			step = is_same ? step / z->dims[d] : step;
		} else {
			end->strides[to ? to - 1 : 0] = z->dims[d] == 1 ? 0
									: step;
		}
	}
}

int
sl__conv_epilogue_read(struct sl__gemm *p, struct sl__planner *pl,
		       const struct sl__conv *c)
{
	const struct sl__type *y = sl__plan_value_type(pl, c->y);

	p->y = c->y;
	p->rank = y->rank - 1;
	p->dims[0] = y->dims[0];
	memcpy(p->dims + 1, y->dims + 2,
	       (size_t)(y->rank - 2) * sizeof(*p->dims));
	p->n = y->dims[1];
	if (c->b != SL__NONE)
		p->epilogue[p->n_epilogue++] = (struct sl__epilogue_op){
			.post_op = {.kind = SL__POST_OP_ADD},
			.value = c->b,
			.column = 1};
	for (int i = 0; i < c->n_post_ops; i++) {
		struct sl__epilogue_op *end = &p->epilogue[p->n_epilogue++];

		end->post_op = c->post_ops[i];
		end->value = SL__NONE;
		if (c->post_ops[i].kind != SL__POST_OP_ADD &&
		    c->post_ops[i].kind != SL__POST_OP_MUL)
			continue;
		walk_operand(end, pl, c, i);
		if (sl__plan_value_type(pl, end->value)->dtype != SL_DTYPE_F32)
			return 0;
	}
	return c->b == SL__NONE ||
	       sl__plan_value_type(pl, c->b)->dtype == SL_DTYPE_F32;
}
