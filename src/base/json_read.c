/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.c - reading JSON into a tree.
 *
 * By recursive descent, one function for each kind of value.  Written here
 * and not taken from a library because a result holds unsigned integers of 64
 * bits, comes from a file that anybody may have written, and lives in one
 * arena.
 */
#include "base/json_read.h"
#include "base/number.h"
#include "base/status.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* No result is deeper, and none has more names in one object. */
enum { DEPTH_MOST = 64, NAMES_MOST = 1000 };

struct reader {
	const char *at, *end;
	size_t line;
	int depth;
	struct sl__arena *arena;
	struct sl_error *err;
};

static enum sl_status read_value(struct reader *r,
				 struct sl__json_value *out) SL_CHECKED;

static enum sl_status
refuse(struct reader *r, const char *what)
{
	return sl__fail(r->err, SL_E_DATA, "line %zu: %s", r->line, what);
}

/* The next byte that is no white space; 0 at the end. */
static char
peek(struct reader *r)
{
	for (; r->at < r->end; r->at++) {
		if (*r->at == '\n')
			r->line++;
		else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r')
			return *r->at;
	}
	return 0;
}

static int
take(struct reader *r, char expected)
{
	if (peek(r) != expected || r->at == r->end)
		return 0;
	r->at++;
	return 1;
}

/* Four digits after "\u"; -1 where there are none. */
static long
hex_of(const struct reader *r, const char *at)
{
	char digits[5] = {0};
	char *end;
	long code;

	if (r->end - at < 4 || at[0] == '+' || at[0] == '-' || at[0] == ' ')
		return -1;
	memcpy(digits, at, 4);
	code = strtol(digits, &end, 16);
	return end == digits + 4 ? code : -1;
}

/* What follows "\u", which may be two halves of one character. */
static enum sl_status
take_code(struct reader *r, char **to)
{
	long code = hex_of(r, r->at), low;

	if (code <= 0)
		return refuse(r, "no character is written so");
	r->at += 4;
	if (code >= 0xd800 && code < 0xe000) {
		low = r->end - r->at > 6 && r->at[0] == '\\' && r->at[1] == 'u'
			      ? hex_of(r, r->at + 2)
			      : -1;
		if (code >= 0xdc00 || low < 0xdc00 || low > 0xdfff)
			return refuse(r, "half a character");
		r->at += 6;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	*to += sl__utf8_encode(*to, (uint32_t)code);
	return SL_OK;
}

/* One character after a backslash. */
static enum sl_status
take_escape(struct reader *r, char **to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (r->at == r->end)
		return refuse(r, "a string does not end");
	if (*r->at == 'u') {
		r->at++;
		return take_code(r, to);
	}
	found = *r->at ? strchr(from, *r->at) : NULL;
	if (!found)
		return refuse(r, "no such escape");
	*(*to)++ = into[found - from];
	r->at++;
	return SL_OK;
}

/* A string whose opening quote was taken; never longer than in the file. */
static enum sl_status
read_text(struct reader *r, const char **out)
{
	const char *quote = r->at;
	enum sl_status rc = SL_OK;
	char *text, *to;

	while (quote < r->end && *quote != '"')
		quote += *quote == '\\' ? 2 : 1;
	if (quote >= r->end)
		return refuse(r, "a string does not end");
	text = to = sl__arena_alloc(r->arena, (size_t)(quote - r->at) + 1);
	if (!text)
		return sl__fail_nomem(r->err);
	while (!rc && *r->at != '"') {
		if ((unsigned char)*r->at < 0x20)
			return refuse(r, "a control byte in a string");
		if (*r->at == '\\') {
			r->at++;
			rc = take_escape(r, &to);
		} else {
			*to++ = *r->at++;
		}
	}
	r->at++;
	*to = 0;
	*out = text;
	return rc;
}

/* Bytes of digits; 0: none. */
static size_t
n_digits(const struct reader *r, const char *at)
{
	size_t n = 0;

	while (at + n < r->end && at[n] >= '0' && at[n] <= '9')
		n++;
	return n;
}

/* Where the number at r->at ends; NULL: it is none. */
static const char *
end_of_number(const struct reader *r)
{
	const char *at = r->at + (*r->at == '-');
	size_t n = n_digits(r, at);

	if (!n || (n > 1 && *at == '0'))
		return NULL;
	at += n;
	if (at < r->end && *at == '.') {
		n = n_digits(r, ++at);
		if (!n)
			return NULL;
		at += n;
	}
	if (at < r->end && (*at == 'e' || *at == 'E')) {
		at++;
		at += at < r->end && (*at == '+' || *at == '-');
		n = n_digits(r, at);
		if (!n)
			return NULL;
		at += n;
	}
	return at;
}

static enum sl_status
read_number(struct reader *r, struct sl__json_value *out)
{
	const char *end = end_of_number(r);
	size_t n = end ? (size_t)(end - r->at) : 0;
	char *digits;

	if (!n || n > SL__DIGITS_MOST)
		return refuse(r, "no number");
	digits = sl__arena_alloc(r->arena, n + 1);
	if (!digits)
		return sl__fail_nomem(r->err);
	memcpy(digits, r->at, n);
	r->at = end;
	out->kind = SL__JSON_NUMBER;
	out->text = digits;
	out->number = sl__number_read(digits);
	return SL_OK;
}

static enum sl_status
read_word(struct reader *r, struct sl__json_value *out)
{
	static const struct {
		const char *text;
		enum sl__json_kind kind;
		double number;
	} words[] = {{"null", SL__JSON_NULL, 0},
		     {"true", SL__JSON_BOOLEAN, 1},
		     {"false", SL__JSON_BOOLEAN, 0}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i].text);

		if ((size_t)(r->end - r->at) >= n &&
		    memcmp(r->at, words[i].text, n) == 0) {
			r->at += n;
			out->kind = words[i].kind;
			out->number = words[i].number;
			return SL_OK;
		}
	}
	return refuse(r, "no value");
}

