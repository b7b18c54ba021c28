/* SPDX-License-Identifier: Apache-2.0 */
/* wire_write.h - the fields of a protocol buffer, written one by one. */
#ifndef SL_WIRE_WRITE_H
#define SL_WIRE_WRITE_H

#include "base/atomic_file.h"

/*
 * A message stands behind its length, so it is counted before it is written:
 * its body, a function that puts the fields, runs twice.  A body puts the
 * same fields each time and changes nothing.
 *
 * Writers do not return errors: the first failure sticks in 'status', with
 * its text in 'err', and nothing more is put.
 */
struct sl__wire_writer {
	struct sl__atomic_file
		*draft;   /* NULL: bytes are counted, not written */
	uint64_t n_bytes; /* put so far */
	const void *ctx;  /* the bodies' own */
	enum sl_status status;
	struct sl_error *err;
};

typedef void sl__wire_message_body(struct sl__wire_writer *w, const void *part);

/* Bytes without a field around them. */
void sl__wire_put_bytes(struct sl__wire_writer *w, const void *bytes,
			size_t n_bytes);

/* The tag and the length of a field of bytes that the caller puts. */
void sl__wire_put_bytes_header(struct sl__wire_writer *w, uint32_t number,
			       uint64_t n_bytes);

void sl__wire_put_integer(struct sl__wire_writer *w, uint32_t number,
			  int64_t value);
void sl__wire_put_float(struct sl__wire_writer *w, uint32_t number,
			float value);
void sl__wire_put_text(struct sl__wire_writer *w, uint32_t number,
		       const char *text);
void sl__wire_put_message(struct sl__wire_writer *w, uint32_t number,
			  sl__wire_message_body *body, const void *part);

/* What 'body' puts, counted. */
uint64_t sl__wire_message_size(struct sl__wire_writer *w,
			       sl__wire_message_body *body, const void *part);

#endif
