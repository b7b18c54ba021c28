/* SPDX-License-Identifier: Apache-2.0 */
/* report_history.c - the times of a model over the results of a store. */
#include "report/figures.h"
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/storing.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { SPARKS_MOST = 60 };

/* A line of blocks: each column is the largest of its points, so that no spike
 * is lost; the lowest block is the smallest time of all. */
static void
add_sparkline(struct sl__doc *doc, const struct sl_history_point *points,
	      size_t n)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄",
					     "▅", "▆", "▇", "█"};
	size_t n_columns = n < SPARKS_MOST ? n : SPARKS_MOST;
	double lo = (double)INFINITY, hi = 0;

	for (size_t i = 0; i < n; i++) {
		lo = fmin(lo, points[i].drawn_ns.value);
		hi = fmax(hi, points[i].drawn_ns.value);
	}
	sl__doc_drawing(doc, SL__STYLE_PLAIN, "%s", "");
	for (size_t c = 0; c < n_columns; c++) {
		size_t from = c * n / n_columns, to = (c + 1) * n / n_columns;
		double most = 0;
		int level;

		for (size_t i = from; i < to; i++)
			most = fmax(most, points[i].drawn_ns.value);
		level = hi > lo ? (int)(7.99 * (most - lo) / (hi - lo)) : 0;
		sl__doc_append_plain(doc, "%s", blocks[level]);
	}
}

/* "2026-11-16". */
static const char *
day_text(struct sl__text *text, double at_s)
{
	sl__date_text(text, at_s);
	text->s[strcspn(text->s, " ")] = '\0';
	return text->s;
}

static void
add_change(struct sl__doc *doc, const struct sl_history *h,
	   const struct sl_history_change *c)
{
	struct sl__text before, after, share, day;

	sl__doc_text(doc, c->share > 0 ? SL__STYLE_BAD : SL__STYLE_GOOD,
		     "%s %s", sl__percent_text(&share, fabs(c->share)),
		     c->share > 0 ? "slower" : "faster");
	sl__doc_append_plain(doc, " since run:%" PRIu64, c->run);
	if (c->commit)
		sl__doc_append_plain(doc, ", commit %.10s", c->commit);
	sl__doc_append_dim(doc, " of %s; before it %s, after it %s",
			   day_text(&day, h->points[c->point].saved_at_s),
			   sl__time_text(&before, c->before_ns),
			   sl__time_text(&after, c->after_ns));
	if (c->commit_before)
		sl__doc_append_dim(doc, "; the last commit before it is %.10s",
				   c->commit_before);
}

static void
add_series(struct sl__doc *doc, const struct sl_history *h, size_t nth)
{
	const struct sl_history_series *s = &h->series[nth];
	const struct sl_history_point *points = &h->points[s->first];
	const struct sl_history_point *last = &points[s->n_points - 1];
	struct sl__text from, to, time;
	size_t n_changes = 0;

	sl__doc_heading(doc, "%s", s->name);
	sl__doc_append_dim(doc, "  %s%smachine %.8s",
			   s->settings ? s->settings : "",
			   s->settings ? ", " : "", s->machine);
	add_sparkline(doc, points, s->n_points);
	sl__doc_text(doc, SL__STYLE_PLAIN,
		     "%zu result%s from %s to %s; the last, run:%" PRIu64
		     ", took %s",
		     s->n_points, s->n_points == 1 ? "" : "s",
		     day_text(&from, points->saved_at_s),
		     day_text(&to, last->saved_at_s), last->run,
		     sl__time_estimate(&time, &last->time_ns, NULL));
	if (s->anchor)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Drawn: the ratio to anchor %" PRIu64
			     " of the same run, at its median of %s.",
			     s->anchor, sl__time_text(&time, s->anchor_ns));
	else
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Drawn: bare times; no anchor was timed in these "
			     "runs.");
	for (size_t i = 0; i < h->n_changes; i++) {
		if (h->changes[i].series != nth)
			continue;
		add_change(doc, h, &h->changes[i]);
		n_changes++;
	}
	if (s->n_points < 8)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "A change needs 4 results on each side.");
	else if (!n_changes)
		sl__doc_text(doc, SL__STYLE_GOOD, "No lasting change.");
}

static void
write_page(struct sl__doc *doc, const void *result,
	   const struct sl_render_options *how)
{
	const struct sl_history *h = result;

	(void)how;
	if (!h->n_series)
		sl__doc_text(doc, SL__STYLE_PLAIN,
			     "No result with a time matches; 'sleuth profile "
			     "MODEL --save' keeps one.");
	for (size_t i = 0; i < h->n_series; i++) {
		if (h->series[i].n_points)
			add_series(doc, h, i);
	}
}

enum sl_status
sl_history_render(const struct sl_history *history,
		  const struct sl_render_options *how, struct sl_buf *out,
		  struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a history",
		.command = "history",
		.page = write_page,
		.views = sl__history_views,
		.table = &sl__table_history,
		.csv_rows = "history.points",
		.csv_columns = "series,run,saved_at,commit,branch,dirty,"
			       "median_ms",
	};

	return sl__render(&renderer, history, how, out, err);
}
