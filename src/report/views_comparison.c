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

enum { ROWS_MOST = 20, FEWEST_PAIRS = 3, NAME_LETTERS = 27 };

static const double S_PER_NS = 1e-9;

static int
verdict_colour(enum sl_verdict verdict)
{
	static const int colours[] = {[SL_VERDICT_UNDECIDED] = 7,
				      [SL_VERDICT_FASTER] = 2,
				      [SL_VERDICT_SLOWER] = 1,
				      [SL_VERDICT_SAME] = 0};

	return colours[(unsigned)verdict <= SL_VERDICT_SAME ? verdict : 0];
}

/* Comparisons are n structs, 'stride' bytes apart. */
static const struct sl_comparison *
nth(const struct sl_comparison *first, size_t stride, size_t i)
{
	return (const void *)((const char *)first + i * stride);
}

/* What a few rounds would find is not known. */
static void
add_undecided(struct sl__views *v, const struct sl_comparison *c)
{
	if (isfinite(c->minimum_detectable))
		sl__views_text(v, "lead",
			       "Undecided after %zu rounds: as many more would "
			       "find a change of %.3g %%.",
			       c->n_rounds, 100 * c->minimum_detectable);
	else
		sl__views_text(v, "lead", "Undecided after %zu round%s.",
			       c->n_rounds, c->n_rounds == 1 ? "" : "s");
}

/* The answer in one sentence. */
static void
add_lead(struct sl__views *v, const struct sl_comparison *c)
{
	switch (c->verdict) {
	case SL_VERDICT_FASTER:
		sl__views_text(v, "lead", "%s is %.3g times as fast as %s.",
			       c->b, c->speedup, c->a);
		break;
	case SL_VERDICT_SLOWER:
		sl__views_text(v, "lead", "%s takes %.3g times as long as %s.",
			       c->b, c->ratio.value, c->a);
		break;
	case SL_VERDICT_SAME:
		sl__views_text(v, "lead",
			       "%s takes as long as %s, within %.3g %%.", c->b,
			       c->a, 100 * c->margin);
		break;
	case SL_VERDICT_UNDECIDED:
		add_undecided(v, c);
		break;
	}
}

static void
add_ratio_tiles(struct sl__views *v, const struct sl_comparison *c)
{
	struct sl__text value, bounds, interval;

	sl__ratio_bounds_text(&bounds, &c->ratio);
	sl__views_tile(v, "Time B / time A", "comparison.ratio",
		       sl__ratio_value(&value, &c->ratio), "%s, %s",
		       sl__figure_interval_text(&interval, &c->ratio, bounds.s,
						"rounds"),
		       sl_verdict_text(c->verdict));
}

/* "A: resnet18". */
static const char *
side_label(char out[64], char side, const char *name)
{
	snprintf(out, 64, "%c: %s", side, name);
	return out;
}

static void
add_time_tile(struct sl__views *v, const char *label, const char *path,
	      const struct sl_estimate *time_ns, const char *nouns)
{
	struct sl__text value, interval;

	sl__views_tile(v, label, path, sl__time_value(&value, time_ns, NULL),
		       "median, %s",
		       sl__figure_time_interval(&interval, time_ns, nouns));
}

void
sl__views_ratios(struct sl__views *v, const struct sl_comparison *first,
		 size_t n_all, size_t stride)
{
	const struct sl__figure figure = {"ratios", "Time against the baseline",
					  NULL, "time B / time A", 1};
	struct sl__figure_interval rows[ROWS_MOST];
	char texts[ROWS_MOST][96];
	size_t n = n_all < ROWS_MOST ? n_all : ROWS_MOST, n_intervals = 0;
	struct sl__text t;

	for (size_t i = 0; i < n; i++) {
		const struct sl_comparison *c = nth(first, stride, i);

		n_intervals += (size_t)sl__figure_has_interval(&c->ratio);
		snprintf(texts[i], sizeof(texts[i]), "%s  %s",
			 sl__ratio_estimate(&t, &c->ratio),
			 sl_verdict_text(c->verdict));
		rows[i] = (struct sl__figure_interval){
			.name = c->b,
			.colour = verdict_colour(c->verdict),
			.value = c->ratio.value,
			.lo = c->ratio.lo,
			.hi = c->ratio.hi,
			.text = texts[i]};
	}
	sl__views_open(v, "comparison", "Comparison");
	if (sl__figure_intervals(v, &figure, rows, n))
		sl__views_figure_end(
			v,
			"Ratios of time to %s over rounds%s. The dashed line "
			"is no change.",
			first->a,
			n_intervals ? ", with intervals that hold however "
				      "often they are looked at"
				    : "");
}

