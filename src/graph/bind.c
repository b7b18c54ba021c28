/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c - sizes for the dimensions that a model knows by name.
 *
 * What is said most precisely wins, and contradictions are refused: sizes of
 * symbols that the caller knows from elsewhere, contents of inputs, then
 * shapes, dims, batch, seq and past, then what the model itself takes as usual,
 * then batch 1.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "graph/graph_construction.h"
#include "graph/shapes.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

struct binder {
	struct sl__shapes *shapes;
	const struct sl_graph *graph;
	const struct sl__block *main;
	struct sl_error *err;
};

static const struct sl__value *
input_of(const struct binder *b, size_t i)
{
	return &b->graph->values[b->main->inputs[i]];
}

/* Of a size that is no symbol, an index beyond all of them. */
static size_t
symbol_index(int64_t size)
{
	return (size_t)((uint64_t)size - (uint64_t)SL__SYMBOL_BASE);
}

static enum sl_status
bind(struct binder *b, size_t symbol, int64_t size, const char *option)
{
	const char *name = b->graph->symbols[symbol].name;
	int64_t *bound = &b->shapes->bound[symbol];

	if (size < 0)
		return sl__fail(b->err, SL_E_DATA,
				"%s: a size cannot be negative (%lld)", option,
				(long long)size);
	if (*bound >= 0 && *bound != size)
		return sl__fail(b->err, SL_E_DATA,
				"%s: '%.100s' is %lld already", option, name,
				(long long)*bound);
	*bound = size;
	return SL_OK;
}

/* One dimension of an input is to have 'size'. */
static enum sl_status
bind_dim(struct binder *b, const struct sl__value *input, int d, int64_t size,
	 const char *option)
{
	int64_t declared = input->declared.dims[d];

	if (sl__is_symbol(declared))
		return bind(b, symbol_index(declared), size, option);
	if (declared != size)
		return sl__fail(b->err, SL_E_DATA,
				"%s: the model fixes dimension %d of "
				"'%.100s' at %lld, not %lld",
				option, d, input->name, (long long)declared,
				(long long)size);
	return SL_OK;
}

static enum sl_status
bind_shape(struct binder *b, size_t i, const int64_t *dims, size_t rank,
	   const char *option)
{
	const struct sl__value *input = input_of(b, i);
	struct sl__type *type = &b->shapes->types[b->main->inputs[i]];
	enum sl_status rc = SL_OK;
	int64_t *copy;

	if (input->declared.rank >= 0 && (size_t)input->declared.rank != rank)
		return sl__fail(b->err, SL_E_DATA,
				"%s: '%.100s' has %d dimension%s (%.100s), not "
				"%zu",
				option, input->name, input->declared.rank,
				input->declared.rank == 1 ? "" : "s",
				sl__type_text(b->shapes, &input->declared),
				rank);
	for (size_t d = 0; !rc && input->declared.rank >= 0 && d < rank; d++)
		rc = bind_dim(b, input, (int)d, dims[d], option);
	if (rc || input->declared.rank >= 0)
		return rc;
	if (rank > SL__RANK_MOST)
		return sl__fail(b->err, SL_E_DATA,
				"%s: a tensor has at most %d dimensions, not "
				"%zu",
				option, SL__RANK_MOST, rank);
	for (size_t d = 0; d < rank; d++) {
		if (dims[d] < 0)
			return sl__fail(b->err, SL_E_DATA,
					"%s: a size cannot be negative (%lld)",
					option, (long long)dims[d]);
	}
	copy = sl__arena_array(&b->shapes->arena, rank, sizeof(*copy));
	if (!copy)
		return sl__fail_nomem(b->err);
	for (size_t d = 0; d < rank; d++)
		copy[d] = dims[d];
	type->kind = SL__TYPE_TENSOR;
	type->rank = (int)rank;
	type->dims = copy;
	return SL_OK;
}

/* "'x' (batch,784), 'mask' (batch,seq)" for a message. */
static void
list_inputs(const struct binder *b, char *text, size_t n_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < b->main->n_inputs && used < n_bytes; i++) {
		const struct sl__value *v = input_of(b, i);

		used += (size_t)snprintf(
			text + used, n_bytes - used, "%s'%.60s' (%.60s)",
			i ? ", " : "", v->name,
			sl__type_text(b->shapes, &v->declared));
	}
}

