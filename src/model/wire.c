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

static size_t
fixed_bytes(enum sl__wire_type type)
{
	return type == SL__WIRE_FIXED64 ? 8 : 4;
}

void
sl__wire_init(struct sl__wire_reader *wire, struct sl__wire_file *file,
	      const char *what)
{
	*wire = (struct sl__wire_reader){.file = file,
					 .end = file->n_bytes,
					 .what = what,
					 .is_outermost = 1};
}

void
sl__wire_fail(struct sl__wire_file *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sl__wire_keep_status(file,
			     sl__fail_list(file->err, SL_E_DATA, format, args));
	va_end(args);
}

int
sl__wire_keep_status(struct sl__wire_file *file, enum sl_status rc)
{
	if (rc && !file->status) {
		file->status = rc;
		file->err = NULL;
	}
	return !file->status;
}

/* A field that starts at 'at' does not end where its message does. */
static int
fail_past_end(const struct sl__wire_reader *wire, size_t at, uint32_t number)
{
	char which[32] = "a field";

	if (number)
		snprintf(which, sizeof(which), "field %u", (unsigned)number);
	if (wire->is_outermost)
		sl__wire_fail(wire->file,
			      "ends at byte %zu inside %s of the %s, which "
			      "begins at byte %zu; is the file complete?",
			      wire->end, which, wire->what, at);
	else
		sl__wire_fail(wire->file,
			      "byte %zu: %s of a %s reaches past the end of "
			      "the %s",
			      at, which, wire->what, wire->what);
	return 0;
}

static int
read_contents(struct sl__wire_reader *wire, struct sl__field *field,
	      const unsigned char *from)
{
	const unsigned char *end = wire->file->bytes + wire->end;
	int is_fixed = field->type == SL__WIRE_FIXED64 ||
		       field->type == SL__WIRE_FIXED32;

	field->n_bytes = 0;
	if (is_fixed)
		field->n_bytes = fixed_bytes(field->type);
	else if (!sl__varint_read(&from, end, &field->value))
		return fail_past_end(wire, field->at, field->number);
	if (field->type == SL__WIRE_BYTES)
		field->n_bytes = (size_t)field->value;
	if (field->n_bytes > (size_t)(end - from))
		return fail_past_end(wire, field->at, field->number);
	if (is_fixed)
		field->value = read_fixed(from, field->n_bytes);
	field->bytes = from;
	wire->at = (size_t)(from - wire->file->bytes) + field->n_bytes;
	return 1;
}

int
sl__wire_next(struct sl__wire_reader *wire, struct sl__field *field)
{
	struct sl__wire_file *file = wire->file;
	const unsigned char *from;
	uint64_t tag;
	unsigned type;

	if (wire->at == wire->skip_from && wire->skip_from < wire->skip_to)
		wire->at = wire->skip_to;
	field->at = wire->at;
	field->number = 0;
	if (wire->at == wire->end || file->status)
		return 0;
	if (file->n_fields++ >= file->max_fields)
		sl__wire_fail(file,
			      "byte %zu: gave up after visiting %llu fields: "
			      "functions call functions too often",
			      wire->at, (unsigned long long)file->max_fields);
	from = file->bytes + wire->at;
	if (!sl__varint_read(&from, file->bytes + wire->end, &tag))
		return fail_past_end(wire, wire->at, 0);
	type = (unsigned)tag & 7;
	if (tag >> 3 == 0 || tag >> 3 > NUMBER_MOST)
		sl__wire_fail(file, "byte %zu: no field of a %s begins here",
			      wire->at, wire->what);
	if (type == GROUP_START || type == GROUP_END)
		sl__wire_fail(file,
			      "byte %zu: a group, which ONNX does not have",
			      wire->at);
	if (type > SL__WIRE_FIXED32)
		sl__wire_fail(file,
			      "byte %zu: a field of type %u, which does not "
			      "exist",
			      wire->at, type);
	if (file->status)
		return 0;
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum sl__wire_type)type;
	return read_contents(wire, field, from);
}

