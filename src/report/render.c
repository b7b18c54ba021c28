/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.c - a result in the format that a caller wants.
 *
 * What kinds of result have in common is here: defaults, the frame of a page
 * and of a JSON document, refusals.  What they say is in their report_ files.
 */
#include "report/render.h"
#include "base/buf.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "report/fact_text.h"
#include "report/result_csv.h"
#include "report/record_sentence.h"
#include "result/saved_result.h"
#include "sleuth.h"

#include "base/banned.h"

enum sl_status
sl__render_options_copy(struct sl_render_options *how,
			const struct sl_render_options *options,
			struct sl_error *err)
{
	return sl__options_copy(how, sizeof(*how), options, "sl_render_options",
				err);
}

enum sl_status
sl__render_refuse_format(struct sl_error *err, const char *result)
{
	return sl__fail(err, SL_E_USAGE, "%s has no such format", result);
}

static enum sl_status
render_page(const struct sl__renderer *renderer, const void *result,
	    const struct sl_render_options *how, struct sl_buf *out,
	    struct sl_error *err)
{
	struct sl__doc doc;
	enum sl_status rc;

	sl__doc_init(&doc, NULL);
	renderer->page(&doc, result, how);
	rc = sl__doc_render(&doc, how, out, err);
	sl__doc_release(&doc);
	return rc;
}

static void
write_json(const struct sl__renderer *renderer, const void *result,
	   const struct sl_render_options *how, struct sl_buf *out)
{
	struct sl__json json;

	sl__result_document_begin(
		&json, out, how->command ? how->command : renderer->command,
		how->version, renderer->table);
	json.say = sl__fact_append_sentence;
	json.speak = sl__record_sentence_write;
	json.tell = renderer->tell;
	if (renderer->json)
		renderer->json(&json, result);
	else
		sl__record_write_members(&json, renderer->table, result, NULL);
	sl__json_end_object(&json);
}

/* The figures of a line are those of the document. */
static enum sl_status
write_csv(const struct sl__renderer *renderer, const void *result,
	  const struct sl_render_options *how, struct sl_buf *out,
	  struct sl_error *err)
{
	struct sl_buf document = {0};
	enum sl_status rc;

	if (!renderer->csv && !renderer->csv_columns)
		return sl__render_refuse_format(err, renderer->kind);
	if (renderer->csv) {
		renderer->csv(out, result);
		return sl__buf_status(out, err);
	}
	write_json(renderer, result, how, &document);
	rc = sl__buf_status(&document, err);
	if (!rc)
		rc = sl__csv_from_json(out, renderer->csv_columns,
				       renderer->csv_rows, &document, err);
	sl_buf_release(&document);
	return rc;
}

enum sl_status
sl__render(const struct sl__renderer *renderer, const void *result,
	   const struct sl_render_options *options, struct sl_buf *out,
	   struct sl_error *err)
{
	struct sl_render_options how;
	enum sl_status rc = sl__render_options_copy(&how, options, err);

	if (rc)
		return rc;
	switch (how.format) {
	case SL_FORMAT_TEXT:
	case SL_FORMAT_MARKDOWN:
		return render_page(renderer, result, &how, out, err);
	case SL_FORMAT_JSON:
		write_json(renderer, result, &how, out);
		return sl__buf_status(out, err);
	case SL_FORMAT_CSV:
		return write_csv(renderer, result, &how, out, err);
	case SL_FORMAT_SVG:
		if (renderer->svg)
			return renderer->svg(out, result, err);
		break;
	case SL_FORMAT_HYPERFINE:
	case SL_FORMAT_HYPERFINE_CSV:
	case SL_FORMAT_HYPERFINE_MARKDOWN:
	case SL_FORMAT_HYPERFINE_ASCIIDOC:
	case SL_FORMAT_HYPERFINE_ORGMODE:
		if (renderer->hyperfine)
			return renderer->hyperfine(out, result, &how, err);
		break;
	}
	return sl__render_refuse_format(err, renderer->kind);
}
