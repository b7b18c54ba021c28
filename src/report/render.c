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
#include "report/html_page.h"
#include "report/result_csv.h"
#include "report/record_sentence.h"
#include "result/saved_result.h"
#include "sleuth.h"

#include "base/banned.h"

/* What a file that its reader wraps is laid out for, whatever the terminal of
 * whoever writes it has. */
enum { FILE_COLUMNS = 120 };

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
	doc.is_file = how->format != SL_FORMAT_TEXT;
	renderer->page(&doc, result, how);
	rc = sl__doc_render(&doc, how, out, err);
	sl__doc_release(&doc);
	if (!rc && how->format == SL_FORMAT_MARKDOWN && how->figures_folder &&
	    renderer->views) {
		struct sl__views links = {
			.purpose = SL__VIEWS_LINKS, .how = how, .out = out};

		renderer->views(&links, result);
		rc = sl__views_end(&links, err);
	}
	return rc;
}

static void
write_json(const struct sl__renderer *renderer, const void *result,
	   const struct sl_render_options *how, struct sl_buf *out)
{
	struct sl__json json;

	sl__result_document_begin(
		&json, out,
		&(struct sl__result_head){
			.command = how->command ? how->command
						: renderer->command,
			.version = how->version,
			.command_line = how->command_line,
			.host = how->host},
		renderer->table);
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

static enum sl_status
write_figures(const struct sl__renderer *renderer, const void *result,
	      const struct sl_render_options *how, struct sl_buf *out,
	      struct sl_error *err)
{
	struct sl__views views = {.purpose = how->figure ? SL__VIEWS_FILES
							 : SL__VIEWS_FIRST,
				  .how = how,
				  .out = out,
				  .err = err};
	enum sl_status rc;

	if (!renderer->views)
		return sl__fail(err, SL_E_USAGE, "%s has no figures",
				renderer->kind);
	renderer->views(&views, result);
	rc = sl__views_end(&views, err);
	if (!rc && !views.n_figures)
		return sl__fail(err, SL_E_ABSENT,
				"nothing to draw: what the figures of %s show "
				"was not measured",
				renderer->kind);
	return rc;
}

/* Everything that the text can say. */
static enum sl_status
write_html(const struct sl__renderer *renderer, const void *result,
	   const struct sl_render_options *how, struct sl_buf *out,
	   struct sl_error *err)
{
	struct sl_render_options all = *how;
	struct sl_buf body = {0}, index = {0}, json = {0};
	struct sl__views views = {.how = how, .out = &body, .index = &index};
	const char *command = how->command ? how->command : renderer->command;
	struct sl__doc doc;
	enum sl_status rc;

	all.verbose = 1;
	sl__doc_init(&doc, NULL);
	doc.is_file = 1;
	renderer->page(&doc, result, &all);
	if (renderer->views)
		renderer->views(&views, result);
	if (!views.page_title.n_bytes)
		sl__views_title(&views, command, "Result", "%s",
				renderer->kind);
	write_json(renderer, result, how, &json);
	rc = doc.failed ? sl__fail_nomem(err) : sl__views_end(&views, err);
	if (!rc)
		rc = sl__buf_status(&json, err);
	if (!rc) {
		const struct sl__html_page page = {
			.command = command,
			.version = how->version ? how->version : sl_version(),
			.title = views.page_title.data,
			.views = &body,
			.index = &index,
			.text = &doc,
			.result = &json,
			.frame = how->frame};

		sl__html_page(out, &page);
		rc = sl__buf_status(out, err);
	}
	sl__doc_release(&doc);
	sl_buf_release(&body);
	sl_buf_release(&index);
	sl_buf_release(&json);
	sl_buf_release(&views.page_title);
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
	if (how.format != SL_FORMAT_TEXT)
		how.n_columns = FILE_COLUMNS;
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
		return write_figures(renderer, result, &how, out, err);
	case SL_FORMAT_HTML:
		return write_html(renderer, result, &how, out, err);
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
