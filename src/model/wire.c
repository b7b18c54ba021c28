/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - the fields of a protocol buffer, read where they lie.
 *
 * A field is a number that says which one it is and how it is stored, then
 * its contents: a varint (seven bits a byte, the lowest first), four or eight
 * bytes, or a length and as many bytes.  Nothing is copied and no contents
 * are touched, so stepping over a weight of a gigabyte costs a few bytes.
 */
#include "model/wire.h"
#include "base/status.h"

#include <stdio.h>

#include "base/banned.h"

enum {
	VARINT_MOST = 10,            /* bytes: 64 bits, seven in each */
	NUMBER_MOST = (1 << 29) - 1, /* of a field; the format's limit */
	GROUP_START = 3,
	GROUP_END = 4 /* wire types of an older format */
};

int
sl__varint_read(const unsigned char **at, const unsigned char *end,
		uint64_t *out)
{
	const unsigned char *p = *at;
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_MOST && p < end; i++) {
		unsigned char byte = *p++;

		/* The tenth byte has room for the 64th bit only. */
		if (i == VARINT_MOST - 1 && byte > 1)
			return 0;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*out = value;
			*at = p;
			return 1;
		}
	}
	return 0;
}

static uint64_t
read_fixed(const unsigned char *bytes, size_t n_bytes)
{
	uint64_t value = 0;

	for (size_t i = n_bytes; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

void
sl__wire_init(struct sl__wire *wire, struct sl__wire_file *file,
	      const char *what)
{
	wire->file = file;
	wire->at = 0;
	wire->end = file->n_bytes;
	wire->skip_from = wire->skip_to = 0;
	wire->what = what;
	wire->is_outermost = 1;
}

/* A field that starts at 'at' does not end where its message does. */
static enum sl_status
fail_past_end(const struct sl__wire *wire, size_t at, uint32_t number,
	      struct sl_error *err)
{
	char which[32] = "a field";

	if (number)
		snprintf(which, sizeof(which), "field %u", (unsigned)number);
	if (wire->is_outermost)
		return sl__fail(err, SL_E_DATA,
				"ends at byte %zu inside %s of the %s, which "
				"begins at byte %zu; is the file complete?",
				wire->end, which, wire->what, at);
	return sl__fail(err, SL_E_DATA,
			"byte %zu: %s of a %s reaches past the end of the %s",
			at, which, wire->what, wire->what);
}

static enum sl_status
read_contents(struct sl__wire *wire, struct sl__field *field,
	      const unsigned char *from, struct sl_error *err)
{
	const unsigned char *end = wire->file->bytes + wire->end;
	size_t n_bytes;

	switch (field->type) {
	case SL__WIRE_VARINT:
		if (!sl__varint_read(&from, end, &field->value))
			return fail_past_end(wire, field->at, field->number,
					     err);
		n_bytes = 0;
		break;
	case SL__WIRE_BYTES:
		if (!sl__varint_read(&from, end, &field->value) ||
		    field->value > (size_t)(end - from))
			return fail_past_end(wire, field->at, field->number,
					     err);
		n_bytes = (size_t)field->value;
		break;
	case SL__WIRE_FIXED64:
	case SL__WIRE_FIXED32:
	default:
		n_bytes = field->type == SL__WIRE_FIXED64 ? 8 : 4;
		if (n_bytes > (size_t)(end - from))
			return fail_past_end(wire, field->at, field->number,
					     err);
		field->value = read_fixed(from, n_bytes);
		break;
	}
	field->bytes = from;
	field->n_bytes = n_bytes;
	wire->at = (size_t)(from - wire->file->bytes) + n_bytes;
	return SL_OK;
}

enum sl_status
sl__wire_next(struct sl__wire *wire, struct sl__field *field,
	      struct sl_error *err)
{
	const unsigned char *from;
	uint64_t tag;
	unsigned type;

	if (wire->at == wire->skip_from && wire->skip_from < wire->skip_to)
		wire->at = wire->skip_to;
	field->at = wire->at;
	field->number = 0;
	if (wire->at == wire->end)
		return SL_OK;
	if (wire->file->n_fields++ >= wire->file->max_fields)
		return sl__fail(err, SL_E_DATA,
				"byte %zu: gave up after visiting %llu fields: "
				"functions call functions too often",
				wire->at,
				(unsigned long long)wire->file->max_fields);
	from = wire->file->bytes + wire->at;
	if (!sl__varint_read(&from, wire->file->bytes + wire->end, &tag))
		return fail_past_end(wire, wire->at, 0, err);
	type = (unsigned)tag & 7;
	if (tag >> 3 == 0 || tag >> 3 > NUMBER_MOST)
		return sl__fail(err, SL_E_DATA,
				"byte %zu: no field of a %s begins here",
				wire->at, wire->what);
	if (type == GROUP_START || type == GROUP_END)
		return sl__fail(err, SL_E_DATA,
				"byte %zu: a group, which ONNX does not have",
				wire->at);
	if (type > SL__WIRE_FIXED32)
		return sl__fail(err, SL_E_DATA,
				"byte %zu: a field of type %u, which does not "
				"exist",
				wire->at, type);
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum sl__wire_type)type;
	return read_contents(wire, field, from, err);
}

enum sl_status
sl__wire_expect(const struct sl__wire *wire, const struct sl__field *field,
		enum sl__wire_type type, struct sl_error *err)
{
	if (field->type == type)
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"byte %zu: field %u of a %s is stored as type %d, not "
			"%d: not an ONNX model, or a damaged one",
			field->at, (unsigned)field->number, wire->what,
			(int)field->type, (int)type);
}

