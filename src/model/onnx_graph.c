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
#include "base/status.h"
#include "model/onnx_parts.h"

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
 * the field's text stand for it in the scope. */
static enum sl_status
define(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
       const struct sl__wire *wire, const struct sl__field *name, uint32_t *out)
{
	const char *text = sl__onnx_key(r, wire, name), *full;
	const size_t *promised;
	enum sl_status rc;

	*out = SL__NONE;
	if (!text)
		return r->err->status;
	if (sl__map_find(&scope->values, text))
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: '%.200s' is defined a second time",
				name->at, text);
	/* The value, a slot with its key, both as their tables double. */
	rc = sl__onnx_charge(r, 2 * sizeof(struct sl__value) +
					4 * sizeof(struct sl__map_slot) +
					2 * name->n_bytes + 32);
	if (rc)
		return rc;
	promised = sl__map_find(&scope->promised, text);
	if (promised) {
		*out = (uint32_t)*promised;
		return sl__map_put(&scope->values, text, *promised, r->err);
	}
	rc = sl__map_put(&scope->values, text, r->graph->n_values, r->err);
	if (rc)
		return rc;
	full = text;
	if (*scope->prefix) {
		full = sl__onnx_text(r, wire, name, scope->prefix);
		if (!full)
			return r->err->status;
	}
	rc = sl__graph_add_value(r->graph, out, full, scope->block, r->err);
	if (!rc)
		r->graph->values[*out].declared.rank = -1;
	return rc;
}

static enum sl_status
read_initializer(struct sl__onnx_reader *r, struct sl__wire wire, int is_sparse,
		 struct sl__onnx_scope *scope)
{
	struct sl__tensor *tensor = sl__onnx_array(r, 1, sizeof(*tensor));
	struct sl__field name;
	enum sl_status rc;
	uint32_t id;

	if (!tensor)
		return r->err->status;
	rc = is_sparse ? sl__onnx_sparse(r, wire, tensor, &name)
		       : sl__onnx_tensor(r, wire, tensor, &name);
	if (rc)
		return rc;
	if (!name.n_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: an initializer without a name",
				wire.at);
	rc = define(r, scope, &wire, &name, &id);
	if (rc)
		return rc;
	r->graph->values[id].kind = SL_VALUE_PARAMETER;
	r->graph->values[id].tensor = tensor;
	if (tensor->is_mapped && tensor->n_bytes >= LARGE_BYTES)
		sl__mapping_let_go(tensor->bytes, (size_t)tensor->n_bytes);
	return SL_OK;
}

/* What the first walk over a graph finds. */
struct outline {
	size_t n_inputs, n_outputs;
	size_t from, to; /* the longest run of initializers */
	size_t run_from; /* of the present one */
};

static void
extend_run(struct outline *outline, const struct sl__wire *wire,
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

static enum sl_status
read_initializers(struct sl__onnx_reader *r, struct sl__wire wire,
		  struct sl__onnx_scope *scope, struct outline *outline)
{
	size_t end_of_last = SIZE_MAX;
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;

	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		switch (f.number) {
		case SL__GRAPH_INPUT:
			outline->n_inputs++;
			break;
		case SL__GRAPH_OUTPUT:
			outline->n_outputs++;
			break;
		case SL__GRAPH_NAME: {
			const char *name =
				sl__onnx_text(r, &wire, &f, scope->prefix);

			if (!name)
				return r->err->status;
			r->graph->blocks[scope->block].name = name;
			break;
		}
		case SL__GRAPH_INITIALIZER:
		case SL__GRAPH_SPARSE_INITIALIZER:
			rc = sl__wire_enter(&inner, &wire, &f, "tensor",
					    r->err);
			if (!rc)
				rc = read_initializer(
					r, inner,
					f.number != SL__GRAPH_INITIALIZER,
					scope);
			if (rc)
				return rc;
			extend_run(outline, &wire, &f, &end_of_last);
			break;
		default:
			break;
		}
	}
}

/* The name and the type of a ValueInfoProto; number 0 where it lacks one. */
static enum sl_status
read_info(struct sl__onnx_reader *r, struct sl__wire wire,
	  struct sl__field *name, struct sl__field *type)
{
	struct sl__field f;
	enum sl_status rc;

	name->number = type->number = 0;
	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number == SL__INFO_NAME)
			*name = f;
		else if (f.number == SL__INFO_TYPE)
			*type = f;
	}
}

