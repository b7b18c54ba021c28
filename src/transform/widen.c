/* SPDX-License-Identifier: Apache-2.0 */
/*
 * widen.c - models that store half precision are computed in single.
 *
 * Every value of f16 or bf16 becomes one of f32: constants are converted,
 * inputs by a Cast behind them, outputs by one before them, and between
 * these the same nodes compute with more digits.  A node that names a type
 * itself names f32 then; a Cast between the two has nothing left to do and
 * goes with the simplifications.  Half precision is thus a way of storing
 * numbers, not of rounding them: a Cast to it and back rounds nothing.  Left
 * alone are graphs with bodies, those with nodes or values of which that would
 * not be true, and all of them on the reference path, which rounds where the
 * model says so.
 */
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include <string.h>

#include "base/banned.h"

enum { PIECE = 512 };

/* Attributes that name the type of a result or of what it is made of. */
static const char *const type_names[] = {"to",           "dtype",
					 "output_dtype", "output_datatype",
					 "stash_type",   "softmax_precision"};
enum { N_TYPE_NAMES = sizeof(type_names) / sizeof(*type_names) };

static int
is_half(enum sl_dtype dtype)
{
	return dtype == SL_DTYPE_F16 || dtype == SL_DTYPE_BF16;
}

static int
has_half(const struct sl__type *type)
{
	while (type && type->kind != SL__TYPE_TENSOR)
		type = type->element;
	return type && is_half(type->dtype);
}

static int
is_half_value(const struct sl__rewrite *rw, uint32_t value)
{
	return value != SL__NONE && has_half(&rw->types[value]);
}

static int
is_plain_value(const struct sl__rewrite *rw, uint32_t value)
{
	return rw->types[value].kind == SL__TYPE_TENSOR &&
	       (!rw->to->values[value].tensor ||
		sl__tensor_constant_read(rw, value));
}

/* Whether a node computes the same with wider numbers, and could be made anew
 * if it must. */
static int
is_plain_node(const struct sl__node *node)
{
	return node->op && node->op->ref != sl__ref_none &&
	       !sl__is_op(node, SL__OP_ONNX_BitCast) &&
	       node->n_inputs <= SL__NODE_BUILDER_INPUTS &&
	       node->n_outputs <= SL__NODE_BUILDER_OUTPUTS &&
	       node->n_attributes <= SL__NODE_BUILDER_ATTRIBUTES;
}

static int
touches_half(const struct sl__rewrite *rw, const struct sl__node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (is_half_value(rw, node->inputs[i]))
			return 1;
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (is_half_value(rw, node->outputs[k]))
			return 1;
	}
	return 0;
}

static int
can_widen(const struct sl__rewrite *rw)
{
	int is_any = 0;

	if (rw->from->n_blocks > 1)
		return 0;
	for (uint32_t v = 0; v < rw->to->n_values; v++) {
		if (!has_half(&rw->types[v]))
			continue;
		is_any = 1;
		if (!is_plain_value(rw, v))
			return 0;
	}
	for (size_t i = 0; is_any && i < rw->n_nodes; i++) {
		const struct sl__node *node = &rw->nodes[i].node;

		if (!rw->nodes[i].is_gone && touches_half(rw, node) &&
		    !is_plain_node(node))
			return 0;
	}
	return is_any;
}

/* The tensor in f32. */
static struct sl__tensor
convert(struct sl__rewrite *rw, const struct sl__tensor *t)
{
	struct sl__tensor out = {
		.dtype = SL_DTYPE_F32, .rank = t->rank, .dims = t->dims};
	double piece[PIECE];
	unsigned char *bytes;

	if (!sl__tensor_compute_size(&out))
		sl__rewrite_fail(rw, SL_E_DATA,
				 "a constant is beyond all sizes");
	bytes = sl__rewrite_alloc(rw, (size_t)out.n_bytes, 1);
	for (uint64_t i = 0, n; !rw->rc && i < t->n_elements; i += n) {
		n = t->n_elements - i < PIECE ? t->n_elements - i : PIECE;
		if (!sl__tensor_doubles(t, i, (size_t)n, piece))
			sl__rewrite_fail(rw, SL_E_DATA,
					 "a constant cannot be read");
		else
			sl__store_doubles(bytes, SL_DTYPE_F32, i, (size_t)n,
					  piece);
	}
	out.bytes = bytes;
	return out;
}

static void
set_wide(struct sl__rewrite *rw, uint32_t value)
{
	rw->types[value].dtype = SL_DTYPE_F32;
	if (rw->to->values[value].declared.kind == SL__TYPE_TENSOR)
		rw->to->values[value].declared.dtype = SL_DTYPE_F32;
}

/* A new value like this one, but wide. */
static uint32_t
add_wide(struct sl__rewrite *rw, uint32_t value)
{
	struct sl__type type = rw->types[value];

	type.dtype = SL_DTYPE_F32;
	return sl__rewrite_add_value(rw, "", &type);
}

