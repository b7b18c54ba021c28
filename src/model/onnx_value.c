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
#include "ops/runtime_value.h"

#include <string.h>

#include "base/banned.h"

enum { NESTED_MOST = 8 }; /* sequences and optionals in one another */

/* What all parts of one file share.  The first failure sticks. */
struct source {
	struct sl__arena *arena;
	struct sl_error *err;
	enum sl_status status;
	int depth;
};

static void read_value(struct source *s, struct sl__runtime_value *out,
		       const struct sl__type *type, const unsigned char *bytes,
		       size_t n_bytes);

/* The field that holds an element of that type. */
static uint32_t
field_of(const struct sl__type *element)
{
	if (element && element->kind == SL__TYPE_SEQUENCE)
		return SL__SEQUENCE_SEQUENCE;
	if (element && element->kind == SL__TYPE_OPTIONAL)
		return SL__SEQUENCE_OPTIONAL;
	return SL__SEQUENCE_TENSOR;
}

static void
read_items(struct source *s, struct sl__runtime_value *out,
	   const struct sl__type *element, struct sl__wire_reader wire)
{
	uint32_t number = field_of(element);
	struct sl__field f;

	out->items =
		sl__arena_array(s->arena, out->n_items, sizeof(*out->items));
	if (!out->items)
		s->status = sl__fail_nomem(s->err);
	for (size_t i = 0; !s->status && i < out->n_items; i++) {
		if (sl__wire_find_field(&wire, number, &f))
			read_value(s, &out->items[i], element, f.bytes,
				   f.n_bytes);
	}
}

static void
read_list(struct source *s, struct sl__runtime_value *out,
	  const struct sl__type *type, const unsigned char *bytes,
	  size_t n_bytes)
{
	struct sl__wire_file file = {.bytes = bytes,
				     .n_bytes = n_bytes,
				     .max_fields = UINT64_MAX,
				     .err = s->err};
	struct sl__wire_reader wire, all;
	struct sl__field f;
	size_t n = 0;

	if (s->depth == NESTED_MOST) {
		s->status = sl__fail(s->err, SL_E_DATA,
				     "more than %d sequences and optionals "
				     "inside one another",
				     NESTED_MOST);
		return;
	}
	s->depth++;
	sl__wire_init(&wire, &file, "list of values");
	out->kind = type->kind;
	out->dtype = type->element ? type->element->dtype : SL_DTYPE_NONE;
	for (all = wire;
	     sl__wire_find_field(&all, field_of(type->element), &f);)
		n++;
	if (type->kind == SL__TYPE_OPTIONAL && n > 1)
		sl__wire_fail(&file, "an optional of %zu elements", n);
	s->status = file.status;
	if (!s->status) {
		out->n_items = n;
		read_items(s, out, type->element, wire);
	}
	s->depth--;
}

static void
read_value(struct source *s, struct sl__runtime_value *out,
	   const struct sl__type *type, const unsigned char *bytes,
	   size_t n_bytes)
{
	enum sl__type_kind kind = type ? type->kind : SL__TYPE_UNKNOWN;
	struct sl__tensor tensor;

	if (kind == SL__TYPE_SEQUENCE || kind == SL__TYPE_OPTIONAL)
		read_list(s, out, type, bytes, n_bytes);
	else if (kind != SL__TYPE_TENSOR && kind != SL__TYPE_UNKNOWN)
		s->status = sl__fail(s->err, SL_E_ABSENT,
				     "only tensors, sequences and optionals "
				     "can be read");
	else
		s->status = sl__onnx_read_tensor(&tensor, s->arena, bytes,
						 n_bytes, s->err);
	if (!s->status && (kind == SL__TYPE_TENSOR || kind == SL__TYPE_UNKNOWN))
		sl__runtime_value_borrow(out, &tensor);
}

enum sl_status
sl__onnx_read_runtime_value(struct sl__runtime_value *out,
			    const struct sl__type *type,
			    struct sl__arena *arena, const unsigned char *bytes,
			    size_t n_bytes, struct sl_error *err)
{
	struct source s = {arena, err, SL_OK, 0};

	memset(out, 0, sizeof(*out));
	read_value(&s, out, type, bytes, n_bytes);
	return s.status;
}
