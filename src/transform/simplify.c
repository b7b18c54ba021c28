/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simplify.c - nodes that change nothing, and pairs that are one.
 *
 * What proves that a node changes nothing are types and sizes and, where
 * those do not suffice, constants.  Whoever uses the result then uses the
 * operand; where the result is an output of the model, the node before makes
 * it under its number instead.
 */
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include "base/banned.h"

enum { LIST_MOST = 2 * SL__RANK_MOST };

/* Whether the node that makes x may make y instead. */
static int
can_rename(const struct sl__rewrite *rw, uint32_t x)
{
	const struct sl__node *node =
		sl__rewrite_node(rw, sl__rewrite_producer(rw, x));

	return node && !rw->is_pinned[x] && node->op &&
	       !sl__op_is_control_flow(node->op) &&
	       node->n_inputs <= SL__NODE_BUILDER_INPUTS &&
	       node->n_outputs <= SL__NODE_BUILDER_OUTPUTS &&
	       node->n_attributes <= SL__NODE_BUILDER_ATTRIBUTES;
}

/* The maker of x makes y, which node 'id' made of it. */
static void
rename_result(struct sl__rewrite *rw, uint32_t id, uint32_t x, uint32_t y)
{
	uint32_t maker = sl__rewrite_producer(rw, x);
	const struct sl__node *node = &rw->nodes[maker].node;
	struct sl__node_builder m;

	sl__node_builder_begin_like(&m, rw, maker);
	sl__node_builder_add_inputs(&m, node->inputs, node->n_inputs);
	for (uint32_t k = 0; k < node->n_outputs; k++)
		sl__node_builder_add_output(
			&m, node->outputs[k] == x ? y : node->outputs[k]);
	sl__node_builder_add_covered(&m, maker);
	sl__rewrite_remove_node(rw, id);
	sl__node_builder_finish(&m);
	sl__rewrite_replace_value(rw, x, y);
}

/* Takes out a node whose first output is x; whether it could. */
static int
bypass(struct sl__rewrite *rw, uint32_t id, uint32_t x)
{
	uint32_t y = sl__rewrite_output(rw, id);

	if (!rw->is_pinned[y]) {
		sl__rewrite_remove_node(rw, id);
		sl__rewrite_replace_value(rw, y, x);
		return 1;
	}
	if (!can_rename(rw, x))
		return 0;
	rename_result(rw, id, x, y);
	return 1;
}

/* Whether outputs beyond the first are not needed. */
static int
gives_one(const struct sl__rewrite *rw, const struct sl__node *node)
{
	for (uint32_t k = 1; k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (value != SL__NONE &&
		    (rw->is_pinned[value] || rw->uses[value].n))
			return 0;
	}
	return node->n_outputs && node->outputs[0] != SL__NONE;
}

/* The integers of an attribute or, where there is none, of input i: all of
 * them are at least 'least' and at most 'most'. */
static int
are_within(const struct sl__rewrite *rw, uint32_t id, const char *name,
	   size_t i, int64_t least, int64_t most)
{
	const int64_t *list;
	int64_t read[LIST_MOST];
	int n = (int)sl__attribute_ints(&rw->nodes[id].node, name, &list);
	uint32_t value = sl__rewrite_input(rw, id, i);

	if (n == 0 && value != SL__NONE) {
		n = sl__constant_integers(rw, value, read, LIST_MOST);
		list = read;
	}
	for (int k = 0; k < n; k++) {
		if (list[k] < least || list[k] > most)
			return 0;
	}
	return n >= 0;
}

/* Whether an operand of a node of two changes nothing: 'other' is filled
 * with x, and may stand first. */
static int
is_neutral(const struct sl__rewrite *rw, uint32_t id, size_t i)
{
	uint32_t other = sl__rewrite_input(rw, id, 1 - i);

	if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Add))
		return sl__is_constant_filled_with(rw, other, 0);
	if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Mul))
		return sl__is_constant_filled_with(rw, other, 1);
	if (i == 0 && sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Sub))
		return sl__is_constant_filled_with(rw, other, 0);
	if (i == 0 && (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Div) ||
		       sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Pow)))
		return sl__is_constant_filled_with(rw, other, 1);
	return 0;
}

/* Nodes that leave everything as it is once the sizes are the same. */
static int
only_resizes(const struct sl__rewrite *rw, uint32_t id)
{
	static const enum sl__op_id ops[] = {
		SL__OP_ONNX_Expand, SL__OP_ONNX_Tile, SL__OP_ONNX_Cast,
		SL__OP_ONNX_CastLike, SL__OP_ONNX_Split};

	if (sl__is_reshape(rw, id) ||
	    sl__rewrite_node_is_any_op(rw, id, ops, 5))
		return 1;
	if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Slice))
		return are_within(rw, id, "steps", 4, 1, INT64_MAX);
	if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Pad))
		return rw->nodes[id].node.version >= 2 &&
		       are_within(rw, id, "pads", 1, 0, 0);
	return 0;
}

/* Transpose whose dimensions stay where they are. */
static int
keeps_order(const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	const int64_t *perm;
	size_t n = sl__attribute_ints(node, "perm", &perm);

	if (!sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Transpose))
		return 0;
	for (size_t d = 0; d < n; d++) {
		if (perm[d] != (int64_t)d)
			return 0;
	}
	return n > 0 || (rw->types[node->inputs[0]].rank >= 0 &&
			 rw->types[node->inputs[0]].rank < 2);
}