/* A step of the way from A to B: what it changes, in seconds from where the
 * steps before it lead. */
struct step {
	const char *name;
	double from_s, to_s;
	const char *classes;
	int is_named;
};

static void
add_step(struct sl__svg *s, const struct step *step, const char *label,
	 const struct sl__axis *x, double y)
{
	double change = step->to_s - step->from_s;
	double from = sl__axis_at(x, step->from_s);
	double to = sl__axis_at(x, step->to_s);
	struct sl__text t;
	const char *sign = change < 0 ? "−" : "+";

	sl__time_text(&t, fabs(change) / S_PER_NS);
	sl__svg_label(s, "label end", 206, y + 15, "%s", label);
	sl__svg_open(s, "rect", step->classes, "x y width height rx",
		     fmin(from, to), y + 4, fmax(fabs(to - from), 1), 15.0,
		     2.0);
	sl__svg_close_with_tip(s, "%s: %s%s%s", step->name, sign, t.s,
			       step->is_named ? ", proved to differ" : "");
	sl__svg_label(s, "note", fmax(from, to) + 8, y + 15, "%s%s", sign, t.s);
}

/* What a layer changes, in seconds: paired over rounds, or where a result does
 * not have that, between medians. */
static double
layer_change(const struct sl_compared_layer *l, int is_paired)
{
	double b_ns = isnan(l->b_ns) ? 0 : l->b_ns;
	double a_ns = isnan(l->a_ns) ? 0 : l->a_ns;

	return S_PER_NS * (is_paired ? l->change_ns.value : b_ns - a_ns);
}

static void
take_step(struct step *step, const char *name, double from_s, double change_s)
{
	*step = (struct step){.name = name,
			      .from_s = from_s,
			      .to_s = from_s + change_s,
			      .classes = change_s < 0 ? "mark s2" : "mark s1"};
}

/* Over the layers that differ most, then all others, to the whole
 * difference. */
static size_t
list_steps(struct step *steps, const struct sl_arm_comparison *p,
	   double whole_s, int is_paired)
{
	size_t n_shown = p->n_layers < ROWS_MOST - 2 ? p->n_layers
						     : ROWS_MOST - 2;
	double at = 0;
	size_t n = 0;

	for (size_t i = 0; i < n_shown; i++) {
		const struct sl_compared_layer *l = &p->layers[p->by_change[i]];
		double change = layer_change(l, is_paired);

		if (!isfinite(change))
			continue;
		take_step(&steps[n], l->name, at, change);
		steps[n++].is_named = l->is_named;
		at += change;
	}
	take_step(&steps[n++],
		  n_shown < p->n_layers ? "all else" : "outside of layers", at,
		  whole_s - at);
	steps[n++] = (struct step){.name = "difference, B − A",
				   .to_s = whole_s,
				   .classes = "mark s7"};
	return n;
}

