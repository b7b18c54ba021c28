/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown.c - a page as GitHub's dialect of Markdown renders it.
 *
 * Pairs become a list, drawings a fenced block, tables pipe tables; a pair
 * without a key goes on with the one before it.  Strong text is bold, a
 * command is a code span; other styles are colours, which Markdown has not.
 * All that could be taken for markup is escaped, so that a command's name
 * shows as it is written.
 */
#include "base/buf.h"
#include "report/doc.h"

#include <string.h>

#include "base/banned.h"

/* Where text stands; what follows two blanks in a heading explains it. */
enum place { INLINE, LINE, HEADING };

/* Whether a backslash must go before text[0]. */
static int
needs_escape(const char *text, int opens_line)
{
	if (strchr("\\`*_|<&$~", *text))
		return 1;
	if (*text == ']' && text[1] && strchr("([:", text[1]))
		return 1; /* a link */
	return opens_line && strchr("#>+-=", *text);
}

/* A command up to the next style, as it is typed: nothing in it is escaped.
 * Fences are longer than any run of backticks in it.  Returns its end. */
static const char *
put_code(struct sl_buf *out, const char *text)
{
	size_t n = 0, n_ticks = 0, n_most = 0;

	for (; text[n] && sl__doc_style_from_byte(text[n]) < 0; n++) {
		n_ticks = text[n] == '`' ? n_ticks + 1 : 0;
		n_most = n_ticks > n_most ? n_ticks : n_most;
	}
	for (size_t i = 0; n && i <= n_most; i++)
		sl__buf_text(out, "`");
	sl__buf_text(out, n_most ? " " : "");
	sl__buf_add(out, text, n);
	sl__buf_text(out, n_most ? " " : "");
	for (size_t i = 0; n && i <= n_most; i++)
		sl__buf_text(out, "`");
	return text + n;
}

static void
put_escaped(struct sl_buf *out, const char *text, enum place place)
{
	int opens_line = place == LINE;
	int bold = 0;
	char last = 0;

	for (; *text; text++) {
		int mark = sl__doc_style_from_byte(*text);

		if (mark < 0) {
			/* Blanks that set a page for the eye are one here. */
			if (*text == ' ' && last == ' ')
				continue;
			if (place == HEADING && *text == ' ' && text[1] == ' ')
				sl__buf_text(out, ":");
			last = *text;
			if (needs_escape(text, opens_line))
				sl__buf_text(out, "\\");
			sl__buf_add(out, text, 1);
			opens_line = 0;
			continue;
		}
		/* Asterisks before a blank would not be read as markup. */
		while (!bold && mark == SL__STYLE_STRONG && text[1] == ' ') {
			if (last != ' ')
				sl__buf_text(out, " ");
			last = ' ';
			text++;
		}
		if (bold != (mark == SL__STYLE_STRONG) && (bold || text[1]))
			sl__buf_text(out, "**");
		bold = mark == SL__STYLE_STRONG && (bold || text[1]);
		if (mark == SL__STYLE_CODE)
			text = put_code(out, text + 1) - 1;
	}
	if (bold)
		sl__buf_text(out, "**");
}

/* The text of a block without style marks and escapes. */
static void
put_raw(struct sl_buf *out, const char *text)
{
	for (; *text; text++) {
		if (sl__doc_style_from_byte(*text) < 0)
			sl__buf_add(out, text, 1);
	}
}

static const struct sl__block *
put_pairs(struct sl_buf *out, const struct sl__block *block)
{
	const char *separator = "- ";

	for (; block && block->kind == SL__BLOCK_PAIR; block = block->next) {
		sl__buf_text(out, separator);
		put_escaped(out, block->key, LINE);
		sl__buf_text(out, *block->key ? ": " : "");
		put_escaped(out, block->text, INLINE);
		separator =
			block->next && block->next->kind == SL__BLOCK_PAIR &&
					!*block->next->key
				? "; "
				: "\n- ";
	}
	sl__buf_text(out, "\n");
	return block;
}

static const struct sl__block *
put_drawing(struct sl_buf *out, const struct sl__block *block)
{
	sl__buf_text(out, "```text\n");
	for (; block && block->kind == SL__BLOCK_DRAWING; block = block->next) {
		put_raw(out, block->text);
		sl__buf_text(out, "\n");
	}
	sl__buf_text(out, "```\n");
	return block;
}

static void
put_table(struct sl_buf *out, const struct sl__block *block)
{
	uint64_t empty = sl__doc_table_empty_columns(block);
	size_t n = 0;

	if (!block->n_columns)
		return;
	for (size_t c = 0; c < block->n_columns; c++) {
		if (c < 64 && empty >> c & 1)
			continue;
		sl__buf_text(out, "| ");
		put_escaped(out, block->columns[c].title, INLINE);
		sl__buf_text(out, " ");
	}
	sl__buf_text(out, "|\n");
	for (size_t c = 0; c < block->n_columns; c++) {
		if (c >= 64 || !(empty >> c & 1))
			sl__buf_text(out, block->columns[c].right ? "|---:"
								  : "|:---");
	}
	sl__buf_text(out, "|\n");
	for (const struct sl__cell *c = block->first_cell; c; c = c->next) {
		size_t column = n % block->n_columns;

		if (column >= 64 || !(empty >> column & 1)) {
			sl__buf_text(out, "| ");
			put_escaped(out, c->text, INLINE);
			sl__buf_text(out, " ");
		}
		if (++n % block->n_columns == 0)
			sl__buf_text(out, "|\n");
	}
	if (n % block->n_columns)
		sl__buf_text(out, "|\n");
}

static const struct sl__block *
put_block(struct sl_buf *out, const struct sl__block *block)
{
	switch (block->kind) {
	case SL__BLOCK_PAIR:
		return put_pairs(out, block);
	case SL__BLOCK_DRAWING:
		return put_drawing(out, block);
	case SL__BLOCK_HEADING:
		sl__buf_text(out, "## ");
		put_escaped(out, block->text + 1, HEADING); /* past the style */
		sl__buf_text(out, "\n");
		break;
	case SL__BLOCK_TEXT:
		put_escaped(out, block->text, LINE);
		sl__buf_text(out, "\n");
		break;
	case SL__BLOCK_TABLE:
		put_table(out, block);
		break;
	case SL__BLOCK_GAP:
		break;
	}
	return block->next;
}

enum sl_status
sl__doc_render_markdown(const struct sl__doc *doc, struct sl_buf *out,
			struct sl_error *err)
{
	const struct sl__block *block = doc->first;
	int n_blocks = 0;

	while (block) {
		if (block->kind == SL__BLOCK_GAP) {
			block = block->next;
			continue;
		}
		if (n_blocks++)
			sl__buf_text(out, "\n");
		block = put_block(out, block);
	}
	return sl__buf_status(out, err);
}
