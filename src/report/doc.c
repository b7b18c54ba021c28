/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc.c - building a page: blocks in a list, text made printable.
 *
 * A change of style inside a text is one control byte, which cannot come from
 * outside since all that does is escaped first.  How blocks look is the
 * business of text.c and markdown.c.
 */
#include "report/doc.h"
#include "base/status.h"
#include "report/printable.h"

#include <stdarg.h>
#include <stdio.h>

#include <string.h>

#include "base/banned.h"

void
sl__doc_init(struct sl__doc *doc, const struct sl_allocator *allocator)
{
	sl__arena_init(&doc->arena, allocator);
	doc->first = NULL;
	doc->last = NULL;
	doc->is_file = 0;
	doc->failed = 0;
}

void
sl__doc_release(struct sl__doc *doc)
{
	sl__arena_release(&doc->arena);
	doc->first = NULL;
	doc->last = NULL;
}

int
sl__doc_style_from_byte(char byte)
{
	return byte >= 1 && byte <= 1 + SL__STYLE_CODE ? byte - 1 : -1;
}

/* "head", a style mark, and the formatted text; NULL sets doc->failed. */
static const char *__attribute__((format(__printf__, 4, 0)))
styled_text(struct sl__doc *doc, const char *head, enum sl__style style,
	    const char *format, va_list args)
{
	char *raw = NULL, *clean = NULL, *text = NULL;
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n >= 0)
		raw = sl__arena_alloc(&doc->arena, (size_t)n + 1);
	if (raw) {
		vsnprintf(raw, (size_t)n + 1, format, args);
		clean = sl__utf8_printable(&doc->arena, raw);
	}
	if (clean)
		text = sl__arena_format(&doc->arena, "%s%c%s", head,
					1 + (int)style, clean);
	doc->failed |= !text;
	return text;
}

static struct sl__block *
add_block(struct sl__doc *doc, enum sl__block_kind kind)
{
	struct sl__block *block;

	if (doc->failed)
		return NULL;
	block = sl__arena_alloc(&doc->arena, sizeof(*block));
	if (!block) {
		doc->failed = 1;
		return NULL;
	}
	block->kind = kind;
	if (doc->last)
		doc->last->next = block;
	else
		doc->first = block;
	doc->last = block;
	return block;
}

static void __attribute__((format(__printf__, 4, 0)))
add_text_block(struct sl__doc *doc, enum sl__block_kind kind,
	       enum sl__style style, const char *format, va_list args)
{
	struct sl__block *block = add_block(doc, kind);

	if (block)
		block->text = styled_text(doc, "", style, format, args);
}

void
sl__doc_block(struct sl__doc *doc, enum sl__block_kind kind,
	      enum sl__style style, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_text_block(doc, kind, style, format, args);
	va_end(args);
}

const char *
sl__doc_text_or_nomem(struct sl__doc *doc, const char *text)
{
	doc->failed |= !text;
	return text ? text : "";
}

void
sl__doc_pair(struct sl__doc *doc, const char *key, enum sl__style style,
	     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_text_block(doc, SL__BLOCK_PAIR, style, format, args);
	va_end(args);
	if (doc->failed)
		return;
	doc->last->key = sl__utf8_printable(&doc->arena, key);
	doc->failed = !doc->last->key;
}

void
sl__doc_append(struct sl__doc *doc, enum sl__style style, const char *format,
	       ...)
{
	const char **text;
	va_list args;

	if (doc->failed || !doc->last)
		return;
	text = &doc->last->text;
	if (doc->last->last_cell)
		text = &doc->last->last_cell->text;
	if (!*text)
		return;
	va_start(args, format);
	*text = styled_text(doc, *text, style, format, args);
	va_end(args);
}

void
sl__doc_gap(struct sl__doc *doc)
{
	(void)add_block(doc, SL__BLOCK_GAP);
}

void
sl__doc_table(struct sl__doc *doc, const struct sl__column *columns,
	      size_t n_columns)
{
	struct sl__block *block = add_block(doc, SL__BLOCK_TABLE);
	struct sl__column *copy =
		sl__arena_array(&doc->arena, n_columns, sizeof(*copy));

	doc->failed |= !copy;
	if (doc->failed)
		return;
	memcpy(copy, columns, n_columns * sizeof(*copy));
	block->columns = copy;
	block->n_columns = n_columns;
}

