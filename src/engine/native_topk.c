/* SPDX-License-Identifier: Apache-2.0 */
/* native_topk.c - TopK, by compute/topk.h: threads share lines. */
#include "compute/parallel.h"
#include "compute/topk.h"
#include "engine/node_steps.h"

#include "base/banned.h"

struct topk {
	struct sl__topk all;
	unsigned char **at;
	uint32_t at_values, at_places, at_heaps; /* SL__NONE: left out */
};

static unsigned char *
address(const struct topk *t, uint32_t operand)
{
	return operand == SL__NONE ? NULL : t->at[operand];
}

static void
part(int rank, int n_ranks, void *ctx)
{
	const struct topk *t = ctx;
	struct sl__topk_target to = {
		address(t, t->at_values), address(t, t->at_places),
		(struct sl__topk_entry *)t->at[t->at_heaps] +
			(int64_t)rank * t->all.k};
	int64_t first, end;

	sl__parallel_range(t->all.outer * t->all.inner, rank, n_ranks, &first,
			   &end);
	for (int64_t l = first; l < end; l++)
		sl__topk_line(&t->all, t->at[0], &to, l);
}

static int
read_topk(const struct sl__planner *pl, const struct sl__node *node,
	  struct sl__topk *t)
{
	const struct sl__type *in = sl__plan_node_input_type(pl, node, 0);
	int axis = sl__axis_normalize(sl__attribute_int(node, "axis", -1),
				      in->rank);
	const int64_t *k = NULL;
	size_t n = 0;

	if (axis < 0 ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)))
		return 0;
	if (node->version >= 10 &&
	    !sl__plan_node_integer_list(pl, node, 1, NULL, &k, &n))
		return 0;
	t->k = n == 1 ? *k : sl__attribute_int(node, "k", -1);
	t->outer = sl__sizes_product(in, 0, axis);
	t->size = in->dims[axis];
	t->inner = sl__sizes_product(in, axis + 1, in->rank);
	t->scan = sl__topk_scan(in->dtype, t->inner);
	t->n_bytes = sl_dtype_bits(in->dtype) / 8;
	t->flip = sl__attribute_int(node, "largest", 1) ? 0 : UINT64_MAX;
	return t->scan && t->k >= 1 && t->k <= t->size;
}

int
sl__make_topk(struct sl__planner *pl, const struct sl__node *node)
{
	struct topk *t = sl__plan_alloc_state(pl, sizeof(*t));
	uint32_t operands[4], n = 1;
	struct sl__step *step;
	int n_threads;

	if (!t || !read_topk(pl, node, &t->all))
		return 0;
	n_threads = sl__threads_at_most(pl->program->n_threads,
					t->all.outer * t->all.inner);
	operands[0] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	t->at_values = t->at_places = SL__NONE;
	if (sl__plan_node_output(node, 0) != SL__NONE) {
		t->at_values = n;
		operands[n++] =
			sl__plan_output_buffer(pl, node->outputs[0], NULL);
	}
	if (sl__plan_node_output(node, 1) != SL__NONE) {
		t->at_places = n;
		operands[n++] =
			sl__plan_output_buffer(pl, node->outputs[1], NULL);
	}
	t->at_heaps = n;
	operands[n++] = sl__plan_workspace(
		pl, (uint64_t)n_threads * (uint64_t)t->all.k *
			    sizeof(struct sl__topk_entry));
	step = sl__plan_add_parallel_step(pl, operands, n, "top-k", part, t);
	step->n_scratch = 1;
	step->n_threads = sl__threads_at_most(step->n_threads, n_threads);
	t->at = step->at;
	return 1;
}
