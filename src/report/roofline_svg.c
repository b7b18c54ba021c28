/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_svg.c - the roofs of a machine, and what ran under them. */
#include "report/figures.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const double LEFT = 84, RIGHT = 740, TOP = 20;
#define BOTTOM (SL__ROOFLINE_HEIGHT - 60)

/* Of a point that takes all of the time, and of one that takes 1 % of it or
 * less: so small a one would not be seen. */
static const double MOST_RADIUS = 29, LEAST_RADIUS = 2.9;

/* Of a label: a character of 11 points is 6.4 wide, and this high is all of
 * it; lines nearer than a label and a half leave no room between them. */
static const double CHARACTER = 6.4, LETTERS = 12, NEAR = 18;

/* What labels are placed in: each stands where no point, no peak and no other
 * label is. */
struct drawing {
	const struct sl__roofline *roofs;
	struct sl__axis x, y;
	const struct sl__roof_point *points;
	size_t n;
	struct label {
		double x, y;   /* where its letters stand */
		double ux, uy; /* its direction */
		double length;
	} labels[SL__MAX_ROOF_LINES];
	size_t n_labels;
};

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

/* The area is the share of the time. */
static double
radius_of(const struct sl__roof_point *p)
{
	return fmax(MOST_RADIUS * sqrt(fmax(p->share, 0)), LEAST_RADIUS);
}

/* Where a peak begins: where the fastest memory reaches it. */
static double
ridge_of(const struct drawing *d, const struct sl__roof_line *peak)
{
	return fmax(d->x.lo, peak->value / d->roofs->slopes[0].value);
}

static void
add_peak(struct sl__svg *s, const struct drawing *d,
	 const struct sl__roof_line *peak)
{
	double at = sl__axis_at(&d->y, peak->value);
	struct sl__text t;

	sl__svg_open(s, "line", "line k1", "x1 y1 x2 y2",
		     sl__axis_at(&d->x, ridge_of(d, peak)), at, RIGHT, at);
	sl__svg_close_with_tip(s, "%s peak: %sop/s", peak->name,
			       sl__si_prefix_text(&t, peak->value));
}

/* At the right edge, from the highest to the lowest. */
static void
name_peaks(struct sl__svg *s, const struct drawing *d)
{
	double last = -LETTERS;
	struct sl__text t;

	for (size_t i = 0; i < d->roofs->n_peaks; i++) {
		const struct sl__roof_line *peak = &d->roofs->peaks[i];

		last = fmax(sl__axis_at(&d->y, peak->value) + 4,
			    last + LETTERS);
		sl__svg_label(s, "note", RIGHT + 6, last, "%s %sop/s",
			      peak->name, sl__si_prefix_text(&t, peak->value));
	}
}

/* From the left or lower edge to the highest peak. */
static void
slope_ends(const struct drawing *d, size_t i, double from[2], double to[2])
{
	double slope = d->roofs->slopes[i].value;
	double first = fmax(d->x.lo, d->y.lo / slope);
	double last = fmin(d->x.hi, d->roofs->peaks[0].value / slope);

	from[0] = sl__axis_at(&d->x, first);
	from[1] = sl__axis_at(&d->y, slope * first);
	to[0] = sl__axis_at(&d->x, last);
	to[1] = sl__axis_at(&d->y, slope * last);
}

static void
add_slope(struct sl__svg *s, const struct drawing *d, size_t i)
{
	const struct sl__roof_line *slope = &d->roofs->slopes[i];
	double from[2], to[2];
	struct sl__text t;

	slope_ends(d, i, from, to);
	sl__svg_open(s, "line", "line k0", "x1 y1 x2 y2", from[0], from[1],
		     to[0], to[1]);
	sl__svg_close_with_tip(s, "%s: %sB/s", slope->name,
			       sl__si_prefix_text(&t, slope->value));
}

/* The middle of the letters 'along' a label. */
static void
middle_at(const struct label *l, double along, double out[2])
{
	out[0] = l->x + along * l->ux + LETTERS / 3 * l->uy;
	out[1] = l->y + along * l->uy - LETTERS / 3 * l->ux;
}

static int
is_near(const double a[2], double x, double y, double distance)
{
	return hypot(a[0] - x, a[1] - y) < distance;
}

