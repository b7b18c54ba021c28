/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site_pages.c - results for people: pages in the frame of one site.
 *
 * Every page can be read and used without scripts: filters are forms, and what
 * they ask for is in the address.  Text from results passes through markup.h,
 * in addresses through add_url_value().
 */
#include "base/buf.h"
#include "base/status.h"
#include "report/html_page.h"
#include "report/markup.h"
#include "report/page_assets.h"
#include "report/unit.h"
#include "serve/site.h"
#include "sleuth.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { COMMIT = 10, MACHINE = 8 }; /* characters that are shown */

enum page { PAGE_RUNS = 0, PAGE_SERIES, PAGE_COMPARE, PAGE_RUN };

/* Arguments that choose among results, and what forms call them. */
static const struct {
	const char *name, *label;
} filters[] = {{"model", "Model"},       {"command", "Command"},
	       {"branch", "Branch"},     {"commit", "Commit"},
	       {"machine", "Machine"},   {"tag", "Tag (NAME=VALUE)"},
	       {"since", "Since (date)"}};
enum { N_FILTERS = sizeof(filters) / sizeof(filters[0]) };

/* Parts. */

static void
add_links(struct sl_buf *out, enum page page)
{
	static const struct {
		const char *path, *title;
	} pages[] = {[PAGE_RUNS] = {"/", "Results"},
		     [PAGE_SERIES] = {"/series", "Series"},
		     [PAGE_COMPARE] = {"/compare", "Compare"}};

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		sl__buf_format(out, "<li><a href=\"%s\"%s>%s</a></li>\n",
			       pages[i].path,
			       page == i ? " aria-current=\"page\"" : "",
			       pages[i].title);
}

/* All but letters, digits and "-._~" as %41. */
static void
add_url_value(struct sl_buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z') || strchr("-._~", c))
			sl__buf_add(out, text, 1);
		else
			sl__buf_format(out, "%%%02X", c);
	}
}

static void
add_field(struct sl_buf *out, const struct sl__visit *visit, const char *name,
	  const char *label)
{
	sl__buf_format(out, "<label>%s <input name=\"%s\" value=\"", label,
		       name);
	sl__markup_text(out, sl__visit_argument(visit, name));
	sl__buf_text(out, "\"></label>\n");
}

static void
add_filters(struct sl_buf *out, const struct sl__visit *visit)
{
	sl__buf_format(out, "<form class=\"filters\" action=\"%s\">\n",
		       visit->request->path);
	for (size_t i = 0; i < N_FILTERS; i++)
		add_field(out, visit, filters[i].name, filters[i].label);
	sl__buf_text(out, "<button>Show</button>\n</form>\n");
}

static void
add_title(struct sl_buf *out, const char *kind, const char *title)
{
	sl__buf_format(out,
		       "<header class=\"head\">\n<p class=\"kind\">%s</p>\n<h1>"
		       "%s</h1>\n</header>\n",
		       kind, title);
}

/* A page that holds no document, of what is in 'views'. */
static enum sl_status
write_plain(struct sl_buf *body, const char *title, enum page page,
	    const struct sl_buf *views, struct sl_error *err)
{
	const struct sl_buf index = {0};
	struct sl_buf links = {0};
	struct sl_page_frame frame = {.head = NULL};
	enum sl_status rc = sl__buf_status(views, err);

	add_links(&links, page);
	if (!rc)
		rc = sl__buf_status(&links, err);
	frame.links = links.data;
	if (!rc)
		sl__html_page(body,
			      &(struct sl__html_page){.title = title,
						      .command = "serve",
						      .version = sl_version(),
						      .views = views,
						      .index = &index,
						      .frame = &frame});
	sl_buf_release(&links);
	return rc;
}

void
sl__write_error_page(struct sl_buf *body, unsigned status,
		     const struct sl_error *err)
{
	struct sl_buf views = {0};
	char title[32];

	snprintf(title, sizeof(title), "Error %u", status);
	add_title(&views, "Sleuth", title);
	sl__buf_text(&views, "<p class=\"lead\">");
	sl__markup_text(&views, err->text);
	sl__buf_text(&views, "</p>\n<p><a href=\"/\">All results</a></p>\n");
	if (write_plain(body, title, PAGE_RUN, &views, NULL))
		sl__buf_mark_failed(body);
	sl_buf_release(&views);
}

/* The list of results. */

static void
add_time(struct sl_buf *out, const struct sl_stored_run *r)
{
	double ns = r->n_points == 1 ? r->points[0].time_ns.value : (double)NAN;
	struct sl__text text;

	sl__buf_format(out, "<td class=\"n\" data-value=\"%.17g\">",
		       isfinite(ns) ? ns : -1);
	sl__markup_text(out, sl__time_text(&text, ns));
	sl__buf_text(out, "</td>");
}

