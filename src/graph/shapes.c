/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c - what is known of each value: storage, sizes, texts. */
#include "graph/shapes.h"
#include "base/buf.h"
#include "base/dtype.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

void
sl__shapes_free(struct sl__shapes *shapes)
{
	struct sl_allocator allocator;

	if (!shapes)
		return;
	allocator = shapes->arena.allocator;
	sl__arena_release(&shapes->arena);
	sl__allocator_free(&allocator, shapes);
}

/* The arrays, empty: nothing is known. */
static enum sl_status
make_tables(struct sl__shapes *s, struct sl_error *err)
{
	const struct sl_graph *graph = s->graph;
	struct sl__arena *arena = &s->arena;

	s->types = sl__arena_array(arena, graph->n_values, sizeof(*s->types));
	s->known = sl__arena_array(arena, graph->n_values, sizeof(*s->known));
	s->is_told = sl__arena_array(arena, graph->n_values, 1);
	s->bound = sl__arena_array(arena, graph->n_symbols, sizeof(*s->bound));
	s->block_calls = sl__arena_array(arena, graph->n_blocks,
					 sizeof(*s->block_calls));
	if (!s->types || !s->known || !s->is_told || !s->bound ||
	    !s->block_calls)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < graph->n_symbols; i++)
		s->bound[i] = -1;
	for (size_t i = 0; i < graph->n_values; i++)
		s->types[i].rank = -1;
	s->n_values = s->cap_values = graph->n_values;
	s->block_calls[0] = 1;
	return sl__size_table_init(s, err);
}

/* What the graph itself says about its parameters, from value 'first' on. */
static void
take_parameters(struct sl__shapes *s, size_t first)
{
	for (size_t i = first; i < s->graph->n_values; i++) {
		const struct sl__tensor *tensor = s->graph->values[i].tensor;

		if (!tensor)
			continue;
		s->types[i].kind = SL__TYPE_TENSOR;
		s->types[i].dtype = tensor->dtype;
		s->types[i].rank = (int)tensor->rank;
		s->types[i].dims = tensor->dims;
	}
}

enum sl_status
sl__shapes_new_empty(struct sl__shapes **out, const struct sl_graph *graph,
		     const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__shapes *s = sl__allocator_alloc(allocator, sizeof(*s));
	enum sl_status rc;

	*out = NULL;
	if (!s)
		return sl__fail_nomem(err);
	memset(s, 0, sizeof(*s));
	sl__arena_init(&s->arena, allocator);
	s->graph = graph;
	rc = make_tables(s, err);
	if (rc) {
		sl__shapes_free(s);
		return rc;
	}
	*out = s;
	return SL_OK;
}

enum sl_status
sl__shapes_new(struct sl__shapes **out, const struct sl_graph *graph,
	       const struct sl__shapes_options *options, struct sl_error *err)
{
	struct sl__shapes *s;
	enum sl_status rc;

	*out = NULL;
	rc = sl__shapes_new_empty(&s, graph, options->allocator, err);
	if (rc)
		return rc;
	s->ignore_declared = options->ignore_declared;
	take_parameters(s, 0);
	rc = sl__shapes_bind(s, options, err);
	if (!rc)
		rc = sl__infer_block(s, 0, err);
	if (rc) {
		sl__shapes_free(s);
		return rc;
	}
	*out = s;
	return SL_OK;
}

/* Its own copies of what is written after inference: contents that are looked
 * up, sizes that come up, rows without room for more. */
static enum sl_status
copy_written(struct sl__shapes *s, struct sl_error *err)
{
	const struct sl__known_contents **known =
		sl__arena_array(&s->arena, s->n_values, sizeof(*known));
	enum sl_status rc = sl__size_table_copy(s, err);

	if (rc || !known)
		return rc ? rc : sl__fail_nomem(err);
	for (size_t i = 0; i < s->n_values; i++)
		known[i] = s->known[i];
	s->known = known;
	s->cap_values = s->n_values;
	s->cap_unresolved = s->n_unresolved;
	return SL_OK;
}

enum sl_status
sl__shapes_overlay(struct sl__shapes **out, const struct sl__shapes *of,
		   struct sl_error *err)
{
	struct sl__shapes *s =
		sl__allocator_alloc(&of->arena.allocator, sizeof(*s));
	enum sl_status rc;

	*out = NULL;
	if (!s)
		return sl__fail_nomem(err);
	*s = *of;
	sl__arena_init(&s->arena, &of->arena.allocator);
	rc = copy_written(s, err);
	if (rc) {
		sl__shapes_free(s);
		return rc;
	}
	*out = s;
	return SL_OK;
}

/* Room in the tables for all values of the graph. */
static enum sl_status
grow_tables(struct sl__shapes *s, struct sl_error *err)
{
	size_t cap = 2 * s->graph->n_values + 16;
	const struct sl__known_contents **known;
	unsigned char *is_told;
	struct sl__type *types;

	if (s->graph->n_values <= s->cap_values)
		return SL_OK;
	types = sl__arena_array(&s->arena, cap, sizeof(*types));
	known = sl__arena_array(&s->arena, cap, sizeof(*known));
	is_told = sl__arena_array(&s->arena, cap, 1);
	if (!types || !known || !is_told)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < s->n_values; i++) {
		types[i] = s->types[i];
		known[i] = s->known[i];
		is_told[i] = s->is_told[i];
	}
	s->types = types;
	s->known = known;
	s->is_told = is_told;
	s->cap_values = cap;
	return SL_OK;
}

