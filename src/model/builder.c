/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.c - models assembled node by node.
 *
 * Every node is inferred as soon as it is added, with sizes known by name
 * kept as such, so that layers can ask how wide their input is and a mistake
 * is found at the node that makes it.  Errors stick, as in the writers of a
 * page: code that builds a model reads like the model.
 */
#include "model/builder.h"
#include "base/buf.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "graph/graph_construction.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { RANK_MOST = 64, IR_VERSION = 9, NAME_BYTES = 512 };

/* Infers everything that is there, from the start. */
static enum sl_status
renew_shapes(struct sl_builder *b, struct sl_error *err)
{
	struct sl__shapes_options how = {.free_sizes = SL__UNBOUND_KEEP,
					 .allocator = &b->arena.allocator};

	sl__shapes_free(b->shapes);
	b->shapes = NULL;
	return sl__shapes_new(&b->shapes, b->graph, &how, err);
}

static enum sl_status
start_graph(struct sl_builder *b, const char *name, struct sl_error *err)
{
	enum sl_status rc = sl__graph_new(&b->graph, &b->arena.allocator, err);
	struct sl_graph *graph = b->graph;

	if (rc)
		return rc;
	graph->name = sl__arena_string(&graph->arena, name);
	graph->opsets =
		sl__arena_array(&graph->arena, 1, sizeof(*graph->opsets));
	if (!graph->name || !graph->opsets)
		return sl__fail_nomem(err);
	graph->opsets[0].domain = "";
	graph->opsets[0].version = SL__BUILDER_OPSET;
	graph->n_opsets = 1;
	graph->ir_version = IR_VERSION;
	graph->producer = "sleuth";
	graph->source = "builder";
	return renew_shapes(b, err);
}

enum sl_status
sl_builder_new(struct sl_builder **out, const char *name,
	       const struct sl_graph_options *options, struct sl_error *err)
{
	struct sl_graph_options how;
	struct sl_builder *b;
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_graph_options", err);

	*out = NULL;
	if (rc)
		return rc;
	b = sl__allocator_alloc(how.allocator, sizeof(*b));
	if (!b)
		return sl__fail_nomem(err);
	memset(b, 0, sizeof(*b));
	sl__arena_init(&b->arena, how.allocator);
	sl__map_init(&b->names, &b->arena);
	sl__map_init(&b->constants, &b->arena);
	b->seed = how.seed ? how.seed : 1;
	b->dtype = SL_DTYPE_F32;
	rc = start_graph(b, name ? name : "", err);
	if (rc) {
		sl_builder_free(b);
		return rc;
	}
	b->graph->seed = b->seed;
	*out = b;
	return SL_OK;
}

void
sl_builder_free(struct sl_builder *b)
{
	struct sl_allocator allocator;

	if (!b)
		return;
	allocator = b->arena.allocator;
	sl__shapes_free(b->shapes);
	sl_graph_free(b->graph);
	sl__arena_release(&b->arena);
	sl__allocator_free(&allocator, b);
}

int
sl__builder_fail(struct sl_builder *b, enum sl_status status,
		 const char *format, ...)
{
	va_list args;

	if (b->failed)
		return -1;
	va_start(args, format);
	b->failed = sl__fail_list(&b->err, status, format, args);
	va_end(args);
	return -1;
}

/* Keeps a failure that has filled b->err. */
int
sl__builder_keep_status(struct sl_builder *b, enum sl_status rc)
{
	if (rc)
		b->failed = rc;
	return rc ? -1 : 0;
}

int
sl__builder_nomem(struct sl_builder *b)
{
	return sl__builder_keep_status(b, sl__fail_nomem(&b->err));
}

int
sl__builder_grow_array(struct sl_builder *b, void *array, size_t n, size_t *cap,
		       size_t n_bytes)
{
	return sl__arena_grow(&b->arena, array, n, cap, n_bytes)
		       ? 0
		       : sl__builder_nomem(b);
}

/* "scope.name" in the builder's arena, NULL after a failure. */
static const char *
in_scope(struct sl_builder *b, const char *name)
{
	const char *full = NULL;

	if (!b->failed)
		full = sl__arena_format(&b->arena, "%s%s",
					b->scope ? b->scope->prefix : "", name);
	if (!full && !b->failed)
		sl__builder_nomem(b);
	return full;
}

