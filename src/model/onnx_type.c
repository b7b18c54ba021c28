/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_type.c - declared types of an ONNX file.
 *
 * A dimension is a number, a name, or neither.  Exporters also write -1 for
 * "not known"; that and neither become symbols of their own, known by their
 * place, "x.0" for the first dimension of x, since nothing says that two of
 * them are the same.  A file that Sleuth wrote has the place as the name, so
 * that other values can refer to it.
 */
#include "model/onnx_parse.h"

#include <stddef.h>
#include <string.h>

#include "base/banned.h"

/* The symbol of a name or, where that is NULL, of a place.  A new one costs
 * memory that the file must be worth. */
static int64_t
find_symbol(struct sl__onnx_reader *r, const char *name, const char *place)
{
	struct sl_graph *graph = r->graph;
	const char *key = name ? name : place;
	int64_t size = -1;

	if (!sl__map_find(name ? &graph->symbol_ids : &graph->place_ids, key))
		sl__onnx_charge(r, 2 * sizeof(struct sl__symbol) +
					   4 * sizeof(struct sl__map_slot) +
					   3 * strlen(key) + 48);
	if (r->file.status)
		return -1;
	if (!sl__wire_keep_status(
		    &r->file, name ? sl__graph_intern_symbol(graph, &size, name,
							     r->file.err)
				   : sl__graph_intern_unnamed_symbol(
					     graph, &size, place, r->file.err)))
		return -1;
	if (name && !strcmp(name, place))
		graph->symbols[size - SL__SYMBOL_BASE].is_unnamed = 1;
	return size;
}

struct dim {
	struct sl__field value, param;
};

static int64_t
read_dim(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	 const char *owner, int index)
{
	static const struct sl__wire_store_rule rows[] = {
		{SL__DIM_VALUE, SL__WIRE_VARINT, SL__WIRE_STORE_FIELD,
		 offsetof(struct dim, value)},
		{SL__DIM_PARAM, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct dim, param)},
		{0},
	};
	struct dim dim = {{0}, {0}};
	const char *place;

	sl__wire_store_fields(wire, rows, &dim);
	if (dim.value.number && (int64_t)dim.value.value >= 0)
		return (int64_t)dim.value.value;
	place = sl__onnx_text_or_nomem(
		r, sl__arena_format(&r->scratch, "%s.%d", owner, index));
	return find_symbol(
		r,
		dim.param.n_bytes ? sl__onnx_name_scratch(r, &dim.param) : NULL,
		place);
}

static void
read_shape(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	   const char *owner, struct sl__type *out)
{
	int64_t dims[SL__ONNX_RANK_MOST], *copy;
	struct sl__field f;
	int rank = 0;

	while (sl__wire_find_field(&wire, SL__SHAPE_DIM, &f)) {
		if (rank == SL__ONNX_RANK_MOST)
			sl__wire_fail(&r->file,
				      "byte %zu: '%.200s' has more than %d "
				      "dimensions",
				      f.at, owner, SL__ONNX_RANK_MOST);
		else
			dims[rank] = read_dim(
				r,
				sl__wire_enter_message(&wire, &f, "dimension"),
				owner, rank);
		rank++;
	}
	copy = sl__onnx_alloc_in_graph(r, (size_t)rank, sizeof(*copy));
	if (!copy)
		return;
	memcpy(copy, dims, (size_t)rank * sizeof(*copy));
	out->dims = copy;
	out->rank = rank;
}

/* The type of a tensor's numbers, or of a map's keys. */
static void
read_dtype(const struct sl__wire_reader *wire, const struct sl__field *f,
	   struct sl__type *out)
{
	int64_t dtype = sl__wire_integer(wire, f);

	if (dtype > 0 && dtype < SL_N_DTYPES)
		out->dtype = (enum sl_dtype)dtype;
}

/* A tensor, dense or sparse: type of number and shape. */
static void
read_tensor_type(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		 const char *owner, struct sl__type *out)
{
	struct sl__field f;

	while (sl__wire_next(&wire, &f)) {
		if (f.number == SL__TYPE_FIELD_ELEMENT)
			read_dtype(&wire, &f, out);
		else if (f.number == SL__TYPE_FIELD_SHAPE)
			read_shape(r,
				   sl__wire_enter_message(&wire, &f, "shape"),
				   owner, out);
	}
}

/* What a sequence, an optional (field 1) or a map (field 2) holds; a map's
 * field 1 is the type of its keys. */
static void
read_element(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	     uint32_t number, const char *owner, struct sl__type *out)
{
	struct sl__type *element;
	struct sl__field f;

	while (sl__wire_next(&wire, &f)) {
		if (f.number == number) {
			element =
				sl__onnx_alloc_in_graph(r, 1, sizeof(*element));
			if (element)
				sl__onnx_parse_type(r,
						    sl__wire_enter_message(
							    &wire, &f, "type"),
						    owner, element);
			out->element = element;
		} else if (f.number == SL__TYPE_FIELD_ELEMENT) {
			read_dtype(&wire, &f, out);
		}
	}
}

/* Kinds of types by the field that holds what they are made of, and the field
 * of that with a type of its own; 0: a tensor's. */
static const struct kind {
	enum sl__type_kind kind;
	uint32_t element;
} kinds[] = {
	[SL__TYPE_FIELD_TENSOR] = {SL__TYPE_TENSOR, 0},
	[SL__TYPE_FIELD_SPARSE] = {SL__TYPE_SPARSE, 0},
	[SL__TYPE_FIELD_SEQUENCE] = {SL__TYPE_SEQUENCE, 1},
	[SL__TYPE_FIELD_OPTIONAL] = {SL__TYPE_OPTIONAL, 1},
	[SL__TYPE_FIELD_MAP] = {SL__TYPE_MAP, 2},
	[SL__TYPE_FIELD_OPAQUE] = {SL__TYPE_OPAQUE, 0},
};

void
sl__onnx_parse_type(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		    const char *owner, struct sl__type *out)
{
	struct sl__field f;

	if (!sl__onnx_descend(r, wire.at))
		return;
	memset(out, 0, sizeof(*out));
	out->rank = -1;
	while (sl__wire_next(&wire, &f)) {
		const struct kind *kind = kinds;
		struct sl__wire_reader inner;

		if (f.number < sizeof(kinds) / sizeof(*kinds))
			kind = &kinds[f.number];
		if (kind->kind == SL__TYPE_UNKNOWN)
			continue;
		inner = sl__wire_enter_message(&wire, &f, "type");
		out->kind = kind->kind;
		if (kind->element)
			read_element(r, inner, kind->element, owner, out);
		else if (kind->kind != SL__TYPE_OPAQUE)
			read_tensor_type(r, inner, owner, out);
	}
	r->depth--;
}
