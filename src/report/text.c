/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - a page for a terminal.
 *
 * Headings stand at the left edge and everything else two columns in.
 * Paragraphs and values are wrapped between words, but never inside an
 * interval in brackets, nor between a number and its unit, nor within "N = 256";
 * an item's further lines stand below its text, not below its dash.  No line
 * ends in spaces.  Colours are ANSI sequences, closed at the end of every line.
 * Width is counted in code points.
 */
#include "base/buf.h"
#include "base/status.h"
#include "report/doc.h"
#include "report/printable.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/banned.h"

enum { LONGEST_INTERVAL = 40 }; /* bytes; two times with their unit */

enum {
	DEFAULT_COLUMNS = 80,
	MIN_COLUMNS = 20, /* below this there is nothing to lay out */
	INDENT = 2,
	COLUMN_GAP = 2,
	MIN_CELL = 8,   /* a shortened cell keeps as much */
	MIN_VALUE = 16, /* room for a value beside its key; else below it */
	MAX_UNIT = 3    /* letters of a unit, as in "GiB" */
};

struct page {
	struct sl__arena scratch;
	struct sl_buf *out;
	size_t width;
	int color, ascii;
	int n_blocks, gap_pending;
	int failed;
};

/* By enum sl__style. */
static const char *const sequences[] = {
	[SL__STYLE_PLAIN] = "",        [SL__STYLE_STRONG] = "\033[1m",
	[SL__STYLE_DIM] = "\033[2m",   [SL__STYLE_CODE] = "\033[2m",
	[SL__STYLE_GOOD] = "\033[32m", [SL__STYLE_WARN] = "\033[33m",
	[SL__STYLE_BAD] = "\033[31m",
};

static void
switch_style(struct page *page, int *current, int style)
{
	if (page->color && *current != style) {
		if (*current != SL__STYLE_PLAIN)
			sl__buf_text(page->out, "\033[0m");
		sl__buf_text(page->out, sequences[style]);
	}
	*current = style;
}

/*
 * Writes n_bytes of text and follows its style marks; *style is the style
 * the text begins in, and afterwards the one that its rest begins in.  What
 * is written ends plain.
 */
static void
put_part(struct page *page, const char *text, size_t n_bytes, int *style)
{
	int current = SL__STYLE_PLAIN;

	for (size_t i = 0; i < n_bytes; i++) {
		int mark = sl__doc_style_from_byte(text[i]);

		if (mark >= 0) {
			*style = mark;
			continue;
		}
		switch_style(page, &current, *style);
		sl__buf_add(page->out, text + i, 1);
	}
	switch_style(page, &current, SL__STYLE_PLAIN);
}

static void
put(struct page *page, const char *text)
{
	int style = SL__STYLE_PLAIN;

	put_part(page, text, strlen(text), &style);
}

static void
put_spaces(struct page *page, size_t n)
{
	sl__buf_repeat(page->out, " ", n);
}

/* 'text' as this page spells it; "" once storage has run out. */
static const char *
spelled(struct page *page, const char *text)
{
	if (!page->ascii)
		return text;
	text = sl__utf8_ascii(&page->scratch, text);
	page->failed |= !text;
	return text ? text : "";
}

/* "ms", "GiB", "samples/s" and "kFLOPs": short, a rate, or in capitals. */
static int
is_unit(const char *word)
{
	size_t n_letters = 0, n_capitals = 0, n_bytes = strcspn(word, " ,;:)");

	for (size_t i = 0; i < n_bytes; i += sl__utf8_step(word + i)) {
		n_letters++;
		n_capitals += isupper((unsigned char)word[i]) != 0;
	}
	return n_letters <= MAX_UNIT || n_capitals > 1 ||
	       memchr(word, '/', n_bytes);
}

/* Whether the space at text[at] stands between a number and its unit. */
static int
before_unit(const char *text, size_t at)
{
	if (at == 0 || !isdigit((unsigned char)text[at - 1]))
		return 0;
	text += at + 1;
	while (sl__doc_style_from_byte(*text) >= 0)
		text++;
	if (*text != '%' && !isalpha((unsigned char)*text) &&
	    (unsigned char)*text < 0x80)
		return 0;
	return is_unit(text);
}