/* Whether nothing lies at a place that a label would cover. */
static int
is_free(const struct drawing *d, const double at[2])
{
	const struct sl__roofline *r = d->roofs;

	for (size_t i = 0; i < d->n; i++) {
		const struct sl__roof_point *p = &d->points[i];

		if (is_near(at, sl__axis_at(&d->x, p->intensity),
			    sl__axis_at(&d->y, p->flops_per_s),
			    radius_of(p) + LETTERS / 2))
			return 0;
	}
	for (size_t i = 0; i < r->n_peaks; i++) {
		double y = sl__axis_at(&d->y, r->peaks[i].value);

		if (fabs(at[1] - y) < LETTERS &&
		    at[0] > sl__axis_at(&d->x, ridge_of(d, &r->peaks[i])) -
				    LETTERS)
			return 0;
	}
	for (size_t i = 0; i < d->n_labels; i++) {
		const struct label *l = &d->labels[i];
		double other[2];

		for (double k = 0; k <= l->length; k += LETTERS / 2) {
			middle_at(l, k, other);
			if (is_near(at, other[0], other[1], LETTERS))
				return 0;
		}
	}
	return at[0] < RIGHT && at[1] > TOP;
}

static int
has_room(const struct drawing *d, const struct label *l)
{
	double at[2];

	for (double k = 0; k <= l->length; k += LETTERS / 2) {
		middle_at(l, k, at);
		if (!is_free(d, at))
			return 0;
	}
	return 1;
}

/* How far the slopes a and b are from each other, square to both. */
static double
gap_between(const struct drawing *d, size_t a, size_t b, double ux)
{
	const struct sl__roof_line *slopes = d->roofs->slopes;

	return ux * fabs(sl__axis_at(&d->y, slopes[a].value) -
			 sl__axis_at(&d->y, slopes[b].value));
}

/* The name along a slope's lower end, above it, or below where the next faster
 * one is too near; further up where something is in the way. */
static void
name_slope(struct sl__svg *s, struct drawing *d, size_t i)
{
	const struct sl__roof_line *slope = &d->roofs->slopes[i];
	double from[2], to[2], length, off = 5;
	struct label label = {0};
	char name[96];
	struct sl__text t;

	slope_ends(d, i, from, to);
	length = hypot(to[0] - from[0], to[1] - from[1]);
	if (!(length > 0))
		return;
	label.ux = (to[0] - from[0]) / length;
	label.uy = (to[1] - from[1]) / length;
	if (i && gap_between(d, i - 1, i, label.ux) < NEAR &&
	    (i + 1 == d->roofs->n_slopes ||
	     gap_between(d, i, i + 1, label.ux) >= NEAR))
		off = -LETTERS;
	snprintf(name, sizeof(name), "%s %sB/s", slope->name,
		 sl__si_prefix_text(&t, slope->value));
	label.length = CHARACTER * (double)strlen(name);
	for (double along = 10;; along += 15) {
		int is_last = along + label.length > length;

		along = is_last ? 10 + 80 * (double)(i % 3) : along;
		label.x = from[0] + along * label.ux + off * label.uy;
		label.y = from[1] + along * label.uy - off * label.ux;
		if (is_last || has_room(d, &label))
			break;
	}
	if (d->n_labels < SL__MAX_ROOF_LINES)
		d->labels[d->n_labels++] = label;
	sl__svg_turn(s, label.x, label.y,
		     atan2(label.uy, label.ux) * 180 / acos(-1));
	sl__svg_label(s, "note", 0, 0, "%s", name);
	sl__svg_group_end(s);
}

void
sl__figure_roofline(struct sl__svg *s, const struct sl__roofline *r,
		    const struct sl__roof_point *points, size_t n)
{
	struct drawing d = {.roofs = r, .points = points, .n = n};

	set_axes(&d.x, &d.y, r, points, n);
	sl__svg_axes(s, &d.x, &d.y);
	for (size_t i = 0; i < r->n_slopes; i++)
		add_slope(s, &d, i);
	for (size_t i = 0; i < r->n_peaks; i++)
		add_peak(s, &d, &r->peaks[i]);
	for (size_t i = 0; i < n; i++) {
		const struct sl__roof_point *p = &points[i];

		sl__svg_open(s, "circle", p->classes, "cx cy r",
			     sl__axis_at(&d.x, p->intensity),
			     sl__axis_at(&d.y, p->flops_per_s), radius_of(p));
		sl__svg_attribute(s, "data-op", "%zu", p->operation);
		sl__svg_close_with_tip(s, "%s", p->tip);
	}
	/* Names last: no point hides one. */
	for (size_t i = 0; i < r->n_slopes; i++)
		name_slope(s, &d, i);
	name_peaks(s, &d);
}
