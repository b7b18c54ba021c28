/* SPDX-License-Identifier: Apache-2.0 */
/* doc.h - a page before it has a format. */
#ifndef SL_DOC_H
#define SL_DOC_H

#include "arena.h"

/*
 * A page is a list of blocks in an arena.  Builders do not return errors:
 * the first failed allocation sticks and sl__doc_render() reports it, so that
 * the code that describes a page reads like the page.
 */
struct sl__doc {
	struct sl__arena arena;
	struct sl__block *first, *last;
	int failed;
};

enum sl__style {
	SL__STYLE_PLAIN = 0,
	SL__STYLE_STRONG, /* headings, the figure that matters */
	SL__STYLE_DIM,    /* remarks */
	SL__STYLE_GOOD,
	SL__STYLE_WARN,
	SL__STYLE_BAD
};

struct sl__column {
	const char *title;
	int right;    /* numbers stand right-aligned */
	int optional; /* left out first when the terminal is narrow; higher
			 numbers go first, 0 always stays */
};

void sl__doc_init(struct sl__doc *doc, const struct sl_allocator *allocator);
void sl__doc_release(struct sl__doc *doc);

void sl__doc_heading(struct sl__doc *doc, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A paragraph; wrapped at the width of the page. */
void sl__doc_text(struct sl__doc *doc, enum sl__style style, const char *format,
		  ...) __attribute__((format(printf, 3, 4)));

/* "key  value"; neighbouring pairs are aligned with each other. */
void sl__doc_pair(struct sl__doc *doc, const char *key, enum sl__style style,
		  const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line that is not wrapped: part of a drawing (UTF-8 allowed). */
void sl__doc_drawing(struct sl__doc *doc, enum sl__style style,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void sl__doc_gap(struct sl__doc *doc); /* an empty line */

/*
 * Opens a table; rows follow cell by cell, left to right, and a row ends by
 * itself after n_columns cells.  'columns' must live as long as the page.
 */
void sl__doc_table(struct sl__doc *doc, const struct sl__column *columns,
		   size_t n_columns);
void sl__doc_cell(struct sl__doc *doc, enum sl__style style, const char *format,
		  ...) __attribute__((format(printf, 3, 4)));

/* TEXT or MARKDOWN; SL_E_USAGE for other formats. */
enum sl_status sl__doc_render(const struct sl__doc *doc,
			      const struct sl_render_options *how,
			      struct sl_buf *out,
			      struct sl_error *err) SL_CHECKED;

#endif
