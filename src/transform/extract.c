/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.c - a part of a model as a model of its own.
 *
 * Values keep their names, so that what is taken out can be found again in
 * the model it is from.
 */
#include "transform/extract.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "graph/graph_construction.h"
#include "graph/module_path.h"
#include "graph/execution_order.h"
#include "model/inputs.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

struct extractor {
	const struct sl__extract_options *what;
	const struct sl_graph *from;
	struct sl_graph *to;
	struct sl__arena scratch;
	unsigned char *is_inside; /* by node of 'from' */
	uint32_t *values;         /* of 'to', by value of 'from' */
	uint32_t *inputs, *outputs;
	size_t n_inputs, n_outputs;
	enum sl_status
		rc; /* of the first failure, after which nothing is done */
	struct sl_error *err;
};

/* Zeroed storage; NULL: a failure. */
static void *
allocate(struct extractor *x, struct sl__arena *arena, size_t n, size_t n_bytes)
{
	void *block = x->rc ? NULL : sl__arena_array(arena, n, n_bytes);

	if (!block && !x->rc)
		x->rc = sl__fail_nomem(x->err);
	return block;
}

static void
copy_opsets(struct extractor *x)
{
	const struct sl_graph *from = x->from;
	struct sl_graph *to = x->to;

	to->opsets =
		allocate(x, &x->to->arena, from->n_opsets, sizeof(*to->opsets));
	to->name = sl__arena_format(&to->arena, "%s:%s", from->name,
				    x->what->name);
	to->source = sl__arena_string(&to->arena, from->source);
	to->is_builtin = from->is_builtin;
	to->producer = "";
	if (!to->opsets || !to->name || !to->source) {
		x->rc = sl__fail_nomem(x->err);
		return;
	}
	if (from->n_opsets)
		memcpy(to->opsets, from->opsets,
		       from->n_opsets * sizeof(*to->opsets));
	to->n_opsets = from->n_opsets;
	to->ir_version = from->ir_version;
	to->seed = from->seed;
}

/* A type with sizes of its own. */
static struct sl__type
copy_type(struct extractor *x, const struct sl__type *type)
{
	struct sl__type out = *type;
	size_t n = type->rank > 0 ? (size_t)type->rank : 0;
	int64_t *dims = allocate(x, &x->to->arena, n, sizeof(*dims));

	if (dims && n)
		memcpy(dims, type->dims, n * sizeof(*dims));
	out.dims = dims;
	return out;
}

/* Contents that follow from the model, as numbers of it; NULL where they are
 * not known, or known by name only. */
static const struct sl__tensor *
known_tensor(struct extractor *x, uint32_t value)
{
	const struct sl__known_contents *known =
		sl__shapes_known_contents(x->what->shapes, value);
	const struct sl__type *type = &x->what->shapes->types[value];
	struct sl__tensor *t;
	unsigned char *bytes;

	if (x->what->shapes->is_short && !x->rc)
		x->rc = sl__fail_nomem(x->err);
	if (!known || type->kind != SL__TYPE_TENSOR || type->rank < 0 ||
	    sl_dtype_bits(known->dtype) < 8)
		return NULL;
	for (size_t i = 0; known->ints && i < known->n; i++) {
		if (sl__is_symbol(known->ints[i]))
			return NULL;
	}
	t = allocate(x, &x->to->arena, 1, sizeof(*t));
	bytes = allocate(x, &x->to->arena, known->n,
			 sl_dtype_bits(known->dtype) / 8);
	if (!bytes)
		return NULL;
	t->dtype = known->dtype;
	t->rank = (size_t)type->rank;
	t->dims = copy_type(x, type).dims;
	if (x->rc || !sl__tensor_compute_size(t) || t->n_elements != known->n)
		return NULL;
	if (known->ints)
		sl__store_integers(bytes, t->dtype, 0, known->n, known->ints);
	else
		sl__store_doubles(bytes, t->dtype, 0, known->n, known->floats);
	t->bytes = bytes;
	return t;
}

