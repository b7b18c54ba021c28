/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_function.c - functions of the model, put in place of their calls.
 *
 * A call becomes the nodes of the function's body: its formal inputs stand
 * for the values that the call is given, its outputs for those that the call
 * makes, and names get the call's name and a slash before them.  A body may
 * call other functions but not, by whatever way, itself; and since a few
 * functions that call one another twice unfold without end, what all calls
 * together may come to is bounded.
 */
#include "model/onnx_parse.h"

#include <stddef.h>
#include <string.h>

#include "base/banned.h"

enum {
	/* Nodes and calls: some ten times the largest model that was met, and
	 * more for long files.  The most takes 2 GB and several seconds. */
	INLINED_LEAST = 250000,
	INLINED_MOST = 2000000,
	BYTES_PER_INLINED = 16,
	INLINED_BYTES = 2048, /* a node with its values and names, or a call
				 and its maps */
	CALL_BYTES = 1024     /* of scratch: two small maps */
};

void
sl__onnx_count_inlined(struct sl__onnx_reader *r, size_t at, const char *name)
{
	size_t most = INLINED_LEAST + r->file.n_bytes / BYTES_PER_INLINED;

	if (most > INLINED_MOST)
		most = INLINED_MOST;
	/* What a node takes is paid for by the number of them. */
	r->budget_bytes += INLINED_BYTES;
	if (++r->n_inlined > most)
		sl__wire_fail(&r->file,
			      "byte %zu: function '%.200s' and those around it "
			      "unfold to more than %zu nodes",
			      at, name, most);
}

/* The name of a function in r->text: domain, name and overload. */
static const char *
function_key(struct sl__onnx_reader *r, const struct sl__field *domain,
	     const struct sl__field *name, const struct sl__field *overload)
{
	static const char usual[] = "ai.onnx";
	const struct sl__field *parts[] = {domain, name, overload};
	size_t n_bytes = 0, n = 0;

	for (size_t i = 0; i < 3; i++) {
		sl__onnx_check_name(r, parts[i]);
		n_bytes += parts[i]->n_bytes + 1;
	}
	if (!sl__onnx_reserve_text_scratch(r, n_bytes))
		return "";
	for (size_t i = 0; i < 3; i++) {
		int is_usual = i == 0 && domain->n_bytes == sizeof(usual) - 1 &&
			       !memcmp(domain->bytes, usual, domain->n_bytes);

		if (i)
			r->text[n++] = '\n';
		if (parts[i]->n_bytes && !is_usual) {
			memcpy(r->text + n, parts[i]->bytes, parts[i]->n_bytes);
			n += parts[i]->n_bytes;
		}
	}
	r->text[n] = '\0';
	return r->text;
}

struct sl__onnx_function *
sl__onnx_callee(struct sl__onnx_reader *r,
		const struct sl__onnx_node_header *head)
{
	const size_t *index = NULL;

	if (r->n_functions)
		index = sl__map_find(&r->functions,
				     function_key(r, &head->domain, &head->type,
						  &head->overload));
	return index ? &r->function_list[*index] : NULL;
}

struct outline {
	struct sl__field domain, name, overload;
	size_t n_defaults;
};

