/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roofline_svg.c - the roofline as a picture.
 *
 * Colours follow the reader's light or dark scheme through a style sheet in
 * the file; text is text, so that it can be found and copied.
 */
#include "base/buf.h"
#include "base/number.h"
#include "report/roofline.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

/* The drawing area in a picture of 800 x 520 points, labels around it. */
static const double LEFT = 80, RIGHT = 690, TOP = 56, BOTTOM = 460;

static double
x_of(const struct sl__roofline *r, double x)
{
	return LEFT + (x - r->x_lo) / (r->x_hi - r->x_lo) * (RIGHT - LEFT);
}

static double
y_of(const struct sl__roofline *r, double y)
{
	return BOTTOM - (y - r->y_lo) / (r->y_hi - r->y_lo) * (BOTTOM - TOP);
}

/* Text between tags: what XML reserves is spelled out. */
static void
add_escaped(struct sl_buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			sl__buf_text(out, "&lt;");
		else if (*text == '>')
			sl__buf_text(out, "&gt;");
		else if (*text == '&')
			sl__buf_text(out, "&amp;");
		else
			sl__buf_add(out, text, 1);
	}
}

static void
add_head(struct sl_buf *out, const char *title)
{
	sl__buf_text(out,
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		     "viewBox=\"0 0 800 520\" width=\"800\" height=\"520\" "
		     "role=\"img\">\n<title>");
	add_escaped(out, title);
	sl__buf_text(
		out,
		"</title>\n<style>\n"
		"svg { background: #ffffff; }\n"
		"text { font: 13px sans-serif; fill: #1c1c1c; "
		"paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }\n"
		".title { font-size: 16px; font-weight: bold; }\n"
		".grid { stroke: #d8d8d8; stroke-width: 1; }\n"
		".peak { stroke: #b3471b; stroke-width: 2; fill: none; }\n"
		".slope { stroke: #1f5fa8; stroke-width: 2; fill: none; }\n"
		"@media (prefers-color-scheme: dark) {\n"
		"svg { background: #16181b; }\n"
		"text { fill: #e4e4e4; stroke: #16181b; }\n"
		".grid { stroke: #3a3d42; }\n"
		".peak { stroke: #f0915f; }\n"
		".slope { stroke: #74b0f2; }\n"
		"}\n</style>\n<text class=\"title\" x=\"80\" y=\"32\">");
	add_escaped(out, title);
	sl__buf_text(out, "</text>\n");
}

/* ' x1="12.3"', to a tenth of a point. */
static void
add_place(struct sl_buf *out, const char *attribute, double points)
{
	char text[SL__NUMBER_BYTES];

	sl__buf_format(out, " %s=\"%s\"", attribute,
		       sl__number_text(text, round(10 * points) / 10));
}

/* The start of a <text>, up to its other attributes. */
static void
open_text(struct sl_buf *out, double x, double y)
{
	sl__buf_text(out, "<text");
	add_place(out, "x", x);
	add_place(out, "y", y);
}

/* Turns a <text> around where it stands. */
static void
add_rotation(struct sl_buf *out, double degrees, double x, double y)
{
	char angle[SL__NUMBER_BYTES], cx[SL__NUMBER_BYTES];
	char cy[SL__NUMBER_BYTES];

	sl__buf_format(out, " transform=\"rotate(%s %s %s)\"",
		       sl__number_text(angle, round(10 * degrees) / 10),
		       sl__number_text(cx, round(10 * x) / 10),
		       sl__number_text(cy, round(10 * y) / 10));
}

static void
add_line(struct sl_buf *out, const char *class_name, const double from[2],
	 const double to[2])
{
	sl__buf_format(out, "<line class=\"%s\"", class_name);
	add_place(out, "x1", from[0]);
	add_place(out, "y1", from[1]);
	add_place(out, "x2", to[0]);
	add_place(out, "y2", to[1]);
	sl__buf_text(out, "/>\n");
}