static int
is_sized(const struct sl__type *type)
{
	uint64_t n;

	return type->kind == SL__TYPE_TENSOR && type->dtype != SL_DTYPE_NONE &&
	       sl__type_elements(type, &n);
}

/* A value that somebody outside makes. */
static void
take_in(struct extractor *x, uint32_t value, struct sl__value *new)
{
	const struct sl__value *old = &x->from->values[value];
	const struct sl__type *type = &x->what->shapes->types[value];

	new->tensor = old->tensor ? old->tensor : known_tensor(x, value);
	new->kind = new->tensor ? SL_VALUE_PARAMETER : SL_VALUE_INPUT;
	if (x->rc || new->tensor)
		return;
	if (!is_sized(type)) {
		x->rc = sl__fail(x->err, SL_E_DATA,
				 "the sizes of '%.200s', which the layer "
				 "takes, are not known",
				 old->name);
		return;
	}
	x->inputs[x->n_inputs++] = x->values[value];
	new->declared = copy_type(x, type);
}

static void
add_value(struct extractor *x, uint32_t value)
{
	const struct sl__value *old = &x->from->values[value];
	const struct sl__type *type = &x->what->shapes->types[value];
	uint32_t id;

	x->rc = sl__graph_add_value(x->to, &id, old->name, 0, x->err);
	if (x->rc)
		return;
	x->values[value] = id;
	if (old->producer == SL__NONE || !x->is_inside[old->producer])
		take_in(x, value, &x->to->values[id]);
	else if (is_sized(type))
		x->to->values[id].declared = copy_type(x, type);
}

static const uint32_t *
renumber(struct extractor *x, const uint32_t *from, uint32_t n)
{
	uint32_t *to = allocate(x, &x->scratch, n, sizeof(*to));

	for (uint32_t i = 0; !x->rc && i < n; i++) {
		if (from[i] != SL__NONE && x->values[from[i]] == SL__NONE)
			add_value(x, from[i]);
		to[i] = from[i] == SL__NONE ? SL__NONE : x->values[from[i]];
	}
	return to;
}

static void
add_node(struct extractor *x, uint32_t id)
{
	struct sl__node node = x->from->nodes[id];
	uint32_t made;

	node.block = 0;
	for (size_t i = 0; i < node.n_attributes; i++) {
		if (node.attributes[i].kind == SL__ATTRIBUTE_BLOCK) {
			x->rc = sl__fail(x->err, SL_E_ABSENT,
					 "node '%.200s' (%.60s) has a body: "
					 "it cannot be taken out of its model",
					 node.name, node.type);
			return;
		}
	}
	node.inputs = renumber(x, node.inputs, node.n_inputs);
	node.outputs = renumber(x, node.outputs, node.n_outputs);
	if (!x->rc)
		x->rc = sl__graph_add_node(x->to, &made, &node, x->err);
}

/* Whether somebody outside takes a value. */
static int
is_given(const struct extractor *x, const struct sl__value_users *users,
	 uint32_t value)
{
	const struct sl__block *block =
		&x->from->blocks[x->from->values[value].block];

	for (size_t k = 0; k < block->n_outputs; k++) {
		if (block->outputs[k] == value)
			return 1;
	}
	for (uint32_t u = users->first[value]; u < users->first[value + 1];
	     u++) {
		if (!x->is_inside[users->nodes[u]])
			return 1;
	}
	return 0;
}

