/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_value.c - what a value holds, from a file of ONNX's test data.
 *
 * The file does not say whether it is a tensor, a sequence or an optional;
 * the type that the graph declares for the value does.  Sequences and
 * optionals are messages with the same numbers of fields.
 */
#include "base/status.h"
#include "model/onnx_fields.h"
#include "model/onnx_read.h"
#include "model/wire.h"
#include "ops/datum.h"

#include <string.h>

#include "base/banned.h"

enum { NESTED_MOST = 8 }; /* sequences and optionals in one another */

/* What all parts of one file share. */
struct source {
	struct sl__arena *arena;
	struct sl_error *err;
	int depth;
};

static enum sl_status read_value(struct source *s, struct sl__datum *out,
				 const struct sl__type *type,
				 const unsigned char *bytes, size_t n_bytes);

/* The field that holds an element of that type. */
static uint32_t
field_of(const struct sl__type *element)
{
	if (element && element->kind == SL__TYPE_SEQUENCE)
		return SL__VALUE_SEQUENCE;
	if (element && element->kind == SL__TYPE_OPTIONAL)
		return SL__VALUE_OPTIONAL;
	return SL__VALUE_TENSOR;
}

/* The next field of that number; its own number is 0 after the last. */
static enum sl_status
next_of(struct sl__wire *wire, uint32_t number, struct sl__field *f,
	struct sl_error *err)
{
	enum sl_status rc;

	do {
		rc = sl__wire_next(wire, f, err);
	} while (!rc && f->number && f->number != number);
	if (!rc && f->number)
		rc = sl__wire_expect(wire, f, SL__WIRE_BYTES, err);
	return rc;
}

static enum sl_status
count_items(struct source *s, struct sl__wire wire, uint32_t number, size_t *n)
{
	struct sl__field f;
	enum sl_status rc;

	*n = 0;
	for (;;) {
		rc = next_of(&wire, number, &f, s->err);
		if (rc || !f.number)
			return rc;
		++*n;
	}
}

static enum sl_status
read_items(struct source *s, struct sl__datum *out,
	   const struct sl__type *element, struct sl__wire wire)
{
	uint32_t number = field_of(element);
	struct sl__field f;
	enum sl_status rc = SL_OK;

	out->items =
		sl__arena_array(s->arena, out->n_items, sizeof(*out->items));
	if (!out->items)
		return sl__fail_nomem(s->err);
	for (size_t i = 0; !rc && i < out->n_items; i++) {
		rc = next_of(&wire, number, &f, s->err);
		if (!rc)
			rc = read_value(s, &out->items[i], element, f.bytes,
					f.n_bytes);
	}
	return rc;
}

static enum sl_status
read_list(struct source *s, struct sl__datum *out, const struct sl__type *type,
	  const unsigned char *bytes, size_t n_bytes)
{
	struct sl__wire_file file = {bytes, n_bytes, 0, UINT64_MAX};
	struct sl__wire wire;
	enum sl_status rc;

	if (++s->depth > NESTED_MOST)
		return sl__fail(s->err, SL_E_DATA,
				"more than %d sequences and optionals inside "
				"one another",
				NESTED_MOST);
	sl__wire_init(&wire, &file, "list of values");
	out->kind = type->kind;
	out->dtype = type->element ? type->element->dtype : SL_DTYPE_NONE;
	rc = count_items(s, wire, field_of(type->element), &out->n_items);
	if (!rc && type->kind == SL__TYPE_OPTIONAL && out->n_items > 1)
		rc = sl__fail(s->err, SL_E_DATA, "an optional of %zu elements",
			      out->n_items);
	if (rc)
		out->n_items = 0;
	else
		rc = read_items(s, out, type->element, wire);
	s->depth--;
	return rc;
}

static enum sl_status
read_value(struct source *s, struct sl__datum *out, const struct sl__type *type,
	   const unsigned char *bytes, size_t n_bytes)
{
	struct sl__tensor tensor;
	enum sl_status rc;

	if (type && (type->kind == SL__TYPE_SEQUENCE ||
		     type->kind == SL__TYPE_OPTIONAL))
		return read_list(s, out, type, bytes, n_bytes);
	if (type && type->kind != SL__TYPE_TENSOR &&
	    type->kind != SL__TYPE_UNKNOWN)
		return sl__fail(s->err, SL_E_ABSENT,
				"only tensors, sequences and optionals can be "
				"read");
	rc = sl__onnx_read_tensor(&tensor, s->arena, bytes, n_bytes, s->err);
	if (!rc)
		sl__datum_borrow(out, &tensor);
	return rc;
}

enum sl_status
sl__onnx_read_datum(struct sl__datum *out, const struct sl__type *type,
		    struct sl__arena *arena, const unsigned char *bytes,
		    size_t n_bytes, struct sl_error *err)
{
	struct source s = {arena, err, 0};

	memset(out, 0, sizeof(*out));
	return read_value(&s, out, type, bytes, n_bytes);
}
