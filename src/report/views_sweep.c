/* SPDX-License-Identifier: Apache-2.0 */
/* views_sweep.c - the views of a sweep: time and rate over sizes, with laws. */
#include "base/buf.h"
#include "report/figures.h"
#include "report/unit.h"
#include "sleuth/sweeping.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { SERIES_MOST = 7, LAW_POINTS = 48, TICKS_MOST = 12 };

static const double TOP = 34, BOTTOM = 340, HEIGHT = 394;

/* A figure of a point, and how it is drawn. */
struct chart {
	const char *name, *title, *unit, *y_title;
	struct sl_estimate (*value)(const struct sl_sweep_point *p);
	int has_law;
};

/* What was drawn beside the points, for the caption. */
struct drawn {
	int is_wide; /* an interval */
	int has_law, has_knee;
};

static struct sl_estimate
seconds(const struct sl_sweep_point *p)
{
	struct sl_estimate e = p->latency_ns;

	e.value *= 1e-9;
	e.lo *= 1e-9;
	e.hi *= 1e-9;
	return e;
}

static struct sl_estimate
rate(const struct sl_sweep_point *p)
{
	return p->rate_per_s;
}

/* One that a logarithmic axis can show. */
static int
has_interval(const struct sl_estimate *e)
{
	return sl__figure_has_interval(e) && e->lo > 0;
}

/* Axes that hold all points; 0 where there is none. */
static int
set_axes(struct sl__axis *x, struct sl__axis *y, const struct sl_sweep *sweep,
	 const struct chart *chart)
{
	x->lo = y->lo = INFINITY;
	for (size_t i = 0; i < sweep->n_series; i++) {
		const struct sl_sweep_series *series = &sweep->series[i];

		for (size_t k = 0; k < series->n_points; k++) {
			double at = (double)series->points[k].value;
			struct sl_estimate e = chart->value(&series->points[k]);

			if (!(e.value > 0) || !(at > 0))
				continue;
			x->lo = fmin(x->lo, at);
			x->hi = fmax(x->hi, at);
			y->lo = fmin(y->lo, e.value);
			y->hi = fmax(y->hi, e.value);
			if (!has_interval(&e))
				continue;
			/* It may be as wide as nothing is known. */
			y->lo = fmin(y->lo, fmax(e.lo, e.value / 3));
			y->hi = fmax(y->hi, fmin(e.hi, e.value * 3));
		}
	}
	if (!(x->hi > x->lo) || !(y->hi > 0))
		return 0;
	y->lo /= 1.2;
	y->hi *= 1.2;
	return 1;
}

static void
add_point(struct sl__svg *s, const struct sl_sweep_series *series, size_t k,
	  const double at[2], const char *look)
{
	const struct sl_sweep_point *p = &series->points[k];
	struct sl__text a, b;

	sl__svg_open(s, "circle", look, "cx cy r", at[0], at[1], 4.5);
	sl__svg_close_with_tip(s, "%s at %lld: %s, %s/s", series->name,
			       (long long)p->value,
			       sl__time_estimate(&a, &p->latency_ns, NULL),
			       sl__si_prefix_text(&b, p->rate_per_s.value));
}

/* Points with their intervals, joined; returns whether one has an interval. */
static int
add_series(struct sl__svg *s, const struct sl_sweep_series *series,
	   const struct chart *chart, const struct sl__axis axes[2],
	   size_t index)
{
	char line[32], mark[32];
	int is_wide = 0;

	snprintf(line, sizeof(line), "line k%zu", index);
	snprintf(mark, sizeof(mark), "mark s%zu", index);
	sl__svg_path(s, line);
	for (size_t k = 0; k < series->n_points; k++) {
		double value = chart->value(&series->points[k]).value;

		if (value > 0)
			sl__svg_path_to(
				s,
				sl__axis_at(&axes[0],
					    (double)series->points[k].value),
				sl__axis_at(&axes[1], value));
	}
	sl__svg_path_done(s);
	sl__svg_close(s);
	for (size_t k = 0; k < series->n_points; k++) {
		struct sl_estimate e = chart->value(&series->points[k]);
		double x =
			sl__axis_at(&axes[0], (double)series->points[k].value);

		if (!(e.value > 0))
			continue;
		if (has_interval(&e)) {
			sl__svg_open(
				s, "line", line, "x1 y1 x2 y2", x,
				sl__axis_at(&axes[1], fmax(e.lo, axes[1].lo)),
				x,
				sl__axis_at(&axes[1], fmin(e.hi, axes[1].hi)));
			sl__svg_close(s);
			is_wide = 1;
		}
		add_point(s, series, k,
			  (double[]){x, sl__axis_at(&axes[1], e.value)}, mark);
	}
	return is_wide;
}

