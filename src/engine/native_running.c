/* SPDX-License-Identifier: Apache-2.0 */
/* native_running.c - CumSum and CumProd, by compute/running_sum.h. */
#include "compute/parallel.h"
#include "compute/running_sum.h"
#include "engine/node_steps.h"
#include "graph/op_rules.h"

#include "base/banned.h"

struct running {
	struct sl__running_sum all;
	sl__running_sum_function *run;
	unsigned char **at;
};

static void
part(int rank, int n_ranks, void *ctx)
{
	const struct running *r = ctx;
	struct sl__running_sum all = r->all;
	int64_t first, end;

	all.x = r->at[0];
	all.y = r->at[1];
	sl__parallel_range(all.outer * all.n_blocks, rank, n_ranks, &first,
			   &end);
	r->run(&all, first, end);
}

static int
read_running(const struct sl__planner *pl, const struct sl__node *node,
	     struct sl__running_sum *r)
{
	const struct sl__type *in = sl__plan_node_input_type(pl, node, 0);
	const int64_t *given;
	int axis;
	size_t n;

	if (!sl__plan_node_integer_list(pl, node, 1, NULL, &given, &n) ||
	    n != 1 ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)))
		return 0;
	axis = sl__axis_normalize(*given, in->rank);
	if (axis < 0)
		return 0;
	r->outer = sl__sizes_product(in, 0, axis);
	r->size = in->dims[axis];
	r->inner = sl__sizes_product(in, axis + 1, in->rank);
	r->n_blocks = (r->inner + SL__RUNNING_SUM_COLUMNS - 1) /
		      SL__RUNNING_SUM_COLUMNS;
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

	if (!r || !read_running(pl, node, &r->all))
		return 0;
	r->run = sl__running_sum_for(
		sl__plan_node_input_type(pl, node, 0)->dtype);
	if (!r->run)
		return 0;
	sl__plan_node_operands(pl, node, 1, at);
	step = sl__plan_add_parallel_step(pl, at, 2, "running", part, r);
	step->n_threads = sl__threads_at_most(step->n_threads,
					      r->all.outer * r->all.n_blocks);
	r->at = step->at;
	return 1;
}