static void
add_cast(struct sl__rewrite *rw, uint32_t from, uint32_t to)
{
	struct sl__node_builder m;

	sl__node_builder_begin(&m, rw, "", "Cast", 13);
	sl__node_builder_set_int(&m, "to", (int64_t)rw->types[to].dtype);
	sl__node_builder_add_input(&m, from);
	sl__node_builder_add_output(&m, to);
	sl__node_builder_finish(&m);
}

static void
widen_constant(struct sl__rewrite *rw, uint32_t value)
{
	struct sl__tensor wide =
		convert(rw, sl__tensor_constant_read(rw, value));
	/* As an output of the model it stays what it is. */
	uint32_t other = rw->is_pinned[value] ? add_wide(rw, value) : value;

	sl__rewrite_value_to_constant(rw, other, &wide);
	if (other != value)
		sl__rewrite_replace_value(rw, value, other);
	else
		set_wide(rw, value);
}

static void
widen_input(struct sl__rewrite *rw, uint32_t value)
{
	uint32_t wide = add_wide(rw, value);

	sl__rewrite_replace_value(rw, value, wide);
	add_cast(rw, value, wide);
}

static void
widen_given(struct sl__rewrite *rw)
{
	const struct sl__block *block = &rw->from->blocks[0];

	for (uint32_t v = 0; !rw->rc && v < rw->from->n_values; v++) {
		if (is_half_value(rw, v) && rw->to->values[v].tensor)
			widen_constant(rw, v);
	}
	for (size_t i = 0; !rw->rc && i < block->n_inputs; i++) {
		uint32_t v = block->inputs[i];

		if (is_half_value(rw, v) && !rw->to->values[v].tensor)
			widen_input(rw, v);
	}
}

static int
names_half(const struct sl__node *node, const char *name)
{
	return is_half(
		(enum sl_dtype)sl__attribute_int(node, name, SL_DTYPE_NONE));
}

/* Whether a node must be made anew: it makes an output of the model, or says
 * of itself that it makes half precision. */
static int
must_change(const struct sl__rewrite *rw, const struct sl__node *node)
{
	const struct sl__attribute *fill = sl__attribute_find(node, "value");

	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (is_half_value(rw, node->outputs[k]) &&
		    rw->is_pinned[node->outputs[k]])
			return 1;
	}
	for (size_t i = 0; i < N_TYPE_NAMES; i++) {
		if (names_half(node, type_names[i]))
			return 1;
	}
	return fill && fill->tensor && is_half(fill->tensor->dtype);
}

static void
widen_attributes(struct sl__node_builder *m, const struct sl__node *node)
{
	struct sl__tensor *tensor;

	for (size_t i = 0; i < N_TYPE_NAMES; i++) {
		if (names_half(node, type_names[i]))
			sl__node_builder_set_int(m, type_names[i],
						 SL_DTYPE_F32);
	}
	for (size_t i = 0; i < m->node.n_attributes; i++) {
		struct sl__attribute *a = &m->attributes[i];

		if (!a->tensor || !is_half(a->tensor->dtype))
			continue;
		tensor = sl__rewrite_alloc(m->rw, 1, sizeof(*tensor));
		if (!tensor)
			return;
		*tensor = convert(m->rw, a->tensor);
		a->tensor = tensor;
	}
}

/* Outputs of the model come from wide values, which everyone else uses. */
static void
change_node(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	uint32_t narrow[SL__NODE_BUILDER_OUTPUTS],
		wide[SL__NODE_BUILDER_OUTPUTS], n = 0;
	struct sl__node_builder m;

	sl__node_builder_begin_like(&m, rw, id);
	widen_attributes(&m, node);
	sl__node_builder_add_inputs(&m, node->inputs, node->n_inputs);
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (is_half_value(rw, value) && rw->is_pinned[value]) {
			narrow[n] = value;
			value = wide[n++] = add_wide(rw, value);
		}
		sl__node_builder_add_output(&m, value);
	}
	sl__node_builder_add_covered(&m, id);
	sl__node_builder_finish(&m);
	for (uint32_t i = 0; i < n; i++) {
		sl__rewrite_replace_value(rw, narrow[i], wide[i]);
		add_cast(rw, wide[i], narrow[i]);
	}
}

static void
widen_node(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;

	if (must_change(rw, node))
		change_node(rw, id);
	node = &rw->nodes[id].node;
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (is_half_value(rw, node->outputs[k]) &&
		    !rw->is_pinned[node->outputs[k]])
			set_wide(rw, node->outputs[k]);
	}
}

void
sl__pass_widen(struct sl__rewrite *rw)
{
	size_t n = rw->n_nodes;

	if (!can_widen(rw))
		return;
	widen_given(rw);
	for (uint32_t i = 0; !rw->rc && i < n; i++) {
		if (!rw->nodes[i].is_gone &&
		    !sl__is_op(&rw->nodes[i].node, SL__OP_ONNX_Constant))
			widen_node(rw, i);
	}
}