static void
add_name(struct sl_buf *out, const struct sl_stored_run *r)
{
	const char *name = r->n_points ? r->points[0].name : NULL;

	sl__buf_text(out, "<td class=\"name\">");
	if (name) {
		sl__buf_text(out, "<a href=\"/series?model=");
		add_url_value(out, name);
		sl__buf_text(out, "\">");
		sl__markup_text(out, name);
		sl__buf_text(out, "</a>");
	}
	if (r->n_points > 1)
		sl__buf_format(out, " and %zu more", r->n_points - 1);
	sl__buf_text(out, "</td>");
}

static void
add_tags(struct sl_buf *out, const struct sl_stored_run *r)
{
	for (size_t i = 0; i < r->n_tags; i++)
		sl__markup_format(out, "%s%s=%s", i ? " " : "", r->tags[i].name,
				  r->tags[i].value);
}

static void
add_row(struct sl_buf *out, const struct sl_stored_run *r)
{
	struct sl__text date;

	sl__buf_text(out, "<tr>");
	for (int b = 0; b < 2; b++)
		sl__buf_format(
			out,
			"<td><input type=\"radio\" name=\"%c\" value=\"%" PRIu64
			"\" aria-label=\"run:%" PRIu64 " as %c\"></td>",
			"ab"[b], r -> id, r -> id, "AB"[b]);
	sl__buf_format(out,
		       "<td data-value=\"%" PRIu64 "\"><a class=\"run\" "
		       "href=\"/runs/%" PRIu64 "\">run:%" PRIu64
		       "</a></td><td>%s</td><td>",
		       r->id, r->id, r->id,
		       sl__date_text(&date, r->saved_at_s));
	sl__markup_text(out, r->command);
	sl__buf_text(out, "</td>");
	add_name(out, r);
	add_time(out, r);
	sl__buf_text(out, "<td>");
	sl__markup_format(out, "%.*s%s", COMMIT, r->commit ? r->commit : "",
			  r->is_dirty ? "+" : "");
	sl__buf_text(out, "</td><td>");
	sl__markup_text(out, r->branch);
	sl__buf_text(out, "</td><td>");
	add_tags(out, r);
	sl__buf_text(out, "</td><td>");
	sl__markup_format(out, "%.*s", MACHINE, r->machine);
	sl__buf_text(out, "</td></tr>\n");
}

static void
add_table(struct sl_buf *out, const struct sl_stored_runs *runs, size_t first)
{
	sl__buf_text(
		out,
		"<form action=\"/compare\">\n<p class=\"tools\"><button>"
		"Compare A with B</button> <span class=\"count\">+ after a "
		"commit: files differed from it</span></p>\n"
		"<div class=\"wide\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"Results\"><table class=\"runs\"><thead><tr>"
		"<th scope=\"col\">A</th><th scope=\"col\">B</th>"
		"<th scope=\"col\" data-sort>run</th>"
		"<th scope=\"col\" data-sort>saved (UTC)</th>"
		"<th scope=\"col\" data-sort>command</th>"
		"<th scope=\"col\" data-sort>of</th>"
		"<th scope=\"col\" class=\"n\" data-sort>median</th>"
		"<th scope=\"col\" data-sort>commit</th>"
		"<th scope=\"col\" data-sort>branch</th>"
		"<th scope=\"col\" data-sort>tags</th>"
		"<th scope=\"col\" data-sort>machine</th>"
		"</tr></thead><tbody>\n");
	for (size_t i = runs->n; i-- > first;)
		add_row(out, &runs->list[i]);
	sl__buf_text(out, "</tbody></table></div>\n</form>\n");
}

/* A link to the same list from another place on. */
static void
add_turn(struct sl_buf *out, const struct sl__visit *visit, size_t offset,
	 const char *title)
{
	sl__buf_format(out, "<a href=\"/?offset=%zu", offset);
	for (size_t i = 0; i < visit->request->n_args; i++) {
		const struct sl_parameter *arg = &visit->request->args[i];

		if (!*arg->value || strcmp(arg->name, "offset") == 0)
			continue;
		sl__buf_text(out, "&amp;");
		add_url_value(out, arg->name);
		sl__buf_text(out, "=");
		add_url_value(out, arg->value);
	}
	sl__buf_format(out, "\">%s</a> ", title);
}

