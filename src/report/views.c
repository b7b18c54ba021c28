/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.c - what a page shows of a result beside its text.
 *
 * A result describes its views once.  The page takes all of them; files of
 * figures and links to these take the figures and leave out the rest.
 */
#include "report/views.h"
#include "base/buf.h"
#include "report/fact_text.h"
#include "report/markup.h"

#include "base/banned.h"

static int
is_page(const struct sl__views *v)
{
	return v->purpose == SL__VIEWS_PAGE;
}

static void
end_tiles(struct sl__views *v)
{
	if (v->n_tiles)
		sl__buf_text(v->out, "</div>\n");
	v->n_tiles = 0;
}

static void
end_view(struct sl__views *v)
{
	end_tiles(v);
	if (v->is_open)
		sl__buf_text(v->out, "</section>\n");
	v->is_open = 0;
}

enum sl_status
sl__views_end(struct sl__views *v, struct sl_error *err)
{
	enum sl_status rc = v->status;

	if (is_page(v))
		end_view(v);
	if (!rc)
		rc = sl__buf_status(&v->file, err);
	if (!rc)
		rc = sl__buf_status(v->out, err);
	sl_buf_release(&v->file);
	return rc;
}

void
sl__views_title(struct sl__views *v, const char *title, const char *kind,
		const char *format, ...)
{
	va_list args;

	if (!is_page(v))
		return;
	sl__buf_format(&v->page_title, "%s: %s", title, kind);
	sl__buf_text(v->out, "<header class=\"head\">\n<p class=\"kind\">");
	sl__markup_text(v->out, kind);
	sl__buf_text(v->out, "</p>\n<h1>");
	sl__markup_text(v->out, title);
	sl__buf_text(v->out, "</h1>\n<p class=\"setup\">");
	va_start(args, format);
	sl__markup_vformat(v->out, format, args);
	va_end(args);
	sl__buf_text(v->out, "</p>\n</header>\n");
}

void
sl__views_tile(struct sl__views *v, const char *label, const char *path,
	       const char *value, const char *format, ...)
{
	va_list args;

	if (!is_page(v))
		return;
	if (!v->n_tiles++)
		sl__buf_text(v->out, "<div class=\"tiles\">\n");
	sl__buf_text(v->out, "<div class=\"tile\"><p class=\"what\">");
	sl__markup_text(v->out, label);
	sl__buf_text(v->out, "</p><p class=\"value\" data-path=\"");
	sl__markup_text(v->out, path);
	sl__buf_text(v->out, "\">");
	sl__markup_text(v->out, value);
	sl__buf_text(v->out, "</p><p class=\"detail\">");
	va_start(args, format);
	sl__markup_vformat(v->out, format, args);
	va_end(args);
	sl__buf_text(v->out, "</p></div>\n");
}

static void
open_view(struct sl__views *v, const char *name, const char *title,
	  const char *class_name)
{
	end_view(v);
	sl__buf_format(v->index, "<li><a href=\"#%s\">%s</a></li>\n", name,
		       title);
	sl__buf_format(v->out,
		       "<section id=\"%s\" class=\"%s\" aria-labelledby=\""
		       "%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
		       name, class_name, name, name, title);
	v->is_open = 1;
}

void
sl__views_open(struct sl__views *v, const char *name, const char *title)
{
	if (is_page(v))
		open_view(v, name, title, "view");
}

void
sl__views_scripted(struct sl__views *v, const char *name, const char *title,
		   const char *note)
{
	if (!is_page(v))
		return;
	open_view(v, name, title, "view scripted");
	sl__buf_format(v->out, "<p class=\"note unscripted\">%s</p>\n", note);
}

void
sl__views_text(struct sl__views *v, const char *class_name, const char *format,
	       ...)
{
	va_list args;

	if (!is_page(v))
		return;
	end_tiles(v);
	sl__buf_format(v->out, "<p class=\"%s\">", class_name);
	va_start(args, format);
	sl__markup_vformat(v->out, format, args);
	va_end(args);
	sl__buf_text(v->out, "</p>\n");
}

void
sl__views_facts(struct sl__views *v, const char *heading,
		const struct sl_fact *facts, size_t n)
{
	struct sl_buf sentence = {0};

	if (!is_page(v) || !n)
		return;
	end_tiles(v);
	sl__buf_format(v->out, "<h3>%s</h3>\n<ul class=\"facts\">\n", heading);
	for (size_t i = 0; i < n; i++) {
		sentence.n_bytes = 0;
		sl__fact_append_sentence(&sentence, &facts[i]);
		sl__buf_text(v->out, "<li>");
		sl__markup_text(v->out, sentence.data);
		sl__buf_text(v->out, "</li>\n");
	}
	sl__buf_text(v->out, "</ul>\n");
	if (sl__buf_status(&sentence, NULL))
		sl__buf_mark_failed(v->out);
	sl_buf_release(&sentence);
}

struct sl__svg *
sl__views_figure(struct sl__views *v, const char *name, const char *title,
		 double width, double height)
{
	end_tiles(v);
	v->figure = name;
	v->title = title;
	v->file.n_bytes = 0;
	v->svg = (struct sl__svg){.out = is_page(v) ? v->out : &v->file,
				  .is_alone = !is_page(v)};
	if (is_page(v)) {
		sl__buf_format(v->out,
			       "<figure id=\"figure-%s\"><div class=\"plot\" "
			       "tabindex=\"0\" role=\"group\" "
			       "aria-label=\"",
			       name);
		sl__markup_text(v->out, title);
		sl__buf_text(v->out, "\">\n");
	}
	sl__svg_begin(&v->svg, title, width, height);
	return &v->svg;
}

static void
add_link(struct sl__views *v)
{
	sl__buf_format(v->out, "%s![",
		       v->n_figures ? "\n" : "\n## Figures\n\n");
	sl__markup_text(v->out, v->title);
	sl__buf_format(v->out, "](%s/%s.svg)\n", v->how->figures_folder,
		       v->figure);
}

void
sl__views_figure_end(struct sl__views *v, const char *format, ...)
{
	va_list args;

	sl__svg_end(&v->svg);
	if (is_page(v)) {
		sl__buf_text(v->out, "</div>\n<figcaption><b>");
		sl__markup_text(v->out, v->title);
		sl__buf_text(v->out, "</b> ");
		va_start(args, format);
		sl__markup_vformat(v->out, format, args);
		va_end(args);
		sl__buf_text(v->out, "</figcaption></figure>\n");
	} else if (v->purpose == SL__VIEWS_LINKS) {
		add_link(v);
	} else if (v->purpose == SL__VIEWS_FIRST && !v->n_figures) {
		sl__buf_add(v->out, v->file.data, v->file.n_bytes);
	} else if (v->purpose == SL__VIEWS_FILES && !v->status) {
		v->status = sl__buf_status(&v->file, v->err);
		if (!v->status)
			v->status = v->how->figure(v->how->figure_ctx,
						   v->figure, &v->file, v->err);
	}
	v->n_figures++;
}
