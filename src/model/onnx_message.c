/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_message.c - graphs as messages of ONNX.
 *
 * Each function puts the fields of one kind of message, in the order of their
 * numbers where nothing speaks against it; initializers come last in a graph
 * so that the nodes of a large file can be read without seeking.
 */
#include "base/buf.h"
#include "base/status.h"
#include "graph/graph_construction.h"
#include "model/onnx_writer.h"
#include "sleuth.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const struct sl__onnx_write_plan *
plan_of(const struct sl__wire_writer *w)
{
	return w->ctx;
}

static void
fail_writer(struct sl__wire_writer *w, const char *owner, const char *what)
{
	if (!w->status)
		w->status = sl__fail(w->err, SL_E_DATA, "%.200s: %.200s", owner,
				     what);
}

void
sl__onnx_put_numbers(struct sl__wire_writer *w, const struct sl__tensor *tensor)
{
	uint64_t at = 0;

	if (!w->draft) {
		w->n_bytes += tensor->n_bytes;
		return;
	}
	while (at < tensor->n_bytes && !w->status &&
	       !sl__atomic_file_has_failed(w->draft)) {
		uint64_t left = tensor->n_bytes - at;
		size_t n = left < SL__PIECE_BYTES ? (size_t)left
						  : SL__PIECE_BYTES;
		const void *piece = sl__tensor_byte_range(tensor, at, n,
							  plan_of(w)->scratch);

		if (!piece) {
			w->status = sl__fail(w->err, SL_E_BUG,
					     "weights of type %s cannot be "
					     "made",
					     sl_dtype_text(tensor->dtype));
			return;
		}
		sl__wire_put_bytes(w, piece, n);
		sl__tensor_release_pages(tensor, at, n);
		at += n;
	}
}

/* A tensor and what it is to be called; value SL__NONE: in an attribute. */
struct named_tensor {
	const struct sl__tensor *tensor;
	const char *name; /* NULL: none */
	const char *owner;
	uint32_t value;
};

struct pair {
	const char *key, *value;
};

static void
put_pair(struct sl__wire_writer *w, const void *part)
{
	const struct pair *pair = part;

	sl__wire_put_text(w, SL__PAIR_KEY, pair->key);
	sl__wire_put_text(w, SL__PAIR_VALUE, pair->value);
}

static void
put_external(struct sl__wire_writer *w, const struct named_tensor *named)
{
	char offset[24], length[24];
	const struct pair pairs[] = {{"location", plan_of(w)->location},
				     {"offset", offset},
				     {"length", length}};

	snprintf(offset, sizeof(offset), "%llu",
		 (unsigned long long)plan_of(w)->offsets[named->value]);
	snprintf(length, sizeof(length), "%llu",
		 (unsigned long long)named->tensor->n_bytes);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		sl__wire_put_message(w, SL__TENSOR_EXTERNAL_DATA, put_pair,
				     &pairs[i]);
	sl__wire_put_integer(w, SL__TENSOR_DATA_LOCATION, 1);
}

static void
put_dims(struct sl__wire_writer *w, uint32_t number,
	 const struct sl__tensor *tensor)
{
	for (size_t i = 0; i < tensor->rank; i++)
		sl__wire_put_integer(w, number, tensor->dims[i]);
}

/* The numbers, wherever they go.  A tensor of no elements has no data field
 * at all. */
static void
put_contents(struct sl__wire_writer *w, const struct named_tensor *named)
{
	const struct sl__tensor *t = named->tensor;

	if (!t->n_stored)
		return;
	if (t->absent) {
		fail_writer(w, named->owner, t->absent);
	} else if (t->strings) {
		for (uint64_t i = 0; i < t->n_stored; i++)
			sl__wire_put_text(w, SL__TENSOR_STRING_DATA,
					  t->strings[i]);
	} else if (named->value != SL__NONE &&
		   plan_of(w)->offsets[named->value] != SL__NO_OFFSET) {
		put_external(w, named);
	} else {
		sl__wire_put_bytes_header(w, SL__TENSOR_RAW_DATA, t->n_bytes);
		sl__onnx_put_numbers(w, t);
	}
}

