/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.c - a part of a model as a model of its own.
 *
 * Values keep their names, so that what is taken out can be found again in
 * the model it is from.
 */
#include "transform/extract.h"
#include "base/status.h"
#include "graph/assembly.h"
#include "graph/module_path.h"
#include "graph/steps.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

struct extractor {
	const struct sl__extract *what;
	const struct sl_graph *from;
	struct sl_graph *to;
	struct sl__arena scratch;
	unsigned char *is_inside; /* by node of 'from' */
	uint32_t *values;         /* of 'to', by value of 'from' */
	uint32_t *inputs, *outputs;
	size_t n_inputs, n_outputs;
};

static enum sl_status
copy_opsets(struct extractor *x, struct sl_error *err)
{
	const struct sl_graph *from = x->from;
	struct sl_graph *to = x->to;

	to->opsets = sl__arena_array(&to->arena, from->n_opsets,
				     sizeof(*to->opsets));
	to->name = sl__arena_format(&to->arena, "%s:%s", from->name,
				    x->what->name);
	to->source = sl__arena_string(&to->arena, from->source);
	to->is_builtin = from->is_builtin;
	to->producer = "";
	if (!to->opsets || !to->name || !to->source)
		return sl__fail_nomem(err);
	if (from->n_opsets)
		memcpy(to->opsets, from->opsets,
		       from->n_opsets * sizeof(*to->opsets));
	to->n_opsets = from->n_opsets;
	to->ir_version = from->ir_version;
	to->seed = from->seed;
	return SL_OK;
}

/* A type with sizes of its own. */
static enum sl_status
copy_type(struct extractor *x, struct sl__type *out,
	  const struct sl__type *type, struct sl_error *err)
{
	size_t n = type->rank > 0 ? (size_t)type->rank : 0;
	int64_t *dims = sl__arena_array(&x->to->arena, n, sizeof(*dims));

	if (!dims)
		return sl__fail_nomem(err);
	if (n)
		memcpy(dims, type->dims, n * sizeof(*dims));
	*out = *type;
	out->dims = dims;
	return SL_OK;
}

/* Contents that follow from the model, as numbers of it; *out is NULL where
 * they are not known, or known by name only. */
static enum sl_status
known_tensor(struct extractor *x, uint32_t value, const struct sl__tensor **out,
	     struct sl_error *err)
{
	const struct sl__known *known =
		sl__shapes_known(x->what->shapes, value);
	const struct sl__type *type = &x->what->shapes->types[value];
	struct sl__arena *arena = &x->to->arena;
	struct sl__type own = {0};
	struct sl__tensor *t;
	unsigned char *bytes;

	*out = NULL;
	if (!known || type->kind != SL__TYPE_TENSOR || type->rank < 0 ||
	    sl_dtype_bits(known->dtype) < 8)
		return SL_OK;
	for (size_t i = 0; known->ints && i < known->n; i++) {
		if (sl__is_symbol(known->ints[i]))
			return SL_OK;
	}
	t = sl__arena_alloc(arena, sizeof(*t));
	bytes = sl__arena_array(arena, known->n,
				sl_dtype_bits(known->dtype) / 8);
	if (!t || !bytes || copy_type(x, &own, type, NULL))
		return sl__fail_nomem(err);
	t->dtype = known->dtype;
	t->rank = (size_t)own.rank;
	t->dims = own.dims;
	if (!sl__tensor_measure(t) || t->n_elements != known->n)
		return SL_OK;
	if (known->ints)
		sl__store_integers(bytes, t->dtype, 0, known->n, known->ints);
	else
		sl__store_doubles(bytes, t->dtype, 0, known->n, known->floats);
	t->bytes = bytes;
	*out = t;
	return SL_OK;
}

static int
is_sized(const struct sl__type *type)
{
	uint64_t n;

	return type->kind == SL__TYPE_TENSOR && type->dtype != SL_DTYPE_NONE &&
	       sl__type_elements(type, &n);
}

/* A value that somebody outside makes. */
static enum sl_status
take_in(struct extractor *x, uint32_t value, struct sl__value *new,
	struct sl_error *err)
{
	const struct sl__value *old = &x->from->values[value];
	const struct sl__type *type = &x->what->shapes->types[value];
	enum sl_status rc = SL_OK;