void
sl__doc_cell(struct sl__doc *doc, enum sl__style style, const char *format, ...)
{
	struct sl__block *table = doc->last;
	struct sl__cell *cell;
	va_list args;

	if (doc->failed || !table || table->kind != SL__BLOCK_TABLE)
		return;
	cell = sl__arena_alloc(&doc->arena, sizeof(*cell));
	if (!cell) {
		doc->failed = 1;
		return;
	}
	va_start(args, format);
	cell->text = styled_text(doc, "", style, format, args);
	va_end(args);
	if (table->last_cell)
		table->last_cell->next = cell;
	else
		table->first_cell = cell;
	table->last_cell = cell;
	table->n_cells++;
}

/* The text of a cell without marks of style at its beginning. */
static const char *
plain_text(const struct sl__cell *cell)
{
	const char *text = cell->text;

	while (*text && sl__doc_style_from_byte(*text) >= 0)
		text++;
	return text;
}

/* Whether all rows say the same in column k; *first is the first cell. */
static int
is_same_column(const struct sl__block *table, size_t k,
	       const struct sl__cell **first)
{
	const struct sl__cell *cell = table->first_cell;

	*first = NULL;
	for (size_t i = 0; cell; cell = cell->next, i++) {
		if (i % table->n_columns != k)
			continue;
		if (!*first)
			*first = cell;
		else if (strcmp((*first)->text, cell->text) != 0)
			return 0;
	}
	return *first && (table->n_cells > table->n_columns ||
			  !strncmp(plain_text(*first), "-", 1));
}

static void
drop_column(struct sl__doc *doc, struct sl__block *table, size_t k)
{
	struct sl__column *columns = sl__arena_array(
		&doc->arena, table->n_columns, sizeof(*columns));
	struct sl__cell **at = &table->first_cell;
	size_t i = 0, n = 0;

	doc->failed |= !columns;
	if (doc->failed)
		return;
	for (size_t c = 0; c < table->n_columns; c++) {
		if (c != k)
			columns[n++] = table->columns[c];
	}
	for (; *at; i++) {
		if (i % table->n_columns == k) {
			*at = (*at)->next;
			table->n_cells--;
		} else {
			table->last_cell = *at;
			at = &(*at)->next;
		}
	}
	table->columns = columns;
	table->n_columns = n;
}

const char *
sl__doc_drop_equal_columns(struct sl__doc *doc)
{
	struct sl__block *table = doc->last;
	const char *said = "";

	for (size_t k = 1; !doc->failed && k < table->n_columns;) {
		const struct sl__cell *first;
		size_t n;

		if (!is_same_column(table, k, &first)) {
			k++;
			continue;
		}
		/* Up to the next mark of style. */
		for (n = 0; plain_text(first)[n] &&
			    sl__doc_style_from_byte(plain_text(first)[n]) < 0;)
			n++;
		if (strncmp(plain_text(first), "-", n) != 0)
			said = sl__doc_text_or_nomem(
				doc,
				sl__arena_format(&doc->arena, "%s%s%s %.*s",
						 said, *said ? ", " : "",
						 table->columns[k].title,
						 (int)n, plain_text(first)));
		drop_column(doc, table, k);
	}
	return said;
}

uint64_t
sl__doc_table_empty_columns(const struct sl__block *table)
{
	uint64_t empty = table->n_cells ? UINT64_MAX : 0;
	size_t i = 0;

	for (const struct sl__cell *c = table->first_cell; c; c = c->next) {
		size_t column = i++ % table->n_columns;
		const char *text = c->text;

		while (sl__doc_style_from_byte(*text) >= 0)
			text++;
		if (*text && strcmp(text, "-") != 0 && column < 64)
			empty &= ~((uint64_t)1 << column);
	}
	return empty;
}

enum sl_status
sl__doc_render(const struct sl__doc *doc, const struct sl_render_options *how,
	       struct sl_buf *out, struct sl_error *err)
{
	enum sl_format format = how ? how->format : SL_FORMAT_TEXT;

	if (doc->failed)
		return sl__fail_nomem(err);
	if (format == SL_FORMAT_TEXT)
		return sl__doc_render_text(doc, how, out, err);
	if (format == SL_FORMAT_MARKDOWN)
		return sl__doc_render_markdown(doc, out, err);
	return sl__fail(err, SL_E_USAGE, "this result has no such format");
}