/* Whether the space at text[at] is one of those in "N = 256". */
static int
beside_equals(const char *text, size_t at)
{
	if (text[at + 1] == '=')
		return text[at + 2] == ' ' &&
		       isdigit((unsigned char)text[at + 3]);
	return at > 1 && text[at - 1] == '=' && text[at - 2] == ' ' &&
	       isdigit((unsigned char)text[at + 1]);
}

/* Whether the '[' at 'text' opens an interval, which is kept on one line. */
static int
opens_interval(const char *text)
{
	size_t n = strcspn(text, "]");

	return *text == '[' && text[n] && n <= LONGEST_INTERVAL;
}

/* Bytes of the line that 'text' opens when it may take 'width' columns. */
static size_t
line_bytes(const char *text, size_t width)
{
	size_t column = 0, last_break = 0, i = 0;
	int inside = 0;

	for (; text[i]; i += sl__utf8_step(text + i)) {
		if (text[i] == ' ' && !inside && i > 0 &&
		    !before_unit(text, i) && !beside_equals(text, i))
			last_break = i;
		inside = (inside && text[i] != ']') || opens_interval(text + i);
		column += sl__utf8_columns(text + i);
		if (column > width)
			return last_break ? last_break : i;
	}
	return i;
}

/* Bytes of 'text' before the spaces, and the marks of style, that it ends in. */
static size_t
bytes_before_spaces(const char *text, size_t n)
{
	while (n && (text[n - 1] == ' ' ||
		     sl__doc_style_from_byte(text[n - 1]) >= 0))
		n--;
	return n;
}

/* Columns of the dash that opens an item. */
static size_t
dash_columns(const char *text)
{
	while (sl__doc_style_from_byte(*text) >= 0)
		text++;
	return text[0] == '-' && text[1] == ' ' ? 2 : 0;
}

/* Writes 'text' from column 'indent' on, where its further lines begin. */
static void
put_wrapped(struct page *page, const char *text, size_t indent)
{
	size_t hanging = dash_columns(text);
	int style = SL__STYLE_PLAIN;

	for (;;) {
		size_t width = page->width > indent + 1 ? page->width - indent
							: 1;
		size_t n = line_bytes(text, width), end = n;

		while (end && text[end - 1] == ' ')
			end--;
		put_part(page, text, end, &style);
		sl__buf_text(page->out, "\n");
		text += n;
		while (*text == ' ')
			text++;
		if (!*text)
			return;
		indent += hanging;
		hanging = 0;
		put_spaces(page, indent);
	}
}

static void
put_drawing(struct page *page, const char *text)
{
	size_t n = bytes_before_spaces(text, strlen(text));
	int style = SL__STYLE_PLAIN;

	put_spaces(page, n ? INDENT : 0);
	put_part(page, text, n, &style);
	sl__buf_text(page->out, "\n");
}

static void
begin_block(struct page *page, const struct sl__block *block)
{
	if (block->kind == SL__BLOCK_HEADING)
		page->gap_pending = 1;
	if (page->gap_pending && page->n_blocks)
		sl__buf_text(page->out, "\n");
	page->gap_pending = 0;
	page->n_blocks++;
}

/* A run of neighbouring pairs; returns the block after it, if any. */
static const struct sl__block *
put_pairs(struct page *page, const struct sl__block *first)
{
	const struct sl__block *block;
	size_t key_width = 0, indent;
	int below;

	for (block = first; block && block->kind == SL__BLOCK_PAIR;
	     block = block->next) {
		size_t width = sl__utf8_width(spelled(page, block->key));

		key_width = width > key_width ? width : key_width;
	}
	if (page->failed)
		return NULL;
	indent = INDENT + key_width + COLUMN_GAP;
	below = indent + MIN_VALUE > page->width;
	if (below)
		indent = 2 * INDENT;
	for (block = first; block && block->kind == SL__BLOCK_PAIR;
	     block = block->next) {
		const char *key = spelled(page, block->key);

		put_spaces(page, INDENT);
		put(page, key);
		if (below)
			sl__buf_text(page->out, "\n");
		put_spaces(page, below ? indent
				       : indent - INDENT - sl__utf8_width(key));
		put_wrapped(page, spelled(page, block->text), indent);
	}
	return block;
}

