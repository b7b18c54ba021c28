/* SPDX-License-Identifier: Apache-2.0 */
/* render.h - a result in the format that a caller wants. */
#ifndef SL_RENDER_H
#define SL_RENDER_H

#include "base/json.h"
#include "report/doc.h"
#include "report/views.h"
#include "result/record.h"
#include "sleuth/rendering.h"

/*
 * How one kind of result is written.  Every function gets the result that
 * sl__render() was given.  'views' and 'hyperfine' may be NULL: there are
 * none, and refused.
 */
struct sl__renderer {
	const char *kind;    /* for the refusal, such as "a measurement" */
	const char *command; /* in JSON, unless the options name another */
	void (*page)(struct sl__doc *doc, const void *result,
		     const struct sl_render_options *how);
	void (*json)(struct sl__json *json, const void *result); /* members;
				NULL: the table writes them */
	void (*tell)(struct sl__json *json, const char *key, const void *record,
		     const void *parent); /* fields that are told; may be
				NULL */
	void (*csv)(struct sl_buf *out, const void *result); /* NULL: lists and
				columns of the document */
	const char *csv_rows, *csv_columns;
	void (*views)(struct sl__views *v, const void *result);
	enum sl_status (*hyperfine)(struct sl_buf *out, const void *result,
				    const struct sl_render_options *how,
				    struct sl_error *err); /* by how->format */
	const struct sl__record *table; /* of its fields, for JSON; where 'json'
				writes them, of how they are read back */
};

/*
 * Appends 'result' to 'out' as 'how' (NULL: the defaults) says.  SL_E_USAGE
 * for options that this library does not know and formats that the result
 * does not have.
 */
enum sl_status sl__render(const struct sl__renderer *renderer,
			  const void *result,
			  const struct sl_render_options *how,
			  struct sl_buf *out, struct sl_error *err) SL_CHECKED;

/* As sl__options_copy() does. */
enum sl_status sl__render_options_copy(struct sl_render_options *how,
				       const struct sl_render_options *options,
				       struct sl_error *err) SL_CHECKED;

/* The failure of a result, such as "a measurement", without that format. */
enum sl_status sl__render_refuse_format(struct sl_error *err,
					const char *result);

#endif