static enum sl_status
fail_unknown_input(const struct binder *b, const char *name)
{
	const char *near = NULL;
	char inputs[256];

	for (size_t i = 0; i < b->main->n_inputs; i++)
		near = sl_text_nearer(name, near, input_of(b, i)->name);
	if (near)
		return sl__fail(b->err, SL_E_DATA,
				"shape %.100s: the model has no such input; "
				"did you mean '%.100s'?",
				name, near);
	list_inputs(b, inputs, sizeof(inputs));
	return sl__fail(b->err, SL_E_DATA,
			"shape %.100s: the model has no such input; it has %s",
			name, inputs);
}

static enum sl_status
bind_shapes(struct binder *b, const struct sl_sizes *sizes)
{
	char option[128];

	for (size_t k = 0; k < sizes->n_shapes; k++) {
		const struct sl_input_shape *shape = &sizes->shapes[k];
		enum sl_status rc;
		size_t i = 0;

		while (i < b->main->n_inputs &&
		       strcmp(input_of(b, i)->name, shape->input))
			i++;
		if (i == b->main->n_inputs)
			return fail_unknown_input(b, shape->input);
		snprintf(option, sizeof(option), "shape %.100s", shape->input);
		rc = bind_shape(b, i, shape->dims, shape->rank, option);
		if (rc)
			return rc;
	}
	return SL_OK;
}

static enum sl_status
bind_contents(struct binder *b, const struct sl__tensor *const *contents)
{
	for (size_t i = 0; contents && i < b->main->n_inputs; i++) {
		enum sl_status rc;

		if (!contents[i])
			continue;
		rc = bind_shape(b, i, contents[i]->dims, contents[i]->rank,
				"inputs");
		if (rc)
			return rc;
	}
	return SL_OK;
}

/* Symbols of inputs only: others are results. */
static int
occurs_in_inputs(const struct binder *b, size_t symbol)
{
	for (size_t i = 0; i < b->main->n_inputs; i++) {
		const struct sl__type *type = &input_of(b, i)->declared;

		for (int d = 0; d < type->rank; d++) {
			if (sl__is_symbol(type->dims[d]) &&
			    symbol_index(type->dims[d]) == symbol)
				return 1;
		}
	}
	return 0;
}

/*
 * "; it has 'batch', 'seq'" for a message: the names in the inputs' shapes, as
 * many as there is room for; "" where nothing has a name.
 */
static const char *
list_symbols(const struct binder *b, char *text, size_t n_bytes)
{
	static const char more[] = ", ...";
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < b->graph->n_symbols; i++) {
		const char *name = b->graph->symbols[i].name;

		if (!occurs_in_inputs(b, i))
			continue;
		if (used + strlen(name) + 16 + sizeof(more) > n_bytes) {
			snprintf(text + used, n_bytes - used, "%s",
				 used ? more : "");
			break;
		}
		used += (size_t)snprintf(text + used, n_bytes - used, "%s'%s'",
					 used ? ", " : "; it has ", name);
	}
	return text;
}

static enum sl_status
fail_unknown_dim(const struct binder *b, const char *name)
{
	const char *near = NULL;
	char names[256];

	for (size_t i = 0; i < b->graph->n_symbols; i++) {
		if (occurs_in_inputs(b, i))
			near = sl_text_nearer(name, near,
					      b->graph->symbols[i].name);
	}
	if (near)
		return sl__fail(b->err, SL_E_DATA,
				"dim %.100s: the model has no such dimension; "
				"did you mean '%.100s'?",
				name, near);
	return sl__fail(b->err, SL_E_DATA,
			"dim %.100s: the model has no such dimension%s", name,
			list_symbols(b, names, sizeof(names)));
}

static enum sl_status
bind_dims(struct binder *b, const struct sl_sizes *sizes)
{
	char option[128];

	for (size_t k = 0; k < sizes->n_dims; k++) {
		const struct sl_dim_size *dim = &sizes->dims[k];
		enum sl_status rc;
		size_t i = sl__graph_find_symbol(b->graph, dim->name);

		if (i == b->graph->n_symbols)
			return fail_unknown_dim(b, dim->name);
		snprintf(option, sizeof(option), "dim %.100s", dim->name);
		rc = bind(b, i, dim->size, option);
		if (rc)
			return rc;
	}
	return SL_OK;
}

static int64_t
symbol_named(const struct binder *b, const char *const *names)
{
	for (size_t n = 0; names[n]; n++) {
		for (size_t i = 0; i < b->graph->n_symbols; i++) {
			if (!strcmp(b->graph->symbols[i].name, names[n]) &&
			    occurs_in_inputs(b, i))
				return SL__SYMBOL_BASE + (int64_t)i;
		}
	}
	return 0;
}

