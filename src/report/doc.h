/* SPDX-License-Identifier: Apache-2.0 */
/* doc.h - a page before it has a format. */
#ifndef SL_DOC_H
#define SL_DOC_H

#include "base/arena.h"
#include "sleuth/rendering.h"

/*
 * A page is a list of blocks in an arena.  Builders do not return errors: the
 * first failed allocation sticks and sl__doc_render() reports it.
 *
 * Text may come from anywhere: malformed UTF-8 and control characters are
 * made visible (printable.h) on the way in, and characters beyond ASCII are
 * spelled in ASCII on the way out where options.ascii asks for it.
 */
struct sl__doc {
	struct sl__arena arena;
	struct sl__block *first, *last;
	int is_file; /* its reader wraps lines: nothing is cut */
	int failed;
};

enum sl__style {
	SL__STYLE_PLAIN = 0,
	SL__STYLE_STRONG, /* headings, the figure that matters */
	SL__STYLE_DIM,    /* remarks */
	SL__STYLE_GOOD,
	SL__STYLE_WARN,
	SL__STYLE_BAD,
	SL__STYLE_CODE /* a command to copy: dim, and a code span in Markdown */
};

struct sl__column {
	const char *title;
	int right;    /* numbers stand right-aligned */
	int optional; /* left out on a narrow terminal, higher numbers first;
			 0 stays, -1 too: the last column, and wrapped */
};

void sl__doc_init(struct sl__doc *doc, const struct sl_allocator *allocator);
void sl__doc_release(struct sl__doc *doc);

enum sl__block_kind {
	SL__BLOCK_HEADING,
	SL__BLOCK_TEXT,
	SL__BLOCK_PAIR,
	SL__BLOCK_DRAWING,
	SL__BLOCK_GAP,
	SL__BLOCK_TABLE
};

/* A block of text.  A heading has an empty line before it unless it opens the
 * page, a paragraph is wrapped, and a drawing is a line that is not. */
void sl__doc_block(struct sl__doc *doc, enum sl__block_kind kind,
		   enum sl__style style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
#define sl__doc_heading(doc, ...) \
	sl__doc_block(doc, SL__BLOCK_HEADING, SL__STYLE_STRONG, __VA_ARGS__)
#define sl__doc_text(doc, style, ...) \
	sl__doc_block(doc, SL__BLOCK_TEXT, style, __VA_ARGS__)
#define sl__doc_drawing(doc, style, ...) \
	sl__doc_block(doc, SL__BLOCK_DRAWING, style, __VA_ARGS__)

/* "key  value"; neighbouring pairs are aligned with each other. */
void sl__doc_pair(struct sl__doc *doc, const char *key, enum sl__style style,
		  const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Goes on with the last block (for a table: its last cell) in another style;
 * a space that separates the two belongs to the second. */
void sl__doc_append(struct sl__doc *doc, enum sl__style style,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void sl__doc_gap(struct sl__doc *doc); /* an empty line */

/*
 * Opens a table; rows follow cell by cell, left to right, and a row ends by
 * itself after n_columns cells.  Titles must live as long as the page.
 * A column without a value ("-" or nothing in every row) is left out.  Where
 * the page is narrow, optional columns are left out and named below the table,
 * then the widest left-aligned cells are shortened in the middle.
 */
void sl__doc_table(struct sl__doc *doc, const struct sl__column *columns,
		   size_t n_columns);
void sl__doc_cell(struct sl__doc *doc, enum sl__style style, const char *format,
		  ...) __attribute__((format(printf, 3, 4)));

/* Leaves columns out of the last table whose rows all say the same, but the
 * first; returns what: "memory 12 MB, energy 2 J". */
const char *sl__doc_drop_equal_columns(struct sl__doc *doc);

/* The commonest of these: a pair, a cell of one text and more of the last block
 * in the plain style, more of it dimmed, and the cell of what is absent. */
#define sl__doc_plain_pair(doc, key, ...) \
	sl__doc_pair(doc, key, SL__STYLE_PLAIN, __VA_ARGS__)
#define sl__doc_plain_cell(doc, text) \
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", text)
#define sl__doc_append_plain(doc, ...) \
	sl__doc_append(doc, SL__STYLE_PLAIN, __VA_ARGS__)
#define sl__doc_append_dim(doc, ...) \
	sl__doc_append(doc, SL__STYLE_DIM, __VA_ARGS__)
#define sl__doc_absent_cell(doc) sl__doc_cell(doc, SL__STYLE_DIM, "-")

/* 'text', or "" where it is NULL because storage ran out, which sticks. */
const char *sl__doc_text_or_nomem(struct sl__doc *doc, const char *text);

/* TEXT or MARKDOWN; SL_E_USAGE for other formats. */
enum sl_status sl__doc_render(const struct sl__doc *doc,
			      const struct sl_render_options *how,
			      struct sl_buf *out,
			      struct sl_error *err) SL_CHECKED;

/* What the renderers read. */

/*
 * Text holds printable UTF-8 and, as its only control bytes, style marks:
 * the byte 1 + style switches to that style until the next mark.
 */
struct sl__cell {
	struct sl__cell *next;
	const char *text;
};

struct sl__block {
	struct sl__block *next;
	enum sl__block_kind kind;
	const char *key;  /* of a pair */
	const char *text; /* of all but gaps and tables */
	const struct sl__column *columns;
	size_t n_columns, n_cells;
	struct sl__cell *first_cell, *last_cell; /* row by row */
};

/* Bit c of 64: every row of a table has "-" or nothing in column c. */
uint64_t sl__doc_table_empty_columns(const struct sl__block *table);

/* The style that a byte of text switches to, or -1. */
int sl__doc_style_from_byte(char byte);

enum sl_status sl__doc_render_text(const struct sl__doc *doc,
				   const struct sl_render_options *how,
				   struct sl_buf *out,
				   struct sl_error *err) SL_CHECKED;
enum sl_status sl__doc_render_markdown(const struct sl__doc *doc,
				       struct sl_buf *out,
				       struct sl_error *err) SL_CHECKED;

#endif