	new->tensor = old->tensor;
	if (!new->tensor)
		rc = known_tensor(x, value, &new->tensor, err);
	if (rc)
		return rc;
	new->kind = new->tensor ? SL_VALUE_PARAMETER : SL_VALUE_INPUT;
	if (new->tensor)
		return SL_OK;
	if (!is_sized(type))
		return sl__fail(err, SL_E_DATA,
				"the sizes of '%.200s', which the layer takes, "
				"are not known",
				old->name);
	x->inputs[x->n_inputs++] = x->values[value];
	return copy_type(x, &new->declared, type, err);
}

static enum sl_status
add_value(struct extractor *x, uint32_t value, struct sl_error *err)
{
	const struct sl__value *old;
	const struct sl__type *type;
	struct sl__value *new;
	uint32_t id;
	enum sl_status rc;

	if (value == SL__NONE || x->values[value] != SL__NONE)
		return SL_OK;
	old = &x->from->values[value];
	type = &x->what->shapes->types[value];
	rc = sl__graph_add_value(x->to, &id, old->name, 0, err);
	if (rc)
		return rc;
	x->values[value] = id;
	new = &x->to->values[id];
	if (old->producer == SL__NONE || !x->is_inside[old->producer])
		return take_in(x, value, new, err);
	return is_sized(type) ? copy_type(x, &new->declared, type, err) : SL_OK;
}

static enum sl_status
renumber(struct extractor *x, const uint32_t *from, uint32_t n,
	 const uint32_t **out, struct sl_error *err)
{
	uint32_t *to = sl__arena_array(&x->scratch, n, sizeof(*to));
	enum sl_status rc = SL_OK;

	if (!to)
		return sl__fail_nomem(err);
	for (uint32_t i = 0; !rc && i < n; i++) {
		rc = add_value(x, from[i], err);
		to[i] = from[i] == SL__NONE ? SL__NONE : x->values[from[i]];
	}
	*out = to;
	return rc;
}

static enum sl_status
add_node(struct extractor *x, uint32_t id, struct sl_error *err)
{
	struct sl__node node = x->from->nodes[id];
	uint32_t made;
	enum sl_status rc;

	for (size_t i = 0; i < node.n_attributes; i++) {
		if (node.attributes[i].kind == SL__ATTRIBUTE_BLOCK)
			return sl__fail(err, SL_E_ABSENT,
					"node '%.200s' (%.60s) has a body: it "
					"cannot be taken out of its model",
					node.name, node.type);
	}
	rc = renumber(x, node.inputs, node.n_inputs, &node.inputs, err);
	if (!rc)
		rc = renumber(x, node.outputs, node.n_outputs, &node.outputs,
			      err);
	return rc ? rc : sl__graph_add_node(x->to, &made, &node, err);
}

static enum sl_status
add_nodes(struct extractor *x, struct sl_error *err)
{
	const struct sl__block *model = &x->from->blocks[0];
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < model->n_nodes; i++) {
		if (x->is_inside[model->nodes[i]])
			rc = add_node(x, model->nodes[i], err);
	}
	return rc;
}

