/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - the fields of a protocol buffer, read where they lie. */
#ifndef SL_WIRE_H
#define SL_WIRE_H

#include "sleuth.h"

/*
 * The bytes that are read, and how many fields may be visited in all: a
 * reader that comes back to the same bytes again and again (functions that
 * call functions) ends with SL_E_DATA instead of running for ever.
 */
struct sl__wire_file {
	const unsigned char *bytes;
	size_t n_bytes;
	uint64_t n_fields, max_fields; /* visited so far; at most */
};

/*
 * A message: the bytes from 'at' to 'end' of the file, the first of which
 * begins the next field.  A stretch of fields that was dealt with may be set
 * to be stepped over.  Invariant: at <= end <= file->n_bytes.
 */
struct sl__wire {
	struct sl__wire_file *file;
	size_t at, end;
	size_t skip_from, skip_to; /* equal: nothing */
	const char *what;          /* "node": for errors */
	int is_outermost;
};

enum sl__wire_type {
	SL__WIRE_VARINT = 0,
	SL__WIRE_FIXED64 = 1,
	SL__WIRE_BYTES = 2,
	SL__WIRE_FIXED32 = 5
};

struct sl__field {
	uint32_t number; /* 0: the message has no more fields */
	enum sl__wire_type type;
	uint64_t value;             /* unless BYTES */
	const unsigned char *bytes; /* of BYTES: inside the file */
	size_t n_bytes;
	size_t at; /* offset of the field in the file */
};

/* The whole file as one message. */
void sl__wire_init(struct sl__wire *wire, struct sl__wire_file *file,
		   const char *what);

/*
 * The next field.  SL_E_DATA with the byte for what is no field, reaches past
 * the end of its message or is a group, which ONNX does not have.  The
 * contents of BYTES are not touched.
 */
enum sl_status sl__wire_next(struct sl__wire *wire, struct sl__field *field,
			     struct sl_error *err) SL_CHECKED;

/* Begins to read a field as a message; SL_E_DATA unless it is BYTES. */
enum sl_status sl__wire_enter(struct sl__wire *wire,
			      const struct sl__wire *parent,
			      const struct sl__field *field, const char *what,
			      struct sl_error *err) SL_CHECKED;

/* SL_E_DATA, with the byte, unless the field is of that type. */
enum sl_status sl__wire_expect(const struct sl__wire *wire,
			       const struct sl__field *field,
			       enum sl__wire_type type,
			       struct sl_error *err) SL_CHECKED;

/* The number of a VARINT field. */
enum sl_status sl__wire_integer(const struct sl__wire *wire,
				const struct sl__field *field, int64_t *out,
				struct sl_error *err) SL_CHECKED;

/*
 * Numbers in the list that 'field' is, or is one element of: packed or not,
 * a list of VARINT, FIXED32 or FIXED64.  sl__wire_count() adds them to *n;
 * sl__wire_take() stores them at out[*n ...], of which there are 'cap', and
 * moves *n on.  It stores nothing beyond 'cap'.
 */
enum sl_status sl__wire_count(const struct sl__wire *wire,
			      const struct sl__field *field,
			      enum sl__wire_type type, size_t *n,
			      struct sl_error *err) SL_CHECKED;
void sl__wire_take(const struct sl__field *field, enum sl__wire_type type,
		   uint64_t *out, size_t cap, size_t *n);

/*
 * Reads one number that starts at *at and moves *at behind it; 0 when it does
 * not end before 'end' or takes more than 64 bits.
 */
int sl__varint_read(const unsigned char **at, const unsigned char *end,
		    uint64_t *out);

#endif
