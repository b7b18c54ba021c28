/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - where a result goes: the screen and files. */
#ifndef SL_OUTPUT_H
#define SL_OUTPUT_H

#include "options.h"
#include "save.h"
#include "sleuth.h"

/* Files in formats of hyperfine, as hyperfine's --export-... name them. */
enum {
	OUTPUT_JSON,
	OUTPUT_CSV,
	OUTPUT_MARKDOWN,
	OUTPUT_ASCIIDOC,
	OUTPUT_ORGMODE,
	N_HYPERFINE
};

/* What the options of output_option_group() say. */
struct output {
	const char *json; /* NULL: not asked; "": to standard output alone */
	const char *csv, *markdown, *svg, *html; /* files, or NULL */
	const char *figures;                     /* a folder, or NULL */
	const char *hyperfine[N_HYPERFINE];
	const char *color;  /* "auto", "always" or "never" */
	const char *own[2]; /* files that the command writes itself, or NULL */
	const char *unit, *sort;
	int quiet, verbose, plain;
	struct save_options store;
};

/* --json, --csv, --html, --figures, --md, --color, --plain, --verbose, --quiet,
 * --save, --db, --tag: for every command whose result may be kept; and without the
 * last three. */
struct option_group output_option_group(struct output *output);
struct option_group output_page_option_group(struct output *output);

/* Renders some result; like sl_bench_render(). */
typedef enum sl_status render_function(const void *result,
				       const struct sl_render_options *how,
				       struct sl_buf *out,
				       struct sl_error *err);

/* Defines render(), which hands its result to a function of the library. */
#define RENDER_WITH(function)                                                  \
	static enum sl_status render(const void *result,                       \
				     const struct sl_render_options *how,      \
				     struct sl_buf *out, struct sl_error *err) \
	{                                                                      \
		return function(result, how, out, err);                        \
	}

/*
 * Looks, before anything is measured, whether the files can be written and
 * the words are known; ends the program after one line on stderr otherwise.
 */
void output_check(const struct output *output, const char *command);

/* Standard output as it was, where output_check() gave oneDNN's lines another
 * way; before a document is written there. */
void output_restore_stdout(void);

/* Whether a result goes to standard output, which nothing else should then. */
int output_takes_stdout(const struct output *output);

/*
 * Writes everything asked for; the page too unless another format goes to
 * standard output.  What readers of models remarked goes to stderr first,
 * unless 'quiet'.  Returns 0 or an exit code.
 */
int output_write(const struct output *output, const char *command,
		 render_function *render, const void *result);

/*
 * Writes what a command rendered itself to one of its own files, or to
 * standard output for "-".  Returns 0 or an exit code.
 */
int output_write_own(const struct sl_buf *page, const char *command,
		     const char *path);

#endif
