/* SPDX-License-Identifier: Apache-2.0 */
/* native_where.c - elements chosen from two tensors, broadcast together. */
#include "compute/vector.h"
#include "engine/data_movement.h"
#include "engine/node_steps.h"

#include "base/banned.h"

/* Rows of the result, the condition and what is chosen from; a step of 0
 * repeats one element. */
struct row {
	int64_t n;
	const uint8_t *condition;
	const void *x, *y;
	void *z;
	int64_t c_step, x_step, y_step;
};

/* Both are read before one is taken, so that nothing is a branch. */
#define RUN(type, x_at, y_at)                \
	for (int64_t i = 0; i < r->n; i++) { \
		type a = x_at, b = y_at;     \
                                             \
		z[i] = c[i] ? a : b;         \
	}
#define CHOOSE(name, type)                                                  \
	SL__INLINE void name##_body(const struct row *r)                    \
	{                                                                   \
		const type *x = r->x, *y = r->y;                            \
		const uint8_t *c = r->condition;                            \
		type *z = r->z, x0 = x[0], y0 = y[0];                       \
                                                                            \
		if (r->c_step && r->x_step && r->y_step)                    \
			RUN(type, x[i], y[i])                               \
		else if (r->c_step && r->x_step)                            \
			RUN(type, x[i], y0)                                 \
		else if (r->c_step && r->y_step)                            \
			RUN(type, x0, y[i])                                 \
		else                                                        \
			for (int64_t i = 0; i < r->n; i++)                  \
				z[i] = c[i * r->c_step] ? x[i * r->x_step]  \
							: y[i * r->y_step]; \
	}                                                                   \
	SL__VECTOR_TARGETS(name, name##_body, (const struct row *r), (r))

CHOOSE(choose_1, uint8_t)
CHOOSE(choose_2, uint16_t)
CHOOSE(choose_4, uint32_t)
CHOOSE(choose_8, uint64_t)

struct where {
	struct sl__iteration_space space; /* result, condition, x, y */
	int64_t n_bytes;
	void (*choose)(const struct row *r);
	unsigned char **at; /* condition, x, y, result */
};

static void
run_row(const struct where *w, const int64_t *offsets, int64_t n)
{
	int last = w->space.rank - 1;
	struct row r = {.n = n};

	r.condition = w->at[0] + offsets[1];
	r.x = w->at[1] + offsets[2] * w->n_bytes;
	r.y = w->at[2] + offsets[3] * w->n_bytes;
	r.z = w->at[3] + offsets[0] * w->n_bytes;
	r.c_step = w->space.strides[1][last];
	r.x_step = w->space.strides[2][last];
	r.y_step = w->space.strides[3][last];
	w->choose(&r);
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct where *w = ctx;
	const struct sl__iteration_space *l = &w->space;
	int last = l->rank - 1;
	struct sl__space_position p;
	int64_t first, end;

	sl__parallel_range(last ? sl__space_n_positions(l, last) : l->dims[0],
			   rank, n_ranks, &first, &end);
	if (first == end)
		return;
	sl__space_seek(l, last ? last : 1, first, &p);
	if (!last) {
		run_row(w, p.offsets, end - first);
		return;
	}
	for (; first < end; first++) {
		run_row(w, p.offsets, l->dims[last]);
		sl__space_next(l, last, &p);
	}
}

static int
add_operand(const struct sl__planner *pl, uint32_t value,
	    const struct sl__type *out, struct sl__iteration_space *l)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	struct sl__strided_layout layout;
	struct sl__space_operand operand = {out->rank - type->rank, type->rank,
					    type->dims, &layout};

	if (operand.first < 0 ||
	    !sl__strided_layout_of(pl, value, NULL, &layout))
		return 0;
	for (int d = 0; d < type->rank; d++) {
		if (type->dims[d] != 1 &&
		    type->dims[d] != out->dims[operand.first + d])
			return 0;
	}
	return sl__space_add_operand(l, &operand, -1, 1);
}

static int
read_where(const struct sl__planner *pl, const struct sl__node *node,
	   struct where *w)
{
	const struct sl__type *out = sl__plan_node_output_type(pl, node, 0);

	if (!sl__plan_value_n_elements(pl, sl__plan_node_output(node, 0)) ||
	    out->rank >= SL__SPACE_RANK_MAX ||
	    !sl__dtype_is_movable(out->dtype) ||
	    sl__plan_node_input_type(pl, node, 0)->dtype != SL_DTYPE_BOOL ||
	    sl__plan_node_input_type(pl, node, 1)->dtype != out->dtype ||
	    sl__plan_node_input_type(pl, node, 2)->dtype != out->dtype)
		return 0;
	w->n_bytes = sl_dtype_bits(out->dtype) / 8;
	sl__space_init(&w->space, out->rank, out->dims);
	if (!add_operand(pl, sl__plan_node_output(node, 0), out, &w->space))
		return 0;
	for (size_t i = 0; i < 3; i++) {
		if (!add_operand(pl, sl__plan_node_input(node, i), out,
				 &w->space))
			return 0;
	}
	sl__space_merge_loops(&w->space);
	w->choose = w->n_bytes == 1   ? choose_1_for()
		    : w->n_bytes == 2 ? choose_2_for()
		    : w->n_bytes == 4 ? choose_4_for()
				      : choose_8_for();
	return 1;
}

int
sl__make_where(struct sl__planner *pl, const struct sl__node *node)
{
	struct where *w = sl__plan_alloc_state(pl, sizeof(*w));
	uint32_t at[4];

	if (!w || !read_where(pl, node, w))
		return 0;
	sl__plan_node_operands(pl, node, 3, at);
	w->at = sl__plan_add_parallel_step(pl, at, 4, "where", run_part, w)->at;
	return 1;
}
