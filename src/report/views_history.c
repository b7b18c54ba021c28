/* SPDX-License-Identifier: Apache-2.0 */
/* views_history.c - the views of a history: times, levels, and what changed. */
#include "report/figures.h"
#include "report/unit.h"
#include "sleuth/storing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum {
	SERIES_MOST = 20,
	COMMIT = 10,
	LEAST_SIDE = 4,        /* as sl_history_of() says */
	LEAST = 2 * LEAST_SIDE /* points that may have a change */
};

static const double LEFT = 96, RIGHT = 830, TOP = 40, BOTTOM = 250;
static const double S_PER_NS = 1e-9;

static int
has_interval(const struct sl_history_point *p)
{
	return !p->time_ns.needs_n && sl__figure_has_interval(&p->drawn_ns);
}

/* Axes that hold every point and its interval. */
static int
set_axes(struct sl__axis axes[2], const struct sl_history_series *series,
	 const struct sl_history_point *points)
{
	double lo = INFINITY, hi = 0, room;
	size_t n = series->n_points;

	for (size_t i = 0; i < n; i++) {
		const struct sl_estimate *e = &points[i].drawn_ns;
		int is_wide = has_interval(&points[i]);

		if (!isfinite(e->value))
			continue;
		lo = fmin(lo, S_PER_NS * (is_wide ? e->lo : e->value));
		hi = fmax(hi, S_PER_NS * (is_wide ? e->hi : e->value));
	}
	if (!n || !(hi >= lo) || !(hi > 0))
		return 0;
	/* Noise of a few thousandths is not blown up to the full height. */
	room = fmax(0.1 * (hi - lo), 0.02 * hi);
	axes[0] = (struct sl__axis){.lo = 0.5,
				    .hi = (double)n + 0.5,
				    .from = LEFT,
				    .to = RIGHT,
				    .is_whole = 1,
				    .title = "result, in order"};
	axes[1] = (struct sl__axis){.lo = fmax(0, lo - room),
				    .hi = hi + room,
				    .from = BOTTOM,
				    .to = TOP,
				    .unit = "s",
				    .title = series->anchor
						     ? "median time, corrected "
						       "by the anchor"
						     : "median time"};
	sl__axis_round(&axes[1]);
	return 1;
}

static void
add_points(struct sl__svg *s, const struct sl_history_point *points, size_t n,
	   const struct sl__axis axes[2])
{
	struct sl__text t;

	for (size_t i = 0; i < n; i++) {
		const struct sl_history_point *p = &points[i];
		double x = sl__axis_at(&axes[0], (double)i + 1);

		if (!isfinite(p->drawn_ns.value))
			continue;
		if (has_interval(p)) {
			sl__svg_open(s, "line", "line k0", "x1 y1 x2 y2", x,
				     sl__axis_at(&axes[1],
						 S_PER_NS * p->drawn_ns.lo),
				     x,
				     sl__axis_at(&axes[1],
						 S_PER_NS * p->drawn_ns.hi));
			sl__svg_close(s);
		}
		sl__svg_open(
			s, "circle", "mark s0", "cx cy r", x,
			sl__axis_at(&axes[1], S_PER_NS * p->drawn_ns.value),
			3.5);
		sl__svg_close_with_tip(
			s, "run:%" PRIu64 "%s%.*s%s: %s", p->run,
			p->commit ? ", commit " : "", COMMIT,
			p->commit ? p->commit : "",
			p->is_dirty ? " with changes" : "",
			sl__time_estimate(&t, &p->time_ns, NULL));
	}
}

/* The level of the points from 'first' up to 'end'. */
static void
add_level(struct sl__svg *s, double ns, size_t first, size_t end,
	  const struct sl__axis axes[2])
{
	double y = sl__axis_at(&axes[1], S_PER_NS * ns);

	if (!(S_PER_NS * ns >= axes[1].lo) || !(S_PER_NS * ns <= axes[1].hi))
		return;
	sl__svg_open(s, "line", "line ink dash", "x1 y1 x2 y2",
		     sl__axis_at(&axes[0], (double)first + 0.5), y,
		     sl__axis_at(&axes[0], (double)end + 0.5), y);
	sl__svg_close(s);
}

/* Names of neighbours stand in two rows. */
static void
add_change(struct sl__svg *s, const struct sl_history_change *c, double x,
	   size_t row)
{
	const char *word = c->share > 0 ? "slower" : "faster";
	struct sl__text share, before, after;

	sl__percent_text(&share, fabs(c->share));
	sl__svg_open(s, "line", c->share > 0 ? "line k1" : "line k2",
		     "x1 y1 x2 y2", x, TOP, x, BOTTOM);
	sl__svg_close_with_tip(
		s, "%s %s since run:%" PRIu64 ": %s before, %s after", share.s,
		word, c->run, sl__time_text(&before, c->before_ns),
		sl__time_text(&after, c->after_ns));
	sl__svg_label(s, x > 600 ? "label end" : "label", x,
		      TOP - 8 - 14 * (double)row, "%s %s%s%.*s", share.s, word,
		      c->commit ? " since " : "", COMMIT,
		      c->commit ? c->commit : "");
}

