/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - the fields of a protocol buffer, read where they lie. */
#ifndef SL_WIRE_H
#define SL_WIRE_H

#include "sleuth/basics.h"

/*
 * The bytes that are read, and how many fields may be visited in all: a
 * reader that comes back to the same bytes again and again (functions that
 * call functions) ends with SL_E_DATA instead of running for ever.
 *
 * The first failure sticks: after it there are no more fields, and what is
 * asked of one is 0 or empty.  So a reader looks at 'status' at its end, and
 * on the way only before it uses something that may not be there.
 */
struct sl__wire_file {
	const unsigned char *bytes;
	size_t n_bytes;
	uint64_t n_fields, max_fields; /* visited so far; at most */
	struct sl_error *err;  /* NULL after the first failure: others are not
				  told */
	enum sl_status status; /* of the first failure */
};

/* A failure at the file's contents, SL_E_DATA. */
void sl__wire_fail(struct sl__wire_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Notes the outcome of something that was given file->err; whether all is
 * well so far. */
int sl__wire_keep_status(struct sl__wire_file *file, enum sl_status rc);

/*
 * A message: the bytes from 'at' to 'end' of the file, the first of which
 * begins the next field.  A stretch of fields that was dealt with may be set
 * to be stepped over.  Invariant: at <= end <= file->n_bytes.
 */
struct sl__wire_reader {
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
void sl__wire_init(struct sl__wire_reader *wire, struct sl__wire_file *file,
		   const char *what);

/*
 * The next field; 0 after the last.  SL_E_DATA with the byte for what is no
 * field, reaches past the end of its message or is a group, which ONNX does
 * not have.  The contents of BYTES are not touched.
 */
int sl__wire_next(struct sl__wire_reader *wire, struct sl__field *field);

/* The next field of that number, which must be BYTES; and that as a message. */
int sl__wire_find_field(struct sl__wire_reader *wire, uint32_t number,
			struct sl__field *field);
int sl__wire_find_message(struct sl__wire_reader *wire, uint32_t number,
			  const char *what, struct sl__wire_reader *inner);

/* A field as a message; SL_E_DATA, and one without fields, unless BYTES. */
struct sl__wire_reader
sl__wire_enter_message(const struct sl__wire_reader *parent,
		       const struct sl__field *field, const char *what);

/* Whether the field is of that type; SL_E_DATA, with the byte, unless so. */
int sl__wire_expect(const struct sl__wire_reader *wire,
		    const struct sl__field *field, enum sl__wire_type type);

/* The number of a VARINT field. */
int64_t sl__wire_integer(const struct sl__wire_reader *wire,
			 const struct sl__field *field);

/*
 * Where the fields of a message go: into members of a struct that begins
 * zeroed.  A list of rows ends with number 0.
 */
enum sl__wire_store_kind {
	SL__WIRE_STORE_FIELD,       /* a struct sl__field, the last of them */
	SL__WIRE_STORE_FIELD_COUNT, /* a size_t, of fields */
	SL__WIRE_STORE_NUMBER_COUNT, /* a size_t, of numbers in them (sl__wire_count_numbers()) */
	SL__WIRE_STORE_INTEGER /* an int64_t */
};
struct sl__wire_store_rule {
	uint32_t number;
	enum sl__wire_type type;
	enum sl__wire_store_kind use;
	size_t offset;
};
void sl__wire_store_fields(struct sl__wire_reader wire,
			   const struct sl__wire_store_rule *rows, void *out);
void sl__wire_store_field(const struct sl__wire_reader *wire,
			  const struct sl__field *field,
			  const struct sl__wire_store_rule *rows, void *out);

/*
 * Numbers in the list that 'field' is, or is one element of: packed or not, a
 * list of VARINT, FIXED32 or FIXED64.  sl__wire_count_numbers() adds them to
 * *n; sl__wire_read_numbers() stores them at out[*n ...], of which there are
 * 'cap', and moves *n on.  It stores nothing beyond 'cap'.
 */
void sl__wire_count_numbers(const struct sl__wire_reader *wire,
			    const struct sl__field *field,
			    enum sl__wire_type type, size_t *n);
void sl__wire_read_numbers(const struct sl__field *field,
			   enum sl__wire_type type, uint64_t *out, size_t cap,
			   size_t *n);

/*
 * Reads one number that starts at *at and moves *at behind it; 0 when it does
 * not end before 'end' or takes more than 64 bits.
 */
int sl__varint_read(const unsigned char **at, const unsigned char *end,
		    uint64_t *out);

#endif
