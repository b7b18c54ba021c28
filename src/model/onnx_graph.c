/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_graph.c - a graph of an ONNX file: its values, then its nodes.
 *
 * The fields of a graph are walked over once for each kind: initializers,
 * inputs, what the nodes make, the nodes, then declared types and the graph's
 * outputs.  So a node may stand before the one whose result it uses, and an
 * input that is also an initializer is known to be one.
 *
 * Looking at one byte of a mapped file may bring megabytes around it into the
 * process.  So the pages of large weights are let go at once, and walks after
 * the first step over the initializers, which stand together.
 */
#include "model/onnx_parse.h"

#include <stddef.h>
#include <string.h>

#include "base/banned.h"

enum { LARGE_BYTES = 64 << 10 }; /* a system call is worth it */

const size_t *
sl__onnx_find(const struct sl__onnx_scope *scope, const char *name)
{
	for (; scope; scope = scope->around) {
		const size_t *value = sl__map_find(&scope->values, name);

		if (value)
			return value;
	}
	return NULL;
}

/* Makes a value, or takes the one that was promised under that name, and lets
 * the field's text stand for it in the scope; SL__NONE after a failure. */
static uint32_t
define(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
       const struct sl__field *name)
{
	const char *text = sl__onnx_name_scratch(r, name), *full = text;
	const size_t *promised = sl__map_find(&scope->promised, text);
	uint32_t id = promised ? (uint32_t)*promised
			       : (uint32_t)r->graph->n_values;

	if (sl__map_find(&scope->values, text))
		sl__wire_fail(&r->file,
			      "byte %zu: '%.200s' is defined a second time",
			      name->at, text);
	/* The value, a slot with its key, both as their tables double. */
	sl__onnx_charge(r, 2 * sizeof(struct sl__value) +
				   4 * sizeof(struct sl__map_slot) +
				   2 * name->n_bytes + 32);
	sl__onnx_map_put(r, &scope->values, text, id);
	if (!promised && *scope->prefix)
		full = sl__onnx_text(r, name, scope->prefix);
	if (r->file.status)
		return SL__NONE;
	if (promised)
		return id;
	if (!sl__wire_keep_status(
		    &r->file, sl__graph_add_value(r->graph, &id, full,
						  scope->block, r->file.err)))
		return SL__NONE;
	r->graph->values[id].declared.rank = -1;
	return id;
}

static void
read_initializer(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		 int is_sparse, struct sl__onnx_scope *scope)
{
	struct sl__tensor *tensor =
		sl__onnx_alloc_in_graph(r, 1, sizeof(*tensor));
	struct sl__field name;
	uint32_t id;

	if (!tensor)
		return;
	if (is_sparse)
		sl__onnx_parse_sparse_tensor(r, wire, tensor, &name);
	else
		sl__onnx_parse_tensor(r, wire, tensor, &name);
	if (!name.n_bytes)
		sl__wire_fail(&r->file,
			      "byte %zu: an initializer without a name",
			      wire.at);
	id = define(r, scope, &name);
	if (id == SL__NONE)
		return;
	r->graph->values[id].kind = SL_VALUE_PARAMETER;
	r->graph->values[id].tensor = tensor;
	if (tensor->is_mapped && tensor->n_bytes >= LARGE_BYTES)
		sl__file_mapping_drop_pages(tensor->bytes,
					    (size_t)tensor->n_bytes);
}

/* What the first walk over a graph finds. */
struct outline {
	size_t n_inputs, n_outputs;
	size_t from, to; /* the longest run of initializers */
	size_t run_from; /* of the present one */
	struct sl__field name;
};

static const struct sl__wire_store_rule outline_rows[] = {
	{SL__GRAPH_INPUT, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD_COUNT,
	 offsetof(struct outline, n_inputs)},
	{SL__GRAPH_OUTPUT, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD_COUNT,
	 offsetof(struct outline, n_outputs)},
	{SL__GRAPH_NAME, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
	 offsetof(struct outline, name)},
	{0},
};