/* offset + scale n^exponent of the whole iteration, dashed; returns whether
 * there is one. */
static int
add_law(struct sl__svg *s, const struct sl_sweep_series *series,
	const struct sl__axis axes[2])
{
	const struct sl_sweep_exponent *law = series->exponents;
	struct sl__text t;

	if (!series->n_exponents || law->figure != SL_SWEEP_TIME ||
	    !law->exponent.n || law->absent)
		return 0;
	sl__svg_path(s, "line ink dash");
	for (int i = 0; i <= LAW_POINTS; i++) {
		double n = axes[0].lo *
			   pow(axes[0].hi / axes[0].lo, (double)i / LAW_POINTS);
		double ns =
			law->offset + law->scale * pow(n, law->exponent.value);

		if (ns > 0 && 1e-9 * ns >= axes[1].lo &&
		    1e-9 * ns <= axes[1].hi)
			sl__svg_path_to(s, sl__axis_at(&axes[0], n),
					sl__axis_at(&axes[1], 1e-9 * ns));
	}
	sl__svg_path_done(s);
	sl__svg_close_with_tip(s, "%s: grows with exponent %s", series->name,
			       sl__ratio_estimate(&t, &law->exponent));
	return 1;
}

static int
add_knee(struct sl__svg *s, const struct sl_sweep_series *series,
	 const struct sl__axis *x)
{
	double at;

	if (!series->knee.at)
		return 0;
	at = sl__axis_at(x, (double)series->knee.at);
	sl__svg_open(s, "line", "line k7 dash", "x1 y1 x2 y2", at, TOP, at,
		     BOTTOM);
	sl__svg_close_with_tip(s,
			       "knee at %lld: twice the size gains at most "
			       "10 %%",
			       (long long)series->knee.at);
	sl__svg_label(s, "note", at + 5, BOTTOM - 6, "knee");
	return 1;
}

/* The sizes of the first series, where they are few; returns how many. */
static size_t
list_sizes(double sizes[TICKS_MOST], const struct sl_sweep *sweep)
{
	const struct sl_sweep_series *series = &sweep->series[0];
	size_t n = 0;

	if (series->n_points > TICKS_MOST)
		return 0;
	for (size_t k = 0; k < series->n_points; k++) {
		if (series->points[k].value > 0)
			sizes[n++] = (double)series->points[k].value;
	}
	return n;
}

/* What there is to see, and no more. */
static void
end_chart(struct sl__views *v, const struct chart *chart,
	  const struct drawn *drawn)
{
	const char *dashed = drawn->has_law    ? " Dashed: the fitted law."
			     : drawn->has_knee ? " A dashed line marks the "
						 "knee."
					       : "";

	if (chart->has_law)
		sl__views_figure_end(
			v,
			"Medians%s, both axes logarithmic: a "
			"power law is a straight line.%s",
			drawn->is_wide ? " with their 95 % intervals" : "",
			dashed);
	else
		sl__views_figure_end(
			v, "How much is done in a second%s.%s",
			drawn->is_wide ? ", with 95 % intervals" : "", dashed);
}

static void
add_chart(struct sl__views *v, const struct sl_sweep *sweep,
	  const struct chart *chart)
{
	struct sl__axis axes[2] = {{.from = 96,
				    .to = 820,
				    .is_log = 1,
				    .title = sl_axis_text(sweep->axis)},
				   {.from = BOTTOM,
				    .to = TOP,
				    .is_log = 1,
				    .unit = chart->unit,
				    .title = chart->y_title}};
	size_t n = sweep->n_series < SERIES_MOST ? sweep->n_series
						 : SERIES_MOST;
	double legend = 96, sizes[TICKS_MOST];
	struct drawn drawn = {0};
	struct sl__svg *s;
	char look[8];

	if (!set_axes(&axes[0], &axes[1], sweep, chart))
		return;
	axes[0].n_ticks = list_sizes(sizes, sweep);
	axes[0].ticks = sizes;
	s = sl__views_figure(v, chart->name, chart->title, SL__FIGURE_WIDTH,
			     HEIGHT);
	sl__svg_axes(s, &axes[0], &axes[1]);
	for (size_t i = 0; i < n; i++) {
		const struct sl_sweep_series *series = &sweep->series[i];

		snprintf(look, sizeof(look), "s%zu", i);
		legend = sl__svg_legend(s, look, legend, 18, series->name);
		if (chart->has_law)
			drawn.has_law |= add_law(s, series, axes);
		else
			drawn.has_knee |= add_knee(s, series, &axes[0]);
		drawn.is_wide |= add_series(s, series, chart, axes, i);
	}
	end_chart(v, chart, &drawn);
}