static enum sl_status
declare(struct sl__onnx_reader *r, const struct sl__wire *wire,
	const struct sl__field *type, uint32_t id)
{
	struct sl__wire inner;
	enum sl_status rc;

	if (!type->number ||
	    r->graph->values[id].declared.kind != SL__TYPE_UNKNOWN)
		return SL_OK;
	rc = sl__wire_enter(&inner, wire, type, "type", r->err);
	if (!rc)
		rc = sl__onnx_type(r, inner, r->graph->values[id].name,
				   &r->graph->values[id].declared);
	return rc;
}

/*
 * An input.  *out is SL__NONE for one that is an initializer too: that is a
 * parameter.  The inputs of bodies are given by position, whatever
 * initializer bears the same name.
 */
static enum sl_status
read_input(struct sl__onnx_reader *r, struct sl__wire wire,
	   struct sl__onnx_scope *scope, uint32_t *out)
{
	struct sl__field name, type;
	enum sl_status rc = read_info(r, wire, &name, &type);
	const size_t *known;
	const char *key;

	*out = SL__NONE;
	if (rc)
		return rc;
	if (!name.number || !name.n_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: an input without a name", wire.at);
	key = sl__onnx_key(r, &wire, &name);
	if (!key)
		return r->err->status;
	known = sl__map_find(&scope->values, key);
	if (known && r->graph->values[*known].kind == SL_VALUE_PARAMETER) {
		*out = scope->block ? (uint32_t)*known : SL__NONE;
		rc = declare(r, &wire, &type, (uint32_t)*known);
		if (!scope->block)
			return rc;
		r->graph->values[*known].tensor = NULL;
	} else {
		rc = define(r, scope, &wire, &name, out);
		if (!rc)
			rc = declare(r, &wire, &type, *out);
	}
	if (!rc)
		r->graph->values[*out].kind = SL_VALUE_INPUT;
	return rc;
}

/*
 * Whether a node gives a constant a second time.  Exporters that lost count
 * of their names do so; the last one counts then (onnx_node.c), as it does
 * for ONNX Runtime.
 */
static int
is_constant_again(struct sl__onnx_reader *r, struct sl__wire node,
		  const struct sl__onnx_scope *scope, const char *name)
{
	static const char constant[] = "Constant";
	const size_t *known = sl__map_find(&scope->values, name);
	struct sl_error ignored;
	struct sl__field f;

	if (!known || *known == SL__NONE || r->graph->values[*known].tensor ||
	    r->graph->values[*known].kind != SL_VALUE_ACTIVATION)
		return 0;
	while (!sl__wire_next(&node, &f, &ignored) && f.number) {
		if (f.number == SL__NODE_OP_TYPE)
			return f.n_bytes == sizeof(constant) - 1 &&
			       !memcmp(f.bytes, constant, f.n_bytes);
	}
	return 0;
}

/* Defines what a node makes. */
static enum sl_status
define_outputs(struct sl__onnx_reader *r, struct sl__wire node,
	       struct sl__onnx_scope *scope)
{
	const struct sl__wire whole = node;
	struct sl__field f;
	enum sl_status rc;
	int is_first = 1, is_again;
	uint32_t id;

	for (;;) {
		const char *name;

		rc = sl__wire_next(&node, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number != SL__NODE_OUTPUT || !f.n_bytes)
			continue;
		name = sl__onnx_key(r, &node, &f);
		if (!name)
			return r->err->status;
		/* A Constant has one output: the node is searched once. */
		is_again = is_first && is_constant_again(r, whole, scope, name);
		is_first = 0;
		if (is_again)
			continue;
		rc = define(r, scope, &node, &f, &id);
		if (rc)
			return rc;
	}
}

static enum sl_status
read_inputs(struct sl__onnx_reader *r, struct sl__wire wire,
	    struct sl__onnx_scope *scope, size_t n_inputs)
{
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;
	size_t n = 0;
	uint32_t *ids, id;

	ids = sl__arena_array(&r->scratch, n_inputs, sizeof(*ids));
	if (!ids)
		return sl__fail_nomem(r->err);
	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc)
			return rc;
		if (!f.number)
			break;
		if (f.number != SL__GRAPH_INPUT)
			continue;
		rc = sl__wire_enter(&inner, &wire, &f, "input", r->err);
		if (!rc)
			rc = read_input(r, inner, scope, &id);
		if (rc)
			return rc;
		if (id != SL__NONE)
			ids[n++] = id;
	}
	return sl__graph_set_inputs(r->graph, scope->block, ids, n, r->err);
}