static enum sl_status
read_key(struct reader *r, const struct sl__json_value *object,
	 const char **key)
{
	enum sl_status rc;

	if (object->n == NAMES_MOST)
		return refuse(r, "too many names in one object");
	if (!take(r, '"'))
		return refuse(r, "a name in quotes was expected");
	rc = read_text(r, key);
	if (!rc && sl__json_member(object, *key))
		rc = refuse(r, "a name stands twice");
	if (!rc && !take(r, ':'))
		rc = refuse(r, "a colon was expected");
	return rc;
}

/* Elements up to 'closing', whose opening bracket was taken. */
static enum sl_status
read_elements(struct reader *r, struct sl__json_value *out, char closing)
{
	struct sl__json_value **last = &out->first;
	enum sl_status rc = SL_OK;

	if (++r->depth > DEPTH_MOST)
		return refuse(r, "nested too deeply");
	while (!rc && !take(r, closing)) {
		struct sl__json_value *element =
			sl__arena_alloc(r->arena, sizeof(*element));

		if (!element)
			return sl__fail_nomem(r->err);
		if (out->n && !take(r, ','))
			return refuse(r, "a comma was expected");
		if (out->kind == SL__JSON_OBJECT)
			rc = read_key(r, out, &element->key);
		if (!rc)
			rc = read_value(r, element);
		*last = element;
		last = &element->next;
		out->n++;
	}
	r->depth--;
	return rc;
}

static enum sl_status
read_value(struct reader *r, struct sl__json_value *out)
{
	char first = peek(r);

	switch (first) {
	case '{':
	case '[':
		r->at++;
		out->kind = first == '{' ? SL__JSON_OBJECT : SL__JSON_ARRAY;
		return read_elements(r, out, first == '{' ? '}' : ']');
	case '"':
		r->at++;
		out->kind = SL__JSON_TEXT;
		return read_text(r, &out->text);
	default:
		break;
	}
	if (first == '-' || (first >= '0' && first <= '9'))
		return read_number(r, out);
	return read_word(r, out);
}

enum sl_status
sl__json_read(const struct sl__json_value **out, const char *text,
	      size_t n_bytes, struct sl__arena *arena, struct sl_error *err)
{
	struct reader r = {.at = text,
			   .end = text + n_bytes,
			   .line = 1,
			   .arena = arena,
			   .err = err};
	struct sl__json_value *root = sl__arena_alloc(arena, sizeof(*root));
	enum sl_status rc;

	*out = NULL;
	if (!root)
		return sl__fail_nomem(err);
	rc = read_value(&r, root);
	if (!rc && (peek(&r) || r.at < r.end))
		rc = refuse(&r, "something follows the value");
	if (!rc)
		*out = root;
	return rc;
}

const struct sl__json_value *
sl__json_member(const struct sl__json_value *object, const char *key)
{
	if (object->kind != SL__JSON_OBJECT)
		return NULL;
	for (const struct sl__json_value *m = object->first; m; m = m->next) {
		if (strcmp(m->key, key) == 0)
			return m;
	}
	return NULL;
}
