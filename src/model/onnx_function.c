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
#include "base/status.h"
#include "model/onnx_parts.h"

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

enum sl_status
sl__onnx_count_inlined(struct sl__onnx_reader *r, size_t at, const char *name)
{
	size_t most = INLINED_LEAST + r->file.n_bytes / BYTES_PER_INLINED;

	if (most > INLINED_MOST)
		most = INLINED_MOST;
	/* What a node takes is paid for by the number of them. */
	r->budget_bytes += INLINED_BYTES;
	if (++r->n_inlined <= most)
		return SL_OK;
	return sl__fail(r->err, SL_E_DATA,
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
	size_t n_domain = domain->n_bytes, n = 0;

	if (n_domain == sizeof(usual) - 1 &&
	    !memcmp(domain->bytes, usual, n_domain))
		n_domain = 0;
	if (sl__onnx_check_name(r, domain) || sl__onnx_check_name(r, name) ||
	    sl__onnx_check_name(r, overload))
		return NULL;
	if (sl__onnx_reserve_text(r, n_domain + name->n_bytes +
					     overload->n_bytes + 2))
		return NULL;
	if (n_domain)
		memcpy(r->text, domain->bytes, n_domain);
	n += n_domain;
	r->text[n++] = '\n';
	if (name->n_bytes)
		memcpy(r->text + n, name->bytes, name->n_bytes);
	n += name->n_bytes;
	r->text[n++] = '\n';
	if (overload->n_bytes)
		memcpy(r->text + n, overload->bytes, overload->n_bytes);
	r->text[n + overload->n_bytes] = '\0';
	return r->text;
}

enum sl_status
sl__onnx_callee(struct sl__onnx_reader *r, const struct sl__onnx_head *head,
		struct sl__onnx_function **out)
{
	const size_t *index;
	const char *key;

	*out = NULL;
	if (!r->n_functions)
		return SL_OK;
	key = function_key(r, &head->domain, &head->type, &head->overload);
	if (!key)
		return r->err->status;
	index = sl__map_find(&r->functions, key);
	if (index)
		*out = &r->function_list[*index];
	return SL_OK;
}

struct outline {
	struct sl__field domain, name, overload;
	size_t n_defaults;
};

static enum sl_status
read_outline(struct sl__onnx_reader *r, struct sl__wire wire,
	     struct sl__onnx_function *function, struct outline *out)
{
	struct sl__opset ignored;
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number == SL__FUNCTION_NAME)
			out->name = f;
		else if (f.number == SL__FUNCTION_DOMAIN)
			out->domain = f;
		else if (f.number == SL__FUNCTION_OVERLOAD)
			out->overload = f;
		else if (f.number == SL__FUNCTION_ATTRIBUTE_PROTO)
			out->n_defaults++;
		else if (f.number != SL__FUNCTION_OPSET_IMPORT)
			continue;
		rc = sl__wire_enter(&inner, &wire, &f, "function's part",
				    r->err);
		if (!rc && f.number == SL__FUNCTION_OPSET_IMPORT)
			rc = sl__onnx_opset(r, inner, &function->opsets,
					    &ignored);
		if (rc)
			return rc;
	}
}

static enum sl_status
add_function(struct sl__onnx_reader *r, struct sl__wire wire)
{
	struct sl__onnx_function *function = &r->function_list[r->n_functions];
	struct outline outline;
	const char *key;
	enum sl_status rc;

	function->body = wire;
	sl__map_init(&function->opsets, &r->scratch);
	rc = read_outline(r, wire, function, &outline);
	if (rc)
		return rc;
	if (!outline.name.n_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a function without a name", wire.at);
	function->name = sl__onnx_text(r, &wire, &outline.name, "");
	if (!function->name)
		return r->err->status;
	rc = sl__onnx_give(r, wire, SL__FUNCTION_ATTRIBUTE_PROTO,
			   outline.n_defaults, &function->defaults);
	if (rc)
		return rc;
	key = function_key(r, &outline.domain, &outline.name,
			   &outline.overload);
	if (!key)
		return r->err->status;
	if (sl__map_find(&r->functions, key))
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a second function '%.200s'", wire.at,
				function->name);
	return sl__map_put(&r->functions, key, r->n_functions++, r->err);
}

