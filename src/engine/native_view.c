/* SPDX-License-Identifier: Apache-2.0 */
/* native_view.c - other sizes, the same elements: nothing is done. */
#include "engine/node_steps.h"
#include "engine/gemm.h"

#include "base/banned.h"

/* Sizes that layouts can describe. */
enum { RANK_MOST = 8 };

/* Whether a value lies row-major, but in another type than its own, that of
 * products: it stays as it is. */
static int
is_narrow(const struct sl__planner *pl, uint32_t from, uint32_t to)
{
	return sl__plan_find_bf16_layout(pl, from) &&
	       sl__plan_value_type(pl, to)->dtype == SL_DTYPE_F32 &&
	       sl__plan_value_type(pl, to)->rank <= RANK_MOST;
}

int
sl__make_view(struct sl__planner *pl, const struct sl__node *node)
{
	uint32_t from = node->inputs[0], to = node->outputs[0], buffer;

	/* The reference kernel says what is wrong with other sizes. */
	if (sl__plan_value_type(pl, from)->dtype == SL_DTYPE_STRING ||
	    sl__plan_value_bytes(pl, from) != sl__plan_value_bytes(pl, to))
		return 0;
	if (is_narrow(pl, from, to)) {
		buffer = sl__plan_input_buffer(pl, from,
					       sl__plan_value_layout(pl, from));
		sl__plan_alias(pl, to,
			       sl__gemm_row_major_layout(pl, to, SL_DTYPE_BF16),
			       buffer);
		return 1;
	}
	buffer = sl__plan_input_buffer(pl, from, NULL);
	sl__plan_view(pl, to, buffer, 0);
	return 1;
}
