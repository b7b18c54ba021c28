/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.c - what a node does, counted from shapes and attributes.
 *
 * Traffic is the same for every operator: each distinct input and each output
 * once.  Operations come from the operator's own rule.  Control flow is
 * resolved here: which branch, how often.
 */
#include "ops/cost.h"
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/list_input.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

uint64_t
sl__saturating_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t
sl__saturating_mul(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t
sl_cost_operations(const struct sl_cost *c)
{
	uint64_t n = sl__saturating_add(sl__saturating_mul(c->fma, 2),
					sl__saturating_add(c->mul, c->add));

	return sl__saturating_add(
		n,
		sl__saturating_add(c->div, sl__saturating_add(c->exp, c->cmp)));
}

uint64_t
sl_cost_bytes(const struct sl_cost *c)
{
	return sl__saturating_add(
		sl__saturating_add(c->weight_bytes, c->read_bytes),
		c->written_bytes);
}

const char *
sl_basis_text(enum sl_basis basis)
{
	static const char *const texts[] = {"counted", "estimated", "unknown"};

	return (unsigned)basis < SL_N_BASES ? texts[basis] : "unknown";
}

void
sl__cost_add_operations(struct sl_cost *cost, uint64_t n,
			struct sl__operations_each each)
{
	cost->mul =
		sl__saturating_add(cost->mul, sl__saturating_mul(n, each.mul));
	cost->add =
		sl__saturating_add(cost->add, sl__saturating_mul(n, each.add));
	cost->fma =
		sl__saturating_add(cost->fma, sl__saturating_mul(n, each.fma));
	cost->div =
		sl__saturating_add(cost->div, sl__saturating_mul(n, each.div));
	cost->exp =
		sl__saturating_add(cost->exp, sl__saturating_mul(n, each.exp));
	cost->cmp =
		sl__saturating_add(cost->cmp, sl__saturating_mul(n, each.cmp));
}

void
sl__cost_add_macs(struct sl_cost *cost, uint64_t n)
{
	cost->macs = sl__saturating_add(cost->macs, n);
	cost->fma = sl__saturating_add(cost->fma, n);
}

void
sl__cost_mark_estimated(struct sl_cost *cost, const char *why)
{
	cost->basis = SL_BASIS_ESTIMATED;
	cost->why = why;
}

void
sl__cost_add_multiple(struct sl_cost *into, const struct sl_cost *c,
		      uint64_t n_calls)
{
	sl__cost_add_operations(into, n_calls,
				SL__OPERATIONS_EACH(c->mul, c->add, c->fma,
						    c->div, c->exp, c->cmp));
	into->macs = sl__saturating_add(into->macs,
					sl__saturating_mul(c->macs, n_calls));
	into->weight_bytes = sl__saturating_add(
		into->weight_bytes,
		sl__saturating_mul(c->weight_bytes, n_calls));
	into->read_bytes = sl__saturating_add(
		into->read_bytes, sl__saturating_mul(c->read_bytes, n_calls));
	into->written_bytes = sl__saturating_add(
		into->written_bytes,
		sl__saturating_mul(c->written_bytes, n_calls));
	into->in_elements = sl__saturating_add(
		into->in_elements, sl__saturating_mul(c->in_elements, n_calls));
	into->out_elements = sl__saturating_add(
		into->out_elements,
		sl__saturating_mul(c->out_elements, n_calls));
}

static uint64_t
elements_of(const struct sl__type *type)
{
	uint64_t n = 0;

	return type && sl__type_elements(type, &n) ? n : 0;
}

static uint64_t
dim_of(const struct sl__type *type, int d)
{
	if (type && d < 0)
		d += type->rank;
	if (!type || d < 0 || d >= type->rank || type->dims[d] < 0)
		return 1;
	return (uint64_t)type->dims[d];
}

uint64_t
sl__in_elements(const struct sl__rule_context *call, size_t i)
{
	return elements_of(sl__in_type(call, i));
}

uint64_t
sl__out_elements(const struct sl__rule_context *call, size_t k)
{
	return elements_of(sl__out_type_or_null(call, k));
}

uint64_t
sl__in_dim(const struct sl__rule_context *call, size_t i, int d)
{
	return dim_of(sl__in_type(call, i), d);
}

uint64_t
sl__out_dim(const struct sl__rule_context *call, size_t k, int d)
{
	return dim_of(sl__out_type_or_null(call, k), d);
}

/* Operators behind which a parameter is still the same parameter. */
static int
is_transparent(const struct sl__node *node)
{
	static const enum sl__op_id ids[] = {
		SL__OP_ONNX_Identity,       SL__OP_ONNX_Reshape,
		SL__OP_ONNX_Transpose,      SL__OP_ONNX_Cast,
		SL__OP_ONNX_Squeeze,        SL__OP_ONNX_Unsqueeze,
		SL__OP_ONNX_Flatten,        SL__OP_ONNX_DequantizeLinear,
		SL__OP_ONNX_QuantizeLinear, SL__OP_MS_DequantizeLinear,
		SL__OP_MS_QuantizeLinear,
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (sl__is_op(node, ids[i]))
			return 1;
	}
	return 0;
}

int
sl__in_is_parameter(const struct sl__rule_context *call, size_t i)
{
	const struct sl_graph *graph = call->shapes->graph;
	uint32_t value;

	if (!sl__has_in(call, i))
		return 0;
	value = call->node->inputs[i];
	/* A chain is short; the bound only guards against surprises. */
	for (int depth = 0; depth < 16; depth++) {
		const struct sl__value *v = &graph->values[value];
		const struct sl__node *node;

		if (v->tensor)
			return 1;
		if (v->producer == SL__NONE)
			return 0;
		node = &graph->nodes[v->producer];
		if (!is_transparent(node) || !node->n_inputs ||
		    node->inputs[0] == SL__NONE)
			return 0;
		value = node->inputs[0];
	}
	return 0;
}

static int
is_repeated(const struct sl__node *node, uint32_t i)
{
	for (uint32_t k = 0; k < i && k < 64; k++) {
		if (node->inputs[k] == node->inputs[i])
			return 1;
	}
	return 0;
}

/* Bytes of inputs and outputs; 0 is returned where a shape is not known. */
static int
count_traffic(const struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	const struct sl_graph *graph = call->shapes->graph;
	int all_known = 1;
	uint64_t n;

	for (uint32_t i = 0; i < node->n_inputs; i++) {
		const struct sl__tensor *tensor;

		if (node->inputs[i] == SL__NONE || is_repeated(node, i))
			continue;
		tensor = graph->values[node->inputs[i]].tensor;
		if (!sl__type_bytes(&call->shapes->types[node->inputs[i]], &n))
			all_known = 0;
		else if (tensor && tensor->is_sparse)
			cost->weight_bytes = sl__saturating_add(
				cost->weight_bytes,
				sl__tensor_stored_bytes(tensor));
		else if (tensor)
			cost->weight_bytes =
				sl__saturating_add(cost->weight_bytes, n);
		else
			cost->read_bytes =
				sl__saturating_add(cost->read_bytes, n);
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] == SL__NONE)
			continue;
		if (!sl__type_bytes(&call->shapes->types[node->outputs[k]], &n))
			all_known = 0;
		else
			cost->written_bytes =
				sl__saturating_add(cost->written_bytes, n);
	}
	cost->in_elements = sl__in_elements(call, 0);
	cost->out_elements = sl__out_elements(call, 0);
	return all_known;
}