static void
add_function(struct sl__onnx_reader *r, struct sl__wire_reader wire)
{
	static const struct sl__wire_store_rule rows[] = {
		{SL__FUNCTION_NAME, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct outline, name)},
		{SL__FUNCTION_DOMAIN, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct outline, domain)},
		{SL__FUNCTION_OVERLOAD, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct outline, overload)},
		{SL__FUNCTION_ATTRIBUTE_PROTO, SL__WIRE_BYTES,
		 SL__WIRE_STORE_FIELD_COUNT,
		 offsetof(struct outline, n_defaults)},
		{0},
	};
	struct sl__onnx_function *function = &r->function_list[r->n_functions];
	struct outline outline = {.n_defaults = 0};
	struct sl__wire_reader rest = wire, opset;
	const char *key;

	function->body = wire;
	sl__map_init(&function->opsets, &r->scratch);
	sl__wire_store_fields(wire, rows, &outline);
	while (sl__wire_find_message(&rest, SL__FUNCTION_OPSET_IMPORT,
				     "function's part", &opset))
		(void)sl__onnx_parse_opset(r, opset, &function->opsets);
	if (!outline.name.n_bytes)
		sl__wire_fail(&r->file, "byte %zu: a function without a name",
			      wire.at);
	function->name = sl__onnx_text(r, &outline.name, "");
	sl__onnx_attribute_map_fill(r, wire, SL__FUNCTION_ATTRIBUTE_PROTO,
				    outline.n_defaults, &function->defaults);
	key = function_key(r, &outline.domain, &outline.name,
			   &outline.overload);
	if (sl__map_find(&r->functions, key))
		sl__wire_fail(&r->file, "byte %zu: a second function '%.200s'",
			      wire.at, function->name);
	sl__onnx_map_put(r, &r->functions, key, r->n_functions++);
}

void
sl__onnx_parse_functions(struct sl__onnx_reader *r,
			 struct sl__wire_reader model, size_t n)
{
	struct sl__wire_reader inner;

	sl__onnx_charge(r, n * (sizeof(*r->function_list) +
				4 * sizeof(struct sl__map_slot)));
	r->function_list =
		sl__onnx_alloc_scratch(r, n, sizeof(*r->function_list));
	while (sl__wire_find_message(&model, SL__MODEL_FUNCTIONS, "function",
				     &inner))
		add_function(r, inner);
}

/* What a call gives and makes, in its caller's scope. */
struct actual {
	uint32_t *inputs, *outputs;
	size_t n_inputs, n_outputs;
	size_t at; /* byte of the call */
};

static void
bind_input(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
	   const char *name, uint32_t value)
{
	if (sl__map_find(&scope->values, name))
		sl__wire_fail(&r->file,
			      "function '%.200s' has two inputs '%.200s'",
			      scope->call->function->name, name);
	sl__onnx_map_put(r, &scope->values, name, value);
}

/*
 * The i-th output of the function is the i-th of the call: promised, for the
 * body to define.  One that is an input as well, or occurs twice, is copied
 * when the body is there.
 */
static void
bind_output(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
	    const char *name, uint32_t value)
{
	if (value != SL__NONE && !sl__map_find(&scope->values, name) &&
	    !sl__map_find(&scope->promised, name))
		sl__onnx_map_put(r, &scope->promised, name, value);
}

static void
copy_output(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
	    const char *name, uint32_t value)
{
	const size_t *made = sl__map_find(&scope->values, name);
	const size_t *version = sl__map_find(&r->opsets, "");
	struct sl__onnx_call *call = scope->call;
	struct sl__node node = {.domain = "", .type = "Identity"};
	uint32_t id, from;

	if (value == SL__NONE)
		return;
	if (!made || *made == SL__NONE)
		sl__wire_fail(&r->file,
			      "function '%.200s' does not make its output "
			      "'%.200s'",
			      call->function->name, name);
	if (r->file.status || *made == value)
		return;
	sl__onnx_count_inlined(r, call->function->body.at,
			       call->function->name);
	sl__onnx_charge(r, 2 * sizeof(node) + 64 + strlen(scope->prefix));
	from = (uint32_t)*made;
	node.name = sl__onnx_text_or_nomem(
		r, sl__arena_format(r->arena, "%sIdentity_%u", scope->prefix,
				    (unsigned)call->n_unnamed++));
	node.version = version ? (int)*version : 1;
	node.block = scope->block;
	node.n_inputs = node.n_outputs = 1;
	node.inputs = &from;
	node.outputs = &value;
	if (!r->file.status)
		sl__wire_keep_status(
			&r->file,
			sl__graph_add_node(r->graph, &id, &node, r->file.err));
}

typedef void bind_function(struct sl__onnx_reader *r,
			   struct sl__onnx_scope *scope, const char *name,
			   uint32_t value);