enum sl_status
sl__shapes_extend(struct sl__shapes *s, struct sl_error *err)
{
	size_t first = s->n_values;
	enum sl_status rc = grow_tables(s, err);

	for (size_t i = first; !rc && i < s->graph->n_values; i++) {
		const struct sl__value *value = &s->graph->values[i];

		s->types[i].rank = -1;
		if (value->kind == SL_VALUE_INPUT)
			rc = sl__shapes_substitute_bound(s, &s->types[i],
							 &value->declared, err);
	}
	if (rc)
		return rc;
	take_parameters(s, first);
	s->n_values = s->graph->n_values;
	return SL_OK;
}

enum sl_status
sl__shapes_substitute_bound(struct sl__shapes *s, struct sl__type *out,
			    const struct sl__type *declared,
			    struct sl_error *err)
{
	int64_t *dims = NULL;

	*out = *declared;
	if (declared->element) {
		struct sl__type *element =
			sl__arena_alloc(&s->arena, sizeof(*element));

		if (!element)
			return sl__fail_nomem(err);
		out->element = element;
		return sl__shapes_substitute_bound(s, element,
						   declared->element, err);
	}
	if (declared->rank <= 0)
		return SL_OK;
	dims = sl__arena_array(&s->arena, (size_t)declared->rank,
			       sizeof(*dims));
	if (!dims)
		return sl__fail_nomem(err);
	for (int i = 0; i < declared->rank; i++) {
		int64_t size = declared->dims[i];

		if (sl__is_symbol(size) &&
		    s->bound[size - SL__SYMBOL_BASE] >= 0)
			size = s->bound[size - SL__SYMBOL_BASE];
		dims[i] = size;
	}
	out->dims = dims;
	return SL_OK;
}

const struct sl__known_contents *
sl__known_contents_read(struct sl__shapes *s, const struct sl__tensor *tensor)
{
	enum sl__dtype_family family = sl__dtype_family(tensor->dtype);
	size_t n = (size_t)tensor->n_elements;
	struct sl__known_contents *known =
		sl__arena_alloc(&s->arena, sizeof(*known));
	int64_t *ints = NULL;
	double *floats = NULL;
	int ok = 0;

	if (family == SL__DTYPE_INTEGER)
		ints = sl__arena_array(&s->arena, n, sizeof(*ints));
	else
		floats = sl__arena_array(&s->arena, n, sizeof(*floats));
	/* An inference without memory fails; it does not know less. */
	if (!known || (!ints && !floats))
		s->is_short = 1;
	if (known && ints)
		ok = sl__tensor_integers(tensor, 0, n, ints);
	else if (known && floats)
		ok = sl__tensor_doubles(tensor, 0, n, floats);
	if (!ok)
		return NULL;
	/* The smallest integers are the symbols' numbers. */
	for (size_t i = 0; ints && i < n; i++) {
		if (sl__is_symbol(ints[i]))
			ints[i] = SL__SYMBOL_END;
	}
	known->dtype = tensor->dtype;
	known->n = n;
	known->ints = ints;
	known->floats = floats;
	return known;
}

const struct sl__known_contents *
sl__shapes_known_contents(struct sl__shapes *s, uint32_t value)
{
	if (!s->known[value])
		s->known[value] = sl__known_contents_if_small(
			s, s->graph->values[value].tensor);
	return s->known[value];
}

const struct sl__known_contents *
sl__known_contents_if_small(struct sl__shapes *s,
			    const struct sl__tensor *tensor)
{
	if (!tensor || tensor->is_sparse ||
	    tensor->n_elements > SL__KNOWN_MOST ||
	    sl__dtype_family(tensor->dtype) == SL__DTYPE_OTHER)
		return NULL;
	return sl__known_contents_read(s, tensor);
}

int
sl__type_elements(const struct sl__type *type, uint64_t *out)
{
	uint64_t n = 1;

	if (type->kind != SL__TYPE_TENSOR || type->rank < 0)
		return 0;
	for (int i = 0; i < type->rank; i++) {
		if (type->dims[i] < 0 ||
		    __builtin_mul_overflow(n, (uint64_t)type->dims[i], &n))
			return 0;
	}
	*out = n;
	return 1;
}

int
sl__type_bytes(const struct sl__type *type, uint64_t *out)
{
	uint64_t n;

	return sl__type_elements(type, &n) &&
	       sl__dtype_bytes(out, type->dtype, n);
}

int
sl__type_size_fits_63_bits(const struct sl__type *type)
{
	uint64_t n;

	if (type->kind != SL__TYPE_TENSOR)
		return 1;
	for (int i = 0; i < type->rank; i++) {
		if (type->dims[i] <= 0)
			return 1;
	}
	if (type->rank < 0)
		return 1;
	return sl__type_elements(type, &n) && n <= INT64_MAX &&
	       sl__type_bytes(type, &n) && n <= INT64_MAX;
}

const char *
sl__type_text(struct sl__shapes *s, const struct sl__type *type)
{
	struct sl_buf text = {0};
	char *copy = NULL;

	if (type->kind == SL__TYPE_SEQUENCE)
		return "sequence";
	if (type->kind == SL__TYPE_OPTIONAL)
		return "optional";
	if (type->kind == SL__TYPE_UNKNOWN || type->rank < 0)
		return "?";
	if (type->rank == 0)
		return "scalar";
	for (int i = 0; i < type->rank; i++) {
		sl__buf_text(&text, i ? "," : "");
		sl__size_print(&text, s, type->dims[i]);
	}
	if (!sl__buf_status(&text, NULL))
		copy = sl__arena_string(&s->arena, text.data);
	sl_buf_release(&text);
	s->is_short |= !copy;
	if (!copy)
		return "?";
	/* Beside a name an x would be one of its letters. */
	if (copy[strspn(copy, "0123456789?,-+*()")])
		return copy;
	for (char *c = strchr(copy, ','); c; c = strchr(c, ','))
		*c = 'x';
	return copy;
}
