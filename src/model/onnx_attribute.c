/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_attribute.c - attributes of the nodes of an ONNX file.
 *
 * An attribute says its type, or in old files shows it by the field that is
 * there.  Inside a function it may refer to an attribute of the function:
 * then the call's is read in its place, in the scope of the caller, or else
 * the function's default.
 */
#include "model/onnx_parse.h"

#include <stddef.h>
#include <string.h>

#include "base/banned.h"

/* The fields of an attribute; lists are counted, of others the last is kept. */
struct fields {
	struct sl__field name, reference;
	struct sl__field single; /* f, i, s, t, g, tp or sparse_tensor */
	int64_t type;
	size_t n_floats, n_ints, n_strings;
};

#define ROW(number, type, use, member)                             \
	{                                                          \
		number, type, use, offsetof(struct fields, member) \
	}

static const struct sl__wire_store_rule field_rows[] = {
	ROW(SL__ATTR_NAME, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD, name),
	ROW(SL__ATTR_REF_ATTR_NAME, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
	    reference),
	ROW(SL__ATTR_TYPE, SL__WIRE_VARINT, SL__WIRE_STORE_INTEGER, type),
	ROW(SL__ATTR_F, SL__WIRE_FIXED32, SL__WIRE_STORE_FIELD, single),
	ROW(SL__ATTR_I, SL__WIRE_VARINT, SL__WIRE_STORE_FIELD, single),
	ROW(SL__ATTR_S, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD, single),
	ROW(SL__ATTR_T, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD, single),
	ROW(SL__ATTR_G, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD, single),
	ROW(SL__ATTR_TP, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD, single),
	ROW(SL__ATTR_SPARSE_TENSOR, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
	    single),
	ROW(SL__ATTR_FLOATS, SL__WIRE_FIXED32, SL__WIRE_STORE_NUMBER_COUNT,
	    n_floats),
	ROW(SL__ATTR_INTS, SL__WIRE_VARINT, SL__WIRE_STORE_NUMBER_COUNT,
	    n_ints),
	ROW(SL__ATTR_STRINGS, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD_COUNT,
	    n_strings),
	{0},
};

static enum sl__attribute_kind
kind_of_fields(const struct fields *fields)
{
	static const enum sl__attribute_kind kinds[] = {
		[SL__ATTR_F] = SL__ATTRIBUTE_FLOAT,
		[SL__ATTR_I] = SL__ATTRIBUTE_INT,
		[SL__ATTR_S] = SL__ATTRIBUTE_STRING,
		[SL__ATTR_T] = SL__ATTRIBUTE_TENSOR,
		[SL__ATTR_SPARSE_TENSOR] = SL__ATTRIBUTE_TENSOR,
		[SL__ATTR_G] = SL__ATTRIBUTE_BLOCK,
		[SL__ATTR_TP] = SL__ATTRIBUTE_TYPE,
	};

	if (fields->single.number)
		return kinds[fields->single.number];
	if (fields->n_floats)
		return SL__ATTRIBUTE_FLOATS;
	if (fields->n_ints)
		return SL__ATTRIBUTE_INTS;
	if (fields->n_strings)
		return SL__ATTRIBUTE_STRINGS;
	return SL__ATTRIBUTE_OTHER;
}

/* By the type that it says; by its fields where it says none. */
static enum sl__attribute_kind
kind_of(const struct fields *fields)
{
	static const enum sl__attribute_kind kinds[] = {
		[SL__ATTR_TYPE_FLOAT] = SL__ATTRIBUTE_FLOAT,
		[SL__ATTR_TYPE_INT] = SL__ATTRIBUTE_INT,
		[SL__ATTR_TYPE_STRING] = SL__ATTRIBUTE_STRING,
		[SL__ATTR_TYPE_TENSOR] = SL__ATTRIBUTE_TENSOR,
		[SL__ATTR_TYPE_GRAPH] = SL__ATTRIBUTE_BLOCK,
		[SL__ATTR_TYPE_FLOATS] = SL__ATTRIBUTE_FLOATS,
		[SL__ATTR_TYPE_INTS] = SL__ATTRIBUTE_INTS,
		[SL__ATTR_TYPE_STRINGS] = SL__ATTRIBUTE_STRINGS,
		[SL__ATTR_TYPE_TENSORS] = SL__ATTRIBUTE_OTHER,
		[SL__ATTR_TYPE_GRAPHS] = SL__ATTRIBUTE_OTHER,
		[SL__ATTR_TYPE_SPARSE_TENSOR] = SL__ATTRIBUTE_TENSOR,
		[SL__ATTR_TYPE_SPARSE_TENSORS] = SL__ATTRIBUTE_OTHER,
		[SL__ATTR_TYPE_TYPE_PROTO] = SL__ATTRIBUTE_TYPE,
		[SL__ATTR_TYPE_TYPE_PROTOS] = SL__ATTRIBUTE_OTHER,
	};

	if (fields->type == SL__ATTR_TYPE_NONE)
		return kind_of_fields(fields);
	if (fields->type < 0 ||
	    (size_t)fields->type >= sizeof(kinds) / sizeof(kinds[0]))
		return SL__ATTRIBUTE_OTHER;
	return kinds[fields->type];
}