static void
put_tensor(struct sl__wire_writer *w, const void *part)
{
	const struct named_tensor *named = part;
	const struct sl__tensor *t = named->tensor;

	if (t->is_sparse) /* its numbers are a list */
		sl__wire_put_integer(w, SL__TENSOR_DIMS, (int64_t)t->n_stored);
	else
		put_dims(w, SL__TENSOR_DIMS, t);
	sl__wire_put_integer(w, SL__TENSOR_DATA_TYPE, t->dtype);
	if (named->name)
		sl__wire_put_text(w, SL__TENSOR_NAME, named->name);
	put_contents(w, named);
}

static void
put_sparse(struct sl__wire_writer *w, const void *part)
{
	const struct named_tensor *named = part;
	const struct named_tensor indices = {named->tensor->indices, NULL,
					     named->owner, SL__NONE};

	if (!indices.tensor) {
		fail_writer(w, named->owner,
			    "the indices of this sparse tensor are not known");
		return;
	}
	sl__wire_put_message(w, SL__SPARSE_VALUES, put_tensor, named);
	sl__wire_put_message(w, SL__SPARSE_INDICES, put_tensor, &indices);
	put_dims(w, SL__SPARSE_DIMS, named->tensor);
}

static sl__wire_message_body put_type;

/* A size that is not a number by a name, where one stands for it alone. */
static void
put_symbol(struct sl__wire_writer *w, int64_t size)
{
	const struct sl__onnx_write_plan *plan = plan_of(w);
	uint64_t i = (uint64_t)size - (uint64_t)SL__SYMBOL_BASE;
	struct sl_buf label = {0};

	if (i < plan->graph->n_symbols) {
		const char *name = plan->graph->symbols[i].name;

		if (*name && sl__graph_symbol_owns_name(plan->graph, (size_t)i))
			sl__wire_put_text(w, SL__DIM_PARAM, name);
		return;
	}
	if (!plan->shapes ||
	    !sl__size_print_unique_name(&label, plan->shapes, size))
		return;
	if (!w->status)
		w->status = sl__buf_status(&label, w->err);
	if (!w->status)
		sl__wire_put_text(w, SL__DIM_PARAM, label.data);
	sl_buf_release(&label);
}

static void
put_dim(struct sl__wire_writer *w, const void *part)
{
	int64_t size;

	memcpy(&size, part, sizeof(size));
	if (size >= 0)
		sl__wire_put_integer(w, SL__DIM_VALUE, size);
	else if (sl__is_symbol(size))
		put_symbol(w, size);
}

static void
put_shape(struct sl__wire_writer *w, const void *part)
{
	const struct sl__type *type = part;

	for (int i = 0; i < type->rank; i++)
		sl__wire_put_message(w, SL__SHAPE_DIM, put_dim, &type->dims[i]);
}

static void
put_tensor_type(struct sl__wire_writer *w, const void *part)
{
	const struct sl__type *type = part;

	sl__wire_put_integer(w, SL__TYPE_FIELD_ELEMENT, type->dtype);
	if (type->rank >= 0)
		sl__wire_put_message(w, SL__TYPE_FIELD_SHAPE, put_shape, type);
}

/* A sequence or an optional. */
static void
put_element(struct sl__wire_writer *w, const void *part)
{
	const struct sl__type *type = part;

	if (type->element)
		sl__wire_put_message(w, SL__TYPE_FIELD_ELEMENT, put_type,
				     type->element);
}

/* dtype is that of the keys. */
static void
put_map(struct sl__wire_writer *w, const void *part)
{
	const struct sl__type *type = part;

	sl__wire_put_integer(w, 1, type->dtype);
	if (type->element)
		sl__wire_put_message(w, 2, put_type, type->element);
}

static void
put_nothing(struct sl__wire_writer *w, const void *part)
{
	(void)w;
	(void)part;
}

