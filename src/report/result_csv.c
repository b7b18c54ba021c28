/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_csv.c - CSV (RFC 4180): fields, and documents as columns.
 *
 * Names come from models and command lines: what could rewrite a terminal is
 * escaped as on pages, so that a row is always one line, and what a spreadsheet
 * would compute has a ' before it, which makes it text there.
 */
#include "report/result_csv.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "base/number.h"
#include "report/printable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

/* Whether a sign and a decimal number are all of the text. */
static int
is_number(const char *text)
{
	static const char digits[] = "0123456789";
	size_t n = strspn(++text, digits);

	text += n;
	if (*text == '.')
		text += 1 + strspn(text + 1, digits);
	if (n && (*text == 'e' || *text == 'E')) {
		text += 1 + (text[1] == '-' || text[1] == '+');
		n = strspn(text, digits);
		text += n;
	}
	return n && !*text;
}

/* Spreadsheets take text that begins like this for a formula. */
static int
is_formula(const char *text)
{
	return *text && text[1] && strchr("=+-@", *text) && !is_number(text);
}

void
sl__csv_text(struct sl_buf *out, const char *text)
{
	const char *quote = strpbrk(text, ",\"") ? "\"" : "";
	char shown[SL__UTF8_PRINTABLE_CHAR_BYTES];

	sl__buf_text(out, quote);
	sl__buf_text(out, is_formula(text) ? "'" : "");
	while (*text) {
		if (*text == '"')
			sl__buf_text(out, "\"");
		text += sl__utf8_printable_char(shown, text);
		sl__buf_text(out, shown);
	}
	sl__buf_format(out, "%s,", quote);
}

void
sl__csv_number(struct sl_buf *out, double value)
{
	char text[SL__NUMBER_BYTES];

	if (!isfinite(value)) {
		sl__buf_text(out, ",");
		return;
	}
	sl__buf_format(out, "%s,", sl__number_text(text, value));
}

void
sl__csv_end_line(struct sl_buf *out)
{
	if (out->n_bytes && out->data[out->n_bytes - 1] == ',')
		out->data[out->n_bytes - 1] = '\n';
}

/* An object of a document and, around it, those that it is part of. */
struct place {
	const struct sl__json_value *object;
	const struct place *outer;
};

/* The member that a path begins with, which goes on to the next name. */
static const struct sl__json_value *
step(const struct sl__json_value *object, const char **path)
{
	size_t n = strcspn(*path, "/");
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)n, *path);
	*path += n + ((*path)[n] == '/');
	return sl__json_member(object, name);
}

static const struct sl__json_value *
find(const struct place *at, const char *path)
{
	const struct sl__json_value *v;

	for (; strncmp(path, "../", 3) == 0; path += 3)
		at = at->outer;
	for (v = at->object; v && *path;)
		v = step(v, &path);
	return v;
}

/* One of a list of columns. */
struct column {
	char title[128]; /* and what follows it */
	const char *path, *absent, *yes;
};

/* What follows a mark in the title, which ends there; NULL: it has none. */
static const char *
cut_at(char *title, char mark)
{
	char *at = strchr(title, mark);

	if (at)
		*at++ = '\0';
	return at;
}

/* Takes the first of the list; returns the others, NULL: none. */
static const char *
take_column(struct column *c, const char *list)
{
	size_t n = strcspn(list, ",");

	snprintf(c->title, sizeof(c->title), "%.*s", (int)n, list);
	c->yes = cut_at(c->title, '!');
	c->absent = cut_at(c->title, '?');
	c->path = cut_at(c->title, '=');
	return list[n] ? list + n + 1 : NULL;
}

static void
add_line(struct sl_buf *out, const char *columns, const struct place *at)
{
	struct column c;

	while (columns) {
		const struct sl__json_value *v;

		columns = take_column(&c, columns);
		v = find(at, c.path ? c.path : c.title);
		if (!v || v->kind == SL__JSON_NULL)
			sl__csv_text(out, c.absent ? c.absent : "");
		else if (v->kind == SL__JSON_NUMBER)
			sl__csv_number(out, v->number);
		else if (v->kind == SL__JSON_ARRAY)
			sl__csv_number(out, (double)v->n);
		else if (v->kind == SL__JSON_BOOLEAN && v->number > 0)
			sl__csv_text(out, c.yes ? c.yes : "true");
		else if (v->kind == SL__JSON_BOOLEAN)
			sl__csv_text(out, c.absent ? c.absent : "false");
		else
			sl__csv_text(out, v->text);
	}
	sl__csv_end_line(out);
}

static void
add_titles(struct sl_buf *out, const char *columns)
{
	struct column c;

	while (columns) {
		columns = take_column(&c, columns);
		sl__csv_text(out, c.title);
	}
	sl__csv_end_line(out);
}

static void
add_lines(struct sl_buf *out, const char *columns, const struct place *at,
	  const char *rows)
{
	const struct sl__json_value *v;

	if (!*rows) {
		add_line(out, columns, at);
		return;
	}
	v = step(at->object, &rows);
	if (!v && *rows)
		add_lines(out, columns, at, rows);
	else if (v && v->kind == SL__JSON_ARRAY)
		for (v = v->first; v; v = v->next)
			add_lines(out, columns, &(struct place){v, at}, rows);
	else if (v)
		add_lines(out, columns, &(struct place){v, at}, rows);
}

enum sl_status
sl__csv_from_json(struct sl_buf *out, const char *columns, const char *rows,
		  const struct sl_buf *text, struct sl_error *err)
{
	struct place top = {NULL, NULL};
	struct sl__arena arena;
	enum sl_status rc;

	sl__arena_init(&arena, NULL);
	rc = sl__json_read(&top.object, text->data, text->n_bytes, &arena, err);
	if (!rc) {
		add_titles(out, columns);
		add_lines(out, columns, &top, rows);
		rc = sl__buf_status(out, err);
	}
	sl__arena_release(&arena);
	return rc;
}