static void
add_waterfall(struct sl__views *v, const struct sl_model_comparison *m)
{
	const struct sl_arm_comparison *p = m->pairs;
	int is_paired = p->change_ns.n && isfinite(p->change_ns.value);
	double whole_ns = is_paired ? p->change_ns.value
				    : m->sides[1].wall_ns.value -
					      m->sides[0].wall_ns.value;
	struct step steps[ROWS_MOST];
	struct sl__axis x = {.from = 216,
			     .to = 740,
			     .unit = "s",
			     .title = "change of the time of an iteration"};
	struct sl__axis y = {.to = 6};
	struct sl__arena arena;
	struct sl__svg *s;
	const char **labels;
	size_t n;

	if (!p->n_layers || !isfinite(whole_ns))
		return;
	if (is_paired && m->is_per_sample)
		x.title = "change of the time of a sample";
	n = list_steps(steps, p, S_PER_NS * whole_ns, is_paired);
	for (size_t i = 0; i < n; i++) {
		x.lo = fmin(x.lo, steps[i].to_s);
		x.hi = fmax(x.hi, steps[i].to_s);
	}
	if (!(x.hi > x.lo))
		return;
	sl__axis_round(&x);
	y.from = 12 + 26 * (double)n;
	s = sl__views_figure(v, "waterfall", "From A to B, layer by layer",
			     SL__FIGURE_WIDTH, 66 + 26 * (double)n);
	sl__svg_axis_x(s, &x, &y);
	sl__arena_init(&arena, NULL);
	labels = sl__figure_labels(s, &arena, &steps->name, n, sizeof(*steps),
				   NAME_LETTERS);
	for (size_t i = 0; labels && i < n; i++)
		add_step(s, &steps[i], labels[i], &x, 8 + 26 * (double)i);
	sl__arena_release(&arena);
	sl__views_figure_end(
		v,
		"Green saves time, orange costs time, each from where those "
		"above it lead; grey: the whole. %s",
		is_paired ? "Means of the differences within rounds, which add "
			    "up; the ratios of layers in the report are "
			    "medians."
			  : "Differences of medians, which do not add up: the "
			    "last but one bar has what is missing.");
}

void
sl__model_comparison_views(struct sl__views *v, const void *result)
{
	const struct sl_model_comparison *m = result;
	const struct sl_arm_comparison *p = m->pairs;
	char title[256], label[64];

	if (!m->n_pairs)
		return;
	snprintf(title, sizeof(title), "%s against %s", p->comparison.b,
		 p->comparison.a);
	sl__views_title(v, title, "Comparison", "%zu rounds in %.3g s",
			p->comparison.n_rounds, m->elapsed_s);
	sl__views_open(v, "summary", "Summary");
	add_ratio_tiles(v, &p->comparison);
	if (m->n > 1) {
		add_time_tile(v, side_label(label, 'A', p->comparison.a),
			      "models.0.median_ms", &m->sides[0].wall_ns,
			      "rounds");
		add_time_tile(v, side_label(label, 'B', p->comparison.b),
			      "models.1.median_ms", &m->sides[1].wall_ns,
			      "rounds");
	}
	add_lead(v, &p->comparison);
	sl__views_ratios(v, &p->comparison, m->n_pairs, sizeof(*p));
	if (m->n > 1)
		add_waterfall(v, m);
}

