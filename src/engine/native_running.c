/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_running.c - running sums and products: CumSum, CumProd.
 *
 * A line along the axis is one after the other; lines beside each other in
 * memory go together, COLUMNS at a time.  Of reals, sums are in double
 * precision, as the reference kernel makes them.
 */
#include "compute/parallel.h"
#include "compute/targets.h"
#include "engine/node_steps.h"
#include "graph/op_rules.h"

#include "base/banned.h"

enum { COLUMNS = 64 };

struct running {
	int64_t outer, size, inner; /* around the axis */
	int64_t n_blocks;           /* of columns */
	int is_product, is_exclusive, is_reverse;
	sl__parallel_function *part;
	unsigned char **at;
};

/* Columns [first .. first + n) of slice 'outer': where they begin, and how far
 * it is from one place to the next, which may be backwards. */
struct stretch {
	int64_t start, step;
	int64_t n;
};

static struct stretch
stretch_of(const struct running *r, int64_t block)
{
	int64_t outer = block / r->n_blocks;
	int64_t first = block % r->n_blocks * COLUMNS;
	int64_t last = r->is_reverse ? r->size - 1 : 0;
	struct stretch s = {
		(outer * r->size + last) * r->inner + first,
		r->is_reverse ? -r->inner : r->inner,
		r->inner - first < COLUMNS ? r->inner - first : COLUMNS,
	};

	return s;
}

/* With n known where it is inlined, sums stay in registers. */
#define RUN(name, type, sum)                                                   \
	SL__INLINE void name##_columns(const struct running *r,                \
				       const struct stretch *s, int64_t n)     \
	{                                                                      \
		int is_product = r->is_product;                                \
		int is_exclusive = r->is_exclusive;                            \
		const type *x = (const type *)r->at[0] + s->start;             \
		type *y = (type *)r->at[1] + s->start;                         \
		sum sums[COLUMNS];                                             \
                                                                               \
		for (int64_t c = 0; c < n; c++)                                \
			sums[c] = is_product ? 1 : 0;                          \
		for (int64_t i = 0; i < r->size; i++) {                        \
			SL__EACH_ALONE                                         \
			for (int64_t c = 0; c < n; c++) {                      \
				sum before = sums[c], v = (sum)x[c];           \
				sum now = is_product ? before * v              \
						     : before + v;             \
                                                                               \
				sums[c] = now;                                 \
				y[c] = (type)(is_exclusive ? before : now);    \
			}                                                      \
			x += s->step;                                          \
			y += s->step;                                          \
		}                                                              \
	}                                                                      \
	SL__INLINE void name##_body(const struct running *r,                   \
				    const struct stretch *s)                   \
	{                                                                      \
		if (s->n == COLUMNS)                                           \
			name##_columns(r, s, COLUMNS);                         \
		else if (s->n == 1)                                            \
			name##_columns(r, s, 1);                               \
		else                                                           \
			name##_columns(r, s, s->n);                            \
	}                                                                      \
	SL__VECTOR_TARGETS(name, name##_body,                                  \
			   (const struct running *r, const struct stretch *s), \
			   (r, s))                                             \
	static void name##_part(int rank, int n_ranks, void *ctx)              \
	{                                                                      \
		void (*run)(const struct running *, const struct stretch *) =  \
			name##_for();                                          \
		const struct running *r = ctx;                                 \
		int64_t first, end;                                            \
                                                                               \
		sl__parallel_range(r->outer * r->n_blocks, rank, n_ranks,      \
				   &first, &end);                              \
		for (int64_t i = first; i < end; i++) {                        \
			struct stretch s = stretch_of(r, i);                   \
                                                                               \
			run(r, &s);                                            \
		}                                                              \
	}
RUN(f32, float, double)
RUN(f64, double, double)
RUN(i32, uint32_t, uint32_t) /* that wraps */
RUN(i64, uint64_t, uint64_t)

static sl__parallel_function *
part_of(enum sl_dtype dtype)
{
	static const struct {
		enum sl_dtype dtype;
		sl__parallel_function *part;
	} parts[] = {{SL_DTYPE_F32, f32_part}, {SL_DTYPE_F64, f64_part},
		     {SL_DTYPE_I32, i32_part}, {SL_DTYPE_U32, i32_part},
		     {SL_DTYPE_I64, i64_part}, {SL_DTYPE_U64, i64_part}};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].dtype == dtype)
			return parts[i].part;
	}
	return NULL;
}

static int
read_running(const struct sl__planner *pl, const struct sl__node *node,
	     struct running *r)
{
	const struct sl__type *in = sl__plan_node_input_type(pl, node, 0);
	const int64_t *given;
	int axis;
	size_t n;

	r->part = part_of(in->dtype);
	if (!r->part ||
	    !sl__plan_node_integer_list(pl, node, 1, NULL, &given, &n) ||
	    n != 1 ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)))
		return 0;
	axis = sl__axis_normalize(*given, in->rank);
	if (axis < 0)
		return 0;
	r->outer = sl__sizes_product(in, 0, axis);
	r->size = in->dims[axis];
	r->inner = sl__sizes_product(in, axis + 1, in->rank);
	r->n_blocks = (r->inner + COLUMNS - 1) / COLUMNS;
	r->is_product = sl__is_op(node, SL__OP_ONNX_CumProd);
	r->is_exclusive = sl__attribute_int(node, "exclusive", 0) != 0;
	r->is_reverse = sl__attribute_int(node, "reverse", 0) != 0;
	return 1;
}

int
sl__make_running(struct sl__planner *pl, const struct sl__node *node)
{
	struct running *r = sl__plan_alloc_state(pl, sizeof(*r));
	struct sl__step *step;
	uint32_t at[2];

	if (!r || !read_running(pl, node, r))
		return 0;
	sl__plan_node_operands(pl, node, 1, at);
	step = sl__plan_add_parallel_step(pl, at, 2, "running", r->part, r);
	step->n_threads =
		sl__threads_at_most(step->n_threads, r->outer * r->n_blocks);
	r->at = step->at;
	return 1;
}