/* 'full', or "full_2" and so on where it is taken; takes it. */
const char *
sl__builder_unique_name(struct sl_builder *b, const char *full)
{
	const size_t *asked = sl__map_find(&b->names, full);
	const char *free_name = full;
	size_t n = asked ? *asked : 0;

	while (free_name && sl__map_find(&b->names, free_name))
		free_name = sl__arena_format(&b->arena, "%s_%zu", full, ++n);
	if (!free_name)
		sl__builder_nomem(b);
	if (b->failed ||
	    sl__builder_keep_status(
		    b, sl__map_put(&b->names, full, n ? n : 1, &b->err)) ||
	    (free_name != full &&
	     sl__builder_keep_status(
		     b, sl__map_put(&b->names, free_name, 1, &b->err))))
		return NULL;
	return free_name;
}

const char *
sl__builder_unique_scoped_name(struct sl_builder *b, const char *name)
{
	const char *full = in_scope(b, name);

	return full ? sl__builder_unique_name(b, full) : NULL;
}

/* A name that must be free, since the caller will ask for it. */
static int
take_exact_name(struct sl_builder *b, const char *name, const char *what)
{
	if (!name || !*name)
		return sl__builder_fail(b, SL_E_USAGE, "%s needs a name", what);
	if (sl__map_find(&b->names, name))
		return sl__builder_fail(b, SL_E_USAGE,
					"%s '%.200s': the name is taken", what,
					name);
	return sl__builder_keep_status(
		b, sl__map_put(&b->names, name, 1, &b->err));
}

static void
push_scope(struct sl_builder *b, const char *full)
{
	struct sl__builder_scope *scope =
		sl__arena_alloc(&b->arena, sizeof(*scope));
	const char *prefix = sl__arena_format(&b->arena, "%s.", full);

	if (!scope || !prefix) {
		sl__builder_nomem(b);
		return;
	}
	scope->prefix = prefix;
	scope->around = b->scope;
	b->scope = scope;
}

void
sl_builder_enter(struct sl_builder *b, const char *scope)
{
	const char *full = in_scope(b, scope);

	if (full)
		push_scope(b, full);
}

