/* SPDX-License-Identifier: Apache-2.0 */
/* html_page.c - a result as one page for a browser. */
#include "report/html_page.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "report/markup.h"
#include "report/page_assets.h"
#include "result/embedded_result.h"

#include <string.h>

#include "base/banned.h"

/* Text up to the next mark of style; returns its end. */
static const char *
add_run(struct sl_buf *out, const char *text, enum sl__style style)
{
	static const char *const tags[] = {
		[SL__STYLE_STRONG] = "b",   [SL__STYLE_DIM] = "span",
		[SL__STYLE_GOOD] = "span",  [SL__STYLE_WARN] = "span",
		[SL__STYLE_BAD] = "strong", [SL__STYLE_CODE] = "code"};
	static const char *const classes[] = {[SL__STYLE_DIM] = "dim",
					      [SL__STYLE_GOOD] = "good",
					      [SL__STYLE_WARN] = "warn",
					      [SL__STYLE_BAD] = "bad",
					      [SL__STYLE_CODE] = ""};
	char run[256];

	if (style != SL__STYLE_PLAIN)
		sl__buf_format(out, "<%s%s%s%s>", tags[style],
			       classes[style] && *classes[style] ? " class=\""
								 : "",
			       classes[style] ? classes[style] : "",
			       classes[style] && *classes[style] ? "\"" : "");
	while (*text && sl__doc_style_from_byte(*text) < 0) {
		size_t n = 0;

		while (text[n] && sl__doc_style_from_byte(text[n]) < 0 &&
		       n + SL__UTF8_MOST < sizeof(run))
			n += sl__utf8_step(text + n);
		memcpy(run, text, n);
		run[n] = '\0';
		sl__markup_text(out, run);
		text += n;
	}
	if (style != SL__STYLE_PLAIN)
		sl__buf_format(out, "</%s>", tags[style]);
	return text;
}

static void
add_styled(struct sl_buf *out, const char *text)
{
	enum sl__style style = SL__STYLE_PLAIN;

	while (text && *text) {
		int mark = sl__doc_style_from_byte(*text);

		if (mark >= 0) {
			style = (enum sl__style)mark;
			text++;
			continue;
		}
		text = add_run(out, text, style);
	}
}

static void
add_table(struct sl_buf *out, const struct sl__block *table)
{
	uint64_t empty = sl__doc_table_empty_columns(table);
	const struct sl__cell *cell = table->first_cell;

	sl__buf_text(out, "<div class=\"wide\" tabindex=\"0\"><table><thead>"
			  "<tr>");
	for (size_t c = 0; c < table->n_columns; c++) {
		if (c < 64 && empty >> c & 1)
			continue;
		sl__buf_text(out, table->columns[c].right
					  ? "<th scope=\"col\" class=\"n\">"
					  : "<th scope=\"col\">");
		sl__markup_text(out, table->columns[c].title);
		sl__buf_text(out, "</th>");
	}
	sl__buf_text(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; cell; cell = cell->next, i++) {
		size_t c = i % table->n_columns;

		if (!c)
			sl__buf_text(out, "<tr>");
		if (c >= 64 || !(empty >> c & 1)) {
			sl__buf_text(out, table->columns[c].right
						  ? "<td class=\"n\">"
						  : "<td>");
			add_styled(out, cell->text);
			sl__buf_text(out, "</td>");
		}
		if (c + 1 == table->n_columns)
			sl__buf_text(out, "</tr>\n");
	}
	sl__buf_text(out, "</tbody></table></div>\n");
}

/* The tag that holds neighbours of a kind together; NULL: none. */
static const char *
list_tag(const struct sl__block *block)
{
	if (block && block->kind == SL__BLOCK_PAIR)
		return "dl";
	return block && block->kind == SL__BLOCK_DRAWING ? "pre" : NULL;
}

static void
add_block(struct sl_buf *out, const struct sl__block *block)
{
	switch (block->kind) {
	case SL__BLOCK_HEADING:
		sl__buf_text(out, "<h3>");
		add_styled(out, block->text);
		sl__buf_text(out, "</h3>\n");
		break;
	case SL__BLOCK_TEXT:
		sl__buf_text(out, "<p>");
		add_styled(out, block->text);
		sl__buf_text(out, "</p>\n");
		break;
	case SL__BLOCK_PAIR:
		if (*block->key) {
			sl__buf_text(out, "<dt>");
			sl__markup_text(out, block->key);
			sl__buf_text(out, "</dt>");
		}
		sl__buf_text(out, "<dd>");
		add_styled(out, block->text);
		sl__buf_text(out, "</dd>\n");
		break;
	case SL__BLOCK_DRAWING:
		add_styled(out, block->text);
		sl__buf_text(out, "\n");
		break;
	case SL__BLOCK_TABLE:
		add_table(out, block);
		break;
	case SL__BLOCK_GAP:
		break;
	}
}