/* Calls fn with each formal name and what the call has in its place. */
static void
for_each_formal(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
		uint32_t number, const struct actual *actual, bind_function *fn)
{
	struct sl__onnx_function *function = scope->call->function;
	struct sl__wire_reader body = function->body;
	int is_input = number == SL__FUNCTION_INPUT;
	const uint32_t *values = is_input ? actual->inputs : actual->outputs;
	size_t n_values = is_input ? actual->n_inputs : actual->n_outputs;
	struct sl__field f;
	size_t i = 0;

	for (; sl__wire_find_field(&body, number, &f); i++)
		fn(r, scope, sl__onnx_name_scratch(r, &f),
		   i < n_values ? values[i] : SL__NONE);
	if (i < n_values)
		sl__wire_fail(&r->file,
			      "byte %zu: a call of function '%.200s' with %zu "
			      "%s; it has %zu",
			      actual->at, function->name, n_values,
			      is_input ? "inputs" : "outputs", i);
}

/* Reads the call, then the body with the call's values in place. */
static void
inline_call(struct sl__onnx_reader *r, struct sl__onnx_call *call,
	    struct sl__wire_reader node,
	    const struct sl__onnx_node_header *head)
{
	struct sl__onnx_scope scope = {.block = call->caller->block,
				       .call = call};
	struct actual actual = {.n_inputs = head->n_inputs,
				.n_outputs = head->n_outputs,
				.at = node.at};
	size_t n = head->n_inputs + head->n_outputs;
	const char *name;

	if (head->name.n_bytes)
		name = sl__onnx_text(r, &head->name, call->caller->prefix);
	else
		name = sl__onnx_text_or_nomem(
			r, sl__arena_format(
				   r->arena, "%s%s_%zu", call->caller->prefix,
				   call->function->name, r->n_inlined));
	sl__onnx_charge(r,
			2 * strlen(name) + n * sizeof(uint32_t) + CALL_BYTES);
	scope.prefix = sl__onnx_text_or_nomem(
		r, sl__arena_format(r->arena, "%s/", name));
	actual.inputs = sl__onnx_alloc_scratch(r, n, sizeof(uint32_t));
	if (!actual.inputs)
		return;
	actual.outputs = actual.inputs + head->n_inputs;
	sl__onnx_resolve(r, node, call->caller, actual.inputs, actual.outputs);
	sl__onnx_attribute_map_fill(r, node, SL__NODE_ATTRIBUTE,
				    head->n_attributes, &call->given);
	sl__map_init(&scope.values, &r->scratch);
	sl__map_init(&scope.promised, &r->scratch);
	for_each_formal(r, &scope, SL__FUNCTION_INPUT, &actual, bind_input);
	for_each_formal(r, &scope, SL__FUNCTION_OUTPUT, &actual, bind_output);
	sl__onnx_parse_nodes(r, call->function->body, SL__FUNCTION_NODE,
			     &scope);
	for_each_formal(r, &scope, SL__FUNCTION_OUTPUT, &actual, copy_output);
}

void
sl__onnx_inline_function(struct sl__onnx_reader *r,
			 struct sl__onnx_function *function,
			 struct sl__wire_reader node,
			 const struct sl__onnx_node_header *head,
			 struct sl__onnx_scope *scope)
{
	struct sl__onnx_call call = {.function = function, .caller = scope};
	uint64_t n_before = r->file.n_fields;

	if (function->is_open)
		sl__wire_fail(&r->file,
			      "byte %zu: function '%.200s' calls itself",
			      node.at, function->name);
	sl__onnx_count_inlined(r, node.at, function->name);
	if (!sl__onnx_descend(r, node.at))
		return;
	if (!r->n_open_calls++)
		r->file.max_fields = n_before + r->inline_fields;
	function->is_open = 1;
	inline_call(r, &call, node, head);
	function->is_open = 0;
	if (!--r->n_open_calls) {
		r->file.max_fields = UINT64_MAX;
		r->inline_fields -= r->file.n_fields - n_before;
	}
	r->depth--;
}