static void
put_type(struct sl__wire_writer *w, const void *part)
{
	static const struct {
		uint32_t number;
		sl__wire_message_body *body;
	} kinds[] = {
		[SL__TYPE_UNKNOWN] = {0, NULL},
		[SL__TYPE_TENSOR] = {SL__TYPE_FIELD_TENSOR, put_tensor_type},
		[SL__TYPE_SPARSE] = {SL__TYPE_FIELD_SPARSE, put_tensor_type},
		[SL__TYPE_SEQUENCE] = {SL__TYPE_FIELD_SEQUENCE, put_element},
		[SL__TYPE_OPTIONAL] = {SL__TYPE_FIELD_OPTIONAL, put_element},
		[SL__TYPE_MAP] = {SL__TYPE_FIELD_MAP, put_map},
		[SL__TYPE_OPAQUE] = {SL__TYPE_FIELD_OPAQUE, put_nothing},
	};
	const struct sl__type *type = part;

	if (kinds[type->kind].body)
		sl__wire_put_message(w, kinds[type->kind].number,
				     kinds[type->kind].body, type);
}

/* Whether everything that a type's message must hold is known. */
static int
is_whole(const struct sl__type *type)
{
	switch (type->kind) {
	case SL__TYPE_TENSOR:
	case SL__TYPE_SPARSE:
		return type->dtype != SL_DTYPE_NONE;
	case SL__TYPE_MAP:
		return type->dtype != SL_DTYPE_NONE && type->element &&
		       is_whole(type->element);
	case SL__TYPE_SEQUENCE:
	case SL__TYPE_OPTIONAL:
		return type->element && is_whole(type->element);
	case SL__TYPE_UNKNOWN:
	case SL__TYPE_OPAQUE:
		break;
	}
	return 0;
}

/* What is declared, else what was inferred. */
static const struct sl__type *
type_of(const struct sl__onnx_write_plan *plan, uint32_t value)
{
	const struct sl__type *declared = &plan->graph->values[value].declared;

	if (is_whole(declared) || !plan->shapes)
		return declared;
	return &plan->shapes->types[value];
}

static void
put_info(struct sl__wire_writer *w, const void *part)
{
	const struct sl__onnx_write_plan *plan = plan_of(w);
	const struct sl__type *type;
	uint32_t value;

	memcpy(&value, part, sizeof(value));
	type = type_of(plan, value);
	sl__wire_put_text(w, SL__VALUE_INFO_NAME, plan->names[value]);
	if (is_whole(type))
		sl__wire_put_message(w, SL__VALUE_INFO_TYPE, put_type, type);
}

static sl__wire_message_body put_graph;

/* An attribute and, for messages, the node it belongs to. */
struct owned_attribute {
	const struct sl__attribute *attribute;
	const struct sl__node *node;
};

/* The field of each kind of attribute, and what it says its type is. */
static const struct {
	uint32_t number;
	enum sl__onnx_attribute_type type;
} kinds_of_attributes[] = {
	[SL__ATTRIBUTE_INT] = {SL__ATTR_I, SL__ATTR_TYPE_INT},
	[SL__ATTRIBUTE_INTS] = {SL__ATTR_INTS, SL__ATTR_TYPE_INTS},
	[SL__ATTRIBUTE_FLOAT] = {SL__ATTR_F, SL__ATTR_TYPE_FLOAT},
	[SL__ATTRIBUTE_FLOATS] = {SL__ATTR_FLOATS, SL__ATTR_TYPE_FLOATS},
	[SL__ATTRIBUTE_STRING] = {SL__ATTR_S, SL__ATTR_TYPE_STRING},
	[SL__ATTRIBUTE_STRINGS] = {SL__ATTR_STRINGS, SL__ATTR_TYPE_STRINGS},
	[SL__ATTRIBUTE_TENSOR] = {SL__ATTR_T, SL__ATTR_TYPE_TENSOR},
	[SL__ATTRIBUTE_BLOCK] = {SL__ATTR_G, SL__ATTR_TYPE_GRAPH},
	[SL__ATTRIBUTE_TYPE] = {SL__ATTR_TP, SL__ATTR_TYPE_TYPE_PROTO},
	[SL__ATTRIBUTE_OTHER] = {0, SL__ATTR_TYPE_NONE},
};

