/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_svg.c - the roofs of a machine, and what ran under them. */
#include "report/figures.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

static const double LEFT = 84, RIGHT = 740, TOP = 20;
#define BOTTOM (SL__ROOFLINE_HEIGHT - 60)

/* Axes that hold every roof and every point. */
static void
set_axes(struct sl__axis *x, struct sl__axis *y, const struct sl__roofline *r,
	 const struct sl__roof_point *points, size_t n)
{
	*x = (struct sl__axis){.lo = exp2(r->x_lo),
			       .hi = exp2(r->x_hi),
			       .from = LEFT,
			       .to = RIGHT,
			       .is_log = 1,
			       .title = "operations per byte"};
	*y = (struct sl__axis){.lo = exp2(r->y_lo),
			       .hi = exp2(r->y_hi),
			       .from = BOTTOM,
			       .to = TOP,
			       .is_log = 1,
			       .unit = "",
			       .title = "operations per second"};
	for (size_t i = 0; i < n; i++) {
		x->lo = fmin(x->lo, points[i].intensity / 2);
		x->hi = fmax(x->hi, points[i].intensity * 2);
		y->lo = fmin(y->lo, points[i].flops_per_s / 2);
		y->hi = fmax(y->hi, points[i].flops_per_s * 2);
	}
}

/* From where the fastest memory reaches it to the right edge. */
static void
add_peak(struct sl__svg *s, const struct sl__roofline *r,
	 const struct sl__roof_line *peak, const struct sl__axis *x,
	 const struct sl__axis *y)
{
	double at = sl__axis_at(y, peak->value);
	double ridge = fmax(x->lo, peak->value / r->slopes[0].value);
	struct sl__text t;

	sl__svg_open(s, "line", "line k1", "x1 y1 x2 y2", sl__axis_at(x, ridge),
		     at, RIGHT, at);
	sl__svg_close_with_tip(s, "%s peak: %sop/s", peak->name,
			       sl__si_prefix_text(&t, peak->value));
	sl__svg_label(s, "note", RIGHT + 6, at + 4, "%s %sop/s", peak->name,
		      sl__si_prefix_text(&t, peak->value));
}

/* From the left or lower edge to the highest peak, its name along its lower
 * end, each further up than the last so that close slopes stay legible. */
static void
add_slope(struct sl__svg *s, const struct sl__roofline *r, size_t i,
	  const struct sl__axis *x, const struct sl__axis *y)
{
	const struct sl__roof_line *slope = &r->slopes[i];
	double from = fmax(x->lo, y->lo / slope->value);
	double to = fmin(x->hi, r->peaks[0].value / slope->value);
	double dx = sl__axis_at(x, 10) - sl__axis_at(x, 1);
	double dy = sl__axis_at(y, 10) - sl__axis_at(y, 1);
	double length = hypot(dx, dy);
	double along = 10 + 80 * (double)(i % 3), above = 5;
	double at_x = sl__axis_at(x, from) + (along * dx + above * dy) / length;
	double at_y = sl__axis_at(y, slope->value * from) +
		      (along * dy - above * dx) / length;
	struct sl__text t;

	sl__svg_open(s, "line", "line k0", "x1 y1 x2 y2", sl__axis_at(x, from),
		     sl__axis_at(y, slope->value * from), sl__axis_at(x, to),
		     sl__axis_at(y, slope->value * to));
	sl__svg_close_with_tip(s, "%s: %sB/s", slope->name,
			       sl__si_prefix_text(&t, slope->value));
	sl__svg_turn(s, at_x, at_y, atan2(dy, dx) * 180 / acos(-1));
	sl__svg_label(s, "note", 0, 0, "%s %sB/s", slope->name,
		      sl__si_prefix_text(&t, slope->value));
	sl__svg_group_end(s);
}

void
sl__figure_roofline(struct sl__svg *s, const struct sl__roofline *r,
		    const struct sl__roof_point *points, size_t n)
{
	struct sl__axis x, y;

	set_axes(&x, &y, r, points, n);
	sl__svg_axes(s, &x, &y);
	for (size_t i = 0; i < r->n_slopes; i++)
		add_slope(s, r, i, &x, &y);
	for (size_t i = 0; i < r->n_peaks; i++)
		add_peak(s, r, &r->peaks[i], &x, &y);
	for (size_t i = 0; i < n; i++) {
		const struct sl__roof_point *p = &points[i];

		sl__svg_open(s, "circle", p->classes, "cx cy r",
			     sl__axis_at(&x, p->intensity),
			     sl__axis_at(&y, p->flops_per_s),
			     3 + 26 * sqrt(fmax(p->share, 0)));
		sl__svg_attribute(s, "data-op", "%zu", p->operation);
		sl__svg_close_with_tip(s, "%s", p->tip);
	}
}