/* Why a column of a table is not shown, if it is not. */
enum { SHOWN, EMPTY, TOO_WIDE };

/* A table laid out: cells[row * n_columns + column]. */
struct grid {
	const struct sl__column *columns;
	size_t n_columns, n_rows;
	const char **cells, **titles;
	size_t *widths;
	int *hidden;
};

/* False when out of memory. */
static int
fill_grid(struct page *page, struct grid *grid, const struct sl__block *block)
{
	size_t n = block->n_columns, i = 0;
	uint64_t empty = sl__doc_table_empty_columns(block);
	struct sl__arena *arena = &page->scratch;

	grid->columns = block->columns;
	grid->n_columns = n;
	grid->n_rows = (block->n_cells + n - 1) / n;
	grid->cells = sl__arena_array(arena, grid->n_rows * n, sizeof(char *));
	grid->titles = sl__arena_array(arena, n, sizeof(char *));
	grid->widths = sl__arena_array(arena, n, sizeof(size_t));
	grid->hidden = sl__arena_array(arena, n, sizeof(int));
	if (!grid->cells || !grid->titles || !grid->widths || !grid->hidden)
		return 0;
	for (; i < n; i++) {
		grid->titles[i] = spelled(page, block->columns[i].title);
		grid->widths[i] = sl__utf8_width(grid->titles[i]);
		grid->hidden[i] = i < 64 && empty >> i & 1 ? EMPTY : SHOWN;
	}
	for (i = 0; i < grid->n_rows * n; i++)
		grid->cells[i] = "";
	i = 0;
	for (const struct sl__cell *c = block->first_cell; c; c = c->next) {
		size_t width;

		grid->cells[i] = spelled(page, c->text);
		width = sl__utf8_width(grid->cells[i]);
		if (width > grid->widths[i % n])
			grid->widths[i % n] = width;
		i++;
	}
	return 1;
}

/* Columns taken when no left-aligned cell may be wider than max_left. */
static size_t
grid_width(const struct grid *grid, size_t max_left)
{
	size_t width = INDENT, gap = 0;

	for (size_t c = 0; c < grid->n_columns; c++) {
		size_t cell = grid->widths[c];

		if (grid->hidden[c])
			continue;
		if (!grid->columns[c].right && cell > max_left)
			cell = max_left;
		width += gap + cell;
		gap = COLUMN_GAP;
	}
	return width;
}

/* The shown column to leave out next, or n_columns. */
static size_t
most_optional(const struct grid *grid)
{
	size_t best = grid->n_columns;
	int most = 0;

	for (size_t c = 0; c < grid->n_columns; c++) {
		if (!grid->hidden[c] && grid->columns[c].optional > 0 &&
		    grid->columns[c].optional >= most) {
			most = grid->columns[c].optional;
			best = c;
		}
	}
	return best;
}

/* The shown left-aligned column with most to give, or n_columns. */
static size_t
widest_left(const struct grid *grid)
{
	size_t best = grid->n_columns, most = MIN_CELL;

	for (size_t c = 0; c < grid->n_columns; c++) {
		if (!grid->hidden[c] && !grid->columns[c].right &&
		    grid->widths[c] > most) {
			most = grid->widths[c];
			best = c;
		}
	}
	return best;
}

/*
 * Leaves out columns until the rest fits with names cut to a third of the
 * page, then cuts no more than it takes.
 */
static void
fit_grid(struct grid *grid, size_t width)
{
	size_t third = width / 3 > MIN_CELL ? width / 3 : MIN_CELL, c;

	while (grid_width(grid, third) > width) {
		c = most_optional(grid);
		if (c == grid->n_columns)
			break;
		grid->hidden[c] = TOO_WIDE;
	}
	while (grid_width(grid, SIZE_MAX) > width) {
		c = widest_left(grid);
		if (c == grid->n_columns)
			return;
		grid->widths[c]--;
	}
}

