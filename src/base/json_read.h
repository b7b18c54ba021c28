/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.h - reading JSON into a tree. */
#ifndef SL_JSON_READ_H
#define SL_JSON_READ_H

#include "base/arena.h"

enum sl__json_kind {
	SL__JSON_NULL = 0,
	SL__JSON_BOOLEAN,
	SL__JSON_NUMBER,
	SL__JSON_TEXT,
	SL__JSON_ARRAY,
	SL__JSON_OBJECT
};

/*
 * One value.  Members of an object and elements of an array hang on 'first'
 * and are linked by 'next', in the order of the file.
 */
struct sl__json_value {
	enum sl__json_kind kind;
	const char *key;  /* of a member; NULL */
	const char *text; /* of TEXT: UTF-8, ends with a zero; of NUMBER: its
			     digits, so that 64 bits are not lost */
	double number;    /* of NUMBER; of BOOLEAN 0 or 1 */
	struct sl__json_value *first, *next;
	size_t n; /* members or elements */
};

/*
 * Reads one value of RFC 8259 that fills 'text' (white space around it is
 * fine).  SL_E_DATA names the line of what is wrong; levels beyond 64, more
 * than 1000 names in an object, one that stands twice and a zero byte in a
 * string are wrong too.  Storage is from 'arena'.
 */
enum sl_status sl__json_read(const struct sl__json_value **out,
			     const char *text, size_t n_bytes,
			     struct sl__arena *arena,
			     struct sl_error *err) SL_CHECKED;

/* A member by its key; NULL: none, or no object. */
const struct sl__json_value *
sl__json_member(const struct sl__json_value *object, const char *key);

#endif