enum sl_status
sl__wire_enter(struct sl__wire *wire, const struct sl__wire *parent,
	       const struct sl__field *field, const char *what,
	       struct sl_error *err)
{
	enum sl_status rc = sl__wire_expect(parent, field, SL__WIRE_BYTES, err);

	if (rc)
		return rc;
	wire->file = parent->file;
	wire->at = (size_t)(field->bytes - parent->file->bytes);
	wire->end = wire->at + field->n_bytes;
	wire->skip_from = wire->skip_to = 0;
	wire->what = what;
	wire->is_outermost = 0;
	return SL_OK;
}

enum sl_status
sl__wire_integer(const struct sl__wire *wire, const struct sl__field *field,
		 int64_t *out, struct sl_error *err)
{
	enum sl_status rc = sl__wire_expect(wire, field, SL__WIRE_VARINT, err);

	if (!rc)
		*out = (int64_t)field->value;
	return rc;
}

static size_t
fixed_bytes(enum sl__wire_type type)
{
	return type == SL__WIRE_FIXED64 ? 8 : 4;
}

enum sl_status
sl__wire_count(const struct sl__wire *wire, const struct sl__field *field,
	       enum sl__wire_type type, size_t *n, struct sl_error *err)
{
	const unsigned char *at = field->bytes, *end = at + field->n_bytes;
	size_t n_here = 0;
	uint64_t ignored;

	if (field->type == type) {
		++*n;
		return SL_OK;
	}
	if (field->type != SL__WIRE_BYTES)
		return sl__wire_expect(wire, field, type, err);
	if (type != SL__WIRE_VARINT) {
		if (field->n_bytes % fixed_bytes(type))
			return sl__fail(err, SL_E_DATA,
					"byte %zu: %zu bytes are no list of "
					"numbers of %zu bytes",
					field->at, field->n_bytes,
					fixed_bytes(type));
		*n += field->n_bytes / fixed_bytes(type);
		return SL_OK;
	}
	while (at < end) {
		if (!sl__varint_read(&at, end, &ignored))
			return sl__fail(err, SL_E_DATA,
					"byte %zu: a list of numbers ends "
					"inside one",
					field->at);
		n_here++;
	}
	*n += n_here;
	return SL_OK;
}

void
sl__wire_take(const struct sl__field *field, enum sl__wire_type type,
	      uint64_t *out, size_t cap, size_t *n)
{
	const unsigned char *at = field->bytes, *end = at + field->n_bytes;
	uint64_t value;

	if (field->type == type) {
		if (*n < cap)
			out[(*n)++] = field->value;
		return;
	}
	while (at < end && *n < cap) {
		if (type == SL__WIRE_VARINT) {
			if (!sl__varint_read(&at, end, &value))
				return;
		} else {
			size_t step = fixed_bytes(type);

			if ((size_t)(end - at) < step)
				return;
			value = read_fixed(at, step);
			at += step;
		}
		out[(*n)++] = value;
	}
}
