/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_attribute.c - attributes of the nodes of an ONNX file.
 *
 * An attribute says its type, or in old files shows it by the field that is
 * there.  Inside a function it may refer to an attribute of the function:
 * then the call's is read in its place, in the scope of the caller, or else
 * the function's default.
 */
#include "base/status.h"
#include "model/onnx_parts.h"

#include <string.h>

#include "base/banned.h"

/* The fields of an attribute; lists are counted, of others the last is kept. */
struct fields {
	struct sl__field name, reference;
	struct sl__field single; /* f, i, s, t, g, tp or sparse_tensor */
	int64_t type;
	size_t n_floats, n_ints, n_strings;
};

static enum sl_status
scan_field(struct sl__onnx_reader *r, const struct sl__wire *wire,
	   const struct sl__field *f, struct fields *out)
{
	switch (f->number) {
	case SL__ATTR_NAME:
		out->name = *f;
		return sl__wire_expect(wire, f, SL__WIRE_BYTES, r->err);
	case SL__ATTR_REF_ATTR_NAME:
		out->reference = *f;
		return sl__wire_expect(wire, f, SL__WIRE_BYTES, r->err);
	case SL__ATTR_TYPE:
		return sl__wire_integer(wire, f, &out->type, r->err);
	case SL__ATTR_F:
		out->single = *f;
		return sl__wire_expect(wire, f, SL__WIRE_FIXED32, r->err);
	case SL__ATTR_I:
		out->single = *f;
		return sl__wire_expect(wire, f, SL__WIRE_VARINT, r->err);
	case SL__ATTR_S:
	case SL__ATTR_T:
	case SL__ATTR_G:
	case SL__ATTR_TP:
	case SL__ATTR_SPARSE_TENSOR:
		out->single = *f;
		return sl__wire_expect(wire, f, SL__WIRE_BYTES, r->err);
	case SL__ATTR_FLOATS:
		return sl__wire_count(wire, f, SL__WIRE_FIXED32, &out->n_floats,
				      r->err);
	case SL__ATTR_INTS:
		return sl__wire_count(wire, f, SL__WIRE_VARINT, &out->n_ints,
				      r->err);
	case SL__ATTR_STRINGS:
		out->n_strings++;
		return sl__wire_expect(wire, f, SL__WIRE_BYTES, r->err);
	default:
		return SL_OK;
	}
}

static enum sl_status
scan_fields(struct sl__onnx_reader *r, struct sl__wire wire, struct fields *out)
{
	struct sl__field f;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (!rc && f.number)
			rc = scan_field(r, &wire, &f, out);
	} while (!rc && f.number);
	return rc;
}

static enum sl__attribute_kind
kind_of_fields(const struct fields *fields)
{
	switch (fields->single.number) {
	case SL__ATTR_F:
		return SL__ATTRIBUTE_FLOAT;
	case SL__ATTR_I:
		return SL__ATTRIBUTE_INT;
	case SL__ATTR_S:
		return SL__ATTRIBUTE_STRING;
	case SL__ATTR_T:
	case SL__ATTR_SPARSE_TENSOR:
		return SL__ATTRIBUTE_TENSOR;
	case SL__ATTR_G:
		return SL__ATTRIBUTE_BLOCK;
	case SL__ATTR_TP:
		return SL__ATTRIBUTE_TYPE;
	default:
		break;
	}
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

static enum sl_status
take_ints(struct sl__onnx_reader *r, struct sl__wire wire,
	  const struct fields *fields, struct sl__attribute *out)
{
	size_t n = 0;
	uint64_t *ints = sl__onnx_array(r, fields->n_ints, sizeof(*ints));
	struct sl__field f;
	enum sl_status rc;

	if (!ints)
		return r->err->status;
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (!rc && f.number == SL__ATTR_INTS)
			sl__wire_take(&f, SL__WIRE_VARINT, ints, fields->n_ints,
				      &n);
	} while (!rc && f.number);
	out->ints = (const int64_t *)ints;
	out->n = n;
	return rc;
}

static void
take_floats_here(const struct sl__field *f, float *floats, size_t *n)
{
	uint32_t bits = (uint32_t)f->value;

	if (f->type == SL__WIRE_FIXED32) {
		memcpy(&floats[(*n)++], &bits, sizeof(bits));
	} else {
		memcpy(&floats[*n], f->bytes, f->n_bytes);
		*n += f->n_bytes / sizeof(*floats);
	}
}