static void
put_row(struct page *page, const struct grid *grid, const char *const *cells)
{
	size_t spaces = INDENT, at = INDENT; /* where the column begins */

	for (size_t c = 0; c < grid->n_columns; c++) {
		const char *text = cells[c];
		size_t width;

		if (grid->hidden[c])
			continue;
		if (grid->columns[c].optional < 0 && *text) {
			put_spaces(page, spaces);
			put_wrapped(page, text, at);
			return;
		}
		at += grid->widths[c] + COLUMN_GAP;
		text = sl__utf8_shortened(&page->scratch, text, grid->widths[c],
					  page->ascii ? "..." : "…");
		if (!text) {
			page->failed = 1;
			return;
		}
		width = sl__utf8_width(text);
		if (grid->columns[c].right)
			spaces += grid->widths[c] - width;
		if (width) {
			put_spaces(page, spaces);
			put(page, text);
			spaces = 0;
		}
		if (!grid->columns[c].right)
			spaces += grid->widths[c] - width;
		spaces += COLUMN_GAP;
	}
	sl__buf_text(page->out, "\n");
}

/* The least width at which every column that has values fits. */
static size_t
width_of_all(struct grid *grid, size_t width)
{
	size_t all = grid_width(grid, SIZE_MAX);

	while (width < all && grid_width(grid, width / 3) > width)
		width++;
	return width;
}

static void
put_left_out(struct page *page, const struct grid *grid, size_t n_needed)
{
	const char *separator = "";
	struct sl_buf line = {0};

	sl__buf_text(&line, "\003Hidden for width: "); /* 3: dim */
	for (size_t c = 0; c < grid->n_columns; c++) {
		if (grid->hidden[c] != TOO_WIDE || !*grid->titles[c])
			continue;
		sl__buf_format(&line, "%s%s", separator, grid->titles[c]);
		separator = ", ";
	}
	sl__buf_format(&line, " (needs %zu columns)", n_needed);
	page->failed |= sl__buf_status(&line, NULL) != SL_OK;
	if (*separator && !page->failed) {
		put_spaces(page, INDENT);
		put_wrapped(page, line.data, INDENT);
	}
	sl_buf_release(&line);
}

static void
put_table(struct page *page, const struct sl__block *block)
{
	struct grid grid;
	size_t n_needed;

	if (!fill_grid(page, &grid, block)) {
		page->failed = 1;
		return;
	}
	n_needed = width_of_all(&grid, page->width);
	fit_grid(&grid, page->width);
	put_row(page, &grid, grid.titles);
	for (size_t row = 0; row < grid.n_rows; row++)
		put_row(page, &grid, grid.cells + row * grid.n_columns);
	put_left_out(page, &grid, n_needed);
}

/* One block, or a run of pairs; returns the block that follows. */
static const struct sl__block *
put_block(struct page *page, const struct sl__block *block)
{
	switch (block->kind) {
	case SL__BLOCK_PAIR:
		return put_pairs(page, block);
	case SL__BLOCK_HEADING:
		put_wrapped(page, spelled(page, block->text), 0);
		break;
	case SL__BLOCK_TEXT:
		put_spaces(page, INDENT);
		put_wrapped(page, spelled(page, block->text), INDENT);
		break;
	case SL__BLOCK_DRAWING:
		put_drawing(page, spelled(page, block->text));
		break;
	case SL__BLOCK_TABLE:
		put_table(page, block);
		break;
	case SL__BLOCK_GAP:
		break;
	}
	return block->next;
}

enum sl_status
sl__doc_render_text(const struct sl__doc *doc,
		    const struct sl_render_options *how, struct sl_buf *out,
		    struct sl_error *err)
{
	struct page page = {.out = out, .width = DEFAULT_COLUMNS};
	const struct sl__block *block = doc->first;

	if (how && how->n_columns)
		page.width = how->n_columns;
	if (page.width < MIN_COLUMNS)
		page.width = MIN_COLUMNS;
	page.color = how && how->color;
	page.ascii = how && how->ascii;
	sl__arena_init(&page.scratch, &doc->arena.allocator);
	while (block && !page.failed) {
		if (block->kind == SL__BLOCK_GAP) {
			page.gap_pending = 1;
			block = block->next;
			continue;
		}
		begin_block(&page, block);
		block = put_block(&page, block);
	}
	sl__arena_release(&page.scratch);
	if (page.failed)
		return sl__fail_nomem(err);
	return sl__buf_status(out, err);
}
