/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_quantized_for_cost.c - the pass about quantized models, alone.
 *
 * What is asked is where integers lie, not what they are: weights that the
 * model quantizes from reals become constants without numbers, which the pass
 * takes as well as those that are stored.
 */
#include "transform/optimize.h"
#include "transform/fuse_quantized.h"
#include "transform/rewrite_values.h"

#include "base/banned.h"

static int
is_of_constants(const struct sl__rewrite *rw, uint32_t id)
{
	for (size_t i = 0; i < rw->nodes[id].node.n_inputs; i++) {
		uint32_t value = sl__rewrite_input(rw, id, i);

		if (value != SL__NONE && !rw->to->values[value].tensor)
			return 0;
	}
	return 1;
}

/* The result of an Identity or a QuantizeLinear of constants is one. */
static void
suppose_constant(struct sl__rewrite *rw, uint32_t id)
{
	uint32_t x = sl__rewrite_input(rw, id, 0);
	uint32_t y = sl__rewrite_output(rw, id);
	const struct sl__type *type = &rw->types[y];
	int is_same = sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Identity);
	struct sl__tensor made = {.dtype = type->dtype,
				  .rank = (size_t)type->rank,
				  .dims = type->dims,
				  .absent = "weights are not quantized to "
					    "count them"};

	if (x == SL__NONE || rw->is_pinned[y] || type->rank < 0 ||
	    !sl__tensor_compute_size(&made))
		return;
	sl__rewrite_remove_node(rw, id);
	sl__rewrite_value_to_constant(
		rw, y, is_same ? rw->to->values[x].tensor : &made);
}

static void
suppose_constants(struct sl__rewrite *rw)
{
	const uint32_t *order = sl__rewrite_node_order(rw);

	for (size_t i = 0; !rw->rc && i < rw->n_nodes; i++) {
		uint32_t id = order[i];

		if ((sl__rewrite_node_is_op(rw, id,
					    SL__OP_ONNX_QuantizeLinear) ||
		     sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Identity)) &&
		    is_of_constants(rw, id))
			suppose_constant(rw, id);
	}
}

enum sl_status
sl__fuse_quantized_for_cost(struct sl_graph **out,
			    const struct sl__covered_nodes **covers,
			    const struct sl_graph *graph,
			    const struct sl__shapes *shapes,
			    struct sl_error *err)
{
	struct sl__rewrite *rw;
	enum sl_status rc;

	rc = sl__rewrite_new(&rw, graph, shapes, &shapes->arena.allocator, err);
	if (rc)
		return rc;
	sl__fold_small_constants(rw);
	suppose_constants(rw);
	sl__pass_simplify(rw);
	sl__pass_quantized(rw);
	sl__pass_dead(rw);
	rc = sl__rewrite_finish(rw, out, covers);
	sl__rewrite_free(rw);
	return rc;
}
