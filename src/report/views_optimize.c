/* SPDX-License-Identifier: Apache-2.0 */
/* views_optimize.c - the views of variants of a model: time against accuracy,
 * or against memory. */
#include "base/buf.h"
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/optimize_page.h"
#include "report/unit.h"
#include "sleuth/optimizing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const double LEFT = 90, RIGHT = 700, TOP = 16, BOTTOM = 330;

enum { NAME_MOST = 40, TAKEN_MOST = 160, LABEL_HEIGHT = 14, STEPS_MOST = 64 };

/* A rectangle of the figure. */
struct box {
	double left, right, top, bottom;
};

/* Where no further name may stand: points, lines and names. */
struct taken {
	struct box boxes[TAKEN_MOST];
	size_t n;
};

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

	p->x = (struct sl__axis){.lo = (double)INFINITY,
				 .from = LEFT,
				 .to = RIGHT,
				 .unit = "s",
				 .title = "time of an iteration"};
	p->y = (struct sl__axis){.from = BOTTOM, .to = TOP};
	for (size_t i = 0; i < o->n_variants; i++) {
		const struct sl_variant_result *v = &o->variants[i];

		if (!is_drawn(p, v))
			continue;
		p->x.lo = fmin(p->x.lo, 1e-9 * v->time_ns.value);
		p->x.hi = fmax(p->x.hi, 1e-9 * v->time_ns.value);
		lo = fmin(lo, ordinate(p, v));
		hi = fmax(hi, ordinate(p, v));
	}
	if (!(p->x.hi > 0) || !(hi >= lo))
		return 0;
	margin = fmax((p->x.hi - p->x.lo) / 10, p->x.hi / 50);
	p->x.lo = fmax(p->x.lo - margin, 0);
	p->x.hi += margin;
	margin = hi > lo ? (hi - lo) / 4 : fmax(fabs(hi) / 50, 1e-3);
	p->y.lo = p->is_accuracy ? fmax(lo - margin, 0) : 0;
	p->y.hi = p->is_accuracy ? fmin(hi + margin, 100) : hi * 1.1;
	p->y.unit = p->is_accuracy ? NULL : "B";
	p->y.title = !p->is_accuracy ? "memory"
		     : o->variants[0].accuracy_kind == SL_ACCURACY_AGREEMENT
			     ? "agreement with the baseline, %"
			     : "accuracy, %";
	sl__axis_round(&p->y);
	return 1;
}

static void
take(struct taken *t, struct box box)
{
	if (t->n < TAKEN_MOST)
		t->boxes[t->n++] = box;
}

static int
is_free(const struct taken *t, struct box box)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct box *b = &t->boxes[i];

		if (b->left < box.right && box.left < b->right &&
		    b->top < box.bottom && box.top < b->bottom)
			return 0;
	}
	return box.top > TOP - 15 && box.bottom < BOTTOM + 7;
}

/* A name beside its point, where nothing else is: right of it or, where that
 * has no room, left, and as near to its height as there is room. */
static void
add_name(struct sl__svg *s, struct taken *taken, const char *name,
	 const double at[2])
{
	/* A character of 12 points is 7.2 wide in the widest of usual faces. */
	double width = 7.2 * fmin((double)strlen(name), NAME_MOST) + 6;
	int is_left = at[0] + 9 + width > SL__FIGURE_WIDTH;
	double x = is_left ? at[0] - 9 - width : at[0] + 9;
	struct box box = {.left = x, .right = x + width};

	for (int k = 0; k < STEPS_MOST; k++) {
		double step = LABEL_HEIGHT / 2 * ((k + 1) / 2);
		double y = at[1] + (k % 2 ? step : -step);

		box.top = y - LABEL_HEIGHT / 2;
		box.bottom = y + LABEL_HEIGHT / 2;
		if (is_free(taken, box))
			break;
	}
	take(taken, box);
	sl__svg_label(s, is_left ? "label end" : "label",
		      is_left ? x + width : x, (box.top + box.bottom) / 2 + 4,
		      "%.*s", NAME_MOST, name);
}

static void
add_point(struct sl__svg *s, const struct plot *p,
	  const struct sl_optimization *o, size_t i, struct taken *taken)
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
	add_name(s, taken, v->name, (double[]){x, y});
}

/* Nothing that is drawn is both faster and better in this figure. */
static int
is_on_front(const struct plot *p, const struct sl_optimization *o, size_t i)
{
	const struct sl_variant_result *v = &o->variants[i];
	double sign = p->is_accuracy ? 1 : -1;

	if (!is_drawn(p, v))
		return 0;
	for (size_t k = 0; k < o->n_variants; k++) {
		const struct sl_variant_result *w = &o->variants[k];

		if (k != i && is_drawn(p, w) &&
		    w->time_ns.value <= v->time_ns.value &&
		    sign * ordinate(p, w) >= sign * ordinate(p, v) &&
		    (w->time_ns.value < v->time_ns.value ||
		     sign * ordinate(p, w) > sign * ordinate(p, v)))
			return 0;
	}
	return 1;
}

/* What a line takes that is level or upright. */
static struct box
line_box(double x0, double x1, double y0, double y1)
{
	return (struct box){fmin(x0, x1) - 1, fmax(x0, x1) + 1,
			    fmin(y0, y1) - 1, fmax(y0, y1) + 1};
}