static void
extend_run(struct outline *outline, const struct sl__wire_reader *wire,
	   const struct sl__field *f, size_t *end_of_last)
{
	if (f->at != *end_of_last)
		outline->run_from = f->at;
	*end_of_last = wire->at;
	if (*end_of_last - outline->run_from > outline->to - outline->from) {
		outline->from = outline->run_from;
		outline->to = *end_of_last;
	}
}

static void
read_initializers(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		  struct sl__onnx_scope *scope, struct outline *outline)
{
	size_t end_of_last = SIZE_MAX;
	struct sl__field f;

	while (sl__wire_next(&wire, &f)) {
		sl__wire_store_field(&wire, &f, outline_rows, outline);
		if (f.number != SL__GRAPH_INITIALIZER &&
		    f.number != SL__GRAPH_SPARSE_INITIALIZER)
			continue;
		read_initializer(r, sl__wire_enter_message(&wire, &f, "tensor"),
				 f.number != SL__GRAPH_INITIALIZER, scope);
		extend_run(outline, &wire, &f, &end_of_last);
	}
	if (outline->name.number)
		r->graph->blocks[scope->block].name =
			sl__onnx_text(r, &outline->name, scope->prefix);
}

/* A ValueInfoProto; number 0 where it lacks a field. */
struct info {
	struct sl__field name, type;
};

static struct info
read_info(struct sl__wire_reader wire)
{
	static const struct sl__wire_store_rule rows[] = {
		{SL__VALUE_INFO_NAME, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct info, name)},
		{SL__VALUE_INFO_TYPE, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct info, type)},
		{0},
	};
	struct info info = {{0}, {0}};

	sl__wire_store_fields(wire, rows, &info);
	return info;
}

static void
declare(struct sl__onnx_reader *r, const struct sl__wire_reader *wire,
	const struct info *info, uint32_t id)
{
	if (info->type.number && !r->file.status &&
	    r->graph->values[id].declared.kind == SL__TYPE_UNKNOWN)
		sl__onnx_parse_type(
			r, sl__wire_enter_message(wire, &info->type, "type"),
			r->graph->values[id].name,
			&r->graph->values[id].declared);
}

/*
 * An input; SL__NONE for one that is an initializer too: that is a parameter.
 * The inputs of bodies are given by position, whatever initializer bears the
 * same name.
 */
static uint32_t
read_input(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	   struct sl__onnx_scope *scope)
{
	struct info info = read_info(wire);
	const size_t *known;
	uint32_t id;

	if (!info.name.n_bytes)
		sl__wire_fail(&r->file, "byte %zu: an input without a name",
			      wire.at);
	known = sl__map_find(&scope->values,
			     sl__onnx_name_scratch(r, &info.name));
	if (known && r->graph->values[*known].kind == SL_VALUE_PARAMETER) {
		id = (uint32_t)*known;
		declare(r, &wire, &info, id);
		if (!scope->block)
			return SL__NONE;
		r->graph->values[id].tensor = NULL;
	} else {
		id = define(r, scope, &info.name);
		declare(r, &wire, &info, id);
	}
	if (!r->file.status)
		r->graph->values[id].kind = SL_VALUE_INPUT;
	return id;
}

/*
 * Whether a node gives a constant a second time.  Exporters that lost count
 * of their names do so; the last one counts then (onnx_node.c), as it does
 * for ONNX Runtime.
 */
static int
is_constant_again(struct sl__onnx_reader *r, struct sl__wire_reader node,
		  const struct sl__onnx_scope *scope, const char *name)
{
	static const char constant[] = "Constant";
	const size_t *known = sl__map_find(&scope->values, name);
	struct sl__field f;

	if (!known || *known == SL__NONE || r->graph->values[*known].tensor ||
	    r->graph->values[*known].kind != SL_VALUE_ACTIVATION)
		return 0;
	return sl__wire_find_field(&node, SL__NODE_OP_TYPE, &f) &&
	       f.n_bytes == sizeof(constant) - 1 &&
	       !memcmp(f.bytes, constant, f.n_bytes);
}

/* Defines what a node makes. */
static void
define_outputs(struct sl__onnx_reader *r, struct sl__wire_reader node,
	       struct sl__onnx_scope *scope)
{
	const struct sl__wire_reader whole = node;
	struct sl__field f;
	int is_first = 1, is_again;

