/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_write.c - the fields of a protocol buffer, written one by one.
 *
 * Counting a message counts what lies in it once; writing it counts it once
 * per level that it is nested.  ONNX nests four levels, and two more for each
 * body of a loop.
 */
#include "model/wire_write.h"
#include "model/wire.h"

#include <string.h>

#include "base/banned.h"

void
sl__wire_put_bytes(struct sl__wire_writer *w, const void *bytes, size_t n_bytes)
{
	if (w->status)
		return;
	if (w->draft)
		sl__atomic_file_add(w->draft, bytes, n_bytes);
	w->n_bytes += n_bytes;
}

static void
put_varint(struct sl__wire_writer *w, uint64_t value)
{
	unsigned char bytes[10]; /* 64 bits, 7 to a byte */
	size_t n = 0;

	while (value >= 0x80) {
		bytes[n++] = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	bytes[n++] = (unsigned char)value;
	sl__wire_put_bytes(w, bytes, n);
}

static void
put_tag(struct sl__wire_writer *w, uint32_t number, enum sl__wire_type type)
{
	put_varint(w, (uint64_t)number << 3 | (uint64_t)type);
}

void
sl__wire_put_bytes_header(struct sl__wire_writer *w, uint32_t number,
			  uint64_t n_bytes)
{
	put_tag(w, number, SL__WIRE_BYTES);
	put_varint(w, n_bytes);
}

void
sl__wire_put_integer(struct sl__wire_writer *w, uint32_t number, int64_t value)
{
	put_tag(w, number, SL__WIRE_VARINT);
	put_varint(w, (uint64_t)value);
}

void
sl__wire_put_float(struct sl__wire_writer *w, uint32_t number, float value)
{
	put_tag(w, number, SL__WIRE_FIXED32);
	sl__wire_put_bytes(w, &value, sizeof(value));
}

void
sl__wire_put_text(struct sl__wire_writer *w, uint32_t number, const char *text)
{
	size_t n_bytes = strlen(text);

	sl__wire_put_bytes_header(w, number, n_bytes);
	sl__wire_put_bytes(w, text, n_bytes);
}

uint64_t
sl__wire_message_size(struct sl__wire_writer *w, sl__wire_message_body *body,
		      const void *part)
{
	struct sl__wire_writer counter = *w;

	counter.draft = NULL;
	counter.n_bytes = 0;
	body(&counter, part);
	w->status = counter.status;
	return counter.n_bytes;
}

void
sl__wire_put_message(struct sl__wire_writer *w, uint32_t number,
		     sl__wire_message_body *body, const void *part)
{
	uint64_t n_bytes = sl__wire_message_size(w, body, part);

	sl__wire_put_bytes_header(w, number, n_bytes);
	if (w->draft)
		body(w, part);
	else if (!w->status)
		w->n_bytes += n_bytes;
}