static enum sl_status
take_floats(struct sl__onnx_reader *r, struct sl__wire wire,
	    const struct fields *fields, struct sl__attribute *out)
{
	float *floats = sl__onnx_array(r, fields->n_floats, sizeof(*floats));
	struct sl__field f;
	enum sl_status rc;
	size_t n = 0;

	if (!floats)
		return r->err->status;
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (!rc && f.number == SL__ATTR_FLOATS)
			take_floats_here(&f, floats, &n);
	} while (!rc && f.number);
	out->floats = floats;
	out->n = n;
	return rc;
}

static enum sl_status
take_strings(struct sl__onnx_reader *r, struct sl__wire wire,
	     const struct fields *fields, struct sl__attribute *out)
{
	const char **strings =
		sl__onnx_array(r, fields->n_strings, sizeof(*strings));
	struct sl__field f;
	enum sl_status rc;
	size_t n = 0;

	if (!strings)
		return r->err->status;
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || f.number != SL__ATTR_STRINGS)
			continue;
		strings[n] = sl__onnx_text(r, &wire, &f, "");
		if (!strings[n++])
			return r->err->status;
	} while (!rc && f.number);
	out->strings = strings;
	out->n = n;
	return rc;
}

static enum sl_status
take_block(struct sl__onnx_reader *r, struct sl__wire graph,
	   struct sl__onnx_scope *scope, struct sl__attribute *out)
{
	struct sl__onnx_scope inner = {
		.around = scope, .prefix = scope->prefix, .call = scope->call};
	enum sl_status rc = sl__onnx_charge(r, 2 * sizeof(struct sl__block));

	if (!rc)
		rc = sl__graph_add_block(r->graph, &inner.block, "", r->err);
	out->block = inner.block;
	return rc ? rc : sl__onnx_graph(r, graph, &inner);
}

static enum sl_status
take_message(struct sl__onnx_reader *r, const struct sl__wire *wire,
	     const struct fields *fields, struct sl__onnx_scope *scope,
	     struct sl__attribute *out)
{
	struct sl__field ignored;
	struct sl__tensor *tensor;
	struct sl__type *type;
	struct sl__wire inner;
	enum sl_status rc = sl__wire_enter(&inner, wire, &fields->single,
					   "attribute's contents", r->err);

	if (rc)
		return rc;
	if (out->kind == SL__ATTRIBUTE_BLOCK)
		return take_block(r, inner, scope, out);
	if (out->kind == SL__ATTRIBUTE_TYPE) {
		type = sl__onnx_array(r, 1, sizeof(*type));
		if (!type)
			return r->err->status;
		out->type = type;
		return sl__onnx_type(r, inner, out->name, type);
	}
	tensor = sl__onnx_array(r, 1, sizeof(*tensor));
	if (!tensor)
		return r->err->status;
	out->tensor = tensor;
	return fields->single.number == SL__ATTR_T
		       ? sl__onnx_tensor(r, inner, tensor, &ignored)
		       : sl__onnx_sparse(r, inner, tensor, &ignored);
}

/* A single number or string is a list of one.  A number that is not there is
 * 0, as writers of the newer format leave zeros out. */
static enum sl_status
take_single(struct sl__onnx_reader *r, struct sl__wire wire,
	    const struct fields *fields, struct sl__attribute *out)
{
	uint32_t bits = (uint32_t)fields->single.value;
	const char **string;
	int64_t *number;
	float *real;

	out->n = 1;
	if (out->kind == SL__ATTRIBUTE_STRING) {
		string = sl__onnx_array(r, 1, sizeof(*string));
		if (!string)
			return r->err->status;
		*string = "";
		if (fields->single.number)
			*string = sl__onnx_text(r, &wire, &fields->single, "");
		out->strings = string;
		return *string ? SL_OK : r->err->status;
	}
	if (out->kind == SL__ATTRIBUTE_INT) {
		number = sl__onnx_array(r, 1, sizeof(*number));
		if (!number)
			return r->err->status;
		*number = (int64_t)fields->single.value;
		out->ints = number;
		return SL_OK;
	}
	real = sl__onnx_array(r, 1, sizeof(*real));
	if (!real)
		return r->err->status;
	memcpy(real, &bits, sizeof(bits));
	out->floats = real;
	return SL_OK;
}

/* Whether the field that is there is the one that the type asks for. */
static int
fits(const struct fields *fields, enum sl__attribute_kind kind)
{
	struct fields other = *fields;

	if (!fields->single.number)
		return kind == SL__ATTRIBUTE_INT ||
		       kind == SL__ATTRIBUTE_FLOAT ||
		       kind == SL__ATTRIBUTE_STRING;
	other.type = SL__ATTR_TYPE_NONE;
	return kind_of(&other) == kind;
}