	while (sl__wire_find_field(&node, SL__NODE_OUTPUT, &f)) {
		if (!f.n_bytes)
			continue;
		/* A Constant has one output: the node is searched once. */
		is_again = is_first &&
			   is_constant_again(r, whole, scope,
					     sl__onnx_name_scratch(r, &f));
		is_first = 0;
		if (!is_again)
			(void)define(r, scope, &f);
	}
}

static void
read_inputs(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	    struct sl__onnx_scope *scope, size_t n_inputs)
{
	uint32_t *ids = sl__onnx_alloc_scratch(r, n_inputs, sizeof(*ids)), id;
	struct sl__wire_reader inner;
	size_t n = 0;

	while (sl__wire_find_message(&wire, SL__GRAPH_INPUT, "input", &inner)) {
		id = read_input(r, inner, scope);
		if (id != SL__NONE)
			ids[n++] = id;
	}
	if (!r->file.status)
		sl__wire_keep_status(
			&r->file, sl__graph_set_inputs(r->graph, scope->block,
						       ids, n, r->file.err));
}

/* A type for a value of this graph; those of others are not its business. */
static void
read_value_info(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		struct sl__onnx_scope *scope)
{
	struct info info = read_info(wire);
	const size_t *id = NULL;

	if (info.name.number)
		id = sl__map_find(&scope->values,
				  sl__onnx_name_scratch(r, &info.name));
	if (id)
		declare(r, &wire, &info, (uint32_t)*id);
}

static uint32_t
read_output(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	    struct sl__onnx_scope *scope)
{
	struct info info = read_info(wire);
	const char *key = sl__onnx_name_scratch(r, &info.name);
	const size_t *id = sl__onnx_find(scope, key);

	if (!info.name.n_bytes)
		sl__wire_fail(&r->file, "byte %zu: an output without a name",
			      wire.at);
	if (!id || *id == SL__NONE)
		sl__wire_fail(&r->file,
			      "byte %zu: nothing makes the output '%.200s'",
			      wire.at, key);
	if (r->file.status)
		return SL__NONE;
	declare(r, &wire, &info, (uint32_t)*id);
	return (uint32_t)*id;
}

/* Declared types, and the outputs of the graph. */
static void
read_outputs(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	     struct sl__onnx_scope *scope, size_t n_outputs)
{
	uint32_t *ids = sl__onnx_alloc_scratch(r, n_outputs, sizeof(*ids));
	struct sl__field f;
	size_t n = 0;

	while (sl__wire_next(&wire, &f)) {
		if (f.number == SL__GRAPH_OUTPUT)
			ids[n++] = read_output(
				r,
				sl__wire_enter_message(&wire, &f,
						       "declared value"),
				scope);
		else if (f.number == SL__GRAPH_VALUE_INFO)
			read_value_info(r,
					sl__wire_enter_message(
						&wire, &f, "declared value"),
					scope);
	}
	if (!r->file.status)
		sl__wire_keep_status(
			&r->file, sl__graph_set_outputs(r->graph, scope->block,
							ids, n, r->file.err));
}

void
sl__onnx_parse_nodes(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		     uint32_t number, struct sl__onnx_scope *scope)
{
	struct sl__wire_reader again = wire, node;

	while (sl__wire_find_message(&wire, number, "node", &node))
		define_outputs(r, node, scope);
	while (sl__wire_find_message(&again, number, "node", &node))
		sl__onnx_parse_node(r, node, scope);
}

void
sl__onnx_parse_graph(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		     struct sl__onnx_scope *scope)
{
	struct outline outline = {0};

	if (!sl__onnx_descend(r, wire.at))
		return;
	sl__map_init(&scope->values, &r->scratch);
	sl__map_init(&scope->promised, &r->scratch);
	read_initializers(r, wire, scope, &outline);
	wire.skip_from = outline.from;
	wire.skip_to = outline.to;
	read_inputs(r, wire, scope, outline.n_inputs);
	sl__onnx_parse_nodes(r, wire, SL__GRAPH_NODE, scope);
	read_outputs(r, wire, scope, outline.n_outputs);
	r->depth--;
}
