/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views_comparison.c - the views of what runs against a baseline: models and
 * commands.
 */
#include "report/figures.h"
#include "report/unit.h"
#include "report/views_comparison.h"
#include "sleuth/comparing.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { ROWS_MOST = 20, LATENCIES_MOST = 8 };

static const double ROW = 30, LEFT = 220, RIGHT = 640;

static const char *
verdict_look(enum sl_verdict verdict)
{
	static const char *const looks[] = {[SL_VERDICT_UNDECIDED] = "s7",
					    [SL_VERDICT_FASTER] = "s2",
					    [SL_VERDICT_SLOWER] = "s1",
					    [SL_VERDICT_SAME] = "s0"};

	return looks[(unsigned)verdict <= SL_VERDICT_SAME ? verdict : 0];
}

/* A ratio and its interval as a point on a line. */
static void
add_ratio(struct sl__svg *s, const struct sl_comparison *c,
	  const struct sl__axis *x, double y)
{
	char mark[16], line[16];
	struct sl__text t;

	snprintf(mark, sizeof(mark), "mark %s", verdict_look(c->verdict));
	snprintf(line, sizeof(line), "line k%s", verdict_look(c->verdict) + 1);
	sl__svg_label(s, "label end", LEFT - 10, y + 4, "%.30s", c->b);
	if (c->ratio.hi > c->ratio.lo) {
		sl__svg_open(s, "line", line, "x1 y1 x2 y2",
			     sl__axis_at(x, fmax(c->ratio.lo, x->lo)), y,
			     sl__axis_at(x, fmin(c->ratio.hi, x->hi)), y);
		sl__svg_close(s);
	}
	sl__svg_open(s, "circle", mark, "cx cy r",
		     sl__axis_at(x, c->ratio.value), y, 5.0);
	sl__svg_close_with_tip(s, "%s takes %s times as long as %s: %s", c->b,
			       sl__ratio_estimate(&t, &c->ratio), c->a,
			       sl_verdict_text(c->verdict));
	sl__svg_label(s, "note", RIGHT + 12, y + 4, "%s  %s",
		      sl__ratio_estimate(&t, &c->ratio),
		      sl_verdict_text(c->verdict));
}

/* Comparisons are n structs, 'stride' bytes apart. */
static const struct sl_comparison *
nth(const struct sl_comparison *first, size_t stride, size_t i)
{
	return (const void *)((const char *)first + i * stride);
}

void
sl__views_ratios(struct sl__views *v, const struct sl_comparison *first,
		 size_t n_all, size_t stride)
{
	size_t n = n_all < ROWS_MOST ? n_all : ROWS_MOST;
	struct sl__axis x = {.lo = 1,
			     .hi = 1,
			     .from = LEFT,
			     .to = RIGHT,
			     .title = "time B / time A"};
	struct sl__axis y = {.from = 14 + ROW * (double)n, .to = 6};
	double at;
	struct sl__text t;
	struct sl__svg *s;

	for (size_t i = 0; i < n; i++) {
		const struct sl_estimate *r = &nth(first, stride, i)->ratio;

		if (!(r->value > 0))
			return;
		x.lo = fmin(x.lo,
			    fmax(r->lo > 0 ? r->lo : r->value, r->value / 3));
		x.hi = fmax(x.hi,
			    fmin(r->hi > 0 ? r->hi : r->value, r->value * 3));
	}
	sl__axis_round(&x);
	sl__views_open(v, "comparison", "Comparison");
	sl__views_tile(
		v, "Time B / time A", "", sl__ratio_value(&t, &first->ratio),
		"95 %% %s, %s",
		sl__ratio_bounds_text(&(struct sl__text){0}, &first->ratio),
		sl_verdict_text(first->verdict));
	s = sl__views_figure(v, "ratios", "Time against the baseline",
			     SL__FIGURE_WIDTH, 66 + ROW * (double)n);
	sl__svg_axis_x(s, &x, &y);
	at = sl__axis_at(&x, 1);
	sl__svg_open(s, "line", "line ink dash", "x1 y1 x2 y2", at, y.to, at,
		     y.from);
	sl__svg_close(s);
	for (size_t i = 0; i < n; i++)
		add_ratio(s, nth(first, stride, i), &x, 22 + ROW * (double)i);
	sl__views_figure_end(v,
			     "Ratios of time to %s over rounds, with intervals "
			     "that hold however often they are looked at. The "
			     "dashed line is no change.",
			     first->a);
}

