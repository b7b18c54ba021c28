/* SPDX-License-Identifier: Apache-2.0 */
/* views.h - what a page shows of a result beside its text: views and figures. */
#ifndef SL_VIEWS_H
#define SL_VIEWS_H

#include "report/svg.h"
#include "sleuth/facts.h"
#include "sleuth/rendering.h"

/* Who the views are for. */
enum sl__views_for {
	SL__VIEWS_PAGE = 0, /* all of it, as HTML */
	SL__VIEWS_FILES,    /* figures alone, each a file */
	SL__VIEWS_FIRST,    /* the first figure alone */
	SL__VIEWS_LINKS     /* links to the files, as Markdown */
};

/*
 * Where a function that describes views writes.  Like the builders of text, it
 * returns no errors: they stick to the buffers.
 */
struct sl__views {
	enum sl__views_for purpose;
	const struct sl_render_options *how;
	struct sl_buf *out; /* of the page; or of the first figure, or links */
	struct sl_buf *index; /* of the page: links to the views */
	struct sl_buf file;   /* the figure that is drawn, where it is a file */
	struct sl__svg svg;
	const char *figure, *title; /* its names */

	struct sl_buf page_title; /* what the page is of */
	size_t n_figures;
	int is_open;           /* a view is */
	int n_tiles;           /* that are open */
	enum sl_status status; /* of how->figure */
	struct sl_error *err;
};

/* Ends what is open; SL_E_NOMEM, or what how->figure returned. */
enum sl_status sl__views_end(struct sl__views *v, struct sl_error *err);

/* The head of the page: its name, and a line on what it is of. */
void sl__views_title(struct sl__views *v, const char *title, const char *kind,
		     const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A number that matters, what it is and what else belongs to it; 'path' is
 * where the document has it.  Neighbours stand side by side. */
void sl__views_tile(struct sl__views *v, const char *label, const char *path,
		    const char *value, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Opens a view; 'name' is its anchor. */
void sl__views_open(struct sl__views *v, const char *name, const char *title);

/* One that the page's script fills from the document; 'note' says where its
 * figures are for readers without scripts. */
void sl__views_scripted(struct sl__views *v, const char *name,
			const char *title, const char *note);

/* A paragraph; 'class_name' may be "lead", "note" or "command". */
void sl__views_text(struct sl__views *v, const char *class_name,
		    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A list of sentences under a heading; nothing where n is 0. */
void sl__views_facts(struct sl__views *v, const char *heading,
		     const struct sl_fact *facts, size_t n);

/* Opens a figure of that size; name is unique in a page.  Draw into what is
 * returned. */
struct sl__svg *sl__views_figure(struct sl__views *v, const char *name,
				 const char *title, double width,
				 double height);
/* Ends it, with what a reader should see in it. */
void sl__views_figure_end(struct sl__views *v, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