/* What others take; all that is made where nobody takes anything. */
static void
find_outputs(struct extractor *x)
{
	struct sl__value_users users;

	x->rc = sl__value_users_find(&users, x->from, &x->scratch, x->err);
	for (int all = 0; !x->rc && all < 2 && !x->n_outputs; all++) {
		for (uint32_t v = 0; v < x->from->n_values; v++) {
			uint32_t producer = x->from->values[v].producer;

			if (producer == SL__NONE || !x->is_inside[producer] ||
			    x->values[v] == SL__NONE ||
			    !(all || is_given(x, &users, v)))
				continue;
			x->outputs[x->n_outputs++] = x->values[v];
		}
	}
	if (!x->rc)
		x->rc = sl__graph_set_inputs(x->to, 0, x->inputs, x->n_inputs,
					     x->err);
	if (!x->rc)
		x->rc = sl__graph_set_outputs(x->to, 0, x->outputs,
					      x->n_outputs, x->err);
}

static void
extract(struct extractor *x)
{
	const struct sl_graph *from = x->from;
	struct sl__execution_order order = {0};
	struct sl__arena *scratch = &x->scratch;
	size_t n = from->n_values;

	x->is_inside = allocate(x, scratch, from->n_nodes + 1, 1);
	x->values = allocate(x, scratch, n, sizeof(*x->values));
	x->inputs = allocate(x, scratch, n, sizeof(*x->inputs));
	x->outputs = allocate(x, scratch, n, sizeof(*x->outputs));
	if (x->rc)
		return;
	for (size_t v = 0; v < n; v++)
		x->values[v] = SL__NONE;
	for (size_t i = 0; i < x->what->n_nodes; i++)
		x->is_inside[x->what->nodes[i]] = 1;
	copy_opsets(x);
	if (!x->rc)
		x->rc = sl__execution_order_find(&order, from, scratch, x->err);
	for (size_t i = 0; !x->rc && i < order.n; i++) {
		if (x->is_inside[order.rows[i].node] &&
		    order.rows[i].kind != SL__NODE_VISIT_ENTER)
			add_node(x, order.rows[i].node);
	}
	if (!x->rc)
		find_outputs(x);
	if (!x->rc)
		x->rc = sl__graph_freeze(x->to, x->err);
}

enum sl_status
sl__extract(struct sl_graph **out, const struct sl__extract_options *what,
	    struct sl_error *err)
{
	struct extractor x = {.what = what, .from = what->graph, .err = err};
	const struct sl_allocator *allocator = &what->graph->arena.allocator;

	*out = NULL;
	x.rc = sl__graph_new(&x.to, allocator, err);
	if (x.rc)
		return x.rc;
	sl__arena_init(&x.scratch, allocator);
	extract(&x);
	sl__arena_release(&x.scratch);
	if (x.rc) {
		sl_graph_free(x.to);
		return x.rc;
	}
	*out = x.to;
	return SL_OK;
}

/* The names of nodes, and of the modules that these lie in, are suggested. */
static enum sl_status
fail_unknown(const struct sl_graph *graph, const char *layer,
	     struct sl__arena *scratch, struct sl_error *err)
{
	const char *near = NULL;

	for (size_t i = 0; i < graph->n_nodes; i++) {
		char *name = sl__arena_string(scratch, graph->nodes[i].name);

		if (!name)
			return sl__fail_nomem(err);
		for (char *c = name + strlen(name); c > name; c--) {
			char cut = *c;
			const char *best;

			if (cut && !strchr("./", cut))
				continue;
			*c = '\0';
			best = sl_text_nearer(layer, near, name);
			if (best != near)
				near = sl__arena_string(scratch, name);
			*c = cut;
			if (best && !near)
				return sl__fail_nomem(err);
		}
	}
	if (near)
		return sl__fail(err, SL_E_USAGE,
				"no node or module is called '%.200s'; did you "
				"mean '%.200s'?",
				layer, near);
	return sl__error_set_hint(
		err,
		sl__fail(err, SL_E_USAGE,
			 "no node or module is called '%.200s'", layer),
		SL_HINT_LAYERS);
}

enum sl_status
sl__extract_find_nodes(const struct sl_graph *graph, const char *layer,
		       unsigned char *is_found, struct sl__arena *scratch,
		       struct sl_error *err)
{
	char *module = sl__arena_string(scratch, layer + (layer[0] == '/'));
	size_t n = 0;

