/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_nodes.c - the nodes of a model that is built, and their attributes.
 *
 * Attributes wait in the builder until the node that they belong to comes.
 */
#include "base/status.h"
#include "graph/graph_construction.h"
#include "graph/op_rules.h"
#include "model/builder.h"

#include <ctype.h>
#include <string.h>

#include "base/banned.h"

enum { NAME_BYTES = 512 };

void
sl_builder_name(struct sl_builder *b, const char *name)
{
	if (b->failed)
		return;
	b->is_full_name = 0;
	b->name = sl__arena_string(&b->arena, name);
	if (name && !b->name)
		sl__builder_nomem(b);
}

void
sl_builder_outputs(struct sl_builder *b, size_t n)
{
	b->n_new_outputs = n;
}

void
sl_builder_domain(struct sl_builder *b, const char *domain)
{
	const char *copy =
		b->failed ? NULL : sl__arena_string(&b->graph->arena, domain);

	if (b->failed)
		return;
	b->domain = copy && !strcmp(copy, "ai.onnx") ? "" : copy;
	if (domain && !copy)
		sl__builder_nomem(b);
}

/* The next node's next attribute, with n elements of n_bytes each, which are
 * copied; NULL after a failure. */
static struct sl__attribute *
add_attribute(struct sl_builder *b, const char *key,
	      enum sl__attribute_kind kind, const void *values, size_t n,
	      size_t n_bytes)
{
	struct sl__attribute *a;
	void *copy;

	if (b->failed ||
	    sl__builder_grow_array(b, &b->attributes, b->n_attributes,
				   &b->cap_attributes, sizeof(*b->attributes)))
		return NULL;
	a = &b->attributes[b->n_attributes++];
	copy = sl__arena_array(&b->graph->arena, n, n_bytes);
	*a = (struct sl__attribute){
		.name = sl__arena_string(&b->graph->arena, key),
		.kind = kind,
		.block = SL__NONE};
	sl__attribute_set_values(a, copy, n);
	if (!a->name || !copy) {
		sl__builder_nomem(b);
		return NULL;
	}
	if (n)
		memcpy(copy, values, n * n_bytes);
	return a;
}

void
sl_builder_ints(struct sl_builder *b, const char *key, size_t n,
		const int64_t *values)
{
	(void)add_attribute(b, key, SL__ATTRIBUTE_INTS, values, n,
			    sizeof(*values));
}

void
sl_builder_int(struct sl_builder *b, const char *key, int64_t value)
{
	(void)add_attribute(b, key, SL__ATTRIBUTE_INT, &value, 1,
			    sizeof(value));
}

void
sl_builder_float(struct sl_builder *b, const char *key, double value)
{
	float single = (float)value;

	(void)add_attribute(b, key, SL__ATTRIBUTE_FLOAT, &single, 1,
			    sizeof(single));
}

void
sl_builder_text(struct sl_builder *b, const char *key, const char *value)
{
	const char *text =
		b->failed ? NULL : sl__arena_string(&b->graph->arena, value);

	if (text)
		(void)add_attribute(b, key, SL__ATTRIBUTE_STRING, &text, 1,
				    sizeof(text));
	else if (!b->failed)
		sl__builder_nomem(b);
}

void
sl__builder_tensor_attribute(struct sl_builder *b, const char *key, float value)
{
	const int64_t one = 1;
	struct sl__tensor *t;
	struct sl__attribute *a;
	void *bytes;

	if (b->failed)
		return;
	t = sl__builder_new_tensor(b, key, SL_DTYPE_F32, 1, &one);
	bytes = sl__arena_alloc(&b->graph->arena, sizeof(value));
	if (!bytes)
		sl__builder_nomem(b);
	a = add_attribute(b, key, SL__ATTRIBUTE_TENSOR, NULL, 0, 1);
	if (!a)
		return;
	memcpy(bytes, &value, sizeof(value));
	t->bytes = bytes;
	a->tensor = t;
}

/* Whether the model's operator set has the operator, with that many inputs
 * and outputs. */
static int
check_operator(struct sl_builder *b, const char *type, size_t n_inputs,
	       size_t n_outputs)
{
	const struct sl__op *op = sl__op_find(b->domain ? b->domain : "", type);

	if (!op && b->domain && *b->domain)
		return 0; /* somebody else's: nothing is known about it */
	if (!op)
		return sl__builder_fail(b, SL_E_USAGE,
					"ONNX has no operator '%.100s'", type);
	if (op->since > SL__BUILDER_OPSET)
		return sl__builder_fail(b, SL_E_USAGE,
					"%s came with operator set %d, models "
					"are built for %d",
					type, op->since, SL__BUILDER_OPSET);
	if (n_inputs < (size_t)op->min_inputs ||
	    (op->max_inputs >= 0 && n_inputs > (size_t)op->max_inputs))
		return sl__builder_fail(b, SL_E_USAGE,
					"%s cannot have %zu inputs", type,
					n_inputs);
	if (n_outputs < (size_t)op->min_outputs ||
	    (op->max_outputs >= 0 && n_outputs > (size_t)op->max_outputs))
		return sl__builder_fail(b, SL_E_USAGE,
					"%s cannot have %zu outputs", type,
					n_outputs);
	return 0;
}