/* The size to take, and what the first one gives. */
static void
add_lead(struct sl__views *v, const struct sl_sweep *sweep)
{
	const struct sl_sweep_series *s = &sweep->series[0];
	const char *axis = sl_axis_text(sweep->axis);
	const char *unit = sl_rate_unit_text(sweep->rate_unit);
	struct sl__text a, b;

	if (s->best.point >= s->n_points) {
		sl__views_text(v, "lead", "No best %s is named: %s.", axis,
			       s->best.absent ? s->best.absent
					      : "no size is within the limits");
		return;
	}
	if (!s->best.point || s->points[0].absent)
		return;
	sl__views_text(
		v, "lead",
		"%s is fastest at %s %lld: %s%s, where %s %lld gives %s%s.",
		s->name, axis, (long long)s->best.at,
		sl__si_prefix_text(&a,
				   s->points[s->best.point].rate_per_s.value),
		unit, axis, (long long)s->points[0].value,
		sl__si_prefix_text(&b, s->points[0].rate_per_s.value), unit);
}

/* What the ends of the range give, where nothing is known of what is between. */
static void
add_ends(struct sl__views *v, const struct sl_sweep *sweep)
{
	const struct sl_sweep_series *s = &sweep->series[0];
	char label[64], path[64];
	struct sl__text t;

	for (size_t k = 0; k < 2 && k < s->n_points; k++) {
		size_t i = k ? s->n_points - 1 : 0;

		if (s->points[i].absent)
			continue;
		snprintf(label, sizeof(label), "At %s %lld",
			 sl_axis_text(sweep->axis),
			 (long long)s->points[i].value);
		snprintf(path, sizeof(path), "sweep.points.%zu.rate_per_s", i);
		sl__views_tile(
			v, label, sweep->n_series == 1 ? path : "",
			sl__si_prefix_text(&t, s->points[i].rate_per_s.value),
			"%s", sl_rate_unit_text(sweep->rate_unit));
	}
}

static void
add_tiles(struct sl__views *v, const struct sl_sweep *sweep)
{
	const struct sl_sweep_series *s = &sweep->series[0];
	int is_one = sweep->n_series == 1; /* "sweep", not a list of them */
	char value[64], label[64];
	struct sl__text t, bounds;

	sl__views_open(v, "summary", "Summary");
	if (s->n_exponents && s->exponents[0].exponent.n) {
		snprintf(value, sizeof(value), "n^%s",
			 sl__ratio_value(&t, &s->exponents[0].exponent));
		sl__ratio_bounds_text(&bounds, &s->exponents[0].exponent);
		sl__views_tile(
			v, "Time grows as",
			is_one ? "sweep.exponents.0.exponent" : "", value, "%s",
			sl__figure_interval_text(&t, &s->exponents[0].exponent,
						 bounds.s, "points"));
	}
	if (s->knee.at) {
		snprintf(value, sizeof(value), "%lld", (long long)s->knee.at);
		sl__views_tile(v, "Knee", is_one ? "sweep.knee.at" : "", value,
			       "%s from which twice the size gains at most "
			       "10 %%",
			       sl_axis_text(sweep->axis));
	}
	if (s->best.point < s->n_points) {
		snprintf(value, sizeof(value), "%lld", (long long)s->best.at);
		snprintf(label, sizeof(label), "Best %s",
			 sl_axis_text(sweep->axis));
		sl__views_tile(
			v, label, is_one ? "sweep.best.at" : "", value, "%s%s",
			sl__si_prefix_text(
				&t, s->points[s->best.point].rate_per_s.value),
			sl_rate_unit_text(sweep->rate_unit));
	}
	if (!s->knee.at && s->best.point >= s->n_points &&
	    !(s->n_exponents && s->exponents[0].exponent.n))
		add_ends(v, sweep);
	if (is_one)
		add_lead(v, sweep);
}

void
sl__sweep_views(struct sl__views *v, const void *result)
{
	const struct sl_sweep *sweep = result;
	const struct chart time = {
		"sweep-time", "Time of an iteration", "s", "time", seconds, 1};
	const struct chart rates = {
		"sweep-rate", "Rate", "", sl_rate_unit_text(sweep->rate_unit),
		rate,         0};

	sl__views_title(v,
			sweep->n_series == 1 ? sweep->series[0].name
					     : "Models side by side",
			"Sweep", "over %s, %s on %d thread%s",
			sl_axis_text(sweep->axis), sl_dtype_text(sweep->dtype),
			sweep->n_threads, sweep->n_threads == 1 ? "" : "s");
	if (!sweep->n_series)
		return;
	add_tiles(v, sweep);
	sl__views_open(v, "sweep", "Sweep");
	add_chart(v, sweep, &time);
	add_chart(v, sweep, &rates);
}