	if (!module)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < graph->n_nodes; i++) {
		is_found[i] = !strcmp(graph->nodes[i].name, layer);
		n += is_found[i];
	}
	for (char *c = module; !strchr(layer, '/') && *c; c++) {
		if (*c == '.')
			*c = '/';
	}
	for (size_t i = 0, exact = n; !exact && i < graph->n_nodes; i++) {
		const char *path =
			sl__node_module_path(scratch, &graph->nodes[i]);

		if (!path)
			return sl__fail_nomem(err);
		is_found[i] = sl__module_path_is_within(path, module) != 0;
		n += is_found[i];
	}
	return n ? SL_OK : fail_unknown(graph, layer, scratch, err);
}

/* The numbers of the nodes found. */
static enum sl_status
list_nodes(struct sl__extract_options *what, const char *layer,
	   struct sl__arena *scratch, struct sl_error *err)
{
	size_t n = what->graph->n_nodes;
	unsigned char *is_found = sl__arena_alloc(scratch, n + 1);
	size_t *nodes = sl__arena_array(scratch, n, sizeof(*nodes));
	enum sl_status rc;

	if (!is_found || !nodes)
		return sl__fail_nomem(err);
	rc = sl__extract_find_nodes(what->graph, layer, is_found, scratch, err);
	for (size_t i = 0; !rc && i < n; i++) {
		if (is_found[i])
			nodes[what->n_nodes++] = i;
	}
	what->nodes = nodes;
	return rc;
}

/* The shapes of the files that the inputs come from, and not what these hold:
 * that would make a constant of the layer. */
static enum sl_status
take_shapes(struct sl_sizes *sizes, struct sl__input_files **inputs,
	    const struct sl_graph *graph, struct sl__arena *scratch,
	    struct sl_error *err)
{
	const struct sl__block *main = &graph->blocks[0];
	size_t n = sizes->n_shapes;
	struct sl_input_shape *shapes = sl__arena_realloc_array(
		scratch, sizes->shapes, n, n + main->n_inputs, sizeof(*shapes));
	enum sl_status rc = sl__input_files_open(inputs, graph,
						 sizes->inputs_folder,
						 &graph->arena.allocator, err);

	if (rc || !shapes)
		return rc ? rc : sl__fail_nomem(err);
	for (size_t i = 0; i < main->n_inputs; i++) {
		const struct sl__tensor *t = (*inputs)->contents[i];

		if (t)
			shapes[n++] = (struct sl_input_shape){
				graph->values[main->inputs[i]].name, t->dims,
				t->rank};
	}
	sizes->shapes = shapes;
	sizes->n_shapes = n;
	return SL_OK;
}

enum sl_status
sl_graph_extract(struct sl_graph **out, const struct sl_graph *graph,
		 const char *layer, const struct sl_sizes *sizes,
		 struct sl_error *err)
{
	struct sl_sizes copy;
	enum sl_status rc = sl__sizes_copy(&copy, &sizes, err);
	struct sl__shapes_options how = {.sizes = sizes};
	struct sl__extract_options what = {.graph = graph, .name = layer};
	struct sl__input_files *inputs = NULL;
	struct sl_sizes bound;
	struct sl__arena scratch;

	*out = NULL;
	if (rc)
		return rc;
	sl__arena_init(&scratch, &graph->arena.allocator);
	rc = list_nodes(&what, layer, &scratch, err);
	if (!rc && sizes && sizes->inputs_folder) {
		bound = *sizes;
		how.sizes = &bound;
		rc = take_shapes(&bound, &inputs, graph, &scratch, err);
	}
	if (!rc)
		rc = sl__shapes_new(&what.shapes, graph, &how, err);
	if (!rc)
		rc = sl__extract(out, &what, err);
	sl__shapes_free(what.shapes);
	sl__input_files_close(inputs);
	sl__arena_release(&scratch);
	return rc;
}