/* A type for a value of this graph; those of others are not its business. */
static enum sl_status
read_value_info(struct sl__onnx_reader *r, struct sl__wire wire,
		struct sl__onnx_scope *scope)
{
	struct sl__field name, type;
	enum sl_status rc = read_info(r, wire, &name, &type);
	const size_t *id;
	const char *key;

	if (rc || !name.number)
		return rc;
	key = sl__onnx_key(r, &wire, &name);
	if (!key)
		return r->err->status;
	id = sl__map_find(&scope->values, key);
	return id ? declare(r, &wire, &type, (uint32_t)*id) : SL_OK;
}

static enum sl_status
read_output(struct sl__onnx_reader *r, struct sl__wire wire,
	    struct sl__onnx_scope *scope, uint32_t *out)
{
	struct sl__field name, type;
	enum sl_status rc = read_info(r, wire, &name, &type);
	const size_t *id;
	const char *key;

	if (rc)
		return rc;
	if (!name.number || !name.n_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: an output without a name", wire.at);
	key = sl__onnx_key(r, &wire, &name);
	if (!key)
		return r->err->status;
	id = sl__onnx_find(scope, key);
	if (!id || *id == SL__NONE)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: nothing makes the output '%.200s'",
				wire.at, key);
	*out = (uint32_t)*id;
	return declare(r, &wire, &type, *out);
}

/* Declared types, and the outputs of the graph. */
static enum sl_status
read_outputs(struct sl__onnx_reader *r, struct sl__wire wire,
	     struct sl__onnx_scope *scope, size_t n_outputs)
{
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;
	uint32_t *ids;
	size_t n = 0;

	ids = sl__arena_array(&r->scratch, n_outputs, sizeof(*ids));
	if (!ids)
		return sl__fail_nomem(r->err);
	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc)
			return rc;
		if (!f.number)
			break;
		if (f.number != SL__GRAPH_OUTPUT &&
		    f.number != SL__GRAPH_VALUE_INFO)
			continue;
		rc = sl__wire_enter(&inner, &wire, &f, "declared value",
				    r->err);
		if (!rc && f.number == SL__GRAPH_OUTPUT)
			rc = read_output(r, inner, scope, &ids[n++]);
		else if (!rc)
			rc = read_value_info(r, inner, scope);
		if (rc)
			return rc;
	}
	return sl__graph_set_outputs(r->graph, scope->block, ids, n, r->err);
}

typedef enum sl_status node_function(struct sl__onnx_reader *r,
				     struct sl__wire node,
				     struct sl__onnx_scope *scope);

static enum sl_status
for_each_node(struct sl__onnx_reader *r, struct sl__wire wire, uint32_t number,
	      struct sl__onnx_scope *scope, node_function *fn)
{
	struct sl__wire node;
	struct sl__field f;
	enum sl_status rc;

	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number != number)
			continue;
		rc = sl__wire_enter(&node, &wire, &f, "node", r->err);
		if (!rc)
			rc = fn(r, node, scope);
		if (rc)
			return rc;
	}
}

enum sl_status
sl__onnx_nodes(struct sl__onnx_reader *r, struct sl__wire wire, uint32_t number,
	       struct sl__onnx_scope *scope)
{
	enum sl_status rc =
		for_each_node(r, wire, number, scope, define_outputs);

	return rc ? rc : for_each_node(r, wire, number, scope, sl__onnx_node);
}

enum sl_status
sl__onnx_graph(struct sl__onnx_reader *r, struct sl__wire wire,
	       struct sl__onnx_scope *scope)
{
	struct outline outline = {0};
	enum sl_status rc = sl__onnx_descend(r, wire.at);

	if (rc)
		return rc;
	sl__map_init(&scope->values, &r->scratch);
	sl__map_init(&scope->promised, &r->scratch);
	rc = read_initializers(r, wire, scope, &outline);
	wire.skip_from = outline.from;
	wire.skip_to = outline.to;
	if (!rc)
		rc = read_inputs(r, wire, scope, outline.n_inputs);
	if (!rc)
		rc = sl__onnx_nodes(r, wire, SL__GRAPH_NODE, scope);
	if (!rc)
		rc = read_outputs(r, wire, scope, outline.n_outputs);
	r->depth--;
	return rc;
}