void
sl__doc_render_html(const struct sl__doc *doc, struct sl_buf *out)
{
	const char *open = NULL;

	for (const struct sl__block *b = doc->first; b; b = b->next) {
		const char *tag = list_tag(b);

		if (open && (!tag || strcmp(tag, open) != 0))
			sl__buf_format(out, "</%s>\n", open);
		if (tag && (!open || strcmp(tag, open) != 0))
			sl__buf_format(out, "<%s>\n", tag);
		open = tag;
		add_block(out, b);
	}
	if (open)
		sl__buf_format(out, "</%s>\n", open);
}

/* What a page that is a file of its own brings along. */
static void
add_policy(struct sl_buf *out)
{
	sl__buf_format(out,
		       "<meta http-equiv=\"Content-Security-Policy\" "
		       "content=\"default-src 'none'; style-src '%s'; "
		       "script-src '%s'; base-uri 'none'; form-action "
		       "'none'\">\n",
		       sl__page_style_hash, sl__page_script_hash);
}

static void
add_style(struct sl_buf *out)
{
	sl__buf_text(out, "<style>");
	sl__buf_add(out, (const char *)sl__page_style, sl__page_style_bytes);
	sl__buf_text(out, "</style>\n");
}

static void
add_script(struct sl_buf *out)
{
	sl__buf_text(out, "<script>");
	sl__buf_add(out, (const char *)sl__page_script, sl__page_script_bytes);
	sl__buf_text(out, "</script>\n");
}

static void
add_head(struct sl_buf *out, const struct sl__html_page *page)
{
	sl__buf_text(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
			  "<meta charset=\"utf-8\">\n");
	if (!page->frame)
		add_policy(out);
	sl__buf_format(out,
		       "<meta name=\"viewport\" content=\"width=device-width, "
		       "initial-scale=1\">\n"
		       "<meta name=\"color-scheme\" content=\"light dark\">\n"
		       "<meta name=\"generator\" content=\"sleuth %s\">\n"
		       "<title>",
		       page->version);
	sl__markup_text(out, page->title);
	sl__buf_text(out, "</title>\n");
	if (page->frame)
		sl__buf_text(out, "<link rel=\"icon\" href=\"/icon.svg\">\n"
				  "<link rel=\"stylesheet\" "
				  "href=\"/page.css\">\n");
	else
		add_style(out);
	sl__buf_text(out, "</head>\n");
}

static void
add_text_of_report(struct sl_buf *out, const struct sl__html_page *page)
{
	sl__buf_text(out, "<section id=\"report\" class=\"view\" "
			  "aria-labelledby=\"report-title\">\n<h2 "
			  "id=\"report-title\">Full report</h2>\n<div "
			  "class=\"report\">\n");
	sl__doc_render_html(page->text, out);
	sl__buf_text(out, "</div>\n</section>\n");
}

static void
add_footer(struct sl_buf *out, const struct sl__html_page *page)
{
	sl__buf_format(out, "<footer><p>Written by <b>sleuth %s</b> %s.",
		       page->command, page->version);
	if (!page->frame)
		sl__buf_text(out, " The page holds its data: <code>sleuth "
				  "report FILE.html --json</code> gives them "
				  "back.");
	sl__buf_text(out, "</p></footer>\n");
}

static void
add_navigation(struct sl_buf *out, const struct sl__html_page *page)
{
	sl__buf_text(out,
		     "<body>\n<a class=\"skip\" href=\"#main\">Skip to the "
		     "result</a>\n<nav aria-label=\"Views\">\n"
		     "<p class=\"brand\">Sleuth</p>\n");
	if (page->frame)
		sl__buf_format(out, "<ul class=\"site\">\n%s</ul>\n",
			       page->frame->links);
	sl__buf_text(out, "<ul>\n");
	if (page->index->n_bytes)
		sl__buf_add(out, page->index->data, page->index->n_bytes);
	if (page->text)
		sl__buf_text(out, "<li><a href=\"#report\">Full report</a>"
				  "</li>\n");
	sl__buf_text(out, "</ul>\n</nav>\n");
}

void
sl__html_page(struct sl_buf *out, const struct sl__html_page *page)
{
	add_head(out, page);
	add_navigation(out, page);
	sl__buf_text(out, "<main id=\"main\">\n");
	if (page->frame && page->frame->head)
		sl__buf_text(out, page->frame->head);
	sl__buf_add(out, page->views->data, page->views->n_bytes);
	if (page->text)
		add_text_of_report(out, page);
	sl__buf_text(out, "</main>\n");
	add_footer(out, page);
	if (page->result)
		sl__embedded_result_write(out, page->result);
	if (page->frame)
		sl__buf_text(out, "<script src=\"/page.js\"></script>\n"
				  "<script src=\"/site.js\"></script>\n");
	else
		add_script(out);
	sl__buf_text(out, "</body>\n</html>\n");
}