enum sl_status
sl__onnx_functions(struct sl__onnx_reader *r, struct sl__wire model, size_t n)
{
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;

	rc = sl__onnx_charge(r, n * (sizeof(*r->function_list) +
				     4 * sizeof(struct sl__map_slot)));
	if (rc)
		return rc;
	r->function_list =
		sl__arena_array(&r->scratch, n, sizeof(*r->function_list));
	if (!r->function_list)
		return sl__fail_nomem(r->err);
	for (;;) {
		rc = sl__wire_next(&model, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number != SL__MODEL_FUNCTIONS)
			continue;
		rc = sl__wire_enter(&inner, &model, &f, "function", r->err);
		if (!rc)
			rc = add_function(r, inner);
		if (rc)
			return rc;
	}
}

/* What a call gives and makes, in its caller's scope. */
struct actual {
	uint32_t *inputs, *outputs;
	size_t n_inputs, n_outputs;
	size_t at; /* byte of the call */
};

static enum sl_status
bind_input(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
	   const char *name, uint32_t value)
{
	if (sl__map_find(&scope->values, name))
		return sl__fail(r->err, SL_E_DATA,
				"function '%.200s' has two inputs '%.200s'",
				scope->call->function->name, name);
	return sl__map_put(&scope->values, name, value, r->err);
}

/*
 * The i-th output of the function is the i-th of the call: promised, for the
 * body to define.  One that is an input as well, or occurs twice, is copied
 * when the body is there.
 */
static enum sl_status
bind_output(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
	    const char *name, uint32_t value)
{
	if (value == SL__NONE || sl__map_find(&scope->values, name) ||
	    sl__map_find(&scope->promised, name))
		return SL_OK;
	return sl__map_put(&scope->promised, name, value, r->err);
}

static enum sl_status
copy_output(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
	    const char *name, uint32_t value)
{
	const size_t *made = sl__map_find(&scope->values, name);
	const size_t *version = sl__map_find(&r->opsets, "");
	struct sl__onnx_call *call = scope->call;
	struct sl__node node = {.domain = "", .type = "Identity"};
	uint32_t id, from;
	enum sl_status rc;

	if (value == SL__NONE)
		return SL_OK;
	if (!made || *made == SL__NONE)
		return sl__fail(r->err, SL_E_DATA,
				"function '%.200s' does not make its output "
				"'%.200s'",
				call->function->name, name);
	if (*made == value)
		return SL_OK;
	rc = sl__onnx_count_inlined(r, call->function->body.at,
				    call->function->name);
	if (!rc)
		rc = sl__onnx_charge(r, 2 * sizeof(node) + 64 +
						strlen(scope->prefix));
	if (rc)
		return rc;
	from = (uint32_t)*made;
	node.name = sl__arena_format(r->arena, "%sIdentity_%u", scope->prefix,
				     (unsigned)call->n_unnamed++);
	if (!node.name)
		return sl__fail_nomem(r->err);
	node.version = version ? (int)*version : 1;
	node.block = scope->block;
	node.n_inputs = node.n_outputs = 1;
	node.inputs = &from;
	node.outputs = &value;
	return sl__graph_add_node(r->graph, &id, &node, r->err);
}

typedef enum sl_status bind_function(struct sl__onnx_reader *r,
				     struct sl__onnx_scope *scope,
				     const char *name, uint32_t value);

/* Calls fn with each formal name and what the call has in its place. */
static enum sl_status
for_each_formal(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
		uint32_t number, const struct actual *actual, bind_function *fn)
{
	struct sl__onnx_function *function = scope->call->function;
	struct sl__wire body = function->body;
	int is_input = number == SL__FUNCTION_INPUT;
	const uint32_t *values = is_input ? actual->inputs : actual->outputs;
	size_t n_values = is_input ? actual->n_inputs : actual->n_outputs;
	struct sl__field f;
	enum sl_status rc;
	size_t i = 0;

	for (;; i++) {
		const char *key;

		do {
			rc = sl__wire_next(&body, &f, r->err);
			if (rc)
				return rc;
		} while (f.number && f.number != number);
		if (!f.number)
			break;
		key = sl__onnx_key(r, &body, &f);
		if (!key)
			return r->err->status;
		rc = fn(r, scope, key, i < n_values ? values[i] : SL__NONE);
		if (rc)
			return rc;
	}
	if (i < n_values)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a call of function '%.200s' with "
				"%zu %s; it has %zu",
				actual->at, function->name, n_values,
				is_input ? "inputs" : "outputs", i);
	return SL_OK;
}