/* The numbers of a list, in their own width. */
static void
take_numbers(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	     const struct fields *fields, struct sl__attribute *out)
{
	static const struct sl__onnx_number_list ints = {
		SL__ATTR_INTS, SL__WIRE_VARINT, sizeof(int64_t)};
	static const struct sl__onnx_number_list floats = {
		SL__ATTR_FLOATS, SL__WIRE_FIXED32, sizeof(float)};
	int is_ints = out->kind == SL__ATTRIBUTE_INTS;
	const struct sl__onnx_number_list *list = is_ints ? &ints : &floats;
	size_t n = is_ints ? fields->n_ints : fields->n_floats;
	void *numbers = sl__onnx_alloc_in_graph(r, n, list->width_bytes);

	sl__onnx_number_list_unpack(wire, list, numbers);
	sl__attribute_set_values(out, numbers, n);
}

static void
take_block(struct sl__onnx_reader *r, struct sl__wire_reader graph,
	   struct sl__onnx_scope *scope, struct sl__attribute *out)
{
	struct sl__onnx_scope inner = {
		.around = scope, .prefix = scope->prefix, .call = scope->call};

	if (!sl__onnx_charge(r, 2 * sizeof(struct sl__block)) ||
	    !sl__wire_keep_status(&r->file,
				  sl__graph_add_block(r->graph, &inner.block,
						      "", r->file.err)))
		return;
	out->block = inner.block;
	sl__onnx_parse_graph(r, graph, &inner);
}

static void
take_message(struct sl__onnx_reader *r, const struct sl__wire_reader *wire,
	     const struct fields *fields, struct sl__onnx_scope *scope,
	     struct sl__attribute *out)
{
	struct sl__wire_reader inner = sl__wire_enter_message(
		wire, &fields->single, "attribute's contents");
	struct sl__field ignored;
	struct sl__tensor *tensor;
	struct sl__type *type;

	if (out->kind == SL__ATTRIBUTE_BLOCK) {
		take_block(r, inner, scope, out);
		return;
	}
	if (out->kind == SL__ATTRIBUTE_TYPE) {
		out->type = type = sl__onnx_alloc_in_graph(r, 1, sizeof(*type));
		if (type)
			sl__onnx_parse_type(r, inner, out->name, type);
		return;
	}
	out->tensor = tensor = sl__onnx_alloc_in_graph(r, 1, sizeof(*tensor));
	if (tensor && fields->single.number == SL__ATTR_T)
		sl__onnx_parse_tensor(r, inner, tensor, &ignored);
	else if (tensor)
		sl__onnx_parse_sparse_tensor(r, inner, tensor, &ignored);
}

/* A single number or string is a list of one.  A number that is not there is
 * 0, as writers of the newer format leave zeros out. */
static void
take_single(struct sl__onnx_reader *r, const struct fields *fields,
	    struct sl__attribute *out)
{
	/* Wide enough for each; a float is the first half of its value. */
	void *one = sl__onnx_alloc_in_graph(r, 1, sizeof(fields->single.value));

	sl__attribute_set_values(out, one, 1);
	if (!one)
		return;
	if (out->kind == SL__ATTRIBUTE_STRING)
		*(const char **)one = sl__onnx_text(r, &fields->single, "");
	else
		memcpy(one, &fields->single.value,
		       sizeof(fields->single.value));
}

/* Whether the field that is there is the one that the type asks for. */
static int
fits(const struct fields *fields, enum sl__attribute_kind kind)
{
	if (!fields->single.number)
		return kind == SL__ATTRIBUTE_INT ||
		       kind == SL__ATTRIBUTE_FLOAT ||
		       kind == SL__ATTRIBUTE_STRING;
	return kind_of_fields(fields) == kind;
}