/* The symbol in the second dimension of the first input of integers. */
static int64_t
second_dim(const struct binder *b)
{
	for (size_t i = 0; i < b->main->n_inputs; i++) {
		const struct sl__type *type = &input_of(b, i)->declared;

		if (sl__dtype_family(type->dtype) == SL__DTYPE_INTEGER &&
		    type->rank >= 2 && sl__is_symbol(type->dims[1]))
			return type->dims[1];
	}
	return 0;
}

/* The first dimension of the first input. */
int64_t
sl__shapes_batch_symbol(const struct sl_graph *graph)
{
	const struct sl__block *main = &graph->blocks[0];
	const struct sl__type *type;

	if (!main->n_inputs)
		return 0;
	type = &graph->values[main->inputs[0]].declared;
	return type->rank > 0 && sl__is_symbol(type->dims[0]) ? type->dims[0]
							      : 0;
}

static enum sl_status
bind_batch(struct binder *b, int64_t batch)
{
	int64_t symbol = sl__shapes_batch_symbol(b->graph);
	const struct sl__value *first = b->main->n_inputs ? input_of(b, 0)
							  : NULL;

	if (!first || first->declared.rank <= 0) {
		if (!batch)
			return SL_OK;
		return sl__fail(b->err, SL_E_DATA,
				"batch: the model's first input has no "
				"dimension that could be the batch");
	}
	if (batch)
		return bind_dim(b, first, 0, batch, "batch");
	if (symbol && b->shapes->bound[symbol_index(symbol)] < 0 &&
	    !b->graph->symbols[symbol_index(symbol)].usual)
		b->shapes->bound[symbol_index(symbol)] = 1;
	return SL_OK;
}

static enum sl_status
bind_role(struct binder *b, int64_t size, int64_t symbol, const char *option)
{
	char names[256];

	if (!symbol)
		return sl__error_set_hint(
			b->err,
			sl__fail(b->err, SL_E_DATA,
				 "%s: no dimension of the model's inputs is "
				 "known as that%s",
				 option,
				 b->graph->n_symbols
					 ? list_symbols(b, names, sizeof(names))
					 : "; all of them are fixed"),
			b->graph->n_symbols ? SL_HINT_SIZE_OR_DIM
					    : SL_HINT_SIZE);
	return bind(b, symbol_index(symbol), size, option);
}

static const char *const seq_names[] = {
	"seq",        "sequence", "seq_len", "sequence_length",
	"seq_length", "tokens",   NULL};
static const char *const past_names[] = {"past", "past_len", "past_seq_len",
					 "past_sequence_length", NULL};

int64_t
sl__shapes_seq_symbol(const struct sl_graph *graph)
{
	struct binder b = {.graph = graph, .main = &graph->blocks[0]};
	int64_t symbol = symbol_named(&b, seq_names);

	return symbol ? symbol : second_dim(&b);
}

int64_t
sl__shapes_past_symbol(const struct sl_graph *graph)
{
	struct binder b = {.graph = graph, .main = &graph->blocks[0]};

	return symbol_named(&b, past_names);
}

int
sl_graph_has_seq(const struct sl_graph *graph)
{
	return sl__shapes_seq_symbol(graph) != 0;
}

int
sl_graph_has_past(const struct sl_graph *graph)
{
	return sl__shapes_past_symbol(graph) != 0;
}

int
sl_graph_has_dim(const struct sl_graph *graph, const char *name)
{
	return sl__graph_find_symbol(graph, name) < graph->n_symbols;
}

static enum sl_status
bind_roles(struct binder *b, const struct sl_sizes *sizes)
{
	enum sl_status rc = SL_OK;

	if (sizes->seq)
		rc = bind_role(b, sizes->seq, sl__shapes_seq_symbol(b->graph),
			       "seq");
	if (!rc && (sizes->past || sizes->has_past))
		rc = bind_role(b, sizes->past, sl__shapes_past_symbol(b->graph),
			       "past");
	if (!rc)
		rc = bind_batch(b, sizes->batch);
	for (size_t i = 0; i < b->graph->n_symbols; i++) {
		if (b->shapes->bound[i] < 0 && b->graph->symbols[i].usual)
			b->shapes->bound[i] = b->graph->symbols[i].usual;
	}
	return rc;
}

