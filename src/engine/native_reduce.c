/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_reduce.c - reductions along some axes.
 *
 * Axes are joined into loops over what is kept and loops over what is
 * reduced.  Where the innermost is reduced, rows become numbers that are
 * joined; where it is kept, rows are joined element by element, a band at a
 * time.  Sums of many numbers go through double every PIECE of them, so that
 * f32 does not run out of digits.
 */
#include "compute/vector_rows.h"
#include "compute/iteration_space.h"
#include "engine/node_steps.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { PIECE = 4096, BAND = 1024, ROWS = 256 };

enum joining { SUM, PRODUCT, MOST, LEAST };
enum after { NOTHING, ROOT, LOGARITHM, MEAN };

typedef void row_function(const float *x, int64_t n, float *y);
typedef void band_function(const float *x, int64_t n, float *y);

/* row: a row into one number; band: a row joined into others. */
#define REDUCTION(name, start, element, joined)                                \
	SL__ROW(name##_all, start, element, joined)                            \
	SL__INLINE void name##_row_body(const float *x, int64_t n, float *y)   \
	{                                                                      \
		*y = name##_all(x, n, 0);                                      \
	}                                                                      \
	SL__VECTOR_TARGETS(name##_row, name##_row_body,                        \
			   (const float *x, int64_t n, float *y), (x, n, y))   \
	SL__INLINE void name##_band_body(const float *xs, int64_t n, float *y) \
	{                                                                      \
		for (int64_t i = 0; i < n; i++) {                              \
			float x = xs[i], a = y[i], b = (element);              \
                                                                               \
			y[i] = (joined);                                       \
		}                                                              \
	}                                                                      \
	SL__VECTOR_TARGETS(name##_band, name##_band_body,                      \
			   (const float *xs, int64_t n, float *y), (xs, n, y))

REDUCTION(sum, 0, x, a + b)
REDUCTION(sum_abs, 0, sl__abs(x), a + b)
REDUCTION(sum_square, 0, x *x, a + b)
REDUCTION(product, 1, x, a *b)
REDUCTION(most, -INFINITY, x, sl__max_or_nan(a, b))
REDUCTION(least, INFINITY, x, sl__min_or_nan(a, b))

struct reduction {
	const char *kernel;
	row_function *(*row)(void);
	band_function *(*band)(void);
	enum joining joining;
	enum after after;
};

static const struct reduction reductions[SL__N_OPS] = {
	[SL__OP_ONNX_GlobalMaxPool] = {"reduce_max", most_row_for,
				       most_band_for, MOST, NOTHING},
	[SL__OP_ONNX_ReduceL1] = {"reduce_l1", sum_abs_row_for,
				  sum_abs_band_for, SUM, NOTHING},
	[SL__OP_ONNX_ReduceL2] = {"reduce_l2", sum_square_row_for,
				  sum_square_band_for, SUM, ROOT},
	[SL__OP_ONNX_ReduceLogSum] = {"reduce_log_sum", sum_row_for,
				      sum_band_for, SUM, LOGARITHM},
	[SL__OP_ONNX_ReduceMax] = {"reduce_max", most_row_for, most_band_for,
				   MOST, NOTHING},
	[SL__OP_ONNX_ReduceMean] = {"reduce_mean", sum_row_for, sum_band_for,
				    SUM, MEAN},
	[SL__OP_ONNX_ReduceMin] = {"reduce_min", least_row_for, least_band_for,
				   LEAST, NOTHING},
	[SL__OP_ONNX_ReduceProd] = {"reduce_product", product_row_for,
				    product_band_for, PRODUCT, NOTHING},
	[SL__OP_ONNX_ReduceSum] = {"reduce_sum", sum_row_for, sum_band_for, SUM,
				   NOTHING},
	[SL__OP_ONNX_ReduceSumSquare] = {"reduce_sum_square",
					 sum_square_row_for,
					 sum_square_band_for, SUM, NOTHING},
};

struct reduce {
	row_function *row;
	band_function *band;
	enum joining joining;
	enum after after;
	int64_t n_joined;                  /* into each element of the result */
	struct sl__iteration_space kept;   /* result, input */
	struct sl__iteration_space inside; /* input, over what is reduced */
	int64_t inner;      /* innermost loop where that is kept, else 0 */
	unsigned char **at; /* x, y */
};

static double
nothing(enum joining joining)
{
	return joining == SUM       ? 0
	       : joining == PRODUCT ? 1
	       : joining == MOST    ? -(double)INFINITY
				    : (double)INFINITY;
}

static double
join(enum joining joining, double a, double b)
{
	if (joining == SUM)
		return a + b;
	if (joining == PRODUCT)
		return a * b;
	if (joining == MOST)
		return isnan(a) || a > b ? a : b;
	return isnan(a) || a < b ? a : b;
}

static float
finish(const struct reduce *r, double x)
{
	if (r->after == ROOT)
		return (float)sqrt(x);
	if (r->after == LOGARITHM)
		return (float)log(x);
	return (float)(r->after == MEAN ? x / (double)r->n_joined : x);
}

/* Everything below one element of the result, rows in one piece. */
static float
reduce_rows(const struct reduce *r, const float *x)
{
	const struct sl__iteration_space *l = &r->inside;
	int last = l->rank - 1;
	int64_t n = sl__space_n_positions(l, last), length = l->dims[last];
	double total = nothing(r->joining);
	struct sl__space_position p;

	sl__space_seek(l, last, 0, &p);
	for (int64_t i = 0; i < n; i++) {
		for (int64_t k = 0; k < length; k += PIECE) {
			float part;

			r->row(x + p.offsets[0] + k,
			       length - k < PIECE ? length - k : PIECE, &part);
			total = join(r->joining, total, (double)part);
		}
		sl__space_next(l, last, &p);
	}
	return finish(r, total);
}

/* A band of neighbours in the result; x is the band's first element. */
static void
reduce_band(const struct reduce *r, const float *x, int64_t width, float *y)
{
	const struct sl__iteration_space *l = &r->inside;
	int64_t n = sl__space_n_positions(l, l->rank);
	double totals[BAND];
	float part[BAND];
	struct sl__space_position p;

	for (int64_t k = 0; k < width; k++)
		totals[k] = nothing(r->joining);
	sl__space_seek(l, l->rank, 0, &p);
	for (int64_t i = 0; i < n;) {
		int64_t end = n - i < ROWS ? n : i + ROWS;

		for (int64_t k = 0; k < width; k++)
			part[k] = (float)nothing(r->joining);
		for (; i < end; i++) {
			r->band(x + p.offsets[0], width, part);
			sl__space_next(l, l->rank, &p);
		}
		for (int64_t k = 0; k < width; k++)
			totals[k] =
				join(r->joining, totals[k], (double)part[k]);
	}
	for (int64_t k = 0; k < width; k++)
		y[k] = finish(r, totals[k]);
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct reduce *r = ctx;
	const float *x = (const float *)(void *)r->at[0];
	float *y = (float *)(void *)r->at[1];
	const struct sl__iteration_space *l = &r->kept;
	int64_t bands = r->inner ? (r->inner + BAND - 1) / BAND : 1;
	int64_t first, end;

	sl__parallel_range(sl__space_n_positions(l, l->rank) * bands, rank,
			   n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		int64_t column = i % bands * BAND, width = r->inner - column;
		struct sl__space_position p;

		sl__space_seek(l, l->rank, i / bands, &p);
		if (r->inner)
			reduce_band(r, x + p.offsets[1] + column,
				    width < BAND ? width : BAND,
				    y + p.offsets[0] + column);
		else
			y[p.offsets[0]] = reduce_rows(r, x + p.offsets[1]);
	}
}

static int
mark_axes(struct sl__planner *pl, const struct sl__node *node, int rank,
	  unsigned char *marks)
{
	const int64_t *axes;
	size_t n;

	if (sl__is_op(node, SL__OP_ONNX_GlobalMaxPool)) {
		/* oneDNN pools what lies in blocks; rows are slow there. */
		memset(marks, 1, (size_t)rank);
		memset(marks, 0, 2);
		return rank > 2 && !sl__plan_value_layout(pl, node->inputs[0]);
	}
	if (!sl__plan_node_integer_list(pl, node, 1, "axes", &axes, &n))
		return 0;
	memset(marks,
	       n == 0 && !sl__attribute_int(node, "noop_with_empty_axes", 0),
	       (size_t)rank);
	for (size_t i = 0; i < n; i++) {
		int axis = sl__axis_normalize(axes[i], rank);

		if (axis < 0)
			return 0;
		marks[axis] = 1;
	}
	return 1;
}

/* Sorts dimensions into the two nests; 'kept' has the result's strides. */
static void
sort_axes(const struct sl__type *type, const unsigned char *marks,
	  struct reduce *r)
{
	int64_t in = 1, out = 1, steps[SL__SPACE_RANK_MAX];
	int64_t outs[SL__SPACE_RANK_MAX];

	for (int d = type->rank - 1; d >= 0; d--) {
		steps[d] = in;
		outs[d] = out;
		in *= type->dims[d];
		out *= marks[d] ? 1 : type->dims[d];
	}
	r->kept.n = 2;
	r->inside.n = 1;
	r->n_joined = 1;
	for (int d = 0; d < type->rank; d++) {
		struct sl__iteration_space *l = marks[d] ? &r->inside
							 : &r->kept;

		l->dims[l->rank] = type->dims[d];
		l->strides[0][l->rank] = marks[d] ? steps[d] : outs[d];
		l->strides[1][l->rank++] = steps[d];
		r->n_joined *= marks[d] ? type->dims[d] : 1;
	}
	sl__space_merge_loops(&r->kept);
	sl__space_merge_loops(&r->inside);
}

static int
read_reduce(struct sl__planner *pl, const struct sl__node *node,
	    struct reduce *r)
{
	const struct reduction *reduction = &reductions[node->op - sl__ops];
	const struct sl__type *type = sl__plan_node_input_type(pl, node, 0);
	unsigned char marks[SL__SPACE_RANK_MAX];
	int last;

	if (type->dtype != SL_DTYPE_F32 || type->rank >= SL__SPACE_RANK_MAX ||
	    !sl__plan_value_n_elements(pl, node->inputs[0]) ||
	    !mark_axes(pl, node, type->rank, marks))
		return 0;
	sort_axes(type, marks, r);
	r->row = reduction->row();
	r->band = reduction->band();
	r->joining = reduction->joining;
	r->after = reduction->after;
	last = r->inside.rank - 1;
	if (r->inside.strides[0][last] == 1 || r->n_joined == 1)
		return 1;
	/* The innermost loop is kept: it is walked by bands. */
	r->inner = r->kept.dims[r->kept.rank - 1];
	r->kept.rank--;
	return 1;
}

int
sl__make_reduce(struct sl__planner *pl, const struct sl__node *node)
{
	struct reduce *r = sl__plan_alloc_state(pl, sizeof(*r));
	uint32_t at[2];

	if (!r || !read_reduce(pl, node, r))
		return 0;
	sl__plan_node_operands(pl, node, 1, at);
	r->at = sl__plan_add_parallel_step(
			pl, at, 2, reductions[node->op - sl__ops].kernel,
			run_part, r)
			->at;
	return 1;
}

/* [outer][length][inner]: a place along 'length' for each of the others. */
struct places {
	int64_t outer, length, inner;
	int is_least, is_last; /* of equals */
	row_function *row;
	unsigned char **at; /* x, y */
};

/* What is not a number is both the largest and the least. */
static int
is_same(float a, float b)
{
	return (a >= b && a <= b) || (isnan(a) && isnan(b));
}

/* A line in one piece: the extreme itself is found first, by vectors. */
static int64_t
find_in_row(const struct places *p, const float *x)
{
	int64_t at = p->is_last ? p->length - 1 : 0;
	float extreme;

	p->row(x, p->length, &extreme);
	if (isnan(extreme)) {
		while (!isnan(x[at]))
			at += p->is_last ? -1 : 1;
	} else {
		while (x[at] < extreme || x[at] > extreme)
			at += p->is_last ? -1 : 1;
	}
	return at;
}

static int64_t
find_place(const struct places *p, const float *x)
{
	int64_t found = 0;

	for (int64_t i = 1; i < p->length; i++) {
		float a = x[i * p->inner], b = x[found * p->inner];
		int is_better = p->is_least ? a < b : a > b;

		if (isnan(a))
			is_better = !isnan(b);
		if (is_better || (p->is_last && is_same(a, b)))
			found = i;
	}
	return found;
}

static void
places_part(int rank, int n_ranks, void *ctx)
{
	const struct places *p = ctx;
	int64_t *y = (int64_t *)(void *)p->at[1];
	int64_t first, end;

	sl__parallel_range(p->outer * p->inner, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		const float *x = (const float *)(void *)p->at[0] +
				 i / p->inner * p->length * p->inner +
				 i % p->inner;

		y[i] = p->inner == 1 ? find_in_row(p, x) : find_place(p, x);
	}
}

static int
read_places(struct sl__planner *pl, const struct sl__node *node,
	    struct places *p)
{
	const struct sl__type *type = sl__plan_node_input_type(pl, node, 0);
	int axis = sl__axis_normalize(sl__attribute_int(node, "axis", 0),
				      type->rank);

	if (type->dtype != SL_DTYPE_F32 || axis < 0 ||
	    !sl__plan_value_n_elements(pl, node->inputs[0]))
		return 0;
	p->outer = sl__sizes_product(type, 0, axis);
	p->inner = sl__sizes_product(type, axis + 1, type->rank);
	p->length = type->dims[axis];
	p->is_least = sl__is_op(node, SL__OP_ONNX_ArgMin);
	p->is_last = sl__attribute_int(node, "select_last_index", 0) != 0;
	p->row = p->is_least ? least_row_for() : most_row_for();
	return 1;
}

int
sl__make_arg_reduce(struct sl__planner *pl, const struct sl__node *node)
{
	struct places *p = sl__plan_alloc_state(pl, sizeof(*p));
	struct sl__step *step;
	uint32_t at[2];

	if (!p || !read_places(pl, node, p))
		return 0;
	sl__plan_node_operands(pl, node, 1, at);
	step = sl__plan_add_parallel_step(
		pl, at, 2, p->is_least ? "arg_min" : "arg_max", places_part, p);
	step->n_threads = sl__threads_for_bytes(pl->program->n_threads,
						4 * step->n_bytes);
	p->at = step->at;
	return 1;
}
