/* SPDX-License-Identifier: Apache-2.0 */
/* html_page.h - a result as one page for a browser. */
#ifndef SL_HTML_PAGE_H
#define SL_HTML_PAGE_H

#include "report/doc.h"

/* The parts of a page. */
struct sl__html_page {
	const char *title;             /* in the window's frame */
	const char *command, *version; /* what made it */
	const struct sl_buf *views;    /* HTML */
	const struct sl_buf *index;    /* list items that link to the views */
	const struct sl__doc *text;    /* the whole report; NULL: none */
	const struct sl_buf *result;   /* the document, JSON; NULL: none */
	const struct sl_page_frame *frame; /* NULL: a file of its own */
};

/*
 * Appends the page.  Without a frame it asks for nothing: style sheet, script
 * and result are in it, and its policy forbids all else.  Without scripts the
 * views and the whole text are there to read.
 */
void sl__html_page(struct sl_buf *out, const struct sl__html_page *page);

/* The text of a report. */
void sl__doc_render_html(const struct sl__doc *doc, struct sl_buf *out);

#endif
