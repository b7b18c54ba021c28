/* SPDX-License-Identifier: Apache-2.0 */
/* views_load.c - the views of a model under load: latency and queue. */
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/unit.h"
#include "sleuth/loading.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { PERCENTILES = 5, LOG_FROM = 20 };

static const double LEFT = 96, RIGHT = 830, TOP = 34;
static const double S_PER_NS = 1e-9;

/* A figure of a stretch of time. */
struct line {
	const char *name, *classes, *mark;
	double (*value)(const struct sl_load_stretch *s);
};

static double
median_s(const struct sl_load_stretch *s)
{
	return S_PER_NS * s->median_ns;
}

static double
max_s(const struct sl_load_stretch *s)
{
	return S_PER_NS * s->max_ns;
}

static double
depth(const struct sl_load_stretch *s)
{
	return (double)s->depth_most;
}

static struct sl__axis
time_axis(const struct sl_load *l)
{
	double width = l->n_over_time > 1
			       ? l->over_time[1].at_s - l->over_time[0].at_s
			       : 0;

	return (struct sl__axis){.hi = l->over_time[l->n_over_time - 1].at_s +
				       width / 2,
				 .from = LEFT,
				 .to = RIGHT,
				 .unit = "s",
				 .title = "time since the load began"};
}

static void
add_line(struct sl__svg *s, const struct sl_load *l, const struct line *line,
	 const struct sl__axis axes[2])
{
	struct sl__text at, median, longest;

	sl__svg_path(s, line->classes);
	for (size_t i = 0; i < l->n_over_time; i++) {
		double value = line->value(&l->over_time[i]);

		if (isfinite(value))
			sl__svg_path_to(
				s, sl__axis_at(&axes[0], l->over_time[i].at_s),
				sl__axis_at(&axes[1], value));
	}
	sl__svg_path_done(s);
	sl__svg_close(s);
	for (size_t i = 0; i < l->n_over_time; i++) {
		const struct sl_load_stretch *o = &l->over_time[i];

		if (!isfinite(line->value(o)))
			continue;
		sl__svg_open(s, "circle", line->mark, "cx cy r",
			     sl__axis_at(&axes[0], o->at_s),
			     sl__axis_at(&axes[1], line->value(o)), 2.6);
		sl__svg_close_with_tip(
			s,
			"at %s: %zu quer%s, median %s, longest %s, %zu waited",
			sl__time_text(&at, 1e9 * o->at_s), o->n,
			o->n == 1 ? "y" : "ies",
			sl__time_text(&median, o->median_ns),
			sl__time_text(&longest, o->max_ns), o->depth_most);
	}
}

static void
add_limit(struct sl__svg *s, const struct sl_load *l, const struct sl__axis *y)
{
	double at = S_PER_NS * l->limit_ns;
	struct sl__text t;

	if (!(at >= y->lo && at <= y->hi))
		return;
	at = sl__axis_at(y, at);
	sl__svg_open(s, "line", "line ink dash", "x1 y1 x2 y2", LEFT, at, RIGHT,
		     at);
	sl__svg_close(s);
	sl__svg_label(s, "note end", RIGHT, at - 5, "limit %s",
		      sl__time_text(&t, l->limit_ns));
}

/* Latency over time, which a limit may cross. */
static void
add_over_time(struct sl__views *v, const struct sl_load *l)
{
	static const struct line lines[] = {
		{"longest", "line k1", "mark s1", max_s},
		{"median", "line k0", "mark s0", median_s}};
	struct sl__axis axes[2] = {
		time_axis(l),
		{.from = 280, .to = TOP, .unit = "s", .title = "latency"}};
	double least = INFINITY, x = LEFT;
	struct sl__svg *s;

	for (size_t i = 0; i < l->n_over_time; i++) {
		least = fmin(least, median_s(&l->over_time[i]));
		axes[1].hi = fmax(axes[1].hi, max_s(&l->over_time[i]));
	}
	if (isfinite(l->limit_ns))
		axes[1].hi = fmax(axes[1].hi, S_PER_NS * l->limit_ns);
	if (!(axes[0].hi > 0) || !(axes[1].hi > 0) || !isfinite(axes[1].hi))
		return;
	axes[1].is_log = least > 0 && axes[1].hi > LOG_FROM * least;
	if (axes[1].is_log)
		axes[1].lo = least / 1.5;
	sl__axis_round(&axes[1]);
	s = sl__views_figure(v, "load-latency", "Latency over time",
			     SL__FIGURE_WIDTH, 334);
	sl__svg_axes(s, &axes[0], &axes[1]);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		x = sl__svg_legend(s, i ? "s0" : "s1", x, 18, lines[i].name);
		add_line(s, l, &lines[i], axes);
	}
	add_limit(s, l, &axes[1]);
	sl__views_figure_end(v,
			     "Of the queries that arrived in each stretch of "
			     "time, since each was to arrive.");
}

static int
has_waited(const struct sl_load *l)
{
	for (size_t i = 0; i < l->n_over_time; i++) {
		if (l->over_time[i].depth_most)
			return 1;
	}
	return l->depth_most > 0;
}

