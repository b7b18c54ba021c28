/* SPDX-License-Identifier: Apache-2.0 */
/* figure_bars.c - parts of a whole as bars: below each other, or as one. */
#include "report/figures.h"
#include "report/printable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const double ROW = 26, LEFT = 196, RIGHT = 740;

double
sl__figure_bars_height(size_t n)
{
	return ROW * (double)n + 8;
}

/* A name of at most n code points, cut in front: the end of a path tells
 * most. */
static void
cut_name(char out[128], const char *name, size_t n)
{
	size_t width = sl__utf8_width(name);

	for (size_t k = width; k + 1 > n + 1; k--)
		name += sl__utf8_step(name);
	snprintf(out, 128, "%s%s", width > n ? "…" : "", name);
}

void
sl__figure_bars(struct sl__svg *s, const struct sl__figure_bar *bars, size_t n,
		double top)
{
	sl__figure_bars_of(s, bars, n, top, 0);
}

void
sl__figure_bars_of(struct sl__svg *s, const struct sl__figure_bar *bars,
		   size_t n, double top, double whole)
{
	double most = whole;
	char name[128];

	for (size_t i = 0; i < n; i++)
		most = fmax(most, bars[i].value);
	for (size_t i = 0; i < n; i++) {
		const struct sl__figure_bar *b = &bars[i];
		double y = top + ROW * (double)i;
		double width = most > 0 ? b->value / most * (RIGHT - LEFT) : 0;

		cut_name(name, b->name, 26);
		sl__svg_label(s, "label end", LEFT - 10, y + 15, "%s", name);
		sl__svg_open(s, "rect", b->classes, "x y width height rx", LEFT,
			     y + 3, fmax(width, 0.5), ROW - 9, 2.0);
		sl__svg_close_with_tip(s, "%s: %s", b->name,
				       b->tip ? b->tip : b->text);
		sl__svg_label(s, "note", LEFT + width + 8, y + 15, "%s",
			      b->text);
	}
}

/* What the legend says of a part, and how wide it is about. */
static double
legend_of(char text[160], const struct sl__figure_bar *p)
{
	snprintf(text, 160, "%s %s", p->name, p->text);
	return 7.2 * (double)strlen(text) + 16;
}

double
sl__figure_stack_height(const struct sl__figure_bar *parts, size_t n)
{
	double left = 12, right = SL__FIGURE_WIDTH - 12, x = left, height = 76;
	char text[160];

	for (size_t i = 0; i < n; i++) {
		double width = legend_of(text, &parts[i]);

		if (x + width > right) {
			x = left;
			height += 20;
		}
		x += width + 16; /* as sl__svg_legend() goes on */
	}
	return height;
}

void
sl__figure_stack(struct sl__svg *s, const struct sl__figure_bar *parts,
		 size_t n, double top)
{
	double left = 12, right = SL__FIGURE_WIDTH - 12, sum = 0;
	double x = left, legend_x = left, legend_y = top + 64;

	for (size_t i = 0; i < n; i++)
		sum += fmax(parts[i].value, 0);
	for (size_t i = 0; sum > 0 && i < n; i++) {
		const struct sl__figure_bar *p = &parts[i];
		double width = fmax(p->value, 0) / sum * (right - left);
		char legend[160];

		sl__svg_open(s, "rect", p->classes, "x y width height", x, top,
			     width, 40.0);
		sl__svg_close_with_tip(s, "%s: %s", p->name,
				       p->tip ? p->tip : p->text);
		x += width;
		if (legend_x + legend_of(legend, p) > right) {
			legend_x = left;
			legend_y += 20;
		}
		legend_x = sl__svg_legend(s, p->classes, legend_x, legend_y,
					  legend);
	}
}