/* Whether nodes of many inputs give the one that they have. */
static int
joins_one(const struct sl__rewrite *rw, uint32_t id)
{
	static const enum sl__op_id ops[] = {SL__OP_ONNX_Concat,
					     SL__OP_ONNX_Sum, SL__OP_ONNX_Max,
					     SL__OP_ONNX_Min, SL__OP_ONNX_Mean};

	return sl__rewrite_node_is_any_op(rw, id, ops, 5) &&
	       rw->nodes[id].node.n_inputs == 1;
}

/* The input that a node's first output is the same as; SL__NONE. */
static uint32_t
same_as(const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	uint32_t x = sl__rewrite_input(rw, id, 0);
	uint32_t y = node->n_outputs ? node->outputs[0] : SL__NONE;

	if (x == SL__NONE || !gives_one(rw, node))
		return SL__NONE;
	if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Identity) ||
	    keeps_order(rw, id) || joins_one(rw, id))
		return x;
	if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Dropout))
		return sl__is_noop_dropout(rw, id) ? x : SL__NONE;
	if (sl__have_same_dtype_and_dims(rw, x, y) &&
	    (only_resizes(rw, id) || is_neutral(rw, id, 0)))
		return x;
	x = sl__rewrite_input(rw, id, 1);
	return sl__have_same_dtype_and_dims(rw, x, y) && is_neutral(rw, id, 1)
		       ? x
		       : SL__NONE;
}

static size_t
read_perm(const struct sl__rewrite *rw, uint32_t id, int64_t *perm)
{
	const struct sl__node *node = &rw->nodes[id].node;
	int rank = rw->types[node->outputs[0]].rank;
	const int64_t *list;
	size_t n = sl__attribute_ints(node, "perm", &list);

	if (rank < 1 || rank > SL__RANK_MOST || (n && n != (size_t)rank))
		return 0;
	for (size_t d = 0; d < (size_t)rank; d++) {
		perm[d] = n ? list[d] : rank - 1 - (int64_t)d;
		if (perm[d] < 0 || perm[d] >= rank)
			return 0;
	}
	return (size_t)rank;
}

/* The first of a pair goes with the second, which alone has it. */
static void
cover_first(struct sl__node_builder *m, uint32_t first, uint32_t second)
{
	if (sl__rewrite_only_user(m->rw, sl__rewrite_output(m->rw, first)) ==
	    second)
		sl__node_builder_add_covered(m, first);
	sl__node_builder_add_covered(m, second);
}

/* A Transpose of a Transpose is one Transpose. */
static int
merge_transposes(struct sl__rewrite *rw, uint32_t id)
{
	uint32_t before =
		sl__rewrite_producer(rw, sl__rewrite_input(rw, id, 0));
	int64_t first[SL__RANK_MOST], second[SL__RANK_MOST];
	struct sl__node_builder m;
	size_t n;

	if (!sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Transpose) ||
	    !sl__rewrite_node_is_op(rw, before, SL__OP_ONNX_Transpose))
		return 0;
	n = read_perm(rw, id, second);
	if (n == 0 || read_perm(rw, before, first) != n)
		return 0;
	for (size_t d = 0; d < n; d++)
		second[d] = first[second[d]];
	sl__node_builder_begin_like(&m, rw, id);
	sl__node_builder_set_ints(&m, "perm", second, n);
	sl__node_builder_add_input(&m, sl__rewrite_input(rw, before, 0));
	sl__node_builder_add_output(&m, sl__rewrite_output(rw, id));
	cover_first(&m, before, id);
	sl__node_builder_finish(&m);
	return 1;
}

/* A view of a view is a Reshape to the sizes of the last.  Not of nothing,
 * where a size of 0 would be taken from the operand. */
static int
merge_views(struct sl__rewrite *rw, uint32_t id)
{
	uint32_t before =
		sl__rewrite_producer(rw, sl__rewrite_input(rw, id, 0));
	uint32_t y, shape;
	struct sl__node_builder m;
	int64_t rank;
	uint64_t n;

	if (!sl__is_reshape(rw, id) || !sl__is_reshape(rw, before))
		return 0;
	y = sl__rewrite_output(rw, id);
	if (!sl__has_known_shape(rw, y) ||
	    !sl__type_elements(&rw->types[y], &n) || n == 0)
		return 0;
	rank = rw->types[y].rank;
	shape = sl__rewrite_add_integer_constant(rw, SL_DTYPE_I64, 1, &rank,
						 rw->types[y].dims);
	sl__node_builder_begin(&m, rw, "", "Reshape", 13);
	m.node.name = rw->nodes[id].node.name;
	sl__node_builder_add_input(&m, sl__rewrite_input(rw, before, 0));
	sl__node_builder_add_input(&m, shape);
	sl__node_builder_add_output(&m, y);
	cover_first(&m, before, id);
	sl__node_builder_finish(&m);
	return 1;
}

/* Whether something has changed. */
static int
simplify(struct sl__rewrite *rw, uint32_t id)
{
	uint32_t x;

	if (rw->nodes[id].is_gone)
		return 0;
	x = same_as(rw, id);
	if (x != SL__NONE)
		return bypass(rw, id, x);
	return merge_transposes(rw, id) || merge_views(rw, id);
}

/* As often as something changes: each change takes a node out or makes the
 * way back to an operand shorter. */
void
sl__pass_simplify(struct sl__rewrite *rw)
{
	int has_changed = 1;

	while (!rw->rc && has_changed) {
		has_changed = 0;
		for (uint32_t i = 0; !rw->rc && i < rw->n_nodes; i++)
			has_changed |= simplify(rw, i);
	}
}
