/* SPDX-License-Identifier: Apache-2.0 */
/* native_cast.c - elements of one type as another. */
#include "compute/element_conversion.h"
#include "engine/node_steps.h"

#include <string.h>

#include "base/banned.h"

struct cast {
	enum sl_dtype from, to;
	int64_t n;
	unsigned char **at; /* x, y */
};

enum { PIECE = 512 };

/* One of the two types is computed with, or both go by way of one. */
static void
convert(const struct cast *c, const void *x, int64_t n, void *y)
{
	float reals[PIECE];
	int64_t wholes[PIECE];

	if (c->to == SL_DTYPE_F32) {
		sl__numbers_to_f32(c->from, x, n, y);
	} else if (c->from == SL_DTYPE_F32) {
		sl__numbers_from_f32(c->to, x, n, y);
	} else if (sl__number_class_of(c->from) == SL__NUMBER_CLASS_REAL ||
		   sl__number_class_of(c->to) == SL__NUMBER_CLASS_REAL) {
		sl__numbers_to_f32(c->from, x, n, reals);
		sl__numbers_from_f32(c->to, reals, n, y);
	} else {
		sl__numbers_to_i64(c->from, x, n, wholes);
		sl__numbers_from_i64(c->to, wholes, n, y);
	}
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct cast *c = ctx;
	size_t from = sl_dtype_bits(c->from) / 8, to = sl_dtype_bits(c->to) / 8;
	int64_t first, end;

	sl__parallel_range(c->n, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i += PIECE) {
		int64_t n = end - i < PIECE ? end - i : PIECE;

		convert(c, c->at[0] + (size_t)i * from, n,
			c->at[1] + (size_t)i * to);
	}
}

int
sl__make_cast(struct sl__planner *pl, const struct sl__node *node)
{
	struct cast *c = sl__plan_alloc_state(pl, sizeof(*c));
	uint32_t at[2];

	if (!c)
		return 0;
	c->from = sl__plan_node_input_type(pl, node, 0)->dtype;
	c->to = sl__plan_node_output_type(pl, node, 0)->dtype;
	c->n = (int64_t)sl__plan_value_n_elements(pl, node->inputs[0]);
	if (!c->n || !sl__number_class_of(c->from) ||
	    !sl__number_class_of(c->to))
		return 0;
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	if (c->from == c->to) {
		sl__plan_view(pl, node->outputs[0], at[0], 0);
		return 1;
	}
	at[1] = sl__plan_output_buffer(pl, node->outputs[0], NULL);
	c->at = sl__plan_add_parallel_step(pl, at, 2, "cast", run_part, c)->at;
	return 1;
}