/* The layers that differ most: where B wins and where it loses. */
static void
add_layers(struct sl__views *v, const struct sl_arm_comparison *p)
{
	size_t n = p->n_layers < ROWS_MOST ? p->n_layers : ROWS_MOST;
	struct sl__axis x = {
		.from = LEFT, .to = RIGHT + 120, .unit = "s", .title = "B − A"};
	struct sl__axis y = {.from = 14 + 26 * (double)n, .to = 6};
	struct sl__svg *s;
	struct sl__text a, b;

	for (size_t i = 0; i < n; i++) {
		const struct sl_compared_layer *l = &p->layers[p->by_change[i]];
		double change = 1e-9 * ((isnan(l->b_ns) ? 0 : l->b_ns) -
					(isnan(l->a_ns) ? 0 : l->a_ns));

		x.lo = fmin(x.lo, change);
		x.hi = fmax(x.hi, change);
	}
	if (!n || !(x.hi > x.lo))
		return;
	sl__axis_round(&x);
	s = sl__views_figure(v, "layers", "Layers that differ most",
			     SL__FIGURE_WIDTH, 66 + 26 * (double)n);
	sl__svg_axis_x(s, &x, &y);
	for (size_t i = 0; i < n; i++) {
		const struct sl_compared_layer *l = &p->layers[p->by_change[i]];
		double change = 1e-9 * ((isnan(l->b_ns) ? 0 : l->b_ns) -
					(isnan(l->a_ns) ? 0 : l->a_ns));
		double zero = sl__axis_at(&x, 0), to = sl__axis_at(&x, change);
		double top = 10 + 26 * (double)i;

		sl__svg_label(s, "label end", LEFT - 10, top + 14, "%.30s",
			      l->name);
		sl__svg_open(s, "rect", change < 0 ? "mark s2" : "mark s1",
			     "x y width height", fmin(zero, to), top + 2,
			     fmax(fabs(to - zero), 0.5), 16.0);
		sl__svg_close_with_tip(s, "%s: %s against %s%s", l->name,
				       sl__time_text(&a, l->b_ns),
				       sl__time_text(&b, l->a_ns),
				       l->is_named ? ", proved to differ" : "");
	}
	sl__views_figure_end(v, "Medians of B less those of A; green where B "
				"is faster.");
}

void
sl__model_comparison_views(struct sl__views *v, const void *result)
{
	const struct sl_model_comparison *m = result;
	char title[256];

	if (!m->n_pairs)
		return;
	snprintf(title, sizeof(title), "%s against %s",
		 m->pairs[0].comparison.b, m->pairs[0].comparison.a);
	sl__views_title(v, title, "Comparison", "%zu rounds in %.3g s",
			m->pairs[0].comparison.n_rounds, m->elapsed_s);
	sl__views_ratios(v, &m->pairs[0].comparison, m->n_pairs,
			 sizeof(m->pairs[0]));
	add_layers(v, &m->pairs[0]);
}

void
sl__bench_views(struct sl__views *v, const void *result)
{
	const struct sl_bench *b = result;
	size_t n = b->n_results < ROWS_MOST ? b->n_results : ROWS_MOST;
	struct sl__figure_bar bars[ROWS_MOST];
	struct sl__text texts[ROWS_MOST];

	if (!n)
		return;
	sl__views_title(v, b->results[0].command->name, "Benchmark",
			"%zu command%s in %.3g s", b->n_results,
			b->n_results == 1 ? "" : "s", b->elapsed_s);
	if (b->n_comparisons)
		sl__views_ratios(v, b->comparisons, b->n_comparisons,
				 sizeof(b->comparisons[0]));
	for (size_t i = 0; i < n; i++)
		bars[i] = (struct sl__figure_bar){
			.name = b->results[i].command->name,
			.classes = "mark s0",
			.value = b->results[i].wall.median.value,
			.text = sl__time_estimate(
				&texts[i], &b->results[i].wall.median, NULL)};
	sl__views_open(v, "latency", "Time");
	sl__figure_bars(sl__views_figure(v, "time", "Time of each command",
					 SL__FIGURE_WIDTH,
					 sl__figure_bars_height(n) + 8),
			bars, n, 8);
	sl__views_figure_end(v, "Medians with their 95 %% intervals.");
	if (n == 1)
		sl__figures_latency(v, &b->results[0].wall, "run");
}