/* Filled by src/page/live.js. */
#define LIVE                                                                 \
	"<section id=\"live\" hidden aria-live=\"polite\" "                  \
	"aria-label=\"Measurements that run just now\">\n<ul></ul>\n<p "     \
	"class=\"news\" hidden>A measurement has ended. <a href=\"/\">Show " \
	"the newest results</a></p>\n</section>\n"

enum sl_status
sl__page_runs(struct sl_buf *body, const struct sl__visit *visit,
	      struct sl_error *err)
{
	static const char *const also[] = {NULL};
	struct sl_stored_runs *runs = NULL;
	struct sl_buf views = {0};
	struct sl_store_query query;
	enum sl_status rc = sl__visit_query(&query, visit, also, err);
	size_t n_shown;

	if (rc)
		return rc;
	query.n_most++; /* whether there are more */
	rc = sl_store_find(&runs, visit->store, &query, err);
	if (rc)
		return rc;
	n_shown = runs->n < query.n_most ? runs->n : query.n_most - 1;
	add_title(&views, "Sleuth", "Results");
	sl__buf_text(&views, LIVE);
	add_filters(&views, visit);
	if (n_shown)
		add_table(&views, runs, runs->n - n_shown);
	else
		sl__buf_text(&views, "<p class=\"lead\">No result matches."
				     "</p>\n");
	sl__buf_text(&views, "<p class=\"turn\">");
	if (query.n_skipped)
		add_turn(&views, visit,
			 query.n_skipped > n_shown && n_shown
				 ? query.n_skipped - (query.n_most - 1)
				 : 0,
			 "Newer");
	if (n_shown < runs->n)
		add_turn(&views, visit, query.n_skipped + n_shown, "Older");
	sl__buf_text(&views, "</p>\n");
	rc = write_plain(body, "Results", PAGE_RUNS, &views, err);
	sl_buf_release(&views);
	sl_stored_runs_free(runs);
	return rc;
}

/* Pages of documents. */

/* What renders a document as a page of this site; 'head' is before it. */
struct framed {
	struct sl_buf links, head;
	struct sl_page_frame frame;
	struct sl_render_options how;
};

static enum sl_status
frame_end(struct framed *f, enum page page, struct sl_error *err)
{
	enum sl_status rc;

	add_links(&f->links, page);
	rc = sl__buf_status(&f->links, err);
	if (!rc)
		rc = sl__buf_status(&f->head, err);
	f->frame = (struct sl_page_frame){f->links.data, f->head.data};
	f->how = (struct sl_render_options){.struct_size = sizeof(f->how),
					    .format = SL_FORMAT_HTML,
					    .frame = &f->frame};
	return rc;
}

static void
frame_release(struct framed *f)
{
	sl_buf_release(&f->links);
	sl_buf_release(&f->head);
}

/* What the store knows of a result besides its document. */
static enum sl_status
add_labels(struct sl_buf *out, const struct sl__visit *visit,
	   struct sl_error *err)
{
	struct sl_stored_runs *runs;
	struct sl__text date;
	enum sl_status rc = sl_store_find(
		&runs, visit->store,
		&(struct sl_store_query){.struct_size =
						 sizeof(struct sl_store_query),
					 .ids = &visit->run,
					 .n_ids = 1},
		err);

	if (rc)
		return rc;
	for (size_t i = 0; i < runs->n; i++) {
		const struct sl_stored_run *r = &runs->list[i];

		sl__buf_text(out, "<p class=\"note\">");
		sl__markup_format(
			out,
			"run:%" PRIu64 ", saved %s UTC on machine "
			"%.*s%s%.*s%s%s%s. ",
			r->id, sl__date_text(&date, r->saved_at_s), MACHINE,
			r->machine, r->commit ? ", commit " : "", COMMIT,
			r->commit ? r->commit : "", r->is_dirty ? "+" : "",
			r->branch ? " of " : "", r->branch ? r->branch : "");
		add_tags(out, r);
		sl__buf_format(out,
			       " <a href=\"/api/runs/%" PRIu64 "\">JSON</a></p>"
			       "\n",
			       r->id);
	}
	sl_stored_runs_free(runs);
	return SL_OK;
}