static enum sl_status
inline_body(struct sl__onnx_reader *r, struct sl__onnx_scope *scope,
	    const struct actual *actual)
{
	enum sl_status rc;

	sl__map_init(&scope->values, &r->scratch);
	sl__map_init(&scope->promised, &r->scratch);
	rc = for_each_formal(r, scope, SL__FUNCTION_INPUT, actual, bind_input);
	if (!rc)
		rc = for_each_formal(r, scope, SL__FUNCTION_OUTPUT, actual,
				     bind_output);
	if (!rc)
		rc = sl__onnx_nodes(r, scope->call->function->body,
				    SL__FUNCTION_NODE, scope);
	if (!rc)
		rc = for_each_formal(r, scope, SL__FUNCTION_OUTPUT, actual,
				     copy_output);
	return rc;
}

/* Reads the call, then the body with the call's values in place. */
static enum sl_status
inline_call(struct sl__onnx_reader *r, struct sl__onnx_call *call,
	    struct sl__wire node, const struct sl__onnx_head *head)
{
	struct sl__onnx_scope scope = {.block = call->caller->block,
				       .call = call};
	struct actual actual = {.n_inputs = head->n_inputs,
				.n_outputs = head->n_outputs,
				.at = node.at};
	size_t n = head->n_inputs + head->n_outputs;
	const char *name;
	enum sl_status rc;

	if (head->name.n_bytes)
		name = sl__onnx_text(r, &node, &head->name,
				     call->caller->prefix);
	else
		name = sl__arena_format(r->arena, "%s%s_%zu",
					call->caller->prefix,
					call->function->name, r->n_inlined);
	if (!name)
		return head->name.n_bytes ? r->err->status
					  : sl__fail_nomem(r->err);
	rc = sl__onnx_charge(r, 2 * strlen(name) + n * sizeof(uint32_t) +
					CALL_BYTES);
	if (rc)
		return rc;
	scope.prefix = sl__arena_format(r->arena, "%s/", name);
	actual.inputs = sl__arena_array(&r->scratch, n, sizeof(uint32_t));
	if (!scope.prefix || !actual.inputs)
		return sl__fail_nomem(r->err);
	actual.outputs = actual.inputs + head->n_inputs;
	rc = sl__onnx_resolve(r, node, call->caller, actual.inputs,
			      actual.outputs);
	if (!rc)
		rc = sl__onnx_give(r, node, SL__NODE_ATTRIBUTE,
				   head->n_attributes, &call->given);
	return rc ? rc : inline_body(r, &scope, &actual);
}

enum sl_status
sl__onnx_inline(struct sl__onnx_reader *r, struct sl__onnx_function *function,
		struct sl__wire node, const struct sl__onnx_head *head,
		struct sl__onnx_scope *scope)
{
	struct sl__onnx_call call = {.function = function, .caller = scope};
	uint64_t n_before = r->file.n_fields;
	enum sl_status rc;

	if (function->is_open)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: function '%.200s' calls itself",
				node.at, function->name);
	rc = sl__onnx_count_inlined(r, node.at, function->name);
	if (!rc)
		rc = sl__onnx_descend(r, node.at);
	if (rc)
		return rc;
	if (!r->n_open_calls++)
		r->file.max_fields = n_before + r->inline_fields;
	function->is_open = 1;
	rc = inline_call(r, &call, node, head);
	function->is_open = 0;
	if (!--r->n_open_calls) {
		r->file.max_fields = UINT64_MAX;
		r->inline_fields -= r->file.n_fields - n_before;
	}
	r->depth--;
	return rc;
}