/* Vertical lines at powers of four, horizontal ones at powers of ten. */
static void
add_grid(struct sl_buf *out, const struct sl__roofline *r)
{
	double first = ceil(r->y_lo * log10(2)), last = r->y_hi * log10(2);
	struct sl__text text;

	for (double x = ceil(r->x_lo / 2) * 2; x <= r->x_hi; x += 2) {
		double at = x_of(r, x);

		add_line(out, "grid", (double[]){at, TOP},
			 (double[]){at, BOTTOM});
		open_text(out, at, BOTTOM + 20);
		sl__buf_format(out, " text-anchor=\"middle\">%s%.0f</text>\n",
			       x < 0 ? "1/" : "", exp2(fabs(x)));
	}
	for (double y = first; y <= last; y++) {
		double at = y_of(r, y / log10(2));

		add_line(out, "grid", (double[]){LEFT, at},
			 (double[]){RIGHT, at});
		open_text(out, LEFT - 8, at + 4);
		sl__buf_format(out, " text-anchor=\"end\">%s</text>\n",
			       sl__si_prefix_text(&text, pow(10, y)));
	}
	open_text(out, (LEFT + RIGHT) / 2, BOTTOM + 44);
	sl__buf_text(out, " text-anchor=\"middle\">operations per byte"
			  "</text>\n");
	open_text(out, 20, (TOP + BOTTOM) / 2);
	add_rotation(out, -90, 20, (TOP + BOTTOM) / 2);
	sl__buf_text(out, " text-anchor=\"middle\">operations per second"
			  "</text>\n");
}

/* From where the fastest memory reaches it to the right edge. */
static void
add_peak(struct sl_buf *out, const struct sl__roofline *r,
	 const struct sl__roof_line *peak)
{
	double ridge = log2(peak->value / r->slopes[0].value);
	double y = y_of(r, log2(peak->value));
	struct sl__text text;

	add_line(out, "peak", (double[]){x_of(r, ridge), y},
		 (double[]){RIGHT, y});
	open_text(out, RIGHT + 6, y + 4);
	sl__buf_format(out, ">%s %sop/s</text>\n", peak->name,
		       sl__si_prefix_text(&text, peak->value));
}

/* From the left or lower edge to the highest peak, its name along it, each
 * further up than the last so that close slopes stay legible. */
static void
add_slope(struct sl_buf *out, const struct sl__roofline *r, size_t i)
{
	const struct sl__roof_line *slope = &r->slopes[i];
	double level = log2(slope->value);
	double x = fmax(r->x_lo, r->y_lo - level);
	double end = log2(r->peaks[0].value) - level;
	double middle =
		x + (end - x) * (double)(i + 1) / (double)(r->n_slopes + 2);
	double angle = -atan2(y_of(r, 0) - y_of(r, 1), x_of(r, 1) - x_of(r, 0));
	double degrees = angle * 180 / acos(-1);
	double at_x = x_of(r, middle) - 4, at_y = y_of(r, level + middle) - 6;
	struct sl__text text;

	add_line(out, "slope", (double[]){x_of(r, x), y_of(r, level + x)},
		 (double[]){x_of(r, end), y_of(r, level + end)});
	open_text(out, at_x, at_y);
	add_rotation(out, degrees, at_x, at_y);
	sl__buf_format(out, ">%s %sB/s</text>\n", slope->name,
		       sl__si_prefix_text(&text, slope->value));
}

void
sl__roofline_svg(struct sl_buf *out, const struct sl__roofline *r,
		 const char *title)
{
	add_head(out, title);
	add_grid(out, r);
	for (size_t i = 0; i < r->n_slopes; i++)
		add_slope(out, r, i);
	for (size_t i = 0; i < r->n_peaks; i++)
		add_peak(out, r, &r->peaks[i]);
	sl__buf_text(out, "</svg>\n");
}