/* Used by src/page/changes.js: a form alone cannot send a header. */
static void
add_changes(struct sl_buf *out, const struct sl__visit *visit)
{
	sl__buf_format(
		out,
		"<details class=\"changes\"><summary>Change this result"
		"</summary>\n<form class=\"changes\" method=\"post\" hidden "
		"data-run=\"%" PRIu64 "\">\n"
		"<p class=\"tools\"><label>Token <input type=\"password\" "
		"name=\"token\" autocomplete=\"off\" required></label>"
		"<output role=\"status\"></output></p>\n"
		"<p class=\"tools\"><label>Tag <input name=\"tag\"></label>"
		"<label>Value <input name=\"value\"></label>"
		"<button value=\"tag\">Set the tag</button>"
		"<button value=\"untag\">Remove the tag</button></p>\n"
		"<p class=\"tools\"><label>Baseline <input name=\"baseline\">"
		"</label><button value=\"baseline\">Make it the baseline"
		"</button><button value=\"unbaseline\">No baseline</button>"
		"</p>\n<p class=\"tools\"><button value=\"pin\">Pin</button>"
		"<button value=\"unpin\">Unpin</button></p>\n"
		"<p class=\"tools\"><label>Number of the result <input "
		"name=\"sure\" inputmode=\"numeric\"></label>"
		"<button value=\"delete\">Delete it</button></p>\n"
		"</form></details>\n",
		visit->run);
}

enum sl_status
sl__page_run(struct sl_buf *body, const struct sl__visit *visit,
	     struct sl_error *err)
{
	struct framed f = {.links = {0}};
	struct sl_result *result = NULL;
	struct sl_buf json = {0};
	enum sl_status rc = sl_store_get(visit->store, visit->run, &json, err);

	if (!rc)
		rc = add_labels(&f.head, visit, err);
	if (!rc && visit->has_token)
		add_changes(&f.head, visit);
	if (!rc)
		rc = frame_end(&f, PAGE_RUN, err);
	if (!rc)
		rc = sl_result_read(&result, json.data, json.n_bytes, NULL,
				    err);
	if (!rc)
		rc = sl_result_render(result, &f.how, body, err);
	sl_result_free(result);
	sl_buf_release(&json);
	frame_release(&f);
	return rc;
}

enum sl_status
sl__page_series(struct sl_buf *body, const struct sl__visit *visit,
		struct sl_error *err)
{
	struct framed f = {.links = {0}};
	enum sl_status rc;

	add_filters(&f.head, visit);
	rc = frame_end(&f, PAGE_SERIES, err);
	if (!rc)
		rc = sl__render_series(body, visit, &f.how, err);
	frame_release(&f);
	return rc;
}

enum sl_status
sl__page_compare(struct sl_buf *body, const struct sl__visit *visit,
		 struct sl_error *err)
{
	struct framed f = {.links = {0}};
	enum sl_status rc;

	sl__buf_text(&f.head, "<form class=\"filters\" action=\"/compare\">\n");
	add_field(&f.head, visit, "a", "A, the baseline");
	add_field(&f.head, visit, "b", "B");
	sl__buf_text(&f.head, "<button>Compare</button>\n</form>\n");
	rc = frame_end(&f, PAGE_COMPARE, err);
	if (!rc && sl__visit_argument(visit, "a") &&
	    sl__visit_argument(visit, "b"))
		rc = sl__render_comparison(body, visit, &f.how, err);
	else if (!rc)
		rc = write_plain(body, "Compare", PAGE_COMPARE, &f.head, err);
	frame_release(&f);
	return rc;
}

/* Files that pages ask for. */

enum sl_status
sl__file_style(struct sl_buf *body, const struct sl__visit *visit,
	       struct sl_error *err)
{
	(void)visit;
	sl__buf_add(body, (const char *)sl__page_style, sl__page_style_bytes);
	return sl__buf_status(body, err);
}

enum sl_status
sl__file_script(struct sl_buf *body, const struct sl__visit *visit,
		struct sl_error *err)
{
	(void)visit;
	sl__buf_add(body, (const char *)sl__page_script, sl__page_script_bytes);
	return sl__buf_status(body, err);
}

enum sl_status
sl__file_site_script(struct sl_buf *body, const struct sl__visit *visit,
		     struct sl_error *err)
{
	(void)visit;
	sl__buf_add(body, (const char *)sl__page_site_script,
		    sl__page_site_script_bytes);
	return sl__buf_status(body, err);
}

/* The icon: bars under a lens. */
enum sl_status
sl__file_icon(struct sl_buf *body, const struct sl__visit *visit,
	      struct sl_error *err)
{
	(void)visit;
	sl__buf_text(body,
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
		     "16 16\"><path d=\"M4 11V8M7 11V4M10 11V6\" "
		     "stroke=\"#0072b2\" stroke-width=\"2\"/><circle cx=\"7\" "
		     "cy=\"7\" r=\"5.5\" fill=\"none\" stroke=\"#5b636d\" "
		     "stroke-width=\"1.5\"/><path d=\"M11 11l4 4\" "
		     "stroke=\"#5b636d\" stroke-width=\"2\"/></svg>\n");
	return sl__buf_status(body, err);
}