static enum sl_status
take(struct sl__onnx_reader *r, struct sl__wire wire,
     const struct fields *fields, struct sl__onnx_scope *scope,
     struct sl__attribute *out)
{
	switch (out->kind) {
	case SL__ATTRIBUTE_INTS:
		return take_ints(r, wire, fields, out);
	case SL__ATTRIBUTE_FLOATS:
		return take_floats(r, wire, fields, out);
	case SL__ATTRIBUTE_STRINGS:
		return take_strings(r, wire, fields, out);
	case SL__ATTRIBUTE_OTHER:
		return SL_OK;
	case SL__ATTRIBUTE_INT:
	case SL__ATTRIBUTE_FLOAT:
	case SL__ATTRIBUTE_STRING:
	case SL__ATTRIBUTE_TENSOR:
	case SL__ATTRIBUTE_BLOCK:
	case SL__ATTRIBUTE_TYPE:
	default:
		break;
	}
	if (!fits(fields, out->kind))
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: attribute '%.100s' does not hold "
				"what its type says",
				wire.at, out->name);
	if (out->kind == SL__ATTRIBUTE_INT ||
	    out->kind == SL__ATTRIBUTE_FLOAT ||
	    out->kind == SL__ATTRIBUTE_STRING)
		return take_single(r, wire, fields, out);
	return take_message(r, &wire, fields, scope, out);
}

/* The attribute of the function that this one refers to. */
static enum sl_status
follow(struct sl__onnx_reader *r, const struct sl__wire *wire,
       const struct sl__field *reference, struct sl__onnx_scope *scope,
       struct sl__attribute *out)
{
	const struct sl__onnx_call *call = scope->call;
	const char *key = sl__onnx_key(r, wire, reference);
	const size_t *index;
	enum sl_status rc;

	if (!key)
		return r->err->status;
	if (!call)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: refers to attribute '%.100s' of a "
				"function outside of any",
				wire->at, key);
	rc = sl__onnx_descend(r, wire->at);
	if (rc)
		return rc;
	index = sl__map_find(&call->given.names, key);
	if (index) {
		rc = sl__onnx_attribute(r, call->given.attributes[*index],
					call->caller, out);
	} else {
		index = sl__map_find(&call->function->defaults.names, key);
		if (index)
			rc = sl__onnx_attribute(
				r, call->function->defaults.attributes[*index],
				scope, out);
	}
	r->depth--;
	return rc;
}

enum sl_status
sl__onnx_attribute(struct sl__onnx_reader *r, struct sl__wire wire,
		   struct sl__onnx_scope *scope, struct sl__attribute *out)
{
	struct fields fields;
	enum sl_status rc = scan_fields(r, wire, &fields);
	const char *name;

	memset(out, 0, sizeof(*out));
	out->block = SL__NONE;
	if (rc)
		return rc;
	if (!fields.name.n_bytes)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: an attribute without a name",
				wire.at);
	name = sl__onnx_text(r, &wire, &fields.name, "");
	if (!name)
		return r->err->status;
	if (fields.reference.n_bytes) {
		rc = follow(r, &wire, &fields.reference, scope, out);
		if (!rc && out->name)
			out->name = name;
		return rc;
	}
	out->name = name;
	out->kind = kind_of(&fields);
	return take(r, wire, &fields, scope, out);
}

/* The name of an attribute in r->text. */
static const char *
attribute_key(struct sl__onnx_reader *r, struct sl__wire wire)
{
	struct sl__field f, name = {.type = SL__WIRE_BYTES};

	do {
		if (sl__wire_next(&wire, &f, r->err))
			return NULL;
		if (f.number == SL__ATTR_NAME)
			name = f;
	} while (f.number);
	if (name.number)
		return sl__onnx_key(r, &wire, &name);
	(void)sl__fail(r->err, SL_E_DATA,
		       "byte %zu: an attribute without a name", wire.at);
	return NULL;
}

enum sl_status
sl__onnx_give(struct sl__onnx_reader *r, struct sl__wire wire, uint32_t number,
	      size_t n, struct sl__onnx_given *out)
{
	struct sl__field f;
	enum sl_status rc;
	size_t i = 0;

	sl__map_init(&out->names, &r->scratch);
	rc = sl__onnx_charge(r, n * (sizeof(*out->attributes) +
				     4 * sizeof(struct sl__map_slot)));
	if (rc)
		return rc;
	out->attributes =
		sl__arena_array(&r->scratch, n, sizeof(*out->attributes));
	if (!out->attributes)
		return sl__fail_nomem(r->err);
	for (;;) {
		const char *key;

		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number != number)
			continue;
		rc = sl__wire_enter(&out->attributes[i], &wire, &f, "attribute",
				    r->err);
		if (rc)
			return rc;
		key = attribute_key(r, out->attributes[i]);
		if (!key)
			return r->err->status;
		rc = sl__map_put(&out->names, key, i++, r->err);
		if (rc)
			return rc;
	}
}