/* The name of the next node, taken. */
static const char *
node_name(struct sl_builder *b, const char *type)
{
	char lower[NAME_BYTES];
	const char *full = b->name;
	size_t n = 0;

	if (b->name && b->is_full_name)
		return sl__arena_string(&b->graph->arena, b->name);
	if (!b->name) {
		for (; type[n] && n + 1 < sizeof(lower); n++)
			lower[n] = (char)tolower((unsigned char)type[n]);
		lower[n] = '\0';
		full = lower;
	}
	full = sl__builder_unique_scoped_name(b, full);
	return full ? sl__arena_string(&b->graph->arena, full) : NULL;
}

/* Values for the node's results, in a row. */
static int
add_outputs(struct sl_builder *b, const struct sl__node *node,
	    uint32_t *outputs)
{
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		const char *name =
			k ? sl__arena_format(&b->arena, "%s.out%u", node->name,
					     k)
			  : sl__arena_format(&b->arena, "%s.out", node->name);
		int id;

		if (!name)
			return sl__builder_nomem(b);
		name = sl__builder_unique_name(b, name);
		id = name ? sl__builder_add_value(b, name) : -1;
		if (id < 0)
			return -1;
		outputs[k] = (uint32_t)id;
	}
	return 0;
}

/* The node's inputs as the graph numbers them. */
static int
copy_inputs(struct sl_builder *b, const char *type, size_t n, const int *inputs,
	    uint32_t *to)
{
	for (size_t i = 0; i < n; i++) {
		if (inputs[i] < -1 ||
		    (inputs[i] >= 0 && (size_t)inputs[i] >= b->graph->n_values))
			return sl__builder_fail(b, SL_E_USAGE,
						"%.100s: input %zu is no value "
						"(%d)",
						type, i, inputs[i]);
		to[i] = inputs[i] < 0 ? SL__NONE : (uint32_t)inputs[i];
	}
	return 0;
}

/* Gives the node the attributes that were set, and starts the next list. */
static int
take_attributes(struct sl_builder *b, struct sl__node *node)
{
	struct sl__attribute *list = sl__arena_array(
		&b->graph->arena, b->n_attributes, sizeof(*list));

	if (!list)
		return sl__builder_nomem(b);
	if (b->n_attributes)
		memcpy(list, b->attributes, b->n_attributes * sizeof(*list));
	node->attributes = list;
	node->n_attributes = b->n_attributes;
	b->n_attributes = 0;
	b->n_new_outputs = 0;
	b->name = NULL;
	b->domain = NULL;
	return 0;
}

/* The domain of the next node, with its operator set among the model's; other
 * domains than ONNX's are taken in their first version. */
static int
take_domain(struct sl_builder *b, struct sl__node *node)
{
	struct sl_graph *graph = b->graph;
	struct sl__opset *more;
	size_t n = graph->n_opsets;

	node->domain = b->domain ? b->domain : "";
	for (size_t i = 0; i < n; i++) {
		if (strcmp(graph->opsets[i].domain, node->domain))
			continue;
		node->version = graph->opsets[i].version;
		return 0;
	}
	more = sl__arena_array(&graph->arena, n + 1, sizeof(*more));
	if (!more)
		return sl__builder_nomem(b);
	memcpy(more, graph->opsets, n * sizeof(*more));
	more[n].domain = node->domain;
	more[n].version = node->version = 1;
	graph->opsets = more;
	graph->n_opsets = n + 1;
	return 0;
}

int
sl_builder_op(struct sl_builder *b, const char *type, size_t n_inputs,
	      const int *inputs)
{
	size_t n_outputs = b->n_new_outputs ? b->n_new_outputs : 1;
	struct sl__node node = {0};
	uint32_t *in, *out, id;

	while (n_inputs && inputs[n_inputs - 1] == -1)
		n_inputs--; /* left out at the end: not there */
	if (b->failed || check_operator(b, type, n_inputs, n_outputs) ||
	    take_domain(b, &node))
		return -1;
	in = sl__arena_array(&b->arena, n_inputs, sizeof(*in));
	out = sl__arena_array(&b->arena, n_outputs, sizeof(*out));
	node.type = sl__arena_string(&b->graph->arena, type);
	node.name = in && out && node.type ? node_name(b, type) : NULL;
	if (!node.name)
		return b->failed ? -1 : sl__builder_nomem(b);
	node.n_inputs = (uint32_t)n_inputs;
	node.n_outputs = (uint32_t)n_outputs;
	if (copy_inputs(b, type, n_inputs, inputs, in) ||
	    add_outputs(b, &node, out) || take_attributes(b, &node))
		return -1;
	node.inputs = in;
	node.outputs = out;
	if (sl__builder_keep_status(
		    b, sl__graph_add_node(b->graph, &id, &node, &b->err)) ||
	    sl__builder_infer_shapes(b, 0) < 0 ||
	    sl__builder_keep_status(b, sl__infer_node(b->shapes, id, &b->err)))
		return -1;
	return (int)out[0];
}
