/* SPDX-License-Identifier: Apache-2.0 */
/* views_optimize.c - the views of variants of a model: time against accuracy,
 * or against memory. */
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/unit.h"
#include "sleuth/optimizing.h"

#include <math.h>

#include "base/banned.h"

static const double LEFT = 90, RIGHT = 700, TOP = 16, BOTTOM = 330;

/* How a variant is drawn: its ordinate, in percent or bytes. */
struct plot {
	int is_accuracy;
	struct sl__axis x, y;
};

static double
ordinate(const struct plot *p, const struct sl_variant_result *v)
{
	return p->is_accuracy ? 100 * v->accuracy.value
			      : (double)v->memory_bytes;
}

static int
is_drawn(const struct plot *p, const struct sl_variant_result *v)
{
	return !v->refused && v->time_ns.n &&
	       (!p->is_accuracy || v->accuracy.n);
}

/* Half of the span on either side, so that labels have room. */
static int
choose_axes(struct plot *p, const struct sl_optimization *o)
{
	double lo = (double)INFINITY, hi = -(double)INFINITY, margin;

	p->x = (struct sl__axis){.lo = 0,
				 .from = LEFT,
				 .to = RIGHT,
				 .unit = "s",
				 .title = "time of an iteration"};
	p->y = (struct sl__axis){.from = BOTTOM, .to = TOP};
	for (size_t i = 0; i < o->n_variants; i++) {
		const struct sl_variant_result *v = &o->variants[i];

		if (!is_drawn(p, v))
			continue;
		p->x.hi = fmax(p->x.hi, 1e-9 * v->time_ns.value);
		lo = fmin(lo, ordinate(p, v));
		hi = fmax(hi, ordinate(p, v));
	}
	if (!(p->x.hi > 0) || !(hi >= lo))
		return 0;
	margin = hi > lo ? (hi - lo) / 4 : fmax(fabs(hi) / 50, 1e-3);
	p->y.lo = p->is_accuracy ? fmax(lo - margin, 0) : 0;
	p->y.hi = p->is_accuracy ? fmin(hi + margin, 100) : hi * 1.1;
	p->y.unit = p->is_accuracy ? NULL : "B";
	p->y.title = !p->is_accuracy ? "memory"
		     : o->variants[0].accuracy_kind == SL_ACCURACY_AGREEMENT
			     ? "agreement with the baseline, %"
			     : "accuracy, %";
	sl__axis_round(&p->x);
	sl__axis_round(&p->y);
	return 1;
}

static void
add_point(struct sl__svg *s, const struct plot *p,
	  const struct sl_optimization *o, size_t i)
{
	const struct sl_variant_result *v = &o->variants[i];
	double x = sl__axis_at(&p->x, 1e-9 * v->time_ns.value);
	double y = sl__axis_at(&p->y, ordinate(p, v));
	struct sl__text time, memory;

	sl__svg_open(s, "circle",
		     i == o->recommended ? "mark s2"
		     : v->is_pareto      ? "mark s0"
					 : "mark s7",
		     "cx cy r", x, y, v->is_pareto ? 6.0 : 4.0);
	sl__svg_close_with_tip(s, "%s: %s, %s%s", v->name,
			       sl__time_value(&time, &v->time_ns, NULL),
			       sl__bytes_text(&memory, (double)v->memory_bytes),
			       v->is_pareto ? ", on the Pareto front" : "");
	sl__svg_label(s, "label", x + 9, y + 4, "%.40s", v->name);
}

static void
add_figure(struct sl__views *v, const struct sl_optimization *o,
	   const char *name, const char *title, int is_accuracy)
{
	struct plot p = {.is_accuracy = is_accuracy};
	struct sl__svg *s;

	if (!choose_axes(&p, o))
		return;
	s = sl__views_figure(v, name, title, SL__FIGURE_WIDTH, BOTTOM + 52);
	sl__svg_axes(s, &p.x, &p.y);
	for (size_t i = 0; i < o->n_variants; i++) {
		if (is_drawn(&p, &o->variants[i]))
			add_point(s, &p, o, i);
	}
	sl__views_figure_end(v,
			     "Each point is a variant: large and blue on the "
			     "Pareto front of time, memory, file and accuracy, "
			     "green the recommended one, grey the others.");
}

static void
add_tiles(struct sl__views *v, const struct sl_optimization *o)
{
	const struct sl_variant_result *best, *was = &o->variants[0];
	struct sl__text ratio, memory;

	sl__views_open(v, "summary", "Summary");
	if (o->recommended >= o->n_variants) {
		sl__views_text(v, "lead", "No variant is within the limits.");
		return;
	}
	best = &o->variants[o->recommended];
	sl__views_tile(v, "Recommended", "recommended", best->name, "for %s",
		       sl_objective_text(o->objective));
	if (best->ratio.n)
		sl__views_tile(v, "Time / baseline", "",
			       sl__ratio_value(&ratio, &best->ratio),
			       "95 %% %s, %s",
			       sl__ratio_bounds_text(&(struct sl__text){0},
						     &best->ratio),
			       sl_verdict_text(best->verdict));
	if (best->memory_bytes)
		sl__views_tile(
			v, "Memory", "",
			sl__bytes_text(&memory, (double)best->memory_bytes),
			"baseline %s",
			sl__bytes_text(&(struct sl__text){0},
				       (double)was->memory_bytes));
}

void
sl__optimize_views(struct sl__views *v, const void *result)
{
	const struct sl_optimization *o = result;

	sl__views_title(v, sl__model_display_name(o->name, o->source),
			"Optimization", "%zu variants, %zu rounds in %.3g s",
			o->n_variants, o->n_rounds, o->elapsed_s);
	if (o->is_applied)
		return;
	add_tiles(v, o);
	sl__views_open(v, "pareto", "Pareto front");
	add_figure(v, o, "pareto", "Time and accuracy of each variant", 1);
	add_figure(v, o, "pareto-memory", "Time and memory of each variant", 0);
}