/* A tensor's message; whether it is sparse. */
static int
put_tensor_attribute(struct sl__wire_writer *w,
		     const struct owned_attribute *owned)
{
	const struct named_tensor named = {owned->attribute->tensor, NULL,
					   owned->node->name, SL__NONE};

	if (named.tensor->is_sparse)
		sl__wire_put_message(w, SL__ATTR_SPARSE_TENSOR, put_sparse,
				     &named);
	else
		sl__wire_put_message(w, SL__ATTR_T, put_tensor, &named);
	return named.tensor->is_sparse;
}

/* One element of what is a list or a single number or string. */
static void
put_element_of(struct sl__wire_writer *w, uint32_t number,
	       const struct sl__attribute *a, size_t i)
{
	if (a->kind == SL__ATTRIBUTE_INT || a->kind == SL__ATTRIBUTE_INTS)
		sl__wire_put_integer(w, number, a->ints[i]);
	else if (a->kind == SL__ATTRIBUTE_FLOAT ||
		 a->kind == SL__ATTRIBUTE_FLOATS)
		sl__wire_put_float(w, number, a->floats[i]);
	else
		sl__wire_put_text(w, number, a->strings[i]);
}

static void
put_attribute(struct sl__wire_writer *w, const void *part)
{
	const struct owned_attribute *owned = part;
	const struct sl__attribute *a = owned->attribute;
	uint32_t number = kinds_of_attributes[a->kind].number;
	int64_t type = kinds_of_attributes[a->kind].type;

	sl__wire_put_text(w, SL__ATTR_NAME, a->name);
	if (a->kind == SL__ATTRIBUTE_TENSOR) {
		if (put_tensor_attribute(w, owned))
			type = SL__ATTR_TYPE_SPARSE_TENSOR;
	} else if (a->kind == SL__ATTRIBUTE_BLOCK) {
		sl__wire_put_message(w, number, put_graph, &a->block);
	} else if (a->kind == SL__ATTRIBUTE_TYPE) {
		sl__wire_put_message(w, number, put_type, a->type);
	} else if (a->kind == SL__ATTRIBUTE_OTHER) {
		fail_writer(w, owned->node->name,
			    "has an attribute that is a list of tensors, "
			    "graphs or types, which cannot be written");
	} else {
		for (size_t i = 0; i < a->n; i++)
			put_element_of(w, number, a, i);
	}
	sl__wire_put_integer(w, SL__ATTR_TYPE, type);
}

static void
put_names(struct sl__wire_writer *w, uint32_t number, const uint32_t *values,
	  size_t n)
{
	for (size_t i = 0; i < n; i++)
		sl__wire_put_text(w, number,
				  values[i] == SL__NONE
					  ? ""
					  : plan_of(w)->names[values[i]]);
}

static void
put_node(struct sl__wire_writer *w, const void *part)
{
	const struct sl__node *node = part;

	put_names(w, SL__NODE_INPUT, node->inputs, node->n_inputs);
	put_names(w, SL__NODE_OUTPUT, node->outputs, node->n_outputs);
	sl__wire_put_text(w, SL__NODE_NAME, node->name);
	sl__wire_put_text(w, SL__NODE_OP_TYPE, node->type);
	for (size_t i = 0; i < node->n_attributes; i++) {
		const struct owned_attribute owned = {&node->attributes[i],
						      node};

		sl__wire_put_message(w, SL__NODE_ATTRIBUTE, put_attribute,
				     &owned);
	}
	if (*node->domain)
		sl__wire_put_text(w, SL__NODE_DOMAIN, node->domain);
}

