/* SPDX-License-Identifier: Apache-2.0 */
/* rendering.h - the formats a result can be written in. */
#ifndef SLEUTH_RENDERING_H
#define SLEUTH_RENDERING_H

#include "sleuth/basics.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sl_format {
	SL_FORMAT_TEXT = 0, /* for a terminal */
	SL_FORMAT_JSON,     /* docs/schema.md */
	SL_FORMAT_CSV,
	SL_FORMAT_MARKDOWN,
	SL_FORMAT_SVG,       /* the first figure; with 'figure', each of them */
	SL_FORMAT_HYPERFINE, /* bench only: JSON as hyperfine exports it */
	SL_FORMAT_HYPERFINE_CSV,      /* likewise */
	SL_FORMAT_HYPERFINE_MARKDOWN, /* its table of means, and so the next */
	SL_FORMAT_HYPERFINE_ASCIIDOC,
	SL_FORMAT_HYPERFINE_ORGMODE,
	SL_FORMAT_HTML /* one page that needs no other file and no network */
};

/* Takes one figure of a result; 'name' would do as the name of a file. */
typedef enum sl_status sl_figure_function(void *ctx, const char *name,
					  const struct sl_buf *svg,
					  struct sl_error *err);

/*
 * A page for a browser as part of a site: it links to /page.css and /page.js,
 * and leaves the policy to the server.  Both are HTML, taken as they are.
 */
struct sl_page_frame {
	const char *links; /* items of the list that leads to other pages */
	const char *head;  /* before the result; NULL: nothing */
};

struct sl_render_options {
	size_t struct_size;
	enum sl_format format;
	size_t n_columns;    /* of text: width of the terminal; default 80 */
	int color;           /* ANSI colours in text */
	int ascii;           /* no characters beyond ASCII in text */
	int verbose;         /* everything, not one screen */
	const char *command; /* "bench", "compare": for JSON and headings */
	const char *version; /* of the program that measured, for JSON; default
				this library's */
	const char *unit;    /* "ns", "us", "ms", "s"; default: what fits */
	const char *sort;    /* "command" (as given) or "mean-time" */
	sl_figure_function *figure; /* gets each figure where the format is SVG;
				       NULL: 'out' gets the first */
	void *figure_ctx;
	const char *figures_folder; /* Markdown links to NAME.svg there; NULL:
				       without figures */
	const struct sl_page_frame *frame; /* of HTML; NULL: the page is a file
				       of its own */
	const char *command_line; /* that asked for the result, for JSON; NULL:
				     it is not said */
	const char *host;         /* what it was measured on, likewise */
};
#define SL_RENDER_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_render_options)

#ifdef __cplusplus
}
#endif

#endif