/* A dimension that has a name is noted once, whichever input has it. */
static void
note_missing(struct sl_error *found, const struct sl__value *input, int d,
	     const char *name)
{
	size_t at = strlen(found->text), room = sizeof(found->text) - at;
	struct sl_missing_size *m = &found->missing[found->n_missing];
	const char *more = at ? "; " : "";

	for (size_t i = 0; *name && i < found->n_missing; i++) {
		if (!strncmp(found->missing[i].dim, name, sizeof(m->dim) - 1))
			return;
	}
	if (found->n_missing == SL_MISSING_MOST)
		return;
	if (d < 0)
		snprintf(found->text + at, room,
			 "%sthe model gives no shape for its input '%.100s'",
			 more, input->name);
	else if (!*name)
		snprintf(found->text + at, room,
			 "%sdimension %d of input '%.100s' is free and has no "
			 "name",
			 more, d, input->name);
	else
		snprintf(found->text + at, room,
			 "%sdimension %d of input '%.100s' is free ('%.60s')",
			 more, d, input->name, name);
	snprintf(m->input, sizeof(m->input), "%s", input->name);
	snprintf(m->dim, sizeof(m->dim), "%s", name);
	found->n_missing++;
}

static void
find_missing(const struct binder *b, const struct sl__value *input,
	     struct sl_error *found)
{
	const struct sl__type *type = &input->declared;

	if (type->rank < 0)
		note_missing(found, input, -1, "");
	for (int d = 0; d < type->rank; d++) {
		size_t i = symbol_index(type->dims[d]);

		if (!sl__is_symbol(type->dims[d]) || b->shapes->bound[i] >= 0)
			continue;
		if (sl__graph_symbol_owns_name(b->graph, i)) {
			note_missing(found, input, d,
				     b->graph->symbols[i].name);
			continue;
		}
		note_missing(found, input, d, "");
		break; /* its shape says the others too */
	}
}

/* All sizes that nothing gives are told at once. */
static enum sl_status
refuse_free(const struct binder *b)
{
	struct sl_error found = {.text = ""};

	for (size_t i = 0; i < b->main->n_inputs; i++) {
		const struct sl__value *input = input_of(b, i);

		if (b->shapes->types[b->main->inputs[i]].rank < 0 &&
		    input->declared.kind == SL__TYPE_TENSOR)
			find_missing(b, input, &found);
	}
	if (!found.n_missing)
		return SL_OK;
	(void)sl__fail(b->err, SL_E_DATA, "%s", found.text);
	for (size_t i = 0; b->err && i < found.n_missing; i++) {
		b->err->missing[i] = found.missing[i];
		sl_text_sanitize(b->err->missing[i].input);
		sl_text_sanitize(b->err->missing[i].dim);
		b->err->n_missing = i + 1;
	}
	return sl__error_set_hint(b->err, SL_E_DATA, SL_HINT_MISSING);
}

static enum sl_status
settle_input(struct binder *b, size_t i, const struct sl__tensor *content)
{
	const struct sl__value *input = input_of(b, i);
	struct sl__type *type = &b->shapes->types[b->main->inputs[i]];
	enum sl_status rc = SL_OK;

	if (type->rank < 0 || input->declared.kind != SL__TYPE_TENSOR)
		rc = sl__shapes_substitute_bound(b->shapes, type,
						 &input->declared, b->err);
	else
		type->dtype = input->declared.dtype;
	if (!rc && !sl__type_size_fits_63_bits(type))
		rc = sl__fail(b->err, SL_E_DATA,
			      "input '%.200s' has more than 2^63 bytes",
			      input->name);
	if (!rc && content && content->n_elements <= SL__KNOWN_MOST)
		b->shapes->known[b->main->inputs[i]] =
			sl__known_contents_read(b->shapes, content);
	return rc;
}

enum sl_status
sl__shapes_bind(struct sl__shapes *shapes,
		const struct sl__shapes_options *options, struct sl_error *err)
{
	static const struct sl_sizes usual = {.struct_size = sizeof(usual)};
	const struct sl_sizes *sizes = options->sizes ? options->sizes : &usual;
	struct binder b = {shapes, shapes->graph, &shapes->graph->blocks[0],
			   err};
	enum sl_status rc;

	for (size_t i = 0; options->bound && i < b.graph->n_symbols; i++)
		shapes->bound[i] = options->bound[i];
	rc = bind_contents(&b, options->contents);
	if (!rc)
		rc = bind_shapes(&b, sizes);
	if (!rc)
		rc = bind_dims(&b, sizes);
	if (!rc &&
	    (options->free_sizes == SL__UNBOUND_REFUSE || options->sizes))
		rc = bind_roles(&b, sizes);
	/* All of these begin with what was said. */
	if (rc == SL_E_DATA && err && err->hint == SL_HINT_NONE)
		return sl__error_set_hint(err, rc, SL_HINT_SIZE);
	if (!rc && options->free_sizes == SL__UNBOUND_REFUSE)
		rc = refuse_free(&b);
	for (size_t i = 0; !rc && i < b.main->n_inputs; i++)
		rc = settle_input(
			&b, i, options->contents ? options->contents[i] : NULL);
	return rc;
}