void
sl__builder_enter_scope_format(struct sl_builder *b, const char *format, ...)
{
	char name[NAME_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	sl_builder_enter(b, name);
}

void
sl__builder_enter_layer(struct sl_builder *b, const char *otherwise)
{
	const char *full;

	if (b->failed)
		return;
	full = sl__builder_unique_scoped_name(b, b->name ? b->name : otherwise);
	if (full)
		push_scope(b, full);
	b->name = NULL;
}

void
sl__builder_name_after_scope(struct sl_builder *b)
{
	char *name;

	if (b->failed || !b->scope)
		return;
	name = sl__arena_string(&b->arena, b->scope->prefix);
	if (!name) {
		sl__builder_nomem(b);
		return;
	}
	name[strlen(name) - 1] = '\0'; /* the point */
	b->name = name;
	b->is_full_name = 1;
}

void
sl_builder_leave(struct sl_builder *b)
{
	if (b->failed)
		return;
	if (!b->scope)
		sl__builder_fail(b, SL_E_USAGE,
				 "sl_builder_leave() without a matching "
				 "sl_builder_enter()");
	else
		b->scope = b->scope->around;
}

/* A new value; -1 after a failure. */
int
sl__builder_add_value(struct sl_builder *b, const char *name)
{
	uint32_t id;

	if (b->graph->n_values >= INT32_MAX)
		return sl__builder_fail(b, SL_E_USAGE, "too many values");
	if (sl__builder_keep_status(
		    b, sl__graph_add_value(b->graph, &id, name, 0, &b->err)))
		return -1;
	return (int)id;
}

/* The value, once the tables have room for it; -1 after a failure. */
int
sl__builder_infer_shapes(struct sl_builder *b, int value)
{
	return sl__builder_keep_status(b, sl__shapes_extend(b->shapes, &b->err))
		       ? -1
		       : value;
}

int
sl__builder_check_rank(struct sl_builder *b, const char *name, size_t rank)
{
	if (rank <= RANK_MOST)
		return 0;
	return sl__builder_fail(b, SL_E_USAGE,
				"'%.200s': %zu dimensions are more than %d",
				name, rank, RANK_MOST);
}

int64_t
sl_builder_symbol(struct sl_builder *b, const char *name, int64_t usual)
{
	size_t n_before;
	int64_t size;

	if (b->failed)
		return -1;
	if (!name || !*name || usual < 0)
		return sl__builder_fail(b, SL_E_USAGE,
					"a dimension needs a name, and a usual "
					"size of at least 0");
	n_before = b->graph->n_symbols;
	if (sl__builder_keep_status(
		    b, sl__graph_intern_symbol(b->graph, &size, name, &b->err)))
		return -1;
	if (usual)
		b->graph->symbols[size - SL__SYMBOL_BASE].usual = usual;
	/* Sizes that came up on the way stand after the graph's symbols. */
	if (b->graph->n_symbols != n_before &&
	    sl__builder_keep_status(b, renew_shapes(b, &b->err)))
		return -1;
	return size;
}

/* A copy of the sizes of an input, each a number or a symbol. */
static int64_t *
copy_dims(struct sl_builder *b, const char *name, size_t rank,
	  const int64_t *dims)
{
	int64_t *copy = sl__arena_array(&b->graph->arena, rank, sizeof(*copy));

	if (!copy)
		sl__builder_nomem(b);
	for (size_t i = 0; copy && i < rank; i++) {
		copy[i] = dims[i];
		if (sl__is_symbol(dims[i])
			    ? (uint64_t)(dims[i] - SL__SYMBOL_BASE) >=
				      b->graph->n_symbols
			    : dims[i] < 0) {
			sl__builder_fail(b, SL_E_USAGE,
					 "'%.200s': dimension %zu is no size",
					 name, i);
			return NULL;
		}
	}
	return copy;
}

int
sl_builder_input(struct sl_builder *b, const char *name, enum sl_dtype dtype,
		 size_t rank, const int64_t *dims)
{
	struct sl__type type = {.kind = SL__TYPE_TENSOR, .dtype = dtype};
	int id;

	if (b->failed || take_exact_name(b, name, "an input") ||
	    sl__builder_check_rank(b, name, rank))
		return -1;
	if (dtype <= SL_DTYPE_NONE || (int)dtype >= SL_N_DTYPES)
		return sl__builder_fail(b, SL_E_USAGE,
					"input '%.200s' needs a type of number",
					name);
	type.rank = (int)rank;
	type.dims = copy_dims(b, name, rank, dims);
	if (!type.dims ||
	    sl__builder_grow_array(b, &b->inputs, b->n_inputs, &b->cap_inputs,
				   sizeof(*b->inputs)))
		return -1;
	id = sl__builder_add_value(b, name);
	if (id < 0)
		return -1;
	b->graph->values[id].kind = SL_VALUE_INPUT;
	b->graph->values[id].declared = type;
	b->inputs[b->n_inputs++] = (uint32_t)id;
	if (sl__builder_keep_status(b,
				    sl__graph_set_inputs(b->graph, 0, b->inputs,
							 b->n_inputs, &b->err)))
		return -1;
	return sl__builder_infer_shapes(b, id);
}

const struct sl__node *
sl__builder_producer(const struct sl_builder *b, int value)
{
	uint32_t producer;

	if (b->failed || value < 0 || (size_t)value >= b->graph->n_values)
		return NULL;
	producer = b->graph->values[value].producer;
	return producer == SL__NONE ? NULL : &b->graph->nodes[producer];
}

int
sl__builder_rank(struct sl_builder *b, int value)
{
	int rank;

	if (b->failed)
		return -1;
	if (value < 0 || (size_t)value >= b->graph->n_values)
		return sl__builder_fail(b, SL_E_USAGE, "%d is no value", value);
	rank = b->shapes->types[value].rank;
	if (rank < 0)
		return sl__builder_fail(b, SL_E_USAGE,
					"the shape of '%.200s' is not known",
					b->graph->values[value].name);
	return rank;
}

static int64_t
dim_of(struct sl_builder *b, int value, int d)
{
	int rank = sl__builder_rank(b, value);

	if (rank < 0)
		return -1;
	if (d < -rank || d >= rank)
		return sl__builder_fail(b, SL_E_USAGE,
					"'%.200s' has %d dimensions, too few "
					"for this layer",
					b->graph->values[value].name, rank);
	return b->shapes->types[value].dims[d < 0 ? d + rank : d];
}

int64_t
sl__builder_dim_size(struct sl_builder *b, int value, int d)
{
	int64_t size = dim_of(b, value, d);

	struct sl_buf text = {0};

	if (size == -1 || !sl__is_symbol(size))
		return size;
	sl__size_print(&text, b->shapes, size);
	if (sl__buf_status(&text, NULL))
		sl__builder_nomem(b);
	else
		sl__builder_fail(b, SL_E_USAGE,
				 "'%.200s': this layer needs a number where "
				 "the size is '%.100s'",
				 b->graph->values[value].name, text.data);
	sl_buf_release(&text);
	return -1;
}

static int
is_output(const struct sl_builder *b, int value)
{
	for (size_t i = 0; i < b->n_outputs; i++) {
		if (b->outputs[i] == (uint32_t)value)
			return 1;
	}
	return 0;
}

void
sl_builder_output(struct sl_builder *b, int value, const char *name)
{
	const char *copy;

	if (b->failed)
		return;
	if (value < 0 || (size_t)value >= b->graph->n_values) {
		sl__builder_fail(b, SL_E_USAGE, "output '%.200s' is no value",
				 name ? name : "");
		return;
	}
	/* Inputs and parameters keep their names, outputs theirs. */
	if (!sl__builder_producer(b, value) || is_output(b, value))
		value = sl_builder_op(b, "Identity", 1, &value);
	if (value < 0 || take_exact_name(b, name, "an output") ||
	    sl__builder_grow_array(b, &b->outputs, b->n_outputs,
				   &b->cap_outputs, sizeof(*b->outputs)))
		return;
	copy = sl__arena_string(&b->graph->arena, name);
	if (!copy) {
		sl__builder_nomem(b);
		return;
	}
	b->graph->values[value].name = copy;
	b->outputs[b->n_outputs++] = (uint32_t)value;
}

/* A size that came up on the way becomes a symbol of the graph: dimension i of
 * a value, which has no name where none tells the size. */
static enum sl_status
declare_size(struct sl_builder *b, uint32_t value, size_t i, int64_t *size,
	     struct sl_error *err)
{
	struct sl_buf label = {0};
	enum sl_status rc;
	const char *place;

	if (sl__size_print_unique_name(&label, b->shapes, *size)) {
		rc = sl__buf_status(&label, err);
		if (!rc)
			rc = sl__graph_intern_symbol(b->graph, size, label.data,
						     err);
		sl_buf_release(&label);
		return rc;
	}
	sl_buf_release(&label);
	place = sl__arena_format(&b->arena, "%s.%zu",
				 b->graph->values[value].name, i);
	if (!place)
		return sl__fail_nomem(err);
	return sl__graph_intern_unnamed_symbol(b->graph, size, place, err);
}

/* What was inferred of an output becomes its declaration; the first n_own
 * symbols are the model's. */
static enum sl_status
declare_output(struct sl_builder *b, uint32_t value, size_t n_own,
	       struct sl_error *err)
{
	struct sl__type type = b->shapes->types[value];
	size_t n_dims = type.rank > 0 ? (size_t)type.rank : 0;
	int64_t *dims =
		sl__arena_array(&b->graph->arena, n_dims, sizeof(*dims));

	if (!dims)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n_dims; i++) {
		enum sl_status rc;

		dims[i] = type.dims[i];
		if (!sl__is_symbol(dims[i]) ||
		    (size_t)(dims[i] - SL__SYMBOL_BASE) < n_own)
			continue;
		rc = declare_size(b, value, i, &dims[i], err);
		if (rc)
			return rc;
	}
	type.dims = dims;
	b->graph->values[value].declared = type;
	return SL_OK;
}