/* Whether somebody outside takes a value. */
static int
is_given(const struct extractor *x, const struct sl__users *users,
	 uint32_t value)
{
	const struct sl__block *model = &x->from->blocks[0];

	for (size_t k = 0; k < model->n_outputs; k++) {
		if (model->outputs[k] == value)
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
static enum sl_status
find_outputs(struct extractor *x, struct sl_error *err)
{
	struct sl__users users;
	enum sl_status rc = sl__users_of(&users, x->from, &x->scratch, err);

	if (rc)
		return rc;
	for (int all = 0; all < 2 && !x->n_outputs; all++) {
		for (uint32_t v = 0; v < x->from->n_values; v++) {
			uint32_t producer = x->from->values[v].producer;

			if (producer == SL__NONE || !x->is_inside[producer] ||
			    x->values[v] == SL__NONE ||
			    !(all || is_given(x, &users, v)))
				continue;
			x->outputs[x->n_outputs++] = x->values[v];
		}
	}
	rc = sl__graph_set_inputs(x->to, 0, x->inputs, x->n_inputs, err);
	return rc ? rc
		  : sl__graph_set_outputs(x->to, 0, x->outputs, x->n_outputs,
					  err);
}

static enum sl_status
extract(struct extractor *x, struct sl_error *err)
{
	const struct sl_graph *from = x->from;
	enum sl_status rc;

	x->is_inside = sl__arena_alloc(&x->scratch, from->n_nodes + 1);
	x->values = sl__arena_array(&x->scratch, from->n_values,
				    sizeof(*x->values));
	x->inputs = sl__arena_array(&x->scratch, from->n_values,
				    sizeof(*x->inputs));
	x->outputs = sl__arena_array(&x->scratch, from->n_values,
				     sizeof(*x->outputs));
	if (!x->is_inside || !x->values || !x->inputs || !x->outputs)
		return sl__fail_nomem(err);
	for (size_t v = 0; v < from->n_values; v++)
		x->values[v] = SL__NONE;
	for (size_t i = 0; i < x->what->n_nodes; i++)
		x->is_inside[x->what->nodes[i]] = 1;
	rc = copy_opsets(x, err);
	if (!rc)
		rc = add_nodes(x, err);
	if (!rc)
		rc = find_outputs(x, err);
	return rc ? rc : sl__graph_freeze(x->to, err);
}

enum sl_status
sl__extract(struct sl_graph **out, const struct sl__extract *what,
	    struct sl_error *err)
{
	struct extractor x = {.what = what, .from = what->graph};
	const struct sl_allocator *allocator = &what->graph->arena.allocator;
	enum sl_status rc;

	*out = NULL;
	rc = sl__graph_new(&x.to, allocator, err);
	if (rc)
		return rc;
	sl__arena_init(&x.scratch, allocator);
	rc = extract(&x, err);
	sl__arena_release(&x.scratch);
	if (rc) {
		sl_graph_free(x.to);
		return rc;
	}
	*out = x.to;
	return SL_OK;
}

enum sl_status
sl__extract_find(const struct sl_graph *graph, const char *layer,
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
		const char *path = sl__layer_path(scratch, &graph->nodes[i]);

		if (!path)
			return sl__fail_nomem(err);
		is_found[i] = sl__is_within(path, module) != 0;
		n += is_found[i];
	}
	return n ? SL_OK
		 : sl__fail(err, SL_E_USAGE,
			    "no node or module is called '%.200s'; 'sleuth "
			    "inspect -v' lists them",
			    layer);
}

/* The numbers of the nodes found; those in bodies go with their owner. */
static enum sl_status
list_nodes(struct sl__extract *what, const char *layer,
	   struct sl__arena *scratch, struct sl_error *err)
{
	size_t n = what->graph->n_nodes;
	unsigned char *is_found = sl__arena_alloc(scratch, n + 1);
	size_t *nodes = sl__arena_array(scratch, n, sizeof(*nodes));
	enum sl_status rc;

	if (!is_found || !nodes)
		return sl__fail_nomem(err);
	rc = sl__extract_find(what->graph, layer, is_found, scratch, err);
	for (size_t i = 0; !rc && i < n; i++) {
		if (is_found[i] && what->graph->nodes[i].block == 0)
			nodes[what->n_nodes++] = i;
	}
	what->nodes = nodes;
	return rc;
}

enum sl_status
sl_graph_extract(struct sl_graph **out, const struct sl_graph *graph,
		 const char *layer, const struct sl_sizes *sizes,
		 struct sl_error *err)
{
	struct sl__shapes_options how = {.sizes = sizes};
	struct sl__extract what = {.graph = graph, .name = layer};
	struct sl__arena scratch;
	enum sl_status rc;

	*out = NULL;
	sl__arena_init(&scratch, &graph->arena.allocator);
	rc = list_nodes(&what, layer, &scratch, err);
	if (!rc)
		rc = sl__shapes_new(&what.shapes, graph, &how, err);
	if (!rc)
		rc = sl__extract(out, &what, err);
	sl__shapes_free(what.shapes);
	sl__arena_release(&scratch);
	return rc;
}