int
sl__wire_find_field(struct sl__wire_reader *wire, uint32_t number,
		    struct sl__field *field)
{
	while (sl__wire_next(wire, field)) {
		if (field->number == number)
			return sl__wire_expect(wire, field, SL__WIRE_BYTES);
	}
	return 0;
}

int
sl__wire_find_message(struct sl__wire_reader *wire, uint32_t number,
		      const char *what, struct sl__wire_reader *inner)
{
	struct sl__field field;

	if (!sl__wire_find_field(wire, number, &field))
		return 0;
	*inner = sl__wire_enter_message(wire, &field, what);
	return 1;
}

int
sl__wire_expect(const struct sl__wire_reader *wire,
		const struct sl__field *field, enum sl__wire_type type)
{
	if (field->type == type)
		return 1;
	sl__wire_fail(wire->file,
		      "byte %zu: field %u of a %s is stored as type %d, not "
		      "%d: not an ONNX model, or a damaged one",
		      field->at, (unsigned)field->number, wire->what,
		      (int)field->type, (int)type);
	return 0;
}

struct sl__wire_reader
sl__wire_enter_message(const struct sl__wire_reader *parent,
		       const struct sl__field *field, const char *what)
{
	struct sl__wire_reader wire = {.file = parent->file, .what = what};

	if (sl__wire_expect(parent, field, SL__WIRE_BYTES)) {
		wire.at = (size_t)(field->bytes - parent->file->bytes);
		wire.end = wire.at + field->n_bytes;
	}
	return wire;
}

int64_t
sl__wire_integer(const struct sl__wire_reader *wire,
		 const struct sl__field *field)
{
	return sl__wire_expect(wire, field, SL__WIRE_VARINT)
		       ? (int64_t)field->value
		       : 0;
}

void
sl__wire_store_field(const struct sl__wire_reader *wire,
		     const struct sl__field *field,
		     const struct sl__wire_store_rule *rows, void *out)
{
	const struct sl__wire_store_rule *row = rows;
	void *member;

	while (row->number && row->number != field->number)
		row++;
	member = (char *)out + row->offset;
	if (!row->number)
		return;
	if (row->use == SL__WIRE_STORE_NUMBER_COUNT) {
		sl__wire_count_numbers(wire, field, row->type, member);
		return;
	}
	if (!sl__wire_expect(wire, field, row->type))
		return;
	if (row->use == SL__WIRE_STORE_FIELD_COUNT)
		++*(size_t *)member;
	else if (row->use == SL__WIRE_STORE_INTEGER)
		*(int64_t *)member = (int64_t)field->value;
	else
		*(struct sl__field *)member = *field;
}

void
sl__wire_store_fields(struct sl__wire_reader wire,
		      const struct sl__wire_store_rule *rows, void *out)
{
	struct sl__field field;

	while (sl__wire_next(&wire, &field))
		sl__wire_store_field(&wire, &field, rows, out);
}

void
sl__wire_count_numbers(const struct sl__wire_reader *wire,
		       const struct sl__field *field, enum sl__wire_type type,
		       size_t *n)
{
	const unsigned char *at = field->bytes, *end = at + field->n_bytes;
	size_t n_here = 0;
	uint64_t ignored;

	if (field->type == type) {
		++*n;
	} else if (field->type != SL__WIRE_BYTES) {
		(void)sl__wire_expect(wire, field, type);
	} else if (type == SL__WIRE_VARINT) {
		for (; at < end; n_here++) {
			if (!sl__varint_read(&at, end, &ignored)) {
				sl__wire_fail(wire->file,
					      "byte %zu: a list of numbers "
					      "ends inside one",
					      field->at);
				return;
			}
		}
		*n += n_here;
	} else if (field->n_bytes % fixed_bytes(type)) {
		sl__wire_fail(wire->file,
			      "byte %zu: %zu bytes are no list of numbers of "
			      "%zu bytes",
			      field->at, field->n_bytes, fixed_bytes(type));
	} else {
		*n += field->n_bytes / fixed_bytes(type);
	}
}

void
sl__wire_read_numbers(const struct sl__field *field, enum sl__wire_type type,
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