static void
add_queue(struct sl__views *v, const struct sl_load *l)
{
	static const struct line line = {"queue", "line k2", "mark s2", depth};
	struct sl__axis axes[2] = {time_axis(l),
				   {.hi = fmax(1, (double)l->depth_most),
				    .from = 190,
				    .to = 20,
				    .is_whole = 1,
				    .title = "queries"}};
	struct sl__svg *s;

	if (l->scenario != SL_SCENARIO_SERVER || !(axes[0].hi > 0))
		return;
	for (size_t i = 0; i < l->n_over_time; i++)
		axes[1].hi = fmax(axes[1].hi, depth(&l->over_time[i]));
	sl__views_open(v, "queue", "Queue");
	if (!has_waited(l)) {
		sl__views_text(v, "note", "No query waited.");
		return;
	}
	sl__axis_round(&axes[1]);
	s = sl__views_figure(v, "load-queue", "Queries that waited",
			     SL__FIGURE_WIDTH, 244);
	sl__svg_axes(s, &axes[0], &axes[1]);
	add_line(s, l, &line, axes);
	sl__views_figure_end(v,
			     "The most that waited at once in each stretch of "
			     "time; %.1f on average over all.",
			     l->depth_mean);
}

static void
add_percentiles(struct sl__views *v, const struct sl_load *l)
{
	const struct sl_estimate *const all[PERCENTILES] = {
		&l->latency.median, &l->latency.p90, &l->latency.p95,
		&l->latency.p99, &l->p999};
	static const char *const names[PERCENTILES] = {"median", "p90", "p95",
						       "p99", "p99.9"};
	struct sl__figure_bar bars[PERCENTILES];
	struct sl__text texts[PERCENTILES], tips[PERCENTILES];
	size_t n = 0, n_late = 0;

	for (size_t i = 0; i < PERCENTILES; i++) {
		int is_late = all[i]->value > l->limit_ns;

		if (all[i]->needs_n || !(all[i]->value >= 0))
			continue;
		bars[n] = (struct sl__figure_bar){
			.name = names[i],
			.classes = is_late ? "mark s1" : "mark s0",
			.value = all[i]->value,
			.text = sl__time_value(&texts[n], all[i], NULL),
			.tip = sl__time_estimate(&tips[n], all[i], NULL)};
		n_late += (size_t)is_late;
		n++;
	}
	if (!n)
		return;
	sl__figure_bars(sl__views_figure(v, "load-percentiles",
					 "Percentiles of the latency",
					 SL__FIGURE_WIDTH,
					 sl__figure_bars_height(n)),
			bars, n, 4);
	sl__views_figure_end(v, "Of %zu quer%s served.%s", l->n_served,
			     l->n_served == 1 ? "y" : "ies",
			     n_late ? " Those beyond the limit are in orange."
				    : "");
}

static void
add_tiles(struct sl__views *v, const struct sl_load *l)
{
	char value[64];
	struct sl__text a, b;

	sl__views_open(v, "summary", "Summary");
	if (l->is_overloaded)
		sl__views_tile(v, "Verdict", "", "overloaded",
			       "arrivals outran the model");
	else if (l->verdict != SL_LOAD_UNLIMITED)
		sl__views_tile(
			v, "Verdict", "", sl_load_verdict_text(l->verdict),
			"p%.6g within %s: %zu late (%s)", 100 * l->percentile,
			sl__time_text(&a, l->limit_ns), l->n_late,
			sl__percent_text(&b, l->late_share));
	sl__views_tile(
		v, "Median latency", "latency.median_ms",
		sl__time_value(&a, &l->latency.median, NULL), "%s",
		sl__figure_time_interval(&b, &l->latency.median, "queries"));
	snprintf(value, sizeof(value), "%s",
		 sl__three_digit_text(&a, l->achieved_per_s));
	if (l->scenario == SL_SCENARIO_SERVER)
		sl__views_tile(v, "Queries/s", "load.achieved_per_s", value,
			       "%s asked, %s at most",
			       sl__three_digit_text(&a, l->rate_per_s),
			       sl__three_digit_text(&b, l->capacity_per_s));
	else
		sl__views_tile(
			v, "Queries/s", "load.achieved_per_s", value,
			"%s samples/s",
			sl__three_digit_text(&a, l->achieved_per_s *
							 (double)l->n_samples));
	if (l->scenario == SL_SCENARIO_SERVER) {
		snprintf(value, sizeof(value), "%.1f", l->depth_mean);
		sl__views_tile(v, "Queue", "load.queue.depth_mean", value,
			       "%zu at most; model busy %s of the time",
			       l->depth_most,
			       sl__percent_text(&a, l->busy_share));
	}
}

void
sl__load_views(struct sl__views *v, const void *result)
{
	const struct sl_load *l = result;
	struct sl__text t;

	sl__views_title(v, sl__model_display_name(l->name, l->source), "Load",
			"%s scenario, %s on %d thread%s, %zu quer%s in %s",
			sl_scenario_text(l->scenario), sl_dtype_text(l->dtype),
			l->n_threads, l->n_threads == 1 ? "" : "s", l->n_served,
			l->n_served == 1 ? "y" : "ies",
			sl__time_text(&t, 1e9 * l->load_s));
	add_tiles(v, l);
	sl__views_open(v, "latency", "Latency");
	if (l->n_over_time)
		add_over_time(v, l);
	add_percentiles(v, l);
	if (l->n_over_time)
		add_queue(v, l);
}