static void
take(struct sl__onnx_reader *r, struct sl__wire_reader wire,
     const struct fields *fields, struct sl__onnx_scope *scope,
     struct sl__attribute *out)
{
	switch (out->kind) {
	case SL__ATTRIBUTE_INTS:
	case SL__ATTRIBUTE_FLOATS:
		take_numbers(r, wire, fields, out);
		return;
	case SL__ATTRIBUTE_STRINGS:
		sl__attribute_set_values(
			out,
			sl__onnx_parse_strings(r, wire, SL__ATTR_STRINGS,
					       fields->n_strings),
			fields->n_strings);
		return;
	case SL__ATTRIBUTE_OTHER:
		return;
	case SL__ATTRIBUTE_INT:
	case SL__ATTRIBUTE_FLOAT:
	case SL__ATTRIBUTE_STRING:
		if (fits(fields, out->kind)) {
			take_single(r, fields, out);
			return;
		}
		break;
	case SL__ATTRIBUTE_TENSOR:
	case SL__ATTRIBUTE_BLOCK:
	case SL__ATTRIBUTE_TYPE:
	default:
		if (fits(fields, out->kind)) {
			take_message(r, &wire, fields, scope, out);
			return;
		}
		break;
	}
	sl__wire_fail(&r->file,
		      "byte %zu: attribute '%.100s' does not hold what its "
		      "type says",
		      wire.at, out->name);
}

/* The attribute of the function that this one refers to. */
static void
follow(struct sl__onnx_reader *r, const struct sl__wire_reader *wire,
       const struct sl__field *reference, struct sl__onnx_scope *scope,
       struct sl__attribute *out)
{
	const struct sl__onnx_call *call = scope->call;
	const char *key = sl__onnx_name_scratch(r, reference);
	const size_t *given, *usual;

	if (!call)
		sl__wire_fail(&r->file,
			      "byte %zu: refers to attribute '%.100s' of a "
			      "function outside of any",
			      wire->at, key);
	if (!sl__onnx_descend(r, wire->at))
		return;
	given = sl__map_find(&call->given.names, key);
	usual = sl__map_find(&call->function->defaults.names, key);
	if (given)
		sl__onnx_parse_attribute(r, call->given.attributes[*given],
					 call->caller, out);
	else if (usual)
		sl__onnx_parse_attribute(
			r, call->function->defaults.attributes[*usual], scope,
			out);
	r->depth--;
}

void
sl__onnx_parse_attribute(struct sl__onnx_reader *r, struct sl__wire_reader wire,
			 struct sl__onnx_scope *scope,
			 struct sl__attribute *out)
{
	struct fields fields = {0};
	const char *name;

	memset(out, 0, sizeof(*out));
	out->block = SL__NONE;
	sl__wire_store_fields(wire, field_rows, &fields);
	if (!fields.name.n_bytes)
		sl__wire_fail(&r->file, "byte %zu: an attribute without a name",
			      wire.at);
	name = sl__onnx_text(r, &fields.name, "");
	if (r->file.status)
		return;
	if (fields.reference.n_bytes) {
		follow(r, &wire, &fields.reference, scope, out);
		if (out->name)
			out->name = name;
		return;
	}
	out->name = name;
	out->kind = kind_of(&fields);
	take(r, wire, &fields, scope, out);
}

void
sl__onnx_attribute_map_fill(struct sl__onnx_reader *r,
			    struct sl__wire_reader wire, uint32_t number,
			    size_t n, struct sl__onnx_attribute_map *out)
{
	struct sl__wire_reader inner, at;
	struct sl__field name;
	size_t i = 0;

	sl__map_init(&out->names, &r->scratch);
	sl__onnx_charge(r, n * (sizeof(*out->attributes) +
				4 * sizeof(struct sl__map_slot)));
	out->attributes =
		sl__onnx_alloc_scratch(r, n, sizeof(*out->attributes));
	while (sl__wire_find_message(&wire, number, "attribute", &inner)) {
		struct sl__field last = {0};

		out->attributes[i] = at = inner;
		while (sl__wire_find_field(&at, SL__ATTR_NAME, &name))
			last = name;
		if (!last.number)
			sl__wire_fail(&r->file,
				      "byte %zu: an attribute without a name",
				      at.at);
		sl__onnx_map_put(r, &out->names,
				 sl__onnx_name_scratch(r, &last), i++);
	}
}