static void
put_initializer(struct sl__wire_writer *w, uint32_t value)
{
	const struct sl__onnx_write_plan *plan = plan_of(w);
	const struct named_tensor named = {plan->graph->values[value].tensor,
					   plan->names[value],
					   plan->names[value], value};

	if (named.tensor->is_sparse)
		sl__wire_put_message(w, SL__GRAPH_SPARSE_INITIALIZER,
				     put_sparse, &named);
	else
		sl__wire_put_message(w, SL__GRAPH_INITIALIZER, put_tensor,
				     &named);
}

/* Types of what the block computes, and its initializers. */
static void
put_values(struct sl__wire_writer *w, uint32_t block)
{
	const struct sl__onnx_write_plan *plan = plan_of(w);
	const struct sl_graph *graph = plan->graph;

	for (uint32_t v = plan->first[block]; v != SL__NONE; v = plan->next[v])
		if (graph->values[v].producer != SL__NONE &&
		    !plan->is_listed[v] && is_whole(&graph->values[v].declared))
			sl__wire_put_message(w, SL__GRAPH_VALUE_INFO, put_info,
					     &v);
	for (uint32_t v = plan->first[block]; v != SL__NONE; v = plan->next[v])
		if (graph->values[v].producer == SL__NONE &&
		    graph->values[v].tensor)
			put_initializer(w, v);
}

static void
put_block_name(struct sl__wire_writer *w, uint32_t id)
{
	const struct sl__block *block = &plan_of(w)->graph->blocks[id];
	char made[32];

	/* A graph of ONNX must have a name. */
	snprintf(made, sizeof(made), "block_%u", id);
	if (id == 0 && !*block->name && *plan_of(w)->graph->name)
		sl__wire_put_text(w, SL__GRAPH_NAME, plan_of(w)->graph->name);
	else
		sl__wire_put_text(w, SL__GRAPH_NAME,
				  *block->name ? block->name : made);
}

static void
put_graph(struct sl__wire_writer *w, const void *part)
{
	const struct sl_graph *graph = plan_of(w)->graph;
	const struct sl__block *block;
	uint32_t id;

	memcpy(&id, part, sizeof(id));
	block = &graph->blocks[id];
	for (size_t i = 0; i < block->n_nodes && !w->status; i++)
		sl__wire_put_message(w, SL__GRAPH_NODE, put_node,
				     &graph->nodes[block->nodes[i]]);
	put_block_name(w, id);
	for (size_t i = 0; i < block->n_inputs; i++)
		sl__wire_put_message(w, SL__GRAPH_INPUT, put_info,
				     &block->inputs[i]);
	for (size_t i = 0; i < block->n_outputs; i++)
		sl__wire_put_message(w, SL__GRAPH_OUTPUT, put_info,
				     &block->outputs[i]);
	put_values(w, id);
}

static void
put_opset(struct sl__wire_writer *w, const void *part)
{
	const struct sl__opset *opset = part;

	sl__wire_put_text(w, SL__OPSET_DOMAIN, opset->domain);
	sl__wire_put_integer(w, SL__OPSET_VERSION, opset->version);
}

void
sl__onnx_put_model(struct sl__wire_writer *w, const void *part)
{
	static const uint32_t main_block = 0;
	const struct sl__onnx_write_plan *plan = plan_of(w);

	(void)part;
	sl__wire_put_integer(w, SL__MODEL_IR_VERSION, plan->ir_version);
	sl__wire_put_text(w, SL__MODEL_PRODUCER_NAME, "sleuth");
	sl__wire_put_text(w, SL__MODEL_PRODUCER_VERSION, sl_version());
	for (size_t i = 0; i < plan->n_opsets; i++)
		sl__wire_put_message(w, SL__MODEL_OPSET_IMPORT, put_opset,
				     &plan->opsets[i]);
	for (size_t i = 0; i < plan->graph->n_metadata; i++) {
		const struct pair pair = {plan->graph->metadata[i].key,
					  plan->graph->metadata[i].value};

		sl__wire_put_message(w, SL__MODEL_METADATA_PROPS, put_pair,
				     &pair);
	}
	sl__wire_put_message(w, SL__MODEL_GRAPH, put_graph, &main_block);
}
