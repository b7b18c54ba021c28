/* SPDX-License-Identifier: Apache-2.0 */
/* native_reduce.c - reductions along some axes, by compute/reduce.h: axes are
 * joined into loops over what is kept and loops over what is reduced. */
#include "compute/parallel.h"
#include "compute/reduce.h"
#include "engine/node_steps.h"

#include <string.h>

#include "base/banned.h"

struct reduction {
	const char *kernel;
	enum sl__reduction_kind kind;
	enum sl__reduce_after after;
};

static const struct reduction reductions[SL__N_OPS] = {
	[SL__OP_ONNX_GlobalMaxPool] = {"reduce_max", SL__REDUCTION_MOST,
				       SL__REDUCE_NOTHING},
	[SL__OP_ONNX_ReduceL1] = {"reduce_l1", SL__REDUCTION_SUM_ABS,
				  SL__REDUCE_NOTHING},
	[SL__OP_ONNX_ReduceL2] = {"reduce_l2", SL__REDUCTION_SUM_SQUARE,
				  SL__REDUCE_ROOT},
	[SL__OP_ONNX_ReduceLogSum] = {"reduce_log_sum", SL__REDUCTION_SUM,
				      SL__REDUCE_LOGARITHM},
	[SL__OP_ONNX_ReduceMax] = {"reduce_max", SL__REDUCTION_MOST,
				   SL__REDUCE_NOTHING},
	[SL__OP_ONNX_ReduceMean] = {"reduce_mean", SL__REDUCTION_SUM,
				    SL__REDUCE_MEAN},
	[SL__OP_ONNX_ReduceMin] = {"reduce_min", SL__REDUCTION_LEAST,
				   SL__REDUCE_NOTHING},
	[SL__OP_ONNX_ReduceProd] = {"reduce_product", SL__REDUCTION_PRODUCT,
				    SL__REDUCE_NOTHING},
	[SL__OP_ONNX_ReduceSum] = {"reduce_sum", SL__REDUCTION_SUM,
				   SL__REDUCE_NOTHING},
	[SL__OP_ONNX_ReduceSumSquare] = {"reduce_sum_square",
					 SL__REDUCTION_SUM_SQUARE,
					 SL__REDUCE_NOTHING},
};

struct reduce {
	struct sl__reduce all;
	unsigned char **at; /* x, y */
};

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct reduce *r = ctx;
	int64_t first, end;

	sl__parallel_range(sl__reduce_n_pieces(&r->all), rank, n_ranks, &first,
			   &end);
	sl__reduce(&r->all, (const float *)(void *)r->at[0],
		   (float *)(void *)r->at[1], first, end);
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
	  struct sl__reduce *r)
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
	    struct sl__reduce *r)
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
	r->how = sl__reduction_for(reduction->kind);
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

	if (!r || !read_reduce(pl, node, &r->all))
		return 0;
	sl__plan_node_operands(pl, node, 1, at);
	r->at = sl__plan_add_parallel_step(
			pl, at, 2, reductions[node->op - sl__ops].kernel,
			run_part, r)
			->at;
	return 1;
}

struct places {
	struct sl__places all;
	unsigned char **at; /* x, y */
};

static void
places_part(int rank, int n_ranks, void *ctx)
{
	const struct places *s = ctx;
	const struct sl__places *p = &s->all;
	int64_t *y = (int64_t *)(void *)s->at[1];
	int64_t first, end;

	sl__parallel_range(p->outer * p->inner, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		const float *x = (const float *)(void *)s->at[0] +
				 i / p->inner * p->length * p->inner +
				 i % p->inner;

		y[i] = sl__places_find(p, x);
	}
}

static int
read_places(struct sl__planner *pl, const struct sl__node *node,
	    struct sl__places *p)
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
	p->row = sl__reduction_for(p->is_least ? SL__REDUCTION_LEAST
					       : SL__REDUCTION_MOST)
			 .row;
	return 1;
}

int
sl__make_arg_reduce(struct sl__planner *pl, const struct sl__node *node)
{
	struct places *p = sl__plan_alloc_state(pl, sizeof(*p));
	struct sl__step *step;
	uint32_t at[2];

	if (!p || !read_places(pl, node, &p->all))
		return 0;
	sl__plan_node_operands(pl, node, 1, at);
	step = sl__plan_add_parallel_step(
		pl, at, 2, p->all.is_least ? "arg_min" : "arg_max", places_part,
		p);
	step->n_threads = sl__threads_for_bytes(pl->program->n_threads,
						4 * step->n_bytes);
	p->at = step->at;
	return 1;
}
