/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - writing JSON: commas, indentation, escapes, absence. */
#include "base/json.h"
#include "base/buf.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/banned.h"

void
sl__json_init(struct sl__json *json, struct sl_buf *out)
{
	json->out = out;
	json->depth = 0;
	json->n_in_level = 0;
	json->is_flat = 0;
}

/*
 * Bytes of the UTF-8 character at p (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF), or 0 when there is none.
 */
static size_t
character_bytes(const unsigned char *p)
{
	size_t n = p[0] < 0x80   ? 1
		   : p[0] < 0xc2 ? 0
		   : p[0] < 0xe0 ? 2
		   : p[0] < 0xf0 ? 3
		   : p[0] < 0xf5 ? 4
				 : 0;

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

/*
 * Whether a character of two or three bytes is escaped: C1, which terminals
 * obey, marks that turn text around or have no width, and the one that stands
 * for what was no UTF-8.
 */
static int
is_hidden(unsigned code)
{
	return (code >= 0x80 && code < 0xa0) || code == 0xad || code == 0x61c ||
	       (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x2069) || code == 0xfeff ||
	       code == 0xfffd;
}

/* The code of a character of n bytes; 0 for four, of which none is hidden. */
static unsigned
code_of(const unsigned char *p, size_t n)
{
	if (n == 3)
		return (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
	if (n == 2)
		return (p[0] & 31u) << 6 | (p[1] & 63u);
	return n == 1 ? p[0] : 0;
}

static void
add_quoted(struct sl_buf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	sl__buf_text(out, "\"");
	while (*p) {
		size_t n = character_bytes(p);

		if (!n)
			sl__buf_text(out, "\\ufffd");
		else if (*p == '"' || *p == '\\')
			sl__buf_format(out, "\\%c", *p);
		else if (*p == '\n')
			sl__buf_text(out, "\\n");
		else if (*p == '\t')
			sl__buf_text(out, "\\t");
		else if (*p < 0x20 || *p == 0x7f || is_hidden(code_of(p, n)))
			sl__buf_format(out, "\\u%04x", code_of(p, n));
		else
			sl__buf_add(out, (const char *)p, n);
		p += n ? n : 1;
	}
	sl__buf_text(out, "\"");
}

static void
begin_member(struct sl__json *json, const char *key)
{
	if (json->n_in_level++)
		sl__buf_text(json->out, ",");
	if (json->depth && !json->is_flat) {
		sl__buf_text(json->out, "\n");
		sl__buf_repeat(json->out, "  ", (size_t)json->depth);
	}
	if (key) {
		add_quoted(json->out, key);
		sl__buf_text(json->out, ": ");
	}
}

static void
open_level(struct sl__json *json, const char *key, const char *bracket)
{
	begin_member(json, key);
	sl__buf_text(json->out, bracket);
	json->depth++;
	json->n_in_level = 0;
}

static void
close_level(struct sl__json *json, const char *bracket)
{
	int empty = json->n_in_level == 0;

	json->depth--;
	if (!empty && !json->is_flat) {
		sl__buf_text(json->out, "\n");
		sl__buf_repeat(json->out, "  ", (size_t)json->depth);
	}
	sl__buf_text(json->out, bracket);
	if (json->depth == 0)
		sl__buf_text(json->out, "\n");
	json->n_in_level = 1; /* the level around it holds this one */
}

void
sl__json_object(struct sl__json *json, const char *key)
{
	open_level(json, key, "{");
}

void
sl__json_array(struct sl__json *json, const char *key)
{
	open_level(json, key, "[");
}

void
sl__json_end_object(struct sl__json *json)
{
	close_level(json, "}");
}

void
sl__json_end_array(struct sl__json *json)
{
	close_level(json, "]");
}

void
sl__json_text(struct sl__json *json, const char *key, const char *text)
{
	begin_member(json, key);
	add_quoted(json->out, text);
}

void
sl__json_number(struct sl__json *json, const char *key, double value)
{
	char text[SL__NUMBER_BYTES];

	if (!isfinite(value)) {
		if (key) {
			sl__json_absent(json, key, "not measured");
		} else {
			begin_member(json, NULL);
			sl__buf_text(json->out, "null");
		}
		return;
	}
	begin_member(json, key);
	sl__buf_text(json->out, sl__number_text(text, value));
}

void
sl__json_integer(struct sl__json *json, const char *key, uint64_t value)
{
	begin_member(json, key);
	sl__buf_format(json->out, "%" PRIu64, value);
}

void
sl__json_boolean(struct sl__json *json, const char *key, int value)
{
	begin_member(json, key);
	sl__buf_text(json->out, value ? "true" : "false");
}

void
sl__json_absent(struct sl__json *json, const char *key, const char *reason)
{
	char sibling[96];

	begin_member(json, key);
	sl__buf_text(json->out, "null");
	snprintf(sibling, sizeof(sibling), "%s_absent", key);
	sl__json_text(json, sibling, reason);
}

void
sl__json_reading(struct sl__json *json, const char *key,
		 struct sl_reading reading)
{
	if (reading.absent)
		sl__json_absent(json, key, reading.absent);
	else
		sl__json_number(json, key, reading.value);
}