/* From one variant on the front to the next slower one, in steps: between
 * them there is nothing. */
static void
add_front(struct sl__svg *s, const struct plot *p,
	  const struct sl_optimization *o, struct taken *taken)
{
	double last_ns = -1, last_x = 0, last_y = 0;
	int n = 0;

	sl__svg_path(s, "line k0 dash");
	for (;;) {
		size_t next = o->n_variants;
		double x, y;

		for (size_t i = 0; i < o->n_variants; i++) {
			if (is_on_front(p, o, i) &&
			    o->variants[i].time_ns.value > last_ns &&
			    (next == o->n_variants ||
			     o->variants[i].time_ns.value <
				     o->variants[next].time_ns.value))
				next = i;
		}
		if (next == o->n_variants)
			break;
		last_ns = o->variants[next].time_ns.value;
		x = sl__axis_at(&p->x, 1e-9 * last_ns);
		y = sl__axis_at(&p->y, ordinate(p, &o->variants[next]));
		if (n++) {
			sl__svg_path_to(s, x, last_y);
			take(taken, line_box(last_x, x, last_y, last_y));
			take(taken, line_box(x, x, y, last_y));
		}
		sl__svg_path_to(s, x, y);
		last_x = x;
		last_y = y;
	}
	if (n) {
		sl__svg_path_to(s, p->x.to, last_y);
		take(taken, line_box(last_x, p->x.to, last_y, last_y));
	}
	sl__svg_path_done(s);
	sl__svg_close(s);
}

/* No name lies on a point. */
static void
take_points(struct taken *taken, const struct plot *p,
	    const struct sl_optimization *o)
{
	for (size_t i = 0; i < o->n_variants && taken->n < TAKEN_MOST / 2;
	     i++) {
		const struct sl_variant_result *v = &o->variants[i];
		double x = sl__axis_at(&p->x, 1e-9 * v->time_ns.value);
		double y = sl__axis_at(&p->y, ordinate(p, v));

		if (is_drawn(p, v))
			take(taken, (struct box){x - 7, x + 7, y - 6, y + 6});
	}
}

static void
add_figure(struct sl__views *v, const struct sl_optimization *o,
	   const char *name, const char *title, int is_accuracy)
{
	struct plot p = {.is_accuracy = is_accuracy};
	struct taken taken = {.n = 0};
	struct sl__svg *s;

	if (!choose_axes(&p, o))
		return;
	s = sl__views_figure(v, name, title, SL__FIGURE_WIDTH, BOTTOM + 52);
	sl__svg_axes(s, &p.x, &p.y);
	take_points(&taken, &p, o);
	add_front(s, &p, o, &taken);
	for (size_t i = 0; i < o->n_variants; i++) {
		if (is_drawn(&p, &o->variants[i]))
			add_point(s, &p, o, i, &taken);
	}
	sl__views_figure_end(v,
			     "Each point is a variant: large and blue on the "
			     "Pareto front of time, memory, file and accuracy, "
			     "green the recommended one, grey the others. "
			     "Dashed: the front of what this figure shows.");
}

/* What to take, and the command that makes it. */
static void
add_recommendation(struct sl__views *v, const struct sl_optimization *o)
{
	const struct sl_variant_result *best = &o->variants[o->recommended];
	struct sl_buf command = {0};
	struct sl__text ratio, bounds;

	if (!o->recommended) {
		sl__views_text(v, "lead",
			       "No variant is proved better than the model as "
			       "it is.");
		return;
	}
	sl__optimize_command(&command, o);
	if (sl__buf_status(&command, NULL)) {
		sl__buf_mark_failed(v->out);
	} else {
		sl__views_text(
			v, "recommendation",
			best->ratio.n ? "Take %s: %s %s of the baseline's time."
				      : "Take %s.",
			best->name, sl__ratio_value(&ratio, &best->ratio),
			sl__ratio_bounds_text(&bounds, &best->ratio));
		sl__views_text(v, "command", "%s", command.data);
	}
	sl_buf_release(&command);
}

static void
add_tiles(struct sl__views *v, const struct sl_optimization *o)
{
	const struct sl_variant_result *best, *was = &o->variants[0];
	struct sl__text ratio, bounds, interval, memory;
	char path[64];

	sl__views_open(v, "summary", "Summary");
	if (o->recommended >= o->n_variants) {
		sl__views_text(v, "lead", "No variant is within the limits.");
		return;
	}
	best = &o->variants[o->recommended];
	sl__views_tile(v, "Recommended", "recommended", best->name, "for %s",
		       sl_objective_text(o->objective));
	snprintf(path, sizeof(path), "variants.%zu.time_ratio", o->recommended);
	if (best->ratio.n)
		sl__views_tile(
			v, "Time / baseline", path,
			sl__ratio_value(&ratio, &best->ratio), "%s, %s",
			sl__figure_interval_text(
				&interval, &best->ratio,
				sl__ratio_bounds_text(&bounds, &best->ratio),
				"rounds"),
			sl_verdict_text(best->verdict));
	snprintf(path, sizeof(path), "variants.%zu.memory_bytes",
		 o->recommended);
	if (best->memory_bytes)
		sl__views_tile(
			v, "Memory", path,
			sl__bytes_text(&memory, (double)best->memory_bytes),
			"baseline %s",
			sl__bytes_text(&(struct sl__text){0},
				       (double)was->memory_bytes));
	add_recommendation(v, o);
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
