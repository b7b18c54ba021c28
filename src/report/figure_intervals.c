/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_intervals.c - estimates below each other: a point with its interval.
 *
 * Bars would begin at zero, where nothing of many sizes can be compared; a
 * point may stand on a logarithmic axis.
 */
#include "report/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const double ROW = 26, LEFT = 216, RIGHT = 640, TOP = 8;
enum { NAME_LETTERS = 28 }; /* 7.2 points each in wide faces */

/* From this ratio of the largest to the smallest on, the axis is
 * logarithmic. */
static const double LOG_FROM = 8;

int
sl__figure_has_interval(const struct sl_estimate *e)
{
	return !e->needs_n && isfinite(e->lo) && isfinite(e->hi) &&
	       e->hi > e->lo;
}

const char *
sl__figure_interval_text(struct sl__text *text, const struct sl_estimate *e,
			 const char *bounds, const char *nouns)
{
	if (e->needs_n)
		snprintf(text->s, sizeof(text->s),
			 "no interval: %zu %s are needed", e->needs_n, nouns);
	else if (isnan(e->lo) || isnan(e->hi))
		snprintf(text->s, sizeof(text->s), "no interval");
	else
		snprintf(text->s, sizeof(text->s), "95 %% %s", bounds);
	return text->s;
}

const char *
sl__figure_time_interval(struct sl__text *text,
			 const struct sl_estimate *time_ns, const char *nouns)
{
	struct sl__text value, bounds;
	const char *unit = strrchr(sl__time_value(&value, time_ns, NULL), ' ');
	size_t n;

	sl__figure_interval_text(text, time_ns,
				 sl__time_bounds_text(&bounds, time_ns, NULL),
				 nouns);
	n = strlen(text->s);
	if (unit && n && text->s[n - 1] == ']')
		snprintf(text->s + n, sizeof(text->s) - n, "\u00a0%s",
			 unit + 1); /* a bound and its unit stay together */
	return text->s;
}

double
sl__figure_intervals_height(size_t n)
{
	return TOP + ROW * (double)n + 56;
}

/* An interval may be so wide that it would leave the points no room. */
static double
bounded(double bound, double value, double limit)
{
	return isfinite(bound) && bound > 0
		       ? fmin(fmax(bound, value / limit), value * limit)
		       : value;
}

static int
set_axis(struct sl__axis *x, const struct sl__figure_interval *rows, size_t n,
	 double reference)
{
	double lo = reference > 0 ? reference : (double)INFINITY;
	double hi = reference > 0 ? reference : 0;

	for (size_t i = 0; i < n; i++) {
		double value = rows[i].value;

		if (!(value > 0) || isinf(value))
			continue;
		lo = fmin(lo, bounded(rows[i].lo, value, 3));
		hi = fmax(hi, bounded(rows[i].hi, value, 3));
	}
	if (!(hi >= lo) || !(hi > 0))
		return 0;
	x->is_log = hi > LOG_FROM * lo;
	if (x->is_log) {
		x->lo = lo / 1.3;
		x->hi = hi * 1.3;
		return 1;
	}
	x->lo = reference > 0 ? lo : 0;
	x->hi = hi;
	sl__axis_round(x);
	return 1;
}

static void
add_row(struct sl__svg *s, const struct sl__figure_interval *r,
	const char *label, const struct sl__axis *x, double y)
{
	double at, from, to;
	char look[32];

	sl__svg_label(s, "label end", LEFT - 10, y + 4, "%s", label);
	if (!(r->value > 0) || isinf(r->value))
		return;
	at = sl__axis_at(x, r->value);
	from = sl__axis_at(x, fmax(r->lo, x->lo));
	to = sl__axis_at(x, fmin(r->hi, x->hi));
	if (r->hi > r->lo && to > from) {
		snprintf(look, sizeof(look), "line k%d", r->colour);
		sl__svg_open(s, "line", look, "x1 y1 x2 y2", from, y, to, y);
		sl__svg_close(s);
	}
	snprintf(look, sizeof(look), "mark s%d", r->colour);
	sl__svg_open(s, "circle", look, "cx cy r", at, y, 5.0);
	sl__svg_close_with_tip(s, "%s: %s", r->name, r->text);
	sl__svg_label(s, "note", RIGHT + 14, y + 4, "%s", r->text);
}

int
sl__figure_intervals(struct sl__views *v, const struct sl__figure *figure,
		     const struct sl__figure_interval *rows, size_t n)
{
	struct sl__axis x = {.from = LEFT,
			     .to = RIGHT,
			     .unit = figure->unit,
			     .title = figure->axis};
	struct sl__axis y = {.from = TOP + ROW * (double)n, .to = TOP};
	struct sl__arena arena;
	struct sl__svg *s;
	const char **labels;
	double at;

	if (!n || !set_axis(&x, rows, n, figure->reference))
		return 0;
	s = sl__views_figure(v, figure->name, figure->title, SL__FIGURE_WIDTH,
			     sl__figure_intervals_height(n));
	sl__svg_axis_x(s, &x, &y);
	if (figure->reference > 0) {
		at = sl__axis_at(&x, figure->reference);
		sl__svg_open(s, "line", "line ink dash", "x1 y1 x2 y2", at,
			     y.to, at, y.from);
		sl__svg_close(s);
	}
	sl__arena_init(&arena, NULL);
	labels = sl__figure_labels(s, &arena, &rows->name, n, sizeof(*rows),
				   NAME_LETTERS);
	for (size_t i = 0; labels && i < n; i++)
		add_row(s, &rows[i], labels[i], &x,
			TOP + ROW * ((double)i + 0.5));
	sl__arena_release(&arena);
	return 1;
}