/* Levels and the changes between them; returns how many changes. */
static size_t
add_changes(struct sl__svg *s, const struct sl_history *h, size_t nth,
	    const struct sl__axis axes[2])
{
	const struct sl_history_series *series = &h->series[nth];
	const struct sl_history_change *last = NULL;
	size_t from = 0, n = 0;

	for (size_t i = 0; i < h->n_changes; i++) {
		const struct sl_history_change *c = &h->changes[i];
		size_t at = c->point - series->first;

		if (c->series != nth || at >= series->n_points)
			continue;
		add_level(s, c->before_ns, from, at, axes);
		add_change(s, c, sl__axis_at(&axes[0], (double)at + 0.5),
			   n % 2);
		from = at;
		last = c;
		n++;
	}
	if (last)
		add_level(s, last->after_ns, from, series->n_points, axes);
	return n;
}

static void
add_series(struct sl__views *v, const struct sl_history *h, size_t nth)
{
	const struct sl_history_series *series = &h->series[nth];
	const struct sl_history_point *points = &h->points[series->first];
	struct sl__axis axes[2];
	char name[32], title[256], needs[64];
	struct sl__svg *s;
	size_t n, n_intervals = 0;

	if (!set_axes(axes, series, points))
		return;
	for (size_t i = 0; i < series->n_points; i++)
		n_intervals += (size_t)has_interval(&points[i]);
	snprintf(name, sizeof(name), "history-%zu", nth + 1);
	snprintf(title, sizeof(title), "%s%s%s", series->name,
		 series->settings ? ", " : "",
		 series->settings ? series->settings : "");
	s = sl__views_figure(v, name, title, SL__FIGURE_WIDTH, 304);
	sl__svg_axes(s, &axes[0], &axes[1]);
	n = add_changes(s, h, nth, axes);
	add_points(s, points, series->n_points, axes);
	snprintf(needs, sizeof(needs),
		 "A change needs %d results on each side.", LEAST_SIDE);
	sl__views_figure_end(
		v, "On machine %.8s: medians%s, %s. %s", series->machine,
		n_intervals ? " with their 95 % intervals" : "",
		series->anchor ? "as ratios to the anchor of the same run, at "
				 "its usual time"
			       : "without an anchor",
		n ? "Dashed: the levels before and after each change."
		: series->n_points < LEAST ? needs
					   : "No lasting change.");
}

static void
add_tiles(struct sl__views *v, const struct sl_history *h)
{
	const struct sl_history_change *worst = NULL;
	size_t n_most = 0; /* points of the longest series */
	char value[64], path[64];
	struct sl__text t;

	for (size_t i = 0; i < h->n_series; i++) {
		if (h->series[i].n_points > n_most)
			n_most = h->series[i].n_points;
	}
	for (size_t i = 0; i < h->n_changes; i++) {
		if (!worst || h->changes[i].share > worst->share)
			worst = &h->changes[i];
	}
	sl__views_open(v, "summary", "Summary");
	sl__views_tile(v, "Results", "",
		       sl__count_text(&t, (uint64_t)h->n_points), "%zu series",
		       h->n_series);
	snprintf(value, sizeof(value), "%zu", h->n_changes);
	if (n_most < LEAST)
		sl__views_tile(v, "Lasting changes", "", "–",
			       "needs %d results of a series", LEAST);
	else
		sl__views_tile(v, "Lasting changes", "", value,
			       "with %d results or more on each side",
			       LEAST_SIDE);
	if (worst && worst->share > 0) {
		snprintf(value, sizeof(value), "%s slower",
			 sl__percent_text(&t, worst->share));
		snprintf(path, sizeof(path), "history.changes.%zu.change",
			 (size_t)(worst - h->changes));
		sl__views_tile(v, "Largest regression", path, value,
			       "since run:%" PRIu64 "%s%.*s", worst->run,
			       worst->commit ? ", commit " : "", COMMIT,
			       worst->commit ? worst->commit : "");
	}
}

void
sl__history_views(struct sl__views *v, const void *result)
{
	const struct sl_history *h = result;

	sl__views_title(v, h->n_series == 1 ? h->series[0].name : "Results",
			"History", "%zu result%s", h->n_points,
			h->n_points == 1 ? "" : "s");
	if (!h->n_series)
		return;
	add_tiles(v, h);
	sl__views_open(v, "history", "History");
	for (size_t i = 0; i < h->n_series && i < SERIES_MOST; i++)
		add_series(v, h, i);
	if (h->n_series > SERIES_MOST)
		sl__views_text(v, "note",
			       "The first %d of %zu series are drawn; the "
			       "report below has all.",
			       SERIES_MOST, h->n_series);
}