static enum sl_status
complete(struct sl_builder *b, struct sl_error *err)
{
	size_t n_own = b->graph->n_symbols;
	enum sl_status rc = SL_OK;

	if (b->scope)
		return sl__fail(
			err, SL_E_USAGE, "the scope '%.*s' was not left",
			(int)strlen(b->scope->prefix) - 1, b->scope->prefix);
	if (!b->n_outputs)
		return sl__fail(err, SL_E_USAGE, "the model has no outputs");
	for (size_t i = 0; !rc && i < b->n_outputs; i++)
		rc = declare_output(b, b->outputs[i], n_own, err);
	if (!rc)
		rc = sl__graph_set_outputs(b->graph, 0, b->outputs,
					   b->n_outputs, err);
	if (!rc)
		rc = sl__graph_store_default_sizes(b->graph, err);
	return rc ? rc : sl__graph_freeze(b->graph, err);
}

enum sl_status
sl_builder_finish(struct sl_graph **out, struct sl_builder *b,
		  struct sl_error *err)
{
	*out = NULL;
	if (!b->failed)
		b->failed = complete(b, &b->err);
	if (b->failed) {
		if (err)
			*err = b->err;
		return b->failed;
	}
	*out = b->graph;
	b->graph = NULL; /* the caller's now */
	sl__builder_fail(b, SL_E_USAGE, "the builder was finished already");
	return SL_OK;
}
