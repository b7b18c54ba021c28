/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - writing JSON: commas, indentation, escapes, absence. */
#include "base/json.h"
#include "base/buf.h"
#include "base/number.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/banned.h"

void
sl__json_init(struct sl__json *json, struct sl_buf *out)
{
	*json = (struct sl__json){.out = out};
}

/* What a terminal would obey is escaped, beside what JSON wants escaped. */
static void
add_quoted(struct sl_buf *out, const char *text)
{
	sl__buf_text(out, "\"");
	while (*text) {
		uint32_t code = 0;
		size_t n = sl__utf8_decode(text, &code);

		if (!n)
			sl__buf_text(out, "\\ufffd");
		else if (code == '"' || code == '\\')
			sl__buf_format(out, "\\%c", *text);
		else if (code == '\n')
			sl__buf_text(out, "\\n");
		else if (code == '\t')
			sl__buf_text(out, "\\t");
		/* What was no UTF-8 reads the same when it is written again. */
		else if (sl__utf8_is_unprintable(code) || code == 0xfffd)
			sl__buf_format(out, "\\u%04x", (unsigned)code);
		else
			sl__buf_add(out, text, n);
		text += n ? n : 1;
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