/* Operators of sequences say themselves what they know: a sequence has no
 * shape. */
static int
takes_sequences(const struct sl__op *op)
{
	return op->cost == sl__cost_sequence ||
	       op->cost == sl__cost_split_to_sequence ||
	       op->cost == sl__cost_concat_from_sequence;
}

/* Views and control flow move nothing, whatever their shapes. */
static int
is_free(const struct sl__op *op)
{
	return op->cost == sl__cost_view || sl__op_is_control_flow(op);
}

/* Why the bytes of a type cannot be told, whatever its shape; or NULL. */
static const char *
why_sizeless(const struct sl__type *type)
{
	if (!type || type->kind != SL__TYPE_TENSOR || type->rank < 0)
		return NULL;
	if (type->dtype == SL_DTYPE_STRING)
		return "strings have no fixed size";
	return type->dtype == SL_DTYPE_NONE ? "a type of number is not known"
					    : NULL;
}

static const char *
find_sizeless(const struct sl__rule_context *call)
{
	const char *why = NULL;

	for (uint32_t i = 0; !why && i < call->node->n_inputs; i++)
		why = why_sizeless(sl__in_type(call, i));
	for (uint32_t k = 0; !why && k < call->node->n_outputs; k++)
		why = why_sizeless(sl__out_type_or_null(call, k));
	return why;
}

static int
is_beyond(const struct sl_cost *c)
{
	return sl_cost_operations(c) == UINT64_MAX || c->macs == UINT64_MAX ||
	       c->weight_bytes == UINT64_MAX || c->read_bytes == UINT64_MAX ||
	       c->written_bytes == UINT64_MAX;
}

const char sl__cost_overflow_reason[] = "more than 64 bits can count";

static void
set_unknown(struct sl_cost *cost, const char *why)
{
	cost->mul = cost->add = cost->fma = cost->div = cost->exp = cost->cmp =
		cost->macs = 0;
	cost->basis = SL_BASIS_UNKNOWN;
	cost->why = why;
}

void
sl__cost_node(struct sl__shapes *shapes, uint32_t id, struct sl_cost *out)
{
	struct sl__rule_context call = {.shapes = shapes,
					.node = &shapes->graph->nodes[id]};
	const char *sizeless = find_sizeless(&call);
	int all_known;

	memset(out, 0, sizeof(*out));
	all_known = count_traffic(&call, out);
	if (!call.node->op)
		set_unknown(out, "the operator is not known");
	else if (!all_known && !takes_sequences(call.node->op) &&
		 !is_free(call.node->op))
		set_unknown(out, "a shape depends on data");
	else if (sizeless && !is_free(call.node->op) &&
		 call.node->op->cost != sl__cost_text)
		set_unknown(out, sizeless);
	else
		call.node->op->cost(&call, out);
	if (is_beyond(out)) {
		memset(out, 0, sizeof(*out));
		set_unknown(out, sl__cost_overflow_reason);
	}
}