/* Times of two commands in the same rounds, as ratios in order. */
static void
add_pairs(struct sl__views *v, const struct sl_bench_result *a,
	  const struct sl_bench_result *b)
{
	size_t n = a->n_runs < b->n_runs ? a->n_runs : b->n_runs;
	struct sl__axis x = {.lo = 0.5,
			     .hi = (double)n + 0.5,
			     .from = 84,
			     .to = 830,
			     .is_whole = 1,
			     .title = "round"};
	struct sl__axis y = {.lo = 1,
			     .hi = 1,
			     .from = 240,
			     .to = 16,
			     .title = "time B / time A"};
	struct sl__svg *s;
	struct sl__text ta, tb;

	if (!a->wall_ns || !b->wall_ns)
		return;
	for (size_t i = 0; i < n; i++) {
		double ratio = b->wall_ns[i] / a->wall_ns[i];

		if (isfinite(ratio) && ratio > 0) {
			y.lo = fmin(y.lo, ratio);
			y.hi = fmax(y.hi, ratio);
		}
	}
	if (n < FEWEST_PAIRS || !(y.hi > y.lo))
		return;
	y.is_log = y.hi > 4 * y.lo;
	if (!y.is_log)
		sl__axis_round(&y);
	s = sl__views_figure(v, "pairs", "Ratio in each round",
			     SL__FIGURE_WIDTH, 294);
	sl__svg_axes(s, &x, &y);
	sl__svg_open(s, "line", "line ink dash", "x1 y1 x2 y2", x.from,
		     sl__axis_at(&y, 1), x.to, sl__axis_at(&y, 1));
	sl__svg_close(s);
	for (size_t i = 0; i < n; i++) {
		double ta_ns = a->wall_ns[i], tb_ns = b->wall_ns[i];

		if (!isfinite(tb_ns / ta_ns) || !(tb_ns / ta_ns > 0))
			continue;
		sl__svg_open(s, "circle", tb_ns < ta_ns ? "mark s2" : "mark s1",
			     "cx cy r", sl__axis_at(&x, (double)i + 1),
			     sl__axis_at(&y, tb_ns / ta_ns), 3.2);
		sl__svg_close_with_tip(s, "round %zu: %s against %s", i + 1,
				       sl__time_text(&tb, tb_ns),
				       sl__time_text(&ta, ta_ns));
	}
	sl__views_figure_end(v,
			     "Both commands ran in every round, in random "
			     "order; green where %s was faster than %s.",
			     b->command->name, a->command->name);
}

static void
add_times(struct sl__views *v, const struct sl_bench *b)
{
	const struct sl__figure figure = {"time", "Time of each command", "s",
					  "time", 0};
	struct sl__figure_interval rows[ROWS_MOST] = {{0}};
	struct sl__text texts[ROWS_MOST];
	size_t n = b->n_results < ROWS_MOST ? b->n_results : ROWS_MOST;
	size_t n_intervals = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sl_estimate *e = &b->results[i].wall.median;

		rows[i] = (struct sl__figure_interval){
			.name = b->results[i].command->name,
			.value = S_PER_NS * e->value,
			.lo = e->needs_n ? 0 : S_PER_NS * e->lo,
			.hi = e->needs_n ? 0 : S_PER_NS * e->hi,
			.text = sl__time_estimate(&texts[i], e, NULL)};
		n_intervals += (size_t)sl__figure_has_interval(e);
	}
	if (sl__figure_intervals(v, &figure, rows, n))
		sl__views_figure_end(v, "Medians%s.",
				     n_intervals ? " with their 95 % intervals"
						 : "");
}

void
sl__bench_views(struct sl__views *v, const void *result)
{
	const struct sl_bench *b = result;
	char path[64], title[256];

	if (!b->n_results)
		return;
	if (b->n_comparisons == 1)
		snprintf(title, sizeof(title), "%s against %s",
			 b->comparisons[0].b, b->comparisons[0].a);
	else
		snprintf(title, sizeof(title), "%s%s",
			 b->results[0].command->name,
			 b->n_results > 1 ? " and others" : "");
	sl__views_title(v, title, "Benchmark", "%zu command%s in %.3g s",
			b->n_results, b->n_results == 1 ? "" : "s",
			b->elapsed_s);
	sl__views_open(v, "summary", "Summary");
	if (b->n_comparisons)
		add_ratio_tiles(v, &b->comparisons[0]);
	for (size_t i = 0; i < b->n_results && i < 3; i++) {
		snprintf(path, sizeof(path), "results.%zu.latency.median_ms",
			 i);
		add_time_tile(v, b->results[i].command->name, path,
			      &b->results[i].wall.median, "runs");
	}
	if (b->n_comparisons) {
		add_lead(v, &b->comparisons[0]);
		sl__views_ratios(v, b->comparisons, b->n_comparisons,
				 sizeof(b->comparisons[0]));
		if (b->n_results > 1)
			add_pairs(v, &b->results[0], &b->results[1]);
	}
	sl__views_open(v, "latency", "Time");
	if (b->n_results > 1)
		add_times(v, b);
	sl__figures_latency(v, &b->results[0].wall, "run");
}
